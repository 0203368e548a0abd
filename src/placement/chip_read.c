/* Reading a chip. docs/placement.md describes the section. */
#include "placement/chip_read.h"

#include "frontend/section_file.h"
#include "sextant/placement.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))

/* Reads bytes: a whole number, or a number with a unit such as "4 MiB". */
static sx_status read_bytes(const sx_node *node, const char *what, uint64_t *out) {
    static const struct {
        const char *name;
        double bytes;
    } units[] = {{"B", 1},         {"KB", 1e3},           {"MB", 1e6},
                 {"GB", 1e9},      {"TB", 1e12},          {"KiB", 1024},
                 {"MiB", 1048576}, {"GiB", 1073741824.0}, {"TiB", 1099511627776.0}};
    const char *text;
    char *end;
    SX_TRY(sx_node_text(node, what, &text));
    double value = strtod(text, &end);
    while (*end == ' ') end++;
    for (size_t i = 0; i < N(units) && isdigit((unsigned char)text[0]); i++) {
        if (strcmp(end, units[i].name) != 0) continue;
        value *= units[i].bytes;
        if (!(value < 0x1p62)) break;
        *out = (uint64_t)value;
        return SX_OK;
    }
    sx_status status = sx_node_u64(node, what, out);
    if (!status) return SX_OK;
    return sx_error_hint(status, "a number of bytes, such as 4194304 or 4 MiB");
}

static const sx_key_rule chip_memory_rules[] = {
    SX_KEY("name", "text!", "its name"),
    SX_KEY("capacity", "count!", "bytes, such as 4194304 or 4 MiB"),
    SX_KEY("bandwidth", "positive!", "bytes per second"),
    SX_KEY("energy", "number", "pJ of a byte"),
};
const sx_keys sx_keys_chip_memory = SX_KEYS("chip_memory", false, chip_memory_rules);

static sx_status read_memory(const sx_node *map, sx_chip *chip) {
    sx_chip_memory *memory = &chip->memory[chip->n_memories];
    const sx_node *value;
    memset(memory, 0, sizeof *memory);
    SX_TRY(sx_node_check_keys(NULL, map, "a memory", &sx_keys_chip_memory));
    SX_TRY(sx_node_require(map, "name", "a memory", &value));
    SX_TRY(sx_node_name(value, "name", memory->name));
    SX_TRY(sx_node_require(map, "capacity", "a memory", &value));
    SX_TRY(read_bytes(value, "capacity", &memory->capacity));
    SX_TRY(sx_node_require(map, "bandwidth", "a memory", &value));
    SX_TRY(sx_node_double(value, "bandwidth", &memory->bandwidth));
    SX_TRY(sx_node_get_double(map, "energy", &memory->energy));
    chip->n_memories++;
    return sx_error_place(sx_chip_check(chip), map->place);
}

static sx_status read_memories(const sx_node *list, sx_chip *chip) {
    SX_TRY(sx_node_expect(list, SX_NODE_LIST, "'memories'"));
    if (list->n < 1 || list->n > SX_MAX_MEMORIES)
        return sx_error_hint(sx_error_at(list->place, "'memories' has %zu memories", list->n),
                             "a chip has from 1 to %d, listed from slow to fast", SX_MAX_MEMORIES);
    chip->n_memories = 0;
    for (size_t i = 0; i < list->n; i++) SX_TRY(read_memory(list->item[i], chip));
    return SX_OK;
}

/* Whether a class runs on the units for products of matrices. */
static bool is_matrix(size_t class) {
    return class <= SX_CLASS_MATMUL;
}

sx_keys sx_chip_rate_keys(sx_key_rule rule[SX_MOST_KEYS]) {
    sx_keys keys = {"chip_compute", false, rule, 2 + SX_N_OP_CLASSES};
    rule[0] = (sx_key_rule)SX_KEY("matrix", "positive!", "operations per second of products of matrices");
    rule[1] = (sx_key_rule)SX_KEY("vector", "positive!", "operations per second of all others");
    for (size_t i = 0; i < SX_N_OP_CLASSES; i++)
        rule[2 + i] =
            (sx_key_rule)SX_KEY(sx_op_class_name((sx_op_class)i), "number", "operations per second");
    return keys;
}

/* Reads the rates: `matrix` and `vector` for all classes, then those of single ones. */
static sx_status read_rates(const sx_node *map, sx_chip *chip) {
    sx_key_rule rules[SX_MOST_KEYS];
    const sx_keys keys = sx_chip_rate_keys(rules);
    const sx_node *value;
    double matrix, vector;
    SX_TRY(sx_node_check_keys(NULL, map, "'compute'", &keys));
    SX_TRY(sx_node_require(map, "matrix", "'compute'", &value));
    SX_TRY(sx_node_double(value, "matrix", &matrix));
    SX_TRY(sx_node_require(map, "vector", "'compute'", &value));
    SX_TRY(sx_node_double(value, "vector", &vector));
    for (size_t i = 0; i < SX_N_OP_CLASSES; i++) {
        chip->rate[i] = is_matrix(i) ? matrix : vector;
        SX_TRY(sx_node_get_double(map, rules[2 + i].key, &chip->rate[i]));
    }
    return sx_error_place(sx_chip_check(chip), map->place);
}

/* Reads how transfers of a node share time. */
static sx_status read_ports(const sx_node *node, bool *shared) {
    static const char *const words[] = {"separate", "shared"};
    const char *text;
    SX_TRY(sx_node_text(node, "ports", &text));
    *shared = strcmp(text, "shared") == 0;
    if (*shared || strcmp(text, "separate") == 0) return SX_OK;
    return sx_error_unknown(node->place, "value of 'ports'", text, words, 2);
}

/* Reads a number, where it is there, and checks it. */
static sx_status read_number(const sx_node *map, const char *key, sx_chip *chip, double *field) {
    const sx_node *value = sx_node_get(map, key);
    if (!value) return SX_OK;
    SX_TRY(sx_node_double(value, key, field));
    return sx_error_place(sx_chip_check(chip), value->place);
}

static const sx_key_rule chip_rules[] = {
    SX_KEY("name", "text!", "its name"),
    SX_KEY("memories", "[@chip_memory]!", "from slow to fast"),
    SX_KEY("compute", "@chip_compute!", "operations per second"),
    SX_KEY("overhead", "number", "seconds of a node"),
    SX_KEY("ports", "=separate|shared", "how transfers of a node share time"),
    SX_KEY("op-energy", "number", "pJ of an operation"),
    SX_KEY("output-buffer", "whole", "bytes of output for which weights that do not stay are read once"),
    SX_KEY("prefetch", "whole", "bytes through which weights are prefetched"),
};
const sx_keys sx_keys_chip = SX_KEYS("chip", false, chip_rules);

/* Reads the section over a chip that keeps all rules, so that each value can be checked at its place. */
static sx_status read_chip(const sx_node *map, void *out) {
    const sx_node *value;
    sx_chip chip;
    SX_TRY(sx_catalog_chip("nnpi", &chip));
    chip.overhead = chip.op_energy = 0;
    chip.output_buffer = chip.prefetch = 0;
    SX_TRY(sx_node_check_keys(NULL, map, "a chip", &sx_keys_chip));
    SX_TRY(sx_node_require(map, "name", "a chip", &value));
    memset(chip.name, 0, sizeof chip.name);
    SX_TRY(sx_node_name(value, "name", chip.name));
    SX_TRY(sx_node_require(map, "memories", "a chip", &value));
    SX_TRY(read_memories(value, &chip));
    SX_TRY(sx_node_require(map, "compute", "a chip", &value));
    SX_TRY(read_rates(value, &chip));
    SX_TRY(read_number(map, "overhead", &chip, &chip.overhead));
    SX_TRY(read_number(map, "op-energy", &chip, &chip.op_energy));
    if ((value = sx_node_get(map, "output-buffer")))
        SX_TRY(read_bytes(value, "output-buffer", &chip.output_buffer));
    if ((value = sx_node_get(map, "prefetch"))) SX_TRY(read_bytes(value, "prefetch", &chip.prefetch));
    if ((value = sx_node_get(map, "ports"))) SX_TRY(read_ports(value, &chip.shared_ports));
    memcpy(out, &chip, sizeof chip);
    return SX_OK;
}

static const sx_section_file section = {
    "chip",
    "for example `chip: {name: mine, memories: [{name: DRAM, capacity: 4 GiB, "
    "bandwidth: 20e9}, {name: SRAM, capacity: 2 MiB, bandwidth: 1e12}], compute: "
    "{matrix: 4e12, vector: 1e11}, overhead: 1e-6}`",
    read_chip,
};

sx_status sx_chip_read(const char *path, sx_chip *out) {
    return sx_section_file_read(&section, path, out);
}

sx_status sx_chip_parse(const char *name, const char *text, size_t size, sx_chip *out) {
    return sx_section_file_parse(&section, name, text, size, out);
}
