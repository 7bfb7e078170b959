/* Whether both sides of a contact touch one lock of the C library: its lock word, its owner, its count. They lie side by side
 * by the library's design, so what is false sharing by its bytes is contention for the lock, and padding does not help. */
#ifndef AS_COMM_LOCK_OBJECT_H
#define AS_COMM_LOCK_OBJECT_H

#include "comm/comm_result.h"

/* The type of the lock ("pthread_mutex_t"); NULL: the sides are not known to be in the same one. */
const char *as_lock_object(const struct as_comm_result *result, const struct as_contact *contact);
/* The same by the names of two places of one variable, "queue.lock.__data.__owner". */
const char *as_lock_of_places(const char *from, const char *to);
/* The same by the functions that accessed bytes so far apart, for data without types. */
const char *as_lock_of_functions(const char *from, const char *to, uint64_t apart);
/* The type of the lock that a place is a word of; NULL: it is not in one. */
const char *as_lock_of_place(const char *place);
/* The type of the lock that such a function of the C library waits for or releases; NULL: it is none of those. It may also touch
 * what is not the lock: the thread's own number, say. */
const char *as_lock_of_function(const char *function);

#endif
