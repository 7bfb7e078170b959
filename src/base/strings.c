/* as_strings keeps the texts in a vector, in the order of their ids, and an open-addressed table of ids + 1 (0: free)
 * that is at most half full. It stores the hash of each text, so that growing the table and most failed comparisons do
 * not read the text. */
#include "base/map.h"
#include "base/vec.h"

struct entry {
    char *text;
    uint64_t hash;
};

struct as_strings {
    AS_VEC(struct entry) entries;
    uint32_t *table;
    size_t cap; /* a power of two */
};

enum { SMALLEST_CAP = 64 };

struct as_strings *as_strings_new(void)
{
    struct as_strings *strings = as_alloc(sizeof *strings);
    strings->cap = SMALLEST_CAP;
    strings->table = as_alloc_array(strings->cap, sizeof *strings->table);
    return strings;
}

static bool is_entry(const struct as_strings *strings, uint32_t id, const char *text, uint64_t hash)
{
    const struct entry *entry = &strings->entries.data[id];
    return entry->hash == hash && strcmp(entry->text, text) == 0;
}

/* The slot of `text`, or the free slot where it would go; text NULL: only a free slot. */
static uint32_t *probe(const struct as_strings *strings, const char *text, uint64_t hash)
{
    size_t at = (size_t)hash & (strings->cap - 1);
    while (strings->table[at] && !(text && is_entry(strings, strings->table[at] - 1, text, hash)))
        at = (at + 1) & (strings->cap - 1);
    return &strings->table[at];
}

static void grow(struct as_strings *strings)
{
    free(strings->table);
    strings->cap *= 2;
    strings->table = as_alloc_array(strings->cap, sizeof *strings->table);
    for (size_t id = 0; id < strings->entries.len; id++)
        *probe(strings, NULL, strings->entries.data[id].hash) = (uint32_t)id + 1;
}

uint32_t as_strings_intern(struct as_strings *strings, const char *text)
{
    uint64_t hash = as_hash_bytes(text, strlen(text));
    uint32_t *place = probe(strings, text, hash);
    if (*place)
        return *place - 1;
    if (strings->entries.len >= UINT32_MAX - 1)
        abort(); /* four billion texts: memory runs out before the ids do */
    if ((strings->entries.len + 1) * 2 > strings->cap) {
        grow(strings);
        place = probe(strings, text, hash);
    }
    *as_vec_push(&strings->entries) = (struct entry){.text = as_strdup(text), .hash = hash};
    *place = (uint32_t)strings->entries.len;
    return *place - 1;
}

const char *as_strings_get(const struct as_strings *strings, uint32_t id)
{
    return id < strings->entries.len ? strings->entries.data[id].text : NULL;
}

size_t as_strings_count(const struct as_strings *strings)
{
    return strings->entries.len;
}

void as_strings_free(struct as_strings *strings)
{
    if (!strings)
        return;
    for (size_t i = 0; i < strings->entries.len; i++)
        free(strings->entries.data[i].text);
    as_vec_free(&strings->entries);
    free(strings->table);
    free(strings);
}
