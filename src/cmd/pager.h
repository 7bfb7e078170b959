/* Where long results go that a person reads: through a pager if standard output is a terminal. */
#ifndef AS_CMD_PAGER_H
#define AS_CMD_PAGER_H

#include "report/term.h"

struct as_pager {
    FILE *out;
    bool piped;
};

/* $ASSAY_PAGER, $PAGER, or less; "cat" and "" mean none. Without one, or where it cannot be started, stdout. */
struct as_pager as_pager_open(void);
void as_pager_close(struct as_pager *pager); /* waits until it is quit */

/* What `out` can show; `file`: it is a file, not standard output. Colour only on a terminal, and never with NO_COLOR.
 */
struct as_term as_terminal(bool file);

#endif
