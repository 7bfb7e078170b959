/* Signals to Assay while it runs a program.
 *
 * What reaches the program by itself, Assay only counts: Ctrl-C on the terminal, and a signal that a process sent to the whole
 * process group (witness.h shows that). A signal that was sent to Assay alone is passed on to the program; if it comes before
 * the program has started, it is passed on when it has. A process that Assay is attached to is left alone. Signals that were
 * ignored before stay ignored, but for one: a shell ignores SIGINT for what it starts in the background, so that Ctrl-C does not
 * reach it. One that somebody sends to Assay then ends the run at once if the program ignores it too, as it does unless it has
 * changed that. A program that handles the signal gets it, and ends by itself. Three interrupts behind the one that ended the run, and three
 * while what was measured is being saved, something hangs: the next one ends Assay where it is.
 *
 * Signal handlers belong to the process, so one program is watched over at a time. Calls: catch; pass_to as soon as the
 * program runs; restore, or shield to save what was found.
 */
#ifndef AS_BASE_SIGNALS_H
#define AS_BASE_SIGNALS_H

#include <stdbool.h>
#include <sys/types.h>

struct as_signals {
    bool attached; /* the program was running before */
    /* The caller waits until it has no child left. There is no witness then, and each signal is passed on. */
    bool waits_for_all;
    /* Called in the signal handler when the user wants the run to end: at interrupt number `patience` (SIGINT or
     * SIGTERM), or when the alarm goes off. NULL: the caller asks as_signals_insisted. */
    void (*stop)(void *context);
    /* Called in the signal handler: whether the program ignores SIGINT. NULL: the kernel is asked (/proc/PID/status). */
    bool (*ignores)(void *context);
    void *context;     /* of both */
    unsigned patience; /* 0: two interrupts */
};

void as_signals_catch(const struct as_signals *how);
void as_signals_pass_to(pid_t pid);
void as_signals_alarm(double seconds); /* stops the run after that time */
unsigned as_signals_interrupts(void);  /* since as_signals_catch */
int as_signals_last(void);             /* the last of them: SIGINT or SIGTERM; 0: there was none */
/* Whether the user wants the run to end now, whatever the program makes of the signals: `patience` interrupts came, or one
 * SIGINT where it was ignored before, by the program too. */
bool as_signals_insisted(void);
/* Undoes as_signals_catch. Nothing happens after as_signals_shield. */
void as_signals_restore(void);
/* Undoes it too, but if the user has interrupted the run, three of SIGINT and SIGTERM are ignored from here on until the next
 * as_signals_catch: one more of them must not cost what is being saved. If not, the first one only says that it is being saved, and
 * the second one ends Assay. */
void as_signals_shield(void);

/* Between two runs of the program. Undoes as_signals_catch, so that from here on a signal ends Assay, and returns the signal that the
 * user interrupted with since then, whether or not it cut the run off that is over; 0: there was none. */
int as_signals_between(void);

#endif
