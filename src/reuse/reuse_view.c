/* See reuse_view.h. */
#include "reuse/reuse_view.h"

#include "base/random.h"
#include "reuse/huge.h"
#include "reuse/reuse_rules.h"

enum { LEAST_RECENT = 1 << 9, MOST_RECENT = 1 << 18 };

/* A touch comes to each of these, GAP touches after the one before, so that what a stage needs was asked for meanwhile. STEP touches
 * come to a stage together: more of them ask for more lines at once than a processor can wait for (24 misses of the L1 on Zen 4). */
enum stage { LEAF, HEAD, RECORD, ORDER, TAKE, PAIR, STAGES };
enum { STEP = 4, GAP = 8, RING = 64 /* a power of two, more than the touches under way */ };
_Static_assert(RING > STAGES * GAP + STEP, "a place of the ring is in use once");

/* A reuse whose pair is not counted yet. */
struct paired {
    uint32_t use, reuse;
    uint32_t place; /* where the pair should stand; NO_PAIR: it is no reuse */
    uint8_t octave;
    bool spatial, false_sharing, conflict;
    uint8_t beyond; /* a bit for each level */
};
enum { NO_PAIR = UINT32_MAX };

struct line {
    char **leaves[RING];
    struct as_use *uses[RING];
    struct paired pairs[RING];
};

static void make_recent(struct as_reuse_view *view, uint32_t n)
{
    free(view->recent);
    view->n_recent = n;
    view->recent = as_alloc_array(n, sizeof *view->recent);
}

void as_reuse_view_init(struct as_reuse_view *view, const struct as_reuse_shape *shape, bool shared,
                        enum as_reuse_level first, enum as_reuse_level last)
{
    memset(view, 0, sizeof *view);
    view->shape = shape;
    view->shared = shared;
    as_lru_stack_init(&view->stack);
    view->stack.distinct = shape->distinct;
    view->parts = shape->sampled ? as_alloc(sizeof *view->parts) : NULL;
    as_granules_init(&view->misses, sizeof(struct as_reuse_misses));
    for (int level = first; level <= (int)last; level++)
        as_lru_cache_init(&view->caches[level], &shape->levels[level]);
}

void as_reuse_view_free(struct as_reuse_view *view)
{
    as_lru_stack_free(&view->stack);
    as_granules_free(&view->misses);
    for (int level = 0; level < AS_REUSE_LEVELS; level++)
        as_lru_cache_free(&view->caches[level]);
    as_reuse_codes_free(view);
    as_reuse_pairs_free(view);
    free(view->parts);
    as_vec_free(&view->working_set);
}

uint64_t as_reuse_view_bytes(const struct as_reuse_view *view)
{
    return sizeof *view + as_lru_stack_bytes(&view->stack) + as_granules_bytes(&view->misses) +
           view->codes.len * sizeof *view->codes.data + view->pairs.len * sizeof *view->pairs.data;
}

/* ---- codes and pairs ---- */

static __attribute__((noinline)) void add_codes(struct as_reuse_view *view, size_t len)
{
    enum { FIRST = 1 << 10 };
    size_t cap = view->codes.cap ? view->codes.cap : FIRST, size = sizeof *view->codes.data;
    while (cap < len)
        cap *= 2;
    if (cap > view->codes.cap)
        view->codes.data = as_sparse_grow(view->codes.data, view->codes.cap * size, cap * size);
    view->codes.cap = cap;
    view->codes.len = len;
}

void as_reuse_codes_free(struct as_reuse_view *view)
{
    as_sparse_free(view->codes.data, view->codes.cap * sizeof *view->codes.data);
    view->codes.data = NULL;
    view->codes.len = view->codes.cap = 0;
}

void as_reuse_codes_move(struct as_reuse_view *into, struct as_reuse_view *from)
{
    as_reuse_codes_free(into);
    memcpy(&into->codes, &from->codes, sizeof into->codes);
    memset(&from->codes, 0, sizeof from->codes);
}

static AS_FAST_PART struct as_reuse_code *code_of(struct as_reuse_view *view, uint32_t code)
{
    if (__builtin_expect(code >= view->codes.len, 0))
        add_codes(view, (size_t)code + 1);
    return &view->codes.data[code];
}

struct as_reuse_code *as_reuse_code_of(struct as_reuse_view *view, uint32_t code)
{
    return code_of(view, code);
}

/* An entry of `recent` is the place of a pair + 1, and a part of the pair's hash above it. */
enum { PLACE_BITS = 19, INDEX_SHIFT = 40 };
_Static_assert(AS_REUSE_PAIRS + 1 < 1 << PLACE_BITS, "places + 1 fit");

static AS_FAST_PART uint64_t hash_of(uint32_t use, uint32_t reuse)
{
    return ((uint64_t)use << 32 | reuse) * AS_RANDOM_STEP;
}

static AS_FAST_PART uint32_t *recent_of(struct as_reuse_view *view, uint64_t hash)
{
    return &view->recent[hash >> INDEX_SHIFT & (view->n_recent - 1)];
}

static AS_FAST_PART uint32_t mark_of(uint64_t hash)
{
    return (uint32_t)(hash >> 8) >> PLACE_BITS << PLACE_BITS;
}

/* A pair whose place is taken may stand in the place beside it: with one place each, a fifth of all pairs would be looked up in the map. */
static AS_FAST_PART uint32_t *beside(const struct as_reuse_view *view, const uint32_t *recent)
{
    return &view->recent[(size_t)(recent - view->recent) ^ 1];
}

/* Pairs stand on lines of the host: as_vec_push would move them elsewhere. */
static void grow_pairs(struct as_reuse_view *view)
{
    size_t cap = view->pairs.cap ? 2 * view->pairs.cap : 16;
    struct as_reuse_pair *pairs = as_alloc_apart(cap, sizeof *pairs);
    if (view->pairs.len)
        memcpy(pairs, view->pairs.data, view->pairs.len * sizeof *pairs);
    free(view->pairs.data);
    view->pairs.data = pairs;
    view->pairs.cap = cap;
}

/* Before the first pair is looked for. */
static AS_FAST_PART void begin_pairs(struct as_reuse_view *view)
{
    if (__builtin_expect(view->recent != NULL, 1))
        return;
    make_recent(view, LEAST_RECENT);
    grow_pairs(view);
}

void as_reuse_pairs_free(struct as_reuse_view *view)
{
    as_vec_free(&view->pairs);
    as_map_free(&view->pair_index);
    free(view->recent);
    view->recent = NULL;
    view->n_recent = 0;
}

void as_reuse_pairs_move(struct as_reuse_view *into, struct as_reuse_view *from)
{
    as_reuse_pairs_free(into);
    memcpy(&into->pairs, &from->pairs, sizeof into->pairs);
    into->pair_index = from->pair_index;
    into->recent = from->recent;
    into->n_recent = from->n_recent;
    memset(&from->pairs, 0, sizeof from->pairs);
    from->pair_index = (struct as_map){0};
    from->recent = NULL;
    from->n_recent = 0;
}

static void add_pair(struct as_reuse_view *view, uint32_t use, uint32_t reuse)
{
    if (view->pairs.len == view->pairs.cap)
        grow_pairs(view);
    view->pairs.data[view->pairs.len++] = (struct as_reuse_pair){.use = use, .reuse = reuse};
}

static struct as_reuse_pair *find_pair(struct as_reuse_view *view, uint32_t use, uint32_t reuse);

/* Whether a side of a pair is on one path of several. */
static bool is_on_path(const struct as_reuse_view *view, uint32_t code)
{
    return code < view->shape->n_insns;
}

static uint32_t on_any_path(const struct as_reuse_view *view, uint32_t code)
{
    return is_on_path(view, code) ? AS_REUSE_ON_ANY_PATH | view->shape->insns[code] : code;
}

/* There is no place for another such pair: the one that it counts in. */
static struct as_reuse_pair *find_wider(struct as_reuse_view *view, uint32_t use, uint32_t reuse)
{
    if (is_on_path(view, use) || is_on_path(view, reuse))
        return find_pair(view, on_any_path(view, use), on_any_path(view, reuse));
    return find_pair(view, AS_REUSE_NO_CODE, AS_REUSE_NO_CODE);
}

static bool is_full_for(const struct as_reuse_view *view, uint32_t use, uint32_t reuse)
{
    bool on_path = is_on_path(view, use) || is_on_path(view, reuse);
    return use != AS_REUSE_NO_CODE && view->pairs.len >= (on_path ? AS_REUSE_PATH_PAIRS : AS_REUSE_PAIRS);
}

static __attribute__((noinline)) struct as_reuse_pair *find_pair(struct as_reuse_view *view, uint32_t use,
                                                                 uint32_t reuse)
{
    uint64_t key = (uint64_t)use << 32 | reuse, hash = hash_of(use, reuse);
    uint64_t *place = as_map_get(&view->pair_index, key);
    if (!place && is_full_for(view, use, reuse))
        return find_wider(view, use, reuse);
    place = place ? place : as_map_put(&view->pair_index, key);
    if (!*place) {
        add_pair(view, use, reuse);
        *place = view->pairs.len;
        if (view->pairs.len * 4 > view->n_recent && view->n_recent < MOST_RECENT)
            make_recent(view, view->n_recent * 4);
    }
    uint32_t *recent = recent_of(view, hash);
    *beside(view, recent) = *recent;
    *recent = mark_of(hash) | (uint32_t)*place;
    return &view->pairs.data[*place - 1];
}

/* Where the pair stands, as far as a part of its hash tells; 0 where that is not known. */
static AS_FAST_PART uint32_t guess_place(struct as_reuse_view *view, uint32_t use, uint32_t reuse)
{
    uint64_t hash = hash_of(use, reuse);
    const uint32_t *recent = recent_of(view, hash);
    uint32_t first = *recent ^ mark_of(hash), second = *beside(view, recent) ^ mark_of(hash);
    uint32_t place = first >> PLACE_BITS ? second : first;
    return place >> PLACE_BITS || !place ? 0 : place - 1;
}

static AS_FAST_PART struct as_reuse_pair *pair_at(struct as_reuse_view *view, uint32_t place, uint32_t use,
                                                  uint32_t reuse)
{
    struct as_reuse_pair *pair = &view->pairs.data[place];
    bool right = place < view->pairs.len && pair->use == use && pair->reuse == reuse;
    return __builtin_expect(right, 1) ? pair : find_pair(view, use, reuse);
}

struct as_reuse_pair *as_reuse_pair_of(struct as_reuse_view *view, uint32_t use, uint32_t reuse)
{
    begin_pairs(view);
    return pair_at(view, guess_place(view, use, reuse), use, reuse);
}

static AS_FAST_PART uint8_t levels_beyond(const struct as_reuse_view *view, uint32_t distance)
{
    uint8_t beyond = 0;
#pragma GCC unroll 3
    for (int level = 0; level < AS_REUSE_LEVELS; level++)
        beyond |= (uint8_t)((distance >= view->shape->levels[level].lines) << level);
    return beyond;
}

/* Which pair it is, and soon it is counted. */
static AS_FAST_PART void find_paired(struct as_reuse_view *view, const struct as_touch *touch,
                                     const struct as_touched *touched, struct paired *paired)
{
    paired->use = touched->last.code;
    paired->reuse = touch->code;
    paired->octave = (uint8_t)as_distance_octave(touched->distance);
    paired->place = guess_place(view, paired->use, paired->reuse);
    const struct as_reuse_pair *pair = &view->pairs.data[paired->place];
    __builtin_prefetch(pair, 1);
    __builtin_prefetch(&pair->octaves[paired->octave], 1);
}

static AS_FAST_PART void count_pairs(struct as_reuse_view *view, const struct paired *paired, uint64_t weight)
{
    if (paired->place == NO_PAIR)
        return;
    struct as_reuse_pair *pair = pair_at(view, paired->place, paired->use, paired->reuse);
    pair->count += weight;
    pair->spatial += paired->spatial * weight;
    pair->octaves[paired->octave] += weight;
#pragma GCC unroll 3
    for (int level = 0; level < AS_REUSE_LEVELS; level++)
        pair->beyond[level] += (paired->beyond >> level & 1) * weight;
    pair->conflicts += paired->conflict * weight;
    pair->spatial_beyond += (paired->spatial & paired->beyond >> AS_REUSE_L1 & 1) * weight;
    if (paired->false_sharing)
        pair->false_sharing += weight;
}

/* ---- the caches of the machine ---- */

static enum as_miss_cause cause_of(const struct as_reuse_view *view, const struct as_touched *touched, int level)
{
    if (touched->kind == AS_TOUCH_COLD)
        return AS_MISS_COLD;
    if (touched->kind == AS_TOUCH_INVALIDATED)
        return AS_MISS_COHERENCE;
    return touched->distance >= view->shape->levels[level].lines ? AS_MISS_CAPACITY : AS_MISS_CONFLICT;
}

/* Members of structures lie at few places of a line, again and again. */
static void follow_bytes(struct as_reuse_code *code, uint64_t bytes)
{
    bool known = false;
    for (int i = 0; i < AS_REUSE_ALIKE; i++)
        known |= code->last_bytes[i] == bytes;
    code->alike += known;
    code->last_bytes[code->fetched % AS_REUSE_ALIKE] = bytes;
}

/* A line leaves the L1. */
static void count_fetched(struct as_reuse_view *view, const struct as_cached_line *line)
{
    if (!line->key)
        return;
    struct as_reuse_misses *misses = as_granules_put(&view->misses, line->key - 1);
    struct as_reuse_code *code = as_reuse_code_of(view, line->code);
    uint32_t bytes = (uint32_t)__builtin_popcountll(line->bytes);
    view->fetched++;
    view->fetched_bytes += bytes;
    code->fetched++;
    code->fetched_bytes += bytes;
    misses->fetched_bytes += bytes;
    code->again += misses->last != 0;
    code->moved += misses->last && !(misses->last & line->bytes);
    misses->used |= line->bytes;
    follow_bytes(code, line->bytes);
    misses->last = line->bytes;
}

static uint64_t bytes_of(const struct as_reuse_view *view, const struct as_touch *touch)
{
    uint32_t scale = view->shape->shift > 6 ? view->shape->shift - 6 : 0;
    uint32_t first = touch->offset >> scale, last = ((uint32_t)touch->offset + touch->bytes - 1) >> scale;
    return (last - first >= 63 ? UINT64_MAX : (UINT64_C(1) << (last - first + 1)) - 1) << first;
}

static void follow_steps(struct as_reuse_code *code, uint64_t key, enum as_miss_cause cause)
{
    enum { FEW_SETS = 4 };
    int64_t step = (int64_t)(key - code->last_missed);
    bool steady = step && step == code->last_step;
    code->steady += steady;
    code->folded += steady && cause == AS_MISS_CONFLICT && step % FEW_SETS == 0;
    code->last_missed = key;
    code->last_step = step;
}

static void count_miss(struct as_reuse_view *view, const struct as_touch *touch, const struct as_touched *touched,
                       int level)
{
    enum as_miss_cause cause = cause_of(view, touched, level);
    view->missed[level][cause]++;
    struct as_reuse_code *code = as_reuse_code_of(view, touch->code);
    code->misses[level][cause]++;
    if (level == AS_REUSE_L1)
        follow_steps(code, touch->key, cause);
    if (level != AS_REUSE_L1 && level != AS_REUSE_LLC)
        return;
    struct as_reuse_misses *misses = as_granules_put(&view->misses, touch->key);
    if (level == AS_REUSE_LLC) {
        misses->llc++;
        return;
    }
    misses->misses[cause]++;
    misses->far_octaves += touched->kind == AS_TOUCH_REUSE ? as_distance_octave(touched->distance) : 0;
}

/* From the first level that the view simulates down, until one has the line. Returns whether the L1 is simulated, and has it not. */
static bool look_up(struct as_reuse_view *view, struct as_touch *touch, const struct as_touched *touched)
{
    for (int level = 0; level < AS_REUSE_LEVELS; level++) {
        struct as_cached_line out = {0};
        struct as_lru_cache *cache = &view->caches[level];
        if (!cache->lines)
            continue;
        view->looked_up[level]++;
        if (as_lru_cache_access(cache, touch->key, touch->code, level == AS_REUSE_L1 ? bytes_of(view, touch) : 0, &out))
            return level != AS_REUSE_L1 && view->caches[AS_REUSE_L1].lines;
        if (level == AS_REUSE_L1)
            count_fetched(view, &out);
        count_miss(view, touch, touched, level);
    }
    touch->missed = 1;
    return view->caches[AS_REUSE_L1].lines;
}

void as_reuse_view_invalidate(struct as_reuse_view *view, uint64_t key)
{
    if (!as_lru_stack_invalidate(&view->stack, key))
        return;
    view->counts.invalidations += UINT64_C(1) << view->scale;
    for (int level = 0; level < AS_REUSE_LEVELS; level++) {
        struct as_cached_line out;
        if (!view->caches[level].lines)
            continue;
        as_lru_cache_drop(&view->caches[level], key, &out);
        if (level == AS_REUSE_L1)
            count_fetched(view, &out);
    }
}

/* ---- touches ---- */

static void end_interval(struct as_reuse_view *view)
{
    *as_vec_push(&view->working_set) = view->interval_granules;
    view->interval_granules = 0;
    view->interval_start = view->now;
}

/* `n` reuses that are alike. `plain` is a constant: all lines of a thread are seen, so each counts once and nobody else's are
 * there. */
static AS_FAST_PART void count_reuses(struct as_reuse_view *view, uint32_t thread, const struct as_touch *touch,
                                      const struct as_touched *touched, uint8_t beyond, uint64_t n, bool plain,
                                      struct paired *paired)
{
    bool spatial = touched->last.offset != touch->offset, first_writes = touched->last.write;
    enum as_reuse_relation relation =
        plain || touched->last.thread == thread ? AS_REUSE_SAME_CORE : AS_REUSE_SAME_SOCKET;
    enum as_reuse_outcome outcome = !plain && view->shared ? as_reuse_in_cache(first_writes, touch->write, relation)
                                                           : as_reuse_in_thread(first_writes, touch->write, relation);
    uint64_t weight = plain ? n : n << view->scale;
    if (!plain && view->shared)
        as_distances_add(&view->all, touched->distance, weight);
    if (outcome != AS_REUSE_REUSE) {
        view->counts.other += weight;
        return;
    }
    view->counts.reuses += weight;
    view->counts.temporal += !spatial * weight;
    bool false_sharing = as_reuse_is_false_sharing(first_writes, spatial, relation);
    view->counts.false_sharing += false_sharing * weight;
    as_distances_add(&view->distances, touched->distance, weight);
    if (plain || !view->shape->sampled)
        as_distances_add(&view->times, touched->time, n);
    find_paired(view, touch, touched, paired);
    paired->spatial = spatial;
    paired->false_sharing = false_sharing;
    paired->beyond = beyond;
}

static void count_part(struct as_sample_parts *parts, uint64_t key, const struct as_touched *touched, uint32_t scale)
{
    uint64_t weight = UINT64_C(1) << scale;
    uint32_t part = as_sample_part(key);
    if (touched->kind == AS_TOUCH_REUSE)
        as_distances_add(&parts->hits[part], touched->distance, weight);
    else
        parts->missed[part] += weight;
    if (touched->kind != AS_TOUCH_COLD)
        return;
    parts->lines[part] += weight;
    as_sample_parts_line(parts, as_reuse_hash(key), scale);
}

static AS_FAST_PART void take(struct as_reuse_view *view, uint32_t thread, struct as_touch *touch, struct as_use *use,
                              bool plain, struct paired *paired)
{
    if (touch->first) {
        if (view->now - view->interval_start == view->shape->interval)
            end_interval(view);
        view->now++;
    }
    struct as_touched touched;
    as_lru_stack_touch(&view->stack, use, touch, thread & 0xfff, view->now - 1, &touched);
    uint64_t weight = plain ? 1 : UINT64_C(1) << view->scale;
    touched.distance <<= plain ? 0 : view->scale;
    view->counts.touches += weight;
    view->interval_granules += touched.kind == AS_TOUCH_COLD || touched.last.time < view->interval_start;
    uint8_t beyond = touched.kind == AS_TOUCH_REUSE ? levels_beyond(view, touched.distance) : UINT8_MAX;
#pragma GCC unroll 3
    for (int level = 0; level < AS_REUSE_LEVELS; level++)
        view->beyond[level] += (beyond >> level & 1) * weight;
    if (touched.kind == AS_TOUCH_REUSE)
        count_reuses(view, thread & 0xfff, touch, &touched, beyond, 1, plain, paired);
    else if (touched.kind == AS_TOUCH_COLD)
        view->counts.cold += weight;
    else
        view->counts.after_invalidation += weight;
    if (!plain && view->parts)
        count_part(view->parts, touch->key, &touched, view->scale);
    if (view->shape->levels[AS_REUSE_L1].lines &&
        (plain || (!view->shape->sampled && (!view->shared || touch->missed))))
        paired->conflict = look_up(view, touch, &touched) && !(beyond >> AS_REUSE_L1 & 1);
    if (plain || !view->shared)
        code_of(view, touch->code)->touches += weight;
}

/* So many accesses to a granule that the interval has. */
static void pass_time(struct as_reuse_view *view, uint64_t n)
{
    while (n) {
        uint64_t since = view->now - view->interval_start, interval = view->shape->interval;
        if (since == interval) {
            end_interval(view);
            view->interval_granules++;
            since = 0;
        }
        uint64_t left = interval > since ? interval - since : n, part = n < left ? n : left;
        view->now += part;
        n -= part;
    }
}

/* What the touches of 0 bytes stand for (as_touch): each is a spatial reuse of the one before it, with nothing in between. */
static __attribute__((noinline)) void take_others(struct as_reuse_view *view, uint32_t thread,
                                                  const struct as_touch *touch, struct as_use *use)
{
    const struct as_touch *one = touch - 1;
    uint64_t n = touch->code, weight = n << view->scale;
    struct as_touched touched = {.kind = AS_TOUCH_REUSE, .last = *use};
    uint8_t beyond = levels_beyond(view, 0);
    touched.last.offset = touch->offset; /* not that of `one`: spatial */
    pass_time(view, n);
    use->time = view->now - 1;
    use->offset = touch->offset;
    view->counts.touches += weight;
    for (int level = 0; level < AS_REUSE_LEVELS; level++)
        view->beyond[level] += (beyond >> level & 1) * weight;
    struct paired paired = {.place = NO_PAIR};
    count_reuses(view, thread, one, &touched, beyond, n, false, &paired);
    count_pairs(view, &paired, weight);
    if (view->shared)
        return;
    code_of(view, one->code)->touches += weight;
    if (!view->caches[AS_REUSE_L1].lines || view->shape->sampled)
        return;
    struct as_touch all = *one; /* the cache has the granule from the first one */
    struct as_cached_line out = {0};
    all.bytes = (uint16_t)(touch->offset + one->bytes - one->offset);
    view->looked_up[AS_REUSE_L1] += n;
    as_lru_cache_access(&view->caches[AS_REUSE_L1], touch->key, one->code, bytes_of(view, &all), &out);
}

/* `paired` is the touch's, if it is a reuse. */
static AS_FAST_PART void take_or_invalidate(struct as_reuse_view *view, uint32_t thread, struct as_touch *touch,
                                            struct as_use *use, bool plain, struct paired *paired)
{
    paired->place = NO_PAIR;
    paired->conflict = false;
    if (__builtin_expect(touch->bytes != 0, 1))
        take(view, thread, touch, use, plain, paired);
    else if (!touch->invalidate)
        take_others(view, thread & 0xfff, touch, use);
    else if (!view->shared)
        as_reuse_view_invalidate(view, touch->key);
}

/* The places of leaves of touches first to end. Where a list of leaves grew, those of touches that still need theirs may have moved. */
static AS_FAST_PART void find_leaves(struct as_granules *granules, const struct as_touch *touches, size_t first,
                                     size_t end, struct line *line)
{
    uint64_t moves = granules->moves;
    for (size_t i = first; i < end; i++)
        __builtin_prefetch(line->leaves[i % RING] = as_granules_leaf(granules, touches[i].key));
    if (__builtin_expect(granules->moves == moves, 1))
        return;
    for (size_t i = first < TAKE * GAP ? 0 : first - TAKE * GAP; i < end; i++)
        line->leaves[i % RING] = as_granules_leaf(granules, touches[i].key);
}

/* The records of touches first to end. Where a leaf grew, those of touches that are not taken yet may have moved as well. */
static AS_FAST_PART void find_records(struct as_granules *granules, const struct as_touch *touches, size_t first,
                                      size_t end, struct line *line)
{
    uint64_t moves = granules->moves;
    for (size_t i = first; i < end; i++)
        __builtin_prefetch(line->uses[i % RING] = as_granules_put_in(granules, line->leaves[i % RING], touches[i].key),
                           1);
    if (__builtin_expect(granules->moves == moves, 1))
        return;
    for (size_t i = first < (TAKE - RECORD) * GAP ? 0 : first - (TAKE - RECORD) * GAP; i < end; i++)
        line->uses[i % RING] = as_granules_put_in(granules, line->leaves[i % RING], touches[i].key);
}

/* Touches first to end come to a stage. */
static AS_FAST_PART void pass(struct as_reuse_view *view, uint32_t thread, struct as_touch *touches, size_t first,
                              size_t end, enum stage stage, bool plain, struct line *line)
{
    struct as_granules *granules = &view->stack.uses;
    switch (stage) {
    case LEAF:
        find_leaves(granules, touches, first, end, line);
        break;
    case HEAD:
        for (size_t i = first; i < end; i++)
            __builtin_prefetch(as_granules_head(granules, line->leaves[i % RING], touches[i].key), 1);
        break;
    case RECORD:
        find_records(granules, touches, first, end, line);
        break;
    case ORDER:
        for (size_t i = first; i < end; i++) {
            as_slot_order_prefetch(&view->stack.order, line->uses[i % RING]->slot);
            __builtin_prefetch(recent_of(view, hash_of(line->uses[i % RING]->code, touches[i].code)));
        }
        break;
    case TAKE:
        for (size_t i = first; i < end; i++)
            take_or_invalidate(view, thread, &touches[i], line->uses[i % RING], plain, &line->pairs[i % RING]);
        break;
    default:
        for (size_t i = first; i < end; i++)
            count_pairs(view, &line->pairs[i % RING], plain ? 1 : UINT64_C(1) << view->scale);
    }
}

/* A touch needs its place in a table, its record, its place in the order of slots and its pair, each known by the one
 * before. All are asked for ahead of time. */
static AS_FAST_PART void run_stages(struct as_reuse_view *view, uint32_t thread, struct as_touch *touches, size_t n,
                                    bool plain)
{
    struct line line;
    for (size_t at = 0; at < n + (STAGES - 1) * GAP; at += STEP)
#pragma GCC unroll 6
        for (enum stage stage = LEAF; stage < STAGES; stage++) {
            size_t first = at - (size_t)stage * GAP;
            if (first < n) /* it wraps to a large number before the first touch */
                pass(view, thread, touches, first, n - first < STEP ? n : first + STEP, stage, plain, &line);
        }
}

AS_FAST static void run_plain(struct as_reuse_view *view, uint32_t thread, struct as_touch *touches, size_t n)
{
    run_stages(view, thread, touches, n, true);
}

AS_FAST static void run_other(struct as_reuse_view *view, uint32_t thread, struct as_touch *touches, size_t n)
{
    run_stages(view, thread, touches, n, false);
}

void as_reuse_view_run(struct as_reuse_view *view, uint32_t thread, struct as_touch *touches, size_t n)
{
    begin_pairs(view);
    if (view->shared || view->shape->sampled || view->scale)
        run_other(view, thread, touches, n);
    else
        run_plain(view, thread, touches, n);
}

struct thinning {
    struct as_reuse_view *view;
    uint64_t threshold;
};

static void thin_leaf(void *context, uint64_t first, void *records, size_t n)
{
    const struct thinning *thinning = context;
    struct as_use *uses = records;
    struct as_reuse_view *view = thinning->view;
    for (uint64_t i = 0; i < n; i++)
        if (uses[i].slot && as_reuse_hash(first + i) > thinning->threshold)
            as_lru_stack_forget(&view->stack, &uses[i]);
        else if (uses[i].slot && view->parts)
            as_sample_parts_line(view->parts, as_reuse_hash(first + i), view->scale);
}

void as_reuse_view_thin(struct as_reuse_view *view, uint64_t threshold, uint32_t scale)
{
    struct thinning thinning = {.view = view, .threshold = threshold};
    view->scale = scale;
    if (view->parts)
        memset(view->parts->pieces, 0, sizeof view->parts->pieces);
    as_granules_each(&view->stack.uses, thin_leaf, &thinning);
}

/* What is still in the L1 was brought as well. */
static void empty_l1(struct as_reuse_view *view)
{
    struct as_lru_cache *cache = &view->caches[AS_REUSE_L1];
    for (uint64_t i = 0; cache->lines && i < cache->sets * cache->ways; i++)
        count_fetched(view, &cache->lines[i]);
    as_lru_cache_free(cache);
}

static int by_codes(const void *a, const void *b)
{
    const struct as_reuse_pair *left = a, *right = b;
    if (left->use != right->use)
        return left->use < right->use ? -1 : 1;
    return left->reuse < right->reuse ? -1 : left->reuse > right->reuse;
}

/* Which of two pairs was found first depends on how many touches came together. */
static void sort_pairs(struct as_reuse_view *view)
{
    if (!view->pairs.len)
        return;
    qsort(view->pairs.data, view->pairs.len, sizeof *view->pairs.data, by_codes);
    for (size_t i = 0; i < view->pairs.len; i++)
        *as_map_put(&view->pair_index, (uint64_t)view->pairs.data[i].use << 32 | view->pairs.data[i].reuse) = i + 1;
    make_recent(view, view->n_recent);
}

void as_reuse_view_end(struct as_reuse_view *view)
{
    sort_pairs(view);
    empty_l1(view);
    if (view->now > view->interval_start)
        end_interval(view);
    view->counts.accesses = view->now;
}
