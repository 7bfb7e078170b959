/* Committed instructions, one record each with the cycle of its commit, as TracerV writes them: as CSV, and as binary
 * records of 16 bytes (doc/format/traces.md).
 *
 * Both are written at the speed of the core model, so nothing is formatted twice: the text of an instruction's address
 * is stored by its id, of the cycle's digits only the last changes from one record to the next, and records of an edge
 * are stored as they are but for the cycle that they count from.
 */
#include "observe/trace_format.h"

#include "base/vec.h"

#include <inttypes.h>
#include <string.h>

enum { BUFFER = 1 << 16, DIGITS = 20, TAIL = 24, LONGEST = DIGITS + TAIL, TOGETHER = 64 };

struct commits {
    struct as_trace_target target;
    uint64_t base, last; /* cycles of programs before this one; the last commit */
    size_t n;            /* bytes in the buffer */
    union {
        char text[BUFFER + TOGETHER * LONGEST];
        uint64_t words[BUFFER / 8 + 2];
    };
};

static void flush(struct commits *self)
{
    fwrite(self->text, 1, self->n, self->target.out);
    self->n = 0;
}

static void next_program(struct commits *self)
{
    self->base += self->last;
    self->last = 0;
    flush(self);
}

/* ---- CSV ---- */

/* ",0x401000\n", padded to be copied whole. Of an edge's record, also the cycle of its commit, from that of the run. */
struct tail {
    char text[TAIL];
    uint32_t length; /* 0: not made yet */
    int32_t commit;
};

struct edge_tails {
    const struct as_edge *edge; /* NULL: not made yet */
    size_t first;
};

struct csv {
    struct commits commits;
    AS_VEC(struct tail) tails;       /* by instruction id */
    AS_VEC(struct edge_tails) edges; /* by number */
    AS_VEC(struct tail) of_edges;    /* of their records */
    uint64_t tens;                   /* the value of `digits` */
    uint32_t first; /* of the digits, which end at DIGITS; behind them there is room to be copied with them */
    char digits[DIGITS + TAIL];
};

/* The digits of a cycle whose last digit is 0. Mostly it is the next such cycle, of which one digit differs. */
static __attribute__((noinline)) void set_digits(struct csv *self, uint64_t tens)
{
    bool next = tens == self->tens + 10 && self->first < DIGITS - 1 && self->digits[DIGITS - 2] < '9';
    self->tens = tens;
    if (next) {
        self->digits[DIGITS - 2]++;
        return;
    }
    self->first = DIGITS;
    do
        self->digits[--self->first] = (char)('0' + tens % 10);
    while (tens /= 10);
}

static __attribute__((noinline)) const struct tail *make_tail(struct csv *self, uint32_t insn)
{
    while (self->tails.len <= insn)
        *as_vec_push(&self->tails) = (struct tail){0};
    struct tail *tail = &self->tails.data[insn];
    tail->length = (uint32_t)snprintf(tail->text, sizeof tail->text, ",0x%" PRIx64 "\n",
                                      as_trace_address(self->commits.target.run, insn));
    return tail;
}

static inline const struct tail *tail_of(struct csv *self, uint32_t insn)
{
    if (__builtin_expect(insn < self->tails.len && self->tails.data[insn].length, 1))
        return &self->tails.data[insn];
    return make_tail(self, insn);
}

static void *start_csv(const struct as_trace_target *target)
{
    struct csv *self = as_alloc(sizeof *self);
    self->commits.target = *target;
    self->first = DIGITS;
    set_digits(self, 0);
    fputs("cycle,address\n", target->out);
    return self;
}

/* Writes a record; returns where the next one goes. */
static inline char *put_csv(struct csv *self, char *to, const struct tail *tail, uint64_t cycle)
{
    if (__builtin_expect(cycle - self->tens >= 10, 0))
        set_digits(self, cycle - cycle % 10);
    uint32_t length = DIGITS - self->first;
    memcpy(to, self->digits + self->first, 16); /* more than the digits, but of a size that is known */
    if (__builtin_expect(length > 16, 0))
        memcpy(to + 16, self->digits + self->first + 16, DIGITS - 16);
    to[length - 1] = (char)('0' + (cycle - self->tens));
    memcpy(to + length, tail->text, TAIL);
    return to + length + tail->length;
}

/* What is in the buffer after at most TOGETHER records. */
static inline void put_up_to(struct commits *commits, const char *end)
{
    commits->n = (size_t)(end - commits->text);
    if (commits->n >= BUFFER)
        flush(commits);
}

static void add_csv(void *opaque, const struct as_pipe *pipes, size_t n)
{
    struct csv *self = opaque;
    struct commits *commits = &self->commits;
    for (size_t i = 0; i < n; i++)
        put_up_to(commits, put_csv(self, commits->text + commits->n, tail_of(self, pipes[i].insn),
                                   commits->base + pipes[i].commit));
    commits->last = pipes[n - 1].commit;
}

static __attribute__((noinline)) const struct tail *make_edge_tails(struct csv *self, const struct as_edge *edge)
{
    while (self->edges.len <= edge->number)
        *as_vec_push(&self->edges) = (struct edge_tails){0};
    self->edges.data[edge->number] = (struct edge_tails){edge, self->of_edges.len};
    for (uint32_t i = 0; i < edge->n; i++) {
        struct tail tail = *tail_of(self, edge->records[i].insn);
        tail.commit = edge->records[i].commit;
        *as_vec_push(&self->of_edges) = tail;
    }
    return self->of_edges.data + self->edges.data[edge->number].first;
}

static inline const struct tail *edge_tails_of(struct csv *self, const struct as_edge *edge)
{
    if (__builtin_expect(edge->number < self->edges.len && self->edges.data[edge->number].edge == edge, 1))
        return self->of_edges.data + self->edges.data[edge->number].first;
    return make_edge_tails(self, edge);
}

static void add_edge_csv(void *opaque, const struct as_edge_run *run)
{
    struct csv *self = opaque;
    struct commits *commits = &self->commits;
    const struct tail *tails = edge_tails_of(self, run->edge);
    uint64_t base = commits->base + run->base;
    for (uint32_t i = 0; i < run->n;) {
        char *to = commits->text + commits->n;
        for (uint32_t end = run->n - i < TOGETHER ? run->n : i + TOGETHER; i < end; i++)
            to = put_csv(self, to, &tails[i], base + (uint64_t)(int64_t)tails[i].commit);
        put_up_to(commits, to);
    }
    commits->last = run->base + (uint64_t)(int64_t)tails[run->n - 1].commit;
}

static void forget_csv(void *opaque)
{
    struct csv *self = opaque;
    as_vec_clear(&self->edges);
    as_vec_clear(&self->of_edges);
}

static void end_csv(void *opaque)
{
    next_program(&((struct csv *)opaque)->commits);
}

static void free_csv(void *opaque)
{
    struct csv *self = opaque;
    as_vec_free(&self->tails);
    as_vec_free(&self->edges);
    as_vec_free(&self->of_edges);
    free(self);
}

const struct as_trace_format as_trace_commit_csv = {.name = "commit-csv",
                                                    .start = start_csv,
                                                    .add = add_csv,
                                                    .add_edge = add_edge_csv,
                                                    .forget = forget_csv,
                                                    .end = end_csv,
                                                    .free = free_csv};

/* ---- binary ---- */

typedef uint64_t binary_record __attribute__((vector_size(16), aligned(8))); /* the cycle, and the address */

struct edge_records {
    const struct as_edge *edge; /* NULL: not made yet */
    size_t first;
};

struct binary {
    struct commits commits;
    AS_VEC(uint64_t) addresses;        /* by instruction id; 0: not asked for yet */
    AS_VEC(struct edge_records) edges; /* by number */
    AS_VEC(binary_record) records;     /* of edges, their cycles counted from that of the run */
};

static uint64_t to_little_endian(uint64_t value)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    return value;
}

static void *start_binary(const struct as_trace_target *target)
{
    struct binary *self = as_alloc(sizeof *self);
    self->commits.target = *target;
    static const char magic[8] = "ASSAYCMT";
    const uint64_t version_and_size = to_little_endian(1 | UINT64_C(16) << 32);
    fwrite(magic, sizeof magic, 1, target->out);
    fwrite(&version_and_size, sizeof version_and_size, 1, target->out);
    return self;
}

static inline uint64_t address_of(struct binary *self, uint32_t insn)
{
    while (__builtin_expect(self->addresses.len <= insn, 0))
        *as_vec_push(&self->addresses) = 0;
    uint64_t *address = &self->addresses.data[insn];
    if (__builtin_expect(*address == 0, 0))
        *address = to_little_endian(as_trace_address(self->commits.target.run, insn));
    return *address;
}

static inline void write_binary(struct binary *self, uint32_t insn, uint64_t cycle)
{
    struct commits *commits = &self->commits;
    uint64_t *to = commits->words + commits->n / 8;
    to[0] = to_little_endian(cycle);
    to[1] = address_of(self, insn);
    commits->n += 16;
    if (commits->n >= BUFFER)
        flush(commits);
}

static void add_binary(void *opaque, const struct as_pipe *pipes, size_t n)
{
    struct binary *self = opaque;
    for (size_t i = 0; i < n; i++)
        write_binary(self, pipes[i].insn, self->commits.base + pipes[i].commit);
    self->commits.last = pipes[n - 1].commit;
}

static __attribute__((noinline)) const binary_record *make_records(struct binary *self, const struct as_edge *edge)
{
    while (self->edges.len <= edge->number)
        *as_vec_push(&self->edges) = (struct edge_records){0};
    self->edges.data[edge->number] = (struct edge_records){edge, self->records.len};
    for (uint32_t i = 0; i < edge->n; i++)
        *as_vec_push(&self->records) =
            (binary_record){(uint64_t)(int64_t)edge->records[i].commit,
                            as_trace_address(self->commits.target.run, edge->records[i].insn)};
    return self->records.data + self->edges.data[edge->number].first;
}

static inline const binary_record *records_of(struct binary *self, const struct as_edge *edge)
{
    if (__builtin_expect(edge->number < self->edges.len && self->edges.data[edge->number].edge == edge, 1))
        return self->records.data + self->edges.data[edge->number].first;
    return make_records(self, edge);
}

static void add_edge_binary(void *opaque, const struct as_edge_run *run)
{
    struct binary *self = opaque;
    struct commits *commits = &self->commits;
    const binary_record *records = records_of(self, run->edge), base = {commits->base + run->base, 0};
    for (uint32_t i = 0; i < run->n; i++) {
        binary_record *to = (binary_record *)(commits->words + commits->n / 8), record = records[i] + base;
        *to = (binary_record){to_little_endian(record[0]), to_little_endian(record[1])};
        commits->n += sizeof *to;
        if (commits->n >= BUFFER)
            flush(commits);
    }
    commits->last = run->base + records[run->n - 1][0];
}

static void forget_binary(void *opaque)
{
    struct binary *self = opaque;
    as_vec_clear(&self->edges);
    as_vec_clear(&self->records);
}

static void end_binary(void *opaque)
{
    next_program(&((struct binary *)opaque)->commits);
}

static void free_binary(void *opaque)
{
    struct binary *self = opaque;
    as_vec_free(&self->addresses);
    as_vec_free(&self->edges);
    as_vec_free(&self->records);
    free(self);
}

const struct as_trace_format as_trace_commit_binary = {.name = "commit-trace",
                                                       .start = start_binary,
                                                       .add = add_binary,
                                                       .add_edge = add_edge_binary,
                                                       .forget = forget_binary,
                                                       .end = end_binary,
                                                       .free = free_binary};
