/* Files of JSON objects, one to a line. */
#ifndef SX_TESTS_VECTORS_H
#define SX_TESTS_VECTORS_H

#include "sextant/status.h"

#include <jansson.h>

/* All objects of a file under the test data, as a JSON array; fails the test where it cannot be read. */
SX_OWN json_t *sx_vectors_load(const char *path);

/* A number somewhere inside an object or array. Steps are names in objects and numbers in arrays, with dots
 * between; fails the test where there is none. */
double sx_vectors_number(const json_t *json, const char *path);

#endif
