/* Contacts: one side's instruction touched a line, then another thread's did, so the line was handed over. Equal ones are
 * counted together; what a person sees by line, object and code pair is made of them at the end. */
#ifndef AS_COMM_CONTACT_H
#define AS_COMM_CONTACT_H

#include "base/map.h"
#include "base/vec.h"

#include <stdbool.h>

/* One side of it. */
struct as_contact_side {
    uint64_t insn;    /* as the lens gives it */
    uint32_t process; /* whose instruction that is; 0 where they mean the same in all */
    uint32_t path;
    uint8_t offset, size; /* of the access within the line; cut at its end */
};

struct as_contact {
    uint64_t line;                   /* its first address */
    uint32_t process;                /* whose address that is; 0: physical (model/shared_memory.h) */
    uint32_t object;                 /* 0, or the number of the allocation that held the line then */
    struct as_contact_side from, to; /* from: whose copy it was */
    bool is_false;
    /* Not part of what makes two contacts equal. */
    uint64_t count, remote;            /* remote: of those, between nodes */
    uint64_t from_threads, to_threads; /* bit n: thread n took part; bit 63: one from 63 on */
};

enum { AS_CONTACTS_RECENT = 1 << 10 };

struct as_contacts {
    AS_VEC(struct as_contact) list;
    struct as_map index;                 /* of a hash: its first place in the list + 1 */
    AS_VEC(uint32_t) next;               /* by place: another one of the same hash + 1 */
    uint32_t recent[AS_CONTACTS_RECENT]; /* by hash: one that was counted last, its place + 1; 0: none */
};

/* Adds `count` of it; threads count from 0. */
void as_contacts_add(struct as_contacts *contacts, const struct as_contact *contact, uint32_t from, uint32_t to);
/* Lines of memory that processes share get an address in one of them: `home` says which, or false. */
void as_contacts_home(struct as_contacts *contacts, bool (*home)(void *context, uint32_t *process, uint64_t *address),
                      void *context);
void as_contacts_free(struct as_contacts *contacts);

#endif
