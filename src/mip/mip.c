#include "mip/mip.h"

#include "base/file.h"
#include "base/vector.h"
#include "mip/program.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { POLL_MILLISECONDS = 50 };

sx_status sx_mip_new(sx_mip **out) {
    *out = calloc(1, sizeof **out);
    return *out ? SX_OK : sx_error_memory();
}

void sx_mip_free(sx_mip *mip) {
    if (!mip) return;
    free(mip->variable);
    free(mip->row);
    free(mip->term);
    free(mip);
}

size_t sx_mip_add_variable(sx_mip *mip, double low, double high, double cost, bool integer) {
    if (!sx_reserve(&mip->variable, &mip->variable_room, mip->n_variables + 1, sizeof *mip->variable)) {
        mip->failed = true;
        return 0;
    }
    mip->variable[mip->n_variables] = (sx_mip_variable){low, high, cost, integer};
    return mip->n_variables++;
}

void sx_mip_begin_row(sx_mip *mip, double low, double high) {
    if (!sx_reserve(&mip->row, &mip->row_room, mip->n_rows + 1, sizeof *mip->row)) {
        mip->failed = true;
        return;
    }
    mip->row[mip->n_rows++] = (sx_mip_row){low, high};
}

void sx_mip_add_term(sx_mip *mip, size_t variable, double coefficient) {
    if (mip->failed || !sx_reserve(&mip->term, &mip->term_room, mip->n_terms + 1, sizeof *mip->term)) {
        mip->failed = true;
        return;
    }
    mip->term[mip->n_terms++] = (sx_mip_term){mip->n_rows - 1, variable, coefficient};
}

/* In the child: solves and sends result and values. */
static void solve_in_child(const sx_mip *mip, const sx_mip_options *options, double *values, int file) {
    sx_mip_result result = {0};
    int nowhere = open("/dev/null", O_WRONLY);
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
    if (nowhere >= 0) {
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
    }
    bool solved = sx_mip_solve_here(mip, options, values, &result) &&
                  sx_write_all(file, &result, sizeof result) &&
                  sx_write_all(file, values, mip->n_variables * sizeof *values);
    _exit(solved ? 0 : 1);
}

/* Reads as many bytes as the child sends; false where it is told to stop first. */
static bool receive_bytes(int file, char *to, size_t size, const sx_mip_options *options, size_t *received) {
    *received = 0;
    while (*received < size) {
        struct pollfd ready = {.fd = file, .events = POLLIN};
        if (options->stop && options->stop(options->user)) return false;
        if (poll(&ready, 1, POLL_MILLISECONDS) <= 0) continue;
        ssize_t n = read(file, to + *received, size - *received);
        if (n <= 0) break;
        *received += (size_t)n;
    }
    return true;
}

/* Ends the child. */
static void end_child(pid_t child) {
    kill(child, SIGKILL);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
}

/* Takes apart what the child sent. */
static sx_status receive_solution(const char *bytes, size_t received, size_t size, double *values,
                                  sx_mip_result *out) {
    if (received < size)
        return sx_error_new(SX_ERR_PROGRAM, "CBC ended without an answer, or cannot be loaded");
    memcpy(out, bytes, sizeof *out);
    memcpy(values, bytes + sizeof *out, size - sizeof *out);
    return SX_OK;
}

/* Solves in a child of its own; *received tells how much of the answer came, *whole whether it was not stopped. */
static sx_status solve_apart(const sx_mip *mip, const sx_mip_options *options, double *values, char *bytes,
                             size_t size, size_t *received, bool *whole) {
    int ends[2];
    if (pipe(ends) != 0)
        return sx_error_system(SX_ERR_PROGRAM, "cannot start the solver of integer programs");
    pid_t child = fork();
    if (child == 0) solve_in_child(mip, options, values, ends[1]);
    int error = errno;
    close(ends[1]);
    *whole = child > 0 && receive_bytes(ends[0], bytes, size, options, received);
    close(ends[0]);
    if (child > 0) end_child(child);
    errno = error;
    return child < 0 ? sx_error_system(SX_ERR_PROGRAM, "cannot start the solver of integer programs") : SX_OK;
}

sx_status sx_mip_solve(const sx_mip *mip, const sx_mip_options *options, double *values, sx_mip_result *out) {
    size_t size = sizeof *out + mip->n_variables * sizeof *values, received = 0;
    bool whole = false;
    if (!sx_mip_available())
        return sx_error_hint(
            sx_error_new(SX_ERR_USAGE, "this build has no CBC, which solves integer programs"),
            "install it (Debian: coinor-libcbc3) and build again, or use another method");
    if (mip->failed) return sx_error_memory();
    char *bytes = malloc(size);
    if (!bytes) return sx_error_memory();
    sx_status status = solve_apart(mip, options, values, bytes, size, &received, &whole);
    const bool aborted = !status && whole && received < size;
    if (aborted) {
        sx_mip_options other = *options;
        other.proof = !options->proof;
        status = solve_apart(mip, &other, values, bytes, size, &received, &whole);
    }
    if (!status && !whole) *out = (sx_mip_result){.status = SX_MIP_STOPPED, .bound = -INFINITY};
    if (!status && whole) status = receive_solution(bytes, received, size, values, out);
    if (!status && whole && aborted && options->proof) {
        out->status = SX_MIP_LIMITED;
        out->bound = -INFINITY;
    }
    free(bytes);
    return status;
}
