/* Work that is divided among processes (sextant/ranks.h): numbered parts that each make bytes. */
#ifndef SX_BASE_RANKS_H
#define SX_BASE_RANKS_H

#include "base/text.h"
#include "sextant/error.h"
#include "sextant/ranks.h"

/* Parts 0..n-1, each of which depends on nothing but its number and on what all processes have in common. */
typedef struct sx_shared {
    size_t n;
    bool grouped;  /* parts are small: hand them out in a few groups of neighbours; otherwise one by one */
    bool everyone; /* every process takes the results; otherwise process 0 alone */
    uint64_t mark; /* tells this work from other work: a process with another one is out of step */
    const sx_cancel *cancel; /* of process 0; may be NULL */
    void *user;
    /* Makes parts first..first+n-1 and adds their bytes. */
    sx_status (*make)(void *user, size_t first, size_t n, sx_text *out);
    /* Takes what was made of the same parts. Called in order of the parts. */
    sx_status (*take)(void *user, size_t first, size_t n, const char *bytes, size_t size);
} sx_shared;

/* What came of it. */
typedef struct sx_shared_result {
    size_t taken;   /* parts; fewer than there are where it was cancelled */
    double seconds; /* of making them, summed over the processes */
} sx_shared_result;

enum { SX_WORK_KINDS = 32 };

/* Small work of one kind, that comes again and again: how many of the next times it is not divided, and the
 * power of two that this was set to. */
typedef struct sx_work_kind {
    void (*kind)(void); /* a function that tells it from others */
    unsigned skip, backoff;
} sx_work_kind;

/* The processes, as seen by one of them. */
struct sx_ranks {
    unsigned number, count;
    unsigned others; /* that process 0 still works with; in another process 1 */
    bool busy;       /* parts are being made: what they divide in turn is made here */
    bool finished;   /* this process, not number 0, has nothing more to do */
    sx_work_kind kind[SX_WORK_KINDS];
    sx_status (*share)(sx_ranks *ranks, const sx_shared *work, sx_shared_result *out);
};

/* Whether work is divided now. */
bool sx_ranks_active(const sx_ranks *ranks);
/* Whether this process works for process 0: its results are dropped, and it writes no files. */
bool sx_ranks_follows(const sx_ranks *ranks);

/* Whether small work of a kind is divided this time; and noting how many seconds it took, by which all
 * processes decide alike. */
bool sx_ranks_worth(sx_ranks *ranks, void (*kind)(void));
void sx_ranks_took(sx_ranks *ranks, void (*kind)(void), double seconds);

/* Divides work among the processes, all of which make this call; without others it is done here. */
SX_MUST_USE sx_status sx_ranks_share(sx_ranks *ranks, const sx_shared *work, sx_shared_result *out);

/* Gives all processes the bytes that process 0 has; *bytes, which is freed with free(), is replaced. Does nothing
 * where work is not divided. */
SX_MUST_USE sx_status sx_ranks_tell(sx_ranks *ranks, char **bytes, size_t *size);

/* The end of the work of a process other than number 0, in the middle of a call: a status that unwinds it and is not reported. */
SX_MUST_USE sx_status sx_ranks_finish(sx_ranks *ranks);

#endif
