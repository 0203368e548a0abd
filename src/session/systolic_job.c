/* The kernels of a network. */
#include "session/systolic_job.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

bool sx_systolic_is_network(const sx_systolic_job *job) {
    return job->n_layers > 1;
}

/* Gives an error the name of the layer it is about. */
static sx_status name_layer(const char *name, sx_status error) {
    sx_status named = sx_error_new(error->code, "%s: %s", name, error->message);
    if (error->hint) named = sx_error_hint(named, "%s", error->hint);
    sx_status_free(error);
    return named;
}

/* Takes over layer `i`, whose first equal one is `first`; or sets *why. */
static void take_layer(sx_systolic_job *job, const sx_network *network, size_t i, size_t first,
                       const size_t *place, sx_status *why) {
    const sx_layer *from = &network->layer[i];
    sx_systolic_layer *to = &job->layer[job->n_layers];
    memset(to, 0, sizeof *to);
    *why = sx_systolic_kernel_of(&from->problem, &to->kernel);
    if (*why) return;
    memcpy(to->name, from->name, sizeof to->name);
    memcpy(to->kernel.name, from->name, sizeof to->kernel.name);
    to->count = from->count;
    to->same_as = first == i ? job->n_layers : place[first];
    job->n_layers++;
}

/* Takes over all layers that it can; `place` and `first` have room for all. */
static sx_status take_layers(sx_systolic_job *job, const sx_network *network, bool quiet, size_t *place,
                             size_t *first, sx_text *err) {
    sx_status reason = SX_OK;
    (void)sx_network_distinct(network, first);
    for (size_t i = 0; i < network->n_layers; i++) {
        sx_status why;
        place[i] = job->n_layers;
        take_layer(job, network, i, first[i], place, &why);
        if (!why) continue;
        if (why->code == SX_ERR_MEMORY) {
            sx_status_free(reason);
            return why;
        }
        job->n_left_out++;
        if (network->n_layers > 1) why = name_layer(network->layer[i].name, why);
        if (!quiet && first[i] == i) sx_text_add(err, "note: left out: %s\n", why->message);
        if (!reason)
            reason = why;
        else
            sx_status_free(why);
    }
    if (job->n_layers == 0) return reason;
    sx_status_free(reason);
    return SX_OK;
}

sx_status sx_systolic_job_join(sx_systolic_job *job) {
    size_t *number = calloc(job->n_layers, sizeof *number);
    job->joined = calloc(job->n_layers, sizeof *job->joined);
    if (!number || !job->joined) {
        free(number);
        return sx_error_memory();
    }
    for (size_t i = 0; i < job->n_layers; i++) {
        sx_systolic_layer *layer = &job->layer[i];
        if (layer->same_as == i) {
            number[i] = job->n_joined;
            job->joined[job->n_joined] = layer->kernel;
            job->joined[job->n_joined++].count = 0;
        }
        number[i] = number[layer->same_as];
        job->joined[number[i]].count += layer->count;
    }
    for (size_t i = 0; i < job->n_layers; i++) job->layer[i].joined = &job->joined[number[i]];
    free(number);
    return sx_systolic_join(job->joined, job->n_joined);
}

sx_status sx_systolic_job_layers(sx_systolic_job *job, const sx_network *network, bool quiet, sx_text *err) {
    size_t n = network->n_layers, *first = calloc(n + 1, sizeof *first),
           *place = calloc(n + 1, sizeof *place);
    sx_text notes = {0};
    job->layer = calloc(n + 1, sizeof *job->layer);
    memcpy(job->name, network->name, sizeof job->name);
    sx_status status = first && place && job->layer ? take_layers(job, network, quiet, place, first, &notes)
                                                    : sx_error_memory();
    if (!status && notes.size) sx_text_add_bytes(err, notes.data, notes.size);
    if (!status && job->n_layers == 1) memcpy(job->name, job->layer[0].name, sizeof job->name);
    err->failed |= notes.failed;
    sx_text_free(&notes);
    free(first);
    free(place);
    return status;
}

void sx_systolic_job_free(sx_systolic_job *job) {
    if (!job) return;
    for (size_t i = 0; i < job->n_layers; i++) free(job->layer[i].best.trace);
    for (size_t i = 0; job->answer && i < job->n_designs; i++) free(job->answer[i].trace);
    sx_status_free(job->unkept);
    free(job->shared.trace);
    free(job->layer);
    free(job->method);
    free(job->design_name);
    free(job->design);
    free(job->answer);
    free(job->order);
    free(job->joined);
    free(job);
}
