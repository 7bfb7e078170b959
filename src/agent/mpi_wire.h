/* The memory that Assay shares with assay-mpi.so, the library that `comm --mpi` preloads into programs: one memfd.
 *
 * Each rank has a row, which only its own process writes, with atomic additions because it may have several threads. The
 * program can write anything into this memory, so Assay checks every number that it reads.
 */
#ifndef AS_AGENT_MPI_WIRE_H
#define AS_AGENT_MPI_WIRE_H

#include <stdatomic.h>
#include <stdint.h>

#define AS_MPI_VARIABLE "ASSAY_MPI" /* where it is: "/proc/PID/fd/N" */

enum { AS_MPI_MAGIC = 0x4d504931, AS_MPI_RANKS = 256 };

/* What a rank sent to another one. */
struct as_mpi_cell {
    _Atomic uint64_t bytes, messages;           /* from one to one: MPI_Send and the like, MPI_Put, MPI_Get */
    _Atomic uint64_t collective, contributions; /* its part of collective operations: bytes, and how many */
};

struct as_mpi_row {                    /* whole lines: ranks must not share one because of us */
    _Alignas(64) _Atomic uint32_t pid; /* 0: there is no such rank */
    _Atomic uint32_t size;             /* of MPI_COMM_WORLD */
    struct as_mpi_cell to[AS_MPI_RANKS];
};

struct as_mpi_wire {
    uint32_t magic;
    _Atomic uint64_t elsewhere; /* messages to or from ranks beyond AS_MPI_RANKS, or of another world */
    struct as_mpi_row row[AS_MPI_RANKS];
};

#endif
