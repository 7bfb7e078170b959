/* What Assay shares with the agent, the library that it preloads into programs: one memfd.
 *
 * A ring carries what happened to threads. Its slots have sequence numbers, so that many threads can write without
 * locks, also from signal handlers: a writer takes a position, fills the slot and publishes it; a full ring drops and
 * counts. Everything else is tables that writers add to with atomic operations: an *image* is a program from its exec
 * to its end; it has counters, the files that call sites are in, and the sites: a stack of return addresses with how
 * often memory was taken there, and how much.
 *
 * The program can write whatever it likes into this memory: Assay checks every number that it reads.
 */
#ifndef AS_AGENT_AGENT_WIRE_H
#define AS_AGENT_AGENT_WIRE_H

#include <stdatomic.h>
#include <stdint.h>

/* The environment variable that tells the agent where: "/proc/PID/fd/N DEPTH". */
#define AS_AGENT_VARIABLE "ASSAY_AGENT"

enum {
    AS_AGENT_MAGIC = 0x41674153,
    AS_AGENT_VERSION = 1,
    AS_AGENT_RING = 1 << 14, /* slots; a power of two */
    AS_AGENT_IMAGES = 256,
    AS_AGENT_SITES = 4096, /* of an image; a power of two */
    AS_AGENT_PROBES = 64,  /* places that a site may be in */
    AS_AGENT_FILES = 256,
    AS_AGENT_DEPTH = 16, /* frames */
    AS_AGENT_PATH = 240,
};

enum as_agent_kind { AS_AGENT_HEAP, AS_AGENT_MAPPED, AS_AGENT_KINDS };

enum as_agent_event { AS_AGENT_THREAD_START = 1, AS_AGENT_THREAD_END };

struct as_agent_slot {
    _Atomic uint64_t sequence;
    uint32_t event, pid, tid, reserved;
    uint64_t time; /* CLOCK_MONOTONIC, nanoseconds */
    char name[16]; /* the thread's; not always ended by a NUL */
};

struct as_agent_site {
    _Atomic uint64_t key; /* of the frames and the kind; 0: free */
    _Atomic uint64_t count, bytes;
    _Atomic uint32_t ready; /* what follows is written */
    uint32_t kind, frames;
    uint32_t reserved;
    uint64_t stack[AS_AGENT_DEPTH]; /* return addresses, innermost first */
};

struct as_agent_file {
    _Atomic uint64_t start; /* where it is mapped; 0: free. Written last */
    uint64_t end;
    char path[AS_AGENT_PATH]; /* "": the program itself */
};

enum as_agent_call {
    AS_AGENT_MALLOC,
    AS_AGENT_CALLOC,
    AS_AGENT_REALLOC,
    AS_AGENT_ALIGNED,
    AS_AGENT_MMAP,
    AS_AGENT_FREE,
    AS_AGENT_MUNMAP,
    AS_AGENT_CALLS
};

struct as_agent_image {
    _Atomic uint32_t pid; /* 0: not in use; written last */
    char program[AS_AGENT_PATH];
    _Atomic uint64_t calls[AS_AGENT_CALLS];
    _Atomic uint64_t bytes[AS_AGENT_KINDS];
    _Atomic uint64_t no_room; /* allocations at sites that found no place */
    _Atomic uint32_t files;
    struct as_agent_file file[AS_AGENT_FILES];
    struct as_agent_site site[AS_AGENT_SITES];
};

struct as_agent_wire {
    uint32_t magic, version;
    _Atomic uint32_t images;  /* that wanted to be here: may be more than there is room for */
    _Atomic uint64_t dropped; /* events that found the ring full */
    _Atomic uint64_t tail;    /* the next position to write */
    struct as_agent_slot ring[AS_AGENT_RING];
    struct as_agent_image image[AS_AGENT_IMAGES];
};

#endif
