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

bool sx_quantity_parse(const char *text, sx_quantity *out) {
    char *end;
    if (!((*text >= '0' && *text <= '9') || *text == '.') || text[strspn(text, "0123456789.")] == 'x')
        return false;
    double number = strtod(text, &end);
    if (end == text || !isfinite(number)) return false;
    end += strspn(end, " ");
    int power = power_of(*end);
    end += power > 0;
    bool binary = power > 0 && *end == 'i';
    end += binary;
    out->bytes = *end == 'B';
    end += out->bytes;
    if (*end || (power == 0 && !out->bytes) || (binary && !out->bytes)) return false;
    out->value = number * pow(out->bytes ? 1024 : 1000, power);
    return true;
}
