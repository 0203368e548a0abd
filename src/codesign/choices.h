/* What a file of choices, or the command line, says may be chosen; names are not yet resolved in an
 * architecture. */
#ifndef SX_CODESIGN_CHOICES_H
#define SX_CODESIGN_CHOICES_H

#include "codesign/size_cost.h"
#include "frontend/keys.h"
#include "sextant/codesign.h"

enum { SX_MOST_OPTIONS = 256 };

/* A memory: the sizes it may have, ascending (none: only its cost functions are given), and its cost
 * functions. */
typedef struct sx_memory_choice {
    sx_place place;
    char level[SX_NAME_SIZE];
    char tensor[SX_NAME_SIZE]; /* the part of a level that is split by tensor; "": the whole level */
    size_t n_sizes;
    uint64_t *size;
    sx_size_cost size_cost[SX_N_SIZE_COSTS];
} sx_memory_choice;

typedef struct sx_shape_choice {
    uint64_t x, y;
} sx_shape_choice;

/* An array: the shapes that the fan-out of a level may have. */
typedef struct sx_array_choice {
    sx_place place;
    char level[SX_NAME_SIZE]; /* "": the outermost with a fan-out */
    size_t n_shapes;
    sx_shape_choice *shape;
} sx_array_choice;

/* A limit to one instance each of some memories, together. */
typedef struct sx_area_limit {
    sx_place place;
    size_t n_names;
    char name[SX_MAX_LEVELS][2 * SX_NAME_SIZE]; /* a level, or LEVEL/TENSOR */
    uint64_t words;                             /* the most; 0: any */
    double area;                                /* limit, um^2; 0: none */
    uint64_t area_of; /* at most as much as one memory of a given number of words; 0: any */
} sx_area_limit;

struct sx_choices {
    sx_arena arena;
    size_t n_memories, n_arrays, n_limits;
    sx_memory_choice memory[SX_MAX_LEVELS];
    sx_array_choice array[SX_MAX_LEVELS];
    sx_area_limit limit[SX_MAX_LEVELS];
    sx_size_cost size_cost[SX_N_SIZE_COSTS]; /* of memories that do not say it themselves */
    sx_size_cost compute_area;
    double area_budget; /* 0: none */
};

/* Reads sizes: "64", "8..128" (doubled from one to the other) or several with commas, into ascending order
 * (choices_text.c). `what` names them in errors. */
SX_MUST_USE sx_status sx_sizes_parse(sx_arena *arena, const char *text, sx_place place, const char *what,
                                     uint64_t **size, size_t *n);
/* Reads shapes, "16x16,8x32". */
SX_MUST_USE sx_status sx_shapes_parse(sx_arena *arena, const char *text, sx_place place,
                                      sx_shape_choice **shape, size_t *n);

/* A new memory, array or limit; an error where there are too many, or where the same is there already. */
SX_MUST_USE sx_status sx_choices_memory(sx_choices *choices, sx_place place, const char *level,
                                        const char *tensor, sx_memory_choice **out);
SX_MUST_USE sx_status sx_choices_array(sx_choices *choices, sx_place place, const char *level,
                                       sx_array_choice **out);

/* The keys of files of choices. */
extern const sx_keys sx_keys_choices, sx_keys_memory_choice, sx_keys_area_limit;

#endif
