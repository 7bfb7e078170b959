/* See breakpoint.h. What is in the buffer is one sample, in the layout that sample_type says. */
#include "native/breakpoint.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    REGISTERS = 0xff0fff, /* x86-64: all but ds, es, fs, gs */
    STACK = 64,           /* bytes: a return address is on top where it matters */
    DEPTH = 32            /* frames of a chain */
};
#define FIELDS                                                                                                         \
    (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_REGS_USER |                   \
     PERF_SAMPLE_STACK_USER)

static uint64_t fields_of(bool chain)
{
    return FIELDS | (chain ? PERF_SAMPLE_CALLCHAIN : 0);
}

static int open_event(const struct as_breakpoint_order *order)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_BREAKPOINT,
                                   .size = sizeof attr,
                                   .bp_type = order->type,
                                   .bp_addr = order->address,
                                   .bp_len = order->length,
                                   .sample_period = order->nth ? order->nth : 1,
                                   .sample_type = fields_of(order->chain),
                                   .sample_regs_user = REGISTERS,
                                   .sample_stack_user = STACK,
                                   .sample_max_stack = order->chain ? DEPTH : 0,
                                   .use_clockid = 1,
                                   .clockid = CLOCK_MONOTONIC,
                                   .disabled = 1,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1,
                                   .exclude_callchain_kernel = 1};
    return (int)syscall(SYS_perf_event_open, &attr, (pid_t)order->tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

bool as_breakpoint_open(struct as_ring *ring, const struct as_breakpoint_order *order)
{
    int fd = open_event(order);
    if (fd < 0)
        return false;
    *ring = (struct as_ring){.fd = fd};
    if (as_ring_map(ring, fd, AS_BREAKPOINT_PAGE, AS_BREAKPOINT_PAGE) && ioctl(fd, PERF_EVENT_IOC_REFRESH, 1) == 0)
        return true;
    int error = errno;
    as_breakpoint_close(ring);
    errno = error;
    return false;
}

void as_breakpoint_close(struct as_ring *ring)
{
    as_ring_unmap(ring);
    close(ring->fd);
}

const char *as_breakpoint_refusal(int error)
{
    switch (error) {
    case ENOSPC:
        return "the debug registers are in use by another program (a debugger or a profiler)";
    case EPERM:
        return "the limit of locked memory is reached (perf_event_mlock_kb, ulimit -l)";
    case EACCES:
        return "no permission";
    case EMFILE:
        return "out of file descriptors";
    case ENOENT:
    case EOPNOTSUPP:
        return "this machine has no debug registers";
    default:
        return strerror(error);
    }
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

static bool pass(struct words *words, uint64_t size)
{
    if (size > words->left)
        return false;
    words->at += size;
    words->left -= (size_t)size;
    return true;
}

static bool decode_head(struct words *words, struct as_perf_sample *sample)
{
    uint64_t header, ids, cpu;
    if (!next_word(words, &header) || (uint32_t)header != PERF_RECORD_SAMPLE || !next_word(words, &sample->ip) ||
        !next_word(words, &ids) || !next_word(words, &sample->time) || !next_word(words, &cpu))
        return false;
    sample->pid = (uint32_t)ids;
    sample->tid = (uint32_t)(ids >> 32);
    sample->cpu = (uint32_t)cpu;
    return true;
}

/* Records of the ring are aligned to eight bytes, and so is the buffer. */
static bool decode_chain(struct words *words, struct as_perf_sample *sample)
{
    uint64_t n;
    if (!next_word(words, &n) || n > words->left / sizeof n)
        return false;
    sample->chain = (const uint64_t *)(const void *)words->at;
    sample->n_chain = (size_t)n;
    return pass(words, n * sizeof n);
}

static bool decode_registers(struct words *words, struct as_perf_sample *sample, uint64_t values[64])
{
    if (!next_word(words, &sample->user_regs.abi))
        return false;
    sample->user_regs.mask = REGISTERS;
    sample->user_regs.values = values;
    size_t count = sample->user_regs.abi ? (size_t)__builtin_popcount(REGISTERS) : 0;
    for (; sample->user_regs.count < count; sample->user_regs.count++)
        if (!next_word(words, &values[sample->user_regs.count]))
            return false;
    return true;
}

static void decode_stack(struct words *words, struct as_perf_sample *sample)
{
    uint64_t size = 0, valid = 0;
    if (!next_word(words, &size))
        return;
    sample->stack = words->at;
    if (pass(words, size) && size && next_word(words, &valid)) {
        sample->stack_size = (size_t)size;
        sample->stack_valid = (size_t)(valid < size ? valid : size);
    }
}

static bool decode(struct as_breakpoint_hit *hit, size_t size, bool chain)
{
    struct words words = {hit->record, size};
    hit->sample = (struct as_perf_sample){.mode = AS_PERF_USER, .has = fields_of(chain)};
    if (!decode_head(&words, &hit->sample) || (chain && !decode_chain(&words, &hit->sample)) ||
        !decode_registers(&words, &hit->sample, hit->values))
        return false;
    decode_stack(&words, &hit->sample);
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

bool as_breakpoint_take(struct as_ring *ring, bool chain, struct as_breakpoint_hit *hit)
{
    size_t size = as_ring_pending(ring);
    if (!size || size > sizeof hit->record)
        return false;
    as_ring_take(ring, hit->record, size);
    hit->hits = count_records(hit->record, size);
    return decode(hit, size, chain);
}
