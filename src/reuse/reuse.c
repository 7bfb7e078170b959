/* See reuse.h. */
#include "reuse/reuse.h"

#include "reuse/reuse_pool.h"
#include "reuse/reuse_rules.h"

#include <stdatomic.h>

enum { HOLDERS = 64 }; /* bits of the directory: threads beyond the last share it */

/* Who holds a granule: a bit for each thread of the process. Made when the second thread appears. */
struct process {
    uint32_t number;
    struct as_granules holders; /* uint64_t; valid where `several` */
    bool several;
    AS_VEC(uint32_t) threads; /* places in as_reuse.threads */
};

struct thread {
    struct as_reuse_thread shown;
    struct process *process;
    uint32_t index;              /* in its process */
    struct as_reuse_chunk *open; /* of the epoch under way; NULL: none yet */
};

struct as_reuse {
    struct as_reuse_options options;
    AS_VEC(struct thread *) threads;
    AS_VEC(struct process *) processes;
    struct as_map by_number;       /* process << 32 | thread: place in threads + 1 */
    struct thread *last;           /* whose turn was the last */
    struct as_reuse_view *sockets; /* NULL: one thread so far */
    struct as_reuse_pool *pool;
    struct as_reuse_epoch *epoch; /* under way */
    uint32_t scale;
    size_t run_first; /* where the run under way begins in its chunk */
    struct as_reuse_view *all, *all_sockets;
    uint64_t bytes; /* before views became one */
};

struct as_reuse *as_reuse_new(const struct as_reuse_options *options)
{
    struct as_reuse *reuse = as_alloc(sizeof *reuse);
    reuse->options = *options;
    reuse->pool = as_reuse_pool_new(options->jobs);
    reuse->epoch = as_reuse_pool_take(reuse->pool);
    return reuse;
}

void as_reuse_set_insns(struct as_reuse *reuse, const uint32_t *insns, uint32_t n)
{
    reuse->options.shape.insns = insns;
    reuse->options.shape.n_insns = n;
}

static struct as_reuse_view *new_view(const struct as_reuse *reuse, bool shared, enum as_reuse_level first,
                                      enum as_reuse_level last)
{
    struct as_reuse_view *view = as_alloc(sizeof *view);
    as_reuse_view_init(view, &reuse->options.shape, shared, first, last);
    view->scale = reuse->scale;
    return view;
}

static void free_view(struct as_reuse_view *view)
{
    if (view)
        as_reuse_view_free(view);
    free(view);
}

void as_reuse_free(struct as_reuse *reuse)
{
    if (!reuse)
        return;
    as_reuse_pool_run(reuse->pool, reuse->epoch); /* where it was not finished: so that the pool has it back */
    as_reuse_pool_wait(reuse->pool);
    as_reuse_pool_free(reuse->pool);
    for (size_t i = 0; i < reuse->threads.len; i++) {
        free_view(reuse->threads.data[i]->shown.view);
        free(reuse->threads.data[i]);
    }
    for (size_t i = 0; i < reuse->processes.len; i++) {
        if (reuse->processes.data[i]->several)
            as_granules_free(&reuse->processes.data[i]->holders);
        as_vec_free(&reuse->processes.data[i]->threads);
        free(reuse->processes.data[i]);
    }
    for (uint32_t i = 0; reuse->sockets && i < reuse->options.sockets; i++)
        as_reuse_view_free(&reuse->sockets[i]);
    free(reuse->sockets);
    free_view(reuse->all);
    free_view(reuse->all_sockets);
    as_vec_free(&reuse->threads);
    as_vec_free(&reuse->processes);
    as_map_free(&reuse->by_number);
    free(reuse);
}

/* ---- the sockets ---- */

static void invalidate_in_sockets(struct as_reuse *reuse, uint32_t writer, const struct as_touch *touches, size_t n)
{
    for (uint32_t socket = 0; socket < reuse->options.sockets; socket++)
        for (size_t i = 0; socket != writer && i < n; i++)
            if (touches[i].write && !touches[i].invalidate)
                as_reuse_view_invalidate(&reuse->sockets[socket], touches[i].key);
}

/* Behind the threads' own views, in the order of the stream. */
static void run_sockets(void *context, struct as_reuse_epoch *epoch)
{
    struct as_reuse *reuse = context;
    for (size_t i = 0; i < epoch->runs.len; i++) {
        const struct as_reuse_run *run = &epoch->runs.data[i];
        struct as_touch *touches = run->chunk->touches + run->first;
        size_t n = run->end - run->first;
        as_reuse_view_run(&reuse->sockets[run->chunk->socket], run->chunk->thread, touches, n);
        if (reuse->options.sockets > 1)
            invalidate_in_sockets(reuse, run->chunk->socket, touches, n);
    }
}

/* The second thread has come: what the first did so far is all that its socket's cache has seen. */
static void make_sockets(struct as_reuse *reuse)
{
    struct thread *first = reuse->threads.data[0];
    reuse->sockets = as_alloc_array(reuse->options.sockets, sizeof *reuse->sockets);
    for (uint32_t i = 0; i < reuse->options.sockets; i++)
        as_reuse_view_init(&reuse->sockets[i], &reuse->options.shape, true, AS_REUSE_LLC,
                           i == first->shown.socket ? AS_REUSE_L2 : AS_REUSE_LLC);
    for (uint32_t i = 0; i < reuse->options.sockets; i++)
        reuse->sockets[i].scale = reuse->scale;
    as_reuse_view_branch(&reuse->sockets[first->shown.socket], first->shown.view);
    as_reuse_pool_behind(reuse->pool, run_sockets, reuse);
}

/* ---- threads and processes ---- */

struct filling {
    struct process *process;
    uint64_t bit;
};

static void fill_leaf(void *context, uint64_t first, void *records, size_t n)
{
    const struct filling *filling = context;
    const struct as_use *uses = records;
    for (size_t i = 0; i < n; i++)
        if (uses[i].slot && !uses[i].invalid)
            *(uint64_t *)as_granules_put(&filling->process->holders, first + i) |= filling->bit;
}

static void make_directory(struct as_reuse *reuse, struct process *process)
{
    struct filling filling = {.process = process, .bit = 1};
    as_granules_init(&process->holders, sizeof(uint64_t));
    process->several = true;
    as_granules_each(&reuse->threads.data[process->threads.data[0]]->shown.view->stack.uses, fill_leaf, &filling);
}

static struct process *process_of(struct as_reuse *reuse, uint32_t number)
{
    for (size_t i = reuse->processes.len; i-- > 0;)
        if (reuse->processes.data[i]->number == number)
            return reuse->processes.data[i];
    struct process *process = as_alloc(sizeof *process);
    process->number = number;
    return *as_vec_push(&reuse->processes) = process;
}

static void publish(struct as_reuse *reuse)
{
    for (size_t i = 0; i < reuse->threads.len; i++)
        reuse->threads.data[i]->open = NULL;
    as_reuse_pool_run(reuse->pool, reuse->epoch);
    reuse->epoch = as_reuse_pool_take(reuse->pool);
}

static struct thread *new_thread(struct as_reuse *reuse, uint32_t number, uint32_t process)
{
    struct thread *thread = as_alloc(sizeof *thread);
    bool only = reuse->threads.len == 0;
    thread->process = process_of(reuse, process);
    thread->index = (uint32_t)thread->process->threads.len;
    thread->shown = (struct as_reuse_thread){.number = number,
                                             .process = process,
                                             .socket = thread->index % reuse->options.sockets,
                                             .view = new_view(reuse, false, AS_REUSE_L1, AS_REUSE_L2)};
    if (only)
        as_lru_cache_init(&thread->shown.view->caches[AS_REUSE_LLC], &reuse->options.shape.levels[AS_REUSE_LLC]);
    else
        publish(reuse);
    as_reuse_pool_wait(reuse->pool);
    if (reuse->threads.len == 1)
        make_sockets(reuse);
    if (thread->index == 1)
        make_directory(reuse, thread->process);
    *as_vec_push(&thread->process->threads) = (uint32_t)reuse->threads.len;
    return *as_vec_push(&reuse->threads) = thread;
}

static struct thread *thread_of(struct as_reuse *reuse, uint32_t number, uint32_t process)
{
    struct thread *last = reuse->last;
    if (last && last->shown.number == number && last->shown.process == process)
        return last;
    uint64_t key = (uint64_t)process << 32 | number, *place = as_map_get(&reuse->by_number, key);
    if (place)
        return reuse->last = reuse->threads.data[*place - 1];
    reuse->last = new_thread(reuse, number, process);
    *as_map_put(&reuse->by_number, key) = reuse->threads.len;
    return reuse->last;
}

/* ---- a sample that becomes thinner ---- */

static uint64_t tracked(const struct as_reuse *reuse)
{
    uint64_t n = 0;
    for (size_t i = 0; i < reuse->threads.len; i++)
        n += reuse->threads.data[i]->shown.view->stack.granules;
    return n;
}

static void halve(struct as_reuse *reuse)
{
    uint64_t threshold = UINT64_MAX >> ++reuse->scale;
    atomic_store_explicit(reuse->options.threshold, threshold, memory_order_relaxed);
    for (size_t i = 0; i < reuse->threads.len; i++)
        as_reuse_view_thin(reuse->threads.data[i]->shown.view, threshold, reuse->scale);
    for (uint32_t i = 0; reuse->sockets && i < reuse->options.sockets; i++)
        as_reuse_view_thin(&reuse->sockets[i], threshold, reuse->scale);
}

/* Views are behind by what is not published yet; that is little, and more granules than asked for do no harm. */
static void thin(struct as_reuse *reuse)
{
    if (reuse->scale >= reuse->options.thinnest || tracked(reuse) <= reuse->options.most)
        return;
    publish(reuse);
    as_reuse_pool_wait(reuse->pool);
    while (reuse->scale < reuse->options.thinnest && tracked(reuse) > reuse->options.most)
        halve(reuse);
}

uint32_t as_reuse_scale(const struct as_reuse *reuse)
{
    return reuse->scale;
}

/* ---- touches ---- */

static inline void add(struct as_reuse *reuse, struct thread *thread, const struct as_touch *touch)
{
    if (!thread->open) {
        thread->open = as_reuse_pool_take_chunk(reuse->pool, reuse->epoch);
        thread->open->view = thread->shown.view;
        thread->open->worker = thread->open->thread = thread->shown.number;
        thread->open->socket = thread->shown.socket;
    }
    thread->open->touches[thread->open->n++] = *touch;
}

static bool has_room(const struct thread *thread)
{
    return !thread->open || thread->open->n < AS_REUSE_CHUNK;
}

/* A run is told where it ends, or where the epoch has to. */
static void end_run(struct as_reuse *reuse, const struct thread *thread)
{
    size_t first = reuse->run_first;
    if (thread->open && thread->open->n > first)
        *as_vec_push(&reuse->epoch->runs) =
            (struct as_reuse_run){.chunk = thread->open, .first = (uint32_t)first, .end = (uint32_t)thread->open->n};
}

static void end_epoch(struct as_reuse *reuse, struct thread *thread)
{
    end_run(reuse, thread);
    publish(reuse);
    reuse->run_first = 0;
}

static void invalidate_in(struct as_reuse *reuse, struct thread *writer, uint32_t index, uint64_t key)
{
    struct thread *holder = reuse->threads.data[writer->process->threads.data[index]];
    if (holder == writer)
        return;
    if (!has_room(holder))
        end_epoch(reuse, writer);
    add(reuse, holder, &(struct as_touch){.key = key, .invalidate = 1});
}

/* A store reaches all other threads that hold the granule; every access makes its thread a holder. */
static void tell_others(struct as_reuse *reuse, struct thread *thread, uint64_t key, bool write)
{
    uint64_t *holders = as_granules_put(&thread->process->holders, key);
    uint32_t place = thread->index < HOLDERS - 1 ? thread->index : HOLDERS - 1;
    uint64_t own = UINT64_C(1) << place, others = write ? *holders & ~own : 0;
    for (; others; others &= others - 1) {
        uint32_t index = (uint32_t)__builtin_ctzll(others);
        if (index < HOLDERS - 1)
            invalidate_in(reuse, thread, index, key);
    }
    if (write && *holders >> (HOLDERS - 1))
        for (uint32_t i = HOLDERS - 1; i < thread->process->threads.len; i++)
            invalidate_in(reuse, thread, i, key);
    *holders = write ? own : *holders | own;
}

static bool is_others(const struct as_touch *touch)
{
    return touch->bytes == 0 && !touch->invalidate;
}

/* Whether the touch repeats the last one of the run under way (as_touch); then it is counted there. */
static bool repeats(struct as_reuse *reuse, struct thread *thread, const struct as_touch *touch)
{
    struct as_reuse_chunk *open = thread->open;
    struct as_touch *last = &open->touches[open->n - 1];
    bool counts = is_others(last);
    const struct as_touch *one = counts ? last - 1 : last;
    if (touch->code != one->code || touch->write != one->write || !touch->first || !one->first || one->invalidate ||
        touch->bytes != one->bytes || touch->offset != last->offset + one->bytes)
        return false;
    if (counts && last->code < UINT32_MAX) {
        last->code++;
        last->offset = touch->offset;
        return true;
    }
    if (counts || !has_room(thread))
        return false;
    add(reuse, thread, &(struct as_touch){.key = touch->key, .code = 1, .offset = touch->offset});
    return true;
}

static inline void take_touch(struct as_reuse *reuse, struct thread *thread, const struct as_touch *touch)
{
    const struct as_reuse_chunk *open = thread->open;
    if (open && open->n > reuse->run_first && open->touches[open->n - 1].key == touch->key &&
        repeats(reuse, thread, touch))
        return;
    if (thread->process->several)
        tell_others(reuse, thread, touch->key, touch->write);
    if (!has_room(thread))
        end_epoch(reuse, thread);
    add(reuse, thread, touch);
}

/* The part of an access from `address` on that lies in one granule. */
static inline void take_part(struct as_reuse *reuse, struct thread *thread, const struct as_data_access *access,
                             uint64_t address, uint64_t bytes)
{
    uint32_t shift = reuse->options.shape.shift;
    struct as_touch touch = {.key = as_reuse_key(thread->shown.process, address, shift),
                             .code = access->insn,
                             .bytes = (uint16_t)bytes,
                             .offset = (uint16_t)(address & ((UINT64_C(1) << shift) - 1) & 0xfff),
                             .write = (access->kind & AS_ACCESS_STORE) != 0,
                             .first = address == access->address};
    if (!reuse->options.shape.sampled ||
        as_reuse_hash(touch.key) <= atomic_load_explicit(reuse->options.threshold, memory_order_relaxed))
        take_touch(reuse, thread, &touch);
}

static inline void take_access(struct as_reuse *reuse, struct thread *thread, const struct as_data_access *access)
{
    uint64_t granule = UINT64_C(1) << reuse->options.shape.shift, address = access->address;
    uint64_t left = access->size ? access->size : 1, room = granule - (address & (granule - 1));
    for (; __builtin_expect(left > room, 0); left -= room, address += room, room = granule)
        take_part(reuse, thread, access, address, room);
    take_part(reuse, thread, access, address, left);
}

/* Whether nobody has to be told of a touch, and none is left out. */
static bool is_alone(const struct as_reuse *reuse, const struct thread *thread)
{
    return thread->open && !thread->process->several && !reuse->options.shape.sampled;
}

/* What most accesses are, in one piece: one granule each, in room that there is, and none repeats the one before. Returns how many of
 * them there were. */
static size_t take_alone(struct as_reuse *reuse, struct thread *thread, const struct as_data_access *accesses, size_t n)
{
    struct as_reuse_chunk *open = thread->open;
    uint32_t shift = reuse->options.shape.shift, process = thread->shown.process, code = UINT32_MAX;
    uint64_t mask = (UINT64_C(1) << shift) - 1, last = UINT64_MAX;
    if (open->n > reuse->run_first) {
        const struct as_touch *one = &open->touches[open->n - 1 - is_others(&open->touches[open->n - 1])];
        last = one->key;
        code = one->code;
    }
    size_t i = 0, at = open->n;
    for (; i < n && at < AS_REUSE_CHUNK; i++) {
        const struct as_data_access *access = &accesses[i];
        uint64_t key = as_reuse_key(process, access->address, shift), offset = access->address & mask;
        if (!(access->kind & (AS_ACCESS_LOAD | AS_ACCESS_STORE)) || !access->size || offset + access->size > mask + 1 ||
            (key == last && access->insn == code))
            break;
        last = key;
        code = access->insn;
        open->touches[at++] = (struct as_touch){.key = key,
                                                .code = code,
                                                .bytes = (uint16_t)access->size,
                                                .offset = (uint16_t)(offset & 0xfff),
                                                .write = (access->kind & AS_ACCESS_STORE) != 0,
                                                .first = 1};
    }
    open->n = at;
    return i;
}

void as_reuse_take(struct as_reuse *reuse, uint32_t thread_number, uint32_t process,
                   const struct as_data_access *accesses, size_t n)
{
    struct thread *thread = thread_of(reuse, thread_number, process);
    if (reuse->options.shape.sampled)
        thin(reuse);
    reuse->run_first = thread->open ? thread->open->n : 0;
    for (size_t i = 0; i < n; i++) {
        if (is_alone(reuse, thread))
            i += take_alone(reuse, thread, &accesses[i], n - i);
        if (i < n && accesses[i].kind & (AS_ACCESS_LOAD | AS_ACCESS_STORE))
            take_access(reuse, thread, &accesses[i]);
    }
    end_run(reuse, thread);
}

static void observe(void *self, const struct as_access_batch *batch)
{
    for (size_t i = 0; i < batch->n_turns; i++) {
        const struct as_access_turn *turn = &batch->turns[i];
        as_reuse_take(self, turn->thread, turn->process, batch->accesses + turn->first, turn->end - turn->first);
    }
}

/* ---- the end ---- */

/* The threads' views know of misses in the L1, by line and by code, the sockets' of those in the last level. */
static void add_llc(void *context, uint64_t first, void *records, size_t n)
{
    struct as_reuse_view *all = context;
    const struct as_reuse_misses *misses = records;
    for (uint64_t i = 0; i < n; i++)
        if (misses[i].llc)
            ((struct as_reuse_misses *)as_granules_put(&all->misses, first + i))->llc += misses[i].llc;
}

static void add_llc_by_code(struct as_reuse_view *all, const struct as_reuse_view *socket)
{
    for (size_t i = 0; i < socket->codes.len; i++) {
        const uint64_t *misses = socket->codes.data[i].misses[AS_REUSE_LLC];
        for (int cause = 0; cause < AS_MISS_CAUSES; cause++)
            if (misses[cause])
                as_reuse_code_of(all, (uint32_t)i)->misses[AS_REUSE_LLC][cause] += misses[cause];
    }
}

static void merge_sockets(struct as_reuse *reuse)
{
    reuse->all_sockets = new_view(reuse, true, AS_REUSE_LLC, AS_REUSE_L2);
    for (uint32_t i = 0; i < reuse->options.sockets; i++) {
        struct as_reuse_view *socket = &reuse->sockets[i];
        as_reuse_view_end(socket);
        as_granules_each(&socket->misses, add_llc, reuse->all);
        add_llc_by_code(reuse->all, socket);
        as_reuse_view_merge(reuse->all_sockets, socket);
        for (size_t at = 0; at < socket->working_set.len; at++) {
            if (at == reuse->all_sockets->working_set.len)
                *as_vec_push(&reuse->all_sockets->working_set) = 0;
            reuse->all_sockets->working_set.data[at] += socket->working_set.data[at];
        }
    }
}

/* Of a sample: lines of which only a few lie in between are hardly ever sampled themselves, so short distances look like none. From four
 * sampled lines on miss ratios are right. */
static void tell_least(struct as_reuse *reuse, struct as_reuse_view *view)
{
    uint64_t least = reuse->options.shape.sampled && reuse->scale ? UINT64_C(4) << reuse->scale : 0;
    if (least && least < reuse->options.nearest)
        least = reuse->options.nearest;
    view->distances.least = view->times.least = view->all.least = least;
    view->counts.left_out = least > 0;
    for (size_t i = 0; i < view->pairs.len; i++)
        for (uint32_t octave = 1; octave < AS_DISTANCE_OCTAVES; octave++)
            if (as_distances_joins(&view->distances, octave)) {
                view->pairs.data[i].octaves[0] += view->pairs.data[i].octaves[octave];
                view->pairs.data[i].octaves[octave] = 0;
            }
}

void as_reuse_finish(struct as_reuse *reuse)
{
    publish(reuse);
    as_reuse_pool_wait(reuse->pool);
    for (size_t i = 0; i < reuse->threads.len; i++)
        tell_least(reuse, reuse->threads.data[i]->shown.view);
    for (uint32_t i = 0; reuse->sockets && i < reuse->options.sockets; i++)
        tell_least(reuse, &reuse->sockets[i]);
    reuse->bytes = as_reuse_bytes(reuse);
    reuse->all = new_view(reuse, false, AS_REUSE_LLC, AS_REUSE_L2);
    for (size_t i = 0; i < reuse->threads.len; i++) {
        as_reuse_view_end(reuse->threads.data[i]->shown.view);
        as_reuse_view_merge(reuse->all, reuse->threads.data[i]->shown.view);
    }
    if (reuse->sockets)
        merge_sockets(reuse);
}

/* Takes touches away from the distances that are not told apart, the shortest first. Returns how many there were. */
static uint64_t take_away(struct as_distances *distances, uint64_t touches)
{
    uint64_t left = touches;
    for (uint32_t bin = 0; left && (bin == 0 || as_distance_low(bin) < distances->least); bin++) {
        uint64_t taken = left < distances->bins[bin] ? left : distances->bins[bin];
        distances->bins[bin] -= taken;
        left -= taken;
    }
    return touches - left;
}

static void adjust(struct as_reuse_view *view, uint64_t touches)
{
    struct as_distances *distances = view->shared ? &view->all : &view->distances;
    int64_t more = (int64_t)(touches - view->counts.touches);
    if (more < 0)
        more = -(int64_t)take_away(distances, (uint64_t)-more);
    else
        distances->bins[0] += (uint64_t)more;
    distances->total += (uint64_t)more;
    view->counts.touches += (uint64_t)more;
    *(view->shared ? &view->counts.other : &view->counts.reuses) += (uint64_t)more;
}

void as_reuse_adjust_thread(struct as_reuse *reuse, size_t index, uint64_t accesses, uint64_t touches)
{
    struct as_reuse_view *view = reuse->threads.data[index]->shown.view;
    adjust(view, touches);
    view->counts.accesses = accesses;
}

void as_reuse_adjust(struct as_reuse *reuse, uint64_t accesses, uint64_t touches)
{
    adjust(reuse->all, touches);
    reuse->all->counts.accesses = accesses;
    reuse->all->counts.left_out = reuse->all->distances.least > 0;
    if (!reuse->all_sockets)
        return;
    adjust(reuse->all_sockets, touches);
    reuse->all_sockets->counts.left_out = reuse->all->counts.left_out;
}

static void finish(void *self, FILE *out)
{
    as_reuse_finish(self);
}

static void release(void *self)
{
    as_reuse_free(self);
}

const struct as_observer as_reuse_observer = {
    .version = AS_OBSERVER_VERSION,
    .record_size = sizeof(struct as_pipe),
    .name = "reuse",
    .accesses = observe,
    .finish = finish,
    .free = release,
};

size_t as_reuse_count_threads(const struct as_reuse *reuse)
{
    return reuse->threads.len;
}

const struct as_reuse_thread *as_reuse_get_thread(const struct as_reuse *reuse, size_t index)
{
    return &reuse->threads.data[index]->shown;
}

struct as_reuse_view *as_reuse_all_threads(const struct as_reuse *reuse)
{
    return reuse->all;
}

struct as_reuse_view *as_reuse_all_sockets(const struct as_reuse *reuse)
{
    return reuse->all_sockets;
}

uint64_t as_reuse_bytes(const struct as_reuse *reuse)
{
    uint64_t bytes = 0;
    if (reuse->bytes)
        return reuse->bytes;
    for (size_t i = 0; i < reuse->threads.len; i++)
        bytes += as_reuse_view_bytes(reuse->threads.data[i]->shown.view);
    for (size_t i = 0; i < reuse->processes.len; i++)
        if (reuse->processes.data[i]->several)
            bytes += as_granules_bytes(&reuse->processes.data[i]->holders);
    for (uint32_t i = 0; reuse->sockets && i < reuse->options.sockets; i++)
        bytes += as_reuse_view_bytes(&reuse->sockets[i]);
    return bytes;
}
