/* See fake_mpi.c. */
#ifndef AS_TESTS_FAKE_MPI_H
#define AS_TESTS_FAKE_MPI_H

#include <stdint.h>

enum {
    FAKE_WORLD = 0x44000000,  /* ranks 0 to 3; this is 1 */
    FAKE_TURNED = 0x44000005, /* ranks 3, 2, 1 of the world; this is its last */
    FAKE_OTHERS = 0x44000009, /* between communicators: the others are 2, and one that is beyond what is counted */
    FAKE_FIRST = 0x4400000d,  /* ranks 1 and 3 of the world; this is its first */
    FAKE_WINDOW = 0x66000001, /* ranks 3, 2, 1, 0 */
    FAKE_BYTE = 0x4c000101,
    FAKE_DOUBLE = 0x4c000808
};
extern int fake_mpi_result;
extern unsigned fake_mpi_asked; /* how often somebody asked who is in a communicator or a window */

#endif
