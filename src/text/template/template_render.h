/* One file of a template while it is being rendered: what template.c and template_call.c share. */
#ifndef SX_TEXT_TEMPLATE_TEMPLATE_RENDER_H
#define SX_TEXT_TEMPLATE_TEMPLATE_RENDER_H

#include "text/template/expression.h"
#include "text/template/include.h"

enum { SX_MAX_TEMPLATE_VARIABLES = 256, SX_MAX_TEMPLATE_IFS = 32 };

typedef struct sx_template_variable {
    const char *name;
    sx_value value;
    bool by_user; /* it has the value that the user sets */
} sx_template_variable;

/* A {% for %} that is open. */
typedef struct sx_template_loop {
    const char *name; /* of its variable */
    sx_value items;
    size_t round;                         /* of the next item */
    const void *body;                     /* where it begins */
    const sx_template_variable *variable; /* as before it */
    size_t n_variables;
} sx_template_loop;

/* An {% if %} or {% for %} that is open. */
typedef struct sx_template_if {
    sx_place place;
    sx_template_loop *loop; /* NULL: an {% if %} */
    bool around;            /* the text around it is taken */
    bool decided;           /* one of its branches was taken */
    bool last_part;         /* {% else %} is behind */
} sx_template_if;

typedef struct sx_template {
    sx_expansion *x;
    sx_source_builder *out;
    const char *file; /* its name, for places */
    sx_search search;
    sx_template_variable variable[SX_MAX_TEMPLATE_VARIABLES];
    size_t n_variables;
    sx_template_if open[SX_MAX_TEMPLATE_IFS];
    size_t n_open;
    bool taken; /* what comes next is */
} sx_template;

/* The functions of templates, as sx_names.call; `user` is the sx_template. */
SX_MUST_USE sx_status sx_template_call(void *user, sx_place place, const char *name, const sx_value *argument,
                                       size_t n, sx_value *out, bool *known);
extern const char sx_template_functions[];

/* Renders an included file into `out`, looking for files where `parent` does after its own folder. */
SX_MUST_USE sx_status sx_template_include(const sx_template *parent, sx_place place, const sx_included *file,
                                          sx_source_builder *out);

#endif
