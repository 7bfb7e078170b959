/* Assay's side of the MPI library: the environment that brings the library into a program, and what ranks wrote into the
 * shared memory. The test opens that memory as a rank does, by the path in its environment. */
#include "unit.h"

#include "agent/mpi_host.h"
#include "agent/mpi_wire.h"

#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <sys/mman.h>

static char library[PATH_MAX];

/* Assay looks for the library beside the program that runs: this one. */
static int put_library(void **state)
{
    char program[PATH_MAX - 32] = "";
    assert_true(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
    snprintf(library, sizeof library, "%s/assay-mpi.so", dirname(program));
    FILE *file = fopen(library, "w");
    return file ? fclose(file) : -1;
}

static int remove_library(void **state)
{
    return unlink(library);
}

static struct as_mpi *open_mpi(void)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_mpi *mpi = as_mpi_open(&err);
    assert_non_null(mpi);
    return mpi;
}

/* What stands behind "NAME=" in the only such entry; NULL where there is none. */
static const char *only(char *const *environment, const char *name)
{
    const char *found = NULL;
    for (; *environment; environment++) {
        if (strncmp(*environment, name, strlen(name)) != 0 || (*environment)[strlen(name)] != '=')
            continue;
        assert_null(found);
        found = *environment + strlen(name) + 1;
    }
    return found;
}

static struct as_mpi_wire *map_wire(struct as_mpi *mpi)
{
    char *const none[] = {NULL};
    int fd = open(only(as_mpi_environment(mpi, none), AS_MPI_VARIABLE), O_RDWR);
    assert_true(fd >= 0);
    struct as_mpi_wire *wire = mmap(NULL, sizeof *wire, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(wire != MAP_FAILED);
    close(fd);
    return wire;
}

static size_t length_of(char *const *environment)
{
    size_t n = 0;
    while (environment[n])
        n++;
    return n;
}

/* The library comes before what is preloaded anyway; all else stays, also names that begin alike. */
static void environments(void **state)
{
    char *const base[] = {"A=1", "LD_PRELOAD=/one.so", "LD_PRELOADED=x", AS_MPI_VARIABLE "=/old", "B=2", NULL};
    char *const empty[] = {"LD_PRELOAD=", NULL}, *const none[] = {NULL};
    char expected[PATH_MAX + 16];
    struct as_mpi *mpi = open_mpi();
    char *const *made = as_mpi_environment(mpi, base);
    assert_int_equal(length_of(made), 5);
    assert_string_equal(only(made, "A"), "1");
    assert_string_equal(only(made, "LD_PRELOADED"), "x");
    assert_string_equal(only(made, "B"), "2");
    snprintf(expected, sizeof expected, "%s:/one.so", library);
    assert_string_equal(only(made, "LD_PRELOAD"), expected);
    assert_int_equal(strncmp(only(made, AS_MPI_VARIABLE), "/proc/", 6), 0);
    made = as_mpi_environment(mpi, empty);
    assert_int_equal(length_of(made), 2);
    assert_string_equal(only(made, "LD_PRELOAD"), library);
    made = as_mpi_environment(mpi, none);
    assert_int_equal(length_of(made), 2);
    assert_string_equal(only(made, "LD_PRELOAD"), library);
    setenv("ASSAY_TEST_MPI", "ours", 1);
    assert_string_equal(only(as_mpi_environment(mpi, NULL), "ASSAY_TEST_MPI"), "ours");
    as_mpi_close(mpi);
}

static void nobody_came(void **state)
{
    size_t descriptors = unit_count_descriptors();
    struct as_mpi *mpi = open_mpi();
    struct as_mpi_wire *wire = map_wire(mpi);
    struct as_mpi_messages messages = as_mpi_read(mpi);
    assert_int_equal(wire->magic, AS_MPI_MAGIC);
    assert_true(messages.ranks == 0 && messages.elsewhere == 0);
    as_mpi_messages_free(&messages);
    munmap(wire, sizeof *wire);
    as_mpi_close(mpi);
    assert_int_equal(unit_count_descriptors(), descriptors);
}

/* Rank 2 of three was not seen: it has a row all the same. */
static void messages_of_ranks(void **state)
{
    struct as_mpi *mpi = open_mpi();
    struct as_mpi_wire *wire = map_wire(mpi);
    for (uint32_t i = 0; i < 2; i++) {
        wire->row[i].pid = 100 + i;
        wire->row[i].size = 3;
    }
    wire->elsewhere = 9;
    for (uint32_t from = 0; from < 3; from++)
        for (uint32_t to = 0; to < 3; to++) {
            struct as_mpi_cell *cell = &wire->row[from].to[to];
            cell->bytes = 1000 + 10 * from + to;
            cell->messages = 2000 + 10 * from + to;
            cell->collective = 3000 + 10 * from + to;
            cell->contributions = 4000 + 10 * from + to;
        }
    struct as_mpi_messages messages = as_mpi_read(mpi);
    assert_true(messages.ranks == 3 && messages.elsewhere == 9);
    assert_true(messages.pids[0] == 100 && messages.pids[1] == 101 && messages.pids[2] == 0);
    for (uint32_t from = 0; from < 3; from++)
        for (uint32_t to = 0; to < 3; to++) {
            const struct as_mpi_sum *sum = &messages.sums[from * 3 + to];
            assert_int_equal(sum->bytes, 1000 + 10 * from + to);
            assert_int_equal(sum->messages, 2000 + 10 * from + to);
            assert_int_equal(sum->collective, 3000 + 10 * from + to);
            assert_int_equal(sum->contributions, 4000 + 10 * from + to);
        }
    as_mpi_messages_free(&messages);
    assert_true(!messages.pids && !messages.sums && !messages.ranks);
    munmap(wire, sizeof *wire);
    as_mpi_close(mpi);
}

/* A program can write any number there. */
static void sizes_that_lie(void **state)
{
    static const struct {
        uint32_t rank, size;
        size_t ranks;
    } cases[] = {{0, 1, 1},
                 {4, 0, 5},
                 {4, 5, 5},
                 {4, 3, 5},
                 {0, AS_MPI_RANKS, AS_MPI_RANKS},
                 {1, AS_MPI_RANKS + 1, AS_MPI_RANKS},
                 {0, UINT32_MAX, AS_MPI_RANKS},
                 {AS_MPI_RANKS - 1, 1, AS_MPI_RANKS}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_mpi *mpi = open_mpi();
        struct as_mpi_wire *wire = map_wire(mpi);
        wire->row[cases[i].rank].pid = 7;
        wire->row[cases[i].rank].size = cases[i].size;
        struct as_mpi_messages messages = as_mpi_read(mpi);
        assert_int_equal(messages.ranks, cases[i].ranks);
        assert_int_equal(messages.pids[cases[i].rank], 7);
        as_mpi_messages_free(&messages);
        munmap(wire, sizeof *wire);
        as_mpi_close(mpi);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(environments),
        cmocka_unit_test(nobody_came),
        cmocka_unit_test(messages_of_ranks),
        cmocka_unit_test(sizes_that_lie),
    };
    return cmocka_run_group_tests(tests, put_library, remove_library);
}
