/* One sample: the fields that the event's sample_type names, in the order in which the kernel writes them. Arrays are
 * copied in the host's byte order; raw data, stacks and AUX data are referenced in place. */
#include "perfdata/perf_session.h"

#include <linux/perf_event.h>

/* Newer than the headers of some build machines. */
enum { BRANCH_COUNTERS = 1 << 19 };

/* Copies `count` words; returns false if there are fewer. */
static bool words(struct as_bytes *cursor, uint64_t *to, uint64_t count)
{
    if (count > as_bytes_left(cursor) / 8) {
        cursor->bad = true;
        return false;
    }
    for (uint64_t i = 0; i < count; i++)
        to[i] = as_bytes_u64(cursor);
    return true;
}

static void read_head(struct as_bytes *cursor, struct as_perf_sample *sample)
{
    uint64_t has = sample->has;
    if (has & PERF_SAMPLE_IDENTIFIER)
        sample->id = as_bytes_u64(cursor);
    if (has & PERF_SAMPLE_IP)
        sample->ip = as_bytes_u64(cursor);
    if (has & PERF_SAMPLE_TID) {
        sample->pid = as_bytes_u32(cursor);
        sample->tid = as_bytes_u32(cursor);
    }
    if (has & PERF_SAMPLE_TIME)
        sample->time = as_bytes_u64(cursor);
    if (has & PERF_SAMPLE_ADDR)
        sample->addr = as_bytes_u64(cursor);
    if (has & PERF_SAMPLE_ID)
        sample->id = as_bytes_u64(cursor);
    if (has & PERF_SAMPLE_STREAM_ID)
        sample->stream_id = as_bytes_u64(cursor);
    if (has & PERF_SAMPLE_CPU) {
        sample->cpu = as_bytes_u32(cursor);
        as_bytes_u32(cursor);
    }
    if (has & PERF_SAMPLE_PERIOD)
        sample->period = as_bytes_u64(cursor);
}

static struct as_perf_read_value read_value(struct as_bytes *cursor, uint64_t format)
{
    struct as_perf_read_value value = {.id = format & PERF_FORMAT_ID ? as_bytes_u64(cursor) : 0};
    if (format & PERF_FORMAT_LOST)
        value.lost = as_bytes_u64(cursor);
    return value;
}

static void read_values(struct as_bytes *cursor, struct as_perf_sample *sample, struct as_perf_read_value *values)
{
    uint64_t format = sample->event->read_format, first = as_bytes_u64(cursor);
    bool group = format & PERF_FORMAT_GROUP;
    if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
        sample->time_enabled = as_bytes_u64(cursor);
    if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
        sample->time_running = as_bytes_u64(cursor);
    uint64_t count = group ? first : 1;
    if (count > as_bytes_left(cursor) / 8 + 1)
        cursor->bad = true;
    for (uint64_t i = 0; i < count && !cursor->bad; i++) {
        uint64_t value = group ? as_bytes_u64(cursor) : first;
        values[i] = read_value(cursor, format);
        values[i].value = value;
    }
    sample->values = values;
    sample->n_values = cursor->bad ? 0 : (size_t)count;
}

/* The flags of a branch are a bit field, too: reversed on big-endian machines. */
static void read_flags(struct as_perf_branch *branch, uint64_t flags, bool big)
{
#define FIELD(at, bits) (flags >> (big ? 64 - (at) - (bits) : (at)) & ((UINT64_C(1) << (bits)) - 1))
    branch->mispredicted = FIELD(0, 1);
    branch->predicted = FIELD(1, 1);
    branch->in_transaction = FIELD(2, 1);
    branch->abort = FIELD(3, 1);
    branch->cycles = (uint16_t)FIELD(4, 16);
    branch->type = FIELD(20, 4);
    branch->speculation = FIELD(24, 2);
    branch->new_type = FIELD(26, 4);
    branch->privilege = FIELD(30, 3);
#undef FIELD
}

static void read_branches(struct as_bytes *cursor, struct as_perf_sample *sample, struct as_perf_scratch *scratch)
{
    bool big = cursor->swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    uint64_t count = as_bytes_u64(cursor);
    if (sample->event->branch_type & PERF_SAMPLE_BRANCH_HW_INDEX)
        sample->branch_index = (int64_t)as_bytes_u64(cursor);
    if (count > as_bytes_left(cursor) / 24) {
        cursor->bad = true;
        return;
    }
    for (uint64_t i = 0; i < count; i++) {
        struct as_perf_branch *branch = &scratch->branches[i];
        branch->from = as_bytes_u64(cursor);
        branch->to = as_bytes_u64(cursor);
        read_flags(branch, as_bytes_u64(cursor), big);
    }
    sample->branches = scratch->branches;
    sample->n_branches = (size_t)count;
    if (sample->event->branch_type & BRANCH_COUNTERS && words(cursor, scratch->counters, count))
        sample->branch_counters = scratch->counters;
}

static void read_regs(struct as_bytes *cursor, struct as_perf_regs *regs, uint64_t mask, uint64_t *to)
{
    regs->abi = as_bytes_u64(cursor);
    if (regs->abi == PERF_SAMPLE_REGS_ABI_NONE)
        return;
    regs->mask = mask;
    regs->count = (size_t)__builtin_popcountll(mask);
    regs->values = to;
    words(cursor, to, regs->count);
}

static void read_stack(struct as_bytes *cursor, struct as_perf_sample *sample)
{
    uint64_t size = as_bytes_u64(cursor);
    if (size == 0)
        return;
    sample->stack = as_bytes_take(cursor, size);
    uint64_t valid = as_bytes_u64(cursor);
    sample->stack_size = cursor->bad ? 0 : (size_t)size;
    sample->stack_valid = valid < sample->stack_size ? (size_t)valid : sample->stack_size;
}

static void read_middle(struct as_bytes *cursor, struct as_perf_sample *sample, struct as_perf_scratch *scratch)
{
    uint64_t has = sample->has;
    if (has & PERF_SAMPLE_READ)
        read_values(cursor, sample, scratch->values);
    if (has & PERF_SAMPLE_CALLCHAIN) {
        uint64_t count = as_bytes_u64(cursor);
        if (words(cursor, scratch->chain, count)) {
            sample->chain = scratch->chain;
            sample->n_chain = (size_t)count;
        }
    }
    if (has & PERF_SAMPLE_RAW) {
        uint32_t size = as_bytes_u32(cursor);
        sample->raw = as_bytes_take(cursor, size);
        sample->raw_size = sample->raw != NULL ? size : 0;
    }
    if (has & PERF_SAMPLE_BRANCH_STACK)
        read_branches(cursor, sample, scratch);
    if (has & PERF_SAMPLE_REGS_USER)
        read_regs(cursor, &sample->user_regs, sample->event->regs_user, scratch->user_regs);
    if (has & PERF_SAMPLE_STACK_USER)
        read_stack(cursor, sample);
}

static void read_weight(struct as_bytes *cursor, struct as_perf_sample *sample)
{
    sample->weight = as_bytes_u64(cursor);
    if (sample->has & PERF_SAMPLE_WEIGHT)
        return;
    sample->weight2 = (uint16_t)(sample->weight >> 32);
    sample->weight3 = (uint16_t)(sample->weight >> 48);
    sample->weight = (uint32_t)sample->weight;
}

static void read_tail(struct as_bytes *cursor, struct as_perf_sample *sample, struct as_perf_scratch *scratch)
{
    uint64_t has = sample->has;
    if (has & PERF_SAMPLE_WEIGHT_TYPE)
        read_weight(cursor, sample);
    if (has & PERF_SAMPLE_DATA_SRC)
        sample->data_src = as_bytes_u64(cursor);
    if (has & PERF_SAMPLE_TRANSACTION)
        sample->transaction = as_bytes_u64(cursor);
    if (has & PERF_SAMPLE_REGS_INTR)
        read_regs(cursor, &sample->intr_regs, sample->event->regs_intr, scratch->intr_regs);
    if (has & PERF_SAMPLE_PHYS_ADDR)
        sample->physical = as_bytes_u64(cursor);
    if (has & PERF_SAMPLE_CGROUP)
        sample->cgroup = as_bytes_u64(cursor);
    if (has & PERF_SAMPLE_DATA_PAGE_SIZE)
        sample->data_page_size = as_bytes_u64(cursor);
    if (has & PERF_SAMPLE_CODE_PAGE_SIZE)
        sample->code_page_size = as_bytes_u64(cursor);
    if (has & PERF_SAMPLE_AUX) {
        uint64_t size = as_bytes_u64(cursor);
        sample->aux = as_bytes_take(cursor, size);
        sample->aux_size = sample->aux != NULL ? (size_t)size : 0;
    }
}

bool as_perf_sample_decode(struct as_perf_event *event, const struct as_perf_header *header, const uint8_t *record,
                           bool swap, struct as_perf_scratch *scratch, struct as_perf_sample *sample)
{
    *sample = (struct as_perf_sample){.event = event,
                                      .has = event->sample_type,
                                      .mode = header->misc & PERF_RECORD_MISC_CPUMODE_MASK,
                                      .exact_ip = header->misc & PERF_RECORD_MISC_EXACT_IP,
                                      .pid = UINT32_MAX,
                                      .tid = UINT32_MAX,
                                      .cpu = UINT32_MAX,
                                      .time = AS_PERF_NO_TIME,
                                      .period = event->period > 0 ? event->period : 1,
                                      .branch_index = -1};
    struct as_bytes cursor = as_bytes(record + AS_PERF_HEADER_SIZE, header->size - (size_t)AS_PERF_HEADER_SIZE, swap);
    read_head(&cursor, sample);
    read_middle(&cursor, sample, scratch);
    read_tail(&cursor, sample, scratch);
    return !cursor.bad;
}

static bool context_mode(uint64_t mark, enum as_perf_mode *mode)
{
    switch (mark) {
    case PERF_CONTEXT_HV:
        *mode = AS_PERF_HYPERVISOR;
        return true;
    case PERF_CONTEXT_KERNEL:
        *mode = AS_PERF_KERNEL;
        return true;
    case PERF_CONTEXT_USER:
        *mode = AS_PERF_USER;
        return true;
    case PERF_CONTEXT_GUEST:
    case PERF_CONTEXT_GUEST_USER:
        *mode = AS_PERF_GUEST_USER;
        return true;
    case PERF_CONTEXT_GUEST_KERNEL:
        *mode = AS_PERF_GUEST_KERNEL;
        return true;
    default:
        return mark >= PERF_CONTEXT_MAX;
    }
}

bool as_perf_chain_next(const struct as_perf_sample *sample, size_t *at, uint64_t *ip, enum as_perf_mode *mode)
{
    while (*at < sample->n_chain) {
        uint64_t entry = sample->chain[(*at)++];
        if (context_mode(entry, mode))
            continue;
        *ip = entry;
        return true;
    }
    return false;
}

bool as_perf_reg(const struct as_perf_regs *regs, unsigned number, uint64_t *value)
{
    if (number >= 64 || !(regs->mask >> number & 1))
        return false;
    *value = regs->values[__builtin_popcountll(regs->mask & ((UINT64_C(1) << number) - 1))];
    return true;
}
