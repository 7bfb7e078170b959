/* The builder and the text. */
#include "perf_build.h"

#include "base/alloc.h"
#include "unit.h"

#include <linux/perf_event.h>
#include <zstd.h>

/* ---- bytes ---- */

static void put(struct build *build, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++) {
        char byte = (char)(value >> 8 * (build->big ? size - 1 - i : i));
        as_str_add_bytes(&build->bytes, &byte, 1);
    }
}

void put_u8(struct build *build, uint8_t value)
{
    put(build, value, 1);
}

void put_u16(struct build *build, uint16_t value)
{
    put(build, value, 2);
}

void put_u32(struct build *build, uint32_t value)
{
    put(build, value, 4);
}

void put_u64(struct build *build, uint64_t value)
{
    put(build, value, 8);
}

void put_text(struct build *build, const char *text, size_t padded)
{
    as_str_add(&build->bytes, text);
    for (size_t i = strlen(text); i < padded; i++)
        put_u8(build, 0);
}

size_t record_begin(struct build *build, uint32_t type, uint16_t misc)
{
    size_t at = build->bytes.len;
    put_u32(build, type);
    put_u16(build, misc);
    put_u16(build, 0);
    return at;
}

void record_end(struct build *build, size_t at)
{
    struct build size = {.big = build->big};
    put_u16(&size, (uint16_t)(build->bytes.len - at));
    memcpy(build->bytes.data + at + 6, size.bytes.data, 2);
    as_str_free(&size.bytes);
}

/* ---- files ---- */

static void put_attr(struct build *build, const struct attr *attr)
{
    size_t start = build->bytes.len, size = attr->size > 0 ? attr->size : 136;
    uint64_t flags = attr->flags, word = flags | (uint64_t)attr->precise << 15;
    if (build->big) {
        word = (uint64_t)attr->precise << 47;
        for (unsigned i = 0; i < 64; i++)
            word |= (flags >> i & 1) << (63 - i);
    }
    put_u32(build, attr->type);
    put_u32(build, (uint32_t)size);
    put_u64(build, attr->config);
    put_u64(build, attr->period);
    put_u64(build, attr->sample_type);
    put_u64(build, attr->read_format);
    put_u64(build, word);
    put_u64(build, 0);
    put_u64(build, 0x40); /* config1 */
    put_u64(build, 0);
    put_u64(build, attr->branch_type);
    put_u64(build, attr->regs_user);
    put_u32(build, 64);
    put_u32(build, 0);
    put_u64(build, attr->regs_intr);
    while (build->bytes.len - start < size)
        put_u8(build, 0);
    build->bytes.len = start + size;
}

static void put_string(struct build *build, const char *text)
{
    put_u32(build, 64);
    put_text(build, text, 64);
}

enum { N_FEATURES = 10 };
static const unsigned features[N_FEATURES] = {2, 3, 4, 7, 8, 9, 11, 12, 16, 21};

static void put_feature(struct build *build, unsigned feature, const struct wrapping *how, const struct attr *attrs,
                        size_t n_attrs)
{
    if (feature == 2) {
        size_t at = record_begin(build, 67, PERF_RECORD_MISC_USER);
        put_u32(build, UINT32_MAX);
        for (unsigned i = 0; i < 24; i++)
            put_u8(build, i < 20 ? (uint8_t)(0xa0 + i) : 0);
        put_text(build, "/bin/prog", 16);
        record_end(build, at);
    } else if (feature == 3 || feature == 4 || feature == 8)
        put_string(build, feature == 3 ? "host" : feature == 4 ? "6.1" : "Some CPU");
    else if (feature == 9)
        put_string(build, how->cpu_id != NULL ? how->cpu_id : "AuthenticAMD,25,1,1");
    else if (feature == 7) {
        put_u32(build, 8);
        put_u32(build, 4);
    } else if (feature == 11) {
        put_u32(build, 2);
        put_string(build, "perf");
        put_string(build, "record");
    } else if (feature == 12) {
        put_u32(build, (uint32_t)n_attrs);
        put_u32(build, 136);
        for (size_t i = 0; i < n_attrs; i++) {
            struct attr attr = attrs[i];
            attr.size = 0;
            put_attr(build, &attr);
            put_u32(build, (uint32_t)attr.n_ids);
            put_string(build, attr.name != NULL ? attr.name : "");
            for (size_t k = 0; k < attr.n_ids; k++)
                put_u64(build, attr.ids[k]);
        }
    } else if (feature == 16) {
        put_u32(build, 1);
        put_u32(build, 9);
        put_string(build, "ibs_op");
    } else {
        put_u64(build, 100);
        put_u64(build, 900);
    }
}

/* Cuts the records into pieces of one zstd stream, each in a record of its own. */
static struct build pack(const struct wrapping *how, const struct build *records)
{
    struct build packed = {.big = how->big};
    ZSTD_CStream *stream = ZSTD_createCStream();
    static uint8_t out[1 << 16];
    for (size_t at = 0; at < records->bytes.len; at += how->packed) {
        size_t left = records->bytes.len - at;
        ZSTD_inBuffer in = {records->bytes.data + at, left < how->packed ? left : how->packed, 0};
        ZSTD_outBuffer to = {out, sizeof out, 0};
        while (ZSTD_compressStream2(stream, &to, &in, ZSTD_e_flush) != 0)
            assert_true(to.pos < to.size);
        size_t record = record_begin(&packed, how->packed2 ? 83 : 81, 0);
        if (how->packed2)
            put_u64(&packed, to.pos);
        as_str_add_bytes(&packed.bytes, out, to.pos);
        while (how->packed2 && packed.bytes.len % 8 != 0)
            put_u8(&packed, 0);
        record_end(&packed, record);
    }
    ZSTD_freeCStream(stream);
    return packed;
}

static void wrap_pipe(struct build *file, const struct wrapping *how, const struct attr *attrs, size_t n_attrs,
                      const struct build *records)
{
    put_u64(file, UINT64_C(0x32454c4946524550));
    put_u64(file, 16);
    for (size_t i = 0; i < n_attrs; i++) {
        size_t at = record_begin(file, 64, 0);
        put_attr(file, &attrs[i]);
        for (size_t k = 0; k < attrs[i].n_ids; k++)
            put_u64(file, attrs[i].ids[k]);
        record_end(file, at);
    }
    for (size_t i = 0; i < N_FEATURES && !how->no_features; i++) {
        size_t at = record_begin(file, 80, 0);
        put_u64(file, features[i]);
        put_feature(file, features[i], how, attrs, n_attrs);
        record_end(file, at);
    }
    as_str_add_bytes(&file->bytes, records->bytes.data, records->bytes.len);
}

static void wrap_file(struct build *file, const struct wrapping *how, const struct attr *attrs, size_t n_attrs,
                      const struct build *records)
{
    uint64_t ids_at = 104, attrs_at = ids_at, bits = 0;
    for (size_t i = 0; i < n_attrs; i++)
        attrs_at += 8 * attrs[i].n_ids;
    uint32_t attr_size = (attrs[0].size > 0 ? attrs[0].size : 136) + 16;
    uint64_t data_at = attrs_at + attr_size * n_attrs;
    for (size_t i = 0; i < N_FEATURES && !how->no_features; i++)
        bits |= UINT64_C(1) << features[i];
    uint64_t header[] = {UINT64_C(0x32454c4946524550),
                         104,
                         attr_size,
                         attrs_at,
                         attr_size * n_attrs,
                         data_at,
                         records->bytes.len,
                         0,
                         0,
                         bits,
                         0,
                         0,
                         0};
    for (size_t i = 0; i < 13; i++)
        put_u64(file, header[i]);
    for (size_t i = 0; i < n_attrs; i++)
        for (size_t k = 0; k < attrs[i].n_ids; k++)
            put_u64(file, attrs[i].ids[k]);
    for (size_t i = 0; i < n_attrs; i++) {
        put_attr(file, &attrs[i]);
        put_u64(file, ids_at);
        put_u64(file, 8 * attrs[i].n_ids);
        ids_at += 8 * attrs[i].n_ids;
    }
    as_str_add_bytes(&file->bytes, records->bytes.data, records->bytes.len);
    struct build sections = {.big = how->big};
    uint64_t table = how->no_features ? 0 : 16 * N_FEATURES, at = file->bytes.len + table;
    for (size_t i = 0; i < N_FEATURES && !how->no_features; i++) {
        size_t before = sections.bytes.len;
        put_feature(&sections, features[i], how, attrs, n_attrs);
        put_u64(file, at + before);
        put_u64(file, sections.bytes.len - before);
    }
    as_str_add_bytes(&file->bytes, sections.bytes.data != NULL ? sections.bytes.data : "", sections.bytes.len);
    as_str_free(&sections.bytes);
}

struct as_str wrap(const struct wrapping *how, const struct attr *attrs, size_t n_attrs, const struct build *records)
{
    struct build file = {.big = how->big}, packed = {0};
    if (how->packed > 0) {
        packed = pack(how, records);
        records = &packed;
    }
    (how->pipe ? wrap_pipe : wrap_file)(&file, how, attrs, n_attrs, records);
    as_str_free(&packed.bytes);
    return file.bytes;
}

/* ---- text ---- */

static void add_id(struct as_str *text, const struct as_perf_build_id *id)
{
    for (unsigned i = 0; i < id->size; i++)
        as_str_addf(text, "%02x", id->bytes[i]);
}

static bool on_event(void *context, const struct as_perf_event *event, struct as_error *err)
{
    as_str_addf(context, "event %u %s %s type %u config %llx/%llx period %llu freq %llu precise %u\n", event->index,
                event->name, event->pmu != NULL ? event->pmu : "-", event->type, (unsigned long long)event->config,
                (unsigned long long)event->config1, (unsigned long long)event->period,
                (unsigned long long)event->frequency, event->precise);
    return true;
}

static bool on_build_id(void *context, const char *path, enum as_perf_mode mode, const struct as_perf_build_id *id,
                        struct as_error *err)
{
    as_str_addf(context, "build-id %s %d ", path, mode);
    add_id(context, id);
    as_str_add(context, "\n");
    return true;
}

static bool on_process(void *context, const struct as_perf_process *process, struct as_error *err)
{
    static const char *const kinds[] = {"map", "comm", "fork", "exit"};
    as_str_addf(context, "%s %u/%u time %lld mode %d", kinds[process->kind], process->pid, process->tid,
                (long long)process->time, process->mode);
    if (process->kind == AS_PERF_FORK || process->kind == AS_PERF_EXIT)
        as_str_addf(context, " parent %u/%u", process->parent_pid, process->parent_tid);
    if (process->kind == AS_PERF_MAP)
        as_str_addf(context, " %llx+%llx@%llx prot %u dev %u:%u inode %llu%s id ", (unsigned long long)process->start,
                    (unsigned long long)process->length, (unsigned long long)process->offset, process->prot,
                    process->major, process->minor, (unsigned long long)process->inode, process->data ? " data" : "");
    add_id(context, &process->build_id);
    as_str_addf(context, " %s%s\n", process->name != NULL ? process->name : "", process->exec ? " exec" : "");
    return true;
}

static bool on_ksymbol(void *context, const struct as_perf_ksymbol *symbol, struct as_error *err)
{
    as_str_addf(context, "ksymbol %llx+%x %s%s\n", (unsigned long long)symbol->address, symbol->length, symbol->name,
                symbol->gone ? " gone" : "");
    return true;
}

static bool on_loss(void *context, const struct as_perf_loss *loss, struct as_error *err)
{
    static const char *const kinds[] = {"lost", "lost-samples", "throttle", "unthrottle"};
    as_str_addf(context, "%s %llu time %lld event %d\n", kinds[loss->kind], (unsigned long long)loss->count,
                (long long)loss->time, loss->event != NULL ? (int)loss->event->index : -1);
    return true;
}

static bool on_switch(void *context, const struct as_perf_switch *change, struct as_error *err)
{
    as_str_addf(context, "switch %u/%u cpu %d %s%s other %u/%u\n", change->pid, change->tid, (int)change->cpu,
                change->out ? "out" : "in", change->preempted ? " preempted" : "", change->other_pid,
                change->other_tid);
    return true;
}

static bool on_aux(void *context, const struct as_perf_aux *aux, struct as_error *err)
{
    as_str_addf(context, "aux %u cpu %d tid %d offset %llu size %zu left %llu first %02x\n", aux->index, (int)aux->cpu,
                (int)aux->tid, (unsigned long long)aux->offset, aux->size, (unsigned long long)aux->left, aux->data[0]);
    return true;
}

static void add_words(struct as_str *text, const char *name, const uint64_t *words, size_t count)
{
    as_str_addf(text, " %s", name);
    for (size_t i = 0; i < count; i++)
        as_str_addf(text, ",%llx", (unsigned long long)words[i]);
}

static void add_bytes(struct as_str *text, const char *name, const uint8_t *bytes, size_t size)
{
    as_str_addf(text, " %s ", name);
    for (size_t i = 0; i < size; i++)
        as_str_addf(text, "%02x", bytes[i]);
}

static void add_frames(struct as_str *text, const struct as_perf_sample *sample)
{
    for (size_t i = 0; i < sample->n_frames; i++) {
        const struct as_perf_frame *frame = &sample->frames[i];
        as_str_addf(text, "\n  %llx %s+%llx (%s)%s", (unsigned long long)frame->ip,
                    frame->symbol != NULL ? frame->symbol : "?", (unsigned long long)frame->offset,
                    frame->module != NULL ? frame->module : "?", frame->inlined ? " inlined" : "");
        if (frame->in_module != UINT64_MAX)
            as_str_addf(text, " at %llx", (unsigned long long)frame->in_module);
    }
}

static bool on_sample(void *context, const struct as_perf_sample *sample, struct as_error *err)
{
    struct as_str *text = context;
    as_str_addf(text, "sample %u mode %d%s ip %llx %d/%d time %lld cpu %d period %llu", sample->event->index,
                sample->mode, sample->exact_ip ? " exact" : "", (unsigned long long)sample->ip, (int)sample->pid,
                (int)sample->tid, (long long)sample->time, (int)sample->cpu, (unsigned long long)sample->period);
    if (sample->comm != NULL)
        as_str_addf(text, " comm '%s'", sample->comm);
    uint64_t plain[] = {sample->addr,         sample->id,          sample->stream_id,      sample->weight,
                        sample->weight2,      sample->weight3,     sample->data_src,       sample->transaction,
                        sample->physical,     sample->cgroup,      sample->data_page_size, sample->code_page_size,
                        sample->time_enabled, sample->time_running};
    add_words(text, "plain", plain, sizeof plain / sizeof *plain);
    for (size_t i = 0; i < sample->n_values; i++)
        as_str_addf(text, " value %llu id %llu lost %llu", (unsigned long long)sample->values[i].value,
                    (unsigned long long)sample->values[i].id, (unsigned long long)sample->values[i].lost);
    add_words(text, "chain", sample->chain, sample->n_chain);
    add_bytes(text, "raw", sample->raw, sample->raw_size);
    for (size_t i = 0; i < sample->n_branches; i++) {
        const struct as_perf_branch *branch = &sample->branches[i];
        as_str_addf(text, " branch %llx>%llx %d%d%d%d cycles %u type %u spec %u new %u priv %u",
                    (unsigned long long)branch->from, (unsigned long long)branch->to, branch->mispredicted,
                    branch->predicted, branch->in_transaction, branch->abort, branch->cycles, branch->type,
                    branch->speculation, branch->new_type, branch->privilege);
    }
    as_str_addf(text, " index %lld", (long long)sample->branch_index);
    add_words(text, "user", sample->user_regs.values, sample->user_regs.count);
    add_words(text, "intr", sample->intr_regs.values, sample->intr_regs.count);
    add_bytes(text, "stack", sample->stack, sample->stack_valid);
    add_bytes(text, "aux", sample->aux, sample->aux_size);
    add_frames(text, sample);
    as_str_add(text, "\n");
    return true;
}

struct as_str read_as_text(const void *bytes, size_t size, bool *ok, struct as_perf_summary *summary,
                           struct as_perf_info *info)
{
    static const struct as_perf_sink sink = {.event = on_event,
                                             .build_id = on_build_id,
                                             .process = on_process,
                                             .ksymbol = on_ksymbol,
                                             .sample = on_sample,
                                             .loss = on_loss,
                                             .context_switch = on_switch,
                                             .aux = on_aux};
    struct as_str text = {0};
    struct as_error err = AS_ERROR_INIT;
    struct as_perf_reader *reader = as_perf_reader_memory(bytes, size, NULL, &err);
    bool fine = reader != NULL && as_perf_reader_run(reader, &sink, &text, &err);
    if (summary != NULL)
        *summary = reader != NULL ? *as_perf_reader_summary(reader) : (struct as_perf_summary){0};
    if (info != NULL)
        *info = reader != NULL ? *as_perf_reader_info(reader) : (struct as_perf_info){0};
    as_perf_reader_close(reader);
    if (ok == NULL && !fine)
        fail_msg("%s", err.message);
    if (!fine) {
        assert_true(err.message[0] != '\0');
        assert_null(strchr(err.message, '\n'));
        as_str_addf(&text, "error: %s\n", err.message);
    }
    if (ok != NULL)
        *ok = fine;
    as_str_add(&text, "");
    return text;
}

/* ---- one of everything ---- */

enum {
    EVERY_SAMPLE = PERF_SAMPLE_MAX - 1 - PERF_SAMPLE_WEIGHT_STRUCT,
    TRAILER = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
              PERF_SAMPLE_IDENTIFIER,
};

const struct attr every_attr[2] = {
    {.type = PERF_TYPE_HARDWARE,
     .period = 4000,
     .sample_type = EVERY_SAMPLE,
     .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID |
                    PERF_FORMAT_GROUP | PERF_FORMAT_LOST,
     .flags = FLAG_FREQ | FLAG_SAMPLE_ID_ALL,
     .branch_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_HW_INDEX,
     .regs_user = 0x105,
     .regs_intr = 0x3,
     .precise = 2,
     .ids = {11, 12},
     .n_ids = 2,
     .name = "cycles:pp"},
    {.type = PERF_TYPE_RAW,
     .config = 0x1cd,
     .period = 10007,
     .sample_type = TRAILER | PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_READ | PERF_SAMPLE_WEIGHT_STRUCT |
                    PERF_SAMPLE_DATA_SRC,
     .flags = FLAG_SAMPLE_ID_ALL,
     .precise = 1,
     .ids = {21},
     .n_ids = 1,
     .name = "loads"},
};

static void put_trailer(struct build *build, uint64_t time)
{
    put_u32(build, 100);
    put_u32(build, 101);
    put_u64(build, time);
    put_u64(build, 11);
    put_u64(build, 7);
    put_u32(build, 3);
    put_u32(build, 0);
    put_u64(build, 11);
}

static void put_map2(struct build *build, bool with_id, uint64_t time)
{
    uint16_t misc = PERF_RECORD_MISC_USER | (with_id ? PERF_RECORD_MISC_MMAP_BUILD_ID : PERF_RECORD_MISC_MMAP_DATA);
    size_t at = record_begin(build, PERF_RECORD_MMAP2, misc);
    put_u32(build, 100);
    put_u32(build, 101);
    put_u64(build, 0x400000);
    put_u64(build, 0x2000);
    put_u64(build, 0x1000);
    if (with_id) {
        put_u8(build, 20);
        put_u8(build, 0);
        put_u16(build, 0);
        for (unsigned i = 0; i < 20; i++)
            put_u8(build, (uint8_t)i);
    } else {
        put_u32(build, 8);
        put_u32(build, 1);
        put_u64(build, 4711);
        put_u64(build, 1);
    }
    put_u32(build, 5);
    put_u32(build, 2);
    put_text(build, "/bin/prog", 16);
    put_trailer(build, time);
    record_end(build, at);
}

static void put_small(struct build *build, uint32_t type, uint16_t misc, const uint64_t *words, size_t count,
                      const char *text, uint64_t time)
{
    size_t at = record_begin(build, type, misc);
    for (size_t i = 0; i < count; i++)
        put_u64(build, words[i]);
    if (text != NULL)
        put_text(build, text, (strlen(text) + 8) / 8 * 8);
    put_trailer(build, time);
    record_end(build, at);
}

static void put_pair_record(struct build *build, uint32_t type, uint16_t misc, const uint32_t *words, size_t count,
                            const char *text, uint64_t time, uint64_t trailer_time)
{
    size_t at = record_begin(build, type, misc);
    for (size_t i = 0; i < count; i++)
        put_u32(build, words[i]);
    if (type == PERF_RECORD_FORK || type == PERF_RECORD_EXIT)
        put_u64(build, time);
    if (text != NULL)
        put_text(build, text, (strlen(text) + 8) / 8 * 8);
    put_trailer(build, trailer_time);
    record_end(build, at);
}

static void put_branch_flags(struct build *build, uint64_t flags)
{
    static const unsigned widths[] = {1, 1, 1, 1, 16, 4, 2, 4, 3};
    if (!build->big) {
        put_u64(build, flags);
        return;
    }
    uint64_t word = 0;
    for (unsigned i = 0, low = 0; i < 9; low += widths[i++])
        word |= (flags >> low & ((UINT64_C(1) << widths[i]) - 1)) << (64 - low - widths[i]);
    put_u64(build, word);
}

static void put_full_sample(struct build *build, uint64_t time)
{
    size_t at = record_begin(build, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP);
    uint64_t head[] = {11, 0x401234};
    for (size_t i = 0; i < 2; i++)
        put_u64(build, head[i]);
    put_u32(build, 100);
    put_u32(build, 101);
    uint64_t more[] = {time, 0x7fff0010, 11, 7};
    for (size_t i = 0; i < 4; i++)
        put_u64(build, more[i]);
    put_u32(build, 3);
    put_u32(build, 0);
    put_u64(build, 250000);
    uint64_t values[] = {2, 1000, 900, 55, 11, 1, 66, 12, 0};
    for (size_t i = 0; i < 9; i++)
        put_u64(build, values[i]);
    uint64_t chain[] = {4, PERF_CONTEXT_KERNEL, 0xffffffff81000010, PERF_CONTEXT_USER, 0x401234};
    for (size_t i = 0; i < 5; i++)
        put_u64(build, chain[i]);
    put_u32(build, 12);
    put_text(build, "raw bytes..", 12);
    put_u64(build, 2);
    put_u64(build, 5);
    put_u64(build, 0x401000);
    put_u64(build, 0x401200);
    put_branch_flags(build, 1 | 17 << 4 | 4 << 20 | 2 << 24 | 5 << 26 | UINT64_C(1) << 30);
    put_u64(build, 0x400f00);
    put_u64(build, 0x400ff0);
    put_branch_flags(build, 2 | 4 | 8);
    uint64_t regs[] = {2, 0xa, 0xb, 0xc};
    for (size_t i = 0; i < 4; i++)
        put_u64(build, regs[i]);
    put_u64(build, 8);
    put_text(build, "stackxyz", 8);
    put_u64(build, 5);
    uint64_t tail[] = {77, 0x68100142, 0x12, 2, 0xd, 0xe, 0x9000, 0x55, 4096, 2097152, 8};
    for (size_t i = 0; i < 11; i++)
        put_u64(build, tail[i]);
    put_text(build, "auxbytes", 8);
    record_end(build, at);
}

static void put_load_sample(struct build *build, uint64_t time)
{
    size_t at = record_begin(build, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
    put_u64(build, 21);
    put_u64(build, 0xffffffff81000020);
    put_u32(build, 100);
    put_u32(build, 102);
    uint64_t words[] = {time, 0xdead, 21, 7};
    for (size_t i = 0; i < 4; i++)
        put_u64(build, words[i]);
    put_u32(build, 1);
    put_u32(build, 0);
    put_u64(build, 99);                                          /* READ: one value */
    put_u64(build, UINT64_C(6) << 48 | UINT64_C(5) << 32 | 249); /* weight */
    put_u64(build, 0x68100142);
    record_end(build, at);
}

static void put_aux_trace(struct build *build)
{
    size_t at = record_begin(build, 70, 0);
    put_u32(build, 4);
    put_u32(build, 0);
    record_end(build, at);
    at = record_begin(build, 71, 0);
    put_u64(build, 16);
    put_u64(build, 4096);
    put_u64(build, 0);
    put_u32(build, 2);
    put_u32(build, 101);
    put_u32(build, 3);
    put_u32(build, 0);
    record_end(build, at);
    put_text(build, "0123456789abcdef", 16);
}

struct build every_record(bool big)
{
    struct build build = {.big = big};
    put_small(&build, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL,
              (uint64_t[]){big ? UINT64_C(0xffffffff00000000) : UINT64_C(0x00000000ffffffff), 0xffffffff81000000,
                           0x1000000, 0xffffffff81000000},
              4, "[kernel.kallsyms]_text", 10);
    put_map2(&build, true, 20);
    put_map2(&build, false, 21);
    put_pair_record(&build, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, (uint32_t[]){100, 101}, 2, "prog name", 0,
                    15);
    put_pair_record(&build, PERF_RECORD_FORK, 0, (uint32_t[]){200, 100, 201, 101}, 4, NULL, 30, 30);
    put_pair_record(&build, PERF_RECORD_EXIT, 0, (uint32_t[]){200, 100, 201, 101}, 4, NULL, 90, 90);
    put_small(&build, PERF_RECORD_LOST, 0, (uint64_t[]){11, 40}, 2, NULL, 41);
    put_small(&build, PERF_RECORD_LOST_SAMPLES, 0, (uint64_t[]){7}, 1, NULL, 42);
    put_small(&build, PERF_RECORD_THROTTLE, 0, (uint64_t[]){43, 21, 7}, 3, NULL, 43);
    put_small(&build, PERF_RECORD_UNTHROTTLE, 0, (uint64_t[]){44, 11, 7}, 3, NULL, 44);
    put_small(&build, PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, NULL, 0,
              NULL, 45);
    put_pair_record(&build, PERF_RECORD_SWITCH_CPU_WIDE, 0, (uint32_t[]){300, 301}, 2, NULL, 0, 46);
    size_t at = record_begin(&build, PERF_RECORD_KSYMBOL, 0);
    put_u64(&build, 0xffffffffc0000000);
    put_u32(&build, 0x100);
    put_u16(&build, 1);
    put_u16(&build, 1);
    put_text(&build, "bpf_prog", 16);
    put_trailer(&build, 47);
    record_end(&build, at);
    put_small(&build, PERF_RECORD_CGROUP, 0, (uint64_t[]){5}, 1, "/group", 48);
    put_small(&build, PERF_RECORD_AUX, 0, (uint64_t[]){0, 16, 0}, 3, NULL, 49);
    put_small(&build, PERF_RECORD_NAMESPACES, 0, (uint64_t[]){0, 0}, 2, NULL, 50);
    put_full_sample(&build, 60);
    at = record_begin(&build, 68, 0);
    record_end(&build, at);
    put_load_sample(&build, 55);
    return build;
}

struct build every_record_and_aux(bool big)
{
    struct build build = every_record(big);
    put_aux_trace(&build);
    return build;
}
