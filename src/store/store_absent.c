/* The store of a build without SQLite. */
#include "base/status.h"
#include "sextant/store.h"
#include "store/points.h"

const char *sx_store_engine(void) {
    return NULL;
}

static SX_ERROR sx_status no_database(void) {
    return sx_error_hint(sx_error_new(SX_ERR_USAGE, "this build of Sextant has no database"),
                         "build it where SQLite 3.37 or newer is installed (Debian: libsqlite3-dev)");
}

sx_status sx_store_open(const char *path, sx_store **out) {
    (void)path, (void)out;
    return no_database();
}

sx_status sx_store_open_within(const char *path, double seconds, sx_store **out) {
    (void)path, (void)seconds, (void)out;
    return no_database();
}

void sx_store_close(sx_store *store) {
    (void)store;
}

sx_status sx_store_add(sx_store *store, const sx_record *record) {
    (void)store, (void)record;
    return no_database();
}

sx_status sx_store_best(sx_store *store, const sx_arch *arch, const char *objective, sx_store_visit *visit,
                        void *user) {
    (void)store, (void)arch, (void)objective, (void)visit, (void)user;
    return no_database();
}

sx_status sx_store_proven(sx_store *store, const sx_problem *problem, const sx_arch *arch,
                          const char *objective, sx_store_visit *visit, void *user) {
    (void)store, (void)problem, (void)arch, (void)objective, (void)visit, (void)user;
    return no_database();
}

sx_status sx_store_archs(sx_store *store, sx_store_visit_arch *visit, void *user) {
    (void)store, (void)visit, (void)user;
    return no_database();
}

sx_status sx_store_kinds(sx_store *store, sx_store_visit_kind *visit, void *user) {
    (void)store, (void)visit, (void)user;
    return no_database();
}

sx_status sx_store_add_point(sx_store *store, const sx_point_record *record) {
    (void)store, (void)record;
    return no_database();
}

sx_status sx_store_best_points(sx_store *store, const char *kind, const char *space, const char *objective,
                               sx_store_visit_point *visit, void *user) {
    (void)store, (void)kind, (void)space, (void)objective, (void)visit, (void)user;
    return no_database();
}

sx_status sx_store_count(sx_store *store, sx_store_counts *out) {
    (void)store, (void)out;
    return no_database();
}

sx_status sx_store_all_points(sx_store *store, const char *kind, const char *objective,
                              sx_store_visit_point *visit, void *user) {
    (void)store, (void)kind, (void)objective, (void)visit, (void)user;
    return no_database();
}
