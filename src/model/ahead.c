/* See ahead.h. Chunks are numbered; a ring holds the last CHUNKS of them. The producer fills chunk `filled`, the
 * consumer works on chunk `taken`. The mutex guards both numbers and hands over the chunks' contents. */
#include "model/ahead.h"

#include "base/alloc.h"
#include "base/host_stream.h"
#include "base/processors.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNKS = 16, CHUNK_WORDS = 4096, ENOUGH = 2, HOST_LINE = 64, SOON = 8 };

struct chunk {
    size_t used; /* words */
    uint64_t words[CHUNK_WORDS];
};

struct as_ahead {
    as_ahead_take *take;
    as_ahead_words *take_words;
    as_ahead_announce *announce; /* NULL: nobody asks */
    void *context;
    pthread_t thread;
    struct chunk chunks[CHUNKS];
    pthread_mutex_t mutex;
    pthread_cond_t more, less;
    /* guarded by the mutex */
    uint64_t filled, taken; /* numbers of chunks handed over, and of chunks finished */
    uint64_t awaited;       /* … that the thread which puts in waits for, if it sleeps */
    bool taker_sleeps, putter_sleeps, over;
    /* of the thread that puts in, on host lines of its own */
    char own_line[HOST_LINE];
    struct chunk *chunk;        /* the chunk that is being filled, … */
    size_t used;                /* … so many words */
    uint64_t open[CHUNK_WORDS]; /* the block that is put together */
};

/* That a block with so much data occupies. */
static inline size_t words_of(size_t bytes)
{
    return (sizeof(struct as_ahead_block) + bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t);
}

/* ---- the thread that takes ---- */

static inline size_t words_in_queue(const struct as_ahead_block *block)
{
    return block->taken >> 1;
}

/* `then` is the block behind it; NULL: not known. */
static void take_block(struct as_ahead *ahead, struct as_ahead_block *block, const struct as_ahead_block *then)
{
    if (!block->body) {
        ahead->take_words(ahead->context, block->data, block->path);
        return;
    }
    size_t n = block->body->n_accesses;
    size_t bytes = block->shape ? n * sizeof *block->data : n * sizeof *block->shape;
    const uint32_t *foreseen = (const uint32_t *)((const char *)block->data + bytes);
    struct as_body_run run = {.body = block->body, .next = block->next, .foreseen = foreseen};
    run.taken = block->taken & 1;
    run.then = then ? then->body : NULL;
    run.accesses = block->shape ? block->shape : (struct as_core_access *)block->data;
    for (size_t i = 0; block->shape && i < n; i++)
        block->shape[i].address = block->data[i];
    ahead->take(ahead->context, &run, block->path);
}

/* The block behind one that lies in the queue; NULL: there is none in this chunk. */
static struct as_ahead_block *block_behind(struct chunk *chunk, const struct as_ahead_block *block)
{
    const uint64_t *behind = (const uint64_t *)block + words_in_queue(block);
    return behind < chunk->words + chunk->used ? (struct as_ahead_block *)behind : NULL;
}

/* What every run reads of a body, and where its addresses are put; what comes behind it in the queue. */
static void fetch_for_host(const struct as_ahead_block *block)
{
    enum { BEHIND = 8 * HOST_LINE };
    __builtin_prefetch((const char *)block + BEHIND);
    if (!block->body)
        return;
    __builtin_prefetch(block->body);
    __builtin_prefetch((const char *)block->body + HOST_LINE);
    __builtin_prefetch(block->shape ? (const void *)block->shape : block); /* never NULL: chains.h */
}

/* Announces what a block accesses; returns the one behind it. */
static struct as_ahead_block *announce_block(struct as_ahead *ahead, struct chunk *chunk, struct as_ahead_block *block)
{
    if (block->body && block->shape && block->body->n_accesses)
        ahead->announce(ahead->context, block->data, block->body->n_accesses);
    return block_behind(chunk, block);
}

/* A body is fetched by the host two turns before its own, what its accesses look at SOON turns. */
static void take_chunk(struct as_ahead *ahead, struct chunk *chunk)
{
    struct as_ahead_block *block = chunk->used ? (struct as_ahead_block *)chunk->words : NULL;
    struct as_ahead_block *then = block ? block_behind(chunk, block) : NULL;
    bool announces = ahead->announce && ahead->announce(ahead->context, NULL, 0);
    struct as_ahead_block *soon = announces ? block : NULL;
    for (size_t i = 0; soon && i < SOON; i++)
        soon = announce_block(ahead, chunk, soon);
    while (block) {
        if (__builtin_expect(soon != NULL, 0))
            soon = announce_block(ahead, chunk, soon);
        struct as_ahead_block *later = then ? block_behind(chunk, then) : NULL;
        if (later)
            fetch_for_host(later);
        take_block(ahead, block, then);
        block = then;
        then = later;
    }
}

/* Returns the next chunk; NULL: there are no more. Called with the mutex held. */
static struct chunk *wait_for_chunk(struct as_ahead *ahead)
{
    while (ahead->taken == ahead->filled && !ahead->over) {
        ahead->taker_sleeps = true;
        pthread_cond_wait(&ahead->more, &ahead->mutex);
    }
    ahead->taker_sleeps = false;
    return ahead->taken < ahead->filled ? &ahead->chunks[ahead->taken % CHUNKS] : NULL;
}

static void *take_all(void *context)
{
    struct as_ahead *ahead = context;
    pthread_mutex_lock(&ahead->mutex);
    for (struct chunk *chunk; (chunk = wait_for_chunk(ahead));) {
        pthread_mutex_unlock(&ahead->mutex);
        take_chunk(ahead, chunk);
        pthread_mutex_lock(&ahead->mutex);
        ahead->taken++;
        if (ahead->putter_sleeps && ahead->taken >= ahead->awaited)
            pthread_cond_signal(&ahead->less);
    }
    pthread_mutex_unlock(&ahead->mutex);
    return NULL;
}

/* ---- the thread that puts in ---- */

/* Signals are blocked here: the main thread handles them. */
static bool start_thread(struct as_ahead *ahead)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    bool ok = pthread_create(&ahead->thread, NULL, take_all, ahead) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ok;
}

struct as_ahead *as_ahead_new(as_ahead_take *take, as_ahead_words *take_words, as_ahead_announce *announce,
                              void *context)
{
    if (as_processors() < 2)
        return NULL;
    struct as_ahead *ahead = as_alloc_apart(1, sizeof *ahead);
    ahead->take = take;
    ahead->take_words = take_words;
    ahead->announce = announce;
    ahead->context = context;
    ahead->chunk = &ahead->chunks[0];
    pthread_mutex_init(&ahead->mutex, NULL);
    pthread_cond_init(&ahead->more, NULL);
    pthread_cond_init(&ahead->less, NULL);
    if (start_thread(ahead))
        return ahead;
    free(ahead);
    return NULL;
}

/* Waits until so many chunks have been taken, from the first on. Called with the mutex held. */
static void wait_until_taken(struct as_ahead *ahead, uint64_t number)
{
    ahead->awaited = number;
    while (ahead->taken < number) {
        ahead->putter_sleeps = true;
        pthread_cond_wait(&ahead->less, &ahead->mutex);
    }
    ahead->putter_sleeps = false;
}

enum how { FULL, HANDED_OVER, SETTLED };

/* Hands the chunk over. */
static void publish(struct as_ahead *ahead, enum how how)
{
    ahead->chunk->used = ahead->used;
    as_host_stream_end();
    pthread_mutex_lock(&ahead->mutex);
    ahead->filled += ahead->used > 0;
    if (ahead->taker_sleeps && (how != FULL || ahead->filled - ahead->taken >= ENOUGH))
        pthread_cond_signal(&ahead->more);
    if (how == SETTLED)
        wait_until_taken(ahead, ahead->filled);
    else if (ahead->filled - ahead->taken == CHUNKS)
        wait_until_taken(ahead, ahead->filled - CHUNKS / 2);
    pthread_mutex_unlock(&ahead->mutex);
    ahead->chunk = &ahead->chunks[ahead->filled % CHUNKS];
    ahead->used = 0;
}

void as_ahead_settle(struct as_ahead *ahead)
{
    publish(ahead, SETTLED);
}

uint64_t as_ahead_hand_over(struct as_ahead *ahead)
{
    if (ahead->used)
        publish(ahead, HANDED_OVER);
    return ahead->filled; /* this thread's alone to change */
}

void as_ahead_wait(struct as_ahead *ahead, uint64_t number)
{
    pthread_mutex_lock(&ahead->mutex);
    if (ahead->taken < number && ahead->taker_sleeps)
        pthread_cond_signal(&ahead->more);
    wait_until_taken(ahead, number);
    pthread_mutex_unlock(&ahead->mutex);
}

struct as_ahead_block *as_ahead_room(struct as_ahead *ahead, size_t accesses, size_t controls)
{
    size_t words = words_of(accesses * sizeof(struct as_core_access) + controls * sizeof(uint32_t));
    return words > CHUNK_WORDS ? NULL : (struct as_ahead_block *)ahead->open;
}

void as_ahead_put_words(struct as_ahead *ahead, const uint64_t *words, size_t n)
{
    struct as_ahead_block *block = (struct as_ahead_block *)ahead->open;
    block->body = NULL;
    block->path = (uint32_t)n;
    block->taken = 0;
    memcpy(block->data, words, n * sizeof *words);
    as_ahead_put(ahead, n * sizeof *words, 0);
}

/* What was written as halves of words is copied as such: the host would wait for both to be in its cache before it reads a word. */
static void copy_block(uint64_t *to, const struct as_ahead_block *block, size_t words, size_t halves, size_t all)
{
    enum { HALVES_AT = offsetof(struct as_ahead_block, path) / sizeof(uint64_t) };
    const uint64_t *from = (const uint64_t *)block;
    for (size_t i = 0; i < HALVES_AT; i++)
        as_host_stream(&to[i], from[i]);
    as_host_stream_half((uint32_t *)&to[HALVES_AT], block->path);
    as_host_stream_half((uint32_t *)&to[HALVES_AT] + 1, block->taken | (uint32_t)all << 1);
    for (size_t i = HALVES_AT + 1; i < words; i++)
        as_host_stream(&to[i], from[i]);
    for (size_t i = 0; i < halves; i++)
        as_host_stream_half((uint32_t *)&to[words] + i, ((const uint32_t *)&from[words])[i]);
}

void as_ahead_put(struct as_ahead *ahead, size_t bytes, size_t controls)
{
    size_t words = words_of(bytes + controls * sizeof(uint32_t));
    if (__builtin_expect(ahead->used + words > CHUNK_WORDS, 0))
        publish(ahead, FULL);
    copy_block(&ahead->chunk->words[ahead->used], (const struct as_ahead_block *)ahead->open, words_of(bytes), controls,
               words);
    ahead->used += words;
}

void as_ahead_free(struct as_ahead *ahead)
{
    if (!ahead)
        return;
    as_ahead_settle(ahead);
    pthread_mutex_lock(&ahead->mutex);
    ahead->over = true;
    pthread_cond_signal(&ahead->more);
    pthread_mutex_unlock(&ahead->mutex);
    pthread_join(ahead->thread, NULL);
    pthread_mutex_destroy(&ahead->mutex);
    pthread_cond_destroy(&ahead->more);
    pthread_cond_destroy(&ahead->less);
    free(ahead);
}
