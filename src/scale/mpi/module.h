/* How processes exchange messages: what the module of MPI gives. Messages between two processes arrive in
 * the order in which they were sent. One thread at a time makes the calls. */
#ifndef SX_SCALE_MPI_MODULE_H
#define SX_SCALE_MPI_MODULE_H

#include <stddef.h>

enum { SX_MPI_MODULE_VERSION = 1 };

typedef struct sx_link {
    int version;
    int number, count; /* of this process, and of all */
    void *state;
    /* Begins to send bytes, which must stay until `sent` says so of *request; 0: it cannot be sent. */
    int (*send)(void *state, int to, const void *bytes, size_t size, void **request);
    int (*sent)(void *state, void *request);
    /* Whether a message is there, from whom and how long; and taking it. 0: no. */
    int (*probe)(void *state, int *from, size_t *size);
    int (*receive)(void *state, int from, void *bytes, size_t size);
    /* Ends it; `lost`: a process has died, so that they cannot all end together. */
    void (*close)(void *state, int lost);
} sx_link;

/* The function "sx_mpi_open" of the module: begins; 0 and a text where that is not possible. */
typedef int sx_mpi_opener(sx_link *out, const char **why);

#endif
