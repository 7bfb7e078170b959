/* See record_bed.h. */
#include "record_bed.h"

#include "base/map.h"
#include "base/str.h"
#include "engine/find_qemu.h"
#include "export/export.h"

#include "unit_golden.h"
#include "unit_profile.h"

#include <inttypes.h>

bool record_threads;
static char **arguments, *plugin;

static void hear(void *context, enum as_log_level level, const char *text)
{
    if (level != AS_LOG_DEBUG)
        fprintf(context, "notice: %s\n", text);
}

struct as_record_options record_options(const char *source, FILE *out)
{
    static char *none[1], *argv[3];
    struct as_record_options options = as_record_defaults;
    argv[0] = arguments[1];
    argv[1] = record_threads ? "threads" : NULL;
    options.source = source;
    options.argv = argv;
    options.environment = options.engine.environment = none; /* the stack begins behind it */
    options.output = unit_profile;
    options.core = arguments[2];
    options.engine.plugin = plugin;
    options.notices = (struct as_notices){hear, out};
    unlink(unit_profile);
    return options;
}

/* Whether a line is of this machine, build or day. */
static bool is_local(const char *line)
{
    static const char *const keys[] = {"\"host",          "\"kernel\"",    "\"seconds\"",  "\"path\": \"",
                                       "\"program\"",     "\"directory\"", "\"version\"",  "\"started\"",
                                       "\"assay\"",       "\"cpu",         "\"qemu",       "\"file_",
                                       "\"processors\"",  "\"core_file\"", "\"time\": \"", "\"build_id\"",
                                       "\"machine\": \"", "\"command\"",   "\"core\"",     "\"date\""};
    line += strspn(line, " ");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strncmp(line, keys[i], strlen(keys[i])) == 0)
            return true;
    return strstr(line, arguments[1]) != NULL;
}

enum { LONGEST = 240 };

static uint64_t sum_of(const char *text, const char *key)
{
    uint64_t sum = 0;
    while ((text = strstr(text, key)))
        sum += strtoull(text += strlen(key), NULL, 10);
    return sum;
}

static size_t count_of(const char *text, const char *part)
{
    size_t n = 0;
    while ((text = strstr(text, part))) {
        text++;
        n++;
    }
    return n;
}

/* A table by its sums: which instruction has which number depends on the thread that came there first. */
static void write_sums(const char *text, FILE *out)
{
    static const char *const keys[] = {
        "\"units\": ", "\"samples\": ", "\"executions\": ", "\"cycles\": ", "\"transfers\": "};
    fprintf(out, "%.*s%zu rows", (int)(strcspn(text, ":") + 2), text, count_of(text, "{ "));
    if (strstr(text, "\"module\": null"))
        fprintf(out, ", %zu of no module", count_of(text, "\"module\": null"));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strstr(text, keys[i]))
            fprintf(out, ", %s%" PRIu64, keys[i], sum_of(text, keys[i]));
    fputc('\n', out);
}

/* What this processor has beyond QEMU's depends on the machine. */
static void leave_out_processor(struct as_str *line)
{
    char *row = line->len ? strstr(line->data, "{ \"key\": \"cpuid\"") : NULL;
    char *next = row ? strstr(row + 1, "{ \"key\"") : NULL;
    if (!next)
        return;
    memmove(row, next, strlen(next) + 1);
    line->len = strlen(line->data);
}

/* Of a long line the beginning, and a hash of all of it; of tables of threads, sums. */
static void write_line(struct as_str *line, FILE *out)
{
    leave_out_processor(line);
    const char *text = as_str_get(line);
    if (record_threads && strstr(text, "[ {"))
        write_sums(text, out);
    else if (line->len <= LONGEST)
        fprintf(out, "%s\n", text);
    else
        fprintf(out, "%.*s … %zu bytes, %016" PRIx64 "\n", LONGEST / 2, text, line->len,
                as_hash_bytes(text, line->len));
    as_str_free(line);
}

/* A table stands on one line; what the machine is, and the number that a recording got by chance, are left out. */
static void write_shortened(char *text, FILE *out)
{
    struct as_str whole = {0};
    size_t most = 4;
    bool described = false;
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        size_t indent = strspn(line, " ");
        bool ends = line[indent] == '}' || line[indent] == ']', within = indent + 2 * ends > most;
        if (indent == 2 && !ends) {
            most = strncmp(line, "  \"series\"", 10) == 0 ? 6 : strncmp(line + strlen(line) - 1, "{", 1) == 0 ? 4 : 2;
            described = strncmp(line, "  \"machine\"", 11) == 0 || strncmp(line, "  \"recordings\"", 14) == 0;
        }
        if (described || is_local(line))
            continue;
        if (!within)
            write_line(&whole, out);
        as_str_addf(&whole, "%s%s", within ? " " : "", within ? line + indent : line);
    }
    write_line(&whole, out);
}

void record_show(FILE *out, const char *title, const struct as_record_options *options)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_record_result result;
    char *text;
    size_t size;
    unit_golden_section(out, "%s", title);
    if (!as_record_run(options, &result, &err))
        fail_msg("%s", err.message);
    struct as_store *store = as_store_open(unit_profile, &err);
    FILE *memory = open_memstream(&text, &size);
    if (!store || !as_export_find("json")->write(store, &(struct as_export_options){0}, memory, &err))
        fail_msg("%s", err.message);
    fclose(memory);
    write_shortened(text, out);
    as_store_close(store);
    free(text);
}

void record_need_qemu(void)
{
    struct as_qemu qemu;
    struct as_error err = AS_ERROR_INIT;
    if (!as_qemu_find(AS_ARCH_X86_64, NULL, &qemu, &err))
        unit_skip("%s", err.message);
}

int record_run_tests(int argc, char **argv, const struct CMUnitTest *tests, size_t n)
{
    arguments = argv;
    plugin = argc == 4 ? realpath(argv[3], NULL) : NULL;
    int failed = plugin ? _cmocka_run_group_tests("record", tests, n, unit_profile_make, unit_profile_remove) : 2;
    free(plugin);
    return failed;
}
