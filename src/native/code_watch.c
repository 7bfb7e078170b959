/* Execution watchpoints on other processes' threads. See code_watch.h.
 *
 * Each is an event of its own with a buffer of one page. PERF_EVENT_IOC_REFRESH makes the kernel disable it after one
 * overflow; what is then in the buffer is one sample, in the layout that sample_type below says.
 */
#include "native/code_watch.h"

#include "base/clock.h"
#include "base/map.h"
#include "base/vec.h"
#include "native/ring.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    REGISTERS = 0xff0fff, /* x86-64: all but ds, es, fs, gs */
    STACK = 64,           /* bytes: a return address is on top where it matters */
    PAGE = 4096,
    HOPELESS = 8, /* refusals in a row after which no more are tried */
    MOST_OF_THREAD = 2,
    BURST = 5, /* that may be armed at once after a pause */
    DEBT = 25  /* that urgent ones may be ahead of the rate */
};

struct slot {
    bool used;
    uint32_t tid;
    uint64_t tag;
    double until;
    struct as_ring ring; /* its fd is the event's */
};

struct allowance {
    double left, at;
};

struct as_code_watch {
    struct as_code_watch_options options;
    struct as_code_watch_counts counts;
    AS_VEC(struct slot) slots;
    struct as_map threads; /* tid to allowance + 1 */
    AS_VEC(struct allowance) allowances;
    unsigned refusals; /* in a row */
};

struct as_code_watch *as_code_watch_new(const struct as_code_watch_options *options)
{
    struct as_code_watch *watch = as_alloc(sizeof *watch);
    if (options)
        watch->options = *options;
    watch->options.rate = watch->options.rate > 0 ? watch->options.rate : 100;
    watch->options.seconds = watch->options.seconds > 0 ? watch->options.seconds : 0.1;
    watch->options.most = watch->options.most ? watch->options.most : 16;
    return watch;
}

static void release(struct slot *slot)
{
    as_ring_unmap(&slot->ring);
    close(slot->ring.fd);
    slot->used = false;
}

void as_code_watch_free(struct as_code_watch *watch)
{
    if (!watch)
        return;
    for (size_t i = 0; i < watch->slots.len; i++)
        if (watch->slots.data[i].used)
            release(&watch->slots.data[i]);
    as_vec_free(&watch->slots);
    as_vec_free(&watch->allowances);
    as_map_free(&watch->threads);
    free(watch);
}

/* ---- arming ---- */

/* A bucket that fills with `rate`. */
static struct allowance *allowance_of(struct as_code_watch *watch, uint32_t tid)
{
    uint64_t *number = as_map_put(&watch->threads, tid);
    double now = as_clock_seconds();
    if (*number == 0) {
        *as_vec_push(&watch->allowances) = (struct allowance){.left = BURST, .at = now};
        *number = watch->allowances.len;
    }
    struct allowance *allowance = &watch->allowances.data[*number - 1];
    allowance->left += (now - allowance->at) * watch->options.rate;
    allowance->left = allowance->left > BURST ? BURST : allowance->left;
    allowance->at = now;
    return allowance;
}

/* Two, so that one at a place that is never met again does not keep the others waiting; a debugger finds the rest. */
static bool is_busy(const struct as_code_watch *watch, uint32_t tid)
{
    size_t used = 0;
    for (size_t i = 0; i < watch->slots.len; i++)
        used += watch->slots.data[i].used && watch->slots.data[i].tid == tid;
    return used >= MOST_OF_THREAD;
}

static struct slot *free_slot(struct as_code_watch *watch)
{
    for (size_t i = 0; i < watch->slots.len; i++)
        if (!watch->slots.data[i].used)
            return &watch->slots.data[i];
    return watch->slots.len < watch->options.most ? as_vec_push(&watch->slots) : NULL;
}

/* A thread that has ended meanwhile is no refusal. */
static bool refuse(struct as_code_watch *watch, int error)
{
    if (error == ESRCH)
        return false;
    watch->counts.refused++;
    watch->refusals++;
    if (!watch->counts.note[0])
        snprintf(watch->counts.note, sizeof watch->counts.note, "%s",
                 error == ENOSPC   ? "the debug registers are taken (by a debugger, or another profiler)"
                 : error == EPERM  ? "the limit of locked memory is reached (perf_event_mlock_kb, ulimit -l)"
                 : error == EACCES ? "no permission"
                 : error == EMFILE ? "out of file descriptors"
                                   : strerror(error));
    return false;
}

static int open_breakpoint(const struct as_code_watch_order *order)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_BREAKPOINT,
                                   .size = sizeof attr,
                                   .bp_type = HW_BREAKPOINT_X,
                                   .bp_addr = order->ip,
                                   .bp_len = sizeof(long),
                                   .sample_period = order->nth ? order->nth : 1,
                                   .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_REGS_USER |
                                                  PERF_SAMPLE_STACK_USER,
                                   .sample_regs_user = REGISTERS,
                                   .sample_stack_user = STACK,
                                   .disabled = 1,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1};
    return (int)syscall(SYS_perf_event_open, &attr, (pid_t)order->tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

bool as_code_watch_arm(struct as_code_watch *watch, const struct as_code_watch_order *order)
{
    if (watch->refusals >= HOPELESS || is_busy(watch, order->tid))
        return false;
    struct allowance *allowance = allowance_of(watch, order->tid);
    struct slot *slot = allowance->left >= (order->urgent ? 1 - DEBT : 1) ? free_slot(watch) : NULL;
    if (!slot)
        return false;
    *slot = (struct slot){.tid = order->tid, .tag = order->tag, .until = allowance->at + watch->options.seconds};
    allowance->left -= 1;
    int fd = open_breakpoint(order);
    if (fd < 0)
        return refuse(watch, errno);
    if (!as_ring_map(&slot->ring, fd, PAGE, PAGE) || ioctl(fd, PERF_EVENT_IOC_REFRESH, 1) != 0) {
        int error = errno;
        release(slot);
        return refuse(watch, error);
    }
    slot->used = true;
    watch->refusals = 0;
    watch->counts.armed++;
    return true;
}

/* ---- hits ---- */

struct words {
    const uint8_t *at;
    size_t left;
};

static bool next_word(struct words *words, uint64_t *word)
{
    if (words->left < sizeof *word)
        return false;
    memcpy(word, words->at, sizeof *word);
    words->at += sizeof *word;
    words->left -= sizeof *word;
    return true;
}

/* `values` holds the registers; the stack stays where it is. */
static bool decode(const uint8_t *record, size_t size, uint64_t values[64], struct as_perf_sample *sample)
{
    struct words words = {record, size};
    uint64_t header, ids, stack = 0, valid = 0;
    *sample = (struct as_perf_sample){.mode = AS_PERF_USER};
    if (!next_word(&words, &header) || (uint32_t)header != PERF_RECORD_SAMPLE || !next_word(&words, &sample->ip) ||
        !next_word(&words, &ids) || !next_word(&words, &sample->user_regs.abi))
        return false;
    sample->pid = (uint32_t)ids;
    sample->tid = (uint32_t)(ids >> 32);
    sample->has = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    sample->user_regs.mask = REGISTERS;
    sample->user_regs.values = values;
    size_t count = sample->user_regs.abi ? (size_t)__builtin_popcount(REGISTERS) : 0;
    for (; sample->user_regs.count < count; sample->user_regs.count++)
        if (!next_word(&words, &values[sample->user_regs.count]))
            return false;
    if (!next_word(&words, &stack) || stack > words.left)
        return true;
    sample->stack = words.at;
    words.at += stack;
    words.left -= (size_t)stack;
    if (stack && next_word(&words, &valid)) {
        sample->stack_size = (size_t)stack;
        sample->stack_valid = (size_t)(valid < stack ? valid : stack);
    }
    return true;
}

static uint64_t count_records(const uint8_t *bytes, size_t size)
{
    uint64_t n = 0;
    struct perf_event_header header;
    for (size_t at = 0; at + sizeof header <= size; at += header.size, n++) {
        memcpy(&header, bytes + at, sizeof header);
        if (header.size < sizeof header)
            break;
    }
    return n;
}

static void poll_slot(struct as_code_watch *watch, size_t number, double now, as_code_watch_take *take, void *context)
{
    struct slot *slot = &watch->slots.data[number];
    uint8_t record[PAGE];
    uint64_t values[64], tag = slot->tag;
    struct as_perf_sample sample;
    size_t size = as_ring_pending(&slot->ring);
    if (!size && now < slot->until)
        return;
    as_ring_take(&slot->ring, record, size);
    release(slot);
    bool hit = size && decode(record, size, values, &sample);
    watch->counts.hit += hit;
    watch->counts.extra += hit ? count_records(record, size) - 1 : 0;
    watch->counts.expired += !hit;
    take(context, tag, hit ? &sample : NULL);
}

void as_code_watch_poll(struct as_code_watch *watch, as_code_watch_take *take, void *context)
{
    double now = as_clock_seconds();
    for (size_t i = 0; i < watch->slots.len; i++)
        if (watch->slots.data[i].used)
            poll_slot(watch, i, now, take, context);
}

const struct as_code_watch_counts *as_code_watch_counts(const struct as_code_watch *watch)
{
    return &watch->counts;
}
