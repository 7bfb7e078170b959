/* Writes comma-separated values (RFC 4180) that are safe to open in a spreadsheet. */
#ifndef AS_BASE_CSV_H
#define AS_BASE_CSV_H

#include "base/str.h"

/* Adds a field of text, quoted where it has to be. Invalid UTF-8 becomes U+FFFD, control characters become '?' except
 * tabs and ends of lines. Text that a spreadsheet would take for a formula (it begins with = + - @, a tab or the end of
 * a line) gets a ' before it, as OWASP advises. Cut with an ellipsis behind `most` bytes; 0: never. */
void as_csv_add_text(struct as_str *out, const char *text, size_t most);

#endif
