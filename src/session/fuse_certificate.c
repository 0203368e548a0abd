/* The certificate of a fused network (docs/fusion.md, "Certificates"): its machine, graph and mapping, the certificates of cut
 * layers, and the lower bound that follows from them. */
#include "session/fuse_label.h"

#include "base/json.h"
#include "base/status.h"
#include "run/uphold.h"
#include "sextant/all.h"
#include "text/write/write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

sx_status sx_fused_certifiable(const sx_fusing *f) {
    const sx_session_options *o = f->options;
    bool constrained;
    if (o->model.no_first_read_elision || o->model.no_link_transfers || o->model.latency_tile ||
        o->space.keep_all || o->space.no_banks || o->space.split_axes || o->space.remainders)
        return sx_error_new(SX_ERR_USAGE,
                            "the certificate of a fused network does not support options of model and space");
    SX_TRY(sx_fuse_constrained(&f->searcher, f->exchange.network, &constrained));
    if (!constrained) return SX_OK;
    return sx_error_new(SX_ERR_USAGE, "the certificate of a fused network does not support constraints");
}

/* The layer of the network of which a problem is a tile; SX_NO_INDEX: none. */
static size_t layer_of(const sx_network *network, const sx_problem *problem) {
    for (size_t i = 0; i < network->n_layers; i++) {
        sx_problem whole = network->layer[i].problem;
        memcpy(whole.size, problem->size, sizeof whole.size);
        memcpy(whole.name, problem->name, sizeof whole.name);
        if (memcmp(&whole, problem, sizeof whole) == 0) return i;
    }
    return SX_NO_INDEX;
}

/* A label as JSON; NULL where it is of no layer. */
static json_t *label_tree(const sx_fusing *f, const sx_inner_proof *proof) {
    const sx_problem *problem = sx_vector_at(&f->inner.problem, proof->key.problem);
    const size_t layer = layer_of(f->exchange.network, problem);
    if (layer == SX_NO_INDEX) return NULL;
    json_t *object = json_object(), *sizes = json_array();
    for (int d = 0; d < problem->n_dims; d++) sx_json_append(sizes, json_integer(problem->size[d]));
    sx_json_set(object, "layer", sx_json_text(f->exchange.network->layer[layer].name));
    sx_json_set(object, "sizes", sizes);
    sx_json_set(object, "resident", json_integer(proof->key.cut.resident));
    sx_json_set(object, "found", json_integer(proof->key.cut.found));
    sx_json_set(object, "occupied", sx_json_exact(proof->key.cut.occupied));
    if (proof->key.cut.free_port) sx_json_set(object, "free_port", json_true());
    if (f->exchange.second >= 0) {
        sx_json_set(object, "second", json_integer(proof->key.cut.second));
        sx_json_set(object, "occupied_second", sx_json_exact(proof->key.cut.occupied_second));
    }
    sx_json_set(object, "certificate", sx_json_read(proof->text));
    return object;
}

/* Adds the labels to a list, and their bounds to an array of as many as there are proofs. */
static size_t add_labels(const sx_fusing *f, json_t *list, sx_fuse_label *label) {
    size_t n = 0;
    for (size_t i = 0; i < f->inner.proof.n; i++) {
        const sx_inner_proof *proof = sx_vector_at(&f->inner.proof, i);
        json_t *object = label_tree(f, proof);
        if (!object) continue;
        label[n++] = (sx_fuse_label){*(const sx_problem *)sx_vector_at(&f->inner.problem, proof->key.problem),
                                     proof->key.cut, proof->bound, false};
        sx_json_append(list, object);
    }
    return n;
}

/* Adds the sections of a noun's text to the file. */
static sx_status add_noun(json_t *root, sx_status status, char *text) {
    json_t *noun = !status && text ? sx_json_read(text) : NULL;
    if (noun && json_object_update(root, noun) != 0) sx_json_fail();
    json_decref(noun);
    free(text);
    return status;
}

/* Adds machine, graph and fused mapping. */
static sx_status add_nouns(const sx_fusing *f, const sx_fused *out, json_t *root) {
    const sx_graph *graph = f->exchange.graph;
    char *text = NULL;
    sx_status status = sx_arch_write(f->searcher.arch, SX_JSON, &text);
    SX_TRY(add_noun(root, status, text));
    text = NULL;
    status = sx_graph_write(graph, SX_JSON, &text);
    SX_TRY(add_noun(root, status, text));
    text = NULL;
    status = sx_session_fused_write(out, graph->name, f->searcher.arch, SX_JSON, &text);
    return add_noun(root, status, text);
}

/* Sets the claims. */
static sx_status add_claims(const sx_fusing *f, const sx_fusing_options *options, const sx_fused *out,
                            json_t *claim) {
    char objective[256];
    double weight;
    size_t n_groups;
    json_t *labels = json_array();
    sx_fuse_label *label = calloc(f->inner.proof.n + 1, sizeof *label);
    if (!label) return sx_error_memory();
    const size_t n = add_labels(f, labels, label);
    sx_status status = sx_fuse_label_bound(f->exchange.graph, f->exchange.network, f->searcher.arch,
                                           f->options, options, label, n, false, &weight, &n_groups);
    double bound = pow(weight, 1 / f->inner.root);
    bool optimal = out->value <= bound * (1 + 1e-9);
    (void)sx_uphold_bound(f->options->run.warnings, "the certificate", out->value, &bound, &optimal);
    sx_objective_text(&f->options->run.objective, objective, sizeof objective);
    sx_json_set(claim, "format", json_integer(SX_FUSED_CERTIFICATE_FORMAT));
    sx_json_set(claim, "objective", sx_json_text(objective));
    sx_json_set(claim, "tensors", sx_json_text(options->tensors));
    sx_json_set(claim, "window", sx_json_text(options->window));
    if (options->exchange) sx_json_set(claim, "exchange", sx_json_text(options->exchange));
    sx_json_set(claim, "one_pass", json_boolean(options->one_pass));
    if (options->row_loops > 1) sx_json_set(claim, "row_loops", json_integer(options->row_loops));
    if (options->orders > 1) sx_json_set(claim, "orders", sx_json_exact(options->orders));
    sx_json_set(claim, "energy_pj", sx_json_real(out->total.energy_pj));
    sx_json_set(claim, "cycles", sx_json_real(out->total.cycles));
    sx_json_set(claim, "value", sx_json_real(out->value));
    sx_json_set(claim, "lower_bound", sx_json_real(bound));
    sx_json_set(claim, "optimal", json_boolean(optimal));
    sx_json_set(claim, "groups", sx_json_exact(n_groups));
    sx_json_set(claim, "labels", labels);
    free(label);
    return status;
}

sx_status sx_fused_certify(const sx_fusing *f, const sx_fusing_options *options, sx_fused *out) {
    json_t *root = json_object(), *claim = json_object();
    sx_status status = add_nouns(f, out, root);
    if (!status) status = add_claims(f, options, out, claim);
    sx_json_set(root, "fused_certificate", claim);
    sx_status printed = sx_json_write(root, SX_JSON, &out->certificate);
    if (!status) return printed;
    sx_status_free(printed);
    return status;
}
