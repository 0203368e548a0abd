/* Warm start over whole networks (Demystifying MSE, section 5.1 and Figures 9 and 11): how many evaluations a
 * layer needs with and without it, and how good its first point is.
 *
 *   study-warm-start [EVALUATIONS [SEEDS [NETWORK ...]]]
 *
 * A search has converged when it has 99.5 % of the improvement that the search without warm start made to its
 * end: from a random mapping, as the paper's searches begin ("random"), or from the best of a first
 * generation of a hundred, which is harder ("first"); or when it is within 1 % of that end. Where it never
 * is, it counts with the whole budget. The start point, too, is compared with a random mapping and with a
 * first generation. Layers that no search can begin warm (the first of their kind) are left out of all
 * figures but the EDP at the end. */
#include "sextant/all.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const usual[] = {"vgg16", "resnet18", "mobilenet-v2", "mnasnet-b1"};
enum { N_USUAL = sizeof usual / sizeof *usual, GENERATION = 100 };

static void die(sx_status status) {
    if (!status) return;
    fprintf(stderr, "%s\n", sx_status_text(status));
    exit(3);
}

static void search(const sx_network *network, const sx_arch *arch, const char *mapper, sx_warm warm,
                   uint64_t evaluations, uint64_t seed, sx_session_result *out) {
    sx_session_options options = {.mapper = mapper, .warm = warm};
    sx_run_options_init(&options.run);
    options.run.evaluations = evaluations;
    options.run.seed = seed;
    options.run.threads = 2;
    die(sx_session_run(network, arch, &options, out));
}

/* The evaluations after which a search was at or below a value; all of them where it never was. */
static double reached(const sx_layer_result *layer, double value, uint64_t evaluations) {
    for (size_t i = 0; i < layer->n_trace; i++)
        if (layer->trace[i].value <= value) return (double)layer->trace[i].evaluations;
    return (double)evaluations;
}

/* The best value after some evaluations. */
static double best_after(const sx_layer_result *layer, uint64_t evaluations) {
    double value = layer->trace[0].value;
    for (size_t i = 0; i < layer->n_trace && layer->trace[i].evaluations <= evaluations; i++)
        value = layer->trace[i].value;
    return value;
}

/* Ways to tell that a search has converged. */
enum { RANDOM, FIRST, END, N_WAYS };

/* Sums over the layers that had a start point; logarithms are of ratios. */
typedef struct tally {
    double layers, all;
    double cold[N_WAYS], warm[N_WAYS]; /* evaluations to converge */
    double log_start[2]; /* of a random point, and the best of a first generation, over the start */
    double log_best;     /* of the warm best over the cold best */
} tally;

static void add_layer(const sx_layer_result *cold, const sx_layer_result *warm, double random,
                      uint64_t evaluations, tally *t) {
    if (!cold->found || !warm->found) return;
    t->all++;
    t->log_best += log(warm->best.value / cold->best.value);
    if (warm->warm_value <= 0) return;
    double best = cold->best.value, from[] = {fmax(random, best), best_after(cold, GENERATION)};
    const double goal[] = {best + 0.005 * (from[RANDOM] - best), best + 0.005 * (from[FIRST] - best),
                           1.01 * best};
    t->layers++;
    for (int i = 0; i < N_WAYS; i++) {
        t->cold[i] += reached(cold, goal[i], evaluations);
        t->warm[i] += reached(warm, goal[i], evaluations);
    }
    for (int i = 0; i < 2; i++) t->log_start[i] += log(from[i] / warm->warm_value);
}

static void study(const char *name, const sx_arch *arch, uint64_t evaluations, uint64_t seeds) {
    static const char *const policy[] = {"", "previous", "similarity"};
    sx_network network;
    die(sx_catalog_network(name, NULL, &network));
    tally t[3] = {{0}};
    for (uint64_t seed = 0; seed < seeds; seed++) {
        sx_session_result cold, warm, random;
        search(&network, arch, "gamma", SX_WARM_OFF, evaluations, seed, &cold);
        search(&network, arch, "random", SX_WARM_OFF, 1, seed, &random);
        for (int p = SX_WARM_PREVIOUS; p <= SX_WARM_SIMILARITY; p++) {
            search(&network, arch, "gamma", (sx_warm)p, evaluations, seed, &warm);
            for (size_t i = 0; i < network.n_layers; i++)
                if (cold.layer[i].same_as == i)
                    add_layer(&cold.layer[i], &warm.layer[i], random.layer[i].best.value, evaluations, &t[p]);
            sx_session_result_fini(&warm);
        }
        sx_session_result_fini(&random);
        sx_session_result_fini(&cold);
    }
    for (int p = 1; p < 3; p++) {
        printf("%-13s %-10s %4.0f", name, policy[p], t[p].layers);
        for (int i = 0; i < N_WAYS; i++)
            printf(" %5.0f %5.0f %5.1fx", t[p].cold[i] / t[p].layers, t[p].warm[i] / t[p].layers,
                   t[p].cold[i] / t[p].warm[i]);
        printf(" %6.1fx %5.2fx %6.3f\n", exp(t[p].log_start[0] / t[p].layers),
               exp(t[p].log_start[1] / t[p].layers), exp(t[p].log_best / t[p].all));
    }
    sx_network_fini(&network);
}

int main(int argc, char **argv) {
    uint64_t evaluations = argc > 1 ? strtoull(argv[1], NULL, 10) : 5000;
    uint64_t seeds = argc > 2 ? strtoull(argv[2], NULL, 10) : 3;
    sx_arch arch;
    die(sx_catalog_arch("accel-b", &arch));
    printf("Warm start on accel-b by gamma, %llu evaluations a layer, %llu seeds (the paper: 3.3x to 7.3x "
           "faster;\nstart point 2.1x better than random by the previous layer, 4.3x by similarity)\n\n",
           (unsigned long long)evaluations, (unsigned long long)seeds);
    printf("%29s %18s %18s %18s   better start, EDP\n", "evaluations, cold and warm, to:", "random", "first",
           "1 %");
    printf("%-13s %-10s %4s %5s %5s %6s %5s %5s %6s %5s %5s %6s %7s %6s %6s\n", "network", "start", "n",
           "cold", "warm", "faster", "cold", "warm", "faster", "cold", "warm", "faster", "random", "first",
           "end");
    if (argc > 3)
        for (int i = 3; i < argc; i++) study(argv[i], &arch, evaluations, seeds);
    else
        for (int i = 0; i < N_USUAL; i++) study(usual[i], &arch, evaluations, seeds);
    return 0;
}
