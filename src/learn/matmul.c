/* The blocking is that of Goto and van de Geijn (ACM TOMS 2008): a panel of B stays in the first cache, a block of A in the
 * second. Both factors are packed once, by all threads, before C is computed by tiles: blocks of DEPTH along k follow each
 * other, the panels of a block too. */
#include "learn/matmul.h"

#include "learn/vector.h"

#include <string.h>

enum {
    DEPTH = 256,     /* of k at a time */
    ROWS = 256,      /* of C in a job, at most */
    LEAST_ROWS = 64, /* of C in a job where there are enough of them */
    COLUMNS = 1024,
    JOBS = 6,        /* for each thread, so that all end at about the same time */
    THIN = 4,        /* rows of C up to which nothing is packed */
    THIN_PART = 512, /* columns of C in a job then */
    LIST = 1 << 16,  /* of k in a list of rows then */
    PANELS = 8,      /* packed at a time */
    PACKED = 192,    /* lanes that a job packs */
    TILE = SX_KERNEL_MAX_ROWS * SX_KERNEL_MAX_COLUMNS,
};

size_t sx_matmul_room(void) {
    return 2 * LIST + TILE;
}

static size_t least_of(size_t a, size_t b) {
    return a < b ? a : b;
}

/* A factor as panels want it: lanes are rows of A or columns of B. */
typedef struct factor {
    const float *at;
    size_t lane, depth; /* strides of a lane and of k, one of them 1 */
} factor;

static factor factor_a(const sx_matmul *p) {
    return p->a_transposed ? (factor){p->a, 1, p->m} : (factor){p->a, p->k, 1};
}
static factor factor_b(const sx_matmul *p) {
    return p->b_transposed ? (factor){p->b, p->k, 1} : (factor){p->b, 1, p->n};
}

/* Packs a panel whose lanes are contiguous along k, by blocks of four by four. */
static void pack_across(factor f, size_t lanes, size_t depth, unsigned width, float *to) {
    size_t i = 0;
    for (; i + 4 <= lanes; i += 4) {
        const float *from = f.at + i * f.lane;
        size_t p = 0;
        for (; p + 4 <= depth; p += 4) {
            sx_f4 v[4];
            for (size_t r = 0; r < 4; r++) v[r] = sx_f4_load(from + r * f.lane + p);
            sx_f4_transpose(v);
            for (size_t r = 0; r < 4; r++) sx_f4_store(to + (p + r) * width + i, v[r]);
        }
        for (; p < depth; p++)
            for (size_t r = 0; r < 4; r++) to[p * width + i + r] = from[r * f.lane + p];
    }
    for (; i < lanes; i++)
        for (size_t p = 0; p < depth; p++) to[p * width + i] = f.at[i * f.lane + p];
}

/* Packs a panel of less than its width whose lanes are side by side. */
static void pack_along(factor f, size_t lanes, size_t depth, unsigned width, float *to) {
    for (size_t p = 0; p < depth; p++) memcpy(to + p * width, f.at + p * f.depth, lanes * sizeof *to);
}

/* Packs several whole panels whose lanes are side by side, so that a row is read in one go. */
static void pack_panels(factor f, size_t panels, size_t depth, unsigned width, float *to) {
    for (size_t p = 0; p < depth; p++) {
        const float *from = f.at + p * f.depth;
        for (size_t panel = 0; panel < panels; panel++, from += width) {
            float *row = to + (panel * depth + p) * width;
            for (unsigned i = 0; i < width; i += 4) sx_f4_store(row + i, sx_f4_load(from + i));
        }
    }
}

/* Packs lanes [first, first + n) from k = `from` on into panels of `width` lanes, zeros beyond the last lane. */
static void pack_factor(factor f, size_t first, size_t n, size_t from, size_t depth, unsigned width,
                        float *to) {
    f.at += first * f.lane + from * f.depth;
    size_t i = 0;
    for (; f.lane == 1 && i + width <= n;) {
        size_t panels = least_of(PANELS, (n - i) / width);
        pack_panels(f, panels, depth, width, to);
        i += panels * width;
        to += panels * width * depth;
        f.at += panels * width;
    }
    for (; i < n; i += width, to += width * depth, f.at += width * f.lane) {
        size_t lanes = least_of(width, n - i);
        if (lanes < width) memset(to, 0, width * depth * sizeof *to);
        if (f.lane == 1)
            pack_along(f, lanes, depth, width, to);
        else
            pack_across(f, lanes, depth, width, to);
    }
}

/* A part of C. */
typedef struct part {
    size_t row, rows, column, columns;
} part;

/* One tile of C, by way of a whole tile where it sticks out. */
static void edge_tile(const sx_matrix_kernel *kernel, size_t depth, const float *a, const float *b, float *c,
                      size_t stride, size_t rows, size_t columns, float *whole) {
    for (size_t i = 0; i < rows; i++)
        memcpy(whole + i * kernel->columns, c + i * stride, columns * sizeof *c);
    kernel->tile(depth, a, b, whole, kernel->columns);
    for (size_t i = 0; i < rows; i++)
        memcpy(c + i * stride, whole + i * kernel->columns, columns * sizeof *c);
}

/* C += A B on a part, of packed factors. */
static void multiply_part(const sx_matmul_plan *plan, part at, size_t depth, const float *a, const float *b,
                          float *whole) {
    const sx_matrix_kernel *kernel = plan->kernel;
    size_t stride = plan->product->n;
    for (size_t j = 0; j < at.columns; j += kernel->columns, b += kernel->columns * depth) {
        const float *panel = a;
        for (size_t i = 0; i < at.rows; i += kernel->rows, panel += kernel->rows * depth) {
            float *c = plan->product->c + (at.row + i) * stride + at.column + j;
            size_t rows = least_of(kernel->rows, at.rows - i),
                   columns = least_of(kernel->columns, at.columns - j);
            if (rows == kernel->rows && columns == kernel->columns)
                kernel->tile(depth, panel, b, c, stride);
            else
                edge_tile(kernel, depth, panel, b, c, stride, rows, columns, whole);
        }
    }
}

/* What the chains of a part of a row of C begin with. */
static void begin_row(const sx_matmul *p, size_t row, size_t column, size_t columns) {
    float *c = p->c + row * p->n + column;
    if (p->add) return;
    if (p->bias)
        memcpy(c, p->bias + column, columns * sizeof *c);
    else
        memset(c, 0, columns * sizeof *c);
}

static size_t rounded_up(size_t n, size_t unit) {
    return (n + unit - 1) / unit * unit;
}

static void thick_job(const sx_matmul_plan *plan, part at, float *room) {
    const sx_matmul *p = plan->product;
    size_t m = rounded_up(p->m, plan->kernel->rows), n = rounded_up(p->n, plan->kernel->columns);
    float *whole = room + 2 * LIST;
    memset(whole, 0, TILE * sizeof *whole);
    for (size_t i = 0; i < at.rows; i++) begin_row(p, at.row + i, at.column, at.columns);
    for (size_t from = 0; from < p->k; from += DEPTH) {
        size_t depth = least_of(DEPTH, p->k - from);
        multiply_part(plan, at, depth, plan->a + from * m + at.row * depth,
                      plan->b + from * n + at.column * depth, whole);
    }
}

/* One row of C as a sum of rows of B; those that are multiplied by 0 are skipped. */
static void thin_combine(const sx_matmul_plan *plan, const float *a, part at, float *c, float *room) {
    const sx_matmul *p = plan->product;
    float *value = room;
    uint32_t *index = (uint32_t *)(room + LIST);
    for (size_t from = 0; from < p->k; from += LIST) {
        size_t n = 0, end = least_of(p->k, from + LIST);
        const float *b = p->b + from * p->n + at.column;
        for (size_t i = from; i < end; i++) {
            value[n] = a[i];
            index[n] = (uint32_t)(i - from);
            n += a[i] != 0;
        }
        plan->kernel->combine(at.columns, n, index, value, b, p->n, c);
    }
}

/* One row of C as products of a row of A with rows of B, of the wanted elements. */
static void thin_dots(const sx_matmul_plan *plan, const float *a, part at, float *c, const float *wanted) {
    const sx_matmul *p = plan->product;
    for (size_t j = 0; j < at.columns;) {
        const float *row[SX_KERNEL_DOTS];
        float sum[SX_KERNEL_DOTS] = {0};
        size_t to[SX_KERNEL_DOTS], n = 0;
        for (; j < at.columns && n < SX_KERNEL_DOTS; j++) {
            if (wanted && wanted[j] == 0) continue;
            row[n] = p->b + (at.column + j) * p->k;
            sum[n] = c[j];
            to[n++] = j;
        }
        if (n == 0) break;
        for (size_t i = n; i < SX_KERNEL_DOTS; i++) row[i] = row[0];
        plan->kernel->dots(p->k, a, row, sum);
        for (size_t i = 0; i < n; i++) c[to[i]] = sum[i];
    }
}

static void thin_job(const sx_matmul_plan *plan, part at, float *room) {
    const sx_matmul *p = plan->product;
    for (size_t i = at.row; i < at.row + at.rows; i++) {
        const float *a = p->a + i * p->k;
        float *c = p->c + i * p->n + at.column;
        begin_row(p, i, at.column, at.columns);
        if (p->b_transposed)
            thin_dots(plan, a, at, c, p->wanted ? p->wanted + i * p->n + at.column : NULL);
        else
            thin_combine(plan, a, at, c, room);
    }
}

void sx_matmul_job(void *user, size_t index, unsigned worker) {
    const sx_matmul_plan *plan = user;
    const sx_matmul *p = plan->product;
    part at = {.row = index / plan->across * plan->rows, .column = index % plan->across * plan->columns};
    at.rows = least_of(plan->rows, p->m - at.row);
    at.columns = least_of(plan->columns, p->n - at.column);
    float *room = plan->room + worker * sx_matmul_room();
    if (plan->thin)
        thin_job(plan, at, room);
    else
        thick_job(plan, at, room);
}

/* Jobs that pack the lanes of one block along k. */
static size_t packing_jobs(size_t lanes, unsigned width) {
    size_t unit = rounded_up(PACKED, width);
    return (lanes + unit - 1) / unit;
}

size_t sx_matmul_packing_jobs(const sx_matmul_plan *plan) {
    const sx_matmul *p = plan->product;
    size_t blocks = (p->k + DEPTH - 1) / DEPTH;
    if (plan->thin) return 0;
    return blocks * (packing_jobs(p->m, plan->kernel->rows) + packing_jobs(p->n, plan->kernel->columns));
}

void sx_matmul_pack(void *user, size_t index, unsigned worker) {
    const sx_matmul_plan *plan = user;
    const sx_matmul *p = plan->product;
    size_t of_a = packing_jobs(p->m, plan->kernel->rows),
           jobs = of_a + packing_jobs(p->n, plan->kernel->columns);
    size_t from = index / jobs * DEPTH, depth = least_of(DEPTH, p->k - from), number = index % jobs;
    bool is_a = number < of_a;
    size_t lanes = is_a ? p->m : p->n;
    unsigned width = is_a ? plan->kernel->rows : plan->kernel->columns;
    size_t unit = rounded_up(PACKED, width), first = (is_a ? number : number - of_a) * unit;
    float *to = (is_a ? plan->a : plan->b) + from * rounded_up(lanes, width) + first * depth;
    (void)worker;
    pack_factor(is_a ? factor_a(p) : factor_b(p), first, least_of(unit, lanes - first), from, depth, width,
                to);
}

/* n in a given number of parts, rounded up to a unit. */
static size_t part_of(size_t n, size_t parts, size_t unit) {
    return rounded_up((n + parts - 1) / parts, unit);
}

/* How C of a packed product is split: into few large parts for one thread, into JOBS for each of several as long as parts
 * are not too small for the caches. */
static void split_thick(sx_matmul_plan *plan, unsigned threads) {
    const sx_matmul *p = plan->product;
    size_t wanted = threads > 1 ? (size_t)JOBS * threads : 1;
    size_t down = (p->m + ROWS - 1) / ROWS, across = (p->n + COLUMNS - 1) / COLUMNS;
    for (bool more = true; more && down * across < wanted;) {
        more = false;
        if (p->n > 2 * plan->kernel->columns * across) across++, more = true;
        if (down * across < wanted && p->m > LEAST_ROWS * down && p->m / down > p->n / across)
            down++, more = true;
    }
    plan->rows = part_of(p->m, down, plan->kernel->rows);
    plan->columns = part_of(p->n, across, plan->kernel->columns);
}

sx_matmul_plan sx_matmul_split(const sx_matmul *p, const sx_matrix_kernel *kernel, unsigned threads) {
    sx_matmul_plan plan = {.product = p, .kernel = kernel};
    plan.thin = p->m == 1 || (p->m <= THIN && !p->a_transposed);
    if (plan.thin) {
        bool several = threads > 1 && p->n * p->k > THIN_PART * THIN_PART;
        plan.rows = p->m;
        plan.columns = part_of(p->n, several ? (p->n + THIN_PART - 1) / THIN_PART : 1, SX_KERNEL_DOTS);
    } else {
        plan.size_a = rounded_up(p->m, kernel->rows) * p->k;
        plan.size_b = rounded_up(p->n, kernel->columns) * p->k;
        split_thick(&plan, threads);
    }
    plan.across = (p->n + plan.columns - 1) / plan.columns;
    plan.n_jobs = plan.across * ((p->m + plan.rows - 1) / plan.rows);
    return plan;
}
