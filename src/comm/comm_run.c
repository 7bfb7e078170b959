/* See comm_run.h.
 *
 * On the engine's thread are the access stream and a sink that notes what memory the program asks for. On the observer's thread the weave interleaves the accesses; between them lie records of the call path that a thread is in from
 * there on (AS_ACCESS_PATH), at which spans are cut. */
#include "comm/comm_run.h"

#include "engine/sink_tee.h"
#include "model/access_buffer.h"
#include "model/access_stream.h"

enum { BATCH = 4096, IN_FLIGHT = 8, STACK_REGISTER_X86 = 4, STACK_REGISTER_RISCV = 2 };

struct walker {
    uint32_t path;  /* that the thread is in */
    uint64_t stack; /* an address on its stack; 0: none seen yet */
    uint64_t spans;
    /* The paths that it was in when it had made so many, a power of two, the last first: most likely where it stays, unless it was about
     * to end. */
    uint32_t typical[AS_COMM_PATHS];
};

struct as_comm_run {
    struct as_comm_options options;
    const struct as_engine *engine;
    struct as_sink_tee *sinks;
    struct as_fanout *fanout;
    struct as_access_stream *stream;
    struct as_weave *weave;
    struct as_modelled_lens *lens;
    struct as_detect *detect;
    struct as_coherent *coherent;
    struct as_guest_memory *memory;
    struct as_shared_memory *shared;
    AS_VEC(struct walker) walkers;         /* by thread number */
    struct as_map path_numbers;            /* of tree and node: number */
    AS_VEC(uint64_t) paths;                /* by number - 1: tree << 32 | node */
    AS_VEC(struct as_comm_thread) started; /* on the engine's thread, by number */

    AS_VEC(struct as_comm_thread) threads;
    AS_VEC(uint32_t) places; /* by thread number: row of the matrix; UINT32_MAX: none */
    struct as_pair_matrix estimate;
    struct as_contacts contacts; /* of the estimate, where there are no exact ones */
};

/* ---- on the observer's thread ---- */

static struct walker *walker_of(struct as_comm_run *run, uint32_t thread)
{
    while (run->walkers.len <= thread)
        *as_vec_push(&run->walkers) = (struct walker){0};
    return &run->walkers.data[thread];
}

static uint32_t path_of(void *context, uint32_t thread)
{
    const struct as_comm_run *run = context;
    return thread < run->walkers.len ? run->walkers.data[thread].path : 0;
}

static void enter_path(struct as_comm_run *run, struct walker *walker, uint64_t key)
{
    uint64_t *number = as_map_put(&run->path_numbers, key);
    if (!*number) {
        *as_vec_push(&run->paths) = key;
        *number = run->paths.len;
    }
    walker->path = (uint32_t)*number;
}

/* The first access by way of the stack pointer tells where the stack is. */
static void find_stack(struct as_comm_run *run, struct walker *walker, const struct as_data_access *access)
{
    const struct as_run_info *info = as_access_stream_run_info(run->stream);
    const struct as_insn *insn = info->insn(info->context, access->insn);
    uint8_t stack = insn && insn->arch == AS_ARCH_X86_64 ? STACK_REGISTER_X86 : STACK_REGISTER_RISCV;
    if (insn && insn->n_mem && insn->mem[0].base == AS_REG_INT0 + stack)
        walker->stack = access->address;
}

static void take_part(struct as_comm_run *run, const struct as_weave_span *span)
{
    struct walker *walker = walker_of(run, span->thread);
    walker->spans++;
    if ((walker->spans & (walker->spans - 1)) == 0) {
        memmove(walker->typical + 1, walker->typical, sizeof walker->typical - sizeof *walker->typical);
        walker->typical[0] = walker->path;
    }
    for (size_t i = 0; __builtin_expect(!walker->stack, 0) && i < span->n; i++)
        find_stack(run, walker, &span->accesses[i]);
    as_modelled_lens_span(run->lens, run->weave, span); /* first: it gives the thread its core */
    if (run->coherent)
        as_coherent_span(run->coherent, span);
}

static bool has_path(const struct as_weave_span *span)
{
    for (size_t i = 0; i < span->n; i++)
        if (span->accesses[i].kind == AS_ACCESS_PATH)
            return true;
    return false;
}

static void take_parts(struct as_comm_run *run, const struct as_weave_span *span)
{
    struct as_weave_span part;
    for (size_t at = 0; as_weave_next_part(span, AS_ACCESS_PATH, &at, &part); at++) {
        if (part.n)
            take_part(run, &part);
        if (at < span->n)
            enter_path(run, walker_of(run, span->thread),
                       (uint64_t)span->accesses[at].insn << 32 | (uint32_t)span->accesses[at].address);
    }
}

/* Most spans are of two accesses and have no records of paths: a copy of the span would take as long as all the rest. */
static void take_span(void *context, const struct as_weave_span *span)
{
    if (has_path(span))
        take_parts(context, span);
    else if (span->n)
        take_part(context, span);
}

static void take_end(void *context, uint32_t thread)
{
    as_modelled_lens_end_thread(((struct as_comm_run *)context)->lens, thread);
}

static const struct as_weave_ops weave_ops = {.span = take_span, .thread_end = take_end};

static void observe(void *self, const struct as_access_batch *batch)
{
    as_weave_batch(((struct as_comm_run *)self)->weave, batch);
}

static const struct as_observer comm_observer = {
    .version = AS_OBSERVER_VERSION, .record_size = sizeof(struct as_pipe), .name = "comm", .accesses = observe};

/* ---- on the engine's thread ---- */

static void on_thread_start(void *context, struct as_thread *thread)
{
    struct as_comm_run *run = context;
    while (run->started.len <= thread->number)
        *as_vec_push(&run->started) = (struct as_comm_thread){0};
    run->started.data[thread->number] = (struct as_comm_thread){
        .number = thread->number, .process = thread->process, .pid = thread->pid, .tid = thread->tid};
}

static const struct as_sink start_sink = {.thread_start = on_thread_start};

/* ---- the run ---- */

/* Called when the engine has ended. */
static bool home_of(void *context, uint32_t *process, uint64_t *address)
{
    return as_shared_memory_home(((const struct as_comm_run *)context)->shared, process, address);
}

uint32_t as_comm_node(const struct as_comm_options *options, uint32_t core)
{
    uint32_t sockets = options->machine.sockets, each = sockets > 1 ? options->machine.cores / sockets : 0;
    return each ? core / each : 0;
}

static uint32_t node_of(void *context, uint32_t thread)
{
    const struct as_comm_run *run = context;
    return as_comm_node(&run->options, as_modelled_lens_core(run->lens, thread));
}

struct as_comm_run *as_comm_run_new(const struct as_comm_options *options)
{
    struct as_comm_run *run = as_alloc(sizeof *run);
    struct as_fanout_options fanout = {.kind = &as_access_buffers, .batch = BATCH, .in_flight = IN_FLIGHT};
    struct as_coherent_hooks hooks = {
        .path = path_of, .node = options->machine.sockets > 1 ? node_of : NULL, .home = home_of, .context = run};
    run->options = *options;
    run->fanout = as_fanout_new(&fanout);
    run->stream = as_access_stream_new(run->fanout, NULL, NULL);
    run->shared = as_shared_memory_new();
    as_access_stream_set_shared(run->stream, run->shared);
    as_access_stream_keep_order(run->stream, options->quantum ? options->quantum : AS_WEAVE_QUANTUM);
    if (!options->no_paths)
        as_access_stream_follow_calls(run->stream);
    run->weave = as_weave_new(options->quantum, &weave_ops, run);
    run->lens = as_modelled_lens_new(&options->machine);
    run->memory = as_guest_memory_new();
    as_modelled_lens_set_paths(run->lens, path_of, run);
    if (!options->no_exact)
        run->coherent = as_coherent_new(&hooks);
    if (!options->no_estimate) {
        struct as_lens lens = as_modelled_lens_open(run->lens);
        run->detect = as_detect_new(&lens, &options->detect);
        as_modelled_lens_set_client(run->lens, &as_detect_client, run->detect);
    }
    as_fanout_add(run->fanout, &comm_observer, run, false);
    run->sinks = as_sink_tee_new();
    as_sink_tee_add(run->sinks, &start_sink, run);
    as_sink_tee_add(run->sinks, &as_guest_memory_sink, run->memory);
    as_sink_tee_add(run->sinks, as_access_stream_choose_sink(run->stream), run->stream);
    return run;
}

const struct as_sink *as_comm_run_sink(struct as_comm_run *run, void **context)
{
    return as_sink_tee_sink(run->sinks, context);
}

bool as_comm_run_start(struct as_comm_run *run, const struct as_engine *engine, struct as_error *err)
{
    run->engine = engine;
    as_access_stream_set_engine(run->stream, engine);
    return as_fanout_start(run->fanout, err);
}

void as_comm_run_free(struct as_comm_run *run)
{
    if (!run)
        return;
    as_sink_tee_free(run->sinks);
    as_access_stream_free(run->stream);
    as_fanout_free(run->fanout);
    as_weave_free(run->weave);
    as_detect_free(run->detect);
    as_coherent_free(run->coherent);
    as_modelled_lens_free(run->lens);
    as_guest_memory_free(run->memory);
    as_shared_memory_free(run->shared);
    as_pair_matrix_free(&run->estimate);
    as_contacts_free(&run->contacts);
    as_map_free(&run->path_numbers);
    as_vec_free(&run->walkers);
    as_vec_free(&run->paths);
    as_vec_free(&run->started);
    as_vec_free(&run->threads);
    as_vec_free(&run->places);
    free(run);
}

/* ---- the end ---- */

static void add_thread(struct as_comm_run *run, uint32_t number)
{
    struct as_comm_thread thread =
        number < run->started.len ? run->started.data[number] : (struct as_comm_thread){.number = number};
    const struct walker *walker = walker_of(run, number);
    thread.core = as_modelled_lens_core(run->lens, number);
    memcpy(thread.paths, walker->typical, sizeof thread.paths);
    as_guest_memory_stack(run->memory, thread.process, walker->stack, &thread.stack_start, &thread.stack_end);
    while (run->places.len <= number)
        *as_vec_push(&run->places) = UINT32_MAX;
    run->places.data[number] = (uint32_t)run->threads.len;
    *as_vec_push(&run->threads) = thread;
}

/* The rows: threads that made accesses, by number; without an exact count, those that were started. */
static void list_threads(struct as_comm_run *run)
{
    size_t n = 0;
    if (run->coherent)
        as_coherent_sort(run->coherent);
    const uint32_t *order = run->coherent ? as_coherent_threads(run->coherent, &n) : NULL;
    for (size_t i = 0; i < n; i++)
        add_thread(run, order[i]);
    for (size_t i = 0; !run->coherent && i < run->started.len && run->threads.len < AS_PAIR_THREADS; i++)
        if (run->started.data[i].number)
            add_thread(run, run->started.data[i].number);
}

void as_comm_run_finish(struct as_comm_run *run)
{
    as_access_stream_finish(run->stream);
    as_weave_finish(run->weave);
    list_threads(run);
    if (!run->detect)
        return;
    as_pair_matrix_grow(&run->estimate, run->threads.len);
    as_detect_matrix(run->detect, run->places.data, run->places.len, &run->estimate);
    if (run->coherent)
        return;
    as_detect_contacts(run->detect, run->places.data, run->places.len, &run->contacts);
    as_contacts_home(&run->contacts, home_of, run);
    for (size_t i = 0; i < run->contacts.list.len; i++) /* instructions have numbers of their own */
        run->contacts.list.data[i].from.process = run->contacts.list.data[i].to.process = 0;
}

/* ---- answers ---- */

struct as_coherent_counts as_comm_run_coherent(const struct as_comm_run *run)
{
    return run->coherent ? as_coherent_counts(run->coherent) : (struct as_coherent_counts){0};
}

struct as_modelled_cost as_comm_run_cost(const struct as_comm_run *run)
{
    return as_modelled_lens_cost(run->lens);
}

uint64_t as_comm_run_late(const struct as_comm_run *run)
{
    return as_weave_late(run->weave);
}

size_t as_comm_run_memory(const struct as_comm_run *run)
{
    return run->coherent ? as_coherent_memory(run->coherent) : 0;
}

uint64_t as_comm_run_instructions(const struct as_comm_run *run)
{
    return as_access_stream_executed(run->stream);
}

/* ---- names ---- */

static struct as_space *space_of(void *context, uint32_t process, uint64_t insn)
{
    const struct as_engine *engine = ((const struct as_comm_run *)context)->engine;
    const struct as_image *image = NULL;
    if (as_engine_insn(engine, (uint32_t)insn))
        image = as_engine_image(engine, as_engine_insn_image(engine, (uint32_t)insn));
    return image ? image->space : NULL;
}

static uint64_t address_of(void *context, uint64_t insn)
{
    return as_engine_insn(((const struct as_comm_run *)context)->engine, (uint32_t)insn)->address;
}

static size_t frames_of(void *context, uint32_t path, uint64_t *functions, size_t n, struct as_space **space)
{
    const struct as_comm_run *run = context;
    const struct as_call_tracker *tracker = as_access_stream_calls(run->stream);
    size_t count = 0;
    if (!path || path > run->paths.len || !tracker)
        return 0;
    uint64_t key = run->paths.data[path - 1];
    const struct as_call_tree *tree = as_call_tracker_tree(tracker, key >> 32);
    *space = as_call_tracker_image(tracker, key >> 32)->space;
    for (uint32_t node = (uint32_t)key; node; node = as_call_tree_node(tree, node)->parent) {
        if (count < n)
            functions[count] = as_call_tree_node(tree, node)->function;
        count++;
    }
    return count;
}

static void locate(void *context, uint64_t insn, struct as_location *location)
{
    as_engine_locate(((const struct as_comm_run *)context)->engine, (uint32_t)insn, location);
}

/* The frame is one that frames_of told. */
static const char *frame_name(void *context, uint32_t path, size_t frame)
{
    const struct as_comm_run *run = context;
    const struct as_call_tracker *tracker = as_access_stream_calls(run->stream);
    uint64_t key = run->paths.data[path - 1];
    const struct as_call_tree *tree = as_call_tracker_tree(tracker, key >> 32);
    uint32_t node = (uint32_t)key;
    while (frame--)
        node = as_call_tree_node(tree, node)->parent;
    return as_call_node_name(run->engine, as_call_tracker_image(tracker, key >> 32), as_call_tree_node(tree, node));
}

struct as_comm_result as_comm_run_result(const struct as_comm_run *run)
{
    struct as_comm_result result = {.source = "model",
                                    .threads = run->threads.data,
                                    .n_threads = run->threads.len,
                                    .estimate = run->detect ? &run->estimate : NULL,
                                    .exact = run->coherent ? as_coherent_matrix(run->coherent) : NULL,
                                    .contacts = run->coherent ? as_coherent_contacts(run->coherent) : &run->contacts,
                                    .names = {.space = space_of,
                                              .address = address_of,
                                              .frames = frames_of,
                                              .locate = locate,
                                              .frame_name = frame_name,
                                              .context = (void *)run}};
    if (run->detect)
        result.detect = as_detect_counts(run->detect);
    result.memory = run->memory;
    return result;
}
