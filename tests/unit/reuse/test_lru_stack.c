/* Distances against plain lists: distinct granules and accesses in between, and LRU caches of every size at once. */
#include "unit.h"

#include "base/random.h"
#include "reuse/lru_cache.h"
#include "reuse/lru_stack.h"

#include <stdlib.h>

enum { GRANULES = 120, TOUCHES = UNIT_SANITIZED ? 30000 : 150000 };

/* A fully associative LRU cache as a list, the most recently used first. */
struct list {
    uint64_t keys[GRANULES + 1];
    size_t n, most;
};

static bool list_drop(struct list *list, uint64_t key)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->keys[i] == key) {
            memmove(list->keys + i, list->keys + i + 1, (--list->n - i) * sizeof *list->keys);
            return true;
        }
    return false;
}

static bool list_touch(struct list *list, uint64_t key)
{
    bool hit = list_drop(list, key);
    if (list->n == list->most)
        list->n--;
    memmove(list->keys + 1, list->keys, list->n++ * sizeof *list->keys);
    list->keys[0] = key;
    return hit;
}

/* Granules far apart, in neighbouring leaves, and in one. */
static uint64_t key_of(uint64_t i)
{
    return i < 40 ? i : i < 80 ? i * 64 : i << 40;
}

static struct as_touched touch(struct as_lru_stack *stack, uint64_t key, uint64_t now)
{
    struct as_touch made = {.key = key, .code = (uint32_t)now, .offset = now % 7};
    struct as_touched touched;
    as_lru_stack_touch(stack, as_lru_stack_use(stack, key), &made, 1, now, &touched);
    return touched;
}

/* The example of the definition: a b c b d d a. */
static void example(void **state)
{
    struct as_lru_stack stack;
    const char *keys = "abcbdda";
    struct as_touched last = {0};
    as_lru_stack_init(&stack);
    for (uint64_t i = 0; keys[i]; i++)
        last = touch(&stack, (uint64_t)keys[i], i);
    assert_int_equal(last.kind, AS_TOUCH_REUSE);
    assert_int_equal(last.time, 5);
    assert_int_equal(last.distance, 3);
    assert_int_equal(last.last.code, 0);
    assert_int_equal(stack.granules, 4);
    as_lru_stack_free(&stack);
}

/* Enough touches that slots are renumbered several times. */
static void against_lists(void **state)
{
    static struct list caches[GRANULES];
    struct as_lru_stack stack;
    uint64_t seed = 5, last[GRANULES] = {0};
    bool there[GRANULES] = {0};
    as_lru_stack_init(&stack);
    for (size_t i = 0; i < GRANULES; i++)
        caches[i].most = i + 1;
    for (uint64_t now = 1; now < TOUCHES; now++) {
        uint64_t range = 1 + as_random_below(&seed, GRANULES), i = as_random_below(&seed, range);
        if (as_random_below(&seed, 16) == 0) {
            assert_int_equal(as_lru_stack_invalidate(&stack, key_of(i)), there[i]);
            for (size_t size = 0; size < GRANULES; size += 1 + 16 * (now > 4000))
                list_drop(&caches[size], i);
            there[i] = false;
            continue;
        }
        struct as_touched touched = touch(&stack, key_of(i), now);
        assert_int_equal(touched.kind == AS_TOUCH_REUSE, there[i]);
        assert_int_equal(touched.kind == AS_TOUCH_COLD, !last[i]);
        if (there[i])
            assert_int_equal(touched.time, now - last[i] - 1);
        for (size_t size = 0; size < GRANULES; size += 1 + 16 * (now > 4000)) {
            bool hit = touched.kind == AS_TOUCH_REUSE && touched.distance < size + 1;
            assert_int_equal(list_touch(&caches[size], i), hit);
        }
        last[i] = now;
        there[i] = true;
    }
    as_lru_stack_free(&stack);
}

/* Without invalidations the distance is the number of distinct granules in between; a copy goes on alike. */
static void distinct_granules(void **state)
{
    struct as_lru_stack stack, copy;
    struct list list = {.most = GRANULES};
    uint64_t seed = 9;
    as_lru_stack_init(&stack);
    for (uint64_t now = 0; now < TOUCHES; now++) {
        uint64_t i = as_random_below(&seed, 1 + as_random_below(&seed, GRANULES));
        size_t depth = 0;
        while (depth < list.n && list.keys[depth] != i)
            depth++;
        bool there = list_touch(&list, i);
        if (now == TOUCHES / 2)
            as_lru_stack_copy(&copy, &stack);
        struct as_touched touched = touch(&stack, key_of(i), now);
        assert_int_equal(touched.kind == AS_TOUCH_REUSE, there);
        if (there)
            assert_int_equal(touched.distance, depth);
        if (now >= TOUCHES / 2)
            assert_int_equal(touch(&copy, key_of(i), now).distance, touched.distance);
    }
    as_lru_stack_free(&stack);
    as_lru_stack_free(&copy);
}

/* The same with invalidations, which change nothing but the kind of the next touch. */
static void distinct_whatever(void **state)
{
    struct as_lru_stack stack;
    struct list list = {.most = GRANULES};
    bool valid[GRANULES] = {0};
    uint64_t seed = 21;
    as_lru_stack_init(&stack);
    stack.distinct = true;
    for (uint64_t now = 0; now < 100000; now++) {
        uint64_t i = as_random_below(&seed, 1 + as_random_below(&seed, GRANULES));
        if (now % 5 == 0) {
            assert_int_equal(as_lru_stack_invalidate(&stack, key_of(i)), valid[i]);
            valid[i] = false;
            continue;
        }
        size_t depth = 0;
        while (depth < list.n && list.keys[depth] != i)
            depth++;
        bool ever = list_touch(&list, i);
        struct as_touched touched = touch(&stack, key_of(i), now);
        assert_int_equal(touched.kind, valid[i] ? AS_TOUCH_REUSE : ever ? AS_TOUCH_INVALIDATED : AS_TOUCH_COLD);
        if (valid[i])
            assert_int_equal(touched.distance, depth);
        valid[i] = true;
    }
    as_lru_stack_free(&stack);
}

/* More granules than the first table of slots holds: it grows, and memory with the footprint only. */
static void grows(void **state)
{
    struct as_lru_stack stack;
    const uint64_t n = 300000;
    as_lru_stack_init(&stack);
    for (uint64_t now = 0; now < 3 * n; now++) {
        struct as_touched touched = touch(&stack, now % n, now);
        assert_int_equal(touched.kind, now < n ? AS_TOUCH_COLD : AS_TOUCH_REUSE);
        if (now >= n)
            assert_int_equal(touched.distance, n - 1);
    }
    assert_int_equal(stack.granules, n);
    assert_true(as_lru_stack_bytes(&stack) < n * 32);
    as_lru_stack_free(&stack);
}

/* The order at sizes where each level of counts matters, against a plain array. */
static void order(void **state)
{
    struct as_slot_order order_;
    enum { N = (1 << 16) / 512 * AS_SLOT_LINE_SLOTS };
    static bool taken[N];
    uint64_t seed = 3;
    as_slot_order_init(&order_);
    for (uint32_t i = 0; i < N; i++) {
        assert_false(as_slot_order_full(&order_));
        uint32_t slot = as_slot_order_move(&order_, 0);
        assert_int_equal(slot, as_slot_order_number(i));
        taken[i] = true;
        uint32_t gone = (uint32_t)as_random_below(&seed, i + 1);
        if (i % 3 == 0 && taken[gone]) {
            as_slot_order_drop(&order_, as_slot_order_number(gone));
            taken[gone] = false;
        }
    }
    assert_true(as_slot_order_full(&order_));
    for (uint32_t i = N, behind = 0; i-- > 0;) {
        uint32_t slot = as_slot_order_number(i);
        assert_int_equal(as_slot_order_behind(&order_, slot), behind);
        if (taken[i]) {
            behind++;
            assert_int_equal(as_slot_order_renumber(&order_, slot), as_slot_order_number(order_.taken - behind));
        }
    }
    uint32_t n = order_.taken;
    as_slot_order_squeeze(&order_);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(as_slot_order_behind(&order_, as_slot_order_number(i)), n - i - 1);
    as_slot_order_free(&order_);
}

struct walk {
    struct as_slot_order order;
    uint32_t slots[40000], n, extended, squeezed;
};

static void make_room(struct walk *walk)
{
    if (as_slot_order_extend(&walk->order)) {
        walk->extended++;
        return;
    }
    for (uint32_t i = 0; i < walk->n; i++)
        walk->slots[i] = as_slot_order_renumber(&walk->order, walk->slots[i]);
    as_slot_order_squeeze(&walk->order);
    walk->squeezed++;
}

static void step(struct walk *walk, uint32_t i)
{
    if (as_slot_order_full(&walk->order))
        make_room(walk);
    if (i < walk->n)
        assert_int_equal(as_slot_order_behind(&walk->order, walk->slots[i]), walk->n - 1);
    walk->slots[i] = as_slot_order_move(&walk->order, i < walk->n ? walk->slots[i] : 0);
}

/* Slots that run out while many of them are taken: there are more, and no number changes. The second of three walks, each over twice
 * as many, comes to a size with a level more. */
static void extends(void **state)
{
    static struct walk walk;
    as_slot_order_init(&walk.order);
    walk.order.roomy = 1 << 17;
    for (uint32_t n = 10000; n <= 40000; n *= 2)
        for (uint32_t round = 0; round < 30; round++)
            for (uint32_t i = round ? 0 : walk.n; i < n; i++) {
                step(&walk, i);
                walk.n = walk.n > i ? walk.n : i + 1;
            }
    assert_int_equal(walk.order.size, 1 << 20);
    assert_int_equal(walk.order.taken, 40000);
    assert_int_equal(walk.extended, 2);
    assert_true(walk.squeezed > 3);
    as_slot_order_free(&walk.order);
}

/* A set-associative cache is a list for each set. */
static void cache_sets(void **state)
{
    static struct list sets[8];
    struct as_lru_cache cache;
    uint64_t seed = 11;
    as_lru_cache_init(&cache, &(struct as_cache_shape){.lines = 32, .ways = 4});
    for (size_t i = 0; i < 8; i++)
        sets[i].most = 4;
    for (int i = 0; i < 50000; i++) {
        uint64_t key = as_random_below(&seed, 64);
        struct as_cached_line out = {0};
        struct list *set = &sets[key % 8];
        uint64_t oldest = set->n == 4 ? set->keys[3] + 1 : 0;
        if (i % 50 == 0) {
            as_lru_cache_drop(&cache, key, &out);
            assert_int_equal(list_drop(set, key), out.key == key + 1);
            continue;
        }
        bool hit = list_touch(set, key);
        assert_int_equal(as_lru_cache_access(&cache, key, 1, 1, &out), hit);
        if (!hit)
            assert_int_equal(out.key, oldest);
    }
    as_lru_cache_free(&cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(example),           cmocka_unit_test(against_lists), cmocka_unit_test(distinct_granules),
        cmocka_unit_test(distinct_whatever), cmocka_unit_test(grows),         cmocka_unit_test(order),
        cmocka_unit_test(cache_sets),        cmocka_unit_test(extends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
