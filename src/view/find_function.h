/* Finds a function of a profile by the name that a user types. */
#ifndef AS_VIEW_FIND_FUNCTION_H
#define AS_VIEW_FIND_FUNCTION_H

#include "view/view.h"

struct as_function_found {
    uint32_t function;    /* or NONE: */
    uint32_t instruction; /* outside functions */
};

/* `symbol` is NAME as shown (with or without parameters) or as in the symbol table, MODULE:NAME, 0xADDRESS of the run
 * or of its file, or MODULE:0xADDRESS. On failure `err` names similar or ambiguous functions. */
bool as_function_find(const struct as_view *view, const char *symbol, struct as_function_found *found,
                      struct as_error *err) AS_MUST_CHECK;

#endif
