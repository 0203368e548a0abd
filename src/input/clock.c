#include "input/clock.h"

#include "ir/arch.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The hertz of a unit; 0 where it is none. */
static double unit_hertz(const char *unit) {
    static const struct {
        const char *name;
        double hertz;
    } units[] = {{"", 1}, {"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}, {"THz", 1e12}};
    unit += strspn(unit, " ");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcasecmp(unit, units[i].name) == 0) return units[i].hertz;
    return 0;
}

sx_status sx_clock_read(const sx_args *args, double *cycle_seconds) {
    const char *text = sx_args_text(args, "clock", 0);
    char *end;
    if (!text) return SX_OK;
    double hertz = strtod(text, &end);
    if (end != text) hertz *= unit_hertz(end);
    double seconds = hertz > 0 ? 1 / hertz : 0;
    if (end == text || !(seconds >= SX_MIN_CYCLE && seconds <= SX_MAX_CYCLE))
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--clock: '%s' is not a frequency", text),
                             "such as 1GHz, 200MHz or 1e9, which is in hertz");
    if (!sx_clock_usual(seconds))
        return sx_error_hint(
            sx_error_new(SX_ERR_USAGE, "--clock: '%s' is %g Hz; it must be from 1kHz to 1THz", text, hertz),
            "a number without a unit is in hertz: 1GHz or 1e9");
    *cycle_seconds = seconds;
    return SX_OK;
}

sx_status sx_clock_apply(const sx_args *args, sx_arch *arch) {
    return sx_clock_read(args, &arch->cycle_seconds);
}
