/* Any text is a device that keeps every rule, and on which a small array has a cost, or is an error. */
#include "fuzz/fuzz.h"

#include <math.h>
#include <string.h>

/* Costs a small array for every type of numbers of a device. */
static void check_device(const sx_device *device) {
    sx_systolic_kernel kernel;
    sx_systolic_point point = {.design = 11, .t1 = {8, 8, 8}, .t2 = {4, 4, 1}};
    promise(succeeded(sx_systolic_matrix(64, 64, 64, &kernel)));
    for (size_t i = 0; i < device->n_elements; i++) {
        sx_systolic_options options = {.element = device->element[i].name, .thin = true};
        sx_systolic_fault fault;
        sx_systolic_cost cost;
        promise(succeeded(sx_systolic_cost_of(&kernel, device, &options, &point, &fault, &cost)));
        if (!sx_systolic_has_cost(fault)) continue;
        promise(isfinite(cost.latency) && cost.latency > 0 && cost.dsp > 0 && cost.bram18k > 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sx_device device;
    if (!succeeded(sx_device_parse("fuzz.yaml", (const char *)data, size, &device))) return 0;
    promise(succeeded(sx_device_check(&device)));
    promise(device.name[0] && memchr(device.name, 0, sizeof device.name));
    check_device(&device);
    return 0;
}
