#include "cli/print.h"

#include "base/text.h"

#include <string.h>

/* How many bytes at the beginning of a text are plain ASCII or to be kept. */
static size_t plain(const char *text, const char *keep) {
    size_t n = 0;
    while ((text[n] >= 0x20 && text[n] < 0x7f) || (text[n] && strchr(keep, text[n]))) n++;
    return n;
}

void sx_print(FILE *file, const char *text, const char *keep) {
    char shown[SX_SHOWN_ROOM];
    while (*text) {
        size_t n = plain(text, keep);
        fwrite(text, 1, n, file);
        text += n;
        n = sx_text_shown(text, shown);
        if (n) fputs(shown, file);
        text += n;
    }
}
