/* Assay's side: whatever the program writes into the shared memory, it is read within its bounds. */
#include "agent_bed.h"

#include "base/random.h"
#include "unit.h"

#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

static struct agent_bed bed;

static int set_up(void **state)
{
    agent_bed_open(&bed);
    return 0;
}

static int tear_down(void **state)
{
    agent_bed_close(&bed);
    return 0;
}

/* All that Assay asks for. */
static void read_all(void)
{
    struct as_agent_seen_site site;
    struct as_agent_seen_file file;
    for (uint32_t i = 0; i < AS_AGENT_IMAGES + 2; i++) {
        const struct as_agent_image *image = as_agent_image(bed.host, i);
        for (uint32_t k = 0; image && k < AS_AGENT_ALL_SITES + 2; k++)
            if (as_agent_read_site(image, k, &site)) {
                assert_in_range(site.call, 0, AS_AGENT_CALLS - 1);
                assert_in_range(site.frames, 0, AS_AGENT_DEPTH);
                assert_true(site.live <= site.count && site.live_bytes <= site.bytes && site.freed <= site.count);
            }
        for (uint32_t k = 0; image && k < AS_AGENT_FILES + 2; k++)
            if (as_agent_read_file(image, k, &file)) {
                assert_true(file.start < file.end && file.path[0] == '/');
                assert_in_range(strlen(file.path), 1, AS_AGENT_PATH - 1);
            }
    }
    size_t n;
    const struct as_agent_thread *threads = as_agent_threads(bed.host, &n);
    for (size_t i = 0; i < n; i++)
        assert_in_range(strlen(threads[i].name), 0, 16);
    assert_in_range(n, 0, AS_AGENT_MAX_THREADS);
}

/* The ring and some images, word by word, while the ring is being read. */
static void scribble(uint64_t seed, uint64_t mask)
{
    uint64_t *words = (uint64_t *)bed.wire;
    size_t n = offsetof(struct as_agent_wire, image) / 8 + 3 * sizeof(struct as_agent_image) / 8;
    for (size_t i = 0; i < n; i++)
        __atomic_store_n(&words[i], mask ? mask : as_random(&seed), __ATOMIC_RELAXED);
}

static void nonsense(void **state)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        scribble(seed, 0);
        read_all();
    }
    as_agent_stop(bed.host);
    read_all();
}

static void ones(void **state)
{
    scribble(1, UINT64_MAX);
    as_agent_stop(bed.host);
    read_all();
}

static void small_numbers_everywhere(void **state)
{
    for (uint64_t value = 1; value <= 20; value++) {
        scribble(1, value << 32 | value);
        read_all();
    }
    as_agent_stop(bed.host);
    read_all();
}

static void bounds_of_a_site(void **state)
{
    struct as_agent_seen_site seen;
    bed.wire->images = 1;
    bed.wire->image[0].pid = 1;
    struct as_agent_site *site = &bed.wire->image[0].site[5];
    site->count = 1;
    site->ready = 1;
    static const struct {
        uint32_t call, frames;
        bool good;
    } cases[] = {{0, 1, true},
                 {AS_AGENT_CALLS - 1, AS_AGENT_DEPTH, true},
                 {AS_AGENT_CALLS, 1, false},
                 {UINT32_MAX, 1, false},
                 {0, 0, false},
                 {0, AS_AGENT_DEPTH + 1, false},
                 {0, UINT32_MAX, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        site->call = cases[i].call;
        site->frames = cases[i].frames;
        assert_int_equal(as_agent_read_site(as_agent_image(bed.host, 0), 5, &seen), cases[i].good);
    }
    assert_false(as_agent_read_site(as_agent_image(bed.host, 0), AS_AGENT_ALL_SITES, &seen));
    assert_false(as_agent_read_site(as_agent_image(bed.host, 0), UINT32_MAX, &seen));
    site->frames = 1;
    site->call = 0;
    site->bytes = 10;
    site->freed = UINT64_MAX;
    site->freed_bytes = 11;
    assert_true(as_agent_read_site(as_agent_image(bed.host, 0), 5, &seen));
    assert_int_equal(seen.live, 0);
    assert_int_equal(seen.live_bytes, 0);
}

static void bounds_of_a_file(void **state)
{
    struct as_agent_seen_file seen;
    bed.wire->images = 1;
    struct as_agent_image *image = &bed.wire->image[0];
    image->pid = 1;
    image->files = UINT32_MAX;
    struct as_agent_file *file = &image->file[AS_AGENT_FILES - 1];
    memset(file->path, '/', sizeof file->path); /* no NUL */
    file->start = 10;
    file->end = 20;
    assert_true(as_agent_read_file(image, AS_AGENT_FILES - 1, &seen));
    assert_int_equal(strlen(seen.path), AS_AGENT_PATH - 1);
    assert_false(as_agent_read_file(image, AS_AGENT_FILES, &seen));
    file->end = 10;
    assert_false(as_agent_read_file(image, AS_AGENT_FILES - 1, &seen));
    file->end = 20;
    file->path[0] = 'x';
    assert_false(as_agent_read_file(image, AS_AGENT_FILES - 1, &seen));
    file->path[0] = '\0'; /* the program itself, of which nothing is known */
    assert_false(as_agent_read_file(image, AS_AGENT_FILES - 1, &seen));
    memset(image->program, '/', sizeof image->program);
    assert_true(as_agent_read_file(image, AS_AGENT_FILES - 1, &seen));
    image->files = AS_AGENT_FILES - 1;
    assert_false(as_agent_read_file(image, AS_AGENT_FILES - 1, &seen));
}

/* ---- a ring that lies ---- */

static void publish(uint64_t position, uint32_t event, uint32_t tid)
{
    struct as_agent_slot *slot = &bed.wire->ring[position & (AS_AGENT_RING - 1)];
    slot->event = event;
    slot->pid = 1;
    slot->tid = tid;
    slot->time = position + 1;
    memset(slot->name, 'n', sizeof slot->name);
    atomic_store(&slot->sequence, position + 1);
}

static void events_that_are_none(void **state)
{
    size_t n;
    publish(0, 0, 1);
    publish(1, UINT32_MAX, 2);
    publish(2, AS_AGENT_THREAD_END, 3); /* of a thread that never started */
    publish(3, AS_AGENT_THREAD_END, 3);
    publish(4, AS_AGENT_THREAD_START, 4);
    publish(5, AS_AGENT_THREAD_START, 4); /* twice */
    bed.wire->tail = 6;
    as_agent_stop(bed.host);
    const struct as_agent_thread *threads = as_agent_threads(bed.host, &n);
    assert_int_equal(n, 3);
    assert_int_equal(threads[0].tid, 3);
    assert_string_equal(threads[0].name, "nnnnnnnnnnnnnnnn");
    assert_int_equal(as_agent_most_at_once(bed.host), 2);
}

/* Its thread was killed between taking the position and publishing it. */
static void a_position_that_is_never_published(void **state)
{
    size_t n;
    publish(1, AS_AGENT_THREAD_START, 7);
    bed.wire->tail = 2;
    as_agent_stop(bed.host);
    assert_int_equal(as_agent_threads(bed.host, &n)[0].tid, 7);
    assert_int_equal(n, 1);
}

static void a_tail_that_lies(void **state)
{
    static const uint64_t tails[] = {UINT64_MAX, INT64_MAX, 0, AS_AGENT_RING * UINT64_C(1000)};
    size_t n;
    bed.wire->tail = tails[0];
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++)
        bed.wire->tail = tails[i];
    as_agent_stop(bed.host);
    as_agent_threads(bed.host, &n);
    assert_int_equal(n, 0);
}

/* A thread that publishes whatever slot was read, as soon as it sees that. */
static _Atomic bool stop_flood;

static void *flood(void *unused)
{
    for (uint64_t i = 0; i == 0 || !stop_flood; i++) {
        uint64_t position = atomic_load(&bed.wire->ring[i & (AS_AGENT_RING - 1)].sequence);
        if ((position ^ i) % AS_AGENT_RING == 0)
            publish(position, AS_AGENT_THREAD_START, (uint32_t)i);
    }
    return NULL;
}

static void a_flood_of_threads(void **state)
{
    pthread_t thread;
    size_t n;
    stop_flood = false;
    pthread_create(&thread, NULL, flood, NULL);
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    stop_flood = true;
    pthread_join(thread, NULL);
    as_agent_stop(bed.host);
    as_agent_threads(bed.host, &n);
    assert_in_range(n, 1, AS_AGENT_MAX_THREADS);
}

static void more_threads_than_are_kept(void **state)
{
    size_t n;
    struct timespec wait = {.tv_nsec = 1000000};
    const uint64_t all = AS_AGENT_MAX_THREADS + 1000;
    for (uint64_t position = 0; position < all; position++) {
        _Atomic uint64_t *sequence = &bed.wire->ring[position & (AS_AGENT_RING - 1)].sequence;
        while (atomic_load(sequence) != position)
            nanosleep(&wait, NULL);
        publish(position, AS_AGENT_THREAD_START, (uint32_t)position);
    }
    bed.wire->tail = all;
    as_agent_stop(bed.host);
    as_agent_threads(bed.host, &n);
    assert_int_equal(n, AS_AGENT_MAX_THREADS);
    assert_int_equal(as_agent_dropped(bed.host), 1000);
}

static void the_environment(void **state)
{
    char *const *entry = as_agent_environment(bed.host);
    unsigned preloads = 0, agents = 0;
    for (; *entry; entry++) {
        preloads += strncmp(*entry, "LD_PRELOAD=/nowhere/agent.so", 28) == 0;
        agents += strncmp(*entry, AS_AGENT_VARIABLE "=", sizeof AS_AGENT_VARIABLE) == 0;
    }
    assert_int_equal(preloads, 1);
    assert_int_equal(agents, 1);
    struct as_error err = AS_ERROR_INIT;
    assert_null(as_agent_open("/no where/agent.so", 4, &err));
    assert_non_null(strstr(err.message, "/no where/agent.so: cannot be read"));
}

/* The dynamic linker would split it there: it goes by a path without one that leads to the same file. */
static void a_path_with_a_colon(void **state)
{
    char path[] = "/tmp/assay:agent.XXXXXX", seen[256] = "";
    struct as_error err = AS_ERROR_INIT;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    size_t descriptors = unit_count_descriptors();
    struct as_agent *host = as_agent_open(path, 4, &err);
    assert_non_null(host);
    for (char *const *entry = as_agent_environment(host); *entry; entry++)
        if (strncmp(*entry, "LD_PRELOAD=", 11) == 0)
            assert_true(readlink(*entry + 11, seen, sizeof seen - 1) > 0);
    assert_string_equal(seen, path);
    as_agent_close(host);
    assert_int_equal(unit_count_descriptors(), descriptors);
    unlink(path);
    close(fd);
}

/* Returns the entry of a variable, which is there once. */
static const char *entry_of(char *const *environment, const char *name)
{
    const char *found = NULL;
    for (size_t length = strlen(name); *environment; environment++) {
        if (strncmp(*environment, name, length) != 0 || (*environment)[length] != '=')
            continue;
        assert_null(found);
        found = *environment;
    }
    return found;
}

/* A program in the model: its variable says so, and what is preloaded already stays behind the agent. The library is looked for beside
 * the program that runs, which is this test. */
static void the_environment_in_the_model(void **state)
{
    char library[PATH_MAX], program[PATH_MAX - 32] = "", want[2 * PATH_MAX];
    struct as_error err = AS_ERROR_INIT;
    assert_true(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
    snprintf(library, sizeof library, "%s/assay-agent.so", dirname(program));
    int fd = open(library, O_CREAT | O_WRONLY, 0644);
    assert_true(fd >= 0);
    close(fd);
    const char *usual = getenv("LD_PRELOAD");
    char *before = usual ? strdup(usual) : NULL;
    static const char *const preloaded[] = {NULL, "", "/usual/other.so"};
    for (size_t i = 0; i < 3; i++) {
        if (preloaded[i])
            setenv("LD_PRELOAD", preloaded[i], 1);
        else
            unsetenv("LD_PRELOAD");
        setenv("ASSAY_TEST_AGENT", "ours", 1);
        char **made = as_agent_model_environment(&err);
        assert_non_null(made);
        snprintf(want, sizeof want, "LD_PRELOAD=%s%s", library, i == 2 ? ":/usual/other.so" : "");
        assert_string_equal(entry_of(made, "LD_PRELOAD"), want);
        assert_string_equal(entry_of(made, AS_AGENT_VARIABLE), AS_AGENT_VARIABLE "=" AS_AGENT_MODEL);
        assert_string_equal(entry_of(made, "ASSAY_TEST_AGENT"), "ASSAY_TEST_AGENT=ours");
        as_agent_model_environment_free(made);
    }
    if (before)
        setenv("LD_PRELOAD", before, 1);
    else
        unsetenv("LD_PRELOAD");
    free(before);
    unlink(library);
    as_agent_model_environment_free(NULL);
}

int main(void)
{
#define BED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        BED(nonsense),
        BED(ones),
        BED(small_numbers_everywhere),
        BED(bounds_of_a_site),
        BED(bounds_of_a_file),
        BED(events_that_are_none),
        BED(a_position_that_is_never_published),
        BED(a_tail_that_lies),
        BED(a_flood_of_threads),
        BED(more_threads_than_are_kept),
        BED(the_environment),
        BED(a_path_with_a_colon),
        cmocka_unit_test(the_environment_in_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
