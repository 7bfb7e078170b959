/* See lock_object.h. Types say it where the program has them. Elsewhere the functions of both sides do: those that lock and
 * unlock a mutex touch nothing else of which two words can share a line. */
#include "comm/lock_object.h"

#include <string.h>

static const char mutex[] = "pthread_mutex_t";

/* By one member of glibc's struct that only this type has. */
static const char *type_with(const char *member)
{
    static const struct {
        const char *type;
        const char *members[8];
    } types[] = {
        {mutex, {"__lock", "__count", "__owner", "__nusers", "__kind", "__list"}},
        {"pthread_cond_t",
         {"__wseq", "__g1_start", "__g_refs", "__g_size", "__g1_orig_size", "__wrefs", "__g_signals"}},
        {"pthread_rwlock_t",
         {"__readers", "__writers", "__wrphase_futex", "__writers_futex", "__cur_writer", "__shared", "__flags"}}};
    size_t length = strcspn(member, ".[");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (size_t k = 0; k < 8 && types[i].members[k]; k++)
            if (strlen(types[i].members[k]) == length && strncmp(types[i].members[k], member, length) == 0)
                return types[i].type;
    return NULL;
}

const char *as_lock_of_places(const char *from, const char *to)
{
    static const char inner[] = ".__data.";
    const char *one = strstr(from, inner), *other = strstr(to, inner);
    if (!one || !other || one - from != other - to || strncmp(from, to, (size_t)(one - from)) != 0)
        return NULL;
    const char *type = type_with(one + sizeof inner - 1);
    return type && type == type_with(other + sizeof inner - 1) ? type : NULL;
}

const char *as_lock_of_place(const char *place)
{
    return as_lock_of_places(place, place);
}

static bool has(const char *function, const char *part)
{
    return function && strstr(function, part) != NULL;
}

/* The words that these functions touch lie in the first 20 of a mutex's 40 bytes: words of two mutexes are further apart. */
const char *as_lock_of_functions(const char *from, const char *to, uint64_t apart)
{
    enum { LAST_WORD = 16 };
    static const char locks[] = "pthread_mutex_", waits[] = "lll_lock_wait"; /* which waits for other locks, too */
    bool known = has(from, locks) ? has(to, locks) || has(to, waits) : has(from, waits) && has(to, locks);
    return known && apart <= LAST_WORD ? mutex : NULL;
}

const char *as_lock_of_function(const char *function)
{
    static const struct {
        const char *part, *type;
    } locks[] = {{"pthread_mutex_", mutex},
                 {"pthread_cond_", "pthread_cond_t"},
                 {"pthread_rwlock_", "pthread_rwlock_t"},
                 {"pthread_spin_", "pthread_spinlock_t"},
                 {"pthread_barrier_", "pthread_barrier_t"},
                 {"lll_lock_wait", "lock"}};
    for (size_t i = 0; i < sizeof locks / sizeof *locks; i++)
        if (has(function, locks[i].part))
            return locks[i].type;
    return NULL;
}

static const char *by_types(const struct as_comm_result *result, const struct as_contact *contact)
{
    const struct as_contact_side *from = &contact->from, *to = &contact->to;
    struct as_space *space = as_comm_space(result, to->process, to->insn);
    struct as_variable one, other;
    if (!space || !as_space_variable(space, contact->line + from->offset, &one) ||
        !as_space_variable(space, contact->line + to->offset, &other) || one.start != other.start)
        return NULL;
    char *first = as_comm_address_text(space, contact->line + from->offset);
    char *second = as_comm_address_text(space, contact->line + to->offset);
    const char *type = as_lock_of_places(first, second);
    free(first);
    free(second);
    return type;
}

const char *as_lock_object(const struct as_comm_result *result, const struct as_contact *contact)
{
    const struct as_contact_side *from = &contact->from, *to = &contact->to;
    uint64_t apart = from->offset < to->offset ? to->offset - from->offset : from->offset - to->offset;
    struct as_comm_location one, other;
    const char *type = by_types(result, contact);
    if (type || !as_comm_locate(result, from->process, from->insn, &one) ||
        !as_comm_locate(result, to->process, to->insn, &other))
        return type;
    return as_lock_of_functions(one.location.function, other.location.function, apart);
}
