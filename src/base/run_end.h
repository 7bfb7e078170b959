/* How the run of a program ended, whether it ran in the engine or natively. */
#ifndef AS_BASE_RUN_END_H
#define AS_BASE_RUN_END_H

#include <stdbool.h>

struct as_run_end {
    bool stopped;     /* Assay ended the program because the region was over */
    bool interrupted; /* the user ended the run before the program ended */
    bool running;     /* … and the program goes on */
    bool asked;       /* the user interrupted it, and it handled that and ended */
    int asked_by;     /* the signal that it handled, or that interrupted it; 0: not known */
    int exit_status;  /* the program's: 0-255, or 128 + signal */
    int signal;       /* that killed it; 0: none */
};

/* Takes exit status and signal from a status of waitpid. */
void as_run_end_take(struct as_run_end *end, int wait_status);
/* Whether the program ran to an end of its own. */
bool as_run_end_complete(const struct as_run_end *end);
/* Whether somebody interrupted it: by SIGINT or SIGTERM, whatever the program made of that. */
bool as_run_end_is_cut(const struct as_run_end *end);
/* The signal by which somebody did: SIGINT or SIGTERM. 0: nobody did. */
int as_run_end_cut_by(const struct as_run_end *end);
/* "until it was killed"; NULL if it was complete, or Assay ended it. */
const char *as_run_end_until(const struct as_run_end *end);

#endif
