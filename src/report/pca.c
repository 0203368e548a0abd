/* Principal components by the eigenvectors of the correlation matrix, found by cyclic Jacobi rotations (Golub
 * and Van Loan, Matrix Computations, section 8.5). Every rotation is taken in a fixed order, and an
 * eigenvector is turned so that its largest part is positive. O(n m^2 + m^3) for n vectors of m numbers. A
 * number that is not finite counts as its column's mean. */
#include "report/figure.h"

#include <math.h>
#include <stdlib.h>

enum { SWEEPS = 60 };

/* The data: the columns that vary, centred and scaled, row after row; the matrix and its
 * eigenvectors (columns). */
typedef struct workspace {
    size_t n, m;
    double *row, *matrix, *vector;
} workspace;

/* The mean of a column's finite numbers and their deviation from it (0 where they do not vary). */
static void column_moments(const double *vectors, size_t n, size_t size, size_t column, double *mean,
                           double *deviation) {
    double sum = 0, squares = 0, largest = 0;
    size_t finite = 0;
    for (size_t i = 0; i < n; i++) {
        double value = vectors[i * size + column];
        if (!isfinite(value)) continue;
        sum += value;
        largest = fmax(largest, fabs(value));
        finite++;
    }
    *mean = finite ? sum / (double)finite : 0;
    for (size_t i = 0; i < n; i++) {
        double off = vectors[i * size + column] - *mean;
        if (isfinite(off)) squares += off * off;
    }
    *deviation = sqrt(squares / (double)(n ? n : 1));
    if (!isfinite(*deviation) || *deviation <= 1e-12 * largest) *deviation = 0;
}

/* Fills w->row with the columns that vary. */
static void standardise_columns(workspace *w, const double *vectors, size_t size) {
    size_t m = 0;
    for (size_t column = 0; column < size; column++) {
        double mean, deviation;
        column_moments(vectors, w->n, size, column, &mean, &deviation);
        if (deviation == 0) continue;
        for (size_t i = 0; i < w->n; i++) {
            double value = (vectors[i * size + column] - mean) / deviation;
            w->row[i * size + m] = isfinite(value) ? value : 0;
        }
        m++;
    }
    w->m = m;
}

/* Fills w->matrix with the correlations and w->vector with the unit matrix. */
static void correlate_columns(workspace *w, size_t size) {
    for (size_t a = 0; a < w->m; a++)
        for (size_t b = 0; b <= a; b++) {
            double sum = 0;
            for (size_t i = 0; i < w->n; i++) sum += w->row[i * size + a] * w->row[i * size + b];
            w->matrix[a * w->m + b] = w->matrix[b * w->m + a] = sum / (double)w->n;
            w->vector[a * w->m + b] = w->vector[b * w->m + a] = a == b;
        }
}

/* Rotates two numbers that lie `a` and `b` places into an array. */
static void rotate_pair(double *array, size_t a, size_t b, double c, double s) {
    double x = array[a], y = array[b];
    array[a] = c * x - s * y;
    array[b] = s * x + c * y;
}

/* Makes one element off the diagonal zero. */
static void zero_element(workspace *w, size_t p, size_t q) {
    size_t m = w->m;
    double off = w->matrix[p * m + q];
    if (off == 0) return;
    double theta = (w->matrix[q * m + q] - w->matrix[p * m + p]) / (2 * off);
    double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;
    for (size_t i = 0; i < m; i++) rotate_pair(w->matrix, i * m + p, i * m + q, c, s);
    for (size_t i = 0; i < m; i++) rotate_pair(w->matrix, p * m + i, q * m + i, c, s);
    for (size_t i = 0; i < m; i++) rotate_pair(w->vector, i * m + p, i * m + q, c, s);
    w->matrix[p * m + q] = w->matrix[q * m + p] = 0;
}

/* Rotates until nothing is left off the diagonal. */
static void diagonalise_matrix(workspace *w) {
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double off = 0;
        for (size_t p = 0; p < w->m; p++)
            for (size_t q = p + 1; q < w->m; q++) off += fabs(w->matrix[p * w->m + q]);
        if (off <= 1e-13 * (double)w->m) return;
        for (size_t p = 0; p < w->m; p++)
            for (size_t q = p + 1; q < w->m; q++) zero_element(w, p, q);
    }
}

/* The column of the largest eigenvalue but one that is already taken (w->m: none is). */
static size_t largest_column(const workspace *w, size_t taken) {
    size_t best = w->m;
    for (size_t i = 0; i < w->m; i++)
        if (i != taken && (best == w->m || w->matrix[i * w->m + i] > w->matrix[best * w->m + best])) best = i;
    return best;
}

/* Projects all rows onto an eigenvector, turned so that its largest part is positive. */
static void project_rows(const workspace *w, size_t size, size_t column, double *out) {
    double sign = 1, largest = 0;
    for (size_t j = 0; j < w->m; j++) {
        double part = w->vector[j * w->m + column];
        if (fabs(part) <= largest * (1 + 1e-9)) continue;
        largest = fabs(part);
        sign = part < 0 ? -1 : 1;
    }
    for (size_t i = 0; i < w->n; i++) {
        double sum = 0;
        for (size_t j = 0; j < w->m; j++) sum += w->row[i * size + j] * w->vector[j * w->m + column];
        out[i] = sign * sum;
    }
}

bool sx_pca(const double *vectors, size_t n, size_t size, double *x, double *y, double share[2]) {
    double *const out[2] = {x, y};
    workspace w = {.n = n};
    w.row = calloc(n * size + 1, sizeof *w.row);
    w.matrix = calloc(size * size + 1, sizeof *w.matrix);
    w.vector = calloc(size * size + 1, sizeof *w.vector);
    bool good = w.row && w.matrix && w.vector;
    if (good) {
        standardise_columns(&w, vectors, size);
        correlate_columns(&w, size);
        diagonalise_matrix(&w);
        size_t column = w.m;
        for (int k = 0; k < 2; k++) {
            column = largest_column(&w, column);
            bool there = column < w.m;
            share[k] = there ? w.matrix[column * w.m + column] / (double)w.m : 0;
            for (size_t i = 0; i < n; i++) out[k][i] = 0;
            if (there) project_rows(&w, size, column, out[k]);
        }
    }
    free(w.row);
    free(w.matrix);
    free(w.vector);
    return good;
}
