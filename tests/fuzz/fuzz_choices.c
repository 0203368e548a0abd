/* Any text holds choices, in a file or in short, or is an error. What is read makes designs of an
 * architecture of the catalog that keep every rule and have an area, or is an error. */
#include "fuzz/fuzz.h"

#include <math.h>
#include <string.h>

/* A few of the designs are architectures. */
static void check_designs(const sx_designs *designs) {
    size_t n = sx_designs_count(designs), step = n / 16 + 1;
    promise(n >= 1 && n <= sx_designs_combinations(designs));
    for (size_t i = 0; i < n; i += step) {
        static sx_arch arch;
        char text[64];
        sx_designs_arch(designs, i, &arch);
        promise(succeeded(sx_arch_check(&arch)));
        promise(sx_designs_area(designs, i) >= 0 && isfinite(sx_designs_area(designs, i)));
        for (size_t k = 0; sx_designs_choice(designs, k); k++) {
            sx_designs_setting(designs, i, k, text, sizeof text);
            promise(text[0]);
        }
    }
}

/* Compares choices with two architectures. */
static void check_choices(const sx_choices *choices) {
    static const char *const names[] = {"edge-unified", "simba"};
    for (int i = 0; i < 2; i++) {
        static sx_arch base;
        sx_designs *designs;
        promise(succeeded(sx_catalog_arch(names[i], &base)));
        if (!succeeded(sx_designs_new(&base, choices, 0, &designs))) continue;
        check_designs(designs);
        sx_designs_free(designs);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sx_choices *choices;
    char *text = malloc(size + 1);
    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = 0;
    promise(succeeded(sx_choices_new(&choices)));
    if (succeeded(sx_choices_add_text(choices, "fuzz.yaml", text, size))) check_choices(choices);
    sx_choices_free(choices);
    promise(succeeded(sx_choices_new(&choices)));
    if (succeeded(sx_choices_add(choices, text))) check_choices(choices);
    sx_choices_free(choices);
    free(text);
    return 0;
}
