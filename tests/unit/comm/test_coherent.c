/* Exact transfers: small cases by hand, and random streams against a plain simulation with a state for each cache and line. */
#include "unit.h"

#include "base/random.h"
#include "comm/coherent.h"

static void make(struct as_coherent *coherent, uint32_t thread, uint64_t address, uint32_t size, uint8_t kind)
{
    struct as_data_access access = {.address = address, .size = size, .kind = kind, .insn = thread};
    struct as_weave_span span = {.thread = thread, .process = 1, .image = 1, .n = 1, .accesses = &access};
    as_coherent_span(coherent, &span);
}

static void check(const struct as_coherent *coherent, uint64_t transfers, uint64_t false_, uint64_t invalidations)
{
    struct as_coherent_counts counts = as_coherent_counts(coherent);
    assert_int_equal(counts.transfers, transfers);
    assert_int_equal(counts.false_, false_);
    assert_int_equal(counts.invalidations, invalidations);
}

enum { LOAD = AS_ACCESS_LOAD, STORE = AS_ACCESS_STORE, ATOMIC = AS_ACCESS_LOAD | AS_ACCESS_STORE };

static void by_hand(void **state)
{
    struct as_coherent *coherent = as_coherent_new(NULL);
    make(coherent, 1, 0x1000, 8, LOAD);
    make(coherent, 2, 0x1000, 8, LOAD); /* nobody wrote it */
    check(coherent, 0, 0, 0);
    make(coherent, 1, 0x1000, 8, STORE); /* takes the copy of 2 */
    check(coherent, 0, 0, 1);
    make(coherent, 2, 0x1000, 8, LOAD); /* true: 1 wrote these bytes */
    check(coherent, 1, 0, 1);
    make(coherent, 2, 0x1004, 1, LOAD); /* has a copy */
    check(coherent, 1, 0, 1);
    make(coherent, 3, 0x1008, 8, ATOMIC); /* other bytes of the line */
    check(coherent, 2, 1, 1);
    make(coherent, 3, 0x1000, 8, STORE); /* its own */
    make(coherent, 1, 0x1000, 4, LOAD);  /* … which it wrote, too */
    check(coherent, 3, 1, 1);
    make(coherent, 4, 0x103c, 8, STORE); /* two lines: one of 3 and 1, one of nobody */
    check(coherent, 4, 2, 1);
    assert_int_equal(as_pair_sum(as_pair_matrix_pair(as_coherent_matrix(coherent), 0, 1)), 1);
    assert_int_equal(as_pair_sum(as_pair_matrix_pair(as_coherent_matrix(coherent), 1, 2)), 0);
    assert_int_equal(as_pair_sum(as_pair_matrix_pair(as_coherent_matrix(coherent), 0, 2)), 2);
    assert_int_equal(as_pair_sum(as_pair_matrix_pair(as_coherent_matrix(coherent), 2, 3)), 1);
    assert_int_equal(as_coherent_counts(coherent).last_writer, 5);
    assert_int_equal(as_coherent_counts(coherent).bytes, 8 + 8 + 4 + 4);
    assert_int_equal(as_coherent_contacts(coherent)->list.len, 4);
    as_coherent_free(coherent);
}

/* The same address in another process, or in another program of the same, is other memory. */
static void spaces_are_apart(void **state)
{
    struct as_coherent *coherent = as_coherent_new(NULL);
    struct as_data_access access = {.address = 0x1000, .size = 8, .kind = ATOMIC};
    for (uint32_t i = 0; i < 6; i++) {
        struct as_weave_span span = {
            .thread = i, .process = 1 + i / 4, .image = 1 + i / 2, .n = 1, .accesses = &access};
        as_coherent_span(coherent, &span);
    }
    check(coherent, 3, 0, 0);
    as_coherent_free(coherent);
}

/* … but what processes share has one address in all of them. */
static void shared_memory_is_one(void **state)
{
    struct as_coherent *coherent = as_coherent_new(NULL);
    struct as_data_access access = {.address = UINT64_C(0xffff800000001000), .size = 8, .kind = ATOMIC};
    for (uint32_t i = 0; i < 6; i++) {
        struct as_weave_span span = {.thread = i, .process = 1 + i / 2, .image = 1, .n = 1, .accesses = &access};
        as_coherent_span(coherent, &span);
    }
    check(coherent, 5, 0, 0);
    assert_int_equal(as_coherent_contacts(coherent)->list.data[0].process, 0);
    assert_int_equal(as_coherent_contacts(coherent)->list.data[0].line, UINT64_C(0x800000001000));
    as_coherent_free(coherent);
}

/* Threads that were met in another order than that of their numbers. */
static void sorted(void **state)
{
    struct as_coherent *coherent = as_coherent_new(NULL);
    size_t n;
    make(coherent, 9, 0x1000, 8, STORE);
    make(coherent, 5, 0x1000, 8, LOAD);
    make(coherent, 7, 0x1000, 8, LOAD);
    make(coherent, 7, 0x1008, 8, LOAD);
    as_coherent_sort(coherent);
    const uint32_t *order = as_coherent_threads(coherent, &n);
    const struct as_contact *contact = &as_coherent_contacts(coherent)->list.data[0];
    assert_true(n == 3 && order[0] == 5 && order[1] == 7 && order[2] == 9);
    assert_int_equal(as_pair_sum(as_pair_matrix_pair(as_coherent_matrix(coherent), 0, 2)), 1);
    assert_int_equal(as_pair_sum(as_pair_matrix_pair(as_coherent_matrix(coherent), 1, 2)), 1);
    assert_int_equal(as_pair_sum(as_pair_matrix_pair(as_coherent_matrix(coherent), 0, 1)), 0);
    assert_int_equal(contact->from_threads, 4);
    as_coherent_free(coherent);
}

/* ---- what is known of threads and lines ---- */

static uint32_t path_of(void *context, uint32_t thread)
{
    return 100 + thread;
}

static uint32_t node_of(void *context, uint32_t thread)
{
    return thread / 2;
}

static uint32_t object_of(void *context, uint32_t process, uint64_t address)
{
    return process == 1 && address == 0x1000 ? 7 : 8;
}

static bool home_of(void *context, uint32_t *process, uint64_t *address)
{
    *process = 5;
    *address += 0x100;
    return true;
}

/* Threads 1, 2 and 3 of nodes 0, 1 and 1: two transfers, of which one leaves the node. */
static void hooks(void **state)
{
    const struct as_coherent_hooks all = {.path = path_of, .node = node_of, .object = object_of, .home = home_of};
    struct as_coherent *coherent = as_coherent_new(&all);
    make(coherent, 1, 0x1008, 4, STORE);
    make(coherent, 2, 0x1010, 8, STORE);
    make(coherent, 3, 0x1010, 2, LOAD);
    make(coherent, 2, UINT64_C(0xffff800000001000), 8, STORE);
    make(coherent, 3, UINT64_C(0xffff800000001000), 8, STORE);
    as_coherent_sort(coherent);
    struct as_coherent_counts counts = as_coherent_counts(coherent);
    assert_true(counts.accesses == 5 && counts.transfers == 3 && counts.remote == 1 && counts.false_ == 1);
    assert_int_equal(counts.bytes, 8 + 2 + 8);
    const struct as_contact *contacts = as_coherent_contacts(coherent)->list.data;
    assert_int_equal(as_coherent_contacts(coherent)->list.len, 3);
    assert_true(contacts[0].line == 0x1000 && contacts[0].process == 1 && contacts[0].object == 7);
    assert_true(contacts[0].is_false && contacts[0].remote == 1 && contacts[0].count == 1);
    assert_true(contacts[0].from.path == 101 && contacts[0].from.offset == 8 && contacts[0].from.size == 4);
    assert_true(contacts[0].from.insn == 1 && contacts[0].to.insn == 2 && contacts[0].to.path == 102);
    assert_true(contacts[0].to.offset == 16 && contacts[0].to.size == 8);
    assert_true(contacts[0].from_threads == 1 && contacts[0].to_threads == 2);
    assert_true(!contacts[1].is_false && contacts[1].remote == 0 && contacts[1].to.size == 2);
    assert_true(contacts[1].from_threads == 2 && contacts[1].to_threads == 4);
    assert_true(contacts[2].process == 5 && contacts[2].line == UINT64_C(0x800000001100) && contacts[2].object == 8);
    struct as_pair_cell pair = as_pair_matrix_pair(as_coherent_matrix(coherent), 0, 1);
    assert_true(pair.true_ == 0 && pair.false_ == 1);
    pair = as_pair_matrix_pair(as_coherent_matrix(coherent), 1, 2);
    assert_true(pair.true_ == 2 && pair.false_ == 0);
    as_coherent_free(coherent);
}

/* An access over three lines touches all of the middle one. Neither loads nor stores, and nothing at all, are no accesses. */
static void long_and_empty_accesses(void **state)
{
    struct as_coherent *coherent = as_coherent_new(NULL);
    make(coherent, 1, 0x103c, 4 + 64 + 4, STORE);
    make(coherent, 2, 0x1040, 1, LOAD);
    make(coherent, 2, 0x107f, 1, LOAD); /* has it now */
    make(coherent, 2, 0x1084, 1, LOAD); /* behind its end: false */
    make(coherent, 2, 0x1038, 4, LOAD); /* before its start: false */
    check(coherent, 3, 2, 0);
    make(coherent, 3, 0x1040, 0, LOAD);
    make(coherent, 3, 0x1040, 8, AS_ACCESS_FLUSH);
    check(coherent, 3, 2, 0);
    assert_int_equal(as_coherent_counts(coherent).accesses, 5);
    as_coherent_free(coherent);
}

/* ---- against a plain simulation ---- */

enum { THREADS = 70, LINES = 90, STEPS = 60000 };

struct plain {
    bool copy[THREADS][LINES], written[LINES], touched[LINES][64];
    int holder[LINES]; /* -1: nobody */
    uint64_t pairs[THREADS][THREADS], false_, invalidations, last_writer;
};

static void hold(struct plain *plain, int line, int thread, unsigned first, unsigned end, bool anew)
{
    if (anew)
        memset(plain->touched[line], 0, sizeof plain->touched[line]);
    for (unsigned i = first; i < end; i++)
        plain->touched[line][i] = true;
    plain->holder[line] = thread;
}

static void plain_access(struct plain *plain, int thread, int line, unsigned first, unsigned end, bool store)
{
    int holder = plain->holder[line];
    bool foreign = holder >= 0 && holder != thread, overlap = false, copies = false;
    for (unsigned i = first; i < end; i++)
        overlap |= plain->touched[line][i];
    for (int i = 0; i < THREADS; i++)
        copies |= i != thread && plain->copy[i][line];
    plain->last_writer += foreign && plain->written[line];
    if (foreign && !plain->copy[thread][line] && (store || plain->written[line])) {
        plain->pairs[holder][thread]++;
        plain->false_ += !overlap;
    } else if (store && copies) {
        plain->invalidations++;
    }
    if (store) {
        hold(plain, line, thread, first, end, foreign || !plain->written[line]);
        plain->written[line] = true;
        for (int i = 0; i < THREADS; i++)
            plain->copy[i][line] = false;
    } else if (holder < 0) {
        hold(plain, line, thread, first, end, true);
    }
    plain->copy[thread][line] = true;
}

static void random_stream(void **state)
{
    static struct plain plain;
    struct as_coherent *coherent = as_coherent_new(NULL);
    uint64_t seed = 1, transfers = 0;
    for (int i = 0; i < LINES; i++)
        plain.holder[i] = -1;
    for (int i = 0; i < THREADS; i++) { /* rows of the matrix in the order of the numbers */
        make(coherent, (uint32_t)i, 0x100000 + 64 * (uint64_t)i, 1, LOAD);
    }
    for (int i = 0; i < STEPS; i++) {
        uint32_t thread = (uint32_t)as_random_below(&seed, THREADS), size = 1u << as_random_below(&seed, 4);
        uint64_t line = as_random_below(&seed, LINES), offset = as_random_below(&seed, 64 / size) * size;
        bool store = as_random_below(&seed, 3) == 0;
        make(coherent, thread, 0x2000 + line * 64 + offset, size, store ? STORE : LOAD);
        plain_access(&plain, (int)thread, (int)line, (unsigned)offset, (unsigned)(offset + size), store);
    }
    for (uint32_t i = 0; i < THREADS; i++)
        for (uint32_t k = 0; k < i; k++) {
            uint64_t expected = plain.pairs[i][k] + plain.pairs[k][i];
            assert_int_equal(as_pair_sum(as_pair_matrix_pair(as_coherent_matrix(coherent), i, k)), expected);
            transfers += expected;
        }
    check(coherent, transfers, plain.false_, plain.invalidations);
    assert_int_equal(as_coherent_counts(coherent).last_writer, plain.last_writer);
    as_coherent_free(coherent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand),
                                       cmocka_unit_test(spaces_are_apart),
                                       cmocka_unit_test(shared_memory_is_one),
                                       cmocka_unit_test(sorted),
                                       cmocka_unit_test(hooks),
                                       cmocka_unit_test(long_and_empty_accesses),

                                       cmocka_unit_test(random_stream)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
