/* How often words handed from child to child (Timeloop's link transfers) decide which mapping is best.
 *
 *   study-links [SECONDS [WORD ...]]
 *
 * Both optima, with links and without, are proven (SECONDS, 60, of CPU time each); groups are those that have
 * some WORD in their name, as in "papers on accel-a". A case differs where the two values do. It misleads
 * where no mapping that is best with links is the best without: then the EDP without links of the best of
 * them is above the optimum there by the loss. Cases with an open proof are left out. */
#include "sextant/model.h"
#include "support/search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
    const char *set, *arch;
} groups[] = {
    {"resnet18", "eyeriss"},          {"resnet18", "edge-unified"}, {"inception-v3", "eyeriss"},
    {"inception-v3", "edge-unified"}, {"papers", "accel-a"},
};
enum { N_GROUPS = sizeof groups / sizeof *groups, MOST_TIES = 1000 };

/* Values that differ by no more than this share are the same: proofs hold to 10^-12. */
static const double rounding = 1e-9;

typedef struct tally {
    size_t n, open, differ, mislead;
    double most, loss;
} tally;

/* The EDP of a mapping without links. */
static double without_links(const sx_study_group *group, size_t item, const sx_mapping *mapping) {
    sx_model_options options = {.no_link_transfers = true};
    sx_model *model;
    sx_model_workspace *evaluator;
    sx_score score = {0};
    sx_objective edp;
    sx_study_need(sx_objective_parse("edp", &edp));
    sx_study_need(sx_model_new(&group->item[item].problem, &group->arch, &options, &model));
    sx_study_need(sx_model_workspace_new(model, &evaluator));
    sx_verdict verdict = sx_evaluate_score(evaluator, mapping, &score);
    sx_model_workspace_free(evaluator);
    sx_model_free(model);
    return verdict.reason == SX_LEGAL ? sx_objective_value(&edp, &score) : INFINITY;
}

/* How far above the optimum without links the mappings are that are best with them, as a share: the least of
 * them. */
static double find_loss(const sx_study_group *group, size_t item, double seconds, double optimum) {
    sx_study_search search = {.mapper = "optimal", .seconds = seconds, .ties = MOST_TIES};
    sx_study_answer best = sx_study_run(group, item, &search);
    double loss = INFINITY;
    for (size_t i = 0; i < best.n_ties; i++)
        loss = fmin(loss, without_links(group, item, &best.ties[i]) / optimum - 1);
    if (!best.optimal || best.n_ties >= MOST_TIES)
        fprintf(stderr, "%s: there may be more mappings as good\n", group->item[item].name);
    free(best.ties);
    return loss;
}

/* Proves both optima of a case. Links only lower costs: where the optima are equal, so is some mapping. */
static void compare(const sx_study_group *group, size_t item, double seconds, tally *t) {
    sx_study_search search = {.mapper = "optimal", .seconds = seconds};
    sx_study_answer with = sx_study_run(group, item, &search);
    search.no_links = true;
    sx_study_answer without = sx_study_run(group, item, &search);
    t->n++;
    t->open += !with.optimal || !without.optimal;
    double gain = without.edp / with.edp - 1;
    if (!with.optimal || !without.optimal || gain <= rounding) return;
    double loss = find_loss(group, item, seconds, without.edp);
    t->differ++;
    t->mislead += loss > rounding;
    t->most = fmax(t->most, gain);
    t->loss = fmax(t->loss, loss);
}

int main(int argc, char **argv) {
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 60;
    printf("| set | machine | cases | open | optima that links lower | by at most | misleading | loss at "
           "most |\n"
           "|---|---|---|---|---|---|---|---|\n");
    for (int g = 0; g < N_GROUPS; g++) {
        tally t = {0};
        sx_study_group group;
        if (!sx_study_wanted(groups[g].set, groups[g].arch, argc - 2, argv + 2)) continue;
        sx_study_open(groups[g].set, groups[g].arch, &group);
        for (size_t i = 0; i < group.n; i++) compare(&group, i, seconds, &t);
        printf("| %s | %s | %zu | %zu | %zu | %s | %zu | %s |\n", group.set, group.arch.name, t.n, t.open,
               t.differ, sx_study_percent(t.most).text, t.mislead, sx_study_percent(t.loss).text);
        fflush(stdout);
        sx_study_close(&group);
    }
    return 0;
}
