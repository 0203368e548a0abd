#include "learn/weights.h"

#include "base/file.h"
#include "base/hash.h"
#include "learn/layers/layer.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The file: HEAD bytes (magic, u64 version, u64 checksum of all that follows), then the body:
 *   u32 inputs, layers, bytes of text, optimizer (0: none, else 1 + its kind); u64 steps of the optimizer
 *   f32 momentum, beta1, beta2, epsilon
 *   per layer u32 kind, outputs
 *   the text; parameters as f32; the optimizer's state as f32 */
static const char MAGIC[8] = {'S', 'X', 'W', 'E', 'I', 'G', 'H', 'T'};
enum { HEAD = 24, FIXED = 40, PER_LAYER = 8 };
static const size_t MAX_FILE = (size_t)1 << 32;

_Static_assert(sizeof(float) == 4, "weight files hold floats of four bytes");
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "weight files are written as the machine has them: it must be little-endian"
#endif

/* Copies to or from a growing place. */
static void append_bytes(char **to, const void *from, size_t size) {
    memcpy(*to, from, size);
    *to += size;
}
static void put_u32(char **to, size_t value) {
    uint32_t x = (uint32_t)value;
    append_bytes(to, &x, sizeof x);
}
static void get_bytes(const char **from, void *to, size_t size) {
    memcpy(to, *from, size);
    *from += size;
}
static uint32_t get_u32(const char **from) {
    uint32_t x;
    get_bytes(from, &x, sizeof x);
    return x;
}

static void put_body(char *at, const sx_weights *w, size_t text) {
    static const sx_optimizer none;
    const sx_optimizer *optimizer = w->optimizer ? w->optimizer : &none;
    const sx_optimizer_options *o = &optimizer->options;
    put_u32(&at, w->net->inputs);
    put_u32(&at, w->net->n_layers);
    put_u32(&at, text);
    put_u32(&at, w->optimizer ? 1 + (size_t)o->kind : 0);
    append_bytes(&at, &optimizer->steps, sizeof optimizer->steps);
    append_bytes(&at, (float[]){o->momentum, o->beta1, o->beta2, o->epsilon}, 4 * sizeof(float));
    for (size_t i = 0; i < w->net->n_layers; i++) {
        put_u32(&at, w->net->layer[i].kind);
        put_u32(&at, w->net->layer[i].outputs);
    }
    append_bytes(&at, w->text ? w->text : "", text);
    append_bytes(&at, w->net->parameter, w->net->n_parameters * sizeof(float));
    if (w->optimizer) append_bytes(&at, optimizer->state, optimizer->n_state * sizeof(float));
}

sx_status sx_weights_write(const char *path, const sx_weights *w) {
    size_t text = w->text ? strlen(w->text) : 0;
    if (text > SX_WEIGHTS_MAX_TEXT)
        return sx_error_new(SX_ERR_LIMIT, "the text of a weight file is too long");
    size_t floats = w->net->n_parameters + (w->optimizer ? w->optimizer->n_state : 0);
    size_t body = FIXED + PER_LAYER * w->net->n_layers + text + floats * sizeof(float);
    char *bytes = malloc(HEAD + body), *at = bytes;
    if (!bytes) return sx_error_memory();
    put_body(bytes + HEAD, w, text);
    uint64_t checksum = sx_hash_bytes(bytes + HEAD, body, SX_WEIGHTS_VERSION);
    append_bytes(&at, MAGIC, sizeof MAGIC);
    append_bytes(&at, &(uint64_t){SX_WEIGHTS_VERSION}, sizeof(uint64_t));
    append_bytes(&at, &checksum, sizeof checksum);
    sx_status status = sx_file_write(path, bytes, HEAD + body);
    free(bytes);
    return status;
}

static sx_status refuse_file(const char *name, const char *why) {
    return sx_error_at((sx_place){.file = name}, "%s", why);
}

/* Checks magic and version. */
static sx_status check_head(const char *name, const char *bytes, size_t size) {
    size_t known = size < sizeof MAGIC ? size : sizeof MAGIC;
    if (size == 0 || memcmp(bytes, MAGIC, known) != 0) return refuse_file(name, "this is not a weight file");
    if (size < HEAD + FIXED) return refuse_file(name, "the weight file is truncated");
    const char *at = bytes + sizeof MAGIC;
    uint64_t version;
    get_bytes(&at, &version, sizeof version);
    if (version != SX_WEIGHTS_VERSION)
        return sx_error_hint(
            sx_error_at((sx_place){.file = name}, "the weight file has version %" PRIu64, version),
            "this program reads version %d: train again", SX_WEIGHTS_VERSION);
    return SX_OK;
}

static sx_status check_finite(const char *name, const float *x, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i])) return refuse_file(name, "the weight file holds a number that is not finite");
    return SX_OK;
}

/* Where a reader is in a body, and what its first lines say. */
typedef struct reader {
    const char *name, *body, *at, *end;
    uint32_t inputs, n_layers, text, kind;
    uint64_t steps;
    float option[4];
} reader;

/* Takes a number of bytes; an error where they are not there. */
static sx_status need_bytes(const reader *r, size_t n) {
    return (size_t)(r->end - r->at) < n ? refuse_file(r->name, "the weight file is truncated") : SX_OK;
}

static sx_status check_sum(const reader *r) {
    uint64_t checksum;
    memcpy(&checksum, r->body - sizeof checksum, sizeof checksum);
    if (checksum == sx_hash_bytes(r->body, (size_t)(r->end - r->body), SX_WEIGHTS_VERSION)) return SX_OK;
    return sx_error_hint(
        sx_error_at((sx_place){.file = r->name}, "the weight file is damaged: its checksum is wrong"),
        "copy it again, or train again");
}

static sx_status read_fixed(reader *r) {
    SX_TRY(need_bytes(r, FIXED));
    r->inputs = get_u32(&r->at);
    r->n_layers = get_u32(&r->at);
    r->text = get_u32(&r->at);
    r->kind = get_u32(&r->at);
    get_bytes(&r->at, &r->steps, sizeof r->steps);
    get_bytes(&r->at, r->option, sizeof r->option);
    if (r->n_layers < 1 || r->n_layers > SX_NN_MAX_LAYERS || r->text > SX_WEIGHTS_MAX_TEXT ||
        r->kind > 1 + SX_ADAM)
        return refuse_file(r->name, "the weight file has sizes out of their range");
    return need_bytes(r, (size_t)PER_LAYER * r->n_layers + r->text);
}

/* Reads the layers and compares the number of parameters with the bytes that are left, before memory is taken. */
static sx_status read_layers(reader *r, sx_nn_plan *plan) {
    uint32_t inputs = r->inputs;
    uint64_t n = 0;
    for (uint32_t i = 0; i < r->n_layers; i++) {
        uint32_t kind = get_u32(&r->at), outputs = get_u32(&r->at);
        if (kind >= SX_NN_KINDS || outputs > SX_NN_MAX_WIDTH || inputs > SX_NN_MAX_WIDTH)
            return refuse_file(r->name, "the weight file has layers that no network has");
        plan[i] = (sx_nn_plan){(sx_nn_kind)kind, outputs};
        if (!sx_nn_widens(plan[i].kind)) outputs = inputs;
        const sx_nn_type *type = sx_nn_type_of(plan[i].kind);
        n += type->n_parameters ? type->n_parameters(inputs, outputs) : 0;
        inputs = outputs;
    }
    uint64_t floats = n * (r->kind == 0 ? 1 : r->kind == 1 + SX_ADAM ? 3 : 2);
    uint64_t left = (uint64_t)(r->end - r->at) - r->text;
    if (floats * sizeof(float) > left) return refuse_file(r->name, "the weight file is truncated");
    if (floats * sizeof(float) < left) return refuse_file(r->name, "the weight file has bytes after its end");
    return SX_OK;
}

static sx_status read_text(reader *r, sx_weights *w) {
    w->text = malloc((size_t)r->text + 1);
    if (!w->text) return sx_error_memory();
    get_bytes(&r->at, w->text, r->text);
    w->text[r->text] = 0;
    return strlen(w->text) == r->text ? SX_OK
                                      : refuse_file(r->name, "the text of the weight file has a zero byte");
}

static sx_status read_optimizer(reader *r, sx_weights *w) {
    sx_optimizer_options options = {(sx_optimizer_kind)(r->kind - 1), r->option[0], r->option[1],
                                    r->option[2], r->option[3]};
    SX_TRY(check_finite(r->name, r->option, 4));
    SX_TRY(sx_optimizer_new(&options, w->net->n_parameters, &w->optimizer));
    w->optimizer->steps = r->steps;
    get_bytes(&r->at, w->optimizer->state, w->optimizer->n_state * sizeof(float));
    return check_finite(r->name, w->optimizer->state, w->optimizer->n_state);
}

static sx_status read_body(reader *r, sx_weights *w) {
    sx_nn_plan plan[SX_NN_MAX_LAYERS];
    SX_TRY(read_fixed(r));
    SX_TRY(read_layers(r, plan));
    SX_TRY(check_sum(r));
    SX_TRY(read_text(r, w));
    SX_TRY(sx_error_place(sx_nn_new(r->inputs, plan, r->n_layers, &w->net), (sx_place){.file = r->name}));
    get_bytes(&r->at, w->net->parameter, w->net->n_parameters * sizeof(float));
    SX_TRY(check_finite(r->name, w->net->parameter, w->net->n_parameters));
    return r->kind ? read_optimizer(r, w) : SX_OK;
}

sx_status sx_weights_parse(const char *name, const char *bytes, size_t size, sx_weights *out) {
    SX_TRY(check_head(name, bytes, size));
    reader r = {.name = name, .body = bytes + HEAD, .at = bytes + HEAD, .end = bytes + size};
    sx_weights w = {0};
    sx_status status = read_body(&r, &w);
    if (status) {
        sx_weights_fini(&w);
        return status;
    }
    *out = w;
    return SX_OK;
}

sx_status sx_weights_read(const char *path, sx_weights *out) {
    char *bytes;
    size_t size;
    if (!sx_file_begins(path, MAGIC, sizeof MAGIC)) return refuse_file(path, "this is not a weight file");
    SX_TRY(sx_file_read_regular(path, MAX_FILE, &bytes, &size));
    sx_status status = sx_weights_parse(path, bytes, size, out);
    free(bytes);
    return status;
}

void sx_weights_fini(sx_weights *w) {
    sx_nn_free(w->net);
    sx_optimizer_free(w->optimizer);
    free(w->text);
    *w = (sx_weights){0};
}
