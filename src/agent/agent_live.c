/* Memory that is allocated and not freed: a table from blocks to their size and site, in the process's own memory. The
 * sums in the shared memory are kept from it. See agent.h.
 *
 * Between the allocator's return and the free, a block has one owner, so no two threads add or remove the same block at
 * the same time. An entry therefore needs no lock: it is claimed with one compare-and-swap and released with one store,
 * from any thread and from signal handlers, and a thread that dies half-way blocks no other. A block may lie in one of
 * a few slots near its home slot. Neighbouring blocks have neighbouring home slots, so the table uses pages only as the
 * heap does. If all of these slots are taken, a larger table is added. If there is no room for one, the block is
 * counted but not tracked, and the live sum is too small by its size.
 *
 * The peak: before the live sum falls, and whenever it is more than 1/128 above its value at the last snapshot, all
 * sites record their current sums. The detail is therefore off by at most 1/128, and snapshots are rare enough to cost
 * nothing.
 */
#include "agent/agent.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    BITS = 22,       /* log2 of the entries of the first table: 64 MiB if all are used */
    LEAST_BITS = 12, /* if the program has a memory limit */
    LIMIT_PART = 32, /* a table is at most this fraction of the limit */
    TABLES = 5,
    PROBES = 64,
    GRAIN = 5,      /* log2 of the least distance between blocks of the C library */
    SITE_BITS = 16, /* the lower bits of what a block is: its site + 1 */
};

struct entry {
    _Atomic uintptr_t block; /* 0: free */
    _Atomic uint64_t what;   /* size << SITE_BITS | site + 1 */
};

/* Tables come one after another and stay. */
struct table {
    _Atomic(struct entry *) entries; /* NULL: there is none */
    unsigned bits;
};

static struct table tables[TABLES];
static _Atomic bool full; /* no further table can be added */

static unsigned bits_within(uint64_t limit, unsigned bits)
{
    while (bits > LEAST_BITS && sizeof(struct entry) << bits > limit / LIMIT_PART)
        bits--;
    return bits;
}

static void plan_tables(void)
{
    struct rlimit addresses = {.rlim_cur = RLIM_INFINITY}, data = addresses;
    (void)!getrlimit(RLIMIT_AS, &addresses);
    (void)!getrlimit(RLIMIT_DATA, &data);
    uint64_t limit = addresses.rlim_cur < data.rlim_cur ? addresses.rlim_cur : data.rlim_cur;
    for (unsigned i = 0; i < TABLES; i++)
        tables[i].bits = limit == RLIM_INFINITY ? BITS + i : bits_within(limit, BITS + i);
}

/* Not inherited by a forked child, where the agent is off. Uses system calls, because mmap here is the one that
 * counts. */
static bool open_table(struct table *table)
{
    size_t size = sizeof(struct entry) << table->bits;
    struct entry *none = NULL;
    long mapped = syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                          (off_t)0);
    if (mapped == -1)
        return false;
    struct entry *entries = (struct entry *)(uintptr_t)mapped;
    (void)!madvise(entries, size, MADV_NOHUGEPAGE);
    (void)!madvise(entries, size, MADV_DONTFORK);
    if (!atomic_compare_exchange_strong(&table->entries, &none, entries)) /* another thread was first */
        syscall(SYS_munmap, entries, size);
    return true;
}

bool as_agent_live_open(void)
{
    plan_tables();
    for (unsigned i = 0; i < TABLES; i++)
        atomic_store(&tables[i].entries, NULL);
    full = !open_table(&tables[0]);
    return !full;
}

/* ---- the tables ---- */

static struct entry *entry_of(const struct table *table, struct entry *entries, uintptr_t block, unsigned probe)
{
    uint64_t home = (block >> GRAIN) + (block >> (GRAIN + table->bits)) * UINT64_C(0x9e3779b97f4a7c15);
    return &entries[(home + probe) & ((UINT64_C(1) << table->bits) - 1)];
}

/* Returns false if there is no free slot. `before`: what the block was, if it is known already: it was freed without
 * the agent noticing, or an allocator's calloc calls malloc. */
static bool put_into(const struct table *table, struct entry *entries, uintptr_t block, uint64_t what, uint64_t *before)
{
    for (unsigned i = 0; i < PROBES; i++) {
        struct entry *entry = entry_of(table, entries, block, i);
        uintptr_t there = atomic_load_explicit(&entry->block, memory_order_relaxed);
        if (there == 0 && atomic_compare_exchange_strong(&entry->block, &there, block)) { /* from take_from */
            atomic_store_explicit(&entry->what, what, memory_order_release);              /* to take_from */
            return true;
        }
        if (there == block) {
            *before = atomic_exchange(&entry->what, what);
            return true;
        }
    }
    return false;
}

static bool put(uintptr_t block, uint64_t what, uint64_t *before)
{
    *before = 0;
    for (unsigned i = 0; i < TABLES && !(full && !tables[i].entries); i++) {
        int saved = errno;
        if (!tables[i].entries && !open_table(&tables[i]))
            full = true;
        errno = saved;
        struct entry *entries = tables[i].entries;
        if (entries && put_into(&tables[i], entries, block, what, before))
            return true;
    }
    return false;
}

static uint64_t take_from(const struct table *table, struct entry *entries, uintptr_t block)
{
    for (unsigned i = 0; i < PROBES; i++) {
        struct entry *entry = entry_of(table, entries, block, i);
        if (atomic_load_explicit(&entry->block, memory_order_relaxed) != block)
            continue;
        uint64_t what = atomic_load_explicit(&entry->what, memory_order_acquire); /* from put_into */
        atomic_store_explicit(&entry->block, 0, memory_order_release);            /* the entry, to put_into */
        return what;
    }
    return 0;
}

/* Returns what the block was; 0: not known. */
static uint64_t take(uintptr_t block)
{
    uint64_t what = 0;
    struct entry *entries;
    for (unsigned i = 0; i < TABLES && !what && (entries = tables[i].entries); i++) /* from open_table */
        what = take_from(&tables[i], entries, block);
    return what;
}

/* ---- the sums ---- */

/* The value is in the process's own memory; the check keeps a stray store of the program from redirecting writes. */
static struct as_agent_site *site_of(struct as_agent_image *image, uint64_t what)
{
    uint64_t number = (what & ((1 << SITE_BITS) - 1)) - 1;
    return &image->site[number < AS_AGENT_ALL_SITES ? number : AS_AGENT_SITES];
}

/* The freed sums are read first, so that they never exceed what was allocated: they acquire what subtract releases, and a block is counted
 * before the program has it to free. */
static void note_site(struct as_agent_site *site)
{
    uint64_t freed = atomic_load(&site->freed), freed_bytes = atomic_load(&site->freed_bytes);
    atomic_store_explicit(&site->peak, atomic_load(&site->count) - freed, memory_order_relaxed);
    atomic_store_explicit(&site->peak_bytes, atomic_load(&site->bytes) - freed_bytes, memory_order_relaxed);
}

static void note_peak(struct as_agent_image *image)
{
    uint64_t live = atomic_load_explicit(&image->live, memory_order_relaxed);
    uint64_t noted = atomic_load_explicit(&image->at_peak, memory_order_relaxed);
    if (live <= noted + noted / 128 || atomic_exchange(&image->noting, 1)) /* a lock: released below */
        return;
    /* From fill (agent_sites.c), which may not have stored its order[] yet: that site is then left out. */
    uint32_t n = atomic_load(&image->sites);
    for (uint32_t i = 0; i < n && i < AS_AGENT_SITES; i++)
        note_site(&image->site[atomic_load(&image->order[i]) % AS_AGENT_SITES]);
    for (uint32_t i = AS_AGENT_SITES; i < AS_AGENT_ALL_SITES; i++)
        note_site(&image->site[i]);
    atomic_store(&image->at_peak, live);
    atomic_store(&image->noting, 0);
}

/* `of_live`: the block is part of the live sum. */
static void subtract(struct as_agent_image *image, uint64_t what, bool of_live)
{
    struct as_agent_site *site = site_of(image, what);
    uint64_t bytes = what >> SITE_BITS;
    /* To note_site: who sees it sees the allocation, too. */
    atomic_fetch_add_explicit(&site->freed, 1, memory_order_release);
    atomic_fetch_add_explicit(&site->freed_bytes, bytes, memory_order_release);
    if (of_live)
        as_agent_add(&image->live, -bytes);
}

static void add(struct as_agent_image *image, uint64_t what)
{
    uint64_t bytes = what >> SITE_BITS;
    uint64_t live = atomic_fetch_add_explicit(&image->live, bytes, memory_order_relaxed) + bytes;
    uint64_t peak = atomic_load_explicit(&image->peak, memory_order_relaxed);
    while (live > peak && !atomic_compare_exchange_weak(&image->peak, &peak, live))
        ;
}

static void keep(struct as_agent_image *image, const void *block, uint64_t what)
{
    uint64_t before = 0;
    if (!put((uintptr_t)block, what, &before)) {
        as_agent_add(&image->untracked, 1);
        as_agent_add(&image->untracked_bytes, what >> SITE_BITS);
        subtract(image, what, false);
        return;
    }
    if (before) {
        as_agent_add(&image->moved, 1);
        subtract(image, before, true);
    }
    add(image, what);
}

void as_agent_live_add(struct as_agent_image *image, const void *block, size_t bytes, uint32_t site)
{
    keep(image, block, (uint64_t)bytes << SITE_BITS | (site + 1));
}

uint64_t as_agent_gave(const void *block, bool moves)
{
    struct as_agent_image *image = block ? as_agent_counting() : NULL;
    if (!image)
        return 0;
    uint64_t what = take((uintptr_t)block);
    if (moves)
        as_agent_add(&image->moved, 1);
    if (what) {
        note_peak(image);
        subtract(image, what, true);
    } else {
        as_agent_add(&image->unknown, 1);
    }
    return what;
}

/* Takes back a free that did not happen. */
void as_agent_keep(const void *block, uint64_t what)
{
    struct as_agent_image *image = what ? as_agent_counting() : NULL;
    if (!image)
        return;
    as_agent_add(&image->moved, -UINT64_C(1));
    as_agent_add(&site_of(image, what)->freed, -UINT64_C(1));
    as_agent_add(&site_of(image, what)->freed_bytes, -(what >> SITE_BITS));
    keep(image, block, what);
}
