/* The whole plugin under a QEMU that is made up: which callbacks blocks and accesses get and what these write, what system calls mean on each
 * architecture, when code is translated anew. Each case is a process of its own, with a wire of its own. */
#include "unit.h"

#include "plugin/lane.h"
#include "plugin/qemu_plugin_api.h"
#include "plugin/signal_handlers.h"
#include "plugin/thread_step.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/* ---- QEMU ---- */

enum { MOST = 600, LOAD = 1, STORE = 2, EIGHT = 3 };

struct qemu_plugin_insn {
    const char *bytes;
    size_t size;
    uint64_t address;
    qemu_mem_cb access;
    void *data;
};
struct qemu_plugin_tb {
    size_t n;
    struct qemu_plugin_insn insns[MOST];
    qemu_exec_cb exec;
    void *data;
};

static struct {
    qemu_tb_trans_cb translate;
    qemu_syscall_cb call;
    qemu_syscall_ret_cb returns;
    qemu_vcpu_cb init, exit;
    unsigned resets, helpers_disabled, registered;
    bool other_layout; /* of what accesses are described by */
    uint32_t cpu[256], flags, exits;
} qemu;

void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id, qemu_vcpu_cb cb)
{
    qemu.init = cb;
}

void qemu_plugin_register_vcpu_exit_cb(qemu_plugin_id_t id, qemu_vcpu_cb cb)
{
    qemu.exit = cb;
}

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_tb_trans_cb cb)
{
    qemu.translate = cb;
    qemu.registered++;
    assert_int_equal(id, 99);
}

void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id, qemu_syscall_cb cb)
{
    qemu.call = cb;
}

void qemu_plugin_register_vcpu_syscall_ret_cb(qemu_plugin_id_t id, qemu_syscall_ret_cb cb)
{
    qemu.returns = cb;
}

void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, qemu_exec_cb cb, int flags, void *userdata)
{
    tb->exec = cb;
    tb->data = userdata;
}

void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_mem_cb cb, int flags, int rw, void *userdata)
{
    insn->access = cb;
    insn->data = userdata;
}

void qemu_plugin_reset(qemu_plugin_id_t id, qemu_simple_cb cb)
{
    qemu.resets++;
    cb(id);
}

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb)
{
    return tb->n;
}

#include "made_insns.h"

void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn)
{
    return (void *)(uintptr_t)insn->address;
}

unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info)
{
    return qemu.other_layout ? info >> 5 & 7 : info >> 4 & 7;
}

bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info)
{
    return info >> 17 & 1;
}

char *qemu_plugin_path_to_binary(void)
{
    return NULL;
}

void *qemu_get_cpu(int index)
{
    return index < 2 ? qemu.cpu : NULL;
}

uint32_t curr_cflags(void *cpu)
{
    return ((uint32_t *)cpu)[100] | qemu.flags;
}

void cpu_exit(void *cpu)
{
    qemu.exits++;
}

void qemu_plugin_disable_mem_helpers(void *cpu)
{
    qemu.helpers_disabled++;
}

/* ---- a process ---- */

static struct as_wire_header *wire;
static char memory[64];

static void make_wire(void)
{
    int fd = memfd_create("wire", 0);
    assert_true(fd >= 0 && ftruncate(fd, (off_t)AS_WIRE_SIZE) == 0);
    wire = mmap(NULL, AS_WIRE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(wire != MAP_FAILED);
    *wire = (struct as_wire_header){
        .magic = AS_WIRE_MAGIC, .version = AS_WIRE_VERSION, .header_size = sizeof *wire, .detached = 1};
    snprintf(memory, sizeof memory, "memory=/proc/self/fd/%d", fd);
}

static void install(enum as_arch arch)
{
    const qemu_info_t info = {.target_name = arch == AS_ARCH_RISCV64 ? "riscv64" : "x86_64"};
    char *argv[] = {memory};
    assert_int_equal(qemu_plugin_install(99, &info, 1, argv), 0);
}

static void in_child(void (*test)(void *), void *argument)
{
    char text[4096];
    if (unit_run_child(test, argument, text, sizeof text) != 0)
        fail_msg("%s", text);
}

static void begin(void)
{
    setenv("CMOCKA_TEST_ABORT", "1", 1);
    make_wire();
}

/* ---- blocks ---- */

#define INSN(text)                                                                                                     \
    {                                                                                                                  \
        text, sizeof text - 1, 0, NULL, NULL                                                                           \
    }
#define READS "\x48\x8b\x03"
#define WRITES "\x48\x89\x03"
#define PUSHES "\x50"
#define REPEATS "\xf3\xa4"
#define ADDS "\xf0\x0f\xc1\x08" /* lock xadd: its result is looked at */
#define MOVES "\x48\x89\xdc"    /* mov %rbx, %rsp */
#define CALLS "\xe8\x00\x00\x00\x00"

static struct qemu_plugin_tb block = {4, {INSN(READS), INSN(WRITES), INSN(PUSHES), INSN(REPEATS)}, NULL, NULL};

static void translate(struct qemu_plugin_tb *tb, uintptr_t address)
{
    for (size_t i = 0; i < tb->n; i++) {
        tb->insns[i].access = NULL;
        tb->insns[i].address = address;
        address += tb->insns[i].size;
    }
    tb->exec = NULL;
    qemu.translate(99, tb);
}

static uint64_t *at; /* the next word of the first thread */

static void execute(const struct qemu_plugin_tb *tb)
{
    bool first = as_lane_of[0] == &as_lane_unclaimed;
    tb->exec(0, tb->data);
    at = first ? as_lane_of[0]->chunk + 5 : at; /* behind its start */
}

static void touch(const struct qemu_plugin_insn *insn, uint64_t address, unsigned kind)
{
    insn->access(0, (uint32_t)EIGHT << 4 | kind << 16, address, insn->data);
}

static void expect(uint64_t word)
{
    __asm__ volatile("" ::: "memory");
    assert_true(at < as_lane_of[0]->write);
    assert_true(*at++ == word);
}

static void expect_no_more(void)
{
    assert_ptr_equal(at, as_lane_of[0]->write);
}

static uint64_t access_word(uint64_t index, uint64_t address, uint64_t kind)
{
    return kind << 62 | index << AS_WIRE_INDEX_SHIFT | (uint64_t)EIGHT << AS_WIRE_SIZE_SHIFT | address;
}

static const uintptr_t code = (uintptr_t)READS; /* some memory of this program */

static void all_accesses(void *layout)
{
    begin();
    qemu.other_layout = *(bool *)layout;
    atomic_store(&wire->record_accesses, AS_WIRE_ALL);
    install(AS_ARCH_X86_64);
    translate(&block, code);
    execute(&block);
    expect(0);
    assert_int_equal(as_lane_of[0]->instructions, 0); /* the first block is none of a lane's yet */
    touch(&block.insns[0], 0x12345678, LOAD);
    unsigned size = qemu.other_layout ? 1 : EIGHT; /* what QEMU says it is */
    expect((access_word(0, 0x12345678, LOAD) & ~(UINT64_C(7) << AS_WIRE_SIZE_SHIFT)) | (uint64_t)size
                                                                                           << AS_WIRE_SIZE_SHIFT);
    if (qemu.other_layout)
        return;
    touch(&block.insns[1], UINT64_C(0xffff000012345678), STORE);
    expect(access_word(1, 0x12345678, STORE));
    touch(&block.insns[3], 0x1000, LOAD);
    expect(access_word(3, 0x1000, LOAD));
    translate(&block, code + 1); /* nothing asks for clocks: it only has its number */
    execute(&block);
    expect(1);
    assert_int_equal(as_lane_of[0]->instructions, 0);
    wire->in_step = 1;
    translate(&block, code);
    execute(&block);
    expect(2);
    assert_int_equal(as_lane_of[0]->instructions, 4);
    expect_no_more();
}

/* Which instructions report, by what is to be recorded. */
static void some_accesses(void *unused)
{
    static const struct {
        uint32_t recorded;
        bool stacks, reports[7];
    } cases[] = {{AS_WIRE_VARYING, false, {false, false, false, true, false, false, false}},
                 {AS_WIRE_VARYING, true, {false, false, false, true, true, false, true}},
                 {AS_WIRE_ALL, false, {true, true, true, true, true, true, true}},
                 {AS_WIRE_SIEVED, false, {true, true, true, true, true, true, true}},
                 {AS_WIRE_COARSE, false, {true, true, false, true, false, true, true}},
                 {AS_WIRE_SAMPLED, false, {true, true, true, true, true, true, true}}};
    struct qemu_plugin_tb tb = {
        7, {INSN(READS), INSN(WRITES), INSN(PUSHES), INSN(REPEATS), INSN(CALLS), INSN(MOVES), INSN(READS)}, NULL, NULL};
    begin();
    install(AS_ARCH_X86_64);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        as_plugin.recording = cases[i].recorded;
        wire->stacks = cases[i].stacks;
        translate(&tb, code);
        for (size_t k = 0; k < tb.n; k++)
            assert_int_equal(tb.insns[k].access != NULL, cases[i].reports[k]);
    }
}

static void sieved(void *context)
{
    uint32_t kind = *(uint32_t *)context;
    begin();
    atomic_store(&wire->record_accesses, kind);
    install(AS_ARCH_X86_64);
    translate(&block, code);
    execute(&block);
    expect(0);
    touch(&block.insns[0], 0x5000, LOAD);
    expect(access_word(0, 0x5000, LOAD));
    touch(&block.insns[0], 0x5008, LOAD); /* the same line again */
    expect_no_more();
    touch(&block.insns[1], 0x5008, STORE); /* … is written for the first time */
    expect(access_word(1, 0x5008, STORE));
    touch(&block.insns[3], 0x5000, LOAD); /* it does not access the same every time */
    expect(access_word(3, 0x5000, LOAD));
    atomic_store(&wire->record_accesses, AS_WIRE_ALL);
    as_plugin.switch_recording(0);
    atomic_store(&wire->record_accesses, kind);
    as_plugin.switch_recording(0);
    touch(&block.insns[0], 0x5008, LOAD); /* nothing is known any more */
    expect(access_word(0, 0x5008, LOAD));
    expect_no_more();
}

static void test_blocks(void **state)
{
    for (int layout = 0; layout < 2; layout++)
        in_child(all_accesses, &(bool){layout});
    in_child(some_accesses, NULL);
    for (uint32_t kind = AS_WIRE_SIEVED; kind <= AS_WIRE_COARSE; kind++)
        in_child(sieved, &kind);
}

/* A thread that is alone keeps its first stamp. */
static void stamps(void *unused)
{
    uint64_t mask = AS_WIRE_STAMP_MASK << AS_WIRE_STAMP_SHIFT;
    begin();
    wire->stamped = AS_WIRE_STAMPED;
    atomic_store(&wire->record_accesses, AS_WIRE_ALL);
    install(AS_ARCH_X86_64);
    translate(&block, code);
    execute(&block);
    struct as_wire_lane *lane = as_lane_of[0];
    uint64_t stamp = lane->stamp;
    expect((uint64_t)AS_WIRE_TIME << AS_WIRE_EVENT_SHIFT); /* all of it */
    assert_true(*at > 0 && stamp >= *at);
    expect(*at);
    expect((stamp & AS_WIRE_STAMP_MASK) << AS_WIRE_STAMP_SHIFT);
    execute(&block);
    assert_true(lane->stamp == stamp);
    expect((stamp & AS_WIRE_STAMP_MASK) << AS_WIRE_STAMP_SHIFT);
    atomic_store(&wire->several, 1);
    execute(&block);
    assert_true(lane->stamp > stamp);
    expect((lane->stamp & AS_WIRE_STAMP_MASK) << AS_WIRE_STAMP_SHIFT);
    touch(&block.insns[0], 0x5000, LOAD);
    expect(access_word(0, 0x5000, LOAD));
    lane->stamp -= UINT64_C(1) << 40; /* it was long ago */
    execute(&block);
    expect((uint64_t)AS_WIRE_TIME << AS_WIRE_EVENT_SHIFT);
    expect(lane->stamp);
    assert_int_equal(*at++ & ~mask, 0);
    assert_int_equal(lane->instructions, 12);
    qemu.call(99, 0, 39, 0, 0, 0, 0, 0, 0, 0, 0);
    at += 1 + AS_WIRE_SYSCALL_ARGS;
    qemu.returns(99, 0, 39, 5);
    expect((uint64_t)AS_WIRE_TIME << AS_WIRE_EVENT_SHIFT);
    expect(lane->stamp);
    expect((uint64_t)AS_WIRE_SYSCALL_RETURN << AS_WIRE_EVENT_SHIFT | 39);
    expect(5);
    expect_no_more();
}

static void test_stamps(void **state)
{
    in_child(stamps, NULL);
}

/* ---- system calls ---- */

struct numbers {
    enum as_arch arch;
    int64_t mmap, munmap, mremap, sigaction, execve, clone, fork, vfork, exit, prctl, futex, other;
};
static const struct numbers numbers[] = {{AS_ARCH_X86_64, 9, 11, 25, 13, 59, 56, 57, 58, 60, 157, 202, 39},
                                         {AS_ARCH_RISCV64, 222, 215, 216, 134, 221, 220, 0, 0, 93, 167, 98, 172}};

static void call(int64_t number, uint64_t a1, uint64_t a2, uint64_t a3)
{
    qemu.call(99, 0, number, a1, a2, a3, 14, 15, 16, 17, 18);
}

static void expect_call(int64_t number, uint64_t a1, uint64_t a2, uint64_t a3)
{
    const uint64_t args[AS_WIRE_SYSCALL_ARGS] = {a1, a2, a3, 14, 15, 16};
    call(number, a1, a2, a3);
    assert_int_equal(as_lane_of[0]->activity, AS_WIRE_IN_SYSCALL);
    expect((uint64_t)AS_WIRE_SYSCALL << AS_WIRE_EVENT_SHIFT | (uint64_t)number);
    for (size_t i = 0; i < AS_WIRE_SYSCALL_ARGS; i++)
        expect(args[i]);
    expect_no_more();
}

static void expect_return(int64_t number, int64_t result)
{
    qemu.returns(99, 0, number, result);
    assert_int_equal(as_lane_of[0]->activity, AS_WIRE_RUNNING);
    expect((uint64_t)AS_WIRE_SYSCALL_RETURN << AS_WIRE_EVENT_SHIFT | (uint64_t)number);
    expect((uint64_t)result);
}

static void start(const struct numbers *of)
{
    begin();
    install(of->arch);
    as_plugin.guest_base_known = true;
    as_lane_check(0);
    at = as_lane_of[0]->write;
}

/* How many messages the code lane has when a block is translated in a mapping that has just changed: one more if that is known. */
static bool looks_at_maps(int64_t number)
{
    static off_t offset;
    struct qemu_plugin_tb tb = {1, {INSN(READS)}, NULL, NULL};
    void *page = (void *)(uintptr_t)0x7000000000;
    int fd = open("/proc/self/exe", O_RDONLY);
    assert_true(mmap(page, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, offset += 4096) == page);
    close(fd);
    call(number, 1, 2, 3);
    qemu.returns(99, 0, number, -1);
    at = as_lane_of[0]->write;
    const uint64_t *before = as_plugin.code->write;
    translate(&tb, (uintptr_t)page);
    return as_plugin.code->write - before > 7; /* … and the block */
}

static void calls(void *context)
{
    const struct numbers *of = context;
    start(of);
    expect_call(of->other, 11, 12, 13);
    expect_return(of->other, -7);
    assert_int_equal(as_lane_of[0]->brief, 0);
    assert_true(looks_at_maps(of->other)); /* the first time in any case */
    assert_false(looks_at_maps(of->other));
    assert_true(looks_at_maps(of->mmap));
    assert_true(looks_at_maps(of->munmap));
    assert_true(looks_at_maps(of->mremap));
    assert_false(looks_at_maps(of->mremap + 1));
    assert_int_equal(wire->several, 0);
    call(of->exit, 1, 2, 3);
    assert_int_equal(as_lane_of[0]->brief, 1);
    call(of->other, 1, 2, 3);
    assert_int_equal(as_lane_of[0]->brief, 0);
    at = as_lane_of[0]->write;
    expect_call(of->execve, 8, 8, 8); /* of nothing that can be read */
    expect_return(of->execve, -14);
    expect_no_more();
}

static void forks(void *context)
{
    const struct numbers *of = ((const void **)context)[0];
    start(of);
    int64_t number = *((const int64_t **)context)[1];
    call(number, SIGCHLD, 0, 0);
    assert_int_equal(wire->several, 1);
    qemu.returns(99, 0, number, 123);
    assert_true(wire->woken == 0 && !as_turns_awaits() && qemu.resets == 0);
}

static void handlers(void *context)
{
    const struct numbers *of = context;
    static uint64_t handler = 0x401230, ignore = (uintptr_t)SIG_IGN;
    start(of);
    call(of->sigaction, SIGUSR1, (uintptr_t)&handler, 0);
    assert_true(as_handlers_has(handler));
    atomic_store(&wire->minds_interrupt, 9);
    qemu.returns(99, 0, of->sigaction, 0);
    assert_int_equal(wire->minds_interrupt, 9);
    call(of->sigaction, SIGINT, (uintptr_t)&ignore, 0);
    qemu.returns(99, 0, of->sigaction, -22);
    assert_int_equal(wire->minds_interrupt, 9);
    qemu.returns(99, 0, of->sigaction, 0);
    assert_int_equal(wire->minds_interrupt, 0);
}

static void names_itself(void *context)
{
    const struct numbers *of = context;
    char name[16] = "a name";
    start(of);
    prctl(PR_SET_NAME, name);
    expect_call(of->prctl, PR_SET_NAME, 1, 2);
    expect_return(of->prctl, -22);
    expect_no_more();
    expect_call(of->prctl, PR_GET_NAME, 1, 2);
    expect_return(of->prctl, 0);
    expect_no_more();
    expect_call(of->prctl, PR_SET_NAME, 1, 2);
    expect_return(of->prctl, 0);
    expect((uint64_t)AS_WIRE_THREAD_NAME << AS_WIRE_EVENT_SHIFT);
    assert_memory_equal(at, name, sizeof name);
    at += 2;
    expect_no_more();
}

static void wakes(void *context)
{
    static const struct {
        uint64_t op;
        int64_t result, more;
    } cases[] = {{FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 2, 2},
                 {FUTEX_WAKE_BITSET | FUTEX_PRIVATE_FLAG, 1, 1},
                 {FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 0, 0},
                 {FUTEX_WAKE | FUTEX_PRIVATE_FLAG, -22, 0},
                 {FUTEX_WAKE, 2, 0},
                 {FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0, -1},
                 {FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 0, -1},
                 {FUTEX_WAIT | FUTEX_PRIVATE_FLAG, -11, 0},
                 {FUTEX_REQUEUE | FUTEX_PRIVATE_FLAG, 0, 0},
                 {FUTEX_REQUEUE | FUTEX_PRIVATE_FLAG, 1, 0}};
    const struct numbers *of = context;
    int32_t woken = 0;
    start(of);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        call(of->futex, 1, cases[i].op, 3);
        qemu.returns(99, 0, of->futex, cases[i].result);
        woken += (int32_t)cases[i].more;
        assert_int_equal(wire->woken, woken);
        assert_int_equal(as_turns_awaits(), woken > 0);
    }
}

static void test_system_calls(void **state)
{
    for (size_t i = 0; i < 2; i++) {
        const int64_t *ways[] = {&numbers[i].clone, &numbers[i].fork, &numbers[i].vfork};
        in_child(calls, (void *)&numbers[i]);
        in_child(handlers, (void *)&numbers[i]);
        in_child(names_itself, (void *)&numbers[i]);
        in_child(wakes, (void *)&numbers[i]);
        for (size_t k = 0; k < 3 && *ways[k]; k++)
            in_child(forks, (const void *[]){&numbers[i], ways[k]});
    }
}

/* ---- threads ---- */

enum { MEMORY = 0x100, VFORK = 0x4000, SET_BIT = 1 << 24 };

struct clones {
    uint32_t stamped;
    bool in_step, flags_change;
    uint64_t flags;
    unsigned resets;
};

static void clones(void *context)
{
    const struct clones *of = context;
    bool thread = (of->flags & (MEMORY | VFORK)) == MEMORY;
    start(&numbers[0]);
    wire->stamped = of->stamped;
    wire->in_step = of->in_step;
    atomic_store(&wire->cheap_switch, 1);
    call(56, of->flags, 0, 0);
    assert_int_equal(wire->cheap_switch, !thread);
    assert_int_equal(as_lane_of[0]->brief, 1);
    assert_int_equal(wire->several, 1);
    qemu.init(99, 1);
    qemu.cpu[100] ^= of->flags_change;
    qemu.returns(99, 0, 56, -11); /* it fails */
    assert_int_equal(wire->woken, 0);
    assert_int_equal(qemu.resets, of->resets);
    call(56, of->flags, 0, 0);
    qemu.returns(99, 0, 56, 1234);
    assert_int_equal(wire->woken, thread);
    assert_int_equal(as_turns_awaits(), thread);
    assert_int_equal(qemu.resets, of->resets); /* the first time alone */
    assert_int_equal(qemu.registered, 1 + of->resets);
    assert_int_equal(qemu.helpers_disabled, of->resets);
    if (!thread)
        return;
    as_lane_check(1);
    assert_true(wire->woken == 0 && !as_turns_awaits() && as_lane_count_live() == 2);
    struct as_wire_lane *lane = as_lane_of[1];
    qemu.exit(99, 1);
    assert_int_equal(lane->state, AS_WIRE_ENDED);
    assert_ptr_equal(as_lane_of[1], &as_lane_unclaimed);
    qemu.exit(99, 1); /* it has no lane */
    qemu.exit(99, AS_PLUGIN_VCPUS);
    assert_int_equal(as_lane_count_live(), 1);
}

/* With a set of code for each way of recording, or by translating anew. */
static void switches(void *context)
{
    bool has_sets = *(bool *)context;
    begin();
    wire->gated = 1;
    qemu.cpu[100] = 0x80002;
    qemu.flags = has_sets ? 0 : 1;
    install(AS_ARCH_X86_64);
    translate(&block, code);
    execute(&block);
    assert_int_equal(wire->cheap_switch, has_sets);
    as_plugin.switch_recording(0);
    assert_true(qemu.resets == 0 && qemu.exits == 0); /* it is as it shall be */
    atomic_store(&wire->record_accesses, AS_WIRE_ALL);
    as_plugin.switch_recording(0);
    assert_int_equal(as_plugin.recording, AS_WIRE_ALL);
    assert_true(qemu.resets == !has_sets && qemu.exits == has_sets);
    assert_int_equal(qemu.cpu[100], 0x80002 + (has_sets ? SET_BIT : 0));
    atomic_store(&wire->record_accesses, AS_WIRE_COARSE);
    as_plugin.switch_recording(0);
    assert_int_equal(qemu.cpu[100], 0x80002 + (has_sets ? 3 * SET_BIT : 0));
    call(56, MEMORY, 0, 0);
    unsigned before = qemu.resets;
    atomic_store(&wire->record_accesses, AS_WIRE_VARYING);
    as_plugin.switch_recording(0); /* several threads: anew */
    assert_int_equal(qemu.resets, before + 1);
}

static void test_threads(void **state)
{
    static const struct clones cases[] = {
        {.flags = MEMORY, .resets = 1},
        {.flags = MEMORY, .in_step = true},
        {.flags = MEMORY, .flags_change = true},
        {.flags = MEMORY, .in_step = true, .stamped = AS_WIRE_STAMPED_THREADS, .resets = 1},
        {.flags = MEMORY, .in_step = true, .stamped = AS_WIRE_STAMPED},
        {.flags = MEMORY | VFORK},
        {.flags = 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        in_child(clones, (void *)&cases[i]);
    for (int has_sets = 0; has_sets < 2; has_sets++)
        in_child(switches, &(bool){has_sets});
}

/* ---- beginning ---- */

static void numbers_of_a_process(void *unused)
{
    const qemu_info_t info = {.target_name = "x86_64"};
    char *argv[] = {memory, "process=7", "else=1"};
    begin();
    atomic_store(&wire->next_process, 40);
    atomic_store(&wire->next_image, 50);
    assert_int_equal(qemu_plugin_install(99, &info, 3, argv), 0);
    assert_true(as_plugin.process == 7 && as_plugin.image == 51 && as_plugin.pid == getpid());
    assert_true(as_plugin.arch == AS_ARCH_X86_64 && wire->next_process == 40);
    as_plugin.process = 0;
    assert_int_equal(qemu_plugin_install(99, &(qemu_info_t){.target_name = "riscv64"}, 1, argv), 0);
    assert_true(as_plugin.process == 41 && as_plugin.image == 52 && as_plugin.arch == AS_ARCH_RISCV64);
}

struct refusal {
    const char *why;
    bool no_memory, no_file, whole_system, other_magic, other_version, other_size, long_block;
};

static void refuses(void *context)
{
    const struct refusal *of = context;
    const qemu_info_t info = {.target_name = "x86_64", .system_emulation = of->whole_system};
    char *argv[] = {of->no_file ? "memory=/nowhere" : memory};
    make_wire();
    wire->magic ^= of->other_magic;
    wire->version ^= of->other_version;
    wire->header_size ^= of->other_size;
    (void)qemu_plugin_install(99, &info, !of->no_memory, argv);
    static struct qemu_plugin_tb tb;
    for (tb.n = 0; tb.n < 512; tb.n++)
        tb.insns[tb.n] = (struct qemu_plugin_insn)INSN(READS);
    translate(&tb, code);
    tb.insns[tb.n++] = (struct qemu_plugin_insn)INSN(READS);
    translate(&tb, code);
}

static void test_beginning(void **state)
{
    static const struct refusal cases[] = {
        {"is Assay's QEMU plugin for user mode", .no_memory = true},
        {"is Assay's QEMU plugin for user mode", .whole_system = true},
        {"cannot open the shared memory", .no_file = true},
        {"are of different versions", .other_magic = true},
        {"are of different versions", .other_version = true},
        {"are of different versions", .other_size = true},
        {"a block of more than 512 instructions", .long_block = true},
    };
    char text[512];
    in_child(numbers_of_a_process, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(unit_run_child(refuses, (void *)&cases[i], text, sizeof text), 125 << 8);
        assert_non_null(strstr(text, cases[i].why));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_blocks), cmocka_unit_test(test_stamps),
                                       cmocka_unit_test(test_system_calls), cmocka_unit_test(test_threads),
                                       cmocka_unit_test(test_beginning)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
