/* The line on a terminal that says how a long search is going, and Ctrl-C. */
#ifndef SX_CLI_PROGRESS_H
#define SX_CLI_PROGRESS_H

#include "cli/options.h"
#include "sextant/run.h"

/* A progress line: standard error, if that is a terminal and --quiet is not given. */
typedef struct sx_progress_line {
    bool on;
    char title[128]; /* what is being searched */
    int width;       /* of what is on the screen now */
} sx_progress_line;

void sx_progress_begin(sx_progress_line *line, const sx_args *args);
void sx_progress_title(sx_progress_line *line, const char *format, ...) SX_PRINTF(2, 3);
/* The same with a whole text; `line` is an sx_progress_line, as searches of several runs ask for it. */
void sx_progress_begins(void *line, const char *title);
/* Shows how a run is going; `line` is an sx_progress_line, as sx_run_options asks for it. */
void sx_progress_show(void *line, const sx_progress *progress);
/* Shows any text after the title. */
void sx_progress_note(sx_progress_line *line, const char *format, ...) SX_PRINTF(2, 3);
/* Wipes the line. */
void sx_progress_end(sx_progress_line *line);

/* The flag that Ctrl-C sets once it is caught. */
const sx_cancel *sx_interrupt_flag(void);

/* The input is read: from now on its time limit is over, and Ctrl-C only sets the flag it returns, which searches obey;
 * one that comes a second or two later ends the program. */
const sx_cancel *sx_interrupt_catch(void);

#endif
