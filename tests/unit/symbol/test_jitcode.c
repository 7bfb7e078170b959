/* Names of code that was made at run time: both kinds of files, pieces one over the other, files that grow, and damage. */
#include "symbol/jitcode.h"

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct as_jit *jit;
static char path[] = "/tmp/assay-jit-XXXXXX";

static int set_up(void **state)
{
    strcpy(path + sizeof path - 7, "XXXXXX");
    close(mkstemp(path));
    jit = as_jit_new();
    return 0;
}

static int clean_up(void **state)
{
    as_jit_free(jit);
    unlink(path);
    return 0;
}

static void write_file(const void *bytes, size_t size, const char *mode)
{
    FILE *file = fopen(path, mode);
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void write_text(const char *text)
{
    write_file(text, strlen(text), "a");
}

static const char *name_at(uint64_t address, const struct as_jit_insn *insn)
{
    const struct as_jit_piece *piece = as_jit_find(jit, address, insn);
    return piece ? piece->name : "";
}

static void test_map(void **state)
{
    write_text("7000 1 one byte\nfffffffffffffff0 f last\n");
    assert_true(as_jit_read(jit, path, 0));
    assert_string_equal(name_at(0x7000, NULL), "one byte");
    assert_string_equal(name_at(0x7001, NULL), "");
    assert_string_equal(name_at(UINT64_MAX - 1, NULL), "last");
    assert_string_equal(name_at(UINT64_MAX, NULL), "");
    write_text("1000 10 first\n2000 20 Second with spaces\nnonsense\n3000\n3000 zz x\n4000 0 empty\n5000 8 \n"
               "fffffffffffffff0 20 wraps\n6000 4 not finis");
    assert_true(as_jit_read(jit, path, 0));
    assert_string_equal(name_at(0x1000, NULL), "first");
    assert_string_equal(name_at(0x100f, NULL), "first");
    assert_string_equal(name_at(0x1010, NULL), "");
    assert_string_equal(name_at(0x201f, NULL), "Second with spaces");
    for (uint64_t address = 0x3000; address < 0x7000; address += 0x1000)
        assert_string_equal(name_at(address, NULL), "");
    write_text("hed\n");
    assert_true(as_jit_read(jit, path, 0));
    assert_string_equal(name_at(0x6003, NULL), "not finished");
    assert_string_equal(name_at(0x1000, NULL), "first");
}

/* The last one counts, unless the caller knows better. A long piece below short ones is still found. */
static void test_versions(void **state)
{
    write_text("1000 1000 long\n1100 10 a\n1100 20 b\n1100 10 c\n1200 10 d\n");
    assert_true(as_jit_read(jit, path, 0));
    assert_string_equal(name_at(0x1fff, NULL), "long");
    assert_string_equal(name_at(0x1105, NULL), "c");
    assert_string_equal(name_at(0x1115, NULL), "b");
    const char *const names[] = {"long", "a", "b", "c", "c"};
    for (uint32_t version = 0; version < 5; version++)
        assert_string_equal(name_at(0x1105, &(struct as_jit_insn){.version = version}), names[version]);
}

static uint32_t versions_at(void *context, uint64_t address)
{
    const uint64_t *seen = context; /* the place, and how many were executed there */
    return address == seen[0] ? (uint32_t)seen[1] : 0;
}

/* Code that is new at its place belongs to the last piece whose beginning had been executed. Pieces that cover the place come in
 * the order of the file, wherever they begin. */
static void test_begun(void **state)
{
    write_text("1100 40 a\n1100 40 b\n10f0 80 c\n1100 40 d\n");
    assert_true(as_jit_read(jit, path, 0));
    const char *const names[] = {"a", "a", "b", "d", "d"};
    for (uint64_t n = 0; n < 5; n++) {
        uint64_t seen[] = {0x1100, n};
        struct as_jit_insn insn = {.versions = versions_at, .context = seen};
        assert_string_equal(name_at(0x1120, &insn), names[n]);
    }
    uint64_t seen[] = {0x10f0, 1};
    assert_string_equal(name_at(0x1120, &(struct as_jit_insn){.versions = versions_at, .context = seen}), "c");
}

struct load {
    uint32_t id, total;
    uint64_t time;
    uint32_t pid, tid;
    uint64_t vma, address, size, index;
    char name[8];
    uint8_t code[8];
};
static const uint32_t header[10] = {0x4a695444, 1, 40, 62};

static void write_load(uint64_t address, const char *name, uint8_t fill)
{
    struct load load = {.total = sizeof load, .time = fill, .address = address, .size = 8};
    snprintf(load.name, sizeof load.name, "%s", name);
    memset(load.name + strlen(name) + 1, fill, sizeof load.name - strlen(name) - 1);
    memset(load.code, fill, sizeof load.code);
    write_file(&load, sizeof load, "a");
}

static void test_dump(void **state)
{
    const uint8_t ones[] = {1, 1}, twos[] = {2, 2}, others[] = {9, 9};
    const uint64_t move[8] = {1 | UINT64_C(64) << 32, 0, 0, 0, 0x1000, 0x5000, 8, 0};
    write_file(header, sizeof header, "w");
    write_load(0x1000, "seven_1", 1);
    write_load(0x1000, "seven_2", 2);
    write_file(move, sizeof move, "a");
    assert_true(as_jit_read(jit, path, 0));
    assert_string_equal(name_at(0x1004, NULL), "seven_2");
    assert_true(as_jit_is_guess(jit));
    assert_string_equal(name_at(0x1004, &(struct as_jit_insn){ones, 2, AS_JIT_LAST}), "seven_1");
    assert_false(as_jit_is_guess(jit));
    assert_string_equal(name_at(0x1004, &(struct as_jit_insn){twos, 2, 0}), "seven_2");
    assert_string_equal(name_at(0x1004, &(struct as_jit_insn){others, 2, AS_JIT_LAST}), "seven_2");
    assert_string_equal(name_at(0x5007, NULL), "seven_2");
    assert_false(as_jit_is_guess(jit)); /* the only one there */
    assert_string_equal(name_at(0x1004, &(struct as_jit_insn){.version = AS_JIT_LAST, .time = 1}), "seven_1");
    assert_string_equal(name_at(0x1004, &(struct as_jit_insn){.version = AS_JIT_LAST, .time = 2}), "seven_2");
    assert_false(as_jit_is_guess(jit));
    assert_string_equal(name_at(0x5008, NULL), "");
}

/* The dump's only piece goes on where it was moved to; where it was, it is still known for what ran there before. */
static void test_move(void **state)
{
    const uint64_t moves[][8] = {{1 | UINT64_C(64) << 32, 2, 0, 0, 0x9000, 0x7000, 8, 0}, /* of nothing that is known */
                                 {1 | UINT64_C(64) << 32, 3, 0, 0, 0x1000, 0x5000, 8, 0}};
    write_file(header, sizeof header, "w");
    write_load(0x1000, "seven_1", 1);
    write_file(moves, sizeof moves, "a");
    assert_true(as_jit_read(jit, path, 0));
    assert_string_equal(name_at(0x5000, NULL), "seven_1");
    assert_string_equal(name_at(0x5007, NULL), "seven_1");
    assert_string_equal(name_at(0x5008, NULL), "");
    assert_string_equal(name_at(0x1007, NULL), "seven_1");
    assert_string_equal(name_at(0x7000, NULL), "");
}

/* The same bytes in two pieces: the version decides. */
static void test_same_bytes(void **state)
{
    const uint8_t ones[] = {1, 1};
    write_file(header, sizeof header, "w");
    write_load(0x1000, "seven_1", 1);
    write_load(0x1000, "seven_2", 1);
    assert_true(as_jit_read(jit, path, 0));
    assert_string_equal(name_at(0x1004, &(struct as_jit_insn){ones, 2, 0, 0}), "seven_1");
    assert_string_equal(name_at(0x1004, &(struct as_jit_insn){ones, 2, 1, 0}), "seven_2");
    assert_string_equal(name_at(0x1004, &(struct as_jit_insn){ones, 2, 9, 0}), "seven_2");
}

/* Every prefix of a dump, and every byte of it changed: fewer names, nothing worse. */
static void test_damage(void **state)
{
    uint8_t bytes[sizeof header + sizeof(struct load)];
    write_file(header, sizeof header, "w");
    write_load(0x1000, "seven_1", 1);
    FILE *file = fopen(path, "r");
    assert_int_equal(fread(bytes, 1, sizeof bytes, file), sizeof bytes);
    fclose(file);
    for (size_t i = 0; i < sizeof bytes; i++)
        for (int cut = 0; cut < 2; cut++) {
            uint8_t was = bytes[i];
            bytes[i] = cut ? was : (uint8_t)~was;
            write_file(bytes, cut ? i : sizeof bytes, "w");
            bytes[i] = was;
            as_jit_free(jit);
            jit = as_jit_new();
            (void)as_jit_read(jit, path, 0);
            (void)as_jit_find(jit, 0x1004, NULL);
        }
}

static void test_refused(void **state)
{
    char link[sizeof path + 2];
    snprintf(link, sizeof link, "%s.l", path);
    assert_false(as_jit_read(jit, "/nowhere/perf-1.map", 0));
    write_text("1000 10 first\n");
    assert_int_equal(symlink(path, link), 0);
    bool followed = as_jit_read(jit, link, 0);
    unlink(link);
    assert_false(followed);
    assert_false(as_jit_read(jit, path, INT64_MAX)); /* older than the process */
    if (geteuid() == 0) {
        assert_int_equal(chown(path, 12345, 12345), 0);
        assert_false(as_jit_read(jit, path, 0));
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, clean_up)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_map),  TEST(test_versions),   TEST(test_begun),  TEST(test_dump),
                                       TEST(test_move), TEST(test_same_bytes), TEST(test_damage), TEST(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
