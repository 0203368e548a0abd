/* The fault that a run of the program meets. */
#ifndef SX_FAULTS_SHIM_H
#define SX_FAULTS_SHIM_H

#include <stdatomic.h>
#include <stdbool.h>

typedef enum sx_fault_kind {
    SX_FAULT_NONE,
    SX_FAULT_MEMORY,      /* an allocation fails */
    SX_FAULT_MEMORY_FROM, /* it and all after it fail */
    SX_FAULT_CALL,        /* a system call fails */
    SX_FAULT_FULL,        /* from a call that writes on, all of these fail, as on a full disk */
    SX_FAULT_KILL,        /* the process is killed before a call that changes a file */
    SX_FAULT_INTERRUPT,   /* it gets SIGINT before a system call */
    SX_FAULT_SHORT,       /* a call that writes takes half of the bytes, and none of a single one (EINTR) */
    SX_N_FAULTS,
} sx_fault_kind;

/* What is counted, shared by the processes of a sweep. */
typedef struct sx_fault_counts {
    _Atomic long allocations, calls, writes, changes;
    _Atomic long blocks;     /* allocated and not freed */
    char name[32], last[32]; /* the call that the fault met, and the last that changed a file */
} sx_fault_counts;

typedef struct sx_fault {
    sx_fault_counts *counts; /* NULL: nothing is counted, and nothing fails */
    sx_fault_kind kind;
    long at; /* the number of the allocation or call, from 1 */
} sx_fault;

extern sx_fault sx_fault_now;

/* Where a debugger stops: called at the moment of the fault. */
void sx_fault_happens(const char *name);

#endif
