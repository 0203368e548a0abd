#include "frontend/timeloop/mapping_factors.h"

#include "base/text.h"
#include "frontend/timeloop/mapping_names.h"
#include "frontend/timeloop/spec_nodes.h"
#include "frontend/timeloop/spec_value.h"
#include "text/document/scan.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

typedef struct reader {
    sx_input *input;
    const sx_problem *problem;
    bool bounds;
    sx_factor_visitor *each;
    void *user;
} reader;

/* A row being filled. */
typedef struct filler {
    const sx_problem *problem;
    sx_factor_row *row;
} filler;

/* The error for what should be a factor, up to the next blank or comma. */
static SX_MUST_USE sx_status bad_factor(sx_place place, const char *name, const char *written) {
    size_t length = strcspn(written, " ,\t\r\n");
    if (length == 0) return sx_error_at(place, "dimension '%s' has no factor here", name);
    return sx_error_at(place, "the factor of '%s' must be a whole number from 1 to %u, but is '%.*s'", name,
                       SX_MAX_DIM_SIZE, (int)(length < 32 ? length : 32), written);
}

/* Reads the "<=" or ">=" of a bound, where one stands there. */
static SX_MUST_USE sx_status read_relation(const reader *r, sx_scan *scan, const char *name,
                                           sx_relation *relation) {
    char next = sx_scan_peek(scan);
    if (next != '<' && next != '>') return SX_OK;
    if (!r->bounds)
        return sx_error_hint(sx_error_at(sx_scan_place(scan), "the factor of '%s' is a bound", name),
                             "a mapping needs the factor itself: '%s=4'", name);
    *relation = next == '<' ? SX_AT_MOST : SX_AT_LEAST;
    if (!sx_scan_take(scan, next == '<' ? "<=" : ">="))
        return sx_error_hint(sx_error_at(sx_scan_place(scan), "the bound of '%s' is not valid", name),
                             "bounds are written '%s<=4' and '%s>=4'", name, name);
    return SX_OK;
}

/* Reads "4" or "4,1" as the factor of a dimension and shows it. */
static SX_MUST_USE sx_status read_number(reader *r, sx_scan *scan, int dim, sx_relation relation,
                                         sx_place place) {
    const char *name = r->problem->dim_name[dim];
    int64_t value, remainder = 0;
    sx_place number = sx_scan_place(scan);
    const char *written = scan->at;
    if (r->bounds && relation == SX_EXACTLY &&
        strncmp(written, "-1", 2) == 0) { /* free, in `factors_only`, too */
        const sx_factor_term any = {dim, SX_AT_MOST, r->problem->size[dim], 0, place};
        scan->at += 2;
        return r->each(r->user, &any);
    }
    if (!sx_scan_number(scan, &value) || *scan->at == '.' || value > SX_MAX_DIM_SIZE)
        return bad_factor(number, name, written);
    if (scan->at[0] == ',' && isdigit((unsigned char)scan->at[1])) {
        scan->at++;
        if (!sx_scan_number(scan, &remainder)) return sx_scan_expected(scan, "a remainder");
        if (remainder < 1 || remainder > value)
            return sx_error_at(place, "the remainder of '%s' must be from 1 to its factor %lld", name,
                               (long long)value);
    }
    if (value == 0 && relation != SX_EXACTLY) return bad_factor(number, name, written);
    if (value == 0) {
        value = r->problem->size[dim];
        SX_TRY(sx_input_add_note(r->input, place, "the factor 0 of '%s' means its whole size, %lld", name,
                                 (long long)value));
    }
    const sx_factor_term term = {dim, relation, (uint32_t)value, (uint32_t)remainder, place};
    return r->each(r->user, &term);
}

/* The dimension whose name, with a digit behind it, begins the given word, such as R of "R16"; -1 without
 * one. The longest name wins, and *length is its length. */
static int split_word(const char *word, const sx_problem *problem, size_t *length) {
    int found = -1;
    for (int d = 0; d < problem->n_dims; d++) {
        size_t size = strlen(problem->dim_name[d]);
        if (strncmp(word, problem->dim_name[d], size) != 0 || !isdigit((unsigned char)word[size])) continue;
        if (found >= 0 && size <= *length) continue;
        found = d;
        *length = size;
    }
    return found;
}

/* Reads one "R=3", "R = 3", "R 3" or "R3", or a bound. */
static SX_MUST_USE sx_status read_factor(reader *r, sx_scan *scan) {
    sx_place place = sx_scan_place(scan);
    const char *start = scan->at;
    char word[SX_NAME_SIZE];
    size_t length = 0;
    if (!sx_scan_name(scan, word)) {
        sx_status error = sx_scan_expected(scan, "the name of a dimension");
        if (isdigit((unsigned char)*scan->at))
            return sx_error_hint(error, "quote a factor with a remainder in a list: 'P=4,1'");
        return error;
    }
    int dim = sx_problem_dim(r->problem, word);
    char next = sx_scan_peek(scan);
    sx_relation relation = SX_EXACTLY;
    SX_TRY(read_relation(r, scan, word, &relation));
    if (next != '=' && relation == SX_EXACTLY && (dim < 0 || !isdigit((unsigned char)next))) {
        int split = split_word(word, r->problem, &length);
        if (split >= 0) {
            dim = split;
            scan->at = start + length;
        }
    }
    if (dim < 0) return sx_dimension_unknown(place, word, r->problem);
    if (relation == SX_EXACTLY) sx_scan_take(scan, "=");
    return read_number(r, scan, dim, relation, place);
}

/* Reads a text of factors, up to a # if there is one. */
static SX_MUST_USE sx_status read_text(reader *r, const sx_node *node) {
    sx_place place = node->place;
    bool computed = node->kind == SX_NODE_SCALAR && strpbrk(node->text, "'\"");
    const sx_spec_scope scope = {.input = r->input,
                                 .problem = r->problem,
                                 .attributes = computed ? sx_spec_attributes(r->input, node) : NULL};
    const char *text;
    SX_TRY(sx_spec_text(&scope, node, &text));
    if (node->quoted) place.column++;
    sx_scan scan = {text, text, place};
    for (;;) {
        while (sx_scan_take(&scan, ",")) continue;
        char next = sx_scan_peek(&scan);
        if (!next || next == '#') return SX_OK;
        SX_TRY(read_factor(r, &scan));
    }
}

/* Reads a map of dimensions and factors. */
static SX_MUST_USE sx_status read_map(reader *r, const sx_node *node) {
    for (size_t i = 0; i < node->n; i++) {
        const sx_pair *pair = &node->pair[i];
        const char *text;
        int dim = sx_problem_dim(r->problem, pair->key);
        if (dim < 0) return sx_dimension_unknown(pair->place, pair->key, r->problem);
        SX_TRY(sx_node_text(pair->value, pair->key, &text));
        sx_scan scan = {text, text, pair->value->place};
        sx_relation relation = SX_EXACTLY;
        SX_TRY(read_relation(r, &scan, pair->key, &relation));
        SX_TRY(read_number(r, &scan, dim, relation, pair->value->place));
        if (sx_scan_peek(&scan)) return sx_scan_expected(&scan, "the end of the factor");
    }
    return SX_OK;
}

sx_status sx_factors_visit(sx_input *input, const sx_node *node, const sx_problem *problem, bool bounds,
                           sx_factor_visitor *each, void *user) {
    reader r = {input, problem, bounds, each, user};
    if (node->kind == SX_NODE_SCALAR) return read_text(&r, node);
    if (node->kind == SX_NODE_MAP) return read_map(&r, node);
    for (size_t i = 0; i < node->n; i++) {
        SX_TRY(sx_node_expect(node->item[i], SX_NODE_SCALAR, "a factor"));
        SX_TRY(read_text(&r, node->item[i]));
    }
    return SX_OK;
}

/* Writes a factor into a row. */
static SX_MUST_USE sx_status fill_factor(void *user, const sx_factor_term *term) {
    filler *f = user;
    sx_factor *factor = &f->row->dim[term->dim];
    if (factor->written)
        return sx_error_at(term->place, "dimension '%s' has two factors here",
                           f->problem->dim_name[term->dim]);
    *factor = (sx_factor){true, term->value, term->remainder, term->place};
    return SX_OK;
}

sx_status sx_factors_read(sx_input *input, const sx_node *node, const sx_problem *problem,
                          sx_factor_row *row) {
    filler f = {problem, row};
    return sx_factors_visit(input, node, problem, false, fill_factor, &f);
}

/* Adds the factors of a dimension, the outermost first, "DRAM 6 x Buffer 4"; returns how many. */
static int list_factors(sx_text *text, const sx_factor_row *row, size_t n, const sx_arch *arch, int dim) {
    int listed = 0;
    for (size_t i = n; i-- > 0;) {
        const sx_factor *f = &row[i].dim[dim];
        if (!f->written || f->value == 1) continue;
        sx_text_add(text, "%s%s %u", listed++ ? " x " : "", arch->level[i / 2].name, (unsigned)f->value);
        if (f->remainder) sx_text_add(text, ",%u", (unsigned)f->remainder);
        if (i % 2 == 0) sx_text_add(text, " in space");
    }
    return listed;
}

/* What to do about factors that do not make up a size. */
static SX_MUST_USE sx_status hint_product(SX_TAKE sx_status error, const char *name, double product,
                                          uint32_t size, bool remainders) {
    double missing = size / product;
    if (product == 1)
        return sx_error_hint(error, "add '%s=%u' to the factors of a level", name, (unsigned)size);
    if (remainders)
        return sx_error_hint(error, "with remainders they must multiply to %u or more", (unsigned)size);
    if (missing == (uint32_t)missing)
        return sx_error_hint(error, "they must multiply to %u: make one of them %.0f times larger",
                             (unsigned)size, missing);
    if (product < size) return sx_error_hint(error, "they must multiply to %u", (unsigned)size);
    return sx_error_hint(
        error,
        "they must multiply to %u; a loop with a shorter last pass is written with its remainder: '%s=4,1'",
        (unsigned)size, name);
}

/* The error for factors that do not make up a size. */
static SX_MUST_USE sx_status wrong_product(const sx_factor_row *row, size_t n, const sx_problem *problem,
                                           const sx_arch *arch, int dim, double product, bool remainders,
                                           sx_place place) {
    const char *name = problem->dim_name[dim];
    unsigned size = problem->size[dim];
    sx_text factors = {0};
    int listed = list_factors(&factors, row, n, arch, dim);
    if (listed > 1) sx_text_add(&factors, " = %.0f", product);
    sx_status error = listed == 0 || factors.failed
                          ? sx_error_at(place, "dimension %s has size %u, but no factors", name, size)
                          : sx_error_at(place, "dimension %s has size %u, but its factors make %s", name,
                                        size, factors.data);
    sx_text_free(&factors);
    return hint_product(error, name, product, size, remainders);
}

/* Checks written remainders against the ones that follow from the size: with t the product of the inner
 * factors, a factor is cut to (size-1)/t mod factor + 1 the last time. */
static SX_MUST_USE sx_status check_remainders(const sx_factor_row *row, size_t n, const sx_problem *problem,
                                              int dim) {
    const char *name = problem->dim_name[dim];
    uint32_t rest = problem->size[dim] - 1;
    for (size_t i = 0; i < n; i++) {
        const sx_factor *f = &row[i].dim[dim];
        if (!f->written) continue;
        if (f->value > 1 && f->value - 1 > rest)
            return sx_error_at(f->place,
                               "the factor %u of dimension %s is more than the %u iterations left for it",
                               (unsigned)f->value, name, (unsigned)rest + 1);
        uint32_t right = rest % f->value + 1, written = f->remainder ? f->remainder : f->value;
        if (right != written)
            return sx_error_hint(sx_error_at(f->place,
                                             "the factor of dimension %s leaves a remainder of %u, not %u",
                                             name, (unsigned)right, (unsigned)written),
                                 "write '%s=%u,%u'", name, (unsigned)f->value, (unsigned)right);
        rest /= f->value;
    }
    return SX_OK;
}

sx_status sx_factors_check(const sx_factor_row *row, size_t n, const sx_problem *problem, const sx_arch *arch,
                           sx_place place) {
    for (int d = 0; d < problem->n_dims; d++) {
        double product = 1;
        bool remainders = false;
        sx_place at = place;
        for (size_t i = 0; i < n; i++) {
            const sx_factor *f = &row[i].dim[d];
            if (!f->written) continue;
            product *= f->value;
            at = f->place;
            remainders |= f->remainder != 0 && f->remainder != f->value;
        }
        if (remainders ? product < problem->size[d] : product != problem->size[d])
            return wrong_product(row, n, problem, arch, d, product, remainders, at);
        if (remainders) SX_TRY(check_remainders(row, n, problem, d));
    }
    return SX_OK;
}
