/* A device: what an FPGA has to build a systolic array from. */
#ifndef SX_DEVICE_H
#define SX_DEVICE_H

#include "sextant/problem.h"

#include <stddef.h>

#define SX_MAX_ELEMENTS 8

/* A data type, and what its arithmetic takes. */
typedef struct sx_element {
    char name[SX_NAME_SIZE];
    uint32_t bits;        /* of a word */
    double dsp_per_mac;   /* DSP blocks of one multiply-accumulate lane */
    uint32_t add_latency; /* cycles until a sum can be added to again */
} sx_element;

typedef struct sx_device {
    char name[SX_NAME_SIZE];
    double dsp, bram18k, uram; /* blocks on the chip */
    double share;              /* of each that a design may use */
    double mhz;                /* the clock of a design */
    uint32_t port_bits;        /* of a port to the memory outside, per cycle */
    double row_cycles;         /* what a row of that memory costs before its first word, where rows are not
                                  streamed */
    size_t n_elements;
    sx_element element[SX_MAX_ELEMENTS]; /* the first is the one used where none is named */
} sx_device;

/* The built-in devices: entry `index`, its name and a line about it; NULL past the last. */
const char *sx_catalog_device_name(size_t index, const char **about);
SX_MUST_USE sx_status sx_catalog_device(const char *name, sx_device *out);

/* The data type of that name, or (NULL) the first; an error names those there are. */
SX_MUST_USE sx_status sx_device_element(const sx_device *device, const char *name, const sx_element **out);

/* The `device` section of a YAML or JSON file, or of text as if it were the file `name`. */
SX_MUST_USE sx_status sx_device_read(const char *path, sx_device *out);
SX_MUST_USE sx_status sx_device_parse(const char *name, const char *text, size_t size, sx_device *out);

/* Refuses a device that breaks a rule: nothing on it, a share outside ]0, 1], words wider than a port. */
SX_MUST_USE sx_status sx_device_check(const sx_device *device);

#endif
