/* SRAM by CACTI: a table of its runs, interpolated. */
#ifndef SX_ESTIMATE_CACTI_H
#define SX_ESTIMATE_CACTI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The energies of an access to a whole word, pJ; leakage of a bank, mW; area of all, mm^2; access time, ns. */
enum { SX_SRAM_READ, SX_SRAM_WRITE, SX_SRAM_LEAK, SX_SRAM_AREA, SX_SRAM_ACCESS, SX_N_SRAM_FIGURES };

typedef struct sx_sram_figures {
    double value[SX_N_SRAM_FIGURES];
} sx_sram_figures;

/* A memory as CACTI takes it: bits of a word, words, and the process node in nm. */
typedef struct sx_sram_shape {
    double node, width, depth;
    uint32_t banks, ports;
} sx_sram_shape;

/* How a figure was found in the table, from the surest. */
typedef enum sx_cacti_fit {
    SX_CACTI_CURVE,  /* a run of the table, or between two of one organisation */
    SX_CACTI_GRID,   /* between runs that lie an octave apart */
    SX_CACTI_WIDTHS, /* between curves of two widths */
    SX_CACTI_BANKS,  /* by the figures of a bank, with the wires to it */
    SX_CACTI_BEYOND, /* outside of the table */
} sx_cacti_fit;

/* A row of share/sextant/cacti.csv, which the build makes a constant of; leakage and access time are 0 where not known. */
typedef struct sx_cacti_row {
    uint16_t node, width, banks, ports;
    uint32_t depth;
    double value[SX_N_SRAM_FIGURES];
    uint8_t same; /* the organisation is that of the row before */
} sx_cacti_row;

extern const sx_cacti_row sx_cacti_rows[];
extern const size_t sx_n_cacti_rows;

/* The nodes of the table, in nm, ascending. */
enum { SX_N_CACTI_NODES = 5 };
extern const double sx_cacti_nodes[SX_N_CACTI_NODES];

/* What CACTI says of a memory whose node is one of the table. */
sx_cacti_fit sx_cacti_find(const sx_sram_shape *shape, sx_sram_figures *out);

/* The same from runs at powers of two alone, one bank and one port: monotone in depth and width, so that a search over
 * sizes does not follow the jumps between organisations. */
void sx_cacti_smooth(double node, double width, double depth, sx_sram_figures *out);

#endif
