/* Finding out how this process was started, and joining the others. */
#include "base/module.h"
#include "scale/group.h"
#include "scale/launch.h"

#include <stdlib.h>
#include <string.h>

/* The build says which file to load; without MPI there is none. */
#ifndef SX_MPI_FILE
#define SX_MPI_FILE ""
#endif

static const double PATIENCE = 30;

/* Seconds of silence after which a process is lost. */
static double patience_seconds(void) {
    const char *text = getenv("SEXTANT_RANK_SECONDS");
    double seconds = text ? strtod(text, NULL) : 0;
    return seconds > 0 ? seconds : PATIENCE;
}

/* Loads the module and begins. */
static sx_status open_link(sx_link *out) {
    const char *name = SX_MPI_FILE, *why = "";
    sx_mpi_opener *opener;
    SX_TRY(sx_module_load(name, "MPI", "sx_mpi_open", true, &opener));
    if (!opener(out, &why)) return sx_error_new(SX_ERR_FILE, "%s", why);
    return out->version == SX_MPI_MODULE_VERSION ? SX_OK : sx_module_other_version(name);
}

sx_status sx_ranks_join(sx_ranks **out) {
    unsigned count = sx_launch_count();
    sx_link link;
    *out = NULL;
    if (count <= 1) return SX_OK;
    if (!SX_MPI_FILE[0])
        return sx_error_hint(
            sx_error_new(SX_ERR_USAGE, "started as %u processes, but this build has no MPI", count),
            "install MPI (libopenmpi-dev) and build again, or start one process");
    SX_TRY(open_link(&link));
    if (link.count == 1) {
        link.close(link.state, 0);
        return sx_error_hint(
            sx_error_new(SX_ERR_USAGE, "the launcher started %u processes that do not find each other",
                         count),
            "use the launcher of the MPI that this build has (`sextant --version`); with Slurm, srun "
            "--mpi=pmix");
    }
    return sx_group_new(&link, patience_seconds(), true, out);
}

void sx_ranks_leave(sx_ranks *ranks, const struct sx_error *why, int code) {
    if (ranks) sx_group_leave(ranks, why, code);
}

char *sx_ranks_report(sx_ranks *ranks) {
    sx_group *g = (sx_group *)ranks;
    if (!g) return NULL;
    pthread_mutex_lock(&g->lock);
    char *text = g->report.size && !g->report.failed ? strdup(g->report.data) : NULL;
    pthread_mutex_unlock(&g->lock);
    return text;
}
