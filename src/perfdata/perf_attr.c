/* The events of a recording: perf_event_attr in any of its sizes and both byte orders, the ids by which records refer
 * to them, and their names. */
#include "perfdata/perf_session.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

enum { ATTR_MIN = 64, FLAG_PRECISE = 15, FLAG_FREQ = 10, FLAG_SAMPLE_ID_ALL = 18, FLAG_CLOCK = 25 };

/* The bit field starts at the lowest bit on little-endian machines and at the highest on the others. */
static uint64_t flags_of(uint64_t word, bool big)
{
    if (!big)
        return word;
    uint64_t flags = 0;
    for (unsigned bit = 0; bit < 64; bit++)
        flags |= (word >> (63 - bit) & 1) << bit;
    return flags;
}

static unsigned precise_of(uint64_t word, bool big)
{
    return (unsigned)(word >> (big ? 63 - FLAG_PRECISE - 1 : FLAG_PRECISE)) & 3;
}

static void parse_rest(struct as_bytes *cursor, struct as_perf_event *event)
{
    as_bytes_u32(cursor); /* wakeup_events */
    as_bytes_u32(cursor); /* bp_type */
    event->config1 = as_bytes_u64(cursor);
    if (as_bytes_left(cursor) >= 8)
        event->config2 = as_bytes_u64(cursor);
    if (as_bytes_left(cursor) >= 8)
        event->branch_type = as_bytes_u64(cursor);
    if (as_bytes_left(cursor) >= 16) {
        event->regs_user = as_bytes_u64(cursor);
        event->stack_user = as_bytes_u32(cursor);
        int32_t clock = (int32_t)as_bytes_u32(cursor);
        event->clock = event->flags >> FLAG_CLOCK & 1 ? clock : -1;
    }
    if (as_bytes_left(cursor) >= 8)
        event->regs_intr = as_bytes_u64(cursor);
    if (as_bytes_left(cursor) >= 8) {
        as_bytes_u32(cursor); /* aux_watermark */
        event->max_stack = as_bytes_u16(cursor);
    }
}

static bool parse(struct as_bytes cursor, struct as_perf_event *event)
{
    bool big = cursor.swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    event->clock = -1;
    event->type = as_bytes_u32(&cursor);
    as_bytes_u32(&cursor); /* its size */
    event->config = as_bytes_u64(&cursor);
    uint64_t period = as_bytes_u64(&cursor);
    event->sample_type = as_bytes_u64(&cursor);
    event->read_format = as_bytes_u64(&cursor);
    uint64_t word = as_bytes_u64(&cursor);
    event->flags = flags_of(word, big);
    event->precise = precise_of(word, big);
    *(event->flags >> FLAG_FREQ & 1 ? &event->frequency : &event->period) = period;
    parse_rest(&cursor, event);
    return !cursor.bad;
}

static const char *const hardware_names[] = {
    "cycles",        "instructions", "cache-references",        "cache-misses",           "branches",
    "branch-misses", "bus-cycles",   "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles"};
static const char *const software_names[] = {"cpu-clock",        "task-clock",   "page-faults",  "context-switches",
                                             "cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
                                             "emulation-faults", "dummy",        "bpf-output",   "cgroup-switches"};

static const char *made_name(struct as_perf_reader *reader, const struct as_perf_event *event)
{
    if (event->type == PERF_TYPE_HARDWARE && event->config < sizeof hardware_names / sizeof *hardware_names)
        return hardware_names[event->config];
    if (event->type == PERF_TYPE_SOFTWARE && event->config < sizeof software_names / sizeof *software_names)
        return software_names[event->config];
    char text[96];
    if (event->type == PERF_TYPE_RAW)
        snprintf(text, sizeof text, "raw 0x%llx", (unsigned long long)event->config);
    else
        snprintf(text, sizeof text, "type %u config 0x%llx", event->type, (unsigned long long)event->config);
    return as_perf_keep(reader, text, sizeof text);
}

bool as_perf_event_is_clock(const struct as_perf_event *event)
{
    const char *name = event->name;
    return (event->type == PERF_TYPE_SOFTWARE && event->pmu == NULL && event->sample_type != 0 &&
            (event->config == PERF_COUNT_SW_CPU_CLOCK || event->config == PERF_COUNT_SW_TASK_CLOCK)) ||
           strncmp(name, "cpu-clock", 9) == 0 || strncmp(name, "task-clock", 10) == 0;
}

/* What a raw event counts that the user named ("name=" of perf), if Intel's processors have it: the name does not say. NULL: nothing
 * that is known, or the name does. */
static const char *renamed_unit(const struct as_perf_event *event)
{
    enum { CODE = 0xff, MASKED = 0xffff, RETIRED = 0xc0, NEAR_TAKEN = 0x20c4 };
    static const char *const telling[] = {"inst", "taken", "/", "raw 0x"};
    size_t digits = event->name[0] == 'r' ? strspn(event->name + 1, "0123456789abcdefABCDEF") : 0;
    bool code = digits && (event->name[1 + digits] == '\0' || event->name[1 + digits] == ':');
    if (event->type != PERF_TYPE_RAW || code)
        return NULL;
    for (size_t i = 0; i < sizeof telling / sizeof *telling; i++)
        if (strcasestr(event->name, telling[i]))
            return NULL;
    return (event->config & MASKED) == NEAR_TAKEN ? "taken branches"
           : (event->config & CODE) == RETIRED    ? "instructions"
                                                  : NULL;
}

char *as_perf_event_unit(const struct as_perf_event *event)
{
    const char *name = event->name;
    const char *renamed = renamed_unit(event);
    if (event->samples > 0 && event->without_period == event->samples)
        return as_strdup("samples");
    if (as_perf_event_is_clock(event))
        return as_strdup("nanoseconds");
    if (renamed)
        return as_strdup(renamed);
    return as_strndup(name, strchr(name, '/') ? strlen(name) : strcspn(name, ":"));
}

/* Adds the event whose attr is at `bytes`; `used` gets the number of bytes that it occupies. */
bool as_perf_attr_add(struct as_perf_reader *reader, const uint8_t *bytes, size_t size, size_t *used)
{
    struct as_bytes cursor = as_bytes(bytes, size, as_perf_swap(reader));
    as_bytes_u32(&cursor);
    size_t own = as_bytes_u32(&cursor);
    own = own == 0 ? ATTR_MIN : own;
    if (cursor.bad || own < ATTR_MIN || own > size)
        return false;
    struct as_perf_event *event = as_alloc(sizeof *event);
    event->index = (uint32_t)reader->events.len;
    if (!parse(as_bytes(bytes, own, as_perf_swap(reader)), event)) {
        free(event);
        return false;
    }
    *as_vec_push(&reader->events) = event;
    *used = own;
    return true;
}

void as_perf_attr_ids(struct as_perf_reader *reader, uint32_t event, struct as_bytes *ids)
{
    while (as_bytes_left(ids) >= 8)
        *as_map_put(&reader->ids, as_bytes_u64(ids)) = event;
}

void as_perf_attr_name(struct as_perf_reader *reader, uint64_t id, const char *name, size_t most)
{
    const uint64_t *index = as_map_get(&reader->ids, id);
    if (index != NULL && *index < reader->events.len && name[0] != '\0')
        reader->events.data[*index]->name = as_perf_keep(reader, name, most);
}

/* Announces new events to the sink, as late as possible, because a pipe sends names after events. */
void as_perf_attr_announce(struct as_perf_reader *reader)
{
    for (; reader->announced < reader->events.len; reader->announced++) {
        struct as_perf_event *event = reader->events.data[reader->announced];
        for (size_t i = 0; i < reader->pmus.len && event->pmu == NULL; i++)
            if (reader->pmus.data[i].type == event->type)
                event->pmu = reader->pmus.data[i].name;
        if (event->name == NULL)
            event->name = made_name(reader, event);
        AS_PERF_CALL(reader, event, event);
    }
}

/* The position of a record's id, from its start or its end; 0: none. All events of a file have it in the same position
 * (perf ensures that). */
static size_t id_offset(const struct as_perf_event *event, const struct as_perf_header *header)
{
    uint64_t type = event->sample_type;
    if (header->type == PERF_RECORD_SAMPLE) {
        if (type & PERF_SAMPLE_IDENTIFIER)
            return AS_PERF_HEADER_SIZE;
        uint64_t ahead = type & (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR);
        return type & PERF_SAMPLE_ID ? AS_PERF_HEADER_SIZE + 8 * (size_t)__builtin_popcountll(ahead) : 0;
    }
    if (!(event->flags >> FLAG_SAMPLE_ID_ALL & 1) || header->size < AS_PERF_HEADER_SIZE + 8)
        return 0;
    if (type & PERF_SAMPLE_IDENTIFIER)
        return header->size - 8u;
    size_t behind = 8 * (1 + (size_t)__builtin_popcountll(type & (PERF_SAMPLE_CPU | PERF_SAMPLE_STREAM_ID)));
    return type & PERF_SAMPLE_ID && header->size >= AS_PERF_HEADER_SIZE + behind ? header->size - behind : 0;
}

struct as_perf_event *as_perf_attr_of(struct as_perf_reader *reader, const struct as_perf_header *header,
                                      const uint8_t *record)
{
    if (reader->events.len == 0)
        return NULL;
    struct as_perf_event *first = reader->events.data[0];
    if (reader->events.len == 1)
        return first;
    size_t offset = id_offset(first, header);
    if (offset == 0)
        return first;
    if (offset + 8 > header->size)
        return NULL;
    struct as_bytes cursor = as_bytes(record + offset, 8, as_perf_swap(reader));
    uint64_t id = as_bytes_u64(&cursor);
    const uint64_t *index = as_map_get(&reader->ids, id);
    if (index != NULL && *index < reader->events.len)
        return reader->events.data[*index];
    return id == 0 ? first : NULL; /* records that perf itself synthesized have no id */
}
