/* Documents: what can be read is sound, writes and reads back to the same bytes, and can be evaluated; architecture,
 * problem and mapping that the text lacks are small ones of our own. */
#include "frontend/timeloop/mapper_section.h"
#include "frontend/timeloop/tensor_uses.h"
#include "fuzz/fuzz.h"

#include <string.h>

/* Reads back a written document; the caller frees the input. */
static sx_input *reread(char *text) {
    sx_input *input;
    promise(succeeded(sx_input_new(&input)));
    promise(succeeded(sx_input_add_text(input, "written", text, strlen(text))));
    free(text);
    return input;
}

static void check_arch(const sx_arch *arch) {
    char *text;
    sx_arch again;
    promise(succeeded(sx_arch_check(arch)));
    promise(succeeded(sx_arch_write(arch, SX_YAML, &text)));
    sx_input *input = reread(text);
    promise(succeeded(sx_input_arch(input, &again)) && memcmp(arch, &again, sizeof again) == 0);
    sx_input_free(input);
}

static void check_problem(const sx_problem *problem) {
    char *text;
    sx_problem again;
    promise(succeeded(sx_problem_check(problem)));
    promise(succeeded(sx_problem_write(problem, SX_JSON, &text)));
    sx_input *input = reread(text);
    promise(succeeded(sx_input_problem(input, &again)) && memcmp(problem, &again, sizeof again) == 0);
    sx_input_free(input);
}

/* A mapping reads back to its canonical self. */
static void check_mapping(const sx_mapping *mapping, const sx_problem *problem, const sx_arch *arch) {
    char *text;
    sx_mapping canonical = *mapping, again;
    sx_mapping_canonical(&canonical);
    promise(succeeded(sx_mapping_write(mapping, problem, arch, SX_YAML, &text)));
    sx_input *input = reread(text);
    promise(succeeded(sx_input_mapping(input, problem, arch, &again)));
    sx_mapping_canonical(&again);
    promise(memcmp(&canonical, &again, sizeof again) == 0);
    sx_input_free(input);
}

/* The parts the text has, each checked; false when one of them is refused. */
static bool read_parts(sx_input *input, sx_arch *arch, sx_problem *problem, sx_mapping *mapping) {
    if (sx_input_has(input, SX_DOCUMENT_ARCH)) {
        if (!succeeded(sx_input_arch(input, arch))) return false;
        check_arch(arch);
    } else if (!succeeded(sx_catalog_arch("eyeriss", arch))) {
        return false;
    }
    if (sx_input_has(input, SX_DOCUMENT_PROBLEM)) {
        if (!succeeded(sx_input_problem(input, problem))) return false;
        check_problem(problem);
    } else if (!succeeded(
                   sx_einsum_parse("O[n,k,p] += I[n,c,2*p+r]*W[k,c,r] {n:2,k:4,c:3,p:7,r:3}", problem))) {
        return false;
    }
    sx_mapping_init(mapping, problem, arch);
    if (!sx_input_has(input, SX_DOCUMENT_MAPPING)) return true;
    if (!succeeded(sx_input_mapping(input, problem, arch, mapping))) return false;
    check_mapping(mapping, problem, arch);
    return true;
}

/* Looks at a name of a tensor; a visitor. */
static sx_status see_name(void *user, const char *name, sx_place place) {
    (void)user;
    promise(name && place.file);
    return SX_OK;
}

/* An objective in a file reads back from its own text; tensors have names. */
static void check_rest(sx_input *input) {
    sx_objective objective, again;
    sx_place place;
    char text[256];
    (void)succeeded(sx_input_tensor_uses(input, see_name, NULL));
    if (!succeeded(sx_input_objective(input, &objective, &place)) || !place.file) return;
    sx_objective_text(&objective, text, sizeof text);
    promise(succeeded(sx_objective_parse(text, &again)) && again.n_criteria == objective.n_criteria);
}

void check_input(const char *text, size_t size) {
    sx_input *input;
    static sx_arch arch;
    static sx_problem problem;
    static sx_mapping mapping;
    if (!succeeded(sx_input_new(&input))) return;
    if (succeeded(sx_input_add_text(input, "fuzz.yaml", text, size)) &&
        read_parts(input, &arch, &problem, &mapping))
        check_cost(&mapping, &problem, &arch);
    check_rest(input);
    for (size_t i = 0; sx_input_note(input, i); i++) promise(sx_input_note(input, i)[0]);
    sx_input_free(input);
}
