/* See report_bed.h. */
#include "unit.h"

#include "report_bed.h"
#include "store_bed.h"

void report_bed_put_text(FILE *out, const char *report, const struct as_summary *summary, const struct as_term *term)
{
    char *head = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&head, &length);
    as_summary_text(summary, file, term);
    fclose(file);
    const char *found = strstr(report, head);
    assert_non_null(found);
    fprintf(out, "%.*s(summary)\n%s", (int)(found - report), report, found + length);
    free(head);
}

void report_bed_put_json(FILE *out, const char *json)
{
    static const char *const summaries[] = {"  \"summary\": {", "  \"before\": {"};
    bool inside = false;
    for (size_t length; *json; json += length + (json[length] == '\n')) {
        length = strcspn(json, "\n");
        if (inside && strncmp(json, "  }", 3) == 0)
            inside = false;
        if (!inside)
            fprintf(out, "%.*s\n", (int)length, json);
        for (size_t i = 0; i < 2; i++)
            inside |= length == strlen(summaries[i]) && memcmp(json, summaries[i], length) == 0;
    }
}

void report_bed_waits(const char *path)
{
    enum { NONE = AS_STORE_NONE };
    static const struct as_store_wait waits[] = {
        {0, 0, 0, 1, 1, 0x1000, 0, AS_STORE_WAIT_READ, 1, 0, NONE, 40, 4},
        {0, 1, 1, 0, 0, 0x1000, 8, AS_STORE_WAIT_WRITE, 0, 0, NONE, 100, 5},
        {0, 1, 3, 2, 3, 0x2000, 16, AS_STORE_WAIT_UPGRADE, 1, 1, NONE, 70, 7},
        {0, 2, 3, 1, 3, 0x2000, 16, AS_STORE_WAIT_WRITE, 1, 1, NONE, 60, 6},
        {0, 0, 2, 2, NONE, 0x3000, 0, AS_STORE_WAIT_READ, 0, NONE, NONE, 10, 1},
    };
    struct as_store_writer *writer = bed_writer(path);
    as_store_add_meta(writer, AS_META_SOURCE, "model");
    as_store_add_meta_u64(writer, AS_META_CYCLES, 1600);
    for (uint32_t i = 1; i <= 3; i++)
        as_store_add_thread(writer, &(struct as_store_thread){i, 7, i == 2 ? "helper" : NULL, 200, 0, 0});
    as_store_add_module(writer, &(struct as_store_module){.path = "/bin/prog"});
    as_store_add_module(writer, &(struct as_store_module){.path = "/lib/libc.so.6"});
    as_store_add_function(writer, &(struct as_store_function){.name = "work", .file = NONE, .address = 16, .size = 16});
    as_store_add_function(writer,
                          &(struct as_store_function){
                              .name = "pthread_mutex_lock", .module = 1, .file = NONE, .address = 64, .size = 16});
    as_store_add_file(writer, "/src/work.c");
    for (uint32_t i = 0; i < 4; i++)
        as_store_add_instruction(writer,
                                 &(struct as_store_insn){.location = {i < 3 ? 16 + 4 * i : 64, i == 3, i == 3, NONE,
                                                                      i == 2 ? 0 : NONE, i == 2 ? 77 : 0, NONE}});
    as_store_add_object(writer, &(struct as_store_object){0, "shared", 0x1000, 64});
    as_store_add_object(writer, &(struct as_store_object){0, "queue", 0x2000, 40});
    uint32_t series = as_store_add_series(
        writer,
        &(struct as_store_series){.name = "golden", .exact = true, .unit = "cycles", .scale = 2, .precise = -1});
    for (uint32_t i = 0; i < 4; i++)
        as_store_add_time(writer, &(struct as_store_time){series, i % 3, i, 800, 0, 1});
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        as_store_add_wait(writer, &waits[i]);
    bed_commit(writer);
}

enum { NONE = AS_STORE_NONE };

static void add_sampled(struct as_store_writer *writer, const char *name, uint64_t samples, uint64_t work)
{
    uint32_t series = as_store_add_series(
        writer,
        &(struct as_store_series){.name = name, .unit = "cycles", .scale = 1, .precise = -1, .samples = samples});
    const uint64_t units[2] = {1000 - work, work};
    for (uint32_t i = 0; i < 2; i++) {
        as_store_add_time(writer, &(struct as_store_time){series, 0, i, units[i], 0, 0});
        as_store_add_path_time(
            writer, &(struct as_store_path_time){.series = series, .path = i, .instruction = NONE, .units = units[i]});
    }
}

void report_bed_sampled(const char *path)
{
    static const char *const names[] = {"main", "work"};
    struct as_store_writer *writer = bed_writer(path);
    as_store_add_thread(writer, &(struct as_store_thread){1, 100, NULL, 1000, 0, 0});
    as_store_add_module(writer, &(struct as_store_module){.path = "/opt/shop"});
    for (uint32_t i = 0; i < 2; i++) {
        as_store_add_function(writer, &(struct as_store_function){names[i], NULL, 0, NONE, 0, 16 * (i + 1), 16});
        as_store_add_instruction(
            writer, &(struct as_store_insn){{16 * (i + 1), 0, i, NONE, NONE, 0, NONE}, 0, "nop", "nop", NULL, 0});
        as_store_add_path(writer, &(struct as_store_path){.parent = i ? 0 : NONE, .function = i, .call_site = NONE});
    }
    add_sampled(writer, AS_STORE_SAMPLED, 40, 600);
    add_sampled(writer, AS_STORE_REPLICATE "1", 0, 550);
    add_sampled(writer, AS_STORE_REPLICATE "2", 0, 650);
    bed_commit(writer);
}
