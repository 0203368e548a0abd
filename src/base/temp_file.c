/* Names are PATH.PID-NUMBER.sextant-tmp. A file is one that was left behind if its name is of that form, it
 * is a plain file of this user, and no process holds its lock. Between creating a file and locking it another
 * process may take it for one: who gets the lock of a file that is no longer there creates another. Where
 * a file system has no locks nothing is removed. */
#define _DEFAULT_SOURCE /* flock */
#include "base/temp_file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char suffix[] = ".sextant-tmp";
enum { MOST_NUMBERS = 1000, NUMBERS_SIZE = 48 };

/* Steps over digits; NULL where there are none. */
static const char *skip_digits(const char *text) {
    if (!text || !isdigit((unsigned char)*text)) return NULL;
    while (isdigit((unsigned char)*text)) text++;
    return text;
}

/* Whether a file's name is that of a temporary file for another one. */
static bool is_temporary(const char *name, const char *target) {
    size_t length = strlen(target);
    if (strncmp(name, target, length) != 0 || name[length] != '.') return false;
    const char *at = skip_digits(name + length + 1);
    at = at && *at == '-' ? skip_digits(at + 1) : NULL;
    return at && strcmp(at, suffix) == 0;
}

/* Removes a file of a folder whose lock no process holds. */
static void remove_unused(int folder, const char *name) {
    struct stat opened, named;
    int fd = openat(folder, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return;
    if (fstat(fd, &opened) == 0 && S_ISREG(opened.st_mode) && opened.st_uid == geteuid() &&
        flock(fd, LOCK_EX | LOCK_NB) == 0 && fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
        named.st_ino == opened.st_ino && named.st_dev == opened.st_dev)
        unlinkat(folder, name, 0);
    close(fd);
}

/* Removes what killed processes left beside a path, as far as that is possible. */
static void remove_leftovers(const sx_temp_file *temp) {
    const char *slash = strrchr(temp->path, '/'), *target = slash ? slash + 1 : temp->path;
    size_t length = slash ? (size_t)(slash - temp->path) + 1 : 0;
    memcpy(temp->name, temp->path, length);
    strcpy(temp->name + length, slash ? "" : ".");
    DIR *folder = opendir(temp->name);
    if (!folder) return;
    for (const struct dirent *entry; (entry = readdir(folder));)
        if (is_temporary(entry->d_name, target)) remove_unused(dirfd(folder), entry->d_name);
    closedir(folder);
}

sx_status sx_temp_file_init(const char *path, sx_temp_file *out) {
    size_t room = strlen(path) + NUMBERS_SIZE + sizeof suffix;
    *out = (sx_temp_file){.path = path, .name = malloc(room), .room = room, .fd = -1};
    if (!out->name) return sx_error_memory();
    remove_leftovers(out);
    return SX_OK;
}

void sx_temp_file_fini(sx_temp_file *temp) {
    if (temp->fd >= 0) close(temp->fd);
    free(temp->name);
}

/* Locks a file that was just created; false where it was removed before that. */
static bool lock_file(int fd) {
    struct stat info;
    while (flock(fd, LOCK_EX) != 0)
        if (errno != EINTR) return true;
    return fstat(fd, &info) != 0 || info.st_nlink > 0;
}

bool sx_temp_file_create(sx_temp_file *temp) {
    for (int i = 0; i < MOST_NUMBERS; i++) {
        snprintf(temp->name, temp->room, "%s.%ld-%d%s", temp->path, (long)getpid(), i, suffix);
        temp->fd = open(temp->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (temp->fd >= 0 && lock_file(temp->fd)) return true;
        if (temp->fd < 0 && errno != EEXIST) return false;
        if (temp->fd >= 0) close(temp->fd);
        temp->fd = -1;
    }
    errno = EEXIST;
    return false;
}
