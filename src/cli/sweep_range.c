#include "cli/sweep_range.h"

#include <stdlib.h>
#include <string.h>

/* Reads a number that may end in k or m; advances *at. */
static bool read_number(const char **at, uint64_t *out) {
    char *end;
    if (**at < '0' || **at > '9') return false;
    *out = strtoull(*at, &end, 10);
    if (*out > (UINT64_C(1) << 40)) return false;
    const int shift = *end == 'k' || *end == 'K' ? 10 : *end == 'm' || *end == 'M' ? 20 : 0;
    *out <<= shift;
    *at = end + (shift > 0);
    return true;
}

/* The error of a text that is no range. */
static sx_status bad_range(const char *option, const char *text) {
    return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--%s %.60s is no range of numbers", option, text),
                         "such as 1:256 (1, 2, 4, ... 256), 1k:128k, or 1,8,64");
}

/* Adds a number to a range. */
static sx_status add_value(const char *option, uint64_t value, uint64_t most, sx_sweep_range *out) {
    if (value < 1 || value > most)
        return sx_error_new(SX_ERR_USAGE, "--%s: %llu is not between 1 and %llu", option,
                            (unsigned long long)value, (unsigned long long)most);
    if (out->n == SX_MAX_SWEEP)
        return sx_error_new(SX_ERR_LIMIT, "--%s has more than %d numbers", option, SX_MAX_SWEEP);
    out->value[out->n++] = value;
    return SX_OK;
}

sx_status sx_sweep_range_read(const char *option, const char *text, uint64_t most, sx_sweep_range *out) {
    const char *at = text;
    uint64_t low, high;
    *out = (sx_sweep_range){0};
    if (!read_number(&at, &low)) return bad_range(option, text);
    if (*at == ':') {
        at++;
        if (!read_number(&at, &high) || *at) return bad_range(option, text);
        if (high < low)
            return sx_error_hint(
                sx_error_new(SX_ERR_USAGE, "--%s %.60s ends below its beginning", option, text),
                "write the smaller number first");
        for (; low > 0 && low < high; low *= 2) SX_TRY(add_value(option, low, most, out));
        return add_value(option, low == 0 ? 0 : high, most, out);
    }
    SX_TRY(add_value(option, low, most, out));
    while (*at == ',') {
        at++;
        if (!read_number(&at, &low)) return bad_range(option, text);
        SX_TRY(add_value(option, low, most, out));
    }
    return *at ? bad_range(option, text) : SX_OK;
}
