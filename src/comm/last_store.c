/* See last_store.h. */
#include "comm/last_store.h"

#include "base/alloc.h"
#include "base/random.h"
#include "base/vec.h"
#include "comm/board.h"
#include "model/shared_memory.h"

enum { CHUNK = 8, CHUNKS = AS_BOARD_LINE / CHUNK, LINES = 1 << 12, WRITERS = 1 << 14 };
enum { KNOWN = 8 }; /* samples of a line after which all its words are taken for seen */

struct follower {
    uint32_t number, process;
    bool live;
    uint64_t passed; /* accesses that its stores stand for that were sampled and not followed */
    bool has_line;   /* it has touched it since the store */
    bool
        is_suspect; /* … elsewhere than where the store's thread is known to have written, and not all words are watched: */
    struct as_last_found suspect; /* false sharing, unless it reads there, too */
    uint32_t n;                   /* registers */
    struct as_lens_ref refs[AS_LENS_REGISTERS];
};

/* Words of a line that were seen in use, by bit. */
struct line_words {
    uint64_t key;
    uint8_t seen;
    uint32_t samples;
};

struct writer_bytes {
    uint64_t key, written;
};

struct as_last_store {
    struct as_lens lens;
    uint32_t registers, life;
    uint64_t seed;
    AS_VEC(struct follower) threads; /* by number */
    struct line_words lines[LINES];
    struct writer_bytes writers[WRITERS];
    /* the store that is followed */
    bool follows;
    struct as_last_found store;
    uint32_t process;
    uint64_t line, samples; /* `samples`: store samples since */
    bool fits;              /* all words of the line that were seen in use are watched */
    uint64_t written;       /* bytes of the line that its thread has been sampled to store to, by bit */
    AS_VEC(struct as_last_found) found;
};

struct as_last_store *as_last_store_new(const struct as_lens *lens, uint32_t registers, uint32_t life, uint64_t seed)
{
    struct as_last_store *last = as_alloc(sizeof *last);
    uint32_t has = as_lens_registers(lens);
    last->lens = *lens;
    last->registers = has < registers ? has : registers;
    last->life = life;
    last->seed = as_random_hash(seed);
    return last;
}

void as_last_store_free(struct as_last_store *last)
{
    if (last) {
        as_vec_free(&last->threads);
        as_vec_free(&last->found);
    }
    free(last);
}

static struct follower *find(struct as_last_store *last, uint32_t thread)
{
    return thread < last->threads.len && last->threads.data[thread].live ? &last->threads.data[thread] : NULL;
}

void as_last_store_start(struct as_last_store *last, uint32_t thread, uint32_t process)
{
    while (last->threads.len <= thread)
        *as_vec_push(&last->threads) = (struct follower){.live = false};
    last->threads.data[thread] = (struct follower){.number = thread, .process = process, .live = true};
}

static uint64_t line_of(uint64_t address)
{
    return address / AS_BOARD_LINE;
}

static uint64_t key_of(const struct as_last_store *last, uint32_t thread, uint64_t address)
{
    uint32_t process = as_shared_is(address) ? 0 : last->threads.data[thread].process;
    return as_random_hash(line_of(address) ^ (uint64_t)process << 44) | 1;
}

static uint8_t chunk_of(uint64_t address)
{
    return (uint8_t)(address % AS_BOARD_LINE / CHUNK);
}

static struct line_words *note_word(struct as_last_store *last, const struct as_lens_access *access)
{
    uint64_t key = key_of(last, access->thread, access->address);
    struct line_words *words = &last->lines[key / 2 % LINES];
    if (words->key != key)
        *words = (struct line_words){.key = key};
    words->seen |= (uint8_t)(1u << chunk_of(access->address));
    return words;
}

static uint64_t bytes_of(const struct as_lens_access *access)
{
    uint64_t first = access->address % AS_BOARD_LINE, size = access->size ? access->size : 1;
    size = first + size > AS_BOARD_LINE ? AS_BOARD_LINE - first : size;
    return UINT64_MAX >> (AS_BOARD_LINE - size) << first;
}

static uint64_t note_written(struct as_last_store *last, const struct as_lens_access *access)
{
    uint64_t key = as_random_hash(key_of(last, access->thread, access->address) ^ access->thread);
    struct writer_bytes *bytes = &last->writers[key % WRITERS];
    if (bytes->key != key)
        *bytes = (struct writer_bytes){.key = key};
    return bytes->written |= bytes_of(access);
}

/* ---- watching ---- */

static void release(struct as_last_store *last, struct follower *thread)
{
    for (uint32_t i = 0; i < thread->n; i++)
        (void)as_lens_disarm(&last->lens, &thread->refs[i]);
    if (thread->is_suspect)
        *as_vec_push(&last->found) = thread->suspect;
    thread->n = 0;
    thread->has_line = thread->is_suspect = false;
}

static void give_up(struct as_last_store *last)
{
    for (size_t i = 0; i < last->threads.len; i++)
        release(last, &last->threads.data[i]);
    last->follows = false;
}

void as_last_store_end(struct as_last_store *last, uint32_t thread)
{
    struct follower *own = find(last, thread);
    if (!own)
        return;
    own->n = 0; /* they go with it */
    release(last, own);
    own->live = false;
}

static bool shares(const struct as_last_store *last, const struct follower *thread)
{
    return thread->live && (thread->process == last->process || as_shared_is(last->line * AS_BOARD_LINE));
}

static void watch(struct as_last_store *last, struct follower *thread, uint8_t chunks)
{
    uint8_t kind = AS_ACCESS_STORE | (thread->number == last->store.from.thread ? 0 : AS_ACCESS_LOAD);
    for (; chunks; chunks &= (uint8_t)(chunks - 1)) {
        struct as_lens_watch word = {.address = last->line * AS_BOARD_LINE + (uint64_t)__builtin_ctz(chunks) * CHUNK,
                                     .length = CHUNK,
                                     .kind = kind};
        thread->n += as_lens_arm(&last->lens, thread->number, &word, &thread->refs[thread->n]) == AS_LENS_OK;
    }
}

/* So many of the chunks, at random. */
static uint8_t draw(struct as_last_store *last, uint8_t chunks, uint32_t n)
{
    uint8_t drawn = 0;
    for (; n > 0 && chunks; n--) {
        uint64_t skip = as_random_below(&last->seed, (uint64_t)__builtin_popcount(chunks));
        uint8_t rest = chunks;
        for (; skip > 0; skip--)
            rest &= (uint8_t)(rest - 1);
        drawn |= (uint8_t)(rest & -rest);
        chunks &= (uint8_t) ~(rest & -rest);
    }
    return drawn;
}

/* The store's own word; the next one, where code that fills a line goes on; of those that were seen in use as many as there are registers
 * for; then any. */
static uint8_t choose(struct as_last_store *last, const struct line_words *words, uint8_t own)
{
    uint8_t seen = words->seen;
    uint8_t chosen = own, next = (uint8_t)(own << 1);
    bool fit = (uint32_t)__builtin_popcount(seen | own) <= last->registers;
    last->fits = fit && words->samples >= KNOWN;
    if (!fit && last->registers > 1)
        chosen |= next;
    chosen |= draw(last, seen & (uint8_t)~chosen, last->registers - (uint32_t)__builtin_popcount(chosen));
    if (fit && last->registers > (uint32_t)__builtin_popcount(chosen))
        chosen |= next;
    return chosen | draw(last, (uint8_t)~chosen, last->registers - (uint32_t)__builtin_popcount(chosen));
}

static void follow(struct as_last_store *last, const struct as_lens_sample *sample, struct follower *own,
                   const struct line_words *words, uint64_t written)
{
    const struct as_lens_access *access = &sample->access;
    last->follows = true;
    last->store = (struct as_last_found){.from = *access, .count = sample->period + own->passed};
    last->written = written;
    last->process = own->process;
    last->line = line_of(access->address);
    last->samples = 0;
    own->passed = 0;
    uint8_t chunks = choose(last, words, (uint8_t)(1u << chunk_of(access->address)));
    for (size_t i = 0; i < last->threads.len; i++)
        if (shares(last, &last->threads.data[i]))
            watch(last, &last->threads.data[i], chunks);
}

bool as_last_store_sample(struct as_last_store *last, const struct as_lens_sample *sample)
{
    struct follower *own = find(last, sample->access.thread);
    if (!own || !last->registers)
        return false;
    struct line_words *words = note_word(last, &sample->access);
    words->samples++;
    if (!(sample->access.kind & AS_ACCESS_STORE))
        return false;
    uint64_t written = note_written(last, &sample->access);
    if (last->follows && ++last->samples < last->life) {
        own->passed += sample->period;
        return false;
    }
    give_up(last);
    follow(last, sample, own, words, written);
    return true;
}

/* The thread has the line now: whether it came for what the store's thread has written. */
static void note_touch(struct as_last_store *last, struct follower *thread, const struct as_lens_access *access)
{
    bool touches = last->written & bytes_of(access);
    if (thread->has_line && (!thread->is_suspect || !touches))
        return;
    struct as_last_found found = thread->has_line ? thread->suspect : last->store;
    if (!thread->has_line)
        found.to = *access;
    found.is_false = !touches;
    thread->has_line = true;
    thread->is_suspect = !touches && !last->fits;
    if (!thread->is_suspect)
        *as_vec_push(&last->found) = found;
    else
        thread->suspect = found;
}

void as_last_store_trap(struct as_last_store *last, const struct as_lens_trap *trap)
{
    struct follower *thread = find(last, trap->access.thread);
    if (!thread || !last->follows || !thread->n)
        return;
    (void)note_word(last, &trap->access);
    bool own = thread->number == last->store.from.thread;
    if (!own)
        note_touch(last, thread, &trap->access);
    if (own || trap->access.kind & AS_ACCESS_STORE)
        give_up(last);
}

bool as_last_store_next(struct as_last_store *last, struct as_last_found *found)
{
    if (!last->found.len)
        return false;
    *found = last->found.data[--last->found.len];
    return true;
}

void as_last_store_finish(struct as_last_store *last)
{
    give_up(last);
}
