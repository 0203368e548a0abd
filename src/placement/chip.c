/* The built-in chips, and what makes a chip one. */
#include "base/status.h"
#include "base/text.h"
#include "sextant/placement.h"

#include <stdio.h>
#include <string.h>

#define GIB ((uint64_t)1 << 30)
#define MIB ((uint64_t)1 << 20)
#define KIB ((uint64_t)1 << 10)

/* Capacities and bandwidths follow the EGRL paper (ICLR 2021): LLC about 10 times, SRAM about 100 times as fast
 * as DRAM. Depthwise filters keep a sixteenth of the multipliers busy; other operations run on vector units.
 * Energies are of the order that is usual for such memories. docs/placement.md says what is a fact of the product
 * and what is a choice. */
#define NNPI                                                                                                 \
    .n_memories = 3,                                                                                         \
    .memory = {{"DRAM", 32 * GIB, 68e9, 160}, {"LLC", 24 * MIB, 680e9, 16}, {"SRAM", 4 * MIB, 6.8e12, 1.6}}, \
    .rate = {[SX_CLASS_CONVOLUTION] = 46e12, [SX_CLASS_DEPTHWISE] = 2.875e12, [SX_CLASS_MATMUL] = 46e12,     \
             [SX_CLASS_POOL] = 4e12,         [SX_CLASS_ELEMENT_WISE] = 4e12,  [SX_CLASS_SOFTMAX] = 1e12,     \
             [SX_CLASS_NORM] = 1e12,         [SX_CLASS_OTHER] = 4e12},                                       \
    .op_energy = 0.2
static const struct {
    const char *about;
    sx_chip chip;
} chips[] = {
    {"Intel NNP-I class: DRAM, 24 MiB LLC, 4 MiB SRAM, 46 TMAC/s; weights read again per 32 KiB of output, "
     "and ahead",
     {.name = "nnpi", NNPI, .overhead = 0.2e-6, .output_buffer = 32 * KIB, .prefetch = MIB}},
    {"the same with every weight read once, nothing ahead, and 1 us per node",
     {.name = "nnpi-once", NNPI, .overhead = 1e-6}},
};
enum { N_CHIPS = sizeof chips / sizeof *chips };

const char *sx_op_class_name(sx_op_class which) {
    static const char *const names[] = {"convolution",  "depthwise", "matmul", "pool",
                                        "element-wise", "softmax",   "norm",   "other"};
    return (size_t)which < SX_N_OP_CLASSES ? names[which] : NULL;
}

const char *sx_catalog_chip_name(size_t index, const char **about) {
    if (index >= N_CHIPS) return NULL;
    if (about) *about = chips[index].about;
    return chips[index].chip.name;
}

sx_status sx_catalog_chip(const char *name, sx_chip *out) {
    const char *names[N_CHIPS];
    for (size_t i = 0; i < N_CHIPS; i++) {
        names[i] = chips[i].chip.name;
        if (strcmp(names[i], name) != 0) continue;
        *out = chips[i].chip;
        return SX_OK;
    }
    sx_status error = sx_error_new(SX_ERR_USAGE, "unknown chip '%s'", name);
    const char *nearest = sx_text_nearest(name, names, N_CHIPS);
    if (nearest) return sx_error_hint(error, "did you mean '%s'?", nearest);
    return sx_error_hint(error, "`sextant list chips` lists the built-in ones; a file may describe another");
}

/* Refuses a number outside [low, high]. */
static sx_status check_number(const char *what, double value, double low, double high) {
    if (value >= low && value <= high) return SX_OK;
    return sx_error_hint(sx_error_new(SX_ERR_INPUT, "%s is %g", what, value), "it is from %g to %g", low,
                         high);
}

static sx_status check_memory(const sx_chip *chip, size_t m) {
    const sx_chip_memory *memory = &chip->memory[m];
    char what[SX_NAME_SIZE + 40];
    if (memory->capacity == 0)
        return sx_error_hint(sx_error_new(SX_ERR_INPUT, "the memory '%s' has 0 bytes", memory->name),
                             "give its capacity in bytes, such as 4194304 or 4 MiB, or leave the memory out");
    if (memory->capacity > UINT64_MAX >> 2)
        return sx_error_hint(
            sx_error_new(SX_ERR_INPUT, "the memory '%s' has 2^62 bytes or more", memory->name),
            "capacities are given in bytes");
    snprintf(what, sizeof what, "the bandwidth of '%s'", memory->name);
    SX_TRY(check_number(what, memory->bandwidth, 1, 1e18));
    snprintf(what, sizeof what, "the energy of '%s'", memory->name);
    SX_TRY(check_number(what, memory->energy, 0, 1e9));
    if (m > 0 && memory->bandwidth < chip->memory[m - 1].bandwidth)
        return sx_error_hint(sx_error_new(SX_ERR_INPUT, "the memory '%s' is slower than '%s' before it",
                                          memory->name, chip->memory[m - 1].name),
                             "list the memories from slow to fast");
    for (size_t i = 0; i < m; i++)
        if (strcmp(chip->memory[i].name, memory->name) == 0)
            return sx_error_hint(sx_error_new(SX_ERR_INPUT, "two memories are called '%s'", memory->name),
                                 "give each a name of its own");
    return SX_OK;
}

sx_status sx_chip_check(const sx_chip *chip) {
    char what[40];
    if (chip->n_memories < 1 || chip->n_memories > SX_MAX_MEMORIES)
        return sx_error_hint(
            sx_error_new(SX_ERR_INPUT, "the chip '%s' has %zu memories", chip->name, chip->n_memories),
            "a chip has from 1 to %d", SX_MAX_MEMORIES);
    for (size_t m = 0; m < chip->n_memories; m++) SX_TRY(check_memory(chip, m));
    for (size_t i = 0; i < SX_N_OP_CLASSES; i++) {
        snprintf(what, sizeof what, "the rate of '%s'", sx_op_class_name((sx_op_class)i));
        SX_TRY(check_number(what, chip->rate[i], 1, 1e21));
    }
    SX_TRY(check_number("'op-energy'", chip->op_energy, 0, 1e9));
    return check_number("'overhead'", chip->overhead, 0, 1);
}
