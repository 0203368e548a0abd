/* The built-in problems. Where a tensor plays the part of a layer's weights, inputs or outputs it is called
 * so, since architectures with a buffer per tensor go by these names. */
#include "frontend/catalog/catalog.h"

/* A convolution of stride 1: N batches, C input and K output channels, P x Q outputs, an R x S filter. */
#define CONV(N, C, K, P, Q, R, S)                                                                            \
    "Outputs[N,K,Q,P] += Weights[C,K,R,S] * Inputs[N,C,R+P,S+Q] "                                            \
    "{R:" #R ",S:" #S ",P:" #P ",Q:" #Q ",C:" #C ",K:" #K ",N:" #N "}"

/* A dense times a sparse tensor's unfolding, as Mind Mappings writes it. */
#define MTTKRP(I, J, K, L) "A[I,J] += B[I,K,L] * C[J,K] * D[J,L] {I:" #I ",J:" #J ",K:" #K ",L:" #L "}"

static const sx_catalog_entry entries[] = {
    /* Mind Mappings (ASPLOS 2021), Table 1. Its code has C = 64 in inception-conv2; the paper's table counts.
     */
    {"resnet-conv3", "ResNet's conv_3, batch 16", CONV(16, 128, 128, 28, 28, 3, 3)},
    {"resnet-conv4", "ResNet's conv_4, batch 16", CONV(16, 256, 256, 14, 14, 3, 3)},
    {"inception-conv2", "Inception's conv_2 of Mind Mappings, batch 32", CONV(32, 192, 192, 56, 56, 3, 3)},
    {"vgg-conv2", "VGG's conv_2, batch 16", CONV(16, 64, 128, 112, 112, 3, 3)},
    {"alexnet-conv2", "AlexNet's conv_2, batch 8", CONV(8, 96, 256, 27, 27, 5, 5)},
    {"alexnet-conv4", "AlexNet's conv_4, batch 8", CONV(8, 384, 384, 13, 13, 3, 3)},
    {"mttkrp-0", "Mind Mappings' first tensor times Khatri-Rao product", MTTKRP(128, 1024, 4096, 2048)},
    {"mttkrp-1", "Mind Mappings' second tensor times Khatri-Rao product", MTTKRP(2048, 4096, 1024, 128)},
    /* Demystifying MSE (IISWC 2022), Table 1: matrix products as (B, M, K, N). The weights of projections are
     * the same for the whole batch, attention multiplies two activations. */
    {"inception-conv2-mse", "Inception's conv_2 of Demystifying MSE, batch 16",
     CONV(16, 192, 192, 27, 27, 5, 5)},
    {"bert-large-kqv", "BERT-large's key, query and value projections, batch 16",
     "Outputs[B,M,N] += Weights[M,K] * Inputs[B,K,N] {B:16,M:1024,K:1024,N:512}"},
    {"bert-large-attn", "BERT-large's attention, batch 16",
     "Outputs[B,M,N] += Weights[B,M,K] * Inputs[B,K,N] {B:16,M:512,K:1024,N:512}"},
    {"bert-large-ff", "BERT-large's feed-forward layer, batch 16",
     "Outputs[B,M,N] += Weights[M,K] * Inputs[B,K,N] {B:16,M:4096,K:1024,N:512}"},
    /* Sunstone (thesis 2022), the algebra of Table 6.1. Sizes: layers it evaluates; Table 6.2's Nell-2 and
     * bcsstk17 with the ranks of section 6.4; for mmc a head of 64 over 512 words, for tcl AlexNet's last
     * activations, both our choice. */
    {"conv", "a convolution: ResNet-18's 3x3 of 64 channels", CONV(1, 64, 64, 56, 56, 3, 3)},
    {"pointwise", "a 1x1 convolution: Inception v3's 768 to 192 channels",
     "Outputs[N,K,Q,P] += Weights[C,K] * Inputs[N,C,P,Q] {P:17,Q:17,C:768,K:192,N:1}"},
    {"depthwise", "a depthwise convolution: MobileNet v2's last, 960 channels",
     "Outputs[N,D,Q,P] += Weights[D,R,S] * Inputs[N,D,R+P,S+Q] {R:3,S:3,P:7,Q:7,D:960,N:1}"},
    {"fc", "a fully connected layer: ResNet-18's, batch 1",
     "Outputs[N,K] += Weights[C,K] * Inputs[N,C] {C:512,K:1000,N:1}"},
    {"mttkrp", "matricized tensor times Khatri-Rao product: Nell-2, rank 32",
     "out[i,j] += A[i,k,l] * B[k,j] * C[l,j] {i:12092,j:32,k:9184,l:28818}"},
    {"sddmm", "sampled dense-dense matrix product: bcsstk17, rank 512",
     "out[i,j] += A[i,j] * B[i,k] * C[k,j] {i:10974,j:10974,k:512}"},
    {"ttmc", "tensor times matrix chain: Nell-2, ranks 8",
     "out[i,l,m] += A[i,j,k] * B[j,l] * C[k,m] {i:12092,j:9184,k:28818,l:8,m:8}"},
    {"mmc", "matrix multiply chain: an attention head of 64 over 512 words",
     "out[i,l] += A[i,j] * B[j,k] * C[k,l] {i:512,j:64,k:512,l:64}"},
    {"tcl", "tensor contraction layer: AlexNet's 256x6x6 activations to 256x5x5",
     "out[l,m,n] += A[i,j,k] * B[i,l] * C[j,m] * D[k,n] {i:256,j:6,k:6,l:256,m:5,n:5}"},
};

const sx_catalog_entry *sx_catalog_problems(size_t *n) {
    *n = sizeof entries / sizeof *entries;
    return entries;
}
