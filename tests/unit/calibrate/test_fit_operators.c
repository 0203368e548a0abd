/* Rows made by a timing give that timing back. */
#include "calibrate/fit_operators.h"

#include "base/file.h"
#include "base/text.h"
#include "ir/timing.h"
#include "support/expect.h"
#include "support/timed_arch.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static sx_arch arch;
static sx_timing timing;
static sx_kind_fit fits[SX_MAX_KINDS];

/* Writes rows to a new file, whose name is the caller's, and reads them. */
static void read_rows(const char *text, const sx_row_filter *filter, sx_operator_rows *rows) {
    char path[] = "/tmp/sextant-rows-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    sx_expect_ok(sx_file_write(path, text, strlen(text)));
    sx_status status = sx_operator_rows_read(path, filter, rows);
    unlink(path);
    sx_expect_ok(status);
}

/* Products, layer norms and all-reduces of a known machine: its numbers are found from others. */
static void known_numbers_are_found(void **state) {
    (void)state;
    static const char truth[] = "timing: {overhead: 4e-6, efficiency: {compute: 0.6, HBM: 0.5}, link: "
                                "{bandwidth: 1e9, latency: 2e-5}}\n";
    sx_text text = {0};
    sx_operator_rows rows;
    const unsigned none[2] = {3, 0};
    sx_expect_timed(truth, &arch, &timing);
    sx_text_add(&text, "op,dims,dtype,microseconds\n");
    for (int m = 1; m <= 4096; m *= 4)
        for (int n = 64; n <= 1024; n *= 2) {
            sx_timed_operator op = {
                .kind = "gemm", .repeat = 1, .m = m, .n = n, .k = 512, .row_bits = 16, .col_bits = 16};
            op.bytes = 2.0 * (m * 512 + n * 512 + m * n);
            sx_text_add(&text, "gemm,m=%d n=%d k=512,bf16,%.9g\n", m, n,
                        1e6 * sx_time_operator(&arch, &timing, &op).seconds);
            sx_text_add(&text, "all_reduce,chips=4 bytes=%d,fp16,%.9g\n", m * n,
                        1e6 * sx_time_collective(&timing, "all-reduce", 4, m * n));
        }
    sx_expect_timed("timing: {overhead: 1e-6, link: {bandwidth: 3e9, latency: 1e-5}}\n", &arch, &timing);
    read_rows(text.data, &(sx_row_filter){0, NULL, NULL}, &rows);
    assert_int_equal(rows.n, 70);
    assert_int_equal(rows.n_kinds, 2);
    sx_expect_ok(sx_fit_operators(&rows, &arch, &timing, none, 1, fits, NULL));
    assert_true(fabs(timing.kind[0].overhead / 4e-6 - 1) < 0.01);
    assert_true(fabs(timing.kind[0].compute / 0.6 - 1) < 0.01);
    assert_true(fabs(timing.kind[0].level[1] / 0.5 - 1) < 0.01);
    assert_true(fabs(timing.link_bandwidth / 1e9 - 1) < 0.01);
    assert_true(fabs(timing.link_latency / 2e-5 - 1) < 0.01);
    assert_true(fits[0].fit.validated.p90 < 0.05);
    assert_true(fits[0].fit.prior.p90 > 0.1);
    assert_int_equal(fits[0].n, 35);
    assert_int_equal(fits[0].n_groups, 5);
    for (uint32_t k = 0; k < rows.n_kinds; k++) sx_fit_fini(&fits[k].fit);
    sx_operator_rows_free(&rows);
    sx_text_free(&text);
}

/* The dimensions of every operator that can be read, and its bytes. */
static void rows_of_operators(void **state) {
    (void)state;
    static const struct {
        const char *row, *kind;
        double bytes, macs;
    } cases[] = {
        {"gemm,m=2 n=3 k=5,bf16,1", "gemm", 2 * (10 + 15 + 6), 30},
        {"gemm,m=2 n=3 k=8,w4a16,1", "gemm-w4a16", 2 * 16 + 24 / 2 + 2 * 6, 48},
        {"conv,n=2 c=8 k=4 r=3 stride=2 h=10,bf16,1", "conv", 2 * (2 * 800 + 2 * 25 * 4 + 32 * 9),
         50 * 4 * 72},
        {"depthwise,n=1 c=8 r=3 h=4,bf16,1", "depthwise", 2 * (128 + 128 + 72), 0},
        {"softmax,rows=4 cols=8,fp16,1", "softmax", 128, 0},
        {"add,rows=4 cols=8,fp16,1", "add", 192, 0},
        {"attention-prefill,b=2 hq=4 hkv=2 d=8 t=16,bf16,1", "attention-prefill", 2 * 2 * 2 * 8 * (64 + 32),
         2 * 2 * 4 * 8 * 256},
        {"prefill_attention,b=2 t=16 hq=4 hkv=2 hd=8,bf16,1", "attention-prefill-causal",
         2 * 2 * 2 * 8 * (64 + 32), 2 * 2 * 4 * 8 * 136},
        {"attention-decode,b=2 hq=4 hkv=2 d=8 s=16,bf16,1", "attention-decode", 2 * 2 * 2 * 8 * (4 + 32), 0},
        {"all_gather,chips=4 elements=8,int8,1", "all-gather", 8, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        sx_operator_rows rows;
        snprintf(text, sizeof text, "op,dims,dtype,microseconds\n%s\n", cases[i].row);
        read_rows(text, &(sx_row_filter){0, NULL, NULL}, &rows);
        assert_int_equal(rows.n, 1);
        const sx_timed_operator *op = &rows.row[0].op;
        assert_string_equal(op->kind, cases[i].kind);
        assert_true(op->bytes == cases[i].bytes);
        assert_true((op->repeat > 0 ? op->repeat * op->m * op->n * op->k : op->macs) == cases[i].macs);
        assert_true(rows.row[0].seconds == 1e-6);
        sx_operator_rows_free(&rows);
    }
}

/* Rows that cannot be used are listed; others are left out where a value differs. */
static void rows_that_are_left_out(void **state) {
    (void)state;
    static const char text[] = "source,op,dims,dtype,cold_us\n"
                               "a,gemm,m=1 n=2 k=3,bf16,5\n"
                               "b,gemm,m=1 n=2 k=3,bf16,5\n"
                               "a,gemv,m=1 n=2 k=3,bf16,5\n"
                               "a,gemm,m=1 n=2,bf16,5\n"
                               "a,gemm,m=0 n=2 k=3,bf16,5\n"
                               "a,gemm,m=1 n=2 k=3,large,5\n"
                               "a,gemm,m=1 n=2 k=3,bf16,0\n";
    static const char *const reasons[] = {"unknown operator 'gemv'", "no dimension 'k'", "'m' is '0",
                                          "'large' is no known dtype", "the time is 0"};
    const char *const where[] = {"source=a"};
    sx_operator_rows rows;
    read_rows(text, &(sx_row_filter){1, where, NULL}, &rows);
    assert_int_equal(rows.n, 1);
    assert_int_equal(rows.rejected.n_rejected, 5);
    for (int i = 0; i < 5; i++) assert_non_null(strstr(rows.rejected.rejected[i].reason, reasons[i]));
    assert_int_equal(rows.rejected.rejected[0].line, 4);
    sx_operator_rows_free(&rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_numbers_are_found),
        cmocka_unit_test(rows_of_operators),
        cmocka_unit_test(rows_that_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
