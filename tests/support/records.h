/* Records to keep in a database, and a folder to keep it in. */
#ifndef SX_TESTS_RECORDS_H
#define SX_TESTS_RECORDS_H

#include "sextant/all.h"

/* Record number `index`: each is another run, every tenth another problem, its value falls as the number
 * grows. The texts live as long as the program. */
void sx_test_record(uint64_t index, sx_record *out);

/* cmocka's setup and teardown: an empty folder for a test, removed with all that is in it. It is in memory
 * where that can be, since waiting for a disk would take most of the time. */
int sx_scratch_setup(void **state);
int sx_scratch_teardown(void **state);

/* The path of a file in that folder, in one of four buffers by turns. */
const char *sx_scratch(const char *name);

/* How many files the folder holds. */
int sx_scratch_files(void);

#endif
