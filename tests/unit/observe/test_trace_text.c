/* Konata and O3PipeView traces are read back by parsers that know nothing but the formats: every instruction is there,
 * with the times of its record. */
#include "trace_bed.h"

#include "observe/attribution.h"
#include "observe/events.h"

#include <inttypes.h>

enum { RECORDS = 3000, OPS_MOST = 4 * RECORDS };

/* An instruction as the viewer sees it. */
struct op {
    unsigned long number;
    unsigned thread;
    char label[64];
    uint64_t f, ds, is, x, cm, retired; /* when the stages started; 0: not */
    const char *open;                   /* the stage it is in */
    bool flushed, gone;
};

struct reading {
    struct op ops[OPS_MOST];
    size_t n;
    uint64_t cycle;
    unsigned long next_retired;
};

static uint64_t *stage_of(struct op *op, const char *name, const char **known)
{
    static const char *const names[] = {"F", "Ds", "Is", "X", "Cm"};
    uint64_t *const stages[] = {&op->f, &op->ds, &op->is, &op->x, &op->cm};
    for (int i = 0; i < 5; i++)
        if (strcmp(names[i], name) == 0) {
            *known = names[i];
            return stages[i];
        }
    fail_msg("unknown stage %s", name);
    return NULL;
}

static struct op *op_at(struct reading *reading, unsigned long id)
{
    assert_true(id < reading->n);
    assert_false(reading->ops[id].gone);
    return &reading->ops[id];
}

static void read_stage(struct reading *reading, char command, unsigned long id, const char *name)
{
    const char *known = NULL;
    struct op *op = op_at(reading, id);
    uint64_t *start = stage_of(op, name, &known);
    if (command == 'E') {
        assert_ptr_equal(op->open, known);
        op->open = NULL;
        return;
    }
    assert_null(op->open);
    assert_int_equal(*start, 0);
    *start = reading->cycle;
    op->open = known;
}

static void read_retired(struct reading *reading, unsigned long id, unsigned long number, int flushed)
{
    struct op *op = op_at(reading, id);
    assert_null(op->open);
    op->retired = reading->cycle;
    op->gone = true;
    op->flushed = flushed;
    if (!flushed)
        assert_int_equal(number, reading->next_retired++);
}

static void read_line(struct reading *reading, const char *line)
{
    unsigned long a, b;
    unsigned c;
    char text[64];
    if (sscanf(line, "C=\t%lu", &a) == 1) {
        assert_int_equal(reading->cycle, 0);
        reading->cycle = a;
    } else if (sscanf(line, "C\t%lu", &a) == 1) {
        assert_true(a > 0);
        reading->cycle += a;
    } else if (sscanf(line, "I\t%lu\t%lu\t%u", &a, &b, &c) == 3) {
        assert_int_equal(a, reading->n); /* numbered in order */
        assert_true(reading->n < OPS_MOST);
        reading->ops[reading->n++] = (struct op){.number = b, .thread = c};
    } else if (sscanf(line, "L\t%lu\t%lu\t%63[^\n]", &a, &b, text) == 3) {
        if (b == 0)
            strcpy(op_at(reading, a)->label, text);
    } else if (sscanf(line, "S\t%lu\t0\t%63s", &a, text) == 2) {
        read_stage(reading, 'S', a, text);
    } else if (sscanf(line, "E\t%lu\t0\t%63s", &a, text) == 2) {
        read_stage(reading, 'E', a, text);
    } else if (sscanf(line, "R\t%lu\t%lu\t%u", &a, &b, &c) == 3) {
        read_retired(reading, a, b, (int)c);
    } else {
        fail_msg("no line of the format: %s", line);
    }
}

static void read_konata(struct reading *reading, char *text)
{
    char *rest = NULL, *line = strtok_r(text, "\n", &rest);
    memset(reading, 0, sizeof *reading);
    assert_string_equal(line, "Kanata\t0004");
    while ((line = strtok_r(NULL, "\n", &rest)))
        read_line(reading, line);
}

static void check_op(const struct op *op, const struct as_pipe *pipe, uint64_t base, unsigned long number)
{
    char label[64];
    snprintf(label, sizeof label, "%" PRIx64 ": %sadd rax, rbx", bed_address(pipe->insn),
             pipe->flags & AS_PIPE_CONTINUES ? "… " : "");
    assert_string_equal(op->label, label);
    assert_int_equal(op->number, number);
    assert_int_equal(op->f, base + pipe->fetch);
    assert_int_equal(op->ds, base + pipe->dispatch);
    assert_int_equal(op->is, pipe->issue > pipe->dispatch + 1 ? base + pipe->dispatch + 1 : 0);
    assert_int_equal(op->x, base + pipe->issue);
    assert_int_equal(op->cm, base + pipe->done);
    assert_int_equal(op->retired, base + pipe->commit);
}

/* All that is in `reading` from *op on: records, and before each one that was tried twice its first try. */
static void check_ops(const struct reading *reading, size_t *op, const struct as_pipe *pipes, size_t n, uint64_t base,
                      unsigned long number)
{
    for (size_t i = 0; i < n; i++, ++*op) {
        assert_true(*op < reading->n);
        if (reading->ops[*op].flushed) {
            struct as_tries tries = as_tries_of(&pipes[i]);
            assert_int_equal(reading->ops[*op].retired, base + tries.fault);
            assert_true(reading->ops[*op].ds >= base + tries.first);
            ++*op;
        } else {
            struct as_tries tries = as_tries_of(&pipes[i]);
            assert_true(tries.first == tries.fault || i == 0 || pipes[i - 1].dispatch >= tries.fault);
        }
        assert_true(*op < reading->n && reading->ops[*op].gone && !reading->ops[*op].flushed);
        check_op(&reading->ops[*op], &pipes[i], base, number + i);
    }
}

static struct reading reading;
static struct as_pipe pipes[RECORDS], others[RECORDS], again[RECORDS];

/* Each event appears under the name that it has everywhere. */
static void test_konata_events(void **state)
{
    for (int event = 0; event < AS_EVENT_COUNT; event++) {
        struct trace_bed bed;
        char line[64];
        bed_init(&bed, 1, 1, false);
        struct as_pipe pipe = {.fetch = 1, .dispatch = 2, .issue = 3, .done = 4, .commit = 5};
        pipe.events = as_events[event].bit;
        struct as_trace *trace = bed_trace(&bed, &as_trace_konata);
        pipe_gen_feed(&bed.gen, &as_trace_observer, trace, 1, &pipe, 1, 1);
        bed_finish(&bed, trace);
        snprintf(line, sizeof line, "\t1\t%s\n", as_events[event].name);
        assert_non_null(strstr(bed.text[1], line));
        bed_free(&bed);
    }
    (void)state;
}

static void test_konata(void **state)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct trace_bed bed;
        bed_init(&bed, seed, 1 + (uint32_t)seed % 6, seed & 1);
        pipe_gen_fill(&bed.gen, pipes, RECORDS);
        struct as_trace *trace = bed_trace(&bed, &as_trace_konata);
        pipe_gen_feed(&bed.gen, &as_trace_observer, trace, 1, pipes, RECORDS, 50);
        bed_finish(&bed, trace);
        read_konata(&reading, bed.text[1]);
        size_t op = 0;
        check_ops(&reading, &op, pipes, RECORDS, 0, 0);
        assert_int_equal(op, reading.n);
        bed_free(&bed);
    }
}

/* Each thread has its file; one that executes another program goes on in its own. */
static void test_threads(void **state)
{
    struct trace_bed bed;
    bed_init(&bed, 5, 4, false);
    pipe_gen_fill(&bed.gen, pipes, RECORDS);
    pipe_gen_fill(&bed.gen, others, RECORDS);
    pipe_gen_fill(&bed.gen, again, RECORDS);
    struct as_trace *trace = bed_trace(&bed, &as_trace_konata);
    pipe_gen_feed(&bed.gen, &as_trace_observer, trace, 1, pipes, RECORDS / 2, 50);
    pipe_gen_feed(&bed.gen, &as_trace_observer, trace, 3, others, RECORDS, 50);
    pipe_gen_feed(&bed.gen, &as_trace_observer, trace, 1, pipes + RECORDS / 2, RECORDS - RECORDS / 2, 50);
    pipe_gen_feed(&bed.gen, &as_trace_observer, trace, 1, again, RECORDS, 50);
    bed_finish(&bed, trace);
    read_konata(&reading, bed.text[1]);
    size_t op = 0;
    check_ops(&reading, &op, pipes, RECORDS, 0, 0);
    assert_int_equal(reading.ops[0].thread, 1);
    check_ops(&reading, &op, again, RECORDS, pipes[RECORDS - 1].commit, RECORDS);
    assert_int_equal(op, reading.n);
    read_konata(&reading, bed.text[3]);
    op = 0;
    check_ops(&reading, &op, others, RECORDS, 0, 0);
    assert_int_equal(reading.ops[0].thread, 3);
    assert_null(bed.files[2]);
    bed_free(&bed);
}

/* Nothing is kept for longer than the core has it in flight: before the end, nearly everything is written. */
static void test_bounded(void **state)
{
    const struct as_trace_format *const formats[] = {&as_trace_konata, &as_trace_o3pipeview, &as_trace_cycles};
    for (int i = 0; i < 3; i++) {
        struct trace_bed bed;
        bed_init(&bed, 7, 4, false);
        pipe_gen_fill(&bed.gen, pipes, RECORDS);
        pipes[RECORDS - 1].flags &= (uint16_t)~AS_PIPE_LAST;
        struct as_trace *trace = bed_trace(&bed, formats[i]);
        pipe_gen_feed(&bed.gen, &as_trace_observer, trace, 1, pipes, RECORDS, 50);
        fflush(bed.files[1]);
        size_t before = bed.size[1];
        bed_finish(&bed, trace);
        assert_true(before < bed.size[1] || i == 1);
        assert_true(before > bed.size[1] * 9 / 10);
        bed_free(&bed);
    }
}

static void test_o3pipeview(void **state)
{
    struct trace_bed bed;
    bed_init(&bed, 3, 4, true);
    pipe_gen_fill(&bed.gen, pipes, RECORDS);
    struct as_trace *trace = bed_trace(&bed, &as_trace_o3pipeview);
    pipe_gen_feed(&bed.gen, &as_trace_observer, trace, 1, pipes, RECORDS, 50);
    bed_finish(&bed, trace);
    const char *at = bed.text[1];
    for (size_t i = 0; i < RECORDS; i++) {
        uint64_t fetch, pc, seq, decode, rename, dispatch, issue, complete, retire;
        int used = 0;
        int n = sscanf(at,
                       "O3PipeView:fetch:%" SCNu64 ":0x%" SCNx64 ":0:%" SCNu64 ":  add rax, rbx\n"
                       "O3PipeView:decode:%" SCNu64 "\nO3PipeView:rename:%" SCNu64 "\nO3PipeView:dispatch:%" SCNu64
                       "\nO3PipeView:issue:%" SCNu64 "\nO3PipeView:complete:%" SCNu64 "\nO3PipeView:retire:%" SCNu64
                       ":store:0\n%n",
                       &fetch, &pc, &seq, &decode, &rename, &dispatch, &issue, &complete, &retire, &used);
        assert_int_equal(n, 9);
        assert_true(used > 0);
        at += used;
        assert_int_equal(fetch, 1000 * pipes[i].fetch);
        assert_int_equal(pc, bed_address(pipes[i].insn));
        assert_int_equal(seq, i + 1);
        assert_int_equal(decode, dispatch);
        assert_int_equal(rename, dispatch);
        assert_int_equal(dispatch, 1000 * pipes[i].dispatch);
        assert_int_equal(issue, 1000 * pipes[i].issue);
        assert_int_equal(complete, 1000 * pipes[i].done);
        assert_int_equal(retire, 1000 * pipes[i].commit);
    }
    assert_int_equal(*at, 0);
    bed_free(&bed);
}

/* No records, and a thread that gets no file. */
static void test_nothing(void **state)
{
    struct trace_bed bed;
    bed_init(&bed, 1, 4, false);
    bed_finish(&bed, bed_trace(&bed, &as_trace_konata));
    assert_string_equal(bed.text[1], "Kanata\t0004\n");
    bed_free(&bed);

    bed_init(&bed, 1, 4, false);
    bed.refused = 2;
    pipe_gen_fill(&bed.gen, pipes, RECORDS);
    struct as_trace *trace = bed_trace(&bed, &as_trace_konata);
    pipe_gen_feed(&bed.gen, &as_trace_observer, trace, 2, pipes, RECORDS, 50);
    bed_finish(&bed, trace);
    assert_null(bed.text[2]);
    bed_free(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_konata),  cmocka_unit_test(test_konata_events), cmocka_unit_test(test_threads),
        cmocka_unit_test(test_bounded), cmocka_unit_test(test_o3pipeview),    cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
