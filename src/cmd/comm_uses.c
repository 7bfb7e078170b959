/* See comm_uses.h. */
#include "cmd/comm_uses.h"

#include "cmd/commands.h"
#include "engine/program.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MODEL = AS_COMM_OF_MODEL, PROGRAM = AS_COMM_OF_MODEL | AS_COMM_OF_MACHINE, MACHINE = AS_COMM_OF_MACHINE };

static const struct {
    const char *name;
    unsigned uses;
} option_uses[] = {{"svg", PROGRAM},       {"html", PROGRAM},        {"source", PROGRAM},     {"rate", MACHINE},
                   {"budget", MACHINE},    {"pid", MACHINE},         {"duration", MACHINE},   {"sampling", MODEL},
                   {"method", MODEL},      {"follow-life", MODEL},   {"pmu", MODEL},          {"period", MODEL},
                   {"load-period", MODEL}, {"store-period", MODEL},  {"fixed", MODEL},        {"registers", PROGRAM},
                   {"buckets", PROGRAM},   {"entry-life", PROGRAM},  {"watch-life", PROGRAM}, {"cores", MODEL},
                   {"sockets", MODEL},     {"pin", MODEL},           {"sample-cost", MODEL},  {"trap-cost", MODEL},
                   {"disturb", MODEL},     {"quantum", MODEL},       {"seed", PROGRAM},       {"no-estimate", MODEL},
                   {"no-exact", MODEL},    {"allocations", PROGRAM}, {"mpi", PROGRAM},        {"no-paths", PROGRAM}};

const char *as_comm_unused(const void *options, enum as_comm_use use, unsigned *uses)
{
    for (size_t i = 0; i < sizeof option_uses / sizeof *option_uses; i++) {
        *uses = option_uses[i].uses;
        if (!(*uses & use) && as_cli_is_given(&as_command_comm, options, option_uses[i].name, AS_COMM_NOT_GIVEN))
            return option_uses[i].name;
    }
    return NULL;
}

static const char *kind_of(const char *path)
{
    char bytes[512];
    FILE *file = fopen(path, "rb");
    size_t n = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    bool text = n > 0;
    if (!file)
        return "a file that cannot be read";
    fclose(file);
    for (size_t i = 0; i < n; i++)
        text = text && (bytes[i] >= ' ' || bytes[i] < 0 || strchr("\t\n\r\f\033", bytes[i])) && bytes[i];
    if (n >= 4 && memcmp(bytes, "\177ELF", 4) == 0)
        return "an ELF file that is not executable";
    if (n >= 16 && memcmp(bytes, "SQLite format 3", 16) == 0)
        return "a database of another program";
    return n == 0 ? "an empty file" : text ? "a text file" : "data of an unknown kind";
}

/* A program along PATH comes first, as for every shell. */
bool as_comm_is_operand(const char *name, const char *search_path, struct as_error *err)
{
    struct as_program program;
    struct as_error why = AS_ERROR_INIT;
    struct stat status;
    if (as_program_find(name, search_path, &program, &why))
        return true;
    bool here = stat(name, &status) == 0;
    if (here && S_ISREG(status.st_mode) && access(name, X_OK) != 0)
        return as_error_set_status(err, AS_EXIT_CANNOT_RUN,
                                   "%s is %s; comm takes a program, a recording of perf (perf.data) or a profile of "
                                   "Assay (FILE.db)",
                                   name, kind_of(name));
    if (!here && !strchr(name, '/'))
        return as_error_set_status(err, AS_EXIT_NOT_FOUND, "%s: no such file here, and no such program along PATH",
                                   name);
    return true;
}
