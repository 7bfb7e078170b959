/* What `assay blocks` prints: the counts on a control-flow graph as text, JSON and CSV. */
#ifndef AS_CMD_BLOCKS_SHOW_H
#define AS_CMD_BLOCKS_SHOW_H

#include "blocks/block_rows.h"
#include "blocks/estimate.h"

#include <stdio.h>

struct as_blocks_fit;
struct as_blocks_shown {
    const struct as_flow *flow;
    const char *what;                          /* the program or the recording, as the user named it */
    const char *part;                          /* of a run that was seen, in words; NULL: all of it */
    const char *how;                           /* "exact counts, from QEMU's user mode" */
    bool recorded;                             /* what: a recording or profile, not the program */
    const char *method;                        /* "exact", "lbr" …: for programs that read it */
    const char *module;                        /* only blocks of this module (name or path); NULL: all */
    const char *function;                      /* only this function, with all its blocks; NULL: all */
    uint64_t blocks, functions, loops, traces; /* how many rows; text only */
    bool never;                                /* list the code that never ran */
    const char *unit;                          /* what the event counts where that is no instructions; NULL */
    double seconds;                            /* how long it ran; negative: not known */
    bool balanced;                             /* --balance changed the counts of samples */
    const char *advice;                        /* of samples: how far to believe them; NULL or "": nothing to say */
    const struct as_estimate_trouble *trouble; /* of samples; NULL: exact counts */
    double unplaced;                           /* part of the samples that are in no known code */
    const struct as_blocks_fit *fit;           /* of samples: whether they fit the code; NULL: exact counts */
};

void as_blocks_show_text(const struct as_blocks_shown *shown, FILE *out);
bool as_blocks_show_json(const struct as_blocks_shown *shown, FILE *out); /* false: writing failed */
void as_blocks_show_csv(const struct as_blocks_shown *shown, FILE *out);

/* The last sentence of advice, where counts are of addresses; there is a blank behind each but the last one. */
struct as_str;
void as_blocks_end_advice(struct as_str *advice, bool addresses);

static inline struct as_block_scope as_blocks_scope(const struct as_blocks_shown *shown)
{
    return (struct as_block_scope){shown->flow, shown->module, shown->function};
}

/* Says of which modules (only the wanted one; NULL: all) exact counts are not of one code. */
void as_blocks_warn_of_code(const struct as_flow *flow, const char *wanted);

/* "demo.c:12-14": the lines of a block, "" where they are not known. Returns `text`. */
enum { AS_BLOCKS_LINES = 320 };
const char *as_blocks_lines(const struct as_flow *flow, uint32_t module, uint32_t block, char text[AS_BLOCKS_LINES]);

#endif
