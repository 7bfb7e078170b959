/* See mpi_host.h. */
#include "agent/mpi_host.h"

#include "agent/mpi_wire.h"
#include "base/alloc.h"
#include "base/install.h"
#include "base/str.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef AS_AGENT_DIR
#define AS_AGENT_DIR "lib/assay"
#endif

struct as_mpi {
    int memory;
    struct as_mpi_wire *wire;
    char library[PATH_MAX];
    char *preload, *variable, **environment;
};

static bool make_memory(struct as_mpi *mpi, struct as_error *err)
{
    mpi->memory = memfd_create("assay-mpi", MFD_CLOEXEC);
    bool sized = mpi->memory >= 0 && ftruncate(mpi->memory, (off_t)sizeof *mpi->wire) == 0;
    void *mapped =
        sized ? mmap(NULL, sizeof *mpi->wire, PROT_READ | PROT_WRITE, MAP_SHARED, mpi->memory, 0) : MAP_FAILED;
    if (mapped == MAP_FAILED)
        return as_error_set(err, "no shared memory to count messages in: %s", strerror(errno));
    mpi->wire = mapped;
    mpi->wire->magic = AS_MPI_MAGIC;
    return true;
}

static bool find_library(struct as_mpi *mpi, struct as_error *err)
{
    if (!as_install_find("assay-mpi.so", "", AS_AGENT_DIR, mpi->library))
        return as_error_set(
            err, "assay-mpi.so was not found beside 'assay' nor in %s of its prefix; build or install it again",
            AS_AGENT_DIR);
    if (strpbrk(mpi->library, " :,"))
        return as_error_set(err, "%s: a library with a blank, colon or comma in its path cannot be preloaded",
                            mpi->library);
    return true;
}

struct as_mpi *as_mpi_open(struct as_error *err)
{
    struct as_mpi *mpi = as_alloc(sizeof *mpi);
    mpi->memory = -1;
    if (find_library(mpi, err) && make_memory(mpi, err))
        return mpi;
    as_mpi_close(mpi);
    return NULL;
}

static const char *value_of(const char *entry, const char *name)
{
    size_t length = strlen(name);
    return strncmp(entry, name, length) == 0 && entry[length] == '=' ? entry + length + 1 : NULL;
}

char *const *as_mpi_environment(struct as_mpi *mpi, char *const *base)
{
    extern char **environ;
    size_t n = 0, kept = 0;
    const char *before = NULL;
    base = base ? base : environ;
    while (base && base[n])
        n++;
    free(mpi->environment);
    free(mpi->preload);
    free(mpi->variable);
    mpi->environment = as_alloc_array(n + 3, sizeof *mpi->environment);
    for (size_t i = 0; i < n; i++) {
        const char *preloaded = value_of(base[i], "LD_PRELOAD");
        before = preloaded ? preloaded : before;
        if (!preloaded && !value_of(base[i], AS_MPI_VARIABLE))
            mpi->environment[kept++] = base[i];
    }
    mpi->preload = before && *before ? as_format("LD_PRELOAD=%s:%s", mpi->library, before)
                                     : as_format("LD_PRELOAD=%s", mpi->library);
    mpi->variable = as_format(AS_MPI_VARIABLE "=/proc/%d/fd/%d", getpid(), mpi->memory);
    mpi->environment[kept++] = mpi->preload;
    mpi->environment[kept++] = mpi->variable;
    return mpi->environment;
}

/* As many as the largest world has, as far as there is room. */
static size_t count_ranks(const struct as_mpi_wire *wire)
{
    size_t ranks = 0;
    for (size_t i = 0; i < AS_MPI_RANKS; i++)
        if (wire->row[i].pid) {
            size_t size = wire->row[i].size;
            size = size > i ? size : i + 1;
            ranks = size > ranks ? size : ranks;
        }
    return ranks < AS_MPI_RANKS ? ranks : AS_MPI_RANKS;
}

struct as_mpi_messages as_mpi_read(const struct as_mpi *mpi)
{
    const struct as_mpi_wire *wire = mpi->wire;
    struct as_mpi_messages messages = {.ranks = count_ranks(wire), .elsewhere = wire->elsewhere};
    messages.pids = as_alloc_array(messages.ranks + 1, sizeof *messages.pids);
    messages.sums = as_alloc_array(messages.ranks * messages.ranks + 1, sizeof *messages.sums);
    for (size_t from = 0; from < messages.ranks; from++) {
        messages.pids[from] = (int32_t)wire->row[from].pid;
        for (size_t to = 0; to < messages.ranks; to++) {
            const struct as_mpi_cell *cell = &wire->row[from].to[to];
            messages.sums[from * messages.ranks + to] =
                (struct as_mpi_sum){cell->bytes, cell->messages, cell->collective, cell->contributions};
        }
    }
    return messages;
}

void as_mpi_messages_free(struct as_mpi_messages *messages)
{
    free(messages->pids);
    free(messages->sums);
    *messages = (struct as_mpi_messages){0};
}

void as_mpi_close(struct as_mpi *mpi)
{
    if (!mpi)
        return;
    if (mpi->wire)
        munmap(mpi->wire, sizeof *mpi->wire);
    if (mpi->memory >= 0)
        close(mpi->memory);
    free(mpi->environment);
    free(mpi->preload);
    free(mpi->variable);
    free(mpi);
}
