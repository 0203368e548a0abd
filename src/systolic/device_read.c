/* Reading a device. docs/systolic.md describes the section. */
#include "systolic/device_read.h"

#include "base/text.h"
#include "frontend/section_file.h"
#include "sextant/device.h"

#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))

/* The defaults of a device file. They obey the rules, so that each value read is checked as part of them. */
static sx_status begin_device(sx_device *out) {
    SX_TRY(sx_catalog_device("u250", out));
    out->uram = 0;
    return SX_OK;
}

static const sx_key_rule device_type_rules[] = {
    SX_KEY("bits", "count!", "bits of an element"),
    SX_KEY("dsp_per_mac", "positive!", "DSP blocks of one multiply-accumulate"),
    SX_KEY("add_latency", "count!", "cycles of an addition"),
};
const sx_keys sx_keys_device_type = SX_KEYS("device_type", false, device_type_rules);

/* Reads the data type of a key; one is checked alone, on a device that keeps all other rules. */
static sx_status read_type(const sx_pair *pair, const sx_device *device, sx_element *out) {
    const sx_node *value;
    sx_device alone;
    sx_element *type = &alone.element[0];
    SX_TRY(begin_device(&alone));
    memcpy(alone.name, device->name, sizeof alone.name);
    alone.n_elements = 1;
    SX_TRY(
        sx_error_place(sx_text_name(type->name, sizeof type->name, pair->key, "a data type"), pair->place));
    SX_TRY(sx_node_check_keys(NULL, pair->value, "a data type", &sx_keys_device_type));
    SX_TRY(sx_node_require(pair->value, "bits", "a data type", &value));
    SX_TRY(sx_node_u32(value, "bits", &type->bits));
    SX_TRY(sx_error_place(sx_device_check(&alone), value->place));
    SX_TRY(sx_node_require(pair->value, "dsp_per_mac", "a data type", &value));
    SX_TRY(sx_node_double(value, "dsp_per_mac", &type->dsp_per_mac));
    SX_TRY(sx_error_place(sx_device_check(&alone), value->place));
    SX_TRY(sx_node_require(pair->value, "add_latency", "a data type", &value));
    SX_TRY(sx_node_u32(value, "add_latency", &type->add_latency));
    SX_TRY(sx_error_place(sx_device_check(&alone), value->place));
    *out = *type;
    return SX_OK;
}

static sx_status read_types(const sx_node *map, sx_device *device) {
    SX_TRY(sx_node_expect(map, SX_NODE_MAP, "'types'"));
    if (map->n < 1 || map->n > SX_MAX_ELEMENTS)
        return sx_error_hint(sx_error_at(map->place, "'types' has %zu data types", map->n),
                             "from 1 to %d are possible, such as fp32: {bits: 32, dsp_per_mac: 5, "
                             "add_latency: 8}; without 'types' they are those of DSP48E2 blocks",
                             SX_MAX_ELEMENTS);
    device->n_elements = 0;
    for (size_t i = 0; i < map->n; i++)
        SX_TRY(read_type(&map->pair[i], device, &device->element[device->n_elements++]));
    return SX_OK;
}

/* Reads a number, where it is there, and checks it in the device. */
static sx_status read_number(const sx_node *map, const char *key, sx_device *device, double *field) {
    const sx_node *value = sx_node_get(map, key);
    if (!value) return SX_OK;
    SX_TRY(sx_node_double(value, key, field));
    return sx_error_place(sx_device_check(device), value->place);
}

static const sx_key_rule device_rules[] = {
    SX_KEY("name", "text!", "its name"),
    SX_KEY("dsp", "positive!", "DSP blocks"),
    SX_KEY("bram18k", "number!", "block memories of 18 Kbit"),
    SX_KEY("uram", "whole", "UltraRAM blocks"),
    SX_KEY("share", "number", "share of the device that a design may take, 0 to 1"),
    SX_KEY("mhz", "positive", "clock"),
    SX_KEY("port_bits", "number", "bits of a port to DRAM"),
    SX_KEY("types", "{@device_type}", "data types by name"),
    SX_KEY("row_cycles", "whole", "cycles to open a row of DRAM"),
};
const sx_keys sx_keys_device = SX_KEYS("device", false, device_rules);

/* Reads the section. */
static sx_status read_device(const sx_node *map, void *out) {
    static const char *const needed[] = {"name", "dsp", "bram18k"};
    const sx_node *value;
    sx_device device;
    SX_TRY(begin_device(&device));
    SX_TRY(sx_node_check_keys(NULL, map, "a device", &sx_keys_device));
    for (size_t i = 0; i < N(needed); i++) SX_TRY(sx_node_require(map, needed[i], "a device", &value));
    SX_TRY(sx_node_get_name(map, "name", device.name));
    SX_TRY(read_number(map, "dsp", &device, &device.dsp));
    SX_TRY(read_number(map, "bram18k", &device, &device.bram18k));
    SX_TRY(read_number(map, "uram", &device, &device.uram));
    SX_TRY(read_number(map, "share", &device, &device.share));
    SX_TRY(read_number(map, "mhz", &device, &device.mhz));
    SX_TRY(read_number(map, "row_cycles", &device, &device.row_cycles));
    if ((value = sx_node_get(map, "types"))) SX_TRY(read_types(value, &device));
    SX_TRY(sx_node_get_u32(map, "port_bits", &device.port_bits));
    SX_TRY(sx_error_place(sx_device_check(&device), sx_node_key_place(map, "port_bits")));
    memcpy(out, &device, sizeof device);
    return SX_OK;
}

static const sx_section_file section = {
    "device",
    "for example `device: {name: mine, dsp: 220, bram18k: 280, mhz: 125, "
    "port_bits: 64, types: {fp32: {bits: 32, dsp_per_mac: 5, add_latency: 8}}}`",
    read_device,
};

sx_status sx_device_read(const char *path, sx_device *out) {
    return sx_section_file_read(&section, path, out);
}

sx_status sx_device_parse(const char *name, const char *text, size_t size, sx_device *out) {
    return sx_section_file_parse(&section, name, text, size, out);
}
