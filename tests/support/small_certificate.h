/* Certificates of small spaces, and all values that there are in them. */
#ifndef SX_TESTS_SMALL_CERTIFICATE_H
#define SX_TESTS_SMALL_CERTIFICATE_H

#include "support/random_space.h"

#include "sextant/certificate.h"
#include "sextant/run.h"

/* Searches a space and makes the certificate of what it found; NULL where nothing was proven. Fails the test
 * on an error. `evaluations` 0: no limit. */
SX_OWN sx_certificate *sx_small_certificate(const sx_small_space *small, const sx_objective *objective,
                                            const char *mapper, uint64_t evaluations);

/* A copy of a certificate, written and read again; NULL where it cannot be read. Bytes that are written twice
 * must be the same. */
SX_OWN sx_certificate *sx_certificate_again(const sx_certificate *certificate);

/* Whether a certificate holds. Fails the test on an error. */
bool sx_certificate_holds(const sx_certificate *certificate, unsigned threads, sx_verification *out);

/* The least value of all legal constructions, of those with these spatial factors where they are not NULL (as
 * in an entry of a proof); INFINITY where there are none. */
double sx_small_least(const sx_small_space *small, const sx_objective *objective, const uint32_t *spatial);

#endif
