/* The reader: recognises the kind of file, reads its header, and loops over its records. */
#include "perfdata/perf_session.h"
#include "perfdata/perf_unpack.h"

#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>

enum {
    FILE_HEADER_SIZE = 104, /* with the feature bits */
    PIPE_HEADER_SIZE = 16,
    SECTION_SIZE = 16,
    FIRST_USER_RECORD = 64,
    NAME_UPDATE = 2,
    SNIFF = 4096,
};

static const char magic_text[8] = "PERFILE2", old_magic_text[8] = "PERFFILE";

void as_perf_problem(struct as_perf_reader *reader, const char *format, ...)
{
    struct as_perf_summary *summary = &reader->summary;
    summary->incomplete = true;
    if (summary->problem[0] != '\0')
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(summary->problem, sizeof summary->problem, format, args);
    va_end(args);
    as_error_clean(summary->problem);
}

const char *as_perf_keep(struct as_perf_reader *reader, const char *text, size_t most)
{
    char *copy = as_strndup(text, strnlen(text, most));
    as_error_clean(copy);
    const char *kept = as_strings_get(reader->strings, as_strings_intern(reader->strings, copy));
    free(copy);
    return kept;
}

/* ---- delivery ---- */

static void deliver_until(struct as_perf_reader *reader, uint64_t until)
{
    uint64_t time;
    for (uint8_t *record; !reader->stopped && (record = as_perf_order_pop(&reader->order, until, &time)) != NULL;) {
        if (time < reader->delivered)
            reader->summary.out_of_order++;
        else
            reader->delivered = time;
        as_perf_record_deliver(reader, record);
        free(record);
    }
}

/* Gives up perfect order if the file has no rounds and does not fit into memory: passes on the older half. */
static void make_room(struct as_perf_reader *reader)
{
    uint64_t time;
    while (!reader->stopped && reader->order.bytes > reader->queue_limit / 2) {
        uint8_t *record = as_perf_order_pop(&reader->order, UINT64_MAX, &time);
        if (record == NULL)
            return;
        reader->delivered = time > reader->delivered ? time : reader->delivered;
        as_perf_record_deliver(reader, record);
        free(record);
    }
}

static void queue(struct as_perf_reader *reader, const struct as_perf_header *header, const uint8_t *record)
{
    uint64_t time = as_perf_record_time(reader, header, record);
    if (time == AS_PERF_NO_TIME) {
        as_perf_record_deliver(reader, record);
        return;
    }
    as_perf_order_push(&reader->order, time, record, header->size);
    if (reader->order.bytes > reader->queue_limit)
        make_room(reader);
}

/* ---- records of perf itself ---- */

static void take_attr(struct as_perf_reader *reader, struct as_bytes body)
{
    size_t used;
    if (!as_perf_attr_add(reader, body.at, as_bytes_left(&body), &used)) {
        as_perf_problem(reader, "an event's description is corrupt");
        return;
    }
    body.at += used;
    as_perf_attr_ids(reader, (uint32_t)reader->events.len - 1, &body);
}

static void take_update(struct as_perf_reader *reader, struct as_bytes body)
{
    uint64_t kind = as_bytes_u64(&body), id = as_bytes_u64(&body);
    if (!body.bad && kind == NAME_UPDATE)
        as_perf_attr_name(reader, id, (const char *)body.at, as_bytes_left(&body));
}

static void take_feature(struct as_perf_reader *reader, struct as_bytes body)
{
    uint64_t feature = as_bytes_u64(&body);
    if (body.bad || feature >= AS_PERF_FEATURES)
        return;
    reader->info.features[feature / 64] |= UINT64_C(1) << feature % 64;
    as_perf_feature_read(reader, (unsigned)feature, body.at, as_bytes_left(&body));
}

/* The trace data itself follows the record. */
static bool take_aux(struct as_perf_reader *reader, struct as_bytes body)
{
    uint64_t size = as_bytes_u64(&body);
    struct as_perf_aux aux = {.offset = as_bytes_u64(&body)};
    as_bytes_u64(&body); /* reference */
    aux.index = as_bytes_u32(&body);
    aux.tid = as_bytes_u32(&body);
    aux.cpu = as_bytes_u32(&body);
    if (body.bad || (reader->input.size != UINT64_MAX && size > reader->input.size))
        return false;
    reader->summary.aux_bytes += size;
    if (reader->sink->aux == NULL)
        return as_perf_input_forward(&reader->input, size);
    as_perf_attr_announce(reader);
    for (aux.left = size; aux.left > 0 && !reader->stopped; aux.offset += aux.size) {
        size_t most = aux.left < AS_PERF_INPUT_MAX ? (size_t)aux.left : AS_PERF_INPUT_MAX;
        aux.data = as_perf_input_peek(&reader->input, most, &aux.size);
        if (aux.data == NULL)
            return false;
        aux.left -= aux.size;
        AS_PERF_CALL(reader, aux, &aux);
        as_perf_input_skip(&reader->input, aux.size);
    }
    return true;
}

/* The last three words came with perf 5.10. */
static void take_ticks(struct as_perf_reader *reader, struct as_bytes body)
{
    struct as_perf_ticks ticks = {.known = true};
    ticks.shift = as_bytes_u64(&body);
    ticks.multiplier = as_bytes_u64(&body);
    ticks.zero = as_bytes_u64(&body);
    if (body.bad)
        return;
    ticks.cycles = as_bytes_u64(&body);
    ticks.mask = as_bytes_u64(&body);
    const uint8_t *has = as_bytes_take(&body, 2); /* an offset, and fewer bits */
    ticks.known = has == NULL || has[0];
    if (has == NULL || !has[1])
        ticks.cycles = ticks.mask = 0;
    reader->info.ticks = ticks;
}

static bool take_record(struct as_perf_reader *reader, const uint8_t *record, bool unpacked);

static bool take_unpacked(void *context, const uint8_t *record, size_t size)
{
    (void)size;
    return take_record(context, record, true);
}

static bool take_packed(struct as_perf_reader *reader, const struct as_perf_header *header, struct as_bytes body)
{
    size_t size = as_bytes_left(&body);
    if (header->type == AS_PERF_RECORD_COMPRESSED2) {
        uint64_t own = as_bytes_u64(&body);
        if (body.bad || own > as_bytes_left(&body)) {
            as_perf_problem(reader, "a compressed record is longer than itself");
            return false;
        }
        size = (size_t)own;
    }
    bool ok = as_perf_inflate_add(&reader->inflate, body.at, size, as_perf_swap(reader), take_unpacked, reader);
    if (!ok && reader->inflate.problem != NULL)
        as_perf_problem(reader, "%s", reader->inflate.problem);
    return ok;
}

/* Event formats of tracepoints: padded to eight bytes behind the record. */
static bool take_tracing_data(struct as_perf_reader *reader, struct as_bytes body)
{
    uint64_t size = (as_bytes_u32(&body) + UINT64_C(7)) & ~UINT64_C(7);
    return !body.bad && as_perf_input_forward(&reader->input, size);
}

/* Records whose data follow them cannot be packed, nor can packed ones. */
static bool take_streamed(struct as_perf_reader *reader, const struct as_perf_header *header, struct as_bytes body,
                          bool unpacked)
{
    if (unpacked) {
        as_perf_problem(reader, "a %s record is inside a compressed one", as_perf_record_name(header->type));
        return false;
    }
    if (header->type == AS_PERF_RECORD_COMPRESSED || header->type == AS_PERF_RECORD_COMPRESSED2)
        return take_packed(reader, header, body);
    bool aux = header->type == AS_PERF_RECORD_AUXTRACE;
    bool ok = aux ? take_aux(reader, body) : take_tracing_data(reader, body);
    if (!ok)
        as_perf_problem(reader, "the file ends inside trace data");
    return ok;
}

/* Returns false if nothing after the record can be read. */
static bool take_user_record(struct as_perf_reader *reader, const struct as_perf_header *header, const uint8_t *record,
                             bool unpacked)
{
    struct as_bytes body =
        as_bytes(record + AS_PERF_HEADER_SIZE, header->size - (size_t)AS_PERF_HEADER_SIZE, as_perf_swap(reader));
    switch (header->type) {
    case AS_PERF_RECORD_ATTR:
        take_attr(reader, body);
        return true;
    case AS_PERF_RECORD_EVENT_UPDATE:
        take_update(reader, body);
        return true;
    case AS_PERF_RECORD_FEATURE:
        take_feature(reader, body);
        return true;
    case AS_PERF_RECORD_BUILD_ID:
        as_perf_feature_build_id(reader, header, &body);
        return true;
    case AS_PERF_RECORD_FINISHED_ROUND:
        deliver_until(reader, as_perf_order_round(&reader->order));
        return true;
    case AS_PERF_RECORD_TIME_CONV:
        take_ticks(reader, body);
        return true;
    case AS_PERF_RECORD_AUXTRACE_INFO:
        reader->info.aux_type = as_bytes_u32(&body);
        return true;
    case AS_PERF_RECORD_AUXTRACE:
    case AS_PERF_RECORD_TRACING_DATA:
    case AS_PERF_RECORD_COMPRESSED:
    case AS_PERF_RECORD_COMPRESSED2:
        return take_streamed(reader, header, body, unpacked);
    default:
        return true;
    }
}

static bool take_record(struct as_perf_reader *reader, const uint8_t *record, bool unpacked)
{
    struct as_perf_header header = as_perf_header_of(record, as_perf_swap(reader));
    *(header.type < AS_PERF_RECORD_TYPES ? &reader->summary.records[header.type] : &reader->summary.other_records) += 1;
    if (header.type < FIRST_USER_RECORD)
        queue(reader, &header, record);
    else if (!take_user_record(reader, &header, record, unpacked))
        return false;
    return !reader->stopped;
}

/* ---- the loop ---- */

/* Returns the next record; NULL at `end` or if the data breaks off. */
static const uint8_t *next_record(struct as_perf_reader *reader, uint64_t end)
{
    struct as_perf_input *input = &reader->input;
    if (input->position >= end)
        return NULL;
    size_t got;
    const uint8_t *bytes = as_perf_input_peek(input, AS_PERF_HEADER_SIZE, &got);
    if (bytes == NULL && end == UINT64_MAX && !input->failed)
        return NULL;
    if (bytes == NULL || got < AS_PERF_HEADER_SIZE) {
        as_perf_problem(reader, input->failed ? "the file cannot be read to its end" : "the file ends too early");
        return NULL;
    }
    struct as_perf_header header = as_perf_header_of(bytes, as_perf_swap(reader));
    if (header.size < AS_PERF_HEADER_SIZE) {
        as_perf_problem(reader, "a record at byte %llu has an impossible size", (unsigned long long)input->position);
        return NULL;
    }
    if (header.size > end - input->position || (bytes = as_perf_input_take(input, header.size)) == NULL) {
        as_perf_problem(reader, "the file ends in the middle of a record");
        return NULL;
    }
    return bytes;
}

static void read_records(struct as_perf_reader *reader, uint64_t end)
{
    for (const uint8_t *record; !reader->stopped && (record = next_record(reader, end)) != NULL;)
        if (!take_record(reader, record, false))
            break;
    if (reader->inflate.used > 0)
        as_perf_problem(reader, "the compressed records end in the middle of one");
    deliver_until(reader, UINT64_MAX);
    as_perf_attr_announce(reader);
    reader->summary.packed_bytes = reader->inflate.packed;
    reader->summary.unpacked_bytes = reader->inflate.unpacked;
}

/* ---- headers ---- */

struct section {
    uint64_t offset, size;
};

struct file_header {
    uint64_t attr_size;
    struct section attrs, data;
};

static struct section read_section(struct as_bytes *cursor)
{
    struct section section = {.offset = as_bytes_u64(cursor)};
    section.size = as_bytes_u64(cursor);
    return section;
}

/* perf on 32-bit machines of the other byte order wrote the feature bits in words of 32 bits. The first word reveals
 * it, because every perf writes the host's name. */
static void read_feature_bits(struct as_perf_reader *reader, struct as_bytes *cursor)
{
    for (unsigned i = 0; i < 4; i++)
        reader->info.features[i] = as_bytes_u64(cursor);
    uint64_t host = UINT64_C(1) << AS_PERF_FEATURE_HOSTNAME;
    for (unsigned i = 0; i < 4 && as_perf_swap(reader) && !(reader->info.features[0] & host); i++) {
        uint64_t word = reader->info.features[i];
        if (i == 0 && !(word >> 32 & host))
            break;
        reader->info.features[i] = word >> 32 | word << 32;
    }
}

static bool read_header(struct as_perf_reader *reader, struct file_header *header, struct as_error *err)
{
    const uint8_t *bytes = as_perf_input_take(&reader->input, FILE_HEADER_SIZE);
    if (bytes == NULL)
        return as_error_set(err, "the perf.data file ends inside its header");
    struct as_bytes cursor = as_bytes(bytes, FILE_HEADER_SIZE, as_perf_swap(reader));
    as_bytes_u64(&cursor); /* magic */
    uint64_t size = as_bytes_u64(&cursor);
    header->attr_size = as_bytes_u64(&cursor);
    header->attrs = read_section(&cursor);
    header->data = read_section(&cursor);
    read_section(&cursor); /* event types: no longer written */
    if (size >= FILE_HEADER_SIZE)
        read_feature_bits(reader, &cursor);
    return true;
}

/* Reads the ids of one event. `budget` is the number that the whole file may have, which bounds the cost of overlapping
 * sections. */
static bool read_ids(struct as_perf_reader *reader, uint32_t event, struct section ids, uint64_t *budget)
{
    if (ids.size == 0)
        return true;
    if (ids.size / 8 > *budget || !as_perf_input_seek(&reader->input, ids.offset))
        return false;
    *budget -= ids.size / 8;
    for (uint64_t left = ids.size / 8 * 8; left > 0;) {
        size_t most = left < AS_PERF_INPUT_MAX ? (size_t)left : AS_PERF_INPUT_MAX;
        const uint8_t *bytes = as_perf_input_take(&reader->input, most);
        if (bytes == NULL)
            return false;
        struct as_bytes cursor = as_bytes(bytes, most, as_perf_swap(reader));
        as_perf_attr_ids(reader, event, &cursor);
        left -= most;
    }
    return true;
}

static bool read_attrs(struct as_perf_reader *reader, const struct file_header *header, struct as_error *err)
{
    uint64_t size = header->attr_size, count = size > 0 ? header->attrs.size / size : 0;
    uint64_t budget = reader->input.size / 8;
    if (size < 64 + SECTION_SIZE || size > 4096 || count == 0 || header->attrs.size > reader->input.size)
        return as_error_set(err, "the perf.data file has no usable list of events");
    for (uint64_t i = 0; i < count; i++) {
        const uint8_t *bytes = NULL;
        if (as_perf_input_seek(&reader->input, header->attrs.offset + i * size))
            bytes = as_perf_input_take(&reader->input, (size_t)size);
        size_t used;
        if (bytes == NULL || !as_perf_attr_add(reader, bytes, (size_t)size - SECTION_SIZE, &used))
            return as_error_set(err, "event %llu of the perf.data file is corrupt", (unsigned long long)i);
        struct as_bytes cursor = as_bytes(bytes + size - SECTION_SIZE, SECTION_SIZE, as_perf_swap(reader));
        if (!read_ids(reader, (uint32_t)i, read_section(&cursor), &budget))
            return as_error_set(err, "the ids of event %llu of the perf.data file are corrupt", (unsigned long long)i);
    }
    return true;
}

static bool run_file(struct as_perf_reader *reader, struct as_error *err)
{
    struct file_header header = {0};
    if (!read_header(reader, &header, err))
        return false;
    if (!reader->input.seekable)
        return as_error_set(err, "a perf.data file can be read from a pipe only if perf wrote it to one (-o -)");
    if (!read_attrs(reader, &header, err))
        return false;
    uint64_t size = reader->input.size, end = size;
    if (header.data.offset > size)
        return as_error_set(err, "the perf.data file ends before its data");
    if (header.data.size == 0) /* perf writes the size when it ends */
        as_perf_problem(reader, "perf record did not end properly: the file does not contain the size of its data");
    else if (header.data.size <= size - header.data.offset) {
        end = header.data.offset + header.data.size;
        as_perf_feature_all(reader, end);
    } else
        as_perf_problem(reader, "the file ends too early");
    if (reader->stopped || !as_perf_input_seek(&reader->input, header.data.offset))
        return true;
    read_records(reader, end);
    return true;
}

static void run_pipe(struct as_perf_reader *reader)
{
    as_perf_input_take(&reader->input, PIPE_HEADER_SIZE);
    read_records(reader, UINT64_MAX);
}

/* ---- recognising the format ---- */

static bool looks_like_text(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i] == 0x7f || (bytes[i] < ' ' && strchr("\n\t\r\f\033", bytes[i]) == NULL) || bytes[i] == 0)
            return false;
    return size > 0;
}

static bool refuse(const uint8_t *bytes, size_t size, struct as_error *err)
{
    const char *unpacker = as_perf_unpacker_of(bytes, size);
    if (!unpacker)
        return as_error_set(err, "this is neither a perf.data file nor the text of perf script");
    return as_error_set(err,
                        "the file was compressed with %s; gzip and zstd are read as they are, so unpack this one first "
                        "(%s -dc FILE | assay import -)",
                        unpacker, unpacker);
}

static bool find_format(struct as_perf_reader *reader, struct as_error *err)
{
    size_t size;
    const uint8_t *bytes = as_perf_input_peek(&reader->input, SNIFF, &size);
    uint64_t magic = 0, reversed, wanted;
    memcpy(&wanted, magic_text, sizeof wanted);
    reversed = bswap_64(wanted);
    if (bytes == NULL)
        return as_error_set(err, "the recording is empty");
    if (size >= PIPE_HEADER_SIZE)
        memcpy(&magic, bytes, sizeof magic);
    if (magic == wanted || magic == reversed) {
        reader->info.swapped = magic == reversed;
        struct as_bytes cursor = as_bytes(bytes + 8, 8, reader->info.swapped);
        reader->info.format = as_bytes_u64(&cursor) == PIPE_HEADER_SIZE ? AS_PERF_PIPE : AS_PERF_FILE;
        return true;
    }
    if (size >= sizeof old_magic_text && memcmp(bytes, old_magic_text, sizeof old_magic_text) == 0)
        return as_error_set(err, "the perf.data file has the format used before Linux 2.6.39, which is not supported");
    if (!looks_like_text(bytes, size))
        return refuse(bytes, size, err);
    reader->info.format = AS_PERF_SCRIPT;
    return true;
}

/* ---- the interface ---- */

static struct as_perf_reader *reader_new(const struct as_perf_options *options)
{
    struct as_perf_reader *reader = as_alloc(sizeof *reader);
    reader->input.fd = -1;
    reader->strings = as_strings_new();
    reader->queue_limit = options != NULL && options->queue_limit > 0 ? options->queue_limit : AS_PERF_QUEUE_LIMIT;
    reader->summary.first_time = reader->summary.last_time = AS_PERF_NO_TIME;
    return reader;
}

static struct as_perf_reader *reader_ready(struct as_perf_reader *reader, bool opened, struct as_error *err)
{
    if (opened && find_format(reader, err)) {
        if (reader->input.broken)
            as_perf_problem(reader, "the compressed file is damaged or ends early");
        return reader;
    }
    as_perf_reader_close(reader);
    return NULL;
}

struct as_perf_reader *as_perf_reader_open(const char *path, const struct as_perf_options *options,
                                           struct as_error *err)
{
    struct as_perf_reader *reader = reader_new(options);
    return reader_ready(reader, as_perf_input_open(&reader->input, path, err), err);
}

struct as_perf_reader *as_perf_reader_memory(const void *bytes, size_t size, const struct as_perf_options *options,
                                             struct as_error *err)
{
    struct as_perf_reader *reader = reader_new(options);
    as_perf_input_memory(&reader->input, bytes, size);
    return reader_ready(reader, true, err);
}

bool as_perf_reader_run(struct as_perf_reader *reader, const struct as_perf_sink *sink, void *context,
                        struct as_error *err)
{
    static const struct as_perf_sink nobody;
    struct as_error own = AS_ERROR_INIT;
    reader->sink = sink != NULL ? sink : &nobody;
    reader->context = context;
    reader->err = err != NULL ? err : &own;
    reader->err->message[0] = '\0';
    reader->scratch = as_realloc_array(NULL, 1, sizeof *reader->scratch);
    bool ok = true;
    if (reader->info.format == AS_PERF_FILE)
        ok = run_file(reader, reader->err);
    else if (reader->info.format == AS_PERF_PIPE)
        run_pipe(reader);
    else
        ok = as_perf_script_run(reader, reader->err);
    if (reader->stopped && reader->err->message[0] == '\0')
        as_error_set(reader->err, "reading the recording was stopped");
    reader->err = NULL;
    return ok && !reader->stopped;
}

const struct as_perf_info *as_perf_reader_info(const struct as_perf_reader *reader)
{
    return &reader->info;
}

const struct as_perf_summary *as_perf_reader_summary(const struct as_perf_reader *reader)
{
    return &reader->summary;
}

size_t as_perf_reader_events(const struct as_perf_reader *reader)
{
    return reader->events.len;
}

const struct as_perf_event *as_perf_reader_event(const struct as_perf_reader *reader, size_t index)
{
    return reader->events.data[index];
}

void as_perf_reader_close(struct as_perf_reader *reader)
{
    if (reader == NULL)
        return;
    for (size_t i = 0; i < reader->events.len; i++)
        free(reader->events.data[i]);
    as_vec_free(&reader->events);
    as_vec_free(&reader->pmus);
    as_map_free(&reader->ids);
    as_map_free(&reader->counts);
    as_strings_free(reader->strings);
    as_perf_order_free(&reader->order);
    as_perf_inflate_free(&reader->inflate);
    as_perf_input_close(&reader->input);
    free(reader->scratch);
    free(reader);
}
