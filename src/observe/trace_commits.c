/* Committed instructions, one record each with the cycle of its commit, as TracerV writes them: as CSV, and as binary
 * records of 16 bytes (doc/format/traces.md).
 *
 * Both are written at the speed of the core model, so nothing is formatted twice: the text of an instruction's address
 * is stored by its id, of the cycle's digits only the last changes from one record to the next, and records of an edge
 * are stored as they are but for their cycles.
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

enum {
    MOST_ABOVE = 8,
    NO_TEXT = 255,
    FOUR = AS_FOUR_DIGITS
}; /* cycles that differ in their last four digits alone: an age */

/* A record in the text of an edge: where its last four digits are, and four times its commit, from that of the first. */
struct digits {
    uint16_t at, commit;
};

/* The records of an edge, with room for cycles of so many digits. The spots of the last four digits come in pairs: the last
 * record has two of them if need be. Text follows them. */
struct edge_text {
    const struct as_edge *edge; /* NULL: not made yet */
    struct digits *spots;
    char *text;         /* LONGEST bytes for each record, and PIECE */
    int64_t offset;     /* from the run's base to the first record's commit */
    uint64_t room;      /* how far that may be behind the age's begin, so that all records are in the age */
    uint32_t size;      /* bytes of the text */
    uint32_t n_above;   /* digits of an age that it has room for; NO_TEXT: there is none yet */
    uint64_t unused[2]; /* makes its size a power of two */
};

struct csv {
    struct commits commits;
    AS_VEC(struct tail) tails;      /* by instruction id */
    AS_VEC(struct edge_text) edges; /* by number */
    uint64_t age, begin;            /* the last run's, and its first cycle */
    char above[DIGITS];             /* its digits: those of all of its cycles but the last four */
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

static uint32_t count_spots(const struct edge_text *of)
{
    return of->edge->n + of->edge->n % 2;
}

/* Writes the records without the digits of their cycles. */
static void write_text(struct csv *self, struct edge_text *of)
{
    char *to = of->text;
    for (uint32_t i = 0; i < of->edge->n; i++) {
        const struct tail *tail = tail_of(self, of->edge->records[i].insn);
        to += self->n_above;
        of->spots[i].at = (uint16_t)(to - of->text);
        memcpy(to + 4, tail->text, TAIL);
        to += 4 + tail->length;
    }
    of->spots[count_spots(of) - 1].at = of->spots[of->edge->n - 1].at;
    of->size = (uint32_t)(to - of->text);
    of->n_above = self->n_above;
}

static struct edge_text *make_edge_text(struct csv *self, const struct as_edge *edge)
{
    while (self->edges.len <= edge->number)
        *as_vec_push(&self->edges) = (struct edge_text){0};
    struct edge_text *of = &self->edges.data[edge->number];
    int32_t first = edge->records[0].commit, span = edge->committed - first;
    *of = (struct edge_text){.edge = edge, .n_above = NO_TEXT};
    if (span >= FOUR || edge->n > TOGETHER)
        return of;
    size_t n = count_spots(of);
    of->offset = first;
    of->room = FOUR - (uint32_t)span;
    of->spots = as_alloc(n * sizeof *of->spots + edge->n * LONGEST + PIECE);
    of->text = (char *)(of->spots + n);
    for (size_t i = 0; i < n; i++)
        of->spots[i].commit = (uint16_t)(4 * (edge->records[i < edge->n ? i : edge->n - 1].commit - first));
    return of;
}

/* The slow way: edges of many records, or in two ages, or in the first. */
static __attribute__((noinline)) void add_records_csv(struct csv *self, const struct as_edge_run *run)
{
    for (uint32_t i = 0; i < run->n; i++)
        write_csv(self, run->edge->records[i].insn,
                  self->commits.base + run->base + (uint64_t)(int64_t)run->edge->records[i].commit);
}

static void change_age(struct csv *self, uint64_t age)
{
    char digits[DIGITS + 1] = "";
    self->age = age;
    self->begin = age * FOUR;
    self->n_above = age ? (uint32_t)snprintf(digits, sizeof digits, "%" PRIu64, age) : 0;
    memcpy(self->above, digits, sizeof self->above);
}

/* Makes the text of the run's edge one for the age that the run is in. False: there is none. */
static __attribute__((noinline)) bool prepare(struct csv *self, const struct as_edge_run *run)
{
    uint32_t number = run->number;
    struct edge_text *of = number < self->edges.len ? &self->edges.data[number] : NULL;
    if (!of || !of->edge)
        of = make_edge_text(self, run->edge);
    uint64_t first = self->commits.base + run->base + (uint64_t)(int64_t)run->edge->records[0].commit;
    if (first / FOUR != self->age)
        change_age(self, first / FOUR);
    if (self->age == 0 || self->n_above > MOST_ABOVE || first % FOUR >= of->room)
        return false;
    if (of->n_above != self->n_above)
        write_text(self, of);
    return true;
}

/* Copies a text, and more than that, in pieces of a size that is known. */
static inline void copy_pieces(char *restrict to, const char *restrict from, uint32_t size)
{
    const char *end = from + size;
    do {
        memcpy(to, from, PIECE);
        to += PIECE;
        from += PIECE;
    } while (from < end);
}

/* Puts the digits of a cycle in front of `at` and there. What is copied is of a size that is known: the rest of it is where
 * the last four come. */
static inline void put_cycle(char *at, const char *above, uint32_t n_above, bool wide, const char *four)
{
    memcpy(at - n_above, above, wide ? MOST_ABOVE : 4);
    memcpy(at, four, 4);
}

/* Writes runs whose texts are for their age, as far as the buffer goes; returns the first that is left. `wide`: the age has
 * four digits or more. */
static inline __attribute__((always_inline)) const struct as_edge_run *
add_prepared(struct csv *self, const struct as_edge_batch *batch, const struct as_edge_run *run, bool wide)
{
    const struct as_edge_run *end = batch->runs + batch->n_runs;
    struct commits *commits = &self->commits;
    const struct edge_text *edges = self->edges.data;
    const uint64_t n = self->edges.len, shift = commits->base - self->begin;
    const uint32_t n_above = self->n_above;
    char *to = commits->text + commits->n, above[MOST_ABOVE];
    const char *full = commits->text + BUFFER;
    memcpy(above, self->above, sizeof above);
    for (; run < end && run->edge && to < full; run++) {
        uint32_t number = run->number;
        if (__builtin_expect(number >= n, 0))
            break;
        const struct edge_text *of = &edges[number];
        uint64_t behind = run->base + shift + (uint64_t)of->offset;
        if (__builtin_expect(behind >= of->room || of->n_above != n_above, 0))
            break;
        const struct digits *spot = of->spots, *last = (const struct digits *)of->text;
        const char *fours = as_four_digits[behind];
        copy_pieces(to, of->text, of->size);
        do {
            put_cycle(to + spot[0].at, above, n_above, wide, fours + spot[0].commit);
            put_cycle(to + spot[1].at, above, n_above, wide, fours + spot[1].commit);
            spot += 2;
        } while (spot < last);
        to += of->size;
    }
    commits->n = (size_t)(to - commits->text);
    return run;
}

static const struct as_edge_run *add_all_prepared(struct csv *self, const struct as_edge_batch *batch,
                                                  const struct as_edge_run *run)
{
    return self->n_above >= 4 ? add_prepared(self, batch, run, true) : add_prepared(self, batch, run, false);
}

static void add_edges_csv(void *opaque, const struct as_edge_batch *batch)
{
    struct csv *self = opaque;
    const struct as_edge_run *run = batch->runs, *end = run + batch->n_runs;
    while ((run = add_all_prepared(self, batch, run)) < end) {
        if (self->commits.n >= BUFFER) {
            flush(&self->commits);
        } else if (!run->edge) {
            add_csv(self, &batch->pipes[run->first], run->n);
            run++;
        } else if (!prepare(self, run)) {
            add_records_csv(self, run);
            run++;
        }
    }
    self->commits.last = as_edge_batch_commit(batch);
}

static void forget_csv(void *opaque)
{
    struct csv *self = opaque;
    for (size_t i = 0; i < self->edges.len; i++)
        free(self->edges.data[i].spots);
    as_vec_clear(&self->edges);
}

static void end_csv(void *opaque)
{
    next_program(&((struct csv *)opaque)->commits);
}

static void free_csv(void *opaque)
{
    struct csv *self = opaque;
    forget_csv(self);
    as_vec_free(&self->tails);
    as_vec_free(&self->edges);
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

static inline const binary_record *records_of(struct binary *self, const struct as_edge_run *run)
{
    if (__builtin_expect(run->number < self->edges.len && self->edges.data[run->number].edge, 1))
        return self->records.data + self->edges.data[run->number].first;
    return make_records(self, run->edge);
}

static inline binary_record in_file_order(binary_record record)
{
    return (binary_record){to_little_endian(record[0]), to_little_endian(record[1])};
}

static inline void add_edge_binary(struct binary *self, const struct as_edge_run *run)
{
    struct commits *commits = &self->commits;
    const binary_record *records = records_of(self, run), base = {commits->base + run->base, 0};
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
    self->commits.last = as_edge_batch_commit(batch);
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
