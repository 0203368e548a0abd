#include "surrogate/shard.h"

#include "base/file.h"
#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[8] = "SXSHARD1";

/* The beginning of the file. */
typedef struct file_head {
    char magic[8];
    sx_shard_head head;
    uint64_t checksum; /* of the rows */
    uint64_t padding[3];
} file_head;

static size_t rows_size(const sx_shard_head *head) {
    return (size_t)(head->n_rows * head->width) * sizeof(float);
}

sx_status sx_shard_write(const char *path, const sx_shard_head *head, const float *row) {
    size_t size = rows_size(head);
    char *bytes = malloc(sizeof(file_head) + size);
    if (!bytes) return sx_error_memory();
    file_head first = {.head = *head, .checksum = sx_hash_bytes(row, size, head->key)};
    memcpy(first.magic, magic, sizeof magic);
    memcpy(bytes, &first, sizeof first);
    memcpy(bytes + sizeof first, row, size);
    sx_status status = sx_file_write(path, bytes, sizeof first + size);
    free(bytes);
    return status;
}

/* Whether the bytes of a file are a whole shard; an error where they are of another data set. */
static sx_status check_shard(const char *path, const sx_shard_map *map, const sx_shard_head *head,
                             bool *found) {
    const file_head *first = map->bytes;
    *found = false;
    if (map->size < sizeof *first || memcmp(first->magic, magic, sizeof magic) != 0)
        return sx_error_hint(sx_error_new(SX_ERR_FILE, "'%s' is not a shard of samples", path),
                             "give a folder of their own to the samples");
    if (first->head.key != head->key)
        return sx_error_hint(sx_error_new(SX_ERR_FILE, "'%s' holds samples of another data set", path),
                             "give every architecture, family, space and seed a folder of its own");
    *found = memcmp(&first->head, head, sizeof *head) == 0 && map->size == sizeof *first + rows_size(head) &&
             first->checksum == sx_hash_bytes(first + 1, rows_size(head), head->key);
    return SX_OK;
}

sx_status sx_shard_read(const char *path, const sx_shard_head *head, sx_shard_map *out, bool *found) {
    struct stat about;
    sx_shard_map map = {0};
    *found = false;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) return SX_OK;
    if (fd < 0) return sx_error_system(SX_ERR_FILE, "cannot read '%s'", path);
    bool good = fstat(fd, &about) == 0 && about.st_size > 0;
    if (good) {
        map.size = (size_t)about.st_size;
        map.bytes = mmap(NULL, map.size, PROT_READ, MAP_SHARED, fd, 0);
        good = map.bytes != MAP_FAILED;
    }
    close(fd);
    if (!good) return sx_error_new(SX_ERR_FILE, "cannot read '%s'", path);
    sx_status status = check_shard(path, &map, head, found);
    if (status || !*found) {
        munmap(map.bytes, map.size);
        return status;
    }
    map.row = (float *)((char *)map.bytes + sizeof(file_head));
    *out = map;
    return SX_OK;
}

void sx_shard_unmap(sx_shard_map *map) {
    if (map->bytes) munmap(map->bytes, map->size);
    *map = (sx_shard_map){0};
}
