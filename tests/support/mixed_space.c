#include "support/mixed_space.h"

#include "support/expect.h"
#include "support/random_law.h"
#include "support/random_sparse.h"

#include "ir/law.h"
#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The directives of a level that are sets of tensors. */
static const struct {
    const char *name;
    size_t offset;
} sets[] = {{"must_keep", offsetof(sx_level_limits, must_keep)},
            {"must_bypass", offsetof(sx_level_limits, must_bypass)},
            {"no_temporal_reuse", offsetof(sx_level_limits, no_temporal_reuse)},
            {"no_multicast", offsetof(sx_level_limits, no_multicast)},
            {"no_link_transfer", offsetof(sx_level_limits, no_link_transfer)},
            {"rmw_first_update", offsetof(sx_level_limits, rmw_first_update)},
            {"no_coalesce", offsetof(sx_level_limits, no_coalesce)}};
enum { N_SETS = sizeof sets / sizeof *sets };

/* The other directives. */
enum { MAX, MIN, REST, INNER, OUTER, SPLIT, LEAST_USE, LEAST_SPREAD, N_OTHERS };

static bool chance(sx_rng *rng, unsigned percent) {
    return sx_rng_below(rng, 100) < percent;
}

static double pick(sx_rng *rng, const double *number, uint64_t n) {
    return number[sx_rng_below(rng, n)];
}

/* Lets some dimensions be the innermost or the outermost loops of a slot. */
static void draw_order(sx_rng *rng, int n_dims, bool inner, sx_loop_limits *limits) {
    uint8_t dims[SX_MAX_DIMS];
    const uint8_t n = (uint8_t)sx_rng_range(rng, 1, n_dims);
    for (int d = 0; d < n_dims; d++) dims[d] = (uint8_t)d;
    sx_rng_shuffle(rng, dims, (unsigned)n_dims);
    limits->n_inner = limits->n_outer = 0;
    *(inner ? &limits->n_inner : &limits->n_outer) = n;
    memcpy(inner ? limits->inner : limits->outer, dims, n);
}

/* Adds a directive to a level. */
static void draw_directive(sx_rng *rng, const sx_problem *problem, sx_level_limits *level) {
    const size_t which = sx_rng_below(rng, N_SETS + N_OTHERS), d = sx_rng_below(rng, problem->n_dims);
    sx_loop_limits *loops = chance(rng, 40) ? &level->spatial : &level->temporal;
    uint32_t factor = (uint32_t)sx_rng_range(rng, 1, problem->size[d]);
    while (problem->size[d] % factor) factor--;
    if (which < N_SETS) {
        *((uint8_t *)level + sets[which].offset) |= (uint8_t)(1u << sx_rng_below(rng, problem->n_tensors));
        return;
    }
    switch (which - N_SETS) {
    case MAX:
        if (factor >= loops->min[d]) loops->max[d] = factor;
        break;
    case MIN:
        if (factor <= loops->max[d]) loops->min[d] = factor;
        break;
    case REST:
        loops->rest[d] = true;
        break;
    case INNER:
    case OUTER:
        draw_order(rng, problem->n_dims, which - N_SETS == INNER, loops);
        break;
    case SPLIT:
        level->split = (int8_t)sx_rng_below(rng, problem->n_dims + 1u);
        break;
    case LEAST_USE:
        level->min_utilization = sx_rng_double(rng) / 4;
        break;
    default:
        level->min_parallelism = sx_rng_double(rng) / 2;
    }
}

/* Gives a law caches, an array or a layout. */
static void draw_parts(sx_rng *rng, const sx_problem *problem, bool array, sx_law *law) {
    static const double bytes[] = {32, 64, 256}, ways[] = {1, 2, 4};
    if (chance(rng, 20)) {
        law->line = chance(rng, 50) ? 4 : 8;
        law->n_caches = (uint8_t)sx_rng_range(rng, 1, 2);
        for (int i = 0; i < law->n_caches; i++)
            law->cache[i] = (sx_law_cache){pick(rng, bytes, 3), pick(rng, ways, 3), 5 + 15 * i};
    }
    if (chance(rng, 30)) {
        const sx_tensor *tensor = &problem->tensor[sx_rng_below(rng, problem->n_tensors)];
        law->n_layouts = 1;
        snprintf(law->layout[0].tensor, sizeof law->layout[0].tensor, "%s", tensor->name);
        snprintf(law->layout[0].dims, sizeof law->layout[0].dims, "%s",
                 problem->dim_name[sx_rng_below(rng, problem->n_dims)]);
    }
    if (!array || !chance(rng, 30)) return;
    const size_t first = sx_rng_below(rng, problem->n_dims);
    law->n_array = problem->n_dims > 1 && chance(rng, 50) ? 2 : 1;
    for (size_t i = 0; i < law->n_array; i++) {
        law->array[i].size = (uint32_t)sx_rng_range(rng, 2, 3);
        snprintf(law->array[i].dim, SX_NAME_SIZE, "%s", problem->dim_name[(first + i) % problem->n_dims]);
    }
    snprintf(law->stream, sizeof law->stream, "%s", problem->dim_name[sx_rng_below(rng, problem->n_dims)]);
}

/* Draws a law, each key by itself. */
static void draw_law(sx_rng *rng, const sx_problem *problem, bool array, sx_law *law) {
    static const double value[] = {0.25, 0.5, 1, 1.5, 2, 3, 7, 16, 40};
    const sx_law_key *key;
    size_t offset;
    sx_law_init(law);
    for (size_t i = 0; (key = sx_law_number(i)); i++) {
        if (!chance(rng, 30)) continue;
        const double least = fmax(key->low, 0), most = fmin(key->high, 40), x = pick(rng, value, 9);
        *sx_law_value(law, key) = fmin(fmax(x, least), most);
    }
    law->rows = ceil(law->rows);
    for (size_t i = 0; sx_law_flag(i, &offset); i++) *((bool *)law + offset) = chance(rng, 40);
    law->spill &= law->refetch;
    draw_parts(rng, problem, array, law);
}

/* Gives levels laws, or some of them one law together, and narrow ports. */
static void draw_laws(sx_rng *rng, sx_small_space *small) {
    sx_arch *arch = &small->c.arch;
    arch->n_laws = 0;
    for (int s = 0; s < arch->n_levels; s++) {
        arch->level[s].law = 0;
        if (arch->n_laws == SX_MAX_LAWS || !chance(rng, s + 1 == arch->n_levels ? 75 : 35)) continue;
        const bool same = arch->n_laws > 0 && arch->level[s - 1].law && chance(rng, 30);
        if (!same) {
            draw_law(rng, &small->c.problem, arch->n_laws == 0, &arch->law[arch->n_laws]);
            arch->n_laws++;
        }
        arch->level[s].law = arch->n_laws;
        if (chance(rng, 40)) arch->level[s].shared_bandwidth = 0.25 * (double)sx_rng_range(rng, 1, 8);
        if (chance(rng, 40)) arch->level[s].read_bandwidth = 0.25 * (double)sx_rng_range(rng, 1, 8);
    }
    small->c.options.latency_tile = arch->n_laws > 0;
}

/* Draws densities over which mappings are scored. */
static void draw_range(sx_rng *rng, const sx_problem *problem, sx_density_range *out) {
    static const double share[] = {1, 0.5, 0.1};
    *out = (sx_density_range){.n = 2, .n_tensors = 1};
    for (int v = 0; v < problem->n_tensors; v++)
        if (!problem->tensor[v].output) strcpy(out->tensor[0].name, problem->tensor[v].name);
    out->tensor[0].model = (uint8_t)(1 + sx_rng_below(rng, 2));
    for (size_t i = 0; i < 2; i++) {
        out->tensor[0].share[i] = share[i + sx_rng_below(rng, 2)];
        out->weight[i] = 0.25 * (double)sx_rng_range(rng, 1, 8);
    }
    if (out->tensor[0].share[1] > out->tensor[0].share[0]) out->tensor[0].share[0] = 1;
}

/* Gives what was drawn sparse tensors by one of the semantics. */
static void draw_semantics(sx_rng *rng, sx_small_space *small) {
    sx_model_options *options = &small->c.options;
    sx_objective edp;
    sx_expect_ok(sx_objective_parse("edp", &edp));
    sx_random_sparse(rng, &small->c.problem, &small->c.arch);
    switch (sx_rng_below(rng, 4)) {
    case 0:
        options->sparse_timeloop = true;
        break;
    case 1:
        draw_range(rng, &small->c.problem, &options->densities);
        sx_expect_ok(sx_density_range_aim(&options->densities, &edp));
        break;
    case 2:
        options->formats.kinds = (uint8_t)sx_rng_range(rng, 1, 15);
        sx_expect_ok(sx_format_search_aim(&options->formats, &edp));
        break;
    default:
        break;
    }
}

/* Leaves the energy of accesses alone, of one level or two, or the same of all: bounds come nearer to it than to sums of many
 * parts. */
static void make_bare(sx_rng *rng, sx_arch *arch) {
    const size_t one = sx_rng_below(rng, arch->n_levels), other = sx_rng_below(rng, arch->n_levels);
    const bool alike = chance(rng, 60);
    arch->compute.energy = 0;
    for (size_t s = 0; s < arch->n_levels; s++) {
        sx_storage *level = &arch->level[s];
        level->leak_energy = level->addr_gen_energy = level->energy_per_hop = level->router_energy = 0;
        if (alike) {
            level->read_energy = level->update_energy = level->block_size;
            level->fill_energy = 0;
        } else if (s != one && s != other) {
            level->read_energy = level->fill_energy = level->update_energy = 0;
        }
    }
}

/* Whether there is a model of what was drawn: formats may be combined in too many ways. */
static bool has_model(const sx_small_space *small) {
    sx_model *model;
    sx_status status = sx_model_new(&small->c.problem, &small->c.arch, &small->c.options, &model);
    const bool good = !status;
    if (good)
        sx_model_free(model);
    else if (status->code != SX_ERR_LIMIT)
        sx_expect_ok(status);
    sx_status_free(status);
    return good;
}

/* Draws what a space is made of, of any kind or with remainders of plain tensors, whose bounds are near their costs. */
static void draw_kinds(sx_rng *rng, uint64_t most, sx_small_space *out) {
    const sx_space_kind kind = (sx_space_kind)sx_rng_below(rng, SX_N_KINDS);
    if (chance(rng, 15)) {
        sx_random_plain_space(rng, most, out);
        sx_small_space_fini(out);
        return;
    }
    sx_draw_space(rng, out);
    if (kind != SX_KIND_SPARSE) sx_draw_kind(rng, kind, out);
}

void sx_random_mixed_space(sx_rng *rng, uint64_t most, sx_small_space *out) {
    do {
        draw_kinds(rng, most, out);
        if (chance(rng, 25))
            draw_semantics(rng, out);
        else if (chance(rng, 45))
            draw_laws(rng, out);
        out->c.options.no_link_transfers |= chance(rng, 20);
        out->c.options.no_first_read_elision |= chance(rng, 15);
        if (chance(rng, 10)) out->options.no_banks = true;
        if (chance(rng, 35)) make_bare(rng, &out->c.arch);
        for (unsigned n = chance(rng, 60) ? (unsigned)sx_rng_range(rng, 1, 4) : 0; n > 0; n--)
            draw_directive(rng, &out->c.problem, &out->limits.level[sx_rng_below(rng, out->c.arch.n_levels)]);
    } while (!has_model(out) || !sx_make_small_space(rng, most, out));
}

bool sx_dividing_space(const sx_small_space *small, sx_small_space *out) {
    *out = *small;
    out->options.remainders = false;
    if (!sx_make_space(out)) return false;
    out->n = (uint64_t)sx_count_constructions(out->map);
    return true;
}

bool sx_is_aimed(const sx_small_space *small) {
    return small->c.options.densities.n > 0 || small->c.options.formats.kinds;
}

/* The traits of a list, and whether they are listed a first time. */
typedef struct listing {
    sx_trait *trait;
    size_t n;
} listing;

static void add_trait(listing *l, const char *name, const char *of, bool has) {
    sx_trait *t = &l->trait[l->n++];
    snprintf(t->name, sizeof t->name, "%s%s", name, of);
    t->has = has;
}

/* Adds the directives. */
static void add_directives(listing *l, const sx_small_space *small) {
    const sx_problem *problem = &small->c.problem;
    const unsigned outputs = 1u << sx_problem_output(problem);
    unsigned of[N_SETS] = {0}, loops[2][5] = {{0}}, others[3] = {0};
    static const char *const slots[] = {" of loops in time", " of loops in space"};
    for (int s = 0; s < small->c.arch.n_levels; s++) {
        const sx_level_limits *level = &small->limits.level[s];
        for (int i = 0; i < N_SETS; i++) of[i] |= *((const uint8_t *)level + sets[i].offset);
        for (int spatial = 0; spatial < 2; spatial++) {
            const sx_loop_limits *limits = spatial ? &level->spatial : &level->temporal;
            for (int d = 0; d < problem->n_dims; d++) {
                loops[spatial][0] |= limits->max[d] < problem->size[d];
                loops[spatial][1] |= limits->min[d] > 1;
                loops[spatial][2] |= limits->rest[d];
            }
            loops[spatial][3] |= limits->n_inner > 0;
            loops[spatial][4] |= limits->n_outer > 0;
        }
        others[0] |= level->split >= 0;
        others[1] |= level->min_utilization > 0;
        others[2] |= level->min_parallelism > 0;
    }
    for (int i = 0; i < N_SETS; i++) {
        add_trait(l, sets[i].name, " of an input", of[i] & ~outputs);
        add_trait(l, sets[i].name, " of the output", of[i] & outputs);
    }
    for (int i = 0; i < 2; i++) {
        static const char *const names[] = {"most", "least", "rest", "innermost", "outermost"};
        for (int k = 0; k < 5; k++) add_trait(l, names[k], slots[i], loops[i][k]);
    }
    add_trait(l, "split", "", others[0]);
    add_trait(l, "min_utilization", "", others[1]);
    add_trait(l, "min_parallelism", "", others[2]);
}

/* Adds the keys of laws, of the outermost level and of others. */
static void add_law(listing *l, const sx_small_space *small) {
    const sx_arch *arch = &small->c.arch;
    for (int outer = 0; outer < 2; outer++) {
        const char *of = outer ? " of the outermost law" : " of an inner law";
        const sx_law_key *key;
        const char *flag;
        size_t offset;
        const int from = outer ? arch->n_levels - 1 : 0, to = outer ? arch->n_levels : arch->n_levels - 1;
        bool caches = false, array = false, layout = false;
        for (size_t i = 0; (key = sx_law_number(i)); i++) {
            bool has = false;
            for (int s = from; s < to; s++) {
                sx_law law;
                if (!sx_arch_law(arch, s)) continue;
                law = *sx_arch_law(arch, s);
                has |= *sx_law_value(&law, key) != key->otherwise;
            }
            add_trait(l, key->name, of, has);
        }
        for (size_t i = 0; (flag = sx_law_flag(i, &offset)); i++) {
            bool has = false;
            for (int s = from; s < to; s++)
                has |= sx_arch_law(arch, s) && *((const bool *)sx_arch_law(arch, s) + offset);
            add_trait(l, flag, of, has);
        }
        for (int s = from; s < to; s++) {
            const sx_law *law = sx_arch_law(arch, s);
            caches |= law && law->n_caches;
            array |= law && law->n_array;
            layout |= law && law->n_layouts;
        }
        add_trait(l, "caches", of, caches);
        add_trait(l, "array", of, array);
        add_trait(l, "layout", of, layout);
    }
}

size_t sx_mixed_traits(const sx_small_space *small, sx_trait trait[SX_MOST_TRAITS]) {
    listing l = {trait, 0};
    const sx_model_options *model = &small->c.options;
    const unsigned kinds = sx_small_space_kinds(small);
    const bool sparse = small->model->sparse || small->model->range || small->model->formats;
    for (int k = 0; k < SX_N_KINDS; k++)
        add_trait(&l, sx_space_kind_name((sx_space_kind)k), "", kinds >> k & 1);
    add_directives(&l, small);
    add_law(&l, small);
    add_trait(&l, "keep-all", "", small->options.keep_all);
    add_trait(&l, "no-banks", "", small->options.no_banks);
    add_trait(&l, "split-axes", "", small->options.split_axes);
    add_trait(&l, "no-first-read-elision", "", model->no_first_read_elision);
    add_trait(&l, "no-link-transfers", "", model->no_link_transfers);
    add_trait(&l, "latency tile", "", model->latency_tile);
    add_trait(&l, "dense", "", !sparse);
    add_trait(&l, "exact sparse", "", sparse && !model->sparse_timeloop && !sx_is_aimed(small));
    add_trait(&l, "Timeloop's sparse", "", sparse && model->sparse_timeloop);
    add_trait(&l, "densities", "", small->model->range != NULL);
    add_trait(&l, "searched formats", "", small->model->formats != NULL);
    return l.n;
}
