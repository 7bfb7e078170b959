/* See pager.h. */
#include "cmd/pager.h"

#include "base/log.h"
#include "base/path.h"

#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WIDTH_UNKNOWN = 120, WIDTH_MIN = 40, WIDTH_MAX = 1000 };

static const char *chosen(void)
{
    const char *pager = getenv("ASSAY_PAGER");
    if (!pager)
        pager = getenv("PAGER");
    return pager ? pager : "less";
}

/* Whether the shell will find the program that a command begins with: popen succeeds in any case, and output to a
 * missing pager would be lost. */
static bool is_there(const char *command)
{
    char name[256], found[PATH_MAX];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(command, " \t"), command);
    if (strpbrk(name, "/=$'\"\\"))
        /* Anything that only the shell understands is left to it. */
        return !strchr(name, '/') || access(name, X_OK) == 0;
    return as_path_search(name, found);
}

struct as_pager as_pager_open(void)
{
    struct as_pager pager = {.out = stdout};
    const char *command = chosen(), *terminal = getenv("TERM");
    bool dumb = !terminal || strcmp(terminal, "dumb") == 0;
    if (!isatty(STDOUT_FILENO) || dumb || !*command || strcmp(command, "cat") == 0)
        return pager;
    if (!is_there(command)) {
        if (strcmp(command, "less") != 0)
            as_log_warn("there is no pager '%s'", command);
        return pager;
    }
    fflush(stdout);
    setenv("LESS", "FRX", 0);
    signal(SIGPIPE, SIG_IGN); /* a user who quits the pager has seen enough */
    FILE *pipe = popen(command, "w");
    if (pipe)
        pager = (struct as_pager){.out = pipe, .piped = true};
    return pager;
}

void as_pager_close(struct as_pager *pager)
{
    if (pager->piped)
        pclose(pager->out);
}

static unsigned width_of(void)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    long width = columns ? strtol(columns, NULL, 10) : 0;
    if (width <= 0 && isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        width = size.ws_col;
    if (width <= 0)
        width = WIDTH_UNKNOWN;
    return (unsigned)(width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : width);
}

struct as_term as_terminal(bool file)
{
    const char *plain = getenv("NO_COLOR"), *terminal = getenv("TERM");
    bool dumb = terminal && strcmp(terminal, "dumb") == 0;
    setlocale(LC_CTYPE, "");
    return (struct as_term){.width = width_of(),
                            .colour = !file && isatty(STDOUT_FILENO) && !(plain && *plain) && !dumb,
                            .utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0};
}
