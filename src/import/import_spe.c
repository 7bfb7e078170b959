/* Arm's SPE: turns records in AUX data into samples of the event that wrote them. See import_facts.h;
 * perfdata/spe_packets.h decodes the packets.
 *
 * AUX data comes in large pieces, ahead of the perf records that describe the mappings and the running threads at the
 * time it was written. SPE records therefore wait, sorted by timestamp. When a perf record changes a mapping, a process
 * or the running thread, all SPE records before its time are counted first, under the old state. If ticks cannot be
 * converted to the recording's clock, all SPE records wait for the end of the recording.
 *
 * The thread of an SPE record is the one in its context packet, where the kernel writes thread ids; else the buffer's
 * thread. Either must be a known thread. Otherwise it is the thread that runs on the buffer's processor; if there is
 * none, the record has no thread. If a recording has several SPE events (two kinds of cores), all records count for the
 * first.
 *
 * These values are not used: physical addresses, tags of data addresses, the target of the preceding branch, the
 * context's exception level and secure state, and data sources of processors whose codes are not known.
 */
#include "import/import_internal.h"
#include "perfdata/mem_source.h"

#include <linux/perf_event.h>
#include <stdlib.h>

enum { MOST_WAITING = 256 << 20 }; /* bytes */

struct as_import_spe_buffer {
    struct as_import *import;
    struct as_spe_decoder decoder;
    uint32_t tid, cpu; /* UINT32_MAX: any */
    uint64_t next;     /* offset at which the next piece should begin */
    uint64_t time;     /* of the newest record */
};

/* A record that waits for its time. */
struct waiting {
    uint64_t time;
    uint32_t tid, cpu;
    struct as_spe_record record;
};

/* ---- facts ---- */

/* Whether this is one of Arm's Neoverse cores whose codes as_spe_source_name describes. */
static bool knows_sources(const struct as_perf_info *info)
{
    static const unsigned parts[] = {0xd0c, 0xd40, 0xd49, 0xd4f}; /* N1, V1, N2, V2 */
    uint64_t midr = info && info->cpu_id ? strtoull(info->cpu_id, NULL, 16) : 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if ((midr >> 24 & 0xff) == 0x41 && (midr >> 4 & 0xfff) == parts[i])
            return true;
    return false;
}

static uint64_t bit(unsigned number, bool set)
{
    return as_import_bit(number, set);
}

static uint64_t source_bits(uint16_t source)
{
    switch (source) {
    case 0x0:
        return bit(AS_MEM_L1, true);
    case 0x8:
        return bit(AS_MEM_L2, true);
    case 0x9: /* another core */
    case 0xc: /* another cluster */
        return bit(AS_MEM_CACHE, true) | bit(AS_BIT_REMOTE, true);
    case 0xa: /* the cluster's */
    case 0xb: /* the system's */
        return bit(AS_MEM_L3, true);
    case 0xd: /* another chip */
        return bit(AS_MEM_CACHE, true) | bit(AS_BIT_REMOTE, true) | bit(AS_BIT_FAR_NODE, true);
    case 0xe:
        return bit(AS_MEM_RAM, true);
    default:
        return 0;
    }
}

/* The first cache that was accessed and did not miss. */
static uint64_t level_bits(uint64_t events)
{
    enum { L2_ACCESS = 1 << 19, L2_MISS = 1 << 20 };
    if ((events & (AS_SPE_L1_ACCESS | AS_SPE_L1_MISS)) == AS_SPE_L1_ACCESS)
        return bit(AS_MEM_L1, true);
    if ((events & (L2_ACCESS | L2_MISS)) == L2_ACCESS)
        return bit(AS_MEM_L2, true);
    return bit(AS_MEM_L3, (events & (AS_SPE_LLC_ACCESS | AS_SPE_LLC_MISS)) == AS_SPE_LLC_ACCESS);
}

static uint64_t event_bits(const struct as_spe_record *record)
{
    static const struct {
        uint8_t from, to;
    } pairs[] = {
        {0, AS_BIT_EXCEPTION},        {3, AS_BIT_L1_MISS},
        {5, AS_BIT_TLB_WALK},         {6, AS_BIT_NOT_TAKEN},
        {7, AS_BIT_MISPREDICTED},     {9, AS_BIT_LLC_MISS},
        {10, AS_BIT_REMOTE},          {11, AS_BIT_MISALIGNED},
        {16, AS_BIT_TRANSACTIONAL},   {17, AS_BIT_PARTIAL_PREDICATE},
        {18, AS_BIT_EMPTY_PREDICATE}, {20, AS_BIT_L2_MISS},
        {21, AS_BIT_MODIFIED},        {22, AS_BIT_RECENT},
        {23, AS_BIT_SNOOPED},         {24, AS_BIT_STREAMING},
        {25, AS_BIT_SHARED_UNIT},
    };
    uint64_t bits = bit(AS_BIT_NOT_RETIRED, !(record->events & AS_SPE_RETIRED));
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        bits |= bit(pairs[i].to, record->events >> pairs[i].from & 1);
    return record->has & AS_SPE_EVENTS ? bits : 0;
}

static uint64_t type_bits(const struct as_spe_record *record)
{
    bool memory = record->class == AS_SPE_MEMORY, branch = record->class == AS_SPE_BRANCH;
    if (!(record->has & AS_SPE_TYPE))
        return 0;
    return bit(AS_BIT_LOAD, memory && (!record->store || record->atomic)) | bit(AS_BIT_STORE, record->store) |
           bit(AS_BIT_ATOMIC, record->atomic) | bit(AS_BIT_EXCLUSIVE, record->exclusive) |
           bit(AS_BIT_ACQUIRE_RELEASE, record->acquire_release) | bit(AS_BIT_BRANCH, branch) |
           bit(AS_BIT_TAKEN, branch && record->has & AS_SPE_EVENTS && !(record->events & AS_SPE_NOT_TAKEN)) |
           bit(AS_BIT_CONDITIONAL, record->conditional) | bit(AS_BIT_INDIRECT, record->indirect) |
           bit(AS_BIT_SIMD, record->simd) | bit(AS_BIT_SVE, record->sve);
}

static void facts_of(struct as_import_spe *spe, const struct as_perf_info *info, const struct as_spe_record *record,
                     struct as_import_facts *facts)
{
    bool memory = record->has & AS_SPE_TYPE && record->class == AS_SPE_MEMORY;
    bool source = record->has & AS_SPE_SOURCE && knows_sources(info) && source_bits(record->source);
    spe->unknown_sources += record->has & AS_SPE_SOURCE && !source;
    *facts = (struct as_import_facts){.events = event_bits(record) | type_bits(record) |
                                                (source ? source_bits(record->source) : level_bits(record->events)) |
                                                bit(AS_BIT_DAMAGED, record->damaged),
                                      .tells_address = memory,
                                      .address = record->has & AS_SPE_ADDRESS ? record->address : 0,
                                      .branched = record->class == AS_SPE_BRANCH && record->has & AS_SPE_TARGET &&
                                                  !(record->events & AS_SPE_NOT_TAKEN),
                                      .mispredicted = record->events & AS_SPE_MISPREDICTED,
                                      .target = record->target};
    if (memory)
        facts->kind =
            (uint8_t)((!record->store || record->atomic ? AS_STORE_LOAD : 0) | (record->store ? AS_STORE_STORE : 0));
    if (record->has & AS_SPE_TOTAL)
        as_import_add_value(facts, AS_KIND_TOTAL_LATENCY, record->total);
    if (record->has & AS_SPE_ISSUE)
        as_import_add_value(facts, AS_KIND_ISSUE_LATENCY, record->issue);
    if (record->has & AS_SPE_TRANSLATION)
        as_import_add_value(facts, AS_KIND_TRANSLATION_LATENCY, record->translation);
}

/* ---- samples ---- */

/* Returns the process (upper half) and thread as one number. A thread in another pid name space than the recorder's has
 * another id in its context packets, which is not a known thread; the other sources are used then. */
static uint64_t owner_of(struct as_import_spe *spe, const struct waiting *waiting)
{
    uint32_t context = waiting->record.has & AS_SPE_CONTEXT ? waiting->record.context : 0;
    uint32_t tids[] = {context, waiting->tid == UINT32_MAX ? 0 : waiting->tid};
    for (size_t i = 0; i < 2; i++) {
        uint64_t *process = tids[i] ? as_map_get(&spe->processes, tids[i]) : NULL;
        if (process)
            return *process << 32 | tids[i];
    }
    uint64_t *running = waiting->cpu == UINT32_MAX ? NULL : as_map_get(&spe->running, waiting->cpu);
    if (running)
        return *running;
    uint64_t tid = tids[1] ? tids[1] : context;
    spe->without_thread += tid == 0;
    return tid ? tid << 32 | tid : UINT64_MAX;
}

static void count_time(struct as_import_spe *spe, uint64_t time)
{
    if (time == AS_PERF_NO_TIME)
        return;
    spe->first_time = spe->records == 0 || time < spe->first_time ? time : spe->first_time;
    spe->last_time = time > spe->last_time ? time : spe->last_time;
}

static void use_record(struct as_import *import, const struct waiting *waiting)
{
    static const enum as_perf_mode modes[] = {AS_PERF_USER, AS_PERF_KERNEL, AS_PERF_KERNEL, AS_PERF_MODE_UNKNOWN};
    struct as_import_spe *spe = &import->spe;
    struct as_import_facts facts;
    uint64_t owner = owner_of(spe, waiting);
    /* The reader counts its own samples only; the event is not changed through this pointer. */
    struct as_perf_sample sample = {.event = (struct as_perf_event *)spe->event,
                                    .has = PERF_SAMPLE_IP | PERF_SAMPLE_TID,
                                    .mode = modes[waiting->record.exception_level & 3],
                                    .exact_ip = true,
                                    .ip = waiting->record.pc,
                                    .time = waiting->time,
                                    .period = spe->event->period ? spe->event->period : 1,
                                    .pid = (uint32_t)(owner >> 32),
                                    .tid = (uint32_t)owner,
                                    .cpu = waiting->cpu,
                                    .branch_index = -1};
    facts_of(spe, import->info, &waiting->record, &facts);
    count_time(spe, waiting->time);
    spe->records++;
    as_import_add_sample(import, &sample, &facts);
}

/* Uses the oldest waiting record if it is not newer than `until`. */
static bool use_next(struct as_import *import, uint64_t until)
{
    uint64_t ignored;
    struct waiting waiting;
    uint8_t *bytes = as_perf_order_pop(&import->spe.waiting, until, &ignored);
    if (!bytes)
        return false;
    memcpy(&waiting, bytes, sizeof waiting);
    free(bytes);
    use_record(import, &waiting);
    return true;
}

void as_import_spe_until(struct as_import *import, uint64_t time)
{
    while (time > 0 && use_next(import, time - 1))
        ;
}

void as_import_spe_finish(struct as_import *import)
{
    struct as_import_spe *spe = &import->spe;
    while (use_next(import, UINT64_MAX))
        ;
    for (size_t i = 0; i < spe->buffers.len; i++) {
        spe->bad_bytes += spe->buffers.data[i]->decoder.bad_bytes + spe->buffers.data[i]->decoder.rest_size;
        free(spe->buffers.data[i]);
    }
    as_vec_free(&spe->buffers);
    as_map_free(&spe->numbers);
}

void as_import_spe_free(struct as_import *import)
{
    struct as_import_spe *spe = &import->spe;
    for (size_t i = 0; i < spe->buffers.len; i++)
        free(spe->buffers.data[i]);
    as_vec_free(&spe->buffers);
    as_map_free(&spe->numbers);
    as_map_free(&spe->running);
    as_map_free(&spe->processes);
    as_perf_order_free(&spe->waiting);
}

/* ---- the decoder ---- */

static bool take_record(void *context, const struct as_spe_record *record)
{
    struct as_import_spe_buffer *buffer = context;
    struct as_import_spe *spe = &buffer->import->spe;
    spe->damaged += record->damaged;
    if (!(record->has & AS_SPE_PC)) {
        spe->without_place++;
        return true;
    }
    if (record->has & AS_SPE_TIME && spe->event->clock == -1)
        buffer->time = as_perf_ticks_time(buffer->import->info, record->time);
    struct waiting waiting = {.time = buffer->time, .tid = buffer->tid, .cpu = buffer->cpu, .record = *record};
    as_perf_order_push(&spe->waiting, waiting.time, (const uint8_t *)&waiting, sizeof waiting);
    uint64_t wanted = buffer->import->options.most_waiting, most = wanted ? wanted : MOST_WAITING;
    while (spe->waiting.bytes > most && use_next(buffer->import, UINT64_MAX))
        ;
    return true;
}

static struct as_import_spe_buffer *buffer_of(struct as_import *import, const struct as_perf_aux *aux)
{
    struct as_import_spe *spe = &import->spe;
    uint64_t *number = as_map_put(&spe->numbers, aux->index);
    if (*number == 0) {
        struct as_import_spe_buffer *buffer = as_alloc(sizeof *buffer);
        *buffer = (struct as_import_spe_buffer){.import = import, .next = aux->offset, .time = AS_PERF_NO_TIME};
        buffer->decoder.sink = take_record;
        buffer->decoder.context = buffer;
        *as_vec_push(&spe->buffers) = buffer;
        *number = spe->buffers.len;
    }
    return spe->buffers.data[*number - 1];
}

/* After a gap a new record begins; the unfinished one is lost. */
static void follow(struct as_import_spe_buffer *buffer, const struct as_perf_aux *aux)
{
    struct as_spe_decoder *decoder = &buffer->decoder;
    if (aux->offset != buffer->next) {
        decoder->bad_bytes += decoder->rest_size;
        decoder->rest_size = 0;
        decoder->skip = 0;
        decoder->started = false;
        decoder->record = (struct as_spe_record){0};
    }
    buffer->next = aux->offset + aux->size;
    buffer->tid = aux->tid;
    buffer->cpu = aux->cpu;
}

bool as_import_spe_aux(struct as_import *import, const struct as_perf_aux *aux)
{
    struct as_import_spe *spe = &import->spe;
    if (!import->info || import->info->aux_type != AS_PERF_AUX_ARM_SPE || !spe->event)
        return true;
    import->series.data[spe->event->index].tagging.unit = AS_IMPORT_SPE;
    spe->bytes += aux->size;
    struct as_import_spe_buffer *buffer = buffer_of(import, aux);
    follow(buffer, aux);
    as_spe_feed(&buffer->decoder, aux->data, aux->size, aux->offset);
    return !as_store_writer_failed(import->writer);
}

/* ---- state at the time of a record ---- */

/* A PMU without a name, in a recording with SPE data, is taken for SPE, unless another PMU is named SPE. */
void as_import_spe_event(struct as_import *import, const struct as_perf_event *event)
{
    struct as_import_spe *spe = &import->spe;
    bool named = import->series.data[event->index].tagging.unit == AS_IMPORT_SPE;
    bool before = spe->event && import->series.data[spe->event->index].tagging.unit == AS_IMPORT_SPE;
    if (!before && (named || (!spe->event && event->type >= PERF_TYPE_MAX && !event->pmu)))
        spe->event = event;
}

void as_import_spe_process(struct as_import *import, const struct as_perf_process *process)
{
    if (process->time != AS_PERF_NO_TIME)
        as_import_spe_until(import, process->time);
    if (process->kind != AS_PERF_EXIT)
        *as_map_put(&import->spe.processes, process->tid) = process->pid;
}

void as_import_spe_switch(struct as_import *import, const struct as_perf_switch *change)
{
    if (change->time != AS_PERF_NO_TIME)
        as_import_spe_until(import, change->time);
    bool other = change->out && change->other_tid;
    if (change->cpu == UINT32_MAX || (change->out && !other))
        return;
    *as_map_put(&import->spe.running, change->cpu) =
        other ? (uint64_t)change->other_pid << 32 | change->other_tid : (uint64_t)change->pid << 32 | change->tid;
}

void as_import_spe_quality(const struct as_import *import)
{
    const struct as_import_spe *spe = &import->spe;
    const struct {
        const char *key;
        uint64_t count;
        const char *text;
    } rows[] = {
        {"spe_bad_bytes", spe->bad_bytes, "bytes of SPE data that are not packets: skipped"},
        {"spe_damaged", spe->damaged, "SPE records with packets that could not be decoded"},
        {"spe_without_place", spe->without_place, "SPE records without the address of the instruction: left out"},
        {"spe_without_thread", spe->without_thread,
         "SPE records whose thread is not known: counted in thread 0, without names"},
        {"spe_unknown_sources", spe->unknown_sources,
         "SPE records whose data source has a code that is not known for this processor"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].count)
            as_store_add_quality(import->writer, rows[i].key, (double)rows[i].count, rows[i].text);
    if (spe->records)
        as_store_add_counter(import->writer, "spe_records", spe->records);
}
