/* The kernel's records other than samples: mappings, processes, losses, context switches, kernel symbols. */
#include "base/saturate.h"
#include "perfdata/perf_session.h"

#include <linux/perf_event.h>

enum { FLAG_SAMPLE_ID_ALL = 18, KSYMBOL_UNREGISTER = 1, MOST_MEMBERS = 64 };

struct as_perf_header as_perf_header_of(const uint8_t *bytes, bool swap)
{
    struct as_bytes cursor = as_bytes(bytes, AS_PERF_HEADER_SIZE, swap);
    struct as_perf_header header = {.type = as_bytes_u32(&cursor)};
    header.misc = as_bytes_u16(&cursor);
    header.size = as_bytes_u16(&cursor);
    return header;
}

const char *as_perf_record_name(uint32_t type)
{
    static const char *const names[AS_PERF_RECORD_TYPES] = {
        [PERF_RECORD_MMAP] = "MMAP",
        [PERF_RECORD_LOST] = "LOST",
        [PERF_RECORD_COMM] = "COMM",
        [PERF_RECORD_EXIT] = "EXIT",
        [PERF_RECORD_THROTTLE] = "THROTTLE",
        [PERF_RECORD_UNTHROTTLE] = "UNTHROTTLE",
        [PERF_RECORD_FORK] = "FORK",
        [PERF_RECORD_READ] = "READ",
        [PERF_RECORD_SAMPLE] = "SAMPLE",
        [PERF_RECORD_MMAP2] = "MMAP2",
        [PERF_RECORD_AUX] = "AUX",
        [PERF_RECORD_ITRACE_START] = "ITRACE_START",
        [PERF_RECORD_LOST_SAMPLES] = "LOST_SAMPLES",
        [PERF_RECORD_SWITCH] = "SWITCH",
        [PERF_RECORD_SWITCH_CPU_WIDE] = "SWITCH_CPU_WIDE",
        [PERF_RECORD_NAMESPACES] = "NAMESPACES",
        [PERF_RECORD_KSYMBOL] = "KSYMBOL",
        [PERF_RECORD_BPF_EVENT] = "BPF_EVENT",
        [PERF_RECORD_CGROUP] = "CGROUP",
        [PERF_RECORD_TEXT_POKE] = "TEXT_POKE",
        [PERF_RECORD_AUX_OUTPUT_HW_ID] = "AUX_OUTPUT_HW_ID",
        [AS_PERF_RECORD_ATTR] = "ATTR",
        [AS_PERF_RECORD_EVENT_TYPE] = "EVENT_TYPE",
        [AS_PERF_RECORD_TRACING_DATA] = "TRACING_DATA",
        [AS_PERF_RECORD_BUILD_ID] = "BUILD_ID",
        [AS_PERF_RECORD_FINISHED_ROUND] = "FINISHED_ROUND",
        [AS_PERF_RECORD_ID_INDEX] = "ID_INDEX",
        [AS_PERF_RECORD_AUXTRACE_INFO] = "AUXTRACE_INFO",
        [AS_PERF_RECORD_AUXTRACE] = "AUXTRACE",
        [AS_PERF_RECORD_AUXTRACE_ERROR] = "AUXTRACE_ERROR",
        [AS_PERF_RECORD_THREAD_MAP] = "THREAD_MAP",
        [AS_PERF_RECORD_CPU_MAP] = "CPU_MAP",
        [AS_PERF_RECORD_STAT_CONFIG] = "STAT_CONFIG",
        [AS_PERF_RECORD_STAT] = "STAT",
        [AS_PERF_RECORD_STAT_ROUND] = "STAT_ROUND",
        [AS_PERF_RECORD_EVENT_UPDATE] = "EVENT_UPDATE",
        [AS_PERF_RECORD_TIME_CONV] = "TIME_CONV",
        [AS_PERF_RECORD_FEATURE] = "FEATURE",
        [AS_PERF_RECORD_COMPRESSED] = "COMPRESSED",
        [AS_PERF_RECORD_FINISHED_INIT] = "FINISHED_INIT",
        [AS_PERF_RECORD_COMPRESSED2] = "COMPRESSED2",
        [AS_PERF_RECORD_BPF_METADATA] = "BPF_METADATA",
    };
    return type < AS_PERF_RECORD_TYPES ? names[type] : NULL;
}

/* ---- process, processor, time ---- */

uint64_t as_perf_ticks_time(const struct as_perf_info *info, uint64_t ticks)
{
    const struct as_perf_ticks *how = info ? &info->ticks : NULL;
    if (!how || !how->known || how->shift > 63)
        return AS_PERF_NO_TIME;
    if (how->mask)
        ticks = how->cycles + ((ticks - how->cycles) & how->mask);
    uint64_t whole = ticks >> how->shift, rest = ticks & ((UINT64_C(1) << how->shift) - 1);
    return how->zero + whole * how->multiplier + (rest * how->multiplier >> how->shift);
}

/* The fields that sample_id_all appends to every record. */
struct trailer {
    uint32_t pid, tid, cpu;
    uint64_t time;
    size_t size;
};

static struct trailer trailer_of(const struct as_perf_event *event, const struct as_perf_header *header,
                                 const uint8_t *record, bool swap)
{
    struct trailer trailer = {.pid = UINT32_MAX, .tid = UINT32_MAX, .cpu = UINT32_MAX, .time = AS_PERF_NO_TIME};
    if (event == NULL || !(event->flags >> FLAG_SAMPLE_ID_ALL & 1))
        return trailer;
    uint64_t type = event->sample_type & (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
                                          PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER);
    size_t size = 8 * (size_t)__builtin_popcountll(type);
    if (size > header->size - (size_t)AS_PERF_HEADER_SIZE)
        return trailer;
    struct as_bytes cursor = as_bytes(record + header->size - size, size, swap);
    trailer.size = size;
    if (type & PERF_SAMPLE_TID) {
        trailer.pid = as_bytes_u32(&cursor);
        trailer.tid = as_bytes_u32(&cursor);
    }
    if (type & PERF_SAMPLE_TIME)
        trailer.time = as_bytes_u64(&cursor);
    as_bytes_take(&cursor, 8 * (size_t)__builtin_popcountll(type & (PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID)));
    if (type & PERF_SAMPLE_CPU)
        trailer.cpu = as_bytes_u32(&cursor);
    return trailer;
}

static uint64_t sample_time(const struct as_perf_event *event, const struct as_perf_header *header,
                            const uint8_t *record, bool swap)
{
    uint64_t type = event->sample_type;
    if (!(type & PERF_SAMPLE_TIME))
        return AS_PERF_NO_TIME;
    uint64_t ahead = type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID);
    size_t offset = AS_PERF_HEADER_SIZE + 8 * (size_t)__builtin_popcountll(ahead);
    if (offset + 8 > header->size)
        return AS_PERF_NO_TIME;
    struct as_bytes cursor = as_bytes(record + offset, 8, swap);
    return as_bytes_u64(&cursor);
}

uint64_t as_perf_record_time(struct as_perf_reader *reader, const struct as_perf_header *header, const uint8_t *record)
{
    const struct as_perf_event *event = as_perf_attr_of(reader, header, record);
    if (event == NULL)
        return AS_PERF_NO_TIME;
    if (header->type == PERF_RECORD_SAMPLE)
        return sample_time(event, header, record, as_perf_swap(reader));
    return trailer_of(event, header, record, as_perf_swap(reader)).time;
}

/* ---- one kind of record each ---- */

struct context {
    struct as_perf_reader *reader;
    struct as_perf_event *event; /* NULL: unknown */
    struct as_perf_header header;
    struct trailer trailer;
    struct as_bytes body; /* without header and trailer */
};

static void deliver_process(struct context *context, struct as_perf_process *process)
{
    process->mode = context->header.misc & PERF_RECORD_MISC_CPUMODE_MASK;
    if (!context->body.bad)
        AS_PERF_CALL(context->reader, process, process);
    else
        as_perf_problem(context->reader, "a %s record is too short", as_perf_record_name(context->header.type));
}

/* Linux before 3.16, and CentOS 7 with it, has the name right behind the generation: "/lib/ld.so", "//anon", "[vdso]". A protection
 * is a small number; perf inject --jit writes a file's mode there, whose second byte is no character of such a name. */
static bool has_protection(const struct as_bytes *body)
{
    struct as_bytes ahead = *body;
    const uint8_t *first = as_bytes_take(&ahead, 2);
    return first == NULL || first[0] < ' ' || first[1] == 0 || first[1] >= 0x80;
}

static void deliver_map(struct context *context)
{
    struct as_bytes *body = &context->body;
    struct as_perf_process map = {.kind = AS_PERF_MAP, .time = context->trailer.time};
    map.data = context->header.misc & PERF_RECORD_MISC_MMAP_DATA;
    map.pid = as_bytes_u32(body);
    map.tid = as_bytes_u32(body);
    map.start = as_bytes_u64(body);
    map.length = as_bytes_u64(body);
    map.offset = as_bytes_u64(body);
    if (context->header.type == PERF_RECORD_MMAP2) {
        struct as_bytes id = *body;
        map.major = as_bytes_u32(body);
        map.minor = as_bytes_u32(body);
        map.inode = as_bytes_u64(body);
        as_bytes_u64(body); /* generation */
        const uint8_t *bytes = as_bytes_take(&id, 24);
        if (context->header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID && bytes != NULL) {
            map.major = map.minor = 0;
            map.inode = 0;
            map.build_id.size = bytes[0] <= AS_PERF_BUILD_ID_MAX ? bytes[0] : 0;
            memcpy(map.build_id.bytes, bytes + 4, map.build_id.size);
        }
        if (has_protection(body)) {
            map.prot = as_bytes_u32(body);
            map.flags = as_bytes_u32(body);
        }
    }
    map.name = as_bytes_string(body);
    deliver_process(context, &map);
}

static void deliver_comm(struct context *context)
{
    struct as_perf_process comm = {.kind = AS_PERF_COMM, .time = context->trailer.time};
    comm.exec = context->header.misc & PERF_RECORD_MISC_COMM_EXEC;
    comm.pid = as_bytes_u32(&context->body);
    comm.tid = as_bytes_u32(&context->body);
    comm.name = as_bytes_string(&context->body);
    deliver_process(context, &comm);
}

static void deliver_task(struct context *context)
{
    struct as_bytes *body = &context->body;
    struct as_perf_process task = {.kind = context->header.type == PERF_RECORD_FORK ? AS_PERF_FORK : AS_PERF_EXIT};
    task.exec = context->header.misc & PERF_RECORD_MISC_FORK_EXEC;
    task.pid = as_bytes_u32(body);
    task.parent_pid = as_bytes_u32(body);
    task.tid = as_bytes_u32(body);
    task.parent_tid = as_bytes_u32(body);
    task.time = as_bytes_u64(body);
    if (context->trailer.time != AS_PERF_NO_TIME)
        task.time = context->trailer.time;
    deliver_process(context, &task);
}

static void deliver_loss(struct context *context)
{
    struct as_perf_summary *summary = &context->reader->summary;
    struct as_perf_loss loss = {.event = context->event, .time = context->trailer.time, .cpu = context->trailer.cpu};
    if (context->header.type == PERF_RECORD_LOST) {
        loss.kind = AS_PERF_LOST;
        as_bytes_u64(&context->body); /* id */
        summary->lost += loss.count = as_bytes_u64(&context->body);
    } else {
        loss.kind = AS_PERF_LOST_SAMPLES;
        summary->lost_samples += loss.count = as_bytes_u64(&context->body);
    }
    if (context->event != NULL)
        context->event->lost += loss.count;
    AS_PERF_CALL(context->reader, loss, &loss);
}

static void deliver_throttle(struct context *context)
{
    bool on = context->header.type == PERF_RECORD_THROTTLE;
    struct as_perf_loss loss = {.kind = on ? AS_PERF_THROTTLE : AS_PERF_UNTHROTTLE, .count = 1};
    loss.time = as_bytes_u64(&context->body);
    uint64_t id = as_bytes_u64(&context->body);
    const uint64_t *index = as_map_get(&context->reader->ids, id);
    struct as_perf_event *event =
        index != NULL && *index < context->reader->events.len ? context->reader->events.data[*index] : context->event;
    if (event != NULL && on)
        event->throttled++;
    loss.event = event;
    loss.cpu = context->trailer.cpu;
    *(on ? &context->reader->summary.throttled : &context->reader->summary.unthrottled) += 1;
    AS_PERF_CALL(context->reader, loss, &loss);
}

static void deliver_switch(struct context *context)
{
    struct as_perf_switch change = {.pid = context->trailer.pid,
                                    .tid = context->trailer.tid,
                                    .cpu = context->trailer.cpu,
                                    .time = context->trailer.time,
                                    .out = context->header.misc & PERF_RECORD_MISC_SWITCH_OUT,
                                    .preempted = context->header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT};
    if (context->header.type == PERF_RECORD_SWITCH_CPU_WIDE) {
        change.other_pid = as_bytes_u32(&context->body);
        change.other_tid = as_bytes_u32(&context->body);
    }
    AS_PERF_CALL(context->reader, context_switch, &change);
}

static void deliver_start(struct context *context)
{
    struct as_perf_switch change = {.cpu = context->trailer.cpu, .time = context->trailer.time};
    change.pid = as_bytes_u32(&context->body);
    change.tid = as_bytes_u32(&context->body);
    if (!context->body.bad)
        AS_PERF_CALL(context->reader, context_switch, &change);
}

static void count_aux(struct context *context)
{
    as_bytes_u64(&context->body); /* offset */
    as_bytes_u64(&context->body); /* size */
    uint64_t flags = as_bytes_u64(&context->body);
    context->reader->summary.aux_truncated += (flags & PERF_AUX_FLAG_TRUNCATED) != 0;
    context->reader->summary.aux_collisions += (flags & PERF_AUX_FLAG_COLLISION) != 0;
}

static void deliver_ksymbol(struct context *context)
{
    struct as_perf_ksymbol symbol = {.time = context->trailer.time};
    symbol.address = as_bytes_u64(&context->body);
    symbol.length = as_bytes_u32(&context->body);
    as_bytes_u16(&context->body); /* type */
    symbol.gone = as_bytes_u16(&context->body) & KSYMBOL_UNREGISTER;
    symbol.name = as_bytes_string(&context->body);
    if (symbol.name != NULL)
        AS_PERF_CALL(context->reader, ksymbol, &symbol);
}

/* Delivers samples for the other events of a group that is sampled by its leader (perf record -e '{a,b}:S'). The
 * leader's sample has their counts, so each gets a sample at the same address for what it counted since the preceding
 * one, as in perf. */
static void deliver_members(struct as_perf_reader *reader, const struct as_perf_sample *leader)
{
    if (!(leader->has & PERF_SAMPLE_READ) || !(leader->event->read_format & PERF_FORMAT_GROUP) ||
        !(leader->event->read_format & PERF_FORMAT_ID))
        return;
    for (size_t i = 0; i < leader->n_values && i < MOST_MEMBERS; i++) {
        const struct as_perf_read_value *value = &leader->values[i];
        const uint64_t *index = as_map_get(&reader->ids, value->id);
        if (index == NULL || *index >= reader->events.len || *index == leader->event->index)
            continue;
        uint64_t *before = as_map_put(&reader->counts, value->id);
        struct as_perf_sample sample = *leader;
        sample.event = reader->events.data[*index];
        sample.id = value->id;
        sample.period = value->value > *before ? value->value - *before : 0;
        *before = value->value;
        if (sample.period == 0)
            continue;
        reader->summary.samples++;
        sample.event->samples++;
        as_add_to(&sample.event->total_period, sample.period);
        AS_PERF_CALL(reader, sample, &sample);
    }
}

static void deliver_sample(struct context *context, const uint8_t *record)
{
    struct as_perf_reader *reader = context->reader;
    struct as_perf_summary *summary = &reader->summary;
    struct as_perf_sample sample;
    if (context->event == NULL) {
        summary->unknown_ids++;
        return;
    }
    if (!as_perf_sample_decode(context->event, &context->header, record, as_perf_swap(reader), reader->scratch,
                               &sample)) {
        summary->bad_samples++;
        return;
    }
    summary->samples++;
    context->event->samples++;
    context->event->total_period += sample.period;
    if (sample.time != AS_PERF_NO_TIME) {
        if (summary->first_time == AS_PERF_NO_TIME || sample.time < summary->first_time)
            summary->first_time = sample.time;
        if (summary->last_time == AS_PERF_NO_TIME || sample.time > summary->last_time)
            summary->last_time = sample.time;
    }
    AS_PERF_CALL(reader, sample, &sample);
    deliver_members(reader, &sample);
}

void as_perf_record_deliver(struct as_perf_reader *reader, const uint8_t *record)
{
    bool swap = as_perf_swap(reader);
    struct context context = {.reader = reader, .header = as_perf_header_of(record, swap)};
    as_perf_attr_announce(reader);
    context.event = as_perf_attr_of(reader, &context.header, record);
    if (context.header.type == PERF_RECORD_SAMPLE) {
        deliver_sample(&context, record);
        return;
    }
    context.trailer = trailer_of(context.event, &context.header, record, swap);
    context.body =
        as_bytes(record + AS_PERF_HEADER_SIZE, context.header.size - AS_PERF_HEADER_SIZE - context.trailer.size, swap);
    switch (context.header.type) {
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
        deliver_map(&context);
        break;
    case PERF_RECORD_COMM:
        deliver_comm(&context);
        break;
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
        deliver_task(&context);
        break;
    case PERF_RECORD_LOST:
    case PERF_RECORD_LOST_SAMPLES:
        deliver_loss(&context);
        break;
    case PERF_RECORD_THROTTLE:
    case PERF_RECORD_UNTHROTTLE:
        deliver_throttle(&context);
        break;
    case PERF_RECORD_SWITCH:
    case PERF_RECORD_SWITCH_CPU_WIDE:
        deliver_switch(&context);
        break;
    case PERF_RECORD_KSYMBOL:
        deliver_ksymbol(&context);
        break;
    case PERF_RECORD_ITRACE_START:
        deliver_start(&context);
        break;
    case PERF_RECORD_AUX:
        count_aux(&context);
        break;
    default: /* counted, but not used in a profile */
        break;
    }
}
