/* What the mapper `optimal` can say for a certificate: which spatial mappings the compulsory bound does not
 * close, and what closes them instead. Compared with the final lower bound, whatever was known when a spatial
 * mapping was visited, so that it does not depend on the course of the search.
 *
 * Complexity: a step per spatial mapping. */
#include "mappers/optimal/proof.h"

#include <math.h>

/* The lower bound that a run has proven; false where there is none, or nothing that reaches it. */
static bool proven_bound(const sx_run *run, double *out) {
    sx_run_summary summary = sx_run_result(run);
    double best;
    if (!sx_run_incumbent(run, &best)) return false;
    *out = summary.optimal ? best : summary.lower_bound;
    return summary.optimal || summary.lower_bound > 0;
}

sx_status sx_criteria_prove(sx_run *run, uint64_t n_spatial) {
    double least;
    sx_proof *proof;
    if (!proven_bound(run, &least)) return SX_OK;
    SX_TRY(sx_proof_new(n_spatial, 0, &proof));
    sx_run_prove(run, proof);
    return SX_OK;
}

sx_status sx_spatial_mappings_prove(sx_run *run, const sx_spatial_mappings *spatials,
                                    const double *compulsory, const double *bound, const uint8_t *visits) {
    const size_t width = (size_t)spatials->space->arch->n_levels * spatials->space->problem->n_dims;
    double least;
    sx_proof *proof;
    if (!proven_bound(run, &least)) return SX_OK;
    SX_TRY(sx_proof_new(spatials->n, width, &proof));
    sx_status status = SX_OK;
    for (size_t i = 0; i < spatials->n && !status; i++) {
        if (compulsory[i] >= sx_proof_floor(least)) continue;
        bool searched = visits[i] == SX_SEARCHED && bound[i] < sx_proof_floor(least);
        status = sx_proof_add(proof, searched, searched || isinf(bound[i]) ? least : bound[i],
                              spatials->factor + i * width);
    }
    if (status)
        sx_proof_free(proof);
    else
        sx_run_prove(run, proof);
    return status;
}
