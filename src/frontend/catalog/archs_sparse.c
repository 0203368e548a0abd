/* The built-in architectures that know zeros. Formats are one rank per level that takes all loops over a
 * tensor's dimensions together: coordinates are counted from the beginning of a tile. Energies of metadata are
 * those of data by bits, a gated access costs a sixteenth and a skipped one a hundredth of a random one, where
 * the source says nothing. */
#include "frontend/catalog/catalog.h"

#define DIMS                                                                                                 \
    "flattened_rankIDs: [[N, G, K, C, P, Q, R, S, B, M, D, A, E, F, H, I, J, L, O, T, U, V, W, X, Y, Z]]"
#define CP "{format: CP, " DIMS "}"
#define RLE "{format: RLE, " DIMS "}"
#define CP2 CP ", " CP
#define CP3 CP2 ", " CP
#define RLE2 RLE ", " RLE
#define FORMAT(tensor, ranks) "      - {name: " tensor ", ranks: [" ranks "]}\n"
#define FORMATS "    representation_format:\n      data_spaces:\n"
#define ACTIONS "    action_optimization:\n"
#define SKIP(target, on) "    - {type: skipping, options: [{target: " target ", condition_on: [" on "]}]}\n"
#define SKIP_ALL                                                                                             \
    ACTIONS SKIP("Inputs", "Weights") SKIP("Weights", "Inputs") SKIP("Outputs", "Weights, Inputs")
#define COMPUTE(type) "  - {name: MAC, compute_optimization: [{type: " type "}]}\n"
#define SPARSE "sparse_optimizations:\n  version: 0.4\n  targets:\n"
#define ANY "decompression_supported: true, compression_supported: true"

/* Demystifying MSE (IISWC 2022), section 4.5: accel-b as a flexible sparse accelerator that compresses weights
 * and inputs at every level and skips at every level what meets zeros. Coordinates have 4 bits in PEs, 8
 * outside. */
const char sx_arch_accel_b_sparse[] =
    "arch:\n"
    "  name: accel-b-sparse\n"
    "  arithmetic: {name: MAC, instances: 1024, word-bits: 16, energy: 1.0, gated_energy: 0.0625,\n"
    "     skipped_energy: 0.01}\n"
    "  storage:\n"
    "  - {name: RF, instances: 256, entries: 256, word-bits: 16, vector-access-energy: 0.99, " ANY ",\n"
    "     metadata_word_bits: 4, metadata_storage_width: 16, metadata_storage_depth: 128,\n"
    "     action_energies: {gated_read: 0.062, gated_update: 0.062, skipped_read: 0.01, skipped_update: "
    "0.01,\n"
    "       metadata_read: 0.99, metadata_fill: 0.99, metadata_update: 0.99}}\n"
    "  - {name: GB, instances: 1, entries: 65536, word-bits: 16, block-size: 4, vector-access-energy: "
    "16.76, " ANY ",\n     metadata_word_bits: 8, metadata_storage_width: 64, metadata_storage_depth: 8192,\n"
    "     action_energies: {gated_read: 1.05, gated_update: 1.05, skipped_read: 0.17, skipped_update: 0.17,\n"
    "       metadata_read: 16.76, metadata_fill: 16.76, metadata_update: 16.76}}\n"
    "  - {name: DRAM, technology: DRAM, instances: 1, word-bits: 16, block-size: 4, vector-access-energy: "
    "800,\n"
    "     " ANY ", metadata_word_bits: 8, metadata_storage_width: 64,\n"
    "     action_energies: {skipped_read: 8, skipped_update: 8, metadata_read: 800, metadata_fill: 800,\n"
    "       metadata_update: 800}}\n" SPARSE "  - name: DRAM\n" FORMATS FORMAT("Weights", CP3)
        FORMAT("Inputs", CP3) SKIP_ALL "  - name: GB\n" FORMATS FORMAT("Weights", CP2) FORMAT("Inputs", CP2)
            SKIP_ALL "  - name: RF\n" FORMATS FORMAT("Weights", CP) FORMAT("Inputs", CP)
                SKIP_ALL COMPUTE("gating");

/* Eyeriss v2 (JETCAS 2019), sections III and IV: 192 PEs with scratchpads for compressed inputs (16 words),
 * compressed weights (192) and partial sums (32); 192 KB shared by inputs and partial sums, weights go to the PEs.
 * Inputs and weights are compressed (CSC); a PE fetches the weights of non-zero inputs alone and multiplies
 * non-zeros alone. Words of 8 bits, coordinates of 4. Energies: eyeriss, halved for 8 bits. */
const char sx_arch_eyeriss_v2[] =
    "arch:\n"
    "  name: eyeriss-v2\n"
    "  arithmetic: {name: MAC, instances: 192, meshX: 16, word-bits: 8, energy: 0.56, gated_energy: 0.035,\n"
    "     skipped_energy: 0.006}\n"
    "  storage:\n"
    "  - {name: psum_spad, instances: 192, meshX: 16, entries: 32, word-bits: 20, keep: [Outputs],\n"
    "     vector-access-energy: 0.25}\n"
    "  - {name: weight_spad, instances: 192, meshX: 16, entries: 192, word-bits: 8, keep: [Weights],\n"
    "     vector-access-energy: 0.8, " ANY ", metadata_word_bits: 4, metadata_storage_width: 8,\n"
    "     metadata_storage_depth: 96, action_energies: {metadata_read: 0.4, metadata_fill: 0.4}}\n"
    "  - {name: iact_spad, instances: 192, meshX: 16, entries: 16, word-bits: 8, keep: [Inputs],\n"
    "     vector-access-energy: 0.12, " ANY ", metadata_word_bits: 4, metadata_storage_width: 8,\n"
    "     metadata_storage_depth: 8, action_energies: {metadata_read: 0.06, metadata_fill: 0.06}}\n"
    "  - {name: GLB, instances: 1, entries: 196608, word-bits: 8, bypass: [Weights], vector-access-energy: "
    "9.1,\n"
    "     read_bandwidth: 24, write_bandwidth: 24, " ANY
    ", metadata_word_bits: 4, metadata_storage_width: 8,\n"
    "     metadata_storage_depth: 98304, action_energies: {metadata_read: 9.1, metadata_fill: 9.1}}\n"
    "  - {name: DRAM, technology: DRAM, instances: 1, word-bits: 8, vector-access-energy: 64, " ANY ",\n"
    "     metadata_word_bits: 4, metadata_storage_width: 8, action_energies: {metadata_read: 64,\n"
    "       metadata_fill: 64}}\n" SPARSE "  - name: DRAM\n" FORMATS FORMAT("Weights", CP2)
        FORMAT("Inputs", CP3) "  - name: GLB\n" FORMATS FORMAT(
            "Inputs", CP2) "  - name: iact_spad\n" FORMATS FORMAT("Inputs", CP)
ACTIONS SKIP("Inputs", "Weights") "  - name: weight_spad\n" FORMATS FORMAT("Weights", CP)
ACTIONS SKIP("Weights", "Inputs") "  - name: psum_spad\n" ACTIONS SKIP("Outputs", "Weights, Inputs")
    COMPUTE("skipping");

/* SCNN (ISCA 2017), Table III: 8 x 8 PEs of 4 x 4 multipliers; in each PE 10 KB for compressed inputs, a
 * weight buffer of 50 entries of 4 weights, and accumulators of 6 KB; zeros are run-length coded in 4 bits. All
 * products of non-zero weights and non-zero inputs are made, and no others. Energies as in accel-b by size. */
const char sx_arch_scnn[] =
    "arch:\n"
    "  name: scnn\n"
    "  arithmetic: {name: MAC, instances: 1024, meshX: 32, word-bits: 16, energy: 1.0, gated_energy: "
    "0.0625,\n"
    "     skipped_energy: 0.01}\n"
    "  storage:\n"
    "  - {name: accumulators, instances: 64, meshX: 8, entries: 2048, word-bits: 24, keep: [Outputs],\n"
    "     vector-access-energy: 1.5}\n"
    "  - {name: weight_fifo, instances: 64, meshX: 8, entries: 200, word-bits: 16, keep: [Weights],\n"
    "     vector-access-energy: 0.9, " ANY ", metadata_word_bits: 4, metadata_storage_width: 16,\n"
    "     metadata_storage_depth: 64, action_energies: {metadata_read: 0.9, metadata_fill: 0.9}}\n"
    "  - {name: iaram, instances: 64, meshX: 8, entries: 5120, word-bits: 16, keep: [Inputs],\n"
    "     vector-access-energy: 2.2, " ANY ", metadata_word_bits: 4, metadata_storage_width: 16,\n"
    "     metadata_storage_depth: 1280, action_energies: {metadata_read: 2.2, metadata_fill: 2.2}}\n"
    "  - {name: DRAM, technology: DRAM, instances: 1, word-bits: 16, vector-access-energy: 200,\n"
    "     read_bandwidth: 32, write_bandwidth: 32, " ANY ", metadata_word_bits: 4,\n"
    "     metadata_storage_width: 16, action_energies: {metadata_read: 200, metadata_fill: 200}}\n" SPARSE
    "  - name: DRAM\n" FORMATS FORMAT("Weights", RLE2)
        FORMAT("Inputs", RLE2) "  - name: iaram\n" FORMATS FORMAT("Inputs", RLE)
ACTIONS SKIP("Inputs", "Weights") "  - name: weight_fifo\n" FORMATS FORMAT("Weights", RLE)
ACTIONS SKIP("Weights", "Inputs") "  - name: accumulators\n" ACTIONS SKIP("Outputs", "Weights, Inputs")
    COMPUTE("skipping");

/* ExTensor (MICRO 2019), Table 2: 128 PEs of 64 KB, 30 MB shared, 68.3 GB/s of DRAM at 1 GHz; coordinates of
 * both operands are intersected on the way into every level, so that only tiles and words which meet are moved. 32
 * bits for words and for coordinates. Energies grow with the square root of sizes from accel-b's. */
const char sx_arch_extensor[] =
    "arch:\n"
    "  name: extensor\n"
    "  arithmetic: {name: MAC, instances: 128, word-bits: 32, energy: 4.0, gated_energy: 0.25,\n"
    "     skipped_energy: 0.04}\n"
    "  storage:\n"
    "  - {name: PEB, instances: 128, entries: 16384, word-bits: 32, vector-access-energy: 8, " ANY ",\n"
    "     metadata_word_bits: 32, metadata_storage_width: 32, metadata_storage_depth: 16384,\n"
    "     action_energies: {metadata_read: 8, metadata_fill: 8, metadata_update: 8}}\n"
    "  - {name: LLB, instances: 1, entries: 7864320, word-bits: 32, vector-access-energy: 92,\n"
    "     read_bandwidth: 256, write_bandwidth: 256, " ANY ", metadata_word_bits: 32,\n"
    "     metadata_storage_width: 32, metadata_storage_depth: 7864320,\n"
    "     action_energies: {metadata_read: 92, metadata_fill: 92, metadata_update: 92}}\n"
    "  - {name: DRAM, technology: DRAM, instances: 1, word-bits: 32, vector-access-energy: 400,\n"
    "     read_bandwidth: 17, write_bandwidth: 17, " ANY ", metadata_word_bits: 32,\n"
    "     metadata_storage_width: 32, action_energies: {metadata_read: 400, metadata_fill: 400,\n"
    "       metadata_update: 400}}\n" SPARSE "  - name: DRAM\n" FORMATS FORMAT("Weights", CP3)
        FORMAT("Inputs", CP3) SKIP_ALL "  - name: LLB\n" FORMATS FORMAT("Weights", CP2) FORMAT("Inputs", CP2)
            SKIP_ALL "  - name: PEB\n" FORMATS FORMAT("Weights", CP) FORMAT("Inputs", CP)
                SKIP_ALL COMPUTE("skipping");

/* NVIDIA's A100 whitepaper and Mishra et al., Accelerating Sparse Deep Neural Networks (2021): one
 * multiprocessor of 4 tensor cores with 256 multipliers each, 256 KB of registers, 192 KB shared. Of 4 weights
 * 2 are kept, with 2 bits that say which; the inputs that meet the others are left out. To be used with
 * --density Weights=0.5; inputs stay dense. */
const char sx_arch_sparse_tensor_core[] =
    "arch:\n"
    "  name: sparse-tensor-core\n"
    "  arithmetic: {name: MAC, instances: 1024, word-bits: 16, energy: 1.0, gated_energy: 0.0625,\n"
    "     skipped_energy: 0.01}\n"
    "  storage:\n"
    "  - {name: RF, instances: 4, entries: 32768, word-bits: 16, block-size: 4, vector-access-energy: 6, " ANY
    ",\n"
    "     metadata_word_bits: 2, metadata_storage_width: 64, metadata_storage_depth: 1024,\n"
    "     action_energies: {metadata_read: 6, metadata_fill: 6}}\n"
    "  - {name: SMEM, instances: 1, entries: 98304, word-bits: 16, block-size: 4, vector-access-energy: 20,\n"
    "     " ANY ", metadata_word_bits: 2, metadata_storage_width: 64, metadata_storage_depth: 3072,\n"
    "     action_energies: {metadata_read: 20, metadata_fill: 20}}\n"
    "  - {name: DRAM, technology: DRAM, instances: 1, word-bits: 16, block-size: 4, vector-access-energy: "
    "800,\n"
    "     " ANY ", metadata_word_bits: 2, metadata_storage_width: 64,\n"
    "     action_energies: {metadata_read: 800, metadata_fill: 800}}\n" SPARSE
    "  - name: DRAM\n" FORMATS FORMAT("Weights", CP3) "  - name: SMEM\n" FORMATS FORMAT(
        "Weights", CP2) "  - name: RF\n" FORMATS FORMAT("Weights", CP)
ACTIONS SKIP("Inputs", "Weights") COMPUTE("skipping");
