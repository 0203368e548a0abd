#include "text/document/scan.h"

#include <ctype.h>
#include <string.h>

char sx_scan_peek(sx_scan *scan) {
    while (*scan->at == ' ' || *scan->at == '\t' || *scan->at == '\n' || *scan->at == '\r') scan->at++;
    return *scan->at;
}

sx_place sx_scan_place(sx_scan *scan) {
    sx_scan_peek(scan);
    sx_place place = scan->place;
    if (place.line) place.column += (int)(scan->at - scan->text);
    return place;
}

bool sx_scan_take(sx_scan *scan, const char *word) {
    sx_scan_peek(scan);
    size_t length = strlen(word);
    if (strncmp(scan->at, word, length) != 0) return false;
    scan->at += length;
    return true;
}

static bool name_start(char c) {
    return isalpha((unsigned char)c) || c == '_';
}

bool sx_name_continues(char c) {
    return name_start(c) || isdigit((unsigned char)c);
}

/* The length of the name at the beginning of a text. */
static size_t name_length(const char *text) {
    size_t length = 0;
    if (name_start(*text))
        while (sx_name_continues(text[length])) length++;
    return length;
}

bool sx_scan_name(sx_scan *scan, char name[SX_NAME_SIZE]) {
    sx_scan_peek(scan);
    size_t length = name_length(scan->at);
    if (length == 0 || length >= SX_NAME_SIZE) return false;
    memset(name, 0, SX_NAME_SIZE);
    memcpy(name, scan->at, length);
    scan->at += length;
    return true;
}

bool sx_scan_number(sx_scan *scan, int64_t *out) {
    int64_t value = 0;
    sx_scan_peek(scan);
    const char *at = scan->at;
    if (!isdigit((unsigned char)*at)) return false;
    for (; isdigit((unsigned char)*at); at++) {
        int digit = *at - '0';
        if (value > (INT64_MAX - digit) / 10) return false;
        value = value * 10 + digit;
    }
    scan->at = at;
    *out = value;
    return true;
}

sx_status sx_scan_expected(sx_scan *scan, const char *what) {
    char next = sx_scan_peek(scan);
    sx_place place = sx_scan_place(scan);
    if (!next) return sx_error_at(place, "the text ends where %s is expected", what);
    return sx_error_at(place, "%s is expected before '%.16s'", what, scan->at);
}

bool sx_name_simple(const char *text) {
    size_t length = name_length(text);
    return length > 0 && length < SX_NAME_SIZE && text[length] == 0;
}
