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
static bool armed;
static char message[160];

/* Says what happened and ends the program. */
static void end_reading(int signal_number) {
    (void)signal_number;
    ssize_t written = write(STDERR_FILENO, message, strlen(message));
    (void)written;
    _exit(SX_EXIT_FAILED);
}

void sx_reading_begins(const sx_args *args) {
    double seconds = fmax(sx_args_number(args, "time", 0), LEAST_SECONDS);
    struct sigaction action = {.sa_handler = end_reading};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    if (!sx_args_flag(args, "time") || seconds > 1e6 || armed) return;
    snprintf(message, sizeof message,
             "error: the time limit of %g s was over before the input was read and checked\n"
             "hint: give more by --time\n",
             seconds);
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
    armed = false;
}
