/* Call paths from executions by hand: calls and returns, signals, forks, programs; and the sums by path. The code is that of
 * stream_bed.h, of which no symbols are known: a function begins where a call leads to. */
#include "../engine/stream_bed.h"
#include "count/calls.h"
#include "count/tracker_stacks.h"
#include "unit.h"

enum { STACK = 0x7000, CALL_SITE = CALLS + 1, BEHIND_CALL = CALLS + 6, FORK = 57, GETPID = 39 };

static struct bed bed;
static struct as_call_tracker *tracker;
static struct as_thread first;

static int set_up(void **state)
{
    bed_init(&bed);
    bed_add_code(&bed);
    tracker = as_call_tracker_new();
    first = (struct as_thread){.number = 1, .process = 1, .image = as_code_table_find_image(&bed.code, 1)};
    as_call_tracker_thread_start(tracker, &first);
    return 0;
}

static int tear_down(void **state)
{
    as_call_tracker_free(tracker);
    bed_free(&bed);
    return 0;
}

/* ---- in place of the engine (engine.h) ---- */

const struct as_image *as_engine_image(const struct as_engine *engine, uint32_t number)
{
    return as_code_table_find_image(&bed.code, number);
}

/* Of made code: what ran there under this name. */
void as_engine_locate(const struct as_engine *engine, uint32_t insn, struct as_location *location)
{
    assert_int_equal(insn, 8);
    *location = (struct as_location){.module_name = "[jit]", .function = "made"};
}

/* ---- */

/* All of a block; `slot`: where its last instruction has the return address, 0: it has none. */
static struct as_block_exec execution(uint32_t address, uint64_t next, uint64_t slot)
{
    const struct as_block *block = as_code_table_block(&bed.code, address);
    bool call = address == CALLS;
    as_vec_clear(&bed.words);
    if (slot)
        bed_access(&bed, call ? AS_WIRE_STORE : AS_WIRE_LOAD, block->n - 1, slot, 8);
    return (struct as_block_exec){.block = block,
                                  .end = block->n,
                                  .taken = next != block->end,
                                  .next = next,
                                  .words = bed.words.data,
                                  .n_words = bed.words.len};
}

/* Returns the node that the block belongs to. */
static uint32_t run_of(const struct as_thread *thread, uint32_t address, uint64_t next, uint64_t slot)
{
    struct as_block_exec exec = execution(address, next, slot);
    uint32_t node = as_call_tracker_begin(tracker, thread, &exec);
    as_call_tracker_end(tracker, thread, &exec);
    return node;
}

static uint32_t run(uint32_t address, uint64_t next, uint64_t slot)
{
    return run_of(&first, address, next, slot);
}

static void check_node(uint32_t number, uint32_t parent, uint64_t function, uint64_t call_site, bool signal)
{
    const struct as_call_node *node = as_call_tree_node(as_call_tracker_tree(tracker, 0), number);
    assert_int_equal(node->parent, parent);
    assert_int_equal(node->function, function);
    assert_int_equal(node->call_site, call_site);
    assert_int_equal(node->signal, signal);
}

static void calls_and_returns(void **state)
{
    uint32_t begin = run(MIX, CALLS, 0);
    check_node(begin, 0, MIX, 0, false);
    assert_int_equal(run(CALLS, CALLED, STACK), begin);
    uint32_t called = run(CALLED, BEHIND_CALL, STACK);
    check_node(called, begin, CALLED, CALL_SITE, false);
    assert_int_equal(run(BACK, MIX, 0), begin); /* no function's extent is known: a jump stays in it */
    assert_int_equal(run(CALLS, CALLED, STACK), begin);
    assert_int_equal(run(CALLED, BEHIND_CALL, STACK), called);
    assert_int_equal(run(MIX, MIX_REST, 0), begin);
}

/* Two frames return to the same place: the slot tells which. */
static void returns_by_slots(void **state)
{
    uint32_t begin = run(CALLS, CALLS, STACK), inner = run(CALLS, CALLS, STACK - 16),
             innermost = run(CALLS, CALLED, STACK - 32);
    check_node(inner, begin, CALLS, CALL_SITE, false);
    check_node(innermost, inner, CALLS, CALL_SITE, false);
    check_node(run(CALLED, BEHIND_CALL, STACK), innermost, CALLED, CALL_SITE, false); /* as after a longjmp */
    assert_int_equal(run(BACK, MIX, 0), begin);
}

static void signals(void **state)
{
    uint32_t begin = run(MIX, CALLS, 0);
    run(CALLS, CALLED, STACK);
    as_call_tracker_signal(tracker, &first, CALLED);
    uint32_t handler = run(HANDLER, RESTORER, STACK - 64);
    const struct as_call_node *node = as_call_tree_node(as_call_tracker_tree(tracker, 0), handler);
    assert_true(node->signal && node->function == HANDLER);
    check_node(node->parent, begin, CALLED, CALL_SITE, false);
    run(RESTORER, 0, 0);
    size_t nodes = as_call_tree_count(as_call_tracker_tree(tracker, 0));
    as_call_tracker_signal_return(tracker, &first);
    uint32_t interrupted = run(CALLED, BEHIND_CALL, STACK);
    check_node(interrupted, begin, CALLED, CALL_SITE, false);
    assert_int_equal(run(BACK, MIX, 0), begin);
    assert_int_equal(as_call_tree_count(as_call_tracker_tree(tracker, 0)), nodes); /* nothing was entered again */
}

/* A handler of several blocks is one call of it. */
static void long_handlers(void **state)
{
    run(MIX, CALLS, 0);
    as_call_tracker_signal(tracker, &first, CALLS);
    uint32_t handler = run(MIX, MIX_REST, 0);
    assert_true(as_call_tree_node(as_call_tracker_tree(tracker, 0), handler)->signal);
    for (int i = 0; i < 3; i++)
        assert_int_equal(run(LOOP, LOOP, 0), handler);
}

/* A handler lets what it interrupted call a function: so Go preempts its goroutines. */
static void handlers_that_make_a_call(void **state)
{
    uint32_t begin = run(MIX, LOOP, 0);
    as_call_tracker_signal(tracker, &first, LOOP);
    run(HANDLER, RESTORER, STACK - 64);
    run(RESTORER, 0, 0);
    as_call_tracker_signal_return(tracker, &first);
    check_node(run(CALLED, LOOP, STACK), begin, CALLED, LOOP, false);
    assert_int_equal(run(LOOP, LOOP, 0), begin);
}

/* A child goes on where its parent was when it asked; threads and other system calls begin anew. */
static void children(void **state)
{
    run(MIX, CALLS, 0);
    run(CALLS, CALLED, STACK);
    uint32_t called = run(LOOP, LOOP, 0);
    as_call_tracker_syscall(tracker, &first, GETPID);
    struct as_thread second = {.number = 2, .parent = 1, .process = 2, .image = first.image};
    as_call_tracker_thread_start(tracker, &second);
    check_node(run_of(&second, LOOP, LOOP, 0), 0, LOOP, 0, false);
    as_call_tracker_syscall(tracker, &first, FORK);
    run(CALLED, BEHIND_CALL, STACK); /* the parent goes on */
    struct as_thread third = {.number = 3, .parent = 1, .process = 3, .image = first.image};
    as_call_tracker_thread_start(tracker, &third);
    assert_int_equal(run_of(&third, CALLED, BEHIND_CALL, STACK), called);
    as_call_tracker_thread_end(tracker, &third);
    as_call_tracker_thread_start(tracker, &(struct as_thread){.number = 3, .process = 3, .image = first.image});
    check_node(run_of(&third, LOOP, LOOP, 0), 0, LOOP, 0, false);
}

/* Calls that make a child have other numbers on each processor. */
static void calls_that_make_children(void **state)
{
    static const struct {
        enum as_arch arch;
        uint32_t number;
        bool forks;
    } cases[] = {{AS_ARCH_X86_64, 55, false},  {AS_ARCH_X86_64, 56, true},   {AS_ARCH_X86_64, 57, true},
                 {AS_ARCH_X86_64, 58, true},   {AS_ARCH_X86_64, 59, false},  {AS_ARCH_X86_64, 220, false},
                 {AS_ARCH_X86_64, 435, true},  {AS_ARCH_X86_64, 436, false}, {AS_ARCH_RISCV64, 0, false},
                 {AS_ARCH_RISCV64, 57, false}, {AS_ARCH_RISCV64, 220, true}, {AS_ARCH_RISCV64, 221, false},
                 {AS_ARCH_RISCV64, 435, true}, {AS_ARCH_RISCV64, 436, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_image image = *first.image;
        struct as_thread parent = first, child = {.number = 2, .parent = 1, .process = 2, .image = first.image};
        image.arch = cases[i].arch;
        parent.image = &image;
        uint32_t begin = run(MIX, CALLS, 0);
        as_call_tracker_syscall(tracker, &first, FORK);
        run(CALLS, CALLED, STACK);
        uint32_t called = run(LOOP, LOOP, 0);
        as_call_tracker_syscall(tracker, &parent, cases[i].number);
        as_call_tracker_thread_start(tracker, &child);
        uint32_t node = run_of(&child, LOOP, LOOP, 0);
        if (node != (cases[i].forks ? called : begin))
            fail_msg("call %u of processor %d", cases[i].number, cases[i].arch);
        run(CALLED, BEHIND_CALL, STACK);
        run(BACK, MIX, 0);
    }
}

/* Each program has a tree. */
static void programs(void **state)
{
    struct as_thread other = {.number = 2, .process = 2, .image = as_code_table_find_image(&bed.code, 2)};
    run(MIX, CALLS, 0);
    as_call_tracker_thread_start(tracker, &other);
    assert_int_equal(as_call_tracker_count_images(tracker), 2);
    assert_int_equal(as_call_tracker_image_of(tracker, &first), 0);
    assert_int_equal(as_call_tracker_image_of(tracker, &other), 1);
    assert_ptr_equal(as_call_tracker_image(tracker, 1), other.image);
    as_call_tracker_thread_start(tracker, &(struct as_thread){.number = 3, .process = 3, .image = first.image});
    assert_int_equal(as_call_tracker_count_images(tracker), 2);
}

static void what_keeps_a_path(void **state)
{
    const struct as_block *loop = as_code_table_block(&bed.code, LOOP), *call = as_code_table_block(&bed.code, CALLS);
    assert_false(as_call_tracker_is_calm(tracker, &first)); /* it has no path yet */
    run(MIX, CALLS, 0);
    assert_true(as_call_tracker_is_calm(tracker, &first));
    assert_true(as_call_tracker_keeps(tracker, &first, loop));
    assert_false(as_call_tracker_keeps(tracker, &first, call));
    assert_false(as_call_tracker_keeps(tracker, &first, as_code_table_block(&bed.code, CALLED)));
    struct as_block_exec falls = execution(LOOP, loop->end, 0), calls = execution(CALLS, CALLED, STACK);
    as_call_tracker_begin(tracker, &first, &falls);
    assert_false(as_call_tracker_end(tracker, &first, &falls));
    assert_true(as_call_tracker_end(tracker, &first, &calls));
}

/* What was left out may have been anything. */
static void forgotten_paths(void **state)
{
    run(MIX, CALLS, 0);
    run(CALLS, CALLED, STACK);
    as_call_tracker_forget(tracker);
    assert_false(as_call_tracker_is_calm(tracker, &first));
    check_node(run(LOOP, LOOP, 0), 0, LOOP, 0, false);
}

/* A jump went to a stack that is not known yet, and the return behind it does not say either: the guess follows it. */
static void returns_on_a_stack_to_be_known(void **state)
{
    uint32_t begin = run(MIX, CALLS, 0);
    struct as_thread_calls *calls = &tracker->threads.data[0];
    run(CALLS, CALLED, STACK);
    calls->resumed = LOOP;
    calls->guess = 0;
    run(CALLED, BEHIND_CALL, 0);
    assert_int_equal(calls->resumed, BEHIND_CALL);
    assert_int_equal(calls->guess, begin);
}

/* The second thread goes on in a function that the first has called: nothing is known of how it came there, so what it had is not
 * a stack that waits. */
static void beginnings_are_found(void **state)
{
    struct as_thread second = {.number = 2, .process = 1, .image = first.image};
    uint32_t begin = run(MIX, CALLS, 0);
    run(CALLS, CALL_SITE, STACK);
    as_call_tracker_thread_start(tracker, &second);
    run_of(&second, LOOP, LOOP, 0);
    as_callpath_set_partial(tracker->threads.data[1].path);
    run_of(&second, CALLS, CALLED, STACK - 32);
    uint32_t called = run_of(&second, CALLED, BEHIND_CALL, STACK - 32);
    const struct as_call_node *node = as_call_tree_node(as_call_tracker_tree(tracker, 0), called);
    assert_int_equal(node->function, CALLED);
    check_node(node->parent, begin, CALL_SITE, CALL_SITE, false);
    assert_int_equal(as_call_tracker_switches(tracker).count, 1);
    assert_int_equal(tracker->stacks.list.len, 0);
    assert_true(tracker->threads.data[0].lent && !tracker->threads.data[1].lent);
}

/* A thread that has begun no block is on no path: its end changes nothing. */
static void ends_without_a_beginning(void **state)
{
    struct as_thread second = {.number = 2, .process = 1, .image = first.image};
    struct as_block_exec exec = execution(MIX, CALLS, 0);
    as_call_tracker_thread_start(tracker, &second);
    assert_false(as_call_tracker_end(tracker, &second, &exec));
    assert_false(as_call_tracker_is_calm(tracker, &second));
    assert_int_not_equal(run_of(&second, MIX, CALLS, 0), 0);
}

/* A thread that executed nothing has no instructions anywhere. */
static void a_thread_that_does_nothing(void **state)
{
    size_t n;
    struct as_call_counter *counter = as_call_counter_new();
    as_call_counter_sink.thread_start(counter, &first);
    struct as_call_count *list = as_call_counter_list(counter, NULL, &n);
    for (size_t i = 0; i < n; i++)
        assert_true(list[i].self == 0 && list[i].total == 0);
    free(list);
    as_call_counter_free(counter);
}

/* Each program has a tree of its own: the same code in two of them is two paths. */
static void sums_by_image(void **state)
{
    struct as_thread second = {.number = 2, .process = 2, .image = as_code_table_find_image(&bed.code, 2)};
    const struct as_thread *both[] = {&first, &second};
    struct as_call_counter *counter = as_call_counter_new();
    for (size_t i = 0; i < 2; i++) {
        struct as_thread thread = *both[i];
        struct as_block_exec exec = execution(MIX, CALLS, 0);
        as_call_counter_sink.thread_start(counter, &thread);
        for (size_t times = 0; times <= i; times++)
            as_call_counter_sink.block(counter, &thread, &exec);
    }
    size_t n;
    struct as_call_count *list = as_call_counter_list(counter, NULL, &n);
    assert_int_equal(n, 4);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(list[i].image, 1 + i / 2);
        assert_int_equal(list[i].node, i % 2);
        assert_int_equal(list[i].total, 3 * (1 + i / 2));
    }
    free(list);
    as_call_counter_free(counter);
}

/* What an access through the stack pointer says of it: the first behind the instruction that set it, and none of another register. */
static void stack_pointers(void **state)
{
    enum { SWITCHES = 0x9000 };
    /* mov rax, [rsp+8]; mov rsp, rdi; mov rbx, [rsi+0x18]; mov eax, [rsp+4*rcx+8]; mov rax, [rsp+0x18]; mov rbp, [rsp]; jmp rax */
    bed_block(&bed, SWITCHES, "48 8b 44 24 08, 48 89 fc, 48 8b 5e 18, 8b 44 8c 08, 48 8b 44 24 18, 48 8b 2c 24, ff e0");
    struct as_thread_calls calls = {.pointer = 7};
    struct as_block_exec exec = execution(SWITCHES, LOOP, 0);
    assert_int_equal(exec.block->stack_at, 1);
    as_calls_note_pointer(&calls, &exec);
    assert_true(calls.moved && calls.pointer == 0);
    bed_access(&bed, AS_WIRE_LOAD, 0, STACK + 0x1008, 8);
    bed_access(&bed, AS_WIRE_LOAD, 2, STACK + 0x2000, 8);
    bed_access(&bed, AS_WIRE_LOAD, 3, STACK + 0x3000, 4);
    exec.words = bed.words.data;
    exec.n_words = bed.words.len;
    as_calls_note_pointer(&calls, &exec);
    assert_int_equal(calls.pointer, 0);
    bed_access(&bed, AS_WIRE_LOAD, 4, STACK + 0x18, 8);
    bed_access(&bed, AS_WIRE_LOAD, 5, STACK + 0x100, 8);
    exec.words = bed.words.data;
    exec.n_words = bed.words.len;
    as_calls_note_pointer(&calls, &exec);
    assert_int_equal(calls.pointer, STACK);
    exec.end = 4; /* the others belong to what was not executed */
    as_calls_note_pointer(&calls, &exec);
    assert_int_equal(calls.pointer, 0);
    calls.pointer = STACK;
    exec = execution(HANDLER, RESTORER, 0); /* it sets no stack pointer: what was known stays */
    as_calls_note_pointer(&calls, &exec);
    assert_int_equal(calls.pointer, STACK);
}

/* What lies at address 0 is a function like others, and not the root of all. */
static void sums_of_the_first_address(void **state)
{
    static const uint32_t begins[] = {MIX, 0};
    struct as_call_counter *counter = as_call_counter_new();
    bed_block(&bed, 0, "90, c3");
    for (uint32_t i = 0; i < 2; i++) {
        struct as_thread thread = {.number = 1 + i, .process = 1, .image = first.image};
        struct as_block_exec exec = execution(begins[i], LOOP, 0);
        as_call_counter_sink.thread_start(counter, &thread);
        as_call_counter_sink.block(counter, &thread, &exec);
    }
    size_t n;
    struct as_call_count *list = as_call_counter_list(counter, NULL, &n);
    assert_int_equal(n, 3);
    assert_true(list[0].self == 0 && list[0].total == 3 + 2);
    assert_true(list[1].function == MIX && list[1].self == 3 && list[1].parent == 0);
    assert_true(list[2].function == 0 && list[2].self == 2 && list[2].parent == 0);
    free(list);
    as_call_counter_free(counter);
}

/* The last access of an instruction; none where nothing was recorded of it. */
static void last_access(void **state)
{
    struct as_block_exec exec = execution(CALLS, CALLED, STACK);
    int16_t last = (int16_t)(exec.block->n - 1);
    bed_access(&bed, AS_WIRE_STORE, (uint32_t)last, STACK + 8, 8);
    exec.words = bed.words.data;
    exec.n_words = bed.words.len;
    assert_int_equal(as_calls_accessed(&exec, last), STACK + 8);
    assert_int_equal(as_calls_accessed(&exec, (int16_t)(last - 1)), 0);
    exec.n_words = 1;
    assert_int_equal(as_calls_accessed(&exec, last), STACK);
    exec.n_words = 0;
    assert_int_equal(as_calls_accessed(&exec, last), 0);
}

static void count_part(struct as_call_counter *counter, uint32_t address, uint32_t begin, uint32_t end, uint64_t next,
                       uint64_t slot)
{
    struct as_block_exec exec = execution(address, next, slot);
    exec.first = begin;
    exec.end = end;
    exec.taken = next != 0;
    as_call_counter_sink.block(counter, &first, &exec);
}

/* Instructions: 3, 2 and 2 of the beginning, 2 of what it calls, and one of a handler between these two. */
static void sums_by_path(void **state)
{
    static const struct as_call_count wanted[] = {
        {.image = 1, .total = 10},
        {.image = 1, .node = 1, .function = MIX, .self = 7, .total = 10},
        {.image = 1, .node = 2, .parent = 1, .function = CALLED, .self = 2, .total = 3},
        {.image = 1, .node = 3, .parent = 2, .function = HANDLER, .signal = true, .self = 1, .total = 1}};
    struct as_call_counter *counter = as_call_counter_new();
    as_call_counter_sink.thread_start(counter, &first);
    count_part(counter, MIX, 0, 3, CALLS, 0);
    count_part(counter, CALLS, 0, 2, CALLED, STACK);
    count_part(counter, CALLED, 0, 1, 0, 0);
    as_call_counter_sink.signal(counter, &first, 10, CALLED + 1);
    count_part(counter, HANDLER, 0, 1, 0, 0);
    as_call_counter_sink.signal_return(counter, &first);
    count_part(counter, CALLED, 1, 2, BEHIND_CALL, STACK);
    count_part(counter, BACK, 0, 2, MIX, 0);
    as_call_counter_sink.thread_end(counter, &first);
    size_t n;
    struct as_call_count *list = as_call_counter_list(counter, NULL, &n);
    assert_int_equal(n, sizeof wanted / sizeof *wanted);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(list[i].image, wanted[i].image);
        assert_int_equal(list[i].node, wanted[i].node);
        assert_int_equal(list[i].parent, wanted[i].parent);
        assert_int_equal(list[i].function, wanted[i].function);
        assert_int_equal(list[i].signal, wanted[i].signal);
        assert_int_equal(list[i].self, wanted[i].self);
        assert_int_equal(list[i].total, wanted[i].total);
    }
    assert_int_equal(as_call_counter_folded(counter), 0);
    free(list);
    as_call_counter_free(counter);
}

/* Of made code, what was there when the function was entered has the name; a signal's handler is shown as one. */
static void names_of_calls(void **state)
{
    struct as_call_count call = {.image = 1, .function = CALLED, .signal = true};
    as_space_map(first.image->space, CALLED - 0x10, CALLED + 0x10, 0, "/nowhere/prog");
    assert_string_equal(as_call_count_name(NULL, &call), "(signal) prog+0x10");
    call.signal = false;
    assert_string_equal(as_call_count_name(NULL, &call), "prog+0x10");
    call.entry = 9;
    assert_string_equal(as_call_count_name(NULL, &call), "made");
    assert_string_equal(as_call_count_name(NULL, &(struct as_call_count){.image = 1}), "(all)");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(calls_and_returns),
        TEST(returns_by_slots),
        TEST(signals),
        TEST(long_handlers),
        TEST(handlers_that_make_a_call),
        TEST(children),
        TEST(calls_that_make_children),
        TEST(programs),
        TEST(what_keeps_a_path),
        TEST(forgotten_paths),
        TEST(returns_on_a_stack_to_be_known),
        TEST(beginnings_are_found),
        TEST(ends_without_a_beginning),
        TEST(sums_by_image),
        TEST(a_thread_that_does_nothing),
        TEST(sums_of_the_first_address),
        TEST(stack_pointers),
        TEST(last_access),
        TEST(sums_by_path),
        TEST(names_of_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
