/* What a rank's calls of MPI count as: who sends how much to whom, by ranks of the world. The library behind is made up
 * (fake_mpi.c): this is rank 1 of 4. */
#include "agent/mpi_wire.h"

#include "fake_mpi.h"
#include "unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>

typedef uintptr_t handle;
int MPI_Init(int *, char ***);
int MPI_Send(const void *, int, handle, int, int, handle);
int MPI_Isend(const void *, int, handle, int, int, handle, void *);
int MPI_Send_init(const void *, int, handle, int, int, handle, void *);
int MPI_Sendrecv(const void *, int, handle, int, int, void *, int, handle, int, int, handle, void *);
int MPI_Start(void *);
int MPI_Startall(int, void *);
int MPI_Put(const void *, int, handle, int, intptr_t, int, handle, handle);
int MPI_Get(const void *, int, handle, int, intptr_t, int, handle, handle);
int MPI_Accumulate(const void *, int, handle, int, intptr_t, int, handle, handle, handle);
int MPI_Bcast(void *, int, handle, int, handle);
int MPI_Reduce(const void *, void *, int, handle, handle, int, handle);
int MPI_Allreduce(const void *, void *, int, handle, handle, handle);
int MPI_Scan(const void *, void *, int, handle, handle, handle);
int MPI_Reduce_scatter(const void *, void *, const int *, handle, handle, handle);
int MPI_Gather(const void *, int, handle, void *, int, handle, int, handle);
int MPI_Scatterv(const void *, const int *, const int *, handle, void *, int, handle, int, handle);
int MPI_Allgather(const void *, int, handle, void *, int, handle, handle);
int MPI_Alltoall(const void *, int, handle, void *, int, handle, handle);
int MPI_Alltoallv(const void *, const int *, const int *, handle, void *, const int *, const int *, handle, handle);
int MPI_Allgatherv(const void *, int, handle, void *, const int *, const int *, handle, handle);
int MPI_Comm_free(void *);
int MPI_Win_free(void *);
int MPI_Request_free(void *);

enum { RANKS = 4, OWN = 1 };
static struct as_mpi_wire *wire;
static bool no_memory; /* for what is known of communicators */

void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size)
{
    return no_memory ? NULL : __real_realloc(old, size);
}

static char data[64];

/* The process has one row for all its life: it joins once. */
static int join_once(void **state)
{
    char path[64];
    int fd = memfd_create("wire", MFD_CLOEXEC);
    if (ftruncate(fd, sizeof *wire) != 0)
        return -1;
    wire = mmap(NULL, sizeof *wire, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    wire->magic = AS_MPI_MAGIC;
    MPI_Send(data, 5, FAKE_BYTE, 2, 0, FAKE_WORLD); /* nobody counts yet */
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    setenv(AS_MPI_VARIABLE, path, 1);
    return MPI_Init(NULL, NULL);
}

static int set_up(void **state)
{
    for (int from = 0; from < RANKS; from++)
        memset((void *)wire->row[from].to, 0, sizeof wire->row[from].to);
    wire->elsewhere = 0;
    fake_mpi_result = 0;
    return 0;
}

static void joins(void **state)
{
    assert_int_equal(wire->row[OWN].pid, getpid());
    assert_int_equal(wire->row[OWN].size, RANKS);
    for (int i = 0; i < RANKS; i++)
        assert_true(i == OWN || wire->row[i].pid == 0);
}

/* So many bytes from one to the others in all, each `times` times or not at all. */
static void expect_messages(int from, const uint64_t bytes[RANKS], uint64_t times)
{
    for (int to = 0; to < RANKS; to++) {
        assert_int_equal(wire->row[from].to[to].bytes, bytes[to]);
        assert_int_equal(wire->row[from].to[to].messages, bytes[to] ? times : 0);
        assert_int_equal(wire->row[from].to[to].collective, 0);
    }
}
#define MESSAGES(from, times, ...) expect_messages(from, (const uint64_t[RANKS]){__VA_ARGS__}, times)

static void expect_contributions(const uint64_t bytes[RANKS])
{
    for (int to = 0; to < RANKS; to++) {
        assert_int_equal(wire->row[OWN].to[to].collective, bytes[to]);
        assert_int_equal(wire->row[OWN].to[to].contributions, bytes[to] != 0);
        assert_int_equal(wire->row[OWN].to[to].messages, 0);
        for (int from = 0; from < RANKS; from++)
            assert_true(from == OWN || wire->row[from].to[to].collective == 0);
    }
    set_up(NULL);
}
#define CONTRIBUTES(...) expect_contributions((const uint64_t[RANKS]){__VA_ARGS__})

/* A message is its count times the size of its type. One that failed, or goes to nobody, is none. */
static void sends(void **state)
{
    uint32_t request = 0;
    assert_int_equal(MPI_Send(data, 5, FAKE_DOUBLE, 2, 0, FAKE_WORLD), 0);
    MESSAGES(OWN, 1, 0, 0, 40, 0);
    MPI_Isend(data, 3, FAKE_BYTE, 2, 0, FAKE_WORLD, &request);
    MESSAGES(OWN, 2, 0, 0, 43, 0);
    MPI_Sendrecv(data, 2, FAKE_BYTE, 2, 0, data, 60, FAKE_DOUBLE, 0, 0, FAKE_WORLD, NULL);
    MESSAGES(OWN, 3, 0, 0, 45, 0);
    MPI_Send(data, 5, FAKE_DOUBLE, -1, 0, FAKE_WORLD); /* MPI_PROC_NULL */
    fake_mpi_result = 15;
    assert_int_equal(MPI_Send(data, 5, FAKE_DOUBLE, 2, 0, FAKE_WORLD), 15);
    MESSAGES(OWN, 3, 0, 0, 45, 0);
}

/* Ranks of another communicator are those of the world that they are there; who they are is asked once. */
static void translates(void **state)
{
    MPI_Bcast(data, 0, FAKE_BYTE, 2, FAKE_WORLD);
    MPI_Send(data, 7, FAKE_BYTE, 0, 0, FAKE_TURNED);
    unsigned asked = fake_mpi_asked;
    MPI_Send(data, 7, FAKE_BYTE, 0, 0, FAKE_TURNED);
    MPI_Bcast(data, 0, FAKE_BYTE, 2, FAKE_WORLD);
    assert_int_equal(fake_mpi_asked, asked);
    MESSAGES(OWN, 2, 0, 0, 0, 14);
    MPI_Send(data, 7, FAKE_BYTE, 3, 0, FAKE_TURNED); /* there is no such */
    assert_int_equal(wire->elsewhere, 1);
    uint32_t freed = FAKE_TURNED;
    MPI_Comm_free(&freed); /* its number can come again: it is asked anew */
    MPI_Send(data, 7, FAKE_BYTE, 0, 0, FAKE_TURNED);
    assert_int_equal(fake_mpi_asked, asked + 1);
    MESSAGES(OWN, 3, 0, 0, 0, 21);
}

/* Between communicators: the ranks are those of the other side. Some are beyond what is counted. */
static void to_another_side(void **state)
{
    MPI_Send(data, 9, FAKE_BYTE, 0, 0, FAKE_OTHERS);
    MESSAGES(OWN, 1, 0, 0, 9, 0);
    MPI_Send(data, 9, FAKE_BYTE, 1, 0, FAKE_OTHERS);
    MESSAGES(OWN, 1, 0, 0, 9, 0);
    assert_int_equal(wire->elsewhere, 1);
}

/* Where no memory is left for who is who, it is asked again the next time. Nothing is sent to anybody else. */
static void without_memory(void **state)
{
    uint32_t known[] = {FAKE_WORLD, FAKE_TURNED};
    for (int i = 0; i < 2; i++)
        MPI_Comm_free(&known[i]);
    no_memory = true;
    MPI_Send(data, 9, FAKE_BYTE, 0, 0, FAKE_TURNED);
    MPI_Bcast(data, 9, FAKE_BYTE, 2, FAKE_TURNED);
    no_memory = false;
    MESSAGES(OWN, 0, 0, 0, 0, 0);
    assert_int_equal(wire->elsewhere, 1);
    MPI_Send(data, 9, FAKE_BYTE, 0, 0, FAKE_TURNED);
    MESSAGES(OWN, 1, 0, 0, 0, 9);
}

/* A request that is kept sends each time that it is started. */
static void persistent_requests(void **state)
{
    uint32_t requests[3] = {101, 102, 103}, none = 0;
    MPI_Send_init(data, 2, FAKE_BYTE, 0, 0, FAKE_WORLD, &requests[0]);
    MPI_Send_init(data, 4, FAKE_BYTE, 3, 0, FAKE_WORLD, &requests[2]);
    MESSAGES(OWN, 0, 0, 0, 0, 0);
    MPI_Start(&requests[0]);
    MESSAGES(OWN, 1, 2, 0, 0, 0);
    MPI_Startall(3, requests); /* the second is none that sends */
    assert_int_equal(wire->row[OWN].to[0].messages, 2);
    assert_int_equal(wire->row[OWN].to[3].bytes, 4);
    uint32_t freed = requests[0];
    MPI_Request_free(&freed);
    MPI_Start(&requests[0]);
    MPI_Start(&none);
    assert_int_equal(wire->row[OWN].to[0].messages, 2);
}

/* One side does both parts: what is got comes from there. */
static void windows(void **state)
{
    MPI_Put(data, 2, FAKE_DOUBLE, 0, 0, 2, FAKE_DOUBLE, FAKE_WINDOW);
    MESSAGES(OWN, 1, 0, 0, 0, 16);
    MPI_Accumulate(data, 1, FAKE_DOUBLE, 0, 0, 1, FAKE_DOUBLE, 0, FAKE_WINDOW);
    MESSAGES(OWN, 2, 0, 0, 0, 24);
    MPI_Get(data, 3, FAKE_DOUBLE, 1, 0, 3, FAKE_DOUBLE, FAKE_WINDOW);
    MESSAGES(2, 1, 0, 24, 0, 0);
    MESSAGES(OWN, 2, 0, 0, 0, 24);
    MPI_Get(data, 3, FAKE_DOUBLE, 9, 0, 3, FAKE_DOUBLE, FAKE_WINDOW);
    assert_int_equal(wire->elsewhere, 1);
    uint32_t freed = FAKE_WINDOW;
    assert_int_equal(MPI_Win_free(&freed), 0);
}

/* From the root to each other, or from each to the root; a rank sends nothing to itself. */
static void to_and_from_the_root(void **state)
{
    MPI_Bcast(data, 6, FAKE_BYTE, OWN, FAKE_WORLD);
    CONTRIBUTES(6, 0, 6, 6);
    MPI_Bcast(data, 6, FAKE_BYTE, 2, FAKE_WORLD); /* another one's */
    CONTRIBUTES(0, 0, 0, 0);
    MPI_Bcast(data, 6, FAKE_BYTE, 2, FAKE_TURNED);
    CONTRIBUTES(0, 0, 6, 6);
    MPI_Reduce(data, data, 2, FAKE_DOUBLE, 0, 3, FAKE_WORLD);
    CONTRIBUTES(0, 0, 0, 16);
    MPI_Reduce(data, data, 2, FAKE_DOUBLE, 0, OWN, FAKE_WORLD);
    CONTRIBUTES(0, 0, 0, 0);
    MPI_Gather(data, 3, FAKE_BYTE, data, 60, FAKE_DOUBLE, 0, FAKE_WORLD);
    CONTRIBUTES(3, 0, 0, 0);
    MPI_Scatterv(data, (const int[]){1, 2, 3, 4}, NULL, FAKE_DOUBLE, data, 60, FAKE_BYTE, OWN, FAKE_WORLD);
    CONTRIBUTES(8, 0, 24, 32);
    MPI_Allreduce(data, data, 5, FAKE_BYTE, 0, FAKE_WORLD); /* to rank 0, which is not this one, and from there */
    CONTRIBUTES(5, 0, 0, 0);
    MPI_Scan(data, data, 5, FAKE_BYTE, 0, FAKE_WORLD);
    CONTRIBUTES(0, 0, 5, 0);
    MPI_Scan(data, data, 5, FAKE_BYTE, 0, FAKE_TURNED); /* it is the last there */
    CONTRIBUTES(0, 0, 0, 0);
    MPI_Reduce(data, data, 2, FAKE_BYTE, 0, 1, FAKE_FIRST);
    CONTRIBUTES(0, 0, 0, 2);
    MPI_Reduce(data, data, 2, FAKE_BYTE, 0, 0, FAKE_FIRST);
    CONTRIBUTES(0, 0, 0, 0);
    MPI_Bcast(data, 3, FAKE_BYTE, 0, FAKE_FIRST);
    CONTRIBUTES(0, 0, 0, 3);
    MPI_Allreduce(data, data, 5, FAKE_BYTE, 0, FAKE_FIRST);
    CONTRIBUTES(0, 0, 0, 5);
    MPI_Scan(data, data, 4, FAKE_BYTE, 0, FAKE_FIRST);
    CONTRIBUTES(0, 0, 0, 4);
    MPI_Alltoall(data, 2, FAKE_BYTE, data, 2, FAKE_BYTE, FAKE_FIRST);
    CONTRIBUTES(0, 0, 0, 2);
    MPI_Bcast(data, 6, FAKE_BYTE, 0, FAKE_OTHERS); /* between communicators nothing is counted */
    CONTRIBUTES(0, 0, 0, 0);
}

/* From each to each. In place, what is received says how much. */
static void to_all(void **state)
{
    void *const in_place = (void *)-1, *const here = (void *)1;
    const int counts[] = {1, 2, 3, 4}, others[] = {5, 6, 7, 8};
    MPI_Reduce_scatter(data, data, counts, FAKE_BYTE, 0, FAKE_WORLD);
    CONTRIBUTES(1, 0, 3, 4);
    MPI_Allgather(data, 2, FAKE_BYTE, data, 60, FAKE_DOUBLE, FAKE_WORLD);
    CONTRIBUTES(2, 0, 2, 2);
    MPI_Allgather(in_place, 0, 0, data, 3, FAKE_DOUBLE, FAKE_WORLD);
    CONTRIBUTES(24, 0, 24, 24);
    MPI_Alltoall(data, 2, FAKE_BYTE, data, 60, FAKE_DOUBLE, FAKE_WORLD);
    CONTRIBUTES(2, 0, 2, 2);
    MPI_Alltoall(here, 0, 0, data, 3, FAKE_BYTE, FAKE_WORLD);
    CONTRIBUTES(3, 0, 3, 3);
    MPI_Alltoallv(data, counts, NULL, FAKE_BYTE, data, others, NULL, FAKE_DOUBLE, FAKE_WORLD);
    CONTRIBUTES(1, 0, 3, 4);
    MPI_Alltoallv(in_place, NULL, NULL, 0, data, others, NULL, FAKE_DOUBLE, FAKE_WORLD);
    CONTRIBUTES(40, 0, 56, 64);
    MPI_Allgatherv(data, 2, FAKE_BYTE, data, others, NULL, FAKE_DOUBLE, FAKE_WORLD);
    CONTRIBUTES(2, 0, 2, 2);
    MPI_Allgatherv(in_place, 0, 0, data, others, NULL, FAKE_DOUBLE, FAKE_WORLD); /* its own part, the second */
    CONTRIBUTES(48, 0, 48, 48);
    MPI_Allgatherv(in_place, 0, 0, data, others, NULL, FAKE_DOUBLE, FAKE_FIRST); /* … and the first, for rank 3 */
    CONTRIBUTES(0, 0, 0, 40);
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(joins),   TEST(sends),  TEST(translates),           TEST(to_another_side), TEST(persistent_requests),
        TEST(windows), TEST(to_all), TEST(to_and_from_the_root), TEST(without_memory),
    };
    return cmocka_run_group_tests(tests, join_once, NULL);
}
