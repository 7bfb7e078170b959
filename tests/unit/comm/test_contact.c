/* Contacts: equal ones are one with a count, others are apart whatever they differ in; threads as bits; homes. */
#include "unit.h"

#include "comm/contact.h"

static const struct as_contact plain = {.line = 0x1000,
                                        .process = 1,
                                        .object = 2,
                                        .from = {.insn = 10, .process = 3, .path = 4, .offset = 8, .size = 4},
                                        .to = {.insn = 20, .process = 5, .path = 6, .offset = 16, .size = 2},
                                        .count = 7,
                                        .remote = 3};

static void equal_ones_are_one(void **state)
{
    struct as_contacts contacts = {0};
    struct as_contact again = plain;
    as_contacts_add(&contacts, &plain, 0, 1);
    again.count = 5;
    again.remote = 0;
    again.from_threads = again.to_threads = 99; /* not looked at */
    as_contacts_add(&contacts, &again, 2, 1);
    assert_int_equal(contacts.list.len, 1);
    const struct as_contact *found = &contacts.list.data[0];
    assert_true(found->count == 12 && found->remote == 3);
    assert_true(found->from_threads == 5 && found->to_threads == 2);
    assert_true(found->line == 0x1000 && found->from.insn == 10 && found->to.offset == 16 && !found->is_false);
    as_contacts_free(&contacts);
}

/* Each of them once more: it is found again among all. */
static void different_ones_are_apart(void **state)
{
    struct as_contacts contacts = {0};
    struct as_contact others[15];
    enum { N = sizeof others / sizeof *others };
    for (size_t i = 0; i < N; i++)
        others[i] = plain;
    others[1].line = 0x1040;
    others[2].process = 2;
    others[3].object = 3;
    others[4].is_false = true;
    others[5].from.insn = 11;
    others[6].from.process = 4;
    others[7].from.path = 5;
    others[8].from.offset = 9;
    others[9].from.size = 5;
    others[10].to.insn = 21;
    others[11].to.process = 6;
    others[12].to.path = 7;
    others[13].to.offset = 17;
    others[14].to.size = 3;
    for (size_t i = 0; i < 2 * N; i++)
        as_contacts_add(&contacts, &others[i % N], 0, 1);
    assert_int_equal(contacts.list.len, N);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(contacts.list.data[i].count, 14);
        assert_int_equal(contacts.list.data[i].remote, 6);
    }
    as_contacts_free(&contacts);
}

/* More of them than are looked for first. */
static void many_are_found_again(void **state)
{
    enum { N = 3 * AS_CONTACTS_RECENT };
    struct as_contacts contacts = {0};
    struct as_contact contact = plain;
    for (size_t i = 0; i < 2 * N; i++) {
        contact.line = i % N * 64;
        as_contacts_add(&contacts, &contact, 0, 1);
    }
    assert_int_equal(contacts.list.len, N);
    for (size_t i = 0; i < N; i++)
        assert_true(contacts.list.data[i].line == i * 64 && contacts.list.data[i].count == 14);
    as_contacts_free(&contacts);
}

static void threads_are_bits(void **state)
{
    struct as_contacts contacts = {0};
    as_contacts_add(&contacts, &plain, 62, 63);
    as_contacts_add(&contacts, &plain, 64, 4000);
    assert_int_equal(contacts.list.data[0].from_threads, UINT64_C(3) << 62);
    assert_int_equal(contacts.list.data[0].to_threads, UINT64_C(1) << 63);
    as_contacts_free(&contacts);
}

static bool home(void *context, uint32_t *process, uint64_t *address)
{
    ++*(int *)context;
    if (*address != 0x1000)
        return false;
    *process = 9;
    *address = 0x7000;
    return true;
}

/* Only addresses of no process are asked for. */
static void homes(void **state)
{
    struct as_contacts contacts = {0};
    struct as_contact shared = plain, unknown = plain;
    int asked = 0;
    shared.process = unknown.process = 0;
    unknown.line = 0x2000;
    as_contacts_add(&contacts, &plain, 0, 1);
    as_contacts_add(&contacts, &shared, 0, 1);
    as_contacts_add(&contacts, &unknown, 0, 1);
    as_contacts_home(&contacts, home, &asked);
    assert_int_equal(asked, 2);
    assert_true(contacts.list.data[0].process == 1 && contacts.list.data[0].line == 0x1000);
    assert_true(contacts.list.data[1].process == 9 && contacts.list.data[1].line == 0x7000);
    assert_true(contacts.list.data[2].process == 0 && contacts.list.data[2].line == 0x2000);
    as_contacts_free(&contacts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(equal_ones_are_one), cmocka_unit_test(different_ones_are_apart),
                                       cmocka_unit_test(many_are_found_again), cmocka_unit_test(threads_are_bits),
                                       cmocka_unit_test(homes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
