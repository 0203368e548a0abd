/* Options that choose the run of a language model: its phase, its tokens, and how experts and latents are counted. */
#ifndef SX_INPUT_PHASE_H
#define SX_INPUT_PHASE_H

#include "input/args.h"
#include "sextant/network.h"

/* Reads --phase, --tokens, --context, --logits, --routing, --experts-hit, --mla and --causal; with --phase both the phase
 * stays open. */
SX_MUST_USE sx_status sx_phase_options(const sx_args *args, sx_network_options *out);

/* Whether --phase is both. */
bool sx_phase_both(const sx_args *args);

/* The options of one phase of --phase both: decoding comes after the prompt where no context is given. */
sx_network_options sx_phase_part(const sx_network_options *both, sx_phase phase);

/* Refuses --phase both where one graph is wanted. */
SX_MUST_USE sx_status sx_phase_single(const sx_args *args);

/* Whether a value of --problem or a file without an option is a file that looks like the configuration of a network. */
bool sx_phase_config(const sx_args *args);

#endif
