/* Hash maps. as_map: u64 keys to u64 values (pointers fit), open addressing, any key allowed. as_strings: interns
 * strings to dense ids 0, 1, 2 … in order of first appearance. */
#ifndef AS_BASE_MAP_H
#define AS_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct as_map_slot {
    uint64_t key, value;
    bool used;
};

struct as_map {
    struct as_map_slot *slots;
    size_t len, cap; /* cap is 0 or a power of two */
};

/* The value's address, or NULL when the key is absent. Valid until the next as_map_put. */
uint64_t *as_map_get(const struct as_map *map, uint64_t key);
/* For the host to fetch what as_map_get and as_map_put of the key will read. */
void as_map_fetch(const struct as_map *map, uint64_t key);
/* The value's address, made with value 0 when the key was absent. Valid until the next as_map_put. */
uint64_t *as_map_put(struct as_map *map, uint64_t key);
bool as_map_remove(struct as_map *map, uint64_t key);
void as_map_free(struct as_map *map);
/* Of two maps of counts: half the sum of their differences, as a part of the larger sum: 0 to 1; 0 where the first is empty. */
double as_map_apart(const struct as_map *first, const struct as_map *second);

struct as_strings;
struct as_strings *as_strings_new(void);
uint32_t as_strings_intern(struct as_strings *strings, const char *text);
const char *as_strings_get(const struct as_strings *strings, uint32_t id); /* stable until free */
size_t as_strings_count(const struct as_strings *strings);
void as_strings_free(struct as_strings *strings);

uint64_t as_hash_bytes(const void *bytes, size_t length);

#endif
