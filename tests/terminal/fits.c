/* Runs the program on a pseudo-terminal and fails where a line is wider than the terminal, where the progress
 * line wraps, or where it is not wiped at the end.
 *
 * usage: fits PROGRAM FOLDER      in FOLDER, runs a command of every kind at 60, 80 and 120 columns */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_WORDS = 24, MAX_WIDTH = 512 };

/* Commands, words separated by single spaces; the first one shows its progress. */
static const char *const commands[] = {
    "map -a accel-b -p vgg-conv2 --mapper gamma --time 1",
    "map -a eyeriss -p alexnet --mapper gamma -n 300",
    "map -a eyeriss -p conv --mapper gamma -n 2000 --k-best 3 --pareto",
    "eval -a grid.arch.yaml -a grid.ert.yaml -p conv.problem.yaml -m conv.map.yaml --explain",
    "eval -a grid.arch.yaml -a grid.ert.yaml -p conv.problem.yaml -m conv.map.yaml --verbose",
    "space -a grid.arch.yaml -a grid.ert.yaml -p conv.problem.yaml -m conv.map.yaml --sweep orders",
    "verify conv.problem.yaml",
    "space -a eyeriss -p conv --samples 1000",
    "compare -a eyeriss -p conv --mapper gamma --mapper random --seeds 2 -n 500",
    "codesign -a eyeriss -p conv --choose weight_spad=96,192 --method sunstone-arch -v",
    "systolic -p 64x64x64 -v",
    "systolic -p alexnet --method divisors",
    "list",
    "list gamma",
    "list padding",
    "list bayes",
    "list gradient",
    "list mappers",
    "list networks",
    "list archs",
    "estimate scnn",
    "map -a glb128 -p fsrcnn --fuse --mapper gamma -n 100 --time 1",
    "map -a a100 -p llama-3-8b --phase decode --mapper gamma -n 20",
    "sweep -a a100 -p llama-3-8b --batch 1:2 --context 1k:1k",
    "list surrogates",
    "list placers",
    "help",
    "help map",
    "help eval",
    "help space",
    "help compare",
    "help codesign",
    "help systolic",
    "help place",
    "help train",
    "place -g block.graph.yaml -c small.chip.yaml --method greedy-dp -v",
    "place -g resnet50 --method density",
    "map -a frobnicator -p conv",
    "map --bugdet 3",
};

/* What a terminal line holds while bytes arrive. */
typedef struct screen {
    int width, at; /* at: the cursor */
    char line[MAX_WIDTH];
    bool wrapped, returned, overwritten; /* overwritten: a line was drawn again */
    size_t lines;
} screen;

/* Takes one byte as a terminal does. */
static void take(screen *s, char byte) {
    s->overwritten |= s->returned && byte != '\n' && byte != '\r';
    s->returned = byte == '\r' && s->lines == 0;
    if (byte == '\n') {
        s->lines++;
        s->at = 0;
        memset(s->line, ' ', MAX_WIDTH);
    } else if (byte == '\r') {
        s->at = 0;
    } else if ((byte & 0xC0) != 0x80) {
        if (s->at >= s->width) s->wrapped = true;
        if (s->at < MAX_WIDTH) s->line[s->at] = byte;
        s->at++;
    }
}

/* Starts the program with a terminal as its standard input, output and error. */
static pid_t start(const char *program, const char *command, const char *terminal) {
    pid_t child = fork();
    if (child != 0) return child;
    char text[512], *words[MAX_WORDS] = {(char *)program}, *at = text;
    snprintf(text, sizeof text, "%s", command);
    int n = 1;
    for (char *word; n + 1 < MAX_WORDS && (word = strsep(&at, " "));) words[n++] = word;
    setsid();
    int slave = open(terminal, O_RDWR);
    for (int i = 0; i < 3; i++) dup2(slave, i);
    execv(program, words);
    _exit(127);
}

/* Runs a command on a terminal of that width; true where everything fits, and progress was shown if it is
 * expected. */
static bool fits(const char *program, const char *command, int width, bool progress) {
    screen s = {.width = width};
    memset(s.line, ' ', MAX_WIDTH);
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) || unlockpt(master)) exit(77);
    char terminal[128];
    snprintf(terminal, sizeof terminal, "%s", ptsname(master));
    int slave = open(terminal, O_RDWR | O_NOCTTY);
    struct winsize size = {.ws_col = (unsigned short)width, .ws_row = 24};
    ioctl(slave, TIOCSWINSZ, &size);
    pid_t child = start(program, command, terminal);
    close(slave);
    char bytes[4096];
    for (ssize_t n; (n = read(master, bytes, sizeof bytes)) > 0 || (n < 0 && errno == EINTR);)
        for (ssize_t i = 0; i < n; i++) take(&s, bytes[i]);
    close(master);
    int status = 0;
    waitpid(child, &status, 0);
    bool wiped = true;
    for (int i = 0; i < width; i++) wiped &= s.line[i] == ' ';
    bool good = !s.wrapped && wiped && s.lines > 0 && (s.overwritten || !progress) && WIFEXITED(status) &&
                WEXITSTATUS(status) <= 2;
    if (!good)
        printf("%d columns: sextant %s: %s\n", width, command,
               s.wrapped ? "a line is too long"
               : !wiped  ? "the progress line is not wiped"
                         : "no output, or no progress line");
    return good;
}

int main(int argc, char **argv) {
    static const int widths[] = {60, 80, 120};
    if (argc != 3 || chdir(argv[2])) return 2;
    bool good = true;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
            good &= fits(argv[1], commands[i], widths[w], i == 0);
    return good ? 0 : 1;
}
