/* A certificate compared with the files of a user: --arch, --problem and --constraints of `sextant verify`. */
#ifndef SX_CLI_AGAINST_H
#define SX_CLI_AGAINST_H

#include "cli/command.h"
#include "input/sources.h"
#include "sextant/certificate.h"

/* What certificates must be of. */
typedef struct sx_against {
    sx_args args;    /* those of the command without its operands */
    sx_given *given; /* its options and --like, where a certificate asked for it; NULL: none did */
    sx_sources sources;
    bool has_arch, has_problem, has_constraints;
    sx_arch arch;
    sx_network network;
} sx_against;

/* Reads what the options name; *out is freed with sx_against_fini, also after an error. */
SX_MUST_USE sx_status sx_against_load(const sx_args *args, sx_against *out, sx_output *result);
void sx_against_fini(sx_against *against);

/* Reads the files again as by Timeloop where a certificate's were read so (--like timeloop). */
SX_MUST_USE sx_status sx_against_follow(sx_against *against, const sx_certificate *c, sx_output *result);

/* Whether a certificate is of the user's architecture, of one of the user's layers, and of a space with the
 * user's constraints. Where it is not, v gets the claim that fails and why. */
SX_MUST_USE sx_status sx_against_check(sx_against *against, const sx_certificate *c, sx_verification *v,
                                       bool *holds);

#endif
