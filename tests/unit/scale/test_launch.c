/* What launchers say in environment variables. */
#include "scale/launch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static const char *const variables[] = {
    "OMPI_COMM_WORLD_SIZE",       "PMI_SIZE",        "SLURM_STEP_NUM_TASKS",
    "OMPI_COMM_WORLD_RANK",       "PMI_RANK",        "SLURM_PROCID",
    "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "SLURM_NTASKS_PER_NODE"};

static int clear(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) unsetenv(variables[i]);
    return 0;
}

static void without_a_launcher_there_is_one_process(void **state) {
    (void)state;
    assert_int_equal(sx_launch_count(), 1);
    assert_int_equal(sx_launch_number(), 0);
    assert_int_equal(sx_launch_neighbours(), 1);
}

static void each_launcher_is_understood(void **state) {
    for (size_t i = 0; i < 3; i++) {
        clear(state);
        setenv(variables[i], "12", 1);
        assert_int_equal(sx_launch_count(), 12);
        assert_int_equal(sx_launch_neighbours(), 12);
        setenv(variables[3 + i], "5", 1);
        assert_int_equal(sx_launch_number(), 5);
        setenv(variables[6 + i], "4", 1);
        assert_int_equal(sx_launch_neighbours(), 4);
        setenv(variables[6 + i], "0", 1);
        assert_int_equal(sx_launch_neighbours(), 1);
    }
}

/* The first launcher that says a number counts. */
static void what_is_no_number_is_passed_over(void **state) {
    static const char *const bad[] = {"", "-3", "4x", "x", " 4", "1073741824", ":"};
    (void)state;
    setenv("PMI_SIZE", "3", 1);
    setenv("SLURM_STEP_NUM_TASKS", "7", 1);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        setenv("OMPI_COMM_WORLD_SIZE", bad[i], 1);
        assert_int_equal(sx_launch_count(), 3);
    }
    setenv("OMPI_COMM_WORLD_SIZE", "1073741823", 1);
    assert_int_equal(sx_launch_count(), 1073741823);
    setenv("OMPI_COMM_WORLD_SIZE", "09", 1);
    assert_int_equal(sx_launch_count(), 9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(without_a_launcher_there_is_one_process, clear),
        cmocka_unit_test_setup(each_launcher_is_understood, clear),
        cmocka_unit_test_setup(what_is_no_number_is_passed_over, clear),
    };
    return cmocka_run_group_tests(tests, NULL, clear);
}
