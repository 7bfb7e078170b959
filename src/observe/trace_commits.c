/* Committed instructions, one record each with the cycle of its commit, as TracerV writes them: as CSV, and as binary
 * records of 16 bytes (doc/format/traces.md).
 *
 * Both are written at the speed of the core model, so nothing is formatted twice: the text of an instruction's address
 * is stored by its id, of the cycle's digits only the last changes from one record to the next, and records of an edge
 * are stored as they are but for the cycle that they count from.
 */
#include "observe/trace_format.h"

#include "base/vec.h"
#include "observe/digits.h"

#include <inttypes.h>
#include <string.h>

enum { BUFFER = 1 << 16, DIGITS = 20, TAIL = 24, LONGEST = DIGITS + TAIL, TOGETHER = 64, PIECE = 64 };

struct commits {
    struct as_trace_target target;
    uint64_t base, last; /* cycles of programs before this one; the last commit */
    size_t n;            /* bytes in the buffer */
    union {
        char text[BUFFER + TOGETHER * LONGEST + PIECE];
        uint64_t words[BUFFER / 8 + 2 * TOGETHER];
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

/* ",0x401000\n", padded to be copied whole. */
struct tail {
    char text[TAIL];
    uint32_t length; /* 0: not made yet */
};

enum { FOUR = AS_FOUR_DIGITS }; /* cycles that differ in their last four digits alone: an age */

/* The records of an edge as they were written last. Only their last four digits change while the age is the same. */
struct edge_text {
    const struct as_edge *edge; /* NULL: not made yet */
    size_t text, spots;         /* where they begin in `texts` and `spots` */
    uint64_t age;               /* of its digits: cycle / FOUR; 0: of none */
    int32_t first;              /* commit of its first record, from that of the run */
    uint32_t room;              /* the first may be this far behind an age's begin, so that all are in it */
    uint32_t n, size;           /* records; bytes of the text */
};

/* A record in such a text: where its last four digits are, and its commit, from that of the run. */
struct digits {
    uint32_t at;
    int32_t commit;
};

struct csv {
    struct commits commits;
    AS_VEC(struct tail) tails;      /* by instruction id */
    AS_VEC(struct edge_text) edges; /* by number */
    AS_VEC(char) texts;             /* room for LONGEST bytes for each record, and PIECE */
    AS_VEC(struct digits) spots;
    uint64_t age, start; /* the last run's, and its first cycle */
    char above[DIGITS];  /* its digits: those of all of its cycles but the last four */
    uint32_t n_above;
    uint64_t tens;  /* the value of `digits` */
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

static inline void write_csv(struct csv *self, uint32_t insn, uint64_t cycle)
{
    struct commits *commits = &self->commits;
    const char *end = put_csv(self, commits->text + commits->n, tail_of(self, insn), cycle);
    commits->n = (size_t)(end - commits->text);
    if (commits->n >= BUFFER)
        flush(commits);
}

static void add_csv(void *opaque, const struct as_pipe *pipes, size_t n)
{
    struct csv *self = opaque;
    for (size_t i = 0; i < n; i++)
        write_csv(self, pipes[i].insn, self->commits.base + pipes[i].commit);
    self->commits.last = pipes[n - 1].commit;
}

/* ---- CSV of edges ---- */

/* Writes the records with the digits of the age, whatever their last four. */
static void write_text(struct csv *self, struct edge_text *of)
{
    char *text = self->texts.data + of->text, *to = text;
    struct digits *spots = self->spots.data + of->spots;
    for (uint32_t i = 0; i < of->n; i++) {
        const struct tail *tail = tail_of(self, of->edge->records[i].insn);
        memcpy(to, self->above, sizeof self->above);
        to += self->n_above;
        spots[i].at = (uint32_t)(to - text);
        memcpy(to + 4, tail->text, TAIL);
        to += 4 + tail->length;
    }
    of->size = (uint32_t)(to - text);
    of->age = self->age;
}

static __attribute__((noinline)) struct edge_text *make_edge_text(struct csv *self, const struct as_edge *edge)
{
    while (self->edges.len <= edge->number)
        *as_vec_push(&self->edges) = (struct edge_text){0};
    struct edge_text *of = &self->edges.data[edge->number];
    uint32_t span = (uint32_t)(edge->committed - edge->records[0].commit);
    *of = (struct edge_text){.edge = edge,
                             .text = self->texts.len,
                             .spots = self->spots.len,
                             .first = edge->records[0].commit,
                             .room = span < FOUR && edge->n <= TOGETHER ? FOUR - span : 0,
                             .n = edge->n};
    for (uint32_t i = 0; i < edge->n; i++)
        *as_vec_push(&self->spots) = (struct digits){.commit = edge->records[i].commit};
    size_t room = of->text + edge->n * LONGEST + PIECE;
    as_vec_reserve((void **)&self->texts.data, &self->texts.cap, room, 1);
    self->texts.len = room;
    return of;
}

/* The slow way: edges of many records, or in two ages, or in the first. */
static __attribute__((noinline)) void add_records_csv(struct csv *self, const struct as_edge_run *run)
{
    for (uint32_t i = 0; i < run->n; i++)
        write_csv(self, run->edge->records[i].insn,
                  self->commits.base + run->base + (uint64_t)(int64_t)run->edge->records[i].commit);
}

/* Makes the text one of the age that cycle `first` is in. False: there is none. */
static __attribute__((noinline)) bool change_age(struct csv *self, struct edge_text *of, uint64_t first)
{
    if (first / FOUR != self->age) {
        self->age = first / FOUR;
        self->start = self->age * FOUR;
        char digits[DIGITS + 1];
        self->n_above = (uint32_t)snprintf(digits, sizeof digits, "%" PRIu64, self->age);
        memcpy(self->above, digits, sizeof self->above);
    }
    if (self->age == 0 || first - self->start >= of->room)
        return false;
    if (of->age != self->age)
        write_text(self, of);
    return true;
}

/* Copies a text, and more than that, in pieces of a size that is known. */
static inline void copy_pieces(char *restrict to, const char *restrict from, uint32_t size)
{
    for (const char *end = from + size; from < end; from += PIECE, to += PIECE)
        memcpy(to, from, PIECE);
}

static inline void add_edge_csv(struct csv *self, const struct as_edge_run *run)
{
    const struct as_edge *edge = run->edge;
    struct commits *commits = &self->commits;
    struct edge_text *of = edge->number < self->edges.len ? &self->edges.data[edge->number] : NULL;
    if (__builtin_expect(!of || of->edge != edge, 0))
        of = make_edge_text(self, edge);
    uint64_t base = commits->base + run->base, first = base + (uint64_t)(int64_t)of->first;
    bool same = of->age == self->age && first - self->start < of->room && of->age;
    if (__builtin_expect(!same, 0) && !change_age(self, of, first)) {
        add_records_csv(self, run);
        return;
    }
    char *to = commits->text + commits->n;
    const struct digits *spots = self->spots.data + of->spots, *end = spots + of->n;
    const char(*fours)[4] = as_four_digits + (int64_t)(base - self->start);
    copy_pieces(to, self->texts.data + of->text, of->size);
#pragma GCC unroll 4
    for (; spots < end; spots++)
        memcpy(to + spots->at, fours + spots->commit, 4);
    commits->n += of->size;
    if (__builtin_expect(commits->n >= BUFFER, 0))
        flush(commits);
}

static void add_edges_csv(void *opaque, const struct as_edge_batch *batch)
{
    struct csv *self = opaque;
    for (size_t i = 0; i < batch->n_runs; i++) {
        const struct as_edge_run *run = &batch->runs[i];
        if (run->edge)
            add_edge_csv(self, run);
        else
            add_csv(self, &batch->pipes[run->first], run->n);
    }
    self->commits.last = as_edge_run_commit(batch, &batch->runs[batch->n_runs - 1]);
}

static void forget_csv(void *opaque)
{
    struct csv *self = opaque;
    as_vec_clear(&self->edges);
    as_vec_clear(&self->texts);
    as_vec_clear(&self->spots);
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
    as_vec_free(&self->texts);
    as_vec_free(&self->spots);
    free(self);
}

const struct as_trace_format as_trace_commit_csv = {.name = "commit-csv",
                                                    .start = start_csv,
                                                    .add = add_csv,
                                                    .add_edges = add_edges_csv,
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

static inline binary_record in_file_order(binary_record record)
{
    return (binary_record){to_little_endian(record[0]), to_little_endian(record[1])};
}

static inline void add_edge_binary(struct binary *self, const struct as_edge_run *run)
{
    struct commits *commits = &self->commits;
    const binary_record *records = records_of(self, run->edge), base = {commits->base + run->base, 0};
    for (uint32_t i = 0; i < run->n;) {
        binary_record *to = (binary_record *)(commits->words + commits->n / 8);
        uint32_t end = run->n - i < TOGETHER ? run->n : i + TOGETHER;
        commits->n += (end - i) * sizeof *to;
        for (; i < end; i++)
            *to++ = in_file_order(records[i] + base);
        if (__builtin_expect(commits->n >= BUFFER, 0))
            flush(commits);
    }
}

static void add_edges_binary(void *opaque, const struct as_edge_batch *batch)
{
    struct binary *self = opaque;
    for (size_t i = 0; i < batch->n_runs; i++) {
        const struct as_edge_run *run = &batch->runs[i];
        if (run->edge)
            add_edge_binary(self, run);
        else
            add_binary(self, &batch->pipes[run->first], run->n);
    }
    self->commits.last = as_edge_run_commit(batch, &batch->runs[batch->n_runs - 1]);
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
                                                       .add_edges = add_edges_binary,
                                                       .forget = forget_binary,
                                                       .end = end_binary,
                                                       .free = free_binary};
