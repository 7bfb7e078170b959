/* Feature sections: what perf knew about the machine, the command and the files. The same bytes follow the data of a
 * file and are in FEATURE records of a pipe. Records can be read without them; a damaged section only loses its own
 * contents. */
#include "perfdata/perf_session.h"

#include "base/str.h"

#include <linux/perf_event.h>

enum {
    SECTION_MAX = 64 << 20, /* for the sections that are read: strings, names, build-ids */
    PMUS_MAX = 4096,        /* a bound, because each event searches for its own among them */
    SIZE_IN_BUILD_ID = 1 << 15,
};

/* A length and a string padded to it. */
static const char *string_of(struct as_perf_reader *reader, struct as_bytes *cursor)
{
    uint32_t length = as_bytes_u32(cursor);
    const uint8_t *bytes = as_bytes_take(cursor, length);
    return bytes != NULL ? as_perf_keep(reader, (const char *)bytes, length) : NULL;
}

static void read_command(struct as_perf_reader *reader, struct as_bytes *cursor)
{
    struct as_str text = {0};
    uint32_t count = as_bytes_u32(cursor);
    for (uint32_t i = 0; i < count && !cursor->bad; i++) {
        uint32_t length = as_bytes_u32(cursor);
        const uint8_t *bytes = as_bytes_take(cursor, length);
        if (bytes == NULL)
            break;
        if (i > 0)
            as_str_add(&text, " ");
        as_str_add_bytes(&text, bytes, strnlen((const char *)bytes, length));
    }
    reader->info.command = as_perf_keep(reader, as_str_get(&text), text.len + 1);
    as_str_free(&text);
}

static void read_event_names(struct as_perf_reader *reader, struct as_bytes *cursor)
{
    uint32_t count = as_bytes_u32(cursor), attr_size = as_bytes_u32(cursor);
    for (uint32_t i = 0; i < count && !cursor->bad; i++) {
        as_bytes_take(cursor, attr_size);
        uint32_t ids = as_bytes_u32(cursor);
        const char *name = string_of(reader, cursor);
        const uint8_t *own = as_bytes_take(cursor, (uint64_t)ids * 8);
        if (cursor->bad || name == NULL || name[0] == '\0')
            return;
        struct as_bytes id = as_bytes(own, ids > 0 ? 8 : 0, cursor->swap);
        if (ids > 0)
            as_perf_attr_name(reader, as_bytes_u64(&id), name, strlen(name) + 1);
        else if (i < reader->events.len)
            reader->events.data[i]->name = name;
    }
}

static void read_pmus(struct as_perf_reader *reader, struct as_bytes *cursor)
{
    uint32_t count = as_bytes_u32(cursor);
    for (uint32_t i = 0; i < count && !cursor->bad && reader->pmus.len < PMUS_MAX; i++) {
        uint32_t type = as_bytes_u32(cursor);
        const char *name = string_of(reader, cursor);
        if (name != NULL)
            *as_vec_push(&reader->pmus) = (struct as_perf_pmu){.type = type, .name = name};
    }
    reader->info.pmus = reader->pmus.data;
    reader->info.n_pmus = reader->pmus.len;
}

/* Reads a record as in a pipe; its header was read already. */
void as_perf_feature_build_id(struct as_perf_reader *reader, const struct as_perf_header *header,
                              struct as_bytes *cursor)
{
    struct as_perf_build_id id = {.size = AS_PERF_BUILD_ID_MAX};
    as_bytes_u32(cursor); /* pid: -1, or a guest's */
    const uint8_t *bytes = as_bytes_take(cursor, 24);
    const char *path = as_bytes_string(cursor);
    if (bytes == NULL || path == NULL)
        return;
    memcpy(id.bytes, bytes, AS_PERF_BUILD_ID_MAX);
    if (header->misc & SIZE_IN_BUILD_ID && bytes[AS_PERF_BUILD_ID_MAX] <= AS_PERF_BUILD_ID_MAX)
        id.size = bytes[AS_PERF_BUILD_ID_MAX];
    AS_PERF_CALL(reader, build_id, path, header->misc & PERF_RECORD_MISC_CPUMODE_MASK, &id);
}

static void read_build_ids(struct as_perf_reader *reader, struct as_bytes *cursor)
{
    while (as_bytes_left(cursor) >= AS_PERF_HEADER_SIZE) {
        struct as_perf_header header = as_perf_header_of(cursor->at, cursor->swap);
        const uint8_t *record = as_bytes_take(cursor, header.size);
        if (record == NULL || header.size < AS_PERF_HEADER_SIZE)
            return;
        struct as_bytes one = as_bytes(record + AS_PERF_HEADER_SIZE, header.size - AS_PERF_HEADER_SIZE, cursor->swap);
        as_perf_feature_build_id(reader, &header, &one);
    }
}

static const char **string_place(struct as_perf_info *info, unsigned feature)
{
    switch (feature) {
    case AS_PERF_FEATURE_HOSTNAME:
        return &info->host;
    case AS_PERF_FEATURE_OSRELEASE:
        return &info->os_release;
    case AS_PERF_FEATURE_VERSION:
        return &info->version;
    case AS_PERF_FEATURE_ARCH:
        return &info->arch;
    case AS_PERF_FEATURE_CPUDESC:
        return &info->cpu;
    case AS_PERF_FEATURE_CPUID:
        return &info->cpu_id;
    default:
        return NULL;
    }
}

void as_perf_feature_read(struct as_perf_reader *reader, unsigned feature, const uint8_t *bytes, size_t size)
{
    struct as_bytes cursor = as_bytes(bytes, size, as_perf_swap(reader));
    struct as_perf_info *info = &reader->info;
    const char **text = string_place(info, feature);
    if (text != NULL)
        *text = string_of(reader, &cursor);
    else if (feature == AS_PERF_FEATURE_NRCPUS) {
        info->cpus_available = as_bytes_u32(&cursor);
        info->cpus_online = as_bytes_u32(&cursor);
    } else if (feature == AS_PERF_FEATURE_TOTAL_MEM)
        info->memory_kib = as_bytes_u64(&cursor);
    else if (feature == AS_PERF_FEATURE_CMDLINE)
        read_command(reader, &cursor);
    else if (feature == AS_PERF_FEATURE_EVENT_DESC)
        read_event_names(reader, &cursor);
    else if (feature == AS_PERF_FEATURE_PMU_MAPPINGS)
        read_pmus(reader, &cursor);
    else if (feature == AS_PERF_FEATURE_BUILD_ID)
        read_build_ids(reader, &cursor);
    else if (feature == AS_PERF_FEATURE_SAMPLE_TIME) {
        info->first_time = as_bytes_u64(&cursor);
        info->last_time = as_bytes_u64(&cursor);
    }
}

/* Whether the section's contents are used; others are not read. */
static bool wanted(unsigned feature)
{
    struct as_perf_info none;
    return string_place(&none, feature) != NULL || feature == AS_PERF_FEATURE_NRCPUS ||
           feature == AS_PERF_FEATURE_TOTAL_MEM || feature == AS_PERF_FEATURE_CMDLINE ||
           feature == AS_PERF_FEATURE_EVENT_DESC || feature == AS_PERF_FEATURE_PMU_MAPPINGS ||
           feature == AS_PERF_FEATURE_BUILD_ID || feature == AS_PERF_FEATURE_SAMPLE_TIME;
}

/* The section begins where the input is. */
static void read_bytes(struct as_perf_reader *reader, unsigned feature, uint64_t size)
{
    struct as_perf_input *input = &reader->input;
    uint8_t *bytes = as_alloc((size_t)size + 1);
    size_t have = 0, got;
    while (have < size) {
        const uint8_t *piece = as_perf_input_peek(input, (size_t)size - have, &got);
        if (piece == NULL)
            break;
        memcpy(bytes + have, piece, got);
        as_perf_input_skip(input, got);
        have += got;
    }
    as_perf_feature_read(reader, feature, bytes, have);
    free(bytes);
}

static void read_section(struct as_perf_reader *reader, unsigned feature, uint64_t offset, uint64_t size)
{
    struct as_perf_input *input = &reader->input;
    if (!wanted(feature))
        return;
    if (offset > input->size || size > input->size - offset)
        as_perf_problem(reader,
                        "the file ends before its feature sections do: what perf knew of the machine, the events and "
                        "the files is not all there");
    else if (size <= SECTION_MAX && as_perf_input_seek(input, offset))
        read_bytes(reader, feature, size);
}

/* The table of sections follows the data: an offset and a size for each feature that the header names. */
void as_perf_feature_all(struct as_perf_reader *reader, uint64_t at)
{
    for (unsigned feature = 0; feature < AS_PERF_FEATURES && !reader->stopped; feature++) {
        if (!(reader->info.features[feature / 64] >> feature % 64 & 1))
            continue;
        const uint8_t *entry = as_perf_input_seek(&reader->input, at) ? as_perf_input_take(&reader->input, 16) : NULL;
        if (entry == NULL) {
            as_perf_problem(reader, "the file ends before its feature sections: perf record was cut short");
            return;
        }
        struct as_bytes cursor = as_bytes(entry, 16, as_perf_swap(reader));
        uint64_t offset = as_bytes_u64(&cursor), size = as_bytes_u64(&cursor);
        read_section(reader, feature, offset, size);
        at += 16;
    }
}
