/* A small network on a small machine, and comparing what sessions found. */
#ifndef SX_TESTS_SMALL_SESSION_H
#define SX_TESTS_SMALL_SESSION_H

#include "sextant/all.h"

enum { SX_SMALL_LAYERS = 6, SX_SMALL_DISTINCT = 5 };

/* Six layers: layer2 is layer0 again, layer1 occurs three times, layer5 is of another kind. */
typedef struct sx_small {
    sx_network network;
    sx_arch arch;
    sx_session_options options;
    double clock; /* seconds by which every reading of the clock moves it on; 0: it is the machine's */
} sx_small;

/* A session of seed 7 by a mapper, a given number of evaluations per layer. */
void sx_small_init(sx_small *small, const char *mapper, uint64_t evaluations, sx_warm warm);
void sx_small_fini(sx_small *small);

/* Runs it; fails the test on an error. */
void sx_small_run(sx_small *small, sx_session_result *out);

/* Fails the test unless two layers have the same result, times aside. */
void sx_same_layer(const sx_layer_result *a, const sx_layer_result *b);
/* The same for all layers of two sessions. */
void sx_same_session(const sx_session_result *a, const sx_session_result *b);

#endif
