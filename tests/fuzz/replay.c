/* Runs fuzz targets over files instead of searching: each argument is TARGET=PATH, a file or a folder of files, or
 * TARGET+COUNT=PATH, which also runs as many inputs that are made from them: of any bytes where a grammar makes a text of
 * them, by the target's own changes, or else by changes of lines and words; TARGET+COUNT@FIRST=PATH begins with the input of
 * that number. The same arguments make the same inputs. SX_TARGETS lists the targets with their functions; CMake writes it. */
#include "base/file.h"
#include "base/vector.h"
#include "fuzz/fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_BYTES = 1 << 14, MAX_CHANGES = 12, MAX_TEXT_CHANGES = 4, MAX_RANDOM = 512 };

typedef struct target {
    const char *name;
    int (*run)(const uint8_t *data, size_t size);
    size_t (*mutate)(uint8_t *data, size_t size, size_t room, unsigned seed); /* NULL: none of its own */
    bool grammar;                                                             /* bytes choose what it makes */
} target;

static const target targets[] = {SX_TARGETS};

/* An input that was read. */
typedef struct seed_file {
    char *text;
    size_t size;
} seed_file;

/* The target of that name, which is so long; NULL where there is none. */
static const target *find_target(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (strlen(targets[i].name) == length && memcmp(targets[i].name, name, length) == 0)
            return &targets[i];
    return NULL;
}

/* Runs the target on one file and keeps it, unless it cannot be read. */
static void replay_file(const target *t, const char *path, sx_vector *seeds) {
    seed_file file;
    if (!succeeded(sx_file_read(path, (size_t)1 << 24, &file.text, &file.size))) {
        fprintf(stderr, "cannot read %s\n", path);
        return;
    }
    printf("%s\n", path);
    fflush(stdout);
    t->run((const uint8_t *)file.text, file.size);
    seed_file *kept = sx_vector_add(seeds);
    promise(kept);
    *kept = file;
}

/* Compares names of files for qsort. */
static int by_name(const void *a, const void *b) {
    const char *const *x = a, *const *y = b;
    return strcmp(*x, *y);
}

/* Runs the target on every file of a folder, in the order of their names. */
static void replay_folder(const target *t, const char *path, sx_vector *seeds) {
    DIR *folder = opendir(path);
    sx_vector names = {.size = sizeof(char *)};
    if (!folder) return;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.') continue;
        char **name = sx_vector_add(&names);
        promise(name && (*name = strdup(entry->d_name)));
    }
    closedir(folder);
    qsort(names.data, names.n, sizeof(char *), by_name);
    for (size_t i = 0; i < names.n; i++) {
        char file[4096], **name = sx_vector_at(&names, i);
        snprintf(file, sizeof file, "%s/%s", path, *name);
        replay_file(t, file, seeds);
        free(*name);
    }
    sx_vector_clear(&names);
}

/* A part of a text: the word or the line around a place. */
typedef struct span {
    size_t from, to;
} span;

static span find_span(const uint8_t *data, size_t size, size_t at, bool line) {
    const char *letters = line ? "\n" : " ,:\n\"[]{}";
    span s = {at, at};
    while (s.from > 0 && !(data[s.from - 1] && strchr(letters, data[s.from - 1]))) s.from--;
    while (s.to < size && !(data[s.to] && strchr(letters, data[s.to]))) s.to++;
    if (line && s.to < size) s.to++;
    return s;
}

/* Changes a text in one place: a byte becomes another, a line is lost or comes again elsewhere, a word becomes another one of
 * the text or a value at an edge. */
static size_t change_text(uint8_t *data, size_t size, size_t room, sx_rng *rng) {
    static const char *const edges[] = {"0",    "-1", "1e308", "18446744073709551616",
                                        "\"\"", "[]", "null",  "nan"};
    enum { BYTE, LOST_LINE, LINE, WORD, EDGE, N_KINDS };
    uint8_t piece[MAX_BYTES];
    if (size == 0) return 0;
    const uint64_t kind = sx_rng_below(rng, N_KINDS);
    const bool line = kind == LOST_LINE || kind == LINE;
    span at = find_span(data, size, sx_rng_below(rng, size), line);
    const span other = find_span(data, size, sx_rng_below(rng, size), line);
    const char *edge = edges[sx_rng_below(rng, sizeof edges / sizeof *edges)];
    const size_t length = kind == LOST_LINE ? 0 : kind == EDGE ? strlen(edge) : other.to - other.from;
    if (kind == BYTE)
        data[at.from < size ? at.from : size - 1] =
            (uint8_t)sx_rng_below(rng, sx_rng_below(rng, 8) ? 127 : 256);
    if (kind == LINE) at.to = at.from;
    if (kind == BYTE || size - (at.to - at.from) + length > room) return size;
    if (length) memcpy(piece, kind == EDGE ? (const uint8_t *)edge : data + other.from, length);
    memmove(data + at.from + length, data + at.to, size - at.to);
    if (length) memcpy(data + at.from, piece, length);
    return size - (at.to - at.from) + length;
}

/* Makes an input: a file that is changed a few times, or any bytes. */
static size_t make_input(const target *t, const sx_vector *seeds, size_t number, uint8_t data[MAX_BYTES]) {
    sx_rng rng = sx_rng_stream(number, "fuzz.replay", 0);
    const seed_file *from = sx_vector_at(seeds, sx_rng_below(&rng, seeds->n));
    size_t size = from->size < MAX_BYTES ? from->size : 0;
    if (t->grammar) {
        size = sx_rng_below(&rng, MAX_RANDOM);
        for (size_t i = 0; i < size; i++) data[i] = (uint8_t)sx_rng_below(&rng, 256);
        return size;
    }
    if (size) memcpy(data, from->text, size);
    for (uint64_t changes = 1 + sx_rng_below(&rng, t->mutate ? MAX_CHANGES : MAX_TEXT_CHANGES); changes;
         changes--)
        size = t->mutate ? t->mutate(data, size, MAX_BYTES, (unsigned)sx_rng_below(&rng, UINT32_MAX))
                         : change_text(data, size, MAX_BYTES, &rng);
    return size;
}

/* Runs the target on `count` inputs that are made, from number `first` on. */
static void replay_made(const target *t, const sx_vector *seeds, size_t first, size_t count) {
    uint8_t *data = malloc(MAX_BYTES);
    promise(data);
    for (size_t i = first; i < first + count; i++) {
        printf("%s+%zu\n", t->name, i);
        fflush(stdout);
        t->run(data, make_input(t, seeds, i, data));
    }
    free(data);
}

/* Runs one argument; whether there was anything to run. */
static bool replay(const target *t, const char *path, size_t first, size_t count) {
    sx_vector seeds = {.size = sizeof(seed_file)};
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        replay_folder(t, path, &seeds);
    else
        replay_file(t, path, &seeds);
    const size_t n = seeds.n;
    if (n) replay_made(t, &seeds, first, count);
    printf("%s=%s: %zu inputs replayed, %zu made\n", t->name, path, n, n ? count : 0);
    for (size_t i = 0; i < n; i++) free(((seed_file *)sx_vector_at(&seeds, i))->text);
    sx_vector_clear(&seeds);
    return n > 0;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *equals = strchr(argv[i], '=');
        const size_t name = strcspn(argv[i], "+=");
        const target *t = equals ? find_target(argv[i], name) : NULL;
        if (!t) return fprintf(stderr, "no TARGET[+COUNT[@FIRST]]=PATH: %s\n", argv[i]), 2;
        char *end = argv[i] + name;
        const size_t count = *end == '+' ? strtoul(end + 1, &end, 10) : 0;
        if (!replay(t, equals + 1, *end == '@' ? strtoul(end + 1, NULL, 10) : 0, count)) return 1;
    }
    return argc > 1 ? 0 : 2;
}
