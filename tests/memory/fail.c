/* Allocations that fail: preloaded into the program (LD_PRELOAD), it counts what is allocated, and fails the
 * one that is asked for. sweep.c says which. */
#define _GNU_SOURCE
#include "memory/fail.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

sx_failing sx_failure;

/* A place for a debugger to stop at: `break sx_allocation_fails`. */
__attribute__((noinline)) void sx_allocation_fails(void) {
    errno = ENOMEM;
}

/* Whether the allocation that is asked for now fails. */
static bool fails(void) {
    if (!sx_failure.asked) return false;
    long number = 1 + atomic_fetch_add_explicit(sx_failure.asked, 1, memory_order_relaxed);
    if (!sx_failure.at || number < sx_failure.at) return false;
    if (!sx_failure.all_after && number > sx_failure.at) return false;
    sx_allocation_fails();
    return true;
}

/* The function of this name that this one stands before. */
static void *next(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (!function) abort();
    return function;
}

#define ALLOCATOR(name, parameters, arguments)                                                               \
    __attribute__((visibility("default"))) void *name parameters {                                           \
        static void *(*original)parameters;                                                                  \
        if (!original) *(void **)&original = next(#name);                                                    \
        return fails() ? NULL : original arguments;                                                          \
    }
/* Where one allocation fails, what is freed is cleared and never used again, so that using it shows; where
 * all after it fail too, it is freed, so that freeing twice shows. */
__attribute__((visibility("default"))) void free(void *memory) {
    static void (*original)(void *);
    if (!original) *(void **)&original = next("free");
    if (memory && sx_failure.at && !sx_failure.all_after)
        memset(memory, 0, malloc_usable_size(memory));
    else
        original(memory);
}
ALLOCATOR(malloc, (size_t size), (size))
ALLOCATOR(calloc, (size_t n, size_t size), (n, size))
ALLOCATOR(realloc, (void *old, size_t size), (old, size))
ALLOCATOR(aligned_alloc, (size_t alignment, size_t size), (alignment, size))
