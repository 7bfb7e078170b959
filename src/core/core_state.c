/* See core_state.h. Each part has a function that writes it and one that reads it, next to each other. */
#include "core/core_state.h"

#include "core/core_internal.h"

#include <string.h>
#include <wchar.h>

/* Behind the last dispatch at most, and before it at most, that times may lie. */
enum { BIAS = 1 << 14, FURTHEST = AS_CALENDAR_SPAN - 64 };

struct writer {
    uint64_t base;
    uint16_t *out, *end;
    uint64_t beyond; /* not 0: something did not fit */
};

struct reader {
    uint64_t base;
    const uint16_t *in;
};

static inline void put(struct writer *writer, uint64_t value)
{
    *writer->out++ = (uint16_t)value;
}

/* A time that may lie before the base too. */
static inline void put_time(struct writer *writer, uint64_t time)
{
    uint64_t since = time - writer->base + BIAS;
    writer->beyond |= since >> 15 | (since == 0);
    put(writer, since);
}

static inline uint64_t get(struct reader *reader)
{
    return *reader->in++;
}

static inline uint64_t get_time(struct reader *reader)
{
    return reader->base + get(reader) - BIAS;
}

/* A time that matters only behind `floor`. */
static inline void put_later(struct writer *writer, uint64_t time, uint64_t floor)
{
    if (time > floor)
        put_time(writer, time);
    else
        put(writer, 0);
}

static inline uint64_t get_later(struct reader *reader)
{
    uint64_t word = get(reader);
    return word ? reader->base + word - BIAS : 0;
}

static bool has_room(struct writer *writer, uint64_t words)
{
    if (writer->out + words + 1 < writer->end)
        return true;
    writer->beyond = 1;
    return false;
}

/* ---- rings ---- */

/* How many of those before number n go behind `floor`. They go in order. Not by as_search (base/search.h), whose branches nobody can predict:
 * with it here and in count_flights gzip took 8 % longer. */
static uint64_t count_behind(const struct ring *ring, uint64_t n, uint64_t floor)
{
    uint64_t low = 0, high = ring->limit;
    while (low < high) {
        uint64_t middle = low + (high - low + 1) / 2;
        bool behind = ring->gone[(n - middle) & ring->mask] > floor;
        low = behind ? middle : low;
        high = behind ? high : middle - 1;
    }
    return low;
}

/* When those before number n go, as far as that is behind `floor`: the oldest first. */
static void put_ring(struct writer *writer, const struct ring *ring, uint64_t n, uint64_t floor)
{
    uint64_t count = count_behind(ring, n, floor), bias = BIAS - writer->base, beyond = 0;
    if (!has_room(writer, count))
        return;
    put(writer, count);
    uint16_t *out = writer->out;
    for (uint64_t at = n - count; at != n; at++) {
        uint64_t since = ring->gone[at & ring->mask] + bias;
        beyond |= since;
        *out++ = (uint16_t)since;
    }
    writer->out = out;
    writer->beyond |= beyond >> 15;
}

static void get_ring(struct reader *reader, struct ring *ring, uint64_t n)
{
    memset(ring->gone, 0, (ring->mask + 1) * sizeof *ring->gone);
    for (uint64_t count = get(reader); count > 0; count--)
        ring->gone[(n - count) & ring->mask] = get_time(reader);
}

/* ---- fetch ---- */

enum { ON_LINE = 1 };

/* Returns the earliest fetch of the next instruction. */
static uint64_t put_fetch(struct writer *writer, const struct as_core *core, const struct as_body *body)
{
    const struct as_recipe *first = body->recipes;
    uint64_t packet = as_core_next_packet(core), line = body->address >> core->line_shift;
    bool joins = core->packet_slots != 0 && first->block == core->packet_block && first->line == core->packet_line;
    uint64_t fetch = joins ? core->packet_cycle : packet;
    put_time(writer, packet);
    put(writer, (core->packet_line == line ? ON_LINE : 0) | (joins ? core->packet_slots << 1 : 0));
    put_time(writer, fetch);
    put_ring(writer, &core->buffer, core->n_insns, fetch + core->depth);
    put_ring(writer, &core->targets, core->n_packets, fetch);
    return fetch;
}

static void get_fetch(struct reader *reader, struct as_core *core, const struct as_body *body)
{
    const struct as_recipe *first = body->recipes;
    core->fetch_next = get_time(reader);
    uint64_t word = get(reader);
    core->packet_slots = (uint32_t)(word >> 1);
    core->packet_cycle = get_time(reader);
    core->packet_block = core->packet_slots ? first->block : UINT64_MAX;
    core->packet_line = core->packet_slots ? first->line : UINT64_MAX;
    if (word & ON_LINE)
        core->packet_line = body->address >> core->line_shift;
    get_ring(reader, &core->buffer, core->n_insns);
    get_ring(reader, &core->targets, core->n_packets);
}

/* ---- ROB, with all that its micro-operations hold until they commit ---- */

/* How many of the last micro-operations commit behind the base: they do so in order. */
static uint64_t count_flights(const struct as_core *core, uint64_t base, uint64_t most)
{
    uint64_t low = 0, high = most; /* number `low` is in flight, or none is; number `high` + 1 is not */
    while (low < high) {
        uint64_t middle = low + (high - low + 1) / 2;
        if (core->flights[(core->n_uops - middle) & core->flights_mask].committed > base)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* The trail of those in flight, the oldest first; of that one it says nothing when the one before it committed. How many
 * of the last ones dispatched in the last dispatch's cycle. */
static void put_flights(struct writer *writer, const struct as_core *core)
{
    uint64_t n = count_flights(core, writer->base, later(core->rob, core->commit_width)), together = 0;
    if (!has_room(writer, n + 2))
        return;
    writer->beyond |= core->trail_break && core->n_uops - core->trail_break < n;
    while (together < core->width &&
           core->flights[(core->n_uops - 1 - together) & core->flights_mask].dispatched > writer->base)
        together++;
    put(writer, together);
    put(writer, n);
    uint64_t size = core->flights_mask + 1, from = (core->n_uops - n) & core->flights_mask;
    uint64_t straight = n < size - from ? n : size - from;
    memcpy(writer->out, &core->trail[from], straight * sizeof *writer->out);
    memcpy(writer->out + straight, core->trail, (n - straight) * sizeof *writer->out);
    if (n)
        writer->out[0] &= (uint16_t)~TRAIL_CYCLES;
    writer->out += n;
}

/* Number *n before now goes at the end of `cycle`, if it is one of those (1; else 0). Without branches, which the host could
 * not foresee: the place in question is written in any case, and once more when its turn comes. */
static inline void go_before(struct ring *ring, uint64_t *n, uint64_t is_one, uint64_t cycle)
{
    go(ring, *n - 1, cycle);
    *n -= is_one;
}

/* What was written too much. Rings are longer than their limit, so that it is nobody's place. */
static inline void clear_before(struct ring *ring, uint64_t n)
{
    ring->gone[(n - 1) & ring->mask] = 0;
}

static void clear_ring(struct ring *ring)
{
    memset(ring->gone, 0, (ring->mask + 1) * sizeof *ring->gone);
}

/* What the pipeline did before its last commit that it knows of, `horizon`, is past by now, as a rule, and may stay: nobody can tell it
 * from nothing. */
static void clear_flights(struct as_core *core, uint64_t base, uint64_t horizon)
{
    if (horizon < base)
        return;
    memset(core->flights, 0, (core->flights_mask + 1) * sizeof *core->flights);
    clear_ring(&core->registers[AS_REGISTERS_INT]);
    clear_ring(&core->registers[AS_REGISTERS_FP]);
    clear_ring(&core->load_queue);
    clear_ring(&core->rows);
}

static void get_flights(struct reader *reader, struct as_core *core, uint64_t horizon)
{
    uint64_t together = get(reader), n = get(reader), commit = core->last_commit, number = core->n_uops;
    uint64_t ints = core->n_writes[AS_REGISTERS_INT], fps = core->n_writes[AS_REGISTERS_FP], loads = core->n_loads,
             rows = core->n_rows, row_begins = 1;
    struct ring *int_file = &core->registers[AS_REGISTERS_INT], *fp_file = &core->registers[AS_REGISTERS_FP];
    clear_flights(core, reader->base, horizon);
    for (uint64_t i = 1; i <= together; i++)
        core->flights[(number - i) & core->flights_mask].dispatched = reader->base + 1;
    for (const uint16_t *word = reader->in + n; word-- > reader->in;) {
        core->trail[--number & core->flights_mask] = *word;
        core->flights[number & core->flights_mask].committed = commit + 1;
        go_before(int_file, &ints, (*word & TRAIL_INT) != 0, commit);
        go_before(fp_file, &fps, (*word & TRAIL_FP) != 0, commit);
        go_before(&core->load_queue, &loads, (*word & TRAIL_LOAD) != 0, commit);
        if (core->has_rows)
            go_before(&core->rows, &rows, row_begins, commit);
        row_begins = (*word & TRAIL_ROW) != 0;
        commit -= *word & TRAIL_CYCLES;
    }
    clear_before(int_file, ints);
    clear_before(fp_file, fps);
    clear_before(&core->load_queue, loads);
    clear_before(&core->rows, rows);
    reader->in += n;
    core->trail_commit = core->last_commit;
    core->trail_break = 0;
}

/* Rows: what follows opens one where the last is full, or began before it could have come. */
static void put_rows(struct writer *writer, const struct as_core *core, uint64_t fetch)
{
    if (!core->has_rows)
        return;
    put(writer, core->lane);
    put_later(writer, core->row_dispatched, fetch + core->depth - 1);
}

static void get_rows(struct reader *reader, struct as_core *core)
{
    if (!core->has_rows)
        return;
    core->lane = get(reader);
    core->row_dispatched = get_later(reader);
}

/* ---- registers that are not ready, units that are busy ---- */

enum { MAP_WORDS = (AS_REG_COUNT + 15) / 16, READY_STEP = 8 };
_Static_assert(AS_REG_COUNT % READY_STEP == 0, "registers are looked at in steps");

static void put_ready(struct writer *writer, const struct as_core *core, uint64_t floor)
{
    uint16_t *map = writer->out;
    memset(map, 0, MAP_WORDS * sizeof *map);
    writer->out += MAP_WORDS;
    uint16_t *out = writer->out;
    uint64_t bias = BIAS - writer->base, beyond = 0;
    for (uint32_t first = 0; first < AS_REG_COUNT; first += READY_STEP) {
        uint64_t any = 0;
        for (uint32_t i = 0; i < READY_STEP; i++)
            any |= core->ready[first + i] > floor;
        if (!any) /* most of those that the program does not use at all */
            continue;
        for (uint32_t i = first; i < first + READY_STEP; i++) { /* without branches: nobody foresees which are ready */
            uint64_t late = core->ready[i] > floor, since = core->ready[i] + bias;
            map[i / 16] |= (uint16_t)(late << i % 16);
            *out = (uint16_t)since;
            out += late;
            beyond |= since & -late;
        }
    }
    writer->out = out;
    writer->beyond |= beyond >> 15;
}

static void get_ready(struct reader *reader, struct as_core *core)
{
    const uint16_t *map = reader->in;
    reader->in += MAP_WORDS;
    memset(core->ready, 0, AS_REG_COUNT * sizeof *core->ready);
    for (uint32_t i = 0; i < MAP_WORDS; i++)
        for (uint32_t late = map[i]; late; late &= late - 1)
            core->ready[i * 16 + (uint32_t)__builtin_ctz(late)] = get_time(reader);
}

/* Units of a kind are all alike: the busiest first. */
static void put_long_units(struct writer *writer, const struct as_core *core, uint64_t floor)
{
    for (uint32_t units = core->long_units; units; units &= units - 1) {
        uint32_t unit = (uint32_t)__builtin_ctz(units), n = 0;
        uint64_t busy[MAX_UNITS];
        for (uint32_t i = 0; i < core->machine->units[unit].count; i++) {
            uint64_t time = core->unit_free[unit][i];
            if (time <= floor)
                continue;
            uint32_t at = n++;
            for (; at > 0 && busy[at - 1] < time; at--)
                busy[at] = busy[at - 1];
            busy[at] = time;
        }
        put(writer, n);
        for (uint32_t i = 0; i < n; i++)
            put_time(writer, busy[i]);
    }
}

static void get_long_units(struct reader *reader, struct as_core *core)
{
    for (uint32_t units = core->long_units; units; units &= units - 1) {
        uint64_t *free_at = core->unit_free[__builtin_ctz(units)];
        memset(free_at, 0, MAX_UNITS * sizeof *free_at);
        for (uint64_t n = get(reader), i = 0; i < n; i++)
            free_at[i] = get_time(reader);
    }
}

/* ---- issue queues ---- */

enum { DENSE = 64, SPARSE = 1 << 15 };

/* Who leaves when, from the base on: a count for each cycle, or, where that is long, for each in which some do. */
static void put_occupancy(struct writer *writer, const struct as_occupancy *occupancy)
{
    uint64_t base = writer->base, n = occupancy->latest >= base ? occupancy->latest - base + 1 : 0, pairs = 0;
    if (!has_room(writer, 2 * n))
        return;
    uint16_t *count = writer->out++;
    if (n <= DENSE) {
        for (uint64_t i = 0; i < n; i++)
            put(writer, occupancy->leaves[(base + i) % AS_CALENDAR_SPAN]);
        *count = (uint16_t)n;
        return;
    }
    uint64_t cycle = base - 1;
    do { /* `latest` is one of them: it lies behind the base */
        cycle = as_occupancy_next(occupancy, cycle + 1);
        put(writer, cycle - base);
        put(writer, occupancy->leaves[cycle % AS_CALENDAR_SPAN]);
        pairs++;
    } while (cycle < occupancy->latest);
    *count = (uint16_t)(pairs | SPARSE);
}

/* `calendar`, where one is given, has the same: they leave when they issue. */
static void set_leaving(struct as_occupancy *occupancy, struct as_calendar *calendar, uint64_t cycle, uint64_t leave)
{
    if (leave)
        as_occupancy_mark(occupancy, cycle, (uint32_t)leave);
    occupancy->used += (uint32_t)leave;
    occupancy->latest = cycle;
    if (calendar)
        as_calendar_set(calendar, cycle, (uint32_t)leave);
}

/* Nobody is in it any more. */
static void clear_occupancy(struct as_occupancy *occupancy)
{
    if (!occupancy->used)
        return;
    uint64_t first = occupancy->cursor, n = occupancy->latest - first + 1;
    uint64_t from = first % AS_CALENDAR_SPAN, straight = AS_CALENDAR_SPAN - from;
    straight = n < straight ? n : straight;
    memset(&occupancy->leaves[from], 0, straight * sizeof *occupancy->leaves);
    memset(occupancy->leaves, 0, (n - straight) * sizeof *occupancy->leaves);
    for (uint64_t word = first / 64; word <= occupancy->latest / 64; word++)
        occupancy->some[word % AS_OCCUPANCY_WORDS] = 0;
    occupancy->used = 0;
}

static void get_occupancy(struct reader *reader, struct as_occupancy *occupancy, struct as_calendar *calendar)
{
    clear_occupancy(occupancy);
    occupancy->cursor = reader->base;
    occupancy->latest = 0;
    uint64_t n = get(reader);
    for (uint64_t i = 0; i < n && !(n & SPARSE); i++)
        set_leaving(occupancy, calendar, reader->base + i, get(reader));
    for (uint64_t pairs = n & SPARSE ? n - SPARSE : 0; pairs > 0; pairs--) {
        uint64_t cycle = reader->base + get(reader);
        set_leaving(occupancy, calendar, cycle, get(reader));
    }
}

/* Units of which there are fewer than their queue can feed: what is taken from `from` on. */
static void put_calendar(struct writer *writer, const struct as_calendar *calendar, uint64_t from)
{
    uint64_t end = calendar->latest + 1, pairs = 0;
    if (!has_room(writer, end > from ? 2 * (end - from) : 0))
        return;
    uint16_t *count = writer->out++;
    for (uint64_t cycle = from; cycle < end; cycle++) {
        uint32_t taken = as_calendar_word(calendar, cycle) & 0xff;
        if (!taken)
            continue;
        put_time(writer, cycle);
        put(writer, taken);
        pairs++;
    }
    *count = (uint16_t)pairs;
}

static void get_calendar(struct reader *reader, struct as_calendar *calendar)
{
    calendar->latest = reader->base;
    for (uint64_t pairs = get(reader); pairs > 0; pairs--) {
        uint64_t cycle = get_time(reader);
        as_calendar_set(calendar, cycle, (uint32_t)get(reader));
        calendar->latest = cycle;
    }
}

static void put_issue(struct writer *writer, struct as_core *core, uint64_t from)
{
    put_occupancy(writer, core->branches);
    for (int i = 0; i < AS_QUEUE_COUNT; i++)
        put_occupancy(writer, core->queues[i]);
    for (uint32_t units = core->tight_units; units; units &= units - 1)
        put_calendar(writer, core->unit_calendar[__builtin_ctz(units)], from);
}

/* What the calendars know of cycles from the base on is of another time. Nothing was taken behind `last`; the horizon is often
 * hundreds of cycles further away, where stores wait for lines. */
static void clear_calendar(struct as_calendar *calendar, uint64_t from, uint64_t last)
{
    while (from <= last) {
        uint64_t at = from % AS_CALENDAR_SPAN, n = last - from + 1, straight = AS_CALENDAR_SPAN - at;
        n = n < straight ? n : straight;
        wmemset((wchar_t *)&calendar->slots[at], (wchar_t)(from >> AS_CALENDAR_SPAN_BITS << 8), n);
        from += n;
    }
}

/* The last cycle in which a queue's calendar can have something: entries leave when they issue. */
static uint64_t last_issue(const struct as_occupancy *queue, uint64_t horizon)
{
    uint64_t last = later(queue->latest, queue->beyond);
    return last < horizon ? last : horizon;
}

static void get_issue(struct reader *reader, struct as_core *core, uint64_t horizon)
{
    get_occupancy(reader, core->branches, NULL);
    for (int i = 0; i < AS_QUEUE_COUNT; i++) {
        clear_calendar(core->queue_calendar[i], reader->base, last_issue(core->queues[i], horizon));
        get_occupancy(reader, core->queues[i], core->queue_calendar[i]);
    }
    for (uint32_t units = core->tight_units; units; units &= units - 1) {
        struct as_calendar *calendar = core->unit_calendar[__builtin_ctz(units)];
        clear_calendar(calendar, reader->base, calendar->latest < horizon ? calendar->latest : horizon);
        get_calendar(reader, calendar);
    }
}

/* ---- stores ---- */

/* Stores that have not drained; when the entries of others were free, as far as that is not past. What a drain is held
 * up by matters from the first one's earliest start on. */
static void put_drains(struct writer *writer, const struct as_core *core)
{
    uint64_t pending = core->n_stores - core->n_drained, limit = core->store_queue.limit;
    uint64_t room = pending < limit ? limit - pending : 0, first = core->n_drained - room;
    if (!has_room(writer, 8 + pending + room))
        return;
    put(writer, pending);
    for (uint64_t n = core->n_drained; n < core->n_stores; n++) {
        const struct pending *store = &core->pending[n & core->pending_mask];
        put_time(writer, store->commit);
        writer->out[-1] |= (uint16_t)((store->size != 0) << 15);
    }
    while (first != core->n_drained && core->store_queue.gone[first & core->store_queue.mask] <= writer->base)
        first++;
    put(writer, core->n_drained - first);
    for (; first != core->n_drained; first++) {
        put_later(writer, core->store_queue.gone[first & core->store_queue.mask], writer->base);
        if (writer->out[-1])
            writer->out[-1] |= (uint16_t)((core->store_moved[first & core->store_queue.mask] != 0) << 15);
    }
    uint64_t start = pending ? core->pending[core->n_drained & core->pending_mask].commit : writer->base;
    start = start < writer->base ? start : writer->base;
    put_later(writer, core->last_drain_start, start);
    put(writer, core->last_drain_start > start ? core->drains_in_cycle : 0);
    put_later(writer, core->last_drain, start);
    writer->beyond |= core->gathered && core->last_drain > start; /* addresses decide what drains when */
}

static void get_drains(struct reader *reader, struct as_core *core)
{
    get(reader); /* how many there are: the caller has said so too */
    for (uint64_t n = core->n_drained; n < core->n_stores; n++)
        core->pending[n & core->pending_mask].commit = reader->base + (*reader->in++ & ((1u << 15) - 1)) - BIAS;
    memset(core->store_queue.gone, 0, (core->store_queue.mask + 1) * sizeof *core->store_queue.gone);
    memset(core->store_moved, 0, (core->store_queue.mask + 1) * sizeof *core->store_moved);
    for (uint64_t n = get(reader); n > 0; n--) {
        uint64_t at = (core->n_drained - n) & core->store_queue.mask, word = get(reader);
        uint64_t since = word & ((1u << 15) - 1);
        core->store_queue.gone[at] = since ? reader->base + since - BIAS : 0;
        core->store_moved[at] = word >> 15 ? core->store_queue.gone[at] - 1 : 0;
    }
    core->last_drain_start = get_later(reader);
    core->drains_in_cycle = (uint32_t)get(reader);
    core->last_drain = get_later(reader);
    core->gathered = 0;
    as_core_plan_drain(core);
}

/* ---- the compare before a branch that may fuse with it ---- */

static bool may_fuse(const struct as_core *core, const struct as_body *body)
{
    const struct as_insn *previous = core->previous;
    return body->recipes->traits & AS_RECIPE_FUSES && previous && as_insn_fuses(previous, body->insns[0]);
}

static void put_fusion(struct writer *writer, const struct as_core *core, const struct as_body *body)
{
    bool fuses = may_fuse(core, body);
    put(writer, fuses);
    if (!fuses)
        return;
    memcpy(writer->out, &core->previous, sizeof core->previous);
    writer->out += sizeof core->previous / sizeof *writer->out;
    put_time(writer, core->previous_dispatch);
    put_time(writer, core->previous_issue);
    put_time(writer, core->previous_done);
    put_time(writer, core->previous_commit);
}

static void get_fusion(struct reader *reader, struct as_core *core)
{
    core->previous = NULL;
    if (!get(reader))
        return;
    memcpy(&core->previous, reader->in, sizeof core->previous);
    reader->in += sizeof core->previous / sizeof *reader->in;
    core->previous_dispatch = get_time(reader);
    core->previous_issue = get_time(reader);
    core->previous_done = get_time(reader);
    core->previous_commit = get_time(reader);
}

/* ---- all of it ---- */

uint32_t as_state_take(struct as_core *core, const struct as_body *body, uint16_t *words)
{
    struct writer writer = {.base = core->last_dispatch, .out = words, .end = words + AS_STATE_WORDS - 256};
    uint64_t base = writer.base, issue = base + core->dispatch_to_issue;
    if (core->last_commit - base > FURTHEST)
        return 0;
    put_time(&writer, core->last_commit);
    put(&writer, core->last_flags);
    uint64_t fetch = put_fetch(&writer, core, body);
    put_later(&writer, core->hold_dispatch, base);
    put_rows(&writer, core, fetch);
    put_flights(&writer, core);
    if (writer.beyond)
        return 0;
    put_ready(&writer, core, issue);
    put_long_units(&writer, core, issue);
    put_later(&writer, core->stores_known, base);
    put_later(&writer, core->load_barrier, base);
    put_later(&writer, core->store_barrier, base);
    put_issue(&writer, core, issue);
    put_drains(&writer, core);
    put_fusion(&writer, core, body);
    return writer.beyond ? 0 : (uint32_t)(writer.out - words);
}

void as_state_put(struct as_core *core, const struct as_body *body, const uint16_t *words, uint64_t horizon)
{
    struct reader reader = {.base = core->last_dispatch, .in = words};
    core->last_commit = get_time(&reader);
    core->last_flags = (uint16_t)get(&reader);
    get_fetch(&reader, core, body);
    core->hold_dispatch = get_later(&reader);
    get_rows(&reader, core);
    get_flights(&reader, core, horizon);
    get_ready(&reader, core);
    get_long_units(&reader, core);
    core->stores_known = get_later(&reader);
    core->load_barrier = get_later(&reader);
    core->store_barrier = get_later(&reader);
    get_issue(&reader, core, horizon);
    get_drains(&reader, core);
    get_fusion(&reader, core);
}
