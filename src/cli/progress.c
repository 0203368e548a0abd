#include "cli/progress.h"

#include "cli/reading.h"
#include "cli/terminal.h"
#include "report/table.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
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

void sx_progress_begins(void *line, const char *title) {
    sx_progress_title(line, "%s", title);
}

/* The seconds that are left by the budget's own measure, negative where unknown. */
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

/* Draws a text over what the line showed before, cut to the width that the terminal has now: a line that
 * wraps cannot be wiped. */
static void draw_line(sx_progress_line *line, const char *text) {
    int room = sx_terminal_width(STDERR_FILENO) - 1, old = line->width < room ? line->width : room;
    sx_text shown = {0};
    int width = sx_add_shown(&shown, text);
    size_t size = shown.failed ? 0 : shown.size;
    while (size && width > room) width -= (shown.data[--size] & 0xC0) != 0x80;
    fprintf(stderr, "\r%.*s%*s\r", (int)size, size ? shown.data : "", old > width ? old - width : 0, "");
    sx_text_free(&shown);
    fflush(stderr);
    line->width = width;
}

/* Adds a text, and two spaces before it where it is not the first. */
static void add_part(char *line, size_t size, const char *part) {
    size_t used = strlen(line);
    snprintf(line + used, size - used, "%s%s", used ? "  " : "", part);
}

/* Writes the best point so far. */
static void write_best(const sx_progress *p, bool brief, char *out, size_t size) {
    if (!isfinite(p->best)) {
        snprintf(out, size, "no legal point yet");
        return;
    }
    int n = snprintf(out, size, "best %.4g", p->best);
    if (p->bound > 0 && !brief) n += snprintf(out + n, size - (size_t)n, ", bound %.4g", p->bound);
    if (p->bound > 0)
        snprintf(out + n, size - (size_t)n, ", gap %s", sx_show_percent(p->best / p->bound - 1).text);
    else if (!brief)
        snprintf(out + n, size - (size_t)n, " (%.3g x better than the first)", p->first / p->best);
}

/* Writes the line in full, or short. */
static void write_line(const sx_progress_line *line, const sx_progress *p, bool brief, char *out,
                       size_t size) {
    char part[128];
    double rate = p->seconds > 0 ? (double)p->evaluations / p->seconds : 0, left = seconds_left(p);
    *out = 0;
    add_part(out, size, brief ? sx_show_name(line->title, 20).text : line->title);
    write_best(p, brief, part, sizeof part);
    add_part(out, size, part);
    int n = snprintf(part, sizeof part, "%s eval%s", sx_show_count((double)p->evaluations).text,
                     brief ? "s" : "uations");
    if (!brief) snprintf(part + n, sizeof part - (size_t)n, ", %s/s", sx_show_count(floor(rate)).text);
    add_part(out, size, part);
    snprintf(part, sizeof part, "%.0f s left", ceil(left));
    if (left >= 0) add_part(out, size, part);
}

void sx_progress_show(void *user, const sx_progress *p) {
    sx_progress_line *line = user;
    char text[512];
    if (!line->on) return;
    write_line(line, p, false, text, sizeof text);
    if ((int)strlen(text) >= sx_terminal_width(STDERR_FILENO)) write_line(line, p, true, text, sizeof text);
    draw_line(line, text);
}

void sx_progress_note(sx_progress_line *line, const char *format, ...) {
    char text[256];
    va_list list;
    if (!line->on) return;
    int n = snprintf(text, sizeof text, "%s  ", line->title);
    va_start(list, format);
    vsnprintf(text + n, sizeof text - (size_t)n, format, list);
    va_end(list);
    draw_line(line, text);
}

void sx_progress_end(sx_progress_line *line) {
    if (line->on && line->width) draw_line(line, "");
}

static sx_cancel interrupted;
static volatile time_t interrupted_at;

/* Notes the first Ctrl-C and lets one that comes a second later through: programs such as timeout send the
 * same signal twice at once, to a process and to its group. */
static void on_interrupt(int signal_number) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!sx_cancel_is_set(&interrupted)) {
        interrupted_at = now.tv_sec;
        sx_cancel_set(&interrupted);
    } else if (now.tv_sec > interrupted_at + 1) {
        signal(signal_number, SIG_DFL);
        raise(signal_number);
    }
}

const sx_cancel *sx_interrupt_flag(void) {
    return &interrupted;
}

const sx_cancel *sx_interrupt_catch(void) {
    sx_reading_ends();
    struct sigaction action = {.sa_handler = on_interrupt};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    return &interrupted;
}
