/* How long the search of the best fused mapping takes, beside the CPU seconds that AccelForge (commit 1c1929c2, partial
 * mappings and joins, its import not counted, one process on a shared aarch64 machine) took for the same cascades under
 * the same rules. Machine: DRAM, a buffer of the given bits, 16 multiply-accumulates per unit of time; EDP. And how many
 * fused chains with windows are counted per second. */
#include "bench.h"
#include "looptree/chain.h"
#include "looptree/fuse_search.h"
#include "sextant/input.h"

#include <math.h>
#include <string.h>

enum { MOST_EINSUMS = 8 };

typedef struct cascade_case {
    const char *name;
    uint64_t buffer;   /* bits */
    double accelforge; /* CPU seconds; 0: not measured */
    const char *einsum[MOST_EINSUMS];
} cascade_case;

#define HEADS "{h:12,m:128,n:128,e:64}"
#define GPT3 "{h:96,m:2048,n:2048,e:128}"
#define SMALL "{h:2,m:64,p:64}"

static const cascade_case cases[] = {
    {"BERT-base attention, 128 words",
     1 << 20,
     6.474 + 4.533,
     {"S[h,m,n] += Q[h,m,e]*K[h,n,e] " HEADS, "P[h,m,n] += S[h,m,n] {h:12,m:128,n:128}",
      "O[h,m,f] += P[h,m,n]*V[h,n,f] {h:12,m:128,n:128,f:64}"}},
    {"softmax in six einsums, 64 words",
     1 << 14,
     22.421 + 25.373,
     {"S[h,m,p] += Q[h,m,e]*K[h,p,e] {h:2,m:64,p:64,e:16}", "M[h,m] += S[h,m,p] " SMALL,
      "P[h,m,p] += S[h,m,p]*M[h,m] " SMALL, "D[h,m] += P[h,m,p] " SMALL,
      "A[h,m,f] += P[h,m,p]*V[h,p,f] {h:2,m:64,p:64,f:16}", "O[h,m,f] += A[h,m,f]*D[h,m] {h:2,m:64,f:16}"}},
    {"GPT-3 attention, 96 heads, 2,048 words",
     1 << 26,
     0,
     {"S[h,m,n] += Q[h,m,e]*K[h,n,e] " GPT3, "P[h,m,n] += S[h,m,n] {h:96,m:2048,n:2048}",
      "O[h,m,f] += P[h,m,n]*V[h,n,f] {h:96,m:2048,n:2048,f:128}"}},
};

/* Energies of 8 and 0.5 to 0.625 a bit, 0.25 an operation; time is counted in operations of one unit. */
static sx_arch make_machine(uint64_t buffer) {
    sx_arch arch;
    memset(&arch, 0, sizeof arch);
    arch.n_levels = 2;
    strcpy(arch.name, "bench");
    for (int s = 0; s < 2; s++) {
        sx_storage *level = &arch.level[s];
        sx_storage_init(level);
        strcpy(level->name, s ? "DRAM" : "GLB");
        level->word_bits = 1;
        level->read_energy = s ? 8 : 0.5;
        level->fill_energy = level->update_energy = s ? 8 : 0.625;
        level->read_bandwidth = level->write_bandwidth = (s ? 64 : 512) / 16.0;
    }
    arch.level[0].entries = buffer;
    sx_compute_init(&arch.compute);
    strcpy(arch.compute.name, "MAC");
    arch.compute.energy = 0.25;
    return arch;
}

/* The cascade of a case; matrix products have elements of 8 bits. */
static void make_cascade(const cascade_case *c, sx_cascade *cascade) {
    static sx_problem einsum[MOST_EINSUMS];
    size_t n = 0;
    for (; n < MOST_EINSUMS && c->einsum[n]; n++) bench_need(sx_einsum_parse(c->einsum[n], &einsum[n]));
    bench_need(sx_cascade_init(cascade, einsum, n, 8));
}

/* The mapping that was found, evaluated: it costs what the search says. */
static bool is_confirmed(const sx_arch *arch, const sx_cascade *cascade, sx_fuse_answer *answer) {
    sx_fused_verdict verdict;
    sx_fused_cost cost;
    sx_fused_align(cascade, &answer->mapping);
    bench_need(sx_fused_evaluate(arch, cascade, &answer->mapping, &cost, &verdict));
    return !verdict.reason && fabs(cost.energy - answer->energy) <= 1e-12 * answer->energy &&
           fabs(cost.latency - answer->latency) <= 1e-12 * answer->latency;
}

/* The second block of MobileNet v2: expansion to 96 channels, depthwise 3x3 of stride 2, projection to 24, by rows. */
static const sx_chain block = {
    .extent = {112, 112, 16},
    .n_layers = 3,
    .n_loops = 1,
    .layer = {{SX_CHAIN_CONV, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 96, -1, 0},
              {SX_CHAIN_DEPTHWISE, {3, 3}, {2, 2}, {1, 1}, {1, 1}, 96, -1, 0},
              {SX_CHAIN_CONV, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 24, -1, 0}},
    .loop = {{SX_CHAIN_ROW, 1}},
};

static void count_chains(void) {
    enum { ROUNDS = 2000 };
    sx_chain_count count = {.peak = 0};
    const double before = bench_now(1);
    for (int i = 0; i < ROUNDS; i++)
        if (sx_chain_evaluate(&block, &count)) exit(3);
    const double seconds = bench_now(1) - before;
    uint64_t dram = count.input_reads + count.writes;
    for (int l = 1; l <= block.n_layers; l++) dram += count.weight_reads[l];
    printf("\nMobileNet v2, block 2 by rows: %llu words on chip, %llu to and from DRAM; %.0f chains/s\n",
           (unsigned long long)count.peak, (unsigned long long)dram, ROUNDS / seconds);
}

int main(void) {
    printf("%-40s %10s %10s %9s %12s %10s %7s\n", "cascade", "labels", "joined", "seconds", "AccelForge s",
           "ratio", "fused");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const sx_arch arch = make_machine(cases[i].buffer);
        sx_fuse_options options = {.objective = SX_FUSE_EDP};
        sx_cascade cascade;
        sx_fuse_answer answer, unfused;
        make_cascade(&cases[i], &cascade);
        const double before = bench_now(1);
        bench_need(sx_fuse_search(&arch, &cascade, &options, &answer));
        const double seconds = bench_now(1) - before;
        options.unfused = true;
        bench_need(sx_fuse_search(&arch, &cascade, &options, &unfused));
        printf("%-40s %10llu %10llu %9.3f ", cases[i].name, (unsigned long long)answer.labels,
               (unsigned long long)answer.joined, seconds);
        if (cases[i].accelforge > 0)
            printf("%12.2f %10.0f", cases[i].accelforge, cases[i].accelforge / seconds);
        else
            printf("%12s %10s", "-", "-");
        printf(" %6.3fx%s\n", unfused.value / answer.value,
               is_confirmed(&arch, &cascade, &answer) ? "" : " NOT CONFIRMED");
        sx_fused_mapping_fini(&answer.mapping);
        sx_fused_mapping_fini(&unfused.mapping);
        sx_cascade_fini(&cascade);
    }
    count_chains();
    return 0;
}
