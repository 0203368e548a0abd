/* The inside of a session, shared by its files. */
#ifndef SX_SESSION_SESSION_H
#define SX_SESSION_SESSION_H

#include "base/ranks.h"
#include "base/saved_state.h"
#include "base/text.h"
#include "sextant/session.h"

enum { SX_WARM_NONE = -1, SX_WARM_DATABASE = -2 }; /* where no layer gave a start point */

/* A start point: where it comes from (as in sx_layer_result), its value, and its bytes. */
typedef struct sx_start {
    bool chosen; /* it was looked for */
    int from;
    char name[SX_NAME_SIZE];
    double value;
    void *point; /* NULL: none */
    size_t size;
} sx_start;

/* A layer's search that was paused at its share of the time: its start point and the state of its run. */
typedef struct sx_paused {
    sx_start start;
    void *state; /* NULL: it was not paused */
    size_t size;
} sx_paused;

typedef struct sx_session {
    const sx_network *network;
    const sx_arch *arch;
    const sx_session_options *options;
    sx_session_result *out;
    size_t *first;       /* the first layer that is the same computation as this one */
    char *mapper;        /* with every setting */
    char objective[256]; /* as text */
    char *identity;      /* all that decides the result, a line for each thing; only with a checkpoint */
    char *fused;         /* what a fused network keeps in the checkpoint; NULL: nothing */
    size_t fused_size;
    size_t at; /* the layer being searched; those before it are finished */
    /* what the search of that layer began from, and its state as a checkpoint holds it (NULL: none) */
    sx_start start;
    void *state;
    size_t state_size;
    bool wide; /* that layer is searched with remainders; its result holds the search without */
    const sx_layer_result *again; /* what that layer's search is to improve on; NULL: nothing */
    double seconds,
        pause; /* of that search, and when it is paused (0: never); seconds 0: what its share of the time is */
    sx_paused *paused; /* by layer; NULL: searches are not paused */
    double *weight;   /* of each layer's share of the time, for its first occurrence; NULL: without a limit */
    bool warned;      /* that the checkpoint cannot be written */
    sx_status unkept; /* why the database could not take a result: the first failure */
} sx_session;

/* Searches layer session->at and adds what was found to the results. */
SX_MUST_USE sx_status sx_session_search(sx_session *session);

/* Withdraws what is proven of a layer if a bound is above the value of its answer. */
void sx_session_uphold(const sx_session *session, size_t index);

/* Copies what a run of a map space found into the result of a layer, also before the run failed. */
SX_MUST_USE sx_status sx_session_collect(sx_run *run, const sx_space *space, const sx_run_options *options,
                                         sx_layer_result *result);

/* Whether the session's space has remainders and is searched in two parts, that of tiles that divide first
 * (session_wide.c). */
bool sx_session_in_parts(const sx_session *session);

/* How a layer is searched with remainders, after tiles that divide. */
typedef struct sx_width {
    double share;   /* of the compute units that tiles which divide can use at the most */
    bool widens;    /* a search with remainders is to follow */
    bool at_length; /* with half of the budget; otherwise briefly */
} sx_width;

/* Decides how a layer is searched with remainders, by the space of its tiles that divide. */
SX_MUST_USE sx_status sx_session_width(const sx_session *session, const sx_model *model,
                                       const sx_space *space, sx_width *out);
/* The same of the second search, by the result of the first. */
sx_width sx_session_second_width(const sx_session *session, const sx_model *model);

/* The million steps of a brief search with remainders, by the one before; 0: it is not brief. */
double sx_session_brief(const sx_session *session, const sx_width *width);

/* Whether a search with remainders follows, given what the one before came to. */
bool sx_session_goes_on(const sx_width *width, const sx_layer_result *before);

/* Sets the part of the budget of a search that is followed by one with remainders, or of that one, for which `before` is
 * not NULL. */
void sx_session_budget(const sx_session *session, const sx_width *width, const sx_layer_result *before,
                       sx_run_options *run);

/* Forgets what the search of tiles that divide has proven, where the other part of the space was not searched. */
void sx_session_unprove(const sx_session *session, sx_layer_result *result);

/* Appends the improvements that a later search of a layer made to the trace of the one before. */
SX_MUST_USE sx_status sx_session_append_trace(const sx_layer_result *later, sx_layer_result *result);

/* Adds what a search with remainders found to the result of the one without. */
SX_MUST_USE sx_status sx_session_merge(const sx_session *session, sx_layer_result *wide,
                                       sx_layer_result *result);

/* How often layer `index` runs, with the layers that are the same. */
double sx_session_times(const sx_session *session, size_t index);

/* Makes the best of each layer the point of its front with which the network's product of energy and cycles is least, and
 * bounds that; without `fronts` these are freed. The session's objective is that of a layer. */
SX_MUST_USE sx_status sx_session_choose(sx_session *session, bool fronts);

/* Adds the best of a layer's result to the database, where there is one. */
SX_MUST_USE sx_status sx_session_keep(const sx_session *session, size_t index);

/* The compulsory minimum of the objective, for what a layer's result keeps in the outermost level. */
double sx_session_minimum(const sx_session *session, const sx_model *model, const sx_layer_result *result);

/* The constraints of a problem. */
SX_MUST_USE sx_status sx_session_constraints(const sx_session *session, const sx_problem *problem,
                                             sx_constraints *out);

/* Chooses, scales and fits a start point for a layer; none is fine. *out is freed with sx_start_fini. */
SX_MUST_USE sx_status sx_warm_start(const sx_session *session, size_t index, const sx_space *space,
                                    sx_start *out);
void sx_start_fini(sx_start *start);

/* Sets the weights of the layers in a session with a limit of time, and whether their searches are paused. */
SX_MUST_USE sx_status sx_session_weigh(sx_session *session);

/* The identity (base/saved_state.h) that differs between two sessions if their results may. */
SX_MUST_USE sx_status sx_session_identity(const sx_session *session, SX_OWN char **out);

/* Reads the checkpoint, where its file exists, into a session that has an identity: finished layers, the
 * current one and its state. A file that is damaged or belongs to another session is an error that says what
 * differs. */
SX_MUST_USE sx_status sx_session_restore(sx_session *session);
/* The file that sx_session_restore reads, and the part of a fused network at the end of its body. */
extern const sx_state_kind sx_session_state;
void sx_session_add_fused(const char *fused, size_t size, sx_text *body);
/* Takes that part off a body, behind which it then is; false where the body is damaged. */
bool sx_session_split_fused(sx_saved_state *state, size_t *size);

/* The identity of a problem's space, beside the architecture and the objective: a hash of its
 * constraints and of the options of space and model, as text. */
typedef struct sx_space_mark {
    char text[17];
} sx_space_mark;
sx_space_mark sx_session_space_mark(const sx_session *session, const sx_constraints *constraints);

/* Takes an answer for layer session->at that the database has proven for the same space, evaluated anew;
 * *taken: whether there was one. `widened`: of a run that has searched remainders beside it, and found nothing better. */
SX_MUST_USE sx_status sx_session_take_proven(const sx_session *session, const sx_space *space,
                                             const sx_constraints *constraints, bool widened, bool *taken);

/* Whether a finished layer of a checkpoint is consistent: answers are legal and have the costs stated. */
SX_MUST_USE sx_status sx_session_check(const sx_session *session, size_t index, bool *holds);
/* The same for the start point of the layer being searched. */
SX_MUST_USE sx_status sx_session_check_start(const sx_session *session, const sx_space *space, bool *holds);
/* The error for a checkpoint that cannot be resumed. */
SX_MUST_USE sx_status sx_session_refuse(const sx_session *session, const char *what);

/* What a layer's result is as bytes, and back; the same for the start point of the layer being searched. False
 * where the bytes are damaged. */
void sx_session_add_result(const sx_session *session, size_t index, sx_text *out);
bool sx_session_read_result(const sx_session *session, size_t index, const char *bytes, size_t size);
void sx_session_add_start(sx_session *session, sx_text *out);
bool sx_session_read_start(sx_session *session, const char *bytes, size_t size);

/* Makes a layer's result that of one that was not reached. */
void sx_session_clear(const sx_session *session, size_t index);
/* Takes down that layer session->at was searched, and moves on to the next unless a signal cut it short. */
SX_MUST_USE sx_status sx_session_settle(sx_session *session);
/* An error with the name of the layer that it is about, where there is more than one. */
SX_MUST_USE sx_status sx_session_about(const sx_session *session, size_t index, SX_TAKE sx_status error);

/* A search of a layer in the time that is left; calm: as without a limit. */
typedef struct sx_round {
    size_t index;
    double seconds;
    bool calm;
} sx_round;

/* Chooses the layer that is searched next; false where none is left to search. When time is over, only a layer without an
 * answer, or one whose gap costs more than all else: its share was too short for it. closed: layers that rounds do not help. */
bool sx_session_choose_round(const sx_session *session, const bool *closed, sx_round *out);

/* Spends the time that is left on the layers whose gaps cost most; gives layers that were not reached a quick answer
 * (session_rounds.c). */
SX_MUST_USE sx_status sx_session_rounds(sx_session *session);
SX_MUST_USE sx_status sx_session_quick(sx_session *session);

/* Where processes divide the work (session_ranks.c): tells all of them the start point that process 0 has
 * chosen, and whether it has taken a proven answer for layer session->at. */
SX_MUST_USE sx_status sx_session_tell_start(sx_session *session);
SX_MUST_USE sx_status sx_session_tell_taken(sx_session *session, bool *taken);
/* Searches the layers that are left, each by one process, where none of them depends on another. */
SX_MUST_USE sx_status sx_session_divide(sx_session *session);

/* Writes the checkpoint: finished layers and, of the one being searched, the state given (NULL: none). A file
 * that cannot be written is no error but a warning. */
SX_MUST_USE sx_status sx_session_save(sx_session *session, const void *state, size_t size);

/* Frees what a layer's result holds. */
void sx_layer_result_fini(sx_layer_result *result);

#endif
