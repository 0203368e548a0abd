/* Names of dimensions: those that --rename gives, and those of other conventions for convolutions where the
 * constraints or the mapping of a design use them. */
#include "input/rename.h"

#include "text/document/scan.h"

#include <stdio.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))

enum { N_NAMES = 7 };

/* What the dimensions of a convolution are called: batch, input and output channels, width and height of the
 * output, of the filter. */
static const char *const conventions[][N_NAMES] = {
    {"N", "C", "K", "P", "Q", "R", "S"},     /* Timeloop's own shape */
    {"N", "C", "M", "P", "Q", "R", "S"},     /* its exercises */
    {"N", "C", "M", "E", "F", "R", "S"},     /* Eyeriss */
    {"B", "C", "K", "OX", "OY", "FX", "FY"}, /* ZigZag */
};

/* New names for the dimensions of a problem. */
typedef struct naming {
    int n;
    const char *from[SX_MAX_DIMS];
    const char *to[SX_MAX_DIMS];
} naming;

/* Gives a problem the names of a naming, all at once; false where two would be the same. */
static bool apply_names(const naming *names, sx_problem *problem) {
    sx_problem renamed = *problem;
    for (int d = 0; d < problem->n_dims; d++)
        for (int i = 0; i < names->n; i++)
            if (strcmp(problem->dim_name[d], names->from[i]) == 0) {
                memset(renamed.dim_name[d], 0, SX_NAME_SIZE);
                memcpy(renamed.dim_name[d], names->to[i], strlen(names->to[i]));
            }
    for (int d = 0; d < problem->n_dims; d++)
        if (sx_problem_dim(&renamed, renamed.dim_name[d]) != d) return false;
    *problem = renamed;
    return true;
}

/* Keeps for a note which names of a problem became others. */
static void note_names(const sx_problem *before, const sx_problem *after, sx_text *renamed) {
    for (int d = 0; d < before->n_dims; d++) {
        char pair[2 * SX_NAME_SIZE + 8];
        if (strcmp(before->dim_name[d], after->dim_name[d]) == 0) continue;
        snprintf(pair, sizeof pair, "%s -> %s", before->dim_name[d], after->dim_name[d]);
        if (renamed->data && strstr(renamed->data, pair)) continue;
        sx_text_add(renamed, "%s%s", renamed->size ? ", " : "", pair);
    }
}

/* Reads the values of --rename into one text, with zeros behind the names, and a naming of it. */
static sx_status read_names(const sx_args *args, sx_text *text, naming *out) {
    const char *value;
    for (size_t i = 0; (value = sx_args_text(args, "rename", i)); i++) sx_text_add(text, "%s,", value);
    if (text->failed) return sx_error_memory();
    for (char *at = text->data; at && *at;) {
        char *equal = at + strcspn(at, "=,"), *end = at + strcspn(at, ",");
        bool good = *equal == '=' && out->n < SX_MAX_DIMS;
        *end = 0;
        if (good) *equal = 0;
        if (!good || !sx_name_simple(at) || !sx_name_simple(equal + 1))
            return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--rename: '%s%s%s' is not understood", at,
                                              good ? "=" : "", good ? equal + 1 : ""),
                                 "write --rename OLD=NEW, such as K=M, with names of dimensions");
        out->from[out->n] = at;
        out->to[out->n++] = equal + 1;
        at = end + 1;
    }
    return SX_OK;
}

/* Errors where no layer has a dimension that is to be renamed. */
static sx_status check_known(const naming *names, const sx_network *network) {
    for (int i = 0; i < names->n; i++) {
        bool known = false;
        for (size_t l = 0; l < network->n_layers; l++)
            known |= sx_problem_dim(&network->layer[l].problem, names->from[i]) >= 0;
        if (!known)
            return sx_error_new(SX_ERR_USAGE, "--rename %s=%s: the problem has no dimension '%s'",
                                names->from[i], names->to[i], names->from[i]);
    }
    return SX_OK;
}

sx_status sx_rename_as_told(const sx_args *args, sx_network *network, sx_text *renamed) {
    sx_text text = {0};
    naming names = {0};
    sx_status status = read_names(args, &text, &names);
    if (!status) status = check_known(&names, network);
    for (size_t l = 0; l < network->n_layers && !status; l++) {
        sx_problem *problem = &network->layer[l].problem, before = *problem;
        bool has = false;
        for (int i = 0; i < names.n; i++) has |= sx_problem_dim(problem, names.from[i]) >= 0;
        if (has && !apply_names(&names, problem))
            status = sx_error_hint(sx_error_new(SX_ERR_USAGE,
                                                "--rename would give two dimensions of %s the same name",
                                                network->layer[l].name),
                                   "exchange two names by --rename K=M,M=K");
        note_names(&before, problem, renamed);
    }
    sx_text_free(&text);
    return status;
}

bool sx_rename_to_fit(sx_problem *problem, sx_rename_test *fits, void *user, sx_text *renamed) {
    if (fits(user, problem)) return true;
    for (size_t from = 0; from < N(conventions); from++)
        for (size_t to = 0; to < N(conventions); to++) {
            naming names = {.n = N_NAMES};
            sx_problem other = *problem;
            memcpy(names.from, conventions[from], sizeof conventions[from]);
            memcpy(names.to, conventions[to], sizeof conventions[to]);
            if (!apply_names(&names, &other) || !fits(user, &other)) continue;
            note_names(problem, &other, renamed);
            *problem = other;
            return true;
        }
    return false;
}
