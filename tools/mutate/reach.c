/* Records which blocks of libwhole.so a process reaches, for reach.py: gcc's -fsanitize-coverage=trace-pc calls
 * __sanitizer_cov_trace_pc at the start of each. When the process ends, their addresses, from the library's start on, are
 * written to a new file of the folder that SEXTANT_REACH names. So they are when its processor time is over (RLIMIT_CPU); it
 * then ends with code 99. What its children reach counts as its own, however they end. */
#define _GNU_SOURCE
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROOM = 1 << 25 };
static unsigned char *reached; /* shared with children */
static size_t base;

static int find_library(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size, (void)unused;
    if (strstr(info->dlpi_name, "libwhole.so")) base = info->dlpi_addr;
    return base != 0;
}

static void start(void) {
    dl_iterate_phdr(find_library, NULL);
    reached = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (reached == MAP_FAILED) abort();
}

void __sanitizer_cov_trace_pc(void) {
    if (!reached) start();
    size_t place = (size_t)__builtin_return_address(0) - base;
    if (place < ROOM && !reached[place]) reached[place] = 1;
}

__attribute__((destructor)) static void write_reached(void) {
    const char *folder = getenv("SEXTANT_REACH");
    char path[4096];
    if (!reached || !folder || snprintf(path, sizeof path, "%s/%ld", folder, (long)getpid()) >= (int)sizeof path) return;
    FILE *file = fopen(path, "w");
    if (!file) return;
    for (size_t i = 0; i < ROOM; i++)
        if (reached[i]) fprintf(file, "%zx\n", i);
    fclose(file);
}

static void end_early(int number) {
    (void)number;
    write_reached();
    _exit(99);
}

__attribute__((constructor)) static void watch_time(void) {
    signal(SIGXCPU, end_early);
}
