/* Files with the part of Jinja that Timeloop's files use: includes, conditions and variables, as Timeloop's
 * front end reads them. Every position of the resulting text still knows the file it came from.
 *
 *   {{include('path', 'a.b')}}      the value under these keys of a file
 *   {{include_all('path/x*', 'a')}} the same of several files, as one list
 *   {{include_text('path')}}        the text of a file, less one final line break
 *   {{add_to_path('path')}}         looks for files in this folder, too
 *   {{expression}}                  its value; functions cwd, path_exists and find_path
 *   {% set x = expression %}, {% if %}, {% elif %}, {% else %}, {% endif %}, {# comment #}
 *   {% for x in list %}, {% endfor %}
 *   !include path                   the same as {{include('path')}}
 *
 * An included file sees the variables that the user sets, and not those of the file that includes it. In
 * lines that begin with # only {% ... %} is read. */
#ifndef SX_TEXT_TEMPLATE_TEMPLATE_H
#define SX_TEXT_TEMPLATE_TEMPLATE_H

#include "text/template/include.h"

/* Reads a file with its includes; `options` may be NULL. */
SX_MUST_USE sx_status sx_source_file(sx_arena *arena, const sx_template_options *options, const char *path,
                                     SX_OWN sx_source *out);

/* Takes a copy of a text as if it were the file `name`; it may include nothing. */
SX_MUST_USE sx_status sx_source_text(sx_arena *arena, const sx_template_options *options, const char *name,
                                     const char *text, size_t size, SX_OWN sx_source *out);

/* Reads a file that is named at a place of another one, by the rules of includes; *found says whether there
 * is one. */
SX_MUST_USE sx_status sx_source_beside(sx_arena *arena, const sx_template_options *options, sx_place place,
                                       const char *path, SX_OWN sx_source *out, bool *found);

#endif
