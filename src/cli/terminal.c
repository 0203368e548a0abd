#include "cli/terminal.h"

#include "report/table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { DEFAULT_COLUMNS = 80, MIN_COLUMNS = 20, MAX_COLUMNS = 1000 };

int sx_terminal_width(int descriptor) {
    struct winsize size = {0};
    if (!isatty(descriptor)) return 0;
    int columns = ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
    const char *text = getenv("COLUMNS");
    if (!columns && text) columns = atoi(text);
    if (columns <= 0) return DEFAULT_COLUMNS;
    return columns < MIN_COLUMNS ? MIN_COLUMNS : columns > MAX_COLUMNS ? MAX_COLUMNS : columns;
}

/* Adds one line without its end, broken where it is too long. */
static void fit_line(const char *line, size_t size, sx_text *out) {
    size_t indent = strspn(line, " ");
    int further = (int)indent + 2 < out->width / 2 ? (int)indent + 2 : out->width / 2;
    for (int room = out->width;; room = out->width - further) {
        size_t taken = sx_columns_take(line, size, room);
        sx_text_add_bytes(out, line, taken);
        line += taken;
        size -= taken;
        for (; size && *line == ' '; size--) line++;
        if (!size) return;
        sx_text_add(out, "\n%*s", further, "");
    }
}

void sx_terminal_fit(const char *text, sx_text *out) {
    if (!out->width) {
        sx_text_add(out, "%s", text);
        return;
    }
    while (*text) {
        size_t size = strcspn(text, "\n");
        fit_line(text, size, out);
        text += size;
        if (*text) sx_text_add(out, "\n");
        text += *text == '\n';
    }
}
