#include "report/serving.h"
#include "report/time.h"

#include <math.h>

/* One operator. */
static json_t *part_json(const sx_serving_part *p, const sx_arch *arch) {
    static const char *const of[] = {"weights", "attention", "vector", "link"};
    return json_pack("{s:s, s:s, s:f, s:o, s:f, s:f, s:f}", "name", p->name, "of", of[p->of], "times",
                     p->times, "time", sx_time_json(arch, &p->one), "energy_pj", p->energy_pj, "macs",
                     p->macs, "bytes", p->bytes);
}

json_t *sx_serving_json(const sx_serving *s, const sx_arch *arch) {
    json_t *parts = json_array();
    for (size_t i = 0; i < s->n; i++) sx_json_append(parts, part_json(&s->part[i], arch));
    json_t *object = json_pack(
        "{s:s, s:I, s:I, s:I, s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:s, s:i, s:i, s:i, s:o}", "phase",
        s->run.phase, "batch", (json_int_t)s->run.batch, "tokens", (json_int_t)s->run.tokens, "context",
        (json_int_t)s->run.context, "chips", (int)s->chips, "seconds", s->seconds, "tokens_per_second",
        sx_serving_rate(s), "joules_per_token", sx_serving_joules(s), "weight_bytes", s->weight_bytes,
        "kv_bytes", s->state_bytes, "kv_bytes_per_token", s->token_bytes, "limit", sx_serving_limit(s, arch),
        "products", (int)s->layers, "mapped", (int)s->found, "proven", (int)s->proven, "operators", parts);
    sx_json_set(object, "share",
                json_pack("{s:f, s:f, s:f, s:f}", "weights", s->share[0], "attention", s->share[1], "vector",
                          s->share[2], "link", s->share[3]));
    if (s->stages > 1)
        sx_json_set(object, "pipeline",
                    json_pack("{s:i, s:f, s:f, s:f, s:f}", "stages", (int)s->stages, "seconds",
                              s->pipeline_seconds, "tokens_per_second",
                              sx_serving_tokens(s) / s->stage_seconds, "passed_bytes", s->passed_bytes,
                              "weight_bytes", s->weight_bytes / s->stages));
    if (isfinite(s->capacity))
        sx_json_set(object, "fits", json_boolean(s->weight_bytes + s->state_bytes <= s->capacity));
    if (s->found == s->layers && isfinite(s->gap)) sx_json_set(object, "gap", sx_json_real(s->gap));
    if (isfinite(s->largest_batch)) sx_json_set(object, "largest_batch", json_real(s->largest_batch));
    return object;
}
