/* See breakpoint.h. What is in the buffer is one sample, in the layout that sample_type says. */
#include "native/breakpoint.h"

#include "base/bytes.h"

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
                                   .read_format = PERF_FORMAT_TOTAL_TIME_RUNNING,
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

double as_breakpoint_seconds(const struct as_ring *ring)
{
    uint64_t values[2] = {0, 0}; /* hits, nanoseconds */
    return read(ring->fd, values, sizeof values) == (ssize_t)sizeof values ? (double)values[1] * 1e-9 : 0;
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
    case ENODEV:
    case EOPNOTSUPP:
        return "this machine has no debug registers";
    default:
        return strerror(error);
    }
}

/* ---- hits ---- */

static bool decode_head(struct as_bytes *bytes, struct as_perf_sample *sample)
{
    uint64_t header = as_bytes_u64(bytes);
    sample->ip = as_bytes_u64(bytes);
    sample->pid = as_bytes_u32(bytes);
    sample->tid = as_bytes_u32(bytes);
    sample->time = as_bytes_u64(bytes);
    sample->cpu = (uint32_t)as_bytes_u64(bytes);
    return !bytes->bad && (uint32_t)header == PERF_RECORD_SAMPLE;
}

/* Records of the ring are aligned to eight bytes, and so is the buffer. */
static bool decode_chain(struct as_bytes *bytes, struct as_perf_sample *sample)
{
    uint64_t n = as_bytes_u64(bytes);
    if (n > as_bytes_left(bytes) / sizeof n)
        return false;
    sample->chain = (const uint64_t *)(const void *)as_bytes_take(bytes, n * sizeof n);
    sample->n_chain = (size_t)n;
    return !bytes->bad;
}

static bool decode_registers(struct as_bytes *bytes, struct as_perf_sample *sample, uint64_t values[64])
{
    sample->user_regs.abi = as_bytes_u64(bytes);
    sample->user_regs.mask = REGISTERS;
    sample->user_regs.values = values;
    size_t count = sample->user_regs.abi ? (size_t)__builtin_popcount(REGISTERS) : 0;
    for (; sample->user_regs.count < count; sample->user_regs.count++)
        values[sample->user_regs.count] = as_bytes_u64(bytes);
    return !bytes->bad;
}

static void decode_stack(struct as_bytes *bytes, struct as_perf_sample *sample)
{
    uint64_t size = as_bytes_u64(bytes);
    sample->stack = as_bytes_take(bytes, size);
    uint64_t valid = size ? as_bytes_u64(bytes) : 0;
    if (!bytes->bad && size) {
        sample->stack_size = (size_t)size;
        sample->stack_valid = (size_t)(valid < size ? valid : size);
    }
}

static bool decode(struct as_breakpoint_hit *hit, size_t size, bool chain)
{
    struct as_bytes bytes = as_bytes(hit->record, size, false);
    hit->sample = (struct as_perf_sample){.mode = AS_PERF_USER, .has = fields_of(chain)};
    if (!decode_head(&bytes, &hit->sample) || (chain && !decode_chain(&bytes, &hit->sample)) ||
        !decode_registers(&bytes, &hit->sample, hit->values))
        return false;
    decode_stack(&bytes, &hit->sample);
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
