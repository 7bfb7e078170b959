/* See board.h. */
#include "comm/board.h"

#include "base/alloc.h"
#include "base/random.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { WAYS = 8, WORDS = sizeof(struct as_board_entry) / sizeof(uint64_t) };
_Static_assert(sizeof(struct as_board_entry) % sizeof(uint64_t) == 0, "an entry is copied word by word");
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "64-bit atomics without locks: signal handlers use them");

struct slot {
    _Alignas(64) _Atomic uint64_t version;
    _Atomic uint64_t words[WORDS]; /* an entry; a time of 0: none */
};

struct as_board {
    size_t buckets;
    struct slot *slots;
};

struct as_board *as_board_new(size_t buckets)
{
    struct as_board *board = as_alloc(sizeof *board);
    size_t bytes = buckets * WAYS * sizeof *board->slots;
    board->buckets = buckets;
    board->slots = aligned_alloc(_Alignof(struct slot), bytes);
    if (!board->slots)
        abort();
    memset(board->slots, 0, bytes);
    return board;
}

void as_board_free(struct as_board *board)
{
    if (!board)
        return;
    free(board->slots);
    free(board);
}

static struct slot *bucket_of(struct as_board *board, uint32_t process, uint64_t address)
{
    uint64_t hash = as_random_hash(address / AS_BOARD_LINE ^ (uint64_t)process << 48);
    return board->slots + as_random_scale(hash, board->buckets) * WAYS;
}

static bool is_same_line(const struct as_board_entry *entry, uint32_t process, uint64_t address)
{
    return entry->time && entry->process == process && entry->address / AS_BOARD_LINE == address / AS_BOARD_LINE;
}

/* False: a writer is or was at it meanwhile. */
static bool read_slot(struct slot *slot, struct as_board_entry *entry)
{
    uint64_t words[WORDS];
    uint64_t before = atomic_load_explicit(&slot->version, memory_order_acquire); /* (1) */
    for (size_t i = 0; i < WORDS; i++)
        words[i] = atomic_load_explicit(&slot->words[i], memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    uint64_t after = atomic_load_explicit(&slot->version, memory_order_relaxed); /* (2) */
    memcpy(entry, words, sizeof *entry);
    return before % 2 == 0 && before == after;
}

static bool write_slot(struct slot *slot, const struct as_board_entry *entry)
{
    uint64_t words[WORDS];
    uint64_t version = atomic_load_explicit(&slot->version, memory_order_relaxed);
    if (version % 2 || !atomic_compare_exchange_strong_explicit(&slot->version, &version, version + 1,
                                                                memory_order_acquire, memory_order_relaxed))
        return false;
    atomic_thread_fence(memory_order_release); /* the odd version before the words: for (2) */
    memcpy(words, entry, sizeof words);
    for (size_t i = 0; i < WORDS; i++)
        atomic_store_explicit(&slot->words[i], words[i], memory_order_relaxed);
    atomic_store_explicit(&slot->version, version + 2, memory_order_release); /* to (1) */
    return true;
}

bool as_board_get(struct as_board *board, uint32_t process, uint64_t address, struct as_board_entry *entry)
{
    struct slot *bucket = bucket_of(board, process, address);
    for (size_t i = 0; i < WAYS; i++)
        if (read_slot(&bucket[i], entry) && is_same_line(entry, process, address))
            return true;
    return false;
}

bool as_board_put(struct as_board *board, const struct as_board_entry *entry)
{
    struct slot *bucket = bucket_of(board, entry->process, entry->address), *to = NULL;
    struct as_board_entry old;
    uint64_t oldest = UINT64_MAX; /* a free slot's time is 0 */
    for (size_t i = 0; i < WAYS; i++) {
        if (!read_slot(&bucket[i], &old))
            continue;
        if (is_same_line(&old, entry->process, entry->address))
            return write_slot(&bucket[i], entry);
        if (old.time < oldest) {
            oldest = old.time;
            to = &bucket[i];
        }
    }
    return to && write_slot(to, entry);
}

void as_board_mark(struct as_board *board, const struct as_board_entry *entry, uint32_t thread)
{
    struct slot *bucket = bucket_of(board, entry->process, entry->address);
    struct as_board_entry seen;
    for (size_t i = 0; i < WAYS && thread < AS_BOARD_MARKS; i++)
        if (read_slot(&bucket[i], &seen) && is_same_line(&seen, entry->process, entry->address) &&
            seen.time == entry->time)
            atomic_fetch_or_explicit(&bucket[i].words[offsetof(struct as_board_entry, marks) / sizeof(uint64_t)],
                                     UINT64_C(1) << thread, memory_order_relaxed);
}

bool as_board_pick(struct as_board *board, bool (*fits)(void *context, const struct as_board_entry *entry),
                   void *context, uint64_t random, struct as_board_entry *entry)
{
    struct as_board_entry seen;
    uint64_t n = 0;
    for (size_t i = 0; i < board->buckets * WAYS; i++) {
        /* Free slots, most of them, are seen by one load; a time that is just being written may be passed over. */
        if (!atomic_load_explicit(&board->slots[i].version, memory_order_relaxed) ||
            !read_slot(&board->slots[i], &seen) || !seen.time || !fits(context, &seen))
            continue;
        if (as_random_below(&random, ++n) == 0)
            *entry = seen;
    }
    return n > 0;
}
