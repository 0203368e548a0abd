/* `sextant map --certificate`: what was proven, on paper. */
#ifndef SX_CLI_CERTIFY_H
#define SX_CLI_CERTIFY_H

#include "report/map_result.h"

/* How the names of certificates in a folder end. */
#define SX_CERTIFICATE_SUFFIX ".cert.json"

/* Refuses, before the search, a job that no certificate can be written of. */
SX_MUST_USE sx_status sx_certify_check(const sx_mapping_report *job);

/* Writes the certificate of a layer to a file; an error where nothing was proven. */
SX_MUST_USE sx_status sx_certify_layer(const sx_mapping_report *job, size_t layer,
                                       const sx_layer_result *result, const sx_constraints *constraints,
                                       const char *path);

#endif
