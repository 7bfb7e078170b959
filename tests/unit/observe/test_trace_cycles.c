/* The cycle trace as a sampler of others would use it: from the 64 bytes of each token alone, the policies LCI,
 * NCI, NCI+ILP, TIP-ILP and TIP say for every cycle what their definitions (naive.h) say from the records. */
#include "trace_bed.h"

#include "naive.h"

#include <inttypes.h>

enum { RECORDS = 500, TOKENS_MOST = 40000, TOKEN = 64, ENTRIES = 5 };
enum {
    COMMITTING = 1,
    VALID = 2,
    READY = 4,
    EMPTY = 8,
    DISPATCHING = 16,
    ROLLING_BACK = 32,
    EXCEPTION = 64,
    CSR = 128
};

struct token {
    uint64_t cycle, core_cycle;
    unsigned flags, committed, valid, head, open, tail;
    uint64_t entries[ENTRIES];
};

struct trace {
    struct token tokens[TOKENS_MOST];
    size_t n;
};
static struct trace trace_read;
static struct as_pipe pipes[RECORDS], again[RECORDS];

static uint64_t number(const unsigned char *bytes, int n)
{
    return n == 0 ? 0 : bytes[0] | number(bytes + 1, n - 1) << 8;
}

static void read_trace(struct trace *trace, const char *bytes, size_t size)
{
    assert_int_equal(size % TOKEN, 0);
    assert_true(size / TOKEN <= TOKENS_MOST);
    trace->n = size / TOKEN;
    for (size_t i = 0; i < trace->n; i++) {
        const unsigned char *at = (const unsigned char *)bytes + i * TOKEN;
        struct token *token = &trace->tokens[i];
        *token = (struct token){.cycle = number(at, 8),
                                .core_cycle = number(at + 8, 8),
                                .flags = at[16],
                                .committed = at[17] & 15,
                                .valid = at[17] >> 4,
                                .head = (unsigned)number(at + 18, 2),
                                .open = (unsigned)number(at + 20, 2),
                                .tail = (unsigned)number(at + 22, 2)};
        for (int k = 0; k < ENTRIES; k++)
            token->entries[k] = number(at + 24 + 8 * k, 8);
    }
}

/* ---- the policies, from tokens ---- */

struct answer {
    size_t n;
    uint64_t addresses[AS_GROUP_MAX];
};

static struct answer one(uint64_t entry)
{
    return (struct answer){.n = 1, .addresses = {entry >> 8}};
}

/* The entries that commit in the cycle of token `at`, which may have several tokens. */
static struct answer group_at(const struct trace *trace, size_t at)
{
    struct answer group = {0};
    for (size_t i = at; i < trace->n && trace->tokens[i].cycle == trace->tokens[at].cycle; i++)
        for (unsigned k = 0; k < trace->tokens[i].valid; k++)
            if (trace->tokens[i].entries[k] & 1)
                group.addresses[group.n++] = trace->tokens[i].entries[k] >> 8;
    return group;
}

/* The first token of the last cycle up to `cycle` that has any. */
static size_t token_at(const struct trace *trace, uint64_t cycle)
{
    size_t at = 0;
    for (size_t i = 0; i < trace->n && trace->tokens[i].cycle <= cycle; i++)
        if (trace->tokens[i].cycle != trace->tokens[at].cycle)
            at = i;
    return at;
}

static struct answer lci(const struct trace *trace, uint64_t cycle)
{
    struct answer answer = {0};
    for (size_t i = 0; i < trace->n && trace->tokens[i].cycle <= cycle; i++)
        if (trace->tokens[i].committed)
            answer = one(trace->tokens[i].entries[trace->tokens[i].committed - 1]);
    return answer;
}

static struct answer nci_group(const struct trace *trace, uint64_t cycle)
{
    size_t i = 0;
    while (trace->tokens[i].cycle < cycle || !trace->tokens[i].committed)
        i++;
    return group_at(trace, i);
}

/* The ROB is empty: who is to blame. */
static struct answer tip_empty(const struct trace *trace, size_t at)
{
    for (size_t i = at; i-- > 0;) {
        const struct token *token = &trace->tokens[i];
        if (token->flags & EXCEPTION)
            return one(token->entries[0]);
        if (token->committed && token->entries[token->committed - 1] & (4 | 8))
            return one(token->entries[token->committed - 1]);
        if (token->committed)
            break;
    }
    while (!(trace->tokens[at].flags & VALID))
        at++;
    return one(trace->tokens[at].entries[0]);
}

static struct answer tip(const struct trace *trace, uint64_t cycle)
{
    size_t at = token_at(trace, cycle);
    const struct token *token = &trace->tokens[at];
    if (token->flags & COMMITTING) {
        assert_int_equal(token->cycle, cycle); /* the cycle behind a commit has a token of its own */
        return group_at(trace, at);
    }
    return token->flags & VALID ? one(token->entries[0]) : tip_empty(trace, at);
}

static struct answer oldest(struct answer answer)
{
    answer.n = answer.n ? 1 : 0;
    return answer;
}

static struct answer sampled(const char *name, const struct trace *trace, uint64_t cycle)
{
    if (strcmp(name, "lci") == 0)
        return lci(trace, cycle);
    if (strcmp(name, "nci") == 0)
        return oldest(nci_group(trace, cycle));
    if (strcmp(name, "nci+ilp") == 0)
        return nci_group(trace, cycle);
    return strcmp(name, "tip") == 0 ? tip(trace, cycle) : oldest(tip(trace, cycle));
}

/* ---- tests ---- */

static void compare(const char *name, const struct trace *trace, const struct naive_run *run, uint64_t cycle)
{
    struct answer answer = sampled(name, trace, cycle);
    struct naive_answer truth = naive_sampler(name, run, cycle);
    if (answer.n != truth.n)
        fail_msg("%s, cycle %" PRIu64 ": %zu instead of %zu", name, cycle, answer.n, truth.n);
    for (size_t i = 0; i < truth.n; i++)
        if (answer.addresses[i] != bed_address(run->pipes[truth.at[i]].insn))
            fail_msg("%s, cycle %" PRIu64 ", number %zu: %" PRIx64 " instead of %" PRIx64, name, cycle, i,
                     answer.addresses[i], bed_address(run->pipes[truth.at[i]].insn));
}

static void trace_records_as(struct trace_bed *bed, uint64_t seed, uint32_t width, bool fuse,
                             const struct as_trace_format *format)
{
    bed_init(bed, seed, width, fuse);
    pipe_gen_fill(&bed->gen, pipes, RECORDS);
    struct as_trace *trace = bed_trace(bed, format);
    pipe_gen_feed(&bed->gen, &as_trace_observer, trace, 1, pipes, RECORDS, 40);
    bed_finish(bed, trace);
    read_trace(&trace_read, bed->text[1], bed->size[1]);
}

static void trace_records(struct trace_bed *bed, uint64_t seed, uint32_t width, bool fuse)
{
    trace_records_as(bed, seed, width, fuse, &as_trace_cycles);
}

static void test_samplers(void **state)
{
    static const char *const names[] = {"lci", "nci", "nci+ilp", "tip-ilp", "tip"};
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct trace_bed bed;
        trace_records(&bed, seed, 1 + (uint32_t)seed % 8, seed & 1);
        struct naive_run run = {.pipes = pipes, .n = RECORDS, .dispatch_width = bed.gen.width};
        for (uint64_t cycle = 1; cycle <= naive_cycles(&run); cycle++)
            for (int i = 0; i < 5; i++)
                compare(names[i], &trace_read, &run, cycle);
        bed_free(&bed);
    }
}

/* ---- all cycles, as the tools of TIP's authors read them ---- */

/* The oldest entry that mispredicted or flushes of the last cycle with commits before token `at`; of several tokens in one
 * cycle, the last. */
static struct answer to_blame(const struct trace *trace, size_t at)
{
    while (at > 0 && !trace->tokens[at].committed)
        at--;
    for (unsigned k = 0; k < trace->tokens[at].committed; k++)
        if (trace->tokens[at].entries[k] & (4 | 8))
            return one(trace->tokens[at].entries[k]);
    return (struct answer){0};
}

/* Which instructions get the time up to this token; none: the next token's. */
static struct answer charged_at(const struct trace *trace, size_t at)
{
    const struct token *token = &trace->tokens[at];
    if (token->flags & COMMITTING)
        return group_at(trace, at);
    return token->flags & VALID ? one(token->entries[0]) : to_blame(trace, at);
}

static struct answer charged_for(const struct trace *trace, uint64_t cycle)
{
    for (size_t i = 1; i < trace->n; i++) {
        struct answer answer = {0};
        if (trace->tokens[i].core_cycle >= cycle)
            answer = charged_at(trace, i);
        if (answer.n)
            return answer;
    }
    return (struct answer){0};
}

static void check_all_of(const struct naive_run *run)
{
    assert_int_equal(trace_read.tokens[0].cycle, 1);
    assert_int_equal(trace_read.tokens[0].core_cycle, 0);
    assert_true(trace_read.tokens[0].flags & EMPTY);
    for (size_t i = 1; i < trace_read.n; i++)
        assert_int_equal(trace_read.tokens[i].cycle, trace_read.tokens[i].core_cycle + 1);
    for (uint64_t cycle = 1; cycle <= naive_cycles(run); cycle++) {
        struct answer answer = charged_for(&trace_read, cycle);
        struct naive_answer truth = naive_sampler("tip", run, cycle);
        if (answer.n != truth.n)
            fail_msg("cycle %" PRIu64 ": %zu instead of %zu", cycle, answer.n, truth.n);
        for (size_t i = 0; i < truth.n; i++)
            assert_int_equal(answer.addresses[i], bed_address(run->pipes[truth.at[i]].insn));
    }
}

static void test_all_cycles(void **state)
{
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct trace_bed bed;
        trace_records_as(&bed, seed, 1 + (uint32_t)seed % 8, seed & 1, &as_trace_all_cycles);
        struct naive_run run = {.pipes = pipes, .n = RECORDS, .dispatch_width = bed.gen.width};
        check_all_of(&run);
        bed_free(&bed);
    }
}

/* Each iteration of a rep instruction that does not commit in one cycle with the one before counts. */
static size_t entries_of_records(void)
{
    size_t n = 0;
    for (size_t i = 0; i < RECORDS; i++)
        n += !(i > 0 && pipes[i].flags & AS_PIPE_CONTINUES && pipes[i].insn == pipes[i - 1].insn &&
               pipes[i].commit == pipes[i - 1].commit);
    return n;
}

static void check_token(const struct token *token, const struct token *before)
{
    unsigned valid = 0, committing = 0;
    for (int k = 0; k < ENTRIES; k++) {
        assert_int_equal(token->entries[k] & 0xe0, 0);
        valid += (unsigned)(token->entries[k] >> 1) & 1;
        committing += (unsigned)token->entries[k] & 1;
        if (k >= (int)token->valid)
            assert_int_equal(token->entries[k], 0);
    }
    assert_int_equal(valid, token->valid);
    assert_int_equal(committing, token->committed);
    assert_int_equal(!!(token->flags & COMMITTING), committing > 0);
    assert_int_equal(!!(token->flags & VALID), valid > 0);
    assert_int_equal(!!(token->flags & EMPTY), valid == 0);
    if (token->flags & ROLLING_BACK)
        assert_true(token->flags & EMPTY);
    /* Later than the one before, or more of the same full group. */
    assert_true(!before || token->cycle > before->cycle ||
                (token->cycle == before->cycle && before->committed == ENTRIES && token->committed > 0));
}

static void test_tokens(void **state)
{
    for (uint64_t seed = 1; seed <= 24; seed++) {
        struct trace_bed bed;
        size_t committed = 0, instructions = 0, want = 0;
        trace_records(&bed, seed, 1 + (uint32_t)seed % 8, seed & 1);
        for (size_t i = 0; i < trace_read.n; i++) {
            check_token(&trace_read.tokens[i], i > 0 ? &trace_read.tokens[i - 1] : NULL);
            assert_int_equal(trace_read.tokens[i].cycle, trace_read.tokens[i].core_cycle);
            committed += trace_read.tokens[i].committed;
            for (int k = 0; k < ENTRIES; k++)
                instructions += (trace_read.tokens[i].entries[k] & (1 | 16)) == 1;
        }
        for (size_t i = 0; i < RECORDS; i++)
            want += !(pipes[i].flags & AS_PIPE_CONTINUES);
        assert_int_equal(instructions, want);
        assert_int_equal(committed, entries_of_records());
        assert_int_equal(trace_read.tokens[0].cycle, 1);
        assert_int_equal(trace_read.tokens[trace_read.n - 1].cycle, pipes[RECORDS - 1].commit);
        bed_free(&bed);
    }
}

/* Flags and indices of dispatch, and the ROB's, by counting records. */
static void test_indices(void **state)
{
    struct trace_bed bed;
    trace_records(&bed, 11, 4, true);
    for (size_t i = 0; i < trace_read.n; i++) {
        const struct token *token = &trace_read.tokens[i];
        unsigned head = 0, tail = 0, done = 0, dispatching = 0;
        bool all_done = true;
        for (size_t k = 0; k < RECORDS; k++) {
            head += pipes[k].commit < token->cycle ? pipes[k].uops : 0;
            tail += pipes[k].dispatch <= token->cycle ? pipes[k].uops : 0;
            all_done = all_done && pipes[k].dispatch <= token->cycle && pipes[k].done <= token->cycle;
            done += all_done ? pipes[k].uops : 0;
            dispatching += pipes[k].dispatch == token->cycle;
        }
        assert_int_equal(token->head, head % bed.run.rob);
        assert_int_equal(token->tail, tail % bed.run.rob);
        assert_int_equal(token->open, done % bed.run.rob);
        assert_int_equal(!!(token->flags & DISPATCHING), dispatching > 0);
        assert_int_equal(!!(token->flags & READY), tail - head + 4 <= bed.run.rob);
    }
    bed_free(&bed);
}

/* A thread that executes another program: the file's cycles go on, the core's start again. */
static void test_again(void **state)
{
    struct trace_bed bed;
    bed_init(&bed, 2, 2, false);
    pipe_gen_fill(&bed.gen, pipes, RECORDS);
    pipe_gen_fill(&bed.gen, again, RECORDS);
    struct as_trace *trace = bed_trace(&bed, &as_trace_cycles);
    pipe_gen_feed(&bed.gen, &as_trace_observer, trace, 1, pipes, RECORDS, 40);
    pipe_gen_feed(&bed.gen, &as_trace_observer, trace, 1, again, RECORDS, 40);
    bed_finish(&bed, trace);
    read_trace(&trace_read, bed.text[1], bed.size[1]);
    uint64_t base = pipes[RECORDS - 1].commit;
    for (size_t i = 0; i < trace_read.n; i++) {
        const struct token *token = &trace_read.tokens[i];
        assert_int_equal(token->cycle, token->core_cycle + (token->cycle > base ? base : 0));
    }
    assert_int_equal(trace_read.tokens[trace_read.n - 1].cycle, base + again[RECORDS - 1].commit);
    bed_free(&bed);
}

/* The same with tokens for all cycles: one token before the first program, and none before the second one's first
 * instruction. */
static void test_all_again(void **state)
{
    struct trace_bed bed;
    bed_init(&bed, 2, 2, false);
    pipe_gen_fill(&bed.gen, pipes, RECORDS);
    pipe_gen_fill(&bed.gen, again, RECORDS);
    struct as_trace *trace = bed_trace(&bed, &as_trace_all_cycles);
    pipe_gen_feed(&bed.gen, &as_trace_observer, trace, 1, pipes, RECORDS, 40);
    pipe_gen_feed(&bed.gen, &as_trace_observer, trace, 1, again, RECORDS, 40);
    bed_finish(&bed, trace);
    read_trace(&trace_read, bed.text[1], bed.size[1]);
    uint64_t base = pipes[RECORDS - 1].commit;
    size_t starts = 0, second = 0;
    for (size_t i = 0; i < trace_read.n; i++) {
        const struct token *token = &trace_read.tokens[i];
        bool later = token->cycle > base + 1;
        assert_int_equal(token->cycle, token->core_cycle + 1 + (later ? base : 0));
        starts += token->core_cycle == 0;
        second = second ? second : later ? i : 0;
    }
    assert_int_equal(starts, 1);
    assert_true(trace_read.tokens[second].flags & VALID);
    bed_free(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samplers), cmocka_unit_test(test_all_cycles), cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_indices),  cmocka_unit_test(test_again),      cmocka_unit_test(test_all_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
