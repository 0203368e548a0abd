#include "sextant/proof.h"

#include "base/status.h"
#include "base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

sx_status sx_proof_new(uint64_t n_spatial, size_t width, sx_proof **out) {
    sx_proof *proof = calloc(1, sizeof *proof);
    if (!proof) return sx_error_memory();
    proof->n_spatial = n_spatial;
    proof->width = width;
    *out = proof;
    return SX_OK;
}

void sx_proof_free(sx_proof *proof) {
    if (!proof) return;
    free(proof->searched);
    free(proof->bound);
    free(proof->spatial);
    free(proof);
}

/* Makes room for more entries; false when memory is out. */
static bool grow_entries(sx_proof *proof) {
    size_t room[3] = {proof->room, proof->room, proof->room}, n = proof->n_entries + 1;
    if (!sx_reserve(&proof->searched, &room[0], n, sizeof *proof->searched) ||
        !sx_reserve(&proof->bound, &room[1], n, sizeof *proof->bound) ||
        !sx_reserve(&proof->spatial, &room[2], n, (proof->width + 1) * sizeof *proof->spatial))
        return false;
    proof->room = room[0];
    return true;
}

sx_status sx_proof_add(sx_proof *proof, bool searched, double bound, const uint32_t *spatial) {
    if (proof->n_entries == proof->room && !grow_entries(proof)) return sx_error_memory();
    size_t n = proof->n_entries++;
    proof->searched[n] = searched;
    proof->bound[n] = bound;
    memcpy(proof->spatial + n * proof->width, spatial, proof->width * sizeof *spatial);
    return SX_OK;
}

sx_status sx_proof_copy(const sx_proof *proof, sx_proof **out) {
    sx_proof *copy = NULL;
    SX_TRY(sx_proof_new(proof->n_spatial, proof->width, &copy));
    copy->lower_bound = proof->lower_bound;
    for (size_t i = 0; i < proof->n_entries; i++) {
        sx_status status =
            sx_proof_add(copy, proof->searched[i], proof->bound[i], proof->spatial + i * proof->width);
        if (!status) continue;
        sx_proof_free(copy);
        return status;
    }
    *out = copy;
    return SX_OK;
}

double sx_proof_floor(double value) {
    return value - SX_PROOF_SLACK * fabs(value);
}
