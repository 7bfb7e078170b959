/* The code of an import: modules, functions and instructions that samples met. See import_code.c. */
#ifndef AS_IMPORT_CODE_H
#define AS_IMPORT_CODE_H

#include "assay/insn.h"
#include "base/map.h"
#include "base/vec.h"
#include "perfdata/perf_spaces.h"
#include "store/store_write.h"

struct as_import_module {
    uint64_t base; /* address minus offset in the module */
    bool matched;  /* its file is here, the one that was recorded */
    const char *path;
    int fd;                                /* -1: not open */
    struct as_map instructions, functions; /* by offset in the module; functions: number + 1 */
    struct as_map calls;                   /* by the offset of their last byte: how far before it they begin */
};

/* An instruction that a sample has met; its line and what it was inlined from are known at the end. */
struct as_import_insn {
    uint64_t address, target;
    uint32_t module, function, file, line, inlined;
    struct as_perf_location recorded;
    char *text;
    const char *class_;
    uint8_t bytes[AS_INSN_MAX_BYTES], n_bytes;
};

struct as_import_code {
    struct as_store_writer *writer;
    struct as_perf_spaces *spaces;
    struct as_strings *module_keys, *file_keys, *inline_keys, *names;
    AS_VEC(struct as_import_module) modules;    /* by number */
    AS_VEC(struct as_import_insn) instructions; /* by number */
    size_t n_open, next_close;
    uint64_t decoded; /* instructions with bytes */
};

/* A frame of a sample: the sampled address, or a call that led to it, in the terms of the recording. */
struct as_import_frame {
    uint32_t pid;
    enum as_perf_mode mode;
    uint64_t address;
    bool called;                      /* it is the last byte of a call */
    const struct as_perf_frame *text; /* perf script text: what it says; else NULL */
    size_t n_inlined;                 /* frames before it that were inlined into it */
};

struct as_import_location {
    uint32_t module, function; /* function: or NONE */
    uint64_t address, offset;  /* in the profile, in the module */
    uint64_t entry;            /* of the function, in the profile; 0: unknown */
    enum as_perf_match match;
    bool unmapped; /* in no module, and nobody has a name for it */
    uint64_t file_offset;
    struct as_perf_location recorded;
};

void as_import_code_open(struct as_import_code *code, struct as_store_writer *writer, struct as_perf_spaces *spaces);
void as_import_code_find(struct as_import_code *code, const struct as_import_frame *frame,
                         struct as_import_location *location);
uint32_t as_import_code_instruction(struct as_import_code *code, const struct as_import_frame *frame,
                                    const struct as_import_location *location);
/* The call instruction whose last byte `location` is; `location` becomes its first. NONE, and nothing changes, where the file
 * is not here or there is no call. */
uint32_t as_import_code_call(struct as_import_code *code, const struct as_import_frame *frame,
                             struct as_import_location *location);
/* The module of a location that was found at `address`. */
uint32_t as_import_code_module(struct as_import_code *code, const struct as_perf_location *recorded, uint64_t address);
/* When there are no more: their lines, and all of them to the profile. Before whatever refers to one is written. */
void as_import_code_write(struct as_import_code *code);
void as_import_code_free(struct as_import_code *code);

#endif
