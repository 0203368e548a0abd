/* Files of buffers: what is read, refused and written. */
#include "placement/addresses/buffers.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static sx_status parse(const char *text, sx_buffers *out) {
    return sx_buffers_parse("t.csv", strdup(text), strlen(text), out);
}

static void columns_are_found_by_their_names(void **state) {
    sx_buffers list;
    sx_text text = {0};
    (void)state;
    sx_expect_ok(parse("size,id , upper,lower,offset\r\n4,a b,3,0,77\r\n\r\n 0 ,\"c,\"\"\",9,2,\r\n", &list));
    assert_int_equal(list.n, 2);
    assert_string_equal(list.id[0], "a b");
    assert_int_equal(list.buffer[0].size, 4);
    assert_int_equal(list.buffer[1].lower, 2);
    list.buffer[1].offset = 12;
    sx_buffers_write(&list, &text);
    assert_string_equal(text.data, "id,lower,upper,size,offset\na b,0,3,4,0\n\"c,\"\"\",2,9,0,12\n");
    sx_text_free(&text);
    sx_buffers_fini(&list);
}

static void bad_files_are_refused_where_they_are_wrong(void **state) {
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"", "t.csv: the file is empty"},
        {"\n \n", "t.csv: the file is empty"},
        {"id,lower,upper\n", "t.csv:1:1: there is no column 'size'"},
        {"id,lower,upper,size,size\n", "t.csv:1:21: duplicate column 'size'"},
        {"id,lower,upper,size,hint\n", "t.csv:1:21: unknown column 'hint'"},
        {"id,lower,upper,size\na,1,2\n", "t.csv:2:1: 3 fields, but 4 columns"},
        {"id,lower,upper,size\na,1,2,3,4\n", "t.csv:2:9: 5 fields, but 4 columns"},
        {"id,lower,upper,size\n,1,2,3\n", "t.csv:2:1: id is missing"},
        {"id,lower,upper,size\n\"a,1,2,3\n", "t.csv:2:1: a quote is not closed at the end of its field"},
        {"id,lower,upper,size\na,1,2,\n", "t.csv:2:7: size is missing"},
        {"id,lower,upper,size\na,1,2,-3\n", "t.csv:2:7: size is negative: -3"},
        {"id,lower,upper,size\na,1,2, 3.5\n", "t.csv:2:8: size must be a whole number, not '3.5'"},
        {"id,lower,upper,size\na,1,2,9223372036854775808\n", "t.csv:2:7: size is too large"},
        {"id,lower,upper,size\na,1,2,3\nb,4,2,3\n",
         "t.csv:3:5: buffer 'b' ends at 2, before it has begun at 4"},
        {"id,lower,upper,size\na,1,1,3\n", "t.csv:2:5: buffer 'a' ends at 1, before it has begun at 1"},
        {"id,lower,upper,size\na,1,2,3\nb,1,2,3\n\nb,1,2,3\na,1,2,3\n",
         "t.csv:5:1: duplicate id 'b', first on line 3"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sx_buffers list;
        sx_expect_error(parse(cases[i].text, &list), cases[i].error);
    }
    sx_buffers list;
    sx_expect_error(sx_buffers_parse("t.csv", strdup("id"), 4, &list), "t.csv: the file is not text");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_found_by_their_names),
        cmocka_unit_test(bad_files_are_refused_where_they_are_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
