/* What `sextant codesign` found, for a person, as JSON and as a figure. */
#ifndef SX_REPORT_CODESIGN_H
#define SX_REPORT_CODESIGN_H

#include "base/text.h"
#include "sextant/codesign.h"

/* A finished search with all that it began from. */
typedef struct sx_codesign_job {
    sx_network network;
    sx_arch base;
    sx_choices *choices;
    sx_designs *designs;
    sx_codesign_options options;
    sx_codesign_result result;
    char *mapper;         /* of the grid, with every setting; NULL for the other methods */
    char objective[256];  /* as text */
    const char *energies; /* where those of the base come from */
    double area_budget;   /* of the command line; 0: none */
    bool clock;           /* times are part of the answer */
} sx_codesign_job;

/* Adds the choices of a design, such as "L1 64, array 16x16". */
void sx_codesign_settings(const sx_codesign_job *job, size_t design, sx_text *out);

/* Adds the answer: the best design, its layers, the front, and how the search went. */
void sx_codesign_print(const sx_codesign_job *job, bool quiet, bool verbose, sx_text *out);

/* Adds everything as JSON. The keys are promises: more may be added, none renamed. */
SX_MUST_USE sx_status sx_codesign_json(const sx_codesign_job *job, sx_text *out);

/* Adds the figure of area and objective. */
SX_MUST_USE sx_status sx_codesign_svg(const sx_codesign_job *job, sx_text *out);

#endif
