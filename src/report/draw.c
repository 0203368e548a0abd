/* The figures of the public API. */
#include "report/cost_svg.h"
#include "report/figure.h"

sx_status sx_draw_curves(const sx_axes *axes, const sx_curve *curve, size_t n, char **svg) {
    sx_text out = {0};
    sx_figure_curves(axes, curve, n, &out);
    return sx_text_take(&out, svg);
}

sx_status sx_draw_front(const sx_axes *axes, const sx_front *front, char **svg) {
    sx_text out = {0};
    sx_figure_front(axes, front, &out);
    return sx_text_take(&out, svg);
}

sx_status sx_draw_bars(const sx_axes *axes, const sx_bars *bars, char **svg) {
    sx_text out = {0};
    sx_figure_bars(axes, bars, &out);
    return sx_text_take(&out, svg);
}

sx_status sx_draw_result(const sx_result *result, char **svg) {
    sx_text out = {0};
    SX_TRY(sx_result_svg(result, &out));
    return sx_text_take(&out, svg);
}
