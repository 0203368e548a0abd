#include "base/file.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static SX_MUST_USE sx_status file_error(const char *verb, const char *path) {
    return sx_error_new(SX_ERR_FILE, "cannot %s '%s': %s", verb, path, strerror(errno));
}

sx_status sx_file_read(const char *path, size_t limit, char **text, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) return file_error("open", path);
    struct stat info;
    sx_status status = SX_OK;
    sx_text content = {0};
    char chunk[65536];
    if (fstat(fileno(file), &info) == 0 && S_ISDIR(info.st_mode)) {
        status = sx_error_new(SX_ERR_FILE, "'%s' is a folder, not a file", path);
        goto done;
    }
    for (size_t got; (got = fread(chunk, 1, sizeof chunk, file)) > 0;) {
        sx_text_add_bytes(&content, chunk, got);
        if (content.size > limit) {
            status = sx_error_new(SX_ERR_LIMIT, "'%s' is larger than %zu bytes", path, limit);
            goto done;
        }
    }
    if (ferror(file)) {
        status = file_error("read", path);
        goto done;
    }
    size_t total = content.size;
    status = sx_text_take(&content, text);
    if (!status) *size = total;
done:
    sx_text_free(&content);
    fclose(file);
    return status;
}

/* Writes all bytes to a descriptor and flushes them to the disk. */
static bool write_all(int fd, const char *text, size_t size) {
    while (size > 0) {
        ssize_t done = write(fd, text, size);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        text += done;
        size -= (size_t)done;
    }
    return fsync(fd) == 0 || errno == EINVAL;
}

sx_status sx_file_write(const char *path, const char *text, size_t size) {
    size_t room = strlen(path) + 16;
    char *temporary = malloc(room);
    if (!temporary) return sx_error_memory();
    snprintf(temporary, room, "%s.XXXXXX", path);
    sx_status status = SX_OK;
    int fd = mkstemp(temporary);
    if (fd < 0) {
        status = file_error("write", path);
        goto done;
    }
    bool good = write_all(fd, text, size) && fchmod(fd, 0644) == 0;
    good = close(fd) == 0 && good;
    if (!good || rename(temporary, path) != 0) {
        status = file_error("write", path);
        unlink(temporary);
    }
done:
    free(temporary);
    return status;
}
