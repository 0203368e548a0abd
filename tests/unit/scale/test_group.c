/* Processes as threads of one process, with a link that can lose them. */
#include "scale/group.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PROCESSES = 3, PARTS = 40 };

typedef struct letter {
    struct letter *next;
    int from;
    size_t size;
    char bytes[];
} letter;

typedef struct net {
    pthread_mutex_t lock;
    letter *first[PROCESSES], **last[PROCESSES];
    atomic_bool dead[PROCESSES];
} net;

typedef struct end_point {
    net *net;
    int number;
} end_point;

static int send_letter(void *state, int to, const void *bytes, size_t size, void **request) {
    end_point *e = state;
    if (atomic_load(&e->net->dead[e->number])) return 1;
    letter *l = malloc(sizeof *l + size);
    assert_non_null(l);
    *l = (letter){.from = e->number, .size = size};
    memcpy(l->bytes, bytes, size);
    pthread_mutex_lock(&e->net->lock);
    *e->net->last[to] = l;
    e->net->last[to] = &l->next;
    pthread_mutex_unlock(&e->net->lock);
    *request = NULL;
    return 1;
}

static int is_sent(void *state, void *request) {
    (void)state, (void)request;
    return 1;
}

static int probe(void *state, int *from, size_t *size) {
    end_point *e = state;
    pthread_mutex_lock(&e->net->lock);
    letter *l = atomic_load(&e->net->dead[e->number]) ? NULL : e->net->first[e->number];
    if (l) {
        *from = l->from;
        *size = l->size;
    }
    pthread_mutex_unlock(&e->net->lock);
    return l != NULL;
}

static int receive(void *state, int from, void *bytes, size_t size) {
    end_point *e = state;
    (void)from;
    pthread_mutex_lock(&e->net->lock);
    letter *l = e->net->first[e->number];
    e->net->first[e->number] = l->next;
    if (!l->next) e->net->last[e->number] = &e->net->first[e->number];
    pthread_mutex_unlock(&e->net->lock);
    memcpy(bytes, l->bytes, size);
    free(l);
    return 1;
}

static void close_link(void *state, int lost) {
    (void)state, (void)lost;
}

/* One process of a test, and what it took. */
typedef struct process {
    net *net;
    int number;
    bool everyone;     /* takes all results */
    int dies_at;       /* part whose making is the end of the process; -1: none */
    int fails_at;      /* part that it cannot make; -1: none */
    sx_cancel *cancel; /* set by process 0 when it makes the part after the first */
    int sum, n_taken, made;
    bool odd; /* it is out of step */
    sx_status status;
    char *report;
} process;

static sx_status make(void *user, size_t first, size_t n, sx_text *out) {
    process *p = user;
    for (size_t i = first; i < first + n; i++) {
        int square = (int)(i * i);
        if ((int)i == p->dies_at) atomic_store(&p->net->dead[p->number], true);
        if ((int)i == p->fails_at) return sx_error_new(SX_ERR_LIMIT, "cannot make part %zu", i);
        if (p->cancel && i > 0) sx_cancel_set(p->cancel);
        sx_text_add_bytes(out, (const char *)&square, sizeof square);
        p->made++;
    }
    return SX_OK;
}

static sx_status take(void *user, size_t first, size_t n, const char *bytes, size_t size) {
    process *p = user;
    assert_int_equal(size, n * sizeof(int));
    for (size_t i = 0; i < n; i++) {
        int square;
        memcpy(&square, bytes + i * sizeof square, sizeof square);
        assert_int_equal(square, (first + i) * (first + i));
        assert_int_equal(p->n_taken++ % PARTS, first + i);
        p->sum += square;
    }
    return SX_OK;
}

/* A process: two works, one by parts and one by groups of them, and a text of process 0. */
static void *run_process(void *user) {
    process *p = user;
    end_point e = {p->net, p->number};
    const sx_link link = {
        SX_MPI_MODULE_VERSION, p->number, PROCESSES, &e, send_letter, is_sent, probe, receive, close_link};
    sx_ranks *ranks;
    sx_shared_result result;
    assert_null(sx_group_new(&link, 0.4, false, &ranks));
    sx_shared work = {.n = PARTS,
                      .everyone = p->everyone,
                      .mark = p->odd,
                      .cancel = p->cancel,
                      .user = p,
                      .make = make,
                      .take = take};
    p->status = sx_ranks_share(ranks, &work, &result);
    work.grouped = true;
    work.mark = 7;
    if (!p->status && !p->cancel) p->status = sx_ranks_share(ranks, &work, &result);
    char *text = p->number ? NULL : strdup("told");
    size_t size = p->number ? 0 : 5;
    if (!p->status && !p->cancel) p->status = sx_ranks_tell(ranks, &text, &size);
    if (!p->status && !p->cancel) assert_string_equal(text, "told");
    free(text);
    p->report = sx_ranks_report(ranks);
    sx_group_leave(ranks, p->status, 0);
    return NULL;
}

/* Runs all processes. */
static void run_all(process p[PROCESSES]) {
    net n = {.lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t thread[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) n.last[i] = &n.first[i];
    for (int i = 0; i < PROCESSES; i++) {
        p[i].net = &n;
        p[i].number = i;
        if (i) assert_int_equal(pthread_create(&thread[i], NULL, run_process, &p[i]), 0);
    }
    run_process(&p[0]);
    for (int i = 1; i < PROCESSES; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < PROCESSES; i++)
        for (letter *l = n.first[i], *next; l; l = next) {
            next = l->next;
            free(l);
        }
}

static void init(process p[PROCESSES], bool everyone) {
    for (int i = 0; i < PROCESSES; i++) p[i] = (process){.everyone = everyone, .dies_at = -1, .fails_at = -1};
}

static void fini(process p[PROCESSES]) {
    for (int i = 0; i < PROCESSES; i++) {
        sx_status_free(p[i].status);
        sx_free(p[i].report);
    }
}

enum { SUM = 2 * (PARTS - 1) * PARTS * (2 * PARTS - 1) / 6 };

static void everyone_takes_everything_in_order(void **state) {
    process p[PROCESSES];
    (void)state;
    init(p, true);
    run_all(p);
    for (int i = 0; i < PROCESSES; i++) {
        assert_null(p[i].status);
        assert_null(p[i].report);
        assert_int_equal(p[i].sum, SUM);
        assert_true(p[i].made > 0);
    }
    assert_int_equal(p[0].made + p[1].made + p[2].made, 2 * PARTS);
    fini(p);
}

static void the_first_takes_alone(void **state) {
    process p[PROCESSES];
    (void)state;
    init(p, false);
    run_all(p);
    assert_int_equal(p[0].sum, SUM);
    assert_int_equal(p[1].n_taken + p[2].n_taken, 0);
    fini(p);
}

static void a_process_that_dies_is_survived(void **state) {
    process p[PROCESSES];
    (void)state;
    init(p, true);
    p[2].dies_at = 2;
    run_all(p);
    assert_null(p[0].status);
    assert_null(p[1].status);
    assert_int_equal(p[0].sum, SUM);
    assert_int_equal(p[1].sum, SUM);
    assert_string_equal(p[0].report, "process 2 does not answer; the others do its work\n");
    fini(p);
}

static void all_others_may_die(void **state) {
    process p[PROCESSES];
    (void)state;
    init(p, false);
    p[1].dies_at = 1;
    p[2].dies_at = 2;
    run_all(p);
    assert_null(p[0].status);
    assert_int_equal(p[0].sum, SUM);
    fini(p);
}

static void a_process_that_fails_is_survived(void **state) {
    process p[PROCESSES];
    (void)state;
    init(p, true);
    p[1].fails_at = 1;
    run_all(p);
    assert_null(p[0].status);
    assert_int_equal(p[0].sum, SUM);
    assert_int_equal(p[2].sum, SUM);
    assert_string_equal(p[0].report, "process 1 stopped: cannot make part 1; the others do its work\n");
    fini(p);
}

static void a_failure_of_the_first_ends_it(void **state) {
    process p[PROCESSES];
    (void)state;
    init(p, true);
    p[0].fails_at = 0;
    run_all(p);
    assert_string_equal(p[0].status->message, "cannot make part 0");
    fini(p);
}

static void a_process_out_of_step_is_dropped(void **state) {
    process p[PROCESSES];
    (void)state;
    init(p, true);
    p[1].odd = true;
    run_all(p);
    assert_null(p[0].status);
    assert_int_equal(p[0].sum, SUM);
    assert_string_equal(p[0].report, "process 1 is out of step; the others do its work\n");
    fini(p);
}

static void a_cancel_ends_it_early(void **state) {
    process p[PROCESSES];
    sx_cancel cancel = {0};
    (void)state;
    init(p, false);
    p[0].cancel = &cancel;
    run_all(p);
    assert_null(p[0].status);
    assert_true(p[0].n_taken < PARTS);
    fini(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everyone_takes_everything_in_order),
        cmocka_unit_test(the_first_takes_alone),
        cmocka_unit_test(a_process_that_dies_is_survived),
        cmocka_unit_test(all_others_may_die),
        cmocka_unit_test(a_process_that_fails_is_survived),
        cmocka_unit_test(a_failure_of_the_first_ends_it),
        cmocka_unit_test(a_process_out_of_step_is_dropped),
        cmocka_unit_test(a_cancel_ends_it_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
