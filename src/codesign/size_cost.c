/* The costs of memories by size.
 *
 * Sources of the defaults.
 * Energy: the shape of Timeloop's public technology table, (1 + (KB - 0.5) * 5 / 99.5) pJ for 16 bits
 * (sx_pat_sram), through what the base architecture says of its own size, so that a design of the base's
 * sizes costs what the base does; the table itself where the base says nothing. Where the base has an area and leaks, its
 * energies are those of a circuit (an estimate, or Accelergy's tables), and CACTI's shape takes the place of the table's.
 * Leakage and area: CACTI 7 at 45 nm by width and depth (sx_sram_by_size), leakage through what the base leaks, area through
 * that of the base where it has one.
 * Area of a compute unit: the integer multipliers of the 45 nm table that goes with Horowitz (ISSCC 2014),
 * 282 um^2 for 8 bits and 3,495 um^2 for 32, a power of the width in between, and an adder of twice the width
 * at 137 um^2 per 32 bits. */
#include "codesign/size_cost.h"

#include "estimate/component.h"
#include "text/template/expression.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char AREA[] = "sram_area";
static const char AREA_OF_BASE[] = "base_area * sram_area / base_sram_area";
static const char LEAKAGE[] = "base * sram_leakage / base_sram_leakage";
static const char ENERGY[] = "pat";
static const char ENERGY_OF_BASE[] = "base * pat / base_pat";
static const char ENERGY_OF_CIRCUIT[] = "base * sram / base_sram";
static const char COMPUTE_AREA[] = "282 * (word_bits / 8) ** 1.816 + 8.56 * word_bits";

enum { MOST_SIZES = 1000 };

const char *sx_size_cost_key(sx_size_cost_kind kind) {
    static const char *const keys[] = {"energy", "write-energy", "leakage", "area"};
    return keys[kind];
}

sx_size_cost sx_size_cost_preset(sx_size_cost_kind kind, const sx_storage *base, double base_value) {
    bool based = base_value > 0 && base->entries != SX_UNLIMITED;
    bool sized = base->area > 0 && base->entries != SX_UNLIMITED;
    if (kind == SX_SIZE_COST_AREA) return (sx_size_cost){.formula = sized ? AREA_OF_BASE : AREA};
    if (kind == SX_SIZE_COST_LEAKAGE) return (sx_size_cost){.formula = based ? LEAKAGE : "base"};
    if (based && sized && base->leak_energy > 0) return (sx_size_cost){.formula = ENERGY_OF_CIRCUIT};
    return (sx_size_cost){.formula = based ? ENERGY_OF_BASE : ENERGY};
}

sx_size_cost sx_size_cost_compute_area(void) {
    return (sx_size_cost){.formula = COMPUTE_AREA};
}

/* Refuses a value that no energy and no area has. */
static sx_status check_value(sx_place place, const char *what, double value) {
    if (value >= 0 && value <= 1e30) return SX_OK;
    return sx_error_at(place, "%s is %g; it must be a finite number that is not negative", what, value);
}

/* Reads a row of a table. */
static sx_status read_row(const sx_pair *pair, const char *what, uint64_t *size, double *value) {
    if (!sx_text_u64(pair->key, size) || *size == 0)
        return sx_error_hint(
            sx_error_at(pair->place, "'%s' in the table of %s is not a valid size", pair->key, what),
            "a row is a size in words, a colon and a number");
    SX_TRY(sx_node_double(pair->value, what, value));
    return check_value(pair->value->place, what, *value);
}

/* Reads a table, by ascending sizes. */
static sx_status read_table(sx_arena *arena, const sx_node *node, const char *what, sx_size_cost *out) {
    if (node->n == 0) return sx_error_at(node->place, "the table of %s is empty", what);
    if (node->n > MOST_SIZES)
        return sx_error_at(node->place, "the table of %s has more than %d rows", what, MOST_SIZES);
    uint64_t *size = sx_arena_alloc(arena, node->n, sizeof *size);
    double *value = sx_arena_alloc(arena, node->n, sizeof *value);
    if (!size || !value) return sx_arena_error(arena);
    for (size_t i = 0; i < node->n; i++) {
        uint64_t words;
        double number;
        SX_TRY(read_row(&node->pair[i], what, &words, &number));
        size_t at = i;
        for (; at > 0 && size[at - 1] > words; at--) {
            size[at] = size[at - 1];
            value[at] = value[at - 1];
        }
        if (at > 0 && size[at - 1] == words)
            return sx_error_at(node->pair[i].place, "the table of %s has two rows for %llu words", what,
                               (unsigned long long)words);
        size[at] = words;
        value[at] = number;
    }
    *out = (sx_size_cost){.place = node->place, .n = node->n, .size = size, .value = value};
    return SX_OK;
}

sx_status sx_size_cost_read(sx_arena *arena, const sx_node *node, const char *what, sx_size_cost *out) {
    const char *text;
    if (node->kind == SX_NODE_MAP) return read_table(arena, node, what, out);
    if (node->kind != SX_NODE_SCALAR)
        return sx_error_hint(sx_error_at(node->place, "%s is neither a formula nor a table", what),
                             "write a number, a formula such as 0.1 + 0.01 * words, or {8: 0.2, 16: 0.3}");
    SX_TRY(sx_node_text(node, what, &text));
    *out = (sx_size_cost){.place = node->place, .formula = text};
    return SX_OK;
}

/* What a formula may name. */
typedef struct scope {
    const char *const *name;
    const double *value;
    size_t n;
} scope;

static sx_status look_up(void *user, const char *name, double *value, bool *found) {
    const scope *s = user;
    *found = false;
    for (size_t i = 0; i < s->n; i++) {
        if (strcmp(name, s->name[i]) != 0) continue;
        *value = s->value[i];
        *found = true;
    }
    return SX_OK;
}

/* The value of a formula; what it may name is the hint of an error. */
static sx_status evaluate_formula(const sx_size_cost *size_cost, scope *s, double *out) {
    static const char *const all[] = {"words, rows, bits, kb, word_bits, block_size, width, pat, sram, "
                                      "sram_write, sram_leakage, sram_area, "
                                      "base, base_words, base_pat, base_area, base_sram, base_sram_write, "
                                      "base_sram_leakage, base_sram_area",
                                      "word_bits"};
    sx_status status = sx_expression(size_cost->formula, size_cost->place, look_up, s, out);
    if (!status || status->code != SX_ERR_INPUT) return status;
    return sx_error_hint(status,
                         "numbers, + - * / ** and functions such as sqrt and log2, of these names: %s",
                         all[s->n == 1]);
}

/* The value of a formula for a memory like `base` of a given number of words. */
static sx_status evaluate_memory(const sx_size_cost *size_cost, const sx_storage *base, double base_value,
                                 uint64_t words, double *out) {
    static const char *const names[] = {"words",
                                        "rows",
                                        "bits",
                                        "kb",
                                        "word_bits",
                                        "block_size",
                                        "width",
                                        "pat",
                                        "base_words",
                                        "base_pat",
                                        "base",
                                        "base_area",
                                        "sram",
                                        "sram_write",
                                        "sram_leakage",
                                        "sram_area",
                                        "base_sram",
                                        "base_sram_write",
                                        "base_sram_leakage",
                                        "base_sram_area"};
    enum { FIRST_SRAM = 12, N_SRAM = 4 };
    double width = (double)base->word_bits * base->block_size, bits = (double)words * base->word_bits;
    bool limited = base->entries != SX_UNLIMITED;
    double base_words = limited ? (double)base->entries : 0, kilobyte = 8192;
    sx_sram_figures own, of_base;
    sx_sram_by_size(width, fmax((double)words / base->block_size, 1), &own);
    sx_sram_by_size(width, fmax(base_words / base->block_size, 1), &of_base);
    double value[FIRST_SRAM + 2 * N_SRAM] = {(double)words,
                                             (double)words / base->block_size,
                                             bits,
                                             bits / kilobyte,
                                             base->word_bits,
                                             base->block_size,
                                             width,
                                             sx_pat_sram(bits / kilobyte, width),
                                             base_words,
                                             sx_pat_sram(base_words * base->word_bits / kilobyte, width),
                                             base_value,
                                             base->area};
    memcpy(&value[FIRST_SRAM], own.value, N_SRAM * sizeof *value);
    memcpy(&value[FIRST_SRAM + N_SRAM], of_base.value, N_SRAM * sizeof *value);
    return evaluate_formula(size_cost, &(scope){names, value, sizeof value / sizeof *value}, out);
}

sx_status sx_size_cost_value(const sx_size_cost *size_cost, const sx_storage *base, double base_value,
                             uint64_t words, const char *name, const char *key, double *out) {
    double value = 0;
    size_t at = 0;
    while (at < size_cost->n && size_cost->size[at] != words) at++;
    if (size_cost->formula) {
        SX_TRY(evaluate_memory(size_cost, base, base_value, words, &value));
    } else if (at < size_cost->n) {
        value = size_cost->value[at];
    } else {
        return sx_error_hint(sx_error_at(size_cost->place,
                                         "the table of %s has no row for %llu words, a size of %s", key,
                                         (unsigned long long)words, name),
                             "add the row, or write a formula");
    }
    if (value >= 0 && value <= 1e30) {
        *out = value;
        return SX_OK;
    }
    return sx_error_at(size_cost->place,
                       "%s of %s at %llu words is %g; it must be a finite number that is not negative", key,
                       name, (unsigned long long)words, value);
}

sx_status sx_size_cost_of_compute(const sx_size_cost *size_cost, const sx_compute *compute, double *out) {
    static const char *const names[] = {"word_bits"};
    double value[] = {compute->word_bits};
    if (!size_cost->formula)
        return sx_error_hint(sx_error_at(size_cost->place, "compute-area is a table"),
                             "it is a number or a formula");
    SX_TRY(evaluate_formula(size_cost, &(scope){names, value, 1}, out));
    return check_value(size_cost->place, "compute-area", *out);
}
