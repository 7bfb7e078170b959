/* What is known of the communication of a program, wherever it ran: threads, matrices, contacts, and how to name the code
 * and the data of a contact. A run in the model fills it (comm_run.h), and so does one on the machine (comm_native.h). */
#ifndef AS_COMM_COMM_RESULT_H
#define AS_COMM_COMM_RESULT_H

#include "comm/contact.h"
#include "comm/detect.h"
#include "comm/pair_matrix.h"
#include "comm/pattern.h"
#include "model/guest_memory.h"
#include "symbol/space.h"

enum { AS_COMM_PATHS = 4 };

struct as_comm_thread {
    uint32_t number, process, core;
    int32_t pid, tid;
    uint64_t stack_start, stack_end; /* of its stack, as far as it is known; 0 */
    uint32_t paths[AS_COMM_PATHS];   /* some that it was in, 0: none; their outermost frames are the thread's */
    const char *start;               /* the function that it began with; NULL: its paths may tell */
    char comm[16];                   /* the kernel's name for it; "": unknown */
};

/* What the numbers in contacts mean. */
struct as_comm_names {
    struct as_space *(*space)(void *context, uint32_t process, uint64_t insn); /* that it was executed in; NULL */
    uint64_t (*address)(void *context, uint64_t insn);
    /* The frames of a path, the innermost first: addresses in functions. Fills at most `n` and returns how many it has;
     * *space: whose addresses they are. */
    size_t (*frames)(void *context, uint32_t path, uint64_t *functions, size_t n, struct as_space **space);
    /* Both know better than by address where code was that the program replaced by other code. NULL: by address. */
    void (*locate)(void *context, uint64_t insn, struct as_location *location);
    const char *(*frame_name)(void *context, uint32_t path, size_t frame);
    bool cut; /* paths may end before the thread's first function: code without frame pointers */
    void *context;
};

struct as_comm_result {
    const char *source;                   /* "model", "timer", "pmu" */
    bool is_time;                         /* estimates are nanoseconds, not transfers: the source samples by time */
    const struct as_comm_thread *threads; /* in the order of the matrices' rows */
    size_t n_threads;
    const struct as_pair_matrix *estimate, *exact; /* NULL: there is none */
    const struct as_contacts *contacts;            /* the exact ones where there are any */
    struct as_guest_memory *memory;        /* of a program in the model; NULL: on the machine, where there are */
    struct as_guest_memory *blocks;        /* … the blocks that the agent saw, */
    const struct as_guest_region *regions; /* … and regions: later ones hold where two cover an address */
    size_t n_regions;
    struct as_detect_counts detect;
    struct as_comm_names names;
};

/* "main", "worker": the outermost function of a thread that the program itself has. Where paths may lack functions, those without frame
 * pointers, and nothing else tells, the kernel's name for the thread; "" where that is unknown, too. */
const char *as_comm_thread_name(const struct as_comm_result *result, const struct as_comm_thread *thread);
/* Of the matrix that is exact, or of the estimate where none is. */
struct as_pattern_found as_comm_pattern(const struct as_comm_result *result);
/* What an instruction of a contact is. False: nothing is known of it. */
struct as_comm_location {
    uint64_t address;
    struct as_location location;
    struct as_line line; /* file NULL: unknown */
};
bool as_comm_locate(const struct as_comm_result *result, uint32_t process, uint64_t insn,
                    struct as_comm_location *location);
/* "worker+0x1c at prog.c:12", "worker+0x1c" without lines: a line can have several instructions. The caller frees. */
char *as_comm_code_text(const struct as_comm_result *result, uint32_t process, uint64_t insn);
/* The names of the functions of a path, the innermost first; at most `n` of them. Returns how many there are. They live as
 * long as the result. */
size_t as_comm_frames(const struct as_comm_result *result, uint32_t path, const char **names, size_t n);
/* The space that a contact's instruction belongs to; NULL: unknown. */
struct as_space *as_comm_space(const struct as_comm_result *result, uint32_t process, uint64_t insn);
/* The block of the program's allocator that had an address last; NULL: unknown. */
const struct as_guest_block *as_comm_block(const struct as_comm_result *result, uint32_t process, uint64_t address);
/* "counters[3].hits", "counters+0x18" without types, "0x7f…" without a symbol. The caller frees. */
char *as_comm_address_text(struct as_space *space, uint64_t address);

#endif
