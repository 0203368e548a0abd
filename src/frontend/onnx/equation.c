#include "frontend/onnx/equation.h"

#include <ctype.h>
#include <string.h>

enum { MAX_TEXT = 256 };

int64_t sx_equation_extent(const sx_equation *equation, char letter) {
    for (size_t i = 0; i < equation->n_letters; i++)
        if (equation->letter[i] == letter) return equation->extent[i];
    return -1;
}

/* Copies the text of the equation without its blanks. */
static SX_MUST_USE sx_status copy_text(const sx_onnx_op *op, char text[MAX_TEXT]) {
    const sx_bytes equation = sx_onnx_string(op->at, "equation");
    size_t n = 0;
    for (size_t i = 0; i < equation.size; i++) {
        const char c = (char)equation.data[i];
        if (c == ' ') continue;
        if (n + 1 == MAX_TEXT || !(isalpha((unsigned char)c) || strchr(".,->", c)) || !c)
            return sx_onnx_error(op, "its equation cannot be read");
        text[n++] = c;
    }
    text[n] = 0;
    return SX_OK;
}

/* Reads the letters of a tensor up to a comma or the end; `rest` ranks are those of the ellipsis. */
static bool read_letters(const char *at, size_t size, int rest, sx_letters *out) {
    out->n = 0;
    for (size_t i = 0; i < size; i++) {
        const bool dots = strncmp(at + i, "...", 3) == 0 && i + 3 <= size;
        const int n = dots ? rest : 1;
        if (n < 0 || out->n + n > SX_MAX_RANKS || n > 10 || (!dots && !isalpha((unsigned char)at[i])))
            return false;
        for (int k = 0; k < n; k++) out->letter[out->n++] = dots ? (char)('0' + n - 1 - k) : at[i];
        i += dots ? 2 : 0;
    }
    return true;
}

/* How many letters a tensor has without its ellipsis. */
static int plain_letters(const char *at, size_t size) {
    int n = 0;
    for (size_t i = 0; i < size; i++) n += at[i] != '.';
    return n;
}

/* Notes the extents of an operand's letters; false where two do not fit. */
static bool note_extents(sx_equation *e, const sx_letters *letters, const sx_onnx_shape *shape) {
    for (int i = 0; i < letters->n; i++) {
        size_t k = 0;
        while (k < e->n_letters && e->letter[k] != letters->letter[i]) k++;
        if (k == 2 * SX_MAX_RANKS) return false;
        if (k == e->n_letters) {
            e->letter[e->n_letters++] = letters->letter[i];
            e->extent[k] = shape->dim[i];
        } else if (e->extent[k] <= 1) {
            e->extent[k] = e->extent[k] == 1 || shape->dim[i] > 1 ? shape->dim[i] : e->extent[k];
        } else if (shape->dim[i] > 1 && shape->dim[i] != e->extent[k]) {
            return false;
        }
    }
    return true;
}

/* Without an arrow the output has the letters that occur once, in the order of the alphabet. */
static void implied_output(const sx_equation *e, int rest, sx_letters *out) {
    out->n = 0;
    for (int k = 0; k < rest; k++) out->letter[out->n++] = (char)('0' + rest - 1 - k);
    for (char c = 'A'; c <= 'z' && out->n < SX_MAX_RANKS; c++) {
        int times = 0;
        for (size_t i = 0; i < e->n_operands; i++)
            for (int k = 0; k < e->operand[i].n; k++) times += e->operand[i].letter[k] == c;
        if (times == 1) out->letter[out->n++] = c;
    }
}

sx_status sx_onnx_equation(const sx_onnx_trace *trace, const sx_onnx_op *op, sx_equation *out) {
    char text[MAX_TEXT];
    int rest = 0;
    SX_TRY(copy_text(op, text));
    const char *at = text, *arrow = strstr(text, "->"), *end = arrow ? arrow : text + strlen(text);
    memset(out, 0, sizeof *out);
    if (op->n_inputs > SX_EQUATION_OPERANDS)
        return sx_onnx_error(op, "it has more than %d operands", SX_EQUATION_OPERANDS);
    for (size_t i = 0; i < op->n_inputs; i++) {
        const sx_onnx_shape *shape = sx_onnx_input_shape(trace, op, i);
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const size_t size = (size_t)((comma ? comma : end) - at);
        const bool dots = size && memchr(at, '.', size), last = i + 1 == op->n_inputs;
        const int own = shape->n - plain_letters(at, size);
        if (!read_letters(at, size, own, &out->operand[i]) || out->operand[i].n != shape->n || last != !comma)
            return sx_onnx_error(op, "its equation does not fit the ranks of its inputs");
        if (!note_extents(out, &out->operand[i], shape))
            return sx_onnx_error(op, "its equation does not fit the extents of its inputs");
        if (dots && own > rest) rest = own;
        at += size + (comma != NULL);
    }
    out->n_operands = op->n_inputs;
    if (!arrow)
        implied_output(out, rest, &out->output);
    else if (!read_letters(arrow + 2, strlen(arrow + 2), rest, &out->output))
        return sx_onnx_error(op, "its equation cannot be read");
    return SX_OK;
}
