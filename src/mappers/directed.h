/* Directed searches of the map space: tilings are built from the array outward by rules, and each is evaluated under
 * some orders of its loops. */
#ifndef SX_MAPPERS_DIRECTED_H
#define SX_MAPPERS_DIRECTED_H

#include "mapspace/map_space.h"
#include "run/navigator.h"

/* The rules of a search. */
typedef struct sx_directed {
    const char *stream;         /* name of its random numbers */
    double array, inner, outer; /* least share in use: of the array, of the innermost memory, of the others */
    bool fixed;                 /* spatial loops in the order of `prefer`; otherwise drawn */
    uint8_t
        prefer[SX_MAX_DIMS]; /* dimensions, the first on X and the second on Y; others fill what is left */
    bool stationary;         /* orders that hold one tensor at each level; otherwise any */
    uint64_t orders;         /* maximum per tiling */
} sx_directed;

/* Evaluates the start points, then tilings until the run ends, or until no legal one is found any more. */
SX_MUST_USE sx_status sx_directed_search(sx_run *run, const sx_directed *rules);

#endif
