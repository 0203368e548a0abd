/* Runs the program that this is preloaded into once as it is, then again and again with faults: each kind
 * of shim.h, at each allocation or call. A run is a process forked before main(). Part of what is preloaded, like
 * shim.c; tests/faults/run starts it. What is asked of a run:
 *
 * - memory: the whole answer of the first run, or exit code 3 and "out of memory", as JSON where the answer is;
 * - a call that fails, a full disk: the whole answer, where more may be said on standard error and among the
 *   warnings of JSON, or exit code 2 or 3 and an error;
 * - a call that writes less than it was given: the whole answer;
 * - SIGINT: an answer so far, or while the command reads an end at once, but no error of usage or input;
 * - SIGKILL: the same command again gives the whole answer, and removes what the killed one left. Where it
 *   keeps a database and no checkpoint, that may know more than before: then only the exit code is compared.
 *
 * In all cases it does not crash or hang, loses no more memory than the first run, and files that it leaves belong there.
 * A checkpoint that the first run removes is removed after all else.
 *
 * In the environment: FAULT_FOLDER holds all files that the program writes and is emptied before each run.
 * Up to number FAULT_EVERY each fault happens in turn, from there on one in FAULT_SHARE of those so far.
 * FAULT_ONLY is KIND:NUMBER, a fault in this process itself, for a debugger. */
#define _GNU_SOURCE
#include "faults/shim.h"

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

enum { MAX_FILES = 16, MAX_REPORTS = 8, EXIT_BAD = 2, EXIT_FAILED = 3, SECONDS_PER_RUN = 20 };

static const char *const kind_name[SX_N_FAULTS] = {"none", "memory", "memory-from", "call",
                                                   "full", "kill",   "interrupt",   "short"};

typedef struct content {
    char path[512], *data;
    size_t size;
} content;

/* What a run leaves. */
typedef struct outcome {
    int status;  /* as waitpid() gives it */
    long blocks; /* of memory that it does not free */
    content out, err, file[MAX_FILES];
    size_t n_files;
} outcome;

static const char *folder;
static bool keeps_database, keeps_checkpoint; /* what the command is told to */

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

static void empty_folder(void) {
    require(nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS) == 0, folder);
}

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

static outcome *keeper; /* what keep_file() adds to */

/* Keeps the contents of a file, unless it is one that a run may leave in any state: a database, a
 * checkpoint, samples to learn from. */
static int keep_file(const char *path, const struct stat *info, int kind, struct FTW *at) {
    const char *name = path + strlen(folder) + 1;
    (void)info, (void)at;
    if (kind != FTW_F || begins(name, "db") || begins(name, "checkpoint") || begins(name, "data/")) return 0;
    require(keeper->n_files < MAX_FILES, "the command writes too many files");
    content *file = &keeper->file[keeper->n_files++];
    set_path(file->path, "/", name);
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

/* Starts a run. Returns its process, and 0 in it, whose children run no sweeps of their own. */
static pid_t start(const outcome *o, sx_fault fault) {
    memset(fault.counts, 0, sizeof *fault.counts);
    pid_t child = fork();
    require(child >= 0, "fork");
    if (child) return child;
    redirect(o->out.path, STDOUT_FILENO);
    redirect(o->err.path, STDERR_FILENO);
    unsetenv("FAULT_FOLDER");
    alarm(SECONDS_PER_RUN);
    sx_fault_now = fault;
    return 0;
}

/* Runs the program in the folder as it is. Returns false in the new process, which goes on to main(). */
static bool run(sx_fault fault, outcome *o) {
    *o = (outcome){0};
    set_path(o->out.path, "", ".out");
    set_path(o->err.path, "", ".err");
    pid_t child = start(o, fault);
    if (!child) return false;
    require(waitpid(child, &o->status, 0) == child, "waitpid");
    o->blocks = fault.counts->blocks;
    read_content(&o->out);
    read_content(&o->err);
    keeper = o;
    require(nftw(folder, keep_file, 8, FTW_PHYS) == 0, folder);
    return true;
}

static bool same(const content *a, const content *b) {
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

/* Whether an answer is that of a run without a fault, or says in addition what it warns of. */
static bool same_but_for_warnings(const content *a, const content *whole) {
    static const char key[] = "\"warnings\"";
    const char *at = strstr(whole->data, key);
    return same(a, whole) || (at && a->size >= (size_t)(at - whole->data) + strlen(key) &&
                              memcmp(a->data, whole->data, (size_t)(at - whole->data) + strlen(key)) == 0);
}

/* Whether an answer is one object of JSON, by its first line and its last one. */
static bool is_object(const content *c) {
    return c->size > 5 && memcmp(c->data, "{\n", 2) == 0 && strcmp(c->data + c->size - 3, "\n}\n") == 0;
}

/* The file of the same name, NULL if there is none. */
static const content *find(const outcome *o, const content *file) {
    for (size_t i = 0; i < o->n_files; i++)
        if (strcmp(o->file[i].path, file->path) == 0) return &o->file[i];
    return NULL;
}

/* Whether a run ended in an error as the kind of its fault may end it, and said so. */
static bool has_failed(const outcome *o, const sx_fault *fault) {
    int code = WIFEXITED(o->status) ? WEXITSTATUS(o->status) : -1;
    if (fault->kind == SX_FAULT_NONE || fault->kind == SX_FAULT_SHORT) return false;
    if (fault->kind == SX_FAULT_MEMORY || fault->kind == SX_FAULT_MEMORY_FROM)
        return code == EXIT_FAILED && strstr(o->err.data, "out of memory");
    return (code == EXIT_BAD || code == EXIT_FAILED) && strstr(o->err.data, "error: ");
}

/* Whether a file may be left behind: one that could not be removed, or not any more. */
static bool may_be_left(const content *file, const sx_fault *fault) {
    size_t length = strlen(file->path), suffix = strlen(".sextant-tmp");
    bool temporary = length > suffix && strcmp(file->path + length - suffix, ".sextant-tmp") == 0;
    bool stays = begins(fault->counts->name, "unlink") || fault->kind == SX_FAULT_INTERRUPT;
    return temporary && stays;
}

/* What is wrong with the files of a run; NULL if nothing is. One that failed may leave what it has found so
 * far, and so may one that was interrupted. */
static const char *file_fault(const outcome *o, const outcome *whole, const sx_fault *fault, bool partial) {
    for (size_t i = 0; i < o->n_files; i++) {
        const content *file = find(whole, &o->file[i]);
        if (!file && !may_be_left(&o->file[i], fault)) return "it leaves a file that does not belong there";
        if (file && !partial && !same_but_for_warnings(&o->file[i], file))
            return "a file that it writes differs";
    }
    return NULL;
}

/* What is wrong with a run, compared with the one without a fault; NULL if nothing is. */
static const char *run_fault(const outcome *o, const outcome *whole, const sx_fault *fault) {
    bool failed = has_failed(o, fault), interrupted = fault->kind == SX_FAULT_INTERRUPT;
    if (WIFSIGNALED(o->status) && WTERMSIG(o->status) == SIGALRM) return "it hangs";
    if (WIFSIGNALED(o->status) && !(interrupted && WTERMSIG(o->status) == SIGINT)) return "it crashes";
    const bool at_once = interrupted && strstr(o->err.data, "interrupted before there was an answer");
    if (WIFEXITED(o->status) && o->blocks > whole->blocks && !at_once) return "it loses memory";
    const char *wrong = file_fault(o, whole, fault, failed || interrupted);
    const bool memory = fault->kind == SX_FAULT_MEMORY || fault->kind == SX_FAULT_MEMORY_FROM;
    if (!wrong && failed && memory && is_object(&whole->out) && !is_object(&o->out))
        return "its error is no JSON";
    if (wrong || (failed && !interrupted)) return wrong;
    if (interrupted) {
        bool ends = WIFSIGNALED(o->status) || WEXITSTATUS(o->status) != EXIT_BAD;
        return ends || o->status == whole->status ? NULL : "its exit code is wrong";
    }
    if (o->status != whole->status) return "its exit code is wrong";
    if (!same_but_for_warnings(&o->out, &whole->out)) return "its answer differs";
    if (o->n_files < whole->n_files) return "a file is missing";
    bool told =
        strstr(o->err.data, "out of memory") || fault->kind == SX_FAULT_CALL || fault->kind == SX_FAULT_FULL;
    if (!told && !same(&o->err, &whole->err)) return "its messages differ";
    return NULL;
}

/* What is wrong with a run in the folder of one that was killed; NULL if nothing is. It may say that it was
 * resumed. */
static const char *repeat_fault(const outcome *o, const outcome *whole, const outcome *again) {
    const sx_fault none = {.counts = sx_fault_now.counts};
    if (o->status != whole->status && o->status != again->status)
        return "the run after it has another exit code";
    if (keeps_database && !keeps_checkpoint) return NULL;
    if (!same(&o->out, &whole->out) && !same(&o->out, &again->out)) return "the answer after it differs";
    const char *wrong = file_fault(o, whole, &none, false);
    return wrong                         ? file_fault(o, again, &none, false)
           : o->n_files < whole->n_files ? "a file is missing"
                                         : NULL;
}

/* Tells of a run that is wrong. */
static void report(const outcome *o, const sx_fault *fault, const char *name, const char *wrong) {
    dprintf(STDOUT_FILENO, "%s %ld (%s): %s (status %#x)\n", kind_name[fault->kind], fault->at, name, wrong,
            (unsigned)o->status);
    dprintf(STDOUT_FILENO, "%.400s", o->err.data);
}

/* The runs that others are compared with: the first, and one in the folder that it leaves. */
static struct { outcome first, again; } whole;

/* Runs with one fault. Returns false in each new process. */
static bool try_fault(sx_fault fault, int *faults) {
    outcome now;
    char name[sizeof fault.counts->name];
    empty_folder();
    if (!run(fault, &now)) return false;
    memcpy(name, fault.counts->name, sizeof name);
    const char *wrong = NULL;
    bool killed = WIFSIGNALED(now.status) && WTERMSIG(now.status) == SIGKILL;
    if (fault.kind != SX_FAULT_KILL) wrong = run_fault(&now, &whole.first, &fault);
    if (fault.kind == SX_FAULT_KILL && killed) {
        outcome_free(&now);
        if (!run((sx_fault){.counts = fault.counts}, &now)) return false;
        wrong = repeat_fault(&now, &whole.first, &whole.again);
    }
    if (wrong) report(&now, &fault, name, wrong);
    *faults += wrong != NULL;
    outcome_free(&now);
    return true;
}

/* How many faults of a kind a run can meet. */
static long number_of_faults(sx_fault_kind kind, const sx_fault_counts *seen) {
    switch (kind) {
    case SX_FAULT_MEMORY:
    case SX_FAULT_MEMORY_FROM:
        return seen->allocations;
    case SX_FAULT_CALL:
    case SX_FAULT_INTERRUPT:
        return seen->calls;
    case SX_FAULT_FULL:
    case SX_FAULT_SHORT:
        return seen->writes;
    case SX_FAULT_KILL:
        return seen->changes;
    default:
        return 0;
    }
}

/* Whether the first run removed its checkpoint before something else was written. */
static bool forgets_early(const sx_fault_counts *seen) {
    char path[512];
    set_path(path, "/", "checkpoint");
    bool removed = keeps_checkpoint && whole.first.status == 0 && access(path, F_OK) != 0;
    if (removed && strcmp(seen->last, "remove") == 0) return false;
    if (removed) dprintf(STDOUT_FILENO, "the checkpoint is not removed last, but before: %s\n", seen->last);
    return removed;
}

/* Tries all faults. Returns false in each new process; otherwise exits. */
static bool sweep(sx_fault_counts *counts) {
    long every = number_of("FAULT_EVERY", 25), share = number_of("FAULT_SHARE", 2), runs = 0;
    int faults = 0;
    empty_folder();
    if (!run((sx_fault){.counts = counts}, &whole.first)) return false;
    const sx_fault_counts seen = *counts;
    faults += forgets_early(&seen);
    if (!run((sx_fault){.counts = counts}, &whole.again)) return false;
    for (sx_fault_kind kind = 1; kind < SX_N_FAULTS; kind++)
        for (long at = 1; at <= number_of_faults(kind, &seen) && faults < MAX_REPORTS;
             at += at < every ? 1 : 1 + at / share, runs++)
            if (!try_fault((sx_fault){counts, kind, at}, &faults)) return false;
    dprintf(STDOUT_FILENO, "%ld runs: %ld allocations, %ld calls (%ld writes, %ld changes), exit code %d\n",
            runs, seen.allocations, seen.calls, seen.writes, seen.changes, WEXITSTATUS(whole.first.status));
    _exit(faults || runs == 0 || WIFSIGNALED(whole.first.status));
}

/* The fault that FAULT_ONLY names. */
static sx_fault read_only_fault(const char *text, sx_fault_counts *counts) {
    sx_fault fault = {.counts = counts};
    for (sx_fault_kind kind = 1; kind < SX_N_FAULTS; kind++) {
        size_t length = strlen(kind_name[kind]);
        if (!begins(text, kind_name[kind]) || text[length] != ':') continue;
        fault.kind = kind;
        fault.at = strtol(text + length + 1, NULL, 10);
    }
    require(fault.kind != SX_FAULT_NONE, text);
    return fault;
}

/* Runs before main(), which the C library tells the arguments, too. */
__attribute__((constructor)) static void begin(int argc, char **argv) {
    const char *only = getenv("FAULT_ONLY");
    folder = getenv("FAULT_FOLDER");
    if (!folder) return;
    for (int i = 1; i < argc; i++) {
        keeps_database |= strstr(argv[i], "/db") != NULL;
        keeps_checkpoint |= strstr(argv[i], "/checkpoint") != NULL;
    }
    void *counts =
        mmap(NULL, sizeof(sx_fault_counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    require(counts != MAP_FAILED, "mmap");
    if (!only || !*only)
        (void)sweep(counts);
    else
        sx_fault_now = read_only_fault(only, counts);
}
