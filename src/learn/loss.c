#include "learn/loss.h"

#include "learn/names.h"

#include <math.h>

static const char *const names[] = {"huber", "mse", "mae"};

sx_status sx_loss_find(const char *name, sx_loss *out) {
    size_t i;
    SX_TRY(sx_name_find("loss", name, names, sizeof names / sizeof *names, &i));
    *out = (sx_loss)i;
    return SX_OK;
}

const char *sx_loss_name(sx_loss loss) {
    return names[loss];
}

/* The loss of a difference and its derivative. */
static double huber_loss(double d, double *slope) {
    *slope = d > 1 ? 1 : d < -1 ? -1 : d;
    return fabs(d) > 1 ? fabs(d) - 0.5 : 0.5 * d * d;
}
static double square_loss(double d, double *slope) {
    *slope = 2 * d;
    return d * d;
}
static double absolute_loss(double d, double *slope) {
    *slope = d > 0 ? 1 : d < 0 ? -1 : d;
    return fabs(d);
}

double sx_loss_of(sx_loss loss, const float *prediction, const float *target, size_t n, float *gradient) {
    double (*const kind[])(double, double *) = {huber_loss, square_loss, absolute_loss};
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double slope;
        sum += kind[loss]((double)prediction[i] - (double)target[i], &slope);
        if (gradient) gradient[i] = (float)(slope / (double)n);
    }
    return n ? sum / (double)n : 0;
}
