/* Instructions are found by (image, address), blocks by (image, first address). Each key has a chain, because the code
 * at an address can change and QEMU can cut a block differently. */
#include "engine/code_table.h"

#include "base/log.h"
#include "engine/decisions.h"
#include "engine/wire.h"
#include "isa/marker_code.h"

enum { PAGE = 4096 }; /* of the program's memory */
enum { BLOCK_PAGES = 1 << (32 - AS_BLOCK_PAGE_BITS), BLOCK_PAGE = 1 << AS_BLOCK_PAGE_BITS };

void as_code_table_free(struct as_code_table *table)
{
    for (size_t i = 0; i < table->images.len; i++) {
        as_space_free(table->images.data[i]->space);
        as_vec_free(&table->images.data[i]->sites.list);
        as_map_free(&table->images.data[i]->sites.by_address);
        free(table->images.data[i]->program);
        for (size_t k = 0; k < table->images.data[i]->dumps.len; k++)
            free(table->images.data[i]->dumps.data[k]);
        as_vec_free(&table->images.data[i]->dumps);
        free(table->images.data[i]);
    }
    for (size_t i = 0; i < table->blocks.len; i++) {
        free(table->blocks.data[i]->codes);
        free(table->blocks.data[i]->hints);
        free(table->blocks.data[i]);
    }
    for (size_t i = 0; i < AS_CODE_PAGES; i++)
        free(table->insn_pages[i]);
    as_vec_free(&table->images);
    for (size_t i = 0; table->by_id.pages && i < BLOCK_PAGES; i++)
        free(table->by_id.pages[i]);
    free(table->by_id.pages);
    as_vec_free(&table->gists);
    as_vec_free(&table->blocks);
    as_map_free(&table->insn_chains);
    as_map_free(&table->latest);
    as_map_free(&table->made);
    as_map_free(&table->pages);
    as_map_free(&table->block_chains);
}

struct as_image *as_code_table_find_image(const struct as_code_table *table, uint32_t number)
{
    for (size_t i = table->images.len; i-- > 0;)
        if (table->images.data[i]->number == number)
            return table->images.data[i];
    return NULL;
}

struct as_image *as_code_table_image(struct as_code_table *table, uint32_t number, enum as_arch arch)
{
    struct as_image *image = as_code_table_find_image(table, number);
    if (image)
        return image;
    image = as_alloc(sizeof *image);
    *image = (struct as_image){.number = number, .arch = arch};
    image->space = as_space_new(&(struct as_space_options){.debug_path = table->debug_path});
    *as_vec_push(&table->images) = image;
    return image;
}

static uint64_t chain_key(uint32_t image, uint64_t address)
{
    return address ^ (uint64_t)image << 48; /* user addresses have 48 bits */
}

const struct as_insn *as_code_table_insn_at(const struct as_code_table *table, uint32_t image, uint64_t address)
{
    const uint64_t *latest = as_map_get(&table->latest, chain_key(image, address));
    const struct as_code_insn *code = latest ? (const void *)(uintptr_t)*latest : NULL;
    return code && code->image == image ? &code->insn : NULL;
}

uint32_t as_code_table_versions(const struct as_code_table *table, uint32_t image, uint64_t address, uint32_t id)
{
    const uint64_t *newest = as_map_get(&table->made, chain_key(image, address));
    uint32_t most = 0;
    for (const struct as_code_insn *code = newest ? (const void *)(uintptr_t)*newest : NULL; code; code = code->older)
        if (code->image == image && code->insn.id <= id && code->version >= most)
            most = code->version + 1;
    return most;
}

/* Returns an instruction that has its id and nothing else. */
static struct as_code_insn *new_insn(struct as_code_table *table)
{
    uint32_t id = (uint32_t)table->n_insns++;
    if (id / AS_CODE_PAGE >= AS_CODE_PAGES) {
        as_log_error("the program has more than %u million static instructions",
                     AS_CODE_PAGES / 1000 * AS_CODE_PAGE / 1000);
        exit(AS_EXIT_FAILURE);
    }
    if (!table->insn_pages[id / AS_CODE_PAGE])
        table->insn_pages[id / AS_CODE_PAGE] = as_alloc_array(AS_CODE_PAGE, sizeof(struct as_code_insn));
    struct as_code_insn *code = as_code_table_insn(table, id);
    code->insn.id = id;
    return code;
}

static bool is_same(const struct as_code_insn *code, const struct as_image *image, uint64_t address,
                    const uint8_t *bytes, size_t length)
{
    return code->image == image->number && code->insn.address == address && code->insn.length == length &&
           memcmp(code->insn.bytes, bytes, length) == 0;
}

/* An instruction of a code message. */
struct placed {
    uint64_t address;
    const uint8_t *bytes;
    size_t length;
    bool made;
    bool changed; /* its block has replaced another one */
};
#define ANY UINT32_MAX /* generation */

static uint64_t chain_of(const struct as_image *image, const struct placed *placed)
{
    return chain_key(image->number, placed->address) ^ as_hash_bytes(placed->bytes, placed->length);
}

/* An instruction that was not known before can be a marker. */
static void find_marker(const struct as_code_table *table, struct as_image *image, const struct as_insn *insn)
{
    int number = as_marker_code_number(image->arch, insn->bytes, insn->length);
    for (size_t i = 0; number >= 0 && table->regions && i < table->regions->landmarks.len; i++) {
        const struct as_landmark *landmark = &table->regions->landmarks.data[i];
        if (landmark->kind == AS_LANDMARK_MARKER && (landmark->marker == number || landmark->marker == AS_MARKER_ANY))
            as_sites_add(&image->sites, insn->address, (uint32_t)i);
    }
}

/* One with these bytes that was there before; of that generation, if it is not ANY. */
static struct as_code_insn *find_known(const struct as_code_table *table, const struct as_image *image,
                                       const struct placed *placed, uint32_t generation)
{
    const uint64_t *chain = as_map_get(&table->insn_chains, chain_of(image, placed));
    for (struct as_code_insn *known = chain ? (void *)(uintptr_t)*chain : NULL; known; known = known->next_alike)
        if (is_same(known, image, placed->address, placed->bytes, placed->length) &&
            (generation == ANY || known->generation == generation))
            return known;
    return NULL;
}

static struct as_code_insn *latest_at(const struct as_code_table *table, const struct as_image *image, uint64_t address)
{
    const uint64_t *latest = as_map_get(&table->latest, chain_key(image->number, address));
    return latest ? (void *)(uintptr_t)*latest : NULL;
}

/* `last` was at its address before; NULL: nothing was. */
static struct as_code_insn *add_insn(struct as_code_table *table, struct as_image *image, const struct placed *placed,
                                     uint32_t generation, const struct as_code_insn *last)
{
    struct as_code_insn *code = new_insn(table);
    uint32_t id = code->insn.id;
    uint64_t *chain = as_map_put(&table->insn_chains, chain_of(image, placed));
    as_insn_decode(image->arch, placed->address, placed->bytes, placed->length, &code->insn);
    code->insn.length = (uint8_t)placed->length; /* QEMU's word counts where the decoder knows no such instruction */
    memcpy(code->insn.bytes, placed->bytes, placed->length);
    code->insn.id = id;
    code->image = image->number;
    code->generation = generation;
    bool same = last && !placed->changed && is_same(last, image, placed->address, placed->bytes, placed->length);
    code->version = last ? last->version + !same : 0;
    code->next_alike = (void *)(uintptr_t)*chain;
    *chain = (uint64_t)(uintptr_t)code;
    if (placed->made) {
        uint64_t *newest = as_map_put(&table->made, chain_key(image->number, placed->address));
        code->older = (void *)(uintptr_t)*newest;
        *newest = (uint64_t)(uintptr_t)code;
    }
    find_marker(table, image, &code->insn);
    return code;
}

static uint64_t *generation_on_page(struct as_code_table *table, const struct as_image *image, uint64_t address)
{
    return as_map_put(&table->pages, chain_key(image->number, address / PAGE));
}

/* Code may go on on the next page. */
static uint32_t set_generation(struct as_code_table *table, const struct as_image *image, uint64_t address,
                               uint32_t generation)
{
    *generation_on_page(table, image, address) = generation;
    *generation_on_page(table, image, address + PAGE) = generation;
    return generation;
}

/* Which generation of made code a block belongs to. (What a program patches in a file's code stays that file's.) One that differs
 * from what was there last is an older one that came back, or a new one: then all of its instructions are new, also those that
 * happen to have the same bytes, and so are those of other blocks on the page that QEMU translates from then on: it forgets all of
 * a page when the program writes there. */
static uint32_t find_generation(struct as_code_table *table, const struct as_image *image, uint64_t address,
                                const struct placed *insns, size_t n)
{
    bool changed = false;
    for (size_t i = 0; i < n; i++) {
        const struct as_code_insn *last = latest_at(table, image, insns[i].address);
        if (!last || is_same(last, image, insns[i].address, insns[i].bytes, insns[i].length))
            continue;
        const struct as_code_insn *known = find_known(table, image, &insns[i], ANY);
        if (known)
            return set_generation(table, image, address, known->generation);
        changed = true;
    }
    return changed ? set_generation(table, image, address, ++table->generations)
                   : (uint32_t)*generation_on_page(table, image, address);
}

/* Another number for an instruction that may belong to another piece of code now. A program that keeps patching its code gets
 * no more after a while. */
static bool may_split(struct as_code_table *table)
{
    enum { MOST = 1 << 18 };
    return table->splits < MOST;
}

static struct as_code_insn *find_insn(struct as_code_table *table, struct as_image *image, const struct placed *placed,
                                      uint32_t generation)
{
    uint64_t *latest = as_map_put(&table->latest, chain_key(image->number, placed->address));
    struct as_code_insn *last = (void *)(uintptr_t)*latest, *code = last;
    bool same = last && is_same(last, image, placed->address, placed->bytes, placed->length);
    if (last && (!same || (generation != ANY && last->generation != generation && may_split(table))))
        code = find_known(table, image, placed, generation);
    if (!code) {
        table->splits += same;
        code = add_insn(table, image, placed, generation == ANY ? 0 : generation, last);
    }
    *latest = (uint64_t)(uintptr_t)code;
    return code;
}

/* Where the block's prefetches and line flushes point. */
static void find_hints(struct as_block *block)
{
    struct as_linear registers[AS_LINEAR_REGISTERS];
    uint32_t n = 0;
    for (uint32_t i = 0; i < block->n; i++)
        n += (block->insns[i]->flags & (AS_INSN_PREFETCH | AS_INSN_CACHE_FLUSH)) != 0;
    if (n == 0)
        return;
    block->flags |= AS_BLOCK_HINTS;
    block->hints = as_alloc_array(n, sizeof *block->hints);
    as_linear_start(registers);
    for (uint32_t i = 0; i < block->n; i++) {
        const struct as_insn *insn = block->insns[i];
        struct as_hint hint = {.index = i,
                               .kind = insn->flags & AS_INSN_PREFETCH ? AS_ACCESS_PREFETCH : AS_ACCESS_FLUSH,
                               .address = as_linear_address(insn, 0, registers)};
        if (insn->flags & (AS_INSN_PREFETCH | AS_INSN_CACHE_FLUSH) && hint.address.known)
            block->hints[block->n_hints++] = hint;
        as_linear_step(insn, registers);
    }
}

static void sum_up(struct as_block *block)
{
    block->last_sure = -1;
    for (uint32_t i = 0; i < block->n; i++) {
        const struct as_insn *insn = block->insns[i];
        if (insn->flags & AS_INSN_VARIES) {
            block->flags |= AS_BLOCK_VARIES;
            continue;
        }
        if (insn->flags & (AS_INSN_LOAD | AS_INSN_STORE)) {
            block->last_sure = (int32_t)i;
            block->sure_stores = (insn->flags & AS_INSN_STORE) != 0;
        }
        block->loads += (insn->flags & AS_INSN_LOAD) != 0;
        block->stores += (insn->flags & AS_INSN_STORE) != 0;
        block->load_accesses += as_insn_count_accesses(insn, AS_ACCESS_LOAD);
        block->store_accesses += as_insn_count_accesses(insn, AS_ACCESS_STORE);
    }
    const struct as_insn *last = block->insns[block->n - 1];
    block->end = last->address + last->length;
    block->last_class = last->class_;
    block->outcome = !as_insn_is_control(last)         ? AS_OUTCOME_FALLS
                     : last->class_ == AS_CLASS_BRANCH ? AS_OUTCOME_EITHER
                                                       : AS_OUTCOME_LEAVES;
    block->target = block->outcome == AS_OUTCOME_FALLS ? UINT64_MAX : last->target;
    if (last->flags & AS_INSN_REP)
        block->target = last->address;
    block->flags |= block->insns[0]->flags & AS_INSN_REP ? AS_BLOCK_REP_FIRST : 0;
    block->flags |= last->flags & AS_INSN_REP ? AS_BLOCK_REP_LAST : 0;
}

static bool holds_landmark(const struct as_image *image, const struct as_block *block)
{
    for (uint32_t i = 0; image->sites.list.len && i < block->n; i++)
        if (as_map_get(&image->sites.by_address, block->insns[i]->address))
            return true;
    return false;
}

static struct as_block *intern_block(struct as_code_table *table, const struct as_image *image, struct as_block *block)
{
    uint64_t key = chain_key(block->image, as_hash_bytes(block->insns, block->n * sizeof block->insns[0]));
    uint64_t *chain = as_map_put(&table->block_chains, key);
    for (struct as_block *known = (void *)(uintptr_t)*chain; known; known = known->next_alike)
        if (known->image == block->image && known->n == block->n &&
            memcmp(known->insns, block->insns, block->n * sizeof block->insns[0]) == 0) {
            free(block);
            return known;
        }
    sum_up(block);
    as_block_find_stack(block);
    find_hints(block);
    as_block_find_decisions(block);
    if (holds_landmark(image, block))
        block->flags |= AS_BLOCK_LANDMARK;
    block->index = (uint32_t)table->blocks.len;
    block->next_alike = (void *)(uintptr_t)*chain;
    *chain = (uint64_t)(uintptr_t)block;
    *as_vec_push(&table->blocks) = block;
    return block;
}

/* The length of an instruction in a code message. */
static uint8_t packed_length(const uint64_t packed[2])
{
    return ((const uint8_t *)packed)[2 * sizeof *packed - 1];
}

/* Whether a code message is one. Ids come nearly in order: a huge one would only make the table huge. */
static bool is_block_message(const struct as_code_table *table, const uint64_t *words, size_t n)
{
    enum { MOST_AHEAD = 1 << 26 };
    if (n < 4 || words[2] == 0 || words[2] > AS_WIRE_INDEX_MASK + 1 || n != 4 + 2 * words[2] ||
        words[1] >= table->by_id.len + MOST_AHEAD || words[1] >= UINT32_MAX)
        return false;
    for (size_t at = 4; at < n; at += 2)
        if (packed_length(&words[at]) == 0 || packed_length(&words[at]) >= AS_INSN_MAX_BYTES)
            return false;
    return true;
}

bool as_block_may_be_second_try(const struct as_block *block)
{
    return block->n == 1 && block->outcome == AS_OUTCOME_FALLS && block->insns[0]->flags & AS_INSN_STORE &&
           !(block->flags & AS_BLOCK_REP_LAST) && block->address / PAGE == block->end / PAGE;
}

/* Whether the block's end always leads out of its function, or may, so that call paths change. */
static bool changes_paths(const struct as_block *block, const struct as_location *location)
{
    if (block->last_class != AS_CLASS_JUMP)
        return block->outcome == AS_OUTCOME_LEAVES;
    return block->target - location->function_start >= location->function_size;
}

static void find_paths(const struct as_code_table *table, const struct as_block *block, struct as_block_gist *gist)
{
    struct as_location first, last;
    struct as_space *space = as_code_table_find_image(table, block->image)->space;
    as_space_find(space, block->address, &first);
    as_space_find(space, block->insns[block->n - 1]->address, &last);
    gist->entry = first.function_start == 0 || first.function_start == block->address;
    gist->singly = changes_paths(block, &first);
    gist->function = last.function_start;
    gist->function_size = last.function_size;
}

/* Whether a sink wants to know where executions go. */
static bool wants_targets(const struct as_code_table *table, const struct as_block *block)
{
    return block->last_class == AS_CLASS_CALL_INDIRECT ||
           (table->tell_jumps && block->last_class == AS_CLASS_JUMP_INDIRECT);
}

static struct as_block_gist gist_of(const struct as_code_table *table, const struct as_block *block)
{
    struct as_block_gist gist = {
        .address = block->address,
        .end = block->end,
        .target = block->target,
        .n = (uint16_t)block->n,
        .outcome = block->outcome,
        .plain = (block->flags & ~(uint32_t)AS_BLOCK_CHECKED) == 0,
        .targets = wants_targets(table, block),
        .second_try = as_block_may_be_second_try(block),
    };
    if (table->tell_transfers)
        find_paths(table, block, &gist);
    return gist;
}

/* Makes room for the id; pages are zeroed. */
static void reach_id(struct as_code_table *table, uint32_t id)
{
    struct as_block_pages *blocks = &table->by_id;
    if (!blocks->pages)
        blocks->pages = as_alloc_array(BLOCK_PAGES, sizeof *blocks->pages);
    for (; blocks->len <= id; blocks->len++) {
        if (!blocks->pages[blocks->len / BLOCK_PAGE])
            blocks->pages[blocks->len / BLOCK_PAGE] = as_alloc_array(BLOCK_PAGE, sizeof(struct as_block *));
        *as_vec_push(&table->gists) = (struct as_block_gist){0};
    }
}

bool as_code_table_add_block(struct as_code_table *table, const uint64_t *words, size_t n)
{
    struct as_image *image = n ? as_code_table_find_image(table, (uint32_t)words[0]) : NULL;
    if (!image || !is_block_message(table, words, n))
        return false;
    struct as_block *block = as_alloc(sizeof *block + words[2] * sizeof block->insns[0]);
    *block = (struct as_block){.image = image->number,
                               .n = (uint32_t)words[2],
                               .address = words[3],
                               .made = as_space_is_made(image->space, words[3])};
    struct placed insns[AS_WIRE_INDEX_MASK + 1];
    uint64_t address = words[3];
    for (uint32_t i = 0; i < block->n; i++) {
        insns[i] = (struct placed){.address = address,
                                   .bytes = (const uint8_t *)&words[4 + 2 * i],
                                   .length = packed_length(&words[4 + 2 * i]),
                                   .made = block->made};
        as_map_fetch(&table->latest, chain_key(image->number, address)); /* of all, before the first is waited for */
        as_map_fetch(&table->insn_chains, chain_of(image, &insns[i]));
        address += insns[i].length;
    }
    uint32_t newest = table->generations;
    uint32_t generation = block->made ? find_generation(table, image, block->address, insns, block->n) : ANY;
    for (uint32_t i = 0; i < block->n; i++) {
        insns[i].changed = table->generations != newest;
        block->insns[i] = &find_insn(table, image, &insns[i], generation)->insn;
    }
    reach_id(table, (uint32_t)words[1]);
    block = intern_block(table, image, block);
    table->by_id.pages[words[1] / BLOCK_PAGE][words[1] % BLOCK_PAGE] = block;
    table->gists.data[words[1]] = gist_of(table, block);
    table->gists.data[words[1]].bare = words[0] & AS_WIRE_CODE_BARE;
    return true;
}

void as_sites_add(struct as_sites *sites, uint64_t address, uint32_t landmark)
{
    uint64_t *first = as_map_put(&sites->by_address, address);
    for (uint64_t at = *first; at; at = sites->list.data[at - 1].next)
        if (sites->list.data[at - 1].landmark == landmark)
            return;
    *as_vec_push(&sites->list) = (struct as_site){.address = address, .landmark = landmark, .next = (uint32_t)*first};
    *first = sites->list.len;
}

/* Each module can have a function of that name (the loader has its own _exit): all of them count, unless the name is
 * limited to a module. */
static uint64_t find_symbol(const struct as_image *image, const char *name, const char *module)
{
    char *qualified = strchr(name, ':') ? as_strdup(name) : as_format("%s:%s", module, name);
    uint64_t entry = as_space_resolve(image->space, qualified);
    if (!entry) /* C++ names have colons of their own */
        entry = as_space_resolve(image->space, name);
    free(qualified);
    return entry;
}

/* A C++ function by its name without namespaces and classes, which no module has in full. */
static void find_short_symbol(struct as_image *image, const char *name, const char *module, uint32_t landmark)
{
    uint64_t addresses[64];
    size_t n = as_space_resolve_short(image->space, module, name, addresses, sizeof addresses / sizeof *addresses);
    for (size_t i = 0; i < n; i++)
        as_sites_add(&image->sites, addresses[i], landmark);
}

/* An address of a module's file, in the module that is mapped at `start`; 0: it is not that module. */
static uint64_t find_address(const struct as_image *image, const struct as_landmark *landmark, uint64_t start)
{
    struct as_location location;
    as_space_find(image->space, start, &location);
    if (strcmp(location.module_name, landmark->symbol) != 0 && strcmp(location.module, landmark->symbol) != 0)
        return 0;
    return landmark->address + (start - location.module_offset);
}

/* Looks for the landmarks of the regions in a module that has just been mapped. */
static void find_landmarks(const struct as_code_table *table, struct as_image *image, const uint64_t *words)
{
    for (size_t i = 0; table->regions && i < table->regions->landmarks.len; i++) {
        const struct as_landmark *landmark = &table->regions->landmarks.data[i];
        uint64_t address = 0;
        if (landmark->kind == AS_LANDMARK_SYMBOL)
            address = find_symbol(image, landmark->symbol, (const char *)&words[4]);
        else if (landmark->kind == AS_LANDMARK_ADDRESS)
            address = landmark->symbol ? find_address(image, landmark, words[1]) : landmark->address;
        if (address)
            as_sites_add(&image->sites, address, (uint32_t)i);
        else if (landmark->kind == AS_LANDMARK_SYMBOL)
            find_short_symbol(image, landmark->symbol, (const char *)&words[4], (uint32_t)i);
    }
}

bool as_code_table_add_program(struct as_code_table *table, const uint64_t *words, size_t n)
{
    if (n < 2 || words[n - 1] >> 56 != 0)
        return false;
    struct as_image *image = as_code_table_find_image(table, (uint32_t)words[0]);
    if (image && !image->program)
        image->program = as_strdup((const char *)&words[1]);
    return image != NULL;
}

bool as_code_table_add_dump(struct as_code_table *table, const uint64_t *words, size_t n)
{
    if (n < 2 || words[n - 1] >> 56 != 0)
        return false;
    struct as_image *image = as_code_table_find_image(table, (uint32_t)words[0]);
    if (image)
        *as_vec_push(&image->dumps) = as_strdup((const char *)&words[1]);
    return image != NULL;
}

bool as_code_table_add_module(struct as_code_table *table, const uint64_t *words, size_t n)
{
    if (n < 5 || words[n - 1] >> 56 != 0)
        return false; /* the path must end in a zero byte */
    struct as_image *image = as_code_table_find_image(table, (uint32_t)words[0]);
    if (!image)
        return false;
    as_space_map(image->space, words[1], words[2], words[3], (const char *)&words[4]);
    find_landmarks(table, image, words);
    return true;
}
