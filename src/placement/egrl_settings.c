#include "placement/egrl_settings.h"

sx_egrl_options sx_egrl_shared_options(const sx_run *run) {
    return (sx_egrl_options){
        .channels = (uint32_t)sx_run_setting(run, SX_EGRL_CHANNELS),
        .depth = (unsigned)sx_run_setting(run, SX_EGRL_DEPTH),
        .learner = {.batch = (size_t)sx_run_setting(run, SX_EGRL_BATCH),
                    .actor_rate = (float)sx_run_setting(run, SX_EGRL_ACTOR),
                    .critic_rate = (float)sx_run_setting(run, SX_EGRL_CRITIC),
                    .entropy = (float)sx_run_setting(run, SX_EGRL_ENTROPY),
                    .noise = (float)sx_run_setting(run, SX_EGRL_NOISE),
                    .clip = (float)sx_run_setting(run, SX_EGRL_CLIP),
                    .attention = (unsigned)sx_run_setting(run, SX_EGRL_ATTENTION)},
        .explore = sx_run_setting(run, SX_EGRL_EXPLORE),
        .invalid = sx_run_setting(run, SX_EGRL_INVALID),
        .updates = sx_run_setting(run, SX_EGRL_UPDATES),
        .replay = (size_t)sx_run_setting(run, SX_EGRL_REPLAY),
        .scale = sx_run_setting(run, SX_EGRL_SCALE),
        .lean = sx_run_setting(run, SX_EGRL_LEAN),
        .policy = sx_run_setting_text(run, SX_EGRL_POLICY),
        .save = sx_run_setting_text(run, SX_EGRL_SAVE),
    };
}
