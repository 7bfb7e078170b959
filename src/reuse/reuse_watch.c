/* See reuse_watch.h. */
#include "reuse/reuse_watch.h"

#include "assay/observer.h"
#include "base/random.h"
#include "base/vec.h"
#include "reuse/patience.h"
#include "reuse/reuse_rules.h"

#include <math.h>
#include <stdatomic.h>

enum { MOST_PENDING = 2 * AS_LENS_REGISTERS };

/* AS_REPLACE_GRADED: by how much fewer samples are left out after one that found a free slot, and by which part more after one
 * that did not: two of three that are watched take a slot from another. */
static const double FEWER = 1, MORE = 0.5;

/* What a slot watches. Readers copy it. */
struct contents {
    bool active;
    uint64_t serial; /* of the use: 1, 2 … */
    struct as_lens_access use;
    struct as_lens_watch watch;
    uint64_t count; /* accesses of the owner, or of its socket, up to the use */
    double weight;
};

struct slot {
    atomic_flag lock;
    _Atomic uint64_t begun, ended; /* writes: different while one is under way */
    struct contents contents;
    double samples;  /* since it was armed, this one included */
    uint64_t since;  /* the number of the sample that it was armed for */
    double spared;   /* how often another use had to go since */
    double kept;     /* the chance that its use had to be here still … */
    uint32_t octave; /* … by octaves of distances, up to this one */
    float passed[AS_DISTANCE_OCTAVES];
    _Atomic bool relaxed; /* another thread stored before all were armed */
};

struct thread {
    uint32_t number, process, socket, index; /* index in its process */
    bool live;
    uint64_t last_count; /* accesses, when last asked … */
    uint8_t how;         /* … and what that comes from: enum as_lens_how */
    struct as_lens_ref refs[AS_LENS_REGISTERS];
    bool armed[AS_LENS_REGISTERS];
};

/* Threads that are to be armed later. */
struct pending {
    uint32_t slot;
    uint64_t serial, due;
};

struct as_reuse_watch {
    struct as_watch_options options;
    struct as_lens lens;
    uint32_t n_slots, n_live; /* n_live: threads */
    struct slot slots[AS_LENS_REGISTERS];
    AS_VEC(struct thread *) threads; /* in order of appearance */
    AS_VEC(uint32_t) by_number;      /* place in threads + 1 */
    _Atomic uint64_t serials, seed;
    struct as_watch_outcome *outcomes;
    _Atomic size_t n_outcomes;
    struct pending pending[MOST_PENDING];
    size_t n_pending;
    _Atomic uint64_t samples, armed, dropped, busy, stale, traps, relaxed;
    /* AS_REPLACE_GRADED, under `choosing`: one in so many samples is watched; what is known of ages. */
    atomic_flag choosing;
    double one_in;
    struct as_patience patience;
};

struct as_reuse_watch *as_reuse_watch_new(const struct as_watch_options *options, const struct as_lens *lens)
{
    struct as_reuse_watch *watch = as_alloc(sizeof *watch);
    watch->options = *options;
    watch->lens = *lens;
    watch->n_slots = as_lens_registers(lens);
    watch->seed = options->seed;
    watch->outcomes = as_alloc_array(options->most, sizeof *watch->outcomes);
    watch->one_in = 1;
    as_patience_init(&watch->patience);
    for (uint32_t i = 0; i < AS_LENS_REGISTERS; i++)
        watch->slots[i].samples = 1;
    return watch;
}

void as_reuse_watch_free(struct as_reuse_watch *watch)
{
    if (!watch)
        return;
    for (size_t i = 0; i < watch->threads.len; i++)
        free(watch->threads.data[i]);
    as_vec_free(&watch->threads);
    as_vec_free(&watch->by_number);
    free(watch->outcomes);
    free(watch);
}

/* ---- slots ---- */

static bool try_lock(struct slot *slot)
{
    return !atomic_flag_test_and_set_explicit(&slot->lock, memory_order_acquire);
}

static void unlock(struct slot *slot)
{
    atomic_flag_clear_explicit(&slot->lock, memory_order_release);
}

/* Under the lock. `begun` goes up before the contents change, `ended` behind: pairs with read_slot. */
static void write_slot(struct slot *slot, const struct contents *contents)
{
    uint64_t version = atomic_load_explicit(&slot->begun, memory_order_relaxed) + 1;
    atomic_store_explicit(&slot->begun, version, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    slot->contents = *contents;
    atomic_store_explicit(&slot->ended, version, memory_order_release);
}

/* False: it was being written. */
static bool read_slot(const struct slot *slot, struct contents *contents)
{
    uint64_t ended = atomic_load_explicit(&slot->ended, memory_order_acquire);
    *contents = slot->contents;
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&slot->begun, memory_order_relaxed) == ended;
}

/* ---- threads ---- */

static struct thread *find(const struct as_reuse_watch *watch, uint32_t number)
{
    uint32_t place = number < watch->by_number.len ? watch->by_number.data[number] : 0;
    return place ? watch->threads.data[place - 1] : NULL;
}

static uint64_t count_of(struct as_reuse_watch *watch, struct thread *thread)
{
    struct as_lens_counts counts = {0};
    if (thread->live && as_lens_counts(&watch->lens, thread->number, &counts)) {

        thread->last_count = counts.accesses;
        thread->how = counts.how;
    }
    return thread->last_count;
}

/* The clock of a use: the owner's accesses, or those of all threads of its socket. */
static uint64_t clock_of(struct as_reuse_watch *watch, struct thread *owner)
{
    if (watch->options.mode == AS_WATCH_THREADS)
        return count_of(watch, owner);
    uint64_t sum = 0;
    for (size_t i = 0; i < watch->threads.len; i++)
        if (watch->threads.data[i]->socket == owner->socket)
            sum += count_of(watch, watch->threads.data[i]);
    return sum;
}

static enum as_reuse_relation relation_of(const struct thread *owner, const struct thread *other)
{
    if (owner == other)
        return AS_REUSE_SAME_CORE;
    return owner->socket == other->socket ? AS_REUSE_SAME_SOCKET : AS_REUSE_OTHER_SOCKET;
}

static enum as_reuse_outcome outcome_of(const struct as_reuse_watch *watch, bool first_writes, bool second_writes,
                                        enum as_reuse_relation relation)
{
    return watch->options.mode == AS_WATCH_THREADS ? as_reuse_in_thread(first_writes, second_writes, relation)
                                                   : as_reuse_in_cache(first_writes, second_writes, relation);
}

/* The kinds of access by `other` that decide the use: what the rules give an outcome. 0: it is not watched. */
static uint8_t kinds_for(const struct as_reuse_watch *watch, const struct thread *owner, const struct thread *other,
                         bool first_writes)
{
    enum as_reuse_relation relation = relation_of(owner, other);
    if (outcome_of(watch, first_writes, false, relation) != AS_REUSE_NONE)
        return AS_ACCESS_LOAD | AS_ACCESS_STORE;
    return outcome_of(watch, first_writes, true, relation) != AS_REUSE_NONE ? AS_ACCESS_STORE : 0;
}

/* ---- arming ---- */

static void disarm(struct as_reuse_watch *watch, struct thread *thread, uint32_t slot)
{
    if (thread->armed[slot])
        as_lens_disarm(&watch->lens, &thread->refs[slot]);
    thread->armed[slot] = false;
}

static bool arm(struct as_reuse_watch *watch, struct thread *thread, uint32_t slot, const struct contents *contents,
                uint8_t kinds)
{
    struct as_lens_watch wanted = contents->watch;
    wanted.kind = kinds;
    if (!kinds) {
        disarm(watch, thread, slot);
        return true;
    }
    enum as_lens_result result = thread->armed[slot]
                                     ? as_lens_move(&watch->lens, &thread->refs[slot], &wanted)
                                     : as_lens_arm(&watch->lens, thread->number, &wanted, &thread->refs[slot]);
    if (result == AS_LENS_GONE && thread->armed[slot])
        result = as_lens_arm(&watch->lens, thread->number, &wanted, &thread->refs[slot]);
    return thread->armed[slot] = result == AS_LENS_OK;
}

static void disarm_all(struct as_reuse_watch *watch, uint32_t slot)
{
    for (size_t i = 0; i < watch->threads.len; i++)
        disarm(watch, watch->threads.data[i], slot);
}

/* `others`: all but the owner; otherwise the owner alone. */
static bool arm_threads(struct as_reuse_watch *watch, uint32_t slot, const struct contents *contents, bool others)
{
    struct thread *owner = find(watch, contents->use.thread);
    bool ok = true;
    for (size_t i = 0; i < watch->threads.len; i++) {
        struct thread *thread = watch->threads.data[i];
        if (!thread->live || thread->process != owner->process || (thread != owner) != others)
            continue;
        uint8_t kinds = kinds_for(watch, owner, thread, contents->use.kind & AS_ACCESS_STORE);
        ok &= arm(watch, thread, slot, contents, kinds) || thread != owner;
    }
    return ok;
}

/* ---- outcomes ---- */

/* Accesses strictly between the use and now; `now_counts`: the access that ends it is counted already. */
static uint64_t distance_to(struct as_reuse_watch *watch, const struct contents *contents, bool now_counts)
{
    uint64_t now = clock_of(watch, find(watch, contents->use.thread)), since = now - contents->count;
    return since && now_counts ? since - 1 : since;
}

/* The use has got so far with the chance that it has now. */
static void pass(struct slot *slot, uint64_t distance)
{
    uint32_t octave = as_distance_octave(distance);
    while (slot->octave < octave)
        slot->passed[++slot->octave] = (float)slot->kept;
}

static void record(struct as_reuse_watch *watch, const struct contents *contents, enum as_use_end end,
                   uint64_t distance, const struct as_lens_access *by, bool relaxed)
{
    size_t at = atomic_fetch_add(&watch->n_outcomes, 1);
    struct slot *slot = &watch->slots[contents->watch.data & 7];
    double kept = slot->kept;
    if (at >= watch->options.most)
        return;
    pass(slot, distance);
    watch->outcomes[at] = (struct as_watch_outcome){.use = {.distance = distance,
                                                            .weight = contents->weight,
                                                            .kept = kept,
                                                            .end = (uint8_t)end,
                                                            .how = find(watch, contents->use.thread)->how},
                                                    .address = contents->use.address,
                                                    .use_insn = contents->use.insn,
                                                    .use_path = contents->use.path,
                                                    .use_thread = contents->use.thread,
                                                    .use_write = contents->use.kind & AS_ACCESS_STORE,
                                                    .end_insn = by ? by->insn : 0,
                                                    .end_path = by ? by->path : 0,
                                                    .end_thread = by ? by->thread : 0,
                                                    .end_write = by && by->kind & AS_ACCESS_STORE,
                                                    .relaxed = relaxed,
                                                    .time = contents->use.time};
    memcpy(watch->outcomes[at].use.passed, slot->passed, (slot->octave + 1) * sizeof *slot->passed);
}

void as_reuse_watch_add(struct as_reuse_watch *watch, const struct as_watch_outcome *outcome)
{
    size_t at = atomic_fetch_add(&watch->n_outcomes, 1);
    atomic_fetch_add(&watch->samples, 1);
    if (at < watch->options.most)
        watch->outcomes[at] = *outcome;
}

void as_reuse_watch_used(struct as_reuse_watch *watch, uint64_t data)
{
    struct slot *slot = &watch->slots[data & 7];
    if (!try_lock(slot))
        return;
    struct contents contents = slot->contents;
    if (contents.active && contents.serial == data >> 3) {
        contents.count = clock_of(watch, find(watch, contents.use.thread));
        write_slot(slot, &contents);
    }
    unlock(slot);
}

/* ---- Algorithm 2: a sample ---- */

static double draw(struct as_reuse_watch *watch)
{
    uint64_t step = atomic_fetch_add(&watch->seed, AS_RANDOM_STEP);
    return (double)(as_random_hash(step) >> 11) * 0x1p-53;
}

/* Under the slot's lock: its use was spared with this chance. */
static void spare(struct as_reuse_watch *watch, struct slot *slot, double chance)
{
    pass(slot, distance_to(watch, &slot->contents, false));
    slot->kept *= chance;
    slot->spared++;
}

/* Under the slot's lock. */
static void watch_use(struct as_reuse_watch *watch, uint32_t number, const struct as_lens_access *use, double weight)
{
    struct slot *slot = &watch->slots[number];
    struct contents contents = slot->contents;
    if (contents.active)
        record(watch, &contents, AS_USE_GIVEN_UP, distance_to(watch, &contents, false), NULL, false);
    slot->samples = 2; /* the next one is the second */
    slot->since = watch->samples;
    slot->spared = slot->octave = 0;
    slot->kept = slot->passed[0] = 1;
    uint64_t serial = atomic_fetch_add(&watch->serials, 1) + 1;
    uint32_t length = watch->options.length;
    contents = (struct contents){.active = true,
                                 .serial = serial,
                                 .use = *use,
                                 .watch = {.address = use->address & ~(uint64_t)(length - 1),
                                           .length = (uint8_t)length,
                                           .data = serial << 3 | number},
                                 .count = clock_of(watch, find(watch, use->thread)),
                                 .weight = weight};
    atomic_store(&slot->relaxed, false);
    write_slot(slot, &contents);
    bool late = watch->options.lag && watch->n_pending < MOST_PENDING;
    if (late)
        watch->pending[watch->n_pending++] =
            (struct pending){.slot = number, .serial = serial, .due = use->time + watch->options.lag};
    for (size_t i = 0; late && i < watch->threads.len; i++) /* what they watched until now is over */
        if (watch->threads.data[i]->number != use->thread)
            disarm(watch, watch->threads.data[i], number);
    if (!arm_threads(watch, number, &contents, false) || (!late && !arm_threads(watch, number, &contents, true))) {
        contents.active = false;
        write_slot(slot, &contents);
        disarm_all(watch, number);
        atomic_fetch_add(&watch->busy, 1);
        return;
    }
    atomic_fetch_add(&watch->armed, 1);
}

static bool take_free_slot(struct as_reuse_watch *watch, const struct as_lens_access *use, double weight)
{
    for (uint32_t i = 0; i < watch->n_slots; i++) {
        struct slot *slot = &watch->slots[i];
        if (slot->contents.active || !try_lock(slot))
            continue;
        bool ours = !slot->contents.active;
        if (ours)
            watch_use(watch, i, use, weight);
        unlock(slot);
        if (ours)
            return true;
    }
    return false;
}

/* ---- AS_REPLACE_RESERVOIR ---- */

/* The chance that a sample gets any of the slots, all of them taken. */
static double chance(const struct as_reuse_watch *watch)
{
    double none = 1;
    for (uint32_t i = 0; i < watch->n_slots; i++)
        none *= 1 - 1 / watch->slots[i].samples;
    return 1 - none;
}

static bool allow_replacement(struct as_reuse_watch *watch, struct slot *slot)
{
    double rate = 1 / slot->samples++;
    bool allowed = draw(watch) < rate;
    if (!allowed)
        spare(watch, slot, 1 - rate);
    return allowed;
}

static void sample_reservoir(struct as_reuse_watch *watch, const struct as_lens_access *use, double weight)
{
    if (take_free_slot(watch, use, weight))
        return;
    double p = chance(watch);
    for (uint32_t i = 0; i < watch->n_slots; i++) {
        struct slot *slot = &watch->slots[i];
        if (!try_lock(slot))
            continue;
        bool ours = slot->contents.active && allow_replacement(watch, slot);
        if (ours)
            watch_use(watch, i, use, p > 0 ? weight / p : weight);
        unlock(slot);
        if (ours)
            return;
    }
    atomic_fetch_add(&watch->dropped, 1);
}

/* ---- AS_REPLACE_GRADED ---- */

/* The chances of the slots' uses to have to go: that of slot 0 falls with each time that it was spared, the others share the
 * rest. They add up to 1. */
static void grade(const struct as_reuse_watch *watch, double chances[AS_LENS_REGISTERS])
{
    uint32_t n = watch->n_slots;
    double all = 0;
    chances[0] = n > 1 ? 0.25 / (1 + watch->slots[0].spared) : 1;
    for (uint32_t i = 1; i < n; i++)
        all += chances[i] = 1 / as_patience_reach(&watch->patience, watch->samples - watch->slots[i].since);
    for (uint32_t i = 1; i < n; i++)
        chances[i] *= (1 - chances[0]) / all;
}

/* Under all slots' locks, all of them being taken. */
static void replace(struct as_reuse_watch *watch, const struct as_lens_access *use, double weight)
{
    double chances[AS_LENS_REGISTERS], at = draw(watch);
    uint32_t gone = 0;
    grade(watch, chances);
    while (gone + 1 < watch->n_slots && at >= chances[gone])
        at -= chances[gone++];
    for (uint32_t i = 0; i < watch->n_slots; i++)
        if (i != gone)
            spare(watch, &watch->slots[i], 1 - chances[i]);
    const struct slot *slot = &watch->slots[gone];
    as_patience_learn(&watch->patience, watch->samples - slot->since, false, slot->contents.weight);
    watch_use(watch, gone, use, weight);
}

/* All or none; none where a slot is free or being changed. */
static bool lock_taken(struct as_reuse_watch *watch)
{
    uint32_t locked = 0;
    bool taken = true;
    for (; taken && locked < watch->n_slots && try_lock(&watch->slots[locked]); locked++)
        taken = watch->slots[locked].contents.active;
    if (taken && locked == watch->n_slots)
        return true;
    while (locked)
        unlock(&watch->slots[--locked]);
    return false;
}

/* Under `choosing`. */
static void sample_graded(struct as_reuse_watch *watch, const struct as_lens_access *use, double weight)
{
    bool room = false;
    double one_in = watch->one_in;
    for (uint32_t i = 0; i < watch->n_slots; i++)
        room |= !watch->slots[i].contents.active;
    if (room)
        watch->one_in = fmax(1, one_in - FEWER);
    if (draw(watch) * one_in >= 1) {
        atomic_fetch_add(&watch->dropped, 1);
    } else if (!room || !take_free_slot(watch, use, weight * one_in)) {
        watch->one_in = one_in * (1 + MORE);
        if (!lock_taken(watch)) {
            atomic_fetch_add(&watch->busy, 1);
            return;
        }
        replace(watch, use, weight * one_in);
        for (uint32_t i = 0; i < watch->n_slots; i++)
            unlock(&watch->slots[i]);
    }
}

static void on_sample(void *context, const struct as_lens_sample *sample)
{
    struct as_reuse_watch *watch = context;
    atomic_fetch_add(&watch->samples, 1);
    if (!find(watch, sample->access.thread) || !watch->n_slots)
        return;
    double weight = (double)(sample->period ? sample->period : 1);
    if (watch->options.replacement == AS_REPLACE_RESERVOIR) {
        sample_reservoir(watch, &sample->access, weight);
    } else if (!atomic_flag_test_and_set_explicit(&watch->choosing, memory_order_acquire)) {
        sample_graded(watch, &sample->access, weight);
        atomic_flag_clear_explicit(&watch->choosing, memory_order_release);
    } else {
        atomic_fetch_add(&watch->busy, 1);
    }
}

/* What is learned only steers, so it may be missed. */
static void learn(struct as_reuse_watch *watch, const struct slot *slot)
{
    if (atomic_flag_test_and_set_explicit(&watch->choosing, memory_order_acquire))
        return;
    as_patience_learn(&watch->patience, watch->samples - slot->since, true, slot->contents.weight);
    atomic_flag_clear_explicit(&watch->choosing, memory_order_release);
}

/* ---- Algorithm 3: a trap ---- */

static void end_use(struct as_reuse_watch *watch, uint32_t number, const struct contents *seen,
                    const struct as_lens_trap *trap)
{
    struct slot *slot = &watch->slots[number];
    struct thread *owner = find(watch, seen->use.thread), *thread = find(watch, trap->access.thread);
    bool first = seen->use.kind & AS_ACCESS_STORE, second = trap->access.kind & AS_ACCESS_STORE;
    enum as_reuse_outcome outcome = outcome_of(watch, first, second, relation_of(owner, thread));
    if (outcome == AS_REUSE_NONE)
        return;
    bool reuse = outcome == AS_REUSE_REUSE, relaxed = reuse && atomic_load(&slot->relaxed);
    bool counted = watch->options.mode == AS_WATCH_CACHE ? thread->socket == owner->socket : thread == owner;
    record(watch, seen, reuse ? AS_USE_REUSED : AS_USE_INVALIDATED, distance_to(watch, seen, counted), &trap->access,
           relaxed);
    atomic_fetch_add(&watch->relaxed, relaxed);
    struct contents over = *seen;
    learn(watch, slot);
    over.active = false;
    write_slot(slot, &over);
    slot->samples = 1;
    disarm_all(watch, number);
}

static void on_trap(void *context, const struct as_lens_trap *trap)
{
    struct as_reuse_watch *watch = context;
    uint32_t number = trap->watch.data & 7;
    struct contents seen;
    atomic_fetch_add(&watch->traps, 1);
    struct slot *slot = &watch->slots[number];
    if (!read_slot(slot, &seen) || !seen.active || seen.serial != trap->watch.data >> 3 || !try_lock(slot)) {
        atomic_fetch_add(&watch->stale, 1);
        return;
    }
    /* Between reading and locking it may have become another's. */
    if (slot->contents.active && slot->contents.serial == seen.serial)
        end_use(watch, number, &seen, trap);
    unlock(slot);
}

/* ---- threads come and go ---- */

static void on_thread_start(void *context, uint32_t number, uint32_t process)
{
    struct as_reuse_watch *watch = context;
    struct thread *thread = as_alloc(sizeof *thread);
    thread->number = number;
    thread->process = process;
    thread->live = true;
    watch->n_live++;
    for (size_t i = 0; i < watch->threads.len; i++)
        thread->index += watch->threads.data[i]->process == process;
    thread->socket = thread->index % (watch->options.sockets ? watch->options.sockets : 1);
    while (watch->by_number.len <= number)
        *as_vec_push(&watch->by_number) = 0;
    *as_vec_push(&watch->threads) = thread;
    watch->by_number.data[number] = (uint32_t)watch->threads.len;
    for (uint32_t i = 0; i < watch->n_slots; i++) {
        const struct contents *contents = &watch->slots[i].contents;
        struct thread *owner = contents->active ? find(watch, contents->use.thread) : NULL;
        if (owner && owner->process == process)
            arm(watch, thread, i, contents, kinds_for(watch, owner, thread, contents->use.kind & AS_ACCESS_STORE));
    }
}

/* The use's thread is gone. In a thread that is the end of it; in a cache others may still come. */
static void end_slot_of(struct as_reuse_watch *watch, uint32_t number, const struct thread *thread)
{
    struct slot *slot = &watch->slots[number];
    if (!try_lock(slot))
        return;
    struct contents contents = slot->contents;
    if (contents.active && (!thread || contents.use.thread == thread->number)) {
        record(watch, &contents, AS_USE_NEVER, distance_to(watch, &contents, false), NULL, false);
        contents.active = false;
        write_slot(slot, &contents);
        slot->samples = 1;
        disarm_all(watch, number);
    }
    unlock(slot);
}

static void on_thread_end(void *context, uint32_t number)
{
    struct as_reuse_watch *watch = context;
    struct thread *thread = find(watch, number);
    if (!thread)
        return;
    count_of(watch, thread);
    for (uint32_t i = 0; watch->options.mode == AS_WATCH_THREADS && i < watch->n_slots; i++)
        end_slot_of(watch, i, thread);
    thread->live = false;
    watch->n_live -= watch->n_live > 1;
    memset(thread->armed, 0, sizeof thread->armed);
}

const struct as_lens_client as_reuse_watch_client = {
    .thread_start = on_thread_start, .thread_end = on_thread_end, .sample = on_sample, .trap = on_trap};

/* ---- the lag of arming, in the model ---- */

static bool stores_to(const struct as_lens_watch *watched, const struct as_data_access *access)
{
    return access->kind & AS_ACCESS_STORE && access->address < watched->address + watched->length &&
           watched->address < access->address + access->size;
}

/* Whether it is done with: armed now, or no longer wanted. */
static bool settle(struct as_reuse_watch *watch, const struct pending *pending, uint32_t thread,
                   const struct as_data_access *accesses, size_t n, uint64_t now)
{
    struct slot *slot = &watch->slots[pending->slot];
    const struct contents *contents = &slot->contents;
    if (!contents->active || contents->serial != pending->serial)
        return true;
    if (now >= pending->due) {
        arm_threads(watch, pending->slot, contents, true);
        return true;
    }
    for (size_t i = 0; thread != contents->use.thread && i < n; i++)
        if (stores_to(&contents->watch, &accesses[i]))
            atomic_store(&slot->relaxed, true);
    return false;
}

void as_reuse_watch_before(struct as_reuse_watch *watch, uint32_t thread, const struct as_data_access *accesses,
                           size_t n, uint64_t now)
{
    size_t left = 0;
    for (size_t i = 0; i < watch->n_pending; i++)
        if (!settle(watch, &watch->pending[i], thread, accesses, n, now))
            watch->pending[left++] = watch->pending[i];
    watch->n_pending = left;
}

/* ---- the end ---- */

void as_reuse_watch_finish(struct as_reuse_watch *watch)
{
    for (uint32_t i = 0; i < watch->n_slots; i++)
        end_slot_of(watch, i, NULL);
}

const struct as_watch_outcome *as_reuse_watch_outcomes(const struct as_reuse_watch *watch, size_t *n)
{
    *n = watch->n_outcomes < watch->options.most ? watch->n_outcomes : watch->options.most;
    return watch->outcomes;
}

void as_reuse_watch_weigh(struct as_reuse_watch *watch, const double *factors, size_t n)
{
    size_t kept;
    as_reuse_watch_outcomes(watch, &kept);
    for (size_t i = 0; i < kept; i++)
        if (watch->outcomes[i].time < n)
            watch->outcomes[i].use.weight *= factors[watch->outcomes[i].time];
}

struct as_watch_result as_reuse_watch_result(const struct as_reuse_watch *watch)
{
    size_t n, ends[AS_USE_NEVER + 1] = {0};
    const struct as_watch_outcome *outcomes = as_reuse_watch_outcomes(watch, &n);
    for (size_t i = 0; i < n; i++)
        ends[outcomes[i].use.end]++;
    return (struct as_watch_result){.samples = watch->samples,
                                    .armed = watch->armed,
                                    .dropped = watch->dropped,
                                    .busy = watch->busy,
                                    .stale = watch->stale,
                                    .traps = watch->traps,
                                    .relaxed = watch->relaxed,
                                    .reuses = ends[AS_USE_REUSED],
                                    .invalidations = ends[AS_USE_INVALIDATED],
                                    .given_up = ends[AS_USE_GIVEN_UP],
                                    .never = ends[AS_USE_NEVER],
                                    .lost = watch->n_outcomes - n};
}
