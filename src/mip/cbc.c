/* Programs solved by CBC's C interface (version 2.10), which is loaded when a program is solved. One thread and fixed
 * seeds: the same program gives the same answer. */
#include "mip/program.h"

/* The build says which file to load; without it there is none. */
#ifndef SX_CBC
#define SX_CBC ""
#endif

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The functions of CBC that are used: result, name, parameters. */
#define CBC_FUNCTIONS(F)                                                                                     \
    F(void *, newModel, (void))                                                                              \
    F(void, deleteModel, (void *))                                                                           \
    F(void, loadProblem,                                                                                     \
      (void *, int, int, const int *, const int *, const double *, const double *, const double *,           \
       const double *, const double *, const double *))                                                      \
    F(void, setInteger, (void *, int))                                                                       \
    F(void, setMIPStartI, (void *, int, const int *, const double *))                                        \
    F(void, setLogLevel, (void *, int))                                                                      \
    F(void, setParameter, (void *, const char *, const char *))                                              \
    F(void, setAllowableGap, (void *, double))                                                               \
    F(void, setAllowableFractionGap, (void *, double))                                                       \
    F(void, setMaximumSeconds, (void *, double))                                                             \
    F(void, setMaximumNodes, (void *, int))                                                                  \
    F(int, solve, (void *))                                                                                  \
    F(int, isProvenOptimal, (void *))                                                                        \
    F(int, isProvenInfeasible, (void *))                                                                     \
    F(double, getBestPossibleObjValue, (void *))                                                             \
    F(double, getObjValue, (void *))                                                                         \
    F(const double *, bestSolution, (void *))                                                                \
    F(const double *, getColSolution, (void *))

typedef struct cbc {
#define FIELD(result, name, parameters) result(*name) parameters;
    CBC_FUNCTIONS(FIELD)
#undef FIELD
} cbc;

bool sx_mip_available(void) {
    return SX_CBC[0] != 0;
}

/* Finds a function of a library. */
static bool find_symbol(void *library, const char *name, void *out) {
    void *symbol = dlsym(library, name);
    memcpy(out, &symbol, sizeof symbol);
    return symbol != NULL;
}

/* Loads the library; false where it, or one of the functions, is not there. */
static bool load_cbc(cbc *out) {
    void *library = dlopen(SX_CBC, RTLD_NOW | RTLD_LOCAL);
    bool all = library != NULL;
#define FIND(result, name, parameters) all = all && find_symbol(library, "Cbc_" #name, &out->name);
    CBC_FUNCTIONS(FIND)
#undef FIND
    return all;
}

/* A program by columns, and a solution to begin with: the integer variables and their values. One block, which begins at
 * `value`. */
typedef struct columns {
    double *value, *low, *high, *cost, *row_low, *row_high, *start_value;
    int *start, *index, *start_index;
} columns;

/* Makes room for a program, freed with free(c->value); false when memory is out. */
static bool columns_init(const sx_mip *mip, columns *c) {
    const size_t n = mip->n_variables + 2, rows = mip->n_rows, terms = mip->n_terms;
    double *at = calloc(2 * (terms + 3 * n + rows), sizeof *at);
    *c = (columns){.value = at};
    if (!at) return false;
    c->low = at += terms;
    c->high = at += n;
    c->cost = at += n;
    c->row_low = at += n;
    c->row_high = at += rows;
    c->start_value = at += rows;
    c->start = (int *)(at += n);
    c->index = c->start + n;
    c->start_index = c->index + terms;
    return true;
}

/* Sorts the terms by columns and copies the rest. */
static void columns_fill(const sx_mip *mip, columns *c) {
    for (size_t i = 0; i < mip->n_variables; i++) {
        c->low[i] = mip->variable[i].low;
        c->high[i] = mip->variable[i].high;
        c->cost[i] = mip->variable[i].cost;
    }
    for (size_t r = 0; r < mip->n_rows; r++) {
        c->row_low[r] = mip->row[r].low;
        c->row_high[r] = mip->row[r].high;
    }
    for (size_t k = 0; k < mip->n_terms; k++) c->start[mip->term[k].variable + 2]++;
    for (size_t i = 2; i <= mip->n_variables + 1; i++) c->start[i] += c->start[i - 1];
    for (size_t k = 0; k < mip->n_terms; k++) {
        int at = c->start[mip->term[k].variable + 1]++;
        c->index[at] = (int)mip->term[k].row;
        c->value[at] = mip->term[k].coefficient;
    }
}

/* Gives CBC the values of the integer variables of a solution. */
static void set_start(const cbc *f, void *model, const sx_mip *mip, const double *start, const columns *c) {
    int n = 0;
    for (size_t i = 0; i < mip->n_variables; i++) {
        if (!mip->variable[i].integer) continue;
        c->start_index[n] = (int)i;
        c->start_value[n++] = start[i];
    }
    f->setMIPStartI(model, n, c->start_index, c->start_value);
}

/* Takes over what CBC found. Of a program that is solved without a tree, CBC has neither a bound,
 * which is the value, nor a best solution. */
static void read_solution(const cbc *f, void *model, const sx_mip *mip, double gap, double *values,
                          sx_mip_result *out) {
    const double *best = f->bestSolution(model);
    bool infeasible = f->isProvenInfeasible(model);
    if (!best && f->isProvenOptimal(model)) best = f->getColSolution(model);
    out->found = best && !infeasible;
    out->status = infeasible                  ? SX_MIP_INFEASIBLE
                  : f->isProvenOptimal(model) ? SX_MIP_OPTIMAL
                                              : SX_MIP_LIMITED;
    out->bound = f->getBestPossibleObjValue(model);
    if (fabs(out->bound) > 1e40) out->bound = -INFINITY;
    if (infeasible) out->bound = INFINITY;
    if (!out->found) return;
    out->value = f->getObjValue(model);
    if (out->status == SX_MIP_OPTIMAL) out->bound = out->value - gap * fabs(out->value);
    for (size_t i = 0; i < mip->n_variables; i++) values[i] = best[i];
}

bool sx_mip_solve_here(const sx_mip *mip, const sx_mip_options *options, double *values, sx_mip_result *out) {
    columns c;
    cbc f;
    if (!load_cbc(&f)) return false;
    void *model = f.newModel();
    bool made = columns_init(mip, &c) && model;
    if (made) {
        columns_fill(mip, &c);
        f.loadProblem(model, (int)mip->n_variables, (int)mip->n_rows, c.start, c.index, c.value, c.low,
                      c.high, c.cost, c.row_low, c.row_high);
        for (size_t i = 0; i < mip->n_variables; i++)
            if (mip->variable[i].integer) f.setInteger(model, (int)i);
        f.setLogLevel(model, 0);
        f.setParameter(model, "randomCbcSeed", "1");
        f.setParameter(model, "randomSeed", "1");
        f.setParameter(model, "timeMode", "elapsed");
        if (options->proof) f.setParameter(model, "preprocess", "off");
        f.setAllowableFractionGap(model, options->gap);
        f.setAllowableGap(model, 0);
        if (options->seconds > 0) f.setMaximumSeconds(model, options->seconds);
        if (options->nodes > 0) f.setMaximumNodes(model, (int)options->nodes);
        if (options->start) set_start(&f, model, mip, options->start, &c);
        f.solve(model);
        read_solution(&f, model, mip, options->gap, values, out);
    }
    free(c.value);
    if (model) f.deleteModel(model);
    return made;
}
