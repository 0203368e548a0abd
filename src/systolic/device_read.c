/* Reading a device. docs/systolic.md describes the section. */
#include "base/status.h"
#include "base/text.h"
#include "frontend/input.h"
#include "sextant/device.h"

#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))

/* What a device is that says no more than its name and its blocks; also, the rules being kept by it, what
 * each value is checked in. */
static sx_status begin(sx_device *out) {
    SX_TRY(sx_catalog_device("u250", out));
    out->uram = 0;
    return SX_OK;
}

/* Reads the type of numbers of a key; one is checked alone, on a device that keeps all other rules. */
static sx_status read_type(const sx_pair *pair, sx_element *out) {
    static const sx_key_rule rules[] = {
        {"bits", SX_KEY_USED, NULL}, {"dsp_per_mac", SX_KEY_USED, NULL}, {"add_latency", SX_KEY_USED, NULL}};
    const sx_node *value;
    sx_device alone;
    sx_element *type = &alone.element[0];
    SX_TRY(begin(&alone));
    alone.n_elements = 1;
    SX_TRY(sx_error_place(sx_text_name(type->name, sizeof type->name, pair->key, "a type of numbers"),
                          pair->place));
    SX_TRY(sx_node_expect(pair->value, SX_NODE_MAP, "a type of numbers"));
    SX_TRY(sx_node_check_keys(NULL, pair->value, "a type of numbers", rules, N(rules)));
    SX_TRY(sx_node_require(pair->value, "bits", "a type of numbers", &value));
    SX_TRY(sx_node_u32(value, "bits", &type->bits));
    SX_TRY(sx_error_place(sx_device_check(&alone), value->place));
    SX_TRY(sx_node_require(pair->value, "dsp_per_mac", "a type of numbers", &value));
    SX_TRY(sx_node_double(value, "dsp_per_mac", &type->dsp_per_mac));
    SX_TRY(sx_error_place(sx_device_check(&alone), value->place));
    SX_TRY(sx_node_require(pair->value, "add_latency", "a type of numbers", &value));
    SX_TRY(sx_node_u32(value, "add_latency", &type->add_latency));
    SX_TRY(sx_error_place(sx_device_check(&alone), value->place));
    *out = *type;
    return SX_OK;
}

static sx_status read_types(const sx_node *map, sx_device *device) {
    SX_TRY(sx_node_expect(map, SX_NODE_MAP, "'types'"));
    if (map->n < 1 || map->n > SX_MAX_ELEMENTS)
        return sx_error_hint(sx_error_at(map->place, "'types' has %zu types of numbers", map->n),
                             "from 1 to %d are possible, such as fp32: {bits: 32, dsp_per_mac: 5, "
                             "add_latency: 8}; without 'types' they are those of DSP48E2 blocks",
                             SX_MAX_ELEMENTS);
    device->n_elements = 0;
    for (size_t i = 0; i < map->n; i++)
        SX_TRY(read_type(&map->pair[i], &device->element[device->n_elements++]));
    return SX_OK;
}

/* Reads a number, where it is there, and checks it in the device. */
static sx_status read_number(const sx_node *map, const char *key, sx_device *device, double *field) {
    const sx_node *value = sx_node_get(map, key);
    if (!value) return SX_OK;
    SX_TRY(sx_node_double(value, key, field));
    return sx_error_place(sx_device_check(device), value->place);
}

/* Reads the section. */
static sx_status read_device(const sx_node *map, sx_device *out) {
    static const sx_key_rule rules[] = {
        {"name", SX_KEY_USED, NULL},      {"dsp", SX_KEY_USED, NULL},   {"bram18k", SX_KEY_USED, NULL},
        {"uram", SX_KEY_USED, NULL},      {"share", SX_KEY_USED, NULL}, {"mhz", SX_KEY_USED, NULL},
        {"port_bits", SX_KEY_USED, NULL}, {"types", SX_KEY_USED, NULL}, {"row_cycles", SX_KEY_USED, NULL},
    };
    static const char *const needed[] = {"name", "dsp", "bram18k"};
    const sx_node *value;
    sx_device device;
    SX_TRY(begin(&device));
    SX_TRY(sx_node_expect(map, SX_NODE_MAP, "'device'"));
    SX_TRY(sx_node_check_keys(NULL, map, "a device", rules, N(rules)));
    for (size_t i = 0; i < N(needed); i++) SX_TRY(sx_node_require(map, needed[i], "a device", &value));
    SX_TRY(sx_map_name(map, "name", device.name));
    SX_TRY(read_number(map, "dsp", &device, &device.dsp));
    SX_TRY(read_number(map, "bram18k", &device, &device.bram18k));
    SX_TRY(read_number(map, "uram", &device, &device.uram));
    SX_TRY(read_number(map, "share", &device, &device.share));
    SX_TRY(read_number(map, "mhz", &device, &device.mhz));
    SX_TRY(read_number(map, "row_cycles", &device, &device.row_cycles));
    if ((value = sx_node_get(map, "types"))) SX_TRY(read_types(value, &device));
    SX_TRY(sx_map_u32(map, "port_bits", &device.port_bits));
    SX_TRY(sx_error_place(sx_device_check(&device), sx_node_key_place(map, "port_bits")));
    *out = device;
    return SX_OK;
}

/* Reads the only device of an input. */
static sx_status read_input(const sx_input *input, const char *name, sx_device *out) {
    const sx_pair *section;
    SX_TRY(sx_input_single(input, "device", &section));
    if (section) return read_device(section->value, out);
    return sx_error_hint(sx_error_at((sx_place){name, 0, 0}, "there is no device"),
                         "it is a section of its own: `device:` at the left margin");
}

sx_status sx_device_read(const char *path, sx_device *out) {
    sx_input *input;
    SX_TRY(sx_input_new(&input));
    sx_status status = sx_input_add_file(input, path);
    if (!status) status = read_input(input, path, out);
    sx_input_free(input);
    return status;
}

sx_status sx_device_parse(const char *name, const char *text, size_t size, sx_device *out) {
    sx_input *input;
    SX_TRY(sx_input_new(&input));
    sx_status status = sx_input_add_text(input, name, text, size);
    if (!status) status = read_input(input, name, out);
    sx_input_free(input);
    return status;
}
