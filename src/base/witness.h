/* Whether a signal was sent to Assay alone or to its whole process group (kill -INT -PGID). The signal does not say: in both cases it
 * has the number of its sender. A witness does: a process in the same group that nobody sends signals to by itself. It blocks all, so that
 * one stays pending, where the kernel shows it (/proc/PID/status).
 *
 * There is one witness at a time. It ends with Assay.
 */
#ifndef AS_BASE_WITNESS_H
#define AS_BASE_WITNESS_H

#include <stdbool.h>
#include <sys/types.h>

/* Without a process to spare, nothing is ever seen. */
void as_witness_start(void);
void as_witness_end(void);
/* Whether the signal that Assay has got reached the witness, too; from then on the next one counts. For signal handlers. */
bool as_witness_saw(int signal);

/* Whether /proc/PID/status has a signal up to 16 in a field ("SigIgn", "ShdPnd"). For signal handlers. If it cannot be read: `unknown`. */
bool as_signal_field_has(pid_t pid, const char *field, int signal, bool unknown);

#endif
