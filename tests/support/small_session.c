#include "support/small_session.h"

#include "support/driven_clock.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CONV(P, C, K)                                                                                        \
    "Outputs[N,K,Q,P]+=Weights[C,K,R,S]*Inputs[N,C,R+P,S+Q] "                                                \
    "{R:3,S:3,P:" #P ",Q:" #P ",C:" #C ",K:" #K ",N:1}"

static const char *const layers[SX_SMALL_LAYERS] = {
    CONV(14, 16, 16), CONV(14, 16, 32), CONV(14, 16, 16),
    CONV(7, 32, 32),  CONV(14, 16, 24), "Outputs[M,N]+=Weights[M,K]*Inputs[K,N] {M:64,K:32,N:16}",
};

void sx_small_init(sx_small *small, const char *mapper, uint64_t evaluations, sx_warm warm) {
    memset(small, 0, sizeof *small);
    snprintf(small->network.name, SX_NAME_SIZE, "small");
    small->network.layer = calloc(SX_SMALL_LAYERS, sizeof *small->network.layer);
    assert_non_null(small->network.layer);
    small->network.n_layers = SX_SMALL_LAYERS;
    for (size_t i = 0; i < SX_SMALL_LAYERS; i++) {
        sx_layer *layer = &small->network.layer[i];
        sx_expect_ok(sx_einsum_parse(layers[i], &layer->problem));
        snprintf(layer->name, SX_NAME_SIZE, "layer%zu", i);
        snprintf(layer->problem.name, SX_NAME_SIZE, "small/layer%zu", i);
        layer->count = i == 1 ? 3 : 1;
    }
    sx_expect_ok(sx_catalog_arch("accel-b", &small->arch));
    sx_run_options_init(&small->options.run);
    small->options.mapper = mapper;
    small->options.run.evaluations = evaluations;
    small->options.run.seed = 7;
    small->options.warm = warm;
}

void sx_small_fini(sx_small *small) {
    sx_network_fini(&small->network);
}

void sx_small_run(sx_small *small, sx_session_result *out) {
    sx_clock_drive(small->clock);
    sx_expect_ok(sx_session_run(&small->network, &small->arch, &small->options, out));
    sx_clock_drive(0);
}

static void same_answers(const sx_answer *a, const sx_answer *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        assert_memory_equal(&a[i].mapping, &b[i].mapping, sizeof a[i].mapping);
        assert_memory_equal(&a[i].score, &b[i].score, sizeof a[i].score);
        assert_true(a[i].value == b[i].value);
        assert_int_equal(a[i].evaluation, b[i].evaluation);
    }
}

void sx_same_layer(const sx_layer_result *a, const sx_layer_result *b) {
    assert_int_equal(a->same_as, b->same_as);
    assert_int_equal(a->found, b->found);
    if (a->found) same_answers(&a->best, &b->best, 1);
    assert_int_equal(a->n_best, b->n_best);
    same_answers(a->other, b->other, a->n_best);
    assert_int_equal(a->n_front, b->n_front);
    same_answers(a->front, b->front, a->n_front);
    assert_int_equal(a->n_trace, b->n_trace);
    for (size_t i = 0; i < a->n_trace; i++) {
        assert_int_equal(a->trace[i].evaluations, b->trace[i].evaluations);
        assert_true(a->trace[i].value == b->trace[i].value);
    }
    assert_int_equal(a->summary.evaluations, b->summary.evaluations);
    assert_int_equal(a->summary.valid, b->summary.valid);
    assert_int_equal(a->summary.rejected, b->summary.rejected);
    assert_int_equal(a->summary.stop, b->summary.stop);
    assert_int_equal(a->summary.repeatable, b->summary.repeatable);
    assert_int_equal(a->summary.optimal, b->summary.optimal);
    assert_true(a->summary.lower_bound == b->summary.lower_bound);
    assert_true(a->minimum == b->minimum);
    assert_int_equal(a->warm_from, b->warm_from);
    assert_string_equal(a->warm_name, b->warm_name);
    assert_true(a->warm_value == b->warm_value);
    assert_int_equal(a->widened, b->widened);
    assert_int_equal(a->remainders, b->remainders);
    assert_true(a->any_bound == b->any_bound && a->any_optimal == b->any_optimal);
    assert_true(a->share == b->share);
    assert_true(a->dividing.value == b->dividing.value);
    assert_true(a->dividing.lower_bound == b->dividing.lower_bound);
    assert_int_equal(a->dividing.optimal, b->dividing.optimal);
    assert_int_equal(!a->diagnosis, !b->diagnosis);
    if (a->diagnosis) assert_string_equal(a->diagnosis, b->diagnosis);
}

void sx_same_session(const sx_session_result *a, const sx_session_result *b) {
    assert_int_equal(a->n_layers, b->n_layers);
    for (size_t i = 0; i < a->n_layers; i++) sx_same_layer(&a->layer[i], &b->layer[i]);
    assert_int_equal(a->complete, b->complete);
    assert_int_equal(a->found, b->found);
    assert_memory_equal(&a->total, &b->total, sizeof a->total);
}
