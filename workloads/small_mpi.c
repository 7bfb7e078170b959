/* An MPI of a few functions, for tests of `comm --mpi` where none is installed: ranks are forked by MPI_Init itself (as many as
 * SMALL_MPI_RANKS says), and messages go through memory that they share, at most MOST bytes of each pair of ranks at a time. Handles are numbers as in MPICH:
 * the type's size, and 0x44000000 for the world. A communicator that is the world plus 1 has the same ranks in reverse order. */
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#pragma GCC visibility push(default)

enum { RANKS = 8, MOST = 4096, WORLD = 0x44000000, GROUPS = 0x48000000 };

static struct {
    struct {
        _Atomic uint32_t full;
        char data[MOST];
    } box[RANKS][RANKS];
} * shared;
static int rank, ranks;

#define BOTH(name, parameters)                                                                                         \
    int MPI_##name parameters __attribute__((weak, alias("PMPI_" #name)));                                             \
    int PMPI_##name parameters

int PMPI_Init(int *argc, char ***argv);
BOTH(Init, (int *argc, char ***argv))
{
    const char *wanted = getenv("SMALL_MPI_RANKS");
    ranks = wanted ? atoi(wanted) : 4;
    ranks = ranks < 1 ? 1 : ranks > RANKS ? RANKS : ranks;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 1; i < ranks && rank == 0; i++)
        if (fork() == 0)
            rank = i;
    return shared == MAP_FAILED;
}

int PMPI_Finalize(void);
BOTH(Finalize, (void))
{
    while (rank == 0 && wait(NULL) > 0)
        ;
    return 0;
}

/* Ranks of the communicator to those of the world, and back. */
static int turn(int comm, int number)
{
    return comm == WORLD ? number : ranks - 1 - number;
}

int PMPI_Comm_rank(int comm, int *own);
BOTH(Comm_rank, (int comm, int *own))
{
    *own = turn(comm, rank);
    return 0;
}

int PMPI_Comm_size(int comm, int *n);
BOTH(Comm_size, (int comm, int *n))
{
    *n = ranks;
    return 0;
}

int PMPI_Comm_test_inter(int comm, int *flag);
BOTH(Comm_test_inter, (int comm, int *flag))
{
    *flag = 0;
    return 0;
}

int PMPI_Comm_group(int comm, int *group);
BOTH(Comm_group, (int comm, int *group))
{
    *group = GROUPS + comm - WORLD;
    return 0;
}

int PMPI_Group_size(int group, int *n);
BOTH(Group_size, (int group, int *n))
{
    *n = ranks;
    return 0;
}

int PMPI_Group_free(int *group);
BOTH(Group_free, (int *group))
{
    *group = 0;
    return 0;
}

int PMPI_Group_translate_ranks(int from, int n, const int *numbers, int to, int *result);
BOTH(Group_translate_ranks, (int from, int n, const int *numbers, int to, int *result))
{
    for (int i = 0; i < n; i++)
        result[i] = turn(to - GROUPS + WORLD, turn(from - GROUPS + WORLD, numbers[i]));
    return 0;
}

int PMPI_Type_size(int type, int *size);
BOTH(Type_size, (int type, int *size))
{
    *size = type;
    return 0;
}

int PMPI_Send(const void *data, int count, int type, int to, int tag, int comm);
BOTH(Send, (const void *data, int count, int type, int to, int tag, int comm))
{
    to = turn(comm, to);
    while (atomic_load(&shared->box[rank][to].full))
        sched_yield();
    memcpy(shared->box[rank][to].data, data, (size_t)count * (size_t)type);
    atomic_store(&shared->box[rank][to].full, 1);
    return 0;
}

int PMPI_Recv(void *data, int count, int type, int from, int tag, int comm, void *status);
BOTH(Recv, (void *data, int count, int type, int from, int tag, int comm, void *status))
{
    from = turn(comm, from);
    while (!atomic_load(&shared->box[from][rank].full))
        sched_yield();
    memcpy(data, shared->box[from][rank].data, (size_t)count * (size_t)type);
    atomic_store(&shared->box[from][rank].full, 0);
    return 0;
}

int PMPI_Bcast(void *data, int count, int type, int root, int comm);
BOTH(Bcast, (void *data, int count, int type, int root, int comm))
{
    int own = turn(comm, rank);
    for (int i = 0; own == root && i < ranks; i++)
        if (i != root)
            PMPI_Send(data, count, type, i, 0, comm);
    return own == root ? 0 : PMPI_Recv(data, count, type, root, 0, comm, NULL);
}

int PMPI_Allreduce(const void *data, void *into, int count, int type, int op, int comm);
BOTH(Allreduce, (const void *data, void *into, int count, int type, int op, int comm))
{
    char other[MOST];
    memcpy(into, data, (size_t)count * (size_t)type);
    for (int i = 1; i < ranks; i++)
        if (rank == i)
            PMPI_Send(data, count, type, 0, 0, WORLD);
        else if (rank == 0)
            PMPI_Recv(other, count, type, i, 0, WORLD, NULL);
    return PMPI_Bcast(into, count, type, 0, WORLD);
}
