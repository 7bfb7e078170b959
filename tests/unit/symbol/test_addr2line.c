/* Every address of a program's text, looked up by us and by addr2line of binutils, an implementation that shares
 * nothing with ours but the demangler. All differences must be of a kind that is known and explained here; they are
 * counted.
 *
 * Arguments: program, addr2line, nm, DWARF version, step between addresses.
 */
#include "sample_tools.h"
#include "unit.h"

#include "base/vec.h"

#include <stdio.h>

enum { MAX_FRAMES = 32 };

static const char *program, *addr2line, *nm;
static int dwarf_version, step;

enum verdict {
    SAME,
    ALIAS,       /* another name of the same address */
    SUFFIX,      /* we say "f.cold" or "f.constprop.0", they "f" */
    STUB,        /* we name PLT stubs */
    PADDING,     /* between functions: they name the function before */
    FILE_SYMBOL, /* no DWARF: they give the file symbol of .symtab, without a line */
    LABEL,       /* in assembly: they name the nearest local label, we the function (or global label) around it */
    UNLINKED,    /* where DWARF has no linkage name, they give the symbol's name to the innermost inlined function, and
                    the real one its unqualified name */
    FILE_INDEX,  /* they number the files of DWARF 5 wrongly where the first is not the unit's own (binutils 2.40) */
    UNEXPLAINED,
    VERDICTS
};
static const char *const verdict_names[VERDICTS] = {"same",        "alias", "suffix",   "stub",       "padding",
                                                    "file symbol", "label", "unlinked", "file index", "UNEXPLAINED"};

struct frame {
    const char *function, *file; /* "??" where unknown */
    int line;
};

struct answer {
    uint64_t address;
    size_t count;
    struct frame frames[MAX_FRAMES];
    char *texts[2 * MAX_FRAMES]; /* to free */
    size_t n_texts;
};

struct comparison {
    struct as_space *space;
    struct sample_symbols symbols;
    struct answer theirs;
    size_t counts[VERDICTS], inlined;
};

static size_t ask_us(struct as_space *space, uint64_t address, struct frame *frames)
{
    struct as_inline_frame inlined[MAX_FRAMES];
    struct as_line line;
    size_t count = as_space_inline(space, address, inlined, MAX_FRAMES);
    if (!as_space_line(space, address, &line))
        line = (struct as_line){0};
    for (size_t i = 0; i < count; i++) {
        frames[i] = (struct frame){.function = inlined[i].function, .file = line.file, .line = line.line};
        line = inlined[i].call;
    }
    if (count == 0)
        frames[count++] = (struct frame){.function = "??", .file = line.file, .line = line.line};
    for (size_t i = 0; i < count; i++)
        frames[i].file = frames[i].file != NULL ? frames[i].file : "??";
    return count;
}

static bool is_stub(const char *name)
{
    const char *at = strrchr(name, '@');
    return strcmp(name, ".plt") == 0 || (at != NULL && strcmp(at, "@plt") == 0);
}

static bool has_suffix(const char *ours, const char *theirs)
{
    size_t length = strlen(theirs);
    return strncmp(ours, theirs, length) == 0 && (ours[length] == '.' || strncmp(ours + length, " [clone", 7) == 0);
}

static bool covered(const struct sample_symbols *symbols, uint64_t address)
{
    for (size_t i = 0; i < symbols->len; i++)
        if (address - symbols->data[i].address < symbols->data[i].size)
            return true;
    return false;
}

static bool is_label(const struct sample_symbols *symbols, const char *name)
{
    for (size_t i = 0; i < symbols->len; i++)
        if (symbols->data[i].type == 't' && symbols->data[i].size == 0 && strcmp(symbols->data[i].name, name) == 0)
            return true;
    return false;
}

static enum verdict compare_function(const struct comparison *c, const char *ours, const char *theirs)
{
    if (strcmp(ours, theirs) == 0)
        return SAME;
    if (is_stub(ours))
        return STUB;
    if (strcmp(ours, "??") == 0 && !covered(&c->symbols, c->theirs.address))
        return PADDING;
    if (has_suffix(ours, theirs))
        return SUFFIX;
    if (sample_is_alias(&c->symbols, ours, theirs))
        return ALIAS;
    return is_label(&c->symbols, theirs) ? LABEL : UNEXPLAINED;
}

static enum verdict compare_place(const struct frame *ours, const struct frame *theirs)
{
    if (ours->line == theirs->line && strcmp(ours->file, theirs->file) == 0)
        return SAME;
    if (strcmp(ours->file, "??") == 0 && theirs->line == 0 && strchr(theirs->file, '/') == NULL)
        return FILE_SYMBOL;
    return ours->line == theirs->line && dwarf_version == 5 ? FILE_INDEX : UNEXPLAINED;
}

static enum verdict worse(enum verdict a, enum verdict b)
{
    return a > b ? a : b;
}

static enum verdict compare(const struct comparison *c, const struct frame *ours, size_t count)
{
    const struct answer *theirs = &c->theirs;
    enum verdict verdict = SAME;
    if (count != theirs->count)
        return UNEXPLAINED;
    const struct frame *outer = &ours[count - 1];
    bool shifted = compare_function(c, outer->function, theirs->frames[0].function) < STUB;
    for (size_t i = 0; i < count; i++) {
        enum verdict name = compare_function(c, ours[i].function, theirs->frames[i].function);
        if (name == UNEXPLAINED && count > 1 &&
            (i == 0 ? shifted : i == count - 1 && strstr(ours[i].function, theirs->frames[i].function) != NULL))
            name = UNLINKED;
        verdict = worse(verdict, worse(name, compare_place(&ours[i], &theirs->frames[i])));
    }
    return verdict;
}

static void finish_answer(struct comparison *c)
{
    struct frame ours[MAX_FRAMES];
    if (c->theirs.count == 0)
        return;
    size_t count = ask_us(c->space, c->theirs.address, ours);
    enum verdict verdict = compare(c, ours, count);
    if (verdict == UNEXPLAINED && c->counts[UNEXPLAINED] < 5) {
        print_message("0x%llx:\n", (unsigned long long)c->theirs.address);
        for (size_t i = 0; i < count; i++)
            print_message("  ours   %s %s:%d\n", ours[i].function, ours[i].file, ours[i].line);
        for (size_t i = 0; i < c->theirs.count; i++)
            print_message("  theirs %s %s:%d\n", c->theirs.frames[i].function, c->theirs.frames[i].file,
                          c->theirs.frames[i].line);
    }
    c->counts[verdict]++;
    c->inlined += count > 1;
    for (size_t i = 0; i < c->theirs.n_texts; i++)
        free(c->theirs.texts[i]);
    c->theirs = (struct answer){0};
}

/* addr2line -a prints the address, then pairs of lines: function, place. */
static void take_line(void *context, char *text)
{
    struct comparison *c = context;
    struct answer *theirs = &c->theirs;
    if (strncmp(text, "0x", 2) == 0 && strlen(text) == 18) {
        finish_answer(c);
        theirs->address = strtoull(text, NULL, 16);
        return;
    }
    if (theirs->n_texts == 2 * MAX_FRAMES)
        return;
    char *kept = theirs->texts[theirs->n_texts++] = as_strdup(text);
    if (theirs->n_texts % 2 == 1) {
        theirs->frames[theirs->count].function = kept;
        return;
    }
    char *discriminator = strstr(kept, " (discriminator"), *colon;
    if (discriminator != NULL)
        *discriminator = '\0';
    colon = strrchr(kept, ':');
    assert_non_null(colon);
    *colon = '\0';
    theirs->frames[theirs->count].file = kept;
    theirs->frames[theirs->count++].line = atoi(colon + 1); /* "?" is 0 */
}

static void write_addresses(const char *path, struct sample_section text)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    for (uint64_t at = 0; at < text.size; at += (uint64_t)step)
        fprintf(file, "%llx\n", (unsigned long long)(text.address + at));
    assert_int_equal(fclose(file), 0);
}

static void test_whole_text(void **state)
{
    char list[] = "/tmp/assay-addresses-XXXXXX";
    struct comparison c = {.space = as_space_new(NULL)};
    int fd = mkstemp(list);
    assert_true(fd >= 0);
    close(fd);
    sample_map(c.space, program, 0);
    sample_nm(&c.symbols, nm, "-C -S", program);
    assert_true(c.symbols.len > 0);
    struct sample_section text = sample_section(program, ".text");
    assert_true(text.size > 0);
    write_addresses(list, text);
    char *command = as_format("%s -a -f -i -C -e '%s' < %s", addr2line, program, list);
    assert_int_equal(sample_run(command, take_line, &c), 0);
    finish_answer(&c);
    free(command);
    unlink(list);

    size_t total = 0;
    for (int i = 0; i < VERDICTS; i++) {
        print_message("%s%zu %s", i > 0 ? ", " : "", c.counts[i], verdict_names[i]);
        total += c.counts[i];
    }
    print_message("; %zu with inlined frames\n", c.inlined);
    assert_int_equal(total, (text.size + (uint64_t)step - 1) / (uint64_t)step);
    assert_int_equal(c.counts[UNEXPLAINED], 0);
    assert_true(c.counts[SAME] > total / 3);
    assert_true(c.inlined > 0);
    sample_symbols_free(&c.symbols);
    as_space_free(c.space);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_whole_text)};
    if (argc != 6)
        return 2;
    program = argv[1];
    addr2line = argv[2];
    nm = argv[3];
    dwarf_version = atoi(argv[4]);
    step = atoi(argv[5]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
