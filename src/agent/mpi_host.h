/* Assay's side of assay-mpi.so: the shared memory, the environment that brings the library into a program, and who sent
 * how much to whom. See mpi_wire.h.
 *
 *     struct as_mpi *mpi = as_mpi_open(&err);
 *     … run the program with as_mpi_environment(mpi, NULL) …
 *     struct as_mpi_messages messages = as_mpi_read(mpi);
 *     as_mpi_messages_free(&messages);
 *     as_mpi_close(mpi);
 */
#ifndef AS_AGENT_MPI_HOST_H
#define AS_AGENT_MPI_HOST_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct as_mpi_sum {
    uint64_t bytes, messages;           /* from one to one */
    uint64_t collective, contributions; /* of collective operations */
};

struct as_mpi_messages {
    size_t ranks;            /* 0: MPI was not initialised */
    int32_t *pids;           /* by rank; 0: it was not seen */
    struct as_mpi_sum *sums; /* from * ranks + to */
    uint64_t elsewhere;      /* messages of ranks that have no number here */
};

struct as_mpi;

struct as_mpi *as_mpi_open(struct as_error *err) AS_MUST_CHECK;
/* `base` (NULL: ours) with the library before what is preloaded there. Valid until the next call and as long as `mpi` and
 * `base`. */
char *const *as_mpi_environment(struct as_mpi *mpi, char *const *base);
struct as_mpi_messages as_mpi_read(const struct as_mpi *mpi);
void as_mpi_messages_free(struct as_mpi_messages *messages);
void as_mpi_close(struct as_mpi *mpi);

#endif
