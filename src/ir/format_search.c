/* The kinds of formats that are searched, as text. */
#include "base/status.h"
#include "sextant/model.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *name;
    uint8_t kind;
} kinds[] = {
    {"none", SX_FORMATS_NONE},
    {"CP", SX_FORMATS_CP},
    {"RLE", SX_FORMATS_RLE},
    {"B", SX_FORMATS_B},
    {"all", SX_FORMATS_NONE | SX_FORMATS_CP | SX_FORMATS_RLE | SX_FORMATS_B},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

/* The kinds of a word of a number of bytes; 0 where there is none. */
static uint8_t kind_of(const char *word, size_t size) {
    for (int i = 0; i < N_KINDS; i++)
        if (strlen(kinds[i].name) == size && strncasecmp(kinds[i].name, word, size) == 0)
            return kinds[i].kind;
    return 0;
}

sx_status sx_format_search_parse(const char *text, sx_format_search *out) {
    sx_format_search search = {0};
    for (const char *at = text;; at++) {
        size_t size = strcspn(at, ",");
        uint8_t kind = kind_of(at, size);
        if (!kind)
            return sx_error_hint(sx_error_new(SX_ERR_USAGE, "formats '%s': '%.*s' is not a kind of format",
                                              text, (int)size, at),
                                 "kinds are none, CP, RLE, B and all, with commas");
        search.kinds |= kind;
        at += size;
        if (!*at) break;
    }
    *out = search;
    return SX_OK;
}

void sx_format_search_text(const sx_format_search *search, char text[SX_FORMATS_TEXT_SIZE]) {
    text[0] = 0;
    for (int i = 0; i + 1 < N_KINDS; i++) {
        if (!(search->kinds & kinds[i].kind)) continue;
        size_t n = strlen(text);
        snprintf(text + n, SX_FORMATS_TEXT_SIZE - n, "%s%s", n ? "," : "", kinds[i].name);
    }
}

sx_status sx_format_search_aim(sx_format_search *search, const sx_objective *objective) {
    const sx_criterion *c = &objective->criterion[0];
    if (search->kinds == 0) return SX_OK;
    if (objective->n_criteria != 1 || c->kind != SX_PRODUCT)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "formats cannot be searched for this objective"),
                             "use one product of energy and delay, such as edp, energy, delay or e^2*d");
    search->energy_power = c->energy_power;
    search->delay_power = c->delay_power;
    return SX_OK;
}
