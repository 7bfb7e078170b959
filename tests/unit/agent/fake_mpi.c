/* An MPI library for one process that sends nothing: it says that this is rank 1 of 4, and what its communicators are. Handles are
 * numbers of 32 bits, as in MPICH. A type's number ends with its size. */
#include "fake_mpi.h"

#include <string.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int fake_mpi_result; /* of all that a program calls */
EXPORT unsigned fake_mpi_asked;

static const struct {
    uint32_t handle;
    int n, own, inter, world[4];
} groups[] = {
    {FAKE_WORLD, 4, 1, 0, {0, 1, 2, 3}},  {FAKE_TURNED, 3, 2, 0, {3, 2, 1}}, {FAKE_OTHERS, 2, -1, 1, {2, 300}},
    {FAKE_WINDOW, 4, 1, 0, {3, 2, 1, 0}}, {FAKE_FIRST, 2, 0, 0, {1, 3}},
};

static int find(uint32_t handle)
{
    for (int i = 0; i < 5; i++)
        if (groups[i].handle == handle)
            return i;
    return 0;
}

#define ANSWER(name)                                                                                                   \
    EXPORT int name(uint32_t handle, int *answer);                                                                     \
    EXPORT int name(uint32_t handle, int *answer)
ANSWER(PMPI_Comm_rank)
{
    *answer = groups[find(handle)].own;
    return 0;
}
ANSWER(PMPI_Comm_size)
{
    *answer = groups[find(handle)].n;
    return 0;
}
ANSWER(PMPI_Comm_test_inter)
{
    *answer = groups[find(handle)].inter;
    return 0;
}
ANSWER(PMPI_Comm_group)
{
    *answer = (int)(groups[find(handle)].inter ? FAKE_FIRST : handle); /* of two sides, the own one */
    return 0;
}
ANSWER(PMPI_Comm_remote_group)
{
    *answer = (int)handle;
    return 0;
}
ANSWER(PMPI_Win_get_group)
{
    *answer = (int)handle;
    return 0;
}
ANSWER(PMPI_Group_size)
{
    *answer = groups[find(handle)].n;
    return 0;
}
ANSWER(PMPI_Type_size)
{
    *answer = (int)(handle & 0xff);
    return 0;
}

EXPORT int PMPI_Group_free(uint32_t *group);
EXPORT int PMPI_Group_free(uint32_t *group)
{
    *group = 0;
    return 0;
}

EXPORT int PMPI_Group_translate_ranks(uint32_t group, int n, const int *ranks, uint32_t all, int *to);
EXPORT int PMPI_Group_translate_ranks(uint32_t group, int n, const int *ranks, uint32_t all, int *to)
{
    fake_mpi_asked++;
    for (int i = 0; i < n; i++)
        to[i] = all == FAKE_WORLD ? groups[find(group)].world[ranks[i]] : -1;
    return 0;
}

/* What programs call. */
#define CALLED(name)                                                                                                   \
    EXPORT int name(void);                                                                                             \
    EXPORT int name(void)                                                                                              \
    {                                                                                                                  \
        return fake_mpi_result;                                                                                        \
    }
CALLED(MPI_Init)
CALLED(MPI_Send)
CALLED(MPI_Isend)
CALLED(MPI_Send_init)
CALLED(MPI_Sendrecv)
CALLED(MPI_Start)
CALLED(MPI_Startall)
CALLED(MPI_Put)
CALLED(MPI_Get)
CALLED(MPI_Accumulate)
CALLED(MPI_Bcast)
CALLED(MPI_Reduce)
CALLED(MPI_Allreduce)
CALLED(MPI_Scan)
CALLED(MPI_Reduce_scatter)
CALLED(MPI_Gather)
CALLED(MPI_Scatterv)
CALLED(MPI_Allgather)
CALLED(MPI_Alltoall)
CALLED(MPI_Alltoallv)
CALLED(MPI_Allgatherv)
CALLED(MPI_Comm_free)
CALLED(MPI_Win_free)
CALLED(MPI_Request_free)
