/* The code whose blocks are counted: modules, the functions of them that matter, their instructions and basic blocks.
 *
 * Everything is in the addresses of the files, so what several processes ran of one file is one block. A caller first
 * says which instructions it saw (executed, sampled, or at an end of a branch); as_cfg_build then decodes the whole of
 * every function that was seen, from its file, and cuts it into blocks. So code that never ran is there too, with a
 * count of nothing; of samples also the parts of such a function that were moved away (f.cold). Code without a file (JIT,
 * vdso) consists of the instructions that were handed over.
 *
 * Where decoding runs across an address that was seen, the bytes before were no code: what was seen is right. If an
 * instruction was executed at both places (a branch past a lock prefix), each is in a block of its own, and the blocks
 * overlap: the first ends behind the start of the second.
 */
#ifndef AS_BLOCKS_CFG_H
#define AS_BLOCKS_CFG_H

#include "assay/insn.h"
#include "base/error.h"
#include "base/vec.h"
#include "symbol/landing.h"
#include "symbol/module.h"

enum { AS_CFG_NONE = UINT32_MAX };

enum as_cfg_flag {
    AS_CFG_FALLS = 1 << 0,   /* control can go on behind it: falls through, or comes back from a call */
    AS_CFG_ENTRY = 1 << 1,   /* the first of its function */
    AS_CFG_TARGET = 1 << 3,  /* a branch leads to it, or was seen to */
    AS_CFG_CASE = 1 << 4,    /* of samples: a jump table leads to it */
    AS_CFG_PADDING = 1 << 2, /* nothing but no-operations that nothing leads to: fills space between code */
};

struct as_cfg_block {
    uint64_t start, end;      /* [start, end) */
    uint64_t last;            /* the address of its last instruction */
    uint64_t target;          /* where that branches or calls to; 0: nowhere, or anywhere */
    uint32_t n_insns, n_uops; /* at least 1 */
    uint32_t first_insn;      /* in the module's list */
    uint32_t function;
    uint8_t last_class; /* enum as_class */
    uint8_t flags;
};

struct as_cfg_function {
    uint64_t start, end;
    char *name;          /* as people read it: "main", "libc.so.6+0x1234" */
    const char *linkage; /* as in the symbol table; NULL: it has no symbol */
    bool local;          /* its symbol is */
    uint32_t first, n;   /* blocks */
};

/* Of exact counts: whether the code that ran is one, and that of the file. */
enum as_cfg_code {
    AS_CFG_CODE_ONE,
    AS_CFG_CODE_MIXED, /* different bytes ran at one address: of several files at this path, or the program changed them */
    AS_CFG_CODE_GONE, /* it is of a file that was at the path before or after the one that is there (code_versions.h) */
    AS_CFG_CODE_OTHER, /* the file has other bytes there, at the end of the run */
};

struct as_cfg_module {
    char *path;       /* as people know it: where the program had it */
    char *file;       /* where it is read: a copy of it may be elsewhere */
    const char *name; /* the last component of its path */
    enum as_arch arch;
    bool has_code; /* its file can be read: functions are complete */
    enum as_cfg_code code;
    uint64_t code_differs; /* the lowest address where it does, if it is mixed or other */
    struct as_module symbols;
    AS_VEC(struct as_cfg_function) functions; /* by address */
    AS_VEC(struct as_cfg_block) blocks;       /* by address */
    AS_VEC(uint64_t) insns;                   /* addresses, those of a block side by side */
    as_landing_pads pads;
    struct as_cfg_seen *seen; /* until it is built */
};

/* What is wrong with the counts of a module whose code is not one or not the file's, as a sentence's end; NULL: nothing. */
const char *as_cfg_code_problem(const struct as_cfg_module *module);

struct as_cfg;
struct as_cfg_options {
    const char *debug_path; /* as in struct as_space_options */
};
struct as_cfg *as_cfg_new(const struct as_cfg_options *options); /* NULL: defaults */
void as_cfg_free(struct as_cfg *cfg);

/* The architecture of a file; false: it is of none that can be decoded. */
bool as_cfg_arch(const char *path, enum as_arch *arch);
/* The number of the module of this path: dense, from 0, in order of first appearance. */
uint32_t as_cfg_module_of(struct as_cfg *cfg, const char *path, enum as_arch arch);
/* The same of a file that is a copy of what a program had at another path: one module for each such file. */
uint32_t as_cfg_module_at(struct as_cfg *cfg, const char *file, const char *path, enum as_arch arch);

/* An instruction begins at this address of the module. */
void as_cfg_see(struct as_cfg *cfg, uint32_t module, uint64_t address);
/* Something was seen there, but nobody knows whether an instruction begins: only its function is wanted. */
void as_cfg_touch(struct as_cfg *cfg, uint32_t module, uint64_t address);
/* As as_cfg_see, for code that is in no file: the address and target in `insn` are those of the module. */
void as_cfg_see_insn(struct as_cfg *cfg, uint32_t module, const struct as_insn *insn);
/* A branch was seen to go there: a block begins. */
void as_cfg_lead(struct as_cfg *cfg, uint32_t module, uint64_t address);
/* A block begins, though no branch leads there: the instruction before was executed more or less often. */
void as_cfg_cut(struct as_cfg *cfg, uint32_t module, uint64_t address);

void as_cfg_build(struct as_cfg *cfg); /* see nothing more afterwards */

size_t as_cfg_count_modules(const struct as_cfg *cfg);
struct as_cfg_module *as_cfg_get(const struct as_cfg *cfg, uint32_t module);
/* The block that holds an address, of those that overlap the one that begins last; AS_CFG_NONE: none does. */
uint32_t as_cfg_find(const struct as_cfg *cfg, uint32_t module, uint64_t address);
/* The block that begins at an address. */
uint32_t as_cfg_find_start(const struct as_cfg *cfg, uint32_t module, uint64_t address);
/* The block that begins where this one ends: the next one, unless that overlaps it. */
uint32_t as_cfg_find_behind(const struct as_cfg_module *module, uint32_t block);
/* Whether an instruction begins there. */
bool as_cfg_is_insn(const struct as_cfg *cfg, uint32_t module, uint64_t address);
uint32_t as_cfg_find_function(const struct as_cfg *cfg, uint32_t module, uint64_t address);

/* Whether a block ends with a call. */
static inline bool as_cfg_calls(const struct as_cfg_block *block)
{
    return block->last_class == AS_CLASS_CALL || block->last_class == AS_CLASS_CALL_INDIRECT;
}

/* Whether a function of this name is what somebody calls `wanted`: "work(int)" is also "work", and so are "work.cold" and
 * "work.isra.0". */
bool as_cfg_is_called(const char *name, const char *wanted);
/* Whether a symbol is of a part of a function that the compiler moved away: "work.cold" of "work". */
bool as_cfg_is_part(const char *name, const char *whole);
/* Whether the module's file has a function of this name, whether it was seen or not. */
bool as_cfg_has_symbol(const struct as_cfg_module *module, const char *wanted);

/* The lines of a block, of those in the file that its first line is in. */
struct as_cfg_lines {
    const char *file;
    int first, last;
};
bool as_cfg_lines_of(struct as_cfg *cfg, uint32_t module, uint32_t block,
                     struct as_cfg_lines *lines); /* false: unknown */

/* The debug information of a module, NULL where it has none. */
struct as_debug *as_cfg_debug(struct as_cfg *cfg, uint32_t module);

#endif
