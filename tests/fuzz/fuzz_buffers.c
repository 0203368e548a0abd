/* Any text is a list of buffers that gets offsets, or an error; what is written is read again. */
#include "fuzz/fuzz.h"

#include "placement/addresses/buffers.h"

#include <stdlib.h>
#include <string.h>

/* Allocates small lists. */
static void allocate(sx_buffers *list) {
    const sx_allocate_options options = {.nodes = 2000};
    sx_allocation found;
    if (list->n > 200 || !succeeded(sx_allocate(list->buffer, list->n, &options, &found))) return;
    promise(found.found && found.bound <= found.bytes && found.live <= found.bound);
    for (size_t i = 0; i < list->n; i++) {
        const sx_buffer *a = &list->buffer[i];
        promise(a->offset + a->size <= found.bytes);
        for (size_t k = 0; k < i; k++) {
            const sx_buffer *b = &list->buffer[k];
            bool together = a->lower < b->upper && b->lower < a->upper;
            promise(!together || a->offset + a->size <= b->offset || b->offset + b->size <= a->offset);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sx_buffers list, again;
    char *given = malloc(size + 1);
    if (!given) return 0;
    if (size) memcpy(given, data, size);
    given[size] = 0;
    if (!succeeded(sx_buffers_parse("fuzz.csv", given, size, &list))) return 0;
    allocate(&list);
    sx_text text = {0};
    sx_buffers_write(&list, &text);
    char *written;
    size_t length = text.size;
    promise(succeeded(sx_text_take(&text, &written)));
    promise(succeeded(sx_buffers_parse("again.csv", written, length, &again)));
    promise(again.n == list.n);
    for (size_t i = 0; i < list.n; i++)
        promise(strcmp(again.id[i], list.id[i]) == 0 && again.buffer[i].size == list.buffer[i].size);
    sx_buffers_fini(&again);
    sx_buffers_fini(&list);
    return 0;
}
