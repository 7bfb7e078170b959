/* See memo.h and memo_table.h. Memory is taken from chunks and given back all at once. */
#include "core/memo_table.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 20, SEEN = 1 << 18, FIRST_BUCKETS = 1 << 12 };

struct as_memo *as_memo_new(const struct as_memo_options *options)
{
    struct as_memo *memo = as_alloc(sizeof *memo);
    memo->options = *options;
    memo->mask = FIRST_BUCKETS - 1;
    memo->table = as_alloc_array(FIRST_BUCKETS, sizeof *memo->table);
    memo->seen = as_alloc_array(SEEN, sizeof *memo->seen);
    memo->error = (struct as_error)AS_ERROR_INIT;
    return memo;
}

void as_memo_free(struct as_memo *memo)
{
    if (!memo)
        return;
    for (size_t i = 0; i < memo->chunks.len; i++)
        free(memo->chunks.data[i]);
    as_vec_free(&memo->chunks);
    as_vec_free(&memo->cores);
    free(memo->table);
    free(memo->seen);
    free(memo);
}

bool as_memo_check(const struct as_memo *memo, struct as_error *err)
{
    return !memo->failed || as_error_set(err, "%s", memo->error.message);
}

void as_memo_count(const struct as_memo *memo, struct as_memo_counters *counters)
{
    *counters = memo->counters;
}

/* ---- memory ---- */

void *as_memo_take(struct as_memo *memo, size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    if (memo->chunks.len == 0 || memo->used + bytes > CHUNK) {
        if (memo->chunks.len > 0)
            memo->chunk++;
        memo->used = 0;
    }
    if (memo->chunk >= memo->chunks.len)
        *as_vec_push(&memo->chunks) = as_realloc_array(NULL, CHUNK, 1);
    void *taken = memo->chunks.data[memo->chunk] + memo->used;
    memo->used += bytes;
    memo->counters.bytes = memo->chunk * CHUNK + memo->used;
    return taken;
}

bool as_memo_is_full(const struct as_memo *memo)
{
    return memo->counters.bytes + CHUNK + (memo->mask + 1) * sizeof *memo->table > memo->options.bytes;
}

void as_memo_clear(struct as_memo *memo)
{
    memset(memo->table, 0, (memo->mask + 1) * sizeof *memo->table);
    memo->chunk = memo->used = 0;
    memo->counters.nodes = memo->counters.edges = memo->counters.bytes = 0;
    memo->counters.drops++;
}

/* ---- nodes ---- */

static inline uint64_t mix(uint64_t hash, uint64_t word)
{
    unsigned __int128 product = (unsigned __int128)(hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t as_memo_hash(const struct as_body *body, const uint16_t *words, uint32_t n)
{
    uint64_t a = (uint64_t)(uintptr_t)body, b = n, word[2];
    uint32_t i = 0;
    for (; i + 8 <= n; i += 8) {
        memcpy(word, words + i, sizeof word);
        a = mix(a, word[0]);
        b = mix(b, word[1]);
    }
    for (; i < n; i++)
        a = mix(a, words[i]);
    return mix(a, b) | 1;
}

struct as_node *as_memo_find(const struct as_memo *memo, const struct as_body *body, const uint16_t *words, uint32_t n,
                             uint64_t hash)
{
    for (struct as_node *node = memo->table[hash >> 8 & memo->mask]; node; node = node->chain)
        if (node->hash == hash && node->body == body && node->n_words == n &&
            memcmp(node->words, words, n * sizeof *words) == 0)
            return node;
    return NULL;
}

bool as_memo_seen(struct as_memo *memo, uint64_t hash)
{
    uint64_t *seen = &memo->seen[hash >> 8 & (SEEN - 1)];
    bool before = *seen == hash;
    *seen = hash;
    return before;
}

static void grow(struct as_memo *memo)
{
    uint64_t old = memo->mask + 1;
    struct as_node **table = as_alloc_array(4 * old, sizeof *table);
    memo->mask = 4 * old - 1;
    for (uint64_t i = 0; i < old; i++)
        for (struct as_node *node = memo->table[i], *next; node; node = next) {
            next = node->chain;
            node->chain = table[node->hash >> 8 & memo->mask];
            table[node->hash >> 8 & memo->mask] = node;
        }
    free(memo->table);
    memo->table = table;
}

struct as_node *as_memo_add(struct as_memo *memo, const struct as_body *body, const uint16_t *words, uint32_t n,
                            uint64_t hash)
{
    if (memo->counters.nodes > memo->mask)
        grow(memo);
    struct as_node *node = as_memo_take(memo, sizeof *node + n * sizeof *words), **bucket;
    bucket = &memo->table[hash >> 8 & memo->mask];
    *node = (struct as_node){
        .body = body, .hash = hash, .chain = *bucket, .number = (uint32_t)memo->counters.made_nodes++, .n_words = n};
    memcpy(node->words, words, n * sizeof *words);
    memo->counters.nodes++;
    return *bucket = node;
}

/* ---- bodies ---- */

static struct as_recipe *make_recipes(const struct as_machine *machine, const struct as_insn *const *insns, uint32_t n)
{
    union as_recipe_room room;
    AS_VEC(uint8_t) bytes = {0};
    for (uint32_t i = 0; i < n; i++) {
        as_recipe_make(machine, insns[i], &room.recipe);
        size_t size = as_recipe_bytes(&room.recipe);
        for (size_t at = 0; at < size; at++)
            *as_vec_push(&bytes) = room.bytes[at];
    }
    return (struct as_recipe *)bytes.data;
}

static uint32_t count_stores(const struct as_body *body)
{
    uint32_t stores = 0;
    const struct as_recipe *recipe = body->recipes;
    for (uint32_t i = 0; i < body->n; i++, recipe = as_recipe_behind(recipe))
        for (uint8_t k = 0; k < recipe->n; k++)
            stores += (recipe->micro[k].traits & AS_MICRO_STORES) != 0;
    return stores;
}

struct as_body *as_body_new(const struct as_machine *machine, const struct as_insn *const *insns, uint32_t n,
                            const uint32_t *ideals, bool continues, const struct as_core_access *shape,
                            uint32_t n_shape)
{
    struct as_body *body = as_alloc(sizeof *body);
    *body = (struct as_body){.n = n, .continues = continues, .n_accesses = n_shape};
    body->insns = as_alloc_array(n, sizeof *body->insns);
    memcpy(body->insns, insns, n * sizeof *insns);
    body->recipes = make_recipes(machine, insns, n);
    body->stores = count_stores(body);
    if (ideals) {
        body->ideals = as_alloc_array(n, sizeof *ideals);
        memcpy(body->ideals, ideals, n * sizeof *ideals);
    }
    body->first_access = as_alloc_array((size_t)n + 1, sizeof *body->first_access);
    body->shape = as_alloc_array(n_shape ? n_shape : 1, sizeof *body->shape);
    for (uint32_t i = 0; i < n_shape; i++) {
        body->shape[i] = (struct as_core_access){.index = shape[i].index, .kind = shape[i].kind};
        body->first_access[shape[i].index + 1]++;
    }
    for (uint32_t i = 0; i < n; i++)
        body->first_access[i + 1] += body->first_access[i];
    return body;
}

void as_body_free(struct as_body *body)
{
    if (!body)
        return;
    free(body->insns);
    free(body->recipes);
    free(body->ideals);
    free(body->shape);
    free(body->first_access);
    free(body);
}
