/* See comm_advice.h. Three cases can be told apart by the names of the two places: elements of an array ("a[0].x", "a[1].x"),
 * members of a struct ("s.x", "s.y"), and two variables that the linker put side by side. */
#include "comm/comm_advice.h"

#include "comm/lock_object.h"

#include <inttypes.h>

enum { MOST_LOOKED_AT = 4096, MOST = 20, LINE = 64 };

struct place {
    struct as_variable variable;
    uint64_t address;
    struct as_space *space;
    bool is_inside; /* a type of the C library */
};

static bool find_place(struct place *place, const struct as_comm_result *result, const struct as_contact *contact,
                       const struct as_contact_side *side)
{
    place->space = as_comm_space(result, side->process, side->insn);
    place->address = contact->line + side->offset;
    return place->space && as_space_variable(place->space, place->address, &place->variable) &&
           place->variable.is_object;
}

/* How far apart elements of the outermost array are, if the two places lie in different ones; 0: no array. */
static uint64_t element_size(const struct place *from, const struct place *to)
{
    uint64_t size = as_space_element(from->space, from->address);
    if (!size || (from->address - from->variable.start) / size == (to->address - to->variable.start) / size)
        return 0;
    return size;
}

static uint64_t to_lines(uint64_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

/* A member on a line of its own: what comes before it is padded, and its structure becomes a number of lines. */
static char *advise_member(const struct place *place, const char *name)
{
    uint64_t line = LINE, size = as_space_element(place->space, place->address);
    size = size ? size : place->variable.size;
    if (!size || place->is_inside) /* where what is moved begins is not known */
        return as_format("put %s on a line of its own: _Alignas(%" PRIu64 ") before it", name, line);
    uint64_t at = (place->address - place->variable.start) % size;
    return as_format("put %s on a line of its own: _Alignas(%" PRIu64 ") before it makes its structure %" PRIu64
                     " bytes longer",
                     name, line, to_lines(to_lines(at) + size - at) - size);
}

static char *advise(const struct place *from, const struct place *to, const char *one, const char *other)
{
    uint64_t line = LINE;
    if (from->variable.start != to->variable.start)
        return as_format("align both to %" PRIu64 " bytes (_Alignas(%" PRIu64 ")): they are two variables on one line",
                         line, line);
    uint64_t size = element_size(from, to);
    if (size)
        return as_format("pad each element of %s from %" PRIu64 " to %" PRIu64 " bytes (%" PRIu64
                         " more) and align the array to %" PRIu64,
                         from->variable.name, size, to_lines(size), to_lines(size) - size, line);
    return from->address < to->address ? advise_member(to, other) : advise_member(from, one);
}

/* The same two were told already, or the same text for other elements of the array. */
static struct as_comm_advice *find_told(const struct as_comm_rows *rows, const char *from, const char *to,
                                        const char *text)
{
    for (size_t i = 0; i < rows->advice.len; i++) {
        struct as_comm_advice *advice = &rows->advice.data[i];
        bool same = strcmp(advice->from, from) == 0 && strcmp(advice->to, to) == 0;
        bool swapped = strcmp(advice->from, to) == 0 && strcmp(advice->to, from) == 0;
        if (same || swapped || strcmp(advice->text, text) == 0)
            return advice;
    }
    return NULL;
}

/* The name of a place; of one inside a type of the C library (the lock and the owner of a mutex), which a program cannot change, that of
 * the whole. */
static char *name_of(struct place *place)
{
    char *name = as_comm_address_text(place->space, place->address), *inside = strstr(name, ".__");
    place->is_inside = inside != NULL;
    if (inside)
        *inside = '\0';
    return name;
}

static void look_at(struct as_comm_rows *rows, const struct as_contact *contact, const struct as_comm_result *result)
{
    struct place from, to;
    if (!find_place(&from, result, contact, &contact->from) || !find_place(&to, result, contact, &contact->to) ||
        as_lock_object(result, contact))
        return;
    char *one = name_of(&from), *other = name_of(&to), *text = advise(&from, &to, one, other);
    struct as_comm_advice *told = find_told(rows, one, other, text);
    if (!told && strcmp(one, other) != 0) {
        *as_vec_push(&rows->advice) = (struct as_comm_advice){
            .line = contact->line, .count = contact->count, .from = one, .to = other, .text = text};
        return;
    }
    if (told)
        told->count += contact->count;
    free(one);
    free(other);
    free(text);
}

static int by_total(const void *a, const void *b)
{
    const struct as_comm_advice *x = a, *y = b;
    return x->count < y->count ? 1 : x->count > y->count ? -1 : 0;
}

static int by_count(const void *a, const void *b)
{
    const struct as_contact *const *x = a, *const *y = b;
    return (*x)->count < (*y)->count ? 1 : (*x)->count > (*y)->count ? -1 : 0;
}

void as_comm_advice_make(struct as_comm_rows *rows, const struct as_comm_result *result)
{
    const struct as_contacts *contacts = result->contacts;
    AS_VEC(const struct as_contact *) all = {0};
    for (size_t i = 0; i < contacts->list.len; i++)
        if (contacts->list.data[i].is_false)
            *as_vec_push(&all) = &contacts->list.data[i];
    if (all.len)
        qsort(all.data, all.len, sizeof *all.data, by_count);
    uint64_t least = all.len ? all.data[0]->count / 100 : 0; /* what is far rarer than the worst is not worth it */
    for (size_t i = 0; i < all.len && i < MOST_LOOKED_AT && rows->advice.len < MOST; i++)
        if (all.data[i]->count > least)
            look_at(rows, all.data[i], result);
    if (rows->advice.len)
        qsort(rows->advice.data, rows->advice.len, sizeof *rows->advice.data, by_total);
    as_vec_free(&all);
}
