/* Offsets of buffers against all offsets of few small buffers, and what holds for any: test_allocate [count [seed]]. */
#include "placement/addresses/allocate.h"
#include "support/compared.h"
#include "support/expect.h"

#include "sextant/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

typedef struct settings {
    uint64_t count, seed;
} settings;

enum { MOST_SMALL = 24, MOST_CUT = 60, CUT_HEIGHT = 64, CUT_STEPS = 40 };

/* Buffers of one case. */
typedef struct buffers {
    size_t n;
    uint64_t align;
    sx_buffer buffer[MOST_CUT + 4];
} buffers;

static bool together(const sx_buffer *a, const sx_buffer *b) {
    return a->lower < b->upper && b->lower < a->upper;
}

/* Whether the buffers from number i on can have offsets below a height, beside those before. */
static bool packable(buffers *c, size_t i, uint64_t height) {
    if (i == c->n) return true;
    sx_buffer *b = &c->buffer[i];
    uint64_t size = (b->size + c->align - 1) / c->align * c->align;
    for (b->offset = 0; b->offset + size <= height; b->offset += c->align) {
        bool free = true;
        for (size_t k = 0; k < i && free; k++) {
            const sx_buffer *o = &c->buffer[k];
            free = !together(b, o) || b->offset >= o->offset + o->size || o->offset >= b->offset + size;
        }
        if (free && packable(c, i + 1, height)) return true;
    }
    return false;
}

/* The most bytes of whole blocks that live at a step. */
static uint64_t live_bytes(const buffers *c) {
    uint64_t most = 0;
    for (size_t i = 0; i < c->n; i++) {
        uint64_t sum = 0, step = c->buffer[i].lower;
        for (size_t k = 0; k < c->n; k++)
            if (c->buffer[k].lower <= step && step < c->buffer[k].upper)
                sum += (c->buffer[k].size + c->align - 1) / c->align * c->align;
        if (sum > most) most = sum;
    }
    return most;
}

/* Fails where buffers that live together overlap, an offset is not aligned, or one ends above a height. */
static void expect_allocated(const buffers *c, uint64_t height) {
    for (size_t i = 0; i < c->n; i++) {
        const sx_buffer *b = &c->buffer[i];
        assert_true(b->offset % c->align == 0);
        assert_true(b->offset + b->size <= height);
        for (size_t k = 0; k < i; k++) {
            const sx_buffer *o = &c->buffer[k];
            assert_true(!together(b, o) || b->offset >= o->offset + o->size ||
                        o->offset >= b->offset + b->size);
        }
    }
}

/* Draws a few small buffers. */
static void draw_small(sx_rng *rng, buffers *c) {
    uint64_t steps = 3 + sx_rng_below(rng, 6);
    *c = (buffers){.n = (size_t)sx_rng_below(rng, 10), .align = 1 + sx_rng_below(rng, 2)};
    for (size_t i = 0; i < c->n; i++) {
        uint64_t lower = i * steps / c->n;
        c->buffer[i] = (sx_buffer){.lower = lower, .upper = lower + 1 + sx_rng_below(rng, steps - lower)};
        c->buffer[i].size = sx_rng_below(rng, 5);
    }
}

/* Draws buffers of which as many bytes live at every step: those that end make room for others of any size. */
static void draw_full(sx_rng *rng, buffers *c) {
    uint64_t room = 6 + sx_rng_below(rng, 5), step = 0;
    *c = (buffers){.align = 1};
    for (; c->n < MOST_SMALL; step++) {
        for (size_t i = 0; i < c->n; i++) {
            sx_buffer *b = &c->buffer[i];
            if (b->upper < step || (b->upper == step && sx_rng_below(rng, 5) < 2)) continue;
            b->upper = step + 1;
        }
        for (size_t i = 0; i < c->n; i++)
            if (c->buffer[i].upper == step) room += c->buffer[i].size;
        while (room > 0 && c->n < MOST_SMALL) {
            uint64_t size = 1 + sx_rng_below(rng, room < 5 ? room : 5);
            c->buffer[c->n++] = (sx_buffer){step, step + 1, size, 0};
            room -= size;
        }
    }
}

static void fewest_bytes_are_those_of_all_allocations(void **state) {
    const settings *set = *state;
    uint64_t compared = 0, above = 0;
    for (uint64_t i = 0; i < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "allocate.small", i);
        sx_allocation found;
        buffers c;
        if (i % 4 == 0)
            draw_small(&rng, &c);
        else
            draw_full(&rng, &c);
        uint64_t least = live_bytes(&c);
        while (!packable(&c, 0, least)) least += c.align;
        sx_allocate_options options = {.align = c.align};
        sx_expect_ok(sx_allocate(c.buffer, c.n, &options, &found));
        assert_true(found.found && found.proven && found.bytes == least && found.bound == least);
        assert_true(found.live == live_bytes(&c) && found.stop == SX_STOP_DONE);
        expect_allocated(&c, least);
        compared++;
        above += least > found.live;
        if (least == 0) continue;
        options.capacity = least;
        sx_expect_ok(sx_allocate(c.buffer, c.n, &options, &found));
        assert_true(found.found && found.bytes == least);
        expect_allocated(&c, least);
        if (least == c.align) continue;
        options.capacity = least - 1;
        sx_expect_ok(sx_allocate(c.buffer, c.n, &options, &found));
        assert_true(!found.found && found.proven && found.bound == least);
    }
    sx_expect_compared("fewest bytes", compared, set->count);
    sx_expect_compared("above the bytes that live at a step", above, set->count / 250);
}

/* Cuts a rectangle of steps and bytes at random until there are n pieces. */
static void draw_cut(sx_rng *rng, size_t n, buffers *c) {
    *c = (buffers){.n = 1, .align = 1, .buffer = {{0, CUT_STEPS, CUT_HEIGHT, 0}}};
    for (int tries = 0; c->n < n && tries < 1000; tries++) {
        sx_buffer *b = &c->buffer[sx_rng_below(rng, c->n)], *added = &c->buffer[c->n];
        *added = *b;
        if (sx_rng_below(rng, 2) && b->upper - b->lower > 1) {
            b->upper = b->lower + 1 + sx_rng_below(rng, b->upper - b->lower - 1);
            added->lower = b->upper;
            c->n++;
        } else if (b->size > 1) {
            b->size = 1 + sx_rng_below(rng, b->size - 1);
            added->size -= b->size;
            c->n++;
        }
    }
}

static void pieces_of_a_rectangle_fill_it(void **state) {
    const settings *set = *state;
    uint64_t packed = 0, count = set->count / 20 + 10;
    for (uint64_t i = 0; i < count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "allocate.cut", i);
        sx_allocation found;
        buffers c;
        draw_cut(&rng, 10 + (size_t)sx_rng_below(&rng, MOST_CUT - 10), &c);
        const sx_allocate_options options = {.nodes = 20000};
        sx_expect_ok(sx_allocate(c.buffer, c.n, &options, &found));
        assert_true(found.found && found.bytes >= CUT_HEIGHT && found.bound == CUT_HEIGHT);
        assert_true(found.stop == (found.proven ? SX_STOP_DONE : SX_STOP_EVALUATIONS));
        assert_true(found.nodes <= options.nodes);
        expect_allocated(&c, found.bytes);
        packed += found.bytes == CUT_HEIGHT;
    }
    sx_expect_compared("rectangles that were filled", packed, count * 9 / 10);
}

int main(int argc, char **argv) {
    settings set = {.count = argc > 1 ? strtoull(argv[1], NULL, 10) : 5000,
                    .seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 0};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(fewest_bytes_are_those_of_all_allocations, &set),
        cmocka_unit_test_prestate(pieces_of_a_rectangle_fill_it, &set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
