#include "support/records.h"

#include "support/plain_arch.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void sx_test_record(uint64_t index, sx_record *out) {
    char einsum[80];
    unsigned size = (unsigned)(index / 10 % 1000) + 2;
    *out = (sx_record){
        .search = {.objective = "edp", .navigator = "random", .options = "{\"a\": 1}", .version = "0.1.0"}};
    sx_plain_arch(&out->arch, 2);
    strcpy(out->arch.name, "plain");
    snprintf(einsum, sizeof einsum, "O[m,n] += A[m,k]*B[k,n] {m:%u,n:8,k:4}", size);
    sx_plain_problem(einsum, &out->arch, &out->problem, &out->mapping);
    sx_mapping_init(&out->mapping, &out->problem, &out->arch);
    out->mapping.level[0].temporal[0] = size;
    out->mapping.level[1].temporal[0] = 1;
    sx_mapping_canonical(&out->mapping);
    out->search.seed = index;
    out->search.evaluations = 1000 + index;
    out->search.valid = index;
    out->search.seconds = 0.25;
    out->score = (sx_score){
        .energy_pj = 1e6 / 3, .cycles = 3e6 - (double)index, .utilization = 1, .last_level_accesses = 7};
    out->score.latency = out->score.cycles;
    out->search.value = out->score.energy_pj * out->score.cycles;
    out->search.lower_bound = 0.125;
}

static char folder[64];

int sx_scratch_setup(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "%s/sextant-test-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

const char *sx_scratch(const char *name) {
    static char path[4][512];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

/* Visits the files of the folder, removing them if asked to; returns how many there are. */
static int walk(bool removing) {
    int n = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (removing) remove(sx_scratch(entry->d_name));
        n++;
    }
    closedir(dir);
    return n;
}

int sx_scratch_files(void) {
    return walk(false);
}

int sx_scratch_teardown(void **state) {
    (void)state;
    walk(true);
    return rmdir(folder);
}
