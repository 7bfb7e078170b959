/* One function (or code outside functions), instruction by instruction: its time and components, the source line and
 * the inlined functions it comes from, its jump target; and the lines of the function by time. */
#ifndef AS_VIEW_ANNOTATION_H
#define AS_VIEW_ANNOTATION_H

#include "base/vec.h"
#include "view/block_counts.h"
#include "view/legend.h"
#include "view/sources.h"
#include "view/view.h"

struct as_note_insn {
    uint64_t address, target;
    uint32_t length; /* in bytes; 0: unknown */
    bool jumps;      /* it jumps to its target, rather than calling it */
    bool recorded;   /* it is in the profile; others are from the file */
    char *text;
    char *data; /* what lies at the address in its text: "table[3].hits", ".rodata+0x10"; NULL: unknown */
    uint32_t data_at, data_length; /* the address in the text */
    uint32_t file, line;           /* file: of as_annotation_file */
    uint32_t chain, n_chain;       /* in as_annotation.chains: inlined functions that it comes from, innermost first */
    struct as_store_row row;       /* its time; all 0 if it has none */
    /* Half the 95 % intervals of its share of the program, and of that of the instructions of its line that follow it, if the annotation
     * has errors. */
    double error, run_error;
    double runs; /* of its basic block (as_annotation_count_runs); NAN: not known */
    bool starts; /* … which begins here */
};

struct as_note_line {
    uint32_t file, line;
    uint64_t units;
    double error; /* as of an instruction */
};

struct as_annotation {
    const struct as_view *view;
    uint32_t function;                 /* AS_STORE_NONE: code outside functions */
    struct as_store_function what;     /* the function; or the code, without a name */
    struct as_sources *sources;        /* not owned */
    AS_VEC(struct as_note_insn) insns; /* by address */
    AS_VEC(struct as_note_line) lines; /* the most time first */
    AS_VEC(const char *) chains;
    struct as_note_code *code; /* NULL: the file was not needed, or is missing */
    struct as_store_rows rows;
    double *errors;   /* of components, as shares of the program's time, … */
    size_t *parts_at; /* … by instruction: of its row's; NULL: not known */
    struct as_legend legend;
    uint64_t units, most;    /* units of the function, and of its largest instruction */
    bool has_errors;         /* a sampled run: what its rows' errors are is known */
    bool has_runs;           /* blocks were counted */
    bool runs_are_time;      /* by where the time went, not by how often they ran */
    double most_runs;        /* of the function's blocks */
    const char *module_note; /* what is wrong with its file; NULL: nothing */
    const char *hole_note;   /* why instructions without time may be missing; NULL: all are there */
};

bool as_annotation_make(struct as_annotation *annotation, const struct as_view *view, uint32_t function,
                        struct as_sources *sources, struct as_error *err) AS_MUST_CHECK;
/* For code outside functions: the instruction of this number, and its neighbours in the module that are outside,
 * too. */
bool as_annotation_make_outside(struct as_annotation *annotation, const struct as_view *view, uint32_t instruction,
                                struct as_sources *sources, struct as_error *err) AS_MUST_CHECK;
void as_annotation_free(struct as_annotation *annotation);
const char *as_annotation_source(const struct as_annotation *annotation, uint32_t file, uint32_t line); /* or NULL */
/* Whether both are of one line, in the same inlined function. */
bool as_annotation_same_line(const struct as_annotation *annotation, const struct as_note_insn *a,
                             const struct as_note_insn *b);
/* Fills in how often the block of each instruction ran. */
void as_annotation_count_runs(struct as_annotation *annotation, const struct as_block_counts *counts);

/* ---- used while it is made ---- */

/* What its times are read by. */
struct as_store_query as_annotation_query(const struct as_annotation *annotation);
/* Fills in the errors of a sampled run (annotation_errors.c), at the end. */
bool as_annotation_errors_make(struct as_annotation *annotation, struct as_error *err) AS_MUST_CHECK;

/* ---- what the profile does not contain ---- */

/* Adds the missing instructions, unsorted. Returns why that cannot be done, or NULL. */
const char *as_annotation_fill(struct as_annotation *annotation);
void as_note_code_free(struct as_note_code *code);
const char *as_annotation_file(const struct as_annotation *annotation, uint32_t file); /* NULL: unknown */
/* Names the data that instructions access at fixed addresses, if the file is still the one that ran. */
void as_annotation_name_data(struct as_annotation *annotation);
/* Describes where an instruction jumps to, "+0x1d" inside the function, "puts@plt", "other+0x10"; returns `text`, or
 * NULL if it does not jump or the target is unknown. */
enum { AS_TARGET_MAX = 192 };
const char *as_annotation_target(const struct as_annotation *annotation, const struct as_note_insn *insn,
                                 char text[AS_TARGET_MAX]);

#endif
