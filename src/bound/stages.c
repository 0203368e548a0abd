/* What the stages of a join come to: their least blocks, and the flows that they move (the head of join.c has the rules).
 *
 * Complexity: a step per stage, flow and dimension. */
#include "bound/stages.h"

#include <math.h>
#include <string.h>

/* The spatial factors of a dimension up to a level, multiplied. */
static uint64_t units_inside(const sx_decided *decided, int level, int dim) {
    uint64_t units = 1;
    for (int s = 0; s <= level; s++) units *= decided->spatial[s][dim];
    return units;
}

/* The only factor of several instances that a dimension has outside a level; 1: there is none, or there are several. */
static uint64_t single_side(const sx_decided *decided, int level, int dim) {
    uint64_t side = 1;
    for (int s = level + 1; s < decided->model->n_levels; s++) {
        if (decided->spatial[s][dim] == 1) continue;
        if (side > 1) return 1;
        side = decided->spatial[s][dim];
    }
    return side;
}

uint64_t sx_join_pair_words(uint64_t size, uint64_t side, uint64_t blocks) {
    return blocks == side + 1 ? size - (side - 1) * ((size - 1) / (blocks - 1))
                              : 2 * ((size - 1) / blocks + 1);
}

/* The least number of blocks of a level's tile along a dimension, from one on, that make two rounds and no more steps than
 * may be. */
static double pair_from(const sx_join *j, int level, int dim, uint64_t from) {
    const sx_decided *decided = &j->prefix->decided;
    const uint64_t size = decided->model->size[dim], side = single_side(decided, level, dim);
    const uint64_t most = j->most_steps[dim] * units_inside(decided, level, dim);
    if (side == 1 || j->most_steps[dim] == 0) return (double)from;
    if (from == side + 1 && sx_join_pair_words(size, side, from) <= most) return (double)from;
    const uint64_t least = most < 2 ? size : (size - 1) / (most / 2) + 1;
    return (double)(from > side + 1 ? from > least ? from : least : side + 2 > least ? side + 2 : least);
}

/* The share of words along a dimension that may stand still in the last sweep outside a level, where its tile makes so
 * many blocks or more; `rounds`: in three rounds or more. */
static double still_beyond(const sx_join *j, int level, int dim, uint64_t blocks, bool rounds) {
    const sx_decided *decided = &j->prefix->decided;
    const double size = decided->model->size[dim], least = (double)blocks;
    double side = 1, most = 0;
    for (int s = level + 1; s < decided->model->n_levels; s++) {
        side *= decided->spatial[s][dim];
        double two = fmax(least, side + 1), three = fmax(least, 2 * side + 1);
        if (two < 2 * side && !rounds) two = pair_from(j, level, dim, (uint64_t)two);
        if (two < 2 * side && !rounds) most = fmax(most, (2 * side - two) * (size - 1) / (two - 1));
        if (s + 1 == decided->model->n_levels) continue;
        most = fmax(most, fmax(side * size / three, (side - 1) * (size - 1) / (three - 1)));
    }
    return most < size ? most / size : 1;
}

/* Sets the shares of a tensor's words that may stand still at the edge of loops outside the decided levels, where its child
 * is one of these. */
static void set_edges(const sx_join *j, sx_open_flow *open) {
    const sx_decided *decided = &j->prefix->decided;
    for (unsigned left = open->dims; left; left &= left - 1) {
        int d = __builtin_ctz(left);
        uint64_t still = sx_decided_still_outside(decided, open->flow->child, j->query.last, d);
        open->edge[d] = j->all[d] > 1 ? (double)still / decided->model->size[d] : -1;
    }
}

double sx_join_edge(const sx_join *j, const sx_open_flow *open, int dim) {
    if (open->flow->child <= j->query.last) return open->edge[dim];
    const uint64_t least = j->stage[open->from].blocks[dim], fewest = open->fewest[dim];
    return still_beyond(j, open->flow->child, dim, least > fewest ? least : fewest, false);
}

/* The share of a tensor's words that may stand still where a loop on one of its dimensions moves it, -1: on any of them; 1 where
 * none can. */
static double edge_share(const sx_join *j, const sx_open_flow *open, int by) {
    double most = -1;
    for (unsigned left = by < 0 ? open->dims : 1u << by; left; left &= left - 1)
        most = fmax(most, sx_join_edge(j, open, __builtin_ctz(left)));
    return most < 0 ? 1 : most;
}

/* Adds a flow of windows into the tile of a stage of one instance. */
static void add_window(const sx_join *j, const sx_open_flow *open, const sx_stage *at,
                       sx_imperfect_sum *sum) {
    const sx_imperfect_bound *bounds = j->prefix->bounds;
    const sx_imperfect_flow *flow = open->flow;
    sx_imperfect_tile tile = {
        .first = at->first, .top = at->level + 2 == bounds->model->n_levels, .fewest = true};
    for (int d = 0; d < bounds->model->n_dims; d++) tile.blocks[d] = (uint32_t)at->blocks[d];
    double asked = flow->asked, filled = flow->filled;
    const double visits =
        sx_imperfect_tile_flow(bounds->model, flow->tensor, &tile) / bounds->words[flow->tensor];
    sx_prefix_raise(bounds, flow, 0, visits, visits, &asked, &filled);
    sx_imperfect_sum_flow(bounds, flow, asked, filled, sum);
}

/* Adds a flow that a stage moves. */
static void add_moved(const sx_join *j, const sx_open_flow *open, const sx_stage *at, sx_imperfect_sum *sum) {
    const sx_imperfect_bound *bounds = j->prefix->bounds;
    const sx_decided *decided = &j->prefix->decided;
    const sx_imperfect_flow *flow = open->flow;
    const bool own = flow->child == at->level;
    if (!bounds->model->shape[flow->tensor].unit) {
        add_window(j, open, at, sum);
        return;
    }
    double asked = flow->asked, filled = flow->filled, visits = 1, grouped = 1, share;
    for (unsigned left = bounds->irrelevant[flow->tensor]; left; left &= left - 1) {
        int d = __builtin_ctz(left);
        double outer = 1, inner = decided->spatial[flow->child + 1][d], blocks = (double)(at->blocks[d] - 1);
        for (int s = flow->child + 2; s <= at->level; s++) outer *= decided->spatial[s][d];
        visits *= own ? blocks + 1 : blocks * outer * inner + 1;
        grouped *= own ? floor(blocks / inner) + 1 : blocks * outer + 1;
    }
    if (own)
        share = at->pair ? at->pair_still
                         : still_beyond(j, at->level, at->first, at->blocks[at->first],
                                        at->whole >> at->first & 1);
    else
        share = edge_share(j, open, at->by[open - j->open]);
    sx_prefix_raise(bounds, flow, share, visits, grouped, &asked, &filled);
    sx_imperfect_sum_flow(bounds, flow, asked, filled, sum);
}

/* Whether a stage moves a flow that none before did. */
static bool is_moved(const sx_join *j, const sx_open_flow *open, const sx_stage *at, int number) {
    if (open->flow->child == at->level) return at->first >= 0 && open->dims >> at->first & 1;
    return j->prefix->bounds->model->shape[open->flow->tensor].unit && !(at->still >> number & 1);
}

int sx_join_moving_stage(const sx_join *j, int number, int last) {
    int i = j->open[number].from;
    while (i <= last && !is_moved(j, &j->open[number], &j->stage[i], number)) i++;
    return i;
}

void sx_join_add_open(const sx_join *j, int number, int last, sx_imperfect_sum *sum) {
    const sx_open_flow *open = &j->open[number];
    int i = sx_join_moving_stage(j, number, last);
    if (i <= last)
        add_moved(j, open, &j->stage[i], sum);
    else
        sx_imperfect_sum_flow(j->prefix->bounds, open->flow, open->flow->asked, open->flow->filled, sum);
}

double sx_stage_steps(const sx_join *j, const sx_stage *at, int dim, uint64_t blocks) {
    const sx_decided *decided = &j->prefix->decided;
    const uint64_t size = decided->model->size[dim], side = at->outside[dim],
                   units = units_inside(decided, at->level, dim);
    if (side == 1 || blocks < 2) return 0;
    const uint64_t rounds = (blocks - 1) / side + 1, least = (size - 1) / blocks + 1;
    const bool ends = (blocks - 1) % side == 0 || single_side(decided, at->level, dim) == 1;
    if (!ends || rounds == 1) return (double)(rounds * ((least - 1) / units + 1));
    const uint64_t words = size - (blocks - rounds) * ((size - 1) / (blocks - 1));
    return (double)((words - 1) / units + 1);
}

double sx_join_steps_along(const sx_join *j, int last, int dim) {
    double steps = j->steps[dim];
    for (int i = 0; i <= last; i++) {
        const sx_stage *at = &j->stage[i];
        if (at->pair && at->first == dim) steps = fmax(steps, at->pair_steps);
        if (at->split >> dim & 1) steps = fmax(steps, at->steps[dim]);
    }
    return steps;
}

double sx_join_steps(const sx_join *j, int last) {
    double product = 1;
    for (int d = 0; d < j->prefix->bounds->model->n_dims; d++) product *= sx_join_steps_along(j, last, d);
    return product;
}

sx_score sx_join_bound(const sx_join *j, int last) {
    sx_imperfect_sum sum = j->stage[last].fixed;
    for (int k = 0; k < j->n_open; k++)
        if (j->open[k].flow->child <= j->stage[last].level) sx_join_add_open(j, k, last, &sum);
    return sx_imperfect_sum_score(j->prefix->bounds, &sum, sx_join_steps(j, last));
}

uint64_t sx_join_blocks_from(uint64_t size, uint64_t blocks) {
    return blocks > 1 && blocks <= size ? (size - 1) / ((size - 1) / (blocks - 1)) + 1 : blocks;
}

/* Whether a stage's group has a loop on a dimension, given the first loop outside the stage before. */
static bool has_loop(const sx_stage *at, int dim, int first) {
    return at->looped >> dim & 1 || (!at->empty && dim == first);
}

/* The least blocks inside a stage's group that make a number of its tiles in a dimension. */
static uint64_t blocks_inside(const sx_stage *at, int dim, int first) {
    const uint64_t blocks = at->blocks[dim] - 1;
    if (!has_loop(at, dim, first)) return blocks * at->side[dim] + 1;
    return (blocks > 0 ? 2 * blocks : 1) * at->side[dim] + 1;
}

bool sx_join_set_blocks(sx_join *j, int last) {
    const sx_model *model = j->prefix->bounds->model;
    for (int d = 0; d < model->n_dims; d++) {
        for (int i = last; i >= 0; i--) {
            sx_stage *at = &j->stage[i];
            at->blocks[d] = at->least[d];
            uint64_t outer = i < last ? blocks_inside(&j->stage[i + 1], d, at->first) : 1;
            if (outer > at->blocks[d]) at->blocks[d] = sx_join_blocks_from(model->size[d], outer);
            if (at->blocks[d] > model->size[d]) return false;
            if (at->pair && at->first == d && at->blocks[d] != at->pair) return false;
        }
        uint64_t all = j->all[d];
        for (int i = 0; i <= last; i++) {
            sx_stage *at = &j->stage[i];
            const bool equal = at->empty || at->rigid >> d & 1, loop = !equal && has_loop(at, d, j->first);
            if (i == 0 && (at->blocks[d] > (loop ? (all + 1) / 2 : all) || (loop && all < 2))) return false;
            if (equal) at->blocks[d] = all;
            if (at->split >> d & 1 && at->blocks[d] > at->most[d]) return false;
            if (i < last) all = (at->blocks[d] - 1) / j->stage[i + 1].side[d] + 1;
        }
    }
    return true;
}

void sx_stage_set_row(sx_stage *at, size_t row, int n) {
    for (int d = 0; d < n; d++) {
        uint32_t blocks = at->rows->blocks[row * (size_t)n + (size_t)d];
        at->least[d] = blocks > at->fewest[d] ? blocks : at->fewest[d];
    }
}

/* The instances of a level along a dimension that are in use, at least. */
static uint32_t instances_along(const sx_decided *decided, int level, int dim) {
    uint32_t inner = 1, outer = 1;
    for (int s = level + 1; s < decided->model->n_levels; s++) {
        if (decided->spatial[s][dim] == 1) continue;
        inner *= outer;
        outer = decided->spatial[s][dim];
    }
    return inner * (outer - 1) + 1;
}

void sx_join_init(sx_join *j, const sx_prefix_bound *prefix, const sx_prefix_query *query,
                  const sx_prefix_goal *goal) {
    j->prefix = prefix;
    j->query = *query;
    j->given = j->crowded = false;
    memset(j->most_steps, 0, sizeof j->most_steps);
    j->goal = goal;
    j->n_stages = j->n_open = 0;
    j->least = (sx_prefix_least){goal ? goal->limit : INFINITY, INFINITY, INFINITY};
    j->enough = j->given_up = j->probes = false;
    j->tried = j->refused = j->probing = 0;
}

/* Whether the tiles of a level are gone through. */
static bool is_stage(const sx_prefix_bound *prefix, int level) {
    const sx_model *model = prefix->bounds->model;
    const uint8_t *keep = prefix->bounds->outline.keep;
    if (level + 2 == model->n_levels || keep[level] & keep[level + 1]) return true;
    for (int d = 0; d < model->n_dims; d++)
        if (prefix->decided.spatial[level + 1][d] > 1) return true;
    return false;
}

/* Whether some tile of a stage has room outside which there are no loops. */
static bool holds_all(const sx_stage *at, int n) {
    for (size_t k = 0; k < at->rows->n; k++) {
        bool holds = true;
        for (int d = 0; d < n; d++) holds &= at->rows->blocks[k * (size_t)n + (size_t)d] <= at->outside[d];
        if (holds) return true;
    }
    return false;
}

void sx_stage_set_spatial(sx_stage *at, const sx_decided *decided) {
    at->whole = 0;
    for (int d = 0; d < decided->model->n_dims; d++) {
        at->side[d] = 1;
        at->outside[d] = 1;
        for (int s = at->before + 1; s <= at->level; s++) at->side[d] *= decided->spatial[s][d];
        for (int s = at->level + 1; s < decided->model->n_levels; s++)
            at->outside[d] *= decided->spatial[s][d];
        at->fewest[d] = instances_along(decided, at->level, d);
        at->whole |= (unsigned)(at->outside[d] > 1 && at->outside[d] == decided->spatial[at->level + 1][d])
                     << d;
    }
}

/* Lists the stages: up to the first level whose rows are not known. */
static void list_stages(sx_join *j, const sx_largest_tiles *given) {
    const sx_imperfect_bound *bounds = j->prefix->bounds;
    const sx_model *model = bounds->model;
    int before = j->query.last;
    for (int level = before + 1; level + 1 < model->n_levels && j->n_stages < SX_MOST_STAGES; level++) {
        const bool first = given && level == j->query.last + 1;
        if (!first && !is_stage(j->prefix, level)) continue;
        sx_stage *at = &j->stage[j->n_stages];
        at->level = level;
        at->before = before;
        at->rows = first ? given : &bounds->tiles->largest[level][bounds->outline.keep[level]];
        if (at->rows->n == 0) return;
        at->fixed = j->prefix->rest[level + 1];
        sx_stage_set_spatial(at, &j->prefix->decided);
        at->holds_all = holds_all(at, model->n_dims);
        j->n_stages++;
        before = level;
    }
}

/* Adds a flow to the sums of all stages from its child on. */
static void add_fixed(sx_join *j, const sx_imperfect_flow *flow, double asked, double filled) {
    for (int i = 0; i < j->n_stages; i++)
        if (j->stage[i].level >= flow->child)
            sx_imperfect_sum_flow(j->prefix->bounds, flow, asked, filled, &j->stage[i].fixed);
}

/* Lists a flow that stages decide. */
static void list_open(sx_join *j, const sx_imperfect_flow *flow) {
    const sx_imperfect_bound *bounds = j->prefix->bounds;
    const int n = bounds->model->n_dims;
    if (j->n_open == SX_MOST_OPEN) {
        j->crowded = true;
        return;
    }
    sx_open_flow *open = &j->open[j->n_open++];
    open->flow = flow;
    open->dims = bounds->model->shape[flow->tensor].dims;
    open->from = 0;
    while (j->stage[open->from].level < flow->child) open->from++;
    if (flow->child <= j->query.last) {
        set_edges(j, open);
        return;
    }
    const sx_largest_tiles *rows = &bounds->tiles->largest[flow->child][bounds->outline.keep[flow->child]];
    for (int d = 0; d < n; d++) {
        open->fewest[d] = rows->n > 0 ? UINT32_MAX : 1;
        for (size_t k = 0; k < rows->n; k++) {
            uint32_t blocks = rows->blocks[k * (size_t)n + (size_t)d];
            if (blocks < open->fewest[d]) open->fewest[d] = blocks;
        }
    }
}

/* Whether a stage may decide a flow into its level: of windows only where that has one instance. */
static bool may_decide(const sx_model *model, const sx_imperfect_flow *flow) {
    return model->shape[flow->tensor].unit || model->level[flow->child].instances == 1;
}

/* Whether stages may decide a flow that the decided levels do not: of windows that into a stage alone. */
static bool is_open_flow(const sx_join *j, const sx_imperfect_flow *flow) {
    const sx_model *model = j->prefix->bounds->model;
    if (model->shape[flow->tensor].unit) return true;
    for (int i = 0; i < j->n_stages; i++)
        if (j->stage[i].level == flow->child) return may_decide(model, flow);
    return false;
}

/* Sums up the flows that no stage decides and lists the others. */
static void sort_flows(sx_join *j) {
    const sx_prefix_bound *prefix = j->prefix;
    for (int k = 0; k < prefix->n_flows; k++) {
        const sx_imperfect_flow *flow = &prefix->flow[k];
        double asked = flow->asked, filled = flow->filled;
        if (flow->child > j->stage[j->n_stages - 1].level) continue;
        if ((flow->child <= j->query.last &&
             sx_prefix_flow(prefix, &j->query, j->first, flow, &asked, &filled)) ||
            !is_open_flow(j, flow))
            add_fixed(j, flow, asked, filled);
        else
            list_open(j, flow);
    }
}

double sx_stage_energy(sx_join *j, sx_stage *at) {
    const sx_prefix_bound *prefix = j->prefix;
    sx_imperfect_sum sum = {0};
    memcpy(at->blocks, at->least, sizeof at->blocks);
    for (int k = 0; k < prefix->n_flows; k++) {
        const sx_imperfect_flow *flow = &prefix->flow[k];
        if (flow->child != at->level || !may_decide(prefix->bounds->model, flow)) continue;
        sx_open_flow open = {.flow = flow, .dims = prefix->bounds->model->shape[flow->tensor].dims};
        if (is_moved(j, &open, at, 0))
            add_moved(j, &open, at, &sum);
        else
            sx_imperfect_sum_flow(prefix->bounds, flow, flow->asked, flow->filled, &sum);
    }
    return sum.energy;
}

/* Sets the most steps of the first unit along each dimension that the limit of values admits, where tiles of levels that are not
 * decided may move in two rounds: with flows at their least. */
static void limit_steps(sx_join *j) {
    const sx_imperfect_bound *bounds = j->prefix->bounds;
    sx_imperfect_sum sum = j->stage[j->n_stages - 1].fixed;
    unsigned dims = 0;
    memset(j->most_steps, 0, sizeof j->most_steps);
    for (int k = 0; k < j->n_open; k++) {
        const sx_imperfect_flow *flow = j->open[k].flow;
        sx_imperfect_sum_flow(bounds, flow, flow->asked, flow->filled, &sum);
        if (flow->child > j->query.last && flow->child < j->stage[j->n_stages - 1].level)
            dims |= j->open[k].dims;
    }
    const double all = sx_join_steps(j, -1);
    for (; dims && j->goal->limit < INFINITY; dims &= dims - 1) {
        const int d = __builtin_ctz(dims);
        uint64_t low = (uint64_t)j->steps[d], high = 2 * low + 2;
        if (single_side(&j->prefix->decided, j->query.last, d) == 1) continue;
        while (low < high) {
            const uint64_t middle = low + (high - low + 1) / 2;
            const sx_score score = sx_imperfect_sum_score(bounds, &sum, all / j->steps[d] * (double)middle);
            if (j->goal->value(j->goal->rule, &score) < j->goal->limit)
                low = middle;
            else
                high = middle - 1;
        }
        j->most_steps[d] = low;
    }
}

bool sx_join_list(sx_join *j, const sx_largest_tiles *given) {
    const sx_decided *decided = &j->prefix->decided;
    list_stages(j, given);
    if (j->n_stages == 0) return false;
    for (int d = 0; d < decided->model->n_dims; d++) {
        uint64_t base = decided->reach[j->query.last + 1][d] * j->stage[0].side[d];
        j->all[d] = (uint32_t)((decided->model->size[d] - 1) / base + 1);
        j->steps[d] = (double)sx_decided_steps(decided, j->query.last, d, j->query.ranged >> d & 1);
    }
    sort_flows(j);
    limit_steps(j);
    return !j->crowded;
}
