/* The law of the tile pipeline of a level. */
#include "frontend/write/latency_section.h"
#include "ir/law.h"

/* The caches as a list. */
static json_t *list_caches(const sx_law *law) {
    json_t *list = json_array();
    for (int i = 0; i < law->n_caches; i++) {
        json_t *cache = json_object();
        sx_json_set(cache, "bytes", sx_json_real(law->cache[i].bytes));
        sx_json_set(cache, "ways", sx_json_real(law->cache[i].ways));
        sx_json_set(cache, "miss", sx_json_real(law->cache[i].miss));
        sx_json_append(list, cache);
    }
    return list;
}

json_t *sx_law_tree(const sx_law *from) {
    json_t *map = json_object();
    sx_law law = *from;
    const sx_law_key *key;
    const char *flag;
    size_t offset;
    for (size_t i = 0; (key = sx_law_number(i)); i++)
        if (*sx_law_value(&law, key) != key->otherwise)
            sx_json_set(map, key->name, sx_json_real(*sx_law_value(&law, key)));
    for (size_t i = 0; (flag = sx_law_flag(i, &offset)); i++)
        sx_json_set(map, flag, json_boolean(*(bool *)((char *)&law + offset)));
    if (law.n_caches) sx_json_set(map, "caches", list_caches(&law));
    if (law.n_array) {
        json_t *array = json_object();
        for (int i = 0; i < law.n_array; i++)
            sx_json_set(array, law.array[i].dim, sx_json_exact(law.array[i].size));
        sx_json_set(map, "array", array);
        sx_json_set(map, "stream", sx_json_text(law.stream));
    }
    if (law.n_layouts) {
        json_t *layouts = json_object();
        for (int i = 0; i < law.n_layouts; i++)
            sx_json_set(layouts, law.layout[i].tensor, sx_json_text(law.layout[i].dims));
        sx_json_set(map, "layout", layouts);
    }
    return map;
}
