/* The law of the tile pipeline of a certificate's outermost level. */
#include "check/reader.h"
#include "ir/law.h"

#include <stdio.h>
#include <string.h>

/* Reads numbers, and what is true or false. */
static sx_status read_values(const sx_node *map, sx_law *out) {
    const sx_law_key *key;
    const char *flag;
    size_t offset;
    for (size_t i = 0; (key = sx_law_number(i)); i++)
        SX_TRY(sx_node_get_double(map, key->name, sx_law_value(out, key)));
    for (size_t i = 0; (flag = sx_law_flag(i, &offset)); i++)
        SX_TRY(sx_node_get_bool(map, flag, (bool *)((char *)out + offset)));
    return SX_OK;
}

/* Reads the caches. */
static sx_status read_caches(const sx_node *list, sx_law *out) {
    if (!list) return SX_OK;
    SX_TRY(sx_node_expect(list, SX_NODE_LIST, "caches"));
    if (list->n > SX_MAX_CACHES)
        return sx_error_at(list->place, "a level has at most %d caches", SX_MAX_CACHES);
    for (size_t i = 0; i < list->n; i++) {
        sx_law_cache *cache = &out->cache[out->n_caches++];
        SX_TRY(sx_node_get_double(list->item[i], "bytes", &cache->bytes));
        SX_TRY(sx_node_get_double(list->item[i], "ways", &cache->ways));
        SX_TRY(sx_node_get_double(list->item[i], "miss", &cache->miss));
    }
    return SX_OK;
}

/* Reads the array and the dimension that streams. */
static sx_status read_array(const sx_node *map, sx_law *out) {
    const sx_node *array = sx_node_get(map, "array");
    const char *stream = "";
    if (!array) return SX_OK;
    SX_TRY(sx_node_expect(array, SX_NODE_MAP, "array"));
    if (array->n > SX_MAX_ARRAY)
        return sx_error_at(array->place, "an array has at most %d dimensions", SX_MAX_ARRAY);
    for (size_t i = 0; i < array->n; i++) {
        struct sx_law_array *side = &out->array[out->n_array++];
        uint64_t size;
        snprintf(side->dim, sizeof side->dim, "%s", array->pair[i].key);
        SX_TRY(sx_node_range(array->pair[i].value, "array", 1, UINT32_MAX, &size));
        side->size = (uint32_t)size;
    }
    SX_TRY(sx_node_get_text(map, "stream", &stream));
    snprintf(out->stream, sizeof out->stream, "%s", stream);
    return SX_OK;
}

/* Reads the layouts: words with a space between. */
static sx_status read_layouts(const sx_node *map, sx_law *out) {
    if (!map) return SX_OK;
    SX_TRY(sx_node_expect(map, SX_NODE_MAP, "layout"));
    if (map->n > SX_MAX_TENSORS)
        return sx_error_at(map->place, "a problem has at most %d tensors", SX_MAX_TENSORS);
    for (size_t i = 0; i < map->n; i++) {
        struct sx_law_layout *layout = &out->layout[out->n_layouts++];
        const char *text;
        SX_TRY(sx_node_text(map->pair[i].value, "layout", &text));
        snprintf(layout->tensor, sizeof layout->tensor, "%s", map->pair[i].key);
        snprintf(layout->dims, sizeof layout->dims, "%s", text);
    }
    return SX_OK;
}

sx_status sx_check_read_law(const sx_node *map, sx_law *out, sx_check_doubt *doubt) {
    enum { MOST_KEYS = 32 };
    const char *keys[MOST_KEYS] = {"caches", "array", "stream", "layout"};
    const sx_law_key *key;
    size_t n = 4, offset;
    for (size_t i = 0; (key = sx_law_number(i)) && n < MOST_KEYS; i++) keys[n++] = key->name;
    for (size_t i = 0; n < MOST_KEYS && (keys[n] = sx_law_flag(i, &offset)); i++) n++;
    sx_law_init(out);
    SX_TRY(sx_check_keys(map, "a latency", keys, n, doubt));
    SX_TRY(read_values(map, out));
    SX_TRY(read_caches(sx_node_get(map, "caches"), out));
    SX_TRY(read_array(map, out));
    SX_TRY(read_layouts(sx_node_get(map, "layout"), out));
    return sx_error_place(sx_law_check_parts("the outermost level", out), map->place);
}
