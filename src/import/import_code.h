/* The code of an import: modules, functions and instructions that samples refer to. See import_code.c. */
#ifndef AS_IMPORT_CODE_H
#define AS_IMPORT_CODE_H

#include "assay/insn.h"
#include "base/map.h"
#include "base/vec.h"
#include "perfdata/perf_spaces.h"
#include "store/store_write.h"

struct as_import_module {
    uint64_t base; /* address minus offset in the module */
    bool matched;  /* its file is here and is the one that was recorded */
    const char *path;
    int fd;                                /* -1: not open */
    struct as_map instructions, functions; /* by offset in the module; functions: number + 1 */
    struct as_map calls;                   /* by the offset of their last byte: the distance to their first byte */
};

/* An instruction that a sample refers to. Its line and the calls it was inlined through are filled in at the end. */
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
    uint64_t decoded; /* number of instructions with bytes */
};

/* A frame of a sample: the sampled address or a call that led to it, as in the recording. */
struct as_import_frame {
    uint32_t pid;
    enum as_perf_mode mode;
    uint64_t address;
    bool called;                      /* the address is the last byte of a call */
    const struct as_perf_frame *text; /* what perf script text says; NULL for other input */
    size_t n_inlined;                 /* preceding frames that were inlined into this one */
};

struct as_import_location {
    uint32_t module, function; /* function may be NONE */
    uint64_t address, offset;  /* address in the profile, offset in the module */
    uint64_t entry;            /* of the function, in the profile; 0: not known */
    enum as_perf_match match;
    bool unmapped; /* outside all modules, and without a name */
    uint64_t file_offset;
    struct as_perf_location recorded;
};

void as_import_code_open(struct as_import_code *code, struct as_store_writer *writer, struct as_perf_spaces *spaces);
void as_import_code_find(struct as_import_code *code, const struct as_import_frame *frame,
                         struct as_import_location *location);
uint32_t as_import_code_instruction(struct as_import_code *code, const struct as_import_frame *frame,
                                    const struct as_import_location *location);
/* Returns the call instruction whose last byte is at `location`, and moves `location` to its first byte. Returns NONE,
 * and changes nothing, if the file is not here or there is no call. */
uint32_t as_import_code_call(struct as_import_code *code, const struct as_import_frame *frame,
                             struct as_import_location *location);
/* Returns the module of a location that was found at `address`. */
uint32_t as_import_code_module(struct as_import_code *code, const struct as_perf_location *recorded, uint64_t address);
/* Call this after the last sample, before writing anything that refers to an instruction: finds source lines and writes
 * all code to the profile. */
void as_import_code_write(struct as_import_code *code);
void as_import_code_free(struct as_import_code *code);

#endif
