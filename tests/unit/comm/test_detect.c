/* Algorithm 1 on a scripted machine: what is published, what counts, what is watched, and when all of that ends. Then on
 * the modelled machine: estimated volume and kind against what was accessed. */
#include "unit.h"

#include "base/random.h"
#include "base/shared_lines.h"
#include "comm/board.h"
#include "comm/coherent.h"
#include "comm/detect.h"
#include "lens/modelled_lens.h"
#include "scripted_lens.h"

enum { LOAD = AS_ACCESS_LOAD, STORE = AS_ACCESS_STORE, ATOMIC = AS_ACCESS_LOAD | AS_ACCESS_STORE, PERIOD = 1000 };
enum { A = 0x1000, B = 0x2000, C = 0x3000 }; /* lines */

struct bed {
    struct scripted_lens script;
    struct as_detect *detect;
};

static void open_bed(struct bed *bed, const struct as_detect_options *options, uint32_t registers)
{
    scripted_lens_init(&bed->script);
    bed->script.registers = registers;
    bed->detect = as_detect_new(&bed->script.lens, options);
    scripted_lens_start(&bed->script, &as_detect_client, bed->detect, 3);
}

static struct as_pair_cell pair_of(const struct bed *bed, uint32_t a, uint32_t b)
{
    const uint32_t places[] = {0, 1, 2};
    struct as_pair_matrix matrix = {0};
    as_pair_matrix_grow(&matrix, 3);
    as_detect_matrix(bed->detect, places, 3, &matrix);
    struct as_pair_cell pair = as_pair_matrix_pair(&matrix, a, b);
    as_pair_matrix_free(&matrix);
    return pair;
}

static uint64_t sample(struct bed *bed, uint32_t thread, uint64_t address, uint8_t kind)
{
    return scripted_lens_sample(&bed->script, thread, address, kind, PERIOD);
}

/* Threads whose numbers are too high for marks in an entry know of themselves what they counted. */
static void threads_without_marks(void **state)
{
    struct as_detect_options options = AS_DETECT_OPTIONS_DEFAULT;
    struct bed bed;
    scripted_lens_init(&bed.script);
    bed.script.registers = 0;
    bed.detect = as_detect_new(&bed.script.lens, &options);
    scripted_lens_start(&bed.script, &as_detect_client, bed.detect, AS_BOARD_MARKS + 2);
    sample(&bed, 0, A, STORE);
    for (uint32_t thread = AS_BOARD_MARKS - 1; thread < AS_BOARD_MARKS + 2; thread++) {
        sample(&bed, thread, A, LOAD);
        sample(&bed, thread, A, LOAD); /* the same entry */
        assert_int_equal(as_detect_counts(bed.detect).found, thread - AS_BOARD_MARKS + 2);
    }
    sample(&bed, 0, A, STORE);
    sample(&bed, AS_BOARD_MARKS, A, LOAD);
    assert_int_equal(as_detect_counts(bed.detect).found, 4);
    as_detect_free(bed.detect);
}

/* Loads find what stores published, and publish nothing. An entry counts once for each thread. */
static void look_ups(void **state)
{
    struct as_detect_options options = AS_DETECT_OPTIONS_DEFAULT;
    struct bed bed;
    open_bed(&bed, &options, 0);
    sample(&bed, 0, A, LOAD);
    sample(&bed, 1, A, LOAD); /* nobody stored */
    sample(&bed, 0, A, STORE);
    sample(&bed, 0, A, LOAD); /* its own */
    assert_int_equal(as_detect_counts(bed.detect).found, 0);
    sample(&bed, 1, A, LOAD);
    sample(&bed, 1, A, LOAD); /* again: the same entry */
    assert_int_equal(as_detect_counts(bed.detect).found, 1);
    sample(&bed, 2, A + 8, ATOMIC); /* finds it, too, and is the next entry */
    assert_int_equal(pair_of(&bed, 0, 1).true_, PERIOD);
    assert_int_equal(pair_of(&bed, 0, 2).false_, PERIOD);
    sample(&bed, 0, A + 4, LOAD);
    sample(&bed, 1, A + 4, LOAD);
    assert_int_equal(pair_of(&bed, 0, 2).false_, PERIOD);
    assert_int_equal(pair_of(&bed, 0, 2).true_, PERIOD); /* bytes 4 to 11 overlap 8 to 15 */
    assert_int_equal(pair_of(&bed, 2, 1).true_, PERIOD);
    assert_int_equal(as_detect_counts(bed.detect).published, 2);
    assert_int_equal(as_detect_counts(bed.detect).load_samples, 7);
    assert_int_equal(as_detect_counts(bed.detect).store_samples, 2); /* the atomic is one */
    assert_true(as_detect_counts(bed.detect).armed == 0 &&
                as_detect_counts(bed.detect).refused == 0); /* no registers */
    as_detect_free(bed.detect);
}

static void sample_run(struct bed *bed, uint32_t thread, uint64_t address, uint64_t time, uint64_t since)
{
    struct as_lens_sample made = {.access = {.thread = thread,
                                             .address = address,
                                             .size = 8,
                                             .kind = STORE,
                                             .time = time,
                                             .since = since,
                                             .until = time + 15},
                                  .counter = ATOMIC,
                                  .period = PERIOD};
    as_detect_client.sample(bed->detect, &made);
}

/* Where threads take turns, a line that both use all the time changes hands once a turn. */
static void turns(void **state)
{
    struct as_detect_options options = AS_DETECT_OPTIONS_DEFAULT;
    struct bed bed;
    open_bed(&bed, &options, 0);
    sample_run(&bed, 0, A, 10, 10);
    sample_run(&bed, 1, A, 12, 11); /* it did not run at 10, but the line was sampled once: there may be many such */
    assert_int_equal(pair_of(&bed, 0, 1).true_, PERIOD);
    sample_run(&bed, 0, A, 20, 10); /* both run */
    assert_int_equal(pair_of(&bed, 0, 1).true_, 2 * PERIOD);
    sample_run(&bed, 0, A, 30, 10);
    sample_run(&bed, 0, A, 40, 10);
    sample_run(&bed, 1, A, 42, 41); /* 0 had it for a while, and 1 begins now */
    assert_int_equal(pair_of(&bed, 0, 1).true_, 2 * PERIOD + 1);
    sample_run(&bed, 1, A, 52, 41);
    sample_run(&bed, 0, A, 60, 10); /* both run: 1 is sampled again by 67 */
    assert_int_equal(pair_of(&bed, 0, 1).true_, 3 * PERIOD + 1);
    sample_run(&bed, 1, A, 62, 41);
    sample_run(&bed, 1, A, 72, 41);
    sample_run(&bed, 0, A, 90, 10); /* 1 should have come by 87 */
    assert_int_equal(pair_of(&bed, 0, 1).true_, 4 * PERIOD + 2);
    assert_int_equal(as_detect_counts(bed.detect).turns, 2);
    as_detect_free(bed.detect);
}

/* The counter of loads sees atomics as well: those samples are left out. */
static void atomics_are_stores(void **state)
{
    struct as_detect_options options = AS_DETECT_OPTIONS_DEFAULT;
    struct bed bed;
    open_bed(&bed, &options, 4);
    struct as_lens_sample atomic = {.access = {.thread = 1, .address = A, .size = 8, .kind = ATOMIC, .time = 50},
                                    .counter = AS_ACCESS_LOAD,
                                    .period = PERIOD};
    sample(&bed, 0, A, STORE);
    as_detect_client.sample(bed.detect, &atomic);
    assert_true(as_detect_counts(bed.detect).ignored == 1 && as_detect_counts(bed.detect).found == 0);
    atomic.counter = ATOMIC; /* one that counts all operations */
    as_detect_client.sample(bed.detect, &atomic);
    assert_true(as_detect_counts(bed.detect).found == 1 && as_detect_counts(bed.detect).published == 2);
    as_detect_free(bed.detect);
}

/* A thread that finds nothing watches what another one published; the trap counts period * L / (D * M) and disarms all. */
static void traps(void **state)
{
    for (uint32_t registers = 1; registers <= 4; registers++) {
        struct as_detect_options options = AS_DETECT_OPTIONS_DEFAULT;
        struct bed bed;
        open_bed(&bed, &options, registers);
        sample(&bed, 0, A, STORE);
        sample(&bed, 1, B, LOAD);
        assert_int_equal(scripted_lens_armed(&bed.script, 1), registers);
        assert_int_equal(scripted_lens_armed(&bed.script, 0), 0);
        assert_int_equal(as_detect_counts(bed.detect).armed, 1); /* a line, however many registers watch it */
        assert_int_equal(as_detect_counts(bed.detect).refused, 0);
        uint64_t first = 64;
        for (uint64_t offset = 0; offset < 64 && first == 64; offset += 8)
            if (scripted_lens_access(&bed.script, 1, A + offset, LOAD))
                first = offset;
        struct as_pair_cell pair = pair_of(&bed, 0, 1);
        assert_true(first < 64 && as_detect_counts(bed.detect).trapped == 1);
        assert_int_equal(first ? pair.false_ : pair.true_, PERIOD * 8 / registers);
        assert_int_equal(scripted_lens_armed(&bed.script, 1), 0);
        as_detect_free(bed.detect);
    }
}

/* Each of the eight parts of a line is watched at times, and none twice at once. */
static void every_part_is_watched(void **state)
{
    unsigned ever = 0;
    for (uint64_t seed = 1; seed <= 64; seed++) {
        struct as_detect_options options = AS_DETECT_OPTIONS_DEFAULT;
        struct bed bed;
        unsigned now = 0;
        options.seed = seed;
        open_bed(&bed, &options, 4);
        sample(&bed, 0, A + 40, STORE);
        sample(&bed, 1, B, LOAD);
        for (int i = 0; i < 4; i++) {
            uint64_t offset = bed.script.slots[1][i].watch.address - A;
            assert_true(offset < 64 && offset % 8 == 0);
            now |= 1u << offset / 8;
        }
        assert_int_equal(__builtin_popcount(now), 4);
        ever |= now;
        as_detect_free(bed.detect);
    }
    assert_int_equal(ever, 0xff);
}

/* A thread that touches the published bytes and others, in whatever order, has true sharing; one that touches only others has not,
 * which is known when it has stopped watching. */
static void published_bytes_decide(void **state)
{
    for (int whole = 0; whole <= 1; whole++) {
        struct as_detect_options options = AS_DETECT_OPTIONS_DEFAULT;
        struct bed bed;
        options.watch_published = true;
        open_bed(&bed, &options, 4);
        sample(&bed, 0, A + 40, STORE);
        sample(&bed, 1, B, LOAD);
        assert_int_equal(bed.script.slots[1][0].watch.address, A + 40);
        bool others = false;
        for (uint64_t offset = 0; offset < 64; offset += 8)
            others |= offset != 40 && scripted_lens_access(&bed.script, 1, A + offset, LOAD);
        assert_true(others && as_pair_sum(pair_of(&bed, 0, 1)) == 0);
        if (whole)
            assert_true(scripted_lens_access(&bed.script, 1, A + 40, LOAD));
        as_detect_finish(bed.detect);
        assert_int_equal(pair_of(&bed, 0, 1).true_, whole ? PERIOD : 0);
        assert_int_equal(pair_of(&bed, 0, 1).false_, whole ? 0 : PERIOD * 7 / 3);
        assert_int_equal(as_detect_counts(bed.detect).trapped, 1);
        as_detect_free(bed.detect);
    }
}

/* What a thread stored to in its samples before counts, too. */
static void earlier_stores_count(void **state)
{
    struct as_detect_options options = AS_DETECT_OPTIONS_DEFAULT;
    struct bed bed;
    open_bed(&bed, &options, 0);
    sample(&bed, 0, A + 8, STORE);
    sample(&bed, 0, A + 32, STORE);
    sample(&bed, 1, A + 8, LOAD);
    assert_int_equal(pair_of(&bed, 0, 1).true_, PERIOD);
    sample(&bed, 0, A + 32, STORE);
    sample(&bed, 1, A + 16, LOAD);
    assert_int_equal(pair_of(&bed, 0, 1).false_, PERIOD);
    as_detect_free(bed.detect);
}

/* An entry counts once for each thread, however many lines the thread has sampled since. */
static void forgotten_lines(void **state)
{
    struct as_detect_options options = AS_DETECT_OPTIONS_DEFAULT;
    struct bed bed;
    open_bed(&bed, &options, 0);
    sample(&bed, 0, A, STORE);
    for (int round = 0; round < 2; round++) {
        sample(&bed, 1, A, LOAD);
        sample(&bed, 2, A, LOAD);
        for (uint64_t i = 1; i <= 1000; i++)
            sample(&bed, 1, C + 64 * i, LOAD);
    }
    assert_int_equal(as_detect_counts(bed.detect).found, 2);
    sample(&bed, 0, A, STORE); /* a new one */
    sample(&bed, 1, A, LOAD);
    assert_int_equal(as_detect_counts(bed.detect).found, 3);
    as_detect_free(bed.detect);
}

/* Only entries from between the last two samples are watched; watchpoints expire after two samples, of either kind. */
static void expiry(void **state)
{
    struct as_detect_options options = AS_DETECT_OPTIONS_DEFAULT;
    struct bed bed;
    open_bed(&bed, &options, 4);
    sample(&bed, 1, B, LOAD);
    sample(&bed, 0, A, STORE);
    sample(&bed, 1, B, LOAD);
    assert_true(scripted_lens_armed(&bed.script, 1) == 4 && bed.script.slots[1][0].watch.address / 64 == A / 64);
    sample(&bed, 0, C, STORE);
    sample(&bed, 1, B, LOAD); /* still watches the first */
    assert_int_equal(bed.script.slots[1][0].watch.address / 64, A / 64);
    sample(&bed, 0, C, STORE);
    sample(&bed, 1, B, LOAD); /* that has expired, and C is new */
    assert_int_equal(bed.script.slots[1][0].watch.address / 64, C / 64);
    sample(&bed, 1, B, LOAD);
    sample(&bed, 1, B, LOAD); /* expired, and nothing is new */
    assert_int_equal(scripted_lens_armed(&bed.script, 1), 0);
    for (uint64_t i = 1; i <= 20; i++)
        sample(&bed, 2, C + 64 * i, STORE);
    for (int i = 0; i < 3; i++)
        sample(&bed, 2, B + 64, STORE); /* the entries before are dead: this one is watched */
    sample(&bed, 1, B, LOAD);
    assert_int_equal(bed.script.slots[1][0].watch.address / 64, B / 64 + 1);
    as_detect_free(bed.detect);
}

/* A line that the thread samples itself is not watched: look-ups count it, and a trap would count it again. */
static void sampled_lines_are_looked_up(void **state)
{
    struct as_detect_options options = AS_DETECT_OPTIONS_DEFAULT;
    struct bed bed;
    open_bed(&bed, &options, 4);
    sample(&bed, 1, A, LOAD);
    for (int i = 0; i < 1000; i++) /* long ago */
        sample(&bed, 1, B, LOAD);
    sample(&bed, 0, A, STORE);
    sample(&bed, 1, B, LOAD);
    assert_int_equal(scripted_lens_armed(&bed.script, 1), 0);
    sample(&bed, 1, A, LOAD);
    assert_int_equal(as_detect_counts(bed.detect).found, 1);
    as_detect_free(bed.detect);
}

/* What two processes share is one line, and belongs to none of them; what each has at the same address is its own. */
static void shared_memory(void **state)
{
    struct as_detect_options options = AS_DETECT_OPTIONS_DEFAULT;
    const uint32_t places[] = {0, 1, 2, 3};
    struct as_contacts contacts = {0};
    struct bed bed;
    open_bed(&bed, &options, 0);
    as_detect_client.thread_start(bed.detect, 3, 2);
    bed.script.live[3] = true;
    sample(&bed, 0, A, STORE);
    sample(&bed, 3, A, LOAD);
    assert_int_equal(as_detect_counts(bed.detect).found, 0);
    sample(&bed, 0, A | AS_SHARED_BIT, STORE);
    sample(&bed, 3, A | AS_SHARED_BIT, LOAD);
    assert_int_equal(as_detect_counts(bed.detect).found, 1);
    as_detect_contacts(bed.detect, places, 4, &contacts);
    assert_int_equal(contacts.list.len, 1);
    assert_int_equal(contacts.list.data[0].process, 0);
    assert_int_equal(contacts.list.data[0].line, A | AS_SHARED_BIT);
    assert_true(contacts.list.data[0].from.process == 1 && contacts.list.data[0].to.process == 2);
    as_contacts_free(&contacts);
    as_detect_free(bed.detect);
}

/* A machine without registers, one that refuses, a thread that ends while it watches, numbers that are too large. */
static void faults(void **state)
{
    struct as_detect_options options = AS_DETECT_OPTIONS_DEFAULT;
    struct bed bed;
    open_bed(&bed, &options, 4);
    bed.script.arm_result = AS_LENS_REFUSED;
    sample(&bed, 0, A, STORE);
    sample(&bed, 1, B, LOAD);
    assert_true(as_detect_counts(bed.detect).refused == 1 && as_detect_counts(bed.detect).armed == 0);
    bed.script.arm_result = AS_LENS_OK;
    sample(&bed, 0, A, STORE);
    sample(&bed, 1, B, LOAD);
    assert_int_equal(scripted_lens_armed(&bed.script, 1), 4);
    scripted_lens_end(&bed.script, 1);
    struct as_lens_trap late = {.access = {.thread = 1, .address = A, .size = 8, .kind = STORE, .time = 90}};
    as_detect_client.trap(bed.detect, &late);
    assert_int_equal(as_detect_counts(bed.detect).trapped, 0);
    struct as_lens_sample foreign = {.access = {.thread = AS_DETECT_THREADS, .address = A, .kind = STORE, .time = 91},
                                     .counter = STORE};
    as_detect_client.thread_start(bed.detect, AS_DETECT_THREADS, 1);
    as_detect_client.sample(bed.detect, &foreign);
    assert_int_equal(as_detect_counts(bed.detect).unseen, 1);
    as_detect_free(bed.detect);
}

static void contacts(void **state)
{
    const uint32_t places[] = {0, 1, 2};
    struct as_detect_options options = AS_DETECT_OPTIONS_DEFAULT;
    struct as_contacts list = {0};
    struct bed bed;
    open_bed(&bed, &options, 4);
    for (int i = 0; i < 3; i++) {
        sample(&bed, 0, A + 8, STORE);
        sample(&bed, 1, A + 60, LOAD); /* beyond the line */
    }
    as_detect_contacts(bed.detect, places, 3, &list);
    assert_int_equal(list.list.len, 1);
    const struct as_contact *contact = &list.list.data[0];
    assert_true(contact->line == A && contact->count == 3 * PERIOD && contact->is_false);
    assert_true(contact->from.offset == 8 && contact->from.size == 8 && contact->from.insn == A + 8);
    assert_true(contact->to.offset == 60 && contact->to.size == 4 && contact->to.insn == A + 60);
    assert_true(contact->from_threads == 1 && contact->to_threads == 2);
    as_contacts_free(&list);
    as_detect_free(bed.detect);
}

/* ---- on the modelled machine ---- */

enum { ITERATIONS = 400000, TURN = 40 };

struct run {
    struct as_modelled_lens *lens;
    struct as_coherent *coherent;
};

static void take(void *context, const struct as_weave_span *span)
{
    const struct run *run = context;
    as_coherent_span(run->coherent, span);
    as_modelled_lens_span(run->lens, NULL, span);
}

static const struct as_weave_ops weave_ops = {.span = take};

/* Each thread stores: with probability `fraction` to its own word of a line that all have, otherwise to a word of all. */
static void turn_of(struct as_weave *weave, uint32_t thread, uint64_t clock, double fraction, uint64_t *seed)
{
    struct as_data_access accesses[TURN];
    struct as_access_turn turn = {.thread = thread, .process = 1, .end = TURN};
    struct as_access_time time = {.clock = clock, .end = clock + 10 * TURN, .image = 1};
    for (int i = 0; i < TURN; i++)
        accesses[i] = (struct as_data_access){
            .address = as_random_fraction(seed) < fraction ? B + 8 * (uint64_t)thread : A, .size = 8, .kind = ATOMIC};
    struct as_access_batch batch = {
        .size = sizeof batch, .n = TURN, .n_turns = 1, .accesses = accesses, .turns = &turn, .times = &time};
    as_weave_batch(weave, &batch);
}

/* 4,000 samples, nearly all of which find communication: the standard deviation of the volume is below 2 %, that of the
 * share of false sharing 0.8 points. Five of them. */
static void estimates(void **state)
{
    const uint32_t places[] = {UINT32_MAX, 0, 1, 2, 3};
    struct as_modelled_options machine = AS_MODELLED_OPTIONS_DEFAULT;
    struct as_detect_options options = AS_DETECT_OPTIONS_DEFAULT;
    uint64_t seed = 3;
    machine.load_period = machine.store_period = 400;
    struct run run = {.lens = as_modelled_lens_new(&machine), .coherent = as_coherent_new(NULL)};
    struct as_lens lens = as_modelled_lens_open(run.lens);
    struct as_detect *detect = as_detect_new(&lens, &options);
    struct as_weave *weave = as_weave_new(0, &weave_ops, &run);
    as_modelled_lens_set_client(run.lens, &as_detect_client, detect);
    for (uint64_t i = 0; i < ITERATIONS; i += TURN)
        for (uint32_t thread = 1; thread <= 4; thread++)
            turn_of(weave, thread, 10 * i, 0.4, &seed);
    as_weave_finish(weave);
    struct as_pair_matrix matrix = {0};
    as_pair_matrix_grow(&matrix, 4);
    as_detect_matrix(detect, places, 5, &matrix);
    struct as_pair_cell found = as_pair_matrix_total(&matrix);
    struct as_coherent_counts exact = as_coherent_counts(run.coherent);
    double volume = (double)as_pair_sum(found) / (double)exact.transfers;
    double share = (double)found.false_ / (double)as_pair_sum(found);
    assert_true(volume > 0.9 && volume < 1.1);
    assert_true(share > (double)exact.false_ / (double)exact.transfers - 0.04);
    assert_true(share < (double)exact.false_ / (double)exact.transfers + 0.04);
    as_pair_matrix_free(&matrix);
    as_weave_free(weave);
    as_detect_free(detect);
    as_coherent_free(run.coherent);
    as_modelled_lens_free(run.lens);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(look_ups),
        cmocka_unit_test(threads_without_marks),
        cmocka_unit_test(turns),
        cmocka_unit_test(atomics_are_stores),
        cmocka_unit_test(traps),
        cmocka_unit_test(every_part_is_watched),
        cmocka_unit_test(expiry),
        cmocka_unit_test(sampled_lines_are_looked_up),
        cmocka_unit_test(published_bytes_decide),
        cmocka_unit_test(earlier_stores_count),
        cmocka_unit_test(forgotten_lines),
        cmocka_unit_test(shared_memory),
        cmocka_unit_test(faults),
        cmocka_unit_test(contacts),
        cmocka_unit_test(estimates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
