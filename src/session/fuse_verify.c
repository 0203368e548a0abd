/* Checking the certificate of a fused network: the mapping is evaluated, every label's certificate is checked by the checker of
 * certificates, for the problem and the machine that the label is of, and the plans are joined again by these bounds. */
#include "session/fuse_independent.h"
#include "session/fuse_label.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/status.h"
#include "sextant/all.h"
#include "verify/certificate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a check works on. */
typedef struct fused_check {
    const char *name;
    json_t *root;
    const json_t *claim;
    sx_input *input;
    sx_arch arch;
    sx_graph graph;
    sx_network network;
    sx_session_options session;
    sx_fusing_options options;
    int exchange, second;
    sx_fuse_label *label;
    const sx_verify_options *verify;
    sx_fused_claim *claims;
    sx_verification *out;
    sx_fuse_alone *alone; /* NULL: not asked for */
} fused_check;

bool sx_fused_certificate_is(const char *text, size_t size) {
    json_t *root = sx_json_load(text, size, NULL);
    const bool is = json_is_object(json_object_get(root, "fused_certificate"));
    json_decref(root);
    return is;
}

/* Says that a claim does not hold. */
static SX_PRINTF(3, 4) void refute(fused_check *c, const char *claim, const char *format, ...) {
    va_list args;
    c->out->verdict = SX_CLAIMS_FAIL;
    snprintf(c->out->claim, sizeof c->out->claim, "%s", claim);
    va_start(args, format);
    vsnprintf(c->out->why, sizeof c->out->why, format, args);
    va_end(args);
}

static bool claim_holds(const fused_check *c) {
    return c->out->verdict == SX_CLAIMS_HOLD;
}

/* The error of a certificate that lacks something. */
static sx_status damaged_certificate(const fused_check *c, const char *what) {
    return sx_error_new(SX_ERR_INPUT, "%s: the certificate has no valid '%s'", c->name, what);
}

static sx_status read_text(const fused_check *c, const char *key, const char **out) {
    *out = json_string_value(json_object_get(c->claim, key));
    return *out ? SX_OK : damaged_certificate(c, key);
}

static sx_status read_number(const fused_check *c, const char *key, double *out) {
    const json_t *number = json_object_get(c->claim, key);
    if (!json_is_number(number)) return damaged_certificate(c, key);
    *out = json_number_value(number);
    return SX_OK;
}

/* Reads machine, graph and fused mapping, the sections of the file. */
static sx_status read_nouns(fused_check *c) {
    static const char *const sections[] = {"arch",       "architecture", "variables",
                                           "components", "graph",        "fused"};
    json_t *kept = json_object();
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        json_t *value = json_object_get(c->root, sections[i]);
        if (value) sx_json_set(kept, sections[i], json_incref(value));
    }
    char *text = sx_json_dump(kept, JSON_COMPACT);
    json_decref(kept);
    sx_status status = text ? sx_input_new(&c->input) : sx_error_memory();
    if (!status) status = sx_input_add_text(c->input, c->name, text, strlen(text));
    free(text);
    SX_TRY(status);
    SX_TRY(sx_input_arch(c->input, &c->arch));
    SX_TRY(sx_input_graph(c->input, &c->graph));
    return sx_graph_network(&c->graph, &c->network);
}

/* Reads the claims. */
static sx_status read_claims(fused_check *c) {
    const char *objective;
    sx_fused_claim *claims = c->claims;
    if (json_integer_value(json_object_get(c->claim, "format")) != SX_FUSED_CERTIFICATE_FORMAT)
        return damaged_certificate(c, "format");
    SX_TRY(read_text(c, "objective", &objective));
    SX_TRY(read_text(c, "tensors", &c->options.tensors));
    SX_TRY(read_text(c, "window", &c->options.window));
    SX_TRY(read_number(c, "energy_pj", &claims->score.energy_pj));
    SX_TRY(read_number(c, "cycles", &claims->score.cycles));
    SX_TRY(read_number(c, "value", &claims->value));
    SX_TRY(read_number(c, "lower_bound", &claims->lower_bound));
    c->options.exchange = json_string_value(json_object_get(c->claim, "exchange"));
    c->options.one_pass = json_is_true(json_object_get(c->claim, "one_pass"));
    c->options.row_loops = (int)json_integer_value(json_object_get(c->claim, "row_loops"));
    const json_int_t orders = json_integer_value(json_object_get(c->claim, "orders"));
    if (orders < 0 || orders > SX_MAX_ORDERS) return damaged_certificate(c, "orders");
    c->options.orders = claims->orders = (size_t)orders;
    claims->optimal = json_is_true(json_object_get(c->claim, "optimal"));
    claims->n_labels = json_array_size(json_object_get(c->claim, "labels"));
    snprintf(claims->network, sizeof claims->network, "%s", c->graph.name);
    snprintf(claims->arch, sizeof claims->arch, "%s", c->arch.name);
    snprintf(claims->objective, sizeof claims->objective, "%s", objective);
    snprintf(claims->tensors, sizeof claims->tensors, "%s", c->options.tensors);
    snprintf(claims->window, sizeof claims->window, "%s", c->options.window);
    sx_session_options_init(&c->session);
    return sx_objective_parse(objective, &c->session.run.objective);
}

/* Evaluates the mapping and holds it against the claimed figures. */
static sx_status check_mapping(fused_check *c) {
    sx_fused *fused;
    SX_TRY(sx_cut_levels(&c->arch, c->options.exchange, &c->exchange, &c->second));
    SX_TRY(sx_session_fused_read(&c->graph, &c->network, &c->arch, &c->session, c->input, 0, &fused));
    const sx_fused_claim *claims = c->claims;
    snprintf(c->claims->level, sizeof c->claims->level, "%.28s%s%.28s", fused->level,
             fused->second[0] ? " and " : "", fused->second);
    if (fused->illegal[0])
        refute(c, "mapping", "it is illegal: %.400s", fused->illegal);
    else if (fused->total.energy_pj != claims->score.energy_pj || fused->total.cycles != claims->score.cycles)
        refute(c, "mapping", "it costs %.17g pJ and %.17g cycles", fused->total.energy_pj,
               fused->total.cycles);
    else if (fused->value != claims->value)
        refute(c, "value", "it is %.17g", fused->value);
    sx_status status = SX_OK;
    if (c->alone && claim_holds(c))
        status = sx_fuse_alone_cost(c->alone, &c->graph, &c->network, &c->arch, &c->session, fused);
    sx_fused_free(fused);
    return status;
}

/* Reads what a label is of. */
static sx_status read_label(const fused_check *c, const json_t *object, sx_fuse_label *out) {
    const char *name = json_string_value(json_object_get(object, "layer"));
    const sx_layer *layer = name ? sx_network_layer(&c->network, name) : NULL;
    const json_t *sizes = json_object_get(object, "sizes");
    if (!layer) return damaged_certificate(c, "layer");
    out->problem = layer->problem;
    memset(out->problem.name, 0, sizeof out->problem.name);
    if (json_array_size(sizes) != out->problem.n_dims) return damaged_certificate(c, "sizes");
    for (int d = 0; d < out->problem.n_dims; d++) {
        const json_int_t size = json_integer_value(json_array_get(sizes, (size_t)d));
        if (size < 1 || size > SX_MAX_DIM_SIZE) return damaged_certificate(c, "sizes");
        out->problem.size[d] = (uint32_t)size;
    }
    const json_int_t resident = json_integer_value(json_object_get(object, "resident")),
                     found = json_integer_value(json_object_get(object, "found")),
                     occupied = json_integer_value(json_object_get(object, "occupied")),
                     second = json_integer_value(json_object_get(object, "second")),
                     there = json_integer_value(json_object_get(object, "occupied_second"));
    if (resident < 0 || resident > UINT8_MAX || found < 0 || (found & ~(resident | second)) || occupied < 0)
        return damaged_certificate(c, "resident");
    if (second < 0 || second > UINT8_MAX || there < 0 || (second & resident) ||
        (c->second < 0 && (second || there)))
        return damaged_certificate(c, "second");
    out->cut = (sx_cut){.resident = (uint8_t)resident,
                        .found = (uint8_t)found,
                        .second = (uint8_t)second,
                        .second_level = (uint8_t)(c->second >= 0 ? c->second : 0),
                        .free_port = json_is_true(json_object_get(object, "free_port")),
                        .occupied = (uint64_t)occupied,
                        .occupied_second = (uint64_t)there};
    return SX_OK;
}

/* Checks the certificate of a label, for what the label is of, whatever the certificate says that it is of. */
static sx_status check_label(fused_check *c, const json_t *object, size_t index) {
    sx_fuse_label *label = &c->label[index];
    sx_certificate *certificate;
    sx_verification verification = {0};
    SX_TRY(read_label(c, object, label));
    char *text = sx_json_dump(json_object_get(object, "certificate"), JSON_COMPACT);
    if (!text) return sx_error_memory();
    sx_status status = sx_certificate_parse(c->name, text, strlen(text), false, &certificate);
    free(text);
    SX_TRY(status);
    sx_constraints *limits = malloc(sizeof *limits);
    if (!limits) status = sx_error_memory();
    if (!status) {
        sx_constraints_init(limits, &label->problem, &c->arch);
        sx_cut_constraints(&c->arch, limits, c->exchange, &label->cut, &certificate->constraints);
        certificate->problem = label->problem;
        sx_cut_arch(&c->arch, c->exchange, &label->cut, &certificate->arch);
        certificate->space = c->session.space;
        certificate->model = c->session.model;
        certificate->objective = c->session.run.objective;
        status = sx_certificate_verify(certificate, c->verify, &verification);
    }
    if (!status && c->alone && verification.verdict == SX_CLAIMS_HOLD)
        status = sx_fuse_alone_label(c->alone, c->name, certificate, &label->alone);
    label->bound = certificate->optimal ? certificate->value : certificate->lower_bound;
    if (!status && verification.verdict == SX_CLAIMS_FAIL)
        refute(c, "label", "label %zu, of %.60s: %.60s: %.300s", index + 1,
               json_string_value(json_object_get(object, "layer")), verification.claim, verification.why);
    if (!status && verification.verdict == SX_CLAIMS_OPEN) c->out->verdict = SX_CLAIMS_OPEN;
    c->out->done.entries += verification.done.entries;
    c->out->done.n_entries += verification.done.n_entries;
    c->out->done.evaluations += verification.done.evaluations;
    free(limits);
    sx_certificate_free(certificate);
    return status;
}

/* Joins plans by the labels' bounds. */
static sx_status check_bound(fused_check *c) {
    double weight;
    sx_fused_claim *claims = c->claims;
    const sx_criterion *first = &c->session.run.objective.criterion[0];
    SX_TRY(sx_fuse_label_bound(&c->graph, &c->network, &c->arch, &c->session, &c->options, c->label,
                               claims->n_labels, false, &weight, &claims->n_groups));
    const double bound = pow(weight, first->energy_power + first->delay_power);
    if (!json_is_integer(json_object_get(c->claim, "groups")) ||
        json_integer_value(json_object_get(c->claim, "groups")) != (json_int_t)claims->n_groups)
        refute(c, "groups", "%zu are listed", claims->n_groups);
    else if (claims->lower_bound > bound * (1 + 1e-12))
        refute(c, "lower bound", "the labels prove %.17g", bound);
    else if (claims->lower_bound > claims->value)
        refute(c, "lower bound", "it is above the value");
    else if (claims->optimal && claims->value > claims->lower_bound * (1 + 1e-9))
        refute(c, "optimal", "the lower bound is below the value");
    return SX_OK;
}

/* Joins plans by the labels that hold independently. */
static sx_status check_alone_bound(fused_check *c) {
    double weight;
    size_t n_groups;
    const sx_criterion *first = &c->session.run.objective.criterion[0];
    SX_TRY(sx_fuse_label_bound(&c->graph, &c->network, &c->arch, &c->session, &c->options, c->label,
                               c->claims->n_labels, true, &weight, &n_groups));
    const double bound = pow(weight, first->energy_power + first->delay_power);
    if (c->claims->lower_bound > bound * (1 + 1e-9))
        sx_fuse_alone_doubt(c->alone, "%zu of %zu labels are undecided, and the others prove %.17g",
                            c->alone->undecided, c->claims->n_labels, bound);
    return SX_OK;
}

/* Checks all claims, one after the other. */
static sx_status check_claims(fused_check *c) {
    SX_TRY(read_nouns(c));
    SX_TRY(read_claims(c));
    SX_TRY(check_mapping(c));
    const json_t *labels = json_object_get(c->claim, "labels");
    c->label = calloc(c->claims->n_labels + 1, sizeof *c->label);
    if (!c->label) return sx_error_memory();
    for (size_t i = 0; i < c->claims->n_labels && claim_holds(c); i++)
        SX_TRY(check_label(c, json_array_get(labels, i), i));
    if (claim_holds(c)) SX_TRY(check_bound(c));
    return claim_holds(c) && c->alone ? check_alone_bound(c) : SX_OK;
}

sx_status sx_fused_certificate_verify(const char *name, const char *text, size_t size,
                                      const sx_verify_options *options, const sx_independent_options *alone,
                                      sx_fused_claim *claim, sx_verification *out,
                                      sx_independent_report *report) {
    const double begin = sx_clock_seconds();
    sx_fuse_alone independent;
    fused_check *c = calloc(1, sizeof *c);
    if (!c) return sx_error_memory();
    memset(claim, 0, sizeof *claim);
    memset(out, 0, sizeof *out);
    c->name = name;
    c->verify = options;
    c->claims = claim;
    c->out = out;
    if (alone) {
        sx_fuse_alone_init(&independent, alone, report);
        c->alone = &independent;
    }
    c->root = sx_json_load(text, size, NULL);
    c->claim = json_object_get(c->root, "fused_certificate");
    sx_status status = c->claim ? check_claims(c) : damaged_certificate(c, "fused_certificate");
    out->done.seconds = sx_clock_seconds() - begin;
    if (alone) report->seconds = out->done.seconds;
    free(c->label);
    sx_network_fini(&c->network);
    sx_graph_fini(&c->graph);
    sx_input_free(c->input);
    json_decref(c->root);
    free(c);
    return status;
}
