/* See detect.h. A thread's record is made when it starts and changed only by calls for that thread; what others read of it
 * is atomic. Nothing here waits or locks, and nothing is allocated but the list of detections: machines call from one thread. */
#include "comm/detect.h"

#include "base/random.h"
#include "comm/board.h"
#include "comm/last_store.h"
#include "model/shared_memory.h"

#include <stdatomic.h>

enum { CHUNK = 8, CHUNKS = AS_BOARD_LINE / CHUNK, SETS = 64, WAYS = 4 };

struct pair_count {
    uint64_t true_, false_;
};

/* What a thread knows of a line: the newest entry that it has counted, and its own last sample of it. */
struct known_line {
    uint64_t line, counted; /* counted: when that was published */
    uint64_t sampled;       /* its samples then, + 1; 0: none */
    uint64_t used;          /* … when it was last learned, + 1; 0: the place is free */
    uint64_t written;       /* bytes that its samples stored to, by bit */
};

struct thread {
    uint32_t number, process;
    uint64_t seed;
    uint64_t samples;                    /* of either kind */
    _Atomic uint64_t store_samples;      /* others ask whether its entries still live: relaxed, a little late is fine */
    uint64_t last_sample;                /* when; 0: none */
    _Atomic uint64_t until;              /* if it still runs, it will be sampled by then; 0: it does */
    struct known_line known[SETS][WAYS]; /* by line */
    struct as_board_entry watched;
    uint32_t armed;    /* registers */
    uint64_t armed_at; /* its samples then */
    struct as_lens_ref refs[AS_LENS_REGISTERS];
    bool has_published;            /* the first of them watches the published bytes */
    bool has_suspect;              /* … and others were touched so far: */
    struct as_lens_access suspect; /* false sharing, unless the published ones are touched, too */
    AS_VEC(struct as_detection) detections;
    struct as_detect_counts counts;
    struct pair_count pairs[AS_DETECT_THREADS]; /* by the publisher's number */
};

struct as_detect {
    struct as_lens lens;
    struct as_detect_options options;
    struct as_board *board;
    struct as_last_store *last;                          /* NULL: Algorithm 1 */
    _Atomic(struct thread *) threads[AS_DETECT_THREADS]; /* release when it starts, acquire by whoever asks */
    _Atomic uint64_t unseen;
};

struct as_detect *as_detect_new(const struct as_lens *lens, const struct as_detect_options *options)
{
    struct as_detect *detect = as_alloc(sizeof *detect);
    detect->lens = *lens;
    detect->options = *options;
    if (options->last_stores)
        detect->last = as_last_store_new(lens, options->registers, options->follow_life, options->seed);
    detect->board = as_board_new(options->buckets ? options->buckets : AS_BOARD_BUCKETS);
    return detect;
}

void as_detect_free(struct as_detect *detect)
{
    if (!detect)
        return;
    for (size_t i = 0; i < AS_DETECT_THREADS; i++) {
        struct thread *thread = atomic_load_explicit(&detect->threads[i], memory_order_relaxed);
        if (thread)
            as_vec_free(&thread->detections);
        free(thread);
    }
    as_board_free(detect->board);
    as_last_store_free(detect->last);
    free(detect);
}

/* Acquires the thread's members from start_thread. */
static struct thread *find_thread(struct as_detect *detect, uint32_t number)
{
    return number < AS_DETECT_THREADS ? atomic_load_explicit(&detect->threads[number], memory_order_acquire) : NULL;
}

static void start_thread(void *context, uint32_t number, uint32_t process)
{
    struct as_detect *detect = context;
    if (number >= AS_DETECT_THREADS || find_thread(detect, number))
        return;
    struct thread *thread = as_alloc(sizeof *thread);
    thread->number = number;
    thread->process = process;
    if (detect->last)
        as_last_store_start(detect->last, number, process);
    thread->seed = as_random_hash(detect->options.seed ^ as_random_hash(number));
    atomic_store_explicit(&detect->threads[number], thread, memory_order_release); /* to find_thread */
}

/* Whose address it is: memory that processes share is that of process 0. */
static uint32_t space_of(const struct thread *thread, uint64_t address)
{
    return as_shared_is(address) ? 0 : thread->process;
}

/* ---- counting ---- */

static struct known_line *set_of(struct thread *thread, uint64_t line)
{
    return thread->known[as_random_hash(line) % SETS];
}

/* Other lines may have taken its place: then nothing is known. */
static struct known_line know(struct thread *thread, uint64_t address)
{
    uint64_t line = address / AS_BOARD_LINE;
    const struct known_line *set = set_of(thread, line);
    for (size_t i = 0; i < WAYS; i++)
        if (set[i].used && set[i].line == line)
            return set[i];
    return (struct known_line){.line = line};
}

/* The line's own place, or that of the one of its set that was learned longest ago. */
static void learn(struct thread *thread, const struct known_line *known)
{
    struct known_line *set = set_of(thread, known->line), *to = set;
    for (size_t i = 0; i < WAYS; i++) {
        bool own = set[i].used && set[i].line == known->line;
        if (own || set[i].used < to->used)
            to = &set[i];
        if (own)
            break;
    }
    *to = *known;
    to->used = thread->samples + 1;
}

/* The mark stays with the entry when this thread has forgotten the line. */
static bool is_counted(struct thread *thread, const struct as_board_entry *entry)
{
    bool marked = thread->number < AS_BOARD_MARKS && entry->marks >> thread->number & 1;
    return marked || entry->time <= know(thread, entry->address).counted;
}

/* The bytes of a line that lie in a range, by bit. */
static uint64_t bytes_of(uint64_t line, uint64_t address, uint32_t size)
{
    uint64_t end = address + (size ? size : 1), first = address > line ? address - line : 0;
    uint64_t last = end < line + AS_BOARD_LINE ? end - line : AS_BOARD_LINE;
    if (end <= line || first >= last)
        return 0;
    return UINT64_MAX >> (AS_BOARD_LINE - (last - first)) << first;
}

static uint64_t line_of(uint64_t address)
{
    return address & ~(uint64_t)(AS_BOARD_LINE - 1);
}

static bool overlaps(const struct as_board_entry *entry, const struct as_lens_access *access)
{
    return entry->written & bytes_of(line_of(entry->address), access->address, access->size);
}

static struct as_lens_access access_of(const struct as_board_entry *entry)
{
    return (struct as_lens_access){.thread = entry->thread,
                                   .address = entry->address,
                                   .size = entry->size,
                                   .kind = AS_ACCESS_STORE,
                                   .insn = entry->insn,
                                   .path = entry->path,
                                   .time = entry->time};
}

static void add_detection(struct thread *thread, const struct as_detection *detection)
{
    struct pair_count *pair = &thread->pairs[detection->from.thread];
    *(detection->is_false ? &pair->false_ : &pair->true_) += detection->count;
    *as_vec_push(&thread->detections) = *detection;
}

/* What samples of last stores have found. */
static void take_found(struct as_detect *detect)
{
    struct as_last_found found;
    while (as_last_store_next(detect->last, &found)) {
        struct thread *thread = find_thread(detect, found.to.thread);
        struct as_detection detection = {found.from, found.to, found.count, found.is_false};
        if (!thread || !find_thread(detect, found.from.thread))
            continue;
        thread->counts.trapped++;
        add_detection(thread, &detection);
    }
}

static void count_pair(const struct as_detect *detect, struct thread *thread, const struct as_board_entry *entry,
                       const struct as_lens_access *access, uint64_t count)
{
    struct as_detection detection = {
        .from = access_of(entry), .to = *access, .count = count, .is_false = !overlaps(entry, access)};
    add_detection(thread, &detection);
    struct known_line known = know(thread, entry->address);
    known.counted = entry->time;
    learn(thread, &known);
    as_board_mark(detect->board, entry, thread->number);
}

/* ---- watching ---- */

static bool lives(struct as_detect *detect, const struct as_board_entry *entry)
{
    struct thread *publisher = find_thread(detect, entry->thread);
    return publisher && atomic_load_explicit(&publisher->store_samples, memory_order_relaxed) - entry->number <=
                            detect->options.entry_life;
}

struct wish {
    struct as_detect *detect;
    struct thread *thread;
};

static bool is_worth_watching(void *context, const struct as_board_entry *entry)
{
    const struct wish *wish = context;
    struct thread *thread = wish->thread;
    struct known_line known = know(thread, entry->address);
    bool looked_up = known.sampled && thread->samples + 1 - known.sampled < wish->detect->options.own_samples;
    return entry->thread != thread->number && entry->process == space_of(thread, entry->address) &&
           entry->time > thread->last_sample && !is_counted(thread, entry) && !looked_up && lives(wish->detect, entry);
}

/* The published bytes were not touched. Where several others may have been, one of 7 / (D - 1) of them was watched. */
static void settle_suspect(const struct as_detect *detect, struct thread *thread)
{
    uint64_t scale = CHUNKS - 1, others = thread->armed - 1;
    if (thread->has_suspect)
        count_pair(detect, thread, &thread->watched, &thread->suspect, thread->watched.period * scale / others);
    thread->has_suspect = false;
}

static void disarm(struct as_detect *detect, struct thread *thread)
{
    settle_suspect(detect, thread);
    for (uint32_t i = 0; i < thread->armed; i++)
        (void)as_lens_disarm(&detect->lens, &thread->refs[i]);
    thread->armed = 0;
}

static bool arm_chunk(struct as_detect *detect, struct thread *thread, uint8_t chunk)
{
    struct as_lens_watch watch = {.address = line_of(thread->watched.address) + chunk * CHUNK,
                                  .length = CHUNK,
                                  .kind = AS_ACCESS_LOAD | AS_ACCESS_STORE};
    bool armed = as_lens_arm(&detect->lens, thread->number, &watch, &thread->refs[thread->armed]) == AS_LENS_OK;
    thread->armed += armed;
    return armed;
}

/* Random chunks of the line, each at most once: the first of a shuffled row, behind that of the published bytes if those are
 * watched in any case. */
static void arm(struct as_detect *detect, struct thread *thread)
{
    uint8_t chunks[CHUNKS], published = (uint8_t)(thread->watched.address % AS_BOARD_LINE / CHUNK);
    uint32_t registers = as_lens_registers(&detect->lens);
    registers = registers < detect->options.registers ? registers : detect->options.registers;
    bool fixed = detect->options.watch_published && registers > 1;
    for (uint32_t i = 0; i < CHUNKS; i++)
        chunks[i] = (uint8_t)i;
    chunks[0] = fixed ? published : 0;
    chunks[published] = fixed ? 0 : published;
    thread->has_published = false;
    for (uint32_t i = 0; i < registers; i++) {
        uint32_t other = i + (i || !fixed ? (uint32_t)as_random_below(&thread->seed, CHUNKS - i) : 0);
        uint8_t chunk = chunks[other];
        chunks[other] = chunks[i];
        bool armed = arm_chunk(detect, thread, chunk);
        thread->has_published |= armed && fixed && i == 0;
    }
    thread->counts.armed += thread->armed > 0;
    thread->counts.refused += thread->armed == 0 && registers;
    thread->armed_at = thread->samples;
}

static void try_arm(struct as_detect *detect, struct thread *thread)
{
    struct wish wish = {.detect = detect, .thread = thread};
    if (thread->armed && thread->samples - thread->armed_at < detect->options.watch_life)
        return;
    disarm(detect, thread);
    if (as_board_pick(detect->board, is_worth_watching, &wish, as_random(&thread->seed), &thread->watched))
        arm(detect, thread);
}

static void on_trap(void *context, const struct as_lens_trap *trap)
{
    struct as_detect *detect = context;
    struct thread *thread = find_thread(detect, trap->access.thread);
    if (detect->last) {
        as_last_store_trap(detect->last, trap);
        take_found(detect);
        return;
    }
    if (!thread || !thread->armed)
        return;
    bool touches = overlaps(&thread->watched, &trap->access);
    thread->counts.trapped += !thread->has_suspect;
    if (thread->has_published && !touches) {
        thread->suspect = thread->has_suspect ? thread->suspect : trap->access;
        thread->has_suspect = true;
        return;
    }
    uint64_t count =
        thread->watched.period * (thread->has_published ? 1 : CHUNKS) / (thread->has_published ? 1 : thread->armed);
    thread->has_suspect = false;
    count_pair(detect, thread, &thread->watched, &trap->access, count);
    disarm(detect, thread);
}

/* ---- samples ---- */

/* Where the line's entry is the thread's own, this one goes on with it. */
static uint64_t begin_of(struct as_detect *detect, const struct thread *thread, const struct as_lens_access *access)
{
    struct as_board_entry before;
    bool goes_on = as_board_get(detect->board, space_of(thread, access->address), access->address, &before) &&
                   before.thread == thread->number;
    return goes_on ? before.since : access->time;
}

static void publish(struct as_detect *detect, struct thread *thread, const struct as_lens_sample *sample)
{
    const struct as_lens_access *access = &sample->access;
    uint64_t number = atomic_load_explicit(&thread->store_samples, memory_order_relaxed);
    struct known_line known = know(thread, access->address);
    known.written |= bytes_of(line_of(access->address), access->address, access->size);
    learn(thread, &known);
    struct as_board_entry entry = {.address = access->address,
                                   .size = access->size ? access->size : 1,
                                   .process = space_of(thread, access->address),
                                   .thread = thread->number,
                                   .path = access->path,
                                   .time = access->time,
                                   .insn = access->insn,
                                   .number = number,
                                   .period = sample->period,
                                   .since = begin_of(detect, thread, access),
                                   .written = known.written};
    thread->counts.published += as_board_put(detect->board, &entry);
}

/* The two took turns, and the publisher used the line for longer than one sample. */
static bool is_turn(struct as_detect *detect, const struct as_board_entry *entry, const struct as_lens_access *access)
{
    const struct thread *publisher = find_thread(detect, entry->thread);
    uint64_t until = atomic_load_explicit(&publisher->until, memory_order_relaxed);
    bool together = entry->time >= access->since && (!until || until >= access->time);
    return access->since && !together && entry->since < entry->time;
}

/* Lines 5 to 21 of the algorithm. */
static void look_up(struct as_detect *detect, struct thread *thread, const struct as_lens_sample *sample)
{
    struct as_board_entry entry;
    bool found =
        as_board_get(detect->board, space_of(thread, sample->access.address), sample->access.address, &entry) &&
        entry.thread != thread->number && entry.thread < AS_DETECT_THREADS && !is_counted(thread, &entry);
    if (found) {
        bool turn = is_turn(detect, &entry, &sample->access);
        thread->counts.found++;
        thread->counts.turns += turn;
        count_pair(detect, thread, &entry, &sample->access, turn ? 1 : sample->period);
    } else {
        try_arm(detect, thread);
    }
    struct known_line known = know(thread, sample->access.address);
    known.sampled = thread->samples + 1;
    learn(thread, &known);
}

static void on_sample(void *context, const struct as_lens_sample *sample)
{
    struct as_detect *detect = context;
    struct thread *thread = find_thread(detect, sample->access.thread);
    bool store = sample->access.kind & AS_ACCESS_STORE;
    if (!thread) {
        atomic_fetch_add_explicit(&detect->unseen, 1, memory_order_relaxed);
        return;
    }
    if (store && sample->counter == AS_ACCESS_LOAD) {
        thread->counts.ignored++;
        return;
    }
    *(store ? &thread->counts.store_samples : &thread->counts.load_samples) += 1;
    if (detect->last) {
        thread->counts.armed += as_last_store_sample(detect->last, sample);
        take_found(detect);
        return;
    }
    look_up(detect, thread, sample);
    if (store) {
        atomic_fetch_add_explicit(&thread->store_samples, 1, memory_order_relaxed);
        publish(detect, thread, sample);
    }
    thread->samples++;
    thread->last_sample = sample->access.time;
    atomic_store_explicit(&thread->until, sample->access.until, memory_order_relaxed);
}

/* Its registers go with it. */
static void end_thread(void *context, uint32_t number)
{
    struct thread *thread = find_thread(context, number);
    if (!thread)
        return;
    settle_suspect(context, thread);
    thread->armed = 0;
    if (((struct as_detect *)context)->last)
        as_last_store_end(((struct as_detect *)context)->last, number);
}

const struct as_lens_client as_detect_client = {
    .thread_start = start_thread, .thread_end = end_thread, .sample = on_sample, .trap = on_trap};

/* ---- results ---- */

void as_detect_finish(struct as_detect *detect)
{
    if (detect->last) {
        as_last_store_finish(detect->last);
        take_found(detect);
    }
    for (uint32_t i = 0; i < AS_DETECT_THREADS; i++) {
        struct thread *thread = find_thread(detect, i);
        if (thread)
            settle_suspect(detect, thread);
    }
}

static void add_counts(struct as_detect_counts *sum, const struct as_detect_counts *counts)
{
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *from = (const uint64_t *)counts;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += from[i];
}

struct as_detect_counts as_detect_counts(const struct as_detect *detect)
{
    struct as_detect_counts sum = {.unseen = atomic_load(&((struct as_detect *)detect)->unseen)};
    for (uint32_t i = 0; i < AS_DETECT_THREADS; i++) {
        const struct thread *thread = find_thread((struct as_detect *)detect, i);
        if (thread)
            add_counts(&sum, &thread->counts);
    }
    return sum;
}

static uint32_t place_of(const uint32_t *places, size_t n, uint32_t number)
{
    return number < n ? places[number] : UINT32_MAX;
}

void as_detect_matrix(const struct as_detect *detect, const uint32_t *places, size_t n, struct as_pair_matrix *matrix)
{
    for (uint32_t i = 0; i < AS_DETECT_THREADS; i++) {
        const struct thread *thread = find_thread((struct as_detect *)detect, i);
        uint32_t to = place_of(places, n, i);
        for (uint32_t k = 0; thread && to < matrix->n && k < AS_DETECT_THREADS; k++) {
            uint32_t from = place_of(places, n, k);
            if (from >= matrix->n)
                continue;
            as_pair_matrix_add(matrix, from, to, false, thread->pairs[k].true_);
            as_pair_matrix_add(matrix, from, to, true, thread->pairs[k].false_);
        }
    }
}

static struct as_contact_side side_of(struct as_detect *detect, const struct as_lens_access *access, uint64_t line)
{
    uint64_t end = access->address + (access->size ? access->size : 1);
    uint64_t first = access->address > line ? access->address - line : 0;
    uint64_t last = end < line + AS_BOARD_LINE ? end - line : AS_BOARD_LINE;
    const struct thread *thread = find_thread(detect, access->thread);
    return (struct as_contact_side){.insn = access->insn,
                                    .process = thread ? thread->process : 0,
                                    .path = access->path,
                                    .offset = (uint8_t)first,
                                    .size = (uint8_t)(last - first)};
}

void as_detect_contacts(const struct as_detect *detect, const uint32_t *places, size_t n, struct as_contacts *contacts)
{
    for (uint32_t i = 0; i < AS_DETECT_THREADS; i++) {
        const struct thread *thread = find_thread((struct as_detect *)detect, i);
        for (size_t k = 0; thread && k < thread->detections.len; k++) {
            const struct as_detection *detection = &thread->detections.data[k];
            uint64_t line = line_of(detection->from.address);
            struct as_contact contact = {.line = line,
                                         .process = space_of(thread, line),
                                         .from = side_of((struct as_detect *)detect, &detection->from, line),
                                         .to = side_of((struct as_detect *)detect, &detection->to, line),
                                         .is_false = detection->is_false,
                                         .count = detection->count};
            as_contacts_add(contacts, &contact, place_of(places, n, detection->from.thread), place_of(places, n, i));
        }
    }
}
