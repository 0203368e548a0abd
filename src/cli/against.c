#include "cli/against.h"

#include "cli/bind.h"
#include "input/set_option.h"
#include "report/scope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads the files. */
static sx_status read_sources(sx_against *out, sx_output *result) {
    if (!out->has_arch && !out->has_problem && !out->has_constraints) return SX_OK;
    SX_TRY(sx_sources_load(&out->args, &out->sources));
    if (out->has_arch) SX_TRY(sx_sources_arch(&out->sources, &out->arch));
    if (out->has_problem) SX_TRY(sx_sources_problems(&out->sources, &out->network));
    if (out->has_arch && out->has_problem)
        SX_TRY(sx_bind_network(&out->sources, &out->arch, NULL, &out->network, result));
    return sx_sources_warnings(&out->sources, result->warnings);
}

sx_status sx_against_load(const sx_args *args, sx_against *out, sx_output *result) {
    *out = (sx_against){.args = *args,
                        .has_arch = sx_args_flag(args, "arch"),
                        .has_problem = sx_args_flag(args, "problem"),
                        .has_constraints = sx_args_flag(args, "constraints")};
    out->args.n_operands = 0;
    return read_sources(out, result);
}

sx_status sx_against_follow(sx_against *against, const sx_certificate *c, sx_output *result) {
    static const sx_option like = SX_OPTION_LIKE;
    static char timeloop[] = "timeloop";
    size_t n = against->args.n_given;
    if (!c->model.like_timeloop || sx_args_flag(&against->args, "like")) return SX_OK;
    against->given = calloc(n + 1, sizeof *against->given);
    if (!against->given) return sx_error_memory();
    if (n) memcpy(against->given, against->args.given, n * sizeof *against->given);
    against->given[n] = (sx_given){&like, timeloop};
    against->args.given = against->given;
    against->args.n_given = n + 1;
    sx_network_fini(&against->network);
    sx_sources_fini(&against->sources);
    return read_sources(against, result);
}

void sx_against_fini(sx_against *against) {
    sx_network_fini(&against->network);
    sx_sources_fini(&against->sources);
    free(against->given);
}

/* Notes that a claim about the user's files fails; frees the difference. */
static sx_status refute_claim(sx_verification *v, const char *claim, const char *sentence,
                              sx_text *difference) {
    v->verdict = SX_CLAIMS_FAIL;
    snprintf(v->claim, sizeof v->claim, "%s", claim);
    snprintf(v->why, sizeof v->why, "%s%.300s", sentence, difference->data ? difference->data : "");
    sx_status status = difference->failed ? sx_error_memory() : SX_OK;
    sx_text_free(difference);
    return status;
}

/* The layer that has the problem of a certificate: the first, or none. The difference is that of the only
 * layer. */
static sx_status find_layer(sx_against *against, const sx_certificate *c, sx_text *why, bool *found) {
    const sx_network *network = &against->network;
    *found = false;
    for (size_t i = 0; i < network->n_layers && !*found; i++) {
        sx_problem problem = network->layer[i].problem;
        sx_status status = SX_OK;
        if (!against->has_arch) status = sx_bind_problem(&against->sources, &c->arch, &problem, NULL);
        if (!status)
            status = sx_scope_same_problem(&c->problem, &problem, network->n_layers == 1 ? why : NULL, found);
        if (status) return status;
    }
    return SX_OK;
}

sx_status sx_against_check(sx_against *against, const sx_certificate *c, sx_verification *v, bool *holds) {
    sx_text why = {0};
    sx_constraints constraints;
    *holds = true;
    SX_TRY(against->sources.args ? sx_set_option_check_files(&against->sources, &c->problem, &c->arch)
                                 : sx_set_option_check(&against->args));
    if (against->has_arch) SX_TRY(sx_scope_same_arch(&c->arch, &against->arch, &why, holds));
    if (!*holds) return refute_claim(v, "arch", "it is of another architecture: ", &why);
    if (against->has_problem) SX_TRY(find_layer(against, c, &why, holds));
    if (!*holds)
        return refute_claim(
            v, "problem",
            why.data ? "it is of another problem: " : "none of the given layers has its problem", &why);
    if (!against->has_arch && !against->has_constraints) return SX_OK;
    SX_TRY(sx_sources_constraints(&against->sources, &c->problem, &c->arch, &constraints));
    SX_TRY(sx_scope_same_constraints(c, &constraints, &why, holds));
    if (*holds) return SX_OK;
    return refute_claim(v, "constraints", "it is of a space with other constraints: ", &why);
}
