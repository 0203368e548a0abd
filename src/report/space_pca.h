/* `sextant space --pca` and `sextant place --pca`: the points that searches evaluate, projected onto the plane
 * (Demystifying Map Space
 * Exploration, section 4.3.3 and figure 4). */
#ifndef SX_REPORT_SPACE_PCA_H
#define SX_REPORT_SPACE_PCA_H

#include "base/text.h"
#include "session/search_space.h"
#include "sextant/run.h"

#include <jansson.h>

/* Points of random draws, or those that one mapper evaluated. */
typedef struct sx_seen {
    const char *name;
    size_t n;
    double *vectors; /* n rows */
    double *value;
    uint64_t evaluations;
    double best; /* INFINITY: nothing legal */
} sx_seen;

typedef struct sx_pca_study {
    const char *objective;  /* as text, borrowed */
    const char *axis;       /* of values, borrowed */
    size_t n_seen, n_asked; /* clouds; and how many there would be without an interrupt */
    bool interrupted;
    sx_seen *seen;
    double share[2];   /* of the variance, along both axes */
    sx_status written; /* why the figure could not be written, owned; or SX_OK */
} sx_pca_study;

/* What a study is made by. */
typedef struct sx_pca_options {
    size_t n_mappers;
    const char *const
        *mapper; /* each searches with the budget of `run`; borrowed, the study keeps the names */
    sx_run_options run;
    const char *objective;                         /* as text; borrowed */
    const char *axis;                              /* of values; NULL: the objective's, in cycles; borrowed */
    const char *subject;                           /* what is searched: of the title; borrowed */
    const char *path;                              /* of the figure */
    void (*begins)(void *user, const char *title); /* called before each search; may be NULL */
    void *user;                                    /* of begins */
} sx_pca_options;

/* Draws at random and searches by every mapper; writes the figure to a file. A search that run.cancel
 * interrupts counts with what it did, later ones are left out. *out is freed with sx_pca_study_fini. */
SX_MUST_USE sx_status sx_pca_study_run(const sx_space *space, const sx_pca_options *options,
                                       sx_pca_study *out);
void sx_pca_study_fini(sx_pca_study *study);

/* Adds the study for a person; and as JSON, NULL when memory is out. */
void sx_pca_study_print(const sx_pca_study *study, const char *path, sx_text *out);
json_t *sx_pca_study_json(const sx_pca_study *study, const char *path);

#endif
