#include "cli/place_checkpoint.h"

#include "base/file.h"
#include "base/saved_state.h"
#include "session/placement_store.h"

#include <stdlib.h>
#include <string.h>

static const sx_state_kind kind = {"sextant placement ", "checkpoint of `sextant place`", 2};

/* Copies the start point of a file, of `size` bytes (0: there is none), into the job. */
static sx_status read_start(const char *path, const char *bytes, size_t size, sx_placement_job *job) {
    const sx_space *space = job->space;
    if (size == 0) return SX_OK;
    uint8_t *start = size == space->point_size ? malloc(size) : NULL;
    if (!start) return size == space->point_size ? sx_error_memory() : sx_state_refuse(path, "is damaged");
    memcpy(start, bytes, size);
    job->start = start;
    if (space->type->holds(space, start) && space->type->check(space, start) == 0) return SX_OK;
    return sx_state_refuse(path, "is damaged: its start point is not valid");
}

/* Divides the body of a file into its start point and the state of its run. */
static sx_status read_body(const char *path, const sx_saved_state *saved, sx_placement_job *job) {
    uint64_t start;
    const size_t head = sizeof start;
    if (saved->size < head) return sx_state_refuse(path, "is damaged");
    memcpy(&start, saved->body, head);
    if (start > saved->size - head) return sx_state_refuse(path, "is damaged");
    SX_TRY(read_start(path, saved->body + head, (size_t)start, job));
    job->run.resume_size = saved->size - head - (size_t)start;
    job->run.resume = job->run.resume_size ? saved->body + head + start : NULL;
    return SX_OK;
}

/* The identity of a job's search. */
static sx_status identify_search(const sx_placement_job *job, bool database, bool again, char **out) {
    sx_text text = {0};
    sx_status status = sx_placement_identity(job, &text);
    sx_identity_add(&text, "--db", "%s", database ? "yes" : "no");
    sx_identity_add(&text, "--again", "%s", again ? "yes" : "no");
    if (!status) return sx_text_take(&text, out);
    sx_text_free(&text);
    return status;
}

sx_status sx_place_checkpoint_read(const char *path, bool database, bool again, sx_placement_job *job,
                                   sx_place_checkpoint *out) {
    size_t size;
    sx_saved_state saved;
    *out = (sx_place_checkpoint){.path = path};
    if (!path) return SX_OK;
    SX_TRY(sx_file_writable(path));
    SX_TRY(identify_search(job, database, again, &out->identity));
    SX_TRY(sx_state_load(&kind, path, &out->bytes, &size));
    if (!out->bytes) return SX_OK;
    SX_TRY(sx_state_parse(&kind, path, out->bytes, size, &saved));
    SX_TRY(sx_state_check(path, &saved, out->identity));
    return read_body(path, &saved, job);
}

void sx_place_checkpoint_fini(sx_place_checkpoint *checkpoint) {
    free(checkpoint->bytes);
    free(checkpoint->identity);
}

sx_status sx_place_checkpoint_write(const sx_place_checkpoint *checkpoint, const sx_placement_job *job,
                                    const void *run, size_t size) {
    sx_text body = {0};
    uint64_t start = job->start ? job->space->point_size : 0;
    sx_text_add_bytes(&body, (const char *)&start, sizeof start);
    if (start) sx_text_add_bytes(&body, (const char *)job->start, (size_t)start);
    if (size) sx_text_add_bytes(&body, run, size);
    sx_status status = body.failed ? sx_error_memory()
                                   : sx_state_write(&kind, checkpoint->path, checkpoint->identity,
                                                    strlen(checkpoint->identity), body.data, body.size);
    sx_text_free(&body);
    return status;
}
