/* Checking the keys of maps against those that are known. */
#include "frontend/keys.h"
#include "frontend/input.h"

#include "base/text.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLAIN_SIZE = 128, SHORTEST = 3, LONG = 8 };

static const struct {
    const char *word, *whole;
} abbreviations[] = {{"bw", "bandwidth"}, {"lat", "latency"}, {"buf", "buffer"}};

/* Adds a word in small letters to a key, spelled out; false where there is no room. */
static bool add_word(const char *word, size_t size, char plain[PLAIN_SIZE]) {
    char small[PLAIN_SIZE];
    size_t used = strlen(plain);
    for (size_t i = 0; i < size; i++) small[i] = (char)tolower((unsigned char)word[i]);
    small[size] = 0;
    const char *text = small;
    for (size_t i = 0; i < sizeof abbreviations / sizeof *abbreviations; i++)
        if (strcmp(small, abbreviations[i].word) == 0) text = abbreviations[i].whole;
    if (used + strlen(text) >= PLAIN_SIZE) return false;
    memcpy(plain + used, text, strlen(text) + 1);
    return true;
}

/* The length of the word that a key begins with: up to a hyphen or underscore, or to a capital after a small letter. */
static size_t word_size(const char *key) {
    size_t n = 0;
    while (key[n] && key[n] != '-' && key[n] != '_') {
        n++;
        if (islower((unsigned char)key[n - 1]) && isupper((unsigned char)key[n])) break;
    }
    return n;
}

/* Writes a key as it is compared: its words in small letters, spelled out, with nothing between them; false where it is
 * too long. */
static bool write_plain(const char *key, char plain[PLAIN_SIZE]) {
    plain[0] = 0;
    if (strlen(key) >= PLAIN_SIZE) return false;
    while (*key) {
        size_t n = word_size(key);
        if (!add_word(key, n, plain)) return false;
        key += n;
        while (*key == '-' || *key == '_') key++;
    }
    return true;
}

unsigned sx_key_distance(const char *key, const char *known) {
    char a[PLAIN_SIZE], b[PLAIN_SIZE];
    if (!write_plain(key, a) || !write_plain(known, b)) return UINT_MAX;
    if (strcmp(a, b) == 0) return 0;
    size_t n = strlen(a), m = strlen(b), letters = n < m ? n : m;
    unsigned edits = sx_text_distance(a, b);
    return letters >= SHORTEST && edits <= (letters < LONG ? 1 : 2) ? edits : UINT_MAX;
}

/* Whether a map has a key of a rule, or another that means the same. */
static bool has_key(const sx_node *map, const sx_key_rule *rule, const sx_keys *keys) {
    const char *first = rule->why ? rule->why : rule->key;
    for (size_t i = 0; i < keys->n; i++) {
        if (keys->rule[i].use != SX_KEY_USED) continue;
        if (strcmp(keys->rule[i].why ? keys->rule[i].why : keys->rule[i].key, first) != 0) continue;
        const sx_node *value = sx_node_get(map, keys->rule[i].key);
        if (value && value->kind != SX_NODE_NULL) return true;
    }
    return false;
}

const char *sx_key_missing(const sx_node *map, const char *key, const sx_keys *keys) {
    const char *missing = NULL;
    unsigned nearest = UINT_MAX;
    for (size_t i = 0; i < keys->n; i++) {
        unsigned distance =
            keys->rule[i].use == SX_KEY_USED ? sx_key_distance(key, keys->rule[i].key) : UINT_MAX;
        if (distance == UINT_MAX || distance > nearest || (distance == nearest && missing)) continue;
        nearest = distance;
        missing = has_key(map, &keys->rule[i], keys) ? NULL : keys->rule[i].key;
    }
    return missing;
}

/* The error for a key in none of the rules; known ones that are far from it are its hint. */
static SX_MUST_USE sx_status unknown_key(const sx_pair *pair, const char *noun, const char *what,
                                         const sx_keys *keys) {
    const char **known = calloc(keys->n + 1, sizeof *known);
    if (!known) return sx_error_memory();
    size_t n_known = 0;
    for (size_t i = 0; i < keys->n; i++)
        if (keys->rule[i].use == SX_KEY_USED) known[n_known++] = keys->rule[i].key;
    char of[160];
    snprintf(of, sizeof of, "%s of %s:", noun, what);
    sx_status error = sx_error_unknown(pair->place, of, pair->key, known, n_known);
    free(known);
    return error;
}

/* The error for a key that has its value glued to it. */
static SX_MUST_USE sx_status glued_key(const sx_pair *pair, const char *noun, const char *what) {
    int size = (int)strcspn(pair->key, ":");
    return sx_error_hint(sx_error_at(pair->place, "unknown %s of %s: '%.64s'", noun, what, pair->key),
                         "YAML needs a space after the colon: '%.*s: %.32s'", size, pair->key,
                         pair->key + size + 1);
}

/* A key in none of the rules. */
static SX_MUST_USE sx_status other_key(sx_input *input, const sx_node *map, const sx_pair *pair,
                                       const char *noun, const char *what, const sx_keys *keys) {
    if (strchr(pair->key, ':') && pair->value->kind == SX_NODE_NULL) return glued_key(pair, noun, what);
    if (!input) return unknown_key(pair, noun, what, keys);
    const char *meant = sx_key_missing(map, pair->key, keys);
    if (meant) return sx_input_misspelt(input, pair, noun, what, meant);
    return sx_input_unknown(input, pair, "the %s '%.64s' of %s is not understood", noun, pair->key, what);
}

/* Whether the value of a key is a single word, number or expression. */
static bool is_single(const sx_keys *keys, const sx_key_rule *rule) {
    static const char *const kinds[] = {"text", "bool", "number", "positive", "whole", "count", "expression"};
    const char *value = rule->value;
    for (size_t r = 0; r < keys->n && rule->why && !value; r++)
        if (strcmp(keys->rule[r].key, rule->why) == 0) value = keys->rule[r].value;
    size_t size = value ? strcspn(value, "!") : 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strlen(kinds[i]) == size && strncmp(value, kinds[i], size) == 0) return true;
    return false;
}

/* Applies the rule of a key. */
static SX_MUST_USE sx_status apply_rule(sx_input *input, const sx_pair *pair, const char *what,
                                        const sx_key_rule *rule) {
    if (rule->use == SX_KEY_USED || rule->use == SX_KEY_ESTIMATED) return SX_OK;
    if (rule->use == SX_KEY_USED_MAP && pair->value->kind == SX_NODE_MAP) return SX_OK;
    if (rule->use == SX_KEY_NO_BEARING || rule->use == SX_KEY_USED_MAP)
        return sx_input_add_note(input, pair->place, "'%.64s' of %s has no effect on the result", pair->key,
                                 what);
    if (rule->use == SX_KEY_UNCOUNTED)
        return sx_input_uncounted(input, pair, "'%.64s' of %s is not counted: %s", pair->key, what,
                                  rule->why);
    if (sx_node_empty(pair->value)) return SX_OK;
    sx_status error = sx_error_at(pair->place, "'%.64s' of %s is not supported and would change the result",
                                  pair->key, what);
    return rule->why ? sx_error_hint(error, "%s", rule->why) : error;
}

/* Warns that a key with hyphens, which is taken literally, has no effect. */
static SX_MUST_USE sx_status literal_key(sx_input *input, const sx_pair *pair, const char *what,
                                         const char *known) {
    return sx_input_warn(input, pair->place, "'%s' of %s is written with hyphens and ignored, as by Timeloop",
                         known, what);
}

sx_status sx_node_check_key(sx_input *input, const sx_node *map, const sx_pair *pair, const char *noun,
                            const char *what, const sx_keys *keys) {
    for (size_t r = 0; r < keys->n; r++) {
        if (!sx_key_equal(keys->rule[r].key, pair->key)) continue;
        if (input && pair->value->blank && keys->rule[r].use == SX_KEY_USED &&
            is_single(keys, &keys->rule[r]))
            SX_TRY(sx_input_warn(input, pair->place, "'%.64s' of %s has no value, as if it were not there",
                                 pair->key, what));
        return pair->literal ? literal_key(input, pair, what, keys->rule[r].key)
                             : apply_rule(input, pair, what, &keys->rule[r]);
    }
    return other_key(input, map, pair, noun, what, keys);
}

sx_status sx_node_check_keys(sx_input *input, const sx_node *map, const char *what, const sx_keys *keys) {
    SX_TRY(sx_node_expect(map, SX_NODE_MAP, what));
    if (map->dropped && input)
        SX_TRY(sx_input_repeated(input, map->dropped->place, "duplicate key '%.64s', with an equal value",
                                 map->dropped->key));
    for (size_t i = 0; i < map->n; i++)
        SX_TRY(sx_node_check_key(input, map, &map->pair[i], "key", what, keys));
    return SX_OK;
}
