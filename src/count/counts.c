/* See counts.h. Each thread has an array by block index of struct tally; it is folded into the totals when the thread
 * ends, so memory follows the code, not the run or the number of threads that come and go. */
#include "count/counts.h"

#include "count/targets.h"

struct tally {
    uint64_t runs, taken;
    uint64_t as_seen; /* executions whose accesses were all counted one by one */
};

struct thread_state {
    struct as_thread_counts *result;
    AS_VEC(struct tally) tallies;
    struct as_counts extra; /* from executions that are counted one by one */
};

struct as_counter {
    bool recorded;
    AS_VEC(struct as_thread_counts *) threads;
    AS_VEC(struct thread_state *) states;   /* of running threads */
    AS_VEC(const struct as_block *) blocks; /* by index, those that were executed */
    AS_VEC(struct as_tally) runs;           /* whole runs by block index, of threads that ended */
    AS_VEC(uint64_t *) singles;             /* by block index: NULL or executions outside whole runs, by instruction */
    AS_VEC(uint64_t) part_taken;            /* by block index: executions of a part that ended in a taken branch */
    struct as_targets indirect;             /* targets of indirect calls */
    uint32_t region;                        /* the open region, or AS_REGION_NONE */
    struct as_counts border;                /* all counts at the time it was opened */
    AS_VEC(struct as_counts) regions;
};

/* All members are 64-bit counts. */
enum { MEMBERS = sizeof(struct as_counts) / sizeof(uint64_t) };

void as_counts_add(struct as_counts *to, const struct as_counts *from)
{
    for (size_t i = 0; i < MEMBERS; i++)
        ((uint64_t *)to)[i] += ((const uint64_t *)from)[i];
}

void as_counts_subtract(struct as_counts *from, const struct as_counts *what)
{
    for (size_t i = 0; i < MEMBERS; i++)
        ((uint64_t *)from)[i] -= ((const uint64_t *)what)[i];
}

struct as_counter *as_counter_new(bool recorded)
{
    struct as_counter *counter = as_alloc(sizeof *counter);
    counter->recorded = recorded;
    counter->region = AS_REGION_NONE;
    return counter;
}

static void free_state(struct thread_state *state)
{
    as_vec_free(&state->tallies);
    free(state);
}

void as_counter_free(struct as_counter *counter)
{
    for (size_t i = 0; i < counter->threads.len; i++)
        free(counter->threads.data[i]);
    for (size_t i = 0; i < counter->states.len; i++)
        free_state(counter->states.data[i]);
    for (size_t i = 0; i < counter->singles.len; i++)
        free(counter->singles.data[i]);
    as_vec_free(&counter->threads);
    as_vec_free(&counter->states);
    as_vec_free(&counter->blocks);
    as_vec_free(&counter->runs);
    as_vec_free(&counter->singles);
    as_vec_free(&counter->part_taken);
    as_vec_free(&counter->regions);
    as_targets_free(&counter->indirect);
    free(counter);
}

static void on_thread_start(void *context, struct as_thread *thread)
{
    struct as_counter *counter = context;
    struct thread_state *state = as_alloc(sizeof *state);
    thread->user = state;
    *as_vec_push(&counter->states) = state;
    while (counter->threads.len < thread->number)
        *as_vec_push(&counter->threads) = as_alloc(sizeof *state->result);
    state->result = counter->threads.data[thread->number - 1];
    state->result->number = thread->number;
    state->result->process = thread->process;
    state->result->pid = thread->pid;
    state->result->tid = thread->tid;
}

/* Adds what an instruction counts besides its accesses and its outcome, `times` over. */
static void count_insn(struct as_counts *counts, const struct as_insn *insn, uint64_t times)
{
    counts->instructions += times;
    counts->classes[insn->class_] += times;
    if (!as_insn_is_control(insn))
        return;
    counts->branches += times;
    counts->conditional += insn->class_ == AS_CLASS_BRANCH ? times : 0;
    counts->calls += as_insn_is_call(insn) ? times : 0;
    counts->returns += insn->class_ == AS_CLASS_RETURN ? times : 0;
}

/* Counts the accesses of one execution, and the instructions that made at least one. A continued rep instruction was
 * already counted as a load or store with its first iteration. */
static void count_accesses(struct as_counts *counts, const struct as_block_exec *exec, bool only_varying)
{
    struct as_access access;
    uint32_t load_index = UINT32_MAX, store_index = UINT32_MAX;
    if (exec->continues)
        load_index = store_index = exec->first;
    for (struct as_accesses all = as_accesses_of(exec); as_accesses_next(&all, &access);) {
        if (only_varying && !(exec->block->insns[access.index]->flags & AS_INSN_VARIES))
            continue;
        if (access.kind & AS_ACCESS_LOAD) {
            counts->load_accesses++;
            counts->loads += load_index != access.index;
            load_index = access.index;
        }
        if (access.kind & AS_ACCESS_STORE) {
            counts->store_accesses++;
            counts->stores += store_index != access.index;
            store_index = access.index;
        }
    }
}

static void count_expected_accesses(struct as_counts *counts, const struct as_insn *insn)
{
    if (insn->flags & AS_INSN_VARIES)
        return;
    counts->loads += (insn->flags & AS_INSN_LOAD) != 0;
    counts->stores += (insn->flags & AS_INSN_STORE) != 0;
    counts->load_accesses += as_insn_count_accesses(insn, AS_ACCESS_LOAD);
    counts->store_accesses += as_insn_count_accesses(insn, AS_ACCESS_STORE);
}

static uint64_t *singles_of(struct as_counter *counter, const struct as_block *block)
{
    while (counter->singles.len <= block->index)
        *as_vec_push(&counter->singles) = NULL;
    if (!counter->singles.data[block->index])
        counter->singles.data[block->index] = as_alloc_array(block->n, sizeof(uint64_t));
    return counter->singles.data[block->index];
}

static void count_part(struct as_counter *counter, struct thread_state *state, const struct as_block_exec *exec)
{
    uint64_t *singles = singles_of(counter, exec->block);
    for (uint32_t i = exec->first + exec->continues; i < exec->end; i++) {
        count_insn(&state->extra, exec->block->insns[i], 1);
        if (!counter->recorded)
            count_expected_accesses(&state->extra, exec->block->insns[i]);
        singles[i]++;
    }
    count_accesses(&state->extra, exec, !counter->recorded);
    state->extra.taken += exec->taken;
    while (counter->part_taken.len <= exec->block->index)
        *as_vec_push(&counter->part_taken) = 0;
    counter->part_taken.data[exec->block->index] += exec->taken;
}

static void grow_tallies(struct as_counter *counter, struct thread_state *state, const struct as_block *block)
{
    while (state->tallies.len <= block->index)
        *as_vec_push(&state->tallies) = (struct tally){0};
    while (counter->blocks.len <= block->index)
        *as_vec_push(&counter->blocks) = NULL;
}

static void on_block(void *context, struct as_thread *thread, const struct as_block_exec *exec)
{
    struct as_counter *counter = context;
    struct thread_state *state = thread->user;
    const struct as_block *block = exec->block;
    if (__builtin_expect(exec->end - exec->first != block->n || exec->continues, 0)) {
        while (counter->blocks.len <= block->index)
            *as_vec_push(&counter->blocks) = NULL;
        counter->blocks.data[block->index] = block;
        count_part(counter, state, exec);
        return;
    }
    if (__builtin_expect(block->index >= state->tallies.len, 0))
        grow_tallies(counter, state, block);
    struct tally *tally = &state->tallies.data[block->index];
    if (tally->runs++ == 0)
        counter->blocks.data[block->index] = block;
    tally->taken += exec->taken;
    if (block->last_class == AS_CLASS_CALL_INDIRECT)
        as_targets_note(&counter->indirect, block->image, exec->next);
    if (__builtin_expect(block->flags & (AS_BLOCK_VARIES | AS_BLOCK_DISAGREES), 0)) {
        tally->as_seen += (block->flags & AS_BLOCK_DISAGREES) != 0;
        count_accesses(&state->extra, exec, !(block->flags & AS_BLOCK_DISAGREES));
    }
}

static void on_tally(void *context, struct as_thread *thread, const struct as_block *block, const struct as_tally *told)
{
    struct as_counter *counter = context;
    struct thread_state *state = thread->user;
    if (block->index >= state->tallies.len)
        grow_tallies(counter, state, block);
    counter->blocks.data[block->index] = block;
    state->tallies.data[block->index].runs += told->runs;
    state->tallies.data[block->index].taken += told->taken;
    if (block->last_class == AS_CLASS_CALL_INDIRECT)
        as_targets_note(&counter->indirect, block->image, told->next);
}

static void on_syscall(void *context, struct as_thread *thread, uint32_t number, const uint64_t args[6])
{
    struct thread_state *state = thread->user;
    state->extra.syscalls++;
}

static void fold_block(struct as_counts *counts, const struct as_block *block, const struct tally *tally)
{
    uint64_t as_decoded = tally->runs - tally->as_seen;
    for (uint32_t i = 0; i < block->n; i++)
        count_insn(counts, block->insns[i], tally->runs);
    counts->taken += tally->taken;
    counts->loads += as_decoded * block->loads;
    counts->stores += as_decoded * block->stores;
    counts->load_accesses += as_decoded * block->load_accesses;
    counts->store_accesses += as_decoded * block->store_accesses;
}

static void on_thread_end(void *context, struct as_thread *thread)
{
    struct as_counter *counter = context;
    struct thread_state *state = thread->user;
    while (counter->runs.len < state->tallies.len)
        *as_vec_push(&counter->runs) = (struct as_tally){0};
    for (size_t i = 0; i < state->tallies.len; i++) {
        if (state->tallies.data[i].runs == 0)
            continue;
        fold_block(&state->result->counts, counter->blocks.data[i], &state->tallies.data[i]);
        counter->runs.data[i].runs += state->tallies.data[i].runs;
        counter->runs.data[i].taken += state->tallies.data[i].taken;
    }
    as_counts_add(&state->result->counts, &state->extra);
    for (size_t i = 0; i < counter->states.len; i++)
        if (counter->states.data[i] == state)
            counter->states.data[i] = counter->states.data[--counter->states.len];
    free_state(state);
    thread->user = NULL;
}

/* All counts so far, including running threads. */
static struct as_counts count_now(const struct as_counter *counter)
{
    struct as_counts now = as_counter_total(counter);
    for (size_t i = 0; i < counter->states.len; i++) {
        const struct thread_state *state = counter->states.data[i];
        as_counts_add(&now, &state->extra);
        for (size_t at = 0; at < state->tallies.len; at++)
            if (state->tallies.data[at].runs)
                fold_block(&now, counter->blocks.data[at], &state->tallies.data[at]);
    }
    return now;
}

static void on_stretch(void *context, const struct as_stretch *stretch)
{
    struct as_counter *counter = context;
    if (stretch->region == counter->region)
        return;
    struct as_counts now = count_now(counter);
    if (counter->region != AS_REGION_NONE) {
        while (counter->regions.len <= counter->region)
            *as_vec_push(&counter->regions) = (struct as_counts){0};
        as_counts_add(&counter->regions.data[counter->region], &now);
        as_counts_subtract(&counter->regions.data[counter->region], &counter->border);
    }
    counter->border = now;
    counter->region = stretch->region;
}

struct as_counts as_counter_region(const struct as_counter *counter, uint32_t region)
{
    struct as_counts counts = {0};
    if (region < counter->regions.len)
        counts = counter->regions.data[region];
    if (region == counter->region) {
        struct as_counts now = count_now(counter);
        as_counts_add(&counts, &now);
        as_counts_subtract(&counts, &counter->border);
    }
    return counts;
}

const struct as_sink as_counter_sink = {
    .thread_start = on_thread_start,
    .thread_end = on_thread_end,
    .block = on_block,
    .tally = on_tally,
    .recorded_tallies = true,
    .syscall = on_syscall,
    .stretch = on_stretch,
};

size_t as_counter_count_threads(const struct as_counter *counter)
{
    return counter->threads.len;
}

const struct as_thread_counts *as_counter_thread(const struct as_counter *counter, size_t index)
{
    return counter->threads.data[index];
}

struct as_counts as_counter_total(const struct as_counter *counter)
{
    struct as_counts total = {0};
    for (size_t i = 0; i < counter->threads.len; i++)
        as_counts_add(&total, &counter->threads.data[i]->counts);
    return total;
}

const uint64_t *as_counter_indirect_targets(const struct as_counter *counter, size_t *n)
{
    *n = counter->indirect.list.len;
    return counter->indirect.list.data;
}

uint64_t as_counter_executions(const struct as_counter *counter, const struct as_block *block, uint32_t index)
{
    uint64_t whole = block->index < counter->runs.len ? counter->runs.data[block->index].runs : 0;
    bool apart = block->index < counter->singles.len && counter->singles.data[block->index];
    return whole + (apart ? counter->singles.data[block->index][index] : 0);
}

uint64_t as_counter_taken(const struct as_counter *counter, const struct as_block *block)
{
    uint64_t whole = block->index < counter->runs.len ? counter->runs.data[block->index].taken : 0;
    return whole + (block->index < counter->part_taken.len ? counter->part_taken.data[block->index] : 0);
}
