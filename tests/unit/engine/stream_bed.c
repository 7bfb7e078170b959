/* See stream_bed.h. */
#include "stream_bed.h"

#include "engine/access_words.h"
#include "engine/outlook.h"
#include "unit.h"

#include <inttypes.h>
#include <stdio.h>

void bed_init(struct bed *bed)
{
    memset(bed, 0, sizeof *bed);
    as_code_table_image(&bed->code, 1, AS_ARCH_X86_64);
    as_code_table_image(&bed->code, 2, AS_ARCH_RISCV64);
    bed->image = 1;
    as_regions_add(&bed->regions);
}

void bed_free(struct bed *bed)
{
    as_code_table_free(&bed->code);
    as_vec_free(&bed->words);
    as_regions_free(&bed->regions);
}

/* One instruction of "48 8b 07, c3" into two words; returns what is behind its comma, NULL behind the last one. */
static const char *pack_insn(const char *text, uint64_t words[2])
{
    uint8_t bytes[2 * sizeof(uint64_t)] = {0}, n = 0;
    unsigned value;
    int used;
    while (sscanf(text, " %2x%n", &value, &used) == 1) {
        assert_true(n < AS_INSN_MAX_BYTES - 1);
        bytes[n++] = (uint8_t)value;
        text += used;
    }
    bytes[sizeof bytes - 1] = n;
    memcpy(words, bytes, sizeof bytes);
    return *text == ',' ? text + 1 : NULL;
}

void bed_block(struct bed *bed, uint32_t address, const char *instructions)
{
    uint64_t message[4 + 2 * 64] = {bed->image, address, 0, address};
    size_t n = 0;
    for (const char *rest = instructions; rest; n++) {
        assert_true(n < 64);
        rest = pack_insn(rest, &message[4 + 2 * n]);
    }
    message[2] = n;
    assert_true(as_code_table_add_block(&bed->code, message, 4 + 2 * n));
}

void bed_add_code(struct bed *bed)
{
    bed_block(bed, MIX, "48 8b 07, 48 01 06, 75 10");
    bed_block(bed, CALLS, "50, e8 f2 0f 00 00");
    bed_block(bed, BACK, "90, eb e5");
    bed_block(bed, REP, "90, f3 a4");
    bed_block(bed, REP_AGAIN, "f3 a4");
    bed_block(bed, LEAVES, "c3");
    bed_block(bed, MIX_REST, "48 01 06, 75 10");
    bed_block(bed, SELF, "90, 88 07, 90, c3");
    bed_block(bed, SELF_STORE, "88 07");
    bed_block(bed, SELF_REST, "90, c3");
    bed_block(bed, LOOP, "48 ff c9, 75 fb");
    bed_block(bed, BEHIND, "90, 90, 90, c3");
    bed_block(bed, CALLED, "90, c3");
    bed_block(bed, HANDLER, "8b 04 24, c3");
    bed_block(bed, RESTORER, "48 c7 c0 0f 00 00 00, 0f 05");
    bed_block(bed, RESTORED, "0f 05");
    bed_block(bed, SYSCALL, "90, 0f 05");
}

void bed_set_landmarks(struct bed *bed, uint64_t from, uint64_t to)
{
    bed_free(bed);
    bed_init(bed);
    struct as_sites *sites = &bed->code.images.data[0]->sites;
    struct as_region *region = &bed->regions.list.data[0];
    if (from) {
        region->start = as_regions_symbol(&bed->regions, "from");
        as_sites_add(sites, from, region->start.landmark);
    }
    if (to) {
        region->stop = as_regions_symbol(&bed->regions, "to");
        as_sites_add(sites, to, region->stop.landmark);
    }
    bed_add_code(bed);
}

static void push(struct bed *bed, uint64_t word)
{
    *as_vec_push(&bed->words) = word;
}

void bed_run_block(struct bed *bed, uint32_t address)
{
    push(bed, address);
}

void bed_access(struct bed *bed, uint64_t kind, uint32_t index, uint64_t address, uint32_t size)
{
    push(bed, kind | (uint64_t)index << AS_WIRE_INDEX_SHIFT | (uint64_t)__builtin_ctz(size) << AS_WIRE_SIZE_SHIFT |
                  (address & ((UINT64_C(1) << AS_WIRE_ADDRESS_BITS) - 1)));
}

void bed_load(struct bed *bed, uint32_t index, uint64_t address, uint32_t size)
{
    bed_access(bed, AS_WIRE_LOAD, index, address, size);
}

void bed_store(struct bed *bed, uint32_t index, uint64_t address, uint32_t size)
{
    bed_access(bed, AS_WIRE_STORE, index, address, size);
}

void bed_event(struct bed *bed, enum as_wire_event event, uint32_t number, const uint64_t *operands)
{
    push(bed, (uint64_t)event << AS_WIRE_EVENT_SHIFT | number);
    for (size_t i = 0; i < as_wire_event_words[event]; i++)
        push(bed, operands[i]);
}

void bed_syscall(struct bed *bed, uint32_t number)
{
    bed_event(bed, AS_WIRE_SYSCALL, number, (const uint64_t[AS_WIRE_SYSCALL_ARGS]){1, 2, 3, 4, 5, 6});
}

void bed_signal(struct bed *bed, uint32_t number, bool synchronous, uint64_t interrupted)
{
    bed_event(bed, AS_WIRE_SIGNAL, number | (uint32_t)synchronous << AS_WIRE_SYNCHRONOUS_BIT, &interrupted);
}

void bed_death(struct bed *bed, uint32_t number, uint64_t place)
{
    bed_event(bed, AS_WIRE_DEATH, number, &place);
}

void bed_mix(struct bed *bed, uint64_t address)
{
    bed_run_block(bed, MIX);
    bed_load(bed, 0, address, 8);
    bed_load(bed, 1, address + 64, 8);
    bed_store(bed, 1, address + 64, 8);
}

void bed_rep_iteration(struct bed *bed, uint32_t block, uint32_t index)
{
    bed_run_block(bed, block);
    bed_load(bed, index, 0x5000, 1);
    bed_store(bed, index, 0x6000, 1);
}

uint64_t *bed_words_of_blocks_only(const struct bed *bed, size_t *n)
{
    uint64_t *out = malloc((bed->words.len + 1) * sizeof *out);
    const struct as_block *block = NULL;
    assert_non_null(out);
    *n = 0;
    for (size_t i = 0; i < bed->words.len; i++) {
        uint64_t word = bed->words.data[i], event = word >> AS_WIRE_EVENT_SHIFT;
        bool access = (word & AS_WIRE_ACCESS_MASK) != 0;
        if (access && block &&
            !(block->insns[word >> AS_WIRE_INDEX_SHIFT & AS_WIRE_INDEX_MASK]->flags & AS_INSN_VARIES))
            continue;
        out[(*n)++] = word;
        if (!access && event == AS_WIRE_BLOCK)
            block = as_code_table_block(&bed->code, (uint32_t)word);
        for (size_t k = access || event >= AS_WIRE_EVENTS ? 0 : as_wire_event_words[event]; k > 0; k--)
            out[(*n)++] = bed->words.data[++i];
    }
    return out;
}

static void tell_block(void *context, struct as_thread *thread, const struct as_block_exec *exec)
{
    struct bed_record *record = context;
    as_str_addf(&record->text, "%" PRIx64 "[%u,%u)%s%s >%" PRIx64, exec->block->address, exec->first, exec->end,
                exec->taken ? " t" : "", exec->continues ? " c" : "", exec->next);
    if (record->count_words && exec->n_words)
        as_str_addf(&record->text, " =%zu", exec->n_words);
    as_str_add(&record->text, "\n");
}

static void tell_iterations(void *context, struct as_thread *thread, const struct as_exec_words *words)
{
    struct as_block_exec exec;
    size_t n = 0;
    for (size_t at = as_access_words_iteration(words, 0, &exec); at; at = as_access_words_iteration(words, at, &exec)) {
        tell_block(context, thread, &exec);
        n++;
    }
    assert_int_equal(words->accesses, words->n - n);
    assert_int_equal(words->instructions, 0);
    ((struct bed_record *)context)->together += n;
}

static void tell_syscall(void *context, struct as_thread *thread, uint32_t number, const uint64_t args[6])
{
    bool as_written = args[0] == 1 && args[5] == 6;
    as_str_addf(&((struct bed_record *)context)->text, "syscall %u%s\n", number,
                as_written ? "" : " with other arguments");
}

static void tell_return(void *context, struct as_thread *thread, uint32_t number, int64_t result)
{
    as_str_addf(&((struct bed_record *)context)->text, "return %u %" PRId64 "\n", number, result);
}

static void tell_signal(void *context, struct as_thread *thread, uint32_t number, uint64_t interrupted)
{
    as_str_addf(&((struct bed_record *)context)->text, "signal %u %" PRIx64 "\n", number, interrupted);
}

static void tell_signal_return(void *context, struct as_thread *thread)
{
    as_str_add(&((struct bed_record *)context)->text, "sigreturn\n");
}

const struct as_sink bed_sink = {
    .block = tell_block,
    .iterations = tell_iterations,
    .syscall = tell_syscall,
    .syscall_return = tell_return,
    .signal = tell_signal,
    .signal_return = tell_signal_return,
};

/* Where the thread is once all words are read, as it is seen from here: every look must come to the same, or to none. */
struct seen {
    uint64_t count;
    uint32_t looks; /* that came to it */
};

static void look_ahead(struct seen *seen, const struct as_stream *stream, const uint64_t *words, size_t read, size_t n)
{
    struct as_outlook outlook = {0};
    const struct as_outlook_words all = {.ring = words, .length = n, .read = read, .written = n};
    if (stream->regions->over || n == 0 || !as_outlook_look(&outlook, stream, &all))
        return;
    if (seen->looks++ == 0)
        seen->count = outlook.count;
    assert_int_equal(seen->count, outlook.count);
}

static uint32_t consume(struct as_stream *stream, const uint64_t *words, size_t n, size_t split)
{
    struct seen seen = {0};
    look_ahead(&seen, stream, words, 0, n);
    size_t at = 0, done = 0, step = split == SIZE_MAX ? 1 : split;
    for (size_t end = step < n ? step : n;; end = split == SIZE_MAX && end + 1 < n ? end + 1 : n) {
        assert_int_equal(as_stream_consume(stream, words + at, end - at, &done), AS_STREAM_OK);
        assert_true(done <= end - at);
        at += done;
        look_ahead(&seen, stream, words, at, n);
        if (end == n)
            break;
    }
    assert_true(at == n || stream->regions->over);
    return seen.looks;
}

static void on_stretch(void *context)
{
    as_ways_report(context);
}

/* Runs the words through a stream to any sink. */
static void run_stream(struct bed *bed, const struct bed_run *run, const struct as_sink *sink, void *context)
{
    struct as_region_run regions;
    struct as_stream stream = {.code = &bed->code,
                               .regions = &regions,
                               .sink = sink,
                               .context = context,
                               .disagreements = &bed->disagreements,
                               .blocks_only = run->blocks_only};
    size_t n = bed->words.len;
    as_region_run_init(&regions, &bed->regions);
    regions.threads = bed->threads;
    regions.on_change = on_stretch;
    regions.context = &stream;
    uint64_t *fewer = run->blocks_only ? bed_words_of_blocks_only(bed, &n) : NULL;
    bed->disagreements = 0;
    for (size_t i = 0; i < bed->code.blocks.len && run->blocks_only; i++) /* nothing checks them in such a run */
        bed->code.blocks.data[i]->flags &= ~(uint32_t)(AS_BLOCK_CHECKED | AS_BLOCK_DISAGREES);
    stream.thread = (struct as_thread){.number = 1, .image = as_code_table_find_image(&bed->code, bed->image)};
    bed->looks +=
        consume(&stream, fewer ? fewer : bed->words.data, n, run->split < n || run->split == SIZE_MAX ? run->split : n);
    if (run->finish)
        as_stream_finish(&stream);
    as_ways_report(&stream);
    if (run->cut)
        as_stream_cut(&stream, true);
    as_stream_free(&stream);
    as_region_run_free(&regions);
    free(fewer);
}

char *bed_tell(struct bed *bed, const struct bed_run *run)
{
    struct bed_record record = {.count_words = run->count_words};
    run_stream(bed, run, &bed_sink, &record);
    bed->together += record.together;
    as_str_add(&record.text, "");
    return as_str_take(&record.text);
}

/* ---- executions that are summed up ---- */

struct sum {
    uint64_t address;
    uint32_t first, end;
    bool taken;
    uint64_t runs;
};
struct sums {
    AS_VEC(struct sum) list;
    struct as_str order; /* executions as they came, without their outcomes */
    uint64_t in_words;   /* executions that came as words … */
    uint64_t tallied;    /* … and in tallies: these are the same ones */
};

static void add_sum(struct sums *sums, struct sum sum)
{
    for (size_t i = 0; i < sums->list.len; i++) {
        struct sum *known = &sums->list.data[i];
        if (known->address == sum.address && known->first == sum.first && known->end == sum.end &&
            known->taken == sum.taken) {
            known->runs += sum.runs;
            return;
        }
    }
    if (sum.runs)
        *as_vec_push(&sums->list) = sum;
}

static void note_order(struct sums *sums, uint64_t address, uint32_t first, uint32_t end)
{
    as_str_addf(&sums->order, "%" PRIx64 "[%u,%u)\n", address, first, end);
}

static void sum_block(void *context, struct as_thread *thread, const struct as_block_exec *exec)
{
    add_sum(context, (struct sum){exec->block->address, exec->first, exec->end, exec->taken, 1});
    note_order(context, exec->block->address, exec->first, exec->end);
}

static void sum_tally(void *context, struct as_thread *thread, const struct as_block *block,
                      const struct as_tally *tally)
{
    add_sum(context, (struct sum){block->address, 0, block->n, false, tally->runs - tally->taken});
    add_sum(context, (struct sum){block->address, 0, block->n, true, tally->taken});
    ((struct sums *)context)->tallied += tally->runs;
}

static void sum_words(void *context, struct as_thread *thread, const struct as_exec_words *words)
{
    uint64_t instructions = 0, accesses = 0;
    for (size_t i = 0; i < words->n; i++) {
        const struct as_block *block;
        accesses += (words->words[i] & AS_WIRE_ACCESS_MASK) != 0;
        if (words->words[i] & AS_WIRE_ACCESS_MASK)
            continue;
        block = as_block_pages_get(words->blocks, (uint32_t)words->words[i]);
        assert_non_null(block->codes);
        note_order(context, block->address, 0, block->n);
        instructions += block->n;
        ((struct sums *)context)->in_words++;
    }
    assert_int_equal(instructions, words->instructions);
    assert_int_equal(accesses, words->accesses);
}

static const struct as_sink summing = {.block = sum_block, .tally = sum_tally};
static const struct as_sink summing_recorded = {
    .block = sum_block, .tally = sum_tally, .recorded_tallies = true, .words = sum_words};

static uint64_t find_runs(const struct sums *sums, const struct sum *sum)
{
    for (size_t i = 0; i < sums->list.len; i++) {
        const struct sum *known = &sums->list.data[i];
        if (known->address == sum->address && known->first == sum->first && known->end == sum->end &&
            known->taken == sum->taken)
            return known->runs;
    }
    return 0;
}

/* A record that tells each execution, as sums. */
static void read_record(const char *record, struct sums *sums)
{
    for (const char *line = record; *line; line = strchr(line, '\n') + 1) {
        struct sum sum = {.runs = 1};
        int used = 0;
        if (sscanf(line, "%" SCNx64 "[%u,%u)%n", &sum.address, &sum.first, &sum.end, &used) != 3)
            continue;
        sum.taken = strncmp(line + used, " t", 2) == 0;
        add_sum(sums, sum);
        note_order(sums, sum.address, sum.first, sum.end);
    }
}

/* A sink that takes tallies, and words where accesses are recorded, learns the same. */
static void expect_sums(struct bed *bed, const char *record, const struct bed_run *run)
{
    struct sums want = {0}, seen = {0};
    read_record(record, &want);
    run_stream(bed, run, run->blocks_only ? &summing : &summing_recorded, &seen);
    assert_int_equal(seen.list.len, want.list.len);
    for (size_t i = 0; i < want.list.len; i++)
        if (find_runs(&seen, &want.list.data[i]) != want.list.data[i].runs)
            fail_msg("%" PRIx64 "[%u,%u): other sums than in\n%s", want.list.data[i].address, want.list.data[i].first,
                     want.list.data[i].end, record);
    if (!run->blocks_only) {
        assert_string_equal(as_str_get(&seen.order), as_str_get(&want.order));
        assert_int_equal(seen.in_words, seen.tallied);
    }
    bed->summed += seen.tallied;
    as_vec_free(&want.list);
    as_vec_free(&seen.list);
    as_str_free(&want.order);
    as_str_free(&seen.order);
}

void bed_expect(struct bed *bed, const char *want, const struct bed_run *run)
{
    char *seen = bed_tell(bed, run);
    if (strcmp(want, seen) != 0)
        fail_msg("%s, cut at %zu:\n%sinstead of\n%s", run->blocks_only ? "blocks only" : "recorded", run->split, seen,
                 want);
    free(seen);
    expect_sums(bed, want, run);
}

static void expect_any_split(struct bed *bed, const char *want, bool blocks_only, bool finish)
{
    for (size_t split = 0; split <= bed->words.len; split++)
        bed_expect(bed, want, &(struct bed_run){.split = split, .blocks_only = blocks_only, .finish = finish});
    bed_expect(bed, want, &(struct bed_run){.split = SIZE_MAX, .blocks_only = blocks_only, .finish = finish});
}

void bed_expect_always(struct bed *bed, const char *want, int how)
{
    if (!(how & BLOCKS_ONLY))
        expect_any_split(bed, want, false, !(how & NO_FINISH));
    if (!(how & RECORDED_ONLY))
        expect_any_split(bed, want, true, !(how & NO_FINISH));
}

/* ---- the end of measuring ---- */

static void ignore_block(void *context, struct as_thread *thread, const struct as_block_exec *exec)
{
}

static void ignore_tally(void *context, struct as_thread *thread, const struct as_block *block,
                         const struct as_tally *tally)
{
}

static void note_cut(void *context, struct as_thread *thread, const struct as_block *from, uint64_t next)
{
    uint64_t *ends = context;
    ends[0] = from->address;
    ends[1] = next;
}

void bed_expect_cut(struct bed *bed, uint64_t from, uint64_t next)
{
    static const struct as_sink sink = {
        .block = ignore_block, .tally = ignore_tally, .recorded_tallies = true, .cut = note_cut};
    for (int bare = 0; bare < 2; bare++)
        for (size_t split = 0; split <= bed->words.len; split++) {
            uint64_t ends[2] = {0, 0};
            run_stream(bed, &(struct bed_run){.split = split, .blocks_only = bare, .cut = true}, &sink, ends);
            if (ends[0] != from || ends[1] != next)
                fail_msg("cut at %zu: 0x%" PRIx64 " > 0x%" PRIx64, split, ends[0], ends[1]);
        }
}
