/* What process 0 makes of the messages of the others, one message at a time. */
#include "scale/group.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PROCESSES = 4, CHUNKS = 4, CALL = 7, MARK = 5 };

/* Process 0 of a group in the middle of a call, and the chunks that it handed out. */
typedef struct desk {
    sx_group *group;
    sx_chunk chunk[CHUNKS];
    sx_shared work;
    int n_sent, to[8];
    uint64_t sent[8];
    unsigned ended; /* the processes that were told to end */
} desk;

static int note_sent(void *state, int to, const void *bytes, size_t size, void **request) {
    desk *d = state;
    sx_message head;
    assert_int_equal(size, sizeof head);
    memcpy(&head, bytes, sizeof head);
    *request = NULL;
    if (head.kind == SX_MESSAGE_END) d->ended |= 1u << to;
    if (head.kind != SX_MESSAGE_WORK) return 1;
    assert_int_equal(head.call, CALL);
    d->to[d->n_sent] = to;
    d->sent[d->n_sent++] = head.chunk;
    return 1;
}

static int is_sent(void *state, void *request) {
    (void)state, (void)request;
    return 1;
}

static int probe(void *state, int *from, size_t *size) {
    (void)state, (void)from, (void)size;
    return 0;
}

static void close_link(void *state, int lost) {
    (void)state, (void)lost;
}

/* Process 2 makes chunks 0 and 3 and has made chunk 2, process 1 makes chunk 1. The group stays locked. */
static void init(desk *d) {
    sx_ranks *ranks;
    *d = (desk){.work = {.n = CHUNKS, .mark = MARK}};
    const sx_link link = {.version = SX_MPI_MODULE_VERSION,
                          .count = PROCESSES,
                          .state = d,
                          .send = note_sent,
                          .sent = is_sent,
                          .probe = probe,
                          .close = close_link};
    assert_null(sx_group_new(&link, 1e6, false, &ranks));
    d->group = (sx_group *)ranks;
    pthread_mutex_lock(&d->group->lock);
    for (int i = 0; i < CHUNKS; i++) d->chunk[i] = (sx_chunk){.state = SX_CHUNK_OUT, .at = i == 1 ? 1 : 2};
    d->chunk[2].state = SX_CHUNK_MADE;
    d->group->work = &d->work;
    d->group->chunk = d->chunk;
    d->group->n_chunks = CHUNKS;
    d->group->n_made = 1;
    d->group->call = CALL;
    d->group->open = true;
}

static void fini(desk *d) {
    d->group->open = false;
    pthread_mutex_unlock(&d->group->lock);
    sx_group_leave(&d->group->ranks, NULL, 0);
    for (int i = 0; i < CHUNKS; i++) free(d->chunk[i].bytes);
}

static void tell(desk *d, unsigned from, sx_message head, const char *bytes) {
    head.mark = head.mark ? head.mark : MARK;
    sx_coordinate_message(d->group, from, &head, bytes, bytes ? strlen(bytes) + 1 : 0);
}

/* What a process that is gone was making is free again; what others make, and what it had made, stays. */
static void the_chunks_of_a_lost_process_are_free(void **state) {
    desk d;
    (void)state;
    init(&d);
    sx_coordinate_lose(d.group, 2, "is silent");
    assert_int_equal(d.chunk[0].state, SX_CHUNK_FREE);
    assert_int_equal(d.chunk[1].state, SX_CHUNK_OUT);
    assert_int_equal(d.chunk[2].state, SX_CHUNK_MADE);
    assert_int_equal(d.chunk[3].state, SX_CHUNK_FREE);
    assert_int_equal(d.n_sent, 0);
    assert_int_equal(d.group->ranks.others, PROCESSES - 2);
    assert_true(d.group->lost && d.group->member[2].gone && !d.group->member[1].gone);
    sx_coordinate_lose(d.group, 2, "is silent");
    assert_int_equal(d.group->ranks.others, PROCESSES - 2);
    assert_string_equal(d.group->report.data, "process 2 is silent; the others do its work\n");
    fini(&d);
}

/* Processes that wait get them, one each; those that are gone do not. */
static void processes_that_wait_get_them(void **state) {
    desk d;
    (void)state;
    init(&d);
    d.group->member[1].gone = d.group->member[1].parked = true;
    d.group->member[3].parked = true;
    sx_coordinate_lose(d.group, 2, NULL);
    assert_int_equal(d.n_sent, 1);
    assert_int_equal(d.to[0], 3);
    assert_int_equal(d.sent[0], 0);
    assert_false(d.group->member[3].parked);
    assert_false(d.group->lost);
    assert_int_equal(d.chunk[0].state, SX_CHUNK_OUT);
    assert_int_equal(d.chunk[0].at, 3);
    assert_int_equal(d.chunk[3].state, SX_CHUNK_FREE);
    assert_null(d.group->report.data);
    fini(&d);
}

/* Without an open call there are no chunks to free or to hand out. */
static void between_calls_nothing_is_handed_out(void **state) {
    desk d;
    (void)state;
    init(&d);
    d.group->open = false;
    d.group->member[3].parked = true;
    sx_coordinate_lose(d.group, 2, "is silent");
    assert_int_equal(d.chunk[0].state, SX_CHUNK_OUT);
    assert_int_equal(d.n_sent, 0);
    fini(&d);
}

static void a_result_is_taken_once(void **state) {
    desk d;
    (void)state;
    init(&d);
    tell(&d, 1, (sx_message){.kind = SX_MESSAGE_RESULT, .call = CALL, .chunk = 1, .seconds = 2}, "one");
    assert_int_equal(d.chunk[1].state, SX_CHUNK_MADE);
    assert_string_equal(d.chunk[1].bytes, "one");
    assert_int_equal(d.chunk[1].size, 4);
    assert_true(d.group->member[1].parked);
    tell(&d, 3, (sx_message){.kind = SX_MESSAGE_RESULT, .call = CALL, .chunk = 1, .seconds = 4}, "two");
    assert_string_equal(d.chunk[1].bytes, "one");
    assert_int_equal(d.group->n_made, 2);
    assert_true(d.group->seconds == 2);
    assert_int_equal(d.n_sent, 0);
    fini(&d);
}

/* A process that begins without a chunk, or has made one, gets the first that is free. */
static void who_is_ready_gets_the_next(void **state) {
    desk d;
    (void)state;
    init(&d);
    d.chunk[3].state = SX_CHUNK_FREE;
    tell(&d, 3, (sx_message){.kind = SX_MESSAGE_RESULT, .call = CALL, .chunk = SX_NO_CHUNK}, NULL);
    assert_int_equal(d.n_sent, 1);
    assert_int_equal(d.to[0], 3);
    assert_int_equal(d.sent[0], 3);
    assert_int_equal(d.group->n_made, 1);
    tell(&d, 3, (sx_message){.kind = SX_MESSAGE_RESULT, .call = CALL, .chunk = CHUNKS}, "beyond the end");
    assert_int_equal(d.group->n_made, 1);
    fini(&d);
}

/* Messages of earlier calls are dropped, those of later ones kept; after a call its own are earlier ones. */
static void messages_of_other_calls(void **state) {
    desk d;
    (void)state;
    init(&d);
    tell(&d, 1, (sx_message){.kind = SX_MESSAGE_RESULT, .call = CALL - 1, .chunk = 1}, "late");
    tell(&d, 1, (sx_message){.kind = SX_MESSAGE_WORK, .call = CALL, .chunk = 1}, "of no kind that is known");
    assert_int_equal(d.chunk[1].state, SX_CHUNK_OUT);
    assert_null(d.group->first);
    tell(&d, 1, (sx_message){.kind = SX_MESSAGE_RESULT, .call = CALL + 1, .chunk = 1}, "early");
    assert_int_equal(d.chunk[1].state, SX_CHUNK_OUT);
    assert_non_null(d.group->first);
    assert_string_equal(d.group->first->bytes, "early");
    assert_int_equal(d.group->first->from, 1);
    d.group->open = false;
    tell(&d, 1, (sx_message){.kind = SX_MESSAGE_RESULT, .call = CALL, .chunk = 1}, "after the end");
    assert_null(d.group->first->next);
    tell(&d, 1, (sx_message){.kind = SX_MESSAGE_RESULT, .call = CALL + 1, .chunk = 2}, "early, too");
    assert_non_null(d.group->first->next);
    assert_int_equal(d.chunk[1].state, SX_CHUNK_OUT);
    fini(&d);
}

static void who_is_out_of_step_or_leaves_is_lost(void **state) {
    desk d;
    (void)state;
    init(&d);
    tell(&d, 2, (sx_message){.kind = SX_MESSAGE_RESULT, .call = CALL, .chunk = 0, .mark = 6}, "wrong");
    assert_true(d.group->member[2].gone);
    assert_int_equal(d.chunk[0].state, SX_CHUNK_FREE);
    tell(&d, 2, (sx_message){.kind = SX_MESSAGE_RESULT, .call = CALL, .chunk = 0}, "gone");
    tell(&d, 1, (sx_message){.kind = SX_MESSAGE_BYE}, "no room");
    assert_int_equal(d.chunk[1].state, SX_CHUNK_FREE);
    assert_true(d.group->member[1].gone);
    tell(&d, 3, (sx_message){.kind = SX_MESSAGE_BYE}, "");
    tell(&d, 3, (sx_message){.kind = SX_MESSAGE_BYE}, "twice");
    assert_int_equal(d.group->ranks.others, 0);
    assert_string_equal(d.group->report.data, "process 2 is out of step; the others do its work\n"
                                              "process 1 stopped: no room; the others do its work\n");
    fini(&d);
}

/* A call that is cancelled ends the others, makes nothing, and goes on alone. */
static void a_cancelled_call_ends_the_others(void **state) {
    desk d;
    (void)state;
    const sx_cancel cancel = {1};
    sx_shared_result out = {0};
    init(&d);
    d.group->open = false;
    pthread_mutex_unlock(&d.group->lock);
    d.work.cancel = &cancel;
    assert_null(sx_coordinate(&d.group->ranks, &d.work, &out));
    pthread_mutex_lock(&d.group->lock);
    assert_int_equal(d.ended, 1u << 1 | 1u << 2 | 1u << 3);
    assert_int_equal(d.group->ranks.others, 0);
    assert_int_equal(out.taken, 0);
    fini(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_chunks_of_a_lost_process_are_free),
        cmocka_unit_test(processes_that_wait_get_them),
        cmocka_unit_test(between_calls_nothing_is_handed_out),
        cmocka_unit_test(a_result_is_taken_once),
        cmocka_unit_test(who_is_ready_gets_the_next),
        cmocka_unit_test(messages_of_other_calls),
        cmocka_unit_test(who_is_out_of_step_or_leaves_is_lost),
        cmocka_unit_test(a_cancelled_call_ends_the_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
