/* Partial mappings: the pieces they are put together from, and the lists of these. */
#ifndef SX_MAPPERS_SUNSTONE_PARTIAL_H
#define SX_MAPPERS_SUNSTONE_PARTIAL_H

#include "mappers/sunstone/plan.h"

/* A partial mapping and what it leaves of the dimensions. */
typedef struct sx_sunstone_partial {
    void *point;
    uint32_t left[SX_MAX_DIMS];
} sx_sunstone_partial;

/* The one that all begin as, whose point belongs to the plan. */
sx_sunstone_partial sx_sunstone_start(const sx_sunstone *plan);

void sx_sunstone_copy(const sx_sunstone *plan, const sx_sunstone_partial *from, sx_sunstone_partial *to);

/* Multiplies the factors of a memory's loops in time; sets the order of these. */
void sx_sunstone_put_tile(const sx_sunstone *plan, int memory, const uint32_t *factor, void *point);
void sx_sunstone_put_order(const sx_sunstone *plan, int memory, const uint8_t *order, void *point);

/* Unrolls over all fan-outs of a stage, out of what is left. */
void sx_sunstone_put_unrolling(const sx_sunstone *plan, const sx_sunstone_stage *stage,
                               const sx_sunstone_unrolling *parts, sx_sunstone_partial *to);

/* Gives the memory of a stage a tile, out of what is left. */
void sx_sunstone_add_tile(const sx_sunstone *plan, const sx_sunstone_stage *stage,
                          const sx_sunstone_tile *tile, sx_sunstone_partial *to);

/* Distributes the banks of all levels so that all is kept. */
void sx_sunstone_put_banks(const sx_sunstone *plan, void *point);

/* The dimensions that have loops of such factors. */
uint32_t sx_sunstone_loops(const sx_sunstone *plan, const uint32_t *factor);

/* What the tiles of a stage's memory must fit into, for a partial mapping, and the largest factors that
 * constraints leave of it. */
void sx_sunstone_make_room(const sx_sunstone *plan, int memory, const void *point, sx_sunstone_room *room);
void sx_sunstone_most(const sx_sunstone *plan, int memory, uint32_t *most);

/* Appends the tiles of a stage's memory for a partial mapping to a list of sx_sunstone_tile, until `worker`
 * (may be NULL) is told to stop. */
void sx_sunstone_list_tiles(const sx_sunstone *plan, const sx_sunstone_stage *stage,
                            const sx_sunstone_partial *at, bool maximal, sx_worker *worker, sx_vector *out);

/* The size of an unrolling of all fan-outs of a stage. */
size_t sx_sunstone_parts_size(const sx_sunstone_stage *stage);

/* Appends the unrollings of a stage, given what is left, to a list of things of that size. */
void sx_sunstone_list_unrollings(const sx_sunstone *plan, const sx_sunstone_stage *stage,
                                 const uint32_t *left, sx_vector *out);

#endif
