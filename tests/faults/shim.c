/* Stands in front of the functions of the C library that ask the system for something: preloaded into the
 * program (LD_PRELOAD), it counts them, and lets one fail or ends the process before it. sweep.c says which.
 * Standard error always works, so that a program can say what is wrong. */
#define _GNU_SOURCE
#include "faults/shim.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHOWN __attribute__((visibility("default")))

sx_fault sx_fault_now;

__attribute__((noinline)) void sx_fault_happens(const char *name) {
    snprintf(sx_fault_now.counts->name, sizeof sx_fault_now.counts->name, "%s", name);
}

/* The function of this name that this one stands in front of. */
static void *behind(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (!function) abort();
    return function;
}

/* The number of what is counted now, from 1. */
static long count(_Atomic long *counter) {
    return 1 + atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* Whether the allocation that is asked for now fails. */
static bool allocation_fails(const char *name) {
    const sx_fault *f = &sx_fault_now;
    if (!f->counts) return false;
    long number = count(&f->counts->allocations);
    bool fails = (f->kind == SX_FAULT_MEMORY && number == f->at) ||
                 (f->kind == SX_FAULT_MEMORY_FROM && number >= f->at);
    if (fails && number == f->at) sx_fault_happens(name);
    if (fails) errno = ENOMEM;
    return fails;
}

/* What a call does to files. */
enum effect { READS, CHANGES, WRITES };

/* Whether the call that call_fails() was asked about last is to write less than it is given. */
static _Thread_local bool is_short;

/* Whether a system call fails, with `errno` set; a process that is to be ended before it does not return. */
static bool call_fails(const char *name, enum effect effect, int error) {
    const sx_fault *f = &sx_fault_now;
    if (!f->counts) return false;
    long call = count(&f->counts->calls);
    long write = effect == WRITES ? count(&f->counts->writes) : 0;
    long change = effect >= CHANGES ? count(&f->counts->changes) : 0;
    is_short = f->kind == SX_FAULT_SHORT && write == f->at;
    if (is_short) sx_fault_happens(name);
    if (change) snprintf(f->counts->last, sizeof f->counts->last, "%s", name);
    bool fails = (f->kind == SX_FAULT_CALL && call == f->at) || (f->kind == SX_FAULT_FULL && write >= f->at);
    bool killed = f->kind == SX_FAULT_KILL && change == f->at;
    bool interrupted = f->kind == SX_FAULT_INTERRUPT && call == f->at;
    if (fails || killed || interrupted) sx_fault_happens(name);
    if (killed) raise(SIGKILL);
    if (interrupted) raise(SIGINT);
    if (fails) errno = f->kind == SX_FAULT_FULL ? ENOSPC : error;
    return fails;
}

/* Counts a block that is allocated (1) or freed (-1). */
static void count_block(int change) {
    if (sx_fault_now.counts)
        atomic_fetch_add_explicit(&sx_fault_now.counts->blocks, change, memory_order_relaxed);
}

/* Blocks that it returns are `new`. */
#define ALLOCATOR(name, parameters, arguments, new)                                                          \
    SHOWN void *name parameters {                                                                            \
        static void *(*original)parameters;                                                                  \
        if (!original) *(void **)&original = behind(#name);                                                  \
        void *memory = allocation_fails(#name) ? NULL : original arguments;                                  \
        if (memory && (new)) count_block(1);                                                                 \
        return memory;                                                                                       \
    }
ALLOCATOR(malloc, (size_t size), (size), true)
ALLOCATOR(calloc, (size_t n, size_t size), (n, size), true)
ALLOCATOR(realloc, (void *old, size_t size), (old, size), !old)
ALLOCATOR(aligned_alloc, (size_t alignment, size_t size), (alignment, size), true)

/* Where one allocation fails, what is freed is cleared and never used again, so that using it shows; where
 * all after it fail too, it is freed, so that freeing twice shows. */
SHOWN void free(void *memory) {
    static void (*original)(void *);
    if (!original) *(void **)&original = behind("free");
    if (memory) count_block(-1);
    if (memory && sx_fault_now.kind == SX_FAULT_MEMORY)
        memset(memory, 0, malloc_usable_size(memory));
    else
        original(memory);
}

/* A call of a certain type that returns `bad` on failure; `always`: where it always works. */
#define CALL_UNLESS(always, type, bad, name, parameters, arguments, effect, error)                           \
    SHOWN type name parameters {                                                                             \
        static type(*original) parameters;                                                                   \
        if (!original) *(void **)&original = behind(#name);                                                  \
        if (!(always) && call_fails(#name, effect, error)) return bad;                                       \
        return original arguments;                                                                           \
    }
/* One that does not fail where the file itself can be opened: it is a moment to interrupt at. */
#define MOMENT(type, name, parameters, arguments)                                                            \
    SHOWN type name parameters {                                                                             \
        static type(*original) parameters;                                                                   \
        if (!original) *(void **)&original = behind(#name);                                                  \
        if (sx_fault_now.kind != SX_FAULT_CALL) (void)call_fails(#name, READS, 0);                           \
        return original arguments;                                                                           \
    }
#define CALL(type, bad, name, parameters, arguments, effect, error)                                          \
    CALL_UNLESS(false, type, bad, name, parameters, arguments, effect, error)

/* One that writes bytes, and may write fewer. */
#define WRITER(name, parameters, arguments)                                                                  \
    SHOWN ssize_t name parameters {                                                                          \
        static ssize_t(*original) parameters;                                                                \
        if (!original) *(void **)&original = behind(#name);                                                  \
        if (fd == STDERR_FILENO) return original arguments;                                                  \
        if (call_fails(#name, WRITES, EIO)) return -1;                                                       \
        if (is_short && size < 2) {                                                                          \
            errno = EINTR;                                                                                   \
            return -1;                                                                                       \
        }                                                                                                    \
        if (is_short) size /= 2;                                                                             \
        return original arguments;                                                                           \
    }

CALL(int, -1, rename, (const char *from, const char *to), (from, to), WRITES, EIO)
CALL(int, -1, remove, (const char *path), (path), CHANGES, EIO)
CALL(int, -1, unlink, (const char *path), (path), CHANGES, EIO)
CALL(int, -1, unlinkat, (int at, const char *path, int flags), (at, path, flags), CHANGES, EIO)
CALL(int, -1, mkdir, (const char *path, mode_t mode), (path, mode), WRITES, EACCES)
CALL(int, -1, fsync, (int fd), (fd), WRITES, EIO)
CALL(int, -1, fdatasync, (int fd), (fd), WRITES, EIO)
CALL(int, -1, fchmod, (int fd, mode_t mode), (fd, mode), CHANGES, EPERM)
CALL(int, -1, ftruncate, (int fd, off_t size), (fd, size), WRITES, EIO)
CALL(int, -1, ftruncate64, (int fd, off64_t size), (fd, size), WRITES, EIO)
CALL(int, -1, close, (int fd), (fd), READS, EIO)
WRITER(write, (int fd, const void *bytes, size_t size), (fd, bytes, size))
WRITER(pwrite, (int fd, const void *bytes, size_t size, off_t at), (fd, bytes, size, at))
WRITER(pwrite64, (int fd, const void *bytes, size_t size, off64_t at), (fd, bytes, size, at))
CALL(ssize_t, -1, read, (int fd, void *bytes, size_t size), (fd, bytes, size), READS, EIO)
CALL(ssize_t, -1, pread, (int fd, void *bytes, size_t size, off_t at), (fd, bytes, size, at), READS, EIO)
CALL(ssize_t, -1, pread64, (int fd, void *bytes, size_t size, off64_t at), (fd, bytes, size, at), READS, EIO)
CALL_UNLESS(file == stderr, int, EOF, fflush, (FILE * file), (file), WRITES, EIO)
CALL(FILE *, NULL, fopen, (const char *path, const char *mode), (path, mode), READS, EMFILE)
CALL(FILE *, NULL, fdopen, (int fd, const char *mode), (fd, mode), READS, EMFILE)
CALL(DIR *, NULL, opendir, (const char *path), (path), READS, EMFILE)
MOMENT(int, stat, (const char *restrict path, struct stat *restrict out), (path, out))
MOMENT(int, lstat, (const char *restrict path, struct stat *restrict out), (path, out))
MOMENT(int, fstat, (int fd, struct stat *out), (fd, out))
MOMENT(int, access, (const char *path, int mode), (path, mode))
CALL(char *, NULL, realpath, (const char *restrict path, char *restrict out), (path, out), READS, EIO)
CALL(int, -1, flock, (int fd, int what), (fd, what), READS, ENOLCK)
CALL(int, -1, pipe, (int fd[2]), (fd), READS, EMFILE)
CALL(pid_t, -1, fork, (void), (), READS, EAGAIN)
CALL(void *, MAP_FAILED, mmap, (void *at, size_t size, int protection, int flags, int fd, off_t offset),
     (at, size, protection, flags, fd, offset), READS, ENOMEM)
CALL(int, EAGAIN, pthread_create,
     (pthread_t *restrict thread, const pthread_attr_t *restrict attributes, void *(*start)(void *),
      void *restrict argument),
     (thread, attributes, start, argument), READS, EAGAIN)

/* Reads a part of what is asked for, and fails: the file's error is set by a descriptor that cannot be read. */
SHOWN size_t fread(void *restrict bytes, size_t size, size_t n, FILE *restrict file) {
    static size_t (*original)(void *, size_t, size_t, FILE *);
    if (!original) *(void **)&original = behind("fread");
    if (!call_fails("fread", READS, EIO)) return original(bytes, size, n, file);
    file->_flags |= 0x20; /* what ferror() tests in glibc */
    errno = EIO;
    return 0;
}

SHOWN size_t fwrite(const void *restrict bytes, size_t size, size_t n, FILE *restrict file) {
    static size_t (*original)(const void *, size_t, size_t, FILE *);
    if (!original) *(void **)&original = behind("fwrite");
    if (file == stderr || !call_fails("fwrite", WRITES, EIO)) return original(bytes, size, n, file);
    file->_flags |= 0x20;
    return 0;
}

/* The two that take a mode where they make a file. */
static enum effect effect_of(int flags) {
    return flags & O_CREAT ? WRITES : flags & O_TRUNC ? CHANGES : READS;
}
#define OPEN(name, parameters, ...)                                                                          \
    SHOWN int name parameters {                                                                              \
        static int(*original) parameters;                                                                    \
        va_list rest;                                                                                        \
        va_start(rest, flags);                                                                               \
        int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, int) : 0;                                    \
        va_end(rest);                                                                                        \
        if (!original) *(void **)&original = behind(#name);                                                  \
        if (call_fails(#name, effect_of(flags), EMFILE)) return -1;                                          \
        return original(__VA_ARGS__, flags, mode);                                                           \
    }
OPEN(open, (const char *path, int flags, ...), path)
OPEN(open64, (const char *path, int flags, ...), path)
OPEN(openat, (int at, const char *path, int flags, ...), at, path)
