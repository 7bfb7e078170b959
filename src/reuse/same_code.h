/* A library that is closed and opened again has its code at other addresses, or at the same ones anew. Its instructions are those of
 * one file all the same, which is how they are added up: by the program's image, the file and the place in it. */
#ifndef AS_REUSE_SAME_CODE_H
#define AS_REUSE_SAME_CODE_H

#include "engine/engine.h"
#include "reuse/reuse_estimate.h"
#include "reuse/reuse_view.h"

struct as_same_code;
struct as_same_code *as_same_code_new(const struct as_engine *engine);
void as_same_code_free(struct as_same_code *same);
/* The first instruction asked for that is the same one; `code` itself where it is in no file. */
uint32_t as_same_code_of(struct as_same_code *same, uint32_t code);

/* Adds up codes and pairs of a view that are the same, each with the path that most of them are on. Behind as_reuse_fold. */
void as_same_code_join(struct as_same_code *same, struct as_reuse_view *view);
/* The same for sampled pairs. */
void as_same_code_join_estimate(struct as_same_code *same, struct as_reuse_estimate *estimate);

#endif
