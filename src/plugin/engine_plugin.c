/* assay-engine.so: reports to the engine what a program in QEMU's user mode executes. engine/wire.h has the format.
 *
 * The plugin does as little as possible: one callback for each block that starts and one for each access. The reader
 * decodes and counts, on another processor.
 */
#include "engine/brief_calls.h"
#include "engine/sieve.h"
#include "engine/stamp.h"
#include "engine/wire.h"
#include "plugin/access_word.h"
#include "plugin/block_traits.h"
#include "plugin/code.h"
#include "plugin/code_sets.h"
#include "plugin/cpu_state.h"
#include "plugin/follow.h"
#include "plugin/lane.h"
#include "plugin/one_processor.h"
#include "plugin/qemu_plugin_api.h"
#include "plugin/sample_filter.h"
#include "plugin/shared.h"
#include "plugin/signal_handlers.h"
#include "plugin/thread_step.h"
#include "plugin/varies.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

int qemu_plugin_version = 1;

/* Which system calls matter to us, by architecture. */
struct syscall_numbers {
    int64_t mmap, munmap, mremap, sigaction, execve, clone, fork, vfork, exit, prctl, futex;
};
static const struct syscall_numbers numbers_of[AS_ARCH_COUNT] = {
    [AS_ARCH_X86_64] = {.mmap = 9,
                        .munmap = 11,
                        .mremap = 25,
                        .sigaction = 13,
                        .execve = 59,
                        .clone = 56,
                        .fork = 57,
                        .vfork = 58,
                        .exit = 60,
                        .prctl = 157,
                        .futex = 202},
    [AS_ARCH_RISCV64] = {.mmap = 222,
                         .munmap = 215,
                         .mremap = 216,
                         .sigaction = 134,
                         .execve = 221,
                         .clone = 220,
                         .fork = -1, /* there is none */
                         .vfork = -1,
                         .exit = 93,
                         .prctl = 167,
                         .futex = 98},
};

/* A block's userdata is its id and its number of instructions, so that the callback need not load anything. */
enum { COUNT_BITS = 16 };

AS_CALLED_BY_ASSEMBLY void as_on_block(unsigned vcpu, void *userdata, void *cpu);
AS_CALLED_BY_ASSEMBLY void as_on_stamped(unsigned vcpu, void *userdata, void *cpu);
AS_CALLED_BY_ASSEMBLY void as_on_atomic(unsigned vcpu, void *userdata, void *cpu);
AS_CALLED_BY_ASSEMBLY void as_on_step(unsigned vcpu, void *userdata, void *cpu);
AS_CALLED_BY_ASSEMBLY void as_on_reserve(unsigned vcpu, void *userdata, void *cpu);
AS_CALLED_BY_ASSEMBLY void as_on_handler(unsigned vcpu, void *userdata, void *cpu);
AS_CALLED_BY_ASSEMBLY void as_on_hints(unsigned vcpu, void *userdata, void *cpu);
AS_CALLED_BY_ASSEMBLY void as_on_watched(unsigned vcpu, void *userdata, void *cpu);
AS_CPU_ENTRY(on_block, as_on_block)
AS_CPU_ENTRY(on_stamped, as_on_stamped)
AS_CPU_ENTRY(on_atomic, as_on_atomic)
AS_CPU_ENTRY(on_step, as_on_step)
AS_CPU_ENTRY(on_reserve, as_on_reserve)
AS_CPU_ENTRY(on_handler, as_on_handler)
AS_CPU_ENTRY(on_hints, as_on_hints)
AS_CPU_ENTRY(on_watched, as_on_watched)

static bool info_is_known; /* on_access_fast is right */

static void claim_lane(unsigned vcpu)
{
    as_lane_check(vcpu);
    if (as_lane_of[vcpu]->thread == 1 && as_plugin.wire->gated)
        atomic_store(&as_plugin.wire->cheap_switch, as_code_sets_find(vcpu) && info_is_known);
}

/* The thread may be too far ahead, or has no lane yet. */
static __attribute__((noinline)) void check_and_push(unsigned vcpu, uintptr_t block, void *cpu)
{
    if (as_lane_of[vcpu] == &as_lane_unclaimed)
        claim_lane(vcpu);
    else
        as_lane_check(vcpu);
    as_lane_of[vcpu]->cpu = cpu;
    as_lane_push(as_lane_of[vcpu], block >> COUNT_BITS);
}

static struct as_wire_lane *lane_for(unsigned vcpu)
{
    if (vcpu >= AS_PLUGIN_VCPUS || as_lane_of[vcpu] == &as_lane_unclaimed)
        as_lane_check(vcpu);
    return as_lane_of[vcpu];
}

static void push_event(struct as_wire_lane *lane, enum as_wire_event event, uint32_t number)
{
    as_lane_push(lane, (uint64_t)event << AS_WIRE_EVENT_SHIFT | number);
}

/* The time of the next block; `late`: of the one just announced, which begins now. */
static void push_time(struct as_wire_lane *lane, uint64_t now, bool late)
{
    push_event(lane, AS_WIRE_TIME, late);
    as_lane_push(lane, now);
    lane->stamp = now;
}

/* The stamp is taken before anything of the block is executed, and after everything of the block before it. A thread that is alone
 * keeps its last one: reading the time may take longer than the block. */
static inline void push_stamped(struct as_wire_lane *lane, uint64_t block)
{
    bool alone = !atomic_load_explicit(&as_plugin.wire->several, memory_order_relaxed);
    uint64_t now = alone && lane->stamp ? lane->stamp : as_stamp_now();
    if (__builtin_expect(now - lane->stamp > AS_WIRE_STAMP_MASK / 2, 0))
        push_time(lane, now, false);
    lane->stamp = now;
    as_lane_push(lane, (now & AS_WIRE_STAMP_MASK) << AS_WIRE_STAMP_SHIFT | block);
}

/* A stamped block is announced before the thread waits: what the block before it did is then known to have happened. */
static __attribute__((noinline)) void push_and_check(unsigned vcpu, uintptr_t block, void *cpu)
{
    if (as_lane_of[vcpu] == &as_lane_unclaimed)
        claim_lane(vcpu);
    as_lane_of[vcpu]->cpu = cpu;
    push_stamped(as_lane_of[vcpu], block >> COUNT_BITS);
    if (as_lane_check(vcpu))
        push_time(as_lane_of[vcpu], as_stamp_now(), true);
}

/* Everything rare is a last call, so that no register has to be saved for it. */
void as_on_block(unsigned vcpu, void *userdata, void *cpu)
{
    uintptr_t block = (uintptr_t)userdata;
    struct as_wire_lane *lane = as_lane_of[vcpu];
    lane->instructions += block & ((1u << COUNT_BITS) - 1);
    if (__builtin_expect(lane->instructions >= lane->check_at, 0))
        check_and_push(vcpu, block, cpu);
    else
        as_lane_stream(lane, block >> COUNT_BITS);
}

static _Atomic bool threaded; /* the process has, or had, more than one thread */

/* Whether anything asks how many instructions a thread has executed: other threads, or gates. */
static bool needs_clocks(void)
{
    return atomic_load(&threaded) || as_plugin.wire->gated || as_plugin.wire->in_step ||
           atomic_load(&as_plugin.wire->quantum);
}

static __attribute__((noinline)) void push_unclocked(unsigned vcpu, uint64_t block)
{
    as_lane_push(lane_for(vcpu), block);
}

/* A block where nothing needs clocks: its userdata is its id alone. A second thread may still come here before code is translated anew,
 * so the lane is that of the vcpu. */
static void on_unclocked(unsigned vcpu, void *userdata)
{
    struct as_wire_lane *lane = as_lane_of[vcpu];
    if (__builtin_expect(lane->write == lane->chunk_end, 0))
        push_unclocked(vcpu, (uintptr_t)userdata);
    else
        as_lane_stream(lane, (uintptr_t)userdata);
}

void as_on_stamped(unsigned vcpu, void *userdata, void *cpu)
{
    uintptr_t block = (uintptr_t)userdata;
    struct as_wire_lane *lane = as_lane_of[vcpu];
    lane->instructions += block & ((1u << COUNT_BITS) - 1);
    if (__builtin_expect(lane->instructions >= lane->check_at, 0))
        push_and_check(vcpu, block, cpu);
    else
        push_stamped(lane, block >> COUNT_BITS);
}

/* A block that learns something from an atomic. What the thread waits for may be stores of other threads, so its stores are later than all
 * of those. */
void as_on_atomic(unsigned vcpu, void *userdata, void *cpu)
{
    as_on_stamped(vcpu, userdata, cpu);
    if (as_lane_take_turn(vcpu))
        push_time(as_lane_of[vcpu], as_stamp_now(), true);
}

/* The same, where threads keep step. */
static void keep_step(unsigned vcpu, void *userdata, void *cpu, bool reserves)
{
    as_on_stamped(vcpu, userdata, cpu);
    if (as_turns_take(as_lane_of[vcpu], (uint32_t)((uintptr_t)userdata >> COUNT_BITS), reserves))
        push_time(as_lane_of[vcpu], as_stamp_now(), true);
}

void as_on_step(unsigned vcpu, void *userdata, void *cpu)
{
    keep_step(vcpu, userdata, cpu, false);
}

void as_on_reserve(unsigned vcpu, void *userdata, void *cpu)
{
    keep_step(vcpu, userdata, cpu, true);
}

static _Atomic bool shares; /* … memory that other processes may share, and there were some */

/* Everything is translated anew with the second thread (see note_first_thread), so all code of a thread has stamps from then on. */
static bool are_stamped(void)
{
    uint32_t stamped = as_plugin.wire->stamped;
    return stamped == AS_WIRE_STAMPED || (stamped && (atomic_load(&threaded) || atomic_load(&shares)));
}

static void begin_block(unsigned vcpu, void *userdata, void *cpu)
{
    if (are_stamped())
        as_on_stamped(vcpu, userdata, cpu);
    else
        as_on_block(vcpu, userdata, cpu);
}

/* A block at the entry of a signal handler. */
void as_on_handler(unsigned vcpu, void *userdata, void *cpu)
{
    struct as_cpu_signal signal;
    if (as_cpu_find_signal(cpu, &signal)) {
        struct as_wire_lane *lane = lane_for(vcpu);
        push_event(lane, AS_WIRE_SIGNAL, signal.number | (uint32_t)signal.synchronous << AS_WIRE_SYNCHRONOUS_BIT);
        as_lane_push(lane, signal.interrupted);
    }
    begin_block(vcpu, userdata, cpu);
}

/* A block with prefetches or cache-line flushes: its registers hold where they point. */
void as_on_hints(unsigned vcpu, void *userdata, void *cpu)
{
    begin_block(vcpu, userdata, cpu);
    if (!cpu)
        return;
    push_event(as_lane_of[vcpu], AS_WIRE_REGISTERS_AT, 0);
    for (size_t i = 0; i < AS_WIRE_REGISTERS; i++)
        as_lane_push(as_lane_of[vcpu], ((const uint64_t *)cpu)[i]);
}

/* A block with a landmark: while recording is off, the reader decides whether it is to be switched on before it. The
 * block itself always reports its accesses, so nothing is missed. */
void as_on_watched(unsigned vcpu, void *userdata, void *cpu)
{
    as_on_hints(vcpu, userdata, cpu);
    if (atomic_load(&as_plugin.wire->asks))
        as_lane_ask(vcpu);
}

static void on_access_fast(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *userdata)
{
    as_lane_stream(as_lane_of[vcpu], as_access_word(info, address, userdata));
}

/* … of a block with a stamp. */
static void on_access_stamped(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *userdata)
{
    as_lane_push(as_lane_of[vcpu], as_access_word(info, address, userdata));
}

static void on_access_slow(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *userdata)
{
    as_lane_push(as_lane_of[vcpu], (address & ((UINT64_C(1) << AS_WIRE_ADDRESS_BITS) - 1)) | (uintptr_t)userdata |
                                       (uint64_t)(qemu_plugin_mem_size_shift(info) & 7) << AS_WIRE_SIZE_SHIFT |
                                       (qemu_plugin_mem_is_store(info) ? AS_WIRE_STORE : AS_WIRE_LOAD));
}

/* … of an atomic that takes its turn. */
static void on_access_in_step(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *userdata)
{
    as_turns_touch(as_lane_of[vcpu], address);
    (info_is_known ? on_access_stamped : on_access_slow)(vcpu, info, address, userdata);
}

/* Only for a process with one thread. */
static uint64_t sieve[AS_SIEVE_COARSE_SLOTS];

static inline void sift(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *userdata, uint64_t slots)
{
    if (as_sieve_pass(sieve, slots, address & ((UINT64_C(1) << AS_WIRE_ADDRESS_BITS) - 1), info >> 17 & 1))
        (are_stamped() ? on_access_stamped : on_access_fast)(vcpu, info, address, userdata);
}

static void on_access_sieved(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *userdata)
{
    sift(vcpu, info, address, userdata, AS_SIEVE_SLOTS);
}

static void on_access_coarse(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *userdata)
{
    sift(vcpu, info, address, userdata, AS_SIEVE_COARSE_SLOTS);
}

static bool info_layout_is_known(void)
{
    for (unsigned size = 0; size < 6; size++)
        for (unsigned rw = 1; rw < 4; rw++) {
            qemu_plugin_meminfo_t info = size << 4 | rw << 16;
            if (qemu_plugin_mem_size_shift(info) != size || qemu_plugin_mem_is_store(info) != ((rw & 2) != 0))
                return false;
        }
    return true;
}

/* Which callback a block gets. */
static qemu_exec_cb choose_entry(const struct qemu_plugin_tb *tb, size_t n, bool recorded, bool watched)
{
    if (as_handlers_has(qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0))))
        return on_handler;
    if (watched)
        return on_watched;
    for (size_t i = 0; i < n && recorded; i++) {
        const struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        if (as_insn_hints(as_plugin.arch, qemu_plugin_insn_data(insn), qemu_plugin_insn_size(insn)))
            return on_hints;
    }
    if (!are_stamped() || !recorded || !as_traits_asks(tb, n))
        return are_stamped() ? on_stamped : on_block;
    return !as_plugin.wire->in_step ? on_atomic : as_traits_ends_reserved(tb, n) ? on_reserve : on_step;
}

/* What accesses of an instruction pass through that are not all reported; NULL: none is. Lines of the stack stay in the first cache. */
static qemu_mem_cb choose_sieve(const uint8_t *bytes, size_t size)
{
    if (as_plugin.recording == AS_WIRE_SAMPLED && info_is_known)
        return as_sample_callback(bytes, size);
    if (as_plugin.recording == AS_WIRE_SAMPLED)
        return on_access_slow;
    if (as_plugin.recording == AS_WIRE_SIEVED)
        return on_access_sieved;
    if (as_plugin.recording != AS_WIRE_COARSE || as_insn_only_stack(as_plugin.arch, bytes, size))
        return NULL;
    return on_access_coarse;
}

/* What reports all accesses of an instruction. */
static qemu_mem_cb choose_access(const uint8_t *bytes, size_t size, bool in_step)
{
    enum as_answer answer = in_step ? as_insn_answer(as_plugin.arch, bytes, size) : AS_ANSWER_NONE;
    if (answer == AS_ANSWER_VALUE || answer == AS_ANSWER_FLAGS)
        return on_access_in_step;
    if (!info_is_known)
        return on_access_slow;
    if (as_plugin.recording == AS_WIRE_SAMPLED)
        return as_sample_reported;
    return are_stamped() ? on_access_stamped : on_access_fast;
}

/* A thread's first block claims its lane: it has an entry that knows the CPU. */
static void register_entry(struct qemu_plugin_tb *tb, qemu_exec_cb entry, uint32_t block, size_t n)
{
    uintptr_t counted = (uintptr_t)block << COUNT_BITS | n;
    bool unclocked = entry == on_block && as_lane_mine() && !needs_clocks();
    qemu_plugin_register_vcpu_tb_exec_cb(tb, unclocked ? on_unclocked : entry, QEMU_PLUGIN_CB_NO_REGS,
                                         (void *)(unclocked ? block : counted));
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    size_t n = qemu_plugin_tb_n_insns(tb);
    if (n == 0)
        return;
    if (n > AS_WIRE_INDEX_MASK + 1)
        as_plugin_die("QEMU made a block of more than 512 instructions; this version of QEMU is not supported");
    bool watched = as_traits_watched(tb, n), recorded = as_plugin.recording == AS_WIRE_ALL || watched;
    uint32_t block = as_code_report_block(tb, n, recorded);
    register_entry(tb, choose_entry(tb, n, recorded, watched), block, n);
    bool stacks = as_plugin.wire->stacks, moved = false;
    bool in_step = as_plugin.wire->in_step && recorded && as_traits_asks(tb, n);
    for (size_t i = 0; i < n; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        const uint8_t *bytes = qemu_plugin_insn_data(insn);
        size_t size = qemu_plugin_insn_size(insn);
        bool tells = stacks && (moved || as_insn_links(as_plugin.arch, bytes, size));
        moved = moved || (stacks && as_insn_moves_stack(as_plugin.arch, bytes, size));
        bool whole = recorded || tells || as_insn_varies(as_plugin.arch, bytes, size);
        qemu_mem_cb callback = whole ? choose_access(bytes, size, in_step) : choose_sieve(bytes, size);
        if (callback)
            qemu_plugin_register_vcpu_mem_cb(insn, callback, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
                                             (void *)((uintptr_t)i << AS_WIRE_INDEX_SHIFT));
    }
}

/* Threads take turns: a new one must be known before the turn of the thread that made it ends, and wait at its gate. With its first
 * new thread QEMU throws all code away, for which it must be alone: were the new thread sometimes at its gate by then and sometimes
 * not, it would sometimes go on for a block (see as_wire_header.leaks). */
static __thread uint32_t settled_before;

static void wait_for_clone(uint64_t flags)
{
    enum { CLONES_MEMORY = 0x100, STEP_MICROSECONDS = 50, LONGEST = 20000 };
    for (int i = 0; i < LONGEST && flags & CLONES_MEMORY && as_lane_count_settled() == settled_before; i++)
        usleep(STEP_MICROSECONDS);
}

static __thread uint64_t call_args[AS_WIRE_SYSCALL_ARGS]; /* of the call that the thread is in */

static bool makes_thread(uint64_t flags)
{
    enum { SHARES_MEMORY = 0x100, IS_VFORK = 0x4000 }; /* QEMU makes a vfork a fork */
    return (flags & (SHARES_MEMORY | IS_VFORK)) == SHARES_MEMORY;
}

/* How QEMU translates code for the vcpu now; 0: it does not report that. */
static uint32_t code_flags(unsigned vcpu)
{
    void *cpu = qemu_get_cpu && curr_cflags ? qemu_get_cpu((int)vcpu) : NULL;
    return cpu ? curr_cflags(cpu) : 0;
}

static __thread bool makes_first; /* the call that the thread is in makes the second thread of the process */
static uint32_t flags_before;     /* … of that vcpu */
static bool had_no_clocks;        /* … and code before it */

static void note_clone(unsigned vcpu, uint64_t flags)
{
    if (!makes_thread(flags))
        return;
    bool clockless = !needs_clocks();
    makes_first = !atomic_exchange(&threaded, true);
    as_sample_note_thread();
    if (makes_first) {
        flags_before = code_flags(vcpu);
        had_no_clocks = clockless;
    }
    atomic_store(&as_plugin.wire->cheap_switch, 0);
}

static void on_syscall(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3,
                       uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
    const struct syscall_numbers *numbers = &numbers_of[as_plugin.arch];
    const uint64_t args[AS_WIRE_SYSCALL_ARGS] = {a1, a2, a3, a4, a5, a6};
    struct as_wire_lane *lane = lane_for(vcpu);
    push_event(lane, AS_WIRE_SYSCALL, (uint32_t)number);
    for (size_t i = 0; i < AS_WIRE_SYSCALL_ARGS; i++)
        as_lane_push(lane, args[i]);
    if (number == numbers->sigaction)
        as_handlers_note(a2);
    memcpy(call_args, args, sizeof call_args);
    if (number == numbers->clone)
        note_clone(vcpu, a1);
    if (number == numbers->clone || number == numbers->fork || number == numbers->vfork)
        atomic_store(&as_plugin.wire->several, 1);
    as_one_processor_call(as_plugin.arch, number);
    bool brief = as_call_is_brief(as_plugin.arch, (uint32_t)number, args), in_step = as_plugin.wire->in_step;
    atomic_store(&lane->brief, number == numbers->exit || number == numbers->clone || (in_step && brief));
    atomic_store(&lane->quick, brief); /* before it says that it is in the call */
    as_follow_note_syscall(vcpu);
    as_lane_enter_syscall(lane);
    settled_before = as_lane_count_settled(); /* with this thread, whose first call it may be */
    if (number == numbers->execve)
        as_follow_execve(a1, a2, a3);
}

/* QEMU names its own thread as the guest names its, so the host's name is the guest's. */
static void push_name(struct as_wire_lane *lane)
{
    uint64_t words[AS_WIRE_THREAD_NAME_WORDS] = {0};
    prctl(PR_GET_NAME, words);
    push_event(lane, AS_WIRE_THREAD_NAME, 0);
    for (size_t i = 0; i < AS_WIRE_THREAD_NAME_WORDS; i++)
        as_lane_push(lane, words[i]);
}

/* Threads that were woken and have not come back: they are about to run, so nobody should run far ahead of them (engine/pace.h). Only of
 * futexes that are the process's own: others are woken by the kernel, too, when a thread ends. */
static void note_futex(int64_t result)
{
    uint64_t call = call_args[1] & (uint64_t)FUTEX_CMD_MASK;
    bool wakes = call == FUTEX_WAKE || call == FUTEX_WAKE_BITSET,
         waits = call == FUTEX_WAIT || call == FUTEX_WAIT_BITSET;
    if (!(call_args[1] & FUTEX_PRIVATE_FLAG))
        return;
    int32_t more = wakes && result > 0 ? (int32_t)result : waits && result == 0 ? -1 : 0;
    atomic_fetch_add(&as_plugin.wire->woken, more);
    as_turns_expect(more);
}

static qemu_plugin_id_t plugin_id;
static void on_reset(qemu_plugin_id_t id);

/* From here on another process may see what this one stores: its blocks have to be translated anew, with stamps. */
static void note_sharing(void)
{
    if (!as_shared_is_used() || are_stamped() || !as_plugin.wire->stamped || !atomic_load(&as_plugin.wire->several))
        return;
    atomic_store(&shares, true);
    qemu_plugin_reset(plugin_id, on_reset);
}

/* With the second thread QEMU begins to translate code for several threads, and throws away what it had. It does so earlier
 * where a program maps a file for sharing, as libc does with tables of character sets: then the code that is there, which
 * has no stamps or counts no instructions, would stay. */
static void note_first_thread(unsigned vcpu)
{
    if (!makes_first)
        return;
    makes_first = false;
    if ((as_plugin.wire->stamped == AS_WIRE_STAMPED_THREADS || had_no_clocks) && code_flags(vcpu) == flags_before)
        qemu_plugin_reset(plugin_id, on_reset);
}

static void on_syscall_return(qemu_plugin_id_t id, unsigned vcpu, int64_t number, int64_t result)
{
    const struct syscall_numbers *numbers = &numbers_of[as_plugin.arch];
    struct as_wire_lane *lane = lane_for(vcpu);
    if (number == numbers->clone && result > 0 && as_plugin.wire->in_turn)
        wait_for_clone(call_args[0]);
    if (number == numbers->clone && result > 0 && makes_thread(call_args[0])) {
        atomic_fetch_add(&as_plugin.wire->woken, 1); /* until it has its lane: as_lane_start_thread */
        as_turns_expect(1);
    }
    note_first_thread(vcpu);
    as_lane_leave_syscall(lane, !as_call_did_not_wait(as_plugin.arch, (uint32_t)number, result));
    if (number == numbers->futex)
        note_futex(result);
    if (as_plugin.wire->stamped == AS_WIRE_STAMPED || lane->stamp) /* not before the first block that has one */
        push_time(lane, as_stamp_now(), false);
    push_event(lane, AS_WIRE_SYSCALL_RETURN, (uint32_t)number);
    as_lane_push(lane, (uint64_t)result);
    as_shared_note_syscall(lane, number, call_args, result);
    note_sharing();
    if (number == numbers->prctl && call_args[0] == PR_SET_NAME && result == 0)
        push_name(lane);
    if (number == numbers->sigaction && call_args[0] == SIGINT && result == 0)
        as_handlers_note_interrupt(call_args[1]);
    if (as_plugin.recording == AS_WIRE_SAMPLED)
        as_sample_note_syscall(number, call_args, result);
    if (number == numbers->mmap || number == numbers->munmap || number == numbers->mremap)
        as_code_maps_changed();
}

static void on_vcpu_init(qemu_plugin_id_t id, unsigned vcpu)
{
    as_lane_note_birth(vcpu);
}

static void on_vcpu_exit(qemu_plugin_id_t id, unsigned vcpu)
{
    if (vcpu < AS_PLUGIN_VCPUS && as_lane_of[vcpu] != &as_lane_unclaimed) {
        as_lane_end(as_lane_of[vcpu]);
        as_lane_of[vcpu] = &as_lane_unclaimed;
    }
}

/* QEMU 7 remembers the callbacks of the last instruction that calls a function of QEMU's own, and does not forget them
 * where that instruction ends its block. Switching frees them, so that the next access by such a function would end QEMU.
 * Called when no CPU executes anything. */
static void forget_callbacks(void)
{
    if (!qemu_get_cpu || !qemu_plugin_disable_mem_helpers)
        return;
    for (unsigned vcpu = 0; vcpu < AS_PLUGIN_VCPUS; vcpu++) {
        void *cpu = as_lane_of[vcpu] != &as_lane_unclaimed ? qemu_get_cpu((int)vcpu) : NULL;
        if (cpu)
            qemu_plugin_disable_mem_helpers(cpu);
    }
}

static void register_callbacks(qemu_plugin_id_t id)
{
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
    qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
    qemu_plugin_register_vcpu_syscall_ret_cb(id, on_syscall_return);
    qemu_plugin_register_vcpu_init_cb(id, on_vcpu_init);
    qemu_plugin_register_vcpu_exit_cb(id, on_vcpu_exit);
}

static void on_reset(qemu_plugin_id_t id)
{
    forget_callbacks();
    register_callbacks(id);
}

static uint32_t recording_first; /* what as_plugin.recording was at the start: the first set of code */

/* Other threads may see this at the same time: QEMU lets the first of them have it, and what is translated from here on
 * is as it shall be. */
static void switch_recording(unsigned vcpu)
{
    uint32_t before = as_plugin.recording;
    as_plugin.recording = atomic_load(&as_plugin.wire->record_accesses);
    memset(sieve, 0, sizeof sieve);
    if (as_plugin.recording == before)
        return;
    if (!atomic_load(&threaded) && as_code_sets_find(vcpu))
        as_code_sets_switch(vcpu, (as_plugin.recording - recording_first) % AS_CODE_SETS);
    else
        qemu_plugin_reset(plugin_id, on_reset);
}

static struct as_wire_header *map_memory(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        as_plugin_die("the QEMU plugin cannot open the shared memory");
    struct as_wire_header *wire = mmap(NULL, AS_WIRE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd); /* the program's descriptors are its own */
    if (wire == MAP_FAILED)
        as_plugin_die("the QEMU plugin cannot map the shared memory");
    if (wire->magic != AS_WIRE_MAGIC || wire->version != AS_WIRE_VERSION || wire->header_size != sizeof *wire)
        as_plugin_die("assay-engine.so and assay are of different versions; install both from one build");
    return wire;
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
    const char *memory = NULL;
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "memory=", 7) == 0)
            memory = argv[i] + 7;
        else if (strncmp(argv[i], "process=", 8) == 0)
            as_plugin.process = (uint32_t)strtoul(argv[i] + 8, NULL, 10);
    }
    if (!memory || info->system_emulation)
        as_plugin_die("assay-engine.so is Assay's QEMU plugin for user mode; run it through 'assay'");
    as_plugin.wire = map_memory(memory);
    as_plugin.arch = strcmp(info->target_name, "riscv64") == 0 ? AS_ARCH_RISCV64 : AS_ARCH_X86_64;
    as_plugin.pid = getpid();
    as_plugin.image = atomic_fetch_add(&as_plugin.wire->next_image, 1) + 1;
    bool is_child = as_plugin.process > 1; /* the first process dies with the reader by PR_SET_PDEATHSIG */
    if (!as_plugin.process)
        as_plugin.process = atomic_fetch_add(&as_plugin.wire->next_process, 1) + 1;
    as_handlers_inherit_interrupt();
    info_is_known = info_layout_is_known();
    as_lane_setup();
    as_follow_setup();
    as_code_start_process(0);
    as_code_capture_stderr();
    if (is_child)
        as_follow_watch_reader();
    plugin_id = id;
    as_plugin.switch_recording = switch_recording;
    as_plugin.recording = recording_first = atomic_load(&as_plugin.wire->record_accesses);
    register_callbacks(id);
    return 0;
}
