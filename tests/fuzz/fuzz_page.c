/* Any JSON is shown on a page or is refused; what is shown cannot end the element that holds it. */
#include "fuzz/fuzz.h"

#include "report/page.h"

#include <string.h>

/* How often a text occurs in another. */
static int count(const char *text, const char *part) {
    int n = 0;
    for (; (text = strstr(text, part)); text += strlen(part)) n++;
    return n;
}

/* Makes the item of a page from a result of `map` or the answer of another command; NULL where it is refused. */
static json_t *item_of(const uint8_t *data, size_t size) {
    json_t *answer = json_loadb((const char *)data, size, 0, NULL), *item = NULL;
    sx_result *result;
    if (answer && sx_page_is_result(answer)) {
        if (succeeded(sx_result_read("fuzz", (const char *)data, size, &result))) {
            if (!succeeded(sx_page_result("fuzz", result, &item))) item = NULL;
            sx_result_free(result);
        }
    } else if (answer && !succeeded(sx_page_answer("fuzz", answer, &item))) {
        item = NULL;
    }
    json_decref(answer);
    return item;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    json_t *item = item_of(data, size), *list = json_array();
    sx_text page = {0};
    if (item && json_array_append(list, item) == 0) {
        promise(succeeded(sx_page_write(list, "<title>", &page)));
        promise(count(page.data, "</script") == count(sx_page_html, "</script"));
        sx_text_free(&page);
    }
    json_decref(list);
    json_decref(item);
    return 0;
}
