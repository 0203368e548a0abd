/* Texts of a model in messages. */
#include "base/text.h"
#include "frontend/onnx/trace.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void sx_onnx_text(sx_bytes bytes, char *out, size_t size) {
    size_t n = 0, at = 0;
    while (at < bytes.size && n + 5 < size) {
        char text[5] = {0};
        uint32_t code;
        memcpy(text, bytes.data + at, bytes.size - at < 4 ? bytes.size - at : 4);
        const size_t length = text[0] ? sx_text_character(text, &code) : 0;
        const bool shown = length && sx_text_visible(code);
        if (shown) memcpy(out + n, text, length);
        if (!shown) out[n] = '_';
        n += shown ? length : 1;
        at += length ? length : 1;
    }
    out[n] = 0;
}

sx_status sx_onnx_error(const sx_onnx_op *op, const char *format, ...) {
    char message[256], name[48];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    sx_onnx_text(op->at.node->op, name, sizeof name);
    return sx_error_new(SX_ERR_INPUT, "%s '%s': %s", name, op->name, message);
}
