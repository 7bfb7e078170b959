/* See reuse_watch.h: slots, threads, arming and outcomes. Which sample gets a slot, reuse_choice.c says. */
#include "reuse/reuse_watch.h"

#include "assay/observer.h"
#include "base/random.h"
#include "reuse/reuse_rules.h"
#include "reuse/reuse_watch_internal.h"

struct as_reuse_watch *as_reuse_watch_new(const struct as_watch_options *options, const struct as_lens *lens)
{
    struct as_reuse_watch *watch = as_alloc(sizeof *watch);
    watch->options = *options;
    watch->lens = *lens;
    watch->n_slots = as_lens_registers(lens);
    watch->seed = options->seed;
    watch->outcomes = as_alloc_array(options->most, sizeof *watch->outcomes);
    watch->one_in = watch->far_one_in = 1;
    watch->credit = (double)(as_random_hash(options->seed) >> 11) * 0x1p-53;
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

/* Under the lock. `begun` goes up before the contents change, `ended` behind: pairs with read_slot. */
static void write_slot(struct as_use_slot *slot, const struct as_use_contents *contents)
{
    uint64_t version = atomic_load_explicit(&slot->begun, memory_order_relaxed) + 1;
    atomic_store_explicit(&slot->begun, version, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    slot->contents = *contents;
    atomic_store_explicit(&slot->ended, version, memory_order_release);
}

/* False: it was being written. */
static bool read_slot(const struct as_use_slot *slot, struct as_use_contents *contents)
{
    uint64_t ended = atomic_load_explicit(&slot->ended, memory_order_acquire);
    *contents = slot->contents;
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&slot->begun, memory_order_relaxed) == ended;
}

/* ---- threads ---- */

static struct as_use_thread *find(const struct as_reuse_watch *watch, uint32_t number)
{
    uint32_t place = number < watch->by_number.len ? watch->by_number.data[number] : 0;
    return place ? watch->threads.data[place - 1] : NULL;
}

static uint64_t count_of(struct as_reuse_watch *watch, struct as_use_thread *thread)
{
    struct as_lens_counts counts = {0};
    if (thread->live && as_lens_counts(&watch->lens, thread->number, &counts)) {

        thread->last_count = counts.accesses;
        thread->how = counts.how;
    }
    return thread->last_count;
}

/* The clock of a use: the owner's accesses, or those of all threads of its socket. */
static uint64_t clock_of(struct as_reuse_watch *watch, struct as_use_thread *owner)
{
    if (watch->options.mode == AS_WATCH_THREADS)
        return count_of(watch, owner);
    uint64_t sum = 0;
    for (size_t i = 0; i < watch->threads.len; i++)
        if (watch->threads.data[i]->socket == owner->socket)
            sum += count_of(watch, watch->threads.data[i]);
    return sum;
}

static enum as_reuse_relation relation_of(const struct as_use_thread *owner, const struct as_use_thread *other)
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

/* The kinds of access by `other` that decide the use: what the rules give an outcome, and all of the owner. 0: it is not
 * watched. */
static uint8_t kinds_for(const struct as_reuse_watch *watch, const struct as_use_thread *owner,
                         const struct as_use_thread *other, bool first_writes)
{
    enum as_reuse_relation relation = relation_of(owner, other);
    if (relation == AS_REUSE_SAME_CORE || outcome_of(watch, first_writes, false, relation) != AS_REUSE_NONE)
        return AS_ACCESS_LOAD | AS_ACCESS_STORE;
    return outcome_of(watch, first_writes, true, relation) != AS_REUSE_NONE ? AS_ACCESS_STORE : 0;
}

/* ---- arming ---- */

static void disarm(struct as_reuse_watch *watch, struct as_use_thread *thread, uint32_t slot)
{
    if (thread->armed[slot])
        as_lens_disarm(&watch->lens, &thread->refs[slot]);
    thread->armed[slot] = false;
}

static bool arm(struct as_reuse_watch *watch, struct as_use_thread *thread, uint32_t slot,
                const struct as_use_contents *contents, uint8_t kinds)
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
static bool arm_threads(struct as_reuse_watch *watch, uint32_t slot, const struct as_use_contents *contents,
                        bool others)
{
    struct as_use_thread *owner = find(watch, contents->use.thread);
    bool ok = true;
    for (size_t i = 0; i < watch->threads.len; i++) {
        struct as_use_thread *thread = watch->threads.data[i];
        if (!thread->live || thread->process != owner->process || (thread != owner) != others)
            continue;
        uint8_t kinds = kinds_for(watch, owner, thread, contents->use.kind & AS_ACCESS_STORE);
        ok &= arm(watch, thread, slot, contents, kinds) || thread != owner;
    }
    return ok;
}

/* ---- outcomes ---- */

/* Accesses strictly between the use and now; `now_counts`: the access that ends it is counted already. */
static uint64_t distance_to(struct as_reuse_watch *watch, const struct as_use_contents *contents, bool now_counts)
{
    uint64_t now = clock_of(watch, find(watch, contents->use.thread));
    uint64_t since = now > contents->count ? now - contents->count : 0; /* clocks may be put right */
    return since && now_counts ? since - 1 : since;
}

/* The use has got so far with the chance that it has now. */
static void pass(struct as_use_slot *slot, uint64_t distance)
{
    uint32_t octave = as_distance_octave(distance);
    while (slot->octave < octave)
        slot->passed[++slot->octave] = (float)slot->kept;
}

static void record(struct as_reuse_watch *watch, const struct as_use_contents *contents, enum as_use_end end,
                   uint64_t distance, const struct as_lens_access *by, bool relaxed)
{
    size_t at = atomic_fetch_add(&watch->n_outcomes, 1);
    struct as_use_slot *slot = &watch->slots[contents->watch.data & 7];
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
    struct as_use_slot *slot = &watch->slots[data & 7];
    if (!as_use_try_lock(slot))
        return;
    struct as_use_contents contents = slot->contents;
    if (contents.active && contents.serial == data >> 3) {
        contents.count = clock_of(watch, find(watch, contents.use.thread));
        write_slot(slot, &contents);
    }
    as_use_unlock(slot);
}

/* ---- Algorithm 2: a sample ---- */

void as_use_spare(struct as_reuse_watch *watch, struct as_use_slot *slot, double chance)
{
    pass(slot, distance_to(watch, &slot->contents, false));
    slot->kept *= chance;
}

void as_use_begin(struct as_reuse_watch *watch, uint32_t number, const struct as_lens_access *use, double weight)
{
    struct as_use_slot *slot = &watch->slots[number];
    struct as_use_contents contents = slot->contents;
    if (contents.active)
        record(watch, &contents, AS_USE_GIVEN_UP, distance_to(watch, &contents, false), NULL, false);
    slot->samples = 2; /* the next one is the second */
    slot->since = watch->samples;
    slot->octave = 0;
    slot->kept = slot->passed[0] = 1;
    uint64_t serial = atomic_fetch_add(&watch->serials, 1) + 1;
    uint32_t length = watch->options.length;
    contents = (struct as_use_contents){.active = true,
                                        .serial = serial,
                                        .use = *use,
                                        .watch = {.address = use->address & ~(uint64_t)(length - 1),
                                                  .length = (uint8_t)length,
                                                  .data = serial << 3 | number},
                                        .count = clock_of(watch, find(watch, use->thread)),
                                        .weight = weight};
    atomic_store(&slot->relaxed, false);
    write_slot(slot, &contents);
    bool late = watch->options.lag && watch->n_pending < AS_USE_PENDING;
    if (late)
        watch->pending[watch->n_pending++] =
            (struct as_use_pending){.slot = number, .serial = serial, .due = use->time + watch->options.lag};
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

static void on_sample(void *context, const struct as_lens_sample *sample)
{
    struct as_reuse_watch *watch = context;
    atomic_fetch_add(&watch->samples, 1);
    if (find(watch, sample->access.thread) && watch->n_slots)
        as_use_choose(watch, &sample->access, (double)(sample->period ? sample->period : 1));
}

/* ---- Algorithm 3: a trap ---- */

static void end_use(struct as_reuse_watch *watch, uint32_t number, const struct as_use_contents *seen,
                    const struct as_lens_trap *trap)
{
    struct as_use_slot *slot = &watch->slots[number];
    struct as_use_thread *owner = find(watch, seen->use.thread), *thread = find(watch, trap->access.thread);
    bool first = seen->use.kind & AS_ACCESS_STORE, second = trap->access.kind & AS_ACCESS_STORE;
    enum as_reuse_outcome outcome = outcome_of(watch, first, second, relation_of(owner, thread));
    if (outcome == AS_REUSE_NONE && thread != owner)
        return;
    enum as_use_end end = as_use_end_of(outcome);
    bool relaxed = end == AS_USE_REUSED && atomic_load(&slot->relaxed);
    bool counted = watch->options.mode == AS_WATCH_CACHE ? thread->socket == owner->socket : thread == owner;
    record(watch, seen, end, distance_to(watch, seen, counted), &trap->access, relaxed);
    atomic_fetch_add(&watch->relaxed, relaxed);
    struct as_use_contents over = *seen;
    as_use_learn(watch, slot);
    over.active = false;
    write_slot(slot, &over);
    slot->samples = 1;
    disarm_all(watch, number);
}

static void on_trap(void *context, const struct as_lens_trap *trap)
{
    struct as_reuse_watch *watch = context;
    uint32_t number = trap->watch.data & 7;
    struct as_use_contents seen;
    atomic_fetch_add(&watch->traps, 1);
    struct as_use_slot *slot = &watch->slots[number];
    if (!read_slot(slot, &seen) || !seen.active || seen.serial != trap->watch.data >> 3 || !as_use_try_lock(slot)) {
        atomic_fetch_add(&watch->stale, 1);
        return;
    }
    /* Between reading and locking it may have become another's. */
    if (slot->contents.active && slot->contents.serial == seen.serial)
        end_use(watch, number, &seen, trap);
    as_use_unlock(slot);
}

/* ---- threads come and go ---- */

static void on_thread_start(void *context, uint32_t number, uint32_t process)
{
    struct as_reuse_watch *watch = context;
    struct as_use_thread *thread = as_alloc(sizeof *thread);
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
        const struct as_use_contents *contents = &watch->slots[i].contents;
        struct as_use_thread *owner = contents->active ? find(watch, contents->use.thread) : NULL;
        if (owner && owner->process == process)
            arm(watch, thread, i, contents, kinds_for(watch, owner, thread, contents->use.kind & AS_ACCESS_STORE));
    }
}

/* The use's thread is gone. In a thread that is the end of it; in a cache others may still come. */
static void end_slot_of(struct as_reuse_watch *watch, uint32_t number, const struct as_use_thread *thread)
{
    struct as_use_slot *slot = &watch->slots[number];
    if (!as_use_try_lock(slot))
        return;
    struct as_use_contents contents = slot->contents;
    if (contents.active && (!thread || contents.use.thread == thread->number)) {
        record(watch, &contents, AS_USE_NEVER, distance_to(watch, &contents, false), NULL, false);
        contents.active = false;
        write_slot(slot, &contents);
        slot->samples = 1;
        disarm_all(watch, number);
    }
    as_use_unlock(slot);
}

static void on_thread_end(void *context, uint32_t number)
{
    struct as_reuse_watch *watch = context;
    struct as_use_thread *thread = find(watch, number);
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
static bool settle(struct as_reuse_watch *watch, const struct as_use_pending *pending, uint32_t thread,
                   const struct as_data_access *accesses, size_t n, uint64_t now)
{
    struct as_use_slot *slot = &watch->slots[pending->slot];
    const struct as_use_contents *contents = &slot->contents;
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
                                    .own = ends[AS_USE_OWN],
                                    .given_up = ends[AS_USE_GIVEN_UP],
                                    .never = ends[AS_USE_NEVER],
                                    .lost = watch->n_outcomes - n};
}

bool as_reuse_watch_is_shared(const struct as_reuse_watch *watch)
{
    return watch->options.mode == AS_WATCH_CACHE;
}
