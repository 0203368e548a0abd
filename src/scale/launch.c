/* Environment variables of launchers: Open MPI's mpirun; that of MPICH and others by PMI; Slurm's srun. */
#include "scale/launch.h"

#include <stddef.h>
#include <stdlib.h>

/* The number of the first variable that is set to one; otherwise `otherwise`. */
static unsigned first_of(const char *const names[3], unsigned otherwise) {
    for (size_t i = 0; i < 3; i++) {
        const char *text = getenv(names[i]);
        char *end;
        if (!text || *text < '0' || *text > '9') continue;
        unsigned long number = strtoul(text, &end, 10);
        if (*end == 0 && number < 1u << 30) return (unsigned)number;
    }
    return otherwise;
}

unsigned sx_launch_count(void) {
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};
    return first_of(names, 1);
}

unsigned sx_launch_number(void) {
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"};
    return first_of(names, 0);
}

unsigned sx_launch_neighbours(void) {
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                                        "SLURM_NTASKS_PER_NODE"};
    unsigned n = first_of(names, sx_launch_count());
    return n ? n : 1;
}
