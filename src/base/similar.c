/* See similar.h. */
#include "base/similar.h"

#include "base/alloc.h"
#include "base/show.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
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

static size_t name_distance(const char *typed, const char *name)
{
    enum { PART = 100, SHORTEST = 3 };
    size_t distance = as_word_distance(typed, name);
    if (distance == SIZE_MAX && strlen(typed) >= SHORTEST && strstr(name, typed))
        return PART + strlen(name);
    return distance;
}

static bool has(const struct as_similar *similar, const char *name)
{
    for (size_t i = 0; i < similar->n; i++)
        if (strcmp(similar->name[i], name) == 0)
            return true;
    return false;
}

void as_similar_add(struct as_similar *similar, const char *name)
{
    enum { LONGEST_SHOWN = 200 };
    size_t distance = strlen(name) < LONGEST_SHOWN ? name_distance(similar->typed, name) : SIZE_MAX, at = similar->n;
    while (at > 0 && similar->distance[at - 1] > distance)
        at--;
    if (distance == SIZE_MAX || at == AS_SIMILAR_MOST || has(similar, name))
        return;
    if (similar->n == AS_SIMILAR_MOST)
        free(similar->name[--similar->n]);
    for (size_t i = similar->n++; i > at; i--) {
        similar->name[i] = similar->name[i - 1];
        similar->distance[i] = similar->distance[i - 1];
    }
    similar->name[at] = as_strdup(name);
    similar->distance[at] = distance;
}

char *as_similar_take(struct as_similar *similar)
{
    struct as_str text = {0};
    for (size_t i = 0; i < similar->n; i++) {
        as_str_addf(&text, "%s%s", i ? " or " : "; did you mean ", AS_SHOW(similar->name[i]));
        free(similar->name[i]);
    }
    as_str_add(&text, similar->n ? "?" : "");
    similar->n = 0;
    return as_str_take(&text);
}
