#include "base/child.h"

#include "base/cancel.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CHUNK = 1 << 14, SAID = 512, POLL_MILLISECONDS = 50, LAST_READS = 16 };
enum { IN, OUT, ERR, N_PIPES };

static const double EXIT_SECONDS = 0.5; /* that a child which closed its output has to exit */

struct sx_child {
    pid_t pid;
    int pipe[N_PIPES]; /* this side of them; -1: closed */
    bool reaped;
    int status; /* of waitpid, once it is reaped */
    sx_text line;
    char said[SAID + 1];
    size_t n_said;
};

/* Sleeps a little. */
static void sleep_briefly(void) {
    struct timespec time = {.tv_nsec = 2000000};
    nanosleep(&time, NULL);
}

/* Makes a pipe whose ends are above standard error and closed by exec. */
static bool make_pipe(int ends[2]) {
    int raw[2];
    ends[0] = ends[1] = -1;
    if (pipe(raw) != 0) return false;
    for (int i = 0; i < 2; i++) {
        ends[i] = fcntl(raw[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        close(raw[i]);
    }
    return ends[0] >= 0 && ends[1] >= 0;
}

/* In the child: its pipes become its standard streams, signals are as usual, and the shell takes over. */
static void run_shell(const char *command, int far[N_PIPES]) {
    sigset_t none;
    setpgid(0, 0);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    for (int i = 0; i < N_PIPES; i++)
        if (dup2(far[i], i) < 0) _exit(127);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

/* Makes the pipes: near ends in `near`, far ends in `far`. */
static bool make_pipes(int near[N_PIPES], int far[N_PIPES]) {
    bool made = true;
    for (int i = 0; i < N_PIPES; i++) {
        int ends[2];
        made &= make_pipe(ends);
        near[i] = ends[i == IN];
        far[i] = ends[i != IN];
        if (near[i] >= 0) made &= fcntl(near[i], F_SETFL, O_NONBLOCK) == 0;
    }
    return made;
}

static void close_all(int ends[N_PIPES]) {
    for (int i = 0; i < N_PIPES; i++) {
        if (ends[i] >= 0) close(ends[i]);
        ends[i] = -1;
    }
}

sx_status sx_child_start(const char *command, sx_child **out) {
    int far[N_PIPES];
    sx_child *child = calloc(1, sizeof *child);
    if (!child) return sx_error_memory();
    bool made = make_pipes(child->pipe, far);
    if (made) child->pid = fork();
    if (made && child->pid == 0) run_shell(command, far);
    int error = errno;
    close_all(far);
    if (!made || child->pid < 0) {
        close_all(child->pipe);
        free(child);
        errno = error;
        return sx_error_system(SX_ERR_PROGRAM, "cannot start '%s'", command);
    }
    setpgid(child->pid, child->pid);
    *out = child;
    return SX_OK;
}

/* Whether the child has ended, waiting up to some seconds for it. */
static bool wait_for_end(sx_child *child, double seconds) {
    double until = sx_clock_seconds() + seconds;
    while (!child->reaped) {
        child->reaped = waitpid(child->pid, &child->status, WNOHANG) != 0;
        if (child->reaped || sx_clock_seconds() >= until) break;
        sleep_briefly();
    }
    return child->reaped;
}

void sx_child_end(sx_child *child, double seconds) {
    if (!child) return;
    close_all(child->pipe);
    (void)wait_for_end(child, seconds);
    kill(-child->pid, SIGKILL);
    while (!child->reaped) child->reaped = waitpid(child->pid, &child->status, 0) != -1 || errno != EINTR;
    sx_text_free(&child->line);
    free(child);
}

void sx_child_exit_text(sx_child *child, char *text, size_t size) {
    if (!wait_for_end(child, EXIT_SECONDS))
        snprintf(text, size, "it closed its output");
    else if (WIFSIGNALED(child->status))
        snprintf(text, size, "it was killed by signal %d", WTERMSIG(child->status));
    else
        snprintf(text, size, "it exited with code %d", WEXITSTATUS(child->status));
}

/* Writes without the signal that a closed pipe would raise. */
static ssize_t write_quietly(int file, const char *bytes, size_t size) {
    sigset_t blocked, before, pending;
    struct timespec now = {0};
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGPIPE);
    sigpending(&pending);
    bool raised_before = sigismember(&pending, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    ssize_t n = write(file, bytes, size);
    int error = errno;
    if (n < 0 && error == EPIPE && !raised_before)
        while (sigtimedwait(&blocked, NULL, &now) < 0 && errno == EINTR) continue;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return n;
}

/* Writes as much of a question as the pipe takes; a child that does not read any more is seen by its output. */
static void write_some(sx_child *child, const char *line, size_t size, size_t *written) {
    ssize_t n = write_quietly(child->pipe[IN], line + *written, size - *written);
    if (n > 0) *written += (size_t)n;
    if (n >= 0 || errno == EAGAIN || errno == EINTR) return;
    close(child->pipe[IN]);
    child->pipe[IN] = -1;
}

/* Keeps the end of what the child writes to standard error. */
static void read_said(sx_child *child) {
    char bytes[CHUNK];
    ssize_t n = read(child->pipe[ERR], bytes, sizeof bytes);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) {
        close(child->pipe[ERR]);
        child->pipe[ERR] = -1;
        return;
    }
    size_t more = (size_t)n < SAID ? (size_t)n : SAID;
    size_t kept = child->n_said + more <= SAID ? child->n_said : SAID - more;
    memmove(child->said, child->said + child->n_said - kept, kept);
    memcpy(child->said + kept, bytes + (size_t)n - more, more);
    child->n_said = kept + more;
    child->said[child->n_said] = 0;
}

/* Reads some of an answer; false where the output has ended. */
static bool read_line(sx_child *child) {
    char bytes[CHUNK];
    ssize_t n = read(child->pipe[OUT], bytes, sizeof bytes);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (n > 0) sx_text_add_bytes(&child->line, bytes, (size_t)n);
    return n > 0;
}

/* Whether there is a reply, and which; the newline of a line is cut off. */
static bool read_reply(sx_child *child, bool asked, sx_reply *reply) {
    char *end = child->line.size ? memchr(child->line.data, '\n', child->line.size) : NULL;
    if (child->line.size && !asked)
        *reply = SX_REPLY_MORE;
    else if (!end && child->line.size > SX_REPLY_LIMIT)
        *reply = SX_REPLY_LONG;
    else if (end && end + 1 < child->line.data + child->line.size)
        *reply = SX_REPLY_MORE;
    else if (end)
        *reply = SX_REPLY_LINE;
    else
        return false;
    if (end) *end = 0;
    return true;
}

/* Waits a moment for the pipes and serves them; false where the child's output has ended. */
static bool serve_pipes(sx_child *child, const char *line, size_t size, size_t *written, int milliseconds) {
    struct pollfd files[N_PIPES] = {
        {child->pipe[IN], POLLOUT, 0}, {child->pipe[OUT], POLLIN, 0}, {child->pipe[ERR], POLLIN, 0}};
    if (*written == size) files[IN].fd = -1;
    if (poll(files, N_PIPES, milliseconds) <= 0) return true;
    if (files[ERR].revents) read_said(child);
    bool goes_on = !files[OUT].revents || read_line(child);
    if (files[IN].revents && goes_on) write_some(child, line, size, written);
    return goes_on;
}

sx_status sx_child_ask(sx_child *child, const char *line, size_t size, double seconds,
                       const sx_cancel *cancel, sx_reply *reply) {
    double until = sx_clock_seconds() + seconds;
    size_t written = size;
    child->line.size = 0;
    bool alive = serve_pipes(child, line, size, &written, 0);
    if (read_reply(child, false, reply)) return SX_OK;
    for (written = 0; alive; alive = serve_pipes(child, line, size, &written, POLL_MILLISECONDS)) {
        if (child->line.failed) return sx_error_memory();
        if (read_reply(child, true, reply)) return SX_OK;
        *reply = sx_is_cancelled(cancel) ? SX_REPLY_CANCELLED : SX_REPLY_LATE;
        if (*reply == SX_REPLY_CANCELLED || sx_clock_seconds() >= until) return SX_OK;
    }
    (void)wait_for_end(child, EXIT_SECONDS);
    for (int i = 0; i < LAST_READS && child->pipe[ERR] >= 0; i++) read_said(child);
    *reply = SX_REPLY_DIED;
    return child->line.failed ? sx_error_memory() : SX_OK;
}

const char *sx_child_line(const sx_child *child) {
    return child->line.size ? child->line.data : "";
}

const char *sx_child_said(const sx_child *child) {
    return child->said;
}
