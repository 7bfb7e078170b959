/* See memo.h and memo_table.h. Memory is taken piece by piece and given back all at once. */
#include "core/memo_table.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { SPARE = 1 << 21, FIRST_SLOTS = 1 << 14 }; /* SPARE: bytes, more than any edge takes */

/* Memory that is looked at here and there: in large pages, where the system has them. All 0. */
static void *take_large(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return as_alloc(SIZE_MAX / 2); /* ends the process the usual way */
    madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

/* Only addresses are taken here, memory when it is used. Where the system gives fewer, fewer have to do. */
static void reserve_room(struct as_memo *memo)
{
    const size_t most = (size_t)UINT32_MAX * AS_MEMO_GRAIN;
    void *room = MAP_FAILED;
    memo->size = (memo->options.bytes < most ? memo->options.bytes : most) & ~(size_t)(AS_MEMO_GRAIN - 1);
    for (; memo->size >= SPARE; memo->size = memo->size / 2 & ~(size_t)(AS_MEMO_GRAIN - 1)) {
        room = mmap(NULL, memo->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (room != MAP_FAILED)
            break;
    }
    if (room == MAP_FAILED)
        memo->size = 0;
    else
        madvise(room, memo->size, MADV_HUGEPAGE);
    memo->room = memo->size ? room : NULL;
    memo->options.bytes = memo->size;
    memo->hot = AS_MEMO_GRAIN; /* number 0 is nothing's */
}

struct as_memo *as_memo_new(const struct as_memo_options *options)
{
    struct as_memo *memo = as_alloc_apart(1, sizeof *memo);
    memo->options = *options;
    memo->purse = AS_PURSE_FIRST;
    memo->makes = true;
    reserve_room(memo);
    memo->mask = FIRST_SLOTS - 1;
    memo->table = take_large(FIRST_SLOTS * sizeof *memo->table);
    memo->error = (struct as_error)AS_ERROR_INIT;
    return memo;
}

void as_memo_free(struct as_memo *memo)
{
    if (!memo)
        return;
    if (memo->room)
        munmap(memo->room, memo->size);
    as_vec_free(&memo->cores);
    munmap(memo->table, (memo->mask + 1) * sizeof *memo->table);
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

static size_t in_grains(size_t bytes)
{
    return (bytes + AS_MEMO_GRAIN - 1) & ~(size_t)(AS_MEMO_GRAIN - 1);
}

void *as_memo_take(struct as_memo *memo, size_t bytes)
{
    void *taken = memo->room + memo->hot;
    memo->hot += in_grains(bytes);
    memo->counters.bytes = memo->hot + memo->cold;
    return taken;
}

void *as_memo_take_cold(struct as_memo *memo, size_t bytes)
{
    memo->cold += in_grains(bytes);
    memo->counters.bytes = memo->hot + memo->cold;
    return memo->room + memo->size - memo->cold;
}

/* Observers keep something for each edge that a thread went along. */
static size_t bytes_beside(const struct as_memo *memo)
{
    enum { OBSERVED = 160 };
    return memo->counters.edges * OBSERVED * (memo->cores.len ? memo->cores.len : 1);
}

bool as_memo_is_full(const struct as_memo *memo)
{
    size_t table = (memo->mask + 1) * sizeof *memo->table;
    return memo->counters.bytes + SPARE + table + bytes_beside(memo) > memo->options.bytes;
}

void as_memo_clear(struct as_memo *memo)
{
    memset(memo->table, 0, (memo->mask + 1) * sizeof *memo->table);
    memo->used = 0;
    memo->hot = AS_MEMO_GRAIN;
    memo->cold = 0;
    memo->counters.nodes = memo->counters.edges = memo->counters.bytes = 0;
    memo->counters.drops++;
}

/* ---- nodes ---- */

static inline uint64_t mix(uint64_t hash, uint64_t word)
{
    unsigned __int128 product = (unsigned __int128)(hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t hash_of(const struct as_body *body, const uint16_t *words, uint32_t n)
{
    uint64_t a = (uint64_t)(uintptr_t)body, b = n, c = 1, d = 2, word[4];
    uint32_t i = 0;
    for (; i + 16 <= n; i += 16) {
        memcpy(word, words + i, sizeof word);
        a = mix(a, word[0]);
        b = mix(b, word[1]);
        c = mix(c, word[2]);
        d = mix(d, word[3]);
    }
    for (; i < n; i++)
        a = mix(a, words[i]);
    return mix(mix(a, b), mix(c, d));
}

enum {
    NODE_BITS = 48,
    OFTEN = 2
}; /* OFTEN: times that a state is looked for before it gets a node; counted in its place */

static uint64_t slot_of(uint64_t hash, const struct as_node *node)
{
    return hash >> NODE_BITS << NODE_BITS | (uint64_t)(uintptr_t)node;
}

static uint64_t place_of(uint64_t slot)
{
    return slot & ((UINT64_C(1) << NODE_BITS) - 1);
}

static struct as_node *node_of(uint64_t slot)
{
    return place_of(slot) < OFTEN ? NULL : (struct as_node *)(uintptr_t)place_of(slot);
}

static uint64_t *free_slot(const struct as_memo *memo, uint64_t hash)
{
    uint64_t at = hash;
    while (memo->table[at & memo->mask])
        at++;
    return &memo->table[at & memo->mask];
}

/* States that came once make room for others; where nodes alone are too many, the table grows. */
static void tidy_table(struct as_memo *memo)
{
    uint64_t *old = memo->table, n = memo->mask + 1;
    if (memo->counters.nodes > n / 4)
        memo->mask = 2 * n - 1;
    memo->table = take_large((memo->mask + 1) * sizeof *memo->table);
    memo->used = 0;
    for (uint64_t i = 0; i < n; i++)
        if (old[i] && node_of(old[i])) {
            *free_slot(memo, node_of(old[i])->state->hash) = old[i];
            memo->used++;
        }
    munmap(old, n * sizeof *old);
}

static struct as_node *add_node(struct as_memo *memo, const struct as_body *body, const uint16_t *words, uint32_t n,
                                uint64_t hash)
{
    struct as_state *state = as_memo_take_cold(memo, sizeof *state + n * sizeof *words);
    struct as_node *node = as_memo_take(memo, sizeof *node);
    state->hash = hash;
    state->n_words = n;
    memcpy(state->words, words, n * sizeof *words);
    *node = (struct as_node){.body = body, .state = state, .number = (uint32_t)memo->counters.made_nodes++};
    memo->counters.nodes++;
    as_memo_pay(memo, AS_PRICE_NODE);
    return node;
}

static bool is_state(const struct as_node *node, const struct as_body *body, const uint16_t *words, uint32_t n)
{
    const struct as_state *state = node->state;
    return node->body == body && state->n_words == n && memcmp(state->words, words, n * sizeof *words) == 0;
}

struct as_node *as_memo_find(struct as_memo *memo, const struct as_body *body, const uint16_t *words, uint32_t n)
{
    uint64_t hash = hash_of(body, words, n), at = hash;
    for (uint64_t *slot; *(slot = &memo->table[at & memo->mask]); at++) {
        struct as_node *node = node_of(*slot);
        if ((*slot ^ hash) >> NODE_BITS)
            continue;
        if (node && is_state(node, body, words, n))
            return node;
        if (node)
            continue;
        if (place_of(*slot) + 1 < OFTEN && !memo->options.eager) {
            ++*slot;
            return NULL;
        }
        if (as_memo_is_full(memo))
            return NULL;
        node = add_node(memo, body, words, n, hash);
        *slot = slot_of(hash, node);
        return node;
    }
    if (2 * memo->used > memo->mask)
        tidy_table(memo);
    *free_slot(memo, hash) = slot_of(hash, NULL) + 1;
    memo->used++;
    return NULL;
}

/* ---- bodies ---- */

enum { HOST_LINE = 64 };

/* A branch whose compare is in the body need not look for it each time. */
static void make_recipes(const struct as_machine *machine, struct as_body *body)
{
    struct as_recipe *recipe = body->recipes;
    for (uint32_t i = 0; i < body->n; i++) {
        as_recipe_make(machine, body->insns[i], recipe);
        if (i > 0 && recipe->traits & AS_RECIPE_FUSES)
            recipe->traits ^= as_insn_fuses(body->insns[i - 1], body->insns[i]) ? AS_RECIPE_PAIRED : AS_RECIPE_FUSES;
        recipe = (struct as_recipe *)((uint8_t *)recipe + as_recipe_bytes(recipe));
    }
}

static void count_needs(struct as_body *body)
{
    const struct as_recipe *recipe = body->recipes;
    for (uint32_t i = 0; i < body->n; i++, recipe = as_recipe_behind(recipe)) {
        body->controls += (recipe->traits & AS_RECIPE_CONTROL) != 0;
        for (uint8_t k = 0; k < recipe->n; k++) {
            const struct as_micro *micro = &recipe->micro[k];
            body->uops++;
            body->stores += (micro->traits & AS_MICRO_STORES) != 0;
            body->loads += (micro->traits & AS_MICRO_LOADS) != 0;
            body->int_writes += micro->registers == AS_REGISTERS_INT;
            body->fp_writes += micro->registers == AS_REGISTERS_FP;
        }
    }
}

/* Where the parts of a body lie: bytes from its start. */
struct places {
    size_t recipes, insns, first_access, shape, ideals, taken, all;
};

static struct places place_parts(const struct as_insn *const *insns, uint32_t n, uint32_t n_shape)
{
    struct places at = {.recipes = sizeof(struct as_body)};
    at.insns = at.recipes;
    for (uint32_t i = 0; i < n; i++)
        at.insns += as_recipe_bytes_of(insns[i]);
    at.first_access = at.insns + n * sizeof *insns;
    at.shape = (at.first_access + ((size_t)n + 1) * sizeof(uint32_t) + 7) & ~(size_t)7;
    at.ideals = at.shape + n_shape * sizeof(struct as_core_access);
    at.taken = at.ideals + n * sizeof(uint32_t);
    at.all = at.taken + n * sizeof(bool);
    return at;
}

/* All but what it holds. Only chains need `taken`, only few bodies ideals: nothing reads them elsewhere. */
static struct as_body *new_piece(const struct places *at)
{
    char *piece = as_alloc_apart(1, at->all);
    struct as_body *body = (struct as_body *)piece;
    body->recipes = (struct as_recipe *)(piece + at->recipes);
    body->insns = (const struct as_insn **)(piece + at->insns);
    body->first_access = (uint32_t *)(piece + at->first_access);
    body->shape = (struct as_core_access *)(piece + at->shape);
    body->lines = (uint32_t)((at->insns + HOST_LINE - 1) / HOST_LINE);
    return body;
}

static void note_shape(struct as_body *body, const struct as_core_access *shape, uint32_t n_shape)
{
    body->n_accesses = n_shape;
    for (uint32_t i = 0; i < n_shape; i++) {
        body->shape[i] = (struct as_core_access){.index = shape[i].index, .kind = shape[i].kind};
        body->first_access[shape[i].index + 1]++;
    }
    struct as_recipe *recipe = body->recipes;
    for (uint32_t i = 0; i < body->n; i++) {
        uint32_t n = body->first_access[i + 1];
        recipe->micro[0].accesses = (uint8_t)(n < AS_MICRO_MANY ? n : AS_MICRO_MANY);
        body->first_access[i + 1] += body->first_access[i];
        recipe = (struct as_recipe *)((uint8_t *)recipe + as_recipe_bytes(recipe));
    }
}

struct as_body *as_body_new(const struct as_machine *machine, const struct as_insn *const *insns, uint32_t n,
                            const uint32_t *ideals, bool continues, const struct as_core_access *shape,
                            uint32_t n_shape)
{
    struct places at = place_parts(insns, n, n_shape);
    struct as_body *body = new_piece(&at);
    body->n = n;
    body->n_blocks = 1;
    body->address = insns[0]->address;
    body->continues = continues;
    memcpy(body->insns, insns, n * sizeof *insns);
    make_recipes(machine, body);
    count_needs(body);
    note_shape(body, shape, n_shape);
    if (ideals) {
        body->ideals = (uint32_t *)((char *)body + at.ideals);
        memcpy(body->ideals, ideals, n * sizeof *ideals);
    }
    return body;
}

static void *join_arrays(const void *first, uint32_t n_first, const void *second, uint32_t n_second, size_t size)
{
    char *all = as_alloc_array((size_t)n_first + n_second + 1, size);
    if (first && n_first)
        memcpy(all, first, n_first * size);
    if (second && n_second)
        memcpy(all + n_first * size, second, n_second * size);
    return all;
}

static void note_taken(struct as_body *body, const struct as_body *first, const struct as_body *second, bool taken)
{
    body->taken = (bool *)body + place_parts(body->insns, body->n, body->n_accesses).taken;
    if (first->taken)
        memcpy(body->taken, first->taken, first->n * sizeof *body->taken);
    if (second->taken)
        memcpy(body->taken + first->n, second->taken, second->n * sizeof *body->taken);
    body->taken[first->n - 1] = taken;
}

struct as_body *as_body_join(const struct as_machine *machine, const struct as_body *first,
                             const struct as_body *second, bool taken)
{
    uint32_t n = first->n, more = second->n;
    bool has_ideals = first->ideals || second->ideals;
    const struct as_insn **insns = join_arrays(first->insns, n, second->insns, more, sizeof *insns);
    uint32_t *ideals = join_arrays(first->ideals, n, second->ideals, more, sizeof *ideals);
    struct as_core_access *shape =
        join_arrays(first->shape, first->n_accesses, second->shape, second->n_accesses, sizeof *shape);
    for (uint32_t i = 0; i < second->n_accesses; i++)
        shape[first->n_accesses + i].index = (uint16_t)(shape[first->n_accesses + i].index + n);
    struct as_body *body = as_body_new(machine, insns, n + more, has_ideals ? ideals : NULL, first->continues, shape,
                                       first->n_accesses + second->n_accesses);
    body->n_blocks = first->n_blocks + second->n_blocks;
    note_taken(body, first, second, taken);
    free(insns);
    free(ideals);
    free(shape);
    return body;
}

void as_body_free(struct as_body *body)
{
    free(body);
}
