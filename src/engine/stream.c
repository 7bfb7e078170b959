/* A block execution is reported to the sink when the next record shows where the thread continued.
 *
 * That shows whether all of the block completed (block_end.h), the outcome of its branch, and whether a rep instruction iterates
 * (its block follows itself). A rep instruction that a signal interrupts continues after the handler.
 */
#include "engine/stream.h"

#include "engine/block_end.h"
#include "engine/loop_heads.h"
#include "engine/stream_rules.h"
#include "engine/wire.h"

/* The instruction at `address` is about to be executed and may be a landmark. */
static void pass_landmarks(struct as_stream *stream, uint64_t address)
{
    const struct as_sites *sites = &stream->thread.image->sites;
    const uint64_t *first = as_map_get(&sites->by_address, address);
    for (uint64_t at = first ? *first : 0; at; at = sites->list.data[at - 1].next)
        as_region_run_pass(stream->regions, sites->list.data[at - 1].landmark);
}

static bool heeds_landmarks(const struct as_stream *stream, uint64_t address)
{
    const struct as_sites *sites = &stream->thread.image->sites;
    const uint64_t *first = as_map_get(&sites->by_address, address);
    for (uint64_t at = first ? *first : 0; at; at = sites->list.data[at - 1].next)
        if (as_region_run_heeds(stream->regions, sites->list.data[at - 1].landmark))
            return true;
    return false;
}

/* Where the piece of an execution ends that starts at exec->first: at a border that is known by count, or before the
 * next landmark that matters. */
static uint32_t end_of_piece(const struct as_stream *stream, const struct as_block_exec *exec)
{
    uint32_t end = exec->end;
    uint64_t left = stream->regions->left;
    if (as_block_exec_count(exec) > left)
        end = exec->first + exec->continues + (uint32_t)left;
    for (uint32_t i = exec->first + 1; exec->block->flags & AS_BLOCK_LANDMARK && i < end; i++)
        if (heeds_landmarks(stream, exec->block->insns[i]->address))
            end = i;
    return end;
}

/* What comes before an instruction is executed: borders. An iteration of a rep instruction belongs to its first. */
static void cross_borders(struct as_stream *stream, const struct as_block_exec *exec)
{
    if (exec->continues)
        return;
    as_region_run_cross(stream->regions);
    if (exec->block->flags & AS_BLOCK_LANDMARK && !stream->regions->over) {
        pass_landmarks(stream, exec->block->insns[exec->first]->address);
        as_region_run_cross(stream->regions);
    }
}

/* Reports an execution in a counted stretch to the sink, if it wants to see it. Before the first near one comes all that was
 * only counted. */
static inline void pass(struct as_stream *stream, struct as_block_exec *exec)
{
    bool leaves = exec->block->outcome == AS_OUTCOME_LEAVES;
    exec->near = stream->regions->left <= as_region_run_near(stream->regions);
    if (!stream->sink->passed || !(exec->n_words || exec->registers || leaves || exec->near || stream->lands))
        return;
    stream->lands = false;
    if (exec->near && !stream->near)
        as_ways_report(stream);
    stream->near = exec->near;
    if (leaves)
        as_hops_tell(stream);
    stream->sink->passed(stream->context, &stream->thread, exec);
}

/* A rep instruction goes on in a counted stretch: it was executed before, but its accesses, and how often it iterates, matter to
 * who estimates times. The last of these is QEMU's look at the counter, which accesses nothing, so the first one is not reported. */
static void iterate(struct as_stream *stream, const struct as_block_exec *exec)
{
    const struct as_sink *sink = stream->sink;
    if (as_stream_is_told(stream) || stream->regions->over)
        return;
    if (sink->iterated && stream->iterates)
        sink->iterated(stream->context, &stream->thread, exec->block->insns[0]);
    if (sink->passed && exec->n_words)
        sink->passed(stream->context, &stream->thread, exec);
}

/* Reports a piece of an execution that lies in one stretch to the sink, if the sink is to see it. */
static void tell_piece(struct as_stream *stream, struct as_block_exec piece, uint32_t whole)
{
    const struct as_block *block = piece.block;
    stream->told = as_stream_is_told(stream) && piece.end == block->n;
    stream->left = piece.end == block->n ? block : NULL;
    stream->led = piece.next;
    if (piece.end < whole) {
        piece.taken = false;
        piece.next = block->insns[piece.end]->address;
    }
    if (as_stream_is_told(stream)) {
        stream->sink->block(stream->context, &stream->thread, &piece);
        stream->blind += stream->bare && !stream->blocks_only ? as_block_exec_count(&piece) : 0;
    } else {
        if (stream->sink->skipped)
            stream->sink->skipped(stream->context, &stream->thread, block, piece.first + piece.continues, piece.end, 1);
        pass(stream, &piece);
    }
    for (uint32_t i = piece.first + 1; block->flags & AS_BLOCK_LANDMARK && i < piece.end; i++)
        pass_landmarks(stream, block->insns[i]->address);
    as_region_run_count(stream->regions, as_block_exec_count(&piece));
    if (stream->regions->awaits == AS_POINT_CYCLE && stream->sink->clock)
        as_region_run_clock(stream->regions, stream->sink->clock(stream->context, &stream->thread));
    /* Other borders are crossed by the instruction that comes next, but nothing comes after the last one. A rep
     * instruction is over when another one follows. */
    bool goes_on = block->flags & AS_BLOCK_REP_LAST && piece.end == block->n;
    if (stream->regions->left == 0 && !goes_on && as_region_run_ends_next(stream->regions))
        as_region_run_cross(stream->regions);
}

/* Reports an execution to the sink, as far as the sink is to see it, cut at the borders of stretches. */
static void tell(struct as_stream *stream, struct as_block_exec *exec)
{
    uint32_t whole = exec->end;
    if (exec->continues && !stream->told) { /* its first iteration was before the region */
        exec->first++;
        exec->continues = false;
    }
    stream->told = false;
    while (exec->first < whole) {
        cross_borders(stream, exec);
        if (stream->regions->over)
            return;
        exec->end = whole;
        exec->end = end_of_piece(stream, exec);
        tell_piece(stream, *exec, whole);
        exec->first = exec->end;
        exec->continues = false;
    }
}

/* A border that waits for the head of a loop is there if this execution leads to one. */
static void seek_head(const struct as_stream *stream, const struct as_block_exec *exec)
{
    if (exec->taken && exec->end == exec->block->n && as_is_loop_head(stream->thread.image, exec->block, exec->next))
        as_region_run_head(stream->regions);
}

static void finish_block(struct as_stream *stream, const uint64_t *words, size_t n, const struct as_ending *ending)
{
    struct as_block *block = stream->block;
    if (!block)
        return;
    stream->executed += block->n;
    if (ending->signal)
        n = as_block_without_frame(block, words, n);
    struct as_block_exec exec = {.block = block,
                                 .continues = stream->continues,
                                 .next = ending->next,
                                 .words = words,
                                 .n_words = n,
                                 .registers = stream->has_registers ? stream->registers : NULL};
    const struct as_insn *last = block->insns[block->n - 1];
    exec.end = as_block_completed(stream, words, n, ending);
    bool whole = exec.end == block->n;
    exec.taken = whole && (block->outcome == AS_OUTCOME_LEAVES ||
                           (block->outcome == AS_OUTCOME_EITHER && ending->next && ending->next != block->end));
    if (whole && !stream->bare && !(block->flags & (AS_BLOCK_CHECKED | AS_BLOCK_DISAGREES)))
        as_block_check_accesses(stream, block, &exec);
    bool rep = block->flags & AS_BLOCK_REP_LAST && (whole || (exec.end == block->n - 1 && stream->continues));
    stream->rep_address = rep ? last->address : 0;
    bool idle = exec.continues && exec.end == 1 && n == 0; /* QEMU's last look at a rep instruction's counter */
    if (exec.continues && exec.end > 0)
        iterate(stream, &exec);
    stream->iterates = exec.continues;
    if (exec.end > exec.first && !idle)
        tell(stream, &exec);
    if (stream->regions->seeks)
        seek_head(stream, &exec);
    stream->block = NULL;
}

static void start_block(struct as_stream *stream, struct as_block *block)
{
    if (stream->in_sigreturn) {
        stream->in_sigreturn = false;
        if (stream->interrupted_reps.len)
            stream->rep_address = stream->interrupted_reps.data[--stream->interrupted_reps.len];
    }
    stream->continues = block->flags & AS_BLOCK_REP_FIRST && stream->rep_address == block->address;
    stream->has_registers = false;
    stream->block = block;
}

static void on_syscall(struct as_stream *stream, uint32_t number, const uint64_t *args)
{
    if (stream->clock_calls)
        stream->clock_calls[as_clock_call_of(stream->thread.image->arch, number, args)]++;
    if (stream->sink->syscall &&
        (stream->told || stream->sink->all_calls)) /* it belongs to the instruction before it */
        stream->sink->syscall(stream->context, &stream->thread, number, args);
}

/* Whether a sink is told of signals: one that is given what passes a sieve follows calls in counted stretches, too. It is then told of the
 * block that comes next, wherever that is. */
static bool tells_signals(struct as_stream *stream)
{
    bool told = as_stream_is_told(stream);
    stream->lands = !told && stream->sink->passed;
    return told || stream->lands;
}

/* A sigreturn that finds another signal on its way has done nothing: QEMU delivers that one, and executes the call again. */
static void on_syscall_return(struct as_stream *stream, uint32_t number, int64_t result)
{
    enum { QEMU_RESTARTS = -512 };
    bool told = as_stream_is_told(stream);
    if (as_is_sigreturn(stream->thread.image->arch, number) && result != QEMU_RESTARTS) {
        stream->in_sigreturn = true;
        if (tells_signals(stream) && stream->sink->signal_return)
            stream->sink->signal_return(stream->context, &stream->thread);
    }
    if (stream->sink->syscall_return && (told || stream->sink->all_calls))
        stream->sink->syscall_return(stream->context, &stream->thread, number, result);
}

static void on_signal(struct as_stream *stream, uint32_t number, uint64_t interrupted)
{
    enum { DEEPEST = 1024 }; /* a program that leaves its handlers by longjmp never comes back */
    if (stream->interrupted_reps.len < DEEPEST)
        *as_vec_push(&stream->interrupted_reps) = stream->rep_address;
    stream->rep_address = 0;
    if (tells_signals(stream) && stream->sink->signal)
        stream->sink->signal(stream->context, &stream->thread, number, interrupted);
}

static void on_mapping(struct as_stream *stream, const uint64_t *operands)
{
    char name[AS_WIRE_NAME_WORDS * sizeof *operands + 1] = "";
    if (!stream->sink->mapping)
        return;
    memcpy(name, operands + 4, sizeof name - 1);
    struct as_mapping mapping = {
        .start = operands[0], .bytes = operands[1], .object = operands[2], .offset = operands[3], .name = name};
    stream->sink->mapping(stream->context, &stream->thread, &mapping);
}

static void on_thread_name(struct as_stream *stream, const uint64_t *operands)
{
    char *name = stream->thread.name;
    _Static_assert(sizeof stream->thread.name > AS_WIRE_THREAD_NAME_WORDS * sizeof *operands, "a byte for its end");
    memcpy(name, operands, AS_WIRE_THREAD_NAME_WORDS * sizeof *operands);
}

static void on_event(struct as_stream *stream, uint64_t word, const uint64_t *operands)
{
    uint32_t number = (uint32_t)word;
    switch ((enum as_wire_event)(word >> AS_WIRE_EVENT_SHIFT)) {
    case AS_WIRE_SYSCALL:
        on_syscall(stream, number, operands);
        break;
    case AS_WIRE_SYSCALL_RETURN:
        on_syscall_return(stream, number, (int64_t)operands[0]);
        break;
    case AS_WIRE_SIGNAL:
        on_signal(stream, number & ((1u << AS_WIRE_SYNCHRONOUS_BIT) - 1), operands[0]);
        break;
    case AS_WIRE_MAPPING:
        on_mapping(stream, operands);
        break;
    case AS_WIRE_THREAD_NAME:
        on_thread_name(stream, operands);
        break;
    default:
        break;
    }
}

/* What an event implies for the block before it. */
static struct as_ending ending_by(uint64_t word, const uint64_t *operands)
{
    switch ((enum as_wire_event)(word >> AS_WIRE_EVENT_SHIFT)) {
    case AS_WIRE_SYSCALL:
        return (struct as_ending){.syscall = true};
    case AS_WIRE_SIGNAL:
        return (struct as_ending){.next = operands[0], .fault = word >> AS_WIRE_SYNCHRONOUS_BIT & 1, .signal = true};
    case AS_WIRE_DEATH:
        return (struct as_ending){.next = operands[0], .fault = operands[0] && as_wire_is_fault((uint32_t)word)};
    default:
        return (struct as_ending){0};
    }
}

/* The common case of finish_block, which it must agree with: the block always accesses the same, all of it completed,
 * and no border lies in it or at its end. */
static inline bool finish_plain_block(struct as_stream *stream, const uint64_t *words, size_t n,
                                      const struct as_block *next_block)
{
    const struct as_block *block = stream->block;
    uint64_t next = next_block->address;
    if (block->n >= stream->regions->left || stream->regions->awaits == AS_POINT_CYCLE)
        return false;
    if (stream->bare ? (block->flags & ~(uint32_t)AS_BLOCK_CHECKED) != 0
                     : block->flags != AS_BLOCK_CHECKED || !as_looks_complete(block, words, n))
        return false;
    if (!as_block_is_followed_by(block, next_block))
        return false;
    struct as_block_exec exec = {
        .block = block,
        .end = block->n,
        .taken = block->outcome == AS_OUTCOME_LEAVES || next != block->end,
        .next = next,
        .words = words,
        .n_words = n,
        .number = stream->bare ? 0 : stream->block_id,
    };
    stream->rep_address = 0;
    if (as_stream_is_told(stream)) {
        stream->sink->block(stream->context, &stream->thread, &exec);
        stream->blind += stream->bare && !stream->blocks_only ? block->n : 0;
    } else {
        if (stream->bare && stream->sink->passed && stream->sink->skipped)
            as_ways_add_run(stream, stream->block_id);
        else if (stream->sink->skipped)
            stream->sink->skipped(stream->context, &stream->thread, block, 0, block->n, 1);
        pass(stream, &exec);
    }
    stream->left = block;
    stream->led = next;
    as_region_run_count(stream->regions, block->n);
    stream->executed += block->n;
    if (__builtin_expect(stream->regions->seeks, 0))
        seek_head(stream, &exec);
    return true;
}

/* Whether the block at hand, with its n accesses, is an iteration of a rep instruction that goes on with block `next`: iteration by
 * iteration it is the same block, which lies in no other stretch than its first. */
static inline bool is_iteration(const struct as_stream *stream, size_t n, uint32_t next)
{
    enum { PLAIN = AS_BLOCK_VARIES | AS_BLOCK_REP_FIRST | AS_BLOCK_REP_LAST };
    const struct as_block *block = stream->block;
    const struct as_region_run *regions = stream->regions;
    uint32_t checked = stream->bare ? block->flags & AS_BLOCK_CHECKED : AS_BLOCK_CHECKED;
    if (next != stream->block_id || n == 0 || block->n != 1 || block->flags != (PLAIN | checked) ||
        stream->has_registers || stream->in_sigreturn || !as_block_leads_to(block, block->address))
        return false;
    return stream->told && as_stream_is_told(stream) && !regions->over && !regions->seeks &&
           regions->awaits != AS_POINT_CYCLE;
}

/* How many iterations the words from `from` on are: as many accesses each, and behind them the block's word again, with the same stamp if it
 * has one. As it is with a thread that is alone, so nothing that others do comes in between. */
static size_t count_iterations(const struct as_stream *stream, const uint64_t *words, size_t from, size_t at, size_t n)
{
    size_t each = at - from, most = AS_WORDS_MOST / (1 + each), count = 1;
    bool may_decide = stream->causal.stamped && stream->block->deciders[0] >= 0;
    if (!stream->sink->iterations || may_decide || from == 0 || words[from - 1] != words[at])
        return 1;
    for (size_t next = at + 1; count < most && next + each < n && words[next + each] == words[at]; count++) {
        for (size_t i = 0; i < each; i++)
            if (!(words[next + i] & AS_WIRE_ACCESS_MASK))
                return count;
        next += each + 1;
    }
    return count;
}

/* The common case of finish_block for iterations. Returns how many there were; 0: it is not that case. */
static inline size_t finish_iterations(struct as_stream *stream, const uint64_t *words, size_t from, size_t at,
                                       size_t n)
{
    const struct as_block *block = stream->block;
    if (!is_iteration(stream, at - from, (uint32_t)words[at]))
        return 0;
    size_t count = count_iterations(stream, words, from, at, n), each = at - from;
    stream->executed += count;
    stream->iterates = true;
    stream->left = block;
    stream->led = block->address;
    struct as_exec_words all = {
        .words = words + from - 1, .n = count * (1 + each), .accesses = count * each, .blocks = &stream->code->by_id};
    struct as_block_exec exec = {.block = block,
                                 .end = 1,
                                 .continues = true,
                                 .taken = block->outcome != AS_OUTCOME_FALLS,
                                 .next = block->address,
                                 .words = words + from,
                                 .n_words = each};
    if (count > 1)
        stream->sink->iterations(stream->context, &stream->thread, &all);
    else
        stream->sink->block(stream->context, &stream->thread, &exec);
    return count;
}

/* Whether executions may be offered to the sink from the one at hand on. After offers in vain some blocks go by without. */
static inline bool may_offer(struct as_stream *stream)
{
    const struct as_region_run *regions = stream->regions;
    if (!stream->sink->take || stream->bare || !stream->block || stream->carry.len || stream->continues)
        return false;
    if (stream->refused && --stream->refused)
        return false;
    return as_stream_is_told(stream) && regions->awaits != AS_POINT_CYCLE && !regions->seeks && !stream->causal.stamped;
}

/* The current block's accesses begin at words[from]. Returns where those of the block begin that is current then; 0: the sink
 * took nothing. */
static size_t offer(struct as_stream *stream, const uint64_t *words, size_t from, size_t n)
{
    enum { PATIENCE = 32 };
    struct as_words_ahead ahead = {.words = words,
                                   .n = n,
                                   .left = stream->regions->left,
                                   .blocks = &stream->code->by_id,
                                   .number = stream->block_id,
                                   .time = stream->causal.time,
                                   .at = from};
    stream->sink->take(stream->context, &stream->thread, &ahead);
    if (ahead.at == from) {
        stream->in_vain = stream->in_vain < PATIENCE ? 2 * stream->in_vain + 1 : PATIENCE;
        stream->refused = stream->in_vain;
        return 0;
    }
    stream->in_vain = 0;
    as_region_run_count(stream->regions, ahead.instructions);
    stream->executed += ahead.instructions;
    stream->rep_address = 0;
    stream->block_id = ahead.number;
    stream->causal.time = ahead.time;
    stream->block = as_code_table_block(stream->code, ahead.number);
    stream->bare = stream->blocks_only || stream->code->gists.data[ahead.number].bare;
    return ahead.at;
}

/* Ends the block that is being executed; its accesses are in carry and in words[from..at). */
static void end_block(struct as_stream *stream, const uint64_t *words, size_t from, size_t at,
                      const struct as_ending *ending)
{
    if (stream->carry.len == 0) {
        finish_block(stream, words + from, at - from, ending);
        return;
    }
    for (size_t i = from; i < at; i++)
        *as_vec_push(&stream->carry) = words[i];
    finish_block(stream, stream->carry.data, stream->carry.len, ending);
    as_vec_clear(&stream->carry);
}

/* The word at `at` is the number of the next block; the current one has the accesses words[from..at). Returns where the
 * accesses of the block begin that is current then; 0: the next block is not known. */
static inline size_t on_block_word(struct as_stream *stream, const uint64_t *words, size_t from, size_t at, size_t n)
{
    bool countable = stream->sink->tally || stream->sink->words || (!as_stream_is_told(stream) && !stream->lands);
    if (stream->block && stream->carry.len == 0 && countable && as_ways_follow(stream, words, &from, at, n))
        return from;
    size_t iterations = stream->continues && stream->block && stream->carry.len == 0
                            ? finish_iterations(stream, words, from, at, n)
                            : 0;
    if (iterations)
        return from + iterations * (at - from + 1);
    size_t behind = may_offer(stream) ? offer(stream, words, from, n) : 0;
    if (behind)
        return behind;
    struct as_block *block = as_code_table_block(stream->code, (uint32_t)words[at]);
    if (!block)
        return 0;
    if (stream->block && stream->carry.len == 0 && finish_plain_block(stream, words + from, at - from, block)) {
        stream->continues = false;
        stream->block = block;
    } else {
        end_block(stream, words, from, at, &(struct as_ending){.next = block->address, .block = block});
        start_block(stream, block);
    }
    stream->block_id = (uint32_t)words[at];
    stream->bare = stream->blocks_only || stream->code->gists.data[stream->block_id].bare;
    return at + 1;
}

/* Whether what ended at a time may be told. It decides: see causal_reading.h. */
static inline bool may_tell(struct as_causal *causal, bool decides, uint64_t end)
{
    if (causal->pass) {
        causal->pass = false;
        causal->held = 0;
        return true;
    }
    if (causal->begun > causal->bound)
        return false;
    causal->held = decides && end >= causal->horizon ? end : 0;
    return !causal->held;
}

/* Whether the current block, which ended when the block of `word` began, may be told; or the thread's first begin. */
static inline bool may_end(struct as_stream *stream, uint64_t word)
{
    struct as_causal *causal = &stream->causal;
    if (!stream->block)
        return causal->begun || may_tell(causal, true, causal->time);
    return may_tell(causal, stream->block->deciders[0] >= 0, as_wire_time_of(stream->causal.time, word));
}

/* Whether an event may be told. A thread that comes back from a system call may have waited there for others. */
static bool may_happen(struct as_stream *stream, uint64_t event)
{
    if (event != AS_WIRE_SYSCALL_RETURN || !stream->causal.stamped)
        return true;
    if (!may_tell(&stream->causal, true, stream->causal.time))
        return false;
    stream->causal.begun = stream->causal.time;
    return true;
}

static void carry_on(struct as_stream *stream, const uint64_t *words, size_t from, size_t at)
{
    for (size_t w = from; w < at && stream->block; w++)
        *as_vec_push(&stream->carry) = words[w];
}

/* An event, whose operands are there. */
static void on_event_word(struct as_stream *stream, const uint64_t *words, size_t from, size_t at)
{
    if (words[at] >> AS_WIRE_EVENT_SHIFT == AS_WIRE_TIME) { /* the current block goes on */
        carry_on(stream, words, from, at);
        stream->causal.time = words[at + 1];
        if (stream->causal.stamped && (uint32_t)words[at]) /* its thread has waited: it begins only now */
            stream->causal.begun = words[at + 1];
        return;
    }
    if (words[at] >> AS_WIRE_EVENT_SHIFT == AS_WIRE_REGISTERS_AT) { /* belongs to the block that has just started */
        memcpy(stream->registers, words + at + 1, sizeof stream->registers);
        stream->has_registers = true;
        return;
    }
    struct as_ending ending = ending_by(words[at], words + at + 1);
    end_block(stream, words, from, at, &ending);
    as_hops_tell(stream);
    on_event(stream, words[at], words + at + 1);
}

enum as_stream_status as_stream_consume(struct as_stream *stream, const uint64_t *words, size_t n, size_t *done)
{
    size_t from = 0, i = 0; /* words[from..i) are accesses of the current block */
    enum as_stream_status status = AS_STREAM_OK;
    while (i < n && !stream->regions->over) {
        uint64_t event = words[i] >> AS_WIRE_EVENT_SHIFT;
        if (words[i] & AS_WIRE_ACCESS_MASK) {
            i++;
            continue;
        }
        if (event == AS_WIRE_BLOCK) {
            if (stream->causal.stamped && !may_end(stream, words[i])) {
                status = AS_STREAM_HELD;
                i = stream->carry.len ? i : from; /* its words can stay where they are */
                break;
            }
            if (stream->causal.stamped || stream->causal.time) /* before the sink moves it on */
                stream->causal.time = as_wire_time_of(stream->causal.time, words[i]);
            uint64_t time = stream->causal.time;
            size_t next = on_block_word(stream, words, from, i, n);
            if (next == 0) {
                status = AS_STREAM_NEEDS_CODE;
                break;
            }
            if (stream->causal.stamped)
                stream->causal.begun = time;
            from = i = next;
            continue;
        }
        if (event >= AS_WIRE_EVENTS) {
            status = AS_STREAM_CORRUPT;
            break;
        }
        size_t operands = as_wire_event_words[event];
        if (n - i - 1 < operands)
            break;
        if (!may_happen(stream, event)) {
            status = AS_STREAM_HELD;
            break;
        }
        on_event_word(stream, words, from, i);
        i += 1 + operands;
        from = i;
    }
    carry_on(stream, words, from, i);
    *done = i;
    return status;
}

void as_stream_finish(struct as_stream *stream)
{
    as_ways_report(stream);
    if (!stream->regions->over)
        finish_block(stream, stream->carry.data, stream->carry.len, &(struct as_ending){0});
    as_vec_clear(&stream->carry);
}

void as_stream_cut(struct as_stream *stream, bool ends)
{
    if (ends && stream->sink->cut && stream->left && stream->led)
        stream->sink->cut(stream->context, &stream->thread, stream->left, stream->led);
    stream->left = NULL;
}

void as_stream_free(struct as_stream *stream)
{
    as_vec_free(&stream->carry);
    as_vec_free(&stream->ways);
    as_vec_free(&stream->counted);
    as_vec_free(&stream->hops);
    as_vec_free(&stream->interrupted_reps);
}
