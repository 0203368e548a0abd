/* Timeloop turns the hyphens of 75 words (one of them listed twice) into underscores before it reads a file, one word
 * after the other, so that `payload-word-bits` becomes `payload-word_bits`: `word-bits` comes first. It looks up keys
 * with underscores alone. */
#include "text/document/hyphens.h"

#include "text/document/scan.h"

#include <string.h>

/* In Timeloop's order. */
static const char *const words[] = {
    "linear-pruned",
    "problem-space-files",
    "log-stats",
    "tile-width",
    "log-interval",
    "CNN-Layer",
    "ordered-accesses",
    "router-energy",
    "tree-like",
    "arch-space-files",
    "log-oave-mappings",
    "penalize-consecutive-bypass-fails",
    "emit-whoop-nest",
    "condition-on",
    "energy-per-hop",
    "max-permutations-per-if-visit",
    "gate-on-zero-operand",
    "gcc-ar",
    "num-ports",
    "multiple-buffering",
    "cluster-area",
    "outer-to-inner",
    "spatial-skip",
    "log-all",
    "wire-energy",
    "metadata-word-bits",
    "optimization-metric",
    "word-bits",
    "action-optimization",
    "cnn-layer",
    "num-threads",
    "arch-space-sweep",
    "live-status",
    "step-size",
    "min-utilization",
    "network-type",
    "block-size",
    "sync-interval",
    "log-suboptimal",
    "representation-format",
    "flattened-rankIDs",
    "gemm-ABZ",
    "arch-spec",
    "last-level-accesses",
    "optimization-metrics",
    "inner-to-outer",
    "compression-rate",
    "filter-revisits",
    "vector-access-energy",
    "rank-application-order",
    "log-mappings-yaml",
    "log-mappings-verbose",
    "log-all-mappings",
    "read-write",
    "fixed-structured",
    "gcc-ranlib",
    "adder-energy",
    "search-size",
    "victory-condition",
    "random-pruned",
    "access-X",
    "skipping-spatial",
    "payload-word-bits",
    "num-banks",
    "addr-gen-energy",
    "cluster-size",
    "compute-optimization",
    "network-word-bits",
    "data-spaces",
    "timeloop-metric",
    "timeloop-metrics",
    "timeloop-simple-mapper",
    "timeloop-design-space",
    "timeloop-unit-tests",
};

/* Whether nothing behind a word keeps it from being changed. */
static bool ends_word(const char *at, const char *end) {
    static const char *const stops[] = {"-", ">", ".hpp", ".cpp"};
    if (at < end && sx_name_continues(*at)) return false;
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        size_t n = strlen(stops[i]);
        if ((size_t)(end - at) >= n && memcmp(at, stops[i], n) == 0) return false;
    }
    return true;
}

/* Changes every occurrence of a word that stands for itself. */
static void convert_word(const char *word, char *text, size_t size) {
    size_t length = strlen(word), first = strcspn(word, "-");
    char *end = text + size;
    for (char *at = text; (at = memchr(at, '-', (size_t)(end - at))); at++) {
        char *begin = at - first;
        if ((size_t)(at - text) < first || (size_t)(end - begin) < length) continue;
        if (memcmp(begin, word, length) != 0 || (begin > text && sx_name_continues(begin[-1]))) continue;
        if (!ends_word(begin + length, end)) continue;
        for (size_t i = 0; i < length; i++)
            if (begin[i] == '-') begin[i] = '_';
    }
}

void sx_hyphens_convert(char *text, size_t size) {
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) convert_word(words[i], text, size);
}
