/* The sets of cases that the studies share. */
#ifndef SX_STUDY_CASES_H
#define SX_STUDY_CASES_H

#include "sextant/input.h"
#include "sextant/network.h"

typedef struct sx_study_case {
    char name[SX_NAME_SIZE];
    sx_problem problem;
} sx_study_case;

/* A set of cases on an architecture. */
typedef struct sx_study_group {
    const char *set;
    sx_arch arch;
    size_t n;
    sx_study_case *item;
} sx_study_group;

/* Makes a set: "papers" (the eight problems of Mind Mappings and four of Demystifying MSE), "mind-mappings"
 * (the eight alone), a network of the catalog (its different layers), a network with "-update" (those of its
 * weight updates, batch 16), "tensors" (those of Sunstone's thesis, Table 6.2), "ablation" (the layers of its
 * Figure 6.11), "gemm", "conv" (what exact mappers were measured with). Ends the program where that fails;
 * freed with sx_study_close. */
void sx_study_open(const char *set, const char *arch, sx_study_group *out);
void sx_study_close(sx_study_group *group);

/* Whether a group is wanted: some word occurs in "SET on ARCH", or there are no words. */
bool sx_study_wanted(const char *set, const char *arch, int n_words, char *const *word);

/* Says what went wrong and ends the program; does nothing after success. */
void sx_study_need(sx_status status);

#endif
