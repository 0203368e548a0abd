/* The parts of certificates as JSON. */
#ifndef SX_VERIFY_CERTIFICATE_H
#define SX_VERIFY_CERTIFICATE_H

#include "sextant/certificate.h"
#include "text/document/document.h"
#include "text/write/write.h"

enum { SX_CERTIFICATE_FORMAT = 1, SX_MAX_ENTRIES = 300000 };

/* Constraints as a list of levels that have any, and back; *out is for the problem and the architecture. */
SX_OWN json_t *sx_limits_tree(const sx_constraints *constraints, const sx_problem *problem,
                              const sx_arch *arch);
SX_MUST_USE sx_status sx_limits_read(const sx_node *list, const sx_problem *problem, const sx_arch *arch,
                                     sx_constraints *out);

/* Refuses what is not a map, or has other keys than these. */
SX_MUST_USE sx_status sx_only_keys(const sx_node *map, const char *what, const char *const *keys, size_t n);

/* Reads a certificate; `whole`: only one that its hash says has not changed. */
SX_MUST_USE sx_status sx_certificate_parse(const char *name, const char *text, size_t size, bool whole,
                                           SX_OWN sx_certificate **out);

/* The hash of all that a certificate says. */
SX_MUST_USE sx_status sx_certificate_hash(const sx_certificate *certificate, char hash[17]);

#endif
