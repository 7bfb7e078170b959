/* What the distances say a person could do, from views made by hand: each rule on both sides of its limits. And the objects of a run,
 * with the numbers that are shown of them. */
#include "unit.h"

#include "reuse/reuse_advice.h"
#include "reuse/reuse_objects.h"

enum { L1_LINES = 8, L2_LINES = 64, WALK = 2, USE = 1, OTHER_USE = 3, MOST = 8 };

static struct as_reuse_shape shape;
static struct as_reuse_view threads, sockets;
static struct as_reuse_advice advice[MOST];

/* 20,000 misses of the L1 and 5,000 of the L2. */
static int set_up(void **state)
{
    shape = (struct as_reuse_shape){.shift = 6, .levels = {{.lines = L1_LINES}, {.lines = L2_LINES}}};
    as_reuse_view_init(&threads, &shape, false, AS_REUSE_LLC, AS_REUSE_L1);
    as_reuse_view_init(&sockets, &shape, true, AS_REUSE_LLC, AS_REUSE_L1);
    memcpy(threads.missed[AS_REUSE_L1], (uint64_t[]){2000, 10000, 6000, 2000}, sizeof threads.missed[0]);
    memcpy(threads.missed[AS_REUSE_L2], (uint64_t[]){1000, 2000, 1500, 500}, sizeof threads.missed[0]);
    sockets.counts.reuses = 10000;
    return 0;
}

static int tear_down(void **state)
{
    as_reuse_view_free(&threads);
    as_reuse_view_free(&sockets);
    return 0;
}

static size_t advise(void)
{
    memset(advice, 0, sizeof advice);
    return as_reuse_advise(&threads, &sockets, advice, MOST);
}

/* Of an instruction that misses the L1 4,000 times. */
static struct as_reuse_code *code(uint32_t id)
{
    struct as_reuse_code *code = as_reuse_code_of(&threads, id);
    memcpy(code->misses[AS_REUSE_L1], (uint64_t[]){500, 2000, 1200, 300}, sizeof code->misses[0]);
    return code;
}

static void check(const struct as_reuse_advice *found, enum as_reuse_advice_kind kind, uint32_t use, uint32_t reuse,
                  uint64_t count, double share)
{
    assert_int_equal(found->kind, kind);
    assert_int_equal(found->use, use);
    assert_int_equal(found->reuse, reuse);
    assert_int_equal(found->count, count);
    assert_float_equal(found->share, share, 1e-12);
}

/* ---- blocks ---- */

/* 4,000 reuses from beyond the L1, 1,000 of them of other bytes; a few from within it, which do not matter. */
static struct as_reuse_pair *far_pair(void)
{
    code(WALK)->steady = 2001;
    struct as_reuse_pair *pair = as_reuse_pair_of(&threads, USE, WALK);
    pair->count = 13000;
    pair->beyond[AS_REUSE_L1] = 4000;
    pair->spatial_beyond = 1000;
    pair->octaves[3] = 9000;
    pair->octaves[5] = 1500;
    pair->octaves[7] = 2500;
    return pair;
}

static void blocking_of_the_l1(void **state)
{
    struct as_reuse_pair *pair = far_pair();
    pair->beyond[AS_REUSE_L2] = 1999;
    assert_int_equal(advise(), 1);
    check(&advice[0], AS_ADVICE_BLOCKING, USE, WALK, 3000, 0.15);
    assert_int_equal(advice[0].level, AS_REUSE_L1);
    assert_int_equal(advice[0].distance, 64);
    assert_int_equal(advice[0].parts, 16);
    pair->octaves[5] = 2500; /* exactly half */
    assert_int_equal(advise(), 1);
    assert_int_equal(advice[0].distance, 16);
    assert_int_equal(advice[0].parts, 4);
}

static void blocking_of_the_l2(void **state)
{
    struct as_reuse_pair *pair = far_pair();
    pair->beyond[AS_REUSE_L2] = 2000;
    assert_int_equal(advise(), 1);
    check(&advice[0], AS_ADVICE_BLOCKING, USE, WALK, 1000, 0.2);
    assert_int_equal(advice[0].level, AS_REUSE_L2);
    assert_int_equal(advice[0].distance, 64);
    assert_int_equal(advice[0].parts, 2);
    shape.levels[AS_REUSE_L2].lines = 0; /* there is none */
    assert_int_equal(advise(), 1);
    assert_int_equal(advice[0].level, AS_REUSE_L1);
}

/* What misses is at least as far apart as the level holds, though its octave begins before that. */
static void blocking_of_an_odd_size(void **state)
{
    struct as_reuse_pair *pair = far_pair();
    shape.levels[AS_REUSE_L1].lines = 12;
    pair->octaves[4] = 9000;
    assert_int_equal(advise(), 1);
    assert_int_equal(advice[0].distance, 12);
    assert_int_equal(advice[0].parts, 2);
}

static void blocking_refused(void **state)
{
    struct as_reuse_pair *pair = far_pair();
    threads.codes.data[WALK].steady = 2000; /* half of its misses are no walk */
    assert_int_equal(advise(), 0);
    threads.codes.data[WALK].steady = 2001;
    pair->spatial_beyond = 2000; /* half is the same bytes */
    assert_int_equal(advise(), 1);
    pair->spatial_beyond = 2001;
    assert_int_equal(advise(), 0);
    pair->spatial_beyond = 5000;
    assert_int_equal(advise(), 0);
    struct as_reuse_pair *unknown = as_reuse_pair_of(&threads, USE, 50); /* an instruction that nothing is known of */
    unknown->beyond[AS_REUSE_L1] = 4000;
    unknown->count = 4000;
    assert_int_equal(advise(), 0);
}

/* ---- orders of loops, structures, rows ---- */

/* Brings 1,000 lines and uses 16 bytes of each; most of its reuses are of what OTHER_USE used. */
static struct as_reuse_code *sparse(void)
{
    struct as_reuse_pair *rare = as_reuse_pair_of(&threads, USE, WALK);
    rare->count = 9;
    rare->octaves[2] = 9;
    struct as_reuse_pair *main = as_reuse_pair_of(&threads, OTHER_USE, WALK);
    main->count = 10;
    main->octaves[6] = 10;
    rare = as_reuse_pair_of(&threads, USE + 1, WALK);
    rare->count = 10; /* not more */
    struct as_reuse_code *sparse = code(WALK);
    sparse->fetched = 1000;
    sparse->fetched_bytes = 16000;
    sparse->again = 100;
    return sparse;
}

static void splitting(void **state)
{
    struct as_reuse_code *code = sparse();
    code->alike = 750;
    assert_int_equal(advise(), 1);
    check(&advice[0], AS_ADVICE_SPLITTING, WALK, WALK, 2000, 0.1);
    assert_int_equal(advice[0].level, AS_REUSE_L1);
    assert_int_equal(advice[0].distance, 32);
    assert_float_equal(advice[0].bytes_used, 16, 1e-12);
    code->fetched_bytes = 32000; /* half of them */
    assert_int_equal(advise(), 1);
    code->fetched_bytes = 32001;
    assert_int_equal(advise(), 0);
    code->fetched_bytes = 16000;
    code->alike = 749; /* other bytes too often */
    assert_int_equal(advise(), 0);
    code->alike = 750;
    code->fetched = 0;
    assert_int_equal(advise(), 0);
}

/* Of long lines the used parts are counted, each of them two bytes here. */
static void splitting_long_lines(void **state)
{
    struct as_reuse_code *code = sparse();
    shape.shift = 7;
    code->alike = 750;
    code->fetched_bytes = 32000;
    assert_int_equal(advise(), 1);
    assert_float_equal(advice[0].bytes_used, 64, 1e-12);
    shape.shift = 5; /* short ones have no parts */
    code->fetched_bytes = 16000;
    assert_int_equal(advise(), 1);
    assert_float_equal(advice[0].bytes_used, 16, 1e-12);
}

/* Neighbours in a line are used, each after the line had left. */
static void loop_order(void **state)
{
    struct as_reuse_code *code = sparse();
    code->moved = 51;
    code->steady = 2001;
    code->folded = 4000; /* the order comes first */
    assert_int_equal(advise(), 1);
    check(&advice[0], AS_ADVICE_LOOP_ORDER, OTHER_USE, WALK, 3200, 0.16);
    assert_int_equal(advice[0].distance, 32);
    code->folded = 0;
    code->moved = 50;
    assert_int_equal(advise(), 0);
    code->moved = 51;
    code->steady = 2000;
    assert_int_equal(advise(), 0);
}

/* Without a pair nobody knows how far it is from one use to the next. */
static void no_habit(void **state)
{
    struct as_reuse_code *lonely = code(WALK);
    lonely->fetched = lonely->alike = 1000;
    lonely->fetched_bytes = 16000;
    assert_int_equal(advise(), 0);
}

static void rows(void **state)
{
    code(WALK)->folded = 2001;
    assert_int_equal(advise(), 1);
    check(&advice[0], AS_ADVICE_ROWS, WALK, WALK, 2001, 2001.0 / 20000);
    assert_int_equal(advice[0].level, AS_REUSE_L1);
    threads.codes.data[WALK].folded = 2000;
    assert_int_equal(advise(), 0);
}

/* ---- padding, and the list ---- */

static struct as_reuse_pair *shared_pair(uint32_t reuse, uint64_t false_sharing)
{
    struct as_reuse_pair *pair = as_reuse_pair_of(&sockets, USE, reuse);
    pair->count = 2 * false_sharing;
    pair->false_sharing = false_sharing;
    return pair;
}

static void padding(void **state)
{
    struct as_reuse_pair *pair =
        as_reuse_pair_of(&sockets, AS_REUSE_NO_CODE, AS_REUSE_NO_CODE); /* all that found no place */
    pair->false_sharing = pair->count = 5000;
    pair = shared_pair(4, 2000);
    assert_int_equal(advise(), 1);
    check(&advice[0], AS_ADVICE_PADDING, USE, 4, 2000, 0.2);
    pair->count++; /* less than half of it is false sharing */
    assert_int_equal(advise(), 0);
    assert_int_equal(as_reuse_advise(&threads, NULL, advice, MOST), 0);
}

static void small_ones(void **state)
{
    shared_pair(4, 1000);
    sockets.counts.reuses = 20000; /* a twentieth */
    assert_int_equal(advise(), 1);
    sockets.counts.reuses = 20001;
    assert_int_equal(advise(), 0);
    sockets.counts.reuses = 2000;
    shared_pair(4, 999);
    assert_int_equal(advise(), 0);
}

static void the_greatest_first(void **state)
{
    shared_pair(4, 1000);
    shared_pair(5, 3000);
    shared_pair(6, 2000);
    shared_pair(7, 2000);
    code(WALK)->folded = 4000; /* a fifth, too */
    assert_int_equal(advise(), 5);
    static const uint32_t reuses[] = {5, 6, 7, WALK, 4};
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(advice[i].reuse, reuses[i]);
    for (size_t most = 1; most < 5; most++) {
        memset(advice, 0, sizeof advice);
        assert_int_equal(as_reuse_advise(&threads, &sockets, advice, most), most);
        for (size_t i = 0; i < most; i++)
            assert_int_equal(advice[i].reuse, reuses[i]);
        assert_int_equal(advice[most].reuse, 0);
    }
    shape.levels[AS_REUSE_L1].lines = 0; /* without caches nothing is known of misses */
    assert_int_equal(advise(), 4);
}

/* ---- objects ---- */

static void numbers_of_an_object(void **state)
{
    struct as_reuse_object object = {
        .misses = {[AS_MISS_COLD] = 40, [AS_MISS_CAPACITY] = 30, [AS_MISS_CONFLICT] = 20, [AS_MISS_COHERENCE] = 10},
        .fetched_bytes = 1250,
        .far_octaves = 225}; /* 4.5, which is rounded up */
    assert_int_equal(as_reuse_object_misses(&object), 100);
    assert_float_equal(as_reuse_object_used(&object), 12.5, 1e-12);
    assert_int_equal(as_reuse_object_distance(&object), 16);
    object.far_octaves = 224;
    assert_int_equal(as_reuse_object_distance(&object), 8);
    object = (struct as_reuse_object){.misses = {[AS_MISS_COLD] = 1}, .far_octaves = 3};
    assert_int_equal(as_reuse_object_distance(&object), 0);
    object.misses[AS_MISS_COLD] = 0;
    assert_float_equal(as_reuse_object_used(&object), 0, 0);
}

static void bytes_of_an_object(void **state)
{
    struct as_reuse_object object = {.misses = {50, 50}};
    static const uint8_t used[] = {0, 1, 2, 5, 62, 63};
    char *text = as_reuse_object_bytes(&object);
    assert_string_equal(text, "");
    free(text);
    for (size_t i = 0; i < sizeof used; i++)
        object.bytes[used[i]] = 10.5;
    object.bytes[3] = 10; /* a tenth is not more than a tenth */
    text = as_reuse_object_bytes(&object);
    assert_string_equal(text, "0-2 5 62-63");
    free(text);
}

/* Reads 8 bytes at a place in each of n lines. */
static void walk(struct as_reuse *exact, uint32_t thread, uint64_t address, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        struct as_data_access access = {.address = address + 64 * i, .size = 8, .kind = AS_ACCESS_LOAD, .insn = 1};
        as_reuse_take(exact, thread, thread, &access, 1);
    }
}

static void check_object(const struct as_reuse_object *object, uint32_t process, const char *name, uint64_t lines,
                         uint64_t hottest, const char *used)
{
    char hottest_name[32], *bytes = as_reuse_object_bytes(object);
    snprintf(hottest_name, sizeof hottest_name, "0x%llx", (unsigned long long)hottest);
    assert_string_equal(object->what.name, name);
    assert_int_equal(object->what.process, process);
    assert_int_equal(object->lines, lines);
    assert_int_equal(object->misses[AS_MISS_COLD], lines);
    assert_int_equal(object->misses[AS_MISS_CAPACITY], lines);
    assert_int_equal(object->misses[AS_MISS_CONFLICT] + object->misses[AS_MISS_COHERENCE], 0);
    assert_int_equal(object->llc, lines);
    assert_int_equal(object->octaves[4], lines);
    assert_int_equal(as_reuse_object_distance(object), 8);
    assert_float_equal(as_reuse_object_used(object), 8, 1e-12);
    assert_int_equal(object->hottest_n, 2);
    assert_true(object->hottest == hottest);
    assert_string_equal(object->hottest_name, hottest_name);
    assert_string_equal(bytes, used);
    free(bytes);
}

/* Blocks of three places of allocation in two processes, walked through twice: too many lines for the L1, few enough for the last
 * level. Two blocks of one place are one object, though another lies in between. */
static void objects_of_a_run(void **state)
{
    struct as_reuse_options options = {
        .shape = {.shift = 6,
                  .levels = {[AS_REUSE_L1] = {.lines = 4, .ways = 4}, [AS_REUSE_LLC] = {.lines = 64, .ways = 64}}},
        .sockets = 1};
    struct as_reuse *exact = as_reuse_new(&options);
    struct as_guest_memory *memory = as_guest_memory_new();
    struct as_moved_memory *moved = as_moved_memory_new();
    struct as_reuse_feed *feed = as_reuse_feed_new(&(struct as_reuse_feed_options){.exact = exact});
    struct as_reuse_objects objects = {0};
    const struct as_guest_site sites[] = {{.process = 1, .frames = {0x42}}, {.process = 1, .frames = {0x43}}};
    as_guest_memory_add(memory, &sites[0], 0x10000, 128);
    as_guest_memory_add(memory, &sites[1], 0x20000, 256);
    as_guest_memory_add(memory, &sites[0], 0x30000, 256);
    as_guest_memory_add(memory, &(struct as_guest_site){.process = 2, .frames = {0x42}}, 0x20000, 1024);
    for (int turn = 0; turn < 2; turn++) {
        walk(exact, 1, 0x10008, 2);
        walk(exact, 1, 0x20010, 4);
        walk(exact, 1, 0x30008, 4);
        walk(exact, 2, 0x20018, 9);
    }
    as_reuse_finish(exact);
    as_reuse_objects_make(&objects, exact, options.shape.shift, memory, moved, feed);
    assert_int_equal(objects.list.len, 3);
    check_object(&objects.list.data[0], 2, "blocks of 0x42", 9, 0x20018, "24-31");
    check_object(&objects.list.data[1], 1, "blocks of 0x42", 6, 0x10008, "8-15");
    check_object(&objects.list.data[2], 1, "blocks of 0x43", 4, 0x20010, "16-23");
    as_reuse_objects_free(&objects);
    as_reuse_feed_free(feed);
    as_moved_memory_free(moved);
    as_guest_memory_free(memory);
    as_reuse_free(exact);
}

/* A block inside of a mapping is not the mapping's, nor is what lies behind it the block's. */
static void blocks_in_a_mapping(void **state)
{
    enum { MAP = 9, ANONYMOUS = 0x22 };
    struct as_reuse_options options = {.shape = {.shift = 6, .levels = {{.lines = 4, .ways = 4}}}, .sockets = 1};
    struct as_reuse *exact = as_reuse_new(&options);
    struct as_guest_memory *memory = as_guest_memory_new();
    struct as_moved_memory *moved = as_moved_memory_new();
    struct as_reuse_feed *feed = as_reuse_feed_new(&(struct as_reuse_feed_options){.exact = exact});
    struct as_reuse_objects objects = {0};
    struct as_thread thread = {.number = 1, .process = 1};
    as_guest_memory_sink.syscall(memory, &thread, MAP, (uint64_t[6]){0, 0x4000, 3, ANONYMOUS});
    as_guest_memory_sink.syscall_return(memory, &thread, MAP, 0x70000);
    as_guest_memory_add(memory, &(struct as_guest_site){.process = 1, .frames = {0x42}}, 0x70100, 128);
    for (int turn = 0; turn < 2; turn++) {
        walk(exact, 1, 0x70000, 2);
        walk(exact, 1, 0x70100, 2);
        walk(exact, 1, 0x70200, 3);
    }
    as_reuse_finish(exact);
    as_reuse_objects_make(&objects, exact, options.shape.shift, memory, moved, feed);
    assert_int_equal(objects.list.len, 2);
    assert_string_equal(objects.list.data[0].what.name, "mapping at 0x70000");
    assert_int_equal(objects.list.data[0].lines, 5);
    assert_string_equal(objects.list.data[1].what.name, "blocks of 0x42");
    assert_int_equal(objects.list.data[1].lines, 2);
    as_reuse_objects_free(&objects);
    as_reuse_feed_free(feed);
    as_moved_memory_free(moved);
    as_guest_memory_free(memory);
    as_reuse_free(exact);
}

static void check_adjusted(const struct as_reuse_view *view, const struct as_distances *distances, uint64_t reuses,
                           uint64_t left)
{
    assert_int_equal(view->counts.touches, left + reuses);
    assert_int_equal(view->shared ? view->counts.other : view->counts.reuses, reuses);
    assert_int_equal(distances->total, reuses);
    assert_int_equal(distances->bins[0], reuses);
}

/* Touches that a sample has too few or too many are given to the shortest distance, or taken from there as far as there are any. Two
 * threads read a line of their own ten times. */
static void touches_are_adjusted(void **state)
{
    struct as_reuse_options options = {.shape = {.shift = 6}, .sockets = 2};
    struct as_reuse *exact = as_reuse_new(&options);
    for (uint32_t thread = 1; thread <= 2; thread++)
        for (int i = 0; i < 10; i++) {
            struct as_data_access access = {.address = 0x1000 * thread, .size = 8, .kind = AS_ACCESS_LOAD};
            as_reuse_take(exact, thread, 1, &access, 1);
        }
    as_reuse_finish(exact);
    struct as_reuse_view *all = as_reuse_all_threads(exact), *shared = as_reuse_all_sockets(exact);
    check_adjusted(all, &all->distances, 18, 2);
    check_adjusted(shared, &shared->all, 18, 2);
    as_reuse_adjust(exact, 33, 25);
    check_adjusted(all, &all->distances, 23, 2);
    check_adjusted(shared, &shared->all, 23, 2);
    assert_int_equal(all->counts.accesses, 33);
    assert_false(all->counts.left_out || shared->counts.left_out);
    as_reuse_adjust(exact, 4, 5);
    check_adjusted(all, &all->distances, 3, 2);
    check_adjusted(shared, &shared->all, 3, 2);
    all->distances.least = 16; /* shorter ones cannot be told apart */
    as_reuse_adjust(exact, 4, 0);
    check_adjusted(all, &all->distances, 0, 2);
    check_adjusted(shared, &shared->all, 0, 2);
    assert_true(all->counts.left_out && shared->counts.left_out);
    const struct as_reuse_view *own = as_reuse_get_thread(exact, 1)->view;
    as_reuse_adjust_thread(exact, 1, 12, 11);
    check_adjusted(own, &own->distances, 10, 1);
    assert_int_equal(own->counts.accesses, 12);
    own = as_reuse_get_thread(exact, 0)->view;
    check_adjusted(own, &own->distances, 9, 1);
    as_reuse_free(exact);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(blocking_of_the_l1),
        TEST(blocking_of_the_l2),
        TEST(blocking_of_an_odd_size),
        TEST(blocking_refused),
        TEST(splitting),
        TEST(splitting_long_lines),
        TEST(loop_order),
        TEST(no_habit),
        TEST(rows),
        TEST(padding),
        TEST(small_ones),
        TEST(the_greatest_first),
        cmocka_unit_test(numbers_of_an_object),
        cmocka_unit_test(bytes_of_an_object),
        cmocka_unit_test(objects_of_a_run),
        cmocka_unit_test(blocks_in_a_mapping),
        cmocka_unit_test(touches_are_adjusted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
