/* See perf_writer.h. */
#include "perfdata/perf_writer.h"

#include "base/str.h"
#include "perfdata/perf_session.h"

#include <linux/perf_event.h>

enum { ATTR_SIZE = 136, FLAG_PRECISE = 15, FLAG_SAMPLE_ID_ALL = 18, TRACE_PIECE = 1 << 20 };

struct as_perf_writer {
    FILE *out;
    struct as_str record;
    AS_VEC(struct as_perf_event) events;
    bool failed;
};

struct as_perf_writer *as_perf_writer_new(FILE *out)
{
    struct as_perf_writer *writer = as_alloc(sizeof *writer);
    writer->out = out;
    return writer;
}

/* ---- records ---- */

static void put(struct as_perf_writer *writer, const void *bytes, size_t size)
{
    as_str_add_bytes(&writer->record, bytes, size);
}

static void put_u32(struct as_perf_writer *writer, uint32_t value)
{
    put(writer, &value, sizeof value);
}

static void put_u64(struct as_perf_writer *writer, uint64_t value)
{
    put(writer, &value, sizeof value);
}

/* With the terminating NUL, padded to a multiple of eight bytes. */
static void put_text(struct as_perf_writer *writer, const char *text)
{
    static const char zeros[8];
    size_t length = strnlen(text, 4096);
    put(writer, text, length);
    put(writer, zeros, 8 - length % 8);
}

static void begin_record(struct as_perf_writer *writer, uint32_t type, uint16_t misc)
{
    uint16_t size = 0;
    as_str_clear(&writer->record);
    put_u32(writer, type);
    put(writer, &misc, sizeof misc);
    put(writer, &size, sizeof size);
}

static void end_record(struct as_perf_writer *writer)
{
    uint16_t size = (uint16_t)writer->record.len;
    if (writer->record.len > AS_PERF_RECORD_MAX)
        return; /* too large for a record, because of its call chain */
    memcpy(writer->record.data + 6, &size, sizeof size);
    writer->failed |= fwrite(writer->record.data, 1, size, writer->out) != size;
}

/* ---- the head ---- */

uint32_t as_perf_writer_event(struct as_perf_writer *writer, const struct as_perf_event *event)
{
    *as_vec_push(&writer->events) = *event;
    return (uint32_t)writer->events.len - 1;
}

static void put_attr(struct as_perf_writer *writer, const struct as_perf_event *event)
{
    struct perf_event_attr attr = {.type = event->type,
                                   .size = ATTR_SIZE,
                                   .config = event->config,
                                   .sample_period = event->period,
                                   .sample_type = event->sample_type,
                                   .branch_sample_type = event->branch_type,
                                   .precise_ip = event->precise & 3,
                                   .sample_id_all = 1};
    char bytes[ATTR_SIZE] = {0};
    memcpy(bytes, &attr, sizeof attr < ATTR_SIZE ? sizeof attr : ATTR_SIZE);
    put(writer, bytes, ATTR_SIZE);
}

static void write_attr(struct as_perf_writer *writer, uint32_t index)
{
    begin_record(writer, AS_PERF_RECORD_ATTR, 0);
    put_attr(writer, &writer->events.data[index]);
    put_u64(writer, index + 1);
    end_record(writer);
}

static void put_string(struct as_perf_writer *writer, const char *text)
{
    size_t length = strnlen(text, 4096);
    put_u32(writer, (uint32_t)(length + 8 - length % 8));
    put_text(writer, text);
}

static void begin_feature(struct as_perf_writer *writer, enum as_perf_feature feature)
{
    begin_record(writer, AS_PERF_RECORD_FEATURE, 0);
    put_u64(writer, feature);
}

static void write_string(struct as_perf_writer *writer, enum as_perf_feature feature, const char *text)
{
    if (!text)
        return;
    begin_feature(writer, feature);
    put_string(writer, text);
    end_record(writer);
}

static void write_names(struct as_perf_writer *writer)
{
    begin_feature(writer, AS_PERF_FEATURE_EVENT_DESC);
    put_u32(writer, (uint32_t)writer->events.len);
    put_u32(writer, ATTR_SIZE);
    for (uint32_t i = 0; i < writer->events.len; i++) {
        put_attr(writer, &writer->events.data[i]);
        put_u32(writer, 1);
        put_string(writer, writer->events.data[i].name);
        put_u64(writer, i + 1);
    }
    end_record(writer);
}

static void write_pmus(struct as_perf_writer *writer)
{
    uint32_t n = 0;
    for (size_t i = 0; i < writer->events.len; i++)
        n += writer->events.data[i].pmu != NULL;
    begin_feature(writer, AS_PERF_FEATURE_PMU_MAPPINGS);
    put_u32(writer, n);
    for (size_t i = 0; i < writer->events.len; i++) {
        if (!writer->events.data[i].pmu)
            continue;
        put_u32(writer, writer->events.data[i].type);
        put_string(writer, writer->events.data[i].pmu);
    }
    end_record(writer);
}

void as_perf_writer_begin(struct as_perf_writer *writer, const struct as_perf_info *info)
{
    static const uint64_t head[] = {UINT64_C(0x32454c4946524550), 16};
    writer->failed |= fwrite(head, sizeof head, 1, writer->out) != 1;
    for (uint32_t i = 0; i < writer->events.len; i++)
        write_attr(writer, i);
    write_string(writer, AS_PERF_FEATURE_ARCH, info->arch);
    write_string(writer, AS_PERF_FEATURE_CPUDESC, info->cpu);
    write_string(writer, AS_PERF_FEATURE_CPUID, info->cpu_id);
    if (info->command) {
        begin_feature(writer, AS_PERF_FEATURE_CMDLINE);
        put_u32(writer, 1);
        put_string(writer, info->command);
        end_record(writer);
    }
    write_names(writer);
    write_pmus(writer);
}

/* ---- processes ---- */

/* What sample_id_all appends: the fields of the first event's type. */
static void put_trailer(struct as_perf_writer *writer, const struct as_perf_process *process)
{
    uint64_t type = writer->events.data[0].sample_type;
    if (type & PERF_SAMPLE_TID) {
        put_u32(writer, process->pid);
        put_u32(writer, process->tid);
    }
    if (type & PERF_SAMPLE_TIME)
        put_u64(writer, process->time);
    if (type & PERF_SAMPLE_CPU)
        put_u64(writer, 0);
    if (type & PERF_SAMPLE_IDENTIFIER)
        put_u64(writer, 1);
}

static void put_map(struct as_perf_writer *writer, const struct as_perf_process *process)
{
    static const uint8_t nothing[3];
    put_u64(writer, process->start);
    put_u64(writer, process->length);
    put_u64(writer, process->offset);
    if (process->build_id.size) {
        put(writer, &process->build_id.size, 1);
        put(writer, nothing, 3);
        put(writer, process->build_id.bytes, AS_PERF_BUILD_ID_MAX);
    } else {
        put_u32(writer, process->major);
        put_u32(writer, process->minor);
        put_u64(writer, process->inode);
        put_u64(writer, 0); /* generation */
    }
    put_u32(writer, process->prot);
    put_u32(writer, process->flags);
}

void as_perf_writer_process(struct as_perf_writer *writer, const struct as_perf_process *process)
{
    bool map = process->kind == AS_PERF_MAP;
    uint16_t misc = PERF_RECORD_MISC_USER;
    if (map && process->build_id.size)
        misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
    if (!map && process->exec)
        misc |= PERF_RECORD_MISC_COMM_EXEC;
    begin_record(writer, map ? PERF_RECORD_MMAP2 : PERF_RECORD_COMM, misc);
    put_u32(writer, process->pid);
    put_u32(writer, process->tid);
    if (map)
        put_map(writer, process);
    put_text(writer, process->name);
    put_trailer(writer, process);
    end_record(writer);
}

/* ---- samples ---- */

static void put_head(struct as_perf_writer *writer, uint32_t event, const struct as_perf_sample *sample, uint64_t type)
{
    if (type & PERF_SAMPLE_IDENTIFIER)
        put_u64(writer, event + 1);
    if (type & PERF_SAMPLE_IP)
        put_u64(writer, sample->ip);
    if (type & PERF_SAMPLE_TID) {
        put_u32(writer, sample->pid);
        put_u32(writer, sample->tid);
    }
    if (type & PERF_SAMPLE_TIME)
        put_u64(writer, sample->time);
    if (type & PERF_SAMPLE_ADDR)
        put_u64(writer, sample->addr);
    if (type & PERF_SAMPLE_CPU)
        put_u64(writer, sample->cpu);
    if (type & PERF_SAMPLE_PERIOD)
        put_u64(writer, sample->period);
}

static void put_branches(struct as_perf_writer *writer, const struct as_perf_sample *sample)
{
    put_u64(writer, sample->n_branches);
    for (size_t i = 0; i < sample->n_branches; i++) {
        const struct as_perf_branch *branch = &sample->branches[i];
        struct perf_branch_entry entry = {.from = branch->from,
                                          .to = branch->to,
                                          .mispred = branch->mispredicted,
                                          .predicted = branch->predicted,
                                          .cycles = branch->cycles};
        put(writer, &entry, sizeof entry);
    }
}

static void put_raw(struct as_perf_writer *writer, const struct as_perf_sample *sample)
{
    static const char zeros[8];
    size_t padding = (8 - (sample->raw_size + 4) % 8) % 8;
    put_u32(writer, (uint32_t)(sample->raw_size + padding));
    put(writer, sample->raw, sample->raw_size);
    put(writer, zeros, padding);
}

void as_perf_writer_sample(struct as_perf_writer *writer, uint32_t event, const struct as_perf_sample *sample)
{
    uint64_t type = writer->events.data[event].sample_type;
    uint16_t mode = sample->mode == AS_PERF_KERNEL ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
    begin_record(writer, PERF_RECORD_SAMPLE, mode | (sample->exact_ip ? PERF_RECORD_MISC_EXACT_IP : 0));
    put_head(writer, event, sample, type);
    if (type & PERF_SAMPLE_CALLCHAIN) {
        put_u64(writer, sample->n_chain);
        put(writer, sample->chain, sample->n_chain * sizeof *sample->chain);
    }
    if (type & PERF_SAMPLE_RAW)
        put_raw(writer, sample);
    if (type & PERF_SAMPLE_BRANCH_STACK)
        put_branches(writer, sample);
    if (type & PERF_SAMPLE_WEIGHT)
        put_u64(writer, sample->weight);
    if (type & PERF_SAMPLE_DATA_SRC)
        put_u64(writer, sample->data_src);
    end_record(writer);
}

/* ---- trace data ---- */

static void write_trace_info(struct as_perf_writer *writer)
{
    begin_record(writer, AS_PERF_RECORD_AUXTRACE_INFO, 0);
    put_u32(writer, AS_PERF_AUX_ARM_SPE);
    put_u32(writer, 0);
    put_u64(writer, writer->events.data[0].type);
    put_u64(writer, 0); /* buffers of threads, not of processors */
    end_record(writer);
}

void as_perf_writer_spe(struct as_perf_writer *writer, const void *bytes, size_t size)
{
    write_trace_info(writer);
    for (size_t done = 0; done < size; done += TRACE_PIECE) {
        size_t piece = size - done < TRACE_PIECE ? size - done : TRACE_PIECE;
        begin_record(writer, AS_PERF_RECORD_AUXTRACE, 0);
        put_u64(writer, piece);
        put_u64(writer, done);
        put_u64(writer, 0); /* reference */
        put_u32(writer, 0); /* index */
        put_u32(writer, UINT32_MAX);
        put_u32(writer, UINT32_MAX);
        put_u32(writer, 0);
        end_record(writer);
        writer->failed |= fwrite((const char *)bytes + done, 1, piece, writer->out) != piece;
    }
}

bool as_perf_writer_end(struct as_perf_writer *writer)
{
    bool ok = !writer->failed && fflush(writer->out) == 0;
    as_str_free(&writer->record);
    as_vec_free(&writer->events);
    free(writer);
    return ok;
}
