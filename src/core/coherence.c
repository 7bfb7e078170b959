/* Coherence: which copies of a line there may be, and what it costs to get another core's. See doc/design/coherence.md.
 *
 * A line is in the private caches (L1D, L2) of at most one core that may write it (M where it has, E where it has not),
 * or of any number that may only read it (S; one of them may answer for the others: O, F). The directory has the owner;
 * whether a line is dirty is the caches' to know. A request that leaves the private caches comes here first: a line that
 * another core owns comes from there, all others from the LLC as without coherence.
 *
 * Requests for one line follow each other: one that comes while the line is on its way to another core is served when
 * it has arrived there. One that is asked for later but is earlier in time does not wait for it (see memory.h).
 *
 * Not modelled: the network between cores as a resource, races of two requests, inclusion of private lines in the LLC.
 */
#include "core/memory_hit.h"
#include "core/uncore.h"

#include "base/alloc.h"

/* ---- who has a line ---- */

static bool holds(struct as_memory *core, uint64_t line)
{
    return core && (as_tags_find(&core->l1d.tags, line) != AS_TAGS_NONE ||
                    (core->has_l2 && as_tags_find(&core->l2.tags, line) != AS_TAGS_NONE));
}

static struct as_memory *core_of(const struct as_uncore *uncore, uint32_t number)
{
    return number < uncore->n_cores ? uncore->cores[number] : NULL;
}

/* The next core behind `number` that has the line, but for `besides`; n_cores: there is none. */
static uint32_t next_holder(const struct as_uncore *uncore, const struct as_directory_entry *entry, uint32_t number,
                            uint32_t besides)
{
    if (uncore->n_cores <= 64) { /* else a bit stands for several */
        uint64_t bits = number < 64 ? entry->sharers >> number << number : 0;
        if (besides < 64)
            bits &= ~(UINT64_C(1) << besides);
        for (; bits; bits &= bits - 1)
            if (holds(core_of(uncore, (uint32_t)__builtin_ctzll(bits)), entry->key - 1))
                return (uint32_t)__builtin_ctzll(bits);
        return (uint32_t)uncore->n_cores;
    }
    for (; number < uncore->n_cores; number++)
        if (entry->sharers >> number % 64 & 1 && number != besides && holds(uncore->cores[number], entry->key - 1))
            return number;
    return (uint32_t)uncore->n_cores;
}

static bool is_held(void *context, const struct as_directory_entry *entry)
{
    const struct as_uncore *uncore = context;
    return next_holder(uncore, entry, 0, UINT32_MAX) < uncore->n_cores;
}

/* The core that owns the line, other than `memory`; NULL: none does. */
static struct as_memory *owner_of(struct as_memory *memory, struct as_directory_entry *entry)
{
    struct as_memory *owner = entry->owner ? core_of(memory->uncore, entry->owner - 1) : NULL;
    return owner != memory && holds(owner, entry->key - 1) ? owner : NULL;
}

static struct as_memory *supplier_of(struct as_memory *memory, struct as_directory_entry *entry)
{
    struct as_memory *supplier = entry->supplier ? core_of(memory->uncore, entry->supplier - 1) : NULL;
    return supplier != memory && holds(supplier, entry->key - 1) ? supplier : NULL;
}

/* ---- what a core wrote ---- */

static const struct as_written *look_written(struct as_cache *cache, uint64_t line)
{
    uint32_t slot = cache->written ? as_tags_find(&cache->tags, line) : AS_TAGS_NONE;
    return slot != AS_TAGS_NONE && cache->written[slot].bytes ? &cache->written[slot] : NULL;
}

/* NULL: it has not written the line since it got it. */
static const struct as_written *written_by(struct as_memory *core, uint64_t line)
{
    const struct as_written *written = look_written(&core->l1d, line);
    return written ? written : look_written(&core->l2, line);
}

static void forget_written(struct as_cache *cache, uint64_t line)
{
    uint32_t slot = cache->written ? as_tags_search(&cache->tags, line) : AS_TAGS_NONE;
    if (slot != AS_TAGS_NONE)
        cache->written[slot] = (struct as_written){0};
}

/* ---- copies that change ---- */

/* The core's copies may no more be written; returns whether one was dirty. */
static bool downgrade(struct as_memory *core, uint64_t line, bool cleans)
{
    struct as_cache *const caches[] = {&core->l1d, core->has_l2 ? &core->l2 : NULL};
    bool dirty = false;
    for (size_t i = 0; i < 2; i++) {
        uint32_t slot = caches[i] ? as_tags_search(&caches[i]->tags, line) : AS_TAGS_NONE;
        if (slot == AS_TAGS_NONE)
            continue;
        uint8_t *flags = &caches[i]->tags.flags[slot];
        dirty |= *flags & AS_TAGS_DIRTY;
        caches[i]->tags.entries[slot].owned = false;
        if (cleans)
            *flags &= (uint8_t)~AS_TAGS_DIRTY;
    }
    return dirty;
}

static bool drop(struct as_memory *core, uint64_t line)
{
    bool dirty = as_cache_drop(&core->l1d, line);
    return (core->has_l2 && as_cache_drop(&core->l2, line)) || dirty;
}

bool as_coherence_drop_all(struct as_uncore *uncore, uint64_t line)
{
    bool dirty = false;
    for (size_t i = 0; i < uncore->n_cores; i++) {
        if (!uncore->cores[i])
            continue;
        as_cache_drop(&uncore->cores[i]->l1i, line);
        dirty |= drop(uncore->cores[i], line);
    }
    return dirty;
}

/* ---- who made it wait ---- */

/* The other side of a transfer. */
struct side {
    struct as_memory *core; /* NULL: nobody */
    uint32_t thread, insn;
    uint64_t bytes;
    bool written;
};

static void set_side(struct side *side, struct as_memory *core, uint64_t line)
{
    const struct as_written *written = written_by(core, line);
    if (side->core && (side->written || !written))
        return;
    *side = (struct side){.core = core, .thread = core->thread, .insn = AS_TRANSFER_NO_INSN};
    if (written)
        *side = (struct side){
            .core = core, .thread = written->thread, .insn = written->insn, .bytes = written->bytes, .written = true};
}

/* Nobody wrote it but the one that asks: the last one that read it is in its way. */
static void set_reader(struct side *side, const struct as_directory_entry *entry, const struct as_memory *besides)
{
    if (!side->core || side->written || !entry->reader || entry->reader == besides->thread)
        return;
    side->thread = entry->reader;
    side->insn = entry->reader_insn;
    side->bytes = entry->read;
}

static void note(struct as_memory *memory, const struct side *side, uint64_t line, uint64_t cycle, uint64_t done,
                 enum as_transfer_kind kind)
{
    const struct as_wish *wish = &memory->wish;
    uint64_t address = (line << memory->line_shift) & ((UINT64_C(1) << AS_ADDRESS_BITS) - 1);
    memory->moved = true;
    memory->fetched += kind != AS_TRANSFER_UPGRADE;
    memory->upgrades += kind == AS_TRANSFER_UPGRADE;
    *as_vec_push(&memory->transfers) = (struct as_transfer){
        .time = cycle,
        .line = address,
        .offset = wish->offset,
        .size = wish->size,
        .process = as_shared_is(address) ? 0 : memory->process,
        .from = side->thread,
        .to = memory->thread,
        .from_insn = side->insn,
        .from_core = side->core->core,
        .to_core = memory->core,
        .cycles = (uint32_t)(done - cycle),
        .kind = (uint8_t)kind,
        .written = side->written,
        .overlaps = (side->bytes & wish->bytes) != 0,
        .other_socket = side->core->socket != memory->socket,
    };
}

void as_memory_name_insn(struct as_memory *memory, uint32_t insn)
{
    struct as_uncore *uncore = memory->uncore;
    for (size_t i = 0; i < memory->transfers.len; i++) {
        struct as_transfer *transfer = &memory->transfers.data[i];
        transfer->to_insn = insn;
        uint64_t line = transfer->line >> memory->line_shift | as_memory_tag(memory, transfer->line);
        struct as_directory_entry *entry = as_directory_find(&uncore->directory, line);
        if (entry && transfer->kind == AS_TRANSFER_READ && entry->reader == memory->thread)
            entry->reader_insn = insn;
        if (uncore->on_transfer)
            uncore->on_transfer(uncore->context, transfer);
    }
    as_vec_clear(&memory->transfers);
}

/* ---- time ---- */

/* A request that is this much earlier than one that the model has met before takes its turn behind it all the same: stores ask
 * when they drain, which can be long after their thread's clock, so requests for a line that is fought over come a little out
 * of order. Each would otherwise have the line to itself, and it would move more often than it can. */
enum { OUT_OF_ORDER = 500 };

/* From the arrival of a line until it leaves again for a request that waits at the directory: the directory hears of the arrival, and the
 * core of the request. That of one that does not wait takes as long from the core that asks to the one that has the line. */
static uint64_t way_to_owner(const struct as_memory *memory)
{
    return memory->uncore->coherence.hold;
}

/* When a request at `cycle` would have been made if it had not had to wait: not before the line has arrived at a core that asked before. Then
 * the directory hears of that, which takes as long as the request would: one that waits there has made its way. */
static uint64_t turn_of(const struct as_memory *memory, const struct as_directory_entry *entry, uint64_t cycle)
{
    if (cycle + OUT_OF_ORDER < entry->asked)
        return cycle;
    return entry->ready > cycle ? entry->ready : cycle;
}

/* … so that the request comes to the core that has the line behind what that one wrote, if the model is ahead there. */
static uint64_t turn_behind(struct as_memory *memory, struct as_memory *other, const struct as_directory_entry *entry,
                            uint64_t cycle)
{
    uint64_t turn = turn_of(memory, entry, cycle), comes = turn + way_to_owner(memory);
    const struct as_written *written = other ? written_by(other, entry->key - 1) : NULL;
    bool ahead = written && written->cycle >= comes && written->cycle < comes + OUT_OF_ORDER;
    return ahead ? turn + (written->cycle + 1 - comes) : turn;
}

/* ---- lines that leave ---- */

/* Before the copy changes. One that may only be read is gone at once, for those that ask whether it stays. */
static void leave_at(struct as_memory *core, uint64_t line, uint64_t until)
{
    uint32_t slot = as_tags_find(&core->l1d.tags, line);
    if (slot == AS_TAGS_NONE)
        return;
    const struct as_entry *entry = &core->l1d.tags.entries[slot];
    core->leaving[core->n_leaving++ % AS_LEAVING] =
        (struct as_leaving){.line = line + 1, .since = entry->owned ? entry->ready : until, .until = until};
}

uint64_t as_memory_lost(const struct as_memory *memory, uint64_t address)
{
    uint64_t line = as_memory_line(memory, address);
    for (uint32_t i = 1; i <= AS_LEAVING && i <= memory->n_leaving; i++) {
        const struct as_leaving *leaving = &memory->leaving[(memory->n_leaving - i) % AS_LEAVING];
        if (leaving->line == line + 1)
            return leaving->until;
    }
    return UINT64_MAX;
}

bool as_coherence_stays(const struct as_memory *memory, uint64_t cycle, uint64_t line)
{
    for (uint32_t i = 0; i < AS_LEAVING; i++)
        if (memory->leaving[i].line == line + 1 && cycle >= memory->leaving[i].since &&
            cycle < memory->leaving[i].until)
            return true;
    return false;
}

static void set_turn(struct as_directory_entry *entry, uint64_t cycle, uint64_t done)
{
    if (cycle + OUT_OF_ORDER < entry->asked)
        return;
    entry->asked = cycle > entry->asked ? cycle : entry->asked;
    entry->ready = done > entry->ready ? done : entry->ready;
}

static uint32_t way_from(const struct as_memory *memory, const struct as_memory *other)
{
    const struct as_coherence_machine *machine = &memory->uncore->coherence;
    return other->socket == memory->socket ? machine->local : machine->remote;
}

static struct as_fill come_from(struct as_memory *memory, struct as_memory *other, uint64_t turn)
{
    memory->llc->accesses++; /* where the request was told to look elsewhere */
    return (struct as_fill){.done = turn + way_from(memory, other), .source = AS_SOURCE_CORE};
}

/* ---- the LLC ---- */

static struct as_cache *other_llc(const struct as_memory *memory)
{
    struct as_uncore *uncore = memory->uncore;
    if (uncore->coherence.sockets < 2)
        return NULL;
    return &uncore->llc[memory->socket ? 0 : 1];
}

/* From the own socket's LLC; from the other's where that alone has it. */
static struct as_fill ask_llc(struct as_memory *memory, uint64_t cycle, uint64_t line, enum as_request kind)
{
    struct as_cache *far = other_llc(memory);
    if (!far || as_tags_search(&memory->llc->tags, line) != AS_TAGS_NONE ||
        as_tags_search(&far->tags, line) == AS_TAGS_NONE)
        return as_cache_request(memory->llc, cycle, line, kind);
    memory->llc->accesses++;
    struct as_fill fill = {.done = cycle + memory->uncore->coherence.remote, .source = AS_SOURCE_LLC};
    as_cache_put(memory->llc, line, fill.done, false);
    return fill;
}

static void leave_far_llc(struct as_memory *memory, uint64_t line)
{
    struct as_cache *far = other_llc(memory);
    if (far && as_cache_drop(far, line))
        as_cache_put(memory->llc, line, 0, true);
}

/* ---- requests ---- */

/* What a load finds in other cores' caches. A core that has the line alone must be asked, because it may have written it; it may
 * also have dropped it, which it tells nobody. */
static uint32_t snoop(const struct as_memory *memory, const struct as_directory_entry *entry,
                      const struct as_memory *source, bool dirty)
{
    if (source)
        return dirty ? 0 : AS_EVENT_SNOOP_CLEAN;
    return entry->owner && entry->owner != memory->core + 1 ? AS_EVENT_SNOOP_MISS : 0;
}

static void note_reader(const struct as_memory *memory, struct as_directory_entry *entry)
{
    entry->reader = memory->thread;
    entry->reader_insn = AS_TRANSFER_NO_INSN;
    entry->read = memory->wish.bytes;
}

/* For a load: whoever owns the line keeps a copy that it may only read. */
static struct as_fill share(struct as_memory *memory, struct as_directory_entry *entry, uint64_t cycle, uint64_t line,
                            enum as_request kind)
{
    struct as_uncore *uncore = memory->uncore;
    enum as_protocol protocol = (enum as_protocol)uncore->coherence.protocol;
    struct as_memory *owner = owner_of(memory, entry), *supplier = supplier_of(memory, entry);
    bool others = owner || next_holder(uncore, entry, 0, memory->core) < uncore->n_cores;
    bool absent = protocol == AS_PROTOCOL_MESIF && as_tags_search(&memory->llc->tags, line) == AS_TAGS_NONE;
    struct as_memory *source = owner ? owner : protocol == AS_PROTOCOL_MOESI || absent ? supplier : NULL;
    uint64_t turn = turn_behind(memory, source, entry, cycle);
    struct as_fill fill = source ? come_from(memory, source, turn) : ask_llc(memory, cycle, line, kind);
    if (source) {
        struct side side = {0};
        set_side(&side, source, line);
        note(memory, &side, line, cycle, fill.done, AS_TRANSFER_READ);
    }
    bool dirty = source && protocol == AS_PROTOCOL_MOESI; /* the O's copy is */
    if (owner) {
        bool stays = protocol == AS_PROTOCOL_MOESI;
        leave_at(owner, line, turn + way_to_owner(memory));
        dirty = downgrade(owner, line, !stays);
        if (dirty && !stays)
            as_cache_put(owner->llc, line, fill.done, true);
        entry->supplier = stays && dirty ? owner->core + 1 : 0;
    }
    if (kind == AS_REQUEST_DEMAND)
        memory->snooped = snoop(memory, entry, source, dirty);
    if (protocol == AS_PROTOCOL_MESIF)
        entry->supplier = memory->core + 1;
    if (source || !others)
        set_turn(entry, cycle, fill.done);
    entry->owner = others || kind != AS_REQUEST_DEMAND ? 0 : memory->core + 1;
    entry->sharers = others ? entry->sharers | UINT64_C(1) << memory->core % 64 : UINT64_C(1) << memory->core % 64;
    if (kind == AS_REQUEST_DEMAND)
        note_reader(memory, entry);
    return fill;
}

/* All copies but the core's own go; whether there were any, whose write or read is in the way, and whether one is on
 * the other socket. A dirty copy's data goes with the line. */
struct gone {
    struct side side;
    bool far, dirty;
};

static struct gone drop_others(struct as_memory *memory, struct as_directory_entry *entry, uint64_t line, uint64_t turn)
{
    struct as_uncore *uncore = memory->uncore;
    struct gone gone = {0};
    for (uint32_t i = 0; (i = next_holder(uncore, entry, i, memory->core)) < uncore->n_cores; i++) {
        struct as_memory *other = uncore->cores[i];
        set_side(&gone.side, other, line);
        gone.far |= other->socket != memory->socket;
        leave_at(other, line, turn + way_to_owner(memory));
        gone.dirty |= drop(other, line);
    }
    memory->wish.dirty |= gone.dirty;
    set_reader(&gone.side, entry, memory);
    entry->owner = memory->core + 1;
    entry->supplier = 0;
    entry->sharers = UINT64_C(1) << memory->core % 64;
    leave_far_llc(memory, line);
    return gone;
}

static uint64_t upgraded_at(const struct as_memory *memory, const struct gone *gone, uint64_t turn)
{
    const struct as_coherence_machine *machine = &memory->uncore->coherence;
    return turn + machine->upgrade + (gone->far ? machine->remote - machine->local : 0);
}

/* For a store: all others' copies go. */
static struct as_fill take(struct as_memory *memory, struct as_directory_entry *entry, uint64_t cycle, uint64_t line,
                           enum as_request kind)
{
    bool moesi = memory->uncore->coherence.protocol == AS_PROTOCOL_MOESI;
    struct as_memory *source = owner_of(memory, entry);
    if (!source && moesi)
        source = supplier_of(memory, entry);
    uint64_t turn = turn_behind(memory, source, entry, cycle);
    struct as_fill fill = source ? come_from(memory, source, turn) : ask_llc(memory, cycle, line, kind);
    struct gone gone = drop_others(memory, entry, line, turn);
    if (gone.side.core) {
        uint64_t clear = source ? 0 : upgraded_at(memory, &gone, turn);
        fill.done = fill.done > clear ? fill.done : clear;
        fill.source = AS_SOURCE_CORE;
        note(memory, &gone.side, line, cycle, fill.done, AS_TRANSFER_WRITE);
    }
    set_turn(entry, cycle, fill.done);
    memory->taken = line + 1;
    return fill;
}

/* For a load of a line that its owner has written, where such lines migrate: this core will write it next, as that one did. Of a core
 * that has only read the line since it came, the next one gets a copy. */
static bool migrates(struct as_memory *memory, struct as_directory_entry *entry, uint64_t line, enum as_request kind)
{
    struct as_memory *owner =
        memory->uncore->coherence.migratory && kind == AS_REQUEST_DEMAND ? owner_of(memory, entry) : NULL;
    return owner && written_by(owner, line);
}

static struct as_fill migrate(struct as_memory *memory, struct as_directory_entry *entry, uint64_t cycle, uint64_t line)
{
    struct as_memory *owner = owner_of(memory, entry);
    uint64_t turn = turn_behind(memory, owner, entry, cycle);
    struct as_fill fill = come_from(memory, owner, turn);
    struct gone gone = drop_others(memory, entry, line, turn);
    note(memory, &gone.side, line, cycle, fill.done, AS_TRANSFER_READ);
    set_turn(entry, cycle, fill.done);
    note_reader(memory, entry);
    memory->taken = line + 1;
    return fill;
}

static struct as_fill request(struct as_port *port, uint64_t cycle, uint64_t line, enum as_request kind)
{
    struct as_memory *memory = (struct as_memory *)port;
    if (memory->wish.quiet || kind == AS_REQUEST_WALK)
        return as_cache_request(memory->llc, cycle, line, kind);
    struct as_directory_entry *entry = as_directory_put(&memory->uncore->directory, line);
    bool moved = memory->moved;
    struct as_fill fill = memory->wish.writes && kind == AS_REQUEST_DEMAND ? take(memory, entry, cycle, line, kind)
                          : migrates(memory, entry, line, kind)            ? migrate(memory, entry, cycle, line)
                                                                           : share(memory, entry, cycle, line, kind);
    if (kind == AS_REQUEST_PREFETCH)
        memory->moved = moved; /* the access that it came with does not wait for it */
    return fill;
}

/* A prefetch does not take a line from the core that owns it. */
static bool is_taken(struct as_port *port, uint64_t line)
{
    struct as_memory *memory = (struct as_memory *)port;
    struct as_directory_entry *entry = as_directory_find(&memory->uncore->directory, line);
    return entry && owner_of(memory, entry);
}

static void enter(struct as_port *port, uint64_t line)
{
    struct as_memory *memory = (struct as_memory *)port;
    if (!memory->wish.quiet)
        as_directory_put(&memory->uncore->directory, line)->sharers |= UINT64_C(1) << memory->core % 64;
}

static uint64_t upgrade(struct as_memory *memory, uint64_t cycle, uint64_t line)
{
    struct as_directory_entry *entry = as_directory_put(&memory->uncore->directory, line);
    uint64_t turn = turn_of(memory, entry, cycle), done = cycle;
    if (entry->owner == memory->core + 1)
        return done;
    struct gone gone = drop_others(memory, entry, line, turn);
    if (gone.side.core) {
        done = upgraded_at(memory, &gone, turn);
        note(memory, &gone.side, line, cycle, done, AS_TRANSFER_UPGRADE);
        set_turn(entry, cycle, done);
    }
    forget_written(&memory->l1d, line);
    forget_written(&memory->l2, line);
    return done;
}

uint64_t as_coherence_own(struct as_memory *memory, uint64_t cycle, uint64_t line)
{
    uint64_t done = memory->uncore->coherent ? upgrade(memory, cycle, line) : cycle;
    uint32_t slot = as_memory_slot(memory, line);
    memory->l1d.tags.entries[slot].owned = true;
    memory->l1d.tags.flags[slot] |= memory->wish.dirty ? AS_TAGS_DIRTY : 0;
    return done;
}

void as_coherence_warm(struct as_memory *memory, uint64_t line, bool writes)
{
    struct as_uncore *uncore = memory->uncore;
    if (!uncore->coherent) {
        memory->l1d.tags.entries[as_memory_slot(memory, line)].owned |= writes;
        return;
    }
    struct as_directory_entry *entry = as_directory_put(&uncore->directory, line);
    struct as_memory *owner = owner_of(memory, entry);
    if (writes) {
        memory->l1d.tags.entries[as_memory_slot(memory, line)].owned = true;
        drop_others(memory, entry, line, 0);
    } else if (entry->owner != memory->core + 1) {
        if (owner && downgrade(owner, line, true))
            as_cache_put(owner->llc, line, 0, true);
        bool others = next_holder(uncore, entry, 0, memory->core) < uncore->n_cores;
        entry->owner = others ? 0 : memory->core + 1;
        entry->sharers |= UINT64_C(1) << memory->core % 64;
    }
}

uint64_t as_memory_turn(struct as_memory *memory, uint64_t cycle)
{
    struct as_uncore *uncore = memory->uncore;
    struct as_directory_entry *entry =
        uncore->coherent && memory->fought ? as_directory_find(&uncore->directory, memory->fought - 1) : NULL;
    if (!entry || !owner_of(memory, entry))
        return cycle;
    uint64_t asks = cycle + memory->l1d.latency + (memory->has_l2 ? memory->l2.latency : 0);
    return turn_of(memory, entry, asks) + way_to_owner(memory);
}

/* ---- cores ---- */

static void enter_lines(struct as_uncore *uncore, const struct as_memory *memory, const struct as_cache *cache)
{
    size_t n = (size_t)(cache->tags.set_mask + 1) * cache->tags.ways;
    for (size_t i = 0; cache->tags.keys && i < n; i++) {
        if (!cache->tags.keys[i])
            continue;
        struct as_directory_entry *entry = as_directory_put(&uncore->directory, cache->tags.keys[i] - 1);
        entry->owner = memory->core + 1;
        entry->sharers |= UINT64_C(1) << memory->core % 64;
    }
}

static void open_port(struct as_memory *memory)
{
    memory->port = (struct as_port){.request = request, .is_taken = is_taken, .enter = enter};
    struct as_cache *last = memory->has_l2 ? &memory->l2 : &memory->l1d;
    last->port = memory->l1d.guard = last->guard = &memory->port;
    if (!memory->has_l2)
        memory->l1i.port = &memory->port;
}

/* The first core was alone until now: all lines are its own. */
static void begin(struct as_uncore *uncore)
{
    uncore->coherent = true;
    uncore->directory.is_held = is_held;
    uncore->directory.context = uncore;
    for (size_t i = 0; i < uncore->n_cores; i++) {
        if (!uncore->cores[i])
            continue;
        open_port(uncore->cores[i]);
        enter_lines(uncore, uncore->cores[i], &uncore->cores[i]->l1d);
        enter_lines(uncore, uncore->cores[i], &uncore->cores[i]->l2);
    }
}

void as_coherence_join(struct as_uncore *uncore, struct as_memory *memory)
{
    if (uncore->n_cores <= memory->core) {
        uncore->cores = as_realloc_array(uncore->cores, memory->core + 1, sizeof *uncore->cores);
        while (uncore->n_cores <= memory->core)
            uncore->cores[uncore->n_cores++] = NULL;
    }
    uncore->cores[memory->core] = memory;
    uncore->n_live++;
    if (uncore->coherence.protocol == AS_PROTOCOL_OFF)
        return;
    if (uncore->coherent)
        open_port(memory);
    else if (uncore->n_live > 1)
        begin(uncore);
}

void as_coherence_leave(struct as_uncore *uncore, struct as_memory *memory)
{
    uncore->cores[memory->core] = NULL;
    uncore->n_live--;
}
