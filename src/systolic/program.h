/* The mathematical program that seeds a genetic search: which tiles would be best if all were divisible. */
#ifndef SX_SYSTOLIC_PROGRAM_H
#define SX_SYSTOLIC_PROGRAM_H

#include "systolic/space.h"

/* What the program makes as small as it can. */
typedef enum sx_program_objective {
    SX_PROGRAM_LANES = 1, /* -lanes */
    SX_PROGRAM_WORDS,     /* words moved off the chip */
    SX_PROGRAM_BOTH,      /* words - lanes */
} sx_program_objective;

typedef struct sx_program {
    int n_loops, simd;
    double size[SX_MAX_SYSTOLIC_LOOPS];
    sx_loops space;                  /* space loops */
    sx_loops loops[SX_N_OPERANDS];   /* that index an array */
    sx_loops repeats[SX_N_OPERANDS]; /* whose trips move an array again */
    double words[SX_N_OPERANDS];     /* of an array */
    double window[SX_N_OPERANDS];    /* of an array for each step of its loops */
    double least_lanes, most_lanes;  /* of a PE */
    double most;                     /* lanes that the DSP blocks make */
    double hidden;                   /* sums in a PE at least, 0: any; times the lanes where `chained` */
    bool chained;
    double bram, blocks_per_word;
    double baseline; /* words of all arrays, the result twice */
} sx_program;

/* Tiles that need not be whole. */
typedef struct sx_program_tiles {
    double t1[SX_MAX_SYSTOLIC_LOOPS], t2[SX_MAX_SYSTOLIC_LOOPS];
} sx_program_tiles;

/* The program of a kernel on a design. */
void sx_program_init(const sx_systolic_kernel *kernel, const sx_systolic_plan *plan, sx_program *out);

/* Lanes of all PEs, and words moved off the chip. */
double sx_program_lanes(const sx_program *program, const sx_program_tiles *tiles);
double sx_program_words(const sx_program *program, const sx_program_tiles *tiles);

/* An objective's value: lanes as a share of those there can be, words in sizes of all arrays. */
double sx_program_value(const sx_program *program, sx_program_objective objective,
                        const sx_program_tiles *tiles);

/* The best tiles; false where no tiles keep the constraints. */
bool sx_program_solve(const sx_program *program, sx_program_objective objective, sx_program_tiles *out);

/* The tiles as a point of a space: t1 down to an even number, then both to the nearest that there are. The
 * point need not be legal. */
void sx_program_round(const sx_systolic_space *space, uint32_t design, const sx_program_tiles *tiles,
                      sx_systolic_point *out);

#endif
