/* See members.h. */
#include "symbol/members.h"

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "symbol/scopes.h"

#include <dwarf.h>
#include <inttypes.h>

enum { SECONDS = 10, DEEPEST = 16, MOST_VARIABLES = 1 << 20, NAMESPACES = 8 };

struct as_members {
    struct as_map by_address; /* place in types + 1 */
    AS_VEC(Dwarf_Die) types;
};

/* ---- finding variables ---- */

/* The address of a variable that has one of its own: its location is that address and nothing else. */
static bool address_of(Dwarf_Die *die, uint64_t *address)
{
    Dwarf_Attribute attr;
    Dwarf_Op *ops;
    size_t n;
    if (!dwarf_attr(die, DW_AT_location, &attr) || dwarf_getlocation(&attr, &ops, &n) != 0 || n != 1 ||
        ops[0].atom != DW_OP_addr)
        return false;
    *address = ops[0].number;
    return true;
}

static bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
    Dwarf_Attribute attr;
    Dwarf_Die named;
    return as_scope_attr(die, DW_AT_type, &attr) && dwarf_formref_die(&attr, &named) &&
           dwarf_peel_type(&named, type) == 0;
}

static void add_variable(struct as_members *members, Dwarf_Die *die)
{
    uint64_t address;
    Dwarf_Die type;
    if (members->types.len >= MOST_VARIABLES || !address_of(die, &address) || !type_of(die, &type))
        return;
    uint64_t *place = as_map_put(&members->by_address, address);
    if (*place)
        return;
    *as_vec_push(&members->types) = type;
    *place = members->types.len;
}

/* Variables of a unit, of its namespaces, and static ones of its functions. */
static void add_children(struct as_members *members, Dwarf_Die *parent, int depth, struct as_budget *budget)
{
    Dwarf_Die die;
    if (depth > NAMESPACES || dwarf_child(parent, &die) != 0)
        return;
    do {
        int tag = dwarf_tag(&die);
        if (tag == DW_TAG_variable)
            add_variable(members, &die);
        else if (tag == DW_TAG_namespace || tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block)
            add_children(members, &die, depth + 1, budget);
    } while (as_budget_tick(budget) && dwarf_siblingof(&die, &die) == 0);
}

struct as_members *as_members_new(Dwarf *dwarf)
{
    struct as_members *members = as_alloc(sizeof *members);
    struct as_budget budget;
    Dwarf_CU *cu = NULL;
    Dwarf_Die die;
    uint8_t type;
    as_budget_start(&budget, SECONDS, MOST_VARIABLES);
    while (as_budget_tick(&budget) && dwarf_get_units(dwarf, cu, &cu, NULL, &type, &die, NULL) == 0)
        if (type == DW_UT_compile || type == DW_UT_partial)
            add_children(members, &die, 0, &budget);
    return members;
}

void as_members_free(struct as_members *members)
{
    if (!members)
        return;
    as_map_free(&members->by_address);
    as_vec_free(&members->types);
    free(members);
}

/* ---- walking types ---- */

static uint64_t size_of(Dwarf_Die *type)
{
    Dwarf_Word size;
    return dwarf_aggregate_size(type, &size) == 0 ? size : 0;
}

static uint64_t count_of(Dwarf_Die *range)
{
    Dwarf_Attribute attr;
    Dwarf_Word value;
    if (dwarf_attr(range, DW_AT_count, &attr) && dwarf_formudata(&attr, &value) == 0)
        return value;
    return dwarf_attr(range, DW_AT_upper_bound, &attr) && dwarf_formudata(&attr, &value) == 0 ? value + 1 : 0;
}

/* Elements that one index of the outermost dimension covers: the product of the others. */
static uint64_t inner_count(Dwarf_Die *array, unsigned dimension)
{
    Dwarf_Die range;
    uint64_t product = 1;
    unsigned at = 0;
    if (dwarf_child(array, &range) != 0)
        return 1;
    do
        if (dwarf_tag(&range) == DW_TAG_subrange_type && at++ > dimension)
            product *= count_of(&range);
    while (dwarf_siblingof(&range, &range) == 0);
    return product;
}

static unsigned count_dimensions(Dwarf_Die *array)
{
    Dwarf_Die range;
    unsigned n = 0;
    if (dwarf_child(array, &range) != 0)
        return 0;
    do
        n += dwarf_tag(&range) == DW_TAG_subrange_type;
    while (dwarf_siblingof(&range, &range) == 0);
    return n;
}

/* `*type` becomes the element's, `*offset` that in it. */
static bool enter_array(Dwarf_Die *type, uint64_t *offset, struct as_str *out)
{
    Dwarf_Die element;
    uint64_t size = type_of(type, &element) ? size_of(&element) : 0;
    unsigned n = count_dimensions(type);
    if (!size || n > DEEPEST)
        return false;
    for (unsigned i = 0; i < n; i++) {
        uint64_t stride = size * inner_count(type, i);
        if (!stride)
            return false;
        as_str_addf(out, "[%" PRIu64 "]", *offset / stride);
        *offset %= stride;
    }
    *type = element;
    return true;
}

/* Where a bit-field begins that is placed by bits of the structure, and the bytes that it touches; of others nothing. */
static void read_bits(Dwarf_Die *member, uint64_t *start, uint64_t *size)
{
    Dwarf_Attribute at, length;
    Dwarf_Word first, bits;
    if (!dwarf_attr(member, DW_AT_data_bit_offset, &at) || dwarf_formudata(&at, &first) != 0 ||
        !dwarf_attr(member, DW_AT_bit_size, &length) || dwarf_formudata(&length, &bits) != 0)
        return;
    *start = first / 8;
    *size = (first % 8 + bits + 7) / 8;
}

static bool covers(Dwarf_Die *member, Dwarf_Die *type, uint64_t offset, uint64_t *start)
{
    Dwarf_Attribute attr;
    Dwarf_Word at = 0;
    if (!type_of(member, type))
        return false;
    uint64_t size = size_of(type);
    if (!dwarf_attr(member, DW_AT_data_member_location, &attr))
        read_bits(member, &at, &size); /* else it begins with the structure */
    else if (dwarf_formudata(&attr, &at) != 0)
        return false;
    *start = at;
    return offset >= at && offset - at < size;
}

/* The first member that covers the offset; false: padding lies there. */
static bool enter_struct(Dwarf_Die *type, uint64_t *offset, struct as_str *out)
{
    Dwarf_Die member, inner;
    uint64_t start;
    if (dwarf_child(type, &member) != 0)
        return false;
    do {
        int tag = dwarf_tag(&member);
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || !covers(&member, &inner, *offset, &start))
            continue;
        const char *name = dwarf_diename(&member);
        if (name && tag == DW_TAG_member)
            as_str_addf(out, ".%s", name);
        *offset -= start;
        *type = inner;
        return true;
    } while (dwarf_siblingof(&member, &member) == 0);
    return false;
}

static bool enter(Dwarf_Die *type, uint64_t *offset, struct as_str *out)
{
    int tag = dwarf_tag(type);
    if (tag == DW_TAG_array_type)
        return enter_array(type, offset, out);
    return (tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type) &&
           enter_struct(type, offset, out);
}

char *as_members_name(struct as_members *members, uint64_t address, uint64_t offset)
{
    const uint64_t *place = as_map_get(&members->by_address, address);
    struct as_str out = {0};
    if (!place)
        return NULL;
    Dwarf_Die type = members->types.data[*place - 1];
    if (offset && offset >= size_of(&type))
        return NULL;
    for (int depth = 0; depth < DEEPEST && enter(&type, &offset, &out);)
        depth++;
    if (offset)
        as_str_addf(&out, "+%" PRIu64, offset);
    char *text = as_strdup(out.data ? out.data : "");
    as_str_free(&out);
    return text;
}

uint64_t as_members_element(struct as_members *members, uint64_t address)
{
    const uint64_t *place = as_map_get(&members->by_address, address);
    Dwarf_Die element;
    if (!place)
        return 0;
    Dwarf_Die type = members->types.data[*place - 1];
    if (dwarf_tag(&type) != DW_TAG_array_type || !type_of(&type, &element))
        return 0;
    return size_of(&element) * inner_count(&type, 0);
}

/* ---- parting two places ---- */

/* What encloses both: an element of so many, or a member with what comes before and behind it. */
struct level {
    bool is_array;
    uint64_t count;         /* of elements; 0: unknown */
    uint64_t before, after; /* of a member: bytes of the structure */
};

struct walk {
    Dwarf_Die type;
    uint64_t offsets[2]; /* in it */
    struct level levels[2 * DEEPEST];
    size_t n;
    struct as_str name;
    struct as_member_split *split;
};

static uint64_t round_up(uint64_t bytes, uint64_t line)
{
    return (bytes + line - 1) / line * line;
}

static bool push_level(struct walk *walk, struct level level)
{
    if (walk->n == sizeof walk->levels / sizeof *walk->levels)
        return false;
    walk->levels[walk->n++] = level;
    return true;
}

/* Elements of one dimension of an array. */
static uint64_t count_in(Dwarf_Die *array, unsigned i)
{
    Dwarf_Die range;
    unsigned at = 0;
    if (dwarf_child(array, &range) != 0)
        return 0;
    do
        if (dwarf_tag(&range) == DW_TAG_subrange_type && at++ == i)
            return count_of(&range);
    while (dwarf_siblingof(&range, &range) == 0);
    return 0;
}

/* One element of each dimension, until the two are in different ones. */
static bool walk_array(struct walk *walk, uint64_t line)
{
    Dwarf_Die element;
    uint64_t size = type_of(&walk->type, &element) ? size_of(&element) : 0;
    unsigned n = count_dimensions(&walk->type);
    for (unsigned i = 0; i < n && n <= DEEPEST; i++) {
        uint64_t stride = size * inner_count(&walk->type, i);
        if (!stride || !push_level(walk, (struct level){.is_array = true, .count = count_in(&walk->type, i)}))
            return false;
        uint64_t index = walk->offsets[0] / stride;
        if (index != walk->offsets[1] / stride) {
            walk->split->part = AS_PART_ELEMENTS;
            walk->split->bytes = stride;
            walk->split->padded = round_up(stride, line);
            return true;
        }
        as_str_addf(&walk->name, "[%" PRIu64 "]", index);
        walk->offsets[0] %= stride;
        walk->offsets[1] %= stride;
    }
    walk->type = element;
    return size && n && n <= DEEPEST;
}

/* The first member that covers an offset. */
static bool member_at(Dwarf_Die *type, uint64_t offset, Dwarf_Die *member, Dwarf_Die *inner, uint64_t *start)
{
    if (dwarf_child(type, member) != 0)
        return false;
    do {
        int tag = dwarf_tag(member);
        if ((tag == DW_TAG_member || tag == DW_TAG_inheritance) && covers(member, inner, offset, start))
            return !dwarf_hasattr(member, DW_AT_bit_size);
    } while (dwarf_siblingof(member, member) == 0);
    return false;
}

static void part_members(struct walk *walk, Dwarf_Die *later, uint64_t at, uint64_t line)
{
    const char *name = dwarf_diename(later);
    uint64_t size = size_of(&walk->type);
    as_str_free(&walk->name);
    walk->name = (struct as_str){0};
    as_str_add(&walk->name, name ? name : "");
    walk->split->part = AS_PART_MEMBERS;
    walk->split->bytes = size;
    walk->split->padded = round_up(round_up(at, line) + size - at, line);
}

static bool walk_struct(struct walk *walk, uint64_t line)
{
    Dwarf_Die members[2], inner[2];
    uint64_t starts[2];
    for (int i = 0; i < 2; i++)
        if (!member_at(&walk->type, walk->offsets[i], &members[i], &inner[i], &starts[i]))
            return false;
    if (starts[0] != starts[1]) {
        int later = starts[1] > starts[0];
        bool is_member = dwarf_tag(&members[later]) == DW_TAG_member;
        if (is_member && dwarf_tag(&walk->type) != DW_TAG_union_type)
            part_members(walk, &members[later], starts[later], line);
        return walk->split->part != 0;
    }
    const char *name = dwarf_tag(&members[0]) == DW_TAG_member ? dwarf_diename(&members[0]) : NULL;
    struct level level = {.before = starts[0], .after = size_of(&walk->type) - starts[0] - size_of(&inner[0])};
    if (name)
        as_str_addf(&walk->name, ".%s", name);
    walk->offsets[0] -= starts[0];
    walk->offsets[1] -= starts[0];
    walk->type = inner[0];
    return push_level(walk, level);
}

static bool walk_type(struct walk *walk, uint64_t line)
{
    int tag = dwarf_tag(&walk->type);
    if (tag == DW_TAG_array_type)
        return walk_array(walk, line);
    return (tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type) &&
           walk_struct(walk, line);
}

/* What was padded is a number of lines that begins with one, and so is everything around it. 0: an array has no length. */
static uint64_t grow(const struct walk *walk, uint64_t line)
{
    uint64_t size = walk->split->padded;
    for (size_t i = walk->n; i-- > 0;) {
        const struct level *level = &walk->levels[i];
        size =
            level->is_array ? size * level->count : round_up(round_up(level->before, line) + size + level->after, line);
    }
    return size;
}

bool as_members_split(struct as_members *members, uint64_t address, const uint64_t offsets[2], uint64_t line,
                      struct as_member_split *split)
{
    const uint64_t *place = as_map_get(&members->by_address, address);
    if (!place)
        return false;
    struct walk walk = {.type = members->types.data[*place - 1], .offsets = {offsets[0], offsets[1]}, .split = split};
    *split = (struct as_member_split){.whole = size_of(&walk.type)};
    bool inside = offsets[0] < split->whole && offsets[1] < split->whole;
    for (int depth = 0; inside && depth < DEEPEST && !split->part && walk_type(&walk, line);)
        depth++;
    if (split->part) {
        split->whole_padded = grow(&walk, line);
        split->name = as_strdup(walk.name.data ? walk.name.data : "");
    }
    as_str_free(&walk.name);
    return split->part != 0;
}
