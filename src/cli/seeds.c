#include "cli/seeds.h"

#include "base/status.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

enum { MAX_SEEDS = 10000 };

static sx_status bad_seeds(const char *text) {
    return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--seeds: '%s' is not a valid value", text),
                         "give the number of seeds, 1 to %d (seeds 0, 1, ...), or a list such as 3,14,15",
                         MAX_SEEDS);
}

/* Reads a number at *text and goes past it; false where there is none. */
static bool read_seed(const char **text, uint64_t *out) {
    char *end;
    if (**text < '0' || **text > '9') return false;
    errno = 0;
    *out = strtoull(*text, &end, 10);
    *text = end;
    return errno == 0;
}

sx_status sx_seeds_read(const char *text, uint64_t **out, size_t *n_seeds) {
    const char *at = text;
    uint64_t first;
    size_t n = 1;
    for (const char *p = text; *p; p++) n += *p == ',';
    if (!read_seed(&at, &first) || n > MAX_SEEDS) return bad_seeds(text);
    bool count = *at == 0;
    if (count && (first < 1 || first > MAX_SEEDS)) return bad_seeds(text);
    if (count) n = (size_t)first;
    uint64_t *seed = calloc(n, sizeof *seed);
    if (!seed) return sx_error_memory();
    *out = seed;
    *n_seeds = n;
    for (size_t i = 0; i < n; i++) seed[i] = i;
    if (count) return SX_OK;
    seed[0] = first;
    for (size_t i = 1; i < n; i++)
        if (*at++ != ',' || !read_seed(&at, &seed[i])) return bad_seeds(text);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (seed[i] == seed[j])
                return sx_error_new(SX_ERR_USAGE, "--seeds lists %llu twice", (unsigned long long)seed[i]);
    return *at ? bad_seeds(text) : SX_OK;
}
