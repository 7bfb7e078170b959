/* The memory that Assay shares with the agent, the library that it preloads into programs: one memfd.
 *
 * A ring carries thread events. Its slots have sequence numbers, so that many threads can write without locks, also
 * from signal handlers: a writer takes a position, fills the slot and publishes it; a full ring drops and counts. The
 * rest is tables that writers update with atomic operations. An *image* is a program from its exec to its end. It has
 * counters, the files that call sites are in, and the sites: a stack of return addresses with the number of allocations
 * there, their bytes, the bytes not freed, and the bytes live at the program's peak.
 *
 * The file ends behind the images. If Assay wants to know which block had an address, it is longer: each image then has a
 * table of blocks behind them, in which a block stays after its free until another one takes its memory.
 *
 * The program can write anything into this memory, so Assay checks every number that it reads.
 */
#ifndef AS_AGENT_AGENT_WIRE_H
#define AS_AGENT_AGENT_WIRE_H

#include <stdatomic.h>
#include <stdint.h>

/* The environment variable that names the place for the agent: "/proc/PID/fd/N DEPTH". Or, in a program that runs in the model,
 * AS_AGENT_MODEL: then each block is a system call that no kernel knows, which the engine sees: its call, address, bytes and
 * AS_AGENT_MODEL_FRAMES return addresses. Nothing else is counted. */
#define AS_AGENT_VARIABLE "ASSAY_AGENT"
#define AS_AGENT_MODEL "model"
enum { AS_AGENT_MODEL_CALL = 0x41537361, AS_AGENT_MODEL_FRAMES = 3 };

enum {
    AS_AGENT_MAGIC = 0x41674153,
    AS_AGENT_VERSION = 4,
    AS_AGENT_RING = 1 << 14, /* slots; a power of two */
    AS_AGENT_IMAGES = 256,
    AS_AGENT_SITES = 4096, /* of an image; a power of two */
    AS_AGENT_PROBES = 64,  /* places that a site may be in */
    AS_AGENT_FILES = 256,
    AS_AGENT_DEPTH = 16, /* frames */
    AS_AGENT_PATH = 240,
    AS_AGENT_BLOCKS = 1 << 21,     /* of an image; a power of two */
    AS_AGENT_BLOCK_SITE = 1 << 16, /* more than there are sites */
};

enum as_agent_event { AS_AGENT_THREAD_START = 1, AS_AGENT_THREAD_END };

struct as_agent_slot {
    _Atomic uint64_t sequence;
    uint32_t event, pid, tid, reserved;
    uint64_t time; /* CLOCK_MONOTONIC, nanoseconds */
    char name[16]; /* the thread's; not always ended by a NUL */
};

enum as_agent_call {
    AS_AGENT_MALLOC,
    AS_AGENT_CALLOC,
    AS_AGENT_REALLOC,
    AS_AGENT_ALIGNED,
    AS_AGENT_MMAP,
    AS_AGENT_CALLS
};

/* Behind the sites: one for each call, without a stack, for what found no place. */
enum { AS_AGENT_ALL_SITES = AS_AGENT_SITES + AS_AGENT_CALLS };

struct as_agent_site {
    _Atomic uint64_t key; /* of the frames and the call; 0: free */
    _Atomic uint64_t count, bytes;
    _Atomic uint64_t freed, freed_bytes; /* of these; or it is not known whether they were */
    _Atomic uint64_t peak, peak_bytes;   /* blocks that were not freed when the image's at_peak was noted */
    _Atomic uint32_t ready;              /* what follows is written */
    uint32_t call, frames;
    uint32_t reserved;
    uint64_t stack[AS_AGENT_DEPTH]; /* return addresses, innermost first */
};

struct as_agent_file {
    _Atomic uint64_t start; /* where it is mapped; 0: free. Written last */
    uint64_t end;
    char path[AS_AGENT_PATH]; /* "": the program itself */
};

struct as_agent_image {
    _Atomic uint32_t pid; /* 0: not in use; written last */
    char program[AS_AGENT_PATH];
    _Atomic uint64_t munmaps;
    _Atomic uint32_t tracks;    /* 1: there is a table of blocks */
    _Atomic uint32_t other;     /* 1: the program calls another malloc than the agent's */
    _Atomic uint32_t noting;    /* somebody is at the sites' peak */
    _Atomic uint64_t live;      /* bytes of the heap that are not freed */
    _Atomic uint64_t taken;     /* blocks that were reported to the table, placed or not */
    _Atomic uint64_t unplaced;  /* of these, blocks that found no place in it */
    _Atomic uint32_t remembers; /* 1: there is a table of blocks for Assay */
    _Atomic uint64_t peak;      /* the most that live ever was */
    _Atomic uint64_t at_peak;   /* what live was when the sites' peak was noted */
    _Atomic uint64_t untracked; /* blocks that found no place: freed at once, as far as the sites go */
    _Atomic uint64_t untracked_bytes;
    _Atomic uint64_t unknown; /* frees of blocks that had found no place, or came from before the agent */
    _Atomic uint64_t moved;   /* of the sites' freed and of unknown: those that were no calls of free */
    _Atomic uint32_t sites;   /* in use: order[0] … are their numbers */
    _Atomic uint32_t order[AS_AGENT_SITES];
    _Atomic uint32_t files;
    struct as_agent_file file[AS_AGENT_FILES];
    struct as_agent_site site[AS_AGENT_ALL_SITES];
};

/* A block and what it had last. */
struct as_agent_block {
    _Atomic uint64_t start;    /* 0: free */
    _Atomic uint64_t what;     /* bytes * AS_AGENT_BLOCK_SITE + site */
    _Atomic uint64_t sequence; /* taken, when it was; written last */
};

struct as_agent_wire {
    uint32_t magic, version;
    _Atomic uint32_t images;  /* that wanted to be here: may be more than there is room for */
    _Atomic uint64_t dropped; /* events that found the ring full */
    _Atomic uint64_t tail;    /* the next position to write */
    struct as_agent_slot ring[AS_AGENT_RING];
    struct as_agent_image image[AS_AGENT_IMAGES];
};

#define AS_AGENT_TABLE (AS_AGENT_BLOCKS * sizeof(struct as_agent_block))
#define AS_AGENT_WITH_BLOCKS (sizeof(struct as_agent_wire) + AS_AGENT_IMAGES * AS_AGENT_TABLE) /* bytes of the file */

#endif
