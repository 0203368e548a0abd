/* Mappings with remainders out of proven mappings of padded sizes. */
#ifndef SX_MAPPERS_PADDING_H
#define SX_MAPPERS_PADDING_H

#include "mapspace/map_space.h"
#include "sextant/navigator.h"

/* How far it has come; zero at first. */
typedef struct sx_padding_state {
    uint64_t begun, most; /* begun: the start points are evaluated; most: paddings to try */
    uint64_t plan; /* by the utilization to begin with: 0 where compute units idle that a padding may use */
    uint64_t patience, more; /* paddings in a row that may not help; the same after one that has */
    uint64_t next;           /* the padding to try */
    uint64_t helped;         /* number of the last one that improved on the best, from 1 */
    uint64_t unit,
        idle; /* of the descent: the slot of a dimension to try; those in a row that gave nothing better */
    uint64_t spent;    /* evaluations of the descent */
    uint64_t improved; /* something, a padding or the descent, has improved on the best */
    uint64_t done;
} sx_padding_state;

/* Where a run, in a space with remainders, has no mapping to begin with: searches tiles that divide with half of its
 * budget, by a mapper of these settings, and evaluates what that finds. */
SX_MUST_USE sx_status sx_padding_begin(sx_run *run, const char *mapper);

/* Evaluates the start points, and plans the search by the best of them; again it does nothing. */
void sx_padding_plan(sx_run *run, sx_padding_state *at);

/* Improves the best mapping of a run, in a space with remainders, by padded sizes and then by descent over single
 * factors; does nothing where there is no mapping to begin with. */
SX_MUST_USE sx_status sx_padding_search(sx_run *run, sx_padding_state *at);

/* Makes a point whose factors are those of padded sizes one of the space: from the inside out no factor is larger than
 * what is left. */
void sx_padding_trim(const sx_map_space *space, void *point);

#endif
