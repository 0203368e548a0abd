/* What the latency of the tile pipeline is made of (docs/latency.md). */
#include "report/explain.h"
#include "report/table.h"

#include <math.h>

/* The stages of a tile, by name and verb. */
static const char *const stage_name[] = {"loading", "computing", "storing"};

/* A number of cycles, rounded. */
static sx_shown show_cycles(double value) {
    return sx_show_count(value < 100 ? value : round(value));
}

/* Adds why the time between launches is longer than the longest stage of a tile. */
static void explain_period(const sx_law *law, const sx_cost_boundary *b, double longest, sx_text *out) {
    const double all = b->load + b->compute + b->store, hidden = longest + law->exposed * (all - longest);
    if (b->period <= longest * (1 + 1e-12)) {
        sx_text_add(out, " A tile follows another after %s cycles: the rest is hidden.",
                    show_cycles(b->period).text);
        return;
    }
    sx_text_add(out, " A tile follows another after %s cycles: ", show_cycles(b->period).text);
    if (b->period <= hidden * (1 + 1e-12))
        sx_text_add(out, "%s of the hidden %s show.", sx_show_percent(law->exposed).text,
                    show_cycles(all - longest).text);
    else if (b->period <= law->launch * (1 + 1e-12))
        sx_text_add(out, "launches are no closer.");
    else
        sx_text_add(out, "%g tiles in flight share the three stages.", law->slots);
}

/* Adds the share of the time between launches in which each stage works. */
static void explain_stalls(const sx_cost_boundary *b, sx_text *out) {
    const double stage[] = {b->load, b->compute, b->store};
    sx_text_add(out, " Of that time");
    for (int i = 0; i < 3; i++)
        sx_text_add(out, "%s %s works %s",
                    i == 2 ? " and"
                    : i    ? ","
                           : "",
                    stage_name[i], sx_show_percent(b->period > 0 ? stage[i] / b->period : 0).text);
    sx_text_add(out, ".");
}

/* Adds the sum that the latency of a boundary is. */
static void explain_sum(const sx_cost_boundary *b, double longest, sx_text *out) {
    const double value[] = {b->start, b->first, b->launches * longest, b->exposed, b->drain};
    static const char *const name[] = {"start", "launch", NULL, "exposed", "fill and drain"};
    double total = 0;
    bool any = false;
    sx_text_add(out, " In all");
    for (int i = 0; i < 5; i++) {
        total += value[i];
        if (!(value[i] > 0)) continue;
        sx_text_add(out, "%s %s", any ? " +" : "", show_cycles(value[i]).text);
        if (name[i])
            sx_text_add(out, " (%s)", name[i]);
        else
            sx_text_add(out, " (%s tiles of %s)", sx_show_count(b->launches).text, show_cycles(longest).text);
        any = true;
    }
    sx_text_add(out, " = %s cycles.", show_cycles(total).text);
}

void sx_explain_boundary(const sx_evaluation *e, int boundary, sx_text *out) {
    const sx_cost_boundary *b = &e->cost.boundary[boundary];
    const sx_storage *level = &e->arch.level[b->level];
    const double stage[] = {b->load, b->compute, b->store};
    int longest = 0;
    for (int i = 1; i < 3; i++)
        if (stage[i] > stage[longest]) longest = i;
    sx_text_add(
        out,
        "Latency, tiles of %s: %s launches, each with %s cycles of loading, %s of computing%s and %s of "
        "storing; %s is the longest.",
        level->name, sx_show_count(b->launches).text, show_cycles(b->load).text, show_cycles(b->compute).text,
        boundary > 0 ? " (the latency inside)" : "", show_cycles(b->store).text, stage_name[longest]);
    explain_period(&e->arch.law[level->law - 1], b, stage[longest], out);
    explain_stalls(b, out);
    explain_sum(b, stage[longest], out);
    if (boundary < e->cost.n_boundaries - 1) return;
    const double law = b->start + b->first + b->launches * stage[longest] + b->exposed + b->drain;
    if (e->cost.latency > law * (1 + 1e-9) + (double)sx_network_latency(&e->arch))
        sx_text_add(out, " Timeloop's cycles of other levels are more: latency %s.",
                    show_cycles(e->cost.latency).text);
}
