/* The program's code: images with their modules, static instructions, blocks. It is filled from the messages of the
 * code lanes (wire.h). A block or instruction that is translated again unchanged stays the same object. */
#ifndef AS_ENGINE_CODE_TABLE_H
#define AS_ENGINE_CODE_TABLE_H

#include "base/map.h"
#include "base/vec.h"
#include "engine/engine.h"

struct as_code_insn {
    struct as_insn insn;
    uint32_t image;
    uint32_t
        generation; /* code that was written over other code is of another one, with all that was translated after it there */
    uint32_t version; /* how many others were at its address before, of blocks that differed */
    bool silent;      /* QEMU was seen not to report its accesses */
    struct as_code_insn *next_alike;
    struct as_code_insn *older; /* of made code: the one that was added before it at its address */
};

enum { AS_CODE_PAGES = 4096, AS_CODE_PAGE = 4096 };

/* What counting whole blocks needs to know of one, by the plugin's block id. */
struct as_block_gist {
    uint64_t address, end, target; /* as in as_block */
    uint64_t function;             /* the function that it jumps from, for blocks that are reported singly … */
    uint64_t function_size;        /* 0: not known */
    uint16_t n;                    /* instructions */
    uint8_t outcome;               /* enum as_outcome */
    bool bare;                     /* QEMU's translation of it reports only the accesses that vary */
    bool plain;                    /* it may be tallied: it always accesses the same, and holds no landmark */
    bool singly;                   /* in counted stretches its executions are reported one by one */
    bool entry;                    /* it begins a function, as far as is known; only if transfers are reported */
    bool targets;                  /* its tallies are reported by target */
    bool second_try;               /* it could be QEMU's second try of a single instruction: look closely */
};

struct as_code_table {
    AS_VEC(struct as_image *) images;
    struct as_block_pages by_id;                    /* by the plugin's block id; NULL: not announced yet */
    AS_VEC(struct as_block_gist) gists;             /* likewise */
    uint32_t doubts;                                /* raised when a block turns out not to be as the decoder says */
    AS_VEC(struct as_block *) blocks;               /* by as_block.index */
    struct as_code_insn *insn_pages[AS_CODE_PAGES]; /* by as_insn.id; pages never move, so observers on other threads
                                                       can read what was there when their batch was handed over */
    size_t n_insns;
    uint32_t generations;                    /* the newest */
    struct as_map pages;                     /* of made code: the generation of what was translated last on each page */
    uint32_t splits;                         /* instructions that are others for their generation alone */
    struct as_map insn_chains, block_chains; /* by what they are: place and bytes, place and instructions */
    struct as_map latest;                    /* instruction by place: the one translated last */
    struct as_map made;                      /* … of made code: the one added last */
    const struct as_regions *regions;        /* NULL: none */
    const char *debug_path;
    bool tell_transfers; /* executions that change call paths are reported one by one */
    bool tell_jumps;     /* tallies of blocks that end in an indirect jump are reported by target */
};

void as_code_table_free(struct as_code_table *table);
struct as_image *as_code_table_image(struct as_code_table *table, uint32_t number, enum as_arch arch);
/* A code message's words (behind the head word). False: malformed, which only a broken plugin could produce. */
bool as_code_table_add_block(struct as_code_table *table, const uint64_t *words, size_t n) AS_MUST_CHECK;
bool as_code_table_add_module(struct as_code_table *table, const uint64_t *words, size_t n) AS_MUST_CHECK;

static inline struct as_block *as_code_table_block(const struct as_code_table *table, uint32_t id)
{
    return id < table->by_id.len ? as_block_pages_get(&table->by_id, id) : NULL;
}

static inline struct as_code_insn *as_code_table_insn(const struct as_code_table *table, uint32_t id)
{
    return &table->insn_pages[id / AS_CODE_PAGE][id % AS_CODE_PAGE];
}

/* The instruction that was last translated at an address, or NULL. */
const struct as_insn *as_code_table_insn_at(const struct as_code_table *table, uint32_t image, uint64_t address);

/* How many different instructions of made code were translated at an address no later than the one with this id. */
uint32_t as_code_table_versions(const struct as_code_table *table, uint32_t image, uint64_t address, uint32_t id);

/* QEMU tries an instruction again with a block of that instruction alone; any other block that short ends in a control
 * transfer, a rep instruction or at the end of a page. */
bool as_block_may_be_second_try(const struct as_block *block);

/* Finds link_at and stack_at (block_stack.c). */
void as_block_find_stack(struct as_block *block);

/* A landmark lies at an address of an image. Blocks that are added afterwards know it. */
void as_sites_add(struct as_sites *sites, uint64_t address, uint32_t landmark);

/* The path of an image's program, as a message has it. False: it is malformed. */
bool as_code_table_add_program(struct as_code_table *table, const uint64_t *words, size_t n);
/* Likewise the path of a jitdump that a process of the image has mapped. */
bool as_code_table_add_dump(struct as_code_table *table, const uint64_t *words, size_t n);
/* The image of that number, or NULL. */
struct as_image *as_code_table_find_image(const struct as_code_table *table, uint32_t number);

#endif
