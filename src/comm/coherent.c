/* See coherent.h. A page of 64 lines is one record, found through a small table of recent ones in front of a map.
 *
 * Which threads have a copy is a mask of 63; for further threads, each has a map from lines to the epoch in which it got its
 * copy. An epoch ends when a store makes the line one thread's own. */
#include "comm/coherent.h"

#include "base/map.h"
#include "model/shared_memory.h"

enum { LINE_SHIFT = 6, PAGE_SHIFT = 12, LINES = 64, RECENT = 1 << 12, MASKED = 63, NOBODY = UINT16_MAX };

struct line {
    uint64_t sharers; /* bit n: thread n has a copy; bit 63: perhaps others, see struct thread */
    uint64_t touched; /* bytes that the holder wrote since it is its own; read, where it only read */
    uint32_t insn, path;
    uint32_t epoch;
    uint16_t copies;      /* how many threads have one */
    uint16_t holder;      /* who wrote it last; while nobody did, who read it first. NOBODY: untouched */
    uint8_t offset, size; /* of the holder's last access */
    bool written;
};

struct page {
    uint64_t key;
    struct line lines[LINES];
};

struct as_coherent {
    struct as_coherent_hooks hooks;
    struct as_coherent_counts counts;
    struct as_pair_matrix matrix;
    struct as_contacts contacts;
    AS_VEC(uint32_t) order;         /* numbers of threads */
    AS_VEC(uint32_t) places;        /* by number of a thread: its place + 1 */
    AS_VEC(struct as_map *) copies; /* by place */
    struct as_map spaces;           /* process and image: number + 1 */
    uint64_t recent_key, recent_space;
    struct as_map pages; /* key: the page */
    AS_VEC(struct page *) all_pages;
    struct page *recent[RECENT];
};

struct as_coherent *as_coherent_new(const struct as_coherent_hooks *hooks)
{
    struct as_coherent *coherent = as_alloc(sizeof *coherent);
    if (hooks)
        coherent->hooks = *hooks;
    return coherent;
}

void as_coherent_free(struct as_coherent *coherent)
{
    if (!coherent)
        return;
    for (size_t i = 0; i < coherent->all_pages.len; i++)
        free(coherent->all_pages.data[i]);
    for (size_t i = 0; i < coherent->copies.len; i++) {
        as_map_free(coherent->copies.data[i]);
        free(coherent->copies.data[i]);
    }
    as_pair_matrix_free(&coherent->matrix);
    as_contacts_free(&coherent->contacts);
    as_vec_free(&coherent->order);
    as_vec_free(&coherent->places);
    as_vec_free(&coherent->copies);
    as_vec_free(&coherent->all_pages);
    as_map_free(&coherent->spaces);
    as_map_free(&coherent->pages);
    free(coherent);
}

/* ---- finding things ---- */

static __attribute__((noinline)) uint32_t add_thread(struct as_coherent *coherent, uint32_t number)
{
    if (coherent->order.len == AS_PAIR_THREADS)
        return NOBODY;
    while (coherent->places.len <= number)
        *as_vec_push(&coherent->places) = 0;
    *as_vec_push(&coherent->order) = number;
    *as_vec_push(&coherent->copies) = as_alloc(sizeof(struct as_map));
    as_pair_matrix_grow(&coherent->matrix, coherent->order.len);
    coherent->places.data[number] = (uint32_t)coherent->order.len;
    return (uint32_t)coherent->order.len - 1;
}

/* The place of a thread; NOBODY: there are too many. */
static inline uint32_t index_of(struct as_coherent *coherent, uint32_t number)
{
    uint32_t place = number < coherent->places.len ? coherent->places.data[number] : 0;
    return __builtin_expect(place, 1) ? place - 1 : add_thread(coherent, number);
}

static __attribute__((noinline)) uint64_t find_space(struct as_coherent *coherent, uint64_t key)
{
    uint64_t *number = as_map_put(&coherent->spaces, key);
    if (!*number)
        *number = coherent->spaces.len;
    coherent->recent_key = key;
    return coherent->recent_space = *number;
}

/* A program that a process executes has its memory for itself. */
static inline uint64_t space_of(struct as_coherent *coherent, uint32_t process, uint32_t image)
{
    uint64_t key = (uint64_t)process << 32 | image;
    bool known = coherent->recent_space && coherent->recent_key == key;
    return __builtin_expect(known, 1) ? coherent->recent_space : find_space(coherent, key);
}

static struct page *new_page(uint64_t key)
{
    struct page *page = as_alloc(sizeof *page);
    page->key = key;
    for (size_t i = 0; i < LINES; i++)
        page->lines[i].holder = NOBODY;
    return page;
}

static __attribute__((noinline)) struct page *find_page(struct as_coherent *coherent, uint64_t key)
{
    uint64_t *place = as_map_put(&coherent->pages, key);
    if (!*place) {
        *as_vec_push(&coherent->all_pages) = new_page(key);
        *place = coherent->all_pages.len;
    }
    return coherent->recent[key % RECENT] = coherent->all_pages.data[*place - 1];
}

/* Addresses have 48 bits: 36 are enough for a page. */
static inline struct line *line_of(struct as_coherent *coherent, uint64_t space, uint64_t line)
{
    uint64_t key = space << 36 | (line >> (PAGE_SHIFT - LINE_SHIFT) & ((UINT64_C(1) << 36) - 1));
    struct page *page = coherent->recent[key % RECENT];
    if (__builtin_expect(!page || page->key != key, 0))
        page = find_page(coherent, key);
    return &page->lines[line % LINES];
}

/* ---- the protocol ---- */

/* An access, cut to one line. */
struct piece {
    uint64_t line, space; /* line: its number; space 0: memory that processes share */
    uint64_t mask;        /* of its bytes */
    uint32_t thread;      /* its place */
    uint32_t number, process, insn;
    uint8_t offset, size;
};

static bool has_copy(const struct as_coherent *coherent, const struct line *line, const struct piece *piece)
{
    if (piece->thread < MASKED)
        return line->sharers >> piece->thread & 1;
    const uint64_t *epoch = as_map_get(coherent->copies.data[piece->thread], piece->line ^ piece->space << 48);
    return epoch && *epoch == (uint64_t)line->epoch + 1;
}

static void give_copy(struct as_coherent *coherent, struct line *line, const struct piece *piece)
{
    line->copies++;
    line->sharers |= UINT64_C(1) << (piece->thread < MASKED ? piece->thread : MASKED);
    if (piece->thread >= MASKED)
        *as_map_put(coherent->copies.data[piece->thread], piece->line ^ piece->space << 48) = (uint64_t)line->epoch + 1;
}

static bool is_remote(const struct as_coherent *coherent, const struct line *line, const struct piece *piece)
{
    const struct as_coherent_hooks *hooks = &coherent->hooks;
    return hooks->node && hooks->node(hooks->context, coherent->order.data[line->holder]) !=
                              hooks->node(hooks->context, piece->number);
}

static __attribute__((noinline)) void transfer(struct as_coherent *coherent, const struct line *line,
                                               const struct piece *piece, uint32_t path)
{
    const struct as_coherent_hooks *hooks = &coherent->hooks;
    struct as_contact contact = {
        .line = piece->line << LINE_SHIFT,
        .process = piece->space ? piece->process : 0,
        .object = hooks->object ? hooks->object(hooks->context, piece->process, piece->line << LINE_SHIFT) : 0,
        .from = {.insn = line->insn, .path = line->path, .offset = line->offset, .size = line->size},
        .to = {.insn = piece->insn, .path = path, .offset = piece->offset, .size = piece->size},
        .is_false = !(line->touched & piece->mask),
        .count = 1,
        .remote = is_remote(coherent, line, piece),
    };
    coherent->counts.transfers++;
    coherent->counts.remote += contact.remote;
    coherent->counts.false_ += contact.is_false;
    coherent->counts.bytes += piece->size;
    as_pair_matrix_add(&coherent->matrix, line->holder, piece->thread, contact.is_false, 1);
    as_contacts_add(&coherent->contacts, &contact, line->holder, piece->thread);
}

static uint32_t path_of(const struct as_coherent *coherent, const struct piece *piece)
{
    return coherent->hooks.path ? coherent->hooks.path(coherent->hooks.context, piece->number) : 0;
}

static void hold(struct line *line, const struct piece *piece, uint32_t path)
{
    line->holder = (uint16_t)piece->thread;
    line->touched = piece->mask;
    line->insn = piece->insn;
    line->path = path;
    line->offset = piece->offset;
    line->size = piece->size;
}

static __attribute__((noinline)) void load_slowly(struct as_coherent *coherent, struct line *line,
                                                  const struct piece *piece)
{
    bool foreign = line->written && line->holder != piece->thread;
    coherent->counts.last_writer += foreign;
    if (has_copy(coherent, line, piece))
        return;
    uint32_t path = path_of(coherent, piece);
    if (foreign)
        transfer(coherent, line, piece, path);
    else if (line->holder == NOBODY)
        hold(line, piece, path);
    give_copy(coherent, line, piece);
}

static __attribute__((noinline)) void store_slowly(struct as_coherent *coherent, struct line *line,
                                                   const struct piece *piece)
{
    uint32_t path = path_of(coherent, piece);
    bool foreign = line->holder != piece->thread && line->holder != NOBODY;
    coherent->counts.last_writer += foreign && line->written;
    if (foreign && !has_copy(coherent, line, piece))
        transfer(coherent, line, piece, path);
    else if (line->copies > 1) /* one of them is this thread's */
        coherent->counts.invalidations++;
    bool own = line->written && !foreign;
    uint64_t touched = line->touched;
    line->epoch++;
    line->sharers = line->copies = 0;
    hold(line, piece, path);
    line->touched |= own ? touched : 0;
    line->written = true;
    give_copy(coherent, line, piece);
}

/* Reading what this thread wrote, or has a copy of that nobody wrote since, and writing what is its own: nearly always. */
static inline void touch(struct as_coherent *coherent, struct line *line, const struct piece *piece, uint32_t kind)
{
    bool own = line->holder == piece->thread && line->written;
    if (kind & AS_ACCESS_STORE) {
        uint64_t bit = UINT64_C(1) << (piece->thread < MASKED ? piece->thread : MASKED);
        if (__builtin_expect(own && line->sharers == bit && piece->thread < MASKED && line->insn == piece->insn, 1))
            line->touched |= piece->mask;
        else
            store_slowly(coherent, line, piece);
    } else if (!own) {
        load_slowly(coherent, line, piece);
    }
}

static void touch_lines(struct as_coherent *coherent, struct piece *piece, const struct as_data_access *access)
{
    uint64_t first = access->address >> LINE_SHIFT, last = (access->address + access->size - 1) >> LINE_SHIFT;
    for (uint64_t line = first; line <= last; line++) {
        uint64_t begin = line == first ? access->address % AS_COHERENT_LINE : 0;
        uint64_t end = line == last ? (access->address + access->size - 1) % AS_COHERENT_LINE + 1 : AS_COHERENT_LINE;
        uint64_t bits = end - begin == AS_COHERENT_LINE ? UINT64_MAX : (UINT64_C(1) << (end - begin)) - 1;
        piece->line = line & ((UINT64_C(1) << 42) - 1);
        piece->offset = (uint8_t)begin;
        piece->size = (uint8_t)(end - begin);
        piece->mask = bits << begin;
        touch(coherent, line_of(coherent, piece->space, piece->line), piece, access->kind);
    }
}

void as_coherent_span(struct as_coherent *coherent, const struct as_weave_span *span)
{
    uint64_t space = space_of(coherent, span->process, span->image);
    struct piece piece = {.thread = index_of(coherent, span->thread), .number = span->thread, .process = span->process};
    if (piece.thread == NOBODY) {
        coherent->counts.dropped += span->n;
        return;
    }
    for (size_t i = 0; i < span->n; i++) {
        const struct as_data_access *access = &span->accesses[i];
        if (!(access->kind & (AS_ACCESS_LOAD | AS_ACCESS_STORE)) || !access->size)
            continue;
        coherent->counts.accesses++;
        piece.insn = access->insn;
        piece.space = as_shared_is(access->address) ? 0 : space;
        touch_lines(coherent, &piece, access);
    }
}

/* ---- results ---- */

struct as_coherent_counts as_coherent_counts(const struct as_coherent *coherent)
{
    return coherent->counts;
}

const struct as_pair_matrix *as_coherent_matrix(const struct as_coherent *coherent)
{
    return &coherent->matrix;
}

const struct as_contacts *as_coherent_contacts(const struct as_coherent *coherent)
{
    return &coherent->contacts;
}

const uint32_t *as_coherent_threads(const struct as_coherent *coherent, size_t *n)
{
    *n = coherent->order.len;
    return coherent->order.data;
}

size_t as_coherent_memory(const struct as_coherent *coherent)
{
    return coherent->all_pages.len * sizeof(struct page) +
           coherent->contacts.list.cap * (sizeof(struct as_contact) + sizeof(struct as_map_slot)) +
           coherent->matrix.cap * coherent->matrix.cap * sizeof(struct as_pair_cell);
}

/* ---- threads by number ---- */

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* A set of more than 63 threads is not told apart anyway: its last bit stays. */
static uint64_t permute_bits(uint64_t bits, const uint32_t *places, size_t n)
{
    uint64_t permuted = bits >> MASKED << MASKED;
    for (size_t i = 0; i < n && i < MASKED; i++)
        if (bits >> i & 1)
            permuted |= UINT64_C(1) << (places[i] < MASKED ? places[i] : MASKED);
    return permuted;
}

void as_coherent_sort(struct as_coherent *coherent)
{
    size_t n = coherent->order.len;
    uint32_t *places = as_alloc_array(n + 1, sizeof *places), *sorted = as_alloc_array(n + 1, sizeof *sorted);
    struct as_pair_matrix matrix = {0};
    if (n)
        memcpy(sorted, coherent->order.data, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_number);
    for (size_t i = 0; i < n; i++) {
        const uint32_t *at = bsearch(&coherent->order.data[i], sorted, n, sizeof *sorted, by_number);
        places[i] = (uint32_t)(at - sorted);
    }
    as_pair_matrix_fold(&coherent->matrix, places, n, &matrix);
    as_pair_matrix_free(&coherent->matrix);
    coherent->matrix = matrix;
    for (size_t i = 0; i < coherent->contacts.list.len; i++) {
        struct as_contact *contact = &coherent->contacts.list.data[i];
        contact->from_threads = permute_bits(contact->from_threads, places, n);
        contact->to_threads = permute_bits(contact->to_threads, places, n);
    }
    if (coherent->hooks.home)
        as_contacts_home(&coherent->contacts, coherent->hooks.home, coherent->hooks.context);
    if (n)
        memcpy(coherent->order.data, sorted, n * sizeof *sorted);
    free(sorted);
    free(places);
}
