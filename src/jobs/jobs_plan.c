/* See jobs_plan.h. A line of the file is a key, a blank, and a value in which a line feed is \n and a backslash is \\. */
#include "jobs/jobs_plan.h"

#include "base/number.h"
#include "base/split.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char first_line[] = "assay-jobs 1";

void as_words_add(struct as_words *words, char *word)
{
    *as_vec_push(&words->list) = word;
}

void as_words_free(struct as_words *words)
{
    for (size_t i = 0; i < words->list.len; i++)
        free(words->list.data[i]);
    as_vec_free(&words->list);
}

void as_jobs_plan_free(struct as_jobs_plan *plan)
{
    free(plan->directory);
    as_words_free(&plan->program);
    as_words_free(&plan->options);
    as_words_free(&plan->cores);
    as_words_free(&plan->sets);
    *plan = (struct as_jobs_plan){0};
}

/* ---- the file ---- */

static void write_line(struct as_str *text, const char *key, const char *value)
{
    as_str_addf(text, "%s ", key);
    for (; *value; value++)
        if (*value == '\n' || *value == '\\')
            as_str_add(text, *value == '\n' ? "\\n" : "\\\\");
        else
            as_str_add_bytes(text, value, 1);
    as_str_add(text, "\n");
}

static void write_words(struct as_str *text, const char *key, const struct as_words *words)
{
    for (size_t i = 0; i < words->list.len; i++)
        write_line(text, key, words->list.data[i]);
}

void as_jobs_plan_write(const struct as_jobs_plan *plan, struct as_str *text)
{
    as_str_addf(text, "%s\n", first_line);
    write_line(text, "directory", plan->directory);
    write_words(text, "core", &plan->cores);
    write_words(text, "set", &plan->sets);
    write_words(text, "option", &plan->options);
    as_str_addf(text, "repeat %" PRIu64 "\n", plan->repeat);
    write_words(text, "word", &plan->program);
}

static char *unescape(const char *value)
{
    struct as_str text = {0};
    for (; *value; value++)
        if (*value == '\\' && value[1])
            as_str_add(&text, *++value == 'n' ? "\n" : "\\");
        else
            as_str_add_bytes(&text, value, 1);
    as_str_add(&text, "");
    return as_str_take(&text);
}

static bool read_line(struct as_jobs_plan *plan, const char *line, struct as_error *err)
{
    const struct {
        const char *key;
        struct as_words *words;
    } lists[] = {
        {"core ", &plan->cores}, {"set ", &plan->sets}, {"option ", &plan->options}, {"word ", &plan->program}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (strncmp(line, lists[i].key, strlen(lists[i].key)) == 0) {
            as_words_add(lists[i].words, unescape(line + strlen(lists[i].key)));
            return true;
        }
    if (strncmp(line, "directory ", 10) == 0 && !plan->directory) {
        plan->directory = unescape(line + 10);
        return true;
    }
    if (strncmp(line, "repeat ", 7) == 0 && as_number_read(line + 7, &plan->repeat))
        return true;
    return as_error_set(err, "'%.100s' is not a line of a plan", line);
}

bool as_jobs_plan_read(struct as_jobs_plan *plan, const char *text, struct as_error *err)
{
    char **lines = as_split(text, "\n", NULL);
    bool ok =
        (lines[0] && strcmp(lines[0], first_line) == 0) || as_error_set(err, "it does not begin with '%s'", first_line);
    for (size_t i = 1; ok && lines[i]; i++)
        ok = read_line(plan, lines[i], err);
    as_split_free(lines);
    return ok && (plan->directory || as_error_set(err, "it names no directory")) && as_jobs_plan_check(plan, err);
}

/* ---- machines ---- */

static size_t count_values(const char *set)
{
    const char *values = strchr(set, '=');
    size_t n = values && values[1] ? 1 : 0;
    for (; n && *values; values++)
        n += *values == ',';
    return n;
}

uint64_t as_jobs_count_machines(const struct as_jobs_plan *plan)
{
    uint64_t n = plan->cores.list.len ? plan->cores.list.len : 1;
    for (size_t i = 0; i < plan->sets.list.len && n <= AS_JOBS_MOST; i++)
        n *= count_values(plan->sets.list.data[i]);
    return n <= AS_JOBS_MOST ? n : AS_JOBS_MOST + 1;
}

uint64_t as_jobs_count(const struct as_jobs_plan *plan)
{
    return as_jobs_count_machines(plan) * plan->repeat;
}

bool as_jobs_plan_check(const struct as_jobs_plan *plan, struct as_error *err)
{
    for (size_t i = 0; i < plan->sets.list.len; i++)
        if (count_values(plan->sets.list.data[i]) == 0)
            return as_error_set_status(err, AS_EXIT_USAGE, "--set=%.100s: KEY=VALUE, or several values between commas",
                                       plan->sets.list.data[i]);
    if (plan->program.list.len == 0)
        return as_error_set_status(err, AS_EXIT_USAGE, "no program given");
    if (plan->repeat == 0 || plan->repeat > AS_JOBS_MOST || as_jobs_count_machines(plan) * plan->repeat > AS_JOBS_MOST)
        return as_error_set_status(err, AS_EXIT_USAGE, "a folder has from one to %d jobs", AS_JOBS_MOST);
    return true;
}

/* KEY=VALUE, with the n-th of the values. */
static char *pick_value(const char *set, uint64_t n)
{
    const char *values = strchr(set, '=') + 1;
    for (const char *comma; n > 0 && (comma = strchr(values, ',')); n--)
        values = comma + 1;
    return as_format("%.*s%.*s", (int)(strchr(set, '=') + 1 - set), set, (int)strcspn(values, ","), values);
}

/* What a machine differs by: its core, and one value of each set. */
static void add_machine(const struct as_jobs_plan *plan, uint64_t machine, const char *core, const char *set,
                        struct as_words *words)
{
    size_t cores = plan->cores.list.len ? plan->cores.list.len : 1;
    if (plan->cores.list.len)
        as_words_add(words, as_format("%s%s", core, plan->cores.list.data[machine % cores]));
    machine /= cores;
    for (size_t i = 0; i < plan->sets.list.len; i++) {
        uint64_t values = count_values(plan->sets.list.data[i]);
        char *value = pick_value(plan->sets.list.data[i], machine % values);
        as_words_add(words, as_format("%s%s", set, value));
        free(value);
        machine /= values;
    }
}

char *as_jobs_machine_name(const struct as_jobs_plan *plan, uint64_t machine)
{
    struct as_words words = {0};
    struct as_str name = {0};
    add_machine(plan, machine, "", "", &words);
    for (size_t i = 0; i < words.list.len; i++)
        as_str_addf(&name, "%s%s", i ? " " : "", words.list.data[i]);
    if (words.list.len == 0)
        as_str_add(&name, "as it is");
    as_words_free(&words);
    return as_str_take(&name);
}

/* ---- commands ---- */

/* Runs of one machine differ in their seed; sources that are not modelled have none. */
static bool has_seed(const struct as_jobs_plan *plan)
{
    for (size_t i = 0; i < plan->options.list.len; i++) {
        const char *option = plan->options.list.data[i];
        if (strcmp(option, "--source=timer") == 0 || strcmp(option, "--source=pmu") == 0)
            return false;
    }
    return plan->repeat > 1;
}

struct as_words as_jobs_command(const struct as_jobs_plan *plan, uint64_t job, const char *assay, const char *output)
{
    struct as_words words = {0};
    as_words_add(&words, as_strdup(assay));
    as_words_add(&words, as_strdup("record"));
    as_words_add(&words, as_strdup("-q"));
    add_machine(plan, job / plan->repeat, "--core=", "--set=", &words);
    if (has_seed(plan))
        as_words_add(&words, as_format("--seed=%" PRIu64, job % plan->repeat + 1));
    for (size_t i = 0; i < plan->options.list.len; i++)
        as_words_add(&words, as_strdup(plan->options.list.data[i]));
    as_words_add(&words, as_format("--output=%s", output));
    as_words_add(&words, as_strdup("--"));
    for (size_t i = 0; i < plan->program.list.len; i++)
        as_words_add(&words, as_strdup(plan->program.list.data[i]));
    return words;
}
