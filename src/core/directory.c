/* See directory.h. Open addressing; nothing is removed but when the table is rebuilt. */
#include "core/directory.h"

#include "base/alloc.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 1 << 12 };

void as_directory_free(struct as_directory *directory)
{
    free(directory->entries);
    directory->entries = directory->last = NULL;
    directory->n = directory->mask = 0;
}

static size_t slot_of(const struct as_directory *directory, uint64_t line)
{
    return (size_t)((line * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & directory->mask;
}

/* The entry of the line, or the empty slot where it belongs. */
static struct as_directory_entry *look(const struct as_directory *directory, uint64_t line)
{
    size_t at = slot_of(directory, line);
    while (directory->entries[at].key && directory->entries[at].key != line + 1)
        at = (at + 1) & directory->mask;
    return &directory->entries[at];
}

struct as_directory_entry *as_directory_find(struct as_directory *directory, uint64_t line)
{
    if (directory->last && directory->last->key == line + 1)
        return directory->last;
    if (!directory->entries)
        return NULL;
    struct as_directory_entry *entry = look(directory, line);
    return entry->key ? directory->last = entry : NULL;
}

/* Into a new table, without the entries of lines that nobody has any more. Twice as large where half of them stay. */
static void rebuild(struct as_directory *directory)
{
    struct as_directory_entry *old = directory->entries;
    directory->last = NULL;
    size_t size = old ? directory->mask + 1 : 0, held = 0;
    for (size_t i = 0; i < size; i++) {
        if (old[i].key && !directory->is_held(directory->context, &old[i]))
            old[i].key = 0;
        held += old[i].key != 0;
    }
    size_t slots = size ? size : FIRST_SLOTS;
    if (4 * held > slots)
        slots *= 2;
    directory->entries = as_alloc_array(slots, sizeof *directory->entries);
    directory->mask = slots - 1;
    directory->n = held;
    for (size_t i = 0; i < size; i++)
        if (old[i].key)
            *look(directory, old[i].key - 1) = old[i];
    free(old);
}

struct as_directory_entry *as_directory_put(struct as_directory *directory, uint64_t line)
{
    struct as_directory_entry *entry = as_directory_find(directory, line);
    if (entry)
        return entry;
    if (!directory->entries || 2 * (directory->n + 1) > directory->mask)
        rebuild(directory);
    entry = look(directory, line);
    *entry = (struct as_directory_entry){.key = line + 1};
    directory->n++;
    return entry;
}
