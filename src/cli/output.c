/* What commands write: to standard output, to files and to standard error. */
#include "base/file.h"
#include "cli/command.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "report/json_parts.h"
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

void sx_output_exits(sx_output *result, sx_exit exit) {
    result->exit = sx_exit_join(result->exit, exit);
}

sx_status sx_output_write(sx_output *result, const char *path, const char *text) {
    sx_status status = sx_file_write(path, text, strlen(text));
    sx_text *out = result->json ? &result->unwritten : &result->out;
    if (status) sx_text_add(out, "%s%s", out->size ? "\n" : "", text);
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
    if (!result->verbose && result->warnings) sx_warnings_join_keys(result->warnings);
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

/* Adds to JSON what that of every command ends with. A command that has one of the keys says itself what it is. */
static sx_status end_json(sx_output *result, const struct sx_error *error) {
    const bool answered = result->out.size > 0, interrupted = sx_cancel_is_set(sx_interrupt_flag());
    if (!result->json || (result->plain && (answered || !error))) return SX_OK;
    json_t *keys = json_object();
    if (error) sx_json_set(keys, "error", sx_json_error(error));
    if (result->unwritten.size) sx_json_set(keys, "unwritten", sx_json_string(result->unwritten.data));
    bool refused = error && !(answered && error->code == SX_ERR_WRITE);
    sx_json_set(keys, "complete", json_boolean(!refused && !interrupted && !result->incomplete));
    sx_json_set(keys, "interrupted", json_boolean(interrupted));
    sx_json_set(keys, "warnings", sx_json_warnings(result->warnings));
    if (error || answered) return sx_json_extend(keys, &result->out);
    json_decref(keys);
    return SX_OK;
}

/* The same where memory may be out: standard output then says so. */
static sx_status end_answer(sx_output *result, const struct sx_error *error) {
    static const char none[] = "{\n  \"error\": {\n    \"message\": \"out of memory\",\n    \"code\": "
                               "\"memory\"\n  },\n  \"complete\": false,\n  \"interrupted\": false,\n  "
                               "\"warnings\": []\n}\n";
    const bool failed = result->out.failed || result->err.failed || result->unwritten.failed;
    sx_status status = failed ? sx_error_memory() : sx_warnings_status(result->warnings);
    if (!status) status = end_json(result, error);
    if (status && result->json) (void)sx_print(STDOUT_FILENO, none);
    return status;
}

sx_status sx_output_deliver(sx_output *result, const struct sx_error *error) {
    const sx_text *out = &result->out;
    const char *file = out->size ? result->file : NULL;
    SX_TRY(end_answer(result, error));
    if (out->size == 0) return SX_OK;
    if (!file) return write_out(out);
    sx_status status = sx_file_write(file, out->data, out->size);
    if (status && !end_answer(result, status)) sx_status_free(write_out(out));
    return status;
}
