#include "fuzz/grammar.h"

#include "base/file.h"
#include "base/text.h"
#include "fuzz/fuzz.h"

#include <ctype.h>
#include <string.h>

enum { MAX_GRAMMARS = 8, MAX_RULES = 256, MAX_ALTERNATIVES = 2048, MAX_ITEMS = 8192 };
enum { MAX_DEPTH = 40, MAX_TEXT = 1 << 15, MAX_FILE = 1 << 20 };

/* An item: '"' a text, 'r' a rule, '>' and '<' indentation. */
typedef struct item {
    char kind;
    const char *text; /* that of a text, the name of a rule */
    size_t size;
    size_t rule;
} item;

typedef struct alternative {
    size_t first, n; /* items */
    size_t weight;
} alternative;

typedef struct rule {
    const char *name;
    size_t size;
    size_t first, n; /* alternatives */
    size_t weight;   /* of all of them */
    bool ends;       /* its first alternative comes to an end */
} rule;

typedef struct grammar {
    const char *name;
    char *file;
    rule rule[MAX_RULES];
    alternative alternative[MAX_ALTERNATIVES];
    item item[MAX_ITEMS];
    size_t n_rules, n_alternatives, n_items;
} grammar;

static size_t word_size(const char *at) {
    size_t n = 0;
    while (isalnum((unsigned char)at[n]) || at[n] == '_') n++;
    return n;
}

static void begin_alternative(grammar *g) {
    promise(g->n_rules && g->n_alternatives < MAX_ALTERNATIVES);
    g->alternative[g->n_alternatives++] = (alternative){.first = g->n_items, .weight = 1};
    g->rule[g->n_rules - 1].n++;
}

static void add_item(grammar *g, item added) {
    promise(g->n_alternatives && g->n_items < MAX_ITEMS);
    g->item[g->n_items++] = added;
    g->alternative[g->n_alternatives - 1].n++;
}

/* Reads a text in quotes, whose signs are put in place; behind it. */
static char *read_quoted(grammar *g, char *at) {
    char *from = at + 1, *to = from;
    item added = {.kind = '"', .text = from};
    for (; *from && *from != '"' && *from != '\n'; from++) {
        const bool escaped = *from == '\\';
        from += escaped;
        *to++ = escaped && *from == 'n' ? '\n' : *from;
    }
    promise(*from == '"');
    added.size = (size_t)(to - added.text);
    add_item(g, added);
    return from + 1;
}

/* Reads the items of a line; the next line. */
static char *read_items(grammar *g, char *at) {
    while (*at && *at != '\n') {
        if (*at == '"') {
            at = read_quoted(g, at);
        } else if (isdigit((unsigned char)*at)) {
            g->alternative[g->n_alternatives - 1].weight = strtoul(at, &at, 10);
        } else if (word_size(at)) {
            add_item(g, (item){.kind = 'r', .text = at, .size = word_size(at)});
            at += word_size(at);
        } else {
            promise(strchr("|<> ", *at));
            if (*at == '|') begin_alternative(g);
            if (*at == '<' || *at == '>') add_item(g, (item){.kind = *at});
            at++;
        }
    }
    return *at ? at + 1 : at;
}

/* Reads the rules. */
static void read_rules(grammar *g, char *at) {
    while (*at) {
        const size_t size = word_size(at);
        if (*at == '#' || *at == '\n') {
            at += strcspn(at, "\n");
            at += *at == '\n';
            continue;
        }
        if (size) {
            promise(at[size] == ':' && g->n_rules < MAX_RULES);
            g->rule[g->n_rules++] = (rule){.name = at, .size = size, .first = g->n_alternatives};
            begin_alternative(g);
            at += size + 1;
        }
        at = read_items(g, at);
    }
}

/* Finds the rules that items name. */
static void bind_items(grammar *g) {
    for (size_t i = 0; i < g->n_items; i++) {
        item *it = &g->item[i];
        if (it->kind != 'r') continue;
        while (it->rule < g->n_rules && (g->rule[it->rule].size != it->size ||
                                         memcmp(g->rule[it->rule].name, it->text, it->size) != 0))
            it->rule++;
        if (it->rule == g->n_rules)
            fprintf(stderr, "%s.grammar has no rule '%.*s'\n", g->name, (int)it->size, it->text);
        promise(it->rule < g->n_rules);
    }
}

/* Adds up the weights of alternatives. */
static void add_weights(grammar *g) {
    for (size_t r = 0; r < g->n_rules; r++)
        for (size_t a = 0; a < g->rule[r].n; a++)
            g->rule[r].weight += g->alternative[g->rule[r].first + a].weight;
}

/* Sees that the first alternatives come to an end. */
static void check_ends(grammar *g) {
    for (size_t round = 0; round < g->n_rules; round++)
        for (size_t r = 0; r < g->n_rules; r++) {
            const alternative *first = &g->alternative[g->rule[r].first];
            bool ends = true;
            for (size_t i = first->first; i < first->first + first->n; i++)
                ends = ends && (g->item[i].kind != 'r' || g->rule[g->item[i].rule].ends);
            g->rule[r].ends = ends;
        }
    for (size_t r = 0; r < g->n_rules; r++) {
        if (!g->rule[r].ends)
            fprintf(stderr, "%s.grammar: the first alternative of '%.*s' has no end\n", g->name,
                    (int)g->rule[r].size, g->rule[r].name);
        promise(g->rule[r].ends);
    }
}

/* The grammar of a name, which is read when it is asked for the first time. */
static const grammar *grammar_of(const char *name) {
    static grammar *all[MAX_GRAMMARS];
    char path[1024];
    size_t size, i = 0;
    while (i < MAX_GRAMMARS && all[i] && strcmp(all[i]->name, name) != 0) i++;
    promise(i < MAX_GRAMMARS);
    if (all[i]) return all[i];
    grammar *g = calloc(1, sizeof *g);
    promise(g);
    g->name = name;
    snprintf(path, sizeof path, SX_TEST_DATA "/fuzz/%s.grammar", name);
    promise(succeeded(sx_file_read(path, MAX_FILE, &g->file, &size)));
    read_rules(g, g->file);
    bind_items(g);
    add_weights(g);
    check_ends(g);
    promise(g->n_rules);
    return all[i] = g;
}

/* A text that is being written. */
typedef struct writer {
    const grammar *g;
    const uint8_t *at, *end;
    sx_text text;
    int indentation;
} writer;

static void write_text(writer *w, const char *text, size_t size) {
    for (size_t i = 0; i < size; i++) {
        sx_text_add_bytes(&w->text, text + i, 1);
        if (text[i] == '\n') sx_text_add(&w->text, "%*s", 2 * w->indentation, "");
    }
}

/* Chooses an alternative of a rule by the next byte. */
static const alternative *choose(writer *w, const rule *r, int depth) {
    const alternative *a = &w->g->alternative[r->first];
    if (r->n == 1 || w->at == w->end || depth == MAX_DEPTH || w->text.size >= MAX_TEXT) return a;
    for (size_t left = *w->at++ % r->weight; left >= a->weight; a++) left -= a->weight;
    return a;
}

/* Writes a text of a rule. */
static void write_rule(writer *w, size_t index, int depth) {
    const rule *r = &w->g->rule[index];
    const alternative *a = choose(w, r, depth);
    const int indentation = w->indentation;
    for (size_t i = a->first; i < a->first + a->n; i++) {
        const item *it = &w->g->item[i];
        if (it->kind == 'r') write_rule(w, it->rule, depth < MAX_DEPTH ? depth + 1 : depth);
        if (it->kind == '"') write_text(w, it->text, it->size);
        w->indentation += (it->kind == '>') - (it->kind == '<');
    }
    w->indentation = indentation;
}

char *sx_grammar_text(const char *name, const uint8_t *data, size_t size) {
    writer w = {.g = grammar_of(name), .at = data, .end = data + size};
    char *text;
    write_rule(&w, 0, 0);
    promise(succeeded(sx_text_take(&w.text, &text)));
    return text;
}
