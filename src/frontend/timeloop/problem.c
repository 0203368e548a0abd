/* Timeloop's problems: a shape (dimensions, coefficients, data spaces) and an instance (their values). */
#include "base/text.h"
#include "frontend/known_keys.h"
#include "frontend/timeloop/projection.h"
#include "frontend/timeloop/shape.h"
#include "frontend/timeloop/sparse_section.h"
#include "frontend/timeloop/variables.h"

#include <math.h>
#include <string.h>
#include <strings.h>

enum { MAX_COEFFICIENTS = 256 };

typedef struct reader {
    sx_input *input;
    const sx_node *instance;
    sx_problem problem;
    sx_coefficient coefficient[MAX_COEFFICIENTS];
    sx_symbols symbols;
    sx_attribute_scope variables; /* that sizes may be computed from */
} reader;

static const sx_key_rule problem_rules[] = {
    SX_KEY("shape", "text|@shape", "the name of a shape or the shape itself"),
    SX_KEY("instance", "{any}!", "the size of each dimension, and coefficients"),
    SX_KEY("version", "any", "of the format"),
    SX_KEY_IDLE("name"),
    SX_KEY_IDLE("dnn_name"),
    SX_KEY_IDLE("notes"),
    SX_KEY("histograms", "{any}", "of tensors, for expressions with TENSOR_HIST"),
    SX_KEY("densities", "{number|@density|null}|null", "by tensor: a number or a distribution"),
};
const sx_keys sx_keys_problem = SX_KEYS("problem", true, problem_rules);

static const sx_key_rule shape_rules[] = {
    SX_KEY("name", "text", "its name"),
    SX_KEY("dimensions", "names!", "its dimensions"),
    SX_KEY("data_spaces", "[@data_space]!", "its tensors"),
    SX_KEY("coefficients", "[@coefficient]|null", "strides and dilations"),
    SX_KEY("version", "any", "of the format"),
    {"flatten", SX_KEY_UNSUPPORTED, NULL, "any", NULL},
};
const sx_keys sx_keys_shape = SX_KEYS("shape", true, shape_rules);

static const sx_key_rule data_space_rules[] = {
    SX_KEY("name", "text!", "of the tensor"),
    SX_KEY("alias", "text", "another name of it"),
    SX_KEY("projection", "any!", "for each rank the dimensions that make it up, with coefficients"),
    SX_KEY("read_write", "bool", "whether it is the output"),
    SX_KEY_IDLE("ranks"),
    SX_KEY("bits", "count", "bits of an element"),
};
const sx_keys sx_keys_data_space = SX_KEYS("data_space", true, data_space_rules);

static const sx_key_rule coefficient_rules[] = {
    SX_KEY("name", "text!", "its name"),
    SX_KEY("default", "number", "its value where the instance gives none"),
};
const sx_keys sx_keys_coefficient = SX_KEYS("coefficient", true, coefficient_rules);

static SX_MUST_USE sx_status add_dimension(void *user, const char *name, sx_place place) {
    sx_problem *problem = user;
    if (!sx_name_simple(name))
        return sx_error_hint(sx_error_at(place, "'%.64s' cannot be the name of a dimension", name),
                             "names are letters, digits and underscores, shorter than %d bytes",
                             SX_NAME_SIZE);
    if (sx_problem_dim(problem, name) >= 0) return sx_error_at(place, "two dimensions are called '%s'", name);
    if (problem->n_dims == SX_MAX_DIMS) return sx_error_at(place, "more than %d dimensions", SX_MAX_DIMS);
    return sx_error_place(
        sx_text_name(problem->dim_name[problem->n_dims++], SX_NAME_SIZE, name, "a dimension"), place);
}

/* Reads the coefficients with their defaults. */
static SX_MUST_USE sx_status read_coefficients(reader *r, const sx_node *list) {
    if (sx_node_empty(list)) return SX_OK;
    SX_TRY(sx_node_expect(list, SX_NODE_LIST, "'coefficients'"));
    for (size_t i = 0; i < list->n; i++) {
        const sx_node *item = list->item[i], *name;
        sx_coefficient *c = &r->coefficient[i];
        SX_TRY(sx_node_expect(item, SX_NODE_MAP, "a coefficient"));
        if (i == MAX_COEFFICIENTS)
            return sx_error_at(item->place, "more than %d coefficients", MAX_COEFFICIENTS);
        SX_TRY(sx_node_check_keys(r->input, item, "a coefficient", &sx_keys_coefficient));
        SX_TRY(sx_node_require(item, "name", "a coefficient", &name));
        SX_TRY(sx_node_name(name, "name", c->name));
        if (sx_symbols_coefficient(&r->symbols, c->name) || sx_problem_dim(&r->problem, c->name) >= 0)
            return sx_error_at(name->place, "'%s' is already the name of something else", c->name);
        c->place = item->place;
        c->known = sx_node_get(item, "default") != NULL;
        SX_TRY(sx_node_get_i64(item, "default", &c->value));
        r->symbols.n_coefficients++;
    }
    return SX_OK;
}

/* The error for a data space without a projection. */
static SX_MUST_USE sx_status no_projection(const reader *r, const sx_node *space) {
    const sx_problem *p = &r->problem;
    sx_status error =
        sx_error_at(space->place, "data space '%s' has no 'projection'", p->tensor[p->n_tensors].name);
    if (p->n_dims == 0) return error;
    return sx_error_hint(
        error, "it lists the ranks with the dimensions of each, such as 'projection: [ [[%s]], [[%s]] ]'",
        p->dim_name[0], p->dim_name[p->n_dims > 1]);
}

/* Reads how wide the elements of a data space are, where it says. */
static SX_MUST_USE sx_status read_bits(const sx_node *space, sx_tensor *tensor) {
    const sx_node *node = sx_node_get(space, "bits");
    uint64_t bits;
    if (!node) return SX_OK;
    SX_TRY(sx_node_range(node, "bits", 1, SX_MAX_ELEMENT_BITS, &bits));
    return sx_tensor_set_bits(tensor, bits);
}

/* Reads one data space as the next tensor. */
static SX_MUST_USE sx_status read_space(reader *r, const sx_node *space) {
    const sx_node *name, *projection;
    SX_TRY(sx_node_check_keys(r->input, space, "a data space", &sx_keys_data_space));
    if (r->problem.n_tensors == SX_MAX_TENSORS)
        return sx_error_at(space->place, "more than %d data spaces", SX_MAX_TENSORS);
    sx_tensor *tensor = &r->problem.tensor[r->problem.n_tensors];
    SX_TRY(sx_node_require(space, "name", "a data space", &name));
    SX_TRY(sx_node_name(name, "name", tensor->name));
    if (strpbrk(tensor->name, " ,"))
        return sx_error_at(name->place, "a data space's name has a space or a comma");
    if (sx_problem_tensor(&r->problem, tensor->name) != r->problem.n_tensors &&
        sx_problem_tensor(&r->problem, tensor->name) >= 0)
        return sx_error_at(name->place, "two data spaces are called '%s'", tensor->name);
    if (sx_node_get(space, "alias"))
        SX_TRY(sx_node_name(sx_node_get(space, "alias"), "alias", tensor->alias));
    SX_TRY(sx_node_get_bool(space, "read_write", &tensor->output));
    SX_TRY(read_bits(space, tensor));
    projection = sx_node_get(space, "projection");
    if (!projection) return no_projection(r, space);
    SX_TRY(sx_projection_read(projection, &r->symbols, tensor));
    r->problem.n_tensors++;
    return SX_OK;
}

/* Whether a key of an instance tells how sparse tensors are. */
static bool is_density(const char *key) {
    static const char *const keys[] = {"densities", "commonDensity"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (sx_key_equal(key, keys[i])) return true;
    return false;
}

/* The whole number that an expression with names or operators stands for. */
static SX_MUST_USE sx_status read_expression(const reader *r, const sx_pair *pair, double low, double high,
                                             double *out) {
    double value;
    SX_TRY(sx_attribute_refuse_truth(pair->value, pair->key));
    SX_TRY(sx_attribute_number(&r->variables, pair->value, pair->key, &value));
    if (value != floor(value) || value < low || value > high)
        return sx_error_at(pair->value->place,
                           "'%s' must be a whole number from %.0f to %.0f, but '%.64s' is %g", pair->key, low,
                           high, pair->value->text, value);
    *out = value;
    return SX_OK;
}

/* Whether a value is an expression rather than a number. */
static bool is_expression(const sx_node *value) {
    double number;
    return value->kind == SX_NODE_SCALAR && *value->text && !sx_text_double(value->text, &number);
}

/* Reads the size of a dimension. */
static SX_MUST_USE sx_status read_size(reader *r, const sx_pair *pair, int dim) {
    uint64_t size;
    double value = 0;
    bool computed = is_expression(pair->value);
    sx_status error = computed ? read_expression(r, pair, 1, SX_MAX_DIM_SIZE, &value)
                               : sx_node_range(pair->value, pair->key, 1, SX_MAX_DIM_SIZE, &size);
    if (error) return error->hint ? error : sx_error_hint(error, "it is the size of a dimension");
    r->problem.size[dim] = computed ? (uint32_t)value : (uint32_t)size;
    return SX_OK;
}

/* Reads the value of a coefficient. */
static SX_MUST_USE sx_status read_coefficient(const reader *r, const sx_pair *pair, int64_t *out) {
    double value;
    if (!is_expression(pair->value)) return sx_node_i64(pair->value, pair->key, out);
    SX_TRY(read_expression(r, pair, -0x1p53, 0x1p53, &value));
    *out = (int64_t)value;
    return SX_OK;
}

/* Reads a coefficient whose name is written in other letters than the shape has it, which Timeloop misses. */
static SX_MUST_USE sx_status read_respelt(reader *r, const sx_pair *pair, sx_coefficient *c) {
    long long missed = c->value;
    if (sx_input_is_like_timeloop(r->input))
        return sx_input_warn(r->input, pair->place,
                             "'%s' is ignored, as by Timeloop: the coefficient is '%s', and is %lld",
                             pair->key, c->name, missed);
    c->known = true;
    SX_TRY(read_coefficient(r, pair, &c->value));
    if (missed == c->value) return SX_OK;
    return sx_input_warn(r->input, pair->place,
                         "'%s' is read as '%s' = %lld; Timeloop ignores the key '%s' and takes %lld",
                         pair->key, c->name, (long long)c->value, pair->key, missed);
}

/* A key of an instance that is neither a dimension nor a coefficient: an error where it looks like a
 * coefficient misspelt, else a warning. */
static SX_MUST_USE sx_status other_key(reader *r, const sx_pair *pair) {
    sx_key_rule rules[MAX_COEFFICIENTS];
    const sx_keys keys = {"instance", true, rules, r->symbols.n_coefficients};
    for (size_t i = 0; i < r->symbols.n_coefficients; i++) {
        const char *name = r->coefficient[i].name;
        rules[i] = (sx_key_rule)SX_KEY(name, "expression", NULL);
        if (strcasecmp(name, pair->key) == 0 && !sx_node_get(r->instance, name))
            return read_respelt(r, pair, &r->coefficient[i]);
        if (sx_key_equal(name, pair->key))
            return sx_input_misspelt(r->input, pair, "key", "the instance", name);
    }
    return sx_node_check_key(r->input, r->instance, pair, "key", "the instance", &keys);
}

/* Reads one key of the instance. */
static SX_MUST_USE sx_status read_value(reader *r, const sx_pair *pair) {
    int dim = sx_problem_dim(&r->problem, pair->key);
    if (dim >= 0) return read_size(r, pair, dim);
    for (size_t i = 0; i < r->symbols.n_coefficients; i++) {
        if (strcmp(r->coefficient[i].name, pair->key) != 0) continue;
        r->coefficient[i].known = true;
        return read_coefficient(r, pair, &r->coefficient[i].value);
    }
    if (is_density(pair->key)) return SX_OK; /* read once the tensors are known */
    return other_key(r, pair);
}

/* Reads the sizes of dimensions and the values of coefficients; each must have one in the end. */
static SX_MUST_USE sx_status read_instance(reader *r, const sx_node *instance, bool separate) {
    r->instance = instance;
    for (size_t i = 0; i < instance->n; i++) {
        const sx_pair *pair = &instance->pair[i];
        bool other = false;
        for (size_t k = 0; k < sx_keys_problem.n && !separate; k++)
            other |= sx_key_equal(sx_keys_problem.rule[k].key, pair->key);
        if (!other) SX_TRY(read_value(r, pair));
    }
    for (int d = 0; d < r->problem.n_dims; d++)
        if (r->problem.size[d] == 0)
            return sx_error_hint(sx_error_at(instance->place, "the instance has no size for dimension '%s'",
                                             r->problem.dim_name[d]),
                                 "add '%s: N' to it", r->problem.dim_name[d]);
    for (size_t i = 0; i < r->symbols.n_coefficients; i++)
        if (!r->coefficient[i].known)
            return sx_error_at(r->coefficient[i].place, "coefficient '%s' has neither a default nor a value",
                               r->coefficient[i].name);
    return SX_OK;
}

/* The shape of a problem: its own, or the named one, or Timeloop's default. */
static SX_MUST_USE sx_status find_shape(reader *r, const sx_node *problem, const sx_node **out) {
    const sx_node *shape = sx_node_get(problem, "shape");
    if (shape && shape->kind == SX_NODE_LIST) return sx_node_expect(shape, SX_NODE_MAP, "'shape'");
    if (!shape)
        SX_TRY(sx_input_add_note(r->input, problem->place,
                                 "the problem has no shape; a convolution is assumed"));
    if (!shape || shape->kind != SX_NODE_MAP)
        SX_TRY(sx_shape_named(r->input, shape && shape->kind == SX_NODE_SCALAR ? shape : NULL, &shape));
    *out = shape;
    return sx_node_check_keys(r->input, shape, "the shape", &sx_keys_shape);
}

/* Reads the densities that the instance, or the problem, states. */
static SX_MUST_USE sx_status read_densities(reader *r, const sx_node *problem, const sx_node *instance) {
    const sx_node *densities = sx_node_get(instance, "densities");
    const sx_node *common = sx_node_get(instance, "commonDensity");
    if (!densities) densities = sx_node_get(problem, "densities");
    if (densities) SX_TRY(sx_densities_read(r->input, densities, &r->problem));
    return common ? sx_densities_common(common, &r->problem) : SX_OK;
}

/* Reads shape and instance. */
static SX_MUST_USE sx_status read_problem(reader *r, const sx_node *problem) {
    const sx_node *shape = NULL, *instance = sx_node_get(problem, "instance"), *node;
    bool separate = instance != NULL;
    if (!instance) instance = problem;
    SX_TRY(sx_node_expect(instance, SX_NODE_MAP, "'instance'"));
    if (separate) SX_TRY(sx_node_check_keys(r->input, problem, "the problem", &sx_keys_problem));
    SX_TRY(find_shape(r, problem, &shape));
    node = sx_node_get(shape, "name");
    if (node && !(node->kind == SX_NODE_NULL || (node->text && !*node->text)))
        SX_TRY(sx_node_name(node, "name", r->problem.name));
    SX_TRY(sx_node_require(shape, "dimensions", "the shape", &node));
    SX_TRY(sx_node_names(node, "dimensions", add_dimension, &r->problem));
    node = sx_node_get(shape, "coefficients");
    if (node) SX_TRY(read_coefficients(r, node));
    SX_TRY(read_instance(r, instance, separate));
    SX_TRY(sx_node_require(shape, "data_spaces", "the shape", &node));
    SX_TRY(sx_node_expect(node, SX_NODE_LIST, "'data_spaces'"));
    for (size_t i = 0; i < node->n; i++) SX_TRY(read_space(r, node->item[i]));
    SX_TRY(read_densities(r, problem, instance));
    return sx_error_place(sx_problem_check(&r->problem), shape->place);
}

sx_status sx_input_problem(sx_input *input, sx_problem *out) {
    const sx_pair *section;
    SX_TRY(sx_input_single(input, "problem", &section));
    if (!section)
        return sx_error_hint(sx_error_new(SX_ERR_INPUT, "no problem given"),
                             "a file with 'problem:' is needed");
    if (section->value->kind == SX_NODE_LIST)
        return sx_error_hint(sx_error_at(section->value->place, "'problem' is a list"),
                             "give one problem at a time, not a list of them");
    SX_TRY(sx_node_expect(section->value, SX_NODE_MAP, "'problem'"));
    reader *r = sx_arena_alloc(sx_input_arena(input), 1, sizeof *r);
    if (!r) return sx_arena_error(sx_input_arena(input));
    r->input = input;
    SX_TRY(sx_variables_scope(input, &r->variables));
    r->symbols = (sx_symbols){.problem = &r->problem, .coefficient = r->coefficient};
    SX_TRY(read_problem(r, section->value));
    memcpy(out, &r->problem, sizeof *out);
    return SX_OK;
}
