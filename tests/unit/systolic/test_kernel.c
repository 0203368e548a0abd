/* Einsums as kernels of systolic arrays: which loops they have, what each indexes, and what is refused. */
#include "base/text.h"
#include "sextant/network.h"
#include "sextant/systolic.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A problem by an einsum or a name of the catalog. */
static sx_problem problem_of(const char *text) {
    sx_problem problem;
    sx_expect_ok(strchr(text, '[') ? sx_einsum_parse(text, &problem) : sx_catalog_problem(text, &problem));
    return problem;
}

static sx_systolic_kernel kernel_of(const char *text) {
    sx_problem problem = problem_of(text);
    sx_systolic_kernel kernel;
    sx_expect_ok(sx_systolic_kernel_of(&problem, &kernel));
    return kernel;
}

/* A kernel in a line: its arrays; each loop with its size, the arrays that it indexes (f, s, r) and, where it
 * is no plain one, stride, reach and window; the loop of the lanes; the last rank of each array; the window's
 * steps and words. */
static char *describe(const sx_systolic_kernel *k) {
    sx_text text = {0};
    char *out = NULL;
    sx_text_add(&text, "%s*%s=%s%s", k->operand[SX_FIRST], k->operand[SX_SECOND], k->operand[SX_RESULT],
                k->sliding ? " slides" : "");
    for (int d = 0; d < k->n_loops; d++) {
        const sx_systolic_loop *l = &k->loop[d];
        sx_text_add(&text, " %s:%u%s%s%s", l->name, l->size, l->operands & 1 ? "f" : "",
                    l->operands & 2 ? "s" : "", l->operands & 4 ? "r" : "");
        if (l->stride != 1 || l->window) sx_text_add(&text, "(%u,%u,%u)", l->stride, l->reach, l->window);
    }
    sx_text_add(&text, "; lanes %s; last %s %s %s; %u steps, %u words", k->loop[k->simd].name,
                k->loop[k->last[SX_FIRST]].name, k->loop[k->last[SX_SECOND]].name,
                k->loop[k->last[SX_RESULT]].name, k->steps, k->words[SX_SECOND]);
    sx_expect_ok(sx_text_take(&text, &out));
    return out;
}

static void expect_kernel(const sx_systolic_kernel *kernel, const char *expected) {
    char *text = describe(kernel);
    assert_string_equal(text, expected);
    free(text);
}

static void matrix_products_are_the_papers_in_any_order(void **state) {
    (void)state;
    static const struct {
        const char *einsum, *kernel;
    } cases[] = {
        {"C[i,j] += A[i,k]*B[j,k] {i:2,j:3,k:4}", "A*B=C i:2fr j:3sr k:4fs"},
        {"C[i,j] += A[i,k]*B[k,j] {i:2,j:3,k:4}", "A*B=C i:2fr j:3sr k:4fs"},
        {"C[i,j] += B[k,j]*A[k,i] {k:4,j:3,i:2}", "A*B=C i:2fr j:3sr k:4fs"},
        {"C[i,j] += B[j,k]*A[i,k] {j:3,k:4,i:2}", "A*B=C i:2fr j:3sr k:4fs"},
        {"C[j,i] += A[i,k]*B[j,k] {i:2,j:3,k:4}", "B*A=C j:3fr i:2sr k:4fs"},
    };
    static const char *const designs[][2] = {
        {"0_0", "[%a] <[%a,%c],%b>"},    {"1_1", "[%b] <[%b,%c],%a>"},    {"2_2", "[%c] <[%a,%b],%c>"},
        {"3_2", "[%a,%b] <[%a,%b],%c>"}, {"4_0", "[%a,%c] <[%a,%c],%b>"}, {"5_1", "[%b,%c] <[%b,%c],%a>"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sx_systolic_kernel kernel = kernel_of(cases[i].einsum);
        char *text = describe(&kernel);
        assert_memory_equal(text, cases[i].kernel, strlen(cases[i].kernel));
        free(text);
        assert_int_equal(sx_systolic_n_designs(&kernel), 18);
        assert_false(kernel.sliding);
        assert_true(kernel.macs == 24 && kernel.count == 1);
        for (size_t d = 0; d < sizeof designs / sizeof *designs; d++) {
            size_t at;
            sx_systolic_design design;
            char found[64], expected[64] = "";
            sx_expect_ok(sx_systolic_design_find(&kernel, designs[d][0], &at));
            sx_systolic_design_at(&kernel, at, &design);
            sx_systolic_design_text(&kernel, &design, found, sizeof found);
            size_t n = 0;
            for (const char *c = designs[d][1]; *c; c++)
                expected[n++] = *c == '%' ? kernel.loop[*++c - 'a'].name[0] : *c;
            assert_string_equal(found, expected);
        }
    }
}

static void the_papers_kernels_are_those_of_their_einsums(void **state) {
    (void)state;
    sx_systolic_kernel kernel;
    sx_expect_ok(sx_systolic_matrix(2, 3, 4, &kernel));
    expect_kernel(&kernel, "A*B=C i:2fr j:3sr k:4fs; lanes k; last k k j; 1 steps, 1 words");
    assert_string_equal(kernel.name, "2x3x4");
    sx_expect_ok(sx_systolic_convolution(5, 6, 7, 8, 3, 2, &kernel));
    expect_kernel(&kernel, "cin*w=cout slides o:6sr r:7fr(1,2,3) c:8fr(1,1,2) i:5fs; lanes i; last i i o; 6 "
                           "steps, 6 words");
    assert_true(kernel.macs == 5 * 6 * 7 * 8 * 6);
    kernel = kernel_of("cout[r,c,o] += cin[r+p,c+q,i]*w[o,p,q,i] {i:5,o:6,r:7,c:8,p:3,q:2}");
    expect_kernel(&kernel, "cin*w=cout slides o:6sr r:7fr(1,2,3) c:8fr(1,1,2) i:5fs; lanes i; last i i o; 6 "
                           "steps, 6 words");
    assert_int_equal(sx_systolic_n_designs(&kernel), 30);
    sx_expect_error(sx_systolic_matrix(0, 3, 4, &kernel), "the size of 'i' is 0");
    sx_expect_error(sx_systolic_matrix(2, 3, 0x80000000, &kernel), "from 1 to 2147483647");
    sx_expect_error(sx_systolic_convolution(1, 1, 1, 1, 0, 1, &kernel), "the size of 'p' is 0");
    sx_expect_error(sx_systolic_convolution(1, 1, 1, 1, 65537, 65537, &kernel), "more than 2^32 words");
}

static void layers_are_kernels(void **state) {
    (void)state;
    static const struct {
        const char *problem, *kernel;
        size_t n_designs;
    } cases[] = {
        {"conv",
         "Inputs*Weights=Outputs slides K:64sr P:56fr(1,2,3) Q:56fr(1,2,3) C:64fs; lanes C; last C C K; 9 "
         "steps, 9 words",
         30},
        {"pointwise",
         "Inputs*Weights=Outputs P:17fr Q:17fr K:192sr C:768fs; lanes C; last C C K; 1 steps, 1 words", 30},
        {"depthwise",
         "Inputs*Weights=Outputs slides D:960fsr P:7fr(1,2,3) Q:7fr(1,2,3); lanes D; last D D D; 9 steps, 9 "
         "words",
         18},
        {"fc", "Inputs*Weights=Outputs N:1fr K:1000sr C:512fs; lanes C; last C C K; 1 steps, 1 words", 18},
        {"bert-large-kqv",
         "Inputs*Weights=Outputs B:16fr N:512fr M:1024sr K:1024fs; lanes K; last K K M; 1 steps, 1 words",
         30},
        {"bert-large-attn",
         "Weights*Inputs=Outputs B:16fsr M:512fr N:512sr K:1024fs; lanes K; last K K N; 1 steps, 1 words",
         30},
        {"resnet-conv4",
         "Inputs*Weights=Outputs slides K:256sr P:14fr(1,2,3) Q:14fr(1,2,3) N:16fr C:256fs; lanes C; last C "
         "C K; 9 steps, 9 words",
         45},
        {"C[b,i,j] += A[b,i,k]*B[b,k,j] {b:4,i:5,j:6,k:7}",
         "A*B=C b:4fsr i:5fr j:6sr k:7fs; lanes k; last k k j; 1 steps, 1 words", 30},
        {"S[b,h,q,k] += Q[b,h,q,d]*K[b,h,k,d] {b:2,h:12,q:128,k:128,d:64}",
         "Q*K=S b:2fsr h:12fsr q:128fr k:128sr d:64fs; lanes d; last d d k; 1 steps, 1 words", 45},
        {"O[n,g,k,p,q] += I[n,g,c,p+r,q+s]*W[g,k,c,r,s] {n:1,g:8,k:16,c:16,p:14,q:14,r:3,s:3}",
         "I*W=O slides g:8fsr k:16sr p:14fr(1,2,3) q:14fr(1,2,3) c:16fs; lanes c; last c c k; 9 steps, 9 "
         "words",
         45},
        {"O[k,p,q] += I[c,2*p+r,3*q+2*s]*W[k,c,r,s] {k:64,c:3,p:112,q:56,r:7,s:5}",
         "I*W=O slides k:64sr p:112fr(2,6,7) q:56fr(3,8,5) c:3fs; lanes c; last c c k; 35 steps, 35 words",
         30},
        {"C[i,j] += A[i,k,l]*B[k,l,j] {i:2,j:3,k:4,l:5}",
         "A*B=C i:2fr j:3sr k:4fs l:5fs; lanes l; last l l j; 1 steps, 1 words", 30},
        {"y[i] += A[i,k]*x[k] {i:2,k:3}", "A*x=y i:2fr k:3fs; lanes k; last k k i; 1 steps, 1 words", 9},
        {"O[i,j] += A[i]*B[j] {i:4,j:5}",
         "A*B=O i:4fr j:5sr one:1fs; lanes one; last one one j; 1 steps, 1 words", 18},
        {"O[i,j] += A[i,j]*B[i,j] {i:4,j:5}", "A*B=O i:4fsr j:5fsr; lanes j; last j j j; 1 steps, 1 words",
         9},
        {"W[k,c,r,s] += D[n,k,p,q]*I[n,c,p+r,q+s] {k:4,c:5,r:3,s:2,n:2,p:8,q:7}",
         "I*D=W slides k:4sr c:5fr r:3fr(1,7,8) s:2fr(1,6,7) n:2fs; lanes n; last n n k; 56 steps, 56 words",
         45},
        {"O[k,p] += I[c,p+r]*W[k,c] {k:4,p:8,c:4,r:3}",
         "I*W=O slides k:4sr p:8fr(1,2,3) c:4fs; lanes c; last c c k; 3 steps, 1 words", 18},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sx_systolic_kernel kernel = kernel_of(cases[i].problem);
        expect_kernel(&kernel, cases[i].kernel);
        assert_int_equal(sx_systolic_n_designs(&kernel), cases[i].n_designs);
        sx_problem problem = problem_of(cases[i].problem);
        assert_true(kernel.macs == (double)sx_problem_computes(&problem));
        assert_string_equal(kernel.name, problem.name);
    }
}

static void lanes_are_along_words_that_lie_side_by_side(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"O[p,q] += I[p+r,q+s]*W[p,q,r,s] {p:8,q:8,r:3,s:3}",
         "I*W=O slides p:8fsr(1,2,3) q:8fsr(1,2,3) one:1fs; lanes one; last one one q; 9 steps, 9 words"},
        {"O[c,p] += I[c,p+r]*W[c,p,r] {c:4,p:8,r:3}",
         "I*W=O slides c:4fsr p:8fsr(1,2,3); lanes c; last c c c; 3 steps, 3 words"},
        {"O[i,j] += A[i,2*k]*B[j,k] {i:4,j:5,k:6}",
         "A*B=O i:4fr j:5sr k:6fs(2,0,0) one:1fs; lanes one; last one one j; 1 steps, 1 words"},
        {"O[i,j] += A[2*i,k]*B[j,k] {i:4,j:5,k:6}",
         "A*B=O i:4fr(2,0,0) j:5sr k:6fs; lanes k; last k k j; 1 steps, 1 words"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sx_systolic_kernel kernel = kernel_of(cases[i][0]);
        expect_kernel(&kernel, cases[i][1]);
    }
}

static void dimensions_of_one_step_are_left_out_where_nothing_needs_them(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"O[n] += A[n,k]*B[n,k] {n:1,k:4}", "A*B=O n:1fsr k:4fs; lanes k; last k k n; 1 steps, 1 words"},
        {"O[n,m] += A[n,m,k]*B[n,m,k] {n:1,m:1,k:4}",
         "A*B=O m:1fsr k:4fs; lanes k; last k k m; 1 steps, 1 words"},
        {"O[n,i] += A[n,i,k]*B[n,k] {n:1,i:1,k:4}",
         "A*B=O i:1fr k:4fs; lanes k; last k k i; 1 steps, 1 words"},
        {"O[n,k] += A[n,c]*B[k,c] {n:1,k:1,c:1}",
         "A*B=O n:1fr k:1sr c:1fs; lanes c; last c c k; 1 steps, 1 words"},
        {"O[n,p,k] += I[n,c,p+r]*W[k,c,r] {n:1,p:1,k:2,c:2,r:1}",
         "I*W=O slides k:2sr p:1fr(1,0,1) c:2fs; lanes c; last c c k; 1 steps, 1 words"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sx_systolic_kernel kernel = kernel_of(cases[i][0]);
        expect_kernel(&kernel, cases[i][1]);
    }
}

static void what_no_array_computes_is_refused(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"mttkrp-0", "'mttkrp-0' has 3 inputs, and a systolic array multiplies two"},
        {"O[i] += A[i,k] {i:4,k:3}", "'the einsum' has 1 inputs"},
        {"O[k,p] += I[c,p+r]*W[k,c,p+r] {k:4,p:4,c:4,r:3}", "windows slide over both I and W"},
        {"O[i+j] += A[i,k]*B[j,k] {i:4,j:4,k:4}", "the result O has a rank that is a sum"},
        {"O[i,j] += A[i,k,m]*B[j,k] {i:4,j:4,k:4,m:4}", "'m' is summed over in A alone"},
        {"O[i,j] += A[i,k]*B[j,k,m] {i:4,j:4,k:4,m:4}", "'m' is summed over in B alone"},
        {"O[i,j,l] += A[i,k]*B[j,k] {i:4,j:4,k:4,l:4}", "'l' is in the result O only"},
        {"O[k,p] += I[c,p-r]*W[k,c,r] {k:4,p:4,c:4,r:3}", "I runs backwards along 'r'"},
        {"O[p] += I[p+r+s]*W[r,s] {p:4,r:3,s:3}", "rank 1 of I is not a window"},
        {"O[p] += I[r+s]*W[p,r,s] {p:4,r:3,s:3}", "rank 1 of I is not a window"},
        {"O[p,q] += I[p+q]*W[p,q] {p:4,q:3}", "rank 1 of I is not a window"},
        {"O[p,q] += I[p+r,q+r]*W[r] {p:4,q:4,r:3}", "'r' indexes two ranks of I"},
        {"O[i,j] += A[i,k]*B[2*j,k] {i:4,j:4,k:4}", "B is read with a step of 2 along 'j'"},
        {"O[2*i,j] += A[i,k]*B[j,k] {i:4,j:4,k:4}", "O is read with a step of 2 along 'i'"},
        {"O[i] += A[i,i,k]*B[k] {i:4,k:4}", "'i' indexes two ranks of A"},
        {"O[p] += I[p+r,p]*W[r] {p:4,r:3}", "'p' indexes two ranks of I"},
        {"O[a,b,c,d,e,h] += A[a,b,c,f,g,i]*B[d,e,h,f,g,i] {a:2,b:2,c:2,d:2,e:2,f:2,g:2,h:2,i:2}",
         "more than 8 loops"},
        {"O[k,p,q] += I[c,p+r,q+s]*W[k,c,r,s] {k:1,p:1,q:1,c:1,r:70000,s:70000}", "more than 2^32 words"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sx_problem problem = problem_of(cases[i][0]);
        sx_systolic_kernel kernel = {.n_loops = 77};
        sx_expect_error(sx_systolic_kernel_of(&problem, &kernel), cases[i][1]);
        assert_int_equal(kernel.n_loops, 77);
    }
}

static void kernels_are_joined_to_loops_in_common(void **state) {
    (void)state;
    sx_systolic_kernel k[3] = {kernel_of("conv"), kernel_of("fc"), kernel_of("depthwise")};
    sx_expect_ok(sx_systolic_join(k, 3));
    expect_kernel(&k[0], "Inputs*Weights=Outputs slides D:1fsr K:64sr P:56fr(1,2,3) Q:56fr(1,2,3) C:64fs; "
                         "lanes C; last C C K; 9 steps, 9 words");
    expect_kernel(&k[1], "Inputs*Weights=Outputs slides D:1fsr K:1000sr P:1fr N:1fr C:512fs; lanes C; last C "
                         "C K; 1 steps, 1 words");
    expect_kernel(&k[2], "Inputs*Weights=Outputs slides D:960fsr K:1sr P:7fr(1,2,3) Q:7fr(1,2,3) C:1fs; "
                         "lanes C; last C C K; 9 steps, 9 words");
    sx_device device;
    sx_space *space;
    sx_expect_ok(sx_catalog_device("u250", &device));
    sx_expect_ok(sx_systolic_space_new(k, 3, &device, NULL, &space));
    sx_space_free(space);
    k[0] = kernel_of("O[i,j] += A[i,k]*B[j,k] {i:4,j:5,k:6}");
    k[1] = kernel_of("O[x,y] += A[x,z]*B[z,y] {x:7,y:8,z:9}");
    sx_systolic_kernel alone = k[0];
    sx_expect_ok(sx_systolic_join(k, 1));
    assert_memory_equal(&alone, k, sizeof alone);
    sx_expect_ok(sx_systolic_join(k, 2));
    expect_kernel(&k[1], "A*B=O x:7fr y:8sr z:9fs; lanes z; last z z y; 1 steps, 1 words");
}

static void kernels_that_cannot_be_joined_say_why(void **state) {
    (void)state;
    sx_device device;
    sx_space *space;
    sx_systolic_kernel k[2] = {kernel_of("conv"), kernel_of("depthwise")};
    sx_expect_ok(sx_catalog_device("u250", &device));
    sx_expect_error(sx_systolic_space_new(k, 2, &device, NULL, &space), "merge them first");
    sx_expect_error(sx_systolic_space_new(k, 0, &device, NULL, &space), "needs a kernel");
    k[0] = kernel_of("O[a,b,c,d,e] += A[a,b,c,k]*B[d,e,k] {a:2,b:2,c:2,d:2,e:2,k:2}");
    k[1] = kernel_of("O[a,b,c,d,e] += A[a,b,c,d,e,k]*B[a,b,c,d,e,k] {a:2,b:2,c:2,d:2,e:2,k:2}");
    sx_expect_error(sx_systolic_join(k, 2), "11 loops in common");
    k[0] = kernel_of("O[i,j] += A[i,k,l]*B[j,k,l] {i:4,j:5,k:6,l:7}");
    k[1] = kernel_of("O[i,j] += A[i,k,2*l]*B[j,k,l] {i:4,j:5,k:6,l:7}");
    sx_expect_error(sx_systolic_join(k, 2), "are along different loops");
}

/* Every layer of every network of the catalog that multiplies two tensors is a kernel, and so are all
 * together. */
static void networks_are_kernels(void **state) {
    (void)state;
    const char *name;
    for (size_t i = 0; (name = sx_catalog_network_name(i, NULL)) && !sx_catalog_has_phases(name); i++) {
        sx_network network;
        sx_expect_ok(sx_catalog_network(name, NULL, &network));
        sx_systolic_kernel *kernels = calloc(network.n_layers, sizeof *kernels);
        assert_non_null(kernels);
        for (size_t l = 0; l < network.n_layers; l++)
            sx_expect_ok(sx_systolic_kernel_of(&network.layer[l].problem, &kernels[l]));
        sx_expect_ok(sx_systolic_join(kernels, network.n_layers));
        free(kernels);
        sx_network_fini(&network);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrix_products_are_the_papers_in_any_order),
        cmocka_unit_test(the_papers_kernels_are_those_of_their_einsums),
        cmocka_unit_test(layers_are_kernels),
        cmocka_unit_test(lanes_are_along_words_that_lie_side_by_side),
        cmocka_unit_test(dimensions_of_one_step_are_left_out_where_nothing_needs_them),
        cmocka_unit_test(what_no_array_computes_is_refused),
        cmocka_unit_test(kernels_are_joined_to_loops_in_common),
        cmocka_unit_test(kernels_that_cannot_be_joined_say_why),
        cmocka_unit_test(networks_are_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
