/* A storage level or compute unit from its attributes, as Timeloop's model reads them (src/model/buffer.cpp,
 * arithmetic.cpp, network-legacy.cpp of its public source). */
#include "base/text.h"
#include "frontend/timeloop/arch_builder.h"
#include "ir/arch.h"
#include "text/quantity.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#define FIRST(scope, ...)                                                                                    \
    sx_attribute_first(scope, (const char *const[]){__VA_ARGS__},                                            \
                       sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* The keys of one meaning, the one that counts first. */
static const char *const word_keys[] = {"word_bits", "word_width", "datawidth"};
static const char *const operand_keys[] = {"word_bits", "datawidth"};
static const char *const block_keys[] = {"block_size", "n_words"};
static const char *const width_keys[] = {"width", "memory_width", "data_storage_width"};
static const char *const depth_keys[] = {"depth", "memory_depth", "data_storage_depth"};
static const char *const metadata_keys[] = {"metadata_datawidth", "metadata_word_bits"};

#define N_KEYS(keys) (sizeof(keys) / sizeof *(keys))
#define FIRST_OF(scope, keys) sx_attribute_first(scope, keys, N_KEYS(keys))

/* Warns of keys that contradict one of the same meaning. */
static sx_status check_meanings(const sx_arch_builder *b, const sx_arch_component *e) {
    const sx_attribute_scope *a = e->attributes;
    SX_TRY(sx_attribute_agree(b->input, a, word_keys, N_KEYS(word_keys)));
    SX_TRY(sx_attribute_agree(b->input, a, block_keys, N_KEYS(block_keys)));
    SX_TRY(sx_attribute_agree(b->input, a, width_keys, N_KEYS(width_keys)));
    SX_TRY(sx_attribute_agree(b->input, a, depth_keys, N_KEYS(depth_keys)));
    return sx_attribute_agree(b->input, a, metadata_keys, N_KEYS(metadata_keys));
}

/* The place of an attribute, or that of the element. */
static sx_place place_of(const sx_arch_component *e, const char *key) {
    const sx_pair *pair = key ? sx_attribute_pair(e->attributes, key) : NULL;
    return pair ? pair->value->place : e->place;
}

static sx_status at_least_1(const sx_arch_component *e, const char *key, uint64_t value) {
    if (value >= 1) return SX_OK;
    return sx_error_at(place_of(e, key), "'%s' is 0; it must be at least 1", key);
}

/* Reads the first of some keys that is given, as a whole number from 1. */
static sx_status read_u32(const sx_arch_component *e, const char *key, uint32_t *out) {
    if (!key) return SX_OK;
    SX_TRY(sx_attribute_u32(e->attributes, key, out));
    return at_least_1(e, key, *out);
}

static sx_status copy_name(const sx_arch_component *e, char *field) {
    if (e->name_size == 0) return sx_error_at(e->place, "the name is missing");
    if (e->name_size >= SX_NAME_SIZE)
        return sx_error_at(e->place, "the name '%.*s...' is too long; at most %d bytes are allowed", 24,
                           e->name, SX_NAME_SIZE - 1);
    memset(field, 0, SX_NAME_SIZE);
    memcpy(field, e->name, e->name_size);
    return SX_OK;
}

/* The error for instances that do not fill their mesh; x or y is 0 where it is not given. */
static sx_status bad_mesh(const sx_arch_component *e, uint64_t n, uint64_t x, uint64_t y) {
    sx_place place = place_of(e, FIRST(e->attributes, "meshX", "meshY"));
    int size = (int)e->name_size;
    sx_status error;
    if (x && y)
        error = sx_error_at(place, "'%.*s' has %llu instances on a mesh of %llu x %llu", size, e->name,
                            (unsigned long long)n, (unsigned long long)x, (unsigned long long)y);
    else
        error = sx_error_at(place, "'%.*s' has %llu instances, which is not a multiple of %s (%llu)", size,
                            e->name, (unsigned long long)n, x ? "meshX" : "meshY",
                            (unsigned long long)(x ? x : y));
    return sx_error_hint(error, "instances must be meshX * meshY");
}

/* Instances and their mesh: what is missing follows from the rest, a mesh being one row where nothing says
 * otherwise. */
static sx_status read_mesh(const sx_arch_component *e, uint64_t *instances, uint64_t *mesh_x,
                           uint64_t *mesh_y) {
    uint64_t n = e->instances, x = e->mesh_x, y = e->mesh_y;
    const uint64_t limit = (uint64_t)1 << 31;
    if (!e->mesh_x) {
        SX_TRY(sx_attribute_u64(e->attributes, "instances", &n));
        SX_TRY(sx_attribute_u64(e->attributes, "meshX", &x));
        SX_TRY(sx_attribute_u64(e->attributes, "meshY", &y));
    }
    const char *none = sx_attribute_pair(e->attributes, "instances") && !n ? "instances"
                       : sx_attribute_pair(e->attributes, "meshX") && !x   ? "meshX"
                       : sx_attribute_pair(e->attributes, "meshY") && !y   ? "meshY"
                                                                           : NULL;
    if (none) return sx_error_at(place_of(e, none), "'%s' of '%.*s' is 0", none, (int)e->name_size, e->name);
    if (n > limit || x > limit || y > limit)
        return sx_error_at(e->place, "'%.*s' has more than 2^31 instances", (int)e->name_size, e->name);
    if (!n && !(x && y))
        return sx_error_hint(
            sx_error_at(e->place, "'%.*s' does not say how many there are", (int)e->name_size, e->name),
            "give 'instances', or 'meshX' and 'meshY'");
    if (!n) n = x * y;
    if (!x && !y) x = n;
    if (!x && n % y == 0) x = n / y;
    if (!y && n % x == 0) y = n / x;
    if (x * y != n) return bad_mesh(e, n, x, y);
    *instances = n;
    *mesh_x = x;
    *mesh_y = y;
    return SX_OK;
}

/* The words of a vector access and the instances that share one, from the width of a memory. Where a cluster
 * is given, the width may be that of one of its instances. */
static sx_status read_width(const sx_arch_component *e, bool cluster_default, sx_storage *s) {
    const char *block_key = FIRST_OF(e->attributes, block_keys);
    const char *width_key = FIRST_OF(e->attributes, width_keys);
    bool cluster = sx_attribute_pair(e->attributes, "cluster_size") || cluster_default;
    uint32_t width = 0;
    SX_TRY(read_u32(e, block_key, &s->block_size));
    if (sx_attribute_pair(e->attributes, "cluster_size"))
        SX_TRY(read_u32(e, "cluster_size", &s->cluster_size));
    if (!width_key) return SX_OK;
    SX_TRY(read_u32(e, width_key, &width));
    uint64_t unit = (uint64_t)s->word_bits * s->block_size * s->cluster_size, times = width / unit;
    if (s->cluster_size > 1 && width == (uint64_t)s->word_bits * s->block_size) return SX_OK;
    if (width % unit == 0 && (!block_key || !cluster || times == 1)) {
        if (!block_key)
            s->block_size = (uint32_t)times;
        else if (!cluster)
            s->cluster_size = (uint32_t)times;
        return SX_OK;
    }
    return sx_error_hint(sx_error_at(place_of(e, width_key),
                                     "'%s' is %u bits, which is not word bits * block size * cluster size "
                                     "(%u * %u * %u)",
                                     width_key, width, s->word_bits, s->block_size, s->cluster_size),
                         "the width must hold whole words");
}

/* The capacity that is given in bytes, as in `entries: 16 KB`; *given: it is. */
static sx_status read_bytes(const sx_arch_component *e, const char *key, sx_storage *s, bool *given) {
    const sx_node *node = sx_attribute_pair(e->attributes, key)->value;
    sx_quantity size;
    *given = node->kind == SX_NODE_SCALAR && sx_quantity_parse(node->text, &size) && size.bytes;
    if (!*given) return SX_OK;
    const double words = size.value * 8 / s->word_bits;
    if (words < 1 || words != floor(words) || words > SX_MAX_CAPACITY)
        return sx_error_at(node->place, "'%s' is %.64s, which is not 1 to 2^40 whole words of %u bits", key,
                           node->text, s->word_bits);
    s->entries = (uint64_t)words;
    return SX_OK;
}

/* Warns where a depth beside the entries, in the same map, makes another size. */
static sx_status check_depth(const sx_arch_builder *b, const sx_arch_component *e, const char *depth,
                             const sx_storage *s) {
    const sx_pair *pair = sx_attribute_pair(e->attributes, depth);
    uint64_t rows;
    if (sx_node_get(e->attributes->map, depth) != pair->value ||
        sx_attribute_pair(e->attributes, "entries")->value != sx_node_get(e->attributes->map, "entries"))
        return SX_OK;
    SX_TRY(sx_attribute_u64(e->attributes, depth, &rows));
    if (rows <= s->entries && rows * s->block_size == s->entries) return SX_OK;
    return sx_input_warn(b->input, pair->place, "'%.64s' is ignored: 'entries' beside it says otherwise",
                         pair->key);
}

/* A level without a word keeps nothing: its loops and its fan-out remain. */
static sx_status make_transparent(const sx_arch_builder *b, const sx_arch_component *e, const char *key,
                                  sx_storage *s, sx_level_draft *draft) {
    s->entries = 1;
    s->transparent = draft->empty = true;
    return sx_input_warn(b->input, place_of(e, key), "'%.64s' of '%.64s' is 0: the level keeps nothing", key,
                         s->name);
}

/* The capacity in words: at most 2^40, as which a larger one by its depth counts (CiMLoop writes 2^32 - 1 for none). */
static sx_status read_size(const sx_arch_builder *b, const sx_arch_component *e, sx_storage *s,
                           sx_level_draft *draft) {
    const sx_attribute_scope *a = e->attributes;
    const char *depth = FIRST_OF(a, depth_keys);
    const char *key = sx_attribute_pair(a, "entries") ? "entries" : depth ? depth : "sizeKB";
    if (!sx_attribute_pair(a, key)) return SX_OK;
    uint64_t size = 0;
    bool bytes;
    SX_TRY(read_bytes(e, key, s, &bytes));
    if (bytes) return SX_OK;
    SX_TRY(sx_attribute_u64(a, key, &size));
    if (size == 0) return make_transparent(b, e, key, s, draft);
    const bool kilobytes = strcmp(key, "sizeKB") == 0;
    const double times = key == depth ? s->block_size : kilobytes ? 8192 : 1;
    const double words = floor((double)size * times / (kilobytes ? s->word_bits : 1));
    if (words > SX_MAX_CAPACITY && key != depth)
        return sx_error_at(place_of(e, key), "'%s' is more than 2^40 words", key);
    if (words < 1)
        return sx_error_at(place_of(e, key), "'%s' is less than a word of %u bits", key, s->word_bits);
    if (!kilobytes && sx_attribute_pair(a, "sizeKB"))
        return sx_error_at(place_of(e, "sizeKB"), "'sizeKB' and '%s' both give the size of '%.*s'", key,
                           (int)e->name_size, e->name);
    s->entries = (uint64_t)fmin(words, SX_MAX_CAPACITY);
    return key == depth || !depth ? SX_OK : check_depth(b, e, depth, s);
}

/* Reads a bandwidth, where it is there: in words per cycle, or in bytes per second (`25 GB/s`) as words per second, of which
 * *rate is the node until the clock is known. */
static sx_status read_bandwidth(const sx_arch_component *e, const char *key, const sx_storage *s, double *out,
                                const sx_node **rate) {
    const sx_pair *pair = sx_attribute_pair(e->attributes, key);
    double bytes;
    if (!pair) return SX_OK;
    *rate = NULL;
    if (pair->value->kind != SX_NODE_SCALAR || !sx_rate_parse(pair->value->text, &bytes))
        return sx_attribute_double(e->attributes, key, out);
    *rate = pair->value;
    *out = bytes * 8 / s->word_bits;
    return SX_OK;
}

static sx_status read_bandwidths(const sx_arch_component *e, sx_storage *s, sx_level_draft *draft) {
    const sx_attribute_scope *a = e->attributes;
    double both = 2 * s->read_bandwidth;
    SX_TRY(read_bandwidth(e, "bandwidth", s, &both, &draft->rate[0]));
    draft->rate[1] = draft->rate[0];
    s->read_bandwidth = s->write_bandwidth = both / 2;
    SX_TRY(read_bandwidth(e, "shared_bandwidth", s, &s->shared_bandwidth, &draft->rate[2]));
    SX_TRY(read_bandwidth(e, "read_bandwidth", s, &s->read_bandwidth, &draft->rate[0]));
    SX_TRY(read_bandwidth(e, "write_bandwidth", s, &s->write_bandwidth, &draft->rate[1]));
    const sx_pair *scales = sx_attribute_pair(a, "per_dataspace_bandwidth_consumption_scale");
    if (!scales) return SX_OK;
    SX_TRY(sx_node_expect(scales->value, SX_NODE_MAP, "'per_dataspace_bandwidth_consumption_scale'"));
    if (scales->value->n > SX_MAX_TENSORS)
        return sx_error_at(scales->place, "at most %d tensors can have a bandwidth scale", SX_MAX_TENSORS);
    for (size_t i = 0; i < scales->value->n; i++) {
        const sx_pair *pair = &scales->value->pair[i];
        sx_tensor_scale *scale = &s->bandwidth_scale[i];
        sx_status named = sx_text_name(scale->tensor, sizeof scale->tensor, pair->key, "a tensor");
        if (named) return sx_error_place(named, pair->place);
        SX_TRY(sx_attribute_number(a, pair->value, pair->key, &scale->scale));
    }
    s->n_scales = (uint8_t)scales->value->n;
    return SX_OK;
}

/* The network to the next inner level. Its energy per hop follows later where only wires are described. */
static sx_status read_network(const sx_arch_component *e, sx_storage *s, sx_level_draft *draft) {
    const sx_attribute_scope *a = e->attributes;
    const sx_pair *type = sx_attribute_pair(a, "network_type");
    if (type && sx_node_is(type->value, "M:N"))
        return sx_error_hint(sx_error_at(type->value->place, "the network type M:N is not supported"),
                             "several sources that share a multicast are not modelled; use 1:N");
    draft->network_bits = s->word_bits;
    draft->hop_given = sx_attribute_pair(a, "energy_per_hop");
    draft->tile_given = sx_attribute_pair(a, "tile_width");
    draft->router_given = sx_attribute_pair(a, "router_energy");
    SX_TRY(sx_builder_connect(e, false, draft->network));
    SX_TRY(sx_attribute_u32(a, "network_word_bits", &draft->network_bits));
    SX_TRY(sx_attribute_double(a, "energy_per_hop", &s->energy_per_hop));
    SX_TRY(sx_attribute_double(a, "router_energy", &s->router_energy));
    SX_TRY(sx_attribute_double(a, "wire_energy", &draft->wire_energy));
    SX_TRY(sx_attribute_double(a, "tile_width", &draft->tile_width));
    SX_TRY(sx_attribute_u64(a, "network_fill_latency", &s->fill_latency));
    return sx_attribute_u64(a, "network_drain_latency", &s->drain_latency);
}

/* Refuses an attribute that would change results if it were true. */
static sx_status refuse_attribute(const sx_arch_component *e, const char *key, const char *why) {
    bool on = false;
    SX_TRY(sx_attribute_bool(e->attributes, key, &on));
    if (!on) return SX_OK;
    return sx_error_hint(
        sx_error_at(place_of(e, key), "'%s' is not supported and would change the result", key), "%s", why);
}

static sx_status read_behaviour(const sx_arch_component *e, bool reduces, sx_storage *s,
                                sx_level_draft *draft) {
    const sx_attribute_scope *a = e->attributes;
    SX_TRY(refuse_attribute(e, "allow_overbooking", "tiles must fit; leave it out"));
    SX_TRY(
        refuse_attribute(e, "has_power_gating", "name the level that gates this one with 'power_gated_at'"));
    s->reduction_supported = reduces;
    SX_TRY(sx_attribute_bool(a, "reduction_supported", &s->reduction_supported));
    SX_TRY(sx_attribute_double(a, "multiple_buffering", &s->multiple_buffering));
    SX_TRY(sx_attribute_double(a, "min_utilization", &s->min_utilization));
    draft->gate = sx_attribute_pair(a, "power_gated_at");
    double energy = 0, address = 0;
    draft->energy_given = sx_attribute_pair(a, "vector_access_energy");
    SX_TRY(sx_attribute_double(a, "vector_access_energy", &energy));
    SX_TRY(sx_attribute_double(a, "addr_gen_energy", &address));
    s->read_energy = s->fill_energy = s->update_energy = energy;
    s->addr_gen_energy = address > 0 ? address : 0;
    return SX_OK;
}

/* What the level has for sparse tensors. */
static sx_status read_metadata(const sx_arch_component *e, sx_storage *s) {
    const sx_attribute_scope *a = e->attributes;
    sx_metadata_store *m = &s->metadata;
    const char *bits = FIRST_OF(a, metadata_keys);
    if (bits) SX_TRY(sx_attribute_u32(a, bits, &m->word_bits));
    SX_TRY(sx_attribute_u32(a, "metadata_width", &m->width));
    SX_TRY(sx_attribute_u64(a, "metadata_depth", &m->depth));
    SX_TRY(sx_attribute_u32(a, "metadata_storage_width", &m->width));
    SX_TRY(sx_attribute_u64(a, "metadata_storage_depth", &m->depth));
    SX_TRY(sx_attribute_bool(a, "decompression_supported", &m->decompresses));
    SX_TRY(sx_attribute_bool(a, "compression_supported", &m->compresses));
    return refuse_attribute(e, "tile_partition_supported", "tiles are cut before the run; leave it out");
}

/* The area of an instance, um^2; a cluster's is shared by its instances. */
static sx_status read_area(const sx_arch_component *e, uint32_t cluster_size, double *out) {
    const char *key = FIRST(e->attributes, "area", "cluster_area");
    double area = 0;
    if (!key) return SX_OK;
    SX_TRY(sx_attribute_double(e->attributes, key, &area));
    if (!isfinite(area) || area < 0)
        return sx_error_at(place_of(e, key), "'%s' is %g; it must be a finite number that is not negative",
                           key, area);
    *out = strcmp(key, "area") == 0 ? area : area / cluster_size;
    return SX_OK;
}

/* The duration of a cycle, of which an architecture has one. */
static sx_status read_clock(sx_arch_builder *b, const sx_arch_component *e) {
    double seconds = 0;
    if (!sx_attribute_pair(e->attributes, SX_CYCLE_KEY)) return SX_OK;
    SX_TRY(sx_attribute_double(e->attributes, SX_CYCLE_KEY, &seconds));
    return sx_builder_clock(b, place_of(e, SX_CYCLE_KEY), seconds);
}

sx_status sx_builder_clock(sx_arch_builder *b, sx_place place, double seconds) {
    if (!(seconds >= SX_MIN_CYCLE && seconds <= SX_MAX_CYCLE))
        return sx_error_hint(sx_error_at(place, "'" SX_CYCLE_KEY "' is %g", seconds),
                             "a cycle takes seconds, such as 1e-9 for 1 GHz");
    if (!sx_clock_usual(seconds))
        SX_TRY(sx_input_warn(b->input, place,
                             "'" SX_CYCLE_KEY "' is %g s, a clock of %g Hz: it is in seconds, 1e-9 for 1 GHz",
                             seconds, 1 / seconds));
    if (b->arch.cycle_seconds > 0 && b->arch.cycle_seconds != seconds)
        return sx_error_at(place, "'" SX_CYCLE_KEY "' is %g here and %g before; there is one clock", seconds,
                           b->arch.cycle_seconds);
    b->arch.cycle_seconds = seconds;
    return SX_OK;
}

/* Makes room for one more level of that element's name. */
static sx_status next_level(sx_arch_builder *b, const sx_arch_component *e, sx_storage **s,
                            sx_level_draft **draft) {
    if (b->arch.n_levels == SX_MAX_LEVELS)
        return sx_error_at(e->place, "there are more than %d storage levels, fan-outs counted",
                           SX_MAX_LEVELS);
    char name[SX_NAME_SIZE];
    SX_TRY(copy_name(e, name));
    if (sx_arch_level(&b->arch, name) >= 0 || (b->has_compute && strcmp(name, b->arch.compute.name) == 0))
        return sx_error_at(e->place, "two components are called '%s'", name);
    *s = &b->arch.level[b->arch.n_levels];
    *draft = &b->draft[b->arch.n_levels];
    sx_storage_init(*s);
    memcpy((*s)->name, name, sizeof name);
    **draft = (sx_level_draft){.place = e->place};
    return SX_OK;
}

/* Reads whether a level is DRAM; a technology may also be a process node, such as 45nm. */
static sx_status read_technology(const sx_arch_builder *b, const sx_arch_component *e, sx_storage *s) {
    const sx_pair *pair = sx_attribute_pair(e->attributes, "technology");
    if (e->class && strstr(e->class, "DRAM"))
        s->technology = SX_DRAM;
    else if (e->class && sx_key_equal(e->class, "dram"))
        SX_TRY(sx_input_warn(b->input, e->place, "the class '%.64s' of '%s' is no DRAM: write it in capitals",
                             e->class, s->name));
    if (!pair) return SX_OK;
    const sx_node *value;
    SX_TRY(sx_attribute_named(e->attributes, pair->value, &value));
    if (value->kind != SX_NODE_SCALAR) return SX_OK;
    if (sx_node_is(value, "DRAM")) s->technology = SX_DRAM;
    if (sx_node_is(value, "DRAM") || sx_node_is(value, "SRAM") || !isalpha((unsigned char)*value->text))
        return SX_OK;
    return sx_input_warn(b->input, value->place,
                         "the technology '%.64s' of '%s' is not known and counts as SRAM: DRAM, SRAM and "
                         "process nodes such as 45nm are",
                         value->text, s->name);
}

/* Whether a text has "cache" in it, in any case. */
static bool names_cache(const char *text, size_t size) {
    for (size_t i = 0; text && i + 5 <= size; i++)
        if (strncasecmp(text + i, "cache", 5) == 0) return true;
    return false;
}

/* Warns of a level that is called a cache, by its name or its class. */
static sx_status warn_cache(const sx_arch_builder *b, const sx_arch_component *e) {
    const sx_pair *stated = sx_node_pair(e->attributes->map, "class");
    const char *text = stated && stated->value->kind == SX_NODE_SCALAR ? stated->value->text : NULL;
    const char *const names[] = {e->class, e->subclass, text};
    bool cache = names_cache(e->name, e->name_size);
    for (int i = 0; i < 3; i++) cache |= names[i] && names_cache(names[i], strlen(names[i]));
    if (!cache) return SX_OK;
    return sx_input_warn(b->input, e->place, "the cache '%.*s' is not counted as one: " SX_NO_CACHES,
                         (int)e->name_size, e->name);
}

/* Reads whether a component's energies are to be scaled. The scale is ignored, so that one which only Python can compute
 * is as good as any. */
static sx_status read_scale(const sx_arch_component *e, bool *scaled) {
    const sx_pair *pair = sx_attribute_pair(e->attributes, "energy_scale");
    const sx_node *value = e->scale ? e->scale : pair ? pair->value : NULL;
    double scale = 1;
    sx_status status = value ? sx_attribute_number(e->attributes, value, "energy_scale", &scale) : SX_OK;
    bool unknown = status && status->code == SX_ERR_INPUT;
    *scaled = unknown || scale != 1;
    if (!unknown) return status;
    sx_status_free(status);
    return SX_OK;
}

sx_status sx_builder_storage(sx_arch_builder *b, const sx_arch_component *e, sx_storage **out) {
    sx_storage *s;
    sx_level_draft *draft;
    SX_TRY(next_level(b, e, &s, &draft));
    SX_TRY(read_technology(b, e, s));
    SX_TRY(read_scale(e, &draft->scaled));
    SX_TRY(check_meanings(b, e));
    SX_TRY(warn_cache(b, e));
    SX_TRY(read_u32(e, FIRST_OF(e->attributes, word_keys), &s->word_bits));
    SX_TRY(read_width(e, b->defaults_v4, s));
    SX_TRY(read_size(b, e, s, draft));
    SX_TRY(read_mesh(e, &s->instances, &s->mesh_x, &s->mesh_y));
    SX_TRY(read_bandwidths(e, s, draft));
    SX_TRY(read_network(e, s, draft));
    SX_TRY(read_behaviour(e, b->defaults_v4 || s->technology != SX_DRAM, s, draft));
    SX_TRY(read_metadata(e, s));
    SX_TRY(sx_builder_law(b, e, s));
    SX_TRY(read_area(e, s->cluster_size, &s->area));
    SX_TRY(read_clock(b, e));
    SX_TRY(sx_builder_describe(b, e, s->technology == SX_DRAM ? SX_COMPONENT_DRAM : SX_COMPONENT_SRAM,
                               &draft->component, draft->class));
    if (s->technology == SX_DRAM && s->cluster_size != 1)
        return sx_error_at(e->place, "the DRAM '%s' has a cluster size of %u; it must be 1", s->name,
                           s->cluster_size);
    b->arch.n_levels++;
    *out = s;
    return SX_OK;
}

sx_status sx_builder_fanout(sx_arch_builder *b, const sx_arch_component *e) {
    sx_storage *s;
    sx_level_draft *draft;
    SX_TRY(next_level(b, e, &s, &draft));
    s->word_bits = 1;
    s->entries = 1;
    s->transparent = true;
    SX_TRY(read_mesh(e, &s->instances, &s->mesh_x, &s->mesh_y));
    SX_TRY(read_network(e, s, draft));
    b->arch.n_levels++;
    return SX_OK;
}

sx_status sx_builder_compute(sx_arch_builder *b, const sx_arch_component *e) {
    if (b->has_compute)
        return sx_error_at(e->place, "'%.*s' is a second compute unit beside '%s'", (int)e->name_size,
                           e->name, b->arch.compute.name);
    sx_compute *c = &b->arch.compute;
    sx_compute_init(c);
    b->compute_place = e->place;
    SX_TRY(copy_name(e, c->name));
    if (sx_arch_level(&b->arch, c->name) >= 0)
        return sx_error_at(e->place, "two components are called '%s'", c->name);
    SX_TRY(sx_attribute_agree(b->input, e->attributes, operand_keys, N_KEYS(operand_keys)));
    SX_TRY(read_u32(e, FIRST_OF(e->attributes, operand_keys), &c->word_bits));
    SX_TRY(read_mesh(e, &c->instances, &c->mesh_x, &c->mesh_y));
    b->compute_energy_given = sx_attribute_pair(e->attributes, "energy");
    SX_TRY(sx_attribute_double(e->attributes, "energy", &c->energy));
    SX_TRY(read_area(e, 1, &c->area));
    SX_TRY(read_clock(b, e));
    SX_TRY(sx_builder_describe(b, e, SX_COMPONENT_MAC, &b->compute, b->compute_class));
    SX_TRY(sx_builder_connect(e, true, b->compute_network));
    SX_TRY(read_scale(e, &b->compute_scaled));
    b->has_compute = true;
    return SX_OK;
}
