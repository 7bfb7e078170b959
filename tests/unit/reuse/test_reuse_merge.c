/* Counts of one thread added to those of another: every counter is, and nothing that says what is counted. */
#include "unit.h"

#include "reuse/reuse_view.h"

#include <string.h>

/* Distinct numbers in all words. */
static void number(void *record, size_t size, uint64_t seed)
{
    uint64_t *words = record;
    for (size_t i = 0; i < size / sizeof *words; i++)
        words[i] = seed + i * i;
}

static void add_words(uint64_t *sum, const uint64_t *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum[i] += words[i];
}

static void pairs_add_up(void **state)
{
    struct as_reuse_pair sum, other, want;
    number(&sum, sizeof sum, 100);
    number(&other, sizeof other, 5000);
    want = sum;
    want.count += other.count;
    want.spatial += other.spatial;
    want.spatial_beyond += other.spatial_beyond;
    want.conflicts += other.conflicts;
    want.false_sharing += other.false_sharing;
    add_words(want.beyond, other.beyond, AS_REUSE_LEVELS);
    add_words(want.octaves, other.octaves, AS_DISTANCE_OCTAVES);
    as_reuse_pair_add(&sum, &other);
    assert_memory_equal(&sum, &want, sizeof sum);
}

static void codes_add_up(void **state)
{
    struct as_reuse_code sum, other, want;
    number(&sum, sizeof sum, 100);
    number(&other, sizeof other, 5000);
    want = sum;
    want.touches += other.touches;
    want.fetched += other.fetched;
    want.fetched_bytes += other.fetched_bytes;
    want.again += other.again;
    want.moved += other.moved;
    want.alike += other.alike;
    want.steady += other.steady;
    want.folded += other.folded;
    add_words(&want.misses[0][0], &other.misses[0][0], (size_t)AS_REUSE_LEVELS * AS_MISS_CAUSES);
    as_reuse_code_add(&sum, &other);
    assert_memory_equal(&sum, &want, sizeof sum);
}

static struct as_reuse_view *new_view(uint64_t seed)
{
    static const struct as_reuse_shape shape = {0};
    struct as_reuse_view *view = as_alloc(sizeof *view);
    as_reuse_view_init(view, &shape, false, AS_REUSE_LEVELS - 1, 0);
    number(&view->counts, sizeof view->counts, seed);
    number(view->looked_up, sizeof view->looked_up, seed + 1);
    number(view->beyond, sizeof view->beyond, seed + 2);
    number(view->missed, sizeof view->missed, seed + 3);
    view->fetched = seed + 4;
    view->fetched_bytes = seed + 5;
    view->now = seed + 6;
    for (uint32_t i = 0; i < 3; i++) {
        as_reuse_code_of(view, i)->touches = seed + i;
        as_reuse_pair_of(view, i, (uint32_t)(seed % 7))->count = seed + 10 + i;
    }
    return view;
}

static void free_view(struct as_reuse_view *view)
{
    as_reuse_view_free(view);
    free(view);
}

static void views_add_up(void **state)
{
    struct as_reuse_view *sum = new_view(1000), *other = new_view(30), *before = new_view(1000), *from = new_view(30);
    as_reuse_view_merge(sum, other);
    const uint64_t *a = (const uint64_t *)&before->counts, *b = (const uint64_t *)&from->counts;
    for (size_t i = 0; i < sizeof sum->counts / sizeof *a; i++)
        assert_int_equal(((const uint64_t *)&sum->counts)[i], a[i] + b[i]);
    for (int level = 0; level < AS_REUSE_LEVELS; level++) {
        assert_int_equal(sum->looked_up[level], before->looked_up[level] + from->looked_up[level]);
        assert_int_equal(sum->beyond[level], before->beyond[level] + from->beyond[level]);
        for (int cause = 0; cause < AS_MISS_CAUSES; cause++)
            assert_int_equal(sum->missed[level][cause], before->missed[level][cause] + from->missed[level][cause]);
    }
    assert_int_equal(sum->fetched, 1004 + 34);
    assert_int_equal(sum->fetched_bytes, 1005 + 35);
    assert_int_equal(sum->now, 1006 + 36);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(as_reuse_code_of(sum, i)->touches, 1030 + 2 * i);
        assert_int_equal(as_reuse_pair_of(sum, i, 1000 % 7)->count, 1010 + i); /* 1000 % 7 is 6, 30 % 7 is 2 */
        assert_int_equal(as_reuse_pair_of(sum, i, 30 % 7)->count, 40 + i);
    }
    as_reuse_view_merge(sum, from); /* the same pairs again */
    assert_int_equal(as_reuse_pair_of(sum, 1, 30 % 7)->count, 82);
    free_view(sum);
    free_view(other);
    free_view(before);
    free_view(from);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pairs_add_up), cmocka_unit_test(codes_add_up),
                                       cmocka_unit_test(views_add_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
