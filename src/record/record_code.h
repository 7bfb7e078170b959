/* The code of a modelled run in a profile: modules, functions, files, lines, inlined calls, blocks, instructions.
 *
 * A program that was executed several times (make and its compilers) appears once, and so does a library that several
 * programs use: a file (by path and build-id) is one module wherever it was mapped, and the same bytes at the same
 * address in it are one instruction. Addresses are those of the first mapping.
 */
#ifndef AS_RECORD_CODE_H
#define AS_RECORD_CODE_H

#include "base/map.h"
#include "base/vec.h"
#include "model/groups.h"
#include "model/model.h"
#include "store/store_write.h"

struct as_record_code {
    struct as_store_writer *writer;
    const struct as_model *model;
    uint32_t *number_of; /* by the engine's id: the instruction's number in the profile; AS_STORE_NONE: not there */
    size_t n;            /* number of ids */
    /* Keys of what was added; ids are numbers in the profile. */
    struct as_strings *modules, *files, *blocks, *inlines;
    AS_VEC(uint64_t) bases;       /* by module: its first mapping */
    struct as_map functions;      /* module and address to the number + 1 */
    struct as_map instructions;   /* module and address to the engine's id + 1 */
    struct as_strings *variants;  /* module, address and bytes, if they differ from those of `instructions` … */
    AS_VEC(uint32_t) variant_ids; /* … and the engine's id of each */
};

/* Adds all code that was executed. */
void as_record_code_add(struct as_record_code *code, const struct as_model *model, const struct as_groups *groups,
                        struct as_store_writer *writer);
/* Returns the function of a call, which is added if necessary; AS_STORE_NONE: none. `address` is where it begins, in the
 * profile. */
uint32_t as_record_code_function(struct as_record_code *code, const struct as_image *image,
                                 const struct as_call_node *call, uint64_t *address);
/* Converts an address of an image to the profile's; 0 stays 0. */
void as_record_code_move(struct as_record_code *code, const struct as_image *image, uint64_t *address);
/* The module of an address of data in a file, which becomes the profile's. AS_STORE_NONE: in none. */
uint32_t as_record_code_data(struct as_record_code *code, const struct as_image *image, uint64_t *address);
void as_record_code_free(struct as_record_code *code);

#endif
