#include "model/sparse/positions.h"

#include "base/hash.h"
#include "base/status.h"
#include "ir/density.h"

#include <stdlib.h>
#include <string.h>

sx_status sx_positions_new(const sx_problem *problem, int tensor, sx_positions **out) {
    const sx_tensor *from = &problem->tensor[tensor];
    sx_positions *p = calloc(1, sizeof *p);
    if (!p) return sx_error_memory();
    p->n_ranks = from->n_ranks;
    p->banded = from->density_model == SX_DENSITY_BANDED;
    p->band_width = from->band_width;
    p->words = 1;
    sx_status status = sx_tensor_places(problem, tensor, p->dim);
    for (int r = p->n_ranks - 1; r >= 0 && !status; r--) {
        p->stride[r] = p->words;
        p->size[r] = problem->size[p->dim[r]];
        p->words *= p->size[r];
    }
    if (!status && p->banded)
        p->nonzeros = sx_band_nonzeros(p->band_width, 0, (int64_t)p->size[0], (int64_t)p->size[1]);
    else if (!status)
        status = sx_coordinates_read(from->data, problem, tensor, &p->listed);
    if (!status && !p->banded && p->listed.hash != from->data_hash)
        status = sx_error_hint(
            sx_error_at((sx_place){from->data, 0, 0},
                        "the non-zeros of '%s' are others than when the file was read first", from->name),
            "the file has changed meanwhile; start again");
    if (!status && !p->banded) p->nonzeros = p->listed.n;
    if (!status)
        *out = p;
    else
        sx_positions_free(p);
    return status;
}

void sx_positions_free(sx_positions *positions) {
    if (!positions) return;
    sx_coordinates_fini(&positions->listed);
    free(positions);
}

/* Sums over tiles that are not empty. */
typedef struct sums {
    uint64_t words, most, blocks;
    uint32_t block;
} sums;

/* Adds n tiles of a given number of words and non-zeros each. */
static void add_tiles(sums *s, uint64_t n, uint64_t words, uint64_t nonzeros) {
    if (!nonzeros) return;
    s->words += n * words;
    s->blocks += n * ((nonzeros + s->block - 1) / s->block);
    if (nonzeros > s->most) s->most = nonzeros;
}

static uint64_t least_of(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* How many tiles from column j on, of a row of tiles that begins with row i and has `high` rows, are whole and
 * filled: all their words lie in the band. */
static uint64_t filled_tiles(const sx_positions *p, uint64_t i, uint64_t high, uint64_t j, uint64_t wide) {
    uint64_t band = p->band_width;
    if (i + high > j + band + 1 || j + wide > p->size[1] || j + wide > i + band + 1) return 0;
    return (least_of(p->size[1], i + band + 1) - j) / wide;
}

/* Counts tiles of a banded matrix: those of each row of tiles that the band touches, the filled ones at once;
 * false where the steps are ended. */
static bool count_band(const sx_positions *p, const uint64_t *extent, sx_tile_scratch *scratch, sums *s) {
    uint64_t rows = p->size[0], columns = p->size[1], band = p->band_width;
    for (uint64_t i = 0; i < rows; i += extent[0]) {
        uint64_t high = least_of(extent[0], rows - i), first = i > band ? i - band : 0, n;
        for (uint64_t j = first / extent[1] * extent[1]; j < columns && j <= i + high - 1 + band;
             j += n * extent[1]) {
            uint64_t wide = least_of(extent[1], columns - j);
            n = filled_tiles(p, i, high, j, extent[1]);
            uint64_t nonzeros =
                n ? high * wide
                  : sx_band_nonzeros(p->band_width, (int64_t)i - (int64_t)j, (int64_t)high, (int64_t)wide);
            if (!n) n = 1;
            add_tiles(s, n, high * wide, nonzeros);
            if (sx_steps_count(scratch->steps, &scratch->taken, 1)) return false;
        }
    }
    return true;
}

/* A tile that is not empty. */
typedef struct sx_filled_tile {
    uint64_t number, words; /* words 0: no tile */
    uint64_t nonzeros;
} filled;

void sx_tile_scratch_fini(sx_tile_scratch *scratch) {
    free(scratch->table);
}

/* The tile in which a word lies: its number, and its words, which are fewer at an edge. */
static filled tile_of(const sx_positions *p, const uint64_t *extent, uint64_t word) {
    filled tile = {0, 1, 0};
    for (int r = 0; r < p->n_ranks; r++) {
        uint64_t at = word / p->stride[r], index = at / extent[r];
        word -= at * p->stride[r];
        tile.number = tile.number * p->size[r] + index;
        tile.words *= least_of(extent[r], p->size[r] - index * extent[r]);
    }
    return tile;
}

/* Makes the table of a scratch empty, with room for n tiles; false when memory is out. */
static bool clear_table(sx_tile_scratch *scratch, size_t n) {
    size_t room = 16;
    while (room < 2 * n) room *= 2;
    if (room != scratch->room) {
        free(scratch->table);
        scratch->table = malloc(room * sizeof *scratch->table);
        scratch->room = scratch->table ? room : 0;
    }
    if (scratch->table) memset(scratch->table, 0, room * sizeof *scratch->table);
    return scratch->table;
}

/* Counts tiles of listed non-zeros, by a table of those that are not empty. */
static bool count_listed(const sx_positions *p, const uint64_t *extent, sx_tile_scratch *scratch, sums *s) {
    if (!clear_table(scratch, p->listed.n)) return false;
    filled *table = scratch->table;
    size_t room = scratch->room;
    for (size_t i = 0; i < p->listed.n; i++) {
        filled tile = tile_of(p, extent, p->listed.word[i]);
        size_t at = sx_hash_mix(0, tile.number) & (room - 1);
        while (table[at].words && table[at].number != tile.number) at = (at + 1) & (room - 1);
        if (!table[at].words) table[at] = tile;
        table[at].nonzeros++;
        if (sx_steps_count(scratch->steps, &scratch->taken, 1)) return false;
    }
    for (size_t i = 0; i < room; i++) add_tiles(s, 1, table[i].words, table[i].nonzeros);
    return true;
}

bool sx_positions_count(const sx_positions *p, uint64_t tile, uint32_t block, sx_tile_scratch *scratch,
                        sx_tile_counts *out) {
    uint64_t extent[SX_MAX_RANKS], words = 1;
    sums s = {.block = block};
    tile--;
    for (int r = 0; r < p->n_ranks; r++) {
        extent[r] = tile / p->stride[r] + 1;
        tile %= p->stride[r];
        words *= extent[r];
    }
    if (words == 1)
        s = (sums){p->nonzeros, 1, p->nonzeros, block};
    else if (!(p->banded ? count_band : count_listed)(p, extent, scratch, &s))
        return false;
    out->empty = 1 - (double)s.words / (double)p->words;
    out->most = s.most;
    out->blocks = (double)s.blocks * ((double)words / (double)p->words);
    return true;
}
