/* See footprint.h. A thread has a map from pages to two masks, a bit for each line: read and written. Programs stay in
 * a few pages for a while, so the last ones are found through a small table before the map. Sharing is computed at the
 * end, page by page, over the threads of a process. */
#include "observe/footprint.h"

#include "base/map.h"
#include "base/vec.h"

enum { LINE_SHIFT = 6, PAGE_SHIFT = 12, RECENT = 1 << 10 };

struct page {
    uint64_t number; /* address >> PAGE_SHIFT */
    uint64_t read, written;
};

struct thread {
    struct as_footprint_thread result;
    struct as_map index; /* page number to its place in pages + 1 */
    AS_VEC(struct page) pages;
    uint32_t recent[RECENT]; /* by page number: its place in pages + 1 */
};

struct as_footprint {
    AS_VEC(struct thread *) threads; /* by number; NULL: none */
    AS_VEC(struct as_footprint_thread) results;
    struct as_footprint_counts total;
};

struct as_footprint *as_footprint_new(void)
{
    return as_alloc(sizeof(struct as_footprint));
}

static void free_thread(struct thread *thread)
{
    if (!thread)
        return;
    as_map_free(&thread->index);
    as_vec_free(&thread->pages);
    free(thread);
}

static void release(void *self)
{
    struct as_footprint *footprint = self;
    for (size_t i = 0; i < footprint->threads.len; i++)
        free_thread(footprint->threads.data[i]);
    as_vec_free(&footprint->threads);
    as_vec_free(&footprint->results);
    free(footprint);
}

static struct thread *thread_of(struct as_footprint *footprint, const struct as_access_turn *turn)
{
    while (footprint->threads.len <= turn->thread)
        *as_vec_push(&footprint->threads) = NULL;
    struct thread **thread = &footprint->threads.data[turn->thread];
    if (!*thread) {
        *thread = as_alloc(sizeof **thread);
        (*thread)->result = (struct as_footprint_thread){.thread = turn->thread, .process = turn->process};
    }
    return *thread;
}

static __attribute__((noinline)) struct page *find_page(struct thread *thread, uint64_t number)
{
    uint64_t *place = as_map_put(&thread->index, number);
    if (!*place) {
        *as_vec_push(&thread->pages) = (struct page){.number = number};
        *place = thread->pages.len;
    }
    thread->recent[number % RECENT] = (uint32_t)*place;
    return &thread->pages.data[*place - 1];
}

static inline struct page *page_of(struct thread *thread, uint64_t number)
{
    uint32_t place = thread->recent[number % RECENT];
    if (__builtin_expect(place && thread->pages.data[place - 1].number == number, 1))
        return &thread->pages.data[place - 1];
    return find_page(thread, number);
}

static inline void touch(struct thread *thread, uint64_t line, uint32_t kind)
{
    struct page *page = page_of(thread, line >> (PAGE_SHIFT - LINE_SHIFT));
    uint64_t bit = UINT64_C(1) << (line & 63);
    page->read |= kind & AS_ACCESS_LOAD ? bit : 0;
    page->written |= kind & AS_ACCESS_STORE ? bit : 0;
}

static void take_turn(struct thread *thread, const struct as_data_access *accesses, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct as_data_access *access = &accesses[i];
        if (!(access->kind & (AS_ACCESS_LOAD | AS_ACCESS_STORE)))
            continue;
        uint64_t first = access->address >> LINE_SHIFT, last = (access->address + access->size - 1) >> LINE_SHIFT;
        thread->result.counts.accesses++;
        touch(thread, first, access->kind);
        for (uint64_t line = first; line < last;)
            touch(thread, ++line, access->kind);
    }
}

static void observe(void *self, const struct as_access_batch *batch)
{
    for (size_t i = 0; i < batch->n_turns; i++) {
        const struct as_access_turn *turn = &batch->turns[i];
        take_turn(thread_of(self, turn), batch->accesses + turn->first, turn->end - turn->first);
    }
}

/* ---- the end ---- */

/* What all threads of a process did to a page. */
struct joint {
    uint64_t read, written; /* by any thread */
    uint64_t several;       /* touched by more than one */
};

struct all_pages {
    struct as_map index; /* of the page of a process: its place in joints + 1 */
    AS_VEC(struct joint) joints;
};

static uint64_t count_bits(uint64_t mask)
{
    return (uint64_t)__builtin_popcountll(mask);
}

/* Addresses have 48 bits, the upper ones are copies of the last: 36 bits are enough for a page. */
static struct joint *joint_of(struct all_pages *all, const struct thread *thread, const struct page *page)
{
    const uint64_t page_bits = (UINT64_C(1) << 36) - 1;
    uint64_t *place = as_map_put(&all->index, (uint64_t)thread->result.process << 36 | (page->number & page_bits));
    if (!*place) {
        *as_vec_push(&all->joints) = (struct joint){0};
        *place = all->joints.len;
    }
    return &all->joints.data[*place - 1];
}

static void join_pages(struct all_pages *all, const struct thread *thread)
{
    for (size_t i = 0; i < thread->pages.len; i++) {
        const struct page *page = &thread->pages.data[i];
        struct joint *joint = joint_of(all, thread, page);
        joint->several |= (joint->read | joint->written) & (page->read | page->written);
        joint->read |= page->read;
        joint->written |= page->written;
    }
}

static void count_page(struct as_footprint_counts *counts, uint64_t read, uint64_t written, const struct joint *joint)
{
    uint64_t shared = (read | written) & joint->several;
    counts->pages++;
    counts->lines += count_bits(read | written);
    counts->read += count_bits(read);
    counts->written += count_bits(written);
    counts->shared += count_bits(shared);
    counts->shared_written += count_bits(shared & joint->written);
}

static void count_thread(struct as_footprint *footprint, struct all_pages *all, struct thread *thread)
{
    for (size_t i = 0; i < thread->pages.len; i++) {
        const struct page *page = &thread->pages.data[i];
        count_page(&thread->result.counts, page->read, page->written, joint_of(all, thread, page));
    }
    footprint->total.accesses += thread->result.counts.accesses;
    *as_vec_push(&footprint->results) = thread->result;
}

static void add_up(struct as_footprint *footprint)
{
    struct all_pages all = {0};
    for (size_t i = 0; i < footprint->threads.len; i++)
        if (footprint->threads.data[i])
            join_pages(&all, footprint->threads.data[i]);
    for (size_t i = 0; i < footprint->threads.len; i++)
        if (footprint->threads.data[i])
            count_thread(footprint, &all, footprint->threads.data[i]);
    for (size_t i = 0; i < all.joints.len; i++)
        count_page(&footprint->total, all.joints.data[i].read, all.joints.data[i].written, &all.joints.data[i]);
    as_map_free(&all.index);
    as_vec_free(&all.joints);
}

static void finish(void *self, FILE *out)
{
    add_up(self);
}

struct as_footprint_counts as_footprint_total(const struct as_footprint *footprint)
{
    return footprint->total;
}

const struct as_footprint_thread *as_footprint_threads(const struct as_footprint *footprint, size_t *n)
{
    *n = footprint->results.len;
    return footprint->results.data;
}

const struct as_observer as_footprint_observer = {
    .version = AS_OBSERVER_VERSION,
    .record_size = sizeof(struct as_pipe),
    .name = "footprint",
    .accesses = observe,
    .finish = finish,
    .free = release,
};
