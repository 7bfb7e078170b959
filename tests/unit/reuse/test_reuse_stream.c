/* The whole analysis against a plain one that keeps every access of a random stream of several threads, sockets and
 * processes, at every granularity and with any number of host threads. */
#include "unit.h"

#include "base/random.h"
#include "reuse/reuse.h"
#include "reuse/reuse_rules.h"

#include <stdlib.h>

enum { THREADS = 5, ACCESSES = 6000, TURN = 7 };

struct one {
    struct as_data_access access;
    uint32_t thread, process;
};

/* Threads 1 to 4 are of process 1, thread 5 of process 2 (thread 1 is alone for a while). Every third turn is that of an instruction which
 * steps through memory, as repeated ones do. */
static void make_stream(struct one *stream, uint64_t seed)
{
    uint32_t thread = 1;
    bool steps = false;
    for (int i = 0; i < ACCESSES; i++) {
        if (i % TURN == 0)
            thread = i < 500 ? 1 : 1 + (uint32_t)as_random_below(&seed, THREADS);
        uint64_t range = as_random_below(&seed, 8) ? 300 : 6000, address = 0x10000 + as_random_below(&seed, range) * 4;
        uint64_t kind = as_random_below(&seed, 20);
        stream[i] = (struct one){.access = {.address = address + (kind == 7 ? 3 : 0),
                                            .insn = (uint32_t)as_random_below(&seed, 30),
                                            .size = kind == 8 ? 200 : 4,
                                            .kind = kind == 9    ? AS_ACCESS_PREFETCH
                                                    : kind < 4   ? AS_ACCESS_STORE
                                                    : kind == 10 ? AS_ACCESS_LOAD | AS_ACCESS_STORE
                                                                 : AS_ACCESS_LOAD},
                                 .thread = thread,
                                 .process = thread == 5 ? 2 : 1};
        if (i % TURN && steps) {
            stream[i] = stream[i - 1];
            stream[i].access.address += stream[i].access.size;
        }
        if (i % TURN == 0 && (steps = as_random_below(&seed, 3) == 0))
            stream[i].access.size = 1u << as_random_below(&seed, 4);
    }
}

static struct as_reuse *analyse_by(const struct one *stream, const struct as_reuse_options *options, int length)
{
    struct as_reuse *reuse = as_reuse_new(options);
    for (int i = 0; i < ACCESSES; i += length) {
        struct as_data_access accesses[TURN];
        uint32_t n = 0;
        for (; (int)n < length && i + (int)n < ACCESSES; n++)
            accesses[n] = stream[i + (int)n].access;
        struct as_access_turn turn = {.thread = stream[i].thread, .process = stream[i].process, .end = n};
        struct as_access_batch batch = {.n = n, .n_turns = 1, .accesses = accesses, .turns = &turn};
        as_reuse_observer.accesses(reuse, &batch);
    }
    as_reuse_observer.finish(reuse, NULL);
    return reuse;
}

static struct as_reuse *analyse(const struct one *stream, const struct as_reuse_options *options)
{
    return analyse_by(stream, options, TURN);
}

/* ---- the plain analysis: for each granule its last use by each thread and by each socket ---- */

struct last {
    bool there, ever, write;
    uint64_t time, offset;
    uint32_t thread;
};
enum { MOST_GRANULES = 1 << 17, BASE = 0xf000 };
static struct last by_thread[THREADS + 1][MOST_GRANULES], by_socket[3][MOST_GRANULES];

struct sums {
    uint64_t touches, cold, after, reuses, other, invalidations, time_sum, temporal, false_sharing;
};

static void plain_touch(struct sums *sums, struct last *last, uint32_t thread, uint64_t now, bool write, bool shared,
                        uint64_t offset)
{
    sums->touches++;
    sums->cold += !last->ever;
    sums->after += last->ever && !last->there;
    if (last->there) {
        enum as_reuse_relation relation = last->thread == thread ? AS_REUSE_SAME_CORE : AS_REUSE_SAME_SOCKET;
        bool reuse = (shared ? as_reuse_in_cache : as_reuse_in_thread)(last->write, write, relation) == AS_REUSE_REUSE;
        sums->reuses += reuse;
        sums->other += !reuse;
        sums->time_sum += reuse ? now - last->time - 1 : 0;
        sums->temporal += reuse && offset == last->offset;
        sums->false_sharing += reuse && offset != last->offset && last->write && last->thread != thread;
    }
    *last = (struct last){.there = true, .ever = true, .write = write, .time = now, .offset = offset, .thread = thread};
}

static void plain_invalidate(struct sums *sums, struct last *last)
{
    sums->invalidations += last->there;
    last->there = false;
}

static struct sums thread_sums[THREADS + 1], socket_sums[3];
static uint32_t place[THREADS + 1], places; /* of a thread of process 1, from 1 in order of appearance */

static uint32_t socket_of(uint32_t thread, uint32_t sockets)
{
    if (thread == 5)
        return 0; /* the only one of its process */
    if (!place[thread])
        place[thread] = ++places;
    return (place[thread] - 1) % sockets;
}

static void plain_access(const struct one *one, uint64_t granule, const uint64_t *thread_now,
                         const uint64_t *socket_now, uint32_t sockets, uint64_t offset)
{
    uint32_t socket = socket_of(one->thread, sockets);
    bool write = one->access.kind & AS_ACCESS_STORE;
    /* Process 2 has granules of its own in the same sockets. */
    uint64_t own = granule + (one->process == 2 ? MOST_GRANULES / 2 : 0);
    plain_touch(&thread_sums[one->thread], &by_thread[one->thread][own], one->thread, thread_now[one->thread], write,
                false, offset);
    plain_touch(&socket_sums[socket], &by_socket[socket][own], one->thread, socket_now[socket], write, true, offset);
    for (uint32_t other = 1; write && other <= THREADS; other++)
        if (other != one->thread)
            plain_invalidate(&thread_sums[other], &by_thread[other][own]);
    for (uint32_t other = 0; write && other < sockets; other++)
        if (other != socket)
            plain_invalidate(&socket_sums[other], &by_socket[other][own]);
}

static void plain(const struct one *stream, uint32_t shift, uint32_t sockets)
{
    uint64_t thread_now[THREADS + 1] = {0}, socket_now[3] = {0};
    memset(place, 0, sizeof place);
    places = 0;
    memset(by_thread, 0, sizeof by_thread);
    memset(by_socket, 0, sizeof by_socket);
    memset(thread_sums, 0, sizeof thread_sums);
    memset(socket_sums, 0, sizeof socket_sums);
    for (int i = 0; i < ACCESSES; i++) {
        const struct as_data_access *access = &stream[i].access;
        if (access->kind == AS_ACCESS_PREFETCH)
            continue;
        uint64_t base = BASE >> shift, first = access->address >> shift,
                 last = (access->address + access->size - 1) >> shift;
        for (uint64_t granule = first; granule <= last; granule++)
            plain_access(&stream[i], granule - base, thread_now, socket_now, sockets,
                         granule == first ? access->address - (first << shift) : 0);
        thread_now[stream[i].thread]++;
        socket_now[socket_of(stream[i].thread, sockets)]++;
    }
}

/* ---- comparison ---- */

static uint64_t times_low(const struct as_distances *times)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < AS_DISTANCE_BINS; i++)
        sum += times->bins[i] * as_distance_low(i);
    return sum;
}

static void same_counts(const struct as_reuse_view *view, const struct sums *sums)
{
    assert_int_equal(view->counts.touches, sums->touches);
    assert_int_equal(view->counts.cold, sums->cold);
    assert_int_equal(view->counts.after_invalidation, sums->after);
    assert_int_equal(view->counts.reuses, sums->reuses);
    assert_int_equal(view->counts.other, sums->other);
    assert_int_equal(view->counts.invalidations, sums->invalidations);
    assert_int_equal(view->counts.temporal, sums->temporal);
    assert_int_equal(view->counts.false_sharing, sums->false_sharing);
    /* every touch is exactly one of these */
    assert_int_equal(view->counts.touches, sums->cold + sums->after + sums->reuses + sums->other);
    /* bins are 1/64 wide at most */
    uint64_t low = times_low(&view->times);
    assert_true(low <= sums->time_sum && (double)sums->time_sum <= (double)low * (1 + 1.0 / 64) + 1);
}

static void against_plain(void **state)
{
    static struct one stream[ACCESSES];
    const uint32_t shifts[] = {0, 3, 6, 12};
    for (uint32_t run = 0; run < 16; run++) {
        uint32_t shift = shifts[run % 4], sockets = 1 + run / 4 % 3;
        struct as_reuse_options options = {
            .shape = {.shift = shift, .interval = 100}, .sockets = sockets, .jobs = run % 3};
        make_stream(stream, run);
        plain(stream, shift, sockets);
        struct as_reuse *reuse = analyse(stream, &options);
        assert_int_equal(as_reuse_count_threads(reuse), THREADS);
        for (size_t i = 0; i < THREADS; i++) {
            const struct as_reuse_thread *thread = as_reuse_get_thread(reuse, i);
            same_counts(thread->view, &thread_sums[thread->number]);
        }
        struct sums all = {0};
        for (uint32_t i = 0; i < sockets; i++)
            for (size_t k = 0; k < sizeof all / sizeof(uint64_t); k++)
                ((uint64_t *)&all)[k] += ((const uint64_t *)&socket_sums[i])[k];
        same_counts(as_reuse_all_sockets(reuse), &all);
        as_reuse_free(reuse);
    }
}

/* Host threads change nothing, caches included. */
static void any_jobs(void **state)
{
    static struct one stream[ACCESSES];
    struct as_reuse_options options = {.shape = {.shift = 6, .interval = 1000, .levels = {{8, 2}, {32, 4}, {64, 4}}},
                                       .sockets = 2};
    make_stream(stream, 77);
    struct as_reuse *alone = analyse(stream, &options);
    options.jobs = 3;
    struct as_reuse *spread = analyse(stream, &options);
    const struct as_reuse_view *a = as_reuse_all_threads(alone), *b = as_reuse_all_threads(spread);
    assert_memory_equal(a->missed, b->missed, sizeof a->missed);
    assert_memory_equal(&a->counts, &b->counts, sizeof a->counts);
    assert_memory_equal(&a->distances, &b->distances, sizeof a->distances);
    assert_int_equal(a->fetched_bytes, b->fetched_bytes);
    a = as_reuse_all_sockets(alone), b = as_reuse_all_sockets(spread);
    assert_memory_equal(a->missed, b->missed, sizeof a->missed);
    assert_memory_equal(&a->all, &b->all, sizeof a->all);
    assert_memory_equal(a->working_set.data, b->working_set.data, a->working_set.len * sizeof(uint32_t));
    as_reuse_free(alone);
    as_reuse_free(spread);
}

static void same_views(const struct as_reuse_view *a, const struct as_reuse_view *b)
{
    assert_memory_equal(a->missed, b->missed, sizeof a->missed);
    assert_memory_equal(a->looked_up, b->looked_up, sizeof a->looked_up);
    assert_memory_equal(a->beyond, b->beyond, sizeof a->beyond);
    assert_memory_equal(&a->counts, &b->counts, sizeof a->counts);
    assert_memory_equal(&a->distances, &b->distances, sizeof a->distances);
    assert_memory_equal(&a->times, &b->times, sizeof a->times);
    assert_memory_equal(&a->all, &b->all, sizeof a->all);
    assert_int_equal(a->fetched_bytes, b->fetched_bytes);
    assert_int_equal(a->working_set.len, b->working_set.len);
    assert_memory_equal(a->working_set.data, b->working_set.data, a->working_set.len * sizeof(uint32_t));
    assert_int_equal(a->codes.len, b->codes.len);
    assert_memory_equal(a->codes.data, b->codes.data, a->codes.len * sizeof *a->codes.data);
    assert_int_equal(a->pairs.len, b->pairs.len);
    assert_memory_equal(a->pairs.data, b->pairs.data, a->pairs.len * sizeof *a->pairs.data);
}

/* Accesses that come together, of which those that step through a granule are counted together, have the results of those that come one
 * by one, with every granularity and with intervals that end between them. */
static void steps_count_alike(void **state)
{
    static struct one stream[ACCESSES];
    const uint32_t shifts[] = {3, 6, 12};
    for (uint32_t run = 0; run < 6; run++) {
        struct as_reuse_options options = {
            .shape = {.shift = shifts[run % 3], .interval = 3 + run, .levels = {{8, 2}, {32, 4}, {64, 4}}},
            .sockets = 1 + run / 3};
        make_stream(stream, 100 + run);
        struct as_reuse *together = analyse(stream, &options), *alone = analyse_by(stream, &options, 1);
        for (size_t i = 0; i < THREADS; i++)
            same_views(as_reuse_get_thread(together, i)->view, as_reuse_get_thread(alone, i)->view);
        same_views(as_reuse_all_threads(together), as_reuse_all_threads(alone));
        same_views(as_reuse_all_sockets(together), as_reuse_all_sockets(alone));
        as_reuse_free(together);
        as_reuse_free(alone);
    }
}

/* A line, where lines are side by side, or in 200 regions of 8 MiB, each in a leaf of its own: 100 of each region. */
static uint64_t line_at(uint64_t line, bool apart)
{
    return apart ? (line % 200 << 23) + (line / 200 << 12) : line << 6;
}

static struct as_reuse *walk_at_random(bool apart)
{
    enum { LINES = 20000, BATCH = 2000, BATCHES = 40 };
    static struct as_data_access accesses[BATCH];
    struct as_reuse_options options = {.shape = {.shift = 6, .interval = 1000}, .sockets = 1};
    struct as_reuse *reuse = as_reuse_new(&options);
    uint64_t seed = 3;
    for (int batch = 0; batch < BATCHES; batch++) {
        for (int i = 0; i < BATCH; i++)
            accesses[i] = (struct as_data_access){
                .address = line_at(as_random_below(&seed, LINES), apart), .insn = 1, .size = 8, .kind = AS_ACCESS_LOAD};
        struct as_access_turn turn = {.thread = 1, .process = 1, .end = BATCH};
        as_reuse_observer.accesses(
            reuse, &(struct as_access_batch){.n = BATCH, .n_turns = 1, .accesses = accesses, .turns = &turn});
    }
    as_reuse_observer.finish(reuse, NULL);
    return reuse;
}

/* Where lines lie does not matter to their distances, also while the tables that find them grow. */
static void huge_steps(void **state)
{
    struct as_reuse *near = walk_at_random(false), *apart = walk_at_random(true);
    same_views(as_reuse_all_threads(near), as_reuse_all_threads(apart));
    as_reuse_free(near);
    as_reuse_free(apart);
}

struct line_sums {
    uint64_t l1, llc;
};

static void add_lines(void *context, uint64_t first, void *records, size_t n)
{
    struct line_sums *sums = context;
    const struct as_reuse_misses *lines = records;
    for (size_t i = 0; i < n; i++) {
        for (int cause = 0; cause < AS_MISS_CAUSES; cause++)
            sums->l1 += lines[i].misses[cause];
        sums->llc += lines[i].llc;
    }
}

static uint64_t count_misses(const struct as_reuse_view *view, enum as_reuse_level level)
{
    uint64_t sum = 0;
    for (int cause = 0; cause < AS_MISS_CAUSES; cause++)
        sum += view->missed[level][cause];
    return sum;
}

static uint64_t count_by_code(const struct as_reuse_view *view, int level)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < view->codes.len; i++)
        for (int cause = 0; cause < AS_MISS_CAUSES; cause++)
            sum += view->codes.data[i].misses[level][cause];
    return sum;
}

/* A fully associative cache has no conflict misses and misses exactly where the distances say; a set-associative one
 * splits its misses without rest. */
static void caches_and_distances(void **state)
{
    static struct one stream[ACCESSES];
    struct as_reuse_options options = {.shape = {.shift = 6, .interval = 1000, .levels = {{16, 16}, {0, 0}, {64, 4}}},
                                       .sockets = 1};
    make_stream(stream, 5);
    struct as_reuse *reuse = analyse(stream, &options);
    const struct as_reuse_view *all = as_reuse_all_threads(reuse);
    uint64_t misses = 0;
    assert_int_equal(all->missed[AS_REUSE_L1][AS_MISS_CONFLICT], 0);
    assert_true(all->missed[AS_REUSE_L1][AS_MISS_CAPACITY] > 100 && all->missed[AS_REUSE_L1][AS_MISS_COHERENCE] > 100);
    for (int cause = 0; cause < AS_MISS_CAUSES; cause++)
        misses += all->missed[AS_REUSE_L1][cause];
    assert_int_equal(misses, all->beyond[AS_REUSE_L1]);
    assert_int_equal(count_by_code(all, AS_REUSE_L1), misses);
    const struct as_reuse_view *sockets = as_reuse_all_sockets(reuse);
    assert_int_equal(sockets->looked_up[AS_REUSE_LLC] + all->looked_up[AS_REUSE_LLC], misses);
    struct line_sums sums = {0};
    as_granules_each(&as_reuse_all_threads(reuse)->misses, add_lines, &sums);
    assert_int_equal(sums.l1, misses);
    assert_int_equal(sums.llc, count_misses(all, AS_REUSE_LLC) + count_misses(sockets, AS_REUSE_LLC));
    assert_int_equal(count_by_code(all, AS_REUSE_LLC), sums.llc);
    as_reuse_free(reuse);
}

/* Lines are walked over twice, each of them missed each time. All that is known of them takes at most 1.4 times their memory: 16
 * bytes for the last use, 48 for the misses, two to four for its place in the order, of 64; and what is made for few of them. */
static void memory_of_lines(void **state)
{
    enum { LINES = 1 << 16, RUN = 1024 };
    struct as_reuse_options options = {
        .shape = {.shift = 6, .interval = 1000000, .levels = {{64, 4}, {0, 0}, {512, 8}}}, .sockets = 1};
    struct as_reuse *reuse = as_reuse_new(&options);
    for (uint64_t i = 0; i < 2 * LINES; i += RUN) {
        struct as_data_access accesses[RUN];
        for (uint64_t k = 0; k < RUN; k++)
            accesses[k] =
                (struct as_data_access){.address = (1 << 24) + (i + k) % LINES * 64, .size = 8, .kind = AS_ACCESS_LOAD};
        as_reuse_take(reuse, 1, 1, accesses, RUN);
    }
    as_reuse_finish(reuse);
    struct line_sums sums = {0};
    as_granules_each(&as_reuse_all_threads(reuse)->misses, add_lines, &sums);
    assert_int_equal(sums.l1, 2 * LINES);
    assert_int_equal(sums.llc, 2 * LINES);
    assert_true(as_reuse_bytes(reuse) > LINES * 64 && as_reuse_bytes(reuse) < LINES * 64 / 10 * 14);
    as_reuse_free(reuse);
}

/* Steps of a page touch one line of each leaf: memory goes with the lines, not with the pages that they lie in. Then the lines
 * beside them come, so leaves grow while the touches are under way. */
static void memory_of_pages(void **state)
{
    enum { LINES = 1 << 14, BESIDE = 16 };
    struct as_reuse_options options = {
        .shape = {.shift = 6, .interval = 1000000, .levels = {{64, 4}, {0, 0}, {512, 8}}}, .sockets = 1};
    struct as_reuse *reuse = as_reuse_new(&options);
    static struct as_data_access accesses[LINES];
    for (uint64_t time = 0; time < 2 * BESIDE; time++) {
        for (uint64_t i = 0; i < LINES; i++)
            accesses[i] = (struct as_data_access){
                .address = i << 12 | time / 2 * 64, .size = 8, .insn = 1, .kind = AS_ACCESS_LOAD};
        as_reuse_take(reuse, 1, 1, accesses, LINES);
        if (time == 1)
            assert_true(as_reuse_bytes(reuse) < LINES * 256);
    }
    as_reuse_finish(reuse);
    const struct as_reuse_view *all = as_reuse_all_threads(reuse);
    assert_int_equal(all->counts.cold, LINES * BESIDE);
    assert_int_equal(all->counts.reuses, LINES * BESIDE);
    assert_int_equal(all->distances.bins[as_distance_bin(LINES - 1)], LINES * BESIDE);
    struct line_sums sums = {0};
    as_granules_each(&as_reuse_all_threads(reuse)->misses, add_lines, &sums);
    assert_int_equal(sums.l1, 2 * LINES * BESIDE);
    as_reuse_free(reuse);
}

/* Neighbours that come one after the other, in the same batch of touches. */
static void leaves_that_grow(void **state)
{
    struct as_reuse_options options = {
        .shape = {.shift = 6, .interval = 1000000, .levels = {{64, 4}, {0, 0}, {512, 8}}}, .sockets = 1};
    struct as_reuse *reuse = as_reuse_new(&options);
    struct as_data_access accesses[256];
    for (uint64_t i = 0; i < 256; i++)
        accesses[i] = (struct as_data_access){
            .address = 0x10000 + i / 2 % 64 * 64, .size = 8, .insn = (uint32_t)i, .kind = AS_ACCESS_LOAD};
    as_reuse_take(reuse, 1, 1, accesses, 256);
    as_reuse_finish(reuse);
    const struct as_reuse_view *all = as_reuse_all_threads(reuse);
    assert_int_equal(all->counts.cold, 64);
    assert_int_equal(all->counts.reuses, 192);
    assert_int_equal(all->distances.bins[0], 128);
    assert_int_equal(all->distances.bins[63], 64);
    as_reuse_free(reuse);
}

/* Pairs, used bytes and working set of a few accesses, by hand. */
static void by_hand(void **state)
{
    struct as_reuse_options options = {.shape = {.shift = 6, .interval = 3, .levels = {{1, 1}, {0, 0}, {8, 8}}},
                                       .sockets = 1};
    struct as_data_access accesses[] = {
        {.address = 0x1000, .size = 8, .insn = 1, .kind = AS_ACCESS_LOAD},
        {.address = 0x1008, .size = 4, .insn = 2, .kind = AS_ACCESS_STORE}, /* spatial, next to it */
        {.address = 0x2000, .size = 64, .insn = 3, .kind = AS_ACCESS_LOAD}, /* the first line goes: 12 bytes used */
        {.address = 0x1000, .size = 8, .insn = 1, .kind = AS_ACCESS_LOAD},  /* spatial, one line in between */
        {.address = 0x1000, .size = 8, .insn = 1, .kind = AS_ACCESS_LOAD},
    };
    struct as_access_turn turn = {.thread = 1, .process = 1, .end = 5};
    struct as_access_batch batch = {.n = 5, .n_turns = 1, .accesses = accesses, .turns = &turn};
    struct as_reuse *reuse = as_reuse_new(&options);
    as_reuse_observer.accesses(reuse, &batch);
    as_reuse_observer.finish(reuse, NULL);
    const struct as_reuse_view *all = as_reuse_all_threads(reuse);
    assert_int_equal(all->pairs.len, 3);
    const struct as_reuse_pair *pairs = all->pairs.data;
    assert_true(pairs[0].use == 1 && pairs[0].reuse == 1 && !pairs[0].spatial && pairs[0].count == 1);
    assert_true(pairs[1].use == 1 && pairs[1].reuse == 2 && pairs[1].spatial == 1 && !pairs[1].beyond[AS_REUSE_L1]);
    assert_true(pairs[2].use == 2 && pairs[2].reuse == 1 && pairs[2].spatial_beyond == 1);
    assert_int_equal(all->fetched, 3); /* the last one is still there at the end */
    assert_int_equal(all->fetched_bytes, 12 + 64 + 8);
    assert_int_equal(all->codes.data[1].again, 1); /* with some of the bytes of the first time */
    assert_int_equal(all->codes.data[1].moved, 0);
    assert_int_equal(all->codes.data[3].again, 0);
    const struct as_reuse_view *view = as_reuse_get_thread(reuse, 0)->view;
    assert_int_equal(view->working_set.len, 2);
    assert_int_equal(view->working_set.data[0], 2);
    assert_int_equal(view->working_set.data[1], 1);
    assert_null(as_reuse_all_sockets(reuse));
    assert_true(as_reuse_bytes(reuse) > 0);
    as_reuse_free(reuse);
}

/* A sample of the lines gives the same miss ratios, nearly, from less than 1 % of them.
 * (What hot lines do that threads share cannot be told from a sample of lines, nor distances below its resolution.) */
static void sampled_lines(void **state)
{
    enum { SAMPLED_ACCESSES = 1500000, RUN = 64 };
    _Atomic uint64_t threshold = UINT64_MAX;
    struct as_reuse_options options = {.shape = {.shift = 6, .interval = 1000000}, .sockets = 1};
    struct as_reuse *exact = as_reuse_new(&options);
    options.shape.sampled = true;
    options.threshold = &threshold;
    options.most = 2048;
    options.thinnest = 7;
    struct as_reuse *sample = as_reuse_new(&options);
    uint64_t seed = 2;
    for (uint64_t i = 0; i < SAMPLED_ACCESSES; i += RUN) {
        struct as_data_access accesses[RUN];
        uint32_t thread = 1 + (i / RUN) % 2;
        for (uint64_t k = 0; k < RUN; k++) {
            uint64_t kind = as_random_below(&seed, 10), wide = as_random_below(&seed, 200000);
            uint64_t line = kind < 5 ? wide % 50 : kind < 8 ? wide % 60000 : wide;
            accesses[k] = (struct as_data_access){.address = (line + thread * 1000000) * 64,
                                                  .size = 8,
                                                  .kind = kind == 2 ? AS_ACCESS_STORE : AS_ACCESS_LOAD};
        }
        as_reuse_take(exact, thread, 1, accesses, RUN);
        as_reuse_take(sample, thread, 1, accesses, RUN);
    }
    as_reuse_finish(exact);
    as_reuse_finish(sample);
    as_reuse_adjust(sample, SAMPLED_ACCESSES, SAMPLED_ACCESSES);
    assert_int_equal(as_reuse_scale(sample), 7);
    const struct as_reuse_view *a = as_reuse_all_threads(exact), *b = as_reuse_all_threads(sample);
    for (uint64_t lines = 512; lines < 1 << 19; lines *= 2) {
        double truth =
            as_distances_beyond(&a->distances, lines) + (double)(a->counts.cold + a->counts.after_invalidation);
        double guess =
            as_distances_beyond(&b->distances, lines) + (double)(b->counts.cold + b->counts.after_invalidation);
        double off = guess / (double)b->counts.touches - truth / (double)a->counts.touches;
        assert_true(off < 0.01 && off > -0.01); /* 3000 lines: two standard deviations */
    }
    as_reuse_free(exact);
    as_reuse_free(sample);
}

/* Every touch of a sampled line is in the part of its line, once: as a reuse, or as one that every cache misses. */
static void parts_of_a_sample(void **state)
{
    _Atomic uint64_t threshold = UINT64_MAX;
    struct as_reuse_options options = {
        .shape = {.shift = 6, .interval = 1000, .sampled = true}, .sockets = 1, .threshold = &threshold, .most = 1000};
    struct as_reuse *reuse = as_reuse_new(&options);
    uint64_t lines[AS_SAMPLE_PARTS] = {0}, hits[AS_SAMPLE_PARTS] = {0}, missed[AS_SAMPLE_PARTS] = {0};
    bool has[2][100] = {{false}}, seen[2][100] = {{false}};
    uint64_t seed = 9;
    for (int i = 0; i < 2000; i++) {
        uint32_t thread = i / 10 % 2;
        uint64_t line = as_random_below(&seed, 100), part = as_sample_part(as_reuse_key(1, line * 64, 6));
        bool write = as_random_below(&seed, 4) == 0;
        struct as_data_access access = {
            .address = line * 64, .size = 8, .kind = write ? AS_ACCESS_STORE : AS_ACCESS_LOAD};
        as_reuse_take(reuse, thread + 1, 1, &access, 1);
        hits[part] += has[thread][line];
        missed[part] += !has[thread][line];
        lines[part] += !seen[thread][line];
        has[thread][line] = seen[thread][line] = true;
        has[!thread][line] &= !write;
    }
    as_reuse_finish(reuse);
    const struct as_sample_parts *parts = as_reuse_all_threads(reuse)->parts;
    for (int i = 0; i < AS_SAMPLE_PARTS; i++) {
        assert_int_equal(parts->lines[i], lines[i]);
        assert_int_equal(parts->missed[i], missed[i]);
        assert_int_equal(parts->hits[i].total, hits[i]);
    }
    assert_int_equal(as_reuse_all_threads(reuse)->distances.total, as_reuse_all_threads(reuse)->counts.reuses);
    as_reuse_free(reuse);
}

/* The first threads of two processes have one number, and are two. */
static void threads_of_processes(void **state)
{
    struct as_reuse_options options = {.shape = {.shift = 6, .interval = 1000}, .sockets = 1};
    struct as_reuse *reuse = as_reuse_new(&options);
    for (uint32_t i = 0; i < 6; i++) {
        struct as_data_access access = {.address = 0x1000, .size = 8, .kind = AS_ACCESS_LOAD};
        as_reuse_take(reuse, 1, 1 + i / 2 % 2, &access, 1);
    }
    as_reuse_finish(reuse);
    for (uint32_t i = 0; i < 2; i++) {
        const struct as_reuse_thread *thread = as_reuse_get_thread(reuse, i);
        assert_true(thread && thread->number == 1 && thread->process == i + 1);
        assert_int_equal(thread->view->counts.cold, 1);
        assert_int_equal(thread->view->counts.touches, i ? 2 : 4);
    }
    as_reuse_free(reuse);
}

/* Nothing ran; and more threads than the directory has bits. */
static void none_and_many(void **state)
{
    struct as_reuse_options options = {.shape = {.shift = 6, .interval = 1000}, .sockets = 2};
    struct as_reuse *reuse = as_reuse_new(&options);
    as_reuse_observer.finish(reuse, NULL);
    assert_int_equal(as_reuse_all_threads(reuse)->counts.touches, 0);
    as_reuse_free(reuse);
    reuse = as_reuse_new(&options);
    for (uint32_t thread = 1; thread <= 100; thread++)
        for (int i = 0; i < 2; i++) {
            struct as_data_access access = {.address = 0x1000, .size = 1, .kind = i ? AS_ACCESS_STORE : AS_ACCESS_LOAD};
            struct as_access_turn turn = {.thread = thread, .process = 1, .end = 1};
            struct as_access_batch batch = {.n = 1, .n_turns = 1, .accesses = &access, .turns = &turn};
            as_reuse_observer.accesses(reuse, &batch);
        }
    as_reuse_observer.finish(reuse, NULL);
    assert_int_equal(as_reuse_all_threads(reuse)->counts.invalidations, 99);
    assert_int_equal(as_reuse_all_threads(reuse)->counts.reuses, 100);
    as_reuse_free(reuse);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(against_plain),        cmocka_unit_test(any_jobs),
                                       cmocka_unit_test(steps_count_alike),    cmocka_unit_test(huge_steps),
                                       cmocka_unit_test(caches_and_distances), cmocka_unit_test(by_hand),
                                       cmocka_unit_test(sampled_lines),        cmocka_unit_test(none_and_many),
                                       cmocka_unit_test(memory_of_lines),      cmocka_unit_test(memory_of_pages),
                                       cmocka_unit_test(leaves_that_grow),     cmocka_unit_test(parts_of_a_sample),
                                       cmocka_unit_test(threads_of_processes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
