/* Runs fuzz targets over files instead of searching: each argument is TARGET=PATH, a file or a folder of files.
 * SX_TARGETS lists the targets with their functions; CMake writes it. */
#include "base/file.h"
#include "fuzz/fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

typedef int target(const uint8_t *data, size_t size);

static const struct {
    const char *name;
    target *run;
} targets[] = {SX_TARGETS};

/* The target of that name, which is so long; NULL where there is none. */
static target *find(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (strlen(targets[i].name) == length && memcmp(targets[i].name, name, length) == 0)
            return targets[i].run;
    return NULL;
}

/* Runs the target on one file; 1, or 0 when it cannot be read. */
static int replay_file(target *run, const char *path) {
    char *text;
    size_t size;
    if (!succeeded(sx_file_read(path, (size_t)1 << 24, &text, &size))) {
        fprintf(stderr, "cannot read %s\n", path);
        return 0;
    }
    printf("%s\n", path);
    fflush(stdout);
    run((const uint8_t *)text, size);
    free(text);
    return 1;
}

/* Runs the target on every file of a folder; how many there were. */
static int replay_folder(target *run, const char *path) {
    DIR *folder = opendir(path);
    if (!folder) return 0;
    int count = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        char file[4096];
        if (entry->d_name[0] == '.') continue;
        snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        count += replay_file(run, file);
    }
    closedir(folder);
    return count;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *equals = strchr(argv[i], '=');
        target *run = equals ? find(argv[i], (size_t)(equals - argv[i])) : NULL;
        struct stat info;
        if (!run) return fprintf(stderr, "no TARGET=PATH: %s\n", argv[i]), 2;
        bool folder = stat(equals + 1, &info) == 0 && S_ISDIR(info.st_mode);
        int count = folder ? replay_folder(run, equals + 1) : replay_file(run, equals + 1);
        printf("%s: %d inputs replayed\n", argv[i], count);
        if (count == 0) return 1;
    }
    return argc > 1 ? 0 : 2;
}
