/* See similar.h. */
#include "base/similar.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Edit distance with swaps, over three rows of the usual table. Words longer than the rows are not typing errors. */
size_t as_word_distance(const char *typed, const char *meant)
{
    enum { LONGEST = 40 };
    size_t rows[3][LONGEST + 1], n = strlen(typed), m = strlen(meant);
    if (n > LONGEST || m > LONGEST)
        return SIZE_MAX;
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + (typed[i - 1] != meant[j - 1]));
            if (i > 1 && j > 1 && typed[i - 1] == meant[j - 2] && typed[i - 2] == meant[j - 1])
                row[j] = least(row[j], two_above[j - 2] + 1);
        }
    }
    size_t distance = rows[n % 3][m];
    bool begins_alike = n >= 2 && strncmp(typed, meant, n) == 0;
    return begins_alike || distance <= 1 + m / 4 ? distance : SIZE_MAX;
}
