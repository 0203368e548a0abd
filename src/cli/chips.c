#include "cli/chips.h"

#include "base/status.h"
#include "ir/timing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CHIPS = 4096 };

/* Reads a number with one of some units; advances *at. */
static bool read_scaled(const char **at, const char *const *unit, const double *scale, size_t n,
                        double *out) {
    char *end;
    *out = strtod(*at, &end);
    if (end == *at || !isfinite(*out)) return false;
    for (size_t i = 0; i < n; i++) {
        const size_t length = strlen(unit[i]);
        if (strncmp(end, unit[i], length) != 0 || (end[length] && end[length] != ',')) continue;
        *out *= scale[i];
        *at = end + length;
        return true;
    }
    return false;
}

/* Reads a link, BYTES_PER_SECOND[,LATENCY] such as 300GB/s,10us. */
static sx_status read_link(const char *text, double *bandwidth, double *latency) {
    static const char *const rates[] = {"GB/s", "TB/s", "MB/s", "B/s", ""};
    static const double rate[] = {1e9, 1e12, 1e6, 1, 1};
    static const char *const times[] = {"us", "ns", "ms", "s", ""};
    static const double time[] = {1e-6, 1e-9, 1e-3, 1, 1};
    const char *at = text;
    bool good = read_scaled(&at, rates, rate, 5, bandwidth) && *bandwidth > 0 && *bandwidth <= 1e18;
    if (good && *at == ',') {
        at++;
        good = read_scaled(&at, times, time, 5, latency) && *latency >= 0 && *latency <= 1;
    }
    if (good && !*at) return SX_OK;
    return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--link %.60s is no link", text),
                         "bytes per second and seconds, such as 300GB/s,10us");
}

/* Reads a number of chips. */
static sx_status read_number(const sx_args *args, const char *option, unsigned *out) {
    const uint64_t given = sx_args_count(args, option, 1);
    if (given < 1 || given > MOST_CHIPS)
        return sx_error_new(SX_ERR_USAGE, "--%s must be between 1 and %d", option, MOST_CHIPS);
    *out = (unsigned)given;
    return SX_OK;
}

/* Whether attention is one operator: as --attention says, else where the timing has numbers of such an operator. */
static sx_status read_attention(const sx_args *args, const sx_timing *timing, bool *out) {
    const char *word = sx_args_text(args, "attention", 0);
    *out = word && strcmp(word, "fused") == 0;
    if (word && !*out && strcmp(word, "separate") != 0)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--attention '%s' is not known", word),
                             "it is fused or separate");
    for (int i = 1; !word && i < timing->n_kinds; i++)
        *out |= strncmp(timing->kind[i].name, "attention", strlen("attention")) == 0;
    return SX_OK;
}

sx_status sx_chips_options(const sx_args *args, sx_served *out) {
    SX_TRY(read_number(args, "chips", &out->chips));
    SX_TRY(read_number(args, "stages", &out->stages));
    out->by_experts = sx_args_flag(args, "expert-parallel");
    if (out->by_experts && out->chips == 1)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--expert-parallel has no effect on one chip"),
                             "give --chips N");
    return SX_OK;
}

sx_status sx_chips_timing(const sx_args *args, sx_sources *sources, sx_result *r) {
    const char *link = sx_args_text(args, "link", 0);
    const char *several = r->served.chips > 1 ? "chips" : r->served.stages > 1 ? "stages" : NULL;
    r->timing = calloc(1, sizeof *r->timing);
    if (!r->timing) return sx_error_memory();
    SX_TRY(sx_sources_timing(sources, &r->arch, r->timing));
    if (link && r->timing->n_kinds == 0) sx_timing_kind_init(&r->timing->kind[r->timing->n_kinds++]);
    if (link) SX_TRY(read_link(link, &r->timing->link_bandwidth, &r->timing->link_latency));
    if (several && !(r->timing->link_bandwidth > 0))
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--%s %u needs a link, which '%s' has not", several,
                                          r->served.chips > 1 ? r->served.chips : r->served.stages,
                                          r->arch.name),
                             "give --link BYTES_PER_SECOND,LATENCY, such as --link 300GB/s,10us");
    SX_TRY(read_attention(args, r->timing, &r->served.fused_attention));
    if (r->timing->n_kinds) return SX_OK;
    free(r->timing);
    r->timing = NULL;
    return SX_OK;
}
