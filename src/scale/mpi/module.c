/* Messages by MPI: point to point only, in the calls that MPI-3 has. The processes are lost one by one where
 * the launcher lets that be; so nothing here is collective but the beginning and the end. */
#include "scale/mpi/module.h"

#include <limits.h>
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>

enum { TAG = 1 };

static int send_bytes(void *state, int to, const void *bytes, size_t size, void **out) {
    MPI_Request *request = size <= INT_MAX ? malloc(sizeof *request) : NULL;
    (void)state;
    if (!request) return 0;
    if (MPI_Isend((void *)bytes, (int)size, MPI_BYTE, to, TAG, MPI_COMM_WORLD, request) != MPI_SUCCESS) {
        free(request);
        return 0;
    }
    *out = request;
    return 1;
}

static int is_sent(void *state, void *request) {
    int done = 0;
    (void)state;
    int failed = MPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    if (!done && !failed) return 0;
    free(request);
    return 1;
}

static int probe_message(void *state, int *from, size_t *size) {
    int there = 0, count = 0;
    MPI_Status status;
    (void)state;
    if (MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &there, &status) != MPI_SUCCESS || !there) return 0;
    if (MPI_Get_count(&status, MPI_BYTE, &count) != MPI_SUCCESS) return 0;
    *from = status.MPI_SOURCE;
    *size = (size_t)count;
    return 1;
}

static int receive_message(void *state, int from, void *bytes, size_t size) {
    (void)state;
    return MPI_Recv(bytes, (int)size, MPI_BYTE, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

static void close_link(void *state, int lost) {
    (void)state;
    if (!lost) MPI_Finalize();
}

__attribute__((visibility("default"))) sx_mpi_opener sx_mpi_open;

int sx_mpi_open(sx_link *out, const char **why) {
    int given = MPI_THREAD_SINGLE;
    *why = "MPI_Init_thread failed";
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &given) != MPI_SUCCESS) return 0;
    *why = "this MPI does not support calls from several threads (MPI_THREAD_SERIALIZED)";
    if (given < MPI_THREAD_SERIALIZED) return 0;
    /* MPICH's launcher tells of a process that was lost by this signal, which would end the others. */
    signal(SIGUSR1, SIG_IGN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    *out = (sx_link){.version = SX_MPI_MODULE_VERSION,
                     .send = send_bytes,
                     .sent = is_sent,
                     .probe = probe_message,
                     .receive = receive_message,
                     .close = close_link};
    MPI_Comm_rank(MPI_COMM_WORLD, &out->number);
    MPI_Comm_size(MPI_COMM_WORLD, &out->count);
    return 1;
}
