/* Parts of the plugin as functions, without QEMU: where threads run, memory that processes share, what blocks have in them, sets of code,
 * signal frames and handlers. The guest's memory is this process's own, lanes are arrays, and blocks and the CPU's state are made up. */
#include "unit.h"

#include "assay/marker.h"
#include "plugin/block_traits.h"
#include "plugin/code_sets.h"
#include "plugin/cpu_state.h"
#include "plugin/follow.h"
#include "plugin/lane.h"
#include "plugin/one_processor.h"
#include "plugin/qemu_plugin_api.h"
#include "plugin/shared.h"
#include "plugin/signal_handlers.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

struct as_plugin as_plugin;
static struct as_wire_header header;

/* ---- what QEMU and the rest of the plugin have ---- */

enum { ROOM = 4096, STATE = 1024, FLAGS_AT = 424 };
static uint64_t words[ROOM];
static struct as_wire_lane lane = {.write = words, .chunk_end = words + ROOM};

void as_lane_push_slowly(struct as_wire_lane *full, uint64_t word)
{
    fail_msg("more than %d words", ROOM);
}

bool as_guest_read(uint64_t address, void *to, size_t size)
{
    if (address < 4096)
        return false;
    memcpy(to, (const void *)(uintptr_t)address, size);
    return true;
}

struct qemu_plugin_insn {
    const char *bytes;
    size_t size;
    uint64_t address;
};
struct qemu_plugin_tb {
    struct qemu_plugin_insn insns[4];
};

#include "made_insns.h"

static struct {
    uint32_t words[STATE / 4];
    unsigned exits;
} cpu;
static uint32_t other_flags; /* what QEMU adds to those of the state */

void *qemu_get_cpu(int index)
{
    return index == 3 ? &cpu : NULL;
}

uint32_t curr_cflags(void *of)
{
    return ((uint32_t *)of)[FLAGS_AT / 4] | other_flags;
}

void cpu_exit(void *of)
{
    cpu.exits++;
}

/* Each test is a process of its own: what the plugin has learned stays in it. */
static void in_child(void (*test)(void *), void *argument)
{
    char text[4096];
    as_plugin = (struct as_plugin){.wire = &header, .arch = AS_ARCH_X86_64};
    if (unit_run_child(test, argument, text, sizeof text) != 0)
        fail_msg("%s", text);
}

/* ---- where threads run ---- */

static cpu_set_t all;

static bool is_at(const cpu_set_t *want)
{
    cpu_set_t is;
    assert_int_equal(sched_getaffinity(0, sizeof is, &is), 0);
    return CPU_EQUAL(&is, want);
}

static bool is_at_one(int number)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(number, &one);
    return is_at(&one);
}

static int nth_processor(int n)
{
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &all) && n-- == 0)
            return i;
    return -1;
}

static void joins_and_leaves(void *unused)
{
    int first = nth_processor(0), second = nth_processor(1);
    as_one_processor_leave(); /* it has not joined */
    assert_true(is_at(&all));
    as_one_processor_join();
    assert_true(is_at_one(first) || is_at_one(second) || !is_at(&all));
    as_one_processor_join();
    as_one_processor_leave();
    assert_true(is_at(&all)); /* joined twice, but what was before is not what it was in between */
    as_one_processor_follow(0);
    assert_true(is_at(&all));
    as_one_processor_follow((uint32_t)second + 1);
    assert_true(is_at_one(second));
    as_one_processor_follow((uint32_t)second + 1);
    assert_true(is_at_one(second));
    as_one_processor_follow((uint32_t)first + 1);
    assert_true(is_at_one(first));
    as_one_processor_follow(0);
    assert_true(is_at(&all));
    as_one_processor_follow(CPU_SETSIZE + 1); /* which there is not */
    assert_true(is_at(&all));
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    sched_setaffinity(0, sizeof one, &one); /* the program chose that */
    as_one_processor_follow((uint32_t)second + 1);
    assert_true(is_at_one(first));
    as_one_processor_follow((uint32_t)first + 1); /* it is there already, and stays when it leaves */
    as_one_processor_leave();
    assert_true(is_at_one(first));
}

/* A call before which the thread has to be where it was; the first of the list is the program's own choice, which stays. */
static void leaves_at_a_call(void *context)
{
    static const struct {
        enum as_arch arch;
        int16_t calls[8];
    } calls[] = {{AS_ARCH_X86_64, {203, 204, 56, 435, 59, 322, 57, 58}},
                 {AS_ARCH_RISCV64, {122, 123, 220, 435, 221, 281}}};
    size_t arch = *(size_t *)context / 8, call = *(size_t *)context % 8;
    int second = nth_processor(1);
    if (!calls[arch].calls[call])
        return;
    as_one_processor_follow((uint32_t)second + 1);
    as_one_processor_call(calls[arch].arch, 1);
    assert_true(is_at_one(second));
    as_one_processor_call(calls[arch].arch, calls[arch].calls[call]);
    assert_true(is_at(&all));
    as_one_processor_follow((uint32_t)second + 1);
    assert_int_equal(is_at_one(second), call > 0);
}

static void test_one_processor(void **state)
{
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    if (CPU_COUNT(&all) < 2)
        unit_skip("there is one processor alone");
    in_child(joins_and_leaves, NULL);
    for (size_t i = 0; i < 16; i++)
        in_child(leaves_at_a_call, &i);
}

/* ---- shared memory ---- */

enum { EVENT_WORDS = 1 + 4 + AS_WIRE_NAME_WORDS, SHARED = 1, PRIVATE = 2 };
static size_t taken; /* of the events */

static void expect_mapping(uint64_t start, uint64_t bytes, uint64_t object, uint64_t offset, const char *path)
{
    const uint64_t *event = words + EVENT_WORDS * taken++;
    char name[AS_WIRE_NAME_WORDS * 8 + 1] = "";
    assert_true(event + EVENT_WORDS <= lane.write);
    memcpy(name, event + 5, sizeof name - 1);
    assert_int_equal(event[0], (uint64_t)AS_WIRE_MAPPING << AS_WIRE_EVENT_SHIFT);
    assert_int_equal(event[1], start - as_plugin.guest_base);
    assert_int_equal(event[2], bytes);
    assert_int_equal(event[3], object);
    assert_int_equal(event[4], offset);
    assert_string_equal(name, path);
}

static void expect_no_more(void)
{
    assert_int_equal(lane.write - words, EVENT_WORDS * taken);
}

static void call(int64_t number, uint64_t first, uint64_t second, uint64_t flags, int64_t result)
{
    const uint64_t args[AS_WIRE_SYSCALL_ARGS] = {first, second, 0, flags};
    as_shared_note_syscall(&lane, number, args, result);
}

static const struct {
    enum as_arch arch;
    int64_t map, unmap, move, attach, detach;
} calls_of[] = {{AS_ARCH_X86_64, 9, 11, 25, 30, 67}, {AS_ARCH_RISCV64, 222, 215, 216, 196, 197}};

static uint64_t object_of(const struct stat *file)
{
    return (uint64_t)(major(file->st_dev) << 20 | minor(file->st_dev)) << 40 ^ file->st_ino;
}

static void maps(void *context)
{
    static const char name[] = "a-name-that-is-so-long-that-only-its-end-is-kept-of-the-whole-path.XXXXXX";
    size_t i = *(size_t *)context, page = (size_t)sysconf(_SC_PAGESIZE);
    char path[256];
    struct stat file;
    as_plugin.arch = calls_of[i].arch;
    as_plugin.guest_base = 0x10000;
    snprintf(path, sizeof path, "/tmp/%s", name);
    int fd = mkstemp(path);
    assert_true(fd >= 0 && ftruncate(fd, (off_t)(4 * page)) == 0 && fstat(fd, &file) == 0);
    uint8_t *mapped = mmap(NULL, 2 * page, PROT_READ, MAP_SHARED, fd, (off_t)page);
    unlink(path);
    snprintf(path + strlen(path), 16, " (deleted)"); /* as the kernel names it then */
    const char *end = path + strlen(path) - AS_WIRE_NAME_WORDS * 8;
    uint64_t at = (uintptr_t)mapped, guest = at - as_plugin.guest_base;
    size_t descriptors = unit_count_descriptors();
    call(calls_of[i].map, 0, page, PRIVATE, 0x70000); /* nothing is shared yet */
    call(calls_of[i].unmap, 0x70000, page, 0, 0);
    call(calls_of[i].map, 0, page, SHARED, -22);
    call(calls_of[1 - i].map, 0, page, SHARED, (int64_t)guest); /* another architecture's number */
    as_shared_note_fork(&lane);
    expect_no_more();
    assert_false(as_shared_is_used());
    call(calls_of[i].map, 0, page, SHARED, (int64_t)guest);
    expect_mapping(at, 2 * page, object_of(&file), page, end);
    call(calls_of[i].map, 0, page, SHARED, (int64_t)(guest + 2 * page - 1)); /* found by any of its addresses */
    expect_mapping(at, 2 * page, object_of(&file), page, end);
    assert_true(as_shared_is_used());
    as_shared_note_fork(&lane); /* all that is shared */
    expect_mapping(at, 2 * page, object_of(&file), page, end);
    expect_no_more();
    call(calls_of[i].map, 0, page, PRIVATE, 0x70000);
    expect_mapping(0x70000 + as_plugin.guest_base, page, 0, 0, "");
    call(calls_of[i].unmap, 0x80000, 3 * page, 0, 0);
    expect_mapping(0x80000 + as_plugin.guest_base, 3 * page, 0, 0, "");
    call(calls_of[i].unmap, 0x80000, 3 * page, 0, -22);
    call(calls_of[i].move, 0x90000, page, 0, (int64_t)guest);
    expect_mapping(0x90000 + as_plugin.guest_base, page, 0, 0, "");
    expect_mapping(at, 2 * page, object_of(&file), page, end);
    expect_no_more();
    assert_int_equal(unit_count_descriptors(), descriptors);
    as_plugin.wire = (struct as_wire_header *)mapped; /* that would be our own */
    as_shared_note_fork(&lane);
    expect_no_more();
}

static void attaches(void *context)
{
    size_t i = *(size_t *)context, page = (size_t)sysconf(_SC_PAGESIZE);
    as_plugin.arch = calls_of[i].arch;
    int id = shmget(IPC_PRIVATE, 3 * page, IPC_CREAT | 0600);
    if (id < 0)
        return; /* this system has no such memory */
    uint64_t at = (uintptr_t)shmat(id, NULL, 0);
    struct shmid_ds about;
    assert_int_equal(shmctl(id, IPC_RMID, &about), 0);
    call(calls_of[i].attach, 0, 0, 0, -22);
    call(calls_of[i].detach, at, 0, 0, 0);
    expect_no_more();
    call(calls_of[i].attach, 0, 0, 0, (int64_t)at);
    assert_int_equal(lane.write - words, EVENT_WORDS);
    assert_true(words[1] == at && words[2] == 3 * page && words[3] != 0 && words[4] == 0);
    taken = 1;
    assert_true(as_shared_is_used());
    call(calls_of[i].detach, at, 0, 0, 0);
    expect_mapping(at, 3 * page, 0, 0, "");
    call(calls_of[i].detach, at, 0, 0, 0); /* it is gone */
    expect_no_more();
}

static void test_shared_memory(void **state)
{
    for (size_t i = 0; i < 2; i++) {
        in_child(maps, &i);
        in_child(attaches, &i);
    }
}

/* ---- blocks ---- */

#define INSN(text)                                                                                                     \
    {                                                                                                                  \
        text, sizeof text - 1, 0                                                                                       \
    }
#define LOCK_INC "\xf0\xff\x00" /* lock incl (%rax): the flags say something */
#define XADD "\xf0\x0f\xc1\x08" /* lock xadd %ecx, (%rax): a register does */
#define TEST "\xa8\x0f"         /* test $15, %al: other flags */
#define JE "\x74\x05"
#define MOV "\x48\x89\xc3"
#define LR "\xaf\x25\x05\x10" /* lr.w a1, (a0) */
#define SC "\xaf\x25\xb5\x18" /* sc.w a1, a1, (a0) */
#define ADDI "\x13\x05\x15\x00"

static void test_what_blocks_ask(void **state)
{
    static const struct {
        struct qemu_plugin_tb tb;
        size_t n;
        bool asks;
    } cases[] = {{{{INSN(MOV), INSN(MOV)}}, 2, false},
                 {{{INSN(XADD), INSN(MOV)}}, 2, true},
                 {{{INSN(MOV), INSN(LOCK_INC)}}, 2, true}, /* what comes behind the block may ask */
                 {{{INSN(LOCK_INC), INSN(MOV), INSN(JE)}}, 3, true},
                 {{{INSN(LOCK_INC), INSN(MOV), INSN(TEST)}}, 3, false},
                 {{{INSN(LOCK_INC), INSN(TEST), INSN(JE)}}, 3, false},
                 {{{INSN(TEST), INSN(JE)}}, 2, false},
                 {{{INSN(TEST), INSN(LOCK_INC), INSN(MOV), INSN(MOV)}}, 4, true},
                 {{{INSN(LOCK_INC), INSN(TEST), INSN(LOCK_INC)}}, 3, true},
                 {{{INSN(LOCK_INC)}}, 0, false}};
    as_plugin = (struct as_plugin){.wire = &header, .arch = AS_ARCH_X86_64};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(as_traits_asks(&cases[i].tb, cases[i].n), cases[i].asks);
}

static void test_reservations(void **state)
{
    static const struct {
        struct qemu_plugin_tb tb;
        size_t n;
        bool ends;
    } cases[] = {{{{INSN(ADDI)}}, 1, false},
                 {{{INSN(LR), INSN(ADDI)}}, 2, true},
                 {{{INSN(LR), INSN(ADDI), INSN(SC)}}, 3, false},
                 {{{INSN(SC), INSN(LR)}}, 2, true},
                 {{{INSN(LR), INSN(SC), INSN(ADDI)}}, 3, false},
                 {{{INSN(LR)}}, 0, false}};
    as_plugin = (struct as_plugin){.wire = &header, .arch = AS_ARCH_RISCV64};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(as_traits_ends_reserved(&cases[i].tb, cases[i].n), cases[i].ends);
}

/* Landmarks of this image, at the first and the last instruction; markers by themselves, if they are waited for. */
static void test_watched(void **state)
{
    static const char marker[] = {
        0x0f, 0x1f, (char)0x84, 0, 7, 0, ASSAY_MARKER_X86_MAGIC & 0xff, ASSAY_MARKER_X86_MAGIC >> 8};
    struct qemu_plugin_tb tb = {{{MOV, 3, 0x1000}, {MOV, 3, 0x1003}, {marker, sizeof marker, 0x1006}}};
    as_plugin = (struct as_plugin){.wire = &header, .arch = AS_ARCH_X86_64, .image = 5};
    static const struct {
        uint64_t address;
        uint32_t image;
        bool watched;
    } cases[] = {{0x1000, 5, true},  {0x1003, 5, true},  {0x1006, 5, true},
                 {0x1000, 6, false}, {0x1001, 5, false}, {0x100d, 5, false}};
    assert_false(as_traits_watched(&tb, 3));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint32_t before = 0; before < 2; before++) { /* another landmark may be in front of it */
            header.watches[0].address = 0x9999;
            header.watches[0].image = 5;
            header.watches[before].address = cases[i].address;
            header.watches[before].image = cases[i].image;
            atomic_store(&header.n_watches, before + 1);
            assert_int_equal(as_traits_watched(&tb, 3), cases[i].watched);
        }
    atomic_store(&header.n_watches, 0);
    header.watches_markers = 1;
    assert_true(as_traits_watched(&tb, 3));
    assert_false(as_traits_watched(&tb, 2));
    header.watches_markers = 0;
}

/* ---- sets of code ---- */

enum { FLAGS = 0x80002, SET_BIT = 1 << 24, FIRST_LIKE_IT = 20 };

static void set_is_found(void *unused)
{
    cpu.words[FLAGS_AT / 4] = cpu.words[FIRST_LIKE_IT] = FLAGS; /* the first has the same value by chance */
    assert_true(as_code_sets_find(3));
    assert_true(cpu.words[FLAGS_AT / 4] == FLAGS && cpu.words[FIRST_LIKE_IT] == FLAGS);
    for (uint32_t set = 0; set < 2 * AS_CODE_SETS; set++) {
        uint32_t number = set * 3 % AS_CODE_SETS;
        as_code_sets_switch(3, number);
        assert_int_equal(cpu.words[FLAGS_AT / 4], FLAGS + number * SET_BIT);
        assert_int_equal(cpu.words[FIRST_LIKE_IT], FLAGS);
        assert_int_equal(cpu.exits, set + 1);
    }
    assert_true(as_code_sets_find(0)); /* it is known */
}

static void set_is_not_found(void *context)
{
    switch (*(int *)context) {
    case 0: /* there is no such CPU; later it is not looked for again */
        assert_false(as_code_sets_find(0));
        break;
    case 1: /* the flags that QEMU computes are nowhere as they are */
        other_flags = 1;
        assert_false(as_code_sets_find(3));
        break;
    default: /* the number is in use */
        cpu.words[FLAGS_AT / 4] = FLAGS | SET_BIT;
        assert_false(as_code_sets_find(3));
    }
    other_flags = 0;
    cpu.words[FLAGS_AT / 4] = FLAGS;
    assert_false(as_code_sets_find(3));
}

static void test_sets_of_code(void **state)
{
    in_child(set_is_found, NULL);
    for (int i = 0; i < 3; i++)
        in_child(set_is_not_found, &i);
}

/* ---- signals ---- */

static void test_frames_of_signals(void **state)
{
    static const struct {
        enum as_arch arch;
        unsigned number, info, context, stack, pc;
        uint64_t above;
    } layouts[] = {{AS_ARCH_X86_64, 7, 6, 2, 4, 168, 8}, {AS_ARCH_RISCV64, 10, 11, 12, 2, 176, 128}};
    for (size_t i = 0; i < 2; i++) {
        uint64_t frame[64] = {0}, registers[32] = {0}, info[2] = {0};
        struct as_cpu_signal found;
        as_plugin = (struct as_plugin){.wire = &header, .arch = layouts[i].arch};
        registers[layouts[i].stack] = (uintptr_t)frame;
        registers[layouts[i].context] = (uintptr_t)frame + layouts[i].above;
        registers[layouts[i].info] = (uintptr_t)info;
        frame[(layouts[i].above + layouts[i].pc) / 8] = 0x401234;
        static const struct {
            uint64_t number;
            int32_t code;
            bool found, synchronous;
        } cases[] = {{11, 1, true, true},  {11, 0, true, false}, {11, -6, true, false},
                     {14, 1, true, false}, {8, 2, true, true},   {1, 1, true, false},
                     {64, 1, true, false}, {0, 1, false, false}, {65, 1, false, false}};
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            registers[layouts[i].number] = cases[k].number;
            info[1] = (uint32_t)cases[k].code;
            assert_int_equal(as_cpu_find_signal(registers, &found), cases[k].found);
            if (cases[k].found)
                assert_true(found.number == cases[k].number && found.synchronous == cases[k].synchronous &&
                            found.interrupted == 0x401234);
        }
        registers[layouts[i].number] = 11;
        assert_true(as_cpu_find_signal(registers, &found));
        registers[layouts[i].info] = 8; /* where nothing can be read */
        assert_false(as_cpu_find_signal(registers, &found));
        registers[layouts[i].info] = (uintptr_t)info;
        registers[layouts[i].context] += 8; /* a call of the function, not a delivery */
        assert_false(as_cpu_find_signal(registers, &found));
        registers[layouts[i].context] = layouts[i].above;
        registers[layouts[i].stack] = 0;
        assert_false(as_cpu_find_signal(registers, &found));
        assert_false(as_cpu_find_signal(NULL, &found));
        registers[16] = 0x405678;
        assert_int_equal(as_cpu_death_place(registers), i == 0 ? 0x405678 : 0);
        assert_int_equal(as_cpu_death_place(NULL), 0);
    }
}

static void handlers_are_kept(void *unused)
{
    enum { MOST = 256, ABOVE = 10 };
    uint64_t ignored = 1, usual = 0;
    as_handlers_note(0);
    as_handlers_note(8);
    as_handlers_note((uintptr_t)&ignored);
    as_handlers_note((uintptr_t)&usual);
    assert_true(!as_handlers_has(0) && !as_handlers_has(1));
    for (uint64_t handler = 2; handler < 2 + MOST + ABOVE; handler++) {
        assert_false(as_handlers_has(handler));
        as_handlers_note((uintptr_t)&handler);
        as_handlers_note((uintptr_t)&handler); /* once */
        assert_int_equal(as_handlers_has(handler), handler < 2 + MOST);
    }
    assert_true(as_handlers_has(2) && as_handlers_has(1 + MOST));
}

static void interrupts(void *unused)
{
    uint64_t ignore = (uintptr_t)SIG_IGN, handler = 0x401000;
    for (uint32_t process = 1; process < 3; process++) {
        as_plugin.process = process;
        atomic_store(&header.minds_interrupt, 7);
        as_handlers_note_interrupt((uintptr_t)&ignore);
        assert_int_equal(atomic_load(&header.minds_interrupt), process == 1 ? 0 : 7);
        as_handlers_note_interrupt((uintptr_t)&handler);
        assert_int_equal(atomic_load(&header.minds_interrupt), process == 1 ? 1 : 7);
        as_handlers_note_interrupt(0); /* it only asks */
        as_handlers_note_interrupt(8);
        assert_int_equal(atomic_load(&header.minds_interrupt), process == 1 ? 1 : 7);
        signal(SIGINT, SIG_IGN);
        as_handlers_inherit_interrupt();
        assert_int_equal(atomic_load(&header.minds_interrupt), process == 1 ? 0 : 7);
        signal(SIGINT, SIG_DFL);
        as_handlers_inherit_interrupt();
        assert_int_equal(atomic_load(&header.minds_interrupt), process == 1 ? 1 : 7);
    }
}

static void test_handlers(void **state)
{
    in_child(handlers_are_kept, NULL);
    in_child(interrupts, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_processor),     cmocka_unit_test(test_shared_memory),
        cmocka_unit_test(test_what_blocks_ask),   cmocka_unit_test(test_reservations),
        cmocka_unit_test(test_watched),           cmocka_unit_test(test_sets_of_code),
        cmocka_unit_test(test_frames_of_signals), cmocka_unit_test(test_handlers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
