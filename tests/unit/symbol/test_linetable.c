/* Line tables made byte by byte: the headers of each version, every operation of the program, and headers that lie. */
#include "unit.h"

#include "symbol/linetable.h"
#include "symbol/symtab.h"

#include <dwarf.h>

enum { CODE = 0x1000, CODE_END = 0x20000 };

static struct as_symtab code;
static struct as_strings *strings;
static uint8_t bytes[4096]; /* the section; zeros behind it */
static size_t size, unit_at, header_at;
static bool wide; /* DWARF of 64 bits */

static void put(uint64_t value, size_t n)
{
    memcpy(bytes + size, &value, n);
    size += n;
}

static void put_text(const char *text)
{
    memcpy(bytes + size, text, strlen(text) + 1);
    size += strlen(text) + 1;
}

static void patch(size_t at, uint64_t value)
{
    memcpy(bytes + at, &value, wide ? 8 : 4);
}

/* Instructions of 2 bytes; special operations move the line by -3 to 8. */
static void begin(unsigned version, uint8_t max_ops)
{
    memset(bytes, 0, sizeof bytes);
    size = 0;
    if (wide)
        put(0xffffffff, 4);
    unit_at = size;
    put(0, wide ? 8 : 4);
    put(version, 2);
    if (version >= 5) {
        put(8, 1);
        put(0, 1);
    }
    header_at = size;
    put(0, wide ? 8 : 4);
    put(2, 1);
    if (version >= 4)
        put(max_ops, 1);
    put(1, 1);
    put((uint8_t)-3, 1);
    put(12, 1);
    put(14, 1); /* of the 13 standard operations, one that nobody knows has two operands */
    static const uint8_t lengths[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 2};
    for (size_t i = 0; i < sizeof lengths; i++)
        put(lengths[i], 1);
}

static void end_header(void)
{
    patch(header_at, size - header_at - (wide ? 8 : 4));
}

static void end_unit(void)
{
    patch(unit_at, size - unit_at - (wide ? 8 : 4));
}

static void names_4(void)
{
    put_text("/abs");
    put_text("rel");
    put(0, 1);
    put_text("own.c");
    put(0, 3); /* directory, time, length */
    put_text("far.h");
    put(1, 1);
    put(0x0201, 2);
    put_text("near.h");
    put(2, 1);
    put(0, 2);
    put_text("lost.h");
    put(7, 1);
    put(0, 2);
    put_text("/root.h");
    put(2, 1);
    put(0, 2);
    put(0, 1);
    end_header();
}

static void set_address(uint64_t address)
{
    put(0, 1);
    put(9, 1);
    put(DW_LNE_set_address, 1);
    put(address, 8);
}

static void end_sequence(void)
{
    put(0, 1);
    put(1, 1);
    put(DW_LNE_end_sequence, 1);
}

static struct as_debug_image image(void)
{
    struct as_debug_image made = {0};
    made.sections[AS_DEBUG_LINE].data = bytes;
    made.sections[AS_DEBUG_LINE].size = size;
    made.sections[AS_DEBUG_STR].data = (const uint8_t *)"one\0two";
    made.sections[AS_DEBUG_STR].size = 8;
    made.sections[AS_DEBUG_LINE_STR].data = (const uint8_t *)"/top\0sub\0a.c";
    made.sections[AS_DEBUG_LINE_STR].size = 13;
    return made;
}

static bool read_table(struct as_line_table *table)
{
    struct as_debug_image made = image();
    return as_line_table_read(table, &made, 0, "/compiled/", &code);
}

static void check_run(const struct as_line_table *table, size_t at, const struct as_line_run *want)
{
    assert_true(at < table->runs.len);
    const struct as_line_run *run = &table->runs.data[at];
    assert_int_equal(run->start, want->start);
    assert_int_equal(run->length, want->length);
    assert_int_equal(run->file, want->file);
    assert_int_equal(run->line, want->line);
    assert_int_equal(run->column, want->column);
    assert_int_equal(run->discriminator, want->discriminator);
}

/* All operations, in a table of version 4. */
static void operations(void **state)
{
    struct as_line_table table;
    begin(4, 1);
    names_4();
    set_address(0x2000);
    put(DW_LNS_set_file, 1), put(2, 1);
    put(DW_LNS_set_column, 1), put(5, 1);
    put(DW_LNS_advance_line, 1), put(41, 1);
    put(0, 1), put(2, 1), put(DW_LNE_set_discriminator, 1), put(9, 1);
    put(DW_LNS_copy, 1); /* 0x2000: line 42 */
    put(DW_LNS_advance_pc, 1), put(4, 1);
    put(DW_LNS_advance_line, 1), put(0x7e, 1); /* -2 */
    put(DW_LNS_copy, 1);                       /* 0x2008: line 40; the discriminator is gone */
    put(14 + 12 * 3 + 5, 1);                   /* 0x200e: 2 lines, 3 operations further */
    put(DW_LNS_const_add_pc, 1);               /* (255 - 14) / 12 operations */
    put(DW_LNS_copy, 1);                       /* 0x2036 */
    put(DW_LNS_fixed_advance_pc, 1), put(7, 2);
    put(DW_LNS_negate_stmt, 1);
    put(DW_LNS_set_isa, 1), put(1, 1);
    put(13, 1), put(0x81, 1), put(1, 1), put(3, 1); /* the unknown one, with operands of two and one byte */
    put(DW_LNS_set_column, 1), put(0x80, 1), put(0x80, 1), put(4, 1); /* 65536 is too large to keep */
    put(DW_LNS_copy, 1);                                              /* 0x203d */
    put(0, 1), put(3, 1), put(0x80, 1), put(1, 2);                    /* a vendor's */
    put(DW_LNS_advance_pc, 1), put(1, 1);
    end_sequence();
    end_unit();
    assert_true(read_table(&table));
    assert_int_equal(table.version, 4);
    assert_int_equal(table.runs.len, 5);
    check_run(&table, 0, &(struct as_line_run){0x2000, 8, 2, 42, 5, 9});
    check_run(&table, 1, &(struct as_line_run){0x2008, 6, 2, 40, 5, 0});
    check_run(&table, 2, &(struct as_line_run){0x200e, 40, 2, 42, 5, 0});
    check_run(&table, 3, &(struct as_line_run){0x2036, 7, 2, 42, 5, 0});
    check_run(&table, 4, &(struct as_line_run){0x203d, 2, 2, 42, 0, 0});
    assert_null(as_line_table_find(&table, 0x1fff));
    assert_int_equal(as_line_table_find(&table, 0x2000)->line, 42);
    assert_int_equal(as_line_table_find(&table, 0x200d)->line, 40);
    assert_int_equal(as_line_table_find(&table, 0x203e)->start, 0x203d);
    assert_null(as_line_table_find(&table, 0x203f));
    as_line_table_free(&table);
}

/* Where an instruction has several operations, addresses move by whole instructions. */
static void bundles(void **state)
{
    struct as_line_table table;
    begin(4, 3);
    names_4();
    set_address(0x3000);
    put(DW_LNS_copy, 1);
    put(DW_LNS_advance_pc, 1), put(2, 1); /* still in the first bundle */
    put(DW_LNS_copy, 1);
    put(DW_LNS_advance_pc, 1), put(2, 1); /* the second one, its operation 1 */
    put(DW_LNS_copy, 1);
    set_address(0x3010); /* from its operation 0 on */
    put(DW_LNS_advance_pc, 1), put(2, 1);
    put(DW_LNS_copy, 1);
    put(DW_LNS_fixed_advance_pc, 1), put(4, 2);
    put(DW_LNS_advance_pc, 1), put(2, 1);
    end_sequence();
    end_unit();
    assert_true(read_table(&table));
    assert_int_equal(table.runs.len, 3);
    check_run(&table, 0, &(struct as_line_run){0x3000, 2, 1, 1, 0, 0});
    check_run(&table, 1, &(struct as_line_run){0x3002, 14, 1, 1, 0, 0});
    check_run(&table, 2, &(struct as_line_run){0x3010, 4, 1, 1, 0, 0});
    as_line_table_free(&table);
}

/* Sequences come in any order; those of code that the linker dropped, and rows that go back, are left out. */
static void sequences(void **state)
{
    static const uint64_t starts[] = {0x5000, 0, 0x4000, CODE_END, CODE};
    struct as_line_table table;
    begin(3, 1);
    names_4();
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        set_address(starts[i]);
        put(DW_LNS_advance_line, 1), put(i, 1);
        put(DW_LNS_copy, 1);
        put(DW_LNS_advance_pc, 1), put(1, 1);
        end_sequence();
    }
    set_address(0x6000);
    put(DW_LNS_copy, 1);
    set_address(0x5f00); /* back */
    put(DW_LNS_copy, 1);
    end_sequence();
    end_unit();
    assert_true(read_table(&table));
    assert_int_equal(table.runs.len, 3);
    check_run(&table, 0, &(struct as_line_run){CODE, 2, 1, 5, 0, 0});
    check_run(&table, 1, &(struct as_line_run){0x4000, 2, 1, 3, 0, 0});
    check_run(&table, 2, &(struct as_line_run){0x5000, 2, 1, 1, 0, 0});
    as_line_table_free(&table);
}

static void check_file(struct as_line_table *table, uint64_t file, const char *want)
{
    const char *path = as_line_table_file(table, file, strings);
    if (!want)
        assert_null(path);
    else
        assert_string_equal(path, want);
}

/* Before version 5 files count from 1, and directory 0 is the compilation's. */
static void names_before_5(void **state)
{
    for (unsigned version = 2; version <= 4; version++) {
        struct as_line_table table;
        begin(version, 1);
        names_4();
        put(0, 1), put(10, 1), put(DW_LNE_define_file, 1);
        put_text("late.c");
        put(0, 2);
        end_unit();
        assert_true(read_table(&table));
        check_file(&table, 0, NULL);
        check_file(&table, 1, "/compiled/own.c");
        check_file(&table, 2, "/abs/far.h");
        check_file(&table, 3, "/compiled/rel/near.h");
        check_file(&table, 4, "/compiled/lost.h");
        check_file(&table, 5, "/root.h");
        check_file(&table, 6, "/compiled/late.c");
        check_file(&table, 7, NULL);
        check_file(&table, 2, "/abs/far.h"); /* once more, from memory */
        as_line_table_free(&table);
    }
}

/* Version 5 says how each name is written, and directory 0 is the compilation's. */
static void names_of_5(void **state)
{
    for (int w = 0; w <= 1; w++) {
        struct as_line_table table;
        size_t offset = w ? 8 : 4;
        wide = w;
        begin(5, 1);
        put(1, 1), put(DW_LNCT_path, 1), put(DW_FORM_line_strp, 1);
        put(2, 1), put(0, offset), put(5, offset); /* /top, sub */
        put(4, 1);
        put(DW_LNCT_path, 1), put(DW_FORM_string, 1);
        put(DW_LNCT_directory_index, 1), put(DW_FORM_udata, 1);
        put(DW_LNCT_MD5, 1), put(DW_FORM_data16, 1);
        put(DW_LNCT_size, 1), put(DW_FORM_data4, 1);
        put(2, 1);
        put_text("main.c"), put(0, 1), put(1, 8), put(2, 8), put(77, 4);
        put_text("in\001side.h"), put(1, 1), put(1, 8), put(2, 8), put(77, 4);
        end_header();
        end_unit();
        assert_true(read_table(&table));
        assert_true(table.dirs.len == 2 && table.files.len == 2);
        check_file(&table, 0, "/top/main.c");
        check_file(&table, 1, "/top/sub/in?side.h"); /* no control characters */
        as_line_table_free(&table);
    }
    wide = false;
}

/* Each form in which a number or a text may come. */
static void forms(void **state)
{
    static const struct {
        uint8_t form, bytes;
    } numbers[] = {{DW_FORM_udata, 1}, {DW_FORM_data1, 1}, {DW_FORM_data2, 2}, {DW_FORM_data4, 4}, {DW_FORM_data8, 8}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct as_line_table table;
        begin(5, 1);
        put(1, 1), put(DW_LNCT_path, 1), put(DW_FORM_line_strp, 1);
        put(2, 1), put(0, 4), put(5, 4);
        put(2, 1);
        put(DW_LNCT_directory_index, 1), put(numbers[i].form, 1);
        put(DW_LNCT_path, 1), put(DW_FORM_strp, 1);
        put(3, 1);
        put(1, numbers[i].bytes), put(4, 4);  /* two */
        put(0, numbers[i].bytes), put(0, 4);  /* one */
        put(0, numbers[i].bytes), put(99, 4); /* beyond the texts */
        end_header();
        end_unit();
        assert_true(read_table(&table));
        check_file(&table, 0, "/top/sub/two");
        check_file(&table, 1, "/top/one");
        check_file(&table, 2, NULL);
        as_line_table_free(&table);
    }
}

/* Names that reach beyond the header are not read from the program behind it. */
static void names_without_end(void **state)
{
    struct as_line_table table;
    begin(4, 1);
    put_text("dir");
    put(0, 1);
    put_text("file.c");
    put(0, 3);
    end_header(); /* the list of files has no end here */
    put_text("no name");
    put(0, 3);
    end_unit();
    (void)read_table(&table);
    assert_int_equal(table.files.len, 2);
    as_line_table_free(&table);
}

/* What must not be believed: lengths that reach too far, versions, sizes of zero. */
static void damage(void **state)
{
    static const struct {
        size_t at; /* of a byte of a unit of version 4 */
        uint8_t value;
    } wrong[] = {{3, 1}, {4, 1}, {4, 6}, {9, 1}, {11, 0}, {14, 0}, {15, 0}, {15, 255}};
    struct as_line_table table;
    struct as_debug_image none = {0}, made;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        begin(4, 1);
        names_4();
        set_address(0x2000);
        put(DW_LNS_copy, 1), put(DW_LNS_advance_pc, 1), put(1, 1);
        end_sequence();
        end_unit();
        assert_true(read_table(&table) && table.runs.len == 1);
        as_line_table_free(&table);
        bytes[wrong[i].at] = wrong[i].value;
        assert_false(read_table(&table));
        as_line_table_free(&table);
    }
    assert_false(as_line_table_read(&table, &none, 0, NULL, &code));
    begin(4, 1);
    names_4();
    end_unit();
    made = image();
    assert_int_equal(as_line_table_size(&made, 0), size - 4);
    assert_int_equal(as_line_table_size(&made, size), 0);
    assert_int_equal(as_line_table_size(&none, 0), 0);
    put(0, 1), put(0, 1); /* an extended operation without a length */
    end_unit();
    assert_false(read_table(&table));
    as_line_table_free(&table);
    size -= 2;
    put(0, 1), put(2, 1), put(DW_LNE_end_sequence, 1); /* one that reaches beyond the unit */
    end_unit();
    assert_false(read_table(&table));
    as_line_table_free(&table);
}

/* The same for the forms of version 5. */
static void damage_of_5(void **state)
{
    static const uint8_t formats[][4] = {{9, 1, DW_FORM_string, 0},
                                         {1, DW_LNCT_path, DW_FORM_block, 1},
                                         {0, 1, 0, 0},
                                         {1, DW_LNCT_path, DW_FORM_string, 200}};
    struct as_line_table table;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        begin(5, 1);
        for (size_t k = 0; k < 4; k++)
            put(formats[i][k], 1);
        put(0, 8);
        end_header();
        end_unit();
        (void)read_table(&table);
        assert_true(table.dirs.len <= 1 && table.files.len == 0);
        as_line_table_free(&table);
    }
}

static int set_up(void **state)
{
    struct as_address_range range = {.start = CODE, .end = CODE_END};
    as_interval_build(&code.code_index, &range, 1);
    strings = as_strings_new();
    return 0;
}

static int tear_down(void **state)
{
    as_symtab_free(&code);
    as_strings_free(strings);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations),        cmocka_unit_test(bundles),    cmocka_unit_test(sequences),
        cmocka_unit_test(names_before_5),    cmocka_unit_test(names_of_5), cmocka_unit_test(forms),
        cmocka_unit_test(names_without_end), cmocka_unit_test(damage),     cmocka_unit_test(damage_of_5),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
