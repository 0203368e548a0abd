/* The attribute `latency` of a storage level: as a map, the law of the tile pipeline (docs/latency.md); as a number it
 * has no bearing. */
#include "base/text.h"
#include "frontend/known_keys.h"
#include "frontend/timeloop/arch_builder.h"
#include "ir/law.h"

#include <stdio.h>
#include <string.h>

sx_keys sx_latency_keys(sx_key_rule rule[SX_MOST_KEYS]) {
    static const sx_key_rule others[] = {
        SX_KEY("caches", "[@cache]", "caches on the way to the memory outside"),
        SX_KEY("array", "{expression}", "places of the array along a dimension"),
        SX_KEY("stream", "text", "the tensor that streams through the array"),
        SX_KEY("layout", "{names}", "the order of a tensor's dimensions in memory")};
    sx_keys keys = {"latency", false, rule, 0};
    size_t offset;
    const sx_law_key *key;
    const char *flag;
    for (size_t i = 0; (key = sx_law_number(i)); i++)
        rule[keys.n++] = (sx_key_rule)SX_KEY(key->name, "expression", NULL);
    for (size_t i = 0; (flag = sx_law_flag(i, &offset)); i++)
        rule[keys.n++] = (sx_key_rule)SX_KEY(flag, "bool", NULL);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) rule[keys.n++] = others[i];
    return keys;
}

/* Reads the numbers, and what is true or false. */
static sx_status read_numbers(const sx_attribute_scope *scope, const char *level, sx_law *law) {
    const sx_law_key *key;
    const char *flag;
    size_t offset;
    for (size_t i = 0; (key = sx_law_number(i)); i++) {
        const sx_pair *pair = sx_attribute_pair(scope, key->name);
        if (!pair) continue;
        double *value = sx_law_value(law, key);
        SX_TRY(sx_attribute_number(scope, pair->value, key->name, value));
        sx_status bad = sx_law_check_number(level, key, *value);
        if (!bad && key->open && *value == key->low)
            bad = sx_error_new(SX_ERR_INPUT, "'%s' is %g; it must be above %g", key->name, *value, key->low);
        if (bad) return sx_error_place(bad, pair->value->place);
    }
    for (size_t i = 0; (flag = sx_law_flag(i, &offset)); i++)
        SX_TRY(sx_attribute_bool(scope, flag, (bool *)((char *)law + offset)));
    return SX_OK;
}

static const sx_key_rule cache_rules[] = {
    SX_KEY("bytes", "expression!", "its size"),
    SX_KEY("ways", "expression!", "its associativity"),
    SX_KEY("miss", "expression!", "cycles of a miss"),
};
const sx_keys sx_keys_cache = SX_KEYS("cache", false, cache_rules);

/* Reads one cache. */
static sx_status read_cache(const sx_attribute_scope *variables, const sx_node *map, sx_law_cache *cache) {
    double *const value[] = {&cache->bytes, &cache->ways, &cache->miss};
    const sx_attribute_scope scope = {.map = map, .outer = variables, .names_only = false};
    SX_TRY(sx_node_check_keys(NULL, map, "a cache", &sx_keys_cache));
    for (int i = 0; i < 3; i++) {
        const sx_node *node;
        SX_TRY(sx_node_require(map, sx_keys_cache.rule[i].key, "a cache", &node));
        SX_TRY(sx_attribute_number(&scope, node, sx_keys_cache.rule[i].key, value[i]));
        if (!(*value[i] >= 0))
            return sx_error_at(node->place, "'%s' is %g; it must not be negative", sx_keys_cache.rule[i].key,
                               *value[i]);
    }
    return SX_OK;
}

static sx_status read_caches(const sx_attribute_scope *variables, const sx_node *list, sx_law *law) {
    SX_TRY(sx_node_expect(list, SX_NODE_LIST, "'caches'"));
    if (list->n > SX_MAX_CACHES)
        return sx_error_at(list->place, "%zu caches; at most %d are allowed", list->n, SX_MAX_CACHES);
    for (size_t i = 0; i < list->n; i++) SX_TRY(read_cache(variables, list->item[i], &law->cache[i]));
    law->n_caches = (uint8_t)list->n;
    return SX_OK;
}

static sx_status read_array(const sx_node *map, sx_law *law) {
    SX_TRY(sx_node_expect(map, SX_NODE_MAP, "'array'"));
    if (map->n > SX_MAX_ARRAY)
        return sx_error_at(map->place, "an array along %zu dimensions; at most %d are allowed", map->n,
                           SX_MAX_ARRAY);
    for (size_t i = 0; i < map->n; i++) {
        struct sx_law_array *array = &law->array[i];
        sx_status named = sx_text_name(array->dim, sizeof array->dim, map->pair[i].key, "a dimension");
        if (named) return sx_error_place(named, map->pair[i].place);
        SX_TRY(sx_node_u32(map->pair[i].value, map->pair[i].key, &array->size));
        if (array->size < 1)
            return sx_error_at(map->pair[i].value->place, "'%s' is 0; an array has at least one place",
                               array->dim);
    }
    law->n_array = (uint8_t)map->n;
    return SX_OK;
}

/* Adds a dimension to a layout. */
static sx_status add_dim(void *user, const char *name, sx_place place) {
    struct sx_law_layout *layout = user;
    size_t used = strlen(layout->dims);
    int n = snprintf(layout->dims + used, sizeof layout->dims - used, "%s%s", used ? " " : "", name);
    if ((size_t)n < sizeof layout->dims - used) return SX_OK;
    return sx_error_at(place, "the layout of %s is longer than %d letters", layout->tensor,
                       SX_LAYOUT_SIZE - 1);
}

static sx_status read_layouts(const sx_node *map, sx_law *law) {
    SX_TRY(sx_node_expect(map, SX_NODE_MAP, "'layout'"));
    if (map->n > SX_MAX_TENSORS)
        return sx_error_at(map->place, "layouts of %zu tensors; at most %d are allowed", map->n,
                           SX_MAX_TENSORS);
    for (size_t i = 0; i < map->n; i++) {
        struct sx_law_layout *layout = &law->layout[i];
        sx_status named = sx_text_name(layout->tensor, sizeof layout->tensor, map->pair[i].key, "a tensor");
        if (named) return sx_error_place(named, map->pair[i].place);
        SX_TRY(sx_node_names(map->pair[i].value, "a layout", add_dim, layout));
    }
    law->n_layouts = (uint8_t)map->n;
    return SX_OK;
}

sx_status sx_builder_law(sx_arch_builder *b, const sx_arch_component *e, sx_storage *level) {
    const sx_pair *pair = sx_attribute_pair(e->attributes, "latency");
    if (!pair || pair->value->kind != SX_NODE_MAP || pair->value->n == 0) return SX_OK;
    sx_key_rule rules[SX_MOST_KEYS];
    const sx_keys keys = sx_latency_keys(rules);
    char what[SX_NAME_SIZE + 24];
    const sx_node *map = pair->value, *node;
    const sx_attribute_scope names = {
        .map = e->attributes->map, .outer = e->attributes->outer, .names_only = true};
    const sx_attribute_scope scope = {.map = map, .outer = &names};
    snprintf(what, sizeof what, "the latency of '%s'", level->name);
    SX_TRY(sx_node_check_keys(NULL, map, what, &keys));
    if (b->arch.n_laws == SX_MAX_LAWS)
        return sx_error_at(pair->place, "more than %d levels have a latency by keys", SX_MAX_LAWS);
    sx_law *law = &b->arch.law[b->arch.n_laws];
    sx_law_init(law);
    SX_TRY(read_numbers(&scope, level->name, law));
    if ((node = sx_node_get(map, "caches"))) SX_TRY(read_caches(&names, node, law));
    if ((node = sx_node_get(map, "array"))) SX_TRY(read_array(node, law));
    if ((node = sx_node_get(map, "layout"))) SX_TRY(read_layouts(node, law));
    SX_TRY(sx_node_get_name(map, "stream", law->stream));
    level->law = ++b->arch.n_laws;
    sx_status bad = sx_law_check_parts(level->name, law);
    return bad ? sx_error_place(bad, pair->place) : SX_OK;
}
