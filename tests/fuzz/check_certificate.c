/* Certificates: one that can be read, whatever its hash, is written and read back to the same bytes, and holds or does not,
 * within a few steps and little memory. */
#include "fuzz/fuzz.h"

#include "sextant/certificate.h"
#include "verify/certificate.h"

#include <string.h>

enum { MOST_STEPS = 20000, MOST_BYTES = 8 << 20, MOST_DIMS = 6 };

/* Writes a certificate and reads it again. */
static void check_writing(const sx_certificate *c) {
    sx_certificate *copy;
    char *text, *again;
    if (!succeeded(sx_certificate_write(c, &text))) return;
    promise(succeeded(sx_certificate_read("written", text, strlen(text), &copy)));
    promise(succeeded(sx_certificate_write(copy, &again)));
    promise(strcmp(text, again) == 0);
    free(again);
    free(text);
    sx_certificate_free(copy);
}

void check_certificate(const char *text, size_t size) {
    sx_certificate *c;
    sx_verification v;
    sx_verify_options options = {.steps = MOST_STEPS, .memory = MOST_BYTES};
    if (!succeeded(sx_certificate_parse("fuzz", text, size, false, &c))) return;
    check_writing(c);
    if (c->problem.n_dims <= MOST_DIMS && succeeded(sx_certificate_verify(c, &options, &v)))
        promise(v.verdict != SX_CLAIMS_FAIL || (v.claim[0] && v.why[0]));
    sx_certificate_free(c);
}
