/* Answers of an outside evaluator in a database: each is kept when it comes, and not asked for again. Answers about mappings are
 * kept with the features of the mapping, so that searches of other layers learn from them. */
#ifndef SX_SESSION_ANSWERS_H
#define SX_SESSION_ANSWERS_H

#include "sextant/outside_evaluator.h"
#include "sextant/space_type.h"
#include "sextant/store.h"

typedef struct sx_answers sx_answers;

/* Whose answers are kept, and what each is kept with. Borrowed while answers are open. */
typedef struct sx_answers_of {
    sx_store *store;
    sx_outside_evaluator *outside;
    const char *name;   /* of the space, for people */
    const char *method; /* that asks, with all settings */
    uint64_t seed;
    bool again; /* what is kept is asked for all the same */
} sx_answers_of;

/* Opens the answers about the mappings of a space: the evaluator's are looked for there and kept, until they are closed; where it
 * remembers nothing yet, it remembers what is kept about other problems on the architecture. */
SX_MUST_USE sx_status sx_answers_open_map(const sx_answers_of *of, const sx_space *space,
                                          SX_OWN sx_answers **out);

/* The same about placements; `identity` is JSON that tells their space from others, the evaluator included. */
SX_MUST_USE sx_status sx_answers_open_placement(const sx_answers_of *of, const char *identity,
                                                SX_OWN sx_answers **out);
void sx_answers_close(SX_TAKE sx_answers *answers);

/* Visits the best answer of an evaluator about each problem on an architecture, as a record that has problem, mapping and value
 * alone. */
SX_MUST_USE sx_status sx_answers_best(sx_store *store, const sx_outside_evaluator *outside,
                                      const sx_arch *arch, sx_store_visit *visit, void *user);

#endif
