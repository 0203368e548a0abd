/* Images in files, which are the block as it is, in the machine's own byte order: whether one is whole. Needs nothing of the
 * library. */
#include "gpu/image.h"

#include <string.h>

/* A sum over bytes (FNV-1a). */
static uint64_t sum_bytes(const char *bytes, size_t n) {
    uint64_t sum = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++) sum = (sum ^ (uint8_t)bytes[i]) * 0x100000001b3u;
    return sum;
}

void sx_gpu_image_seal(sx_gpu_image *image) {
    image->check = sum_bytes((const char *)image + sizeof *image, (size_t)image->size - sizeof *image);
}

/* Whether n entries at an offset lie within the block. */
static bool lies_within(const sx_gpu_image *p, uint64_t at, uint64_t n, uint64_t size) {
    return at >= sizeof *p && at <= p->size && n <= (p->size - at) / size && at % 8 == 0;
}

/* Whether all lists are of entries that are there. */
static bool lists_hold(const sx_gpu_view *view, uint64_t n_loops) {
    size_t n = view->p->factorisations ? (size_t)view->p->core.n_levels << view->p->core.n_dims : 0;
    for (size_t i = 0; i < 2 * n; i++)
        if (view->lists[i].first > n_loops || view->lists[i].n > n_loops - view->lists[i].first) return false;
    for (size_t i = 0; i < n; i++)
        if (view->layouts[i].first > n_loops || view->layouts[i].n > n_loops - view->layouts[i].first)
            return false;
    return true;
}

bool sx_gpu_image_is_whole(const sx_gpu_image *p, size_t size) {
    if (size < sizeof *p || memcmp(p->magic, "sxgpu\0\0", sizeof p->magic) != 0 ||
        p->version != SX_GPU_VERSION || p->size != size)
        return false;
    if (p->core.n_levels < 1 || p->core.n_levels > SX_GPU_LEVELS || p->core.n_dims < 1 ||
        p->core.n_dims > SX_CORE_DIMS || p->core.n_tensors < 1 || p->core.n_tensors > SX_CORE_TENSORS)
        return false;
    if (p->space_at && !lies_within(p, p->space_at, 1, sizeof(sx_core_space))) return false;
    uint64_t rows = 0, masks = p->factorisations ? (uint64_t)p->core.n_levels << p->core.n_dims : 0;
    for (uint32_t d = 0; d < p->core.n_dims && p->factorisations; d++) {
        if (p->n_rows[d] == 0 || p->n_rows[d] > UINT16_MAX || p->first_row[d] != rows) return false;
        rows += p->n_rows[d];
    }
    if (!lies_within(p, p->rows_at, rows * p->core.n_levels, sizeof(sx_core_cell)) ||
        !lies_within(p, p->lists_at, 2 * masks, sizeof(sx_gpu_list)) ||
        !lies_within(p, p->layouts_at, masks, sizeof(sx_gpu_list)) ||
        !lies_within(p, p->loops_at, 0, sizeof(sx_core_loops)))
        return false;
    sx_gpu_view view = sx_gpu_view_of(p, p);
    return p->check == sum_bytes((const char *)p + sizeof *p, size - sizeof *p) &&
           lists_hold(&view, (p->size - p->loops_at) / sizeof(sx_core_loops));
}
