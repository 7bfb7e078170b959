/* Samples of last stores (last_store.h) on a scripted machine: what counts, once for each thread, what ends it, and what a sample stands for that came
 * while another one was followed. */
#include "unit.h"

#include "comm/detect.h"
#include "comm/last_store.h"
#include "scripted_lens.h"

enum { LOAD = AS_ACCESS_LOAD, STORE = AS_ACCESS_STORE, ATOMIC = AS_ACCESS_LOAD | AS_ACCESS_STORE, PERIOD = 1000 };
enum { A = 0x1000, B = 0x2000, THREADS = 3, LIFE = 4 };

struct bed {
    struct scripted_lens script;
    struct as_detect *detect;
};

static void open_bed(struct bed *bed, uint32_t registers)
{
    struct as_detect_options options = AS_DETECT_OPTIONS_DEFAULT;
    options.last_stores = true;
    options.follow_life = LIFE;
    scripted_lens_init(&bed->script);
    bed->script.registers = registers;
    bed->detect = as_detect_new(&bed->script.lens, &options);
    scripted_lens_start(&bed->script, &as_detect_client, bed->detect, THREADS);
}

static void touch(struct bed *bed, uint32_t thread, uint64_t address, uint8_t kind)
{
    scripted_lens_access(&bed->script, thread, address, kind);
}

static void sample(struct bed *bed, uint32_t thread, uint64_t address, uint8_t kind)
{
    scripted_lens_sample(&bed->script, thread, address, kind, PERIOD);
}

static struct as_pair_cell pair_of(const struct bed *bed, uint32_t a, uint32_t b)
{
    const uint32_t places[] = {0, 1, 2};
    struct as_pair_matrix matrix = {0};
    as_pair_matrix_grow(&matrix, THREADS);
    as_detect_matrix(bed->detect, places, THREADS, &matrix);
    struct as_pair_cell pair = as_pair_matrix_pair(&matrix, a, b);
    as_pair_matrix_free(&matrix);
    return pair;
}

static uint32_t armed(const struct bed *bed)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < THREADS; i++)
        n += scripted_lens_armed(&bed->script, i);
    return n;
}

/* Of the stores of a run only the last one counts, and a thread that comes counts once, however often it looks. */
static void only_the_last_store_counts(void **state)
{
    struct bed bed;
    open_bed(&bed, 4);
    sample(&bed, 0, A, STORE);
    assert_int_equal(armed(&bed), 4 * THREADS);
    touch(&bed, 0, A, LOAD); /* its own loads do not matter */
    assert_int_equal(armed(&bed), 4 * THREADS);
    touch(&bed, 0, A, STORE);
    touch(&bed, 1, A, LOAD);
    assert_int_equal(armed(&bed), 0);
    assert_int_equal(pair_of(&bed, 0, 1).true_, 0);
    sample(&bed, 0, A, STORE);
    touch(&bed, 1, A, LOAD);
    touch(&bed, 1, A, LOAD);
    assert_int_equal(pair_of(&bed, 0, 1).true_, PERIOD);
    touch(&bed, 2, A, LOAD); /* another copy of the line */
    assert_int_equal(pair_of(&bed, 0, 2).true_, PERIOD);
    touch(&bed, 1, A, STORE); /* from now on the line is that thread's */
    assert_int_equal(armed(&bed), 0);
    touch(&bed, 2, A, LOAD);
    assert_int_equal(pair_of(&bed, 0, 2).true_, PERIOD);
    assert_int_equal(pair_of(&bed, 1, 2).true_, 0);
    sample(&bed, 2, A, ATOMIC);
    touch(&bed, 0, A, ATOMIC);
    touch(&bed, 1, A, LOAD);
    assert_int_equal(pair_of(&bed, 2, 0).true_, 2 * PERIOD);
    assert_int_equal(pair_of(&bed, 2, 1).true_, 0);
    assert_int_equal(as_detect_counts(bed.detect).trapped, 3);
    as_detect_free(bed.detect);
}

/* A load that is sampled is followed by nothing, but its word is one that is in use. */
static void words_in_use_are_watched(void **state)
{
    struct bed bed;
    open_bed(&bed, 2);
    sample(&bed, 1, A + 48, LOAD);
    assert_int_equal(armed(&bed), 0);
    sample(&bed, 0, A + 8, STORE);
    touch(&bed, 1, A + 48, LOAD);
    as_detect_finish(bed.detect);
    assert_int_equal(pair_of(&bed, 0, 1).false_, PERIOD);
    assert_int_equal(armed(&bed), 0);
    as_detect_free(bed.detect);
}

/* More words in use than registers: the store's own, the next one, and one at random. Whoever touches another word and then the store's has come
 * for that. */
static void a_later_touch_decides(void **state)
{
    struct bed bed;
    open_bed(&bed, 2);
    for (uint64_t word = 0; word < 8; word++)
        sample(&bed, 1, A + 8 * word, LOAD);
    sample(&bed, 0, A + 16, STORE);
    touch(&bed, 1, A + 24, LOAD);
    assert_int_equal(pair_of(&bed, 0, 1).false_ + pair_of(&bed, 0, 1).true_, 0);
    touch(&bed, 1, A + 16, LOAD);
    assert_int_equal(pair_of(&bed, 0, 1).true_, PERIOD);
    touch(&bed, 2, A + 24, LOAD);
    touch(&bed, 2, A + 24, STORE);
    assert_int_equal(pair_of(&bed, 0, 2).false_, PERIOD);
    sample(&bed, 0, A + 16, STORE);
    touch(&bed, 0, A + 24, STORE); /* it goes on filling the line */
    touch(&bed, 1, A + 16, LOAD);
    assert_int_equal(pair_of(&bed, 0, 1).true_, PERIOD);
    as_detect_free(bed.detect);
}

/* Where the line is known well, and all of its words are watched, the access that counts decides. */
static void first_touch_decides_where_all_is_watched(void **state)
{
    struct bed bed;
    open_bed(&bed, 4);
    for (int i = 0; i < 20; i++)
        sample(&bed, 1, A + 8 * (uint64_t)(i % 2), LOAD);
    sample(&bed, 0, A, STORE);
    touch(&bed, 1, A + 8, LOAD);
    touch(&bed, 1, A, LOAD);
    assert_int_equal(pair_of(&bed, 0, 1).false_, PERIOD);
    assert_int_equal(pair_of(&bed, 0, 1).true_, 0);
    as_detect_free(bed.detect);
}

/* Stores that are sampled meanwhile are stood for by the next one of their thread; one that nothing ends is given up. */
static void others_pass_meanwhile(void **state)
{
    struct bed bed;
    open_bed(&bed, 4);
    sample(&bed, 0, A, STORE);
    sample(&bed, 1, B, STORE);
    sample(&bed, 1, B, STORE);
    touch(&bed, 2, A, ATOMIC);
    assert_int_equal(pair_of(&bed, 0, 2).true_, PERIOD);
    sample(&bed, 1, B, STORE);
    touch(&bed, 2, B, ATOMIC);
    assert_int_equal(pair_of(&bed, 1, 2).true_, 3 * PERIOD);
    sample(&bed, 0, A, STORE);
    for (int i = 1; i < LIFE; i++)
        sample(&bed, 1, B, STORE);
    touch(&bed, 2, A + 8, LOAD); /* still */
    assert_true(armed(&bed) > 0);
    sample(&bed, 1, B, STORE);
    uint64_t before = pair_of(&bed, 0, 2).true_;
    touch(&bed, 2, A, LOAD);
    assert_int_equal(pair_of(&bed, 0, 2).true_, before);
    touch(&bed, 2, B, LOAD);
    assert_int_equal(pair_of(&bed, 1, 2).true_, 3 * PERIOD + LIFE * PERIOD);
    as_detect_free(bed.detect);
}

/* A thread that ends takes its registers along; without registers nothing is found. */
static void threads_end(void **state)
{
    struct bed bed;
    open_bed(&bed, 4);
    sample(&bed, 0, A, STORE);
    scripted_lens_end(&bed.script, 1);
    scripted_lens_end(&bed.script, 0);
    touch(&bed, 2, A, STORE);
    assert_int_equal(pair_of(&bed, 0, 2).true_, PERIOD);
    sample(&bed, 2, A, STORE);
    as_detect_finish(bed.detect);
    as_detect_free(bed.detect);
    open_bed(&bed, 0);
    sample(&bed, 0, A, STORE);
    touch(&bed, 1, A, LOAD);
    assert_int_equal(pair_of(&bed, 0, 1).true_, 0);
    assert_int_equal(as_detect_counts(bed.detect).store_samples, 1);
    as_detect_free(bed.detect);
}

/* What comes of a thread behind its end is not its own any more, and one that never began does not end. */
static void behind_the_end(void **state)
{
    struct bed bed;
    struct as_last_found found;
    struct as_lens_sample store = {.access = {.thread = 0, .address = A, .size = 8, .kind = STORE}, .period = PERIOD};
    struct as_lens_trap load = {.access = {.thread = 1, .address = A, .size = 8, .kind = LOAD}};
    open_bed(&bed, 4);
    struct as_last_store *last = as_last_store_new(&bed.script.lens, 4, LIFE, 1);
    as_last_store_end(last, 5);
    as_last_store_start(last, 0, 7);
    as_last_store_start(last, 1, 7);
    assert_true(as_last_store_sample(last, &store));
    as_last_store_end(last, 1);
    as_last_store_trap(last, &load);
    as_last_store_finish(last);
    assert_false(as_last_store_next(last, &found));
    as_last_store_start(last, 2, 7);
    assert_true(as_last_store_sample(last, &store));
    load.access.thread = 2;
    as_last_store_trap(last, &load);
    as_last_store_finish(last);
    assert_true(as_last_store_next(last, &found) && found.to.thread == 2 && found.count == PERIOD);
    as_last_store_free(last);
    as_detect_free(bed.detect);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_last_store_counts),
        cmocka_unit_test(words_in_use_are_watched),
        cmocka_unit_test(a_later_touch_decides),
        cmocka_unit_test(first_touch_decides_where_all_is_watched),
        cmocka_unit_test(others_pass_meanwhile),
        cmocka_unit_test(threads_end),
        cmocka_unit_test(behind_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
