/* Coherence against a plain reference: random loads, stores and atomics of several cores to a few lines, whose states,
 * writers and transfers the reference keeps in tables, one row for each line and core. Then what the reference leaves
 * out: caches that are too small, requests at the same time, sockets, cores that leave. */
#include "unit.h"

#include "memory_bed.h"

enum { CORES = 4, LINES = 24, LOCAL = 50, REMOTE = 120, UPGRADE = 30, BASE = 0x10000 };

static struct as_machine coherent_machine(enum as_protocol protocol)
{
    struct as_machine machine = bed_machine();
    machine.coherence = (struct as_coherence_machine){
        .protocol = protocol, .local = LOCAL, .remote = REMOTE, .upgrade = UPGRADE, .sockets = 1};
    return machine;
}

/* ---- the reference ---- */

enum state { INVALID, SHARED, EXCLUSIVE, MODIFIED, OWNED };

struct copy {
    enum state state;
    uint64_t bytes; /* written since the core owned the line */
    uint32_t insn;
};

struct line {
    struct copy copies[CORES];
    uint32_t reader, reader_insn; /* the last one that fetched it by a load */
    uint64_t read;
};

struct access {
    uint32_t core, insn, offset, size;
    enum as_memory_kind kind;
};

/* What is expected of an access; `cycles` 0: no transfer. */
struct expected {
    bool moves;
    struct as_transfer transfer;
};

static uint64_t mask_of(const struct access *access)
{
    return (access->size == 64 ? UINT64_MAX : (UINT64_C(1) << access->size) - 1) << access->offset;
}

static int find_state(const struct line *line, enum state a, enum state b, int besides)
{
    for (int i = 0; i < CORES; i++)
        if (i != besides && (line->copies[i].state == a || line->copies[i].state == b))
            return i;
    return -1;
}

static struct expected from_copy(const struct line *line, int from, uint8_t kind, const struct access *access)
{
    const struct copy *copy = &line->copies[from];
    return (struct expected){.moves = true,
                             .transfer = {.kind = kind,
                                          .from = (uint32_t)from + 1,
                                          .from_insn = copy->bytes ? copy->insn : AS_TRANSFER_NO_INSN,
                                          .written = copy->bytes != 0,
                                          .overlaps = (copy->bytes & mask_of(access)) != 0}};
}

static struct expected reference_read(struct line *line, const struct access *access,
                                      const struct as_coherence_machine *machine)
{
    bool moesi = machine->protocol == AS_PROTOCOL_MOESI;
    struct copy *own = &line->copies[access->core];
    struct expected expected = {0};
    if (own->state != INVALID)
        return expected;
    int owner = find_state(line, EXCLUSIVE, MODIFIED, -1),
        source = owner >= 0 ? owner : find_state(line, OWNED, OWNED, -1);
    if (source >= 0)
        expected = from_copy(line, source, AS_TRANSFER_READ, access);
    bool migrates = machine->migratory && owner >= 0 && line->copies[owner].bytes;
    if (migrates)
        line->copies[owner] = (struct copy){.state = INVALID};
    else if (owner >= 0)
        line->copies[owner].state = moesi && line->copies[owner].state == MODIFIED ? OWNED : SHARED;
    bool others = source >= 0 || find_state(line, SHARED, SHARED, -1) >= 0;
    *own = (struct copy){.state = migrates ? MODIFIED : others ? SHARED : EXCLUSIVE};
    line->reader = access->core + 1;
    line->reader_insn = source >= 0 ? access->insn : AS_TRANSFER_NO_INSN;
    line->read = mask_of(access);
    return expected;
}

/* Who is in the way of a write: the copy that was written; else the last reader; else the first that has one. */
static struct expected find_culprit(const struct line *line, const struct access *access, uint8_t kind)
{
    int first = -1, writer = -1;
    for (int i = 0; i < CORES; i++) {
        if (i == (int)access->core || line->copies[i].state == INVALID)
            continue;
        first = first < 0 ? i : first;
        writer = writer < 0 && line->copies[i].bytes ? i : writer;
    }
    if (first < 0)
        return (struct expected){0};
    struct expected expected = from_copy(line, writer >= 0 ? writer : first, kind, access);
    if (writer < 0 && line->reader && line->reader != access->core + 1) {
        expected.transfer.from = line->reader;
        expected.transfer.from_insn = line->reader_insn;
        expected.transfer.overlaps = (line->read & mask_of(access)) != 0;
    }
    return expected;
}

static struct expected reference_write(struct line *line, const struct access *access)
{
    struct copy *own = &line->copies[access->core];
    struct expected expected = {0};
    if (own->state != EXCLUSIVE && own->state != MODIFIED) {
        bool dirty = find_state(line, MODIFIED, OWNED, -1) >= 0;
        expected = find_culprit(line, access, own->state == INVALID ? AS_TRANSFER_WRITE : AS_TRANSFER_UPGRADE);
        for (int i = 0; i < CORES; i++)
            line->copies[i] = i == (int)access->core ? *own : (struct copy){.state = INVALID};
        own->bytes = 0;
        own->state = dirty ? MODIFIED : EXCLUSIVE;
    }
    if (access->kind == AS_MEMORY_STORE) {
        own->state = MODIFIED;
        own->bytes |= mask_of(access);
        own->insn = access->insn;
    }
    return expected;
}

/* ---- the model beside it ---- */

struct system {
    struct as_machine machine;
    struct as_uncore *uncore;
    struct as_memory *cores[CORES];
    size_t n; /* transfers */
    struct as_transfer last;
};

static void note_transfer(void *context, const struct as_transfer *transfer)
{
    struct system *system = context;
    system->last = *transfer;
    system->n++;
}

static void open_system(struct system *system, struct as_machine machine)
{
    *system = (struct system){.machine = machine};
    system->uncore = as_uncore_new(&system->machine);
    as_uncore_set_transfers(system->uncore, note_transfer, system);
    for (uint32_t i = 0; i < CORES; i++) {
        system->cores[i] = as_memory_new(&system->machine, system->uncore, i);
        as_memory_set_thread(system->cores[i], i + 1);
        as_memory_access(system->cores[i], AS_MEMORY_LOAD, 1, BASE + (40 + i) * BED_LINE, 8); /* its TLB has the page */
    }
}

static void close_system(struct system *system)
{
    for (int i = 0; i < CORES; i++)
        as_memory_free(system->cores[i]);
    as_uncore_free(system->uncore);
}

static struct as_memory_answer make_access(struct system *system, const struct access *access, uint64_t line,
                                           uint64_t t)
{
    struct as_memory *memory = system->cores[access->core];
    uint64_t address = BASE + line * BED_LINE + access->offset;
    struct as_memory_answer answer = access->kind == AS_MEMORY_STORE
                                         ? as_memory_store(memory, t, address, access->size, access->insn)
                                         : as_memory_access(memory, access->kind, t, address, access->size);
    if (answer.events & AS_EVENT_COHERENCE)
        as_memory_name_insn(memory, access->insn);
    return answer;
}

static struct access random_access(uint64_t *seed, uint32_t insn)
{
    static const enum as_memory_kind kinds[] = {AS_MEMORY_LOAD, AS_MEMORY_LOAD, AS_MEMORY_STORE, AS_MEMORY_OWN};
    uint32_t size = 1u << bed_random(seed) % 4;
    return (struct access){.core = (uint32_t)(bed_random(seed) % CORES),
                           .insn = insn,
                           .size = size,
                           .offset = (uint32_t)(bed_random(seed) % (BED_LINE / size)) * size,
                           .kind = kinds[bed_random(seed) % 4]};
}

static void check_transfer(const struct expected *expected, const struct system *system, const struct access *access,
                           uint64_t line)
{
    const struct as_transfer *is = &system->last, *want = &expected->transfer;
    assert_int_equal(is->kind, want->kind);
    assert_int_equal(is->from, want->from);
    assert_int_equal(is->from_insn, want->from_insn);
    assert_int_equal(is->written, want->written);
    assert_int_equal(is->overlaps, want->overlaps);
    assert_int_equal(is->to, access->core + 1);
    assert_int_equal(is->to_insn, access->insn);
    assert_int_equal(is->line, BASE + line * BED_LINE);
    assert_int_equal(is->offset, access->offset);
    assert_int_equal(is->size, access->size);
    assert_int_equal(is->cycles, want->kind == AS_TRANSFER_UPGRADE ? UPGRADE : is->cycles);
    if (want->kind == AS_TRANSFER_READ)
        assert_int_equal(is->cycles, LOCAL);
}

static void compare_with_reference(enum as_protocol protocol, bool migratory)
{
    enum { ACCESSES = 60000 };
    struct system system;
    struct line lines[LINES] = {0};
    uint64_t seed = 7 + protocol, moves[3] = {0}, t = 1000;
    struct as_machine machine = coherent_machine(protocol);
    machine.coherence.migratory = migratory;
    open_system(&system, machine);
    for (uint32_t i = 0; i < ACCESSES; i++, t += 2000) {
        struct access access = random_access(&seed, i);
        uint64_t line = bed_random(&seed) % LINES;
        bool reads = access.kind == AS_MEMORY_LOAD, had = lines[line].copies[access.core].state != INVALID;
        struct expected expected =
            reads ? reference_read(&lines[line], &access, &machine.coherence) : reference_write(&lines[line], &access);
        size_t before = system.n;
        struct as_memory_answer answer = make_access(&system, &access, line, t);
        assert_int_equal(system.n - before, expected.moves);
        assert_int_equal((answer.events & AS_EVENT_COHERENCE) != 0, expected.moves);
        if (expected.moves) {
            check_transfer(&expected, &system, &access, line);
            moves[expected.transfer.kind]++;
        }
        if (reads)
            assert_int_equal(answer.done - t, had              ? BED_L1
                                              : expected.moves ? BED_L1 + BED_L2 + LOCAL
                                                               : answer.done - t);
        else if (expected.moves && expected.transfer.kind == AS_TRANSFER_UPGRADE)
            assert_int_equal(answer.done - t, BED_L1 + UPGRADE);
    }
    for (int i = 0; i < 3; i++)
        assert_true(moves[i] > ACCESSES / 50);
    close_system(&system);
}

static void states_and_transfers_of_mesi(void **state)
{
    compare_with_reference(AS_PROTOCOL_MESI, false);
}

static void states_and_transfers_of_mesif(void **state)
{
    compare_with_reference(AS_PROTOCOL_MESIF, false);
}

static void states_and_transfers_of_moesi(void **state)
{
    compare_with_reference(AS_PROTOCOL_MOESI, false);
}

static void states_and_transfers_where_lines_migrate(void **state)
{
    compare_with_reference(AS_PROTOCOL_MESI, true);
    compare_with_reference(AS_PROTOCOL_MESIF, true);
    compare_with_reference(AS_PROTOCOL_MOESI, true);
}

/* ---- what the reference leaves out ---- */

static struct as_memory_answer ask(struct system *system, uint32_t core, enum as_memory_kind kind, uint64_t t)
{
    return make_access(system, &(struct access){.core = core, .insn = core + 10, .size = 8, .kind = kind}, 0, t);
}

/* Requests for one line are served one after the other; one from the past does not wait. */
static void serves_one_after_the_other(void **state)
{
    struct system system;
    open_system(&system, coherent_machine(AS_PROTOCOL_MESI));
    ask(&system, 0, AS_MEMORY_STORE, 10000);
    uint64_t t = 20000, first = ask(&system, 1, AS_MEMORY_OWN, t).done;
    assert_int_equal(first, t + BED_L1 + BED_L2 + LOCAL);
    assert_int_equal(ask(&system, 2, AS_MEMORY_OWN, t).done, first + LOCAL);
    assert_int_equal(ask(&system, 3, AS_MEMORY_OWN, t).done, first + 2 * LOCAL);
    assert_int_equal(ask(&system, 1, AS_MEMORY_OWN, t - 5000).done, t - 5000 + BED_L1 + BED_L2 + LOCAL);
    assert_int_equal(ask(&system, 0, AS_MEMORY_OWN, t - 5000).done, t - 5000 + BED_L1); /* it had the line then */
    close_system(&system);
}

/* A core keeps a line that it has got for some cycles, though another one waits for it: half of them until the directory knows that it has
 * it, the others until it hears of the next request, which the line's way to the next one includes. An atomic that begins in that time has its store, too. */
static void keeps_lines_for_a_while(void **state)
{
    enum { HOLD = 20 };
    struct system system;
    struct as_machine machine = coherent_machine(AS_PROTOCOL_MESI);
    machine.coherence.hold = HOLD;
    open_system(&system, machine);
    ask(&system, 0, AS_MEMORY_STORE, 10000);
    uint64_t t = 20000, first = ask(&system, 1, AS_MEMORY_STORE, t).done,
             next = ask(&system, 2, AS_MEMORY_STORE, t).done;
    assert_int_equal(first, t + BED_L1 + BED_L2 + LOCAL);
    assert_int_equal(next, first + LOCAL);
    size_t moves = system.n;
    assert_int_equal(ask(&system, 1, AS_MEMORY_STORE, first).done, first);
    assert_int_equal(ask(&system, 1, AS_MEMORY_LOAD, first + 1).done, first + 1 + BED_L1);
    assert_int_equal(ask(&system, 1, AS_MEMORY_OWN, first + HOLD - 1).done, first + HOLD - 1 + BED_L1);
    assert_int_equal(ask(&system, 1, AS_MEMORY_STORE, first + HOLD + 9).done, first + HOLD + 9); /* the atomic's */
    assert_int_equal(system.n, moves);
    assert_int_equal(ask(&system, 1, AS_MEMORY_STORE, first + HOLD).done, next + LOCAL);
    assert_int_equal(system.n, moves + 1);
    close_system(&system);
}

/* A core that would ask for the line of its last atomic could have it when its owner's time is over; of its own lines, at once. */
static void tells_when_a_line_leaves(void **state)
{
    enum { HOLD = 20, WAY = BED_L1 + BED_L2 };
    struct system system;
    struct as_machine machine = coherent_machine(AS_PROTOCOL_MESI);
    machine.coherence.hold = HOLD;
    open_system(&system, machine);
    uint64_t t = 20000, first = ask(&system, 0, AS_MEMORY_OWN, 10000).done;
    assert_int_equal(as_memory_turn(system.cores[1], t), t); /* it has made none */
    assert_int_equal(as_memory_turn(system.cores[0], t), t);
    first = ask(&system, 1, AS_MEMORY_OWN, t).done;
    assert_int_equal(as_memory_turn(system.cores[1], first), first);
    assert_int_equal(as_memory_turn(system.cores[0], first - WAY), first + HOLD);
    assert_int_equal(as_memory_turn(system.cores[0], first + HOLD), first + HOLD + WAY + HOLD);
    close_system(&system);
}

/* Where another core took a line, it is known when that was, for copies that could be written and for those that could not. */
static void knows_when_lines_were_lost(void **state)
{
    enum { HOLD = 20, WAY = BED_L1 + BED_L2 };
    struct system system;
    struct as_machine machine = coherent_machine(AS_PROTOCOL_MESI);
    machine.coherence.hold = HOLD;
    open_system(&system, machine);
    ask(&system, 0, AS_MEMORY_STORE, 10000);
    assert_true(as_memory_lost(system.cores[0], BASE) == UINT64_MAX);
    ask(&system, 1, AS_MEMORY_LOAD, 20000);
    assert_int_equal(as_memory_lost(system.cores[0], BASE), 20000 + WAY + HOLD); /* the right to write it */
    assert_true(as_memory_lost(system.cores[0], BASE + BED_LINE) == UINT64_MAX);
    ask(&system, 0, AS_MEMORY_STORE, 30000);
    assert_true(as_memory_lost(system.cores[1], BASE) > 30000 &&
                as_memory_lost(system.cores[1], BASE) <= 30000 + WAY + HOLD);
    close_system(&system);
}

/* A load that goes ahead of an atomic before it finds a line that is still here; if that leaves before the atomic is done, the load is tried
 * again: else it would have what was there before the atomic. */
static void tries_loads_again_behind_atomics(void **state)
{
    enum { HOLD = 20, OTHER = 64 * BED_LINE };
    struct system system;
    struct as_machine machine = coherent_machine(AS_PROTOCOL_MESI);
    machine.coherence.hold = HOLD;
    open_system(&system, machine);
    ask(&system, 0, AS_MEMORY_STORE, 10000);
    as_memory_access(system.cores[2], AS_MEMORY_OWN, 10000, BASE + OTHER, 8);
    uint64_t t = 20000, leaves = t + BED_L1 + BED_L2 + HOLD;
    ask(&system, 1, AS_MEMORY_STORE, t);
    size_t moves = system.n;
    assert_int_equal(ask(&system, 0, AS_MEMORY_LOAD, leaves - 1).done, leaves - 1 + BED_L1);
    assert_int_equal(system.n, moves);
    uint64_t atomic = as_memory_access(system.cores[0], AS_MEMORY_OWN, t, BASE + OTHER, 8).done;
    assert_true(atomic > leaves);
    as_memory_name_insn(system.cores[0], AS_TRANSFER_NO_INSN);
    moves = system.n;
    assert_true(ask(&system, 0, AS_MEMORY_LOAD, leaves - 1).done >= atomic + BED_L1 + BED_L2 + LOCAL);
    assert_int_equal(system.n, moves + 1);
    close_system(&system);
}

/* What the model has met already is not undone: a core that asks for an earlier time gets the line behind the owner's last store. */
static void comes_behind_stores_that_were_met(void **state)
{
    enum { AHEAD = 30 };
    struct system system;
    open_system(&system, coherent_machine(AS_PROTOCOL_MESI));
    ask(&system, 0, AS_MEMORY_STORE, 10000);
    ask(&system, 0, AS_MEMORY_STORE, 20000 + AHEAD);
    assert_int_equal(ask(&system, 1, AS_MEMORY_OWN, 20000 - BED_L1 - BED_L2).done, 20000 + AHEAD + 1 + LOCAL);
    close_system(&system);
}

/* A dirty line that left the private caches comes from the LLC, and nobody waits for a core. */
static void forgets_lines_that_were_evicted(void **state)
{
    struct system system;
    open_system(&system, coherent_machine(AS_PROTOCOL_MESI));
    ask(&system, 0, AS_MEMORY_STORE, 10000);
    uint64_t t = 20000;
    for (uint64_t i = 1; i <= 12; i++, t += 1000) /* the same set of L1 (16 sets) and L2 (64 sets) */
        as_memory_access(system.cores[0], AS_MEMORY_LOAD, t, BASE + i * 64 * BED_LINE, 8);
    struct as_memory_answer answer = ask(&system, 1, AS_MEMORY_LOAD, t);
    assert_int_equal(system.n, 0);
    assert_true(answer.events & AS_EVENT_LLC_HIT);
    assert_false(answer.events & AS_EVENT_COHERENCE);
    assert_true(answer.events & AS_EVENT_SNOOP_MISS); /* the first core had to be asked */
    /* … and then it is the second core's alone: it writes without asking */
    assert_int_equal(ask(&system, 1, AS_MEMORY_STORE, t + 1000).events, 0);
    close_system(&system);
}

/* Whether the copy that a load waited for was modified; and no more is asked where all know that it was not. */
static void tells_clean_copies_apart(void **state)
{
    enum { SNOOPS = AS_EVENT_SNOOP_CLEAN | AS_EVENT_SNOOP_MISS };
    for (int written = 0; written < 2; written++) {
        struct system system;
        open_system(&system, coherent_machine(AS_PROTOCOL_MESI));
        ask(&system, 0, written ? AS_MEMORY_STORE : AS_MEMORY_LOAD, 10000);
        uint32_t events = ask(&system, 1, AS_MEMORY_LOAD, 20000).events;
        assert_true(events & AS_EVENT_COHERENCE);
        assert_int_equal(events & SNOOPS, written ? 0 : AS_EVENT_SNOOP_CLEAN);
        events = ask(&system, 2, AS_MEMORY_LOAD, 30000).events; /* two have it, and none may have changed it */
        assert_int_equal(events & (SNOOPS | AS_EVENT_COHERENCE), 0);
        assert_int_equal(ask(&system, 1, AS_MEMORY_LOAD, 40000).events, 0);
        close_system(&system);
    }
}

/* A line that went to the L2 is still its core's, with what was written. */
static void finds_lines_in_the_l2(void **state)
{
    struct system system;
    open_system(&system, coherent_machine(AS_PROTOCOL_MESI));
    ask(&system, 0, AS_MEMORY_STORE, 10000);
    uint64_t t = 20000;
    for (uint64_t i = 1; i <= 4; i++, t += 1000) /* the same set of L1 alone */
        as_memory_access(system.cores[0], AS_MEMORY_LOAD, t, BASE + i * 16 * BED_LINE, 8);
    ask(&system, 1, AS_MEMORY_LOAD, t);
    assert_int_equal(system.n, 1);
    assert_int_equal(system.last.from_insn, 10);
    assert_true(system.last.written && system.last.overlaps);
    close_system(&system);
}

/* Random accesses to more lines than fit: no core finds a line in its L1 that another wrote since it had it. */
static void has_one_writer_at_a_time(void **state)
{
    enum { MANY = 4096, ACCESSES = 100000 };
    static bool has[MANY][CORES];
    struct system system;
    uint64_t seed = 3, t = 1000, seen = 0;
    memset(has, 0, sizeof has);
    open_system(&system, coherent_machine(AS_PROTOCOL_MOESI));
    for (uint32_t i = 0; i < ACCESSES; i++, t += 500) {
        struct access access = random_access(&seed, i);
        uint64_t line = bed_random(&seed) % (i % 3 ? 32 : MANY);
        struct as_memory_answer answer = make_access(&system, &access, line, t);
        assert_true(has[line][access.core] || answer.events & (AS_EVENT_ST_L1 | AS_EVENT_COHERENCE));
        for (uint32_t core = 0; access.kind != AS_MEMORY_LOAD && core < CORES; core++)
            has[line][core] = false;
        has[line][access.core] = true;
        seen += (answer.events & AS_EVENT_COHERENCE) != 0;
    }
    assert_true(seen > ACCESSES / 20 && seen == system.n);
    close_system(&system);
}

static void other_sockets_are_further(void **state)
{
    struct as_machine machine = coherent_machine(AS_PROTOCOL_MESI);
    machine.coherence.sockets = 2;
    machine.coherence.cores = CORES;
    struct system system;
    open_system(&system, machine);
    ask(&system, 0, AS_MEMORY_STORE, 10000);
    assert_int_equal(ask(&system, 1, AS_MEMORY_LOAD, 20000).done, 20000 + BED_L1 + BED_L2 + LOCAL);
    assert_false(system.last.other_socket);
    ask(&system, 0, AS_MEMORY_STORE, 30000);
    assert_int_equal(ask(&system, 2, AS_MEMORY_LOAD, 40000).done, 40000 + BED_L1 + BED_L2 + REMOTE);
    assert_true(system.last.other_socket);
    /* all three copies go, the furthest last */
    assert_int_equal(ask(&system, 0, AS_MEMORY_OWN, 50000).done, 50000 + BED_L1 + UPGRADE + REMOTE - LOCAL);
    close_system(&system);
}

static void pins_threads(void **state)
{
    struct as_machine machine = coherent_machine(AS_PROTOCOL_MESI);
    assert_int_equal(as_machine_core(&machine, 77), 77);
    machine.coherence.cores = 8;
    machine.coherence.sockets = 2;
    for (uint32_t i = 0; i < 16; i++)
        assert_int_equal(as_machine_core(&machine, i), i % 8);
    assert_int_equal(as_machine_socket(&machine, 3), 0);
    assert_int_equal(as_machine_socket(&machine, 4), 1);
    strcpy(machine.coherence.pinning, "scatter");
    static const uint32_t scattered[] = {0, 4, 1, 5, 2, 6, 3, 7, 0};
    for (uint32_t i = 0; i < 9; i++)
        assert_int_equal(as_machine_core(&machine, i), scattered[i]);
    strcpy(machine.coherence.pinning, "5 0 7");
    static const uint32_t listed[] = {5, 0, 7, 5};
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(as_machine_core(&machine, i), listed[i]);
}

/* A core alone asks nobody; when the second comes, all lines are the first one's. */
static void begins_with_the_second_core(void **state)
{
    struct as_machine machine = coherent_machine(AS_PROTOCOL_MESI);
    struct system system = {.machine = machine};
    system.uncore = as_uncore_new(&machine);
    as_uncore_set_transfers(system.uncore, note_transfer, &system);
    for (uint32_t i = 0; i < CORES; i++) {
        system.cores[i] = as_memory_new(&machine, system.uncore, i);
        as_memory_set_thread(system.cores[i], i + 1);
        if (i == 0)
            ask(&system, 0, AS_MEMORY_STORE, 10000);
    }
    assert_int_equal(system.n, 0);
    ask(&system, 1, AS_MEMORY_LOAD, 20000);
    assert_int_equal(system.n, 1);
    assert_int_equal(system.last.from, 1);
    assert_true(system.last.written);
    /* a core that leaves takes its copies along */
    as_memory_free(system.cores[1]);
    system.cores[1] = as_memory_new(&machine, system.uncore, 1);
    ask(&system, 0, AS_MEMORY_STORE, 30000);
    assert_int_equal(system.n, 1);
    close_system(&system);
}

static void off_is_off(void **state)
{
    struct system system;
    open_system(&system, coherent_machine(AS_PROTOCOL_OFF));
    for (uint32_t i = 0; i < 100; i++)
        ask(&system, i % CORES, i % 3 ? AS_MEMORY_STORE : AS_MEMORY_LOAD, 10000 + 1000 * i);
    assert_int_equal(system.n, 0);
    close_system(&system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_and_transfers_of_mesi),
        cmocka_unit_test(states_and_transfers_of_mesif),
        cmocka_unit_test(states_and_transfers_of_moesi),
        cmocka_unit_test(states_and_transfers_where_lines_migrate),
        cmocka_unit_test(serves_one_after_the_other),
        cmocka_unit_test(keeps_lines_for_a_while),
        cmocka_unit_test(tells_when_a_line_leaves),
        cmocka_unit_test(knows_when_lines_were_lost),
        cmocka_unit_test(tries_loads_again_behind_atomics),
        cmocka_unit_test(comes_behind_stores_that_were_met),
        cmocka_unit_test(forgets_lines_that_were_evicted),
        cmocka_unit_test(tells_clean_copies_apart),
        cmocka_unit_test(finds_lines_in_the_l2),
        cmocka_unit_test(has_one_writer_at_a_time),
        cmocka_unit_test(other_sockets_are_further),
        cmocka_unit_test(pins_threads),
        cmocka_unit_test(begins_with_the_second_core),
        cmocka_unit_test(off_is_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
