/* Runs the unit tests of a folder: of the file that the argument names, or all. SX_TESTS lists the files with
 * their functions; CMake writes it. The last lines name the files whose tests failed. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *folder, *name;
    int (*run)(void);
} tests[] = {SX_TESTS};

enum { N_TESTS = sizeof tests / sizeof tests[0] };

int main(int argc, char **argv) {
    bool failed[N_TESTS] = {false};
    int n_failed = 0, found = 0;
    setvbuf(stdout, NULL, _IOLBF, 0); /* what was printed before a crash says where it was */
    for (size_t i = 0; i < N_TESTS; i++) {
        if (argc > 1 && strcmp(argv[1], tests[i].name) != 0) continue;
        found++;
        printf("tests/%s/test_%s.c\n", tests[i].folder, tests[i].name);
        failed[i] = tests[i].run() != 0;
        n_failed += failed[i];
    }
    if (!found) fprintf(stderr, "there are no tests of '%s'\n", argc > 1 ? argv[1] : "anything");
    for (size_t i = 0; i < N_TESTS; i++)
        if (failed[i]) fprintf(stderr, "failed: tests/%s/test_%s.c\n", tests[i].folder, tests[i].name);
    return n_failed || !found;
}
