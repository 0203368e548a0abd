#include "base/file_map.h"

#include "base/file_error.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Maps an open file. */
static sx_status map_open_file(int fd, const char *path, sx_file_map *out) {
    struct stat info;
    if (fstat(fd, &info) != 0) return sx_error_system(SX_ERR_FILE, "cannot read '%s'", path);
    if (S_ISDIR(info.st_mode)) return sx_error_new(SX_ERR_FILE, "'%s' is a folder, not a file", path);
    if (!S_ISREG(info.st_mode)) return sx_error_new(SX_ERR_FILE, "'%s' is not a regular file", path);
    *out = (sx_file_map){NULL, (size_t)info.st_size};
    if (info.st_size == 0) return SX_OK;
    void *data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) return sx_error_system(SX_ERR_FILE, "cannot map '%s'", path);
    out->data = data;
    return SX_OK;
}

sx_status sx_file_map_open(const char *path, sx_file_map *out) {
    int fd = open(path, O_RDONLY | O_NONBLOCK);
    if (fd < 0) return sx_file_error(SX_ERR_FILE, "open", path);
    sx_status status = map_open_file(fd, path, out);
    close(fd);
    return status;
}

void sx_file_unmap(sx_file_map *map) {
    if (map->data) munmap((void *)(uintptr_t)map->data, map->size);
    *map = (sx_file_map){NULL, 0};
}
