/* Sample profiles as text, as binary and for GCC, of a profile made by hand: two functions, of which one was inlined into the other. */
#include "blocks/autofdo_internal.h"

#include "unit.h"

#include <stdlib.h>
#include <string.h>

static struct as_autofdo profile;
static struct as_autofdo_node *nodes;

static void add_line(struct as_autofdo_node *node, uint32_t offset, uint32_t discriminator, uint64_t count)
{
    *as_vec_push(&node->lines) =
        (struct as_autofdo_line){.offset = offset, .discriminator = discriminator, .count = count};
}

static int set_up(void **state)
{
    memset(&profile, 0, sizeof profile);
    profile.names = as_strings_new();
    for (int i = 0; i < 4; i++)
        *as_vec_push(&profile.nodes) = (struct as_autofdo_node){0};
    nodes = profile.nodes.data;
    nodes[0].name = as_strings_intern(profile.names, "main");
    nodes[1].name = as_strings_intern(profile.names, "leaf");
    nodes[0].total = 1160, nodes[0].head = 3;
    nodes[1].total = 60, nodes[1].head = 7;
    nodes[2].name = nodes[1].name, nodes[2].total = 100; /* inlined into main */
    add_line(&nodes[0], 1, 0, 1000);
    add_line(&nodes[0], 2, 4, 60);
    add_line(&nodes[1], 0, 0, 60);
    add_line(&nodes[2], 1, 0, 100);
    add_line(&nodes[3], 5, 0, 1); /* of nothing that ran: it has no total */
    *as_vec_push(&nodes[0].lines.data[1].targets) = (struct as_autofdo_target){.name = nodes[1].name, .count = 59};
    *as_vec_push(&nodes[0].children) = (struct as_autofdo_child){.offset = 3, .discriminator = 2, .node = 2};
    *as_vec_push(&profile.functions) = 0;
    *as_vec_push(&profile.functions) = 1;
    return 0;
}

static int tear_down(void **state)
{
    as_vec_free(&nodes[0].lines.data[1].targets);
    as_vec_free(&nodes[0].children);
    for (size_t i = 0; i < profile.nodes.len; i++)
        as_vec_free(&profile.nodes.data[i].lines);
    as_vec_free(&profile.nodes);
    as_vec_free(&profile.functions);
    as_strings_free(profile.names);
    return 0;
}

static char *written(void (*write)(const struct as_autofdo *profile, FILE *out), size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    write(&profile, out);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void as_text(void **state)
{
    size_t size;
    char *text = written(as_autofdo_write_text, &size);
    assert_string_equal(text, "main:1160:3\n 1: 1000\n 2.4: 60 leaf:59\n 3.2: leaf:100\n  1: 100\nleaf:60:7\n 0: 60\n");
    free(text);
}

static uint64_t number(const char **at)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint8_t byte = (uint8_t) * (*at)++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
}

static void expect_numbers(const char **at, const uint64_t *wanted, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t value = number(at);
        if (value != wanted[i])
            fail_msg("number %zu is %llu, not %llu", i, (unsigned long long)value, (unsigned long long)wanted[i]);
    }
}

/* 1220 in all: 1000 of them are one count, with the next they are 90 %, and the smallest is needed for 95 % and more. */
static void as_binary(void **state)
{
    static const uint64_t head[] = {UINT64_C(0x5350524f463432ff), 103, 1220, 1000, 7, 4, 2, 16},
                          cutoffs[][3] = {{10000, 1000, 1},  {100000, 1000, 1}, {200000, 1000, 1}, {300000, 1000, 1},
                                          {400000, 1000, 1}, {500000, 1000, 1}, {600000, 1000, 1}, {700000, 1000, 1},
                                          {800000, 1000, 1}, {900000, 100, 2},  {950000, 60, 3},   {990000, 60, 4},
                                          {999000, 60, 4},   {999900, 60, 4},   {999990, 60, 4},   {999999, 60, 4}};
    static const uint64_t functions[] = {3, 0,   1160, 2, 1, 0,   1000, 0, 2, 4, 60, 1, 1, 59, 1,  3, 2,
                                         1, 100, 1,    1, 0, 100, 0,    0, 7, 1, 60, 1, 0, 0,  60, 0, 0};
    size_t size;
    char *text = written(as_autofdo_write_binary, &size);
    const char *at = text;
    expect_numbers(&at, head, sizeof head / sizeof *head);
    expect_numbers(&at, cutoffs[0], sizeof cutoffs / sizeof cutoffs[0][0]);
    assert_int_equal(number(&at), 2);
    assert_memory_equal(at, "main\0leaf", 10);
    at += 10;
    expect_numbers(&at, functions, sizeof functions / sizeof *functions);
    assert_int_equal(at - text, size);
    free(text);
}

/* GCC's: words of 32 bits, counters as two. Lines that differ in the discriminator alone are one, with the largest count and all
 * targets. */
static void as_gcov(void **state)
{
    static const uint32_t functions[] = {
        0xac000000u, 0, 2,    3, 0,           0, 2,   1, /* main: entered 3 times, two lines, one call inlined */
        1 << 16,     0, 1000, 0, 2 << 16,     1, 70,  0, 7, 1, 0, 59, 0, /* one target: its kind, name and count */
        3 << 16,     1, 1,    0, 1 << 16,     0, 100, 0, 7, 0, 1, 1,  0, /* leaf */
        0,           0, 60,   1, 0xae000000u, 0, 0};
    static const char names[] = "adcg\2\0\0\0\0\0\0\0\0\0\0\xaa\0\0\0\0\2\0\0\0\5\0\0\0main\0\5\0\0\0leaf";
    add_line(&nodes[0], 2, 5, 70);
    add_line(&nodes[0], 2, 6, 69);
    nodes[1].lines.data[0].count = (uint64_t)1 << 32 | 60;
    size_t size;
    char *text = written(as_autofdo_write_gcov, &size);
    assert_int_equal(size, sizeof names + sizeof functions);
    assert_memory_equal(text, names, sizeof names);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        uint32_t word;
        memcpy(&word, text + sizeof names + i * sizeof word, sizeof word);
        if (word != functions[i])
            fail_msg("word %zu is %u, not %u", i, word, functions[i]);
    }
    free(text);
}

/* A line that calls two functions has both, in each format. */
static void several_targets(void **state)
{
    static const uint8_t binary[] = {2, 4, 60, 2, 1, 59, 0, 9};
    static const uint32_t gcov[] = {2 << 16, 2, 60, 0, 7, 1, 0, 59, 0, 7, 0, 0, 9, 0};
    *as_vec_push(&nodes[0].lines.data[1].targets) = (struct as_autofdo_target){.name = nodes[0].name, .count = 9};
    size_t size;
    char *text = written(as_autofdo_write_text, &size);
    assert_non_null(strstr(text, "\n 2.4: 60 leaf:59 main:9\n"));
    free(text);
    text = written(as_autofdo_write_binary, &size);
    assert_non_null(memmem(text, size, binary, sizeof binary));
    free(text);
    text = written(as_autofdo_write_gcov, &size);
    assert_non_null(memmem(text, size, gcov, sizeof gcov));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(as_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(as_binary, set_up, tear_down),
        cmocka_unit_test_setup_teardown(as_gcov, set_up, tear_down),
        cmocka_unit_test_setup_teardown(several_targets, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
