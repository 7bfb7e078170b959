/* See pics.h. */
#include "observe/pics.h"

#include "base/search.h"
#include "base/sort.h"
#include "base/vec.h"

#include <math.h>
#include <string.h>

void as_pics_push(struct as_pics *pics, const struct as_pics_entry *entry)
{
    *as_vec_push(pics) = *entry;
}

static uint64_t key_of(const void *entry)
{
    return as_pics_key(entry);
}

void as_pics_sort(struct as_pics *pics)
{
    if (pics->len == 0)
        return;
    as_sort(pics->data, pics->len, sizeof *pics->data, key_of);
    size_t last = 0;
    for (size_t i = 1; i < pics->len; i++) {
        if (as_pics_key(&pics->data[i]) != as_pics_key(&pics->data[last])) {
            pics->data[++last] = pics->data[i];
            continue;
        }
        pics->data[last].units += pics->data[i].units;
        pics->data[last].count += pics->data[i].count;
    }
    pics->len = last + 1;
}

void as_pics_free(struct as_pics *pics)
{
    as_vec_free(pics);
}

const struct as_pics_entry *as_pics_find(const struct as_pics *pics, uint32_t id, size_t *n)
{
    size_t at = as_search(0, pics->len, i, pics->data[i].id < id);
    for (*n = 0; at + *n < pics->len && pics->data[at + *n].id == id;)
        ++*n;
    return pics->data + at;
}

uint64_t as_pics_total(const struct as_pics *pics)
{
    uint64_t total = 0;
    for (size_t i = 0; i < pics->len; i++)
        total += pics->data[i].units;
    return total;
}

/* Adds an entry whose place is at the end or a little before it. */
static void insert_entry(struct as_pics *pics, const struct as_pics_entry *entry)
{
    size_t at = pics->len;
    uint64_t key = as_pics_key(entry);
    while (at > 0 && as_pics_key(&pics->data[at - 1]) > key)
        at--;
    if (at > 0 && as_pics_key(&pics->data[at - 1]) == key) {
        pics->data[at - 1].units += entry->units;
        pics->data[at - 1].count += entry->count;
        return;
    }
    memmove(&pics->data[at + 1], &pics->data[at], (pics->len++ - at) * sizeof *pics->data);
    pics->data[at] = *entry;
}

/* Ids stay in their order. */
static struct as_pics fold_events(const struct as_pics *pics, uint32_t mask)
{
    struct as_pics folded = {0};
    as_vec_reserve((void **)&folded.data, &folded.cap, pics->len + 1, sizeof *folded.data);
    for (size_t i = 0; i < pics->len; i++) {
        struct as_pics_entry entry = pics->data[i];
        entry.events &= mask;
        insert_entry(&folded, &entry);
    }
    return folded;
}

/* One of the last entries, if it has the same id and events. */
static struct as_pics_entry *find_recent(struct as_pics *pics, uint32_t id, uint32_t events)
{
    enum { RECENT = 16 };
    size_t first = pics->len > RECENT ? pics->len - RECENT : 0;
    for (size_t at = pics->len; at-- > first && pics->data[at].id == id;)
        if (pics->data[at].events == events)
            return &pics->data[at];
    return NULL;
}

/* Neighbours are mostly of one group: adding them up leaves little to sort. */
static struct as_pics fold_groups(const struct as_pics *pics, uint32_t mask, const struct as_grouping *grouping)
{
    struct as_pics folded = {0};
    for (size_t i = 0; i < pics->len; i++) {
        struct as_pics_entry entry = pics->data[i], *recent;
        entry.id = as_grouping_of(grouping, entry.id);
        entry.events &= mask;
        if (!(recent = find_recent(&folded, entry.id, entry.events))) {
            as_pics_push(&folded, &entry);
            continue;
        }
        recent->units += entry.units;
        recent->count += entry.count;
    }
    as_pics_sort(&folded);
    return folded;
}

struct as_pics as_pics_fold(const struct as_pics *pics, uint32_t mask, const struct as_grouping *grouping)
{
    return grouping ? fold_groups(pics, mask, grouping) : fold_events(pics, mask);
}

/* ---- tallies ---- */

static struct as_pics_entry *entry_of(struct as_pics_tally *tally, uint32_t id, uint32_t events)
{
    uint64_t *number = as_map_put(&tally->index, (uint64_t)id << 32 | events);
    if (*number == 0) {
        as_pics_push(&tally->entries, &(struct as_pics_entry){.id = id, .events = events});
        *number = tally->entries.len;
    }
    return &tally->entries.data[*number - 1];
}

void as_pics_tally_add(struct as_pics_tally *tally, uint32_t id, uint32_t events, uint64_t units, uint64_t count)
{
    struct as_pics_entry *entry = entry_of(tally, id, events);
    entry->units += units;
    entry->count += count;
}

void as_pics_tally_merge(struct as_pics_tally *into, const struct as_pics_tally *from)
{
    for (size_t i = 0; i < from->entries.len; i++) {
        const struct as_pics_entry *add = &from->entries.data[i];
        struct as_pics_entry *entry = entry_of(into, add->id, add->events);
        entry->units += add->units;
        entry->count += add->count;
    }
}

void as_pics_tally_free(struct as_pics_tally *tally)
{
    as_map_free(&tally->index);
    as_pics_free(&tally->entries);
    *tally = (struct as_pics_tally){0};
}

/* ---- sums ---- */

/* Pearson's correlation in one pass from sums: long double holds the squares of 1e9 events to a part in 1e9. */
struct pearson {
    long double x, y, xx, yy, xy;
    size_t n;
};

static void add_point(struct pearson *sums, uint64_t count, uint64_t units)
{
    long double x = (long double)count, y = (long double)units / (long double)AS_CYCLE_UNITS;
    sums->x += x;
    sums->y += y;
    sums->xx += x * x;
    sums->yy += y * y;
    sums->xy += x * y;
    sums->n++;
}

static double correlation(const struct pearson *sums)
{
    long double n = (long double)sums->n;
    long double spread_x = n * sums->xx - sums->x * sums->x, spread_y = n * sums->yy - sums->y * sums->y;
    long double tiny = 1e-12L;
    if (sums->n < 3 || spread_x <= tiny * n * sums->xx || spread_y <= tiny * n * sums->yy)
        return NAN;
    double r = (double)((n * sums->xy - sums->x * sums->y) / sqrtl(spread_x * spread_y));
    return r > 1 ? 1 : r < -1 ? -1 : r;
}

struct as_event_sum as_pics_event(const struct as_pics *pics, uint32_t bit)
{
    struct as_event_sum sum = {0};
    struct pearson sums = {0};
    for (size_t i = 0, next; i < pics->len; i = next) {
        uint64_t count = 0, units = 0;
        bool met = false;
        for (next = i; next < pics->len && pics->data[next].id == pics->data[i].id; next++)
            if (pics->data[next].events & bit) {
                met = true;
                count += pics->data[next].count;
                units += pics->data[next].units;
            }
        if (!met)
            continue;
        add_point(&sums, count, units);
        sum.count += count;
        sum.units += units;
    }
    sum.instructions = sums.n;
    sum.correlation = correlation(&sums);
    return sum;
}

struct as_combined_sum as_pics_combined(const struct as_pics *pics)
{
    struct as_combined_sum sum = {0};
    for (size_t i = 0; i < pics->len; i++) {
        const struct as_pics_entry *entry = &pics->data[i];
        bool any = entry->events, combined = entry->events & (entry->events - 1);
        uint32_t leaves = as_events_leaves(entry->events);
        bool independent = leaves & (leaves - 1);
        sum.met += any ? entry->count : 0;
        sum.units += any ? entry->units : 0;
        sum.combined += any && combined ? entry->count : 0;
        sum.combined_units += any && combined ? entry->units : 0;
        sum.independent += any && independent ? entry->count : 0;
        sum.independent_units += any && independent ? entry->units : 0;
    }
    return sum;
}
