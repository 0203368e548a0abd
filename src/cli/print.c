#include "cli/print.h"

#include "base/file.h"
#include "base/text.h"

#include <string.h>

/* What is to be written next. */
typedef struct sink {
    int descriptor;
    size_t n;
    char bytes[8192];
} sink;

static bool flush_sink(sink *s) {
    size_t n = s->n;
    s->n = 0;
    return sx_write_all(s->descriptor, s->bytes, n);
}

/* Adds bytes; many of them are written at once. */
static bool add_bytes(sink *s, const char *bytes, size_t n) {
    if (n > sizeof s->bytes - s->n && !flush_sink(s)) return false;
    if (n > sizeof s->bytes) return sx_write_all(s->descriptor, bytes, n);
    memcpy(s->bytes + s->n, bytes, n);
    s->n += n;
    return true;
}

/* How many bytes at the beginning of a text are shown as they are. */
static size_t plain_bytes(const char *text) {
    size_t n = 0;
    while ((text[n] >= 0x20 && text[n] < 0x7f) || text[n] == '\n' || text[n] == '\t') n++;
    return n;
}

bool sx_print(int descriptor, const char *text) {
    char shown[SX_SHOWN_ROOM];
    sink s;
    s.descriptor = descriptor;
    s.n = 0;
    while (*text) {
        size_t n = plain_bytes(text);
        if (!add_bytes(&s, text, n)) return false;
        text += n;
        n = sx_text_shown(text, shown);
        if (n && !add_bytes(&s, shown, strlen(shown))) return false;
        text += n;
    }
    return flush_sink(&s);
}
