/* What to do about false sharing, where it is certain: both places belong to variables that are known by name. */
#ifndef AS_COMM_COMM_ADVICE_H
#define AS_COMM_COMM_ADVICE_H

#include "comm/comm_rows.h"

/* Adds to rows->advice, at most one for each pair of variables. */
void as_comm_advice_make(struct as_comm_rows *rows, const struct as_comm_result *result);

#endif
