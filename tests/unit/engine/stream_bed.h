/* A bed for streams: blocks of real bytes in a code table, words written by hand, and the calls of the sink as text.
 *
 * Blocks are named by their address. A line of the record is, for a block execution,
 *     1000[0,3) t c >1018 =2       block, instructions executed, taken, continues a rep, next, number of access words
 * and for the other calls "syscall 1", "return 1 -4", "signal 11 1003", "sigreturn".
 */
#ifndef AS_TESTS_STREAM_BED_H
#define AS_TESTS_STREAM_BED_H

#include "base/str.h"
#include "engine/code_table.h"
#include "engine/stream.h"
#include "engine/wire.h"

/* How a sequence is reported: in one way alone, without the end of its thread. */
enum { RECORDED_ONLY = 1, BLOCKS_ONLY = 2, NO_FINISH = 4 };

/* The code of bed_add_code. */
enum {
    MIX = 0x1000,        /* mov rax, [rdi]; add [rsi], rax; jne 1018 */
    CALLS = 0x1008,      /* push rax; call 2000 */
    BACK = 0x1018,       /* nop; jmp 1000 */
    REP = 0x1030,        /* nop; rep movsb */
    REP_AGAIN = 0x1031,  /* rep movsb, alone */
    LEAVES = 0x1033,     /* ret */
    MIX_REST = 0x1003,   /* add [rsi], rax; jne 1018 */
    SELF = 0x1100,       /* nop; mov [rdi], al; nop; ret */
    SELF_STORE = 0x1101, /* mov [rdi], al, alone */
    SELF_REST = 0x1103,  /* nop; ret */
    LOOP = 0x1200,       /* dec rcx; jne 1200 */
    BEHIND = 0x1205,     /* nop; nop; nop; ret */
    CALLED = 0x2000,     /* nop; ret */
    HANDLER = 0x3000,    /* mov eax, [rsp]; ret */
    RESTORER = 0x3100,   /* mov rax, 15; syscall */
    RESTORED = 0x3107,   /* syscall of the one before */
    SYSCALL = 0x3200,    /* nop; syscall */
};

struct bed {
    struct as_code_table code;
    AS_VEC(uint64_t) words; /* what the thread writes */
    uint32_t image;         /* of the blocks that are added: 1 x86-64, 2 RISC-V */
    struct as_regions regions;
    uint32_t threads;       /* that there are; 0: one */
    uint32_t disagreements; /* of the last run */
    uint64_t summed;        /* executions that came in tallies, in all runs of bed_expect */
    uint64_t together;      /* iterations that came many at a time, in all runs of bed_tell */
    uint32_t looks;         /* ahead that said where the thread is, in all runs: as_outlook_look */
};

/* How a run of the words is reported. */
struct bed_run {
    bool blocks_only;
    size_t split; /* consumed in two pieces, cut here (SIZE_MAX: word by word) */
    bool finish;  /* the thread ends behind the last word */
    bool count_words;
    bool cut; /* measuring ends behind the last word */
};

void bed_init(struct bed *bed);
void bed_free(struct bed *bed);

/* Adds a block: its instructions as hexadecimal bytes, separated by commas. Its id is the address. */
void bed_block(struct bed *bed, uint32_t address, const char *instructions);

void bed_add_code(struct bed *bed);
/* All anew: the code for an image whose landmarks are known when its blocks come; 0: none. */
void bed_set_landmarks(struct bed *bed, uint64_t from, uint64_t to);

/* Appending words. */
void bed_run_block(struct bed *bed, uint32_t address);
void bed_access(struct bed *bed, uint64_t kind, uint32_t index, uint64_t address, uint32_t size);
void bed_load(struct bed *bed, uint32_t index, uint64_t address, uint32_t size);
void bed_store(struct bed *bed, uint32_t index, uint64_t address, uint32_t size);
void bed_event(struct bed *bed, enum as_wire_event event, uint32_t number, const uint64_t *operands);
void bed_syscall(struct bed *bed, uint32_t number);
void bed_signal(struct bed *bed, uint32_t number, bool synchronous, uint64_t interrupted);
void bed_death(struct bed *bed, uint32_t number, uint64_t place);

void bed_mix(struct bed *bed, uint64_t address);                         /* all of MIX */
void bed_rep_iteration(struct bed *bed, uint32_t block, uint32_t index); /* of REP or REP_AGAIN */

/* Leaves out the accesses that a plugin without record_accesses would not write. The caller frees. */
uint64_t *bed_words_of_blocks_only(const struct bed *bed, size_t *n);

/* Runs the words through a stream; the record, which the caller frees. */
char *bed_tell(struct bed *bed, const struct bed_run *run);

/* Runs the words in one way, or whole, in two pieces cut at every place and word by word, with all accesses and with
 * those alone that vary (`how`: RECORDED_ONLY and so on); fails where the record is not `want`. */
void bed_expect(struct bed *bed, const char *want, const struct bed_run *run);
void bed_expect_always(struct bed *bed, const char *want, int how);

/* Runs the words in all these ways to a sink that takes sums; measuring ends behind them. Fails where the last execution is not one of
 * `from` that led to `next`; 0: there is none. */
void bed_expect_cut(struct bed *bed, uint64_t from, uint64_t next);

extern const struct as_sink bed_sink; /* context: a struct bed_record */
struct bed_record {
    struct as_str text;
    bool count_words;
    size_t together; /* iterations of rep instructions that came many at a time */
};

#endif
