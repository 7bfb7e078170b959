/* Stacks that wait, and threads that go from one to another: which path they go on with, which is left, and which are another
 * thread's. The functions are addresses: no symbols are needed. */
#include "count/tracker_stacks.h"
#include "count/waiting_stacks.h"
#include "engine/wire.h"
#include "symbol/space.h"
#include "unit.h"

#include <inttypes.h>
#include <stdio.h>

enum { ENTRY = 0x100, OUTER = 0x200, INNER = 0x300, BACK_OUTER = 0x115, BACK_INNER = 0x215, FRAME = 0x40 };

static struct as_call_tracker *tracker;
static struct as_image image = {.number = 1, .arch = AS_ARCH_X86_64};
static struct as_thread threads[] = {{.number = 1, .process = 1, .image = &image},
                                     {.number = 2, .process = 1, .image = &image},
                                     {.number = 3, .process = 2, .image = &image}};
static const struct as_stack_owner owner = {.process = 1};

static int set_up(void **state)
{
    image.space = as_space_new(NULL);
    tracker = as_call_tracker_new();
    for (size_t i = 0; i < 3; i++)
        as_call_tracker_thread_start(tracker, &threads[i]);
    return 0;
}

static int tear_down(void **state)
{
    as_call_tracker_free(tracker);
    as_space_free(image.space);
    return 0;
}

/* ENTRY called OUTER, which called INNER, on the stack that begins at `base`. */
static struct as_callpath *new_path(uint64_t base)
{
    struct as_callpath *path = as_callpath_new(tracker->images.data[0].tree, ENTRY);
    as_callpath_call(path, BACK_OUTER - 5, BACK_OUTER, OUTER);
    as_callpath_set_slot(path, base);
    as_callpath_call(path, BACK_INNER - 5, BACK_INNER, INNER);
    as_callpath_set_slot(path, base - FRAME);
    return path;
}

static struct as_callpath *wait_on(uint64_t base)
{
    struct as_callpath *path = new_path(base);
    as_stacks_put(&tracker->stacks, owner, path);
    return path;
}

static size_t waiting(void)
{
    return tracker->stacks.list.len;
}

/* ---- stacks that wait ---- */

static void frames_are_found_by_their_slots(void **state)
{
    struct as_callpath *low = wait_on(0x9000), *high = wait_on(0xa000);
    assert_null(as_stacks_take_frame(&tracker->stacks, owner, BACK_INNER, 0x9000)); /* OUTER's slot */
    assert_null(as_stacks_take_frame(&tracker->stacks, (struct as_stack_owner){.process = 2}, BACK_OUTER, 0x9000));
    assert_null(as_stacks_take_frame(&tracker->stacks, (struct as_stack_owner){1, 1}, BACK_OUTER, 0x9000));
    assert_int_equal(waiting(), 2);
    assert_ptr_equal(as_stacks_take_frame(&tracker->stacks, owner, BACK_OUTER, 0x9000), low);
    assert_int_equal(as_callpath_top_slot(low), 0x9000);
    assert_int_equal(waiting(), 1);
    struct as_callpath *again = wait_on(0xa000);
    assert_ptr_equal(as_stacks_take_frame(&tracker->stacks, owner, BACK_INNER, 0xa000 - FRAME), again); /* left last */
    assert_ptr_equal(as_stacks_take_frame(&tracker->stacks, owner, BACK_INNER, 0xa000 - FRAME), high);
    assert_int_equal(waiting(), 0);
    as_callpath_free(low);
    as_callpath_free(high);
    as_callpath_free(again);
}

/* One that waits alone is asked like any other. */
static void a_single_one_is_found(void **state)
{
    struct as_callpath *only = wait_on(0x9000);
    assert_int_not_equal(as_stacks_guess(&tracker->stacks, owner, BACK_INNER, OUTER), 0);
    assert_true(as_stacks_have_return(&tracker->stacks, owner, BACK_INNER));
    assert_ptr_equal(as_stacks_take_frame(&tracker->stacks, owner, BACK_OUTER, 0x9000), only);
    assert_int_equal(as_stacks_guess(&tracker->stacks, owner, BACK_INNER, OUTER), 0);
    assert_false(as_stacks_have_return(&tracker->stacks, owner, BACK_INNER));
    as_callpath_free(only);
    wait_on(0x9000);
    as_stacks_drop(&tracker->stacks, owner, 0x9000);
    assert_int_equal(waiting(), 0);
}

static void distances(void **state)
{
    struct as_callpath *path = new_path(0x9000);
    struct as_stack_target place = {.address = BACK_INNER};
    assert_int_equal(as_stack_distance(path, &place), 0);
    place.pointer = 0x9000 - FRAME - 511;
    assert_int_equal(as_stack_distance(path, &place), 511);
    place.pointer--;
    assert_int_equal(as_stack_distance(path, &place), UINT64_MAX);
    place.pointer = 0x9000;
    assert_int_equal(as_stack_distance(path, &place), FRAME);
    place = (struct as_stack_target){.address = OUTER, .pointer = 0x8000, .is_function = true};
    assert_int_equal(as_stack_distance(path, &place), 0x1000);
    place.address = 0x999;
    assert_int_equal(as_stack_distance(path, &place), UINT64_MAX);
    place.pointer = 0;
    assert_int_equal(as_stack_distance(path, &place), UINT64_MAX);
    place.pointer = 0x8ff0;
    assert_int_equal(as_stack_room(path, &place), 0x10);
    place.partial = true;
    assert_int_equal(as_stack_room(path, &place), UINT64_MAX);
    as_callpath_set_partial(path);
    assert_int_equal(as_stack_room(path, &place), 0x10);
    place.pointer = 0x9001;
    assert_int_equal(as_stack_room(path, &place), UINT64_MAX);
    as_callpath_free(path);
}

static void pointers_are_on_the_stack_that_begins_next(void **state)
{
    uint64_t below = UINT64_MAX;
    struct as_callpath *low = wait_on(0x9000), *high = wait_on(0x9100);
    struct as_stack_target place = {.address = OUTER, .pointer = 0x8f80, .is_function = true};
    assert_null(as_stacks_take_around(&tracker->stacks, (struct as_stack_owner){.process = 2}, &place, &below));
    assert_int_equal(below, UINT64_MAX);
    assert_ptr_equal(as_stacks_take_around(&tracker->stacks, owner, &place, &below), low);
    assert_int_equal(below, 0x80);
    below = 0x180; /* no nearer than that */
    assert_null(as_stacks_take_around(&tracker->stacks, owner, &place, &below));
    below = UINT64_MAX;
    place.address = 0x999; /* not there */
    assert_null(as_stacks_take_around(&tracker->stacks, owner, &place, &below));
    assert_int_equal(below, 0x180);
    place.address = OUTER, below = 0x181, place.pointer = 0x9000;
    assert_ptr_equal(as_stacks_take_around(&tracker->stacks, owner, &place, &below), high);
    assert_int_equal(below, 0x100);
    as_callpath_free(low);
    as_callpath_free(high);
}

/* Schedulers take turns: the first that waits for an address; of a function the last. */
static void which_of_several(void **state)
{
    struct as_callpath *first = wait_on(0x9000), *second = wait_on(0xa000), *third = wait_on(0xb000);
    struct as_stack_target place = {.address = BACK_INNER}, function = {.address = OUTER, .is_function = true};
    assert_int_equal(as_stacks_guess(&tracker->stacks, owner, BACK_INNER, OUTER),
                     as_callpath_node_at(first, BACK_INNER, OUTER));
    assert_int_equal(as_stacks_guess(&tracker->stacks, (struct as_stack_owner){.process = 2}, BACK_INNER, OUTER), 0);
    assert_true(as_stacks_have_return(&tracker->stacks, owner, BACK_INNER));
    assert_false(as_stacks_have_return(&tracker->stacks, owner, 0x999));
    assert_false(as_stacks_have_return(&tracker->stacks, (struct as_stack_owner){.process = 2}, BACK_INNER));
    assert_ptr_equal(as_stacks_take_near(&tracker->stacks, owner, &place, UINT64_MAX), first);
    assert_ptr_equal(as_stacks_take_near(&tracker->stacks, owner, &function, UINT64_MAX), third);
    assert_null(as_stacks_take_near(&tracker->stacks, owner, &function, 0));
    place.pointer = 0xa000 - FRAME - 8;
    assert_null(as_stacks_take_near(&tracker->stacks, owner, &place, 8));
    assert_ptr_equal(as_stacks_take_near(&tracker->stacks, owner, &place, 9), second);
    as_callpath_free(first);
    as_callpath_free(second);
    as_callpath_free(third);
}

/* Where the pointer is known it decides, whichever waited longest. */
static void the_nearest_of_several(void **state)
{
    struct as_callpath *first = wait_on(0x9000), *second = wait_on(0xa000);
    struct as_stack_target function = {.address = OUTER, .pointer = 0x8f00, .is_function = true};
    wait_on(0xb000);
    assert_ptr_equal(as_stacks_take_near(&tracker->stacks, owner, &function, UINT64_MAX), first);
    assert_ptr_equal(as_stacks_take_near(&tracker->stacks, owner, &function, UINT64_MAX), second);
    assert_int_equal(waiting(), 1);
    as_callpath_free(first);
    as_callpath_free(second);
}

static void old_paths_are_forgotten(void **state)
{
    struct as_callpath *kept = NULL;
    wait_on(0x9000);
    wait_on(0xa000);
    as_stacks_drop(&tracker->stacks, (struct as_stack_owner){.process = 2}, 0x9000);
    assert_int_equal(waiting(), 2);
    as_stacks_drop(&tracker->stacks, owner, 0x9000); /* a new stack began there */
    assert_int_equal(waiting(), 1);
    for (size_t i = 0; i < AS_STACKS_MAX; i++)
        kept = wait_on(0x100000 + 0x1000 * i);
    assert_int_equal(waiting(), AS_STACKS_MAX);
    assert_false(as_stacks_take_frame(&tracker->stacks, owner, BACK_OUTER, 0xa000)); /* it waited longest */
    assert_ptr_equal(tracker->stacks.list.data[AS_STACKS_MAX - 1].path, kept);
}

/* ---- threads that go on with another stack ---- */

static struct as_thread_calls *on_stack(size_t thread, uint64_t base)
{
    struct as_thread_calls *calls = &tracker->threads.data[thread];
    calls->path = new_path(base);
    return calls;
}

static void a_return_to_a_stack_that_waits(void **state)
{
    struct as_thread_calls *calls = on_stack(0, 0x9000);
    struct as_callpath *left = calls->path, *other = wait_on(0xa000);
    assert_false(as_calls_go_to_frame(tracker, &threads[0], calls, BACK_OUTER, 0));
    assert_false(as_calls_go_to_frame(tracker, &threads[0], calls, BACK_OUTER, 0xb000));
    assert_int_equal(as_call_tracker_switches(tracker).count, 0);
    calls->fresh = true, calls->tries = 7;
    assert_true(as_calls_go_to_frame(tracker, &threads[0], calls, BACK_OUTER, 0xa000));
    assert_ptr_equal(calls->path, other);
    assert_int_equal(as_callpath_top_slot(other), 0xa000);
    assert_true(!calls->fresh && calls->tries == 0);
    assert_int_equal(as_call_tracker_switches(tracker).count, 1);
    assert_int_equal(waiting(), 1);
    assert_ptr_equal(tracker->stacks.list.data[0].path, left);
}

/* Another thread's path still has the frame: it is copied, and that thread's is dropped when it goes on elsewhere. */
static void a_return_to_another_threads_stack(void **state)
{
    struct as_thread_calls *calls = on_stack(0, 0x9000), *lender = on_stack(1, 0xa000), *foreign = on_stack(2, 0xb000);
    wait_on(0xc000);
    assert_false(as_calls_go_to_frame(tracker, &threads[0], calls, BACK_OUTER, 0xb000)); /* of another process */
    assert_false(foreign->lent);
    assert_true(as_calls_go_to_frame(tracker, &threads[0], calls, BACK_OUTER, 0xa000));
    assert_true(lender->lent && !calls->lent && calls->path != lender->path);
    assert_int_equal(as_callpath_top_slot(calls->path), 0xa000);
    assert_int_equal(as_callpath_top_slot(lender->path), 0xa000 - FRAME); /* its own is as it was */
    assert_int_equal(waiting(), 2);
    assert_true(as_calls_go_to_frame(tracker, &threads[1], lender, BACK_OUTER, 0xc000));
    assert_int_equal(waiting(), 1); /* one was taken, and the lent one is not kept */
    assert_false(lender->lent);
}

static void a_pointer_on_a_stack(void **state)
{
    struct as_thread_calls *calls = on_stack(0, 0x9000), *lender = on_stack(1, 0xa000);
    struct as_callpath *own = calls->path, *other = wait_on(0xc000);
    struct as_stack_target place = {.address = OUTER, .pointer = 0x8ff0, .is_function = true};
    assert_true(as_calls_go_to_pointer(tracker, &threads[0], calls, &place)); /* on its own: INNER is gone */
    assert_ptr_equal(calls->path, own);
    assert_int_equal(as_callpath_depth(own), 2);
    assert_int_equal(as_call_tracker_switches(tracker).count, 0);
    place.address = 0x999;
    assert_false(as_calls_go_to_pointer(tracker, &threads[0], calls, &place));
    place = (struct as_stack_target){.address = OUTER, .pointer = 0xbff0, .is_function = true};
    assert_true(as_calls_go_to_pointer(tracker, &threads[0], calls, &place));
    assert_ptr_equal(calls->path, other);
    place.pointer = 0x9ff0;
    assert_true(as_calls_go_to_pointer(tracker, &threads[0], calls, &place));
    assert_true(lender->lent && calls->path != lender->path);
    assert_int_equal(as_callpath_depth(calls->path), 2);
    assert_int_equal(as_callpath_depth(lender->path), 3);
    assert_int_equal(as_call_tracker_switches(tracker).count, 2);
    assert_int_equal(waiting(), 2);
}

static void a_stack_that_nothing_is_known_of(void **state)
{
    struct as_thread_calls *calls = on_stack(0, 0x9000);
    as_calls_resume(tracker, &threads[0], calls, 0x700, 0xf000);
    struct as_stack_switches switches = as_call_tracker_switches(tracker);
    assert_true(switches.count == 1 && switches.begun == 1 && switches.unknown == 0);
    assert_true(calls->fresh && !as_callpath_is_partial(calls->path));
    assert_int_equal(as_callpath_depth(calls->path), 1);
    assert_int_equal(waiting(), 1);
}

/* A jump resumes the stack that waits for its target; which, the pointer decides. */
static void jumps(void **state)
{
    struct as_thread_calls *calls = on_stack(0, 0x9000);
    struct as_callpath *first = wait_on(0xa000), *second = wait_on(0xb000);
    as_calls_resume(tracker, &threads[0], calls, BACK_INNER, 0xb000 - FRAME - 8);
    assert_ptr_equal(calls->path, second);
    assert_int_equal(as_callpath_depth(second), 2);
    as_calls_resume(tracker, &threads[0], calls, BACK_INNER, 0);
    assert_ptr_equal(calls->path, first);
    calls->pointer = 0xa000 - 8; /* just below its own frame: what a function moves its pointer by */
    assert_false(as_calls_jump(tracker, &threads[0], calls, 0x700));
    calls->pointer = 0xa000 - 4096;
    assert_true(as_calls_jump(tracker, &threads[0], calls, 0x700)); /* the entry of a function: a new stack */
    assert_true(calls->fresh && as_call_tracker_switches(tracker).begun == 1);
    assert_int_equal(waiting(), 3);
    assert_false(as_calls_jump(tracker, &threads[0], calls, 0x700)); /* nothing is known of where it is */
}

/* Go's stacks grow by being copied elsewhere: the frames are the same, and their slots move with them. */
static void a_stack_that_is_copied(void **state)
{
    enum { THERE = 0x50000 };
    struct as_thread_calls *calls = on_stack(0, 0x9000);
    struct as_callpath *own = calls->path;
    as_calls_resume(tracker, &threads[0], calls, BACK_INNER, THERE);
    assert_ptr_equal(calls->path, own);
    assert_int_equal(as_callpath_depth(own), 2);
    assert_int_equal(as_callpath_top_slot(own), THERE + FRAME);
    assert_int_equal(as_call_tracker_switches(tracker).count, 0);
    /* Where another one waits at the same instruction, it can be either: a new stack. */
    calls = on_stack(1, 0x20000);
    own = calls->path;
    wait_on(0xa000);
    as_calls_resume(tracker, &threads[1], calls, BACK_INNER, THERE);
    assert_ptr_not_equal(calls->path, own);
    assert_int_equal(as_call_tracker_switches(tracker).begun, 1);
}

/* One instruction that ends a block and accesses a slot. */
struct one {
    struct as_block_exec exec;
    uint64_t word;
    struct as_insn insn;
    _Alignas(struct as_block) char block[sizeof(struct as_block) + sizeof(struct as_insn *)];
};

static const struct as_block_exec *execute(struct one *one, enum as_class class_, uint64_t next, uint64_t slot)
{
    struct as_block *block = (struct as_block *)one->block;
    *one = (struct one){.insn = {.arch = AS_ARCH_X86_64, .class_ = class_}, .word = AS_WIRE_LOAD | slot};
    *block = (struct as_block){.n = 1, .last_class = class_, .link_at = slot ? 0 : -1, .stack_at = -1};
    block->insns[0] = &one->insn;
    one->exec = (struct as_block_exec){
        .block = block, .end = 1, .taken = true, .next = next, .words = &one->word, .n_words = slot != 0};
    return &one->exec;
}

/* After a jump to a stack that is not known yet: a return belongs to one frame of one stack, a call tells where the stack is. */
static void what_tells_the_stack(void **state)
{
    struct one one;
    struct as_thread_calls *calls = on_stack(0, 0x9000);
    struct as_callpath *own = calls->path, *first = wait_on(0xa000), *second = wait_on(0xb000);
    calls->resumed = BACK_INNER;
    as_calls_settle(tracker, &threads[0], calls, execute(&one, AS_CLASS_CALL, 0x700, 0)); /* nothing is known */
    assert_true(calls->path == own && calls->resumed == BACK_INNER);
    as_calls_settle(tracker, &threads[0], calls, execute(&one, AS_CLASS_RETURN, BACK_OUTER, 0xc000)); /* of no stack */
    assert_true(calls->path == own && calls->resumed == BACK_INNER);
    as_calls_settle(tracker, &threads[0], calls, execute(&one, AS_CLASS_RETURN, BACK_OUTER, 0xb000));
    assert_true(calls->path == second && calls->resumed == 0);
    assert_int_equal(as_callpath_top_slot(second), 0xb000); /* the return itself is yet to come */
    calls->resumed = BACK_INNER;
    as_calls_settle(tracker, &threads[0], calls, execute(&one, AS_CLASS_CALL, 0x700, 0xa000 - FRAME - 8));
    assert_true(calls->path == first && calls->resumed == 0);
    calls->resumed = BACK_INNER;
    as_calls_settle(tracker, &threads[0], calls, execute(&one, AS_CLASS_RETURN, BACK_OUTER, 0xa000)); /* on its own */
    assert_true(calls->path == first && calls->resumed == 0);
}

/* This program's code in the image, so that addresses in it have functions. */
static void map_self(void)
{
    char line[4096], path[4096], own[4096];
    uint64_t start, end, offset;
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    own[readlink("/proc/self/exe", own, sizeof own - 1)] = 0;
    while (fgets(line, sizeof line, maps))
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %4095s", &start, &end, &offset, path) == 4 &&
            strcmp(path, own) == 0)
            as_space_map(image.space, start, end, offset, own);
    fclose(maps);
}

/* A jump into the middle of a function: the stack that it is on is known by the pointer, or will be. */
static void jumps_into_functions(void **state)
{
    struct as_thread_calls *calls = on_stack(0, 0x9000);
    struct as_callpath *own = calls->path;
    uint64_t entry = (uintptr_t)map_self, within = entry + 4;
    map_self();
    assert_int_equal(as_calls_function(&image, within), entry);
    calls->pointer = 0x9000 - FRAME - 100;
    assert_false(as_calls_jump(tracker, &threads[0], calls, within)); /* on the same stack */
    calls->pointer = 0;
    assert_true(as_calls_jump(tracker, &threads[0], calls, within));
    assert_true(calls->resumed == within && calls->path == own);
    assert_int_equal(as_call_tracker_switches(tracker).count, 0);
    calls->resumed = 0;
    calls->pointer = 0x20000;
    assert_true(as_calls_jump(tracker, &threads[0], calls, within));
    assert_int_equal(calls->resumed, 0);
    assert_ptr_not_equal(calls->path, own);
    assert_true(as_callpath_is_partial(calls->path) && !calls->fresh);
    struct as_stack_switches switches = as_call_tracker_switches(tracker);
    assert_true(switches.count == 1 && switches.begun == 1 && switches.unknown == 1);
    calls->pointer = 0x30000;
    as_callpath_call(calls->path, within, within + 5, OUTER);
    as_callpath_set_slot(calls->path, 0x20000);
    assert_true(as_calls_jump(tracker, &threads[0], calls, entry)); /* its entry: a whole stack */
    assert_true(!as_callpath_is_partial(calls->path) && calls->fresh);
    switches = as_call_tracker_switches(tracker);
    assert_true(switches.count == 2 && switches.begun == 2 && switches.unknown == 1);
}

int main(void);

/* A block at an address that ends by a jump elsewhere. */
static void jump(struct as_thread_calls *calls, uint32_t index, uint64_t from, uint64_t to)
{
    struct one one;
    const struct as_block_exec *exec = execute(&one, AS_CLASS_JUMP, to, 0);
    one.insn.address = from;
    ((struct as_block *)one.block)->index = index;
    calls->moved = false;
    as_call_tracker_end(tracker, &threads[0], exec);
}

static uint64_t function_of(const struct as_thread_calls *calls)
{
    return as_call_tree_node(tracker->images.data[0].tree, as_callpath_node(calls->path))->function;
}

/* A jump to the entry of another function is its call in place of the own one; one into its middle goes on there; one within a
 * function changes nothing. */
static void jumps_between_functions(void **state)
{
    struct as_thread_calls *calls = on_stack(0, 0x9000);
    uint64_t here = (uintptr_t)map_self, there = (uintptr_t)main, other = (uintptr_t)jumps_into_functions;
    map_self();
    jump(calls, 0, here + 2, here + 9);
    assert_int_equal(function_of(calls), INNER);
    jump(calls, 0, here + 2, there);
    assert_int_equal(function_of(calls), there);
    assert_int_equal(as_callpath_depth(calls->path), 3);
    jump(calls, 1, there + 2, there + 5);
    assert_int_equal(function_of(calls), there);
    jump(calls, 1, there + 2, other + 7);
    assert_int_equal(function_of(calls), other);
    assert_int_equal(as_call_tracker_switches(tracker).count, 0);
}

/* Code that was not made while the program ran has its name by its address. */
static void names_of_nodes(void **state)
{
    struct as_call_node node = {.function = (uintptr_t)main};
    struct as_location location;
    map_self();
    as_call_node_locate(NULL, &image, &node, &location);
    assert_string_equal(location.function, "main");
    assert_int_equal(location.function_start, node.function);
    assert_string_equal(as_call_node_name(NULL, &image, &node), "main");
    node.function = 0x10;
    assert_string_equal(as_call_node_name(NULL, &image, &node), as_space_name(image.space, 0x10));
}

/* ---- where RISC-V keeps return addresses ---- */

enum { PIECES = 4 };

static void note_slots(struct as_thread_calls *calls, uint32_t end, const uint64_t *words, size_t n)
{
    static const uint8_t code[PIECES][4] = {{0x23, 0x34, 0x11, 0x00},  /* sd ra, 8(sp) */
                                            {0x23, 0x30, 0x81, 0x00},  /* sd s0, 0(sp) */
                                            {0x83, 0x30, 0x81, 0x00},  /* ld ra, 8(sp) */
                                            {0x03, 0x34, 0x01, 0x00}}; /* ld s0, 0(sp) */
    static struct as_insn insns[PIECES];
    static _Alignas(struct as_block) char bytes[sizeof(struct as_block) + PIECES * sizeof(struct as_insn *)];
    struct as_block *block = (struct as_block *)bytes;
    *block = (struct as_block){.n = PIECES};
    for (int i = 0; i < PIECES; i++) {
        assert_true(as_insn_decode(AS_ARCH_RISCV64, 0x1000 + 4 * (uint64_t)i, code[i], 4, &insns[i]));
        block->insns[i] = &insns[i];
    }
    as_calls_note_slots(calls, &(struct as_block_exec){.block = block, .end = end, .words = words, .n_words = n});
}

/* A store of the link register is the slot of the frame that is open, a load what the next return goes by; what other registers are
 * kept in, and what was not executed, is neither. */
static void slots_of_link_registers(void **state)
{
    struct as_thread_calls *calls = on_stack(0, 0x9000);
    const uint64_t index = UINT64_C(1) << AS_WIRE_INDEX_SHIFT, eight = UINT64_C(3) << AS_WIRE_SIZE_SHIFT;
    const uint64_t words[] = {AS_WIRE_STORE | eight | 0x8808, AS_WIRE_STORE | index | eight | 0x8800,
                              AS_WIRE_LOAD | 2 * index | eight | 0x8708, AS_WIRE_LOAD | 3 * index | eight | 0x8700};
    note_slots(calls, PIECES, words + 1, 1);
    assert_int_equal(as_callpath_top_slot(calls->path), 0x9000 - FRAME);
    note_slots(calls, PIECES, words + 3, 1);
    assert_int_equal(calls->slot, 0);
    note_slots(calls, 0, words, 4);
    note_slots(calls, 2, words + 2, 2);
    assert_int_equal(as_callpath_top_slot(calls->path), 0x9000 - FRAME);
    assert_int_equal(calls->slot, 0);
    note_slots(calls, 2, words, 4);
    assert_int_equal(as_callpath_top_slot(calls->path), 0x8808);
    assert_int_equal(calls->slot, 0);
    note_slots(calls, 3, words, 4);
    assert_int_equal(calls->slot, 0x8708);
}

#define ON_STACKS(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_STACKS(frames_are_found_by_their_slots),
        ON_STACKS(a_single_one_is_found),
        ON_STACKS(distances),
        ON_STACKS(pointers_are_on_the_stack_that_begins_next),
        ON_STACKS(which_of_several),
        ON_STACKS(the_nearest_of_several),
        ON_STACKS(old_paths_are_forgotten),
        ON_STACKS(a_return_to_a_stack_that_waits),
        ON_STACKS(a_return_to_another_threads_stack),
        ON_STACKS(a_pointer_on_a_stack),
        ON_STACKS(a_stack_that_nothing_is_known_of),
        ON_STACKS(jumps),
        ON_STACKS(a_stack_that_is_copied),
        ON_STACKS(what_tells_the_stack),
        ON_STACKS(jumps_into_functions),
        ON_STACKS(jumps_between_functions),
        ON_STACKS(names_of_nodes),
        ON_STACKS(slots_of_link_registers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
