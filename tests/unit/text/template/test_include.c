#define _XOPEN_SOURCE 700

#include "text/template/include.h"

#include "frontend/input.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* A fresh folder with the tree top/mid/low, and a file of the given text anywhere in it. */
typedef struct folder {
    char path[64];
} folder;

static void put(const folder *f, const char *name, const char *text) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", f->path, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static int setup(void **state) {
    static folder f;
    char path[256];
    snprintf(f.path, sizeof f.path, "/tmp/sextant-include-XXXXXX");
    if (!mkdtemp(f.path)) return -1;
    const char *const parts[] = {"a", "a/b", "a/b/c"};
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", f.path, parts[i]);
        if (mkdir(path, 0700) != 0) return -1;
    }
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    char command[128];
    const folder *f = *state;
    snprintf(command, sizeof command, "rm -rf '%s'", f->path);
    return system(command);
}

/* Reads a file of the folder into a new input (or frees it on an error). */
static sx_status read_file(const folder *f, const char *name, sx_input **out) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", f->path, name);
    SX_TRY(sx_input_new(out));
    sx_status status = sx_input_add_file(*out, path);
    if (status) {
        sx_input_free(*out);
        *out = NULL;
    }
    return status;
}

static void included_text_stands_in_its_place(void **state) {
    const folder *f = *state;
    sx_input *input;
    put(f, "a/b/c/base.yaml", "# base\nbase: &base\n  k: 1\n  m: {x: 1}\n");
    put(f, "a/b/p.yaml", "{{include_text('c/base.yaml')}}\nproblem:\n  <<<: *base\n  m: {y: 2}\n");
    sx_expect_ok(read_file(f, "a/b/p.yaml", &input));
    const sx_node *problem = sx_input_section(input, "problem", 0)->value;
    const sx_node *k = sx_node_get(problem, "k");
    assert_int_equal(sx_node_get(problem, "m")->n, 2);
    assert_non_null(strstr(k->place.file, "/a/b/c/base.yaml"));
    assert_int_equal(k->place.line, 3);
    assert_int_equal(k->place.column, 6);
    assert_non_null(strstr(problem->place.file, "/a/b/p.yaml"));
    assert_int_equal(sx_node_key_place(problem, "m").line, 4);
    assert_int_equal(sx_node_key_place(problem, "m").column, 3);
    sx_input_free(input);
}

/* Indented lines keep the places that they have in their own file, also of a file within the file. */
static void included_text_is_indented(void **state) {
    const folder *f = *state;
    sx_input *input;
    put(f, "a/b/c/inner.yaml", "x: 1\n\ny: 2\n");
    put(f, "a/b/c/outer.yaml", "k: 3\nm:\n  {{include_text('inner.yaml') | indent(2)}}\nz: 5\n");
    put(f, "a/b/p.yaml", "problem:\n    {{include_text('c/outer.yaml')|indent}}\nmapper: {}\n");
    sx_expect_ok(read_file(f, "a/b/p.yaml", &input));
    const sx_node *problem = sx_input_section(input, "problem", 0)->value;
    const sx_node *y = sx_node_get(sx_node_get(problem, "m"), "y"), *z = sx_node_get(problem, "z");
    assert_int_equal(problem->n, 3);
    assert_non_null(strstr(y->place.file, "/c/inner.yaml"));
    assert_int_equal(y->place.line, 3);
    assert_int_equal(y->place.column, 4);
    assert_non_null(strstr(z->place.file, "/c/outer.yaml"));
    assert_int_equal(z->place.line, 4);
    assert_int_equal(z->place.column, 4);
    assert_int_equal(sx_input_section(input, "mapper", 0)->place.line, 3);
    sx_input_free(input);
}

static void includes_stand_anywhere_in_a_line(void **state) {
    const folder *f = *state;
    sx_input *input;
    put(f, "a/b/c/size.yaml",
        "\xef\xbb\xbf"
        "12\n");
    put(f, "a/b/c/deep.yaml", "[{{ include_text( \"size.yaml\" ) }}, 13]\n");
    put(f, "a/b/p.yaml",
        "problem: {\xc3\xbc: {{include_text('c/deep.yaml')}}, b: 2} # end\n  # {{ no }} {% no %} {# no\n");
    sx_expect_ok(read_file(f, "a/b/p.yaml", &input));
    const sx_node *problem = sx_input_section(input, "problem", 0)->value,
                  *list = sx_node_get(problem, "\xc3\xbc");
    assert_string_equal(list->item[0]->text, "12");
    assert_non_null(strstr(list->item[0]->place.file, "c/size.yaml"));
    assert_int_equal(list->item[0]->place.column, 1);
    assert_non_null(strstr(list->item[1]->place.file, "c/deep.yaml"));
    assert_int_equal(list->item[1]->place.column, 37);
    assert_non_null(strstr(sx_node_get(problem, "b")->place.file, "p.yaml"));
    assert_int_equal(sx_node_get(problem, "b")->place.column, 50);
    sx_input_free(input);
}

static void lines_are_counted_as_yaml_does(void **state) {
    const folder *f = *state;
    sx_input *input;
    put(f, "a/b/c/one.yaml", "one: &one\r\n  k: 1\r  m: 2\xc2\x85  n: 3\xe2\x80\xa8  o: 4\n");
    put(f, "a/b/p.yaml", "{{include_text('c/one.yaml')}}\nproblem: {a: 1}\n");
    sx_expect_ok(read_file(f, "a/b/p.yaml", &input));
    const sx_pair *one = sx_input_section(input, "one", 0), *problem = sx_input_section(input, "problem", 0);
    assert_int_equal(sx_node_get(one->value, "o")->place.line, 5);
    assert_int_equal(problem->place.line, 2);
    sx_input_free(input);
}

static void bad_includes_are_refused(void **state) {
    const folder *f = *state;
    static const char *const cases[][2] = {
        {"a: 1\n  {{include_text('/etc/passwd')}}\n",
         "p.yaml:2:3: the included file '/etc/passwd' is outside the folder"},
        {"{{include_text('none.yaml')}}\n", "p.yaml:1:3: cannot find the included file"},
        {"{{include_text('')}}\n", "p.yaml:1:3: an included path is empty"},
        {"{{include_text('../../../top.yaml')}}\n", "c/'\n  to read it nevertheless, add --include-path "},
        {"{{include_text('link/passwd')}}\n", "is outside the folder"},
        {"{{include_text('p.yaml')}}\n", "p.yaml' includes itself\n  remove this include"},
        {"{{include_text('mutual.yaml')}}\n",
         "mutual.yaml', which includes it again\n  remove one of the includes"},
        {"{{include_text('.')}}\n", "is a folder, not a file"},
        {"{{include_text('pipe')}}\n", "p.yaml:1:1: '"},
        {"x: {{include('pipe')}}\n", "pipe' is not a regular file"},
        {"{{include_text('*/x.yaml')}}\n", "has wildcards in the name of a folder"},
        {"x: {{include('*.yaml')}}\n", "include_all reads several files"},
        {"x: {{include('mutual.yaml', 'a')}}\n", "which includes it again"},
        {"x: {{include('two.yaml', 'a.c')}}\n", "p.yaml:1:6: the included file '"},
        {"x: {{include('several.yaml')}}\n", "has 2 documents\n  include a file with one"},
        {"{{ add_to_path('../../../a') }}{{ add_to_path('..') }}{{include_text('none.yaml')}}\n",
         "/a/b/c/../../../a/', '"},
        {"{{ add_to_path('x') }}\n", "p.yaml:1:4: cannot find the included file"},
    };
    char fifo[256];
    put(f, "a/b/c/two.yaml", "a: {b: 1}\n");
    put(f, "a/b/c/several.yaml", "a: 1\n---\nb: 1\n");
    snprintf(fifo, sizeof fifo, "%s/a/b/c/pipe", f->path);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    put(f, "top.yaml", "problem: {a: 1}\n");
    put(f, "a/b/c/mutual.yaml", "{{include_text('p.yaml')}}\n");
    char link[256];
    snprintf(link, sizeof link, "%s/a/b/c/link", f->path);
    assert_int_equal(symlink("/etc", link), 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sx_input *input;
        put(f, "a/b/c/p.yaml", cases[i][0]);
        sx_expect_error(read_file(f, "a/b/c/p.yaml", &input), cases[i][1]);
    }
}

static void folders_that_the_user_allows_are_read(void **state) {
    const folder *f = *state;
    char path[256], allowed[256];
    sx_input *input;
    put(f, "a/b/c/p.yaml", "problem: {{include('../base.yaml', 'base')}}\n");
    put(f, "a/b/c/q.yaml", "arch: {{include('top.yaml', 'top')}}\n");
    put(f, "a/b/base.yaml", "base: {a: 1}\n");
    put(f, "a/top.yaml", "top: {a: 2}\n");
    sx_expect_error(read_file(f, "a/b/c/p.yaml", &input), "p.yaml:1:12: the included file");
    snprintf(allowed, sizeof allowed, "%s/a", f->path);
    sx_expect_ok(sx_input_new(&input));
    sx_expect_ok(sx_input_include_path(input, allowed));
    snprintf(path, sizeof path, "%s/a/b/c/p.yaml", f->path);
    sx_expect_ok(sx_input_add_file(input, path));
    snprintf(path, sizeof path, "%s/a/b/c/q.yaml", f->path);
    sx_expect_ok(sx_input_add_file(input, path));
    assert_string_equal(sx_node_get(sx_input_section(input, "problem", 0)->value, "a")->text, "1");
    assert_string_equal(sx_node_get(sx_input_section(input, "arch", 0)->value, "a")->text, "2");
    sx_expect_error(sx_input_include_path(input, path), "q.yaml' is not a folder");
    sx_input_free(input);
}

static void depth_and_number_of_includes_are_limited(void **state) {
    const folder *f = *state;
    sx_input *input;
    char name[64], text[128];
    for (int i = 0; i < 18; i++) {
        snprintf(name, sizeof name, "a/b/n%d.yaml", i);
        snprintf(text, sizeof text, "{{include_text('n%d.yaml')}}\n", i + 1);
        put(f, name, text);
    }
    sx_expect_error(read_file(f, "a/b/n0.yaml", &input), "n15.yaml:1:1: includes are nested deeper than 16");
    put(f, "a/b/empty.yaml", "");
    char *many = calloc(1001, 40);
    assert_non_null(many);
    for (int i = 0; i < 1001; i++) strcpy(many + strlen(many), "{{include_text('empty.yaml')}}\n");
    put(f, "a/b/many.yaml", many);
    free(many);
    sx_expect_error(read_file(f, "a/b/many.yaml", &input), "many.yaml:1001:1: more than 1000 includes");
}

static void size_is_limited(void **state) {
    const folder *f = *state;
    sx_input *input;
    char path[256];
    snprintf(path, sizeof path, "%s/a/b/big.yaml", f->path);
    put(f, "a/b/big.yaml", "# ");
    assert_int_equal(truncate(path, SX_MAX_TEXT + 1), 0);
    sx_expect_error(read_file(f, "a/b/big.yaml", &input), "is larger than 67108864 bytes");
    put(f, "a/b/p.yaml", "{{include_text('big.yaml')}}\n");
    sx_expect_error(read_file(f, "a/b/p.yaml", &input), "p.yaml:1:1: '");
    assert_int_equal(truncate(path, SX_MAX_TEXT - 10), 0);
    sx_expect_error(read_file(f, "a/b/p.yaml", &input), "big.yaml:1:3: control characters are not allowed");
    put(f, "a/b/p.yaml", "{{include_text('big.yaml')}}{{include_text('big.yaml')}}\n");
    sx_expect_error(read_file(f, "a/b/p.yaml", &input),
                    "the text with its includes is larger than 67108864 bytes");
}

static void texts_may_not_include(void **state) {
    (void)state;
    sx_input *input;
    sx_expect_ok(sx_input_new(&input));
    sx_expect_error(sx_input_add_text(input, "t", "{{include_text('x.yaml')}}", 26),
                    "t:1:3: includes are only read from files");
    sx_expect_error(sx_input_add_text(input, "t", "{{cwd()}}", 9),
                    "t:1:3: this text was not read from a file, so it has no folder");
    sx_input_free(input);
}

static void a_file_counts_once(void **state) {
    const folder *f = *state;
    sx_input *input;
    const sx_pair *pair = NULL;
    char path[256];
    put(f, "a/p.yaml", "problem: {a: 1}\n");
    snprintf(path, sizeof path, "%s/a/b/../p.yaml", f->path);
    sx_expect_ok(read_file(f, "a/p.yaml", &input));
    sx_expect_ok(sx_input_add_file(input, path));
    sx_expect_ok(sx_input_single(input, "problem", &pair));
    assert_null(sx_input_section(input, "problem", 1));
    sx_input_free(input);
}

static void missing_files_are_named(void **state) {
    const folder *f = *state;
    sx_input *input;
    sx_expect_error(read_file(f, "a/none.yaml", &input), "none.yaml': No such file");
    sx_expect_error(read_file(f, "a", &input), "is a folder, not a file");
}

/* The older form is a value; in comments and texts it is none. */
static void tags_include(void **state) {
    const folder *f = *state;
    sx_input *input;
    put(f, "a/b/c/size.yaml", "{m: 4}\n");
    put(f, "a/b/p.yaml",
        "problem:\n  a: !include c/size.yaml   # or z: !include none.yaml\n  b: [ !include 'c/size.yaml', "
        "2]\n"
        "  c: 'see !include none.yaml'\n  d: say !include none.yaml\n# x: !include none.yaml\n"
        "  e:\n  - !include \"c/size.yaml\"\n");
    sx_expect_ok(read_file(f, "a/b/p.yaml", &input));
    const sx_node *problem = sx_input_section(input, "problem", 0)->value;
    assert_string_equal(sx_node_get(sx_node_get(problem, "a"), "m")->text, "4");
    assert_string_equal(sx_node_get(sx_node_get(problem, "b")->item[0], "m")->text, "4");
    assert_string_equal(sx_node_get(problem, "b")->item[1]->text, "2");
    assert_string_equal(sx_node_get(problem, "c")->text, "see !include none.yaml");
    assert_string_equal(sx_node_get(problem, "d")->text, "say !include none.yaml");
    assert_string_equal(sx_node_get(sx_node_get(problem, "e")->item[0], "m")->text, "4");
    sx_input_free(input);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(included_text_stands_in_its_place),
        TEST(included_text_is_indented),
        TEST(includes_stand_anywhere_in_a_line),
        TEST(lines_are_counted_as_yaml_does),
        TEST(bad_includes_are_refused),
        TEST(folders_that_the_user_allows_are_read),
        TEST(depth_and_number_of_includes_are_limited),
        TEST(size_is_limited),
        TEST(texts_may_not_include),
        TEST(a_file_counts_once),
        TEST(missing_files_are_named),
        TEST(tags_include),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
