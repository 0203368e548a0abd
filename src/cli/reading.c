/* A timer of the system rather than a count of steps: readers of YAML, JSON and ONNX, of which some are libraries, and
 * checks of what they read have no one place that all their work passes (docs/decisions/022). Nothing has been written
 * by then, and there is one thread. */
#include "cli/reading.h"

#include "cli/command.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const double LEAST_SECONDS = 1;
static timer_t timer;
static bool armed, caught;
static char late[160], answer[512]; /* what is said at the end of the time, as text and as JSON */

#define INTERRUPTED "interrupted before there was an answer"
/* An error as an object of JSON: its message, its other keys, and whether there was a signal. */
#define ERROR_JSON(message, more, signal)                                                                    \
    "{\n  \"error\": {\n    \"message\": \"" message "\"," more "\n  },\n  \"complete\": false,\n"           \
    "  \"interrupted\": " signal ",\n  \"warnings\": []\n}\n"
#define LATE "the time limit of %g s was over before the input was read and checked"

/* Ends the program with a text and, where that is wanted, with JSON. */
static void end_with(const char *text, const char *json, sx_exit exit) {
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    if (answer[0]) written = write(STDOUT_FILENO, json, strlen(json));
    (void)written;
    _exit((int)exit);
}

static void end_reading(int signal_number) {
    (void)signal_number;
    end_with(late, answer, SX_EXIT_FAILED);
}

static void on_interrupt(int signal_number) {
    (void)signal_number;
    end_with(INTERRUPTED "\n", ERROR_JSON(INTERRUPTED, "\n    \"code\": \"interrupted\"", "true"),
             SX_EXIT_NONE);
}

/* Has a function called for Ctrl-C and SIGTERM. */
static void catch_signals(void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

void sx_reading_begins(const sx_args *args) {
    double seconds = fmax(sx_args_number(args, "time", 0), LEAST_SECONDS);
    struct sigaction action = {.sa_handler = end_reading};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    if (sx_args_flag(args, "json"))
        snprintf(
            answer, sizeof answer,
            ERROR_JSON(LATE, "\n    \"hint\": \"give more by --time\",\n    \"code\": \"limit\"", "false"),
            seconds);
    caught = true;
    catch_signals(on_interrupt);
    if (!sx_args_flag(args, "time") || seconds > 1e6 || armed) return;
    snprintf(late, sizeof late, "error: " LATE "\nhint: give more by --time\n", seconds);
    sigemptyset(&action.sa_mask);
    armed = sigaction(SIGALRM, &action, NULL) == 0 && timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;
    if (!armed) return;
    double whole = floor(seconds);
    struct itimerspec when = {
        .it_value = {.tv_sec = (time_t)whole, .tv_nsec = (long)((seconds - whole) * 1e9)}};
    (void)timer_settime(timer, 0, &when, NULL);
}

void sx_reading_ends(void) {
    if (armed) timer_delete(timer);
    if (caught) catch_signals(SIG_DFL);
    armed = caught = false;
}
