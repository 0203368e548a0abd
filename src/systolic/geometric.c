/* A barrier method for small geometric programs.
 *
 * Source: Boyd, Kim, Vandenberghe, Hassibi, "A tutorial on geometric programming" (2007), and Boyd and
 * Vandenberghe, "Convex Optimization" (2004), chapter 11: in logarithms of the variables a sum of monomials
 * is convex, and so is its logarithm. Newton's method follows the central path; a first phase with a slack
 * finds a point inside the constraints. All is done in a fixed order with exp, log and sqrt only.
 *
 * Complexity: some fifty Newton steps, each of a product of small matrices per constraint and one Cholesky
 * factorisation; tens of microseconds to a millisecond. */
#include "systolic/geometric.h"

#include <math.h>
#include <string.h>

enum { WIDTH = SX_MAX_POWERS + 1, STEPS = 60, HALVINGS = 60 };

static const double GROWTH = 20;        /* of the weight of the objective, from one centre to the next */
static const double PRECISION = 1e-8;   /* of the logarithm of the objective */
static const double CENTRED = 1e-10;    /* half of Newton's decrement, squared */
static const double ENOUGH_ROOM = 1e-3; /* of a first point inside the constraints, in logarithms */

/* A function of z at a point, with derivatives. */
typedef struct local {
    double value, slope[WIDTH], bend[WIDTH][WIDTH];
} local;

/* The path to a solution: variables are those of the program and, in the first phase, a slack. */
typedef struct path {
    const sx_geometric *program;
    size_t n;
    bool slack;
    double weight; /* of the objective */
} path;

double sx_posynomial_log(const sx_posynomial *sum, size_t n_variables, const double *z) {
    double at[SX_MAX_MONOMIALS], most = -INFINITY, total = 0;
    for (size_t k = 0; k < sum->n; k++) {
        at[k] = sum->term[k].offset;
        for (size_t i = 0; i < n_variables; i++) at[k] += sum->term[k].power[i] * z[i];
        most = fmax(most, at[k]);
    }
    if (sum->n == 1) return most;
    for (size_t k = 0; k < sum->n; k++) total += exp(at[k] - most);
    return most + log(total);
}

/* Adds the derivatives of a logarithm of a sum to slope and bend, times `first` and `second`; `outer` is that
 * of the product of the slope with itself. */
static void add_derivatives(const sx_posynomial *sum, size_t n, const double *z, double value, double first,
                            double outer, bool slack, local *to) {
    double slope[WIDTH] = {0};
    for (size_t k = 0; k < sum->n; k++) {
        const sx_monomial *term = &sum->term[k];
        double at = term->offset;
        for (size_t i = 0; i < n; i++) at += term->power[i] * z[i];
        double share = sum->n == 1 ? 1 : exp(at - value);
        for (size_t i = 0; i < n; i++) {
            slope[i] += share * term->power[i];
            if (sum->n == 1 || term->power[i] == 0) continue;
            for (size_t j = 0; j <= i; j++) to->bend[i][j] += first * share * term->power[i] * term->power[j];
        }
    }
    double inner = sum->n == 1 ? outer : outer - first;
    for (size_t i = 0; i < n; i++) {
        to->slope[i] += first * slope[i];
        if (slope[i] == 0) continue;
        for (size_t j = 0; j <= i; j++) to->bend[i][j] += inner * slope[i] * slope[j];
    }
    if (!slack) return;
    to->slope[n] -= first;
    to->bend[n][n] += outer;
    for (size_t j = 0; j < n; j++) to->bend[n][j] -= outer * slope[j];
}

/* The value of the weighted objective with its barrier; INFINITY outside the constraints. */
static double barrier_value(const path *p, const double *z) {
    size_t n = p->program->n_variables;
    double slack = p->slack ? z[n] : 0, sum;
    sum = p->weight * (p->slack ? slack : sx_posynomial_log(&p->program->objective, n, z));
    for (size_t c = 0; c < p->program->n_constraints; c++) {
        double room = slack - sx_posynomial_log(&p->program->constraint[c], n, z);
        if (!(room > 0)) return INFINITY;
        sum -= log(room);
    }
    return sum;
}

/* The same with derivatives. */
static void differentiate_height(const path *p, const double *z, local *out) {
    size_t n = p->program->n_variables;
    memset(out, 0, sizeof *out);
    out->value = barrier_value(p, z);
    if (p->slack)
        out->slope[n] = p->weight;
    else
        add_derivatives(&p->program->objective, n, z, sx_posynomial_log(&p->program->objective, n, z),
                        p->weight, 0, false, out);
    for (size_t c = 0; c < p->program->n_constraints; c++) {
        const sx_posynomial *sum = &p->program->constraint[c];
        double value = sx_posynomial_log(sum, n, z), room = (p->slack ? z[n] : 0) - value;
        add_derivatives(sum, n, z, value, 1 / room, 1 / (room * room), p->slack, out);
    }
}

/* Newton's step from a point, by Cholesky's factorisation, and its decrement squared; negative where the
 * factorisation fails. */
static double newton_step(local *at, size_t n, double *step) {
    double decrement = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = at->bend[i][j];
            for (size_t k = 0; k < j; k++) sum -= at->bend[i][k] * at->bend[j][k];
            if (i == j && !(sum > 0)) return -1;
            at->bend[i][j] = i == j ? sqrt(sum) : sum / at->bend[j][j];
        }
    for (size_t i = 0; i < n; i++) {
        step[i] = -at->slope[i];
        for (size_t k = 0; k < i; k++) step[i] -= at->bend[i][k] * step[k];
        step[i] /= at->bend[i][i];
        decrement += step[i] * step[i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++) step[i] -= at->bend[k][i] * step[k];
        step[i] /= at->bend[i][i];
    }
    return decrement;
}

/* The largest of the constraints' logarithms. */
static double worst_constraint(const sx_geometric *program, const double *z) {
    double most = -INFINITY;
    for (size_t c = 0; c < program->n_constraints; c++)
        most = fmax(most, sx_posynomial_log(&program->constraint[c], program->n_variables, z));
    return most;
}

/* Goes to the centre of the path's weight; a first phase ends early where there is enough room. */
static void centre_path(const path *p, double *z) {
    local at;
    double step[WIDTH], next[WIDTH];
    for (int i = 0; i < STEPS; i++) {
        if (p->slack && worst_constraint(p->program, z) < -ENOUGH_ROOM) return;
        differentiate_height(p, z, &at);
        double decrement = newton_step(&at, p->n, step), length = 1;
        if (!(decrement > CENTRED)) return;
        int halved = 0;
        for (; halved < HALVINGS; halved++, length /= 2) {
            for (size_t v = 0; v < p->n; v++) next[v] = z[v] + length * step[v];
            if (barrier_value(p, next) < at.value - 0.1 * length * decrement) break;
        }
        if (halved == HALVINGS) return;
        memcpy(z, next, p->n * sizeof *z);
    }
}

/* Brings z well inside the constraints, as far as there is room; false where there is none. */
static bool enter_interior(const sx_geometric *program, double *z) {
    double room = worst_constraint(program, z), wide[WIDTH];
    path p = {program, program->n_variables + 1, true, 1};
    memcpy(wide, z, program->n_variables * sizeof *z);
    wide[program->n_variables] = room + 1;
    for (; p.weight < (double)program->n_constraints / PRECISION; p.weight *= GROWTH) {
        if (worst_constraint(program, wide) < -ENOUGH_ROOM) break;
        centre_path(&p, wide);
    }
    if (worst_constraint(program, wide) < room) memcpy(z, wide, program->n_variables * sizeof *z);
    return worst_constraint(program, z) < 0;
}

bool sx_geometric_solve(const sx_geometric *program, double *z) {
    if (!enter_interior(program, z)) return false;
    path p = {program, program->n_variables, false, 1};
    for (bool last = false; !last; p.weight *= GROWTH) {
        last = (double)program->n_constraints / p.weight < PRECISION;
        centre_path(&p, z);
    }
    return true;
}
