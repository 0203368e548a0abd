/* The policy gradient alone: a Graph U-Net that learns by soft actor-critic from its own placements.
 *
 * Source: the baseline "PG" of EGRL (ICLR 2021), section 4 and appendix D, with the values of Table 2. Each evaluation is
 * that of a placement drawn from the policy and is followed by one update. actor.c, critic.c and learner.c have the
 * networks and the update, egrl_search.c the search.
 *
 * Complexity: three runs of the network per evaluation: 7 ms for 376 nodes. */
#include "placement/egrl_settings.h"
#include "run/navigator.h"

static const sx_setting settings[] = {SX_EGRL_SETTINGS(1)};

static sx_status search_by_pg(sx_run *run) {
    sx_egrl_options options = sx_egrl_shared_options(run);
    options.rollouts = 1;
    return sx_egrl_search(run, &options);
}

SX_NAVIGATOR(pg) = {
    .space = "placement",
    .settings = settings,
    .n_settings = sizeof settings / sizeof *settings,
    .search = search_by_pg,
};
