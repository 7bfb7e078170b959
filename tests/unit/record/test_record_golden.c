/* What recordings in the model write, number by number: each as the JSON of `assay export`, shortened, against
 * tests/golden/record_profiles.txt. The program is in assembly (record_victim.S), so that it is the same wherever it is built; what
 * depends on the machine and the day is left out. A change of the core model changes the numbers: review them then.
 *
 * usage: test_record_golden VICTIM MACHINE PLUGIN */
#include "base/map.h"
#include "base/str.h"
#include "engine/find_qemu.h"
#include "export/export.h"
#include "record/record.h"

#include "unit.h"
#include "unit_golden.h"
#include "unit_profile.h"

#include <inttypes.h>

static char **arguments, *plugin;

static void hear(void *context, enum as_log_level level, const char *text)
{
    if (level != AS_LOG_DEBUG)
        fprintf(context, "notice: %s\n", text);
}

static bool threads; /* the victim makes a second one */

static struct as_record_options options_for(const char *source, FILE *out)
{
    static char *none[1], *argv[3];
    struct as_record_options options = as_record_defaults;
    argv[0] = arguments[1];
    argv[1] = threads ? "threads" : NULL;
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

/* A table by its sums: which instruction has which number depends on the thread that came there first. */
static void write_sums(const char *text, FILE *out)
{
    static const char *const keys[] = {
        "\"units\": ", "\"samples\": ", "\"executions\": ", "\"cycles\": ", "\"transfers\": "};
    size_t rows = 0;
    for (const char *row = text; (row = strstr(row, "{ ")); row++)
        rows++;
    fprintf(out, "%.*s%zu rows", (int)(strcspn(text, ":") + 2), text, rows);
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
    if (threads && strstr(text, "[ {"))
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

static void show(FILE *out, const char *title, const struct as_record_options *options)
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

static void whole(FILE *out)
{
    struct as_record_options options = options_for("model", out);
    options.samplers = "tea,nci";
    options.period = 500;
    show(out, "the model", &options);
}

static void units(FILE *out)
{
    static const char *const names[] = {"pmu:skylake", "pmu:zen4", "pmu:neoverse-n1", "pmu:tea"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct as_record_options options = options_for(names[i], out);
        options.period = 4001;
        show(out, names[i], &options);
    }
}

static void unit_events(FILE *out)
{
    const char *events[] = {"loads", "mispredicted"};
    struct as_record_options options = options_for("pmu:skylake", out);
    options.event = (struct as_strlist){events, 2};
    options.branches = true;
    options.period = 301;
    show(out, "pmu:skylake, loads and mispredicted branches", &options);
}

static void two_threads(FILE *out)
{
    static const struct as_sampled_options plan = {
        .head = 20000, .unit = 1000, .period = 8000, .warm = 3000, .seed = 1};
    threads = true;
    struct as_record_options options = options_for("model", out);
    options.engine.deterministic = true;
    options.engine.quantum = 10000;
    show(out, "two threads", &options);
    options = options_for("model", out);
    options.engine.deterministic = true;
    options.engine.quantum = 10000;
    options.sampled = &plan;
    show(out, "two threads, systematically", &options);
    threads = false;
}

static void sampled(FILE *out)
{
    static const struct as_sampled_options plan = {
        .head = 20000, .unit = 1000, .period = 8000, .warm = 3000, .seed = 1};
    struct as_record_options options = options_for("model", out);
    options.sampled = &plan;
    show(out, "systematically", &options);
    /* How long to warm is found out with pilots in the head. */
    static const struct as_sampled_options pilots = {
        .head = 60000, .unit = 200, .period = 4000, .warm = AS_SAMPLED_AUTO, .seed = 1};
    options = options_for("model", out);
    options.sampled = &pilots;
    show(out, "systematically, with pilots", &options);
}

static void points(FILE *out)
{
    static const struct as_plan_point list[] = {
        {.start = 5000, .phase = 0, .number = 0, .chosen = 1, .of = 3, .weight = 0.3},
        {.start = 30000, .phase = 1, .number = 0, .chosen = 2, .of = 8, .weight = 0.35},
        {.start = 60000, .phase = 1, .number = 1, .chosen = 2, .of = 8, .weight = 0.35}};
    static const struct as_points_plan plan = {.points = list, .n = 3, .interval = 5000, .warm = 2000, .jobs = 1};
    struct as_record_options options = options_for("model", out);
    options.points = &plan;
    show(out, "simulation points", &options);
}

static void profiles(void **state)
{
    struct as_qemu qemu;
    struct as_error err = AS_ERROR_INIT;
    if (!as_qemu_find(AS_ARCH_X86_64, NULL, &qemu, &err))
        unit_skip("%s", err.message);
    FILE *out = unit_golden_begin();
    whole(out);
    units(out);
    unit_events(out);
    sampled(out);
    points(out);
    two_threads(out);
    unit_golden_check(out, "record_profiles.txt");
}

int main(int argc, char **argv)
{
    arguments = argv;
    plugin = argc == 4 ? realpath(argv[3], NULL) : NULL;
    const struct CMUnitTest tests[] = {cmocka_unit_test(profiles)};
    int failed = plugin ? cmocka_run_group_tests(tests, unit_profile_make, unit_profile_remove) : 2;
    free(plugin);
    return failed;
}
