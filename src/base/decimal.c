#include "base/decimal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sx_decimal_text(double value, char text[SX_DECIMAL_SIZE]) {
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(text, SX_DECIMAL_SIZE, "%.*g", precision, value);
        if (strtod(text, NULL) == value) break;
    }
    if (strchr(text, 'e') && fabs(value) >= 1 && fabs(value) < 1e17)
        snprintf(text, SX_DECIMAL_SIZE, "%.0f", value);
    char *comma = strchr(text, ',');
    if (comma) *comma = '.';
}

sx_decimal sx_decimal_of(double value) {
    char text[SX_DECIMAL_SIZE];
    sx_decimal d = {0, 0};
    sx_decimal_text(value, text);
    bool point = false;
    const char *at = text + (*text == '-');
    for (; *at && *at != 'e'; at++) {
        if (*at == '.') {
            point = true;
        } else {
            d.digits = d.digits * 10 + (*at - '0');
            d.exponent -= point;
        }
    }
    if (*at) d.exponent += atoi(at + 1);
    while (d.digits && d.digits % 10 == 0) {
        d.digits /= 10;
        d.exponent++;
    }
    if (*text == '-') d.digits = -d.digits;
    if (d.digits == 0) d.exponent = 0;
    return d;
}
