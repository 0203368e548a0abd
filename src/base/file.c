#define _XOPEN_SOURCE 700 /* realpath */
#include "base/file.h"

#include "base/file_error.h"
#include "base/temp_file.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads an open file to its end. */
static SX_MUST_USE sx_status read_all(int fd, const char *path, size_t limit, char **text, size_t *size) {
    sx_text content = {0};
    char chunk[16384];
    sx_status status = SX_OK;
    for (ssize_t got; (got = read(fd, chunk, sizeof chunk)) != 0;) {
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            status = sx_file_error(SX_ERR_FILE, "read", path);
            goto done;
        }
        sx_text_add_bytes(&content, chunk, (size_t)got);
        if (content.size > limit) {
            status = sx_error_new(SX_ERR_LIMIT, "'%s' is larger than %zu bytes", path, limit);
            goto done;
        }
    }
    size_t total = content.size;
    status = sx_text_take(&content, text);
    if (!status) *size = total;
done:
    sx_text_free(&content);
    return status;
}

/* Reads a file that `open` accepts with these flags. */
static SX_MUST_USE sx_status read_file(const char *path, int flags, size_t limit, char **text, size_t *size) {
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | flags);
    if (fd < 0) return sx_file_error(SX_ERR_FILE, "open", path);
    sx_status status;
    if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode))
        status = sx_error_new(SX_ERR_FILE, "'%s' is a folder, not a file", path);
    else if (flags && !S_ISREG(info.st_mode))
        status = sx_error_new(SX_ERR_FILE, "'%s' is not a regular file", path);
    else
        status = read_all(fd, path, limit, text, size);
    close(fd);
    return status;
}

sx_status sx_file_read(const char *path, size_t limit, char **text, size_t *size) {
    return read_file(path, 0, limit, text, size);
}

sx_status sx_file_read_regular(const char *path, size_t limit, char **text, size_t *size) {
    return read_file(path, O_NONBLOCK, limit, text, size);
}

bool sx_file_begins(const char *path, const char *mark, size_t length) {
    char first[64];
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return true;
    bool same = fstat(fd, &info) != 0 || !S_ISREG(info.st_mode);
    same = same || (pread(fd, first, length, 0) == (ssize_t)length && memcmp(first, mark, length) == 0);
    close(fd);
    return same;
}

bool sx_file_is_absent(int error) {
    return error == ENOENT || error == ENOTDIR || error == EACCES || error == ELOOP || error == ENAMETOOLONG;
}

bool sx_write_all(int fd, const void *bytes, size_t size) {
    const char *from = bytes;
    while (size > 0) {
        struct pollfd ready = {.fd = fd, .events = POLLOUT};
        ssize_t done = write(fd, from, size);
        if (done < 0 && errno == EAGAIN && poll(&ready, 1, -1) >= 0) continue;
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        from += done;
        size -= (size_t)done;
    }
    return true;
}

/* Writes all bytes to a descriptor and flushes them to the disk. */
static bool write_flushed(int fd, const char *text, size_t size) {
    return sx_write_all(fd, text, size) && (fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP);
}

/* That writing failed. */
static SX_ERROR sx_status write_error(const char *path) {
    return sx_file_error(SX_ERR_WRITE, "write", path);
}

/* Writes to what is there and must stay: a device, a pipe. */
static SX_MUST_USE sx_status write_through(const char *path, const char *text, size_t size) {
    int fd = open(path, O_WRONLY | O_TRUNC);
    if (fd < 0) return write_error(path);
    bool good = write_flushed(fd, text, size);
    good = close(fd) == 0 && good;
    return good ? SX_OK : write_error(path);
}

/* Gives a new file the permissions of the one that it is to replace, if there is one. */
static bool keep_mode(const char *path, int fd) {
    struct stat info;
    return stat(path, &info) != 0 || fchmod(fd, info.st_mode & 07777) == 0;
}

/* Flushes the folder of a file to the disk, where the file system can, so that a new name outlives a power
 * loss. */
static bool sync_folder(const char *path) {
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    if (!folder) return false;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    if (fd < 0) return sx_file_is_absent(errno); /* a folder that can be written need not be readable */
    bool good = fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS;
    close(fd);
    return good;
}

/* Writes a new file beside `path`, then renames it over `path`. */
static SX_MUST_USE sx_status write_replacing(const char *path, const char *text, size_t size) {
    sx_temp_file temp;
    SX_TRY(sx_temp_file_init(path, &temp));
    sx_status status = SX_OK;
    bool good = sx_temp_file_create(&temp);
    if (good &&
        (!keep_mode(path, temp.fd) || !write_flushed(temp.fd, text, size) || rename(temp.name, path) != 0)) {
        status = write_error(path);
        unlink(temp.name);
    } else if (!good || !sync_folder(path)) {
        status = write_error(path);
    }
    sx_temp_file_fini(&temp);
    return status;
}

/* What a link leads to, to be freed with free(), or a copy of a path that is no link or leads nowhere; NULL when
 * memory is out. Links among the devices, such as /dev/stdout, stand for what is open already. */
static char *follow_link(const char *path) {
    struct stat info;
    bool link = lstat(path, &info) == 0 && S_ISLNK(info.st_mode) && strncmp(path, "/dev/", 5) != 0;
    char *real = link ? realpath(path, NULL) : NULL;
    return real ? real : strdup(path);
}

/* Whether what a path leads to is to be replaced rather than written to as it is. */
static bool is_replaceable(const char *path) {
    struct stat info;
    return lstat(path, &info) != 0 || S_ISREG(info.st_mode);
}

sx_status sx_file_write(const char *path, const char *text, size_t size) {
    char *target = follow_link(path);
    if (!target) return sx_error_memory();
    sx_status status =
        is_replaceable(target) ? write_replacing(target, text, size) : write_through(target, text, size);
    free(target);
    return status;
}

sx_status sx_file_finish(const char *path, sx_text *text, sx_status status) {
    if (!status) status = text->failed ? sx_error_memory() : sx_file_write(path, text->data, text->size);
    sx_text_free(text);
    return status;
}

/* Makes a file beside `path` and takes it away again; a full disk is no fault of the path. */
static SX_MUST_USE sx_status try_temp_file(const char *path) {
    sx_temp_file temp;
    SX_TRY(sx_temp_file_init(path, &temp));
    bool good = sx_temp_file_create(&temp);
    bool full = !good && (errno == ENOSPC || errno == EDQUOT || errno == EIO);
    sx_status status = good ? SX_OK : full ? write_error(path) : sx_file_error(SX_ERR_FILE, "write", path);
    if (good) unlink(temp.name);
    sx_temp_file_fini(&temp);
    return status;
}

sx_status sx_file_writable(const char *path) {
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return sx_error_new(SX_ERR_FILE, "'%s' is a folder, not a file", path);
    size_t length = strlen(path);
    if (length == 0 || path[length - 1] == '/')
        return sx_error_new(SX_ERR_FILE, "'%s' is not a valid file name", path);
    char *target = follow_link(path);
    if (!target) return sx_error_memory();
    sx_status status = SX_OK;
    if (is_replaceable(target))
        status = try_temp_file(target);
    else if (access(target, W_OK) != 0)
        status = sx_file_error(SX_ERR_FILE, "write", path);
    free(target);
    return status;
}
