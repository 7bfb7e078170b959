/* See reuse_feed.h. */
#include "reuse/reuse_feed.h"

#include "reuse/reuse_fold.h"

enum { STACK_REGISTER_X86 = 4, STACK_REGISTER_RISCV = 2 };

struct walker {
    uint32_t path;  /* that the thread is in; 0: unknown */
    uint64_t stack; /* an address on its stack; 0: none seen yet */
};

struct as_reuse_feed {
    struct as_reuse_feed_options options;
    struct as_weave *weave;
    struct as_reuse *exact;
    struct as_modelled_lens *machine;
    struct as_lens lens;
    struct as_reuse_watch *watch;
    struct as_code_sites *sites;
    AS_VEC(struct walker) walkers;       /* by thread number */
    AS_VEC(struct as_data_access) coded; /* of the span under way: with sites in place of instructions */
};

static struct walker *walker_of(struct as_reuse_feed *feed, uint32_t thread)
{
    while (feed->walkers.len <= thread)
        *as_vec_push(&feed->walkers) = (struct walker){0};
    return &feed->walkers.data[thread];
}

/* The first access by way of the stack pointer tells where the stack is. */
static void find_stack(const struct as_run_info *run, struct walker *walker, const struct as_weave_span *span)
{
    for (size_t i = 0; i < span->n && !walker->stack; i++) {
        const struct as_insn *insn = run->insn(run->context, span->accesses[i].insn);
        uint8_t stack = insn && insn->arch == AS_ARCH_X86_64 ? STACK_REGISTER_X86 : STACK_REGISTER_RISCV;
        if (insn && insn->n_mem && insn->mem[0].base == AS_REG_INT0 + stack)
            walker->stack = span->accesses[i].address;
    }
}

/* Records of paths stay behind, instructions become sites. The order and the clock of the rest do not change. */
static void code_span(struct as_reuse_feed *feed, struct as_weave_span *span)
{
    struct walker *walker = walker_of(feed, span->thread);
    as_vec_clear(&feed->coded);
    for (size_t i = 0; i < span->n; i++) {
        struct as_data_access access = span->accesses[i];
        if (access.kind == feed->options.path_kind) {
            walker->path = as_code_sites_path(feed->sites, (uint64_t)access.insn << 32 | (uint32_t)access.address);
            continue;
        }
        access.insn = as_code_sites_number(feed->sites, access.insn, walker->path);
        *as_vec_push(&feed->coded) = access;
    }
    span->accesses = feed->coded.data;
    span->n = feed->coded.len;
}

static void take_span(void *context, const struct as_weave_span *given)
{
    struct as_reuse_feed *feed = context;
    struct as_weave_span span = *given;
    if (feed->options.run && !walker_of(feed, span.thread)->stack)
        find_stack(feed->options.run, walker_of(feed, span.thread), &span);
    if (feed->sites)
        code_span(feed, &span);
    if (feed->exact)
        as_reuse_take(feed->exact, span.thread, span.process, span.accesses, span.n);
    if (feed->options.adjacent)
        as_adjacent_take(feed->options.adjacent, span.thread, span.process, span.accesses, span.n);
    if (!feed->watch)
        return;
    as_reuse_watch_before(feed->watch, span.thread, span.accesses, span.n, as_lens_time(&feed->lens));
    as_modelled_lens_span(feed->machine, feed->weave, &span);
}

static void end_thread(void *context, uint32_t thread)
{
    struct as_reuse_feed *feed = context;
    if (feed->machine)
        as_modelled_lens_end_thread(feed->machine, thread);
}

static const struct as_weave_ops weave_ops = {.span = take_span, .thread_end = end_thread};

static void make_machine(struct as_reuse_feed *feed, const struct as_reuse_feed_options *options)
{
    struct as_modelled_options machine = AS_MODELLED_OPTIONS_DEFAULT;
    machine.load_period = machine.store_period = machine.period = options->period;
    if (options->unit)
        as_modelled_set_unit(&machine, options->unit);
    machine.registers = options->registers;
    machine.disturb = options->disturb;
    machine.seed = options->watch_options.seed;
    feed->machine = as_modelled_lens_new(&machine);
    feed->lens = as_modelled_lens_open(feed->machine);
    feed->watch = as_reuse_watch_new(&options->watch_options, &feed->lens);
    as_modelled_lens_set_client(feed->machine, &as_reuse_watch_client, feed->watch);
}

struct as_reuse_feed *as_reuse_feed_new(const struct as_reuse_feed_options *options)
{
    struct as_reuse_feed *feed = as_alloc(sizeof *feed);
    feed->options = *options;
    feed->exact = options->exact;
    feed->sites = options->path_kind ? as_alloc(sizeof *feed->sites) : NULL;
    if (feed->exact && feed->sites)
        as_reuse_set_insns(feed->exact, feed->sites->insns, AS_CODE_SITES);
    feed->weave = as_weave_new(0, &weave_ops, feed);
    if (options->watch)
        make_machine(feed, options);
    return feed;
}

void as_reuse_feed_free(struct as_reuse_feed *feed)
{
    if (!feed)
        return;
    as_weave_free(feed->weave);
    as_reuse_watch_free(feed->watch);
    as_modelled_lens_free(feed->machine);
    if (feed->sites)
        as_code_sites_free(feed->sites);
    free(feed->sites);
    as_vec_free(&feed->walkers);
    as_vec_free(&feed->coded);
    free(feed);
}

const struct as_reuse_watch *as_reuse_feed_watch(const struct as_reuse_feed *feed)
{
    return feed->watch;
}

uint64_t as_reuse_feed_missed(const struct as_reuse_feed *feed)
{
    return feed->machine ? as_modelled_lens_cost(feed->machine).missed : 0;
}

uint64_t as_reuse_feed_accesses(const struct as_reuse_feed *feed)
{
    return feed->watch ? as_lens_time(&feed->lens) : 0;
}

const struct as_code_sites *as_reuse_feed_sites(const struct as_reuse_feed *feed)
{
    return feed->sites;
}

uint64_t as_reuse_feed_stack(const struct as_reuse_feed *feed, uint32_t thread)
{
    return thread < feed->walkers.len ? feed->walkers.data[thread].stack : 0;
}

static void observe(void *self, const struct as_access_batch *batch)
{
    as_weave_batch(((struct as_reuse_feed *)self)->weave, batch);
}

static void finish(void *self, FILE *out)
{
    struct as_reuse_feed *feed = self;
    as_weave_finish(feed->weave);
    if (feed->exact)
        as_reuse_finish(feed->exact);
    if (feed->exact && feed->sites)
        as_reuse_fold(as_reuse_all_threads(feed->exact), feed->sites);
    if (feed->exact && feed->sites && as_reuse_all_sockets(feed->exact))
        as_reuse_fold(as_reuse_all_sockets(feed->exact), feed->sites);
    if (feed->watch)
        as_reuse_watch_finish(feed->watch);
}

const struct as_observer as_reuse_feed_observer = {
    .version = AS_OBSERVER_VERSION,
    .record_size = sizeof(struct as_pipe),
    .name = "reuse",
    .accesses = observe,
    .finish = finish,
};
