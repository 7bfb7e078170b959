/* Cycle tokens: the commit stage, 64 bytes for each cycle in which it changes, or for each cycle (doc/format/traces.md has
 * the layout, and what each of the two is good for).
 *
 * Records wait in a queue from the one at the head of the ROB to the first that is not dispatched yet, because only
 * then is the content of the ROB in a cycle known. Cycles are visited in order, but without tokens for all only those in
 * which something can change: commits, the cycle after each, and dispatches close to the head.
 *
 * Entries are instructions. If more instructions commit in a cycle than a token has entries for, the cycle takes
 * several tokens. Records do not contain wrong-path instructions or the instructions after the first try of an
 * instruction, so neither do the tokens.
 */
#include "observe/trace_format.h"

#include "base/vec.h"

enum { TOKEN = 64, ENTRIES = 5 };
enum flag {
    COMMITTING = 1 << 0,
    VALID = 1 << 1, /* the head of the ROB is an instruction */
    READY = 1 << 2, /* there is room for another dispatch group */
    EMPTY = 1 << 3,
    DISPATCHING = 1 << 4,
    ROLLING_BACK = 1 << 5, /* empty because of a misprediction, a flush or an exception */
    EXCEPTION = 1 << 6,    /* the instruction at the head raised it in this cycle */
    CSR_STALL = 1 << 7,    /* the instruction at the head blocks all dispatch */
};
enum entry_flag {
    ENTRY_COMMITTING = 1 << 0,
    ENTRY_VALID = 1 << 1,
    ENTRY_MISPREDICTED = 1 << 2,
    ENTRY_FLUSHES = 1 << 3,
    ENTRY_CONTINUES = 1 << 4, /* a further iteration of a rep instruction, not an instruction of its own */
};

struct token {
    uint64_t cycle;
    uint8_t flags, committed, valid; /* counts of entries */
    uint64_t entries[ENTRIES];
};

/* A position in the queue and the number of micro-operations of the thread before it: an index into the ROB. */
struct cursor {
    size_t at;
    uint64_t uops;
};

struct cycles {
    struct as_trace_target target;
    bool all;   /* a token for each cycle, as the tools of TIP's authors read them */
    bool begun; /* all: the token before the first cycle is written */
    AS_VEC(struct as_pipe) queue;
    struct cursor head; /* the oldest that has not committed before `now` */
    struct cursor tail; /* the first that is not dispatched */
    struct cursor open; /* the oldest in the ROB that is not finished: all older ones can no longer fail */
    uint64_t now;       /* the last cycle that was visited */
    uint64_t base;      /* cycles of programs before this one */
    bool troubled;      /* the last commit mispredicted or flushed */
    struct token last;  /* written */
};

static void *start(const struct as_trace_target *target)
{
    struct cycles *self = as_alloc(sizeof *self);
    self->target = *target;
    return self;
}

static void *start_all(const struct as_trace_target *target)
{
    struct cycles *self = start(target);
    self->all = true;
    return self;
}

static void release(void *opaque)
{
    struct cycles *self = opaque;
    as_vec_free(&self->queue);
    free(self);
}

/* ---- tokens ---- */

static void put(uint8_t *to, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static void write_token(struct cycles *self, const struct token *token)
{
    uint8_t bytes[TOKEN];
    uint32_t rob = self->target.run->rob ? self->target.run->rob : 1;
    put(bytes, self->base + token->cycle + self->all, 8);
    put(bytes + 8, token->cycle, 8);
    bytes[16] = token->flags;
    bytes[17] = (uint8_t)(token->committed | token->valid << 4);
    put(bytes + 18, self->head.uops % rob, 2);
    put(bytes + 20, self->open.uops % rob, 2);
    put(bytes + 22, self->tail.uops % rob, 2);
    for (int i = 0; i < ENTRIES; i++)
        put(bytes + 24 + 8 * i, token->entries[i], 8);
    fwrite(bytes, sizeof bytes, 1, self->target.out);
    self->last = *token;
}

/* The flags for what follows the instruction. */
static uint64_t trouble_of(const struct as_pipe *pipe)
{
    return (pipe->flags & AS_PIPE_MISPREDICTED ? ENTRY_MISPREDICTED : 0) |
           (pipe->flags & AS_PIPE_FLUSHES ? ENTRY_FLUSHES : 0);
}

static void add_entry(struct cycles *self, struct token *token, const struct as_pipe *pipe, bool commits)
{
    uint64_t address = as_trace_address(self->target.run, pipe->insn);
    token->entries[token->valid++] = address << 8 | trouble_of(pipe) | ENTRY_VALID | (commits ? ENTRY_COMMITTING : 0) |
                                     (pipe->flags & AS_PIPE_CONTINUES ? ENTRY_CONTINUES : 0);
    token->committed += commits;
}

static bool in_rob(const struct as_pipe *pipe, uint64_t cycle)
{
    struct as_tries tries = as_tries_of(pipe);
    return cycle >= pipe->dispatch || (cycle >= tries.first && cycle < tries.fault);
}

/* A further iteration of a rep instruction in the same cycle is the same entry. */
static bool same_entry(const struct as_pipe *before, const struct as_pipe *pipe)
{
    return pipe->flags & AS_PIPE_CONTINUES && pipe->insn == before->insn;
}

/* Adds the entries that commit in this cycle, in as many tokens as necessary; the last one is left to the caller.
 * Returns the position after them. */
static size_t add_committing(struct cycles *self, struct token *token)
{
    const struct as_pipe *pipes = self->queue.data;
    size_t at = self->head.at;
    for (; at < self->queue.len && pipes[at].commit == token->cycle; at++) {
        if (at > self->head.at && same_entry(&pipes[at - 1], &pipes[at])) {
            token->entries[token->valid - 1] |= trouble_of(&pipes[at]);
            continue;
        }
        if (token->valid == ENTRIES) {
            write_token(self, token);
            *token = (struct token){.cycle = token->cycle, .flags = token->flags};
        }
        add_entry(self, token, &pipes[at], true);
    }
    return at;
}

/* Whether the ROB is empty because of the first try of `head`. */
static bool excepted(const struct as_pipe *head, uint64_t cycle)
{
    return cycle >= as_tries_of(head).fault && cycle < head->dispatch;
}

static uint8_t empty_flags(const struct cycles *self, const struct as_pipe *head, uint64_t cycle)
{
    return EMPTY | (excepted(head, cycle) || self->troubled ? ROLLING_BACK : 0);
}

static uint8_t flags_of(const struct cycles *self, const struct as_pipe *head, uint64_t cycle)
{
    const struct as_run_info *run = self->target.run;
    uint64_t used = self->tail.uops - self->head.uops;
    uint8_t flags = used + run->dispatch_width <= run->rob ? READY : 0;
    if (self->tail.at > self->head.at && self->queue.data[self->tail.at - 1].dispatch == cycle)
        flags |= DISPATCHING;
    if (head->commit == cycle)
        return flags | COMMITTING | VALID;
    struct as_tries tries = as_tries_of(head);
    if (cycle == tries.fault && cycle < head->dispatch)
        return flags | EXCEPTION | VALID;
    if (!in_rob(head, cycle))
        return flags | empty_flags(self, head, cycle);
    return flags | VALID | (head->flags & AS_PIPE_SERIALISED ? CSR_STALL : 0);
}

/* Whether the token differs from the last in the commit stage. */
static bool changes(const struct token *last, const struct token *token)
{
    const uint8_t beside = READY | DISPATCHING;
    return (token->flags & COMMITTING) || (token->flags & ~beside) != (last->flags & ~beside) ||
           memcmp(token->entries, last->entries, sizeof token->entries) != 0 || last->cycle == 0;
}

/* A file of all cycles is for readers that give the time of an empty ROB to the oldest entry of the last token with
 * commits that mispredicted or flushes; without such an entry, and for cycles without a token, to the next instruction
 * in the ROB. This leaves out the cycles of an empty ROB that such a reader would give to the wrong instruction. */
static bool readable(const struct cycles *self, const struct as_pipe *head, const struct token *token)
{
    bool before_first = self->base > 0 && self->last.cycle == 0; /* the last commit is that of another program */
    return token->flags & VALID || !(before_first || excepted(head, token->cycle));
}

/* For the same readers: if the ROB is empty behind this cycle's commits, their last one is to blame or nobody. */
static void clear_trouble(struct token *token)
{
    for (int i = 0; i + 1 < token->committed; i++)
        token->entries[i] &= ~(uint64_t)(ENTRY_MISPREDICTED | ENTRY_FLUSHES);
}

static void look(struct cycles *self)
{
    const struct as_pipe *pipes = self->queue.data, *head = &pipes[self->head.at];
    struct token token = {.cycle = self->now, .flags = flags_of(self, head, self->now)};
    size_t at = add_committing(self, &token);
    if (self->all && at < self->queue.len && !in_rob(&pipes[at], self->now + 1))
        clear_trouble(&token);
    if (token.flags & EXCEPTION)
        add_entry(self, &token, head, false);
    else if (token.flags & VALID)
        for (; at < self->queue.len && token.valid < ENTRIES && in_rob(&pipes[at], self->now); at++)
            add_entry(self, &token, &pipes[at], false);
    if (self->all ? readable(self, head, &token) : changes(&self->last, &token))
        write_token(self, &token);
}

/* ---- time ---- */

static void pass(const struct cycles *self, struct cursor *cursor)
{
    cursor->uops += self->queue.data[cursor->at++].uops;
}

static void advance(struct cycles *self, uint64_t cycle)
{
    const struct as_pipe *pipes = self->queue.data;
    self->now = cycle;
    while (self->tail.at < self->queue.len && pipes[self->tail.at].dispatch <= cycle)
        pass(self, &self->tail);
    while (self->open.at < self->tail.at && pipes[self->open.at].done <= cycle)
        pass(self, &self->open);
    while (self->head.at < self->tail.at && pipes[self->head.at].commit < cycle) {
        self->troubled = as_state_behind(&pipes[self->head.at]) != AS_STATE_DRAINED;
        pass(self, &self->head);
    }
}

static void consider(uint64_t *next, uint64_t now, uint64_t cycle)
{
    if (cycle > now && cycle < *next)
        *next = cycle;
}

/* The next cycle in which the commit stage can change, as far as the queue shows. */
static uint64_t next_cycle(const struct cycles *self)
{
    uint64_t next = UINT64_MAX, now = self->now;
    if (now == 0 || self->head.at == self->queue.len || self->queue.data[self->head.at].commit == now)
        return now + 1;
    if (self->all && !excepted(&self->queue.data[self->head.at], now))
        return now + 1;
    for (size_t i = 0; i < ENTRIES && self->head.at + i < self->queue.len; i++) {
        const struct as_pipe *pipe = &self->queue.data[self->head.at + i];
        struct as_tries tries = as_tries_of(pipe);
        consider(&next, now, tries.first);
        consider(&next, now, tries.fault);
        consider(&next, now, tries.fault + 1);
        consider(&next, now, pipe->dispatch);
    }
    consider(&next, now, self->queue.data[self->head.at].commit);
    return next;
}

/* Drops what has committed. */
static void forget(struct cycles *self)
{
    size_t gone = self->head.at;
    memmove(self->queue.data, self->queue.data + gone, (self->queue.len - gone) * sizeof *self->queue.data);
    self->queue.len -= gone;
    self->head.at -= gone;
    self->tail.at -= gone;
    self->open.at -= gone;
}

/* Visits all cycles for which the content of the ROB is known. */
static void go_on(struct cycles *self, bool ended)
{
    while (self->queue.len > 0) {
        uint64_t cycle = next_cycle(self);
        if (!ended && self->queue.data[self->queue.len - 1].dispatch <= cycle)
            break;
        advance(self, cycle);
        if (self->head.at == self->queue.len)
            break;
        look(self);
    }
    if (self->queue.len > 0)
        forget(self);
}

/* The cycle before the first: readers of files of all cycles start to count at their first token. */
static void begin(struct cycles *self)
{
    struct token token = {.flags = EMPTY | READY};
    if (self->all && !self->begun)
        write_token(self, &token);
    self->begun = true;
}

static void add(void *opaque, const struct as_pipe *pipes, size_t n)
{
    struct cycles *self = opaque;
    begin(self);
    for (size_t i = 0; i < n; i++)
        *as_vec_push(&self->queue) = pipes[i];
    go_on(self, false);
}

static void end(void *opaque)
{
    struct cycles *self = opaque;
    uint64_t last = self->queue.len ? self->queue.data[self->queue.len - 1].commit : 0;
    go_on(self, true);
    self->base += last;
    self->now = 0;
    self->troubled = false;
    self->last = (struct token){0};
}

const struct as_trace_format as_trace_cycles = {
    .name = "cycle", .start = start, .add = add, .end = end, .free = release};
const struct as_trace_format as_trace_all_cycles = {
    .name = "all-cycle", .start = start_all, .add = add, .end = end, .free = release};
