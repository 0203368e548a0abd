/* What a certificate claims: the objective, and mappings with their costs. */
#include "check/reader.h"

#include <stdlib.h>
#include <string.h>

/* Reads a factor "e", "d" or "e^2" of a product; *at moves on. False where it is none, or a power has no rule. */
static bool read_power(const char **at, sx_check_goal *out) {
    int *power = **at == 'e' ? &out->energy_power : **at == 'd' ? &out->delay_power : NULL;
    if (!power || *power) return false;
    *power = 1;
    if (*++*at != '^') return true;
    char digit = *++*at;
    if (digit < '1' || digit > '0' + SX_MAX_POWER) return false;
    *power = digit - '0';
    ++*at;
    return true;
}

/* Whether an objective is the name of a product, or the product itself; *at moves on behind it. */
static bool read_product(const char **at, sx_check_goal *out) {
    static const struct {
        const char *name, *product;
    } known[] = {{"edp", "e*d"}, {"energy", "e"}, {"delay", "d"}, {"ed2p", "e*d^2"}};
    const size_t size = strcspn(*at, ",");
    *out = (sx_check_goal){0, 0};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strlen(known[i].name) != size || strncmp(*at, known[i].name, size) != 0) continue;
        const char *product = known[i].product;
        *at += size;
        return read_power(&product, out) && (*product++ != '*' || read_power(&product, out));
    }
    if (!read_power(at, out)) return false;
    if (**at != '*') return true;
    ++*at;
    return read_power(at, out);
}

sx_status sx_check_read_goal(const sx_node *map, sx_check_claim *out, sx_check_doubt *doubt) {
    const sx_node *node;
    const char *text;
    SX_TRY(sx_node_require(map, "objective", "the certificate", &node));
    SX_TRY(sx_node_text(node, "objective", &text));
    const char *at = text;
    out->latency = strcmp(text, "latency") == 0;
    if (out->latency) return SX_OK;
    bool good = read_product(&at, &out->goal);
    out->tie = good && *at == ',';
    if (out->tie) {
        at++;
        good = read_product(&at, &out->second);
    }
    if (!good || *at) sx_check_doubt_add(doubt, "there is no rule for the objective '%.64s'", text);
    return SX_OK;
}

/* Reads digits as a number; false where there are none, or it does not fit. */
static bool read_wide(const char **text, sx_wide *out) {
    const char *from = *text;
    for (*out = 0; **text >= '0' && **text <= '9'; ++*text)
        if (!sx_wide_mul(*out, 10, out) || !sx_wide_add(*out, **text - '0', out)) return false;
    return *text > from;
}

/* Reads the energy without rounding, a number or a fraction such as 7/25, where it is said. */
static sx_status read_exact_energy(const sx_node *map, sx_check_point *out) {
    const char *text = NULL;
    SX_TRY(sx_node_get_text(map, "energy_exact", &text));
    if (!text) return SX_OK;
    out->exact[1] = 1;
    bool good = read_wide(&text, &out->exact[0]);
    if (good && *text == '/') {
        text++;
        good = read_wide(&text, &out->exact[1]);
    }
    if (good && !*text && out->exact[1] > 0) return SX_OK;
    return sx_error_at(sx_node_key_place(map, "energy_exact"),
                       "'energy_exact' must be a number or a fraction such as 7/25");
}

sx_status sx_check_read_cost(const sx_node *map, sx_check_point *out) {
    SX_TRY(sx_node_get_double(map, "energy_pj", &out->energy_pj));
    SX_TRY(read_exact_energy(map, out));
    SX_TRY(sx_node_get_double(map, "latency", &out->latency));
    return sx_node_get_double(map, "cycles", &out->cycles);
}

sx_status sx_check_read_front(const sx_node *list, sx_check_case *c, sx_check_doubt *doubt) {
    static const char *const keys[] = {"energy_pj", "energy_exact", "cycles", "mapping"};
    if (!list) return SX_OK;
    SX_TRY(sx_node_expect(list, SX_NODE_LIST, "front"));
    if (list->n == 0) return sx_error_at(list->place, "a front has one mapping or more");
    c->front = calloc(list->n, sizeof *c->front);
    if (!c->front) return sx_error_memory();
    c->n_front = list->n;
    for (size_t i = 0; i < list->n; i++) {
        const sx_node *mapping;
        SX_TRY(sx_check_keys(list->item[i], "a point of the front", keys, sizeof keys / sizeof *keys, doubt));
        SX_TRY(sx_check_read_cost(list->item[i], &c->front[i]));
        SX_TRY(sx_node_require(list->item[i], "mapping", "a point of the front", &mapping));
        SX_TRY(sx_check_read_mapping(mapping, c, &c->front[i].mapping, doubt));
    }
    return SX_OK;
}
