#include "base/json.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static atomic_bool out_of_memory; /* stays set: a tree may lack any part from then on */

/* Where memory is out while a text is read, jansson gets some of a reserve: version 2.14 writes beyond a token
 * whose buffer cannot grow. */
static _Alignas(16) unsigned char reserve[1 << 20];
static atomic_size_t reserved;
static _Thread_local bool reading;

/* Memory for jansson. */
static void *allocate(size_t size) {
    void *memory = malloc(size);
    if (memory) return memory;
    atomic_store(&out_of_memory, true);
    if (!reading || size > sizeof reserve) return NULL;
    size_t from = atomic_fetch_add(&reserved, (size + 15) / 16 * 16);
    return from <= sizeof reserve - size ? reserve + from : NULL;
}

/* Frees it; that of the reserve is not used again. */
static void release(void *memory) {
    uintptr_t at = (uintptr_t)memory, first = (uintptr_t)reserve;
    if (at < first || at >= first + sizeof reserve) free(memory);
}

void sx_json_begin(void) {
    json_set_alloc_funcs(allocate, release);
}

void sx_json_fail(void) {
    atomic_store(&out_of_memory, true);
}

bool sx_json_failed(void) {
    return atomic_load(&out_of_memory);
}

json_t *sx_json_load(const char *text, size_t size, json_error_t *error) {
    reading = true;
    json_t *tree = json_loadb(text, size, 0, error);
    reading = false;
    return tree;
}

json_t *sx_json_read(const char *text) {
    return sx_json_load(text, strlen(text), NULL);
}
