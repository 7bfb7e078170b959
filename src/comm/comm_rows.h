/* What a person sees of the contacts of a run: by line, by object, by pair of code; with names, source lines and call paths
 * of both sides. And what can be done about false sharing where that is certain. */
#ifndef AS_COMM_COMM_ROWS_H
#define AS_COMM_COMM_ROWS_H

#include "comm/comm_result.h"
#include "model/guest_objects.h"

struct as_comm_object {
    struct as_guest_object what;
    uint64_t true_, false_, remote, lines; /* remote: between nodes */
    uint64_t in_lock;                      /* of the false ones: both sides touched the same lock */
    const char *lock;                      /* its type (lock_object.h); NULL: there are none */
};

struct as_comm_line {
    uint64_t address;
    uint32_t process, object; /* object: in the list */
    uint64_t true_, false_;
    uint64_t from_threads, to_threads; /* as in struct as_contact */
    uint32_t contact;                  /* the one that was seen most: in the list of contacts */
    const char *lock;                  /* that one is false sharing inside a lock of this type; NULL: it is not */
};

/* An instruction of one side with its call path. */
struct as_comm_code {
    uint64_t insn;
    uint32_t process, path;
};

struct as_comm_pair {
    struct as_comm_code from, to;
    uint64_t true_, false_, remote;
    uint32_t object; /* where it was seen most */
    uint64_t object_count;
};

/* An instruction that got lines from another node, whatever its call path. */
struct as_comm_far {
    struct as_comm_code code; /* path 0 */
    uint64_t transfers, remote;
    uint64_t wanted; /* bytes of the remote lines that it accessed */
    uint32_t object; /* where it was remote most */
    uint64_t object_count;
};

/* Two places that collide: bytes of the same line, of which each side touches its own. */
struct as_comm_advice {
    uint64_t line, count;
    char *from, *to; /* "counters[0].hits" */
    char *text;      /* what to do */
};

struct as_comm_rows {
    AS_VEC(struct as_comm_object) objects; /* most transfers first, like the others */
    AS_VEC(struct as_comm_line) lines;
    AS_VEC(struct as_comm_pair) pairs;
    AS_VEC(struct as_comm_far) far; /* most remote transfers first */
    AS_VEC(struct as_comm_advice) advice;
};

void as_comm_rows_make(struct as_comm_rows *rows, const struct as_comm_result *result);
void as_comm_rows_free(struct as_comm_rows *rows);

#endif
