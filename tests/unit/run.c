/* Runs the unit tests of a folder: of the file that the argument names, or all. SX_TESTS lists the files with
 * their functions; CMake writes it. */
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int (*run)(void);
} tests[] = {SX_TESTS};

int main(int argc, char **argv) {
    int failed = 0, found = 0;
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        if (argc > 1 && strcmp(argv[1], tests[i].name) != 0) continue;
        found++;
        failed += tests[i].run();
    }
    if (!found) fprintf(stderr, "there are no tests of '%s'\n", argc > 1 ? argv[1] : "anything");
    return failed || !found;
}
