/* See comm_advice.h. Types tell apart elements of an array, at whatever depth, and members of a structure; names tell apart variables that
 * the linker put side by side; and the blocks of the allocator are known by the place that asked for them. Nothing is said of what is not
 * the program's to change: variables of the system's libraries, words of one lock. */
#include "comm/comm_advice.h"

#include "comm/lock_object.h"

#include <inttypes.h>

enum { MOST_LOOKED_AT = 4096, MOST = 20, LINE = 64 };

struct datum {
    struct as_variable variable;
    const struct as_guest_block *block; /* NULL: a variable */
    uint64_t address;
    struct as_space *space;
};

/* ---- whose it is ---- */

static bool is_of_system(const char *module)
{
    static const char *const folders[] = {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"};
    for (size_t i = 0; module && i < sizeof folders / sizeof *folders; i++)
        if (strncmp(module, folders[i], strlen(folders[i])) == 0)
            return true;
    return false;
}

/* A static program has the C library's variables in itself: those without a type in a file that has types. */
static bool is_of_program(struct datum *place)
{
    if (!place->variable.is_object || is_of_system(place->variable.module))
        return false;
    char *member = as_space_member(place->space, place->address);
    bool untyped = !member && as_space_has_debug(place->space, place->address);
    free(member);
    return !untyped;
}

static bool find_place(struct datum *place, const struct as_comm_result *result, const struct as_contact *contact,
                       const struct as_contact_side *side)
{
    *place = (struct datum){.space = as_comm_space(result, side->process, side->insn),
                            .address = contact->line + side->offset};
    if (place->space && as_space_variable(place->space, place->address, &place->variable))
        return is_of_program(place);
    place->block = as_comm_block(result, contact->process, place->address);
    return place->block != NULL;
}

/* ---- names ---- */

/* The place that allocated a block, without its callers: an object of the rows has it. NULL: none has. */
static char *site_of(const struct as_comm_rows *rows, const struct as_guest_block *block)
{
    static const char before[] = "blocks of ";
    for (size_t i = 0; i < rows->objects.len; i++) {
        const struct as_guest_object *what = &rows->objects.data[i].what;
        if (what->kind != AS_GUEST_BLOCKS || what->site != block->site ||
            strncmp(what->name, before, sizeof before - 1) != 0)
            continue;
        char *name = as_strdup(what->name + sizeof before - 1), *callers = strstr(name, " < ");
        if (callers)
            *callers = '\0';
        return name;
    }
    return NULL;
}

/* The name of a place; of one inside a type of the C library (the lock and the owner of a mutex), which a program cannot change, that of
 * the whole. */
static char *name_of(const struct as_comm_rows *rows, const struct datum *place, const struct datum *beside)
{
    if (place->block) {
        bool second = beside && beside->block && beside->block->site == place->block->site &&
                      beside->block->start != place->block->start;
        char *site = site_of(rows, place->block);
        char *name = as_format("byte %" PRIu64 " of %s block of %s", place->address - place->block->start,
                               second ? "another" : "a", site ? site : "an unknown place");
        free(site);
        return name;
    }
    char *name = as_comm_address_text(place->space, place->address), *inside = strstr(name, ".__");
    if (inside)
        *inside = '\0';
    return name;
}

/* ---- what to do ---- */

static uint64_t to_lines(uint64_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

/* ", which makes counters 1024 bytes instead of 192"; "" where the padded thing is all of it. */
static char *growth(const struct as_member_split *split, const char *variable)
{
    if (!split->whole_padded || split->whole == split->bytes)
        return as_strdup("");
    return as_format(", which makes %s %" PRIu64 " bytes instead of %" PRIu64, variable, split->whole_padded,
                     split->whole);
}

/* Elements that are whole lines collide where the array begins within one. */
static char *advise_elements(const struct as_member_split *split, const char *variable)
{
    uint64_t line = LINE;
    if (split->bytes == split->padded)
        return as_format("align %s to %" PRIu64 " bytes (_Alignas(%" PRIu64
                         ")): its elements are whole lines that begin within one",
                         variable, line, line);
    char *grown = growth(split, variable);
    char *text =
        as_format("pad each element of %s%s from %" PRIu64 " to %" PRIu64 " bytes and align it to %" PRIu64 "%s",
                  variable, split->name, split->bytes, split->padded, line, grown);
    free(grown);
    return text;
}

static char *advise_member(const struct as_member_split *split, const char *variable)
{
    uint64_t line = LINE;
    char *grown = growth(split, variable);
    char *text = as_format("put the member %s on a line of its own: _Alignas(%" PRIu64
                           ") before it makes its structure %" PRIu64 " bytes instead of %" PRIu64 "%s",
                           split->name[0] ? split->name : "without a name", line, split->padded, split->bytes, grown);
    free(grown);
    return text;
}

/* Two places of one variable: only types say what may be done. NULL: they do not. */
static char *advise_variable(const struct datum *from, const struct datum *to)
{
    struct as_member_split split;
    if (!as_space_split(from->space, from->address, to->address, LINE, &split))
        return NULL;
    char *text = split.part == AS_PART_ELEMENTS ? advise_elements(&split, from->variable.name)
                                                : advise_member(&split, from->variable.name);
    free(split.name);
    return text;
}

static char *advise_variables(const struct datum *from, const struct datum *to)
{
    uint64_t line = LINE;
    bool swap = from->address > to->address; /* one text for both ways */
    return as_format("align %s and %s to %" PRIu64 " bytes (_Alignas(%" PRIu64
                     ") before each): they are two variables on one line",
                     (swap ? to : from)->variable.name, (swap ? from : to)->variable.name, line, line);
}

/* Apart by a line, whatever they are, two places never share one; blocks do not if each has lines of its own. */
static char *advise_blocks(const struct as_comm_rows *rows, const struct datum *from, const struct datum *to)
{
    uint64_t line = LINE, bytes = from->block->end - from->block->start;
    char *site = site_of(rows, from->block), *other = site_of(rows, to->block), *text = NULL;
    if (!site || !other)
        text = NULL;
    else if (from->block->start == to->block->start)
        text = as_format("in blocks of %s, put at least %" PRIu64
                         " bytes between what different threads touch: members by _Alignas(%" PRIu64
                         "), elements by padding, and the block by aligned_alloc(%" PRIu64 ", …)",
                         site, line, line, line);
    else if (from->block->site == to->block->site)
        text = as_format("give each block of %s lines of its own: aligned_alloc(%" PRIu64 ", %" PRIu64
                         ") for its %" PRIu64 " bytes",
                         site, line, to_lines(bytes), bytes);
    else
        text = as_format("give blocks of %s and of %s lines of their own: aligned_alloc(%" PRIu64
                         ", …) with a multiple of %" PRIu64 " bytes",
                         site, other, line, line);
    free(site);
    free(other);
    return text;
}

/* NULL: nothing certain. */
static char *advise(const struct as_comm_rows *rows, const struct datum *from, const struct datum *to)
{
    if (from->block || to->block)
        return from->block && to->block ? advise_blocks(rows, from, to) : NULL;
    return from->variable.start == to->variable.start ? advise_variable(from, to) : advise_variables(from, to);
}

/* ---- the list ---- */

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

static void tell(struct as_comm_rows *rows, const struct as_contact *contact, char *names[2], char *text)
{
    struct as_comm_advice *told = find_told(rows, names[0], names[1], text);
    if (!told && strcmp(names[0], names[1]) != 0) {
        *as_vec_push(&rows->advice) = (struct as_comm_advice){
            .line = contact->line, .count = contact->count, .from = names[0], .to = names[1], .text = text};
        return;
    }
    if (told)
        told->count += contact->count;
    free(names[0]);
    free(names[1]);
    free(text);
}

static void look_at(struct as_comm_rows *rows, const struct as_contact *contact, const struct as_comm_result *result)
{
    struct datum from, to;
    if (!find_place(&from, result, contact, &contact->from) || !find_place(&to, result, contact, &contact->to) ||
        as_lock_object(result, contact))
        return;
    char *text = advise(rows, &from, &to);
    if (text)
        tell(rows, contact, (char *[2]){name_of(rows, &from, NULL), name_of(rows, &to, &from)}, text);
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

/* Exact transfers that each thread has hardly more than one of are those of starting and joining: a change would gain nothing. */
static void drop_seldom(struct as_comm_rows *rows, const struct as_comm_result *result)
{
    while (result->exact && rows->advice.len &&
           rows->advice.data[rows->advice.len - 1].count <= 2 * result->n_threads) {
        struct as_comm_advice *last = &rows->advice.data[--rows->advice.len];
        free(last->from);
        free(last->to);
        free(last->text);
    }
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
    drop_seldom(rows, result);
    as_vec_free(&all);
}
