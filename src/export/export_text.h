/* Text and numbers for line-based formats. */
#ifndef AS_EXPORT_TEXT_H
#define AS_EXPORT_TEXT_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
    AS_EXPORT_NAME_MAX = 4096, /* longest name, in bytes, in formats that repeat it on many lines */
};

/* Appends `text` as valid UTF-8 without control characters (which become '?'); characters of `forbidden` (ASCII) become
 * `instead`. Text longer than `most` bytes is cut with an ellipsis; 0: never. */
void as_export_clean(struct as_str *out, const char *text, const char *forbidden, char instead, size_t most);

/* Converts units to whole numbers (of 1/`parts` of the series' unit) with an exact sum: the rounding error of one value
 * is carried to the next, so that all of them add up to the rounded total. */
struct as_export_rounder {
    uint64_t scale, parts;
    unsigned __int128 seen; /* units so far */
    uint64_t told;          /* sum of the values returned */
};
uint64_t as_export_round(struct as_export_rounder *rounder, uint64_t units);

#endif
