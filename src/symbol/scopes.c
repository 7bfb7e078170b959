/* Walks the DIEs of a unit. In sound DWARF a walk from parent to children to siblings only moves forward in the
 * section. Each step checks that, so that corrupt sibling links cannot make the walk repeat itself. Scopes nest: where
 * two cover an address, the deeper one wins (its rank is lower). */
#include "symbol/scopes.h"

#include <dwarf.h>
#include <string.h>
#include <time.h>

enum { MAX_DEPTH = 256, MAX_CHAIN = 16 };

static uint64_t processor_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void as_budget_start(struct as_budget *budget, unsigned seconds, size_t ranges)
{
    *budget = (struct as_budget){.deadline = processor_time() + (uint64_t)seconds * 1000000000, .ranges = ranges};
}

bool as_budget_tick(struct as_budget *budget)
{
    if (++budget->ticks % 64 == 0 && processor_time() > budget->deadline)
        budget->spent = true;
    return !budget->spent;
}

bool as_scope_attr(const Dwarf_Die *die, unsigned attribute, Dwarf_Attribute *result)
{
    Dwarf_Die at = *die;
    for (int i = 0; i < MAX_CHAIN; i++) {
        if (dwarf_attr(&at, attribute, result) != NULL)
            return true;
        Dwarf_Attribute link;
        Dwarf_Die next;
        if (dwarf_attr(&at, DW_AT_abstract_origin, &link) == NULL &&
            dwarf_attr(&at, DW_AT_specification, &link) == NULL)
            return false;
        if (dwarf_formref_die(&link, &next) == NULL)
            return false;
        at = next;
    }
    return false;
}

size_t as_scope_ranges(Dwarf_Die *die, uint32_t rank, uint32_t id, as_intervals *items, struct as_budget *budget)
{
    Dwarf_Addr base, start, end;
    ptrdiff_t offset = 0;
    size_t count = 0;
    while ((offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0 && as_budget_tick(budget)) {
        if (budget->ranges == 0) {
            budget->spent = true;
            break;
        }
        budget->ranges--;
        if (start < end) {
            *as_vec_push(items) = (struct as_address_range){start, end, rank, id};
            count++;
        }
    }
    return count;
}

static uint32_t number(Dwarf_Die *die, unsigned attribute)
{
    Dwarf_Attribute attr;
    Dwarf_Word value;
    if (dwarf_attr(die, attribute, &attr) == NULL || dwarf_formudata(&attr, &value) != 0 || value > INT32_MAX)
        return 0;
    return (uint32_t)value;
}

/* Tags whose children can hold functions. */
static bool may_hold_functions(int tag)
{
    switch (tag) {
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_with_stmt:
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_interface_type:
    case DW_TAG_common_block:
        return true;
    default:
        return false;
    }
}

struct walk {
    struct as_scopes *scopes;
    as_intervals ranges;
    struct as_budget *budget;
    Dwarf_Off last; /* the walk must go on behind it */
};

/* Makes a scope of a function or inlined function with code; returns it, or `parent` where it is none. */
static uint32_t enter(struct walk *walk, Dwarf_Die *die, int tag, uint32_t parent, uint32_t depth)
{
    if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine)
        return parent;
    uint32_t id = (uint32_t)walk->scopes->scopes.len;
    if (as_scope_ranges(die, MAX_DEPTH - depth, id, &walk->ranges, walk->budget) == 0)
        return parent;
    struct as_scope scope = {.die = *die, .parent = parent, .inlined = tag == DW_TAG_inlined_subroutine};
    if (scope.inlined) {
        scope.call_file = number(die, DW_AT_call_file);
        scope.call_line = number(die, DW_AT_call_line);
        scope.call_column = number(die, DW_AT_call_column);
    }
    *as_vec_push(&walk->scopes->scopes) = scope;
    return id;
}

/* Steps to `next` only if it lies behind everything seen so far. */
static bool forward(struct walk *walk, Dwarf_Die *next)
{
    Dwarf_Off offset = dwarf_dieoffset(next);
    if (offset <= walk->last || offset == (Dwarf_Off)-1)
        return false;
    walk->last = offset;
    return true;
}

/* Depth first, with a stack of our own: `level[d]` is the DIE being looked at in depth d, `scope[d]` its innermost
 * scope. */
static void walk_unit(struct walk *walk, Dwarf_Die *unit)
{
    Dwarf_Die level[MAX_DEPTH];
    uint32_t scope[MAX_DEPTH];
    size_t depth = 0;
    walk->last = dwarf_dieoffset(unit);
    if (dwarf_child(unit, &level[0]) != 0 || !forward(walk, &level[0]))
        return;
    while (as_budget_tick(walk->budget)) {
        Dwarf_Die *die = &level[depth], next;
        int tag = dwarf_tag(die);
        uint32_t parent = depth > 0 ? scope[depth - 1] : AS_SCOPE_NONE;
        scope[depth] = enter(walk, die, tag, parent, (uint32_t)depth);
        if (may_hold_functions(tag) && depth + 1 < MAX_DEPTH && dwarf_child(die, &next) == 0 && forward(walk, &next)) {
            level[++depth] = next;
            continue;
        }
        for (;;) {
            int rc = dwarf_siblingof(&level[depth], &next);
            if (rc == 0 && !forward(walk, &next))
                return;
            if (rc == 0) {
                level[depth] = next;
                break;
            }
            if (rc < 0 || depth == 0)
                return;
            depth--;
        }
    }
}

void as_scopes_read(struct as_scopes *scopes, Dwarf_Die *unit, struct as_budget *budget)
{
    struct walk walk = {.scopes = scopes, .budget = budget};
    walk_unit(&walk, unit);
    as_interval_build(&scopes->index, walk.ranges.data, walk.ranges.len);
    as_vec_free(&walk.ranges);
}

void as_scopes_free(struct as_scopes *scopes)
{
    as_vec_free(&scopes->scopes);
    as_interval_free(&scopes->index);
}
