#include "report/allocation.h"

#include "report/json_parts.h"
#include "sextant/version.h"

typedef unsigned long long count;

void sx_allocation_print(const sx_allocation *found, size_t n_buffers, uint64_t capacity, sx_text *out) {
    const char *plural = n_buffers == 1 ? "" : "s";
    if (found->found && found->proven)
        sx_text_add(out, "%zu buffer%s in %llu bytes, proven to be the fewest", n_buffers, plural,
                    (count)found->bytes);
    else if (found->found)
        sx_text_add(out, "%zu buffer%s in %llu bytes; at least %llu are needed", n_buffers, plural,
                    (count)found->bytes, (count)found->bound);
    else if (!capacity)
        sx_text_add(out, "no offsets were found; at least %llu bytes are needed", (count)found->bound);
    else if (found->live > capacity)
        sx_text_add(out, "the buffers do not fit: %llu bytes live at the same step, the capacity is %llu",
                    (count)found->live, (count)capacity);
    else if (found->proven)
        sx_text_add(out, "the buffers do not fit: at least %llu bytes are needed, the capacity is %llu",
                    (count)found->bound, (count)capacity);
    else
        sx_text_add(out, "no offsets were found within %llu bytes, nor is it proven that there are none",
                    (count)capacity);
}

sx_status sx_allocation_json(const sx_buffers *buffers, const sx_allocate_options *options,
                             const sx_allocation *found, bool clock, sx_text *out) {
    json_t *object =
        json_pack("{s:s, s:i, s:o, s:o, s:b, s:b, s:o, s:o, s:o, s:s, s:o}", "version", sx_version(),
                  "format", SX_RESULT_FORMAT, "capacity_bytes",
                  options->capacity ? sx_json_count(options->capacity) : json_null(), "align",
                  sx_json_count(options->align), "found", found->found, "proven", found->proven,
                  "bound_bytes", sx_json_count(found->bound), "live_bytes", sx_json_count(found->live),
                  "nodes", sx_json_count(found->nodes), "stop", sx_stop_name(found->stop), "seconds",
                  sx_json_real(clock ? found->seconds : 0));
    if (found->found) sx_json_set(object, "bytes", sx_json_count(found->bytes));
    json_t *list = found->found ? sx_json_set(object, "buffers", json_array()) : NULL;
    for (size_t i = 0; found->found && i < buffers->n; i++) {
        const sx_buffer *b = &buffers->buffer[i];
        sx_json_append(list, json_pack("{s:o, s:o, s:o, s:o, s:o}", "id", sx_json_string(buffers->id[i]),
                                       "lower", sx_json_count(b->lower), "upper", sx_json_count(b->upper),
                                       "size", sx_json_count(b->size), "offset", sx_json_count(b->offset)));
    }
    return sx_json_finish(object, out);
}
