/* What a navigator's file provides; navigators.def registers it. */
#ifndef SX_RUN_NAVIGATOR_H
#define SX_RUN_NAVIGATOR_H

#include "run/run.h"

typedef sx_setting_about sx_setting;

struct sx_navigator {
    const char *source; /* paper and section; may be NULL */
    const char *space;  /* the type of the spaces that it searches, such as "map"; NULL: any */
    const char *model;  /* the model that it relies on, such as "map"; NULL: any. One that relies on a model
                           takes objectives of energy, delay, last-level and utilization only */
    bool complete;      /* looks at everything and then ends: needs no budget */
    bool proves;        /* can say how it closed the space (sx_run_prove) */
    const sx_setting *settings;
    size_t n_settings;
    sx_status (*search)(sx_run *run);
    void *user; /* sx_run_user gives it back */
};

/* The descriptor of a navigator `x` is the variable sx_navigator_x. */
#define SX_NAVIGATOR(name) const sx_navigator sx_navigator_##name

#endif
