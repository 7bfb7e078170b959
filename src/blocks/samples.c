/* See samples.h. */
#include "blocks/samples.h"

#include "base/map.h"

#include <math.h>
#include <stdlib.h>

/* ---- pairs of addresses ---- */

struct slot {
    uint64_t a, b; /* a: 0 is empty */
    double weight;
    uint64_t count, mispredicted, oldest;
};

struct pairs {
    struct slot *slots;
    size_t len, cap; /* cap: 0 or a power of two */
};

static size_t hash(uint64_t a, uint64_t b)
{
    uint64_t h = (a ^ (b << 32 | b >> 32)) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(h ^ h >> 29);
}

static struct slot *find_slot(struct slot *slots, size_t cap, uint64_t a, uint64_t b)
{
    size_t at = hash(a, b) & (cap - 1);
    while (slots[at].a && (slots[at].a != a || slots[at].b != b))
        at = (at + 1) & (cap - 1);
    return &slots[at];
}

static void grow(struct pairs *pairs)
{
    size_t cap = pairs->cap ? 2 * pairs->cap : 1024;
    struct slot *slots = as_alloc_array(cap, sizeof *slots);
    for (size_t i = 0; i < pairs->cap; i++)
        if (pairs->slots[i].a)
            *find_slot(slots, cap, pairs->slots[i].a, pairs->slots[i].b) = pairs->slots[i];
    free(pairs->slots);
    pairs->slots = slots;
    pairs->cap = cap;
}

static struct slot *put_times(struct pairs *pairs, uint64_t a, uint64_t b, double weight, uint64_t times)
{
    if (2 * (pairs->len + 1) > pairs->cap)
        grow(pairs);
    struct slot *slot = find_slot(pairs->slots, pairs->cap, a, b);
    if (!slot->a) {
        slot->a = a;
        slot->b = b;
        pairs->len++;
    }
    slot->weight += weight * (double)times;
    slot->count += times;
    return slot;
}

static struct slot *put(struct pairs *pairs, uint64_t a, uint64_t b, double weight)
{
    return put_times(pairs, a, b, weight, 1);
}

static void clear(struct pairs *pairs)
{
    free(pairs->slots);
    *pairs = (struct pairs){0};
}

/* ---- samples ---- */

enum { IPS, FIXED, BRANCHES, RUNS, KINDS };

struct as_samples {
    struct as_samples_options options;
    struct pairs raw[KINDS];
    as_samples_pairs placed[KINDS];
    struct pairs sticky; /* branches with how often they were the oldest, over all spaces */
    struct as_samples_counts counts;
    double weight, unplaced;
    bool of_branches;
};

struct as_samples *as_samples_new(const struct as_samples_options *options)
{
    struct as_samples *samples = as_alloc(sizeof *samples);
    if (options)
        samples->options = *options;
    return samples;
}

void as_samples_free(struct as_samples *samples)
{
    if (!samples)
        return;
    for (int i = 0; i < KINDS; i++) {
        clear(&samples->raw[i]);
        as_vec_free(&samples->placed[i]);
    }
    clear(&samples->sticky);
    free(samples);
}

void as_samples_are_branches(struct as_samples *samples)
{
    samples->of_branches = true;
}

bool as_samples_of_branches(const struct as_samples *samples)
{
    return samples->of_branches;
}

/* The address is that of the instruction behind the sampled one. If that was a taken branch, it is the newest of the
 * stack and the address is its target; otherwise it ends where the address begins (`back`). Control cannot come to the
 * target of the newest branch again without another one, so the two are never confused. */
static uint64_t fix_ip(const struct as_samples_one *one, bool *back)
{
    *back = one->branches[0].to != one->ip;
    return *back ? one->ip : one->branches[0].from;
}

/* Whether two entries in a row can be: what lies between them is executed forward. */
static bool is_run(struct as_samples *samples, uint64_t start, uint64_t end)
{
    enum { LONGEST = 1 << 16 }; /* bytes: no compiler makes more without a branch */
    if (samples->options.unordered || (end >= start && end - start <= LONGEST))
        return true;
    samples->counts.backward++;
    return false;
}

static size_t usable_entries(struct as_samples *samples, const struct as_samples_one *one, size_t *first)
{
    size_t n = one->n_branches;
    *first = 0;
    if (n >= 2 && one->branches[0].from == one->branches[1].from && one->branches[0].to == one->branches[1].to &&
        one->branches[0].to != one->branches[0].from) {
        /* A branch that is taken twice in a row goes round a loop of one block; written twice it cannot be. */
        bool loop = samples->options.unordered || one->branches[0].to <= one->branches[0].from;
        samples->counts.repeated += !loop;
        *first = !loop;
    }
    if (samples->options.drop_oldest && n > *first + 1) {
        samples->counts.oldest++;
        n--;
    }
    return n;
}

static void add_stack(struct as_samples *samples, const struct as_samples_one *one, uint64_t times)
{
    size_t first, n = usable_entries(samples, one, &first);
    double share = one->run_weight, part = one->run_weight;
    if (one->run_weight <= 0 && n > first) {
        part = one->weight / (double)(n - first);
        share = n > first + 1 ? one->weight / (double)(n - first - 1) : 0;
    }
    samples->counts.with_branches += times;
    for (size_t i = first; i < n; i++) {
        const struct as_samples_branch *branch = &one->branches[i];
        samples->counts.entries += times;
        if (!branch->from || !branch->to) {
            samples->counts.empty++;
            continue;
        }
        struct slot *slot = put_times(&samples->raw[BRANCHES], branch->from, branch->to, part, times);
        slot->mispredicted += branch->mispredicted ? times : 0;
        slot->oldest += i + 1 == n ? times : 0;
        if (i + 1 < n && one->branches[i + 1].to && is_run(samples, one->branches[i + 1].to, branch->from))
            put_times(&samples->raw[RUNS], one->branches[i + 1].to, branch->from, share, times);
    }
}

void as_samples_add(struct as_samples *samples, const struct as_samples_one *one)
{
    uint64_t times = one->times ? one->times : 1;
    samples->counts.samples += times;
    samples->weight += one->weight * (double)times;
    if (one->ip)
        put_times(&samples->raw[IPS], one->ip, 0, one->weight, times);
    if (one->ip && one->n_branches) {
        bool back;
        uint64_t fixed = fix_ip(one, &back);
        put_times(&samples->raw[FIXED], fixed, back, one->weight, times);
    }
    if (one->n_branches)
        add_stack(samples, one, times);
}

/* ---- places ---- */

struct placer {
    struct as_cfg *cfg;
    as_samples_place *place;
    void *context;
    struct as_map known; /* address to its index in `places` + 1 */
    AS_VEC(struct as_samples_pair) places;
};

static const struct as_samples_pair *place_of(struct placer *placer, uint64_t address)
{
    uint64_t *known = as_map_put(&placer->known, address);
    if (!*known) {
        struct as_samples_pair *place = as_vec_push(&placer->places);
        *place = (struct as_samples_pair){.module = AS_CFG_NONE};
        if (!placer->place(placer->context, address, placer->cfg, &place->module, &place->from))
            place->module = AS_CFG_NONE;
        *known = placer->places.len;
    }
    return &placer->places.data[*known - 1];
}

static void settle_kind(struct as_samples *samples, struct placer *placer, int kind)
{
    for (size_t i = 0; i < samples->raw[kind].cap; i++) {
        const struct slot *slot = &samples->raw[kind].slots[i];
        if (!slot->a)
            continue;
        struct as_samples_pair pair = *place_of(placer, slot->a);
        pair.weight = slot->weight;
        pair.count = slot->count;
        pair.mispredicted = slot->mispredicted;
        pair.to_module = AS_CFG_NONE;
        if (kind == FIXED && slot->b) /* the last byte of the instruction before */
            pair.from--;
        if (kind == IPS && pair.module == AS_CFG_NONE)
            samples->unplaced += slot->weight;
        if (kind == BRANCHES || kind == RUNS) {
            const struct as_samples_pair *to = place_of(placer, slot->b);
            pair.to_module = to->module;
            pair.to = to->from;
        }
        if (kind == BRANCHES) {
            struct slot *sum = put(&samples->sticky, slot->a, slot->b, 0);
            sum->count += slot->count - 1;
            sum->oldest += slot->oldest;
        }
        if (pair.module != AS_CFG_NONE)
            *as_vec_push(&samples->placed[kind]) = pair;
    }
    clear(&samples->raw[kind]);
}

void as_samples_settle(struct as_samples *samples, struct as_cfg *cfg, as_samples_place *place, void *context)
{
    struct placer placer = {.cfg = cfg, .place = place, .context = context};
    for (int i = 0; i < KINDS; i++)
        settle_kind(samples, &placer, i);
    as_map_free(&placer.known);
    as_vec_free(&placer.places);
}

static void move_counts(struct as_samples_counts *to, const struct as_samples_counts *from)
{
    for (size_t i = 0; i < sizeof *to / sizeof(uint64_t); i++) /* all members are counts */
        ((uint64_t *)to)[i] += ((const uint64_t *)from)[i];
}

void as_samples_move(struct as_samples *to, struct as_samples *from)
{
    for (int kind = 0; kind < KINDS; kind++) {
        for (size_t i = 0; i < from->placed[kind].len; i++)
            *as_vec_push(&to->placed[kind]) = from->placed[kind].data[i];
        as_vec_free(&from->placed[kind]);
    }
    for (size_t i = 0; i < from->sticky.cap; i++) {
        const struct slot *slot = &from->sticky.slots[i];
        if (!slot->a)
            continue;
        struct slot *sum = put(&to->sticky, slot->a, slot->b, 0);
        sum->count += slot->count - 1;
        sum->oldest += slot->oldest;
    }
    clear(&from->sticky);
    move_counts(&to->counts, &from->counts);
    to->weight += from->weight;
    to->unplaced += from->unplaced;
    from->counts = (struct as_samples_counts){0};
    from->weight = from->unplaced = 0;
}

const as_samples_pairs *as_samples_ips(const struct as_samples *samples)
{
    return &samples->placed[IPS];
}

const as_samples_pairs *as_samples_fixed_ips(const struct as_samples *samples)
{
    return &samples->placed[FIXED];
}

const as_samples_pairs *as_samples_branches(const struct as_samples *samples)
{
    return &samples->placed[BRANCHES];
}

const as_samples_pairs *as_samples_runs(const struct as_samples *samples)
{
    return &samples->placed[RUNS];
}

const struct as_samples_counts *as_samples_counted(const struct as_samples *samples)
{
    return &samples->counts;
}

double as_samples_unplaced(const struct as_samples *samples)
{
    return samples->weight > 0 ? samples->unplaced / samples->weight : 0;
}

/* Five standard deviations above its share, three times that share, and worth a word. */
size_t as_samples_sticky(const struct as_samples *samples, struct as_samples_sticky *list, size_t max)
{
    enum { LEAST = 30 }; /* fewer could be chance, whatever the spread says */
    uint64_t all = 0, oldest = 0;
    size_t n = 0;
    for (size_t i = 0; i < samples->sticky.cap; i++) {
        all += samples->sticky.slots[i].count;
        oldest += samples->sticky.slots[i].oldest;
    }
    for (size_t i = 0; i < samples->sticky.cap && n < max && oldest; i++) {
        const struct slot *slot = &samples->sticky.slots[i];
        double expected = (double)slot->count / (double)all, share = (double)slot->oldest / (double)oldest;
        double spread = sqrt(expected * (1 - expected) / (double)oldest);
        if (slot->a && slot->oldest >= LEAST && share > 0.01 && share > 3 * expected && share > expected + 5 * spread)
            list[n++] = (struct as_samples_sticky){slot->a, slot->b, share, expected};
    }
    return n;
}
