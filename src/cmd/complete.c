/* See complete.h. The position of the last word decides what it can be: a verb, an option, a value of the preceding
 * option, or what the verb's usage expects after the options (a program or a file). */
#include "cmd/complete.h"

#include "core/machine.h"
#include "export/export.h"
#include "observe/events.h"
#include "record/record.h"
#include "sampler/sampler.h"

#include <string.h>

/* The word at the cursor, and what precedes the candidates in it ("tip," of "tip,t"). */
struct cursor {
    const char *kept, *typed;
    int kept_length;
};

static void offer(const struct cursor *cursor, const char *candidate)
{
    if (strncmp(candidate, cursor->typed, strlen(cursor->typed)) == 0)
        printf("%.*s%s\n", cursor->kept_length, cursor->kept, candidate);
}

/* ---- names that options take ---- */

static void offer_core(void *cursor, const char *name)
{
    offer(cursor, name);
}

static void offer_cores(const struct cursor *cursor)
{
    as_machine_list(offer_core, (void *)cursor);
}

static void offer_samplers(const struct cursor *cursor)
{
    for (size_t i = 0; i < AS_SAMPLER_COUNT; i++)
        offer(cursor, as_samplers[i]->name);
}

static void offer_events(const struct cursor *cursor)
{
    for (size_t i = 0; i < AS_EVENT_COUNT; i++)
        offer(cursor, as_events[i].name);
}

static void offer_formats(const struct cursor *cursor)
{
    for (size_t i = 0; as_export_formats[i]; i++)
        offer(cursor, as_export_formats[i]->name);
}

static void offer_sources(const struct cursor *cursor)
{
    offer(cursor, "auto");
    for (size_t i = 0; as_record_source_name(i); i++)
        offer(cursor, as_record_source_name(i));
}

static void offer_classes(const struct cursor *cursor)
{
    for (int i = 0; i < AS_CLASS_COUNT; i++)
        offer(cursor, as_class_name((enum as_class)i));
}

static const struct names {
    const char *verb; /* NULL: any */
    const char *option;
    void (*offer)(const struct cursor *cursor);
} names[] = {
    {NULL, "core", offer_cores},     {NULL, "samplers", offer_samplers},  {NULL, "pics-of", offer_samplers},
    {NULL, "events", offer_events},  {"report", "event", offer_events},   {"whatif", "ideal", offer_events},
    {"export", "to", offer_formats}, {"record", "source", offer_sources}, {"script", "class", offer_classes},
};

/* ---- values and options ---- */

static void offer_named(const struct as_command *command, const struct as_option *option, const struct cursor *cursor)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((!names[i].verb || strcmp(names[i].verb, command->name) == 0) && strcmp(names[i].option, option->name) == 0)
            names[i].offer(cursor);
    for (int i = 0; option->type == AS_OPTION_CHOICE && option->choices[i]; i++)
        offer(cursor, option->choices[i]);
}

static void offer_values(const struct as_command *command, const struct as_option *option, const char *word)
{
    const char *value = option->value ? option->value : "", *comma = NULL;
    if (strstr(value, "FILE") || strcmp(value, "OTHER") == 0)
        puts(":files");
    else if (strncmp(value, "DIR", 3) == 0)
        puts(":directories");
    if (strcmp(value, "LIST") == 0)
        comma = strrchr(word, ',');
    struct cursor cursor = {.kept = word, .typed = comma ? comma + 1 : word};
    cursor.kept_length = (int)(cursor.typed - word);
    offer_named(command, option, &cursor);
}

static void offer_options(const struct as_option *options, const struct cursor *cursor)
{
    for (const struct as_option *option = options; option->name; option++) {
        char spelling[64];
        snprintf(spelling, sizeof spelling, "--%s%s", option->name, option->type == AS_OPTION_FLAG ? "" : "=");
        offer(cursor, spelling);
    }
}

static const struct as_option *find_option(const struct as_option *options, const char *word)
{
    for (const struct as_option *option = options; option->name; option++)
        if ((word[0] == '-' && word[1] == '-' && strcmp(word + 2, option->name) == 0) ||
            (word[0] == '-' && option->short_name && word[1] == option->short_name && !word[2]))
            return option;
    return NULL;
}

/* The option whose value is the word `at`: "--core boom" or, as bash splits it, "--core" "=" "boom". */
static const struct as_option *option_before(const struct as_command *command, char **words, int at)
{
    if (at > 1 && strcmp(words[at - 1], "=") == 0)
        at--;
    const struct as_option *option = at > 0 ? find_option(command->options, words[at - 1]) : NULL;
    return option && option->type != AS_OPTION_FLAG ? option : NULL;
}

/* ---- places ---- */

/* The index of the first word that is neither an option nor the value of one; `n` if there is none. */
static int find_operand(const struct as_command *command, char **words, int n)
{
    for (int i = 1; i < n; i++) {
        if (strcmp(words[i], "--") == 0)
            return i + 1;
        if (words[i][0] != '-' && strcmp(words[i], "=") != 0 && !option_before(command, words, i))
            return i;
    }
    return n;
}

static void complete_word(const struct as_command *command, char **words, int last)
{
    const char *word = words[last];
    int operand = find_operand(command, words, last);
    bool runs_program = strstr(command->usage, "PROGRAM") != NULL;
    const struct as_option *option = option_before(command, words, last);
    if (operand < last)
        puts(":files");
    else if (strcmp(word, "=") == 0 && last > 1 && (option = find_option(command->options, words[last - 1])))
        offer_values(command, option, "");
    else if (option && operand >= last && strcmp(words[last - 1], "--") != 0)
        offer_values(command, option, word);
    else if (word[0] == '-') {
        struct cursor cursor = {.kept = "", .typed = word};
        offer_options(command->options, &cursor);
        offer_options(as_cli_common_options, &cursor);
    } else
        puts(runs_program ? ":programs" : ":files");
}

static void complete_verb(const struct as_command *const *commands, const char *word)
{
    struct cursor cursor = {.kept = "", .typed = word};
    for (size_t i = 0; commands[i]; i++)
        offer(&cursor, commands[i]->name);
}

int as_complete(const struct as_command *const *commands, int n_words, char **words)
{
    struct cursor cursor = {.kept = "", .typed = n_words > 0 ? words[n_words - 1] : ""};
    if (n_words <= 1) {
        complete_verb(commands, cursor.typed);
        offer(&cursor, "help");
        offer(&cursor, "--help");
        offer(&cursor, "--version");
        return AS_EXIT_OK;
    }
    if (n_words == 2 && strcmp(words[0], "help") == 0)
        complete_verb(commands, cursor.typed);
    for (size_t i = 0; commands[i]; i++)
        if (strcmp(commands[i]->name, words[0]) == 0)
            complete_word(commands[i], words, n_words - 1);
    return AS_EXIT_OK;
}
