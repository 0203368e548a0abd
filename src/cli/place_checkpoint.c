#include "cli/place_checkpoint.h"

#include "base/file.h"
#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FILE_LIMIT = 1 << 30 };
static const char mark[] = "sextant placement 1\n";

/* The error for a file that this command did not write. */
static sx_status refuse_file(const char *path) {
    return sx_error_hint(sx_error_at((sx_place){path, 0, 0}, "this is not a checkpoint of `sextant place`"),
                         "remove it to start over");
}

/* Copies the start point of a file, of `size` bytes (0: there is none), into the job. */
static sx_status read_start(const char *path, const char *bytes, size_t size, sx_placement_job *job) {
    const sx_space *space = job->space;
    if (size == 0) return SX_OK;
    if (size != space->point_size)
        return sx_error_hint(sx_error_at((sx_place){path, 0, 0}, "this checkpoint belongs to another space"),
                             "use the options that it was made with, or remove it to start over");
    uint8_t *start = malloc(size);
    if (!start) return sx_error_memory();
    memcpy(start, bytes, size);
    if (!space->type->holds(space, start) || space->type->check(space, start) != 0) {
        free(start);
        return refuse_file(path);
    }
    job->start = start;
    return SX_OK;
}

/* Divides a file into its start point and the state of its run. */
static sx_status read_bytes(const char *path, const char *bytes, size_t size, sx_placement_job *job) {
    const size_t head = sizeof mark - 1 + sizeof(uint64_t);
    uint64_t start;
    if (size < head || memcmp(bytes, mark, sizeof mark - 1) != 0) return refuse_file(path);
    memcpy(&start, bytes + sizeof mark - 1, sizeof start);
    if (start > size - head) return refuse_file(path);
    SX_TRY(read_start(path, bytes + head, (size_t)start, job));
    job->run.resume_size = size - head - (size_t)start;
    job->run.resume = job->run.resume_size ? bytes + head + start : NULL;
    return SX_OK;
}

sx_status sx_place_checkpoint_read(const char *path, sx_placement_job *job, sx_place_checkpoint *out) {
    struct stat info;
    size_t size;
    *out = (sx_place_checkpoint){.path = path};
    if (!path) return SX_OK;
    SX_TRY(sx_file_writable(path));
    if (stat(path, &info) != 0 && errno == ENOENT) return SX_OK;
    SX_TRY(sx_file_read_regular(path, FILE_LIMIT, &out->bytes, &size));
    return read_bytes(path, out->bytes, size, job);
}

void sx_place_checkpoint_fini(sx_place_checkpoint *checkpoint) {
    free(checkpoint->bytes);
}

sx_status sx_place_checkpoint_write(const sx_place_checkpoint *checkpoint, const sx_placement_job *job,
                                    const void *run, size_t size) {
    sx_text text = {0};
    uint64_t start = job->start ? job->space->point_size : 0;
    sx_text_add_bytes(&text, mark, sizeof mark - 1);
    sx_text_add_bytes(&text, (const char *)&start, sizeof start);
    if (start) sx_text_add_bytes(&text, (const char *)job->start, (size_t)start);
    if (size) sx_text_add_bytes(&text, run, size);
    sx_status status =
        text.failed ? sx_error_memory() : sx_file_write(checkpoint->path, text.data, text.size);
    sx_text_free(&text);
    return status;
}
