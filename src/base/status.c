#include "base/status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sx_error out_of_memory = {.code = SX_ERR_MEMORY, .message = "out of memory"};

void sx_free(void *memory) {
    free(memory);
}

sx_status sx_error_memory(void) {
    return &out_of_memory;
}

void sx_status_free(sx_status status) {
    if (!status || status == &out_of_memory) return;
    free(status->file);
    free(status->message);
    free(status->hint);
    free(status);
}

/* A formatted string of its own, NULL when memory is out. */
static SX_PRINTF(1, 0) char *format_new(const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, format, args);
    char *text = size < 0 ? NULL : malloc((size_t)size + 1);
    if (text) vsnprintf(text, (size_t)size + 1, format, again);
    va_end(again);
    return text;
}

static SX_PRINTF(3, 0) sx_status error_make(sx_code code, sx_place place, const char *format, va_list args) {
    sx_status error = calloc(1, sizeof *error);
    if (!error) return &out_of_memory;
    error->code = code;
    error->message = format_new(format, args);
    if (!error->message) {
        free(error);
        return &out_of_memory;
    }
    return sx_error_place(error, place);
}

sx_status sx_error_new(sx_code code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    sx_status error = error_make(code, (sx_place){0}, format, args);
    va_end(args);
    return error;
}

sx_status sx_error_at(sx_place place, const char *format, ...) {
    va_list args;
    va_start(args, format);
    sx_status error = error_make(SX_ERR_INPUT, place, format, args);
    va_end(args);
    return error;
}

sx_status sx_error_system(sx_code code, const char *format, ...) {
    int reason = errno;
    if (reason == ENOMEM) return &out_of_memory;
    va_list args;
    va_start(args, format);
    char *message = format_new(format, args);
    va_end(args);
    sx_status error = message ? sx_error_new(code, "%s: %s", message, strerror(reason)) : &out_of_memory;
    free(message);
    return error;
}

/* Gives up an error that lacks a part since memory is out. */
static sx_status out_of_memory_instead(sx_status error) {
    sx_status_free(error);
    return &out_of_memory;
}

sx_status sx_error_hint(sx_status error, const char *format, ...) {
    if (error == &out_of_memory) return error;
    va_list args;
    va_start(args, format);
    char *hint = format_new(format, args);
    va_end(args);
    if (!hint) return out_of_memory_instead(error);
    free(error->hint);
    error->hint = hint;
    return error;
}

sx_status sx_error_place(sx_status error, sx_place place) {
    if (!error || error == &out_of_memory || error->file || !place.file) return error;
    error->file = strdup(place.file);
    if (!error->file) return out_of_memory_instead(error);
    error->line = place.line;
    error->column = place.column;
    return error;
}

char *sx_status_text(const struct sx_error *status) {
    if (!status) return strdup("ok");
    char place[64] = "";
    if (status->file && status->line) snprintf(place, sizeof place, ":%d:%d", status->line, status->column);
    const char *file = status->file ? status->file : "";
    const char *hint = status->hint ? status->hint : "";
    size_t size = strlen(file) + strlen(place) + strlen(status->message) + strlen(hint) + 16;
    char *text = malloc(size);
    if (!text) return NULL;
    snprintf(text, size, "%s%s%s%s%s%s", file, place, *file ? ": " : "", status->message, *hint ? "\n  " : "",
             hint);
    return text;
}

sx_code sx_status_code(const struct sx_error *status) {
    return status->code;
}

const char *sx_status_message(const struct sx_error *status) {
    return status->message;
}

const char *sx_status_hint(const struct sx_error *status) {
    return status->hint;
}

const char *sx_status_place(const struct sx_error *status, int *line, int *column) {
    *line = status->line;
    *column = status->column;
    return status->file;
}
