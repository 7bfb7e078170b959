/* The tables of what two accesses are to each other, spelt out, and what must hold for any of them. */
#include "unit.h"

#include "reuse/distances.h"
#include "reuse/reuse_rules.h"

static const enum as_reuse_outcome none = AS_REUSE_NONE, reuse = AS_REUSE_REUSE, invalidation = AS_REUSE_INVALIDATION;

static void in_threads(void **state)
{
    const struct {
        bool first, second;
        enum as_reuse_outcome same, other;
    } rows[] = {{false, false, reuse, none},
                {false, true, reuse, invalidation},
                {true, true, reuse, invalidation},
                {true, false, reuse, none}};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(as_reuse_in_thread(rows[i].first, rows[i].second, AS_REUSE_SAME_CORE), rows[i].same);
        assert_int_equal(as_reuse_in_thread(rows[i].first, rows[i].second, AS_REUSE_SAME_SOCKET), rows[i].other);
        assert_int_equal(as_reuse_in_thread(rows[i].first, rows[i].second, AS_REUSE_OTHER_SOCKET), rows[i].other);
    }
}

static void in_caches(void **state)
{
    const struct {
        bool first, second;
        enum as_reuse_outcome core, socket, other;
    } rows[] = {{false, false, none, reuse, none},
                {false, true, none, reuse, invalidation},
                {true, true, none, reuse, invalidation},
                {true, false, none, reuse, none}};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(as_reuse_in_cache(rows[i].first, rows[i].second, AS_REUSE_SAME_CORE), rows[i].core);
        assert_int_equal(as_reuse_in_cache(rows[i].first, rows[i].second, AS_REUSE_SAME_SOCKET), rows[i].socket);
        assert_int_equal(as_reuse_in_cache(rows[i].first, rows[i].second, AS_REUSE_OTHER_SOCKET), rows[i].other);
    }
}

/* A pair is a reuse in a thread or in a shared cache, never both; on one socket it is one of them; a write from another
 * socket invalidates both, a read from there is nothing. */
static void duality(void **state)
{
    for (int pair = 0; pair < 4; pair++)
        for (int relation = AS_REUSE_SAME_CORE; relation <= AS_REUSE_OTHER_SOCKET; relation++) {
            bool first = pair & 2, second = pair & 1;
            enum as_reuse_outcome thread = as_reuse_in_thread(first, second, (enum as_reuse_relation)relation);
            enum as_reuse_outcome cache = as_reuse_in_cache(first, second, (enum as_reuse_relation)relation);
            assert_false(thread == reuse && cache == reuse);
            if (relation != AS_REUSE_OTHER_SOCKET)
                assert_true(thread == reuse || cache == reuse);
            else
                assert_true(thread == cache && thread == (second ? invalidation : none));
        }
}

static void false_sharing(void **state)
{
    assert_true(as_reuse_is_false_sharing(true, true, AS_REUSE_SAME_SOCKET));
    assert_false(as_reuse_is_false_sharing(false, true, AS_REUSE_SAME_SOCKET)); /* nothing was modified */
    assert_false(as_reuse_is_false_sharing(true, false, AS_REUSE_SAME_SOCKET)); /* data is communicated */
    assert_false(as_reuse_is_false_sharing(true, true, AS_REUSE_SAME_CORE));
}

static void bins(void **state)
{
    static struct as_distances distances;
    for (uint64_t d = 0; d < 5000; d++) {
        uint32_t bin = as_distance_bin(d);
        assert_true(as_distance_low(bin) <= d && d < as_distance_low(bin + 1));
        assert_true(as_distance_octave_low(as_distance_octave(d)) <= d);
        as_distances_add(&distances, d, 1);
    }
    for (uint64_t border = 1; border < 4096; border *= 2)
        assert_float_equal(as_distances_beyond(&distances, border), 5000 - (double)border, 1e-9);
    assert_float_equal(as_distances_beyond(&distances, 768), 5000 - 768, 1e-9);
    uint64_t octaves[AS_DISTANCE_OCTAVES];
    as_distances_octaves(&distances, octaves);
    assert_int_equal(octaves[0], 1);
    assert_int_equal(octaves[10], 512);
    assert_int_equal(as_distance_bin(UINT64_MAX), AS_DISTANCE_BINS - 1);
}

static void accuracy(void **state)
{
    const uint64_t truth[] = {1, 3, 0, 0}, same[] = {10, 30, 0, 0}, half[] = {1, 0, 1, 0}, none_of_it[] = {0, 0, 5, 5};
    const uint64_t empty[4] = {0};
    assert_float_equal(as_distances_accuracy(same, truth, 4), 1, 1e-12);
    assert_float_equal(as_distances_accuracy(half, truth, 4), 0.25, 1e-12);
    assert_float_equal(as_distances_accuracy(none_of_it, truth, 4), 0, 1e-12);
    assert_float_equal(as_distances_accuracy(empty, truth, 4), 0, 1e-12);
    assert_float_equal(as_distances_accuracy(empty, empty, 4), 1, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_threads), cmocka_unit_test(in_caches),
                                       cmocka_unit_test(duality),    cmocka_unit_test(false_sharing),
                                       cmocka_unit_test(bins),       cmocka_unit_test(accuracy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
