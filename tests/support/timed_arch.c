#include "support/timed_arch.h"

#include "frontend/timing_section.h"
#include "support/expect.h"

#include <stdio.h>

const char sx_timed_arch_text[] =
    "arch:\n"
    "  name: timed\n"
    "  global_cycle_seconds: 1e-9\n"
    "  arithmetic: {name: MAC, instances: 400, meshX: 400, word-bits: 16, energy: 1}\n"
    "  storage:\n"
    "  - {name: L2, instances: 1, entries: 100000, word-bits: 16, read_bandwidth: 200, write_bandwidth: "
    "200}\n"
    "  - {name: HBM, technology: DRAM, instances: 1, word-bits: 16, shared_bandwidth: 50}\n";

void sx_expect_timed(const char *timing, sx_arch *arch, sx_timing *out) {
    char text[4096];
    snprintf(text, sizeof text, "%s%s", sx_timed_arch_text, timing);
    sx_input *input = sx_expect_input(text);
    sx_expect_ok(sx_input_arch(input, arch));
    sx_expect_ok(sx_timing_read(input, arch, out));
    sx_input_free(input);
}
