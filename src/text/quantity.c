#include "text/quantity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The power of a thousand that a prefix stands for; 0: it is none. */
static int power_of(char prefix) {
    static const char prefixes[] = "kMGT";
    const char *at = prefix == 'K' ? prefixes : prefix ? strchr(prefixes, prefix) : NULL;
    return at ? (int)(at - prefixes) + 1 : 0;
}

/* A number, its prefix and its unit. */
typedef struct parts {
    double number;
    int power;          /* of 1,000 or 1,024 */
    bool binary, bytes; /* Ki and so on; B */
} parts;

/* Takes a text apart; returns what follows the unit, NULL where it does not begin with a number. */
static const char *take_apart(const char *text, parts *out) {
    char *end;
    if (!((*text >= '0' && *text <= '9') || *text == '.') || text[strspn(text, "0123456789.")] == 'x')
        return NULL;
    out->number = strtod(text, &end);
    if (end == text || !isfinite(out->number)) return NULL;
    end += strspn(end, " ");
    out->power = power_of(*end);
    end += out->power > 0;
    out->binary = out->power > 0 && *end == 'i';
    end += out->binary;
    out->bytes = *end == 'B';
    return end + out->bytes;
}

bool sx_quantity_parse(const char *text, sx_quantity *out) {
    parts p;
    const char *rest = take_apart(text, &p);
    if (!rest || *rest || (p.power == 0 && !p.bytes) || (p.binary && !p.bytes)) return false;
    out->bytes = p.bytes;
    out->value = p.number * pow(p.bytes ? 1024 : 1000, p.power);
    return true;
}

bool sx_rate_parse(const char *text, double *bytes_per_second) {
    parts p;
    const char *rest = take_apart(text, &p);
    if (!rest || !p.bytes || strcmp(rest, "/s") != 0) return false;
    *bytes_per_second = p.number * pow(p.binary ? 1024 : 1000, p.power);
    return true;
}
