/* Warm start over whole networks (Demystifying MSE, section 5.1 and Figures 9 and 11): how many evaluations a
 * layer needs with and without it, and how good its first point is.
 *
 *   study-warm-start [EVALUATIONS [SEEDS [NETWORK ...]]]
 *
 * A search has converged when it has 99.5 % of the improvement that the search without warm start made from
 * its first point to its best. Layers that no search can begin warm (the first of their kind) are left out of
 * the ratios and counted in the EDP. */
#include "sextant/sextant.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const usual[] = {"vgg16", "resnet18", "mobilenet-v2", "mnasnet-b1"};
enum { N_USUAL = sizeof usual / sizeof *usual };

static void die(sx_status status) {
    if (!status) return;
    fprintf(stderr, "%s\n", sx_status_text(status));
    exit(3);
}

static void search(const sx_network *network, const sx_arch *arch, sx_warm warm, uint64_t evaluations,
                   uint64_t seed, sx_session_result *out) {
    sx_session_options options = {.mapper = "gamma", .warm = warm};
    sx_run_options_init(&options.run);
    options.run.evaluations = evaluations;
    options.run.seed = seed;
    options.run.threads = 2;
    die(sx_session_run(network, arch, &options, out));
}

/* The evaluations after which a search was at or below a value; its last improvement where it never was. */
static double reached(const sx_layer_result *layer, double value, uint64_t evaluations) {
    for (size_t i = 0; i < layer->n_trace; i++)
        if (layer->trace[i].value <= value) return (double)layer->trace[i].evaluations;
    return (double)evaluations;
}

/* Sums over the layers that had a start point. */
typedef struct tally {
    double layers, cold_effort, warm_effort; /* effort: evaluations to converge */
    double log_first;                        /* log of the first random point over the start point */
    double log_best;                         /* log of the warm best over the cold best */
    double missed;                           /* warm searches that did not converge within the budget */
} tally;

static void add_layer(const sx_layer_result *cold, const sx_layer_result *warm, uint64_t evaluations,
                      tally *t) {
    if (!cold->found || !warm->found || cold->n_trace == 0) return;
    t->log_best += log(warm->best.value / cold->best.value);
    if (warm->warm_value <= 0) return;
    double first = cold->trace[0].value, goal = first - 0.995 * (first - cold->best.value);
    double effort = reached(warm, goal, evaluations);
    t->layers++;
    t->cold_effort += reached(cold, goal, evaluations);
    t->warm_effort += effort;
    t->missed += warm->best.value > goal;
    t->log_first += log(first / warm->warm_value);
}

static void study(const char *name, const sx_arch *arch, uint64_t evaluations, uint64_t seeds) {
    static const char *const policy[] = {"", "previous", "similarity"};
    sx_network network;
    die(sx_catalog_network(name, NULL, &network));
    tally t[3] = {{0}};
    double all = 0;
    for (uint64_t seed = 0; seed < seeds; seed++) {
        sx_session_result cold, warm;
        search(&network, arch, SX_WARM_OFF, evaluations, seed, &cold);
        for (int p = SX_WARM_PREVIOUS; p <= SX_WARM_SIMILARITY; p++) {
            search(&network, arch, (sx_warm)p, evaluations, seed, &warm);
            for (size_t i = 0; i < network.n_layers; i++)
                if (cold.layer[i].same_as == i) {
                    add_layer(&cold.layer[i], &warm.layer[i], evaluations, &t[p]);
                    all += p == SX_WARM_PREVIOUS;
                }
            sx_session_result_fini(&warm);
        }
        sx_session_result_fini(&cold);
    }
    for (int p = 1; p < 3; p++)
        printf("%-14s %-11s %6.0f %10.0f %10.0f %7.2fx %9.2fx %9.3f %6.0f\n", name, policy[p], t[p].layers,
               t[p].cold_effort / t[p].layers, t[p].warm_effort / t[p].layers,
               t[p].cold_effort / t[p].warm_effort, exp(t[p].log_first / t[p].layers),
               exp(t[p].log_best / all), t[p].missed);
    sx_network_fini(&network);
}

int main(int argc, char **argv) {
    uint64_t evaluations = argc > 1 ? strtoull(argv[1], NULL, 10) : 5000;
    uint64_t seeds = argc > 2 ? strtoull(argv[2], NULL, 10) : 3;
    sx_arch arch;
    die(sx_catalog_arch("accel-b", &arch));
    printf("Warm start on accel-b by gamma, %llu evaluations a layer, %llu seeds\n"
           "(the paper: 3.3x to 7.3x faster; first point 2.1x better by the previous layer, 4.3x by "
           "similarity)\n\n",
           (unsigned long long)evaluations, (unsigned long long)seeds);
    printf("%-14s %-11s %6s %10s %10s %8s %10s %9s %6s\n", "network", "start", "layers", "cold", "warm",
           "faster", "first", "EDP", "missed");
    if (argc > 3)
        for (int i = 3; i < argc; i++) study(argv[i], &arch, evaluations, seeds);
    else
        for (int i = 0; i < N_USUAL; i++) study(usual[i], &arch, evaluations, seeds);
    return 0;
}
