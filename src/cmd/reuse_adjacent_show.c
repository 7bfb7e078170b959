/* What an adjacent-line prefetcher could take away from threads, as text and as JSON. See reuse_show.h. */
#include "base/show.h"
#include "cmd/reuse_show.h"

enum { MOST = 16 };

void as_reuse_print_adjacent(const struct as_reuse_shown *shown, FILE *out)
{
    struct as_adjacent_pair pairs[MOST];
    if (!shown->adjacent)
        return;
    struct as_adjacent_sum sum = as_adjacent_sum(shown->adjacent);
    size_t n = as_adjacent_most(shown->adjacent, pairs, shown->top < MOST ? shown->top : MOST);
    fprintf(out, "\nFalse sharing by pairs of lines (what an adjacent-line prefetcher would add):\n\n");
    fprintf(out, "%20s  by the pair and not by its lines, however far apart\n", AS_COUNT(sum.counts.false_sharing));
    fprintf(out, "%20s  near: while the thread that wrote still has its line in its own cache\n",
            AS_COUNT(sum.counts.near));
    fprintf(out, "%20s  of the near ones at most can come of a prefetch: each needs a miss of the pair\n",
            AS_COUNT(sum.possible));
    if (n)
        fprintf(out, "\n  %16s %14s %14s %14s %14s\n", "pair of lines", "false sharing", "near", "misses", "transfers");
    for (size_t i = 0; i < n; i++)
        fprintf(out, "  %16llx %14s %14s %14s %14s\n", (unsigned long long)pairs[i].address,
                AS_COUNT(pairs[i].counts.false_sharing), AS_COUNT(pairs[i].counts.near),
                AS_COUNT(pairs[i].counts.misses), AS_COUNT(pairs[i].counts.transfers));
}

static void json_counts(struct as_json *json, const struct as_adjacent_counts *counts)
{
    as_json_u64(json, "false_sharing", counts->false_sharing);
    as_json_u64(json, "near", counts->near);
    as_json_u64(json, "misses", counts->misses);
    as_json_u64(json, "transfers", counts->transfers);
}

void as_reuse_json_adjacent(struct as_json *json, const struct as_reuse_shown *shown)
{
    struct as_adjacent_pair pairs[MOST];
    if (!shown->adjacent)
        return;
    struct as_adjacent_sum sum = as_adjacent_sum(shown->adjacent);
    size_t n = as_adjacent_most(shown->adjacent, pairs, MOST);
    as_json_object(json, "adjacent");
    as_json_u64(json, "line_pairs", sum.lines_pairs);
    json_counts(json, &sum.counts);
    as_json_u64(json, "possible", sum.possible);
    as_json_array(json, "most");
    for (size_t i = 0; i < n; i++) {
        as_json_object(json, NULL);
        as_json_u64(json, "process", pairs[i].process);
        as_json_u64(json, "address", pairs[i].address);
        json_counts(json, &pairs[i].counts);
        as_json_end(json);
    }
    as_json_end(json);
    as_json_end(json);
}
