/* Any line is a point, which has a cost or a fault, or is an error at that line. */
#include "fuzz/fuzz.h"

#include "systolic/points.h"
#include "systolic/space.h"

#include <math.h>

/* Costs a point as published or mended. */
static void check_point(const sx_outside_point *p, const sx_device *device, bool corrected) {
    sx_systolic_options options = {.corrected = corrected, .thin = true};
    sx_systolic_fault fault;
    sx_systolic_cost cost;
    promise(succeeded(sx_systolic_cost_of(&p->kernel, device, &options, &p->point, &fault, &cost)));
    promise(sx_systolic_fault_text(fault)[0]);
    if (!sx_systolic_has_cost(fault)) return;
    promise(isfinite(cost.latency) && cost.latency > 0 && cost.dsp > 0 && cost.offchip_words > 0);
    promise(cost.bram18k > 0 && cost.energy > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sx_outside_point p;
    sx_device device;
    if (!succeeded(sx_outside_point_read("fuzz.jsonl", 3, (const char *)data, size, &p))) return 0;
    promise(succeeded(sx_catalog_device("u250", &device)));
    check_point(&p, &device, false);
    check_point(&p, &device, true);
    return 0;
}
