/* See reference.h. Within a cycle the stages run in an order that makes what one frees usable by another in the next
 * cycle: dispatch looks before issue and commit change anything. A time that is not known yet is NEVER. */
#include "reference.h"

#include "core/predictor.h"

#include <assert.h>

#define NEVER UINT64_MAX

enum { WARM_GAP = 2000, NOT_FETCHED = 0, BUFFERED, IN_FLIGHT, COMMITTED };

/* An executed instruction and how far it has come. */
struct flight {
    const struct as_insn *insn;
    const struct as_core_access *access; /* NULL: none */
    long producers[3];                   /* steps that wrote what it reads; -1 none */
    long address_producer;
    uint8_t state;
    uint64_t fetch, dispatch, issue, done, commit;
    uint64_t at_memory;                          /* loads: from when on the cache can be asked */
    uint64_t address_known, translated, drained; /* stores */
    uint64_t caught;                             /* loads that passed a store: when that had its address */
    bool fault, mispredicted, predicted, slow_target, waits_for_decode;
    uint64_t left;  /* stores: the store queue; before `drained` where it was put together with others */
    uint64_t hides; /* stores: loads behind it go to the cache from then on */
    bool read;      /* stores: a load has its value */
    bool moved;     /* stores: its line, or the one that it waited for, came from another core */
    uint32_t
        full_with; /* stores: at the end of the last cycle in which the store queue alone had no room for it: events */
    uint32_t
        waits_with; /* COHERENCE: it waited for older stores to drain while one of them waited for another core's line */
    uint32_t packet;
    long row;                            /* of the ROB */
    uint64_t first_dispatch, first_head; /* of a try that failed; 0: none */
    bool first_fault, first_caught;
};

struct ref {
    const struct core_bed *bed;
    const struct as_machine *machine;
    struct as_uncore *uncore;
    struct as_memory *memory; /* NULL: perfect */
    struct as_predictor *predictor;
    struct flight *flights;
    bool *caught_before; /* by static instruction */
    long n, head, next_dispatch, next_fetch, next_drain;
    uint64_t cycle, base; /* `base`: the memory's time at cycle 0 */
    /* fetch */
    uint64_t fetch_from; /* the next packet cannot be fetched before */
    uint32_t n_packets, packet_room;
    uint64_t packet_fetch, packet_block, packet_line;
    bool packet_open;
    uint64_t line_ready; /* of the packet that waits for its line; NEVER: not asked yet */
    long *packet_last;   /* youngest instruction of each packet */
    /* dispatch, where the ROB has rows */
    long group_end;  /* behind those that were decoded together and have not all dispatched; next_dispatch: all have */
    long first_lane; /* the first one since fetch was redirected: from there on, lanes are counted off */
    long n_rows;     /* so far */
    /* issue */
    uint64_t busy_until[AS_UNIT_COUNT][16];
    uint64_t drain_free;
    uint64_t gathered; /* line + 1 for which stores are put together until drain_free; 0: none */
    uint64_t kernel_cycles, retries;
};

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static bool is_load(const struct flight *flight)
{
    return flight->insn->class_ == AS_CLASS_LOAD || flight->insn->class_ == AS_CLASS_ATOMIC;
}

static bool is_store(const struct flight *flight)
{
    return flight->insn->class_ == AS_CLASS_STORE || flight->insn->class_ == AS_CLASS_ATOMIC;
}

static bool is_queued(const struct flight *flight)
{
    return flight->insn->class_ != AS_CLASS_NOP && flight->insn->class_ != AS_CLASS_FENCE;
}

static enum as_unit unit_of(const struct flight *flight)
{
    return as_machine_unit((enum as_class)flight->insn->class_);
}

static enum as_queue_kind queue_of(const struct flight *flight)
{
    return as_machine_queue(unit_of(flight));
}

static bool writes_file(const struct flight *flight, bool fp)
{
    if (!flight->insn->n_writes)
        return false;
    uint8_t reg = flight->insn->writes[0];
    return fp ? reg >= AS_REG_VEC0 && reg < AS_REG_VEC0 + 32 : reg < 32;
}

static bool flushes(const struct ref *ref, const struct as_insn *insn)
{
    return insn->class_ == AS_CLASS_SYSTEM || (insn->flags & AS_INSN_FLUSHES && ref->machine->back.flag_flush);
}

/* ---- memory ---- */

static struct as_memory_answer ask(struct ref *ref, enum as_memory_kind kind, const struct as_core_access *access)
{
    if (!ref->memory) {
        uint64_t latency = kind == AS_MEMORY_STORE ? 0 : ref->machine->memory.l1d.latency;
        return (struct as_memory_answer){.done = ref->cycle + latency};
    }
    struct as_memory_answer answer =
        as_memory_access(ref->memory, kind, ref->cycle + ref->base, access->address, access->size);
    answer.done -= ref->base;
    return answer;
}

/* ---- stores ---- */

/* Of the line that the store may be put together with others for, its number + 1; 0: it may not. */
static uint64_t gathers_for(const struct ref *ref, const struct flight *store)
{
    const struct as_core_access *access = store->access;
    enum as_gather gather = (enum as_gather)ref->machine->coherence.gather;
    uint64_t bytes = ref->machine->memory.line;
    if (gather == AS_GATHER_NO || (gather == AS_GATHER_UNREAD && store->read) || !access ||
        store->insn->class_ == AS_CLASS_ATOMIC || access->address % bytes + access->size > bytes)
        return 0;
    return access->address / bytes + 1;
}

static struct as_memory_answer ask_at(struct ref *ref, uint64_t cycle, enum as_memory_kind kind,
                                      const struct as_core_access *access)
{
    uint64_t now = ref->cycle;
    ref->cycle = cycle;
    struct as_memory_answer answer = ask(ref, kind, access);
    ref->cycle = now;
    return answer;
}

/* The store leaves the queue; `joins`: it is put to others, and drains with them. */
static void drain_one(struct ref *ref, struct flight *flight, bool joins)
{
    struct as_memory_answer answer = {0};
    if (flight->access && flight->insn->class_ != AS_CLASS_ATOMIC)
        answer = ask_at(ref, joins ? ref->drain_free : ref->cycle, AS_MEMORY_STORE, flight->access);
    flight->drained = flight->access ? later(answer.done, ref->cycle) : 0;
    bool moves = answer.events & AS_EVENT_COHERENCE && answer.done > ref->cycle;
    uint64_t gathered = joins || moves ? gathers_for(ref, flight) : 0;
    flight->moved |= answer.events & AS_EVENT_COHERENCE || joins;
    flight->left = gathered ? ref->cycle : flight->drained;
    flight->hides = ref->machine->coherence.gather == AS_GATHER_UNREAD ? flight->left : flight->drained;
    ref->gathered = gathered;
    ref->drain_free = later(ref->drain_free, flight->drained);
}

/* Committed stores go to the cache in order. */
static void drain(struct ref *ref)
{
    uint32_t started = 0;
    for (; ref->next_drain < ref->head && started < ref->machine->back.store_drain; ref->next_drain++) {
        struct flight *flight = &ref->flights[ref->next_drain];
        if (!is_store(flight))
            continue;
        bool waits = ref->drain_free > ref->cycle;
        if (flight->commit >= ref->cycle)
            return;
        bool joins = waits && ref->gathered && gathers_for(ref, flight) == ref->gathered;
        flight->moved |= waits && ref->gathered;
        if (waits && !joins)
            return;
        drain_one(ref, flight, joins);
        started++;
    }
}

/* A store's address goes ahead as soon as its base is there. */
static void compute_addresses(struct ref *ref)
{
    for (long i = ref->head; i < ref->next_dispatch; i++) {
        struct flight *flight = &ref->flights[i];
        if (flight->insn->class_ != AS_CLASS_STORE || flight->address_known != NEVER ||
            flight->dispatch + ref->machine->back.dispatch_to_issue > ref->cycle ||
            (flight->address_producer >= 0 && ref->flights[flight->address_producer].done > ref->cycle))
            continue;
        flight->address_known = flight->translated = ref->cycle + ref->machine->units[AS_UNIT_STORE].latency;
        if (ref->memory && flight->access) {
            struct as_memory_answer answer =
                as_memory_translate(ref->memory, flight->address_known + ref->base, flight->access->address);
            flight->translated = answer.done - ref->base;
            flight->fault |= answer.fault;
        }
    }
}

/* ---- dispatch ---- */

static bool has_room(const struct ref *ref, const struct flight *next)
{
    const struct as_machine *machine = ref->machine;
    uint32_t rob = 0, queued = 0, loads = 0, stores = 0, branches = 0, ints = 0, fps = 0;
    for (long i = ref->head; i < ref->next_dispatch; i++) {
        const struct flight *flight = &ref->flights[i];
        rob++;
        queued += is_queued(flight) && queue_of(flight) == queue_of(next) && flight->issue == NEVER;
        loads += is_load(flight);
        branches += as_insn_is_control(flight->insn) && flight->done >= ref->cycle;
        ints += writes_file(flight, false);
        fps += writes_file(flight, true);
    }
    for (long i = ref->next_dispatch - 1; i >= 0; i--) {
        if (is_store(&ref->flights[i]) && ref->flights[i].left < ref->cycle)
            break; /* they leave in order */
        stores += is_store(&ref->flights[i]);
    }
    return rob < machine->back.rob && (!is_queued(next) || queued < machine->back.queue_size[queue_of(next)]) &&
           (!is_load(next) || loads < machine->back.load_queue) &&
           (!is_store(next) || stores < machine->back.store_queue) &&
           (!as_insn_is_control(next->insn) || branches < machine->front.max_branches) &&
           (!writes_file(next, false) || ints < machine->back.int_registers - 32) &&
           (!writes_file(next, true) || fps < machine->back.fp_registers - 32);
}

/* Serialising instructions enter an empty ROB and hold what follows until they have left it. */
static bool is_held(const struct ref *ref, const struct flight *next)
{
    bool empty = ref->head == ref->next_dispatch;
    if (next->insn->flags & AS_INSN_SERIALISES)
        return !empty;
    return !empty && ref->flights[ref->next_dispatch - 1].insn->flags & AS_INSN_SERIALISES;
}

static bool can_dispatch(const struct ref *ref, const struct flight *next)
{
    return next->fetch + ref->machine->front.depth <= ref->cycle && !is_held(ref, next) && has_room(ref, next);
}

/* The store that is next in turn finds the store queue full: what its oldest entry waits for. */
static void note_full(struct ref *ref)
{
    struct flight *next = &ref->flights[ref->next_dispatch];
    const struct flight *oldest = NULL;
    uint32_t stores = 0;
    if (ref->next_dispatch == ref->next_fetch || !is_store(next) ||
        next->fetch + ref->machine->front.depth > ref->cycle)
        return;
    for (long i = ref->next_dispatch - 1; i >= 0; i--) {
        if (is_store(&ref->flights[i]) && ref->flights[i].left < ref->cycle)
            break;
        stores += is_store(&ref->flights[i]);
        oldest = is_store(&ref->flights[i]) ? &ref->flights[i] : oldest;
    }
    if (stores >= ref->machine->back.store_queue)
        next->full_with = AS_EVENT_DR_SQ | (oldest->moved ? AS_EVENT_COHERENCE : 0);
}

static void dispatch_next(struct ref *ref)
{
    struct flight *next = &ref->flights[ref->next_dispatch++];
    next->state = IN_FLIGHT;
    next->dispatch = ref->cycle;
    if (next->insn->class_ == AS_CLASS_NOP)
        next->issue = next->done = ref->cycle;
}

static bool has_free_row(const struct ref *ref)
{
    long oldest = ref->head < ref->next_dispatch ? ref->flights[ref->head].row : ref->n_rows;
    return ref->n_rows - oldest < (long)(ref->machine->back.rob / ref->machine->back.width);
}

/* Takes what stands before the decoders into a row, if its first one can dispatch now. */
static void open_row(struct ref *ref)
{
    long first = ref->next_dispatch, width = (long)ref->machine->back.width, end = first;
    if (first > 0 && ref->flights[first - 1].mispredicted)
        ref->first_lane = first;
    if (first == ref->next_fetch || !can_dispatch(ref, &ref->flights[first]) || !has_free_row(ref))
        return;
    do
        ref->flights[end++].row = ref->n_rows;
    while (end < ref->next_fetch && (end - ref->first_lane) % width != 0 &&
           ref->flights[end].fetch + ref->machine->front.depth <= ref->cycle);
    ref->group_end = end;
    ref->n_rows++;
}

static void dispatch_row(struct ref *ref)
{
    if (ref->group_end <= ref->next_dispatch)
        open_row(ref);
    while (ref->next_dispatch < ref->group_end && can_dispatch(ref, &ref->flights[ref->next_dispatch]))
        dispatch_next(ref);
}

static void dispatch(struct ref *ref)
{
    if (ref->machine->back.rob_rows) {
        dispatch_row(ref);
        return;
    }
    for (uint32_t n = 0; n < ref->machine->back.width && ref->next_dispatch < ref->next_fetch; n++) {
        if (!can_dispatch(ref, &ref->flights[ref->next_dispatch]))
            return;
        dispatch_next(ref);
    }
}

/* ---- issue ---- */

static bool operands_ready(const struct ref *ref, const struct flight *flight)
{
    for (int i = 0; i < 3; i++)
        if (flight->producers[i] >= 0 && ref->flights[flight->producers[i]].done > ref->cycle)
            return false;
    return true;
}

static bool is_oldest(const struct ref *ref, long i)
{
    return i == ref->head; /* commit of this cycle comes later */
}

static bool all_drained(const struct ref *ref, long i)
{
    for (long j = ref->next_drain; j < i; j++)
        if (is_store(&ref->flights[j]))
            return false;
    return ref->drain_free <= ref->cycle;
}

/* Instruction `i` can do nothing in this cycle but wait for stores up to `last` to drain. */
static void note_wait(struct ref *ref, long i, long last)
{
    for (long j = last; j >= 0; j--)
        if (is_store(&ref->flights[j]) && ref->flights[j].moved && ref->flights[j].drained != NEVER &&
            ref->flights[j].drained > ref->cycle)
            ref->flights[i].waits_with = AS_EVENT_COHERENCE;
}

/* A free unit: of those that are pipelined as many as there are in a cycle. */
static bool take_unit(struct ref *ref, const struct flight *flight, uint32_t *used)
{
    enum as_unit unit = unit_of(flight);
    uint32_t interval = as_machine_interval(ref->machine, (enum as_class)flight->insn->class_);
    for (uint32_t i = 0; i < ref->machine->units[unit].count; i++) {
        if (ref->busy_until[unit][i] > ref->cycle)
            continue;
        ref->busy_until[unit][i] = ref->cycle + interval;
        used[queue_of(flight)]++;
        return true;
    }
    return false;
}

static void execute(struct ref *ref, struct flight *flight)
{
    flight->issue = ref->cycle;
    if (is_load(flight)) {
        flight->at_memory = ref->cycle + ref->machine->units[AS_UNIT_LOAD].latency;
        return;
    }
    flight->done = ref->cycle + as_machine_latency(ref->machine, (enum as_class)flight->insn->class_);
    if (flight->insn->class_ == AS_CLASS_STORE)
        flight->done = later(flight->done, flight->translated);
}

static void run_fence(struct ref *ref, struct flight *flight, long i)
{
    if (flight->issue == NEVER && is_oldest(ref, i) &&
        flight->dispatch + ref->machine->back.dispatch_to_issue <= ref->cycle)
        flight->issue = ref->cycle;
    if (flight->issue == NEVER || flight->done != NEVER)
        return;
    if (!(flight->insn->flags & AS_INSN_FENCE_STORE))
        flight->done = flight->issue + 1;
    else if (ref->cycle > flight->issue && all_drained(ref, i))
        flight->done = ref->cycle;
    else if (ref->cycle > flight->issue)
        note_wait(ref, i, i);
}

static void take_renamed(struct ref *ref, long i);

static void issue(struct ref *ref)
{
    uint32_t used[AS_QUEUE_COUNT] = {0};
    for (long i = ref->head; i < ref->next_dispatch; i++) {
        struct flight *flight = &ref->flights[i];
        if (flight->insn->class_ == AS_CLASS_FENCE)
            run_fence(ref, flight, i);
        take_renamed(ref, i);
        if (!is_queued(flight) || flight->issue != NEVER ||
            flight->dispatch + ref->machine->back.dispatch_to_issue > ref->cycle || !operands_ready(ref, flight) ||
            used[queue_of(flight)] >= ref->machine->back.queue_width[queue_of(flight)])
            continue;
        if (flight->insn->class_ == AS_CLASS_ATOMIC && !(is_oldest(ref, i) && all_drained(ref, i))) {
            if (is_oldest(ref, i))
                note_wait(ref, i, i - 1);
            continue;
        }
        if (take_unit(ref, flight, used))
            execute(ref, flight);
    }
}

/* ---- loads ---- */

static bool overlap(const struct as_core_access *a, const struct as_core_access *b)
{
    return a->address < b->address + b->size && b->address < a->address + a->size;
}

static bool covers(const struct as_core_access *outer, const struct as_core_access *inner)
{
    return outer->address <= inner->address && inner->address + inner->size <= outer->address + outer->size;
}

/* Whether something older keeps a load from the cache: a fence, or a store of unknown address that it does not pass. */
static bool must_wait(struct ref *ref, long load)
{
    const struct as_machine *machine = ref->machine;
    bool careful = !machine->back.memory_speculation ||
                   (machine->back.dependence_predictor && ref->caught_before[ref->bed->steps.data[load].insn]);
    bool waits = false;
    for (long i = ref->head; i < load; i++) {
        const struct flight *flight = &ref->flights[i];
        if (flight->insn->class_ == AS_CLASS_FENCE && flight->done > ref->cycle) {
            if (flight->insn->flags & AS_INSN_FENCE_STORE)
                note_wait(ref, load, i);
            waits = true;
        }
        if (careful && flight->insn->class_ == AS_CLASS_STORE && flight->address_known > ref->cycle)
            waits = true;
    }
    return waits;
}

/* The youngest older store to the same bytes that the cache does not have yet; -1: none. Atomics do not forward. */
static long find_store(const struct ref *ref, long load)
{
    for (long i = load - 1; i >= 0; i--) {
        const struct flight *flight = &ref->flights[i];
        if (is_store(flight) && flight->hides <= ref->cycle)
            break;
        if (flight->insn->class_ == AS_CLASS_STORE && flight->access && flight->hides > ref->cycle &&
            overlap(flight->access, ref->flights[load].access))
            return i;
    }
    return -1;
}

/* Memory renaming: the load has the value that the store took along when it issued. */
static bool is_renamed(const struct ref *ref, const struct flight *load, const struct flight *store)
{
    return ref->machine->back.rename_memory && load->access->renames && store->access->renames &&
           load->access->address == store->access->address && covers(store->access, load->access);
}

/* Returns false where it has to ask again in the next cycle. */
static bool forward(struct ref *ref, struct flight *load, struct flight *store)
{
    store->read = true;
    if (is_renamed(ref, load, store)) {
        load->done = store->issue == NEVER ? NEVER : ref->cycle;
        return load->done != NEVER;
    }
    if (covers(store->access, load->access)) {
        if (store->done == NEVER)
            return false;
        load->done = later(ref->cycle, store->done) + ref->machine->back.forward_latency;
        return true;
    }
    if (store->drained > ref->cycle)
        return false;
    load->done = ref->cycle + ref->machine->memory.l1d.latency;
    return true;
}

/* While instructions issue: what waits for the load can go with the store. */
static void take_renamed(struct ref *ref, long i)
{
    struct flight *load = &ref->flights[i];
    if (!ref->machine->back.rename_memory || load->insn->class_ != AS_CLASS_LOAD || !load->access ||
        load->done != NEVER || load->at_memory > ref->cycle || must_wait(ref, i))
        return;
    long store = find_store(ref, i);
    if (store >= 0 && ref->flights[store].address_known <= ref->cycle && is_renamed(ref, load, &ref->flights[store]) &&
        forward(ref, load, &ref->flights[store]))
        load->at_memory = NEVER;
}

static void access_memory(struct ref *ref, long i)
{
    struct flight *load = &ref->flights[i];
    if (!load->access) {
        load->done = ref->cycle;
        return;
    }
    if (load->insn->class_ == AS_CLASS_LOAD) {
        if (must_wait(ref, i))
            return;
        long store = find_store(ref, i);
        if (store >= 0 && ref->flights[store].address_known <= ref->cycle) {
            if (forward(ref, load, &ref->flights[store]))
                load->at_memory = NEVER;
            else if (!covers(ref->flights[store].access, load->access))
                note_wait(ref, i, store);
            return;
        }
        load->caught = store >= 0 ? (uint64_t)store + 1 : 0; /* told to it when the store has its address */
    }
    bool atomic = load->insn->class_ == AS_CLASS_ATOMIC;
    struct as_memory_answer answer = ask(ref, atomic ? AS_MEMORY_OWN : AS_MEMORY_LOAD, load->access);
    if (atomic && ref->memory) /* nobody gets the line between its load and its store */
        as_memory_access(ref->memory, AS_MEMORY_STORE, answer.done + ref->base, load->access->address,
                         load->access->size);
    load->done = answer.done + (load->insn->class_ == AS_CLASS_ATOMIC ? ref->machine->atomic_latency : 0);
    load->fault |= answer.fault;
    load->at_memory = NEVER;
}

static void access_caches(struct ref *ref)
{
    for (long i = ref->head; i < ref->next_dispatch; i++)
        if (is_load(&ref->flights[i]) && ref->flights[i].done == NEVER && ref->flights[i].at_memory <= ref->cycle)
            access_memory(ref, i);
}

/* ---- commit ---- */

static void forget(struct flight *flight)
{
    flight->state = NOT_FETCHED;
    flight->dispatch = flight->issue = flight->done = flight->commit = NEVER;
    flight->at_memory = flight->address_known = flight->drained = flight->left = flight->hides = NEVER;
    flight->caught = 0;
    flight->fault = flight->read = false;
}

/* Everything from step `from` on is fetched again. */
static void squash(struct ref *ref, long from)
{
    for (long i = from; i < ref->next_fetch; i++)
        forget(&ref->flights[i]);
    ref->next_fetch = from;
    ref->next_dispatch = ref->next_dispatch < from ? ref->next_dispatch : from;
    ref->group_end = ref->first_lane = from;
    ref->n_packets = from > 0 ? ref->flights[from - 1].packet + 1 : 0;
    if (from > 0)
        ref->packet_last[ref->flights[from - 1].packet] = from - 1;
    ref->packet_open = false;
    ref->line_ready = NEVER;
    ref->fetch_from = ref->cycle + ref->machine->front.flush;
}

/* The oldest one raised an exception or was caught. */
static bool tries_again(struct ref *ref, struct flight *flight)
{
    uint64_t known = flight->caught ? ref->flights[flight->caught - 1].address_known : 0;
    if (!flight->fault && !flight->caught)
        return false;
    assert(known < ref->cycle);
    flight->first_dispatch = flight->dispatch;
    flight->first_head = ref->cycle;
    flight->first_fault = flight->fault;
    flight->first_caught = flight->caught;
    ref->kernel_cycles += flight->fault ? ref->machine->memory.fault_cycles : 0;
    ref->caught_before[ref->bed->steps.data[ref->head].insn] |= flight->caught != 0;
    ref->retries++;
    squash(ref, ref->head);
    return true;
}

static void commit(struct ref *ref)
{
    long row = ref->flights[ref->head].row;
    for (uint32_t n = 0; n < ref->machine->back.commit_width && ref->head < ref->next_dispatch; n++) {
        struct flight *flight = &ref->flights[ref->head];
        if (flight->done >= ref->cycle || flight->row != row)
            return;
        bool failed = flight->fault || flight->caught;
        if (failed && ref->head > 0 && ref->flights[ref->head - 1].commit == ref->cycle)
            return; /* an exception is taken when it has been the oldest for a cycle */
        if (failed && tries_again(ref, flight))
            return;
        flight->state = COMMITTED;
        flight->commit = ref->cycle;
        ref->head++;
        if (flushes(ref, flight->insn)) {
            squash(ref, ref->head);
            ref->kernel_cycles += flight->insn->class_ == AS_CLASS_SYSTEM ? ref->machine->memory.syscall_cycles : 0;
            return;
        }
    }
}

/* ---- fetch ---- */

/* Fetch is looked at where instructions enter the buffer, depth - 1 cycles after they were fetched: the stages between
 * stand still together when the buffer is full. */
static bool buffer_has_room(const struct ref *ref)
{
    return ref->next_fetch - ref->next_dispatch < (long)ref->machine->front.fetch_buffer;
}

static bool target_queue_has_room(const struct ref *ref, uint64_t fetch)
{
    uint32_t size = ref->machine->front.fetch_targets;
    if (ref->n_packets < size)
        return true;
    const struct flight *last = &ref->flights[ref->packet_last[ref->n_packets - size]];
    return last->commit < fetch;
}

/* Whether the branch before lets fetch go on, and when. */
static bool follows(struct ref *ref)
{
    if (ref->next_fetch == 0)
        return true;
    const struct flight *before = &ref->flights[ref->next_fetch - 1];
    const struct as_machine *machine = ref->machine;
    if (!before->predicted || ref->packet_open)
        return true;
    if (before->mispredicted) {
        if (before->done == NEVER)
            return false;
        ref->fetch_from = later(ref->fetch_from, before->done + machine->front.redirect);
    } else if (ref->bed->steps.data[ref->next_fetch - 1].taken) {
        uint64_t bubble = (before->slow_target ? machine->front.taken_bubble : 0) +
                          (before->waits_for_decode ? machine->front.btb_miss_bubble : 0);
        ref->fetch_from = later(ref->fetch_from, before->fetch + 1 + bubble);
    }
    return true;
}

static uint64_t line_of(const struct ref *ref, uint64_t address)
{
    return address / ref->machine->memory.line;
}

/* When the lines of an instruction are there, asked for in cycle `fetch`. */
static uint64_t fetch_lines(struct ref *ref, const struct as_insn *insn, uint64_t fetch)
{
    uint64_t last = line_of(ref, insn->address + insn->length - 1), ready = fetch;
    for (uint64_t line = line_of(ref, insn->address); line <= last; line++) {
        if (line == ref->packet_line)
            continue;
        if (ref->memory)
            ready =
                later(ready, as_memory_fetch(ref->memory, ready + ref->base, line * ref->machine->memory.line).done -
                                 ref->base);
        ref->packet_line = line;
    }
    return ready;
}

static bool opens_packet(struct ref *ref, const struct as_insn *insn, uint64_t fetch)
{
    if (!follows(ref) || fetch < ref->fetch_from)
        return false;
    if (ref->line_ready == NEVER) {
        if (!target_queue_has_room(ref, fetch))
            return false;
        ref->line_ready = fetch_lines(ref, insn, fetch);
    }
    if (ref->line_ready > fetch)
        return false;
    ref->line_ready = NEVER;
    ref->packet_fetch = fetch;
    ref->packet_block = insn->address / ref->machine->front.fetch_bytes;
    ref->packet_room = ref->machine->front.fetch_width;
    ref->packet_open = true;
    ref->n_packets++;
    ref->fetch_from = fetch + 1;
    return true;
}

static bool joins_packet(const struct ref *ref, const struct as_insn *insn, uint64_t fetch)
{
    return ref->packet_open && ref->packet_fetch == fetch && ref->packet_room > 0 &&
           insn->address / ref->machine->front.fetch_bytes == ref->packet_block &&
           line_of(ref, insn->address + insn->length - 1) == ref->packet_line;
}

static void predict(struct ref *ref, struct flight *flight, const struct bed_step *step)
{
    if (!flight->predicted) {
        struct as_prediction prediction = as_predictor_predict(ref->predictor, flight->insn, step->taken, step->next);
        flight->predicted = true;
        flight->mispredicted = prediction.mispredicted;
        flight->slow_target = !prediction.fast;
        flight->waits_for_decode = prediction.btb_miss;
    }
    if (flight->mispredicted || step->taken)
        ref->packet_open = false;
}

static void fetch(struct ref *ref)
{
    uint64_t depth = ref->machine->front.depth;
    if (ref->cycle + 1 < depth)
        return;
    uint64_t fetched = ref->cycle - (depth - 1);
    while (ref->next_fetch < ref->n && buffer_has_room(ref)) {
        struct flight *flight = &ref->flights[ref->next_fetch];
        if (!joins_packet(ref, flight->insn, fetched)) {
            if (ref->packet_open && ref->packet_fetch == fetched)
                return; /* one packet a cycle */
            ref->packet_open = false;
            if (!opens_packet(ref, flight->insn, fetched))
                return;
        }
        flight->state = BUFFERED;
        flight->fetch = fetched;
        flight->packet = ref->n_packets - 1;
        ref->packet_last[flight->packet] = ref->next_fetch;
        ref->packet_room--;
        if (as_insn_is_control(flight->insn))
            predict(ref, flight, &ref->bed->steps.data[ref->next_fetch]);
        ref->next_fetch++;
        if (!ref->packet_open)
            return;
    }
}

/* ---- the whole ---- */

static void link_producers(struct ref *ref)
{
    long writer[AS_REG_COUNT];
    for (int i = 0; i < AS_REG_COUNT; i++)
        writer[i] = -1;
    for (long i = 0; i < ref->n; i++) {
        const struct bed_step *step = &ref->bed->steps.data[i];
        struct flight *flight = &ref->flights[i];
        *flight = (struct flight){.insn = &ref->bed->code.data[step->insn],
                                  .access = step->access.size ? &step->access : NULL,
                                  .producers = {-1, -1, -1},
                                  .address_producer = -1};
        forget(flight);
        for (uint8_t r = 0; r < flight->insn->n_reads; r++)
            flight->producers[r] = writer[flight->insn->reads[r]];
        if (flight->insn->n_mem && flight->insn->mem[0].base != AS_REG_NONE)
            flight->address_producer = writer[flight->insn->mem[0].base];
        for (uint8_t w = 0; w < flight->insn->n_writes; w++)
            writer[flight->insn->writes[w]] = i;
    }
}

static void warm_line(void *context, bool code, uint64_t address)
{
    struct ref *ref = context;
    ref->base += WARM_GAP;
    if (code) {
        as_memory_fetch(ref->memory, ref->base, address);
    } else if (as_memory_access(ref->memory, AS_MEMORY_LOAD, ref->base, address, 8).fault) {
        as_memory_access(ref->memory, AS_MEMORY_LOAD, ref->base + WARM_GAP / 2, address, 8);
    }
}

static struct as_pipe record(const struct ref *ref, long i)
{
    const struct flight *flight = &ref->flights[i];
    const struct bed_step *step = &ref->bed->steps.data[i];
    struct as_pipe pipe = {.fetch = flight->fetch,
                           .dispatch = flight->dispatch,
                           .issue = flight->issue,
                           .done = flight->done,
                           .commit = flight->commit,
                           .insn = flight->insn->id,
                           .events = flight->full_with | flight->waits_with,
                           .uops = 1};
    bool control = as_insn_is_control(flight->insn);
    pipe.flags |= control && step->taken ? AS_PIPE_TAKEN : 0;
    pipe.flags |= control && flight->mispredicted ? AS_PIPE_MISPREDICTED : 0;
    pipe.flags |= flushes(ref, flight->insn) ? AS_PIPE_FLUSHES : 0;
    pipe.flags |= flight->insn->flags & AS_INSN_SERIALISES ? AS_PIPE_SERIALISED : 0;
    if (flight->first_head) {
        uint64_t stood = flight->first_head - flight->first_dispatch;
        pipe.flags |= (flight->first_fault ? AS_PIPE_EXCEPTION : 0) | (flight->first_caught ? AS_PIPE_REFETCHED : 0);
        pipe.exception = (uint32_t)(flight->dispatch - flight->first_head);
        pipe.first_try = stood < UINT16_MAX ? (uint16_t)stood : UINT16_MAX;
    }
    return pipe;
}

static void step(struct ref *ref)
{
    drain(ref);
    long before = ref->next_dispatch;
    dispatch(ref);
    if (ref->next_dispatch - before < (long)ref->machine->back.width)
        note_full(ref);
    compute_addresses(ref);
    issue(ref);
    compute_addresses(ref); /* of a base that a renamed load brought in this cycle */
    access_caches(ref);
    commit(ref);
    fetch(ref);
    ref->cycle++;
    assert(ref->cycle < 100000000);
}

/* With the caches warm, before the first cycle. */
static void open_ref(struct ref *ref, const struct core_bed *bed, struct as_uncore *uncore, uint32_t core)
{
    *ref = (struct ref){.bed = bed, .machine = &bed->machine, .n = (long)bed->steps.len, .line_ready = NEVER};
    ref->predictor = as_predictor_new(ref->machine);
    ref->uncore = uncore;
    ref->memory = as_memory_new(ref->machine, uncore, core);
    ref->packet_line = UINT64_MAX;
    core_bed_each_warm(bed, warm_line, ref);
    ref->base += WARM_GAP;
    ref->flights = as_alloc_array((size_t)ref->n + 1, sizeof *ref->flights);
    ref->packet_last = as_alloc_array((size_t)ref->n + 1, sizeof *ref->packet_last);
    ref->caught_before = as_alloc_array(bed->code.len + 1, sizeof *ref->caught_before);
    link_producers(ref);
    ref->fetch_from = ref->machine->front.flush;
}

static void close_ref(struct ref *ref)
{
    free(ref->flights);
    free(ref->packet_last);
    free(ref->caught_before);
    as_predictor_free(ref->predictor);
}

struct reference_result reference_run(const struct core_bed *bed, bool perfect_memory)
{
    struct as_uncore *uncore = as_uncore_new(&bed->machine);
    struct ref ref;
    open_ref(&ref, bed, uncore, 0);
    struct as_memory *memory = ref.memory, *other = core_bed_other_core(bed, uncore);
    ref.memory = perfect_memory ? NULL : memory;
    while (ref.head < ref.n)
        step(&ref);
    struct reference_result result = {.pipes = as_alloc_array((size_t)ref.n + 1, sizeof *result.pipes),
                                      .kernel_cycles = ref.kernel_cycles,
                                      .retries = ref.retries};
    for (long i = 0; i < ref.n; i++)
        result.pipes[i] = record(&ref, i);
    close_ref(&ref);
    as_memory_free(memory);
    as_memory_free(other);
    as_uncore_free(uncore);
    return result;
}

uint64_t reference_run_together(const struct core_bed *beds, const uint64_t *starts, uint32_t n)
{
    struct as_uncore *uncore = as_uncore_new(&beds[0].machine);
    struct ref *refs = as_alloc_array(n, sizeof *refs);
    uint64_t base = 0, now = 0;
    for (uint32_t i = 0; i < n; i++) {
        open_ref(&refs[i], &beds[i], uncore, i);
        base = later(base, refs[i].base);
    }
    for (uint32_t i = 0; i < n; i++)
        refs[i].base = base + starts[i];
    for (bool any = true; any; now++) {
        any = false;
        for (uint32_t i = 0; i < n; i++) {
            any |= refs[i].head < refs[i].n;
            if (refs[i].head < refs[i].n && now >= starts[i])
                step(&refs[i]);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        struct as_memory *memory = refs[i].memory;
        close_ref(&refs[i]);
        as_memory_free(memory);
    }
    free(refs);
    as_uncore_free(uncore);
    return now;
}
