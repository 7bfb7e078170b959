/* A line that went from one core's caches to another's, or whose other copies had to go: what coherence did, and whose
 * access had to wait for it.
 *
 * The waiting side is the access that asked (`to`). The other side (`from`) made it wait: the thread that wrote the line
 * last, as far as its copy is still in a private cache; where nobody wrote it, one that has read it. Bytes overlap
 * (`overlaps`) where the access touches a byte that the other side wrote since it owned the line (or, where it only read
 * the line, that its first read touched): true sharing. Otherwise only the line is shared: false sharing.
 *
 * Transfers come in the order in which the model meets them: for each waiting thread in program order of its loads and
 * drains, between threads by simulated time but for the quantum in which threads run.
 */
#ifndef AS_CORE_TRANSFER_H
#define AS_CORE_TRANSFER_H

#include <stdbool.h>
#include <stdint.h>

enum as_transfer_kind {
    AS_TRANSFER_READ,    /* a load fetched a line that another core could write */
    AS_TRANSFER_WRITE,   /* a store or an atomic fetched it, and the others' copies went */
    AS_TRANSFER_UPGRADE, /* a store or an atomic had the line; only the others' copies went */
};

#define AS_TRANSFER_NO_INSN UINT32_MAX /* not known: it was written before the model watched */

struct as_transfer {
    uint64_t time;      /* of the request, in cycles of the machine's own time */
    uint64_t line;      /* address of its first byte, as the process sees it; physical in shared memory */
    uint32_t offset;    /* of the access's first byte in the line */
    uint32_t size;      /* bytes of the access in this line */
    uint32_t process;   /* of the waiting thread; 0 in shared memory (shared_lines.h) */
    uint32_t from, to;  /* threads (numbers from 1) */
    uint32_t from_insn; /* as_insn.id: the last write of the line, or its first read there; AS_TRANSFER_NO_INSN */
    uint32_t to_insn;   /* … of the access that waited */
    uint32_t from_core, to_core;
    uint32_t cycles; /* from the request to the line's arrival, or to the last copy's end */
    uint8_t kind;    /* enum as_transfer_kind */
    bool written;    /* `from` wrote the line: data was communicated. False: it had only read it */
    bool overlaps;   /* true sharing; false: false sharing */
    bool other_socket;
};

/* Called by the thread that runs the cores. */
typedef void as_on_transfer(void *context, const struct as_transfer *transfer);

#endif
