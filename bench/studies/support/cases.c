#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CASES = 128 };

static const char *const papers[] = {"vgg-conv2",      "inception-conv2", "alexnet-conv2",
                                     "alexnet-conv4",  "resnet-conv3",    "resnet-conv4",
                                     "mttkrp-0",       "mttkrp-1",        "inception-conv2-mse",
                                     "bert-large-kqv", "bert-large-attn", "bert-large-ff"};
enum { N_PAPERS = sizeof papers / sizeof *papers, N_MIND_MAPPINGS = 8 };

typedef struct named_text {
    const char *set, *name, *text;
} named_text;

#define MTTKRP(I, K, L) "out[i,j] += A[i,k,l] * B[k,j] * C[l,j] {i:" #I ",j:32,k:" #K ",l:" #L "}"
#define TTMC(I, J, K) "out[i,l,m] += A[i,j,k] * B[j,l] * C[k,m] {i:" #I ",j:" #J ",k:" #K ",l:8,m:8}"
#define SDDMM(N) "out[i,j] += A[i,j] * B[i,k] * C[k,j] {i:" #N ",j:" #N ",k:512}"
#define GEMM(N) "Outputs[m,n] += Inputs[m,k] * Weights[k,n] {m:" #N ",n:" #N ",k:" #N "}"
#define CONV(PQ, CK)                                                                                         \
    "Outputs[K,Q,P] += Weights[C,K,R,S] * Inputs[C,R+P,S+Q] {R:3,S:3,P:" #PQ ",Q:" #PQ ",C:" #CK ",K:" #CK "}"

static const named_text texts[] = {
    {"tensors", "MTTKRP nell2", MTTKRP(12092, 9184, 28818)},
    {"tensors", "MTTKRP netflix", MTTKRP(480189, 17770, 2048)},
    {"tensors", "MTTKRP poisson1", MTTKRP(256, 256, 256)},
    {"tensors", "TTMc nell2", TTMC(12092, 9184, 28818)},
    {"tensors", "TTMc netflix", TTMC(480189, 17770, 2048)},
    {"tensors", "TTMc poisson1", TTMC(256, 256, 256)},
    {"tensors", "SDDMM bcsstk17", SDDMM(10974)},
    {"tensors", "SDDMM cant", SDDMM(62451)},
    {"gemm", "64^3", GEMM(64)},
    {"gemm", "256^3", GEMM(256)},
    {"gemm", "1024^3", GEMM(1024)},
    {"gemm", "4096^3", GEMM(4096)},
    {"conv", "56x56x64x64 3x3", CONV(56, 64)},
    {"conv", "14x14x32x32 3x3", CONV(14, 32)},
};
enum { N_TEXTS = sizeof texts / sizeof *texts };

/* The layers of section 6.5 of Sunstone's thesis, by their names in the catalog. */
static const struct {
    const char *name, *network, *layer;
    uint32_t batch;
} ablation[] = {
    {"ResNet-18 conv2", "resnet18", "layer1.0.conv1", 1},
    {"ResNet-18 conv10", "resnet18", "layer3.0.conv2", 1},
    {"ResNet-18 conv15", "resnet18", "layer4.0.conv2", 1},
    {"Inception v3 3x3 deep, batch 16", "inception-v3", "Mixed_7b.branch3x3dbl_2", 16},
    {"Inception v3 1x7 deep, batch 16", "inception-v3", "Mixed_6e.branch7x7_2", 16},
    {"MobileNet v2 b2 PW1", "mobilenet-v2", "block2.expand", 1},
    {"MobileNet v2 b6 PW1", "mobilenet-v2", "block6.expand", 1},
};
enum { N_ABLATION = sizeof ablation / sizeof *ablation };

void sx_study_need(sx_status status) {
    if (!status) return;
    fprintf(stderr, "%s\n", sx_status_text(status));
    exit(3);
}

/* The next case of a group, with its name. */
static sx_problem *add_case(sx_study_group *group, const char *name) {
    sx_study_case *item = &group->item[group->n++];
    snprintf(item->name, sizeof item->name, "%s", name);
    return &item->problem;
}

/* Adds the different layers of a network, of its weight updates where the set's name ends so. */
static void add_layers(sx_study_group *group) {
    static const char ending[] = "-update";
    char name[SX_NAME_SIZE];
    size_t length = strlen(group->set), first[MOST_CASES];
    bool training =
        length > sizeof ending - 1 && strcmp(group->set + length - sizeof ending + 1, ending) == 0;
    sx_network_options options = {.batch = training ? 16 : 1, .training = training};
    sx_network network;
    snprintf(name, sizeof name, "%.*s", (int)(training ? length - sizeof ending + 1 : length), group->set);
    sx_study_need(sx_catalog_network(name, &options, &network));
    if (network.n_layers > MOST_CASES) network.n_layers = MOST_CASES;
    sx_network_distinct(&network, first);
    for (size_t i = 0; i < network.n_layers; i++)
        if (first[i] == i) *add_case(group, network.layer[i].name) = network.layer[i].problem;
    sx_network_fini(&network);
}

/* Adds a layer of a network, whether or not it is the first of its kind. */
static void add_layer(sx_study_group *group, size_t i) {
    sx_network_options options = {.batch = ablation[i].batch};
    sx_network network;
    sx_study_need(sx_catalog_network(ablation[i].network, &options, &network));
    const sx_layer *layer = sx_network_layer(&network, ablation[i].layer);
    if (layer) *add_case(group, ablation[i].name) = layer->problem;
    sx_network_fini(&network);
}

void sx_study_open(const char *set, const char *arch, sx_study_group *out) {
    size_t n_papers = strcmp(set, "papers") == 0          ? N_PAPERS
                      : strcmp(set, "mind-mappings") == 0 ? N_MIND_MAPPINGS
                                                          : 0;
    *out = (sx_study_group){.set = set, .item = calloc(MOST_CASES, sizeof *out->item)};
    if (!out->item) exit(3);
    sx_study_need(sx_catalog_arch(arch, &out->arch));
    for (size_t i = 0; i < n_papers; i++)
        sx_study_need(sx_catalog_problem(papers[i], add_case(out, papers[i])));
    for (size_t i = 0; i < N_TEXTS; i++)
        if (strcmp(texts[i].set, set) == 0)
            sx_study_need(sx_einsum_parse(texts[i].text, add_case(out, texts[i].name)));
    for (size_t i = 0; i < N_ABLATION && strcmp(set, "ablation") == 0; i++) add_layer(out, i);
    if (!out->n) add_layers(out);
}

void sx_study_close(sx_study_group *group) {
    free(group->item);
    group->item = NULL;
}

bool sx_study_wanted(const char *set, const char *arch, int n_words, char *const *word) {
    char name[2 * SX_NAME_SIZE];
    bool wanted = n_words <= 0;
    snprintf(name, sizeof name, "%s on %s", set, arch);
    for (int i = 0; i < n_words; i++) wanted |= strstr(name, word[i]) != NULL;
    return wanted;
}
