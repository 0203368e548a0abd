/* The search of plans by a product of powers of energy and cycles, such as EDP, through sums of both. */
#ifndef SX_FUSE_PLAN_PRODUCT_H
#define SX_FUSE_PLAN_PRODUCT_H

#include "fuse/plan.h"

/* A plan and what is known of it. */
typedef struct sx_plan_product {
    sx_plan *plan;     /* the best known; may be none */
    double total[2];   /* its energy and cycles; 0: unknown */
    double share[2];   /* of the sum by which its mappings are selected; 0: by the objective */
    double bound;      /* of energy * cycles of every plan; 0: none */
    double gap;        /* the search ends where the plan is at most that share above the bound */
    double known;      /* product of another plan that is known; 0: none */
    double unfused[2]; /* energy and cycles of a plan near which plans are tried first; 0: none */
} sx_plan_product;

/* Replaces a plan by one with a smaller product, among those of mappings that were found, while there is one beside it or beside
 * one with energy and cycles `unfused`. Plans are searched by sums of roots; those with the least product may be others. The
 * mappings of the plan are selected. */
SX_MUST_USE sx_status sx_plan_improve_product(const sx_plan_space *space, sx_plan_product *product);

/* Searches a lower bound of energy * cycles of all plans, for the objective that is their product, and plans with less: inner
 * optima are searched by sums of both until the gap is closed, nothing is left to search or `stop` says so. */
SX_MUST_USE sx_status sx_plan_search_product(const sx_plan_space *space, sx_plan_stop *stop, void *user,
                                             sx_plan_product *product);

#endif
