/* Kills the program that loads it (LD_PRELOAD) just before its N-th call that changes a file, where KILL_AT
 * is N. Each such call is a step; KILL_LOG names a file that the steps of a run are counted in. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* The function of that name that this one stands in front of. */
static void *behind(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (!function) abort();
    return function;
}

/* Counts a step; the one that is asked for never happens. */
static void step(const char *name) {
    static long count;
    const char *at = getenv("KILL_AT"), *log = getenv("KILL_LOG");
    count++;
    if (log) {
        FILE *file = fopen(log, "a");
        if (file) fprintf(file, "%ld %s\n", count, name);
        if (file) fclose(file);
    }
    if (at && strtol(at, NULL, 10) == count) raise(SIGKILL);
}

#define STEP(type, name, parameters, arguments)                                                              \
    type name parameters {                                                                                   \
        type(*function) parameters;                                                                          \
        *(void **)&function = behind(#name);                                                                 \
        step(#name);                                                                                         \
        return function arguments;                                                                           \
    }

STEP(int, rename, (const char *from, const char *to), (from, to))
STEP(int, remove, (const char *path), (path))
STEP(int, unlink, (const char *path), (path))
STEP(int, fsync, (int fd), (fd))
STEP(int, fdatasync, (int fd), (fd))
STEP(int, ftruncate, (int fd, off_t size), (fd, size))
STEP(int, ftruncate64, (int fd, off64_t size), (fd, size))
STEP(ssize_t, write, (int fd, const void *bytes, size_t size), (fd, bytes, size))
STEP(ssize_t, pwrite, (int fd, const void *bytes, size_t size, off_t at), (fd, bytes, size, at))
STEP(ssize_t, pwrite64, (int fd, const void *bytes, size_t size, off64_t at), (fd, bytes, size, at))
STEP(size_t, fwrite, (const void *bytes, size_t size, size_t n, FILE *file), (bytes, size, n, file))
STEP(int, fflush, (FILE * file), (file))
