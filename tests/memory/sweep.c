/* Runs the program that this is preloaded into once as it is, then again and again with failing allocations:
 * number n alone, and all from number n on. Each run is a process forked before main(). It must give the
 * whole answer of the first run, or exit with 3 and say "out of memory"; either way a file that it leaves is
 * a whole one. Part of what is preloaded, like fail.c; tests/memory/run starts it.
 *
 * In the environment: MEMORY_FOLDER holds all files that the program writes and is emptied before each run.
 * Up to allocation number MEMORY_EVERY each one fails in turn, from there on one in MEMORY_SHARE of those so
 * far. MEMORY_AT: only this one fails, in this process, for a debugger. */
#define _GNU_SOURCE
#include "memory/fail.h"

#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_FILES = 16, MAX_REPORTS = 8, EXIT_FAILED = 3, SECONDS_PER_RUN = 20 };

typedef struct content {
    char path[512], *data;
    size_t size;
} content;

/* What a run leaves. */
typedef struct outcome {
    int status; /* as waitpid() gives it */
    content out, err, file[MAX_FILES];
    size_t n_files;
} outcome;

static const char *folder;

static void require(bool good, const char *what) {
    if (good) return;
    perror(what);
    _exit(2);
}

static long number_of(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text && *text ? strtol(text, NULL, 10) : otherwise;
}

/* The path of what belongs to the folder: beside it with a suffix, or in it. */
static void set_path(char path[512], const char *join, const char *name) {
    require(snprintf(path, 512, "%s%s%s", folder, join, name) < 512, "the path is too long");
}

static void read_content(content *c) {
    struct stat info;
    int fd = open(c->path, O_RDONLY);
    require(fd >= 0 && fstat(fd, &info) == 0, c->path);
    c->size = (size_t)info.st_size;
    c->data = calloc(c->size + 1, 1);
    require(c->data && read(fd, c->data, c->size) == (ssize_t)c->size, c->path);
    close(fd);
}

/* Removes what is in the folder. */
static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *at) {
    (void)info, (void)kind;
    return at->level ? remove(path) : 0;
}

static outcome *keeper; /* what keep_file() adds to */

/* Keeps the contents of a file, unless it is one that a run may leave in any state: a database, a checkpoint.
 */
static int keep_file(const char *path, const struct stat *info, int kind, struct FTW *at) {
    const char *name = path + at->base;
    (void)info;
    if (kind != FTW_F || strncmp(name, "db", 2) == 0 || strncmp(name, "checkpoint", 10) == 0) return 0;
    require(keeper->n_files < MAX_FILES, "the command writes too many files");
    content *file = &keeper->file[keeper->n_files++];
    set_path(file->path, "/", path + strlen(folder) + 1);
    read_content(file);
    return 0;
}

static void outcome_free(outcome *o) {
    free(o->out.data);
    free(o->err.data);
    for (size_t i = 0; i < o->n_files; i++) free(o->file[i].data);
}

static void redirect(const char *path, int to) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    require(fd >= 0 && dup2(fd, to) == to, path);
    close(fd);
}

/* Starts a run. Returns its process, and 0 in it. */
static pid_t start(const outcome *o, long at, bool all_after) {
    atomic_store(sx_failure.asked, 0);
    pid_t child = fork();
    require(child >= 0, "fork");
    if (child) return child;
    redirect(o->out.path, STDOUT_FILENO);
    redirect(o->err.path, STDERR_FILENO);
    alarm(SECONDS_PER_RUN);
    sx_failure.at = at;
    sx_failure.all_after = all_after;
    return 0;
}

/* Runs the program. Returns false in the new process, which goes on to main(). */
static bool run(long at, bool all_after, outcome *o) {
    *o = (outcome){0};
    require(nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS) == 0, folder);
    set_path(o->out.path, "", ".out");
    set_path(o->err.path, "", ".err");
    pid_t child = start(o, at, all_after);
    if (!child) return false;
    require(waitpid(child, &o->status, 0) == child, "waitpid");
    read_content(&o->out);
    read_content(&o->err);
    keeper = o;
    require(nftw(folder, keep_file, 8, FTW_PHYS) == 0, folder);
    return true;
}

static bool same(const content *a, const content *b) {
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

/* The file of the same name, NULL if there is none. */
static const content *find(const outcome *o, const content *file) {
    for (size_t i = 0; i < o->n_files; i++)
        if (strcmp(o->file[i].path, file->path) == 0) return &o->file[i];
    return NULL;
}

/* What is wrong with a run, held against the one that had all memory; NULL if nothing is. One that ran out of
 * memory may leave what it has found so far. */
static const char *fault(const outcome *o, const outcome *whole) {
    bool told = strstr(o->err.data, "out of memory") != NULL;
    bool failed = WEXITSTATUS(o->status) == EXIT_FAILED && told;
    if (WIFSIGNALED(o->status)) return WTERMSIG(o->status) == SIGALRM ? "it hangs" : "it crashes";
    for (size_t i = 0; i < o->n_files; i++) {
        const content *file = find(whole, &o->file[i]);
        if (!file) return "it leaves a file that does not belong there";
        if (!failed && !same(file, &o->file[i])) return "a file that it writes differs";
    }
    if (failed) return NULL;
    if (o->status != whole->status) return "its exit code is wrong";
    if (!same(&o->out, &whole->out)) return "its answer differs";
    if (o->n_files != whole->n_files) return "a file is missing";
    if (!told && !same(&o->err, &whole->err)) return "its messages differ";
    return NULL;
}

/* Tells of a run that is wrong. */
static void report(const outcome *o, long at, bool all_after, const char *fault) {
    dprintf(STDOUT_FILENO, "allocation %ld%s fails: %s (status %#x)\n", at,
            all_after ? " and all after it" : "", fault, (unsigned)o->status);
    dprintf(STDOUT_FILENO, "%.400s", o->err.data);
}

/* Fails allocations in turn. Returns false in each new process; otherwise exits. */
static bool sweep(void) {
    outcome whole, now;
    long every = number_of("MEMORY_EVERY", 300), share = number_of("MEMORY_SHARE", 20), runs = 0;
    int faults = 0;
    if (!run(0, false, &whole)) return false;
    long all = atomic_load(sx_failure.asked);
    for (long at = 1; at <= all && faults < MAX_REPORTS; at += at < every ? 1 : 1 + at / share)
        for (int all_after = 0; all_after <= 1; all_after++, runs++) {
            if (!run(at, all_after, &now)) return false;
            const char *wrong = fault(&now, &whole);
            if (wrong) report(&now, at, all_after, wrong);
            faults += wrong != NULL;
            outcome_free(&now);
        }
    dprintf(STDOUT_FILENO, "%ld runs, %ld allocations, exit code %d\n", runs, all, WEXITSTATUS(whole.status));
    outcome_free(&whole);
    _exit(faults || runs == 0 || WIFSIGNALED(whole.status));
}

/* Runs before main(). */
__attribute__((constructor)) static void begin(void) {
    folder = getenv("MEMORY_FOLDER");
    if (!folder) return;
    sx_failure.asked =
        mmap(NULL, sizeof *sx_failure.asked, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    require(sx_failure.asked != MAP_FAILED, "mmap");
    sx_failure.at = number_of("MEMORY_AT", 0);
    if (sx_failure.at) return;
    (void)sweep();
}
