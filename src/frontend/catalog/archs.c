/* The built-in architectures. Buffers that are built for one tensor know it by the names Weights, Inputs and
 * Outputs, which every convolution and matrix product of the catalog has; other problems' tensors are bound
 * to these names by role (sx_problem_role) or as asked. */
#include "frontend/catalog/catalog.h"

/* Demystifying MSE (IISWC 2022), Table 1, and Mind Mappings (ASPLOS 2021), section 5.1.2: 512 KB shared, 64
 * KB in each of 256 PEs, 16-bit words. Energies in Mind Mappings' released configuration: 200 pJ per word of
 * DRAM, 2.2 of L2, 1.12 of L1, 1 per multiply-accumulate; DRAM and L2 move 4 words at once. */
static const char accel_a[] =
    "arch:\n"
    "  name: accel-a\n"
    "  arithmetic: {name: MAC, instances: 256, word-bits: 16, energy: 1.0}\n"
    "  storage:\n"
    "  - {name: L1, instances: 256, entries: 32768, word-bits: 16, vector-access-energy: 1.12}\n"
    "  - {name: L2, instances: 1, entries: 262144, word-bits: 16, block-size: 4, vector-access-energy: 8.8,\n"
    "     read_bandwidth: 16, write_bandwidth: 16}\n"
    "  - {name: DRAM, technology: DRAM, instances: 1, word-bits: 16, block-size: 4,\n"
    "     vector-access-energy: 800}\n";

/* Demystifying MSE, Table 1, sizes as released (the paper's KB and B are thousands of words and words):
 * 65,536 words shared, 256 in each of 256 PEs, 4 MACs per PE. Energies by the public technology model's shape
 * for these sizes; the release takes them from Accelergy and does not record them. */
static const char accel_b[] =
    "arch:\n"
    "  name: accel-b\n"
    "  arithmetic: {name: MAC, instances: 1024, word-bits: 16, energy: 1.0}\n"
    "  storage:\n"
    "  - {name: RF, instances: 256, entries: 256, word-bits: 16, vector-access-energy: 0.99}\n"
    "  - {name: GB, instances: 1, entries: 65536, word-bits: 16, block-size: 4, vector-access-energy: "
    "16.76}\n"
    "  - {name: DRAM, technology: DRAM, instances: 1, word-bits: 16, block-size: 4,\n"
    "     vector-access-energy: 800}\n";

/* Sunstone (thesis 2022), Table 6.3, edge class with split L1; energies of the released configuration (45
 * nm), pJ per word. The network's 0.607 pJ per word is folded into the accesses of L2: 17.565 + 0.607. */
static const char eyeriss[] =
    "arch:\n"
    "  name: eyeriss\n"
    "  arithmetic: {name: MAC, instances: 168, meshX: 14, word-bits: 16, energy: 2.2}\n"
    "  storage:\n"
    "  - {name: psum_spad, instances: 168, meshX: 14, entries: 16, keep: [Outputs], vector-access-energy: "
    "0.25}\n"
    "  - {name: weight_spad, instances: 168, meshX: 14, entries: 192, keep: [Weights],\n"
    "     vector-access-energy: 1.59}\n"
    "  - {name: ifmap_spad, instances: 168, meshX: 14, entries: 12, keep: [Inputs], vector-access-energy: "
    "0.24}\n"
    "  - {name: L2, instances: 1, entries: 55296, vector-access-energy: 18.172, read_bandwidth: 9,\n"
    "     write_bandwidth: 9}\n"
    "  - {name: DRAM, technology: DRAM, instances: 1, vector-access-energy: 128}\n";

/* The same source, edge class with one L1 for all tensors; 18.805 + 0.607 at L2. */
static const char edge_unified[] =
    "arch:\n"
    "  name: edge-unified\n"
    "  arithmetic: {name: MAC, instances: 256, meshX: 16, word-bits: 16, energy: 2.2}\n"
    "  storage:\n"
    "  - {name: L1, instances: 256, meshX: 16, entries: 256, vector-access-energy: 2.05}\n"
    "  - {name: L2, instances: 1, entries: 65536, vector-access-energy: 19.412, read_bandwidth: 9,\n"
    "     write_bandwidth: 9}\n"
    "  - {name: DRAM, technology: DRAM, instances: 1, vector-access-energy: 128}\n";

/* The same source, Simba-like: 4 x 4 PEs of 8 x 8 MACs, a weight register in each MAC, three buffers in each
 * PE. L2 holds no weights. Its energies with the network's folded in are 5.47 for inputs and 5.71 for
 * outputs: what leaves L2 is charged as inputs, what arrives from the PEs as outputs. */
static const char simba[] =
    "arch:\n"
    "  name: simba\n"
    "  arithmetic: {name: MAC, instances: 1024, meshX: 32, word-bits: 16, energy: 2.2}\n"
    "  storage:\n"
    "  - {name: weight_reg, instances: 1024, meshX: 32, entries: 1, keep: [Weights], vector-access-energy: "
    "0.49}\n"
    "  - {name: ofmap_buffer, instances: 16, meshX: 4, entries: 1024, keep: [Outputs],\n"
    "     vector-access-energy: 1.01, read_bandwidth: 64, write_bandwidth: 64}\n"
    "  - {name: weight_buffer, instances: 16, meshX: 4, entries: 32768, keep: [Weights],\n"
    "     vector-access-energy: 5.59, read_bandwidth: 64, write_bandwidth: 64}\n"
    "  - {name: ifmap_buffer, instances: 16, meshX: 4, entries: 8192, keep: [Inputs],\n"
    "     vector-access-energy: 1.24, read_bandwidth: 64, write_bandwidth: 64}\n"
    "  - {name: L2, instances: 1, entries: 65536, bypass: [Weights], read_energy: 5.47, fill_energy: 5.47,\n"
    "     update_energy: 5.71, read_bandwidth: 256, write_bandwidth: 256}\n"
    "  - {name: DRAM, technology: DRAM, instances: 1, vector-access-energy: 64}\n";

/* Mind Mappings, section 5.1.2 and its released configuration: as accel-a, with L1's bandwidth, and both
 * buffers shared out by whole banks of which each has the full bandwidth. */
static const char mind_mappings[] =
    "arch:\n"
    "  name: mind-mappings\n"
    "  arithmetic: {name: MAC, instances: 256, word-bits: 16, energy: 1.0}\n"
    "  storage:\n"
    "  - {name: L1, instances: 256, entries: 32768, banks: 16, vector-access-energy: 1.12, read_bandwidth: "
    "2,\n"
    "     write_bandwidth: 2}\n"
    "  - {name: L2, instances: 1, entries: 262144, banks: 16, block-size: 4, vector-access-energy: 8.8,\n"
    "     read_bandwidth: 16, write_bandwidth: 16}\n"
    "  - {name: DRAM, technology: DRAM, instances: 1, block-size: 4, vector-access-energy: 800}\n";

/* A plain three-level accelerator in bytes: energies per bit 8 and 8 (DRAM), 0.5 and 0.6 (buffer), 0.05 and
 * 0.06 pJ (registers) read and written; 64 and 512 bytes per cycle each way. */
static const char glb128[] =
    "arch:\n"
    "  name: glb128\n"
    "  arithmetic: {name: MAC, instances: 256, meshX: 16, word-bits: 8, energy: 0.2}\n"
    "  storage:\n"
    "  - {name: RF, instances: 256, meshX: 16, entries: 512, word-bits: 8, read_energy: 0.4,\n"
    "     fill_energy: 0.48, update_energy: 0.48}\n"
    "  - {name: GLB, instances: 1, entries: 131072, word-bits: 8, read_energy: 4, fill_energy: 4.8,\n"
    "     update_energy: 4.8, read_bandwidth: 512, write_bandwidth: 512}\n"
    "  - {name: DRAM, technology: DRAM, instances: 1, word-bits: 8, vector-access-energy: 64,\n"
    "     read_bandwidth: 64, write_bandwidth: 64}\n";

static const sx_catalog_entry entries[] = {
    {"accel-a", "Demystifying MSE's Accel-A: 256 PEs of 64 KB, 512 KB shared", accel_a},
    {"accel-b", "Demystifying MSE's Accel-B: 256 PEs of 4 MACs and 512 B, 128 KB shared", accel_b},
    {"eyeriss", "Sunstone's Eyeriss-like edge chip: 14x12 PEs, a scratchpad per tensor, 108 KB shared",
     eyeriss},
    {"edge-unified", "Sunstone's edge chip: 16x16 PEs of 512 B, 128 KB shared", edge_unified},
    {"simba", "Sunstone's Simba-like chip: 4x4 PEs of 8x8 MACs, a buffer per tensor, 128 KB shared", simba},
    {"mind-mappings", "Mind Mappings' chip: 256 PEs of 64 KB, 512 KB shared, both in 16 banks",
     mind_mappings},
    {"glb128", "a plain edge chip in 8 bits: 16x16 PEs of 512 B, 128 KB shared, bandwidth everywhere",
     glb128},
    {"accel-b-sparse", "Accel-B that compresses weights and inputs and skips zeros at every level",
     sx_arch_accel_b_sparse},
    {"eyeriss-v2", "Eyeriss-v2-like: 192 PEs that skip zeros of compressed inputs and weights, 192 KB shared",
     sx_arch_eyeriss_v2},
    {"scnn", "SCNN-like: 8x8 PEs of 16 MACs, run-length coded operands, products of non-zeros alone",
     sx_arch_scnn},
    {"extensor", "ExTensor-like: 128 PEs of 64 KB, 30 MB shared, operands intersected at every level",
     sx_arch_extensor},
    {"sparse-tensor-core", "2:4 sparse-tensor-core-like: 4 cores of 256 MACs, half of the weights kept",
     sx_arch_sparse_tensor_core},
};

const sx_catalog_entry *sx_catalog_archs(size_t *n) {
    *n = sizeof entries / sizeof *entries;
    return entries;
}
