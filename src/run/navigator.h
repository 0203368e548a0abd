/* What a navigator's file provides; navigators.def registers it. */
#ifndef SX_RUN_NAVIGATOR_H
#define SX_RUN_NAVIGATOR_H

#include "run/run.h"

/* The spaces that a navigator searches. */
typedef enum sx_need {
    SX_ANY_SPACE,
    SX_MAP_SPACE,      /* those of mappings only */
    SX_SYSTOLIC_SPACE, /* those of systolic designs only */
} sx_need;

/* A setting's type is its limits: whole numbers, any numbers, or (words not NULL) one of some words. */
typedef sx_setting_about sx_setting;

typedef struct sx_navigator {
    const char *source; /* paper and section */
    sx_need needs;
    bool complete; /* looks at everything and then ends: needs no budget */
    bool proves;   /* can say how it closed the space (sx_run_prove) */
    const sx_setting *settings;
    size_t n_settings;
    sx_status (*search)(sx_run *run);
} sx_navigator;

/* The descriptor of a navigator `x` is the variable sx_navigator_x. */
#define SX_NAVIGATOR(name) const sx_navigator sx_navigator_##name

#endif
