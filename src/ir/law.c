#include "ir/law.h"

#include "base/status.h"

#include <math.h>
#include <string.h>

#define AT(field) offsetof(sx_law, field)
#define MOST 1e15

static const sx_law_key numbers[] = {
    {"slots", AT(slots), 1, INFINITY, INFINITY, false},
    {"exposed", AT(exposed), 0, 1, 0, false},
    {"launch", AT(launch), 0, MOST, 0, false},
    {"start", AT(start), 0, MOST, 0, false},
    {"load_bus", AT(load_bus), 0, MOST, 0, true},
    {"load_request", AT(load_request), 1, INFINITY, INFINITY, false},
    {"load_min", AT(load_min), 0, MOST, 0, false},
    {"store_request", AT(store_request), 1, INFINITY, INFINITY, false},
    {"store_time", AT(store_time), 0, MOST, 0, true},
    {"line", AT(line), 1, MOST, 64, false},
    {"soft", AT(soft), 0, INFINITY, INFINITY, true},
    {"write_factor", AT(write_factor), 0, MOST, 1, false},
    {"rows", AT(rows), 1, MOST, 1, false},
    {"min_rows", AT(min_rows), 0, MOST, 0, false},
    {"preload", AT(preload), 0, MOST, 0, false},
    {"issue", AT(issue), 0, MOST, 0, false},
    {"page", AT(page), 1, MOST, 4096, false},
    {"page_time", AT(page_time), 0, MOST, 0, false},
};
enum { N_NUMBERS = sizeof numbers / sizeof *numbers };

static const struct {
    const char *name;
    size_t offset;
} flags[] = {{"tail", AT(tail)}, {"refetch", AT(refetch)}, {"spill", AT(spill)}};
enum { N_FLAGS = sizeof flags / sizeof *flags };

const sx_law_key *sx_law_number(size_t index) {
    return index < N_NUMBERS ? &numbers[index] : NULL;
}

const char *sx_law_flag(size_t index, size_t *offset) {
    if (index >= N_FLAGS) return NULL;
    *offset = flags[index].offset;
    return flags[index].name;
}

void sx_law_init(sx_law *law) {
    memset(law, 0, sizeof *law);
    for (size_t i = 0; i < N_NUMBERS; i++) *sx_law_value(law, &numbers[i]) = numbers[i].otherwise;
}

bool sx_law_is_neutral(const sx_law *law) {
    sx_law other = *law;
    for (size_t i = 0; i < N_NUMBERS; i++)
        if (*sx_law_value(&other, &numbers[i]) != numbers[i].otherwise) return false;
    return !law->tail && !law->refetch && !law->n_caches && !law->n_array;
}

const sx_law *sx_arch_law(const sx_arch *arch, int level) {
    int number = arch->level[level].law;
    return number ? &arch->law[number - 1] : NULL;
}

sx_status sx_law_check_number(const char *level, const sx_law_key *key, double value) {
    bool good = value >= key->low && value <= key->high && !(key->open && value == key->low);
    if (good || value == key->otherwise) return SX_OK;
    if (isinf(key->high))
        return sx_error_new(SX_ERR_INPUT, "'%s': '%s' of its latency is %g; it must be %s %g", level,
                            key->name, value, key->open ? "above" : "at least", key->low);
    return sx_error_new(SX_ERR_INPUT, "'%s': '%s' of its latency is %g; it must be %s %g and at most %g",
                        level, key->name, value, key->open ? "above" : "at least", key->low, key->high);
}

/* Refuses a cache without room, or a number of sets that is not whole. */
static sx_status check_cache(const char *level, const sx_law *law, const sx_law_cache *cache) {
    double sets = cache->bytes / (law->line * cache->ways);
    if (!(cache->miss >= 0 && cache->miss <= MOST))
        return sx_error_new(SX_ERR_INPUT, "'%s': 'miss' of a cache is %g; it must be at least 0", level,
                            cache->miss);
    if (sets >= 1 && sets <= 0x1p40 && sets == floor(sets)) return SX_OK;
    return sx_error_hint(
        sx_error_new(SX_ERR_INPUT, "'%s': a cache of %g bytes with %g ways and lines of %g bytes has %g sets",
                     level, cache->bytes, cache->ways, law->line, sets),
        "bytes must be a multiple of line * ways");
}

/* Whether a level inside this one has another law. */
static bool has_inner_law(const sx_arch *arch, int level) {
    for (int s = 0; s < level; s++)
        if (arch->level[s].law && arch->level[s].law != arch->level[level].law) return true;
    return false;
}

sx_status sx_law_check_parts(const char *level, const sx_law *law) {
    sx_law other = *law;
    for (size_t i = 0; i < N_NUMBERS; i++)
        SX_TRY(sx_law_check_number(level, &numbers[i], *sx_law_value(&other, &numbers[i])));
    for (int i = 0; i < law->n_caches; i++) SX_TRY(check_cache(level, law, &law->cache[i]));
    if (!law->n_array != !law->stream[0])
        return sx_error_new(SX_ERR_INPUT, "'%s': 'array' and 'stream' of its latency need each other", level);
    for (int i = 0; i < law->n_array; i++)
        if (law->array[i].size < 1)
            return sx_error_new(SX_ERR_INPUT, "'%s': the array has a size of 0 along %s", level,
                                law->array[i].dim);
    return SX_OK;
}

sx_status sx_law_check(const sx_arch *arch, int level) {
    const char *name = arch->level[level].name;
    if (arch->level[level].law > arch->n_laws || arch->n_laws > SX_MAX_LAWS)
        return sx_error_new(SX_ERR_INPUT, "'%s' has a law of latency that does not exist", name);
    const sx_law *law = sx_arch_law(arch, level);
    if (!law) return SX_OK;
    SX_TRY(sx_law_check_parts(name, law));
    if (law->n_array && has_inner_law(arch, level))
        return sx_error_hint(
            sx_error_new(SX_ERR_INPUT, "'%s' has an 'array', but a level inside it has a latency of its own",
                         name),
            "give the array to the innermost of them");
    return SX_OK;
}
