/* Ticks. A linear scale gets a step of 1, 2 or 5 times a power of ten. A logarithmic one gets decades with
 * small ticks at 2 to 9; where it is narrower than two decades, ticks at 1, 2 and 5 have labels too, and
 * where it is so narrow that even those are rare, it gets the ticks of a linear scale. */
#include "report/axis_scale.h"

#include "report/svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool sx_axis_scale_has(const sx_axis_scale *scale, double value) {
    return isfinite(value) && (!scale->log || value > 0);
}

void sx_axis_scale_include(sx_axis_scale *scale, double value) {
    if (!sx_axis_scale_has(scale, value)) return;
    if (!scale->used || value < scale->low) scale->low = value;
    if (!scale->used || value > scale->high) scale->high = value;
    scale->used = true;
}

/* What a linear ruler shows of a value. */
static double linear_value(const sx_axis_scale *scale, double value) {
    return scale->log ? log(value) : value;
}

/* Widens a scale of zero width. */
static void widen_scale(sx_axis_scale *scale) {
    if (!scale->used) {
        scale->low = scale->log ? 1 : 0;
        scale->high = scale->log ? 10 : 1;
    } else if (scale->log && scale->high / scale->low < 1.001) {
        scale->low /= 2;
        scale->high *= 2;
    } else if (!scale->log && scale->high - scale->low <= 1e-9 * fabs(scale->high)) {
        double about = scale->high == 0 ? 1 : fabs(scale->high) / 2;
        scale->low -= about;
        scale->high += about;
    }
    scale->used = true;
}

/* Limits a bound to the range of safe arithmetic. */
static double limit_bound(const sx_axis_scale *scale, double value) {
    const double least = scale->log ? 1e-150 : -1e150;
    return value > 1e150 ? 1e150 : value < least ? least : value;
}

void sx_axis_scale_finish(sx_axis_scale *scale, double margin, double from, double to) {
    scale->low = limit_bound(scale, scale->low);
    scale->high = limit_bound(scale, scale->high);
    widen_scale(scale);
    double low = linear_value(scale, scale->low), high = linear_value(scale, scale->high);
    double more = (high - low) * margin;
    scale->low = scale->log ? exp(low - more) : low - more;
    scale->high = scale->log ? exp(high + more) : high + more;
    scale->from = from;
    scale->to = to;
}

double sx_axis_scale_at(const sx_axis_scale *scale, double value) {
    if (!(value > scale->low)) return scale->from;
    if (value >= scale->high) return scale->to;
    double low = linear_value(scale, scale->low), high = linear_value(scale, scale->high);
    return scale->from + (scale->to - scale->from) * (linear_value(scale, value) - low) / (high - low);
}

/* The exponent of the largest power of ten that is at most a positive value. */
static int decade_of(double value) {
    int k = (int)floor(log(value) / log(10));
    if (pow(10, k + 1) <= value) k++;
    if (pow(10, k) > value) k--;
    return k;
}

/* Whether numbers between two powers of ten read well without powers of ten. */
static bool reads_plain(int least, int largest) {
    return least > -5 && largest < 5;
}

/* Labels a tick with count * 10^power, or with what is left of it beside 10^shared (0: nothing is shared). */
static void label_tick(sx_tick *tick, long long count, int power, int shared) {
    int decimals = shared - power, most = decimals > 9 ? 9 : decimals;
    sx_svg_digits((double)count * pow(10, -decimals), most < 0 ? 0 : most, tick->digits);
    tick->exponent = count ? shared : 0;
    tick->labelled = true;
}

/* Ticks a linear step apart, about six of them. */
static size_t linear_ticks(const sx_axis_scale *scale, sx_tick *tick, size_t room) {
    double rough = (scale->high - scale->low) / 6;
    int power = decade_of(rough), top = decade_of(fmax(fabs(scale->low), fabs(scale->high)));
    double rest = rough / pow(10, power);
    int lead = rest > 5 ? 10 : rest > 2 ? 5 : rest > 1 ? 2 : 1;
    double step = lead * pow(10, power);
    int shared = reads_plain(power, top) ? 0 : top;
    size_t n = 0;
    for (double i = ceil(scale->low / step - 1e-9); i * step <= scale->high + step * 1e-9 && n < room; i++) {
        tick[n] = (sx_tick){.value = i * step};
        label_tick(&tick[n++], (long long)i * lead, power, shared);
    }
    return n;
}

/* The decades that a logarithmic scale touches, and how it labels them. */
typedef struct decades {
    int first, last;
    int every;  /* label every nth */
    bool small; /* also tick 2 to 9 */
    bool more;  /* also label 2 and 5 */
    bool plain; /* labels without powers of ten */
} decades;

/* Adds the tick at lead * 10^k if it is within the scale and wanted; returns how many that makes. */
static size_t add_log_tick(const sx_axis_scale *scale, const decades *d, int lead, int k, sx_tick *tick) {
    double value = lead * pow(10, k);
    bool labelled = lead == 1 ? k % d->every == 0 : d->more && (lead == 2 || lead == 5);
    if (value < scale->low * (1 - 1e-12) || value > scale->high * (1 + 1e-12)) return 0;
    if (!labelled && !d->small) return 0;
    *tick = (sx_tick){.value = value};
    if (labelled) label_tick(tick, lead, k, d->plain ? 0 : k);
    if (labelled && !d->plain && lead == 1 && k != 0) tick->digits[0] = 0;
    return 1;
}

size_t sx_axis_scale_ticks(const sx_axis_scale *scale, sx_tick *tick, size_t room) {
    double width = scale->log ? (log(scale->high) - log(scale->low)) / log(10) : 0;
    if (width < 0.7) return linear_ticks(scale, tick, room);
    decades d = {
        .first = decade_of(scale->low),
        .last = decade_of(scale->high * (1 + 1e-12)),
        .every = 1 + (int)(width / 9),
        .small = width < 9,
        .more = width < 2,
    };
    d.plain = reads_plain(d.first, d.last);
    size_t n = 0;
    for (int k = d.first; k <= d.last; k++)
        for (int lead = 1; lead < 10 && n < room; lead++) n += add_log_tick(scale, &d, lead, k, &tick[n]);
    return n;
}
