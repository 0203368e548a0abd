/* The inside of a goal: criteria as products of numbered metrics. */
#ifndef SX_IR_GOAL_H
#define SX_IR_GOAL_H

#include "sextant/objective.h"

/* A product of powers; negative where the larger product is the better. */
typedef struct sx_goal_product {
    uint8_t n;
    bool negative;
    uint8_t metric[SX_MAX_METRICS];
    double power[SX_MAX_METRICS];
} sx_goal_product;

struct sx_goal {
    sx_goal_product product[SX_MAX_CRITERIA];
    uint8_t front[2]; /* the two metrics of the front */
    sx_objective objective;
};

/* The metrics of a mapping. */
enum {
    SX_MAPPING_ENERGY,
    SX_MAPPING_CYCLES,
    SX_MAPPING_UTILIZATION,
    SX_MAPPING_LAST_LEVEL,
    SX_MAPPING_LATENCY,
    SX_N_MAPPING_METRICS
};
extern const sx_metric_about sx_mapping_metric[SX_N_MAPPING_METRICS];

/* Compares an objective with n metrics of something called `name`; an error where it needs others. */
SX_MUST_USE sx_status sx_goal_init(sx_goal *goal, const sx_objective *objective,
                                   const sx_metric_about *metrics, size_t n, const char *name);

/* Reads a product of metrics, "area*latency^2"; false where the text is none. */
bool sx_goal_product_read(const char *text, const sx_metric_about *metrics, size_t n, sx_goal_product *out);

/* Its value. */
double sx_goal_product_value(const sx_goal_product *product, const sx_metrics *metrics);

/* x to a power, exact for the powers that matter. */
double sx_goal_power(double x, double exponent);

/* Negative where x is better than y for criterion `index` of an objective, 0 where they count as equal. */
int sx_goal_order(const sx_objective *objective, int index, double x, double y);

#endif
