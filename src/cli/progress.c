#include "cli/progress.h"

#include "cli/print.h"
#include "cli/table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

void sx_progress_begin(sx_progress_line *line, const sx_args *args) {
    *line = (sx_progress_line){.on = isatty(STDERR_FILENO) && !sx_args_flag(args, "quiet")};
}

void sx_progress_title(sx_progress_line *line, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(line->title, sizeof line->title, format, list);
    va_end(list);
}

/* The seconds that are left by the budget's own measure, negative where nobody can tell. */
static double seconds_left(const sx_progress *p) {
    double left = -1;
    if (p->limit && p->evaluations) {
        double all = p->seconds * (double)p->limit / (double)p->evaluations;
        left = all - p->seconds;
    }
    if (p->seconds_limit > 0 && (left < 0 || p->seconds_limit - p->seconds < left))
        left = fmax(0, p->seconds_limit - p->seconds);
    return left;
}

/* Draws a text over what the line showed before. */
static void draw(sx_progress_line *line, const char *text, int width) {
    fputc('\r', stderr);
    sx_print(stderr, text, "");
    fprintf(stderr, "%*s\r", line->width > width ? line->width - width : 0, "");
    fflush(stderr);
    line->width = width;
}

void sx_progress_show(void *user, const sx_progress *p) {
    sx_progress_line *line = user;
    char text[256];
    if (!line->on) return;
    double rate = p->seconds > 0 ? (double)p->evaluations / p->seconds : 0, left = seconds_left(p);
    int n = snprintf(text, sizeof text, "%s  ", line->title);
    if (isfinite(p->best) && p->bound > 0)
        n += snprintf(text + n, sizeof text - (size_t)n, "best %.4g, bound %.4g, gap %s  ", p->best, p->bound,
                      sx_show_percent(p->best / p->bound - 1).text);
    else if (isfinite(p->best))
        n += snprintf(text + n, sizeof text - (size_t)n, "best %.4g (%.3g x better than the first)  ",
                      p->best, p->first / p->best);
    else
        n += snprintf(text + n, sizeof text - (size_t)n, "no legal point yet  ");
    n += snprintf(text + n, sizeof text - (size_t)n, "%s evaluations, %s/s",
                  sx_show_count((double)p->evaluations).text, sx_show_count(floor(rate)).text);
    if (left >= 0) n += snprintf(text + n, sizeof text - (size_t)n, "  %.0f s left", ceil(left));
    draw(line, text, n);
}

void sx_progress_note(sx_progress_line *line, const char *format, ...) {
    char text[256];
    va_list list;
    if (!line->on) return;
    int n = snprintf(text, sizeof text, "%s  ", line->title);
    va_start(list, format);
    n += vsnprintf(text + n, sizeof text - (size_t)n, format, list);
    va_end(list);
    draw(line, text, n < (int)sizeof text ? n : (int)sizeof text - 1);
}

void sx_progress_end(sx_progress_line *line) {
    if (line->on && line->width) draw(line, "", 0);
}

static volatile sig_atomic_t interrupted;
static volatile time_t interrupted_at;

/* Notes the first Ctrl-C and lets one that comes a second later through: programs such as timeout send the
 * same signal twice at once, to a process and to its group. */
static void on_interrupt(int signal_number) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!interrupted) {
        interrupted_at = now.tv_sec;
        interrupted = 1;
    } else if (now.tv_sec > interrupted_at + 1) {
        signal(signal_number, SIG_DFL);
        raise(signal_number);
    }
}

const volatile sig_atomic_t *sx_interrupt_catch(void) {
    struct sigaction action = {.sa_handler = on_interrupt};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    return &interrupted;
}
