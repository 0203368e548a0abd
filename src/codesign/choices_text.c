/* Choices as short texts: sizes, shapes, and whole choices on the command line. */
#include "base/text.h"
#include "codesign/choices.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t LARGEST_SIDE = (uint64_t)1 << 20;

/* Copies the part of a text up to a comma, without blanks around it, and goes past it; false where the text
 * is at its end or the part too long. */
static bool next_part(const char **at, char part[SX_NAME_SIZE]) {
    if (!*at) return false;
    const char *end = strchr(*at, ','), *begin = *at + strspn(*at, " \t");
    const char *stop = end ? end : *at + strlen(*at);
    while (stop > begin && strchr(" \t", stop[-1])) stop--;
    if (stop - begin >= SX_NAME_SIZE) stop = begin + SX_NAME_SIZE - 1;
    memcpy(part, begin, (size_t)(stop - begin));
    part[stop - begin] = 0;
    *at = end ? end + 1 : NULL;
    return true;
}

static sx_status too_many(sx_place place, const char *what) {
    return sx_error_at(place, "%s: there are more than %d", what, SX_MOST_OPTIONS);
}

/* Puts a size in its place among n others. */
static sx_status insert_size(uint64_t *size, size_t *n, uint64_t words, sx_place place, const char *what) {
    size_t at = *n;
    if (*n == SX_MOST_OPTIONS) return too_many(place, what);
    while (at > 0 && size[at - 1] >= words) at--;
    if (at < *n && size[at] == words)
        return sx_error_at(place, "%s: duplicate size of %llu words", what, (unsigned long long)words);
    memmove(&size[at + 1], &size[at], (*n - at) * sizeof *size);
    size[at] = words;
    ++*n;
    return SX_OK;
}

/* Reads one size, or a range of them. */
static sx_status parse_size(char *part, sx_place place, const char *what, uint64_t *size, size_t *n) {
    char *dots = strstr(part, "..");
    uint64_t first, last;
    if (dots) *dots = 0;
    bool good = sx_text_u64(part, &first) && first >= 1 && first <= SX_MAX_CAPACITY;
    last = first;
    if (good && dots) good = sx_text_u64(dots + 2, &last) && last >= 1 && last <= SX_MAX_CAPACITY;
    if (dots) *dots = '.';
    if (good && last < first)
        return sx_error_hint(sx_error_at(place, "%s: the range %s is reversed", what, part),
                             "the smaller size comes first: %llu..%llu", (unsigned long long)last,
                             (unsigned long long)first);
    if (!good)
        return sx_error_hint(
            sx_error_at(place, "%s: '%s' is not a valid size", what, part),
            "a size is a whole number of words, from 1 to 2^40; 8..128 is 8, 16, 32, 64, 128");
    for (uint64_t words = first; words <= last; words *= 2) SX_TRY(insert_size(size, n, words, place, what));
    return SX_OK;
}

sx_status sx_sizes_parse(sx_arena *arena, const char *text, sx_place place, const char *what, uint64_t **size,
                         size_t *n) {
    char part[SX_NAME_SIZE];
    const char *at = text;
    uint64_t *all = *size ? *size : sx_arena_alloc(arena, SX_MOST_OPTIONS, sizeof *all);
    if (!all) return sx_arena_error(arena);
    *size = all;
    while (next_part(&at, part)) SX_TRY(parse_size(part, place, what, all, n));
    return SX_OK;
}

/* Reads one shape. */
static sx_status parse_shape(char *part, sx_place place, sx_shape_choice *out) {
    char *times = strpbrk(part, "xX");
    if (times) *times = 0;
    bool good = times && sx_text_u64(part, &out->x) && sx_text_u64(times + 1, &out->y);
    if (times) *times = 'x';
    if (good && out->x >= 1 && out->y >= 1 && out->x <= LARGEST_SIDE && out->y <= LARGEST_SIDE) return SX_OK;
    return sx_error_hint(sx_error_at(place, "'%s' is not a valid array shape", part),
                         "a shape is meshX x meshY, such as 16x16, each side from 1 to 2^20");
}

sx_status sx_shapes_parse(sx_arena *arena, const char *text, sx_place place, sx_shape_choice **shape,
                          size_t *n) {
    char part[SX_NAME_SIZE];
    const char *at = text;
    sx_shape_choice *all = *shape ? *shape : sx_arena_alloc(arena, SX_MOST_OPTIONS, sizeof *all);
    if (!all) return sx_arena_error(arena);
    *shape = all;
    while (next_part(&at, part)) {
        if (*n == SX_MOST_OPTIONS) return too_many(place, "shapes");
        SX_TRY(parse_shape(part, place, &all[*n]));
        for (size_t i = 0; i < *n; i++)
            if (all[i].x == all[*n].x && all[i].y == all[*n].y)
                return sx_error_at(place, "duplicate shape %s", part);
        ++*n;
    }
    return SX_OK;
}

sx_status sx_choices_memory(sx_choices *choices, sx_place place, const char *level, const char *tensor,
                            sx_memory_choice **out) {
    for (size_t i = 0; i < choices->n_memories; i++) {
        const sx_memory_choice *other = &choices->memory[i];
        if (strcmp(other->level, level) != 0) continue;
        if (strcmp(other->tensor, tensor) == 0)
            return sx_error_at(place, "duplicate choice of %s%s%s", level, *tensor ? "/" : "", tensor);
        if (!*tensor || !other->tensor[0])
            return sx_error_hint(
                sx_error_at(place, "%s is chosen both as a whole and split by tensor", level),
                "it is either one memory or a memory for each tensor");
    }
    if (choices->n_memories == SX_MAX_LEVELS)
        return sx_error_at(place, "more than %d memories are chosen", SX_MAX_LEVELS);
    sx_memory_choice *memory = &choices->memory[choices->n_memories];
    *memory = (sx_memory_choice){.place = place};
    SX_TRY(sx_error_place(sx_text_name(memory->level, SX_NAME_SIZE, level, "a memory"), place));
    if (*tensor)
        SX_TRY(sx_error_place(sx_text_name(memory->tensor, SX_NAME_SIZE, tensor, "a tensor"), place));
    choices->n_memories++;
    *out = memory;
    return SX_OK;
}

sx_status sx_choices_array(sx_choices *choices, sx_place place, const char *level, sx_array_choice **out) {
    for (size_t i = 0; i < choices->n_arrays; i++)
        if (strcmp(choices->array[i].level, level) == 0)
            return sx_error_at(place, "duplicate choice of the array%s%s", *level ? " of " : "", level);
    if (choices->n_arrays == SX_MAX_LEVELS)
        return sx_error_at(place, "more than %d arrays are chosen", SX_MAX_LEVELS);
    sx_array_choice *array = &choices->array[choices->n_arrays];
    *array = (sx_array_choice){.place = place};
    if (*level) SX_TRY(sx_error_place(sx_text_name(array->level, SX_NAME_SIZE, level, "a level"), place));
    choices->n_arrays++;
    *out = array;
    return SX_OK;
}

/* Adds a choice whose name is split in two at the slash. */
static sx_status add_short(sx_choices *choices, const char *name, const char *part, const char *values,
                           sx_place place) {
    if (strcmp(name, "array") == 0) {
        sx_array_choice *array;
        SX_TRY(sx_choices_array(choices, place, part, &array));
        return sx_shapes_parse(&choices->arena, values, place, &array->shape, &array->n_shapes);
    }
    sx_memory_choice *memory;
    SX_TRY(sx_choices_memory(choices, place, name, part, &memory));
    return sx_sizes_parse(&choices->arena, values, place, "sizes", &memory->size, &memory->n_sizes);
}

sx_status sx_choices_add(sx_choices *choices, const char *text) {
    sx_place place = {.file = NULL};
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "the choice '%s' has no '='", text),
                             "for example L1=64,128, L1/Weights=8..128 or array=16x16,8x32");
    char *name = sx_arena_copy(&choices->arena, text, (size_t)(equals - text));
    if (!name) return sx_arena_error(&choices->arena);
    char *slash = strchr(name, '/');
    if (slash) *slash = 0;
    sx_status status = add_short(choices, name, slash ? slash + 1 : "", equals + 1, place);
    if (status && !status->hint && status->code == SX_ERR_INPUT)
        return sx_error_hint(status, "in the choice '%s'", text);
    return status;
}
