/* Output of long results for a reader: through a pager if standard output is a terminal. */
#ifndef AS_CMD_PAGER_H
#define AS_CMD_PAGER_H

#include "report/term.h"

struct as_pager {
    FILE *out;
    bool piped;
};

/* Uses $ASSAY_PAGER, $PAGER, or less; "cat" and "" mean none. Without a pager, or if it cannot be started, stdout. */
struct as_pager as_pager_open(void);
void as_pager_close(struct as_pager *pager); /* waits until the user quits it */

/* What `out` can show; `file`: it is a file, not standard output. Colour only on a terminal, and never with NO_COLOR.
 */
struct as_term as_terminal(bool file);

#endif
