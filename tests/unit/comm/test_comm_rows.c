/* What a person sees of contacts: sums by object, line and pair of code, in order; names; advice. The program is this one. */
#include "unit.h"

#include "apart.h"
#include "comm/comm_advice.h"
#include "comm/comm_rows.h"
#include "own_space.h"

#include <stdio.h>

enum { LINE = 64, HEAP = 0x10000, STACK = 0x20000, NOWHERE = 0x40 };

struct counter {
    uint64_t hits, misses, seen;
};
/* None of them in .bss. */
static _Alignas(LINE) struct counter counters[8] = {{1, 1, 1}};
static _Alignas(LINE) struct {
    uint64_t x, y;
} point = {1, 1};
static _Alignas(LINE) struct {
    uint64_t __lock, __owner;
} mutex = {1, 1};
static _Alignas(LINE) struct {
    uint64_t __lock, __owner, hot;
} guarded = {1, 1, 1};

/* Code without lines; two variables without types, side by side. */
__asm__(".pushsection .text.bare, \"ax\"\n.type bare_code, @function\nbare_code: nop\nnop\nnop\n.size bare_code, 3\n"
        ".globl bare_code\n.hidden bare_code\n.popsection\n"
        ".pushsection .data.bare, \"aw\"\n.balign 64\n.globl left_word\n.hidden left_word\n.globl right_word\n"
        ".hidden right_word\n.type left_word, @object\n.size left_word, 8\nleft_word: .quad 1\n"
        ".type right_word, @object\n.size right_word, 8\nright_word: .quad 1\n.popsection\n");
extern char bare_code[], left_word[], right_word[];

UNIT_APART static uint64_t writes_it(void)
{
    return counters[0].hits += mutex.__lock + guarded.hot;
}
UNIT_APART static uint64_t reads_it(void)
{
    return counters[1].misses + point.x + mutex.__owner;
}
UNIT_APART static uint64_t start_thread(void)
{
    return point.y + 1;
}

/* What comes when the thread's own function has ended. */
UNIT_APART static uint64_t advise_stack_range(void)
{
    return point.y + 1;
}

/* ---- a result ---- */

struct program {
    struct as_space *space;
    struct as_contacts contacts;
    uint64_t frames[8];
    size_t n_frames;
    struct as_comm_thread threads[3];
    struct as_guest_region heap;
    struct as_comm_result result;
};

static struct as_space *space_of(void *context, uint32_t process, uint64_t insn)
{
    return process == 99 ? NULL : ((struct program *)context)->space;
}

static uint64_t address_of(void *context, uint64_t insn)
{
    return insn;
}

static size_t frames_of(void *context, uint32_t path, uint64_t *functions, size_t n, struct as_space **space)
{
    const struct program *program = context;
    *space = program->space;
    for (size_t i = 0; i < program->n_frames && i < n; i++)
        functions[i] = program->frames[i];
    return program->n_frames;
}

static void open_program(struct program *program)
{
    *program = (struct program){.space = own_space(), .heap = {1, HEAP, HEAP + 0x1000, .is_heap = true}};
    for (uint32_t i = 0; i < 3; i++)
        program->threads[i] = (struct as_comm_thread){.number = i + 1, .process = 1};
    program->threads[1].stack_start = STACK;
    program->threads[1].stack_end = STACK + 0x1000;
    strcpy(program->threads[2].comm, "pool");
    program->result = (struct as_comm_result){
        .threads = program->threads,
        .n_threads = 3,
        .contacts = &program->contacts,
        .regions = &program->heap,
        .n_regions = 1,
        .names = {.space = space_of, .address = address_of, .frames = frames_of, .context = program}};
}

static void close_program(struct program *program)
{
    as_contacts_free(&program->contacts);
    as_space_free(program->space);
}

/* From byte to byte of a line, false unless they are the same. */
static struct as_contact contact_of(uint64_t line, uint8_t from, uint8_t to, uint64_t count)
{
    return (struct as_contact){.line = line,
                               .process = 1,
                               .from = {.insn = (uintptr_t)writes_it, .process = 1, .offset = from, .size = 8},
                               .to = {.insn = (uintptr_t)reads_it, .process = 1, .offset = to, .size = 8},
                               .is_false = from != to,
                               .count = count};
}

static void add(struct program *program, uint64_t line, uint8_t from, uint8_t to, uint64_t count)
{
    struct as_contact contact = contact_of(line, from, to, count);
    as_contacts_add(&program->contacts, &contact, 0, 1);
}

static void add_program(struct program *program)
{
    struct as_contact contact = contact_of((uintptr_t)counters, 0, 24, 1000);
    contact.remote = 5;
    as_contacts_add(&program->contacts, &contact, 0, 1);
    contact = contact_of((uintptr_t)counters, 24, 48, 500);
    as_contacts_add(&program->contacts, &contact, 1, 2);
    contact = contact_of((uintptr_t)&point, 0, 0, 50);
    contact.from.insn = (uintptr_t)reads_it;
    contact.to.insn = (uintptr_t)writes_it;
    as_contacts_add(&program->contacts, &contact, 0, 1);
    contact = contact_of((uintptr_t)&point, 8, 0, 300);
    contact.from.path = 1;
    as_contacts_add(&program->contacts, &contact, 0, 1);
    contact = contact_of(HEAP, 8, 8, 2000);
    contact.to.path = 2;
    contact.remote = 7;
    as_contacts_add(&program->contacts, &contact, 0, 1);
    contact.remote = 0;
    contact.line = STACK + LINE;
    contact.count = 20;
    contact.to.path = 3;
    as_contacts_add(&program->contacts, &contact, 0, 1);
    contact.line = NOWHERE;
    contact.count = 1;
    contact.to.path = 4;
    as_contacts_add(&program->contacts, &contact, 0, 1);
    add(program, (uintptr_t)counters + LINE, 8, 32, 9);
}

static void make_rows(struct program *program, struct as_comm_rows *rows)
{
    open_program(program);
    add_program(program);
    as_comm_rows_make(rows, &program->result);
}

/* ---- sums ---- */

static void by_object(void **state)
{
    static const struct {
        const char *name;
        enum as_guest_kind kind;
        uint64_t true_, false_, remote, lines;
    } expected[] = {{"heap", AS_GUEST_HEAP, 2000, 0, 7, 1},
                    {"counters", AS_GUEST_GLOBAL, 0, 1509, 5, 2},
                    {"point", AS_GUEST_GLOBAL, 50, 300, 0, 1},
                    {"stack of thread 2", AS_GUEST_STACK, 20, 0, 0, 1},
                    {"unknown", AS_GUEST_UNKNOWN, 1, 0, 0, 1}};
    struct program program;
    struct as_comm_rows rows = {0};
    make_rows(&program, &rows);
    assert_int_equal(rows.objects.len, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < rows.objects.len; i++) {
        const struct as_comm_object *object = &rows.objects.data[i];
        assert_string_equal(object->what.name, expected[i].name);
        assert_int_equal(object->what.kind, expected[i].kind);
        assert_true(object->true_ == expected[i].true_ && object->false_ == expected[i].false_);
        assert_true(object->remote == expected[i].remote && object->lines == expected[i].lines);
    }
    as_comm_rows_free(&rows);
    close_program(&program);
}

static void by_line(void **state)
{
    const struct {
        uint64_t address, true_, false_, from, to;
        uint32_t object, contact;
    } expected[] = {{HEAP, 2000, 0, 1, 2, 0, 4},
                    {(uintptr_t)counters, 0, 1500, 3, 6, 1, 0},
                    {(uintptr_t)&point, 50, 300, 1, 2, 2, 3},
                    {STACK + LINE, 20, 0, 1, 2, 3, 5},
                    {(uintptr_t)counters + LINE, 0, 9, 1, 2, 1, 7},
                    {NOWHERE, 1, 0, 1, 2, 4, 6}};
    struct program program;
    struct as_comm_rows rows = {0};
    make_rows(&program, &rows);
    assert_int_equal(rows.lines.len, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < rows.lines.len; i++) {
        const struct as_comm_line *line = &rows.lines.data[i];
        assert_int_equal(line->address, expected[i].address);
        assert_true(line->true_ == expected[i].true_ && line->false_ == expected[i].false_);
        assert_true(line->from_threads == expected[i].from && line->to_threads == expected[i].to);
        assert_true(line->object == expected[i].object && line->contact == expected[i].contact && line->process == 1);
    }
    as_comm_rows_free(&rows);
    close_program(&program);
}

static void by_pair(void **state)
{
    static const struct {
        uint64_t true_, false_, remote;
        uint32_t from_path, to_path, object;
        uint64_t most;
    } expected[] = {{2000, 0, 7, 0, 2, 0, 2000}, {0, 1509, 5, 0, 0, 1, 1000}, {0, 300, 0, 1, 0, 2, 300},
                    {50, 0, 0, 0, 0, 2, 50},     {20, 0, 0, 0, 3, 3, 20},     {1, 0, 0, 0, 4, 4, 1}};
    struct program program;
    struct as_comm_rows rows = {0};
    make_rows(&program, &rows);
    assert_int_equal(rows.pairs.len, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < rows.pairs.len; i++) {
        const struct as_comm_pair *pair = &rows.pairs.data[i];
        assert_true(pair->true_ == expected[i].true_ && pair->false_ == expected[i].false_);
        assert_int_equal(pair->remote, expected[i].remote);
        assert_true(pair->from.path == expected[i].from_path && pair->to.path == expected[i].to_path);
        assert_true(pair->object == expected[i].object && pair->object_count == expected[i].most);
        assert_int_equal(pair->from.insn, i == 3 ? (uintptr_t)reads_it : (uintptr_t)writes_it);
        assert_int_equal(pair->to.insn, i == 3 ? (uintptr_t)writes_it : (uintptr_t)reads_it);
    }
    as_comm_rows_free(&rows);
    close_program(&program);
}

/* Code that is the same in two processes, or that other paths led to, is not one pair. */
static void pairs_of_different_sides(void **state)
{
    struct program program;
    struct as_comm_rows rows = {0};
    open_program(&program);
    struct as_contact plain = contact_of(HEAP, 0, 0, 100), other[4] = {plain, plain, plain, plain};
    other[0].from.process = 2;
    other[1].to.process = 2;
    other[2].from.path = 1;
    other[3].to.path = 1;
    as_contacts_add(&program.contacts, &plain, 0, 1);
    for (size_t i = 0; i < 4; i++) {
        other[i].count = 10 + i;
        as_contacts_add(&program.contacts, &other[i], 0, 1);
    }
    as_comm_rows_make(&rows, &program.result);
    assert_int_equal(rows.pairs.len, 5);
    assert_int_equal(rows.pairs.data[0].true_, 100);
    for (size_t i = 0; i < 4; i++) {
        const struct as_comm_pair *pair = &rows.pairs.data[4 - i];
        assert_int_equal(pair->true_, 10 + i);
        assert_true(pair->from.process == other[i].from.process && pair->to.process == other[i].to.process);
        assert_true(pair->from.path == other[i].from.path && pair->to.path == other[i].to.path);
    }
    as_comm_rows_free(&rows);
    close_program(&program);
}

static void add_remote(struct program *program, uint64_t line, uint64_t (*code)(void), uint8_t size, uint64_t count,
                       uint64_t remote)
{
    struct as_contact contact = contact_of(line, 0, 0, count);
    contact.to.insn = (uintptr_t)code;
    contact.to.size = size;
    contact.remote = remote;
    as_contacts_add(&program->contacts, &contact, 0, 1);
}

/* Code that got lines from another node, wherever they lay; one that did not is left out. */
static void by_far_code(void **state)
{
    struct program program;
    struct as_comm_rows rows = {0};
    open_program(&program);
    add_remote(&program, (uintptr_t)counters, reads_it, 8, 10, 4);
    add_remote(&program, HEAP, reads_it, 2, 5, 5);
    add_remote(&program, (uintptr_t)&point, writes_it, 4, 100, 20);
    add_remote(&program, STACK, start_thread, 8, 50, 0);
    as_comm_rows_make(&rows, &program.result);
    assert_int_equal(rows.far.len, 2);
    const struct as_comm_far *first = &rows.far.data[0], *second = &rows.far.data[1];
    assert_true(first->code.insn == (uintptr_t)writes_it && second->code.insn == (uintptr_t)reads_it);
    assert_true(first->transfers == 100 && first->remote == 20 && first->wanted == 80);
    assert_true(second->transfers == 15 && second->remote == 9 && second->wanted == 4 * 8 + 5 * 2);
    assert_string_equal(rows.objects.data[first->object].what.name, "point");
    assert_string_equal(rows.objects.data[second->object].what.name, "heap");
    assert_true(first->object_count == 20 && second->object_count == 5);
    as_comm_rows_free(&rows);
    close_program(&program);
}

/* ---- advice ---- */

struct expected {
    uint64_t count;
    const char *from, *to, *text;
};

static void check_advice(const struct as_comm_rows *rows, const struct expected *expected, size_t n)
{
    assert_int_equal(rows->advice.len, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(rows->advice.data[i].count, expected[i].count);
        assert_string_equal(rows->advice.data[i].from, expected[i].from);
        assert_string_equal(rows->advice.data[i].to, expected[i].to);
        assert_string_equal(rows->advice.data[i].text, expected[i].text);
    }
}

static void advice(void **state)
{
    static const struct expected expected[] = {
        {1900, "counters[0].hits", "counters[1].hits",
         "pad each element of counters from 24 to 64 bytes and align it to 64, which makes counters 512 bytes instead "
         "of 192"},
        {500, "point.y", "point.x",
         "put the member y on a line of its own: _Alignas(64) before it makes its structure 128 bytes instead of 16"},
        {400, "guarded", "guarded.hot",
         "put the member hot on a line of its own: _Alignas(64) before it makes its structure 128 bytes instead of 24"},
        {11, "counters[1].hits", "counters[1].seen",
         "put the member seen on a line of its own: _Alignas(64) before it makes its structure 128 bytes instead of "
         "24, which "
         "makes counters 1024 bytes instead of 192"},
    };
    struct program program;
    struct as_comm_rows rows = {0};
    open_program(&program);
    add(&program, (uintptr_t)&point, 8, 0, 300);
    add(&program, (uintptr_t)counters, 0, 24, 1000);
    add(&program, (uintptr_t)counters, 24, 48, 900); /* other elements: the same text */
    add(&program, (uintptr_t)&point, 0, 8, 200);     /* the same two, in turn */
    add(&program, (uintptr_t)&mutex, 0, 8, 800);     /* not the program's to change */
    add(&program, (uintptr_t)&guarded, 0, 16, 300);  /* beside it: the program's */
    add(&program, (uintptr_t)&guarded, 8, 16, 100);
    add(&program, HEAP, 0, 8, 600);                 /* no variable, and of no block that is known */
    add(&program, (uintptr_t)counters, 8, 8, 5000); /* true */
    add(&program, (uintptr_t)left_word, 0, 12,
        700); /* not C: without types beside variables that have them, as in a static C library */
    add(&program, (uintptr_t)counters, 24, 40, 11); /* members of one element */
    add(&program, (uintptr_t)counters, 24, 32, 10); /* too rare: a hundredth of the worst */
    as_comm_rows_make(&rows, &program.result);
    check_advice(&rows, expected, sizeof expected / sizeof *expected);
    assert_int_equal(rows.advice.data[0].line, (uintptr_t)counters);
    as_comm_rows_free(&rows);
    close_program(&program);
}

/* What the advice says is what the compiler makes of it. */
struct inner {
    uint64_t x, y;
};
static _Alignas(LINE) struct {
    uint64_t head;
    struct inner in[5];
    uint64_t rows[2][4];
} nest = {1, {{1, 1}}, {{1}}};
struct inner_apart {
    uint64_t x;
    _Alignas(LINE) uint64_t y;
};
struct inner_padded {
    _Alignas(LINE) uint64_t x;
    uint64_t y;
};
struct padded_word {
    _Alignas(LINE) uint64_t word;
};
struct nest_apart {
    uint64_t head;
    struct inner_apart in[5];
    uint64_t rows[2][4];
};
struct nest_padded {
    uint64_t head;
    struct inner_padded in[5];
    uint64_t rows[2][4];
};
struct nest_rows {
    uint64_t head;
    struct inner in[5];
    struct padded_word rows[2][4];
};

static void nested_advice(void **state)
{
    struct program program;
    struct as_comm_rows rows = {0};
    char texts[3][200];
    snprintf(texts[0], sizeof texts[0],
             "put the member y on a line of its own: _Alignas(64) before it makes its structure %zu bytes instead of "
             "%zu, which "
             "makes nest %zu bytes instead of %zu",
             sizeof(struct inner_apart), sizeof(struct inner), sizeof(struct nest_apart), sizeof nest);
    snprintf(texts[1], sizeof texts[1],
             "pad each element of nest.in from %zu to %zu bytes and align it to 64, which makes nest %zu bytes instead "
             "of %zu",
             sizeof(struct inner), sizeof(struct inner_padded), sizeof(struct nest_padded), sizeof nest);
    snprintf(texts[2], sizeof texts[2],
             "pad each element of nest.rows[0] from 8 to %zu bytes and align it to 64, which makes nest %zu bytes "
             "instead of %zu",
             sizeof(struct padded_word), sizeof(struct nest_rows), sizeof nest);
    struct expected expected[] = {{30, "nest.in[0].x", "nest.in[0].y", texts[0]},
                                  {20, "nest.in[0].y", "nest.in[1].y", texts[1]},
                                  {10, "nest.rows[0][1]", "nest.rows[0][2]", texts[2]}};
    open_program(&program);
    add(&program, (uintptr_t)&nest, 8, 16, 30);
    add(&program, (uintptr_t)&nest, 16, 32, 20);
    add(&program, (uintptr_t)&nest + LINE, 32, 40, 10);
    as_comm_rows_make(&rows, &program.result);
    check_advice(&rows, expected, 3);
    as_comm_rows_free(&rows);
    close_program(&program);
}

/* Three variables, whichever way round the compiler puts them: one of them aligned, so that the section begins with a line. */
#define SIDE __attribute__((section(".data.side"), used))
SIDE static _Alignas(LINE) uint64_t side_first = 1;
SIDE static uint64_t side_a = 1;
SIDE static uint64_t side_b = 1;
SIDE static uint64_t side_c = 1;

static void variables_on_a_line(void **state)
{
    const uint64_t *const places[] = {&side_a, &side_b, &side_c};
    static const char *const names[] = {"side_a", "side_b", "side_c"};
    struct program program;
    struct as_comm_rows rows = {0};
    struct as_pair_matrix exact = {0};
    assert_true(side_first && (uintptr_t)&side_a / LINE == (uintptr_t)&side_c / LINE);
    open_program(&program);
    for (int i = 0; i < 3; i++)
        add(&program, (uintptr_t)&side_a / LINE * LINE, (uintptr_t)places[i] % LINE,
            (uintptr_t)places[(i + 1) % 3] % LINE, (uint64_t)(30 - i));
    add(&program, (uintptr_t)stdout / LINE * LINE, 0, 8, 40); /* a variable of the C library's */
    add(&program, (uintptr_t)&point, 0, 8, 6);                /* exact, and two for each of three threads */
    program.result.exact = &exact;
    as_comm_rows_make(&rows, &program.result);
    assert_int_equal(rows.advice.len, 3);
    for (int i = 0; i < 3; i++) {
        const struct as_comm_advice *advice = &rows.advice.data[i];
        assert_true(strcmp(advice->from, names[i]) == 0 && strcmp(advice->to, names[(i + 1) % 3]) == 0);
        assert_true(strstr(advice->text, names[i]) && strstr(advice->text, names[(i + 1) % 3]) &&
                    strstr(advice->text, "_Alignas(64) before each"));
    }
    as_comm_rows_free(&rows);
    close_program(&program);
}

/* Blocks of the allocator: within one, two of one place, two of two places. */
static void blocks_on_a_line(void **state)
{
    struct as_guest_site sites[] = {{.process = 1, .frames = {(uintptr_t)writes_it + 1}},
                                    {.process = 1, .frames = {(uintptr_t)reads_it + 1}}};
    static const char *const texts[] = {"give each block of writes_it", "in blocks of reads_it", "and of "};
    struct program program;
    struct as_comm_rows rows = {0};
    open_program(&program);
    program.result.blocks = as_guest_memory_new();
    as_guest_memory_add(program.result.blocks, &sites[0], HEAP, 24);
    as_guest_memory_add(program.result.blocks, &sites[0], HEAP + 32, 24);
    as_guest_memory_add(program.result.blocks, &sites[1], HEAP + 128, 200);
    as_guest_memory_add(program.result.blocks, &sites[0], HEAP + 328, 24);
    add(&program, HEAP, 8, 40, 30);
    add(&program, HEAP + 128, 0, 8, 20);
    add(&program, HEAP + 128, 16, 8, 2); /* other bytes of it */
    add(&program, HEAP + 320, 0, 16, 10);
    as_comm_rows_make(&rows, &program.result);
    assert_int_equal(rows.advice.len, 3);
    assert_int_equal(rows.advice.data[1].count, 22);
    for (int i = 0; i < 3; i++)
        assert_non_null(strstr(rows.advice.data[i].text, texts[i]));
    assert_non_null(strstr(rows.advice.data[0].text, "aligned_alloc(64, 64) for its 24 bytes"));
    assert_true(strncmp(rows.advice.data[0].from, "byte 8 of a block of writes_it", 30) == 0);
    assert_true(strncmp(rows.advice.data[0].to, "byte 8 of another block of writes_it", 36) == 0);
    as_comm_rows_free(&rows);
    as_guest_memory_free(program.result.blocks);
    close_program(&program);
}

/* What lies behind the end of the list is not looked at; it would push all others aside. */
static void advice_ends_with_the_list(void **state)
{
    struct as_contact list[] = {contact_of((uintptr_t)&point, 8, 0, 300),
                                contact_of((uintptr_t)counters, 0, 24, 90000)};
    struct program program;
    struct as_comm_rows rows = {0};
    open_program(&program);
    program.contacts.list.data = list;
    program.contacts.list.len = 1;
    as_comm_advice_make(&rows, &program.result);
    assert_int_equal(rows.advice.len, 1);
    assert_string_equal(rows.advice.data[0].from, "point.y");
    program.contacts.list.len = 2;
    as_comm_advice_make(&rows, &program.result);
    assert_int_equal(rows.advice.len, 2);
    program.contacts = (struct as_contacts){0};
    as_comm_rows_free(&rows);
    close_program(&program);
}

/* ---- names ---- */

static void check_text(char *text, const char *expected)
{
    if (strncmp(text, expected, strlen(expected)) != 0)
        fail_msg("'%s' does not begin with '%s'", text, expected);
    free(text);
}

static void texts(void **state)
{
    struct program program;
    struct as_comm_location place;
    open_program(&program);
    const struct as_comm_result *result = &program.result;
    check_text(as_comm_code_text(result, 1, (uintptr_t)writes_it), "writes_it+0x0 at test_comm_rows.c:");
    check_text(as_comm_code_text(result, 1, (uintptr_t)bare_code + 1), "bare_code+0x1");
    check_text(as_comm_code_text(result, 1, (uintptr_t)counters), "test_comm_rows+0x");
    check_text(as_comm_code_text(result, 99, (uintptr_t)writes_it), "[unknown]");
    assert_true(as_comm_locate(result, 1, (uintptr_t)bare_code, &place));
    assert_true(place.address == (uintptr_t)bare_code && !place.line.file);
    assert_false(as_comm_locate(result, 99, (uintptr_t)bare_code, &place));
    check_text(as_comm_address_text(program.space, (uintptr_t)&counters[3].misses), "counters[3].misses");
    check_text(as_comm_address_text(program.space, (uintptr_t)right_word), "right_word");
    check_text(as_comm_address_text(program.space, (uintptr_t)right_word + 4), "right_word+0x4");
    check_text(as_comm_address_text(program.space, NOWHERE), "0x40");
    check_text(as_comm_address_text(NULL, (uintptr_t)counters), "0x");
    close_program(&program);
}

static void frames(void **state)
{
    const char *names[8];
    struct program program;
    open_program(&program);
    program.n_frames = 3;
    program.frames[0] = (uintptr_t)reads_it;
    program.frames[1] = (uintptr_t)writes_it;
    program.frames[2] = (uintptr_t)start_thread;
    assert_int_equal(as_comm_frames(&program.result, 0, names, 8), 3);
    assert_string_equal(names[0], "reads_it");
    assert_string_equal(names[2], "start_thread");
    assert_int_equal(as_comm_frames(&program.result, 0, names, 2), 3);
    assert_string_equal(names[1], "writes_it");
    close_program(&program);
}

/* The function that the thread began with; where that is not known, the outermost one that is the program's, unless paths may lack it. */
static void thread_names(void **state)
{
    struct program program;
    open_program(&program);
    const struct as_comm_result *result = &program.result;
    program.frames[0] = (uintptr_t)reads_it;
    program.frames[1] = (uintptr_t)writes_it;
    program.frames[2] = (uintptr_t)start_thread;
    assert_string_equal(as_comm_thread_name(result, &program.threads[0]), "main");
    assert_string_equal(as_comm_thread_name(result, &program.threads[2]), "pool");
    program.n_frames = 2;
    assert_string_equal(as_comm_thread_name(result, &program.threads[2]), "pool"); /* no path is known */
    program.threads[2].paths[0] = 1;
    assert_string_equal(as_comm_thread_name(result, &program.threads[2]), "writes_it");
    program.frames[1] = (uintptr_t)advise_stack_range; /* it had ended then */
    assert_string_equal(as_comm_thread_name(result, &program.threads[2]), "pool");
    program.frames[1] = (uintptr_t)writes_it;
    program.result.names.cut = true;
    assert_string_equal(as_comm_thread_name(result, &program.threads[2]), "pool");
    program.n_frames = 3;
    assert_string_equal(as_comm_thread_name(result, &program.threads[2]), "pool");
    program.threads[2].start = "reads_it";
    assert_string_equal(as_comm_thread_name(result, &program.threads[2]), "reads_it");
    program.threads[2].process = 2; /* the only one there */
    assert_string_equal(as_comm_thread_name(result, &program.threads[2]), "main");
    program.threads[2].pid = 70;
    program.threads[2].tid = 71;
    assert_string_equal(as_comm_thread_name(result, &program.threads[2]), "reads_it");
    program.threads[2].tid = 70;
    assert_string_equal(as_comm_thread_name(result, &program.threads[2]), "main");
    close_program(&program);
}

/* A run that moved no more lines than it takes to start its threads shares nothing: each process began with one that nobody started. */
static void patterns_of_runs(void **state)
{
    struct as_pair_matrix matrix = {0};
    struct program program;
    open_program(&program);
    program.result.exact = &matrix;
    as_pair_matrix_grow(&matrix, 3);
    as_pair_matrix_add(&matrix, 0, 1, false, 2 * AS_PATTERN_THREAD - 1);
    assert_int_equal(as_comm_pattern(&program.result).pattern, AS_PATTERN_START);
    program.threads[2].process = 2; /* the first of another one */
    assert_int_equal(as_comm_pattern(&program.result).pattern, AS_PATTERN_PAIR);
    program.threads[2].process = 1;
    program.result.is_time = true; /* no transfers */
    assert_int_equal(as_comm_pattern(&program.result).pattern, AS_PATTERN_PAIR);
    program.result.is_time = false;
    as_pair_matrix_add(&matrix, 0, 1, true, 1);
    assert_int_equal(as_comm_pattern(&program.result).pattern, AS_PATTERN_PAIR);
    as_pair_matrix_free(&matrix);
    close_program(&program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_object),        cmocka_unit_test(by_line),
                                       cmocka_unit_test(by_pair),          cmocka_unit_test(by_far_code),
                                       cmocka_unit_test(advice),           cmocka_unit_test(advice_ends_with_the_list),
                                       cmocka_unit_test(nested_advice),    cmocka_unit_test(variables_on_a_line),
                                       cmocka_unit_test(blocks_on_a_line), cmocka_unit_test(texts),
                                       cmocka_unit_test(frames),           cmocka_unit_test(thread_names),
                                       cmocka_unit_test(patterns_of_runs), cmocka_unit_test(pairs_of_different_sides)};
    return writes_it() && reads_it() && start_thread() && advise_stack_range()
               ? cmocka_run_group_tests(tests, NULL, NULL)
               : 1;
}
