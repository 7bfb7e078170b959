/* The entry point: finds the verb in the table and calls it.
 *
 * To add a command: write cmd_VERB.c, name it in meson.build, declare it in commands.h, add its line to the table here,
 * and write doc/man/assay-VERB.1 (a test compares it with -h).
 */
#include "base/similar.h"
#include "cmd/commands.h"
#include "cmd/complete.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static const struct as_command *const commands[] = {
    /* In the order of `assay -h`. */
    &as_command_record,
    &as_command_report,
    &as_command_annotate,
    &as_command_stat,
    &as_command_blocks,
    &as_command_script,
    &as_command_comm,
    &as_command_compare,
    &as_command_whatif,
    &as_command_trust,
    &as_command_remedy,
    &as_command_doctor,
    &as_command_export,
    &as_command_import,
    &as_command_merge,
    &as_command_points,
    &as_command_reuse,
    &as_command_jobs,
    NULL,
};

static void print_usage(FILE *out)
{
    fputs("Usage: assay VERB [options] [-- PROGRAM ARGS…]\n"
          "       assay help VERB\n"
          "       assay --version\n",
          out);
}

static void print_help(void)
{
    fputs("assay: what the time of a program is made of, instruction by instruction\n\n", stdout);
    print_usage(stdout);
    fputs("\nVerbs:\n", stdout);
    for (size_t i = 0; commands[i]; i++) {
        printf("  %-10s ", commands[i]->name);
        as_cli_wrap(stdout, commands[i]->summary, 13, 13);
    }
    fputs("\n'assay VERB -h' explains a verb and its options.\n", stdout);
}

static const struct as_command *find_command(const char *verb)
{
    for (size_t i = 0; commands[i]; i++)
        if (strcmp(commands[i]->name, verb) == 0)
            return commands[i];
    return NULL;
}

static int complain_unknown(const char *verb)
{
    struct as_error err = AS_ERROR_INIT;
    const char *meant = NULL;
    size_t best = SIZE_MAX;
    for (size_t i = 0; commands[i]; i++) {
        size_t distance = as_word_distance(verb, commands[i]->name);
        if (distance < best) {
            best = distance;
            meant = commands[i]->name;
        }
    }
    as_error_set(&err, "unknown %s '%.200s'", verb[0] == '-' ? "option" : "verb", verb);
    if (meant)
        fprintf(stderr, "assay: %s (did you mean '%s'?); see 'assay -h'\n", err.message, meant);
    else
        fprintf(stderr, "assay: %s; see 'assay -h'\n", err.message);
    return AS_EXIT_USAGE;
}

static int run_help(const char *verb)
{
    if (!verb) {
        print_help();
        return AS_EXIT_OK;
    }
    const struct as_command *command = find_command(verb);
    if (!command)
        return complain_unknown(verb);
    as_cli_help(command, stdout);
    return AS_EXIT_OK;
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return AS_EXIT_USAGE;
    }
    const char *verb = argv[1];
    if (strcmp(verb, "-h") == 0 || strcmp(verb, "--help") == 0)
        return run_help(NULL);
    if (strcmp(verb, "help") == 0 && argc > 3) {
        fprintf(stderr, "assay: help takes one verb; see 'assay -h'\n");
        return AS_EXIT_USAGE;
    }
    if (strcmp(verb, "help") == 0)
        return run_help(argv[2]);
    if (strcmp(verb, "--version") == 0) {
        puts("assay " AS_VERSION);
        return AS_EXIT_OK;
    }
    if (strcmp(verb, "--complete") == 0)
        return as_complete(commands, argc - 2, argv + 2);
    const struct as_command *command = find_command(verb);
    return command ? command->run(argc - 1, argv + 1) : complain_unknown(verb);
}

/* If Assay is started with a closed standard descriptor, the next file that it opens would get that number, and the
 * profiled program's output would go there. So closed ones are occupied by stand-ins, which fail to read or write like
 * a closed one and close on exec, so that the program still finds its own closed. */
static void occupy_standard_fds(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)!open("/dev/null", (fd == 0 ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

static void go_on(int signal)
{
}

/* A file that may grow no further (ulimit -f) is an error that names it, not a death. By a handler, because the programs that Assay
 * starts do not inherit it. */
static void expect_file_limits(void)
{
    struct sigaction action = {.sa_handler = go_on}, old;
    if (sigaction(SIGXFSZ, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
        sigaction(SIGXFSZ, &action, NULL);
}

/* Results that could not be written are a failure, whatever the program's own status was. */
static int check_stdout(int status)
{
    bool failed_before = ferror(stdout) != 0;
    errno = 0;
    return fflush(stdout) == 0 && !failed_before ? status : as_cli_stdout_failed();
}

int main(int argc, char **argv)
{
    occupy_standard_fds();
    expect_file_limits();
    return check_stdout(dispatch(argc, argv));
}
