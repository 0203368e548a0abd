/* Settings of the network and of the learner, which `pg` and `egrl` share: the first of their tables. */
#ifndef SX_PLACEMENT_EGRL_SETTINGS_H
#define SX_PLACEMENT_EGRL_SETTINGS_H

#include "placement/critic.h"
#include "placement/egrl_search.h"

enum {
    SX_EGRL_CHANNELS,
    SX_EGRL_DEPTH,
    SX_EGRL_ACTOR,
    SX_EGRL_CRITIC,
    SX_EGRL_ENTROPY,
    SX_EGRL_BATCH,
    SX_EGRL_UPDATES,
    SX_EGRL_REPLAY,
    SX_EGRL_SCALE,
    SX_EGRL_NOISE,
    SX_EGRL_CLIP,
    SX_EGRL_ATTENTION,
    SX_EGRL_EXPLORE,
    SX_EGRL_INVALID,
    SX_EGRL_LEAN,
    SX_EGRL_POLICY,
    SX_EGRL_SAVE,
    SX_EGRL_SHARED,
};

/* clang-format off */
#define SX_EGRL_SETTINGS(first_lean)                                                                                             \
    [SX_EGRL_CHANNELS] = {"channels", "width of each of the network's four heads", "32", 32, 1,                      \
                          SX_ACTOR_MAX_CHANNELS, SX_SETTING_WHOLE, NULL},                                            \
    [SX_EGRL_DEPTH] = {"depth", "pools of the network", "4", 4, 0, SX_ACTOR_MAX_DEPTH, SX_SETTING_WHOLE, NULL},      \
    [SX_EGRL_ACTOR] = {"actor", "learning rate of the actor", "0.001", 1e-3, 0, 1, SX_SETTING_NUMBER, NULL},         \
    [SX_EGRL_CRITIC] = {"critic", "learning rate of the critic", "0.001", 1e-3, 0, 1, SX_SETTING_NUMBER, NULL},      \
    [SX_EGRL_ENTROPY] = {"entropy", "weight of the entropy", "0.05", 0.05, 0, 100, SX_SETTING_NUMBER, NULL},         \
    [SX_EGRL_BATCH] = {"batch", "transitions of an update", "24", 24, 1, 64, SX_SETTING_WHOLE, NULL},               \
    [SX_EGRL_UPDATES] = {"updates", "updates per evaluation", "1", 1, 0, 4, SX_SETTING_NUMBER, NULL},               \
    [SX_EGRL_REPLAY] = {"replay", "transitions that are stored", "100000", 100000, 1, 1000000, SX_SETTING_WHOLE,     \
                        NULL},                                                                                       \
    [SX_EGRL_SCALE] = {"scale", "by which rewards are multiplied", "5", 5, 0, 1000, SX_SETTING_NUMBER, NULL},        \
    [SX_EGRL_NOISE] = {"noise", "deviation of the noise on actions", NULL, 0.2, 0, 10, SX_SETTING_NUMBER, NULL},     \
    [SX_EGRL_CLIP] = {"clip", "limit of that noise", NULL, 0.5, 0, 10, SX_SETTING_NUMBER, NULL},                     \
    [SX_EGRL_ATTENTION] = {"attention", "layers of graph attention of the critic; 0: a dense layer", NULL, 0, 0,     \
                           SX_CRITIC_MAX_ATTENTION, SX_SETTING_WHOLE, NULL},                                         \
    [SX_EGRL_EXPLORE] = {"explore", "deviation of the noise on probabilities of the learner's placements; 0: they are drawn", \
                         NULL, 0, 0, 10, SX_SETTING_NUMBER, NULL},                                                   \
    [SX_EGRL_INVALID] = {"invalid", "reward of invalid placements; 0: minus their mapping error", "-1", 0, -10, 0,   \
                         SX_SETTING_NUMBER, NULL},                                                                   \
    [SX_EGRL_LEAN] = {"lean", "first prior, or logit, of the slowest memory", NULL, first_lean, -100, 100,                    \
                      SX_SETTING_NUMBER, NULL},                                                                      \
    [SX_EGRL_POLICY] = {"policy", "weight file of a policy to begin from; its placement comes first", NULL, 0, 0, 0, \
                        SX_SETTING_TEXT, NULL}, \
    [SX_EGRL_SAVE] = {"save", "weight file to write the policy to", NULL, 0, 0, 0, SX_SETTING_TEXT, NULL}
/* clang-format on */

/* Reads these settings of a run. */
sx_egrl_options sx_egrl_shared_options(const sx_run *run);

#endif
