/* The engine: runs a program in QEMU's user mode and reports to a sink, in order for each guest thread, what it executed.
 *
 * The unit of a report is the execution of a block, a run of adjacent instructions that QEMU translated together. A
 * block execution states which of its instructions completed, the accesses that they made and where control went
 * afterwards. Nothing is dropped; a slow sink slows the program down.
 *
 * All calls of a sink come from the thread that called as_engine_run. Calls for one guest thread come in its order;
 * threads are interleaved in pieces, kept within `window` instructions of each other.
 */
#ifndef AS_ENGINE_ENGINE_H
#define AS_ENGINE_ENGINE_H

#include "assay/insn.h"
#include "base/error.h"
#include "base/map.h"
#include "base/run_end.h"
#include "base/shared_lines.h"
#include "base/vec.h"
#include "engine/clock_calls.h"
#include "isa/linear.h"
#include "region/region_run.h"
#include "symbol/space.h"

/* Where the landmarks of the regions lie in an image: a function can have an entry in each module. */
struct as_site {
    uint64_t address;
    uint32_t landmark; /* its number in the list of regions */
    uint32_t next;     /* + 1: another landmark at the same address; 0: none */
};
struct as_sites {
    AS_VEC(struct as_site) list;
    struct as_map by_address; /* index into the list + 1 */
};

/* A program image: what one execve brought into memory. Forked children share their parent's. */
struct as_image {
    uint32_t number; /* 1, 2 … */
    enum as_arch arch;
    char *program;        /* its path; NULL: not known */
    AS_VEC(char *) dumps; /* paths of the jitdumps that its processes mapped */
    struct as_space *space;
    struct as_sites sites;
};

/* Whether the bytes of an instruction do not determine how often it accesses memory: never, once, or many times. */
#define AS_INSN_VARIES (AS_INSN_COND_MEM | AS_INSN_MULTI_MEM | AS_INSN_REP)

enum as_block_flag {
    AS_BLOCK_VARIES = 1 << 0,    /* has instructions that do not access the same every time */
    AS_BLOCK_REP_FIRST = 1 << 1, /* its first instruction has a rep prefix */
    AS_BLOCK_REP_LAST = 1 << 2,  /* its last one has */
    AS_BLOCK_CHECKED = 1 << 3,   /* the accesses of one execution were compared with the decoder's word */
    AS_BLOCK_LANDMARK = 1 << 4,  /* holds a landmark of the regions */
    AS_BLOCK_DISAGREES = 1 << 5, /* … and that is not what the decoder says */
    AS_BLOCK_HINTS = 1 << 6,     /* has prefetches or cache-line flushes */
};

/* What a block's end does to control: falls through, either way, always leaves. */
enum as_outcome { AS_OUTCOME_FALLS, AS_OUTCOME_EITHER, AS_OUTCOME_LEAVES };

/* A prefetch or a cache-line flush: where it points, as a form of the registers at the block's start. */
struct as_hint {
    uint32_t index; /* of the instruction */
    uint8_t kind;   /* AS_ACCESS_PREFETCH or AS_ACCESS_FLUSH */
    struct as_linear address;
};

/* A line of code of 64 bytes, as a number: for what is compared between runs, which may cut blocks in other places. */
static inline uint64_t as_code_line(uint32_t image, uint64_t address)
{
    return (uint64_t)image << 48 | address >> 6;
}

enum { AS_BLOCK_DECIDERS = 2 };

struct as_block {
    uint32_t index; /* dense, from 0, in order of first translation */
    uint32_t image;
    uint32_t n; /* instructions */
    uint32_t flags;
    uint64_t address, end;
    uint64_t target; /* of its last instruction; 0: anywhere, UINT64_MAX: nowhere but on to `end` */
    /* Of one complete execution, as the decoder says, without the instructions that vary. */
    uint32_t loads, stores, load_accesses, store_accesses;
    uint8_t last_class;    /* enum as_class of its last instruction */
    uint8_t outcome;       /* enum as_outcome of its last instruction */
    int16_t link_at;       /* index of the last instruction that stores or loads a return address; -1: none */
    int16_t stack_at;      /* … that gives the stack pointer a value which is not relative to the old one; -1: none */
    bool sure_stores;      /* the following one does not only load */
    bool made;             /* by the program while it ran: other code may come to the same address */
    int32_t last_sure;     /* index of the last instruction that always accesses memory; -1: none */
    struct as_hint *hints; /* those with a known address */
    uint32_t n_hints;
    int16_t deciders[AS_BLOCK_DECIDERS]; /* loads whose value decides, the last first; -1: none. See decisions.h */
    bool publishes;                      /* it stores elsewhere than on the stack */
    struct as_block *next_alike;         /* in the code table's chain */
    struct as_access_codes *codes;       /* see access_words.h; NULL: not made */
    const struct as_insn *insns[];
};

/* Whether an execution of the block matters to call paths even where control goes straight on. */
static inline bool as_block_touches_stack(const struct as_block *block)
{
    return (block->link_at & block->stack_at) >= 0; /* -1: neither */
}

/* Whether the end of a completed block can lead to `next`. */
static inline bool as_block_leads_to(const struct as_block *block, uint64_t next)
{
    return (next == block->end && block->outcome != AS_OUTCOME_LEAVES) || next == block->target || block->target == 0;
}

/* A guest thread. Numbers count from 1 in order of appearance over all processes. A thread that executes another
 * program starts anew, with another image, under the same number. */
struct as_thread {
    uint32_t number, process;
    int32_t pid, tid;
    const struct as_image *image;
    uint32_t parent; /* of a forked process's first thread: the thread that forked; otherwise 0 */
    uint32_t
        creator; /* otherwise: the thread that made it by clone, if threads keep step (plugin/thread_step.h) and it runs; else 0 */
    char name[17]; /* what it has named itself by prctl so far (pthread_setname_np); otherwise empty */
    void *user;    /* the sink's own */
};

struct as_block_exec {
    const struct as_block *block;
    uint32_t first, end;   /* instructions [first, end) were executed */
    bool continues;        /* `first` is a further iteration of the rep instruction executed just before */
    bool taken;            /* control left the fall-through path after `end` */
    uint64_t next;         /* where the thread went; 0 unknown (it ended, or is in a system call) */
    const uint64_t *words; /* raw accesses: read them with as_accesses */
    size_t n_words;
    const uint64_t *registers; /* at the block's start, where it has hints; otherwise NULL */
    bool near;                 /* see as_sink.passed */
    uint32_t number; /* that words have for the block, where all of it was executed plainly: see as_sink.take. 0: not */
};

/* Instructions of an execution: a rep instruction counts once, whatever its iterations. */
static inline uint64_t as_block_exec_count(const struct as_block_exec *exec)
{
    return exec->end - exec->first - exec->continues;
}

/* Whole executions of a block that were not reported one by one. */
struct as_tally {
    uint64_t runs, taken;
    uint64_t next; /* of a block that ends in an indirect call (or jump, see as_sink.jumps): where all of them went */
};

/* Blocks by the numbers that words have. Pages never move, so other threads can look up blocks whose words they got. */
enum { AS_BLOCK_PAGE_BITS = 16 };
struct as_block_pages {
    struct as_block ***pages; /* NULL: no block yet */
    size_t len;               /* numbers at and above are not used yet */
};
static inline struct as_block *as_block_pages_get(const struct as_block_pages *blocks, uint32_t number)
{
    return blocks->pages[number >> AS_BLOCK_PAGE_BITS][number & ((1u << AS_BLOCK_PAGE_BITS) - 1)];
}

/* Consecutive whole executions of one thread as QEMU reported them: for each, the number of its block and then its
 * accesses, which access_words.h reads. The words are valid during the call. */
enum { AS_WORDS_MOST = 1024 };
struct as_exec_words {
    const uint64_t *words;
    size_t n;        /* at most AS_WORDS_MOST */
    size_t accesses; /* how many of them are accesses */
    uint64_t instructions;
    const struct as_block_pages *blocks;
};

/* What a thread executed from the block at hand on, in the words that QEMU wrote: accesses, and in front of those of other blocks the
 * blocks' numbers, which may have stamps (block_word.h). */
struct as_words_ahead {
    const uint64_t *words;
    size_t n;
    uint64_t left; /* instructions up to the next border: not that many may be taken */
    const struct as_block_pages *blocks;
    /* The sink moves these on: */
    uint32_t number;       /* of the block at hand */
    uint64_t time;         /* … its whole time, by its stamp (as_wire_time_of) */
    size_t at;             /* where its accesses begin */
    uint64_t instructions; /* of the blocks before it */
};

/* Consecutive executions where accesses are sieved: the accesses of block `first` that passed, the number of the block that it led to, the
 * accesses of that one, and so on. The last word is the number of a block whose execution is still to be reported. */
struct as_trail {
    uint32_t first;
    const uint64_t *words; /* an access has a kind (as_access_kind), the number of a block has none */
    size_t n;
    const struct as_block_pages *blocks;
};

struct as_access {
    uint32_t index; /* of the instruction in its block */
    uint32_t size;  /* bytes */
    uint64_t address;
    uint8_t kind; /* AS_ACCESS_LOAD, AS_ACCESS_STORE (both for an atomic), or AS_ACCESS_PREFETCH, AS_ACCESS_FLUSH */
};

/* Walks the accesses of a block execution in program order: pieces of one operand are joined, an atomic is one access.
 */
struct as_accesses {
    const struct as_block_exec *exec;
    size_t next, next_hint;
};
static inline struct as_accesses as_accesses_of(const struct as_block_exec *exec)
{
    return (struct as_accesses){.exec = exec};
}
/* The accesses of a kind that the decoder expects of an instruction that does not vary. */
uint32_t as_insn_count_accesses(const struct as_insn *insn, uint8_t kind);

bool as_insn_is_link(const struct as_insn *insn);          /* it stores or loads a return address */
bool as_insn_moves_pointer(const struct as_insn *insn);    /* the stack pointer gets a value from elsewhere */
uint8_t as_insn_stack_pointer(const struct as_insn *insn); /* the register, of its architecture */

bool as_accesses_next(struct as_accesses *accesses, struct as_access *access);

/* Whether each word of an execution is one access, and would be with any addresses: then the heads of the words say all
 * but the address. The whole block was executed. */
bool as_accesses_are_plain(const struct as_block_exec *exec);
enum { AS_ACCESS_ADDRESS_BITS = 48 };
static inline uint16_t as_access_head(uint64_t word)
{
    return (uint16_t)(word >> AS_ACCESS_ADDRESS_BITS);
}
static inline uint32_t as_access_index(uint64_t word) /* of the instruction in its block */
{
    return (uint32_t)(word >> 53 & 511);
}
static inline uint32_t as_access_size(uint64_t word) /* in bytes */
{
    return 1u << (word >> 50 & 7);
}
static inline uint64_t as_access_of_byte(uint64_t word) /* the same access, of a single byte */
{
    return word & ~(UINT64_C(7) << 50);
}
static inline uint8_t as_access_kind(uint64_t word) /* AS_ACCESS_LOAD, AS_ACCESS_STORE or both */
{
    return (uint8_t)(word >> 62);
}
static inline uint64_t as_access_address(uint64_t word)
{
    return (uint64_t)((int64_t)(word << (64 - AS_ACCESS_ADDRESS_BITS)) >> (64 - AS_ACCESS_ADDRESS_BITS));
}
/* Whether two words that follow each other may be pieces of one operand: of one instruction and kind, and adjacent. */
static inline bool as_access_may_join(uint64_t word, uint64_t next)
{
    const uint64_t same = UINT64_C(3) << 62 | UINT64_C(511) << 53, size = as_access_size(word);
    const unsigned unused = 64 - AS_ACCESS_ADDRESS_BITS;
    return ((word ^ next) & same) == 0 && (next - word) << unused == size << unused;
}

/* Memory that processes may share: a mapping of a file, of System V, or of no file, that children get. What lies at equal offsets
 * of equal objects is the same memory. */
struct as_mapping {
    uint64_t start, bytes;
    uint64_t object, offset; /* object 0: from here on the memory is not shared */
    const char *name;        /* the end of the file's path; "": none */
};
static inline uint64_t as_mapping_object(uint32_t major, uint32_t minor, uint64_t inode)
{
    uint64_t object = (uint64_t)(major << 20 | minor) << 40 ^ inode;
    return object ? object : 1;
}

struct as_engine;

/* What a consumer provides; any member may be NULL, but `block` only of one that stands in an as_sink_tee with another. */
struct as_sink {
    void (*thread_start)(void *context, struct as_thread *thread);
    void (*thread_end)(void *context, struct as_thread *thread);
    void (*block)(void *context, struct as_thread *thread, const struct as_block_exec *exec);
    /* If this is given and accesses are not recorded, whole executions of blocks that always access the same are only
     * counted, and reported here: each at the latest when the stretch or the thread ends. Much faster. With
     * `recorded_tallies` this is also done where accesses are recorded, for blocks whose accesses the decoder foretold
     * correctly. */
    void (*tally)(void *context, struct as_thread *thread, const struct as_block *block, const struct as_tally *tally);
    /* If this is given, accesses must be recorded. Whole executions of such blocks are then reported here at once,
     * still as words, instead of one by one. Where they are a sample (as_engine_options.sample), with the accesses that there are:
     * words of blocks without any are left out, and all are counted by `tally` as well. */
    void (*words)(void *context, struct as_thread *thread, const struct as_exec_words *words);
    /* Iterations of a rep instruction behind its first, which are the whole of a block each (as_access_words_iteration), many at a time; without
     * this, and where there are few, `block` is called for each of them. `instructions` is 0: they belong to the first. For
     * sinks that have `block`. */
    void (*iterations)(void *context, struct as_thread *thread, const struct as_exec_words *words);
    /* Whole executions from the block at hand on are offered here before they are reported by `block`. The sink takes those of blocks
     * whose number it knows from as_block_exec, that have the accesses which they had then and lead where they can lead
     * (as_block_leads_to, and not to a block of one instruction that lies in them), up to the first that is not like that. */
    void (*take)(void *context, struct as_thread *thread, struct as_words_ahead *ahead);
    /* What is executed in stretches that are only counted: instructions [first, end) of a block, so many times. Whole
     * blocks come summed up, before the stretch or the thread ends, as with `tally`, which a sink that has this must
     * not have. */
    void (*skipped)(void *context, struct as_thread *thread, const struct as_block *block, uint32_t first, uint32_t end,
                    uint64_t times);
    /* In such stretches: a rep instruction that was executed goes on with another iteration. */
    void (*iterated)(void *context, struct as_thread *thread, const struct as_insn *insn);
    void (*syscall)(void *context, struct as_thread *thread, uint32_t number, const uint64_t args[6]);
    void (*syscall_return)(void *context, struct as_thread *thread, uint32_t number, int64_t result);
    /* To a handler. A sink with `passed` is told of signals in counted stretches, too, and then of the block that comes next. */
    void (*signal)(void *context, struct as_thread *thread, uint32_t number, uint64_t interrupted);
    /* The thread's process has mapped or unmapped memory that processes can share, or was forked with it; wherever that is. */
    void (*mapping)(void *context, struct as_thread *thread, const struct as_mapping *mapping);
    void (*signal_return)(void *context, struct as_thread *thread);
    /* What comes from here on is of another stretch of the run, whichever thread executes it; called at the run's start
     * too. */
    void (*stretch)(void *context, const struct as_stretch *stretch);
    /* Measuring ends, before `stretch` says so: the last execution of the thread that was measured is one of `from`, to its
     * end, and led to `next`, which is not measured any more. Not called for a thread that stopped within a block, that is in
     * a system call, or of which nothing was measured. */
    void (*cut)(void *context, struct as_thread *thread, const struct as_block *from, uint64_t next);
    /* Where this is given, accesses of counted stretches go through a sieve (sieve.h) instead of not being recorded,
     * and all executions that have accesses beyond it, or end in a call, a return or a jump, are reported here, in order, besides
     * being counted. There may be more accesses than the sieve lets through. In the last instructions before a border
     * (as_region_run_near) all executions are, as `near`, with where they led. */
    void (*passed)(void *context, struct as_thread *thread, const struct as_block_exec *exec);
    /* Where this is given, most of the executions that are `near` are reported here, many at a time. Calls, returns and jumps
     * between functions are reported by `passed` as well, as far as they still matter, but not as `near`. */
    void (*trail)(void *context, struct as_thread *thread, const struct as_trail *trail);
    /* Accesses were not recorded, for as long as a counted stretch allowed it, and are from here on. If the program has one
     * thread, it waits at this very instruction. */
    void (*gap_end)(void *context);
    bool recorded_tallies; /* see `tally` */
    bool jumps;            /* tallies of blocks that end in an indirect jump are reported by target, too */
    bool unmeasured;       /* it is also given what only warms or settles: see `stretch` */
    bool all_calls;        /* it is given system calls and their returns wherever they are made */
    /* Simulated time of a thread: where this is given, the thread that is behind goes first. */
    uint64_t (*clock)(void *context, const struct as_thread *thread);
    /* … at which an atomic of the thread would be served, if it came now: not before another thread's core lets go of its line. May be NULL: at
     * once. Clocks are exact when this is asked. */
    uint64_t (*turn)(void *context, const struct as_thread *thread);
    /* Whether threads use the same lines these days: then they are read in small pieces, close to each other in time. */
    bool (*shares)(void *context);
    /* All threads are about to be read once more: clocks and `shares` need not change before the next round, and may be those of a round before
     * it unless they have to be exact. */
    void (*round)(void *context, bool exactly);
    /* Threads that wait for each other (handover.h): what the thread has stored so far can be seen from here on, and later that a
     * thread has seen it, so that it goes on no earlier. Marks are numbered. `word`: the address that it looked at, 0 if the kernel woke
     * it; `atomic`: what saw it is one. */
    void (*show)(void *context, struct as_thread *thread, uint32_t mark);
    void (*await)(void *context, struct as_thread *thread, uint32_t mark, uint64_t word, bool atomic);
    /* Memory that the thread's process shares with others. The ranges change as mappings are told; the pointer stays. Threads that wait
     * for each other are looked at before they are read, so memory that will be mapped is told before `mapping` tells it. */
    const struct as_shared_ranges *(*shared)(void *context, const struct as_thread *thread);
    void (*foresee)(void *context, struct as_thread *thread, const struct as_mapping *mapping);
};

/* Where accesses are a sample: what is nearer than so many granules cannot be told apart. Of one thread, an access is left out if its granule
 * is one of the last two that were reported; a sample of half of the granules, the largest that is one, has those 64 granules apart with a
 * chance of 2^-58. */
enum { AS_SAMPLE_NEAR = 64 };

struct as_engine_options {
    char *const *argv;  /* the program and its arguments */
    const char *qemu;   /* NULL: found on PATH by architecture */
    const char *plugin; /* NULL: found beside the program */
    uint64_t window;    /* instructions a thread may run ahead of its process's slowest running one; 0: no limit */
    uint64_t quantum;   /* cycles of simulated time that threads may be apart, where the sink has clocks; 0: no limit */
    bool causal;        /* a block that decides is reported after those that it depends on: see causal_reading.h */
    bool handovers;     /* threads that wait for each other do so in simulated time, too: see handover.h */
    bool deterministic; /* … and one thread executes at a time, in a fixed order: see pace.h */
    const struct as_regions *regions; /* the parts of the run that the sink sees; NULL: all of it */
    const _Atomic uint32_t *switches; /* how often the user asked to start or stop; NULL: he cannot */
    bool stdout_to_stderr;            /* the program's standard output goes to standard error */
    bool discard_stdout;              /* … goes nowhere */
    bool no_follow;                   /* programs that the program executes run untraced */
    char *const *environment;         /* the program's; NULL: ours */
    bool blocks_only; /* leave out the accesses that the code determines: much faster, as_accesses then sees few */
    /* … but not those to a sample of the granules (of 1 << sample_shift bytes), and all that lie in two of them. A granule is sampled if its
     * number, of the address's 48 bits, times AS_RANDOM_STEP is at most *sample, which may fall while the program runs. There may be
     * more; and of a process with one thread there are fewer, once *sample has fallen: plugin/sample_filter.h. NULL: no sample */
    const _Atomic uint64_t *sample;
    uint32_t sample_shift;
    bool stacks;            /* … but not those by which the stacks of call paths are told apart */
    bool observed;          /* other threads of ours work on what the sink is given, and need the processors too */
    const char *debug_path; /* see struct as_space_options */
    void (*tick)(void *tick_context); /* called now and then, for progress; may be NULL */
    void *tick_context;
    /* Called when a stretch has begun, after the sink; there as_engine_twin may be called. NULL: not. */
    void (*border)(void *border_context, const struct as_stretch *stretch);
    void *border_context;
};
#define AS_ENGINE_OPTIONS_DEFAULT                                                                                      \
    {                                                                                                                  \
        .window = 100000                                                                                               \
    }

struct as_engine_result {
    struct as_run_end end;
    bool started;             /* the program executed at least one instruction */
    bool region_reached;      /* false: nothing of any region was executed */
    bool from_start;          /* the only region, if there is one, begins with the program */
    uint64_t executed;        /* instructions until the run ended, in regions or not */
    uint64_t blind;           /* instructions of regions whose accesses were not recorded yet */
    uint32_t region_troubles; /* regions that did not go as asked … */
    char region_trouble[512]; /* … and what happened to the first of them */
    double seconds;           /* wall-clock, from the start of QEMU to the last record */
    uint32_t processes, threads;
    uint32_t untraced;                    /* programs that were executed outside QEMU */
    uint32_t left_running;                /* processes still alive when the program ended; they go on untraced */
    uint32_t disagreements;               /* blocks of code whose accesses are not what the decoder says */
    uint64_t clock_calls[AS_CLOCK_CALLS]; /* system calls by kind, in regions or not */
    char first_untraced[256];
};

/* After a run: what a person should know if the program waits for the clock. NULL: it does not. */
const char *as_engine_clock_note(const struct as_engine_result *result);

enum { AS_ENGINE_PART = 128 };
/* After a run: which part of it `measured` instructions are, in words ("the first 1,000 instructions of an unknown
 * number"). False: all of it. */
bool as_engine_part(const struct as_engine_result *result, uint64_t measured, char *text, size_t size);
/* After a run: false with a message if nothing was measured because the part that was asked for never came. */
bool as_engine_check_reached(const struct as_engine_result *result, uint64_t measured,
                             struct as_error *err) AS_MUST_CHECK;
/* … because of that or of anything else: for what cannot go on without. */
bool as_engine_check_measured(const struct as_engine_result *result, uint64_t measured,
                              struct as_error *err) AS_MUST_CHECK;

/* Finds the program and QEMU and starts both. NULL: the program cannot be run, or Assay fails. `options` must live as
 * long as the engine. */
struct as_engine *as_engine_start(const struct as_engine_options *options, struct as_error *err) AS_MUST_CHECK;

/* Reads to the end of the program or of the region. False only for failures of Assay itself. */
bool as_engine_run(struct as_engine *engine, const struct as_sink *sink, void *context, struct as_engine_result *result,
                   struct as_error *err) AS_MUST_CHECK;

/* Makes a copy of the run (twin.h), in a process of its own; only while a border is being reported, and while the program has one
 * thread. Returns 0 in the copy, which goes on with what the original reads, up to as_engine_twin_end; there it calls
 * `at_end`, which must end the process. Returns the copy's process number in the original; -1: failed. In the copy only
 * memory is as it was: it has no other threads. */
pid_t as_engine_twin(struct as_engine *engine, void (*at_end)(void *context), void *context,
                     struct as_error *err) AS_MUST_CHECK;
/* In the original: the copy that was made last gets nothing more. */
void as_engine_twin_end(struct as_engine *engine);
/* In the copy: the stretch that has just begun has another mode there. */
void as_engine_treat_as(struct as_engine *engine, enum as_mode mode);
/* Whether one thread of one process is all that runs. */
bool as_engine_is_single(const struct as_engine *engine);

/* The path of the QEMU that programs of an architecture run in; "": none was found. */
const char *as_engine_qemu(const struct as_engine *engine, enum as_arch arch);

/* Instructions executed so far, roughly: for progress. */
uint64_t as_engine_progress(const struct as_engine *engine);

/* All blocks that were translated, by their index. Blocks, instructions, images and threads live as long as the engine
 * (threads only until their thread_end). */
const struct as_block *as_engine_block(const struct as_engine *engine, size_t index);
size_t as_engine_count_blocks(const struct as_engine *engine);
/* The instruction that was last translated at an address of an image, or NULL. */
const struct as_insn *as_engine_insn_at(const struct as_engine *engine, uint32_t image, uint64_t address);
/* The static instruction of an id, NULL where there is none. */
const struct as_insn *as_engine_insn(const struct as_engine *engine, uint32_t id);
size_t as_engine_count_insns(const struct as_engine *engine);
/* Where an instruction is, by its id: also where the program has put other code there since. */
void as_engine_locate(const struct as_engine *engine, uint32_t id, struct as_location *location);
uint32_t as_engine_insn_image(const struct as_engine *engine, uint32_t id);
/* The list of regions, empty where there is none; and what became of a region, by its place in it. */
const struct as_regions *as_engine_regions(const struct as_engine *engine);
struct as_region_outcome as_engine_region(const struct as_engine *engine, uint32_t region);
const struct as_image *as_engine_image(const struct as_engine *engine, uint32_t number);

void as_engine_free(struct as_engine *engine); /* NULL is fine */

#endif
