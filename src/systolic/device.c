/* The built-in devices, and the rules of devices. */
#include "sextant/device.h"

#include "base/status.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Data types on DSP48E2 blocks. fp32: Odyssey (DAC 2023), 5 blocks per lane (3 to multiply, 2 to add),
 * 8 cycles to add. int16 and int8: a block multiplies 27 by 18 bits and adds, every cycle. */
#define DSP48E2_TYPES                                                                                        \
    .n_elements = 3, .element = {                                                                            \
                         {"fp32", 32, 5, 8},                                                                 \
                         {"int16", 16, 1, 1},                                                                \
                         {"int8", 8, 1, 1},                                                                  \
    }

/* Sizes as in Odyssey's files of devices. */
static const struct {
    const char *about;
    sx_device device;
} devices[] = {
    {"AMD Alveo U250, 70% usable, 300 MHz: the paper's",
     {.name = "u250",
      .dsp = 12288,
      .bram18k = 5376,
      .uram = 1280,
      .share = 0.7,
      .mhz = 300,
      .port_bits = 512,
      .row_cycles = 20,
      DSP48E2_TYPES}},
    {"AMD Virtex UltraScale+ VU9P, 70% usable, 300 MHz",
     {.name = "vu9p",
      .dsp = 6840,
      .bram18k = 4318,
      .uram = 960,
      .share = 0.7,
      .mhz = 300,
      .port_bits = 512,
      .row_cycles = 20,
      DSP48E2_TYPES}},
};
enum { N_DEVICES = sizeof devices / sizeof *devices };

const char *sx_catalog_device_name(size_t index, const char **about) {
    if (index >= N_DEVICES) return NULL;
    if (about) *about = devices[index].about;
    return devices[index].device.name;
}

sx_status sx_catalog_device(const char *name, sx_device *out) {
    const char *names[N_DEVICES];
    for (size_t i = 0; i < N_DEVICES; i++) {
        names[i] = devices[i].device.name;
        if (strcmp(names[i], name) != 0) continue;
        *out = devices[i].device;
        return SX_OK;
    }
    sx_status error = sx_error_new(SX_ERR_USAGE, "unknown device '%s'", name);
    const char *nearest = sx_text_nearest(name, names, N_DEVICES);
    if (nearest) return sx_error_hint(error, "did you mean '%s'?", nearest);
    return sx_error_hint(error,
                         "`sextant list devices` lists the built-in ones; a file may describe another");
}

sx_status sx_device_element(const sx_device *device, const char *name, const sx_element **out) {
    for (size_t i = 0; i < device->n_elements; i++)
        if (!name || strcmp(device->element[i].name, name) == 0) {
            *out = &device->element[i];
            return SX_OK;
        }
    char list[256] = "";
    for (size_t i = 0, used = 0; i < device->n_elements && used < sizeof list; i++)
        used +=
            (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", device->element[i].name);
    return sx_error_hint(
        sx_error_new(SX_ERR_USAGE, "the device '%s' has no data type '%s'", device->name, name), "it has %s",
        list);
}

/* Refuses a number outside ]0, high]. */
static sx_status check_number(const char *device, const char *what, double value, double high) {
    if (value > 0 && value <= high) return SX_OK;
    return sx_error_hint(sx_error_new(SX_ERR_INPUT, "%s of the device '%s' is %g", what, device, value),
                         "it is above 0 and at most %g", high);
}

static sx_status check_element(const sx_device *device, const sx_element *element) {
    if (element->bits < 8 || element->bits > 64 || (element->bits & (element->bits - 1)))
        return sx_error_hint(
            sx_error_new(SX_ERR_INPUT, "words of '%s' have %u bits", element->name, element->bits),
            "they have 8, 16, 32 or 64");
    if (element->bits > device->port_bits)
        return sx_error_new(SX_ERR_INPUT,
                            "a word of '%s' (%u bits) is wider than a port of the device '%s' (%u bits)",
                            element->name, element->bits, device->name, device->port_bits);
    SX_TRY(check_number(device->name, "'dsp_per_mac'", element->dsp_per_mac, 1e6));
    return check_number(device->name, "'add_latency'", element->add_latency, 1e6);
}

sx_status sx_device_check(const sx_device *device) {
    SX_TRY(check_number(device->name, "'dsp'", device->dsp, 1e9));
    SX_TRY(check_number(device->name, "'bram18k'", device->bram18k, 1e9));
    SX_TRY(check_number(device->name, "'share'", device->share, 1));
    SX_TRY(check_number(device->name, "'mhz'", device->mhz, 1e6));
    SX_TRY(check_number(device->name, "'port_bits'", device->port_bits, 65536));
    if (!(device->uram >= 0) || !(device->row_cycles >= 0) || isinf(device->uram) ||
        isinf(device->row_cycles))
        return sx_error_new(SX_ERR_INPUT, "'uram' and 'row_cycles' of the device '%s' are at least 0",
                            device->name);
    if (device->port_bits & (device->port_bits - 1))
        return sx_error_hint(sx_error_new(SX_ERR_INPUT, "a port of the device '%s' has %u bits", device->name,
                                          device->port_bits),
                             "it is a power of two, such as 512");
    if (device->n_elements < 1 || device->n_elements > SX_MAX_ELEMENTS)
        return sx_error_new(SX_ERR_INPUT, "the device '%s' has %zu data types; 1 to %d are allowed",
                            device->name, device->n_elements, SX_MAX_ELEMENTS);
    for (size_t i = 0; i < device->n_elements; i++) SX_TRY(check_element(device, &device->element[i]));
    return SX_OK;
}
