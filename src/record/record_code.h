/* The code of a run in the model, as a profile has it: modules, functions, files, lines, inlined calls, blocks,
 * instructions.
 *
 * A program that was executed several times (make and its compilers) is one, and so is a library that several programs
 * use: a file (by path and build-id) is one module wherever it was mapped, and what lies at the same place in it, with
 * the same bytes, is one instruction. Its addresses are those of where it was mapped first.
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
    size_t n;            /* ids */
    struct as_strings *modules, *files, *blocks, *inlines; /* what was added, by a key of its own: ids are numbers */
    AS_VEC(uint64_t) bases;                                /* by module: where it was mapped first */
    struct as_map functions;                               /* module and address to the number + 1 */
    struct as_map instructions;                            /* module and address to the engine's id + 1 */
    struct as_strings *variants;  /* module, address and bytes that differ from those of `instructions` … */
    AS_VEC(uint32_t) variant_ids; /* … and the engine's id of each */
};

/* Adds everything that was executed. */
void as_record_code_add(struct as_record_code *code, const struct as_model *model, const struct as_groups *groups,
                        struct as_store_writer *writer);
/* The function at an address of an image; added where it is not there yet. AS_STORE_NONE: in none. The address becomes
 * the profile's. */
uint32_t as_record_code_function(struct as_record_code *code, const struct as_image *image, uint64_t *address);
/* Makes an address of an image the profile's; 0 stays. */
void as_record_code_move(struct as_record_code *code, const struct as_image *image, uint64_t *address);
void as_record_code_free(struct as_record_code *code);

#endif
