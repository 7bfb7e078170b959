/* See c2c.h. */
#include "comm/c2c.h"

#include "base/path.h"
#include "base/random.h"
#include "comm/c2c_source.h"
#include "perfdata/perf_spaces.h"
#include "perfdata/perfdata.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stddef.h>

enum { MOST_LINES = 1 << 20 };

struct reading {
    struct as_c2c *c2c;
    struct as_perf_spaces *spaces;
    struct as_c2c_index index;
};

static const struct {
    const char *name;
    size_t offset;
} fields[] = {
#define FIELD(member)                                                                                                  \
    {                                                                                                                  \
#member, offsetof(struct as_c2c_counts, member)                                                                \
    }
    FIELD(records),          FIELD(locks),        FIELD(loads),           FIELD(load_uncached),
    FIELD(load_io),          FIELD(load_miss),    FIELD(load_no_address), FIELD(load_fill_buffer),
    FIELD(load_l1),          FIELD(load_l2),      FIELD(load_llc),        FIELD(local_hitm),
    FIELD(remote_hitm),      FIELD(remote_hit),   FIELD(local_dram),      FIELD(remote_dram),
    FIELD(exclusive),        FIELD(shared),       FIELD(blocked_data),    FIELD(blocked_address),
    FIELD(local_peer),       FIELD(remote_peer),  FIELD(stores),          FIELD(store_uncached),
    FIELD(store_no_address), FIELD(store_l1_hit), FIELD(store_l1_miss),   FIELD(store_no_level),
    FIELD(no_map),           FIELD(unparsed),
#undef FIELD
};

const char *as_c2c_count(const struct as_c2c_counts *counts, size_t number, uint64_t *value)
{
    if (number >= sizeof fields / sizeof *fields)
        return NULL;
    memcpy(value, (const char *)counts + fields[number].offset, sizeof *value);
    return fields[number].name;
}

void as_c2c_add_counts(struct as_c2c_counts *sum, const struct as_c2c_counts *one)
{
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *from = (const uint64_t *)one;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += from[i];
}

/* ---- names ---- */

static char *code_of(struct reading *reading, const struct as_perf_sample *sample, char **module)
{
    struct as_perf_location location;
    struct as_line line;
    as_perf_spaces_find(reading->spaces, sample->pid, sample->mode, sample->ip, &location);
    *module = as_strdup(location.module_name);
    if (location.function && as_perf_spaces_line(reading->spaces, &location, &line) && line.line) {
        return as_format("%s at %s:%d", location.function, as_path_base(line.file), line.line);
    }
    if (location.function && location.function_size)
        return as_format("%s+0x%" PRIx64, location.function, location.module_offset - location.function_start);
    return as_strdup(as_perf_spaces_name(reading->spaces, sample->pid, sample->mode, sample->ip));
}

static bool is_kernel(uint64_t address)
{
    return address >> 63;
}

static char *object_of(struct reading *reading, const struct as_perf_sample *sample)
{
    struct as_perf_data data;
    as_perf_spaces_data(reading->spaces, sample->pid, sample->addr, &data);
    uint64_t line = sample->addr & ~(uint64_t)(AS_C2C_LINE - 1), at = data.file.module_offset - (sample->addr - line);
    if (data.variable && at > data.start)
        return as_format("%s+0x%" PRIx64, data.variable, at - data.start);
    return as_strdup(data.variable ? data.variable : data.file.module_name);
}

/* Whether something is known to be mapped where the data is, and where the code is. As in perf, the kernel's accesses are
 * only looked for in the kernel's own mappings, which are code: its data, and what it copies from a program, has none. */
static bool is_mapped(struct reading *reading, const struct as_perf_sample *sample)
{
    struct as_perf_data data;
    struct as_perf_location code;
    as_perf_spaces_data(reading->spaces, sample->pid, sample->addr, &data);
    as_perf_spaces_find(reading->spaces, sample->pid, sample->mode, sample->ip, &code);
    return sample->mode != AS_PERF_KERNEL && sample->addr >= data.region_start && sample->addr < data.region_end &&
           strcmp(code.module, "[unknown]") != 0;
}

/* ---- by line ---- */

static struct as_c2c_line *line_of(struct as_c2c *c2c, struct as_c2c_index *index, uint32_t pid, uint64_t address)
{
    uint64_t *place = as_map_put(&index->lines, as_random_hash(address) ^ pid);
    if (!*place) {
        if (c2c->lines.len == MOST_LINES)
            return NULL;
        *as_vec_push(&c2c->lines) = (struct as_c2c_line){.address = address, .pid = pid};
        *place = c2c->lines.len;
    }
    return &c2c->lines.data[*place - 1];
}

static struct as_c2c_access *access_of(struct as_c2c_index *index, struct as_c2c_line *line, uint32_t offset,
                                       uint64_t ip)
{
    uint64_t key = as_random_hash(as_random_hash(line->address ^ (uint64_t)line->pid << 48) ^ ip) ^ offset;
    uint64_t *place = as_map_put(&index->accesses, key);
    if (!*place) {
        *as_vec_push(&line->accesses) = (struct as_c2c_access){.offset = offset, .ip = ip};
        *place = line->accesses.len;
    }
    return &line->accesses.data[*place - 1];
}

bool as_c2c_slot(struct as_c2c *c2c, struct as_c2c_index *index, uint32_t pid, uint64_t address, uint64_t ip,
                 struct as_c2c_slot *slot)
{
    uint64_t line = address & ~(uint64_t)(AS_C2C_LINE - 1);
    slot->line = line_of(c2c, index, is_kernel(line) ? 0 : pid, line);
    if (!slot->line)
        return false;
    slot->access = access_of(index, slot->line, (uint32_t)(address - line), ip);
    return true;
}

void as_c2c_index_free(struct as_c2c_index *index)
{
    as_map_free(&index->lines);
    as_map_free(&index->accesses);
}

#define ADD_ONCE(list, value)                                                                                          \
    do {                                                                                                               \
        size_t at = 0;                                                                                                 \
        while (at < (list)->len && (list)->data[at] != (value))                                                        \
            at++;                                                                                                      \
        if (at == (list)->len)                                                                                         \
            *as_vec_push(list) = (value);                                                                              \
    } while (0)

void as_c2c_add(const struct as_c2c_slot *slot, const struct as_c2c_counts *counts, uint32_t thread)
{
    as_c2c_add_counts(&slot->line->counts, counts);
    as_c2c_add_counts(&slot->access->counts, counts);
    ADD_ONCE(&slot->access->threads, thread);
}

static void add_to_line(struct reading *reading, const struct as_perf_sample *sample,
                        const struct as_c2c_counts *counts)
{
    struct as_c2c_slot slot;
    if (!as_c2c_slot(reading->c2c, &reading->index, sample->pid, sample->addr, sample->ip, &slot))
        return;
    if (!slot.line->object)
        slot.line->object = object_of(reading, sample);
    if (!slot.access->code)
        slot.access->code = code_of(reading, sample, &slot.access->module);
    as_c2c_add(&slot, counts, sample->tid);
    ADD_ONCE(&slot.access->cpus, sample->cpu);
    if (counts->loads && sample->weight) {
        slot.access->latency += sample->weight;
        slot.access->weighed++;
    }
}

static bool on_sample(void *context, const struct as_perf_sample *sample, struct as_error *err)
{
    struct reading *reading = context;
    struct as_c2c_counts counts = {0};
    if (!(sample->has & PERF_SAMPLE_DATA_SRC) || !(sample->has & PERF_SAMPLE_ADDR)) {
        reading->c2c->without_source++;
        return true;
    }
    bool placed = as_c2c_decode(sample->data_src, sample->addr, &counts);
    if (placed && !is_mapped(reading, sample)) {
        counts.no_map++;
        placed = false;
    }
    as_c2c_add_counts(&reading->c2c->counts, &counts);
    if (placed)
        add_to_line(reading, sample, &counts);
    return true;
}

static bool on_build_id(void *context, const char *path, enum as_perf_mode mode, const struct as_perf_build_id *id,
                        struct as_error *err)
{
    return as_perf_spaces_build_id(((struct reading *)context)->spaces, path, mode, id, err);
}

static bool on_process(void *context, const struct as_perf_process *process, struct as_error *err)
{
    return as_perf_spaces_process(((struct reading *)context)->spaces, process, err);
}

static bool on_ksymbol(void *context, const struct as_perf_ksymbol *symbol, struct as_error *err)
{
    return as_perf_spaces_ksymbol(((struct reading *)context)->spaces, symbol, err);
}

static const struct as_perf_sink sink = {
    .build_id = on_build_id, .process = on_process, .ksymbol = on_ksymbol, .sample = on_sample};

/* ---- in order ---- */

static int compare(uint64_t a, uint64_t b)
{
    return a < b ? 1 : a > b ? -1 : 0;
}

static int compare_counts(const struct as_c2c_counts *a, const struct as_c2c_counts *b)
{
    int order = compare(as_c2c_moved(a), as_c2c_moved(b));
    order = order ? order : compare(a->stores, b->stores);
    return order ? order : compare(a->records, b->records);
}

static int by_line(const void *a, const void *b)
{
    const struct as_c2c_line *x = a, *y = b;
    int order = compare_counts(&x->counts, &y->counts);
    return order ? order : compare(y->address, x->address);
}

static int by_access(const void *a, const void *b)
{
    const struct as_c2c_access *x = a, *y = b;
    int order = compare_counts(&x->counts, &y->counts);
    order = order ? order : compare(y->offset, x->offset);
    return order ? order : compare(y->ip, x->ip);
}

void as_c2c_sort(struct as_c2c *c2c)
{
    for (size_t i = 0; i < c2c->lines.len; i++)
        qsort(c2c->lines.data[i].accesses.data, c2c->lines.data[i].accesses.len,
              sizeof *c2c->lines.data[i].accesses.data, by_access);
    if (c2c->lines.len)
        qsort(c2c->lines.data, c2c->lines.len, sizeof *c2c->lines.data, by_line);
}

static bool check_recording(struct as_c2c *c2c, const struct as_perf_reader *reader, const char *path,
                            struct as_error *err)
{
    const struct as_perf_summary *summary = as_perf_reader_summary(reader);
    if (summary->incomplete)
        c2c->partial = as_strdup(summary->problem[0] ? summary->problem : "the recording ends early");
    if (c2c->counts.records > 0)
        return true;
    if (c2c->partial)
        return as_error_set(err, "%s: no sample with a data address and a data source: %s", path, c2c->partial);
    return as_error_set(err,
                        "%s: no sample has a data address and a data source; record with 'perf mem record' or "
                        "'perf c2c record'",
                        path);
}

bool as_c2c_read(struct as_c2c *c2c, const char *path, struct as_error *err)
{
    struct reading reading = {.c2c = c2c};
    struct as_perf_reader *reader = as_perf_reader_open(path, NULL, err);
    if (!reader)
        return false;
    struct as_perf_spaces_options options = {.recorded = as_perf_reader_info(reader)};
    reading.spaces = as_perf_spaces_new(&options);
    bool ok = as_perf_reader_run(reader, &sink, &reading, err) && check_recording(c2c, reader, path, err);
    as_c2c_sort(c2c);
    as_perf_spaces_free(reading.spaces);
    as_perf_reader_close(reader);
    as_c2c_index_free(&reading.index);
    return ok;
}

static void free_line(struct as_c2c_line *line)
{
    for (size_t i = 0; i < line->accesses.len; i++) {
        struct as_c2c_access *access = &line->accesses.data[i];
        free(access->code);
        free(access->module);
        as_vec_free(&access->threads);
        as_vec_free(&access->cpus);
    }
    as_vec_free(&line->accesses);
    free(line->object);
}

void as_c2c_free(struct as_c2c *c2c)
{
    free(c2c->partial);
    for (size_t i = 0; i < c2c->lines.len; i++)
        free_line(&c2c->lines.data[i]);
    as_vec_free(&c2c->lines);
}
