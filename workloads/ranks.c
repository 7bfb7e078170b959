/* An MPI program whose messages are known: each rank sends `rounds` messages of 8 x (rank + 1) bytes to the next one, around; then
 * rank 0 broadcasts 96 bytes; then all reduce 2 words; then rank 0 sends one message to the first of a communicator in which the
 * ranks are in reverse order (where there is such a one: the small MPI beside this). Built with that, or with any other MPI. */
#include <stdio.h>
#include <stdlib.h>

#ifdef SMALL_MPI
enum { MPI_COMM_WORLD = 0x44000000, REVERSED, MPI_LONG = 8, MPI_BYTE = 1, MPI_SUM = 0 };
#define MPI_STATUS_IGNORE NULL
int MPI_Init(int *argc, char ***argv);
int MPI_Finalize(void);
int MPI_Comm_rank(int comm, int *own);
int MPI_Comm_size(int comm, int *n);
int MPI_Send(const void *data, int count, int type, int to, int tag, int comm);
int MPI_Recv(void *data, int count, int type, int from, int tag, int comm, void *status);
int MPI_Bcast(void *data, int count, int type, int root, int comm);
int MPI_Allreduce(const void *data, void *into, int count, int type, int op, int comm);
#else
#include <mpi.h>
#endif

int main(int argc, char **argv)
{
    int rank, n, rounds = argc > 1 ? atoi(argv[1]) : 10;
    long data[64] = {0}, sums[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    int next = (rank + 1) % n, before = (rank + n - 1) % n;
    for (int i = 0; i < rounds; i++) {
        if (rank % 2 == 0)
            MPI_Send(data, rank + 1, MPI_LONG, next, 0, MPI_COMM_WORLD);
        MPI_Recv(data, before + 1, MPI_LONG, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank % 2 == 1)
            MPI_Send(data, rank + 1, MPI_LONG, next, 0, MPI_COMM_WORLD);
    }
    MPI_Bcast(data, 96, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Allreduce(data, sums, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
#ifdef SMALL_MPI
    if (rank == 0)
        MPI_Send(data, 5, MPI_BYTE, 0, 0, REVERSED);
    if (rank == n - 1)
        MPI_Recv(data, 5, MPI_BYTE, n - 1, 0, REVERSED, MPI_STATUS_IGNORE);
#endif
    MPI_Finalize();
    return 0;
}
