/* The law of the tile pipeline of a level. */
#include "frontend/write/latency_section.h"
#include "ir/law.h"

#include <math.h>

/* The caches as a list. */
static json_t *list_caches(sx_tree *tree, const sx_law *law) {
    json_t *list = json_array();
    for (int i = 0; i < law->n_caches; i++) {
        json_t *cache = json_object();
        sx_tree_put(tree, cache, "bytes", sx_tree_double(tree, law->cache[i].bytes));
        sx_tree_put(tree, cache, "ways", sx_tree_double(tree, law->cache[i].ways));
        sx_tree_put(tree, cache, "miss", sx_tree_double(tree, law->cache[i].miss));
        sx_tree_append(tree, list, cache);
    }
    return list;
}

json_t *sx_law_tree(sx_tree *tree, const sx_law *from) {
    json_t *map = json_object();
    sx_law law = *from;
    const sx_law_key *key;
    const char *flag;
    size_t offset;
    for (size_t i = 0; (key = sx_law_number(i)); i++)
        if (*sx_law_value(&law, key) != key->otherwise)
            sx_tree_put(tree, map, key->name, sx_tree_double(tree, *sx_law_value(&law, key)));
    for (size_t i = 0; (flag = sx_law_flag(i, &offset)); i++)
        sx_tree_put(tree, map, flag, sx_tree_bool(*(bool *)((char *)&law + offset)));
    if (law.n_caches) sx_tree_put(tree, map, "caches", list_caches(tree, &law));
    if (law.n_array) {
        json_t *array = json_object();
        for (int i = 0; i < law.n_array; i++)
            sx_tree_put(tree, array, law.array[i].dim, sx_tree_u64(tree, law.array[i].size));
        sx_tree_put(tree, map, "array", array);
        sx_tree_put(tree, map, "stream", sx_tree_text(tree, law.stream));
    }
    if (law.n_layouts) {
        json_t *layouts = json_object();
        for (int i = 0; i < law.n_layouts; i++)
            sx_tree_put(tree, layouts, law.layout[i].tensor, sx_tree_text(tree, law.layout[i].dims));
        sx_tree_put(tree, map, "layout", layouts);
    }
    return map;
}
