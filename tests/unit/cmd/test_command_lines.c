/* What every verb says of its options, against tests/golden/command_lines.txt: each option with values that are wrong, at a limit or
 * missing, each with a good one, and each pair of them that is answered otherwise than the two alone; and of verbs, and of words that are completed. The program and the files that
 * command lines name are not there, so nothing runs. */
#include "unit.h"

#include "cmd/commands.h"
#include "unit_golden.h"

#include <fcntl.h>
#include <unistd.h>

int run_assay(int argc, char **argv); /* its main */

/* In no file system. */
#define NOWHERE "/dev/null/nowhere"

enum { MOST_OPTIONS = 80, ANSWER = 600 };

static const struct as_command *const commands[] = {
    &as_command_record, &as_command_report, &as_command_annotate, &as_command_stat,   &as_command_blocks,
    &as_command_script, &as_command_comm,   &as_command_compare,  &as_command_whatif, &as_command_trust,
    &as_command_remedy, &as_command_doctor, &as_command_export,   &as_command_import, &as_command_merge,
    &as_command_points, &as_command_reuse,  &as_command_jobs,
};

static int captured;     /* where both outputs go */
static const char *core; /* a word for all command lines; NULL: none */

/* "status: the first lines". The program's name is left out. */
static void answer_of(char answer[ANSWER], const char *verb, const char *one, const char *other, const char *operand)
{
    char *argv[] = {"assay", (char *)verb, "-q", (char *)core, (char *)one, (char *)other, (char *)operand, NULL};
    int argc = 0;
    for (size_t i = 0; i + 1 < sizeof argv / sizeof *argv; i++)
        if (argv[i])
            argv[argc++] = argv[i];
    argv[argc] = NULL;
    assert_int_equal(ftruncate(captured, 0), 0);
    lseek(captured, 0, SEEK_SET);
    int status = run_assay(argc, argv);
    fflush(stdout);
    char text[ANSWER] = "";
    ssize_t n = pread(captured, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    char prefix[64];
    snprintf(prefix, sizeof prefix, "assay %s: ", verb);
    const char *begin = strncmp(text, prefix, strlen(prefix)) == 0 ? text + strlen(prefix) : text;
    if (strncmp(begin, "the program 'qualify", 20) == 0) /* looked for before the file is; not built on every machine */
        begin = NOWHERE ": cannot be read: Not a directory";
    bool depends = strstr(begin, "this machine") || strstr(begin, "virtual machine");
    if (depends)
        begin = "(what the machine has)";
    snprintf(answer, ANSWER, "%d: %.*s", depends ? 0 : status, (int)strcspn(begin, "\n"), begin);
}

static const char *good_value(const struct as_option *option)
{
    static char number[32];
    switch (option->type) {
    case AS_OPTION_U64:
        snprintf(number, sizeof number, "%llu", (unsigned long long)(option->min > 3 ? option->min : 3));
        return number;
    case AS_OPTION_DOUBLE:
        return "0.5";
    case AS_OPTION_CHOICE:
        return option->choices[0];
    case AS_OPTION_LIST:
        return "name=1";
    default:
        return strcmp(option->name, "core") == 0 ? "boom-tip" : option->writes ? NOWHERE "/file" : "name";
    }
}

static void good_word(char word[128], const struct as_option *option)
{
    if (option->type == AS_OPTION_FLAG)
        snprintf(word, 128, "--%s", option->name);
    else
        snprintf(word, 128, "--%s=%s%s", option->name, good_value(option), option->writes ? option->name : "");
}

static void write_value(FILE *out, const struct as_command *command, const struct as_option *option, const char *value)
{
    char word[128], answer[ANSWER];
    snprintf(word, sizeof word, "--%s=%s", option->name, value);
    answer_of(answer, command->name, word, NULL, NOWHERE);
    fprintf(out, "%s: %s\n", word, answer);
}

static void write_values(FILE *out, const struct as_command *command, const struct as_option *option)
{
    static const char *const wrong[][6] = {
        [AS_OPTION_FLAG] = {"1"},
        [AS_OPTION_STRING] = {""},
        [AS_OPTION_U64] = {"x", "0", "1", "18446744073709551615"},
        [AS_OPTION_DOUBLE] = {"x", "0", "-1", "1", "1e400", "101"},
        [AS_OPTION_CHOICE] = {"nonsense"},
        [AS_OPTION_LIST] = {"", "nonsense"},
    };
    for (size_t i = 0; i < 6 && wrong[option->type][i]; i++)
        write_value(out, command, option, wrong[option->type][i]);
    bool of_machine = strcmp(option->name, "source") == 0; /* whether it works is the machine's matter */
    for (size_t i = 1; option->type == AS_OPTION_CHOICE && option->choices[i] && !of_machine; i++)
        write_value(out, command, option, option->choices[i]);
    const uint64_t limits[] = {option->min - 1, option->max, option->max + 1};
    for (size_t i = 0; option->type == AS_OPTION_U64 && i < 3; i++) {
        char number[32];
        snprintf(number, sizeof number, "%llu", (unsigned long long)limits[i]);
        if (i == 0 ? option->min > 2 : option->max != 0)
            write_value(out, command, option, number);
    }
}

static void write_verb(FILE *out, const struct as_command *command)
{
    static char words[MOST_OPTIONS][128], alone[MOST_OPTIONS][ANSWER];
    char plain[ANSWER], answer[ANSWER];
    size_t n = 0;
    bool has_core = false;
    answer_of(answer, command->name, NULL, NULL, NULL);
    answer_of(plain, command->name, NULL, NULL, NOWHERE);
    fprintf(out, "%s\n", strcmp(command->name, "doctor") == 0 ? "" : answer);
    fprintf(out, NOWHERE ": %s\n", plain);
    answer_of(answer, command->name, NOWHERE, "more", NOWHERE);
    fprintf(out, NOWHERE " more " NOWHERE ": %s\n", answer);
    for (const struct as_option *option = command->options; option->name; option++, n++) {
        assert_true(n < MOST_OPTIONS);
        has_core |= strcmp(option->name, "core") == 0;
        write_values(out, command, option);
        good_word(words[n], option);
        answer_of(alone[n], command->name, words[n], NULL, NOWHERE);
        fprintf(out, "%s: %s\n", words[n], strcmp(alone[n], plain) == 0 ? "-" : alone[n]);
    }
    /* With a core that is not there: what is wrong with options is said before, and reading a core takes time. */
    core = has_core ? "--core=none" : NULL;
    for (size_t i = 0; i < n; i++)
        answer_of(alone[i], command->name, words[i], NULL, NOWHERE);
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++) {
            answer_of(answer, command->name, words[i], words[k], NOWHERE);
            if (strcmp(answer, alone[i]) != 0 && strcmp(answer, alone[k]) != 0)
                fprintf(out, "%s %s: %s\n", words[i], words[k], answer);
        }
}

/* ---- verbs, and what can come next ---- */

enum { MOST_WORDS = 8 };
static const char *const others[][MOST_WORDS] = {
    {0},
    {"recrod"},
    {"--nonsense"},
    {"help", "repotr"},
    {"-h"},
    {"help"},
    {"--complete"},
    {"--complete", "re"},
    {"--complete", "-"},
    {"--complete", "help", "c"},
    {"--complete", "stat", "--"},
    {"--complete", "stat", "--j"},
    {"--complete", "stat", "-"},
    {"--complete", "stat", ""},
    {"--complete", "report", ""},
    {"--complete", "stat", "--", "ls", "x"},
    {"--complete", "stat", "--json", "ls", "x"},
    {"--complete", "stat", "--json", "--m"},
    {"--complete", "stat", "--max", "1", ""},
    {"--complete", "stat", "--max", "1"},
    {"--complete", "compare", "--core", ""},
    {"--complete", "compare", "--core", "boom-t"},
    {"--complete", "compare", "--core", "=", "zen"},
    {"--complete", "compare", "--core", "="},
    {"--complete", "compare", "--samplers", "tip,t"},
    {"--complete", "compare", "--samplers", "="},
    {"--complete", "compare", "--pics-of", "tea"},
    {"--complete", "compare", "--events", "ST-"},
    {"--complete", "report", "--event", "FL"},
    {"--complete", "whatif", "--ideal", ""},
    {"--complete", "export", "--to", ""},
    {"--complete", "record", "--source", ""},
    {"--complete", "record", "-o", ""},
    {"--complete", "record", "--symfs", ""},
    {"--complete", "script", "--class", "l"},
    {"--complete", "comm", "--source", ""},
    {"--complete", "nonsense", ""},
};

static void write_others(FILE *out)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char *argv[MOST_WORDS + 2] = {"assay"};
        int argc = 1;
        fputs("-- assay", out);
        for (; others[i][argc - 1]; argc++)
            fprintf(out, " '%s'", argv[argc] = (char *)others[i][argc - 1]);
        assert_int_equal(ftruncate(captured, 0), 0);
        lseek(captured, 0, SEEK_SET);
        fprintf(out, ": %d\n", run_assay(argc, argv));
        fflush(stdout);
        char text[1 << 14];
        ssize_t n = pread(captured, text, sizeof text, 0);
        fwrite(text, 1, n > 0 ? (size_t)n : 0, out);
    }
}

/* In a process of its own, whose outputs are captured. `command` NULL: all that is of no verb. */
static void write_apart(FILE *out, const struct as_command *command)
{
    FILE *written = tmpfile();
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        captured = fileno(tmpfile());
        dup2(captured, 1);
        dup2(captured, 2);
        clearenv();
        setenv("PATH", NOWHERE, 1);
        if (command)
            write_verb(written, command);
        else
            write_others(written);
        fflush(written);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    rewind(written);
    for (int c; (c = getc(written)) != EOF;)
        fputc(c, out);
    fclose(written);
    if (status != 0)
        fail_msg("assay %s ended with %#x", command ? command->name : "", (unsigned)status);
}

static void test_command_lines(void **state)
{
    FILE *out = unit_golden_begin();
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        unit_golden_section(out, "assay %s", commands[i]->name);
        write_apart(out, commands[i]);
    }
    unit_golden_section(out, "verbs, and what can come next");
    write_apart(out, NULL);
    unit_golden_check(out, "command_lines.txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_command_lines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
