/* Writes an annotation as text and JSON: source and disassembly interleaved, arrows for jumps inside the function, its
 * worst lines. */
#ifndef AS_REPORT_ANNOTATE_H
#define AS_REPORT_ANNOTATE_H

#include "base/json.h"
#include "report/term.h"
#include "view/annotation.h"

void as_annotation_text(const struct as_annotation *annotation, FILE *out, const struct as_term *term);
void as_annotation_json(const struct as_annotation *annotation, struct as_json *json);

/* ---- arrows ---- */

enum { AS_ARROW_LANES = 6 };

struct as_arrows;
/* Makes arrows of direct jumps between these instructions. Returns NULL if there are none. */
struct as_arrows *as_arrows_new(const struct as_note_insn *insns, size_t n);
void as_arrows_free(struct as_arrows *arrows);
/* The number of columns that they need. */
unsigned as_arrows_width(const struct as_arrows *arrows);
/* Writes the arrows to the left of instruction `index`, or of a line between it and the preceding one (`between`). */
void as_arrows_put(const struct as_arrows *arrows, FILE *out, const struct as_term *term, size_t index, bool between);

#endif
