/* The machine of a certificate. Energies become integers: all of them times the least number that makes them so. */
#include "check/reader.h"

/* The energies of a level and of the compute units, before they are scaled. */
enum { LEAK = SX_N_ACCESSES, ADDRESS, HOP, ROUTER, N_ENERGIES };
static const char *const energy_keys[N_ENERGIES] = {"read_energy",  "fill_energy",     "update_energy",
                                                    "leak_energy",  "addr-gen-energy", "energy-per-hop",
                                                    "router-energy"};

static sx_status read_mesh(const sx_node *map, int64_t mesh[2]) {
    int64_t instances;
    SX_TRY(sx_check_integer(map, "meshX", 1, INT32_MAX, &mesh[0]));
    SX_TRY(sx_check_integer(map, "meshY", 1, INT32_MAX, &mesh[1]));
    SX_TRY(sx_check_integer(map, "instances", 1, INT64_MAX, &instances));
    return instances == mesh[0] * mesh[1] ? SX_OK
                                          : sx_error_at(map->place, "the instances do not fill the mesh");
}

/* Whether a list of names has a tensor, by its name or alias. */
static sx_status names_tensor(const sx_node *list, const sx_problem *problem, int v, bool *out) {
    *out = false;
    if (!list) return SX_OK;
    SX_TRY(sx_node_expect(list, SX_NODE_LIST, "a list of tensors"));
    for (size_t i = 0; i < list->n; i++) {
        const char *name;
        SX_TRY(sx_node_text(list->item[i], "tensor", &name));
        *out |= sx_problem_tensor(problem, name) == v;
    }
    return SX_OK;
}

/* Reads which tensors a level is built to keep: those of `keep` or, without it, all; less those of `bypass`. */
static sx_status read_may(const sx_node *map, const sx_problem *problem, sx_check_level *out) {
    const sx_node *keep = sx_node_get(map, "keep"), *bypass = sx_node_get(map, "bypass");
    for (int v = 0; v < problem->n_tensors; v++) {
        bool kept, bypassed;
        SX_TRY(names_tensor(keep, problem, v, &kept));
        SX_TRY(names_tensor(bypass, problem, v, &bypassed));
        if ((kept || !keep || keep->n == 0) && !bypassed && !out->transparent) out->may |= 1u << v;
    }
    return SX_OK;
}

/* Reads how much a word of each tensor counts at the ports: the first name that is the tensor's decides. */
static sx_status read_scales(const sx_node *map, const sx_problem *problem, sx_check_level *out,
                             sx_check_doubt *doubt) {
    const sx_node *scales = sx_node_get(map, "per_dataspace_bandwidth_consumption_scale");
    for (int v = 0; v < SX_MAX_TENSORS; v++) out->port_scale[v] = (sx_ratio){1, 1};
    if (!scales) return SX_OK;
    SX_TRY(sx_node_expect(scales, SX_NODE_MAP, "the scales of bandwidths"));
    for (int v = 0; v < problem->n_tensors; v++)
        for (size_t i = 0; i < scales->n; i++)
            if (sx_problem_tensor(problem, scales->pair[i].key) == v) {
                SX_TRY(sx_check_ratio(scales, scales->pair[i].key, &out->port_scale[v], doubt));
                break;
            }
    return SX_OK;
}

/* Reads capacity, banks and widths. */
static sx_status read_capacity(const sx_node *map, sx_check_level *out, sx_check_doubt *doubt) {
    sx_ratio buffering;
    sx_wide room;
    out->entries = out->usable = -1;
    if (sx_node_get(map, "entries")) SX_TRY(sx_check_integer(map, "entries", 0, INT64_MAX, &out->entries));
    if (sx_node_get(map, "banks")) SX_TRY(sx_check_integer(map, "banks", 0, INT32_MAX, &out->banks));
    SX_TRY(sx_check_integer(map, "word-bits", 1, INT32_MAX, &out->word_bits));
    SX_TRY(sx_check_integer(map, "block-size", 1, INT32_MAX, &out->block_size));
    SX_TRY(sx_check_integer(map, "cluster-size", 1, INT32_MAX, &out->cluster_size));
    SX_TRY(sx_check_ratio(map, "multiple-buffering", &buffering, doubt));
    SX_TRY(sx_check_ratio(map, "min-utilization", &out->min_utilization, doubt));
    if (buffering.num < 1 || out->entries < 0) return SX_OK;
    room = (sx_wide)out->entries * buffering.den / buffering.num;
    out->usable = (int64_t)room;
    return SX_OK;
}

/* Reads the ports and the network. */
static sx_status read_traffic(const sx_node *map, sx_check_level *out, sx_check_doubt *doubt) {
    static const char *const ports[SX_N_PORTS] = {"read_bandwidth", "write_bandwidth", "shared_bandwidth"};
    for (int i = 0; i < SX_N_PORTS; i++)
        if (sx_node_get(map, ports[i])) SX_TRY(sx_check_ratio(map, ports[i], &out->port[i], doubt));
    for (int i = 0; i < SX_N_PORTS; i++)
        if (out->port[i].den && out->port[i].num == 0)
            sx_check_doubt_add(doubt, "a bandwidth of %s is 0", out->name);
    if (sx_node_get(map, "network_fill_latency"))
        SX_TRY(sx_check_integer(map, "network_fill_latency", 0, INT32_MAX, &out->fill_latency));
    if (sx_node_get(map, "network_drain_latency"))
        SX_TRY(sx_check_integer(map, "network_drain_latency", 0, INT32_MAX, &out->drain_latency));
    return SX_OK;
}

static sx_status read_level(const sx_node *map, const sx_problem *problem, sx_check_level *out,
                            sx_ratio energy[N_ENERGIES], sx_check_doubt *doubt) {
    static const char *const keys[] = {"name",
                                       "technology",
                                       "entries",
                                       "instances",
                                       "meshX",
                                       "meshY",
                                       "word-bits",
                                       "block-size",
                                       "cluster-size",
                                       "banks",
                                       "multiple-buffering",
                                       "min-utilization",
                                       "read_bandwidth",
                                       "write_bandwidth",
                                       "shared_bandwidth",
                                       "reduction_supported",
                                       "power_gated_at",
                                       "read_energy",
                                       "fill_energy",
                                       "update_energy",
                                       "leak_energy",
                                       "addr-gen-energy",
                                       "energy-per-hop",
                                       "router-energy",
                                       "network_fill_latency",
                                       "network_drain_latency",
                                       "area",
                                       "latency",
                                       "transparent",
                                       "keep",
                                       "bypass",
                                       "per_dataspace_bandwidth_consumption_scale"};
    const sx_node *name;
    SX_TRY(sx_check_keys(map, "a level", keys, sizeof keys / sizeof *keys, doubt));
    SX_TRY(sx_node_require(map, "name", "a level", &name));
    SX_TRY(sx_node_name(name, "name", out->name));
    SX_TRY(read_mesh(map, out->mesh));
    SX_TRY(sx_node_get_bool(map, "transparent", &out->transparent));
    SX_TRY(sx_check_flag(map, "reduction_supported", &out->adds));
    for (int i = 0; i < N_ENERGIES; i++) SX_TRY(sx_check_ratio(map, energy_keys[i], &energy[i], doubt));
    SX_TRY(read_capacity(map, out, doubt));
    SX_TRY(read_traffic(map, out, doubt));
    SX_TRY(read_scales(map, problem, out, doubt));
    return read_may(map, problem, out);
}

/* Sets the fan-outs; an error where a mesh is not a multiple of the next outer one. */
static sx_status set_fanouts(const sx_node *list, sx_check_machine *m) {
    for (int s = 0; s < m->n_levels; s++)
        for (int i = 0; i < 2; i++) {
            int64_t inner = s ? m->level[s - 1].mesh[i] : m->compute_mesh[i];
            if (inner % m->level[s].mesh[i])
                return sx_error_at(list->item[s]->place, "the meshes do not divide");
            m->level[s].fanout[i] = inner / m->level[s].mesh[i];
        }
    return SX_OK;
}

/* Finds the levels that gate others; every level itself where nothing is said. */
static sx_status set_gates(const sx_node *list, sx_check_machine *m) {
    for (int s = 0; s < m->n_levels; s++) {
        const sx_node *gate = sx_node_get(list->item[s], "power_gated_at");
        m->level[s].gate = s;
        if (gate) SX_TRY(sx_check_find_level(gate, m, &m->level[s].gate));
    }
    return SX_OK;
}

/* An energy in units of 1 / scale; false where it is so large that sums of a few prices might not fit. */
static bool scale_energy(sx_ratio energy, int64_t scale, int64_t *out) {
    return !__builtin_mul_overflow(energy.num, scale / energy.den, out) && *out <= (int64_t)1 << 54;
}

/* Makes all energies integers: the scale is a multiple of every denominator and, for accesses, of the words (and the
 * bits of a word, where tensors have widths of their own) of a vector besides, so that parts of a vector have integer
 * prices. Half hops have one, too. */
static bool scale_all(sx_check_machine *m, const sx_problem *problem, sx_ratio (*energy)[N_ENERGIES],
                      sx_ratio compute) {
    int64_t widths = 0, scale = compute.den;
    for (int v = 0; v < problem->n_tensors; v++) widths |= problem->tensor[v].bits;
    for (int s = 0; s < m->n_levels; s++)
        for (int i = 0; i < N_ENERGIES; i++) {
            int64_t den = energy[s][i].den, words = i < SX_N_ACCESSES ? m->level[s].block_size : 2;
            int64_t parts = words * (widths ? m->level[s].word_bits : 1);
            if ((i < SX_N_ACCESSES || i >= HOP) && energy[s][i].num)
                if (__builtin_mul_overflow(den, parts / sx_gcd(parts, energy[s][i].num), &den)) return false;
            if (!sx_lcm_add(&scale, den)) return false;
        }
    m->scale = scale;
    bool good = scale_energy(compute, scale, &m->compute_energy);
    for (int s = 0; s < m->n_levels; s++) {
        sx_check_level *level = &m->level[s];
        int64_t *field[N_ENERGIES] = {&level->energy[0], &level->energy[1], &level->energy[2], &level->leak,
                                      &level->address,   &level->hop,       &level->router};
        for (int i = 0; i < N_ENERGIES; i++) good &= scale_energy(energy[s][i], scale, field[i]);
    }
    return good;
}

/* Reads the compute units. */
static sx_status read_compute(const sx_node *map, sx_check_machine *out, sx_ratio *energy,
                              sx_check_doubt *doubt) {
    static const char *const keys[] = {"name", "instances", "meshX", "meshY", "word-bits", "energy", "area"};
    const sx_node *compute;
    SX_TRY(sx_node_require(map, "arithmetic", "the architecture", &compute));
    SX_TRY(sx_check_keys(compute, "the compute units", keys, sizeof keys / sizeof *keys, doubt));
    SX_TRY(read_mesh(compute, out->compute_mesh));
    return sx_check_ratio(compute, "energy", energy, doubt);
}

/* Reads the law of the outermost level; there is no rule for others. */
static sx_status read_laws(const sx_node *levels, sx_check_machine *out, sx_check_doubt *doubt) {
    for (size_t s = 0; s < levels->n; s++) {
        const sx_node *law = sx_node_get(levels->item[s], "latency");
        if (!law) continue;
        if (s + 1 < levels->n) {
            sx_check_doubt_add(doubt,
                               "there is no rule for the key 'latency' of a level inside the outermost");
            continue;
        }
        out->lawful = true;
        SX_TRY(sx_check_read_law(law, &out->law, doubt));
    }
    return SX_OK;
}

sx_status sx_check_read_machine(const sx_node *map, const sx_problem *problem, sx_check_machine *out,
                                sx_check_doubt *doubt) {
    static const char *const keys[] = {"name", "arithmetic", "storage", "global_cycle_seconds"};
    sx_ratio energy[SX_MAX_LEVELS][N_ENERGIES], compute;
    const sx_node *levels;
    SX_TRY(sx_check_keys(map, "the architecture", keys, sizeof keys / sizeof *keys, doubt));
    SX_TRY(read_compute(map, out, &compute, doubt));
    SX_TRY(sx_node_require(map, "storage", "the architecture", &levels));
    SX_TRY(sx_node_expect(levels, SX_NODE_LIST, "storage"));
    if (levels->n < 1 || levels->n > SX_MAX_LEVELS)
        return sx_error_at(levels->place, "an architecture has 1 to %d levels", SX_MAX_LEVELS);
    for (size_t s = 0; s < levels->n; s++)
        SX_TRY(read_level(levels->item[s], problem, &out->level[s], energy[s], doubt));
    out->n_levels = (int)levels->n;
    SX_TRY(read_laws(levels, out, doubt));
    SX_TRY(set_fanouts(levels, out));
    SX_TRY(set_gates(levels, out));
    if (!scale_all(out, problem, energy, compute)) {
        sx_check_doubt_add(doubt, "the energies have no common unit that 64-bit integers can count");
        out->scale = 1;
    }
    return SX_OK;
}
