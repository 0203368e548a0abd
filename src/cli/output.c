/* What commands write: to standard output, to files and to standard error. */
#include "base/file.h"
#include "cli/command.h"
#include "cli/print.h"
#include "cli/terminal.h"
#include "report/table.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

void sx_output_say(const sx_text *text) {
    sx_text fitted = {.width = sx_terminal_width(STDERR_FILENO)};
    if (fitted.width) sx_terminal_fit(text->data, &fitted);
    (void)sx_print(STDERR_FILENO, fitted.size && !fitted.failed ? fitted.data : text->data);
    sx_text_free(&fitted);
}

void sx_output_to_file(sx_output *result, const char *path) {
    result->file = path;
    if (path) result->out.width = 0;
}

sx_status sx_output_write(sx_output *result, const char *path, const char *text) {
    sx_status status = sx_file_write(path, text, strlen(text));
    if (status) sx_text_add(&result->out, "%s%s", result->out.size ? "\n" : "", text);
    return status;
}

/* Writes to standard output and closes it, which may be when the system finds that it cannot be written. A closed pipe,
 * as of `head`, ends the program silently. */
static sx_status write_out(const sx_text *out) {
    sx_text fitted = {.width = out->width};
    if (out->width) sx_terminal_fit(out->data, &fitted);
    sx_status status = fitted.failed ? sx_error_memory() : SX_OK;
    bool written = !status && sx_print(STDOUT_FILENO, out->width ? fitted.data : out->data) &&
                   (close(STDOUT_FILENO) == 0 || errno == EINTR);
    if (!status && !written) {
        if (errno == EPIPE) {
            signal(SIGPIPE, SIG_DFL);
            raise(SIGPIPE);
        }
        status = sx_error_system(SX_ERR_WRITE, "cannot write standard output");
    }
    sx_text_free(&fitted);
    return status;
}

void sx_output_show_warnings(sx_output *result) {
    const char *message, *place;
    sx_text text = {0};
    if (!result->verbose) sx_warnings_join_keys(result->warnings);
    for (; (message = sx_warnings_at(result->warnings, result->n_shown, &place)); result->n_shown++) {
        sx_text_add(&text, "warning: ");
        if (place) sx_add_shown(&text, place);
        if (place) sx_text_add(&text, ": ");
        sx_add_shown(&text, message);
        sx_text_add(&text, "\n");
    }
    if (text.size && !text.failed) sx_output_say(&text);
    result->err.failed |= text.failed;
    sx_text_free(&text);
}

sx_status sx_output_deliver(const sx_output *result) {
    const sx_text *out = &result->out;
    if (out->failed || result->err.failed) return sx_error_memory();
    if (out->size == 0) return SX_OK;
    if (!result->file) return write_out(out);
    sx_status status = sx_file_write(result->file, out->data, out->size);
    if (status) sx_status_free(write_out(out));
    return status;
}
