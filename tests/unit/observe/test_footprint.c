/* The footprint against the sets of lines that a plain count of the same accesses has. */
#include "unit.h"

#include "observe/footprint.h"

#include <stdlib.h>

enum { LINES = 300, THREADS = 4 };

static void tell(struct as_footprint *footprint, uint32_t thread, uint32_t process, struct as_data_access *accesses,
                 size_t n)
{
    struct as_access_turn turn = {.thread = thread, .process = process, .end = (uint32_t)n};
    struct as_access_batch batch = {.size = sizeof batch, .n = n, .n_turns = 1, .accesses = accesses, .turns = &turn};
    as_footprint_observer.accesses(footprint, &batch);
}

static void one_by_one(void **state)
{
    struct as_footprint *footprint = as_footprint_new();
    struct as_data_access own[] = {
        {.address = 0x1000, .size = 8, .kind = AS_ACCESS_LOAD},
        {.address = 0x1038, .size = 8, .kind = AS_ACCESS_STORE},  /* the same line */
        {.address = 0x103c, .size = 8, .kind = AS_ACCESS_LOAD},   /* across into the next */
        {.address = 0x1ff0, .size = 64, .kind = AS_ACCESS_STORE}, /* across into the next page */
        {.address = 0x5000, .size = 1, .kind = AS_ACCESS_PREFETCH},
        {.address = 0xffffffffff600000, .size = 4, .kind = AS_ACCESS_LOAD | AS_ACCESS_STORE},
    };
    struct as_data_access others[] = {{.address = 0x1040, .size = 4, .kind = AS_ACCESS_LOAD},
                                      {.address = 0x2000, .size = 4, .kind = AS_ACCESS_LOAD}};
    size_t n;
    tell(footprint, 1, 1, own, 6);
    tell(footprint, 3, 1, others, 2);
    tell(footprint, 4, 2, others, 2); /* of another process: nothing of it is shared */
    as_footprint_observer.finish(footprint, NULL);
    const struct as_footprint_thread *threads = as_footprint_threads(footprint, &n);
    const struct as_footprint_counts first = {
        .accesses = 5, .lines = 5, .read = 3, .written = 4, .pages = 3, .shared = 2, .shared_written = 1};
    const struct as_footprint_counts second = {
        .accesses = 2, .lines = 2, .read = 2, .pages = 2, .shared = 2, .shared_written = 1};
    const struct as_footprint_counts third = {.accesses = 2, .lines = 2, .read = 2, .pages = 2};
    const struct as_footprint_counts all = {
        .accesses = 9, .lines = 7, .read = 6, .written = 4, .pages = 5, .shared = 2, .shared_written = 1};
    struct as_footprint_counts total = as_footprint_total(footprint);
    assert_int_equal(n, 3);
    assert_true(threads[0].thread == 1 && threads[1].thread == 3 && threads[2].thread == 4 && threads[2].process == 2);
    assert_memory_equal(&threads[0].counts, &first, sizeof first);
    assert_memory_equal(&threads[1].counts, &second, sizeof second);
    assert_memory_equal(&threads[2].counts, &third, sizeof third);
    assert_memory_equal(&total, &all, sizeof all);
    as_footprint_observer.free(footprint);
}

/* Accesses all over lines that share places in the table of recent pages. */
static void random_accesses(void **state)
{
    static bool read[THREADS + 1][LINES], written[THREADS + 1][LINES];
    struct as_footprint *footprint = as_footprint_new();
    uint64_t random = 1;
    for (int i = 0; i < 20000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint32_t thread = 1 + (uint32_t)(random >> 33) % THREADS;
        uint32_t line = (uint32_t)(random >> 40) % (LINES / thread);
        bool store = random >> 60 == 3;
        uint64_t page = line % 3 * 1024 + line / 30; /* 1024 pages apart */
        struct as_data_access access = {
            .address = page * 4096 + line % 30 * 64 + 8, .size = 8, .kind = store ? AS_ACCESS_STORE : AS_ACCESS_LOAD};
        (store ? written : read)[thread][line] = true;
        tell(footprint, thread, 1, &access, 1);
    }
    as_footprint_observer.finish(footprint, NULL);
    uint64_t lines[THREADS + 1] = {0}, shared[THREADS + 1] = {0};
    for (int line = 0; line < LINES; line++) {
        int users = 0;
        for (int t = 1; t <= THREADS; t++)
            users += read[t][line] || written[t][line];
        for (int t = 1; t <= THREADS; t++) {
            lines[t] += read[t][line] || written[t][line];
            shared[t] += (read[t][line] || written[t][line]) && users > 1;
        }
    }
    size_t n;
    const struct as_footprint_thread *threads = as_footprint_threads(footprint, &n);
    assert_int_equal(n, THREADS);
    for (int t = 1; t <= THREADS; t++) {
        assert_int_equal(threads[t - 1].counts.lines, lines[t]);
        assert_int_equal(threads[t - 1].counts.shared, shared[t]);
    }
    as_footprint_observer.free(footprint);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_by_one), cmocka_unit_test(random_accesses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
