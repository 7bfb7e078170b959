/* Shadow stacks and the calling-context tree, one situation a test. Functions are F(n), call sites lie inside them. */
#include "symbol/callpath.h"

#include "unit.h"

#define F(n) ((uint64_t)(n)*0x1000)

static struct as_call_tree *tree;
static struct as_callpath *path;

static uint64_t function_of(void *context, uint64_t address)
{
    return address & ~(uint64_t)0xfff;
}

static int set_up(void **state)
{
    tree = as_call_tree_new();
    as_call_tree_set_resolver(tree, function_of, NULL);
    path = as_callpath_new(tree, F(1));
    return 0;
}

static int clean_up(void **state)
{
    as_callpath_free(path);
    as_call_tree_free(tree);
    return 0;
}

/* Calls F(to) from F(from) + site; the call is 5 bytes long. */
static void call(int from, int site, int to)
{
    as_callpath_call(path, F(from) + (uint64_t)site, F(from) + (uint64_t)site + 5, F(to));
}

static void ret(int to, int site)
{
    as_callpath_return(path, F(to) + (uint64_t)site + 5);
}

/* The path from the root, as numbers of functions; 0 ends it. A signal handler counts as its negative. */
static void expect_path(const int *functions)
{
    int seen[64], count = 0, expected = 0;
    for (uint32_t node = as_callpath_node(path); node != 0; node = as_call_tree_node(tree, node)->parent) {
        const struct as_call_node *n = as_call_tree_node(tree, node);
        assert_true(count < 64);
        seen[count++] = (int)(n->function / 0x1000) * (n->signal ? -1 : 1);
    }
    while (functions[expected] != 0)
        expected++;
    assert_int_equal(count, expected);
    for (int i = 0; i < count; i++)
        assert_int_equal(seen[count - 1 - i], functions[i]);
}
#define EXPECT(...) expect_path((const int[]){__VA_ARGS__, 0})

static void test_plain(void **state)
{
    EXPECT(1);
    call(1, 0x10, 2);
    EXPECT(1, 2);
    uint32_t node = as_callpath_node(path);
    assert_int_equal(as_call_tree_node(tree, node)->call_site, F(1) + 0x10);
    call(2, 0x20, 3);
    EXPECT(1, 2, 3);
    ret(2, 0x20);
    EXPECT(1, 2);
    ret(1, 0x10);
    EXPECT(1);
    call(1, 0x10, 2); /* the same path is the same node */
    assert_int_equal(as_callpath_node(path), node);
    ret(1, 0x10);
    call(1, 0x30, 2); /* another call site is another */
    assert_int_not_equal(as_callpath_node(path), node);
    assert_int_equal(as_call_tree_count(tree), 5);
}

/* Made code: what is at an address is another function from time to time, as callee and as caller. */
static void test_versions(void **state)
{
    uint32_t nodes[3];
    for (uint32_t i = 0; i < 3; i++) {
        call(1, 0x10, 2);
        as_callpath_enter(path, F(2) + 1, 9); /* not where the function begins */
        assert_int_equal(as_call_tree_node(tree, as_callpath_node(path))->entry, 0);
        as_callpath_enter(path, F(2), 7 + i % 2);
        nodes[i] = as_callpath_node(path);
        as_callpath_enter(path, F(2), 7 + i % 2);
        assert_int_equal(as_callpath_node(path), nodes[i]);
        as_callpath_call_from(path, 20 + i, F(2) + 0x20, F(2) + 0x25, F(3));
        EXPECT(1, 2, 3);
        const struct as_call_node *callee = as_call_tree_node(tree, as_callpath_node(path));
        assert_int_equal(callee->parent, nodes[i]);
        assert_int_equal(callee->site, 20 + i);
        ret(2, 0x20);
        assert_int_equal(as_callpath_node(path), nodes[i]);
        ret(1, 0x10);
    }
    assert_int_equal(nodes[0], nodes[2]);
    assert_int_not_equal(nodes[0], nodes[1]);
    assert_int_equal(as_call_tree_node(tree, nodes[1])->entry, 8);
    assert_int_equal(as_call_tree_node(tree, nodes[1])->call_site, F(1) + 0x10);
}

static void test_recursion(void **state)
{
    call(1, 0x10, 2);
    for (int i = 0; i < 100; i++)
        call(2, 0x20, 2);
    assert_int_equal(as_callpath_depth(path), 102);
    for (int i = 0; i < 100; i++)
        ret(2, 0x20); /* each pops one, the nearest */
    assert_int_equal(as_callpath_depth(path), 2);
    EXPECT(1, 2);
}

static void test_longjmp(void **state)
{
    call(1, 0x10, 2); /* setjmp here */
    call(2, 0x20, 3);
    call(3, 0x30, 4);
    call(4, 0x40, 9); /* longjmp: an indirect jump into the middle of 2 */
    as_callpath_land(path, F(2));
    EXPECT(1, 2);
    call(2, 0x50, 5);
    EXPECT(1, 2, 5);
}

/* The jump was not reported: the next return from the outer function puts it right. */
static void test_longjmp_unseen(void **state)
{
    call(1, 0x10, 2);
    call(2, 0x20, 3);
    call(3, 0x30, 4);
    ret(1, 0x10);
    EXPECT(1);
    assert_int_equal(as_callpath_depth(path), 1);
}

static void test_longjmp_far(void **state)
{
    call(1, 0x10, 2);
    for (int i = 0; i < 20000; i++)
        call(2, 0x20 + i % 7, 2);
    ret(1, 0x10);
    EXPECT(1);
}

/* The unwinder returns into the landing pad, an address that no call pushed. */
static void test_exception(void **state)
{
    call(1, 0x10, 2);
    call(2, 0x20, 3);
    call(3, 0x30, 4);
    call(4, 0x40, 8);
    call(8, 0x10, 7);
    as_callpath_return(path, F(2) + 0x123);
    EXPECT(1, 2);
    ret(1, 0x10);
    EXPECT(1);
}

static void test_tail(void **state)
{
    call(1, 0x10, 2);
    as_callpath_tail(path, F(3));
    EXPECT(1, 3);
    assert_int_equal(as_call_tree_node(tree, as_callpath_node(path))->call_site, F(1) + 0x10);
    as_callpath_tail(path, F(4));
    EXPECT(1, 4);
    call(4, 0x20, 5);
    EXPECT(1, 4, 5);
    ret(4, 0x20);
    ret(1, 0x10);
    EXPECT(1);
    as_callpath_tail(path, F(6)); /* of the entry function */
    EXPECT(6);
}

/* Stubs: the same tail call comes again and again, and now and then another one from the same place. */
static void test_tail_again(void **state)
{
    uint32_t nodes[2] = {0};
    for (int i = 0; i < 12; i++) {
        int other = i % 3 == 2;
        call(1, 0x10, 2);
        as_callpath_tail(path, other ? F(4) : F(3));
        if (other)
            EXPECT(1, 4);
        else
            EXPECT(1, 3);
        assert_true(!nodes[other] || nodes[other] == as_callpath_node(path));
        nodes[other] = as_callpath_node(path);
        ret(1, 0x10);
        call(1, 0x20, 2); /* the same functions from elsewhere are other nodes */
        as_callpath_tail(path, F(3));
        EXPECT(1, 3);
        assert_int_equal(as_call_tree_node(tree, as_callpath_node(path))->call_site, F(1) + 0x20);
        ret(1, 0x20);
    }
    assert_int_equal(as_call_tree_count(tree), 2 + 3 + 2);
}

static void test_signal(void **state)
{
    call(1, 0x10, 2);
    as_callpath_signal(path, F(5), F(2) + 0x44);
    EXPECT(1, 2, -5);
    call(5, 0x10, 6);
    EXPECT(1, 2, -5, 6);
    as_callpath_signal(path, F(7), F(6) + 1); /* nested */
    EXPECT(1, 2, -5, 6, -7);
    as_callpath_return(path, F(40)); /* into the trampoline */
    EXPECT(1, 2, -5, 6, -40);
    as_callpath_sigreturn(path);
    EXPECT(1, 2, -5, 6);
    ret(5, 0x10);
    as_callpath_sigreturn(path);
    EXPECT(1, 2);
    as_callpath_sigreturn(path); /* without a signal: nothing */
    EXPECT(1, 2);
    ret(1, 0x10);
    EXPECT(1);
}

static void test_siglongjmp(void **state)
{
    call(1, 0x10, 2);
    call(2, 0x20, 3);
    as_callpath_signal(path, F(5), F(3) + 0x44);
    call(5, 0x10, 9);
    as_callpath_land(path, F(2));
    EXPECT(1, 2);
    as_callpath_sigreturn(path);
    EXPECT(1, 2);
}

/* swapcontext by hand: 1 switches to a coroutine (function 5) and back, many times. The stack does not grow. */
static void test_coroutine(void **state)
{
    call(1, 0x10, 9);               /* swapcontext … */
    as_callpath_return(path, F(5)); /* … "returns" to the coroutine's start */
    EXPECT(1, 5);
    for (int i = 0; i < 1000; i++) {
        call(5, 0x20, 6);
        EXPECT(1, 5, 6);
        ret(5, 0x20);
        call(5, 0x30, 9);
        ret(1, 0x10); /* back to 1 */
        EXPECT(1);
        call(1, 0x10, 9);
        ret(5, 0x30); /* into the middle of 5, behind its own switch */
        EXPECT(1, 5);
    }
    assert_true(as_callpath_depth(path) <= 3);
}

/* Three coroutines that pass control around without the scheduler: bounded as well. */
static void test_round_robin(void **state)
{
    call(1, 0x10, 9);
    as_callpath_return(path, F(2));
    for (int i = 0; i < 3000; i++) {
        int from = 2 + i % 3, to = 2 + (i + 1) % 3;
        call(from, 0x30, 9);
        if (i < 2)
            as_callpath_return(path, F(to));
        else
            ret(to, 0x30);
    }
    assert_true(as_callpath_depth(path) <= 8);
}

/* call next; pop: position-independent code on old x86. */
static void test_call_next(void **state)
{
    as_callpath_call(path, F(1) + 1, F(1) + 6, F(1) + 6);
    assert_int_equal(as_callpath_depth(path), 1);
    EXPECT(1);
}

/* push target; ret (retpolines): enters a function that may already be on the stack. */
static void test_push_ret(void **state)
{
    call(1, 0x10, 2);
    call(2, 0x20, 3);
    as_callpath_return(path, F(2));
    EXPECT(1, 2, 2);
    ret(2, 0x20);
    EXPECT(1, 2);
}

static void test_deep(void **state)
{
    const int depth = 3 * AS_CALLPATH_MAX_DEPTH;
    for (int i = 0; i < depth; i++)
        call(1, 0x10, 1);
    assert_int_equal(as_callpath_depth(path), depth + 1);
    assert_int_equal(as_call_tree_count(tree), AS_CALLPATH_MAX_DEPTH + 1);
    assert_int_equal(as_call_tree_folded(tree), depth + 1 - AS_CALLPATH_MAX_DEPTH);
    for (int i = 0; i < depth; i++)
        ret(1, 0x10);
    EXPECT(1);
}

/* Calls that nothing returns from, more than the stack keeps: bounded, and the newest part stays exact. */
static void test_endless(void **state)
{
    for (int i = 0; i < 3 * AS_CALLPATH_MAX_FRAMES; i++)
        call(1, 0x10 + i % 3, 1);
    assert_true(as_callpath_depth(path) <= AS_CALLPATH_MAX_FRAMES);
    uint32_t node = as_callpath_node(path);
    size_t depth = as_callpath_depth(path);
    call(1, 0x50, 7);
    ret(1, 0x50);
    assert_int_equal(as_callpath_node(path), node);
    assert_int_equal(as_callpath_depth(path), depth);
}

/* Two call sites and recursion give 2^depth paths: the tree stops growing, the stack stays exact. */
static void fibonacci(int depth)
{
    if (depth == 0)
        return;
    call(1, 0x10, 1);
    fibonacci(depth - 1);
    ret(1, 0x10);
    call(1, 0x20, 1);
    fibonacci(depth - 1);
    ret(1, 0x20);
}

static void test_many_paths(void **state)
{
    fibonacci(21);
    assert_int_equal(as_call_tree_count(tree), AS_CALL_TREE_MAX_NODES);
    assert_true(as_call_tree_folded(tree) > 0);
    EXPECT(1);
    assert_int_equal(as_callpath_depth(path), 1);
}

static void test_threads_and_fork(void **state)
{
    struct as_callpath *other = as_callpath_new(tree, F(9));
    as_callpath_call(other, F(9) + 1, F(9) + 6, F(3));
    call(1, 0x10, 2);
    call(2, 0x20, 3);
    struct as_callpath *child = as_callpath_fork(path);
    ret(2, 0x20);
    EXPECT(1, 2);
    assert_int_equal(as_callpath_depth(child), 3);
    as_callpath_return(child, F(1) + 0x15);
    assert_int_equal(as_callpath_depth(child), 1);
    assert_int_equal(as_call_tree_node(tree, as_callpath_node(other))->function, F(3));
    EXPECT(1, 2);
    as_callpath_free(child);
    as_callpath_free(other);
}

/* Without a resolver an unknown return target is a function of its own. */
static void test_no_resolver(void **state)
{
    as_call_tree_set_resolver(tree, NULL, NULL);
    call(1, 0x10, 2);
    as_callpath_return(path, F(7) + 0x123);
    assert_int_equal(as_call_tree_node(tree, as_callpath_node(path))->function, F(7) + 0x123);
    ret(1, 0x10);
    EXPECT(1);
}

/* Slots tell instances of a recursion apart, and frames of another stack. */
static void test_slots(void **state)
{
    for (int i = 0; i < 3; i++) {
        call(1, 0x10, 1);
        as_callpath_set_slot(path, 0x9000 - 0x10 * (uint64_t)i);
    }
    EXPECT(1, 1, 1, 1);
    assert_int_equal(as_callpath_top_slot(path), 0x8fe0);
    assert_false(as_callpath_return_through(path, F(1) + 0x15, 0x7000, false));
    assert_false(as_callpath_return_through(path, F(2) + 0x15, 0x8ff0, false));
    assert_true(as_callpath_return_through(path, F(1) + 0x15, 0x8ff0, true)); /* the innermost was thrown away */
    EXPECT(1, 1);
    assert_int_equal(as_callpath_slot_to(path, F(1) + 0x15), 0x9000);
    assert_int_equal(as_callpath_slot_of(path, F(1)), 0x9000);
    assert_int_equal(as_callpath_slot_of(path, F(7)), 0);
    call(1, 0x20, 3); /* its slot is unknown */
    assert_false(as_callpath_return_through(path, F(1) + 0x25, 0x8800, true));
    assert_true(as_callpath_return_through(path, F(1) + 0x25, 0x8800, false));
    EXPECT(1, 1);
}

/* A stack that goes on elsewhere: frames below the stack pointer are gone, and all slots move with it. */
static void test_resumed_stacks(void **state)
{
    for (unsigned i = 0; i < 3; i++) {
        call(i, 0x10, i + 1);
        as_callpath_set_slot(path, 0x9000 - 0x100 * (uint64_t)i);
    }
    assert_int_equal(as_callpath_base(path), 0x9000);
    assert_true(as_callpath_has_return(path, F(1) + 0x15, 0x8f00));
    assert_false(as_callpath_has_return(path, F(1) + 0x15, 0x8e00));
    assert_true(as_callpath_has_function(path, 0x8f08, F(1)));
    assert_false(as_callpath_has_function(path, 0x8f08, F(3))); /* which is below */
    assert_false(as_callpath_has_function(path, 0x8400, F(1))); /* too far from its last call */
    assert_int_equal(as_callpath_calls_since(path, F(1) + 0x15), 2);
    as_callpath_return_moved(path, F(2) + 0x15, 0x4e00); /* the stack was copied to 0x4000 less */
    assert_int_equal(as_callpath_top_slot(path), 0x4f00);
    assert_int_equal(as_callpath_base(path), 0x5000);
    assert_true(as_callpath_unwind_to(path, F(0) + 0x15, 0x5000));
    assert_int_equal(as_callpath_depth(path), 2);
    as_callpath_resume(path, 0x5008, F(1));
    assert_int_equal(as_callpath_depth(path), 1);
}

/* The node after a return, or else of the nearest frame of a function; where neither has a frame there is none. */
static void test_nodes_of_frames(void **state)
{
    uint32_t nodes[4] = {as_callpath_node(path)};
    for (int i = 1; i < 4; i++) {
        call(i, 0x10, i + 1);
        nodes[i] = as_callpath_node(path);
    }
    assert_int_equal(as_callpath_node_at(path, F(3) + 0x15, 0), nodes[2]);
    assert_int_equal(as_callpath_node_at(path, F(1) + 0x15, F(4)), nodes[0]);
    assert_int_equal(as_callpath_node_at(path, F(3) + 0x16, F(3)), nodes[2]);
    assert_int_equal(as_callpath_node_at(path, F(3) + 0x16, F(1)), nodes[0]);
    assert_int_equal(as_callpath_node_at(path, F(3) + 0x16, F(9)), 0);
}

/* A path that began in the middle of a function says so, and so does a copy of it. */
static void test_partial(void **state)
{
    assert_false(as_callpath_is_partial(path));
    as_callpath_set_partial(path);
    call(1, 0x10, 2);
    assert_true(as_callpath_is_partial(path));
    struct as_callpath *child = as_callpath_fork(path);
    assert_true(as_callpath_is_partial(child));
    as_callpath_free(child);
}

static void test_handlers(void **state)
{
    assert_false(as_callpath_in_handler(path));
    as_callpath_signal(path, F(5), F(1) + 0x30);
    assert_true(as_callpath_in_handler(path));
    call(5, 0x10, 6);
    assert_false(as_callpath_in_handler(path)); /* but in what it called */
    ret(5, 0x10);
    assert_true(as_callpath_in_handler(path));
    assert_int_equal(as_callpath_sigreturn(path), F(1) + 0x30);
    assert_false(as_callpath_in_handler(path));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, clean_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_nodes_of_frames), TEST(test_partial),          TEST(test_handlers),    TEST(test_plain),
        TEST(test_versions),        TEST(test_recursion),        TEST(test_longjmp),     TEST(test_longjmp_unseen),
        TEST(test_longjmp_far),     TEST(test_exception),        TEST(test_tail),        TEST(test_tail_again),
        TEST(test_signal),          TEST(test_siglongjmp),       TEST(test_coroutine),   TEST(test_round_robin),
        TEST(test_call_next),       TEST(test_push_ret),         TEST(test_deep),        TEST(test_endless),
        TEST(test_many_paths),      TEST(test_threads_and_fork), TEST(test_no_resolver), TEST(test_slots),
        TEST(test_resumed_stacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
