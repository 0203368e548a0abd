/* Whether a mapping belongs to a map space, why not, and the nearest that does. */
#include "report/space_report.h"

#include "mapspace/map_space.h"
#include "report/illegal.h"
#include "report/json_parts.h"
#include "report/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Adds why the model refuses a mapping, with the fix; false where it accepts it. */
static sx_status add_verdict(const sx_search_space *s, const sx_mapping *mapping, sx_text *out, bool *found) {
    char sentence[512];
    sx_evaluation *e = calloc(1, sizeof *e);
    if (!e) return sx_error_memory();
    e->problem = s->problem;
    e->arch = s->arch;
    e->mapping = *mapping;
    e->verdict = sx_check(s->model, mapping);
    *found = e->verdict.reason != SX_LEGAL;
    if (*found) {
        sx_text cure = {0};
        sx_verdict_text(&e->verdict, &s->problem, &s->arch, sentence, sizeof sentence);
        sx_illegal_cure(e, &cure);
        sx_text_add(out, "illegal: %s%s%s", sentence, cure.size ? "; " : "", cure.size ? cure.data : "");
        out->failed |= cure.failed;
        sx_text_free(&cure);
    }
    free(e);
    return SX_OK;
}

/* The first level at which two mappings of one shape differ in what a predicate looks at, -1: none. */
typedef bool level_differs(const sx_mapping_level *a, const sx_mapping_level *b, int n_dims);

static bool keeps_differ(const sx_mapping_level *a, const sx_mapping_level *b, int n_dims) {
    (void)n_dims;
    return a->keep != b->keep;
}

static bool directives_differ(const sx_mapping_level *a, const sx_mapping_level *b, int n_dims) {
    (void)n_dims;
    return a->no_temporal_reuse != b->no_temporal_reuse || a->no_multicast != b->no_multicast ||
           a->no_link_transfer != b->no_link_transfer || a->rmw_first_update != b->rmw_first_update ||
           a->no_coalesce != b->no_coalesce;
}

static bool spreads_differ(const sx_mapping_level *a, const sx_mapping_level *b, int n_dims) {
    return a->split != b->split || a->x_part != b->x_part ||
           memcmp(a->spatial_order, b->spatial_order, (size_t)n_dims) != 0;
}

static int find_level(const sx_mapping *a, const sx_mapping *b, level_differs *differs) {
    for (int i = 0; i < a->n_levels; i++)
        if (differs(&a->level[i], &b->level[i], a->n_dims)) return i;
    return -1;
}

/* The first level that keeps nothing by its nature but has loops in time other than those of a construction,
 * -1: none. */
static int find_loops(const sx_arch *arch, const sx_mapping *mapping, const sx_mapping *construction) {
    size_t size = mapping->n_dims * sizeof mapping->level[0].temporal[0];
    for (int i = 0; i < mapping->n_levels; i++)
        if (arch->level[i].transparent &&
            memcmp(mapping->level[i].temporal, construction->level[i].temporal, size) != 0)
            return i;
    return -1;
}

/* Adds what a mapping has that no point of the space can have, given its nearest construction. */
static void add_difference(const sx_search_space *s, const sx_map_space_options *options,
                           const sx_mapping *mapping, const sx_mapping *construction, sx_text *out) {
    static const struct {
        level_differs *differs;
        const char *text;
    } rule[] = {
        {directives_differ, "has directives (no_multicast and the like), which are not searched"},
        {keeps_differ, "keeps other tensors than the space allows"},
        {spreads_differ, "places its spatial loops in another order or on another axis than the space does"},
    };
    if (!options->remainders && !sx_mapping_perfect(mapping, &s->problem)) {
        sx_text_add(out, "not in this space: its factors leave remainders; with --remainders they may");
        return;
    }
    int idle = find_loops(&s->arch, mapping, construction);
    if (idle >= 0) {
        sx_text_add(
            out,
            "not in this space: %s has temporal loops, which only levels that can keep something may have",
            s->arch.level[idle].name);
        return;
    }
    for (size_t i = 0; i < sizeof rule / sizeof rule[0]; i++) {
        int level = find_level(mapping, construction, rule[i].differs);
        if (level < 0) continue;
        sx_text_add(out, "not in this space: %s %s", s->arch.level[level].name, rule[i].text);
        if (rule[i].differs == keeps_differ && options->keep_all)
            sx_text_add(out, "; without --keep-all it may");
        if (rule[i].differs == spreads_differ && mapping->level[level].x_part && !options->split_axes)
            sx_text_add(out, "; with --split-axes a dimension may lie on both");
        return;
    }
    sx_text_add(out, "not in this space: its factors or orders are not those of any of its points");
}

/* Adds why a mapping is no member; nothing where it is one. */
static sx_status add_why(const sx_search_space *s, const sx_map_space_options *options,
                         const sx_mapping *mapping, bool held, const void *point, sx_text *out) {
    char text[512] = "";
    bool illegal = false;
    SX_TRY(add_verdict(s, mapping, out, &illegal));
    if (illegal) return SX_OK;
    if (!sx_constraints_allow(&s->constraints, mapping, &s->problem, &s->arch, text, sizeof text)) {
        sx_text_add(out, "violates a constraint: %s", text);
        return SX_OK;
    }
    if (sx_map_explain_fanout(sx_map_space_of(s->space), mapping, text, sizeof text)) {
        sx_text_add(out, "not in this space: %s", text);
        return SX_OK;
    }
    if (!held) {
        sx_mapping canonical = *mapping, construction;
        sx_mapping_canonical(&canonical);
        sx_map_space_mapping(s->space, point, &construction);
        add_difference(s, options, &canonical, &construction, out);
        return SX_OK;
    }
    if (!sx_space_legal(s->space, point, text, sizeof text)) sx_text_add(out, "illegal: %s", text);
    return SX_OK;
}

/* Finds the legal point nearest to a mapping. */
static sx_status find_nearest(const sx_search_space *s, const sx_mapping *mapping, sx_membership *m) {
    size_t n = sx_space_n_values(s->space);
    double *from = malloc(2 * n * sizeof *from), sum = 0;
    void *nearest = calloc(1, sx_space_point_size(s->space));
    if (!from || !nearest) {
        free(from);
        free(nearest);
        return sx_error_memory();
    }
    double *to = from + n;
    sx_status status = sx_map_vector(s->space, mapping, from);
    if (!status) m->has_point = sx_space_project(s->space, from, nearest);
    if (m->has_point) {
        sx_space_encode(s->space, nearest, to);
        for (size_t i = 0; i < n; i++) sum += (to[i] - from[i]) * (to[i] - from[i]);
        m->distance = sqrt(sum);
        sx_map_space_mapping(s->space, nearest, &m->nearest);
    }
    free(from);
    free(nearest);
    return status;
}

sx_status sx_membership_find(const sx_search_space *s, const sx_map_space_options *options,
                             const sx_mapping *mapping, bool nearest, sx_membership *out) {
    sx_membership m = {0};
    sx_text why = {0};
    void *point = calloc(1, sx_space_point_size(s->space));
    if (!point) return sx_error_memory();
    bool held = sx_map_space_point(s->space, mapping, point);
    sx_status status = add_why(s, options, mapping, held, point, &why);
    m.member = why.size == 0 && !why.failed;
    if (!status && !m.member) status = sx_text_take(&why, &m.why);
    if (!status && nearest) status = find_nearest(s, mapping, &m);
    if (!status) status = sx_space_unfinished_status(s->space);
    free(point);
    sx_text_free(&why);
    if (status) {
        sx_membership_fini(&m);
        return status;
    }
    *out = m;
    return SX_OK;
}

void sx_membership_fini(sx_membership *m) {
    free(m->why);
    m->why = NULL;
}

void sx_space_print_membership(const sx_membership *m, sx_text *out) {
    sx_text line = {0};
    sx_text_add(&line, "%s", m->member ? "in the space" : m->why);
    sx_text_add(out, "  %-10s", "mapping");
    sx_wrap_free(&line, 12, 12, out);
    if (m->has_point && m->distance > 0)
        sx_text_add(out, "  %-10sat distance %.4g\n", "nearest", m->distance);
    else if (m->has_point)
        sx_text_add(out, "  %-10s%s\n", "nearest",
                    m->member ? "the given mapping" : "distance 0: the vectors are equal");
}

sx_status sx_space_json_membership(const sx_search_space *s, const sx_membership *m, json_t *object) {
    char *text;
    json_t *member = json_pack("{s:b, s:o}", "member", m->member, "reason", sx_json_string(m->why));
    sx_json_set(object, "mapping", member);
    if (!m->has_point) return SX_OK;
    SX_TRY(sx_mapping_write(&m->nearest, &s->problem, &s->arch, SX_JSON, &text));
    sx_json_set(
        object, "nearest",
        json_pack("{s:o, s:o}", "distance", sx_json_number(m->distance), "mapping", sx_json_noun(text)));
    return SX_OK;
}
