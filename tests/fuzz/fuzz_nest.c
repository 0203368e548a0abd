/* Any text is a loop nest that can be read as a mapping, or an error. What can be read reads back to the same
 * mapping once it is written, and can be evaluated. */
#include "fuzz/fuzz.h"

#include <string.h>

static const char arch_text[] =
    "arch: {arithmetic: {name: MAC, instances: 8, meshX: 4, word-bits: 16}, storage: [\n"
    "  {name: RF, technology: SRAM, entries: 16, instances: 8, meshX: 4, word-bits: 16},\n"
    "  {name: Buffer, technology: SRAM, entries: 256, instances: 1, word-bits: 16},\n"
    "  {name: DRAM, technology: DRAM, instances: 1, word-bits: 16}]}\n";

/* Reads a text of our own or of the fuzzer; NULL where it is refused. */
static sx_input *read_text(const char *name, const char *text, size_t size) {
    sx_input *input;
    if (!succeeded(sx_input_new(&input))) return NULL;
    if (succeeded(sx_input_add_text(input, name, text, size))) return input;
    sx_input_free(input);
    return NULL;
}

/* A mapping reads back to its canonical self. */
static void check_again(const sx_mapping *mapping, const sx_problem *problem, const sx_arch *arch) {
    char *text;
    sx_mapping canonical = *mapping, again;
    sx_mapping_canonical(&canonical);
    promise(succeeded(sx_mapping_write(mapping, problem, arch, SX_YAML, &text)));
    sx_input *input = read_text("written.yaml", text, strlen(text));
    promise(input && succeeded(sx_input_mapping(input, problem, arch, &again)));
    sx_mapping_canonical(&again);
    promise(memcmp(&canonical, &again, sizeof again) == 0);
    sx_input_free(input);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static sx_arch arch;
    static sx_problem problem;
    static sx_mapping mapping;
    if (arch.n_levels == 0) {
        sx_input *own = read_text("own.yaml", arch_text, sizeof arch_text - 1);
        promise(own && succeeded(sx_input_arch(own, &arch)));
        promise(succeeded(
            sx_einsum_parse("Outputs[K,P] += Inputs[C,P+R]*Weights[K,C,R] {K:8,C:4,P:12,R:3}", &problem)));
        sx_input_free(own);
    }
    sx_input *input = read_text("fuzz.map.txt", (const char *)data, size);
    if (input && succeeded(sx_input_mapping(input, &problem, &arch, &mapping))) {
        check_again(&mapping, &problem, &arch);
        check_cost(&mapping, &problem, &arch);
    }
    sx_input_free(input);
    return 0;
}
