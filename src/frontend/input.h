/* What the readers see of an sx_input: the sections of all its documents, its memory and its notes. */
#ifndef SX_FRONTEND_INPUT_H
#define SX_FRONTEND_INPUT_H

#include "base/arena.h"
#include "estimate/component.h"
#include "sextant/input.h"
#include "text/document/document.h"
#include "text/path_scope.h"
#include "text/settings.h"

struct sx_network_options;

/* A section is a pair of a top-level map of any document. The index-th one of that key, in the order in which
 * the files were added, NULL past the last; a NULL key stands for any. */
const sx_pair *sx_input_section(const sx_input *input, const char *key, size_t index);

/* The only section of that key, NULL where there is none; an error naming both places where there are two. */
SX_MUST_USE sx_status sx_input_single(const sx_input *input, const char *key, const sx_pair **out);

/* The first section of that key with any content, NULL where there is none. */
const sx_pair *sx_input_first(const sx_input *input, const char *key);

/* Adds the sections of another input, which must outlive this one, or those of one key (NULL: all); sections
 * at a place that is here already are not added again. */
SX_MUST_USE sx_status sx_input_borrow(sx_input *input, const sx_input *from, const char *key);

/* Adds the pairs of a map as sections, as if it were a document; it must outlive the input. */
SX_MUST_USE sx_status sx_input_add_node(sx_input *input, const sx_node *map);

/* Adds a folder to those whose files the input may name. */
SX_MUST_USE sx_status sx_input_add_folder(sx_input *input, const char *folder);

/* Whether a regular file was added before; if not, it is noted. */
SX_MUST_USE sx_status sx_input_added_before(sx_input *input, const char *path, bool *before);

/* The variable that was set as number `index` by sx_input_set, NULL past the last. */
const char *sx_input_setting(const sx_input *input, size_t index, const char **value);

/* The file of the pairs that are made of these variables. */
#define SX_SETTING_FILE "--set"

/* Where it is kept which of these variables are used; the input's own, or what it shares with the other inputs of a
 * command, which must outlive it. */
sx_settings *sx_input_settings(const sx_input *input);
void sx_input_share_settings(sx_input *input, sx_settings *settings);

/* Which files the input may name beside those below the folder of each file; NULL: none, since it is data. */
const sx_path_scope *sx_input_scope(const sx_input *input);
/* Says that the input is data, such as a certificate; or what this program wrote itself, with paths that it
 * has read before. */
void sx_input_is_data(sx_input *input);
void sx_input_is_own(sx_input *input);

/* Reads a problem and a mapping of it from their texts; the architecture is there already. `own`: this process wrote
 * the texts; otherwise they are data. */
SX_MUST_USE sx_status sx_input_nouns(const char *problem_text, const char *mapping_text, bool own,
                                     const sx_arch *arch, sx_problem *problem, sx_mapping *mapping);

/* What the user allows and sets for templates. */
const struct sx_template_options *sx_input_templates(const sx_input *input);
/* Says where the energies of the architecture come from, and whether some are by formula. */
SX_MUST_USE sx_status sx_input_set_energies(sx_input *input, const char *source, bool by_formula);
bool sx_input_by_formula(const sx_input *input);

/* Says whether an energy table may be added after the architecture is read once, which is then read again: what is unpriced
 * is no warning yet. */
void sx_input_expect_ert(sx_input *input, bool expects);
bool sx_input_expects_ert(const sx_input *input);

/* The seconds of a cycle that the user sets, which stand for those of the architecture where it has bandwidths in bytes per
 * second; 0: as the files say. */
void sx_input_set_clock(sx_input *input, double seconds);
double sx_input_clock(const sx_input *input);

/* By whose rules components without energies are estimated; SX_ESTIMATOR_PRESET where it was not set. */
void sx_input_set_estimator(sx_input *input, sx_estimator estimator);
sx_estimator sx_input_estimator(const sx_input *input);

/* Has energies that the architecture states left aside for estimates. */
void sx_input_estimate_all(sx_input *input);
bool sx_input_estimates_all(const sx_input *input);

/* The components of the architecture that was read last, outermost first, each with its estimate; they live as long as the
 * input. */
void sx_input_set_components(sx_input *input, const sx_estimated_component *components, size_t n,
                             sx_estimator used);
sx_estimator sx_input_estimator_used(const sx_input *input);
const sx_estimated_component *sx_input_components(const sx_input *input, size_t *n);

/* Which run of a network a configuration among the sections is read as (sx_input_graph); NULL: none was set. */
void sx_input_set_run(sx_input *input, const struct sx_network_options *options);
const struct sx_network_options *sx_input_run(const sx_input *input);

/* Memory that lives as long as the input. */
sx_arena *sx_input_arena(sx_input *input);

/* Whether factors of constraints need not divide (SX_READ_REMAINDERS). */
bool sx_input_has_remainders(const sx_input *input);

/* Whether files are read as Timeloop reads them (SX_READ_LIKE_TIMELOOP). */
bool sx_input_is_like_timeloop(const sx_input *input);

/* Adds a note "file:line:column: ..."; the same note twice at one place is kept once. */
SX_MUST_USE sx_status sx_input_add_note(sx_input *input, sx_place place, const char *format, ...)
    SX_PRINTF(3, 4);

/* Adds a note about what is written twice and changes nothing; an error where the input is strict. */
SX_MUST_USE sx_status sx_input_repeated(sx_input *input, sx_place place, const char *format, ...)
    SX_PRINTF(3, 4);

/* Adds a warning about a key that is not understood, unless an expression uses it as a name; an error where the input is
 * strict. */
SX_MUST_USE sx_status sx_input_unknown(sx_input *input, const sx_pair *pair, const char *format, ...)
    SX_PRINTF(3, 4);

/* The same of a key that is understood, but whose meaning is not counted. */
SX_MUST_USE sx_status sx_input_uncounted(sx_input *input, const sx_pair *pair, const char *format, ...)
    SX_PRINTF(3, 4);

/* The error for a key, which is `noun` of `what`, that is a known one misspelt; where the input is lenient a warning. */
SX_MUST_USE sx_status sx_input_misspelt(sx_input *input, const sx_pair *pair, const char *noun,
                                        const char *what, const char *meant);

/* Keeps that an expression uses the value of a key. */
SX_MUST_USE sx_status sx_input_use(sx_input *input, const sx_pair *pair);

/* Adds a warning about something that is read otherwise than it is written; an error where the input is
 * strict. Those of one format (a literal) at one place are shown as one. */
SX_MUST_USE sx_status sx_input_warn(sx_input *input, sx_place place, const char *format, ...) SX_PRINTF(3, 4);

/* What a warning says of a mapping with remainders where answers are to be Timeloop's. */
#define SX_REMAINDERS_UNLIKE                                                                                 \
    "the mapping leaves remainders, which are counted iteration by iteration: Timeloop's cycles and counts " \
    "differ"

/* The same about something that Timeloop has rules for and Sextant others; an error where the input is to be read as
 * Timeloop reads it. */
SX_MUST_USE sx_status sx_input_differ(sx_input *input, sx_place place, const char *format, ...)
    SX_PRINTF(3, 4);

#endif
