/* One function (or code in none), instruction by instruction: what each took and what that is made of, the source line
 * and the inlined functions that it comes from, where it jumps to; and the lines of the function by time. */
#ifndef AS_VIEW_ANNOTATION_H
#define AS_VIEW_ANNOTATION_H

#include "base/vec.h"
#include "view/legend.h"
#include "view/sources.h"
#include "view/view.h"

struct as_note_insn {
    uint64_t address, target;
    uint32_t length; /* bytes; 0: unknown */
    bool jumps;      /* to its target: it does not call it */
    bool recorded;   /* the profile has it; others are from the file */
    char *text;
    uint32_t file, line;     /* file: of as_annotation_file */
    uint32_t chain, n_chain; /* of as_annotation.chains: inlined functions that it comes from, the innermost first */
    struct as_store_row row; /* its time; all 0 where it has none */
};

struct as_note_line {
    uint32_t file, line;
    uint64_t units;
};

struct as_annotation {
    const struct as_view *view;
    uint32_t function;                 /* AS_STORE_NONE: code in none */
    struct as_store_function what;     /* it; or the code, without a name */
    struct as_sources *sources;        /* not owned */
    AS_VEC(struct as_note_insn) insns; /* by address */
    AS_VEC(struct as_note_line) lines; /* the most time first */
    AS_VEC(const char *) chains;
    struct as_note_code *code; /* NULL: the file was not needed, or is not there */
    struct as_store_rows rows;
    struct as_legend legend;
    uint64_t units, most;    /* of the function; of its largest instruction */
    const char *module_note; /* what is wrong with its file; NULL: nothing */
    const char *hole_note;   /* why instructions without time may be missing; NULL: none is */
};

bool as_annotation_make(struct as_annotation *annotation, const struct as_view *view, uint32_t function,
                        struct as_sources *sources, struct as_error *err) AS_MUST_CHECK;
/* Code in no function: the instruction of this number, and those of its module around it that are in none either. */
bool as_annotation_make_outside(struct as_annotation *annotation, const struct as_view *view, uint32_t instruction,
                                struct as_sources *sources, struct as_error *err) AS_MUST_CHECK;
void as_annotation_free(struct as_annotation *annotation);
const char *as_annotation_source(const struct as_annotation *annotation, uint32_t file, uint32_t line); /* or NULL */

/* ---- what the profile does not have ---- */

/* Adds the instructions that are missing, in no order; why that cannot be done, or NULL. */
const char *as_annotation_fill(struct as_annotation *annotation);
void as_note_code_free(struct as_note_code *code);
const char *as_annotation_file(const struct as_annotation *annotation, uint32_t file); /* NULL: unknown */
/* Where an instruction jumps to, "+0x1d" inside the function, "puts@plt", "other+0x10"; NULL: nowhere, or nobody knows
 * what is there. In `text`. */
enum { AS_TARGET_MAX = 192 };
const char *as_annotation_target(const struct as_annotation *annotation, const struct as_note_insn *insn,
                                 char text[AS_TARGET_MAX]);

#endif
