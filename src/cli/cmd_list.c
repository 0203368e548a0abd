#include "cli/command.h"
#include "cli/table.h"

#include "sextant/sextant.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* A list: its entry `index` and a line about it, NULL past the last. */
typedef struct topic {
    const char *name, *about;
    const char *(*entry)(size_t index, const char **about);
} topic;

static const topic topics[] = {
    {"archs", "architectures of the catalog, for --arch", sx_catalog_arch_name},
    {"problems", "problems of the catalog, for --problem", sx_catalog_problem_name},
    {"objectives", "what --objective accepts", sx_objective_name},
};
enum { N_TOPICS = sizeof topics / sizeof topics[0] };

static sx_status find_topic(const char *name, const topic **out) {
    const char *names[N_TOPICS];
    for (size_t i = 0; i < N_TOPICS; i++) {
        names[i] = topics[i].name;
        if (strcmp(name, names[i]) != 0) continue;
        *out = &topics[i];
        return SX_OK;
    }
    sx_status error = sx_error_new(SX_ERR_USAGE, "there is no list of '%s'", name);
    const char *nearest = sx_text_nearest(name, names, N_TOPICS);
    if (nearest) return sx_error_hint(error, "did you mean `sextant list %s`?", nearest);
    return sx_error_hint(error, "there are archs, problems and objectives");
}

static void print_topic(const topic *t, int indent, sx_text *out) {
    sx_table table;
    const char *about;
    sx_table_begin(&table, "ll");
    for (size_t i = 0; t->entry(i, &about); i++) {
        sx_table_cell(&table, "%s", t->entry(i, &about));
        sx_table_cell(&table, "%s", about);
    }
    sx_table_end(&table, indent, out);
}

/* The list as an array of {"name", "about"}, NULL when memory is out. */
static json_t *topic_json(const topic *t) {
    json_t *array = json_array();
    const char *about;
    for (size_t i = 0; t->entry(i, &about); i++) {
        const char *name = t->entry(i, &about);
        json_array_append_new(array, json_pack("{s:s, s:s}", "name", name, "about", about));
    }
    return array;
}

/* Adds the lists chosen (all of them where `one` is NULL) as an object of JSON. */
static sx_status add_json(const topic *one, sx_text *out) {
    json_t *object = json_object();
    for (size_t i = 0; i < N_TOPICS; i++)
        if (!one || one == &topics[i]) json_object_set_new(object, topics[i].name, topic_json(&topics[i]));
    char *text = json_dumps(object, JSON_INDENT(2));
    json_decref(object);
    if (!text) return sx_error_memory();
    sx_text_add(out, "%s\n", text);
    free(text);
    return SX_OK;
}

/* `sextant list [TOPIC]`. */
static sx_status run(const sx_args *args, sx_result *result) {
    const topic *one = NULL;
    if (args->n_operands > 1) return sx_error_new(SX_ERR_USAGE, "list takes one topic at a time");
    if (args->n_operands == 1) SX_TRY(find_topic(args->operand[0], &one));
    result->file = sx_args_text(args, "output", 0);
    if (sx_args_flag(args, "json")) return add_json(one, &result->out);
    if (one) {
        print_topic(one, 0, &result->out);
        return SX_OK;
    }
    for (size_t i = 0; i < N_TOPICS; i++) {
        sx_text_add(&result->out, "%s%s: %s\n", i ? "\n" : "", topics[i].name, topics[i].about);
        print_topic(&topics[i], 2, &result->out);
    }
    return SX_OK;
}

static const sx_option options[] = {SX_OPTION_JSON, SX_OPTION_OUTPUT, SX_OPTION_HELP};

const sx_command sx_command_list = {
    .name = "list",
    .about = "what there is to choose from: architectures, problems, objectives, each with a line of help",
    .usage = "[archs|problems|objectives] [OPTION ...]",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .run = run,
};
