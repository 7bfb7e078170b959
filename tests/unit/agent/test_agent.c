/* The agent's own side: the ring, the sites, the table of blocks; many threads, signal handlers, forks, full tables.
 * Blocks are made up: the agent looks at no byte of them. */
#include "agent_bed.h"

#include "unit.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>

enum { THREADS = 8 };

static struct agent_bed bed;

static int set_up(void **state)
{
    agent_bed_open(&bed);
    agent_bed_start(&bed);
    return 0;
}

static int tear_down(void **state)
{
    agent_bed_close(&bed);
    return 0;
}

static void run_threads(void *(*body)(void *))
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, body, (void *)i), 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static _Atomic unsigned handled; /* by a handler of run_interrupted */

/* The same, with a signal every so often. */
static void run_interrupted(void *(*body)(void *), void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, old;
    struct itimerval often = {{0, 300}, {0, 300}}, off = {{0, 0}, {0, 0}};
    handled = 0;
    sigaction(SIGALRM, &action, &old);
    setitimer(ITIMER_REAL, &often, NULL);
    run_threads(body);
    setitimer(ITIMER_REAL, &off, NULL);
    sigaction(SIGALRM, &old, NULL);
}

/* ---- the ring ---- */

static void *tell_often(void *unused)
{
    for (int i = 0; i < 500; i++) {
        as_agent_tell(AS_AGENT_THREAD_START);
        as_agent_tell(AS_AGENT_THREAD_END);
    }
    return NULL;
}

static void nothing_is_lost_while_there_is_room(void **state)
{
    size_t n;
    run_threads(tell_often); /* 8000 events: the ring takes more, even if nobody empties it */
    as_agent_stop(bed.host);
    const struct as_agent_thread *threads = as_agent_threads(bed.host, &n);
    assert_int_equal(n, THREADS * 500);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(threads[i].pid, getpid());
        assert_true(threads[i].end >= threads[i].start && threads[i].start > 0);
    }
    assert_int_equal(as_agent_dropped(bed.host), 0);
    assert_in_range(as_agent_most_at_once(bed.host), 1, THREADS);
}

static void tell_in_handler(int number)
{
    as_agent_tell(AS_AGENT_THREAD_START);
    handled++;
}

static void handlers_write_too(void **state)
{
    size_t n;
    run_interrupted(tell_often, tell_in_handler);
    as_agent_stop(bed.host);
    as_agent_threads(bed.host, &n);
    assert_int_equal(n + as_agent_dropped(bed.host), THREADS * 500 + handled);
}

static void a_full_ring_drops_and_counts(void **state)
{
    size_t n;
    as_agent_stop(bed.host); /* nobody empties it any more */
    for (unsigned i = 0; i < AS_AGENT_RING + 100; i++)
        as_agent_tell(AS_AGENT_THREAD_START);
    assert_int_equal(as_agent_dropped(bed.host), 100);
    as_agent_threads(bed.host, &n);
    assert_int_equal(n, 0);
}

static void errno_stays(void **state)
{
    as_agent_stop(bed.host);
    for (unsigned i = 0; i < AS_AGENT_RING + 2; i++) {
        errno = 77;
        as_agent_tell(AS_AGENT_THREAD_START);
        assert_int_equal(errno, 77);
    }
}

/* ---- sites ---- */

/* The sanitizer may put frames elsewhere than on the stack. */
__attribute__((no_sanitize("address"))) static void a_site_has_its_callers(void **state)
{
    uintptr_t frames[3][2] = {{(uintptr_t)frames[1], 0x1111}, {(uintptr_t)frames[2], 0x2222}, {0, 0x3333}};
    struct as_agent_seen_site site;
    uint32_t found = 0;
    as_agent_took(AS_AGENT_CALLOC, (void *)0x10000, 12, frames[0]);
    for (uint32_t i = 0; i < AS_AGENT_ALL_SITES; i++)
        if (as_agent_read_site(agent_bed_image(&bed, 0), i, &site)) {
            found++;
            assert_int_equal(site.call, AS_AGENT_CALLOC);
            assert_int_equal(site.frames, 3);
            assert_int_equal(site.stack[0], 0x1111);
            assert_int_equal(site.stack[1], 0x2222);
            assert_int_equal(site.stack[2], 0x3333);
            assert_int_equal(site.bytes, 12);
        }
    assert_int_equal(found, 1);
}

static void frames_that_lead_anywhere_end_the_walk(void **state)
{
    uintptr_t local[2] = {0, 0x1000};
    const uintptr_t next[] = {
        1, 8, (uintptr_t)local - 64, (uintptr_t)local + 3, UINTPTR_MAX, UINTPTR_MAX - 7, (uintptr_t)1 << 46};
    struct as_agent_seen_site site;
    for (size_t i = 0; i < sizeof next / sizeof *next; i++) {
        uintptr_t frame[2] = {next[i], 0x5000 + i};
        as_agent_took(AS_AGENT_MALLOC, (void *)(0x20000 + 32 * i), 1, frame);
    }
    for (uint32_t i = 0; i < AS_AGENT_SITES; i++)
        if (as_agent_read_site(agent_bed_image(&bed, 0), i, &site))
            assert_int_equal(site.frames, 1);
}

/* The site whose innermost return address this is. */
static struct as_agent_seen_site site_of(uint64_t address)
{
    struct as_agent_seen_site site;
    for (uint32_t i = 0; i < AS_AGENT_SITES; i++)
        if (as_agent_read_site(agent_bed_image(&bed, 0), i, &site) && site.stack[0] == address)
            return site;
    return (struct as_agent_seen_site){0};
}

enum { OWN_STACK = 1 << 18, SPARE = 32 }; /* bytes; what the thread library keeps there ends at a multiple of 64 */

/* `end` is that of the thread's stack: a frame must lie below it with both of its words, and with one more word above. */
__attribute__((no_sanitize("address"))) static void *walk_at_the_end(void *end)
{
    uintptr_t *stack_end = end;
    static const struct {
        unsigned below; /* words */
        uintptr_t address;
        unsigned frames;
    } cases[] = {{4, 0x2222, 2}, {3, 0x2222, 2}, {2, 0x2222, 1}, {1, 0, 1},
                 {0, 0, 1},      {4, 4096, 2},   {4, 4095, 1},   {4, 0, 1}};
    as_agent_thread_begin();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uintptr_t *outer = stack_end - cases[i].below, frame[2] = {(uintptr_t)outer, 0x7000 + i};
        if (cases[i].below > 1) {
            outer[0] = 0;
            outer[1] = cases[i].address;
        }
        as_agent_took(AS_AGENT_MALLOC, (const void *)(0x10000 + 64 * i), 1, frame);
    }
    uintptr_t itself[2] = {(uintptr_t)itself, 0x8000}; /* leads nowhere else */
    as_agent_took(AS_AGENT_MALLOC, (const void *)0x90000, 1, itself);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (site_of(0x7000 + i).frames != cases[i].frames ||
            (cases[i].frames == 2 && site_of(0x7000 + i).stack[1] != cases[i].address))
            return (void *)(1 + i);
    return site_of(0x8000).frames == 1 ? NULL : end;
}

static void frames_at_the_end_of_the_stack(void **state)
{
    pthread_attr_t attributes;
    pthread_t thread;
    void *wrong, *stack = aligned_alloc(4096, OWN_STACK + 4096);
    size_t size = OWN_STACK + SPARE;
    pthread_attr_init(&attributes);
    assert_int_equal(pthread_attr_setstack(&attributes, stack, size), 0);
    assert_int_equal(pthread_create(&thread, &attributes, walk_at_the_end, (char *)stack + size), 0);
    pthread_join(thread, &wrong);
    pthread_attr_destroy(&attributes);
    free(stack);
    assert_int_equal((uintptr_t)wrong, 0);
}

static void more_sites_than_there_is_room_for(void **state)
{
    uint32_t sites;
    const uint32_t n = 3 * AS_AGENT_SITES;
    for (uint32_t i = 0; i < n; i++)
        agent_bed_take(AS_AGENT_MALLOC, 0x100000 + 32 * (uintptr_t)i, 10, 0x4000 + i);
    struct as_agent_image *image = agent_bed_image(&bed, 0);
    struct as_agent_seen_site sum = agent_bed_sum(image, &sites);
    assert_in_range(sites, AS_AGENT_SITES * 9 / 10, AS_AGENT_SITES);
    assert_int_equal(sum.count, n);
    assert_int_equal(sum.bytes, 10 * n);
    assert_int_equal(image->site[AS_AGENT_SITES + AS_AGENT_MALLOC].count, n - sites);
    for (uint32_t i = 0; i < n; i++)
        as_agent_gave((void *)(0x100000 + 32 * (uintptr_t)i), false);
    sum = agent_bed_sum(image, &sites);
    assert_int_equal(sum.live, 0);
    assert_int_equal(sum.live_bytes, 0);
    assert_int_equal(sum.freed, n);
    assert_int_equal(image->live, 0);
    assert_int_equal(image->peak, 10 * n);
    assert_int_equal(sum.peak_bytes, 10 * n);
}

/* A call that is a file's last instruction returns behind its end. The file is known all the same, and once. */
static void a_caller_at_the_end_of_a_file(void **state)
{
    struct as_agent_seen_file file;
    struct dl_find_object found;
    uint32_t files = 0;
    assert_int_equal(_dl_find_object((void *)(uintptr_t)set_up, &found), 0);
    uintptr_t start = (uintptr_t)found.dlfo_map_start, end = (uintptr_t)found.dlfo_map_end;
    agent_bed_take(AS_AGENT_MALLOC, 0x10000, 1, end);
    agent_bed_take(AS_AGENT_CALLOC, 0x20000, 1, start + 1);
    for (uint32_t i = 0; i < AS_AGENT_FILES; i++)
        if (as_agent_read_file(agent_bed_image(&bed, 0), i, &file)) {
            files++;
            assert_true(file.start == start && file.end == end);
            assert_string_equal(file.path, agent_bed_image(&bed, 0)->program);
        }
    assert_int_equal(files, 1);
}

/* ---- blocks ---- */

/* A program that may have little memory: tables are small, and blocks are found in them all the same. */
static void take_within(void *context)
{
    enum { BLOCKS = 100 };
    const struct rlimit limit = {*(const uint64_t *)context, RLIM_INFINITY};
    uint32_t sites;
    assert_int_equal(setrlimit(RLIMIT_DATA, &limit), 0);
    agent_bed_start(&bed);
    struct as_agent_image *image = agent_bed_image(&bed, 1);
    for (uintptr_t i = 0; i < BLOCKS; i++)
        agent_bed_take(AS_AGENT_MALLOC, 0x10000 + 32 * i, 10, 0x1000);
    for (uintptr_t i = 0; i < BLOCKS / 2; i++)
        as_agent_gave((void *)(0x10000 + 32 * i), false);
    assert_int_equal(agent_bed_sum(image, &sites).live, BLOCKS / 2);
    assert_true(image->tracks == 1 && image->unplaced == 0 && image->untracked == 0);
}

static void little_memory(void **state)
{
    static const uint64_t limits[] = {UINT64_C(1) << 40, UINT64_C(1) << 31, UINT64_C(1) << 29, UINT64_C(1) << 28};
    char text[4096];
    if (UNIT_SANITIZED)
        unit_skip("sanitizers need more memory than that");
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (unit_run_child(take_within, (void *)&limits[i], text, sizeof text) != 0)
            fail_msg("%s", text);
}

static void what_is_freed_is_not_live(void **state)
{
    uint32_t sites;
    struct as_agent_image *image = agent_bed_image(&bed, 0);
    agent_bed_take(AS_AGENT_MALLOC, 0x10000, 100, 0x1000);
    agent_bed_take(AS_AGENT_ALIGNED, 0x20000, 30, 0x2000);
    assert_int_not_equal(as_agent_gave((void *)0x10000, false), 0);
    assert_int_equal(as_agent_gave((void *)0x10000, false), 0); /* twice */
    assert_int_equal(as_agent_gave(NULL, false), 0);
    assert_int_equal(as_agent_gave((void *)0x77000, false), 0); /* from before the agent */
    struct as_agent_seen_site sum = agent_bed_sum(image, &sites);
    assert_int_equal(sum.live, 1);
    assert_int_equal(sum.live_bytes, 30);
    assert_int_equal(image->live, 30);
    assert_int_equal(image->unknown, 2);
    assert_int_equal(image->peak, 130);
}

static void a_realloc_that_fails_changes_nothing(void **state)
{
    uint32_t sites;
    struct as_agent_image *image = agent_bed_image(&bed, 0);
    agent_bed_take(AS_AGENT_MALLOC, 0x10000, 100, 0x1000);
    struct as_agent_seen_site before = agent_bed_sum(image, &sites);
    as_agent_keep((void *)0x10000, as_agent_gave((void *)0x10000, true));
    as_agent_keep((void *)0x30000, as_agent_gave((void *)0x30000, true)); /* not ours */
    struct as_agent_seen_site after = agent_bed_sum(image, &sites);
    assert_int_equal(after.count, before.count);
    assert_int_equal(after.live_bytes, 100);
    assert_int_equal(after.freed, 0);
    assert_int_equal(image->moved, image->unknown);
    assert_int_equal(image->peak, 100);
}

/* An allocator whose calloc calls malloc, or that frees behind the agent's back. */
static void a_block_that_is_known_already(void **state)
{
    uint32_t sites;
    agent_bed_take(AS_AGENT_MALLOC, 0x10000, 100, 0x1000);
    agent_bed_take(AS_AGENT_CALLOC, 0x10000, 40, 0x2000);
    struct as_agent_seen_site sum = agent_bed_sum(agent_bed_image(&bed, 0), &sites);
    assert_int_equal(sum.live, 1);
    assert_int_equal(sum.live_bytes, 40);
    assert_int_equal(agent_bed_image(&bed, 0)->live, 40);
}

/* All belong to the same place of the table. */
static void more_blocks_than_there_is_room_for(void **state)
{
    uint32_t sites;
    struct as_agent_image *image = agent_bed_image(&bed, 0);
    for (uintptr_t i = 0; i < 200; i++)
        agent_bed_take(AS_AGENT_MALLOC, 0x40000000 + i % 32, 10, 0x1000 + i / 32); /* known already, all but 32 */
    assert_int_equal(image->untracked, 0);
    for (uintptr_t i = 0; i < 32; i++)
        for (uintptr_t j = 1; j < 40; j++)
            agent_bed_take(AS_AGENT_MALLOC, 0x40000000 + 32 * j + i, 10, 0x2000);
    assert_in_range(image->untracked, 1, 32 * 39);
    assert_int_equal(image->untracked_bytes, 10 * image->untracked);
    struct as_agent_seen_site sum = agent_bed_sum(image, &sites);
    assert_int_equal(sum.live_bytes, image->live);
    assert_int_equal(sum.live, 32 + 32 * 39 - image->untracked);
    for (uintptr_t i = 0; i < 32 * 40; i++)
        as_agent_gave((void *)(0x40000000 + i), false);
    sum = agent_bed_sum(image, &sites);
    assert_int_equal(sum.live, 0);
    assert_int_equal(image->live, 0);
    assert_int_equal(image->unknown, image->untracked);
    /* What Assay makes of it: the calls of free. */
    assert_int_equal(sum.freed + image->unknown - image->moved - image->untracked, 32 * 40);
}

static void huge_sizes(void **state)
{
    struct as_agent_image *image = agent_bed_image(&bed, 0);
    agent_bed_take(AS_AGENT_MALLOC, 0x10000, (size_t)1 << 47, 0x1000);
    agent_bed_take(AS_AGENT_MALLOC, 0x20000, (size_t)1 << 47, 0x1000);
    assert_int_equal(image->live, (uint64_t)1 << 48);
    as_agent_gave((void *)0x10000, false);
    assert_int_equal(image->live, (uint64_t)1 << 47);
    assert_int_equal(image->peak, (uint64_t)1 << 48);
}

static _Atomic(uintptr_t) hands[256]; /* blocks that any thread may free */

static void *exchange_blocks(void *argument)
{
    uintptr_t mine = 0x100000000 * ((uintptr_t)argument + 1);
    unsigned seed = (unsigned)(uintptr_t)argument + 1;
    for (unsigned i = 0; i < 100000; i++, mine += 32) {
        seed = seed * 1103515245 + 12345;
        agent_bed_take(AS_AGENT_MALLOC, mine, 1 + seed / 65536 % 500, 0x1000 + seed / 65536 % 50);
        uintptr_t other = atomic_exchange(&hands[seed / 65536 % 256], mine);
        if (other)
            as_agent_gave((void *)other, false);
    }
    return NULL;
}

static void take_in_handler(int number)
{
    static _Atomic uintptr_t next = 0x70000000;
    uintptr_t block = atomic_fetch_add(&next, 32);
    agent_bed_take(AS_AGENT_MALLOC, block, 5, 0x9000);
    as_agent_gave((void *)block, false);
    handled++;
}

static void threads_free_what_others_took(void **state)
{
    struct as_agent_image *image = agent_bed_image(&bed, 0);
    uint32_t sites;
    run_interrupted(exchange_blocks, take_in_handler);
    struct as_agent_seen_site sum = agent_bed_sum(image, &sites);
    assert_int_equal(sum.count, THREADS * 100000 + handled);
    assert_int_equal(sum.live, 256);
    assert_int_equal(sum.live_bytes, image->live);
    for (size_t i = 0; i < 256; i++)
        as_agent_gave((void *)atomic_exchange(&hands[i], 0), false);
    assert_int_equal(image->live, 0);
    assert_int_equal(image->unknown, 0);
    assert_int_equal(image->untracked, 0);
    sum = agent_bed_sum(image, &sites);
    assert_int_equal(sum.live_bytes, 0);
    assert_true(image->peak >= image->at_peak && image->at_peak >= image->peak - image->peak / 64 - 4096);
}

/* ---- processes ---- */

static void child_counts(bool raw)
{
    pid_t child = raw ? (pid_t)syscall(SYS_fork) : fork();
    if (child == 0) {
        agent_bed_take(AS_AGENT_MALLOC, 0x50000, 1000, 0x1000);
        as_agent_gave((void *)0x10000, false);
        as_agent_tell(AS_AGENT_THREAD_START);
        _exit(as_agent_here() == NULL ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void a_forked_child_is_not_counted(void **state)
{
    struct as_agent_image *image = agent_bed_image(&bed, 0);
    size_t threads;
    agent_bed_take(AS_AGENT_MALLOC, 0x10000, 100, 0x1000);
    child_counts(false);
    child_counts(true);
    assert_int_equal(image->live, 100);
    assert_int_equal(image->unknown, 0);
    agent_bed_take(AS_AGENT_MALLOC, 0x20000, 11, 0x1000); /* the parent goes on */
    assert_int_equal(image->live, 111);
    as_agent_stop(bed.host);
    as_agent_threads(bed.host, &threads);
    assert_int_equal(threads, 0);
}

static void more_programs_than_there_is_room_for(void **state)
{
    for (uint32_t i = 1; i < AS_AGENT_IMAGES; i++)
        agent_bed_start(&bed);
    agent_bed_take(AS_AGENT_MALLOC, 0x10000, 1, 0x1000);
    assert_int_equal(agent_bed_image(&bed, AS_AGENT_IMAGES - 1)->live, 1);
    assert_int_equal(agent_bed_image(&bed, 0)->live, 0);
    for (int i = 0; i < 5; i++)
        assert_false(as_agent_start(bed.where));
    assert_int_equal(bed.wire->images, AS_AGENT_IMAGES + 5);
    assert_null(as_agent_image(bed.host, AS_AGENT_IMAGES));
}

/* ---- which block had which memory ---- */

struct found {
    struct as_agent_seen_block last; /* in time */
    size_t n;
};

static void look(void *context, const struct as_agent_seen_block *block)
{
    struct found *found = context;
    found->n++;
    if (block->sequence > found->last.sequence)
        found->last = *block;
}

/* Of the second image: the first one was started before anybody wanted them. */
static struct found find_blocks(void)
{
    struct found found = {0};
    as_agent_each_block(bed.host, 1, look, &found);
    return found;
}

static struct as_agent_image *want_blocks(void)
{
    struct as_error err = AS_ERROR_INIT;
    assert_true(as_agent_want_blocks(bed.host, &err));
    agent_bed_start(&bed);
    assert_false(agent_bed_image(&bed, 0)->remembers);
    assert_true(agent_bed_image(&bed, 1)->remembers);
    return agent_bed_image(&bed, 1);
}

static void a_freed_block_is_remembered(void **state)
{
    struct as_agent_seen_site site;
    struct as_agent_image *image = want_blocks();
    agent_bed_take(AS_AGENT_MALLOC, 0x10000, 100, 0x1111);
    agent_bed_take(AS_AGENT_CALLOC, 0x40000000, 64, 0x2222);
    as_agent_gave((void *)0x40000000, false);
    struct found found = find_blocks();
    assert_int_equal(found.n, 2);
    assert_true(found.last.start == 0x40000000 && found.last.bytes == 64);
    assert_true(as_agent_read_site(image, found.last.site, &site));
    assert_true(site.call == AS_AGENT_CALLOC && site.stack[0] == 0x2222);
    agent_bed_take(AS_AGENT_MALLOC, 0x40000000, 48, 0x3333); /* the memory is another's now */
    found = find_blocks();
    assert_true(found.n == 2 && found.last.start == 0x40000000 && found.last.bytes == 48);
    assert_true(image->taken == 3 && image->unplaced == 0);
}

/* 64 blocks take all the slots that another one beside them may have. One that covers some of them takes theirs. */
static void blocks_that_cannot_be_any_more_make_room(void **state)
{
    struct as_agent_image *image = want_blocks();
    for (uintptr_t i = 0; i < 64; i++)
        agent_bed_take(AS_AGENT_MALLOC, 0x20000 + 2 * i, 1, 0x1111);
    assert_true(find_blocks().n == 64 && image->unplaced == 0);
    agent_bed_take(AS_AGENT_MALLOC, 0x20001, 1, 0x1111);
    assert_true(find_blocks().n == 64 && image->unplaced == 1);
    agent_bed_take(AS_AGENT_MALLOC, 0x20001, 256, 0x1111);
    struct found found = find_blocks();
    assert_true(found.n == 64 && found.last.start == 0x20001 && found.last.bytes == 256 && image->unplaced == 1);
}

static void blocks_that_a_program_makes_up(void **state)
{
    char path[64];
    struct as_agent_block wrong[3] = {{.start = UINT64_MAX - 1, .what = 4 * AS_AGENT_BLOCK_SITE, .sequence = 1},
                                      {.start = 64, .what = AS_AGENT_ALL_SITES + AS_AGENT_BLOCK_SITE, .sequence = 2},
                                      {.start = 64, .what = 7, .sequence = 3}};
    want_blocks();
    assert_int_equal(sscanf(bed.where, "%63s", path), 1);
    int file = open(path, O_RDWR | O_CLOEXEC);
    off_t table = (off_t)(sizeof(struct as_agent_wire) + AS_AGENT_TABLE);
    assert_int_equal(pwrite(file, wrong, sizeof wrong, table), sizeof wrong);
    close(file);
    assert_int_equal(find_blocks().n, 0);
}

static void places_that_are_none(void **state)
{
    char wrong[128];
    snprintf(wrong, sizeof wrong, "/proc/self/exe 4");
    assert_false(as_agent_start(""));
    assert_false(as_agent_start("/dev/zero 4"));
    assert_false(as_agent_start("/proc/self/fd/99999 4"));
    assert_false(as_agent_start(wrong)); /* not to be written, or not of that size */
    bed.wire->version++;
    assert_false(as_agent_start(bed.where));
}

/* Blocks whose places in the first table are one, and four in the second: they go on to the third, each is found again, and once. */
static void blocks_that_want_one_place(void **state)
{
    enum { BLOCKS = 1000, BYTES = 10, APART_BITS = 49 };
    uint32_t sites;
    const struct as_agent_image *image = agent_bed_image(&bed, 0);
    for (uintptr_t i = 1; i <= BLOCKS; i++)
        agent_bed_take(AS_AGENT_MALLOC, i << APART_BITS, BYTES, 0x1111);
    struct as_agent_seen_site sum = agent_bed_sum(image, &sites);
    assert_int_equal(sum.count, BLOCKS);
    assert_int_equal(sum.live, BLOCKS);
    assert_int_equal(image->untracked, 0);
    assert_int_equal(image->live, BLOCKS * BYTES);
    for (uintptr_t i = BLOCKS; i > 0; i--)
        as_agent_gave((void *)(i << APART_BITS), false);
    sum = agent_bed_sum(image, &sites);
    assert_int_equal(sum.freed, BLOCKS);
    assert_int_equal(sum.live, 0);
    assert_int_equal(sum.peak_bytes, BLOCKS * BYTES);
    assert_int_equal(image->live, 0);
    assert_int_equal(image->unknown, 0);
    as_agent_gave((void *)((uintptr_t)1 << APART_BITS), false);
    assert_int_equal(image->unknown, 1);
}

int main(void)
{
#define BED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        BED(nothing_is_lost_while_there_is_room),
        BED(handlers_write_too),
        BED(blocks_that_want_one_place),
        BED(a_full_ring_drops_and_counts),
        BED(errno_stays),
        BED(a_site_has_its_callers),
        BED(frames_that_lead_anywhere_end_the_walk),
        BED(frames_at_the_end_of_the_stack),
        BED(a_caller_at_the_end_of_a_file),
        BED(more_sites_than_there_is_room_for),
        BED(little_memory),
        BED(what_is_freed_is_not_live),
        BED(a_realloc_that_fails_changes_nothing),
        BED(a_block_that_is_known_already),
        BED(more_blocks_than_there_is_room_for),
        BED(huge_sizes),
        BED(threads_free_what_others_took),
        BED(a_forked_child_is_not_counted),
        BED(more_programs_than_there_is_room_for),
        BED(a_freed_block_is_remembered),
        BED(blocks_that_cannot_be_any_more_make_room),
        BED(blocks_that_a_program_makes_up),
        BED(places_that_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
