/* From a signal to on_trap. The handler does not rely on the signal's contents: it checks the counters of all slots of
 * its thread, because one instruction that hits two watchpoints raises one SIGTRAP (the second finds it pending), and
 * because a signal may be left over from an earlier arming. */
#include "watch/watch_internal.h"

#include <asm/prctl.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PERF_TRAP = 6 /* si_code TRAP_PERF */, PERF_TRAP_ASYNC = 1, PERF_FLAGS_OFFSET = 36 /* of si_perf_flags */ };

static _Atomic(struct as_watch *) active;

/* Reads memory that may not be mapped through the kernel, page by page, because a transfer within one piece is all or
 * nothing. */
static size_t read_own(void *context, uint64_t address, void *bytes, size_t size)
{
    struct iovec to = {.iov_base = bytes, .iov_len = size}, from[2];
    size_t first = 4096 - (size_t)(address & 4095);
    first = first < size ? first : size;
    from[0] = (struct iovec){.iov_base = (void *)(uintptr_t)address, .iov_len = first};
    from[1] = (struct iovec){.iov_base = (void *)(uintptr_t)(address + first), .iov_len = size - first};
    ssize_t n = syscall(SYS_process_vm_readv, getpid(), &to, 1, from, 2, 0);
    return n > 0 ? (size_t)n : 0;
}

static void registers_of(const ucontext_t *context, struct as_machine_state *state)
{
#ifdef __x86_64__
    static const int order[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                  REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    const greg_t *gregs = context->uc_mcontext.gregs;
    for (int i = 0; i < 16; i++)
        state->value[i] = (uint64_t)gregs[order[i]];
    state->known = 0xffff;
    state->ip = (uint64_t)gregs[REG_RIP];
    state->flags = (uint64_t)gregs[REG_EFL];
    state->knows_flags = true;
    state->knows_segments = syscall(SYS_arch_prctl, ARCH_GET_FS, &state->segment[1]) == 0 &&
                            syscall(SYS_arch_prctl, ARCH_GET_GS, &state->segment[2]) == 0;
#endif
}

/* Frequent traps come from the same instructions, so their lengths are remembered. */
static void find_cause(struct as_watch *watch, struct as_watch_trap *trap)
{
    struct as_cause_query query = {
        .arch = AS_ARCH_X86_64, .address = trap->address, .length = trap->length, .read = read_own};
    registers_of(trap->context, &query.state);
    uint64_t ip = query.state.ip;
    _Atomic uint64_t *length = &watch->lengths[(ip ^ ip >> 10) % AS_WATCH_LENGTHS];
    uint64_t known = atomic_load_explicit(length, memory_order_relaxed);
    if (known >> 4 == ip)
        query.known_length = known & 15;
    as_cause_find(&query, &trap->cause);
    if (trap->cause.how == AS_CAUSE_VERIFIED && trap->cause.ip + trap->cause.length == ip)
        atomic_store_explicit(length, ip << 4 | trap->cause.length, memory_order_relaxed);
}

static uint64_t ip_of(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (uint64_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return context->uc_mcontext.pc;
#else
    return 0;
#endif
}

/* x86 cannot watch loads alone, so traps of stores are dropped here. */
static bool unwanted(const struct as_watch_trap *trap)
{
    return trap->access == AS_WATCH_LOAD && trap->cause.how == AS_CAUSE_VERIFIED &&
           !(trap->cause.access & AS_ACCESS_LOAD);
}

static void deliver(struct as_watch *watch, struct as_watch_trap *trap)
{
    if (watch->options.decode && trap->exact)
        find_cause(watch, trap);
    if (unwanted(trap)) {
        watch->filtered++;
        return;
    }
    watch->delivered++;
    watch->options.on_trap(watch->options.context, trap);
}

/* Handles the slot if it was hit since the last check. */
static bool handle(struct as_watch *watch, struct as_watch_thread *thread, int number, bool exact,
                   const ucontext_t *context)
{
    struct as_watch_slot *slot = &thread->slots[number];
    uint64_t state = atomic_load(&slot->state);
    do {
        if (!(state & SLOT_ARMED) || state & (SLOT_BUSY | SLOT_HANDLING))
            return false;
    } while (!atomic_compare_exchange_weak(&slot->state, &state, state | SLOT_HANDLING));
    uint64_t count = as_watch_event_count(slot->fd), hits = count > slot->seen ? count - slot->seen : 0;
    slot->seen += hits;
    struct as_watch_trap trap = {
        .ref = {(uint32_t)(thread - watch->threads), (uint32_t)number, state >> SLOT_BITS},
        .address = slot->request.address,
        .length = slot->request.length,
        .access = slot->request.access,
        .once = slot->request.once,
        .data = slot->request.data,
        .hits = hits,
        .exact = exact && hits == 1,
        .ip = ip_of(context),
        .context = context,
    };
    if (hits && trap.once) {
        as_watch_event_disable(slot->fd);
        atomic_fetch_and(&slot->state, ~(uint64_t)SLOT_ARMED);
    }
    if (hits)
        deliver(watch, &trap);
    atomic_fetch_and(&slot->state, ~(uint64_t)SLOT_HANDLING);
    return hits > 0;
}

/* Passes a signal with another cause to the handler that was installed before. */
static void pass_on(struct as_watch *watch, int number, siginfo_t *info, void *context)
{
    const struct sigaction *former = &watch->former;
    watch->foreign++;
    if (former->sa_flags & SA_SIGINFO) {
        former->sa_sigaction(number, info, context);
    } else if (former->sa_handler == SIG_DFL) {
        sigaction(number, former,
                  NULL); /* blocked until this handler returns; then it ends the process, as it would have */
        raise(number);
    } else if (former->sa_handler != SIG_IGN) {
        former->sa_handler(number);
    }
}

/* Whether the signal was sent while the thread had it blocked. It then arrives late, with the registers of a later
 * time. */
static bool was_blocked(const struct as_watch *watch, const siginfo_t *info)
{
    uint32_t flags = 0;
    if (watch->sigtrap)
        memcpy(&flags, (const char *)info + PERF_FLAGS_OFFSET, sizeof flags);
    return flags & PERF_TRAP_ASYNC;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    int error = errno;
    struct as_watch *watch = active;
    bool ours =
        watch && (watch->sigtrap ? info->si_code == PERF_TRAP : info->si_code >= POLL_IN && info->si_code <= POLL_HUP);
    if (!ours) {
        if (watch)
            pass_on(watch, number, info, context);
        errno = error;
        return;
    }
    struct as_watch_thread *thread = as_watch_find(watch, (pid_t)syscall(SYS_gettid));
    bool any = false, exact = !was_blocked(watch, info);
    for (int i = 0; thread && i < AS_WATCH_SLOTS; i++)
        any |= handle(watch, thread, i, exact, context);
    if (!any)
        watch->stray++;
    errno = error;
}

/* Blocks all signals while a trap is handled, except those that the processor raises. */
static void mask_others(sigset_t *mask)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
    sigfillset(mask);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        sigdelset(mask, faults[i]);
}

bool as_watch_signal_install(struct as_watch *watch, struct as_error *err)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    struct as_watch *none = NULL;
    mask_others(&action.sa_mask);
    if (!atomic_compare_exchange_strong(&active, &none, watch))
        return as_error_set(err, "this process already has a set of watchpoints; only one at a time is possible");
    if (sigaction(watch->signal, &action, &watch->former) != 0) {
        active = NULL;
        return as_error_set(err, "cannot handle signal %d: %s", watch->signal, strerror(errno));
    }
    watch->installed = true;
    return true;
}

void as_watch_signal_remove(struct as_watch *watch)
{
    if (!watch->installed)
        return;
    sigaction(watch->signal, &watch->former, NULL);
    active = NULL;
}
