/* Prints how many runs a database holds; fails where it is damaged. */
#include "sextant/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    sx_store *store = NULL;
    sx_store_counts counts;
    sx_status status = argc == 2 ? sx_store_open(argv[1], &store) : SX_OK;
    if (argc != 2) return 2;
    if (!status) status = sx_store_count(store, &counts);
    if (status) {
        char *text = sx_status_text(status);
        fprintf(stderr, "%s\n", text ? text : "out of memory");
        free(text);
    } else {
        printf("%" PRIu64 "\n", counts.runs);
    }
    sx_store_close(store);
    int code = status != SX_OK;
    sx_status_free(status);
    return code;
}
