/* Runs a fuzz target over files instead of searching: each argument is a file or a folder of files. */
#include "base/file.h"
#include "fuzz/fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Runs the target on one file; 1, or 0 when it cannot be read. */
static int replay_file(const char *path) {
    char *text;
    size_t size;
    if (!succeeded(sx_file_read(path, (size_t)1 << 24, &text, &size))) {
        fprintf(stderr, "cannot read %s\n", path);
        return 0;
    }
    printf("%s\n", path);
    fflush(stdout);
    LLVMFuzzerTestOneInput((const uint8_t *)text, size);
    free(text);
    return 1;
}

/* Runs the target on every file of a folder; how many there were. */
static int replay_folder(const char *path) {
    DIR *folder = opendir(path);
    if (!folder) return 0;
    int count = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        char file[4096];
        if (entry->d_name[0] == '.') continue;
        snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        count += replay_file(file);
    }
    closedir(folder);
    return count;
}

int main(int argc, char **argv) {
    int count = 0;
    for (int i = 1; i < argc; i++) {
        struct stat info;
        bool folder = stat(argv[i], &info) == 0 && S_ISDIR(info.st_mode);
        count += folder ? replay_folder(argv[i]) : replay_file(argv[i]);
    }
    printf("%d inputs replayed\n", count);
    return count > 0 ? 0 : 1;
}
