/* See modelled_lens.h. Nearly every access only counts down, so that is all the loop over a span does; the rest is out of
 * line. */
#include "lens/modelled_lens.h"

#include "base/random.h"
#include "base/vec.h"

struct debug_register {
    bool armed;
    uint64_t generation;
    struct as_lens_watch watch;
};

struct thread {
    uint32_t number, core;
    bool live;
    uint64_t loads, stores, accesses;
    uint64_t loads_left, stores_left; /* until the counter overflows; UINT64_MAX and never: no such counter */
    uint64_t next_tag;                /* the instruction that will be tagged, by the thread's clock */
    uint8_t waiting;                  /* AS_ACCESS_*: the unit is to take the next such access behind the shadow: */
    uint64_t load_from, store_from;   /* … by the thread's clock */
    uint64_t seed;
    uint32_t armed; /* registers */
    struct debug_register registers[AS_LENS_REGISTERS];
};

struct as_modelled_lens {
    struct as_modelled_options options;
    uint32_t *pins;
    const struct as_lens_client *client;
    void *client_context;
    as_modelled_path *path;
    void *path_context;
    AS_VEC(struct thread *) threads; /* by number */
    uint32_t n_threads;
    uint64_t time, generations;
    struct as_weave *weave;
    struct as_modelled_cost cost;
};

struct as_modelled_lens *as_modelled_lens_new(const struct as_modelled_options *options)
{
    struct as_modelled_lens *lens = as_alloc(sizeof *lens);
    lens->options = *options;
    lens->options.sockets = options->sockets ? options->sockets : 1;
    if (options->n_pins) {
        lens->pins = as_alloc_array(options->n_pins, sizeof *lens->pins);
        memcpy(lens->pins, options->pins, options->n_pins * sizeof *lens->pins);
    }
    return lens;
}

void as_modelled_set_unit(struct as_modelled_options *options, const struct as_lens_unit *unit)
{
    options->unit = *unit;
    options->sampling = unit->sampling;
    options->sample_cost = unit->sample_cost;
    options->random = false;
}

void as_modelled_lens_free(struct as_modelled_lens *lens)
{
    if (!lens)
        return;
    for (size_t i = 0; i < lens->threads.len; i++)
        free(lens->threads.data[i]);
    as_vec_free(&lens->threads);
    free(lens->pins);
    free(lens);
}

void as_modelled_lens_set_client(struct as_modelled_lens *lens, const struct as_lens_client *client, void *context)
{
    lens->client = client;
    lens->client_context = context;
}

void as_modelled_lens_set_paths(struct as_modelled_lens *lens, as_modelled_path *path, void *context)
{
    lens->path = path;
    lens->path_context = context;
}

struct as_modelled_cost as_modelled_lens_cost(const struct as_modelled_lens *lens)
{
    return lens->cost;
}

/* ---- threads ---- */

static struct thread *find_thread(const struct as_modelled_lens *lens, uint32_t number)
{
    return number < lens->threads.len ? lens->threads.data[number] : NULL;
}

uint32_t as_modelled_lens_core(const struct as_modelled_lens *lens, uint32_t number)
{
    const struct thread *thread = find_thread(lens, number);
    return thread ? thread->core : 0;
}

/* The n-th thread's core. Scattered threads take the sockets in turn, each of which has the same number of cores. */
static uint32_t place(const struct as_modelled_lens *lens, uint32_t n)
{
    const struct as_modelled_options *options = &lens->options;
    if (lens->pins)
        return lens->pins[n % options->n_pins];
    uint32_t each = options->cores / options->sockets;
    if (options->pinning == AS_PINNING_SCATTER && each)
        return n % options->sockets * each + n / options->sockets % each;
    return options->cores ? n % options->cores : n;
}

/* How many events until the counter overflows next; without a counter as good as never. */
static uint64_t draw(const struct as_modelled_lens *lens, struct thread *thread, uint64_t period)
{
    if (!period)
        return UINT64_MAX;
    if (lens->options.unit.random_bits) {
        uint64_t change = as_random_below(&thread->seed, UINT64_C(1) << lens->options.unit.random_bits);
        return lens->options.unit.adds ? period + change : period > change ? period - change : 1;
    }
    if (!lens->options.random)
        return period;
    uint64_t drawn = period - period / 8 + as_random_below(&thread->seed, period / 4 + 1);
    return drawn ? drawn : 1;
}

static void start_counters(struct as_modelled_lens *lens, struct thread *thread, uint64_t clock)
{
    const struct as_modelled_options *options = &lens->options;
    enum as_lens_sampling sampling = options->sampling;
    thread->seed = as_random_hash(options->seed ^ as_random_hash(thread->number));
    thread->loads_left = draw(lens, thread, sampling == AS_SAMPLING_OPERATIONS ? 0 : options->load_period);
    thread->stores_left = draw(lens, thread, sampling == AS_SAMPLING_EVENTS ? options->store_period : 0);
    uint64_t first = draw(lens, thread, sampling == AS_SAMPLING_OPERATIONS ? options->period : 0);
    thread->next_tag = first == UINT64_MAX ? first : clock + first;
}

static __attribute__((noinline)) struct thread *start_thread(struct as_modelled_lens *lens,
                                                             const struct as_weave_span *span)
{
    while (lens->threads.len <= span->thread)
        *as_vec_push(&lens->threads) = NULL;
    struct thread *thread = find_thread(lens, span->thread);
    if (!thread)
        thread = lens->threads.data[span->thread] = as_alloc(sizeof *thread);
    thread->number = span->thread;
    thread->core = place(lens, lens->n_threads++);
    thread->live = true;
    start_counters(lens, thread, span->clock);
    if (lens->client && lens->client->thread_start)
        lens->client->thread_start(lens->client_context, thread->number, span->process);
    return thread;
}

void as_modelled_lens_end_thread(struct as_modelled_lens *lens, uint32_t number)
{
    struct thread *thread = find_thread(lens, number);
    if (!thread || !thread->live)
        return;
    if (lens->client && lens->client->thread_end)
        lens->client->thread_end(lens->client_context, number);
    memset(thread->registers, 0, sizeof thread->registers);
    thread->armed = 0;
    thread->live = false;
}

/* ---- what the client asks ---- */

static bool is_right(const struct as_lens_watch *watch)
{
    bool length = watch->length && watch->length <= 8 && (watch->length & (watch->length - 1)) == 0;
    return length && watch->address % watch->length == 0 && watch->kind & AS_ACCESS_STORE;
}

static void set_register(struct as_modelled_lens *lens, struct thread *thread, uint32_t slot,
                         const struct as_lens_watch *watch, struct as_lens_ref *ref)
{
    struct debug_register *reg = &thread->registers[slot];
    *reg = (struct debug_register){.armed = true, .generation = ++lens->generations, .watch = *watch};
    *ref = (struct as_lens_ref){.thread = thread->number, .slot = slot, .generation = reg->generation};
    lens->cost.armings++;
}

static enum as_lens_result arm(void *context, uint32_t number, const struct as_lens_watch *watch,
                               struct as_lens_ref *ref)
{
    struct as_modelled_lens *lens = context;
    struct thread *thread = find_thread(lens, number);
    if (!thread || !thread->live)
        return AS_LENS_GONE;
    if (!is_right(watch) || !lens->options.registers)
        return AS_LENS_REFUSED;
    for (uint32_t i = 0; i < lens->options.registers && i < AS_LENS_REGISTERS; i++) {
        if (thread->registers[i].armed)
            continue;
        set_register(lens, thread, i, watch, ref);
        thread->armed++;
        return AS_LENS_OK;
    }
    return AS_LENS_FULL;
}

static struct debug_register *find_register(struct as_modelled_lens *lens, const struct as_lens_ref *ref)
{
    struct thread *thread = find_thread(lens, ref->thread);
    if (!thread || !thread->live || ref->slot >= AS_LENS_REGISTERS)
        return NULL;
    struct debug_register *reg = &thread->registers[ref->slot];
    return reg->armed && reg->generation == ref->generation ? reg : NULL;
}

static enum as_lens_result move(void *context, struct as_lens_ref *ref, const struct as_lens_watch *watch)
{
    struct as_modelled_lens *lens = context;
    if (!find_register(lens, ref))
        return AS_LENS_GONE;
    if (!is_right(watch))
        return AS_LENS_REFUSED;
    set_register(lens, find_thread(lens, ref->thread), ref->slot, watch, ref);
    return AS_LENS_OK;
}

static enum as_lens_result disarm(void *context, const struct as_lens_ref *ref)
{
    struct as_modelled_lens *lens = context;
    struct debug_register *reg = find_register(lens, ref);
    if (!reg)
        return AS_LENS_GONE;
    reg->armed = false;
    find_thread(lens, ref->thread)->armed--;
    lens->cost.armings++;
    return AS_LENS_OK;
}

static bool counts(void *context, uint32_t number, struct as_lens_counts *made)
{
    const struct thread *thread = find_thread(context, number);
    if (!thread || !thread->live)
        return false;
    *made = (struct as_lens_counts){.loads = thread->loads, .stores = thread->stores, .accesses = thread->accesses};
    return true;
}

static uint64_t now(void *context)
{
    return ((const struct as_modelled_lens *)context)->time;
}

static uint32_t registers(void *context)
{
    uint32_t n = ((const struct as_modelled_lens *)context)->options.registers;
    return n < AS_LENS_REGISTERS ? n : AS_LENS_REGISTERS;
}

static const struct as_lens_ops modelled_ops = {
    .name = "model", .arm = arm, .move = move, .disarm = disarm, .counts = counts, .time = now, .registers = registers};

struct as_lens as_modelled_lens_open(struct as_modelled_lens *lens)
{
    return (struct as_lens){.ops = &modelled_ops, .context = lens};
}

/* ---- samples and traps ---- */

static struct as_lens_access describe(const struct as_modelled_lens *lens, const struct thread *thread,
                                      const struct as_data_access *access)
{
    return (struct as_lens_access){.thread = thread->number,
                                   .core = thread->core,
                                   .address = access->address,
                                   .size = access->size,
                                   .kind = access->kind,
                                   .insn = access->insn,
                                   .path = lens->path ? lens->path(lens->path_context, thread->number) : 0,
                                   .time = lens->time};
}

static void stand_still(struct as_modelled_lens *lens, const struct thread *thread, uint64_t instructions)
{
    lens->cost.stood += instructions;
    if (lens->options.disturb && lens->weave)
        as_weave_delay(lens->weave, thread->number, instructions);
}

static bool touches(const struct as_lens_watch *watch, const struct as_data_access *access)
{
    return watch->kind & access->kind && access->address < watch->address + watch->length &&
           watch->address < access->address + access->size;
}

/* One access can trap in several registers; each is reported unless the handler of an earlier one has disarmed it. */
static __attribute__((noinline)) void check_registers(struct as_modelled_lens *lens, struct thread *thread,
                                                      const struct as_data_access *access)
{
    uint64_t newest = lens->generations;
    for (uint32_t i = 0; i < AS_LENS_REGISTERS; i++) {
        const struct debug_register *reg = &thread->registers[i];
        if (!reg->armed || reg->generation > newest || !touches(&reg->watch, access))
            continue;
        struct as_lens_trap trap = {
            .access = describe(lens, thread, access),
            .ref = {.thread = thread->number, .slot = i, .generation = reg->generation},
            .watch = reg->watch,
        };
        lens->cost.traps++;
        stand_still(lens, thread, lens->options.trap_cost);
        if (lens->client && lens->client->trap)
            lens->client->trap(lens->client_context, &trap);
    }
}

static __attribute__((noinline)) void take_sample(struct as_modelled_lens *lens, struct thread *thread,
                                                  const struct as_data_access *access, uint8_t counter, uint64_t period)
{
    struct as_lens_sample sample = {.access = describe(lens, thread, access), .counter = counter, .period = period};
    lens->cost.samples++;
    stand_still(lens, thread, lens->options.sample_cost);
    if (lens->client && lens->client->sample)
        lens->client->sample(lens->client_context, &sample);
}

/* A unit with a shadow takes the next access of the kind that comes behind it. */
static __attribute__((noinline)) void begin_to_wait(struct as_modelled_lens *lens, struct thread *thread, uint8_t kind,
                                                    uint64_t *from, uint64_t until)
{
    lens->cost.missed += thread->waiting & kind ? 1 : 0;
    *from = thread->waiting & kind ? *from : until;
    thread->waiting |= kind;
}

/* What the counter counts that a machine with two has for loads. */
static uint8_t first_counter(const struct as_modelled_lens *lens)
{
    return lens->options.sampling == AS_SAMPLING_ACCESSES ? AS_ACCESS_LOAD | AS_ACCESS_STORE : AS_ACCESS_LOAD;
}

static void overflow_loads(struct as_modelled_lens *lens, struct thread *thread, const struct as_data_access *access,
                           uint64_t clock)
{
    thread->loads_left = draw(lens, thread, lens->options.load_period);
    if (lens->options.unit.load_shadow)
        begin_to_wait(lens, thread, AS_ACCESS_LOAD, &thread->load_from, clock + lens->options.unit.load_shadow);
    else
        take_sample(lens, thread, access, first_counter(lens), lens->options.load_period);
}

static void overflow_stores(struct as_modelled_lens *lens, struct thread *thread, const struct as_data_access *access,
                            uint64_t clock)
{
    thread->stores_left = draw(lens, thread, lens->options.store_period);
    if (lens->options.unit.store_shadow)
        begin_to_wait(lens, thread, AS_ACCESS_STORE, &thread->store_from, clock + lens->options.unit.store_shadow);
    else
        take_sample(lens, thread, access, AS_ACCESS_STORE, lens->options.store_period);
}

static __attribute__((noinline)) void check_waiting(struct as_modelled_lens *lens, struct thread *thread,
                                                    const struct as_data_access *access, uint64_t clock)
{
    uint8_t kinds = thread->waiting & access->kind;
    if (kinds & AS_ACCESS_LOAD && clock >= thread->load_from) {
        thread->waiting &= (uint8_t)~AS_ACCESS_LOAD;
        take_sample(lens, thread, access, AS_ACCESS_LOAD, lens->options.load_period);
    }
    if (kinds & AS_ACCESS_STORE && clock >= thread->store_from) {
        thread->waiting &= (uint8_t)~AS_ACCESS_STORE;
        take_sample(lens, thread, access, AS_ACCESS_STORE, lens->options.store_period);
    }
}

/* The instruction at `clock` accesses memory. Those that were tagged before it and did not are gone. */
static void check_tag(struct as_modelled_lens *lens, struct thread *thread, const struct as_data_access *access,
                      uint64_t clock)
{
    while (thread->next_tag < clock) {
        lens->cost.untagged++;
        thread->next_tag += draw(lens, thread, lens->options.period) + lens->options.unit.deaf;
    }
    if (thread->next_tag != clock)
        return;
    thread->next_tag += draw(lens, thread, lens->options.period) + lens->options.unit.deaf;
    take_sample(lens, thread, access, AS_ACCESS_LOAD | AS_ACCESS_STORE, lens->options.period);
}

void as_modelled_lens_span(struct as_modelled_lens *lens, struct as_weave *weave, const struct as_weave_span *span)
{
    struct thread *thread = find_thread(lens, span->thread);
    if (__builtin_expect(!thread || !thread->live, 0))
        thread = start_thread(lens, span);
    if (!lens->client) /* nobody asks for samples or counters */
        return;
    bool tags = lens->options.sampling == AS_SAMPLING_OPERATIONS && lens->options.period;
    uint32_t any = lens->options.sampling == AS_SAMPLING_ACCESSES;
    uint64_t clock = span->clock << 16;
    lens->weave = weave;
    for (size_t i = 0; i < span->n; i++, clock += span->step) {
        const struct as_data_access *access = &span->accesses[i];
        uint32_t loads = access->kind & AS_ACCESS_LOAD, stores = (access->kind & AS_ACCESS_STORE) / AS_ACCESS_STORE;
        if (!(loads | stores))
            continue;
        lens->time++;
        thread->accesses++;
        thread->loads += loads;
        thread->stores += stores;
        thread->loads_left -= loads | any;
        thread->stores_left -= stores;
        if (__builtin_expect(thread->armed, 0))
            check_registers(lens, thread, access);
        if (__builtin_expect(thread->waiting, 0))
            check_waiting(lens, thread, access, clock >> 16);
        if (__builtin_expect(!thread->loads_left, 0))
            overflow_loads(lens, thread, access, clock >> 16);
        if (__builtin_expect(!thread->stores_left, 0))
            overflow_stores(lens, thread, access, clock >> 16);
        if (__builtin_expect(tags, 0) && thread->next_tag <= clock >> 16)
            check_tag(lens, thread, access, clock >> 16);
    }
}
