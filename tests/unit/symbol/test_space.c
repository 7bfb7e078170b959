/* Address spaces: mappings, names, and files that are missing, wrong, damaged or replaced. Arguments: the directory
 * with the sample programs. */
#include "sample_tools.h"
#include "symbol/space.h"
#include "unit.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

static const char *samples;
static char dir[] = "/tmp/assay-space-XXXXXX";
static const uint64_t bias = 0x555555554000;

static const char *sample(const char *name)
{
    static char path[4][512];
    static int next;
    char *result = path[next++ % 4];
    snprintf(result, sizeof path[0], "%s/sample-%s", samples, name);
    return result;
}

static char *slurp(const char *path, size_t *size)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0 && fstat(fd, &st) == 0);
    char *bytes = as_alloc((size_t)st.st_size);
    assert_int_equal(read(fd, bytes, (size_t)st.st_size), st.st_size);
    close(fd);
    *size = (size_t)st.st_size;
    return bytes;
}

static const char *spill(const char *name, const char *bytes, size_t size)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), (ssize_t)size);
    close(fd);
    return path;
}

/* Mappings that do not depend on files. */
static void expect_module(struct as_space *space, uint64_t address, const char *module, uint64_t offset)
{
    struct as_location location;
    as_space_find(space, address, &location);
    assert_string_equal(location.module, module);
    assert_int_equal(location.module_offset, offset);
    assert_null(location.function);
    assert_int_equal(location.function_start, 0);
}

static void test_mappings(void **state)
{
    struct as_space *space = as_space_new(NULL);
    expect_module(space, 0x1000, "[unknown]", 0x1000);
    as_space_map(space, 0x1000, 0x5000, 0, NULL);
    as_space_map(space, 0x8000, 0x8000, 0, "[empty]");
    as_space_map(space, 0x10000, 0x14000, 0x3000, "/nonexistent/lib.so");
    expect_module(space, 0xfff, "[unknown]", 0xfff);
    expect_module(space, 0x1000, "[anon]", 0x1000);
    expect_module(space, 0x4fff, "[anon]", 0x4fff);
    expect_module(space, 0x5000, "[unknown]", 0x5000);
    expect_module(space, 0x8000, "[unknown]", 0x8000);
    expect_module(space, 0x10010, "/nonexistent/lib.so", 0x3010);
    as_space_map(space, 0x11000, 0x12000, 0x100, "[vdso]"); /* a hole in the middle */
    expect_module(space, 0x10fff, "/nonexistent/lib.so", 0x3fff);
    expect_module(space, 0x11010, "[vdso]", 0x110);
    expect_module(space, 0x12010, "/nonexistent/lib.so", 0x5010);
    as_space_map(space, 0x2000, 0x13000, 0, ""); /* over several */
    expect_module(space, 0x1800, "[anon]", 0x1800);
    expect_module(space, 0x12fff, "[anon]", 0x12fff);
    expect_module(space, 0x13000, "/nonexistent/lib.so", 0x6000);
    expect_module(space, UINT64_MAX, "[unknown]", UINT64_MAX);
    assert_string_equal(as_space_name(space, 0x13000), "lib.so+0x6000");
    assert_string_equal(as_space_name(space, 0x3000), "[anon]+0x3000");
    as_space_free(space);
}

/* Random mappings against an array with one entry a page. */
static void test_mappings_random(void **state)
{
    static uint64_t model[256]; /* 0: nothing; else path number << 32 | offset in pages + 1 */
    const char *paths[] = {"", "[a]", "[b]", "/nonexistent/c"};
    uint32_t seed = 3;
    for (int round = 0; round < 30; round++) {
        struct as_space *space = as_space_new(NULL);
        memset(model, 0, sizeof model);
        for (int step = 0; step < 60; step++) {
            seed = seed * 1664525 + 1013904223;
            uint32_t start = (seed >> 8) % 250, pages = 1 + (seed >> 16) % 40, path = (seed >> 24) % 4;
            pages = start + pages > 256 ? 256 - start : pages;
            as_space_map(space, start * 4096, (start + pages) * 4096, step * 4096, paths[path]);
            for (uint32_t i = 0; i < pages; i++)
                model[start + i] = (uint64_t)(path + 1) << 32 | (uint64_t)(step + (int)i);
        }
        for (uint32_t page = 0; page < 256; page++) {
            uint64_t address = page * 4096 + 5;
            if (model[page] == 0)
                expect_module(space, address, "[unknown]", address);
            else if (model[page] >> 32 == 1)
                expect_module(space, address, "[anon]", address);
            else
                expect_module(space, address, paths[(model[page] >> 32) - 1], (uint32_t)model[page] * 4096 + 5);
        }
        as_space_free(space);
    }
}

static uint64_t resolve(struct as_space *space, const char *name)
{
    uint64_t address = as_space_resolve(space, name);
    assert_int_not_equal(address, 0);
    return address;
}

static void test_names(void **state)
{
    struct as_space *space = as_space_new(NULL);
    sample_map(space, sample("v5"), bias);
    struct as_location location;
    uint64_t visible = resolve(space, "visible");
    as_space_find(space, visible + 1, &location);
    assert_string_equal(location.function, "visible"); /* not visible_alias, not __visible_weak */
    assert_int_equal(location.function_start, visible);
    assert_true(location.function_size > 1);
    assert_string_equal(location.module, sample("v5"));
    assert_string_equal(location.module_name, "sample-v5");
    assert_int_equal(location.module_offset, visible + 1 - bias);
    assert_int_equal(resolve(space, "visible_alias"), visible);
    assert_int_equal(resolve(space, "sample-v5:visible"), visible);
    assert_int_equal(as_space_resolve(space, "other:visible"), 0);
    assert_int_equal(as_space_resolve(space, "nosuch"), 0);
    assert_int_equal(as_space_resolve(space, "nosuch"), 0);
    assert_int_equal(resolve(space, "visible"), visible);
    assert_int_equal(as_space_resolve(space, ""), 0);
    assert_int_equal(as_space_resolve(space, ":"), 0);
    assert_string_equal(as_space_name(space, resolve(space, "hidden")), "hidden"); /* static */
    uint64_t global = resolve(space, "asm_global"), local = resolve(space, "asm_local");
    assert_true(local > global);
    assert_string_equal(as_space_name(space, global), "asm_global");
    assert_string_equal(as_space_name(space, local), "asm_global"); /* a local label is no function */
    as_space_free(space);
}

/* Entries are kept, but not beyond a mapping that changes what lies there, nor beyond names that the program gives to its code. */
static void test_entries(void **state)
{
    struct as_space *space = as_space_new(NULL);
    sample_map(space, sample("v5"), bias);
    uint64_t visible = resolve(space, "visible");
    for (int again = 0; again < 2; again++) {
        assert_int_equal(as_space_entry(space, visible), visible);
        assert_int_equal(as_space_entry(space, visible + 1), visible);
        assert_int_equal(as_space_entry(space, 0x40), 0x40); /* nothing is mapped there */
        assert_int_equal(as_space_entry(space, 0), 0);
    }
    as_space_map(space, visible, visible + 0x1000, 0, NULL);
    assert_int_equal(as_space_entry(space, visible + 1), visible + 1);
    as_space_map(space, 0, 0x1000, 0, NULL);
    assert_int_equal(as_space_entry(space, 0x40), 0x40);
    const char names[] = "30 20 made\n";
    as_space_read_jit(space, spill("perf.map", names, sizeof names - 1), 0);
    assert_int_equal(as_space_entry(space, 0x40), 0x30);
    as_space_free(space);
}

static void test_cxx_names(void **state)
{
    if (access(sample("names5"), F_OK) < 0)
        unit_skip("no C++ compiler");
    struct as_space *space = as_space_new(NULL);
    sample_map(space, sample("names5"), bias);
    uint64_t by_int = resolve(space, "outer::overloaded(int)"), by_double = resolve(space, "outer::overloaded(double)");
    assert_int_not_equal(by_int, by_double);
    assert_int_equal(resolve(space, "_ZN5outer10overloadedEi"), by_int);
    assert_int_equal(resolve(space, "sample-names5:outer::overloaded(double)"), by_double);
    assert_true(resolve(space, "outer::overloaded") == by_int || resolve(space, "outer::overloaded") == by_double);
    assert_string_equal(as_space_name(space, by_int), "outer::overloaded(int)");
    uint64_t both[4];
    assert_int_equal(as_space_resolve(space, "overloaded"), 0);
    assert_int_equal(as_space_resolve_short(space, NULL, "overloaded", both, 4), 2);
    assert_true((both[0] == by_int && both[1] == by_double) || (both[0] == by_double && both[1] == by_int));
    assert_int_equal(as_space_resolve_short(space, "sample-names5", "sample-names5:overloaded", both, 1), 1);
    assert_int_equal(as_space_resolve_short(space, "other", "overloaded", both, 4), 0);
    assert_int_equal(as_space_resolve_short(space, NULL, "other:overloaded", both, 4), 0);
    assert_int_equal(as_space_resolve_short(space, NULL, "loaded", both, 4), 0);
    assert_int_equal(as_space_resolve_short(space, NULL, "", both, 4), 0);
    struct as_location location;
    as_space_find(space, by_int, &location);
    assert_string_equal(location.raw_function, "_ZN5outer10overloadedEi");
    as_space_free(space);
}

struct data_symbols {
    struct as_space *space;
    const char *module;
    uint64_t bias;
    size_t n, named;
};

/* "address size type name": whatever covers the symbol's first and last byte begins there, and has its name or an alias'. */
static void check_variable(void *context, char *text)
{
    struct data_symbols *data = context;
    unsigned long long address, length;
    char type, name[256];
    struct as_variable variable;
    if (sscanf(text, "%llx %llx %c %255s", &address, &length, &type, name) != 4 || !strchr("BbDdR", type) || !length)
        return;
    data->n++;
    for (int last = 0; last < 2; last++) {
        assert_true(as_space_variable(data->space, data->bias + address + (last ? length - 1 : 0), &variable));
        assert_int_equal(variable.start, data->bias + address);
        assert_true(variable.size >= length);
        assert_string_equal(variable.module, data->module);
        assert_true(variable.is_object);
    }
    data->named += strcmp(variable.name, name) == 0;
}

/* Variables of two programs, each by nm; between them, and in code, lies no data. */
static void test_variables(void **state)
{
    static const char *const programs[] = {"v5", "labels"};
    struct as_space *space = as_space_new(NULL);
    struct as_variable variable;
    char path[2][512];
    for (size_t i = 0; i < 2; i++) {
        strcpy(path[i], sample(programs[i]));
        sample_map(space, path[i], bias + i * 0x10000000);
    }
    for (size_t i = 2; i-- > 0;) {
        struct data_symbols data = {space, path[i], bias + i * 0x10000000, 0, 0};
        char *command = as_format("nm -S '%s'", path[i]);
        assert_int_equal(sample_run(command, check_variable, &data), 0);
        free(command);
        assert_true(data.n >= 3);
        assert_true(data.named >= data.n - 1);
        assert_false(as_space_variable(space, data.bias + 0x8000000, &variable));
        assert_false(as_space_variable(space, data.bias - 1, &variable));
        struct sample_section comment = sample_section(path[i], ".bss"), code = sample_section(path[i], ".text"),
                              constants = sample_section(path[i], ".eh_frame");
        assert_true(comment.size > 0 && code.size > 0 && constants.size > 0);
        assert_false(as_space_variable(space, data.bias + code.address, &variable));
        assert_true(as_space_variable(space, data.bias + constants.address + 5, &variable));
        assert_string_equal(variable.name, ".eh_frame");
        assert_int_equal(variable.start, data.bias + constants.address);
        assert_false(variable.is_object);
        assert_int_equal(as_space_has_debug(space, data.bias + comment.address), i == 0);
    }
    as_space_free(space);
}

/* The dynamic linker first maps the whole file, then the segments over it. */
static void test_loader_order(void **state)
{
    struct as_space *space = as_space_new(NULL);
    as_space_map(space, bias, bias + 0x5000, 0, sample("v5"));
    sample_map(space, sample("v5"), bias);
    assert_string_equal(as_space_name(space, resolve(space, "main") + 1), "main");
    assert_int_equal(resolve(space, "main") & 0xfff, resolve(space, "sample-v5:main") & 0xfff);
    as_space_free(space);
}

/* A position-dependent program: no bias, whichever segment is looked up first. */
static void test_fixed(void **state)
{
    struct as_space *space = as_space_new(NULL);
    sample_map(space, sample("fixed"), 0);
    uint64_t main_at = resolve(space, "main");
    struct as_location location;
    as_space_find(space, main_at, &location);
    assert_int_equal(location.module_offset, main_at);
    as_space_free(space);
}

/* A stripped program: no names, but the extents of functions from the unwind table. */
static void test_stripped(void **state)
{
    struct as_space *whole = as_space_new(NULL), *bare = as_space_new(NULL);
    sample_map(whole, sample("labels"), bias);
    sample_map(bare, sample("bare"), bias);
    static const char *const functions[] = {"main", "visible", "hidden"};
    for (size_t i = 0; i < 3; i++) {
        uint64_t at = resolve(whole, functions[i]);
        struct as_location location;
        as_space_find(bare, at + 3, &location);
        assert_null(location.function);
        assert_int_equal(location.function_start, at);
        assert_true(location.function_size > 3);
        char expected[64];
        snprintf(expected, sizeof expected, "sample-bare+0x%llx", (unsigned long long)(at + 3 - bias));
        assert_string_equal(as_space_name(bare, at + 3), expected);
    }
    struct as_line line;
    assert_false(as_space_line(bare, resolve(whole, "main"), &line));
    assert_null(line.file);
    struct as_inline_frame frame;
    assert_int_equal(as_space_inline(bare, resolve(whole, "main"), &frame, 1), 0);
    struct as_space_quality quality;
    as_space_quality(bare, &quality);
    assert_int_equal(quality.modules, 1);
    assert_int_equal(quality.with_debug, 0);
    assert_int_equal(quality.unreadable, 0);
    as_space_free(whole);
    as_space_free(bare);
}

static void check_stub(void *context, char *text)
{
    struct as_space *space = context;
    char *name = strchr(text, '<'), *end = strstr(text, ">:");
    if (name == NULL || end == NULL || end - name < 5 || strncmp(end - 4, "@plt", 4) != 0 || name[1] == '*')
        return;
    *end = '\0';
    uint64_t address = strtoull(text, NULL, 16) + bias;
    assert_string_equal(as_space_name(space, address), name + 1);
    assert_string_equal(as_space_name(space, address + 6), name + 1);
    as_space_map(space, 0x1000, 0x2000, 0, "[seen]");
}

static void check_stubs(const char *objdump, const char *name)
{
    struct as_space *space = as_space_new(NULL);
    char *command = as_format("%s -d '%s' 2>/dev/null", objdump, sample(name));
    sample_map(space, sample(name), bias);
    sample_run(command, check_stub, space);
    assert_string_equal(as_space_name(space, 0x1000), "[seen]+0x0"); /* there was one */
    free(command);
    as_space_free(space);
}

static void test_stubs(void **state)
{
    check_stubs("objdump", "v5");
    check_stubs("objdump", "fixed");
    check_stubs("objdump", "bare");
    check_stubs("objdump", "marked");
    if (access(sample("riscv5"), F_OK) == 0)
        check_stubs("riscv64-linux-gnu-objdump", "riscv5");
}

static void take_build_id(void *context, char *text)
{
    char *at = strstr(text, "Build ID: ");
    if (at != NULL)
        snprintf(context, 100, "%s", at + 10);
}

/* A stripped program whose debug file lies under its build-id. */
static void test_build_id(void **state)
{
    char expected[100] = "", root[300], path[512];
    char *command = as_format("readelf -n '%s'", sample("stripped"));
    sample_run(command, take_build_id, expected);
    free(command);
    struct as_space *space = as_space_new(&(struct as_space_options){.debug_path = "/nonexistent"});
    sample_map(space, sample("v5"), bias);
    uint64_t visible = resolve(space, "visible");
    assert_string_equal(as_space_build_id(space, visible), expected);
    as_space_free(space);

    snprintf(root, sizeof root, "%s/root", dir);
    mkdir(root, 0700);
    snprintf(path, sizeof path, "%s/.build-id", root);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/.build-id/%.2s", root, expected);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/.build-id/%.2s/%s.debug", root, expected, expected + 2);
    assert_int_equal(symlink(sample("linked.debug"), path), 0);
    char *roots = as_format("/nonexistent:%s", root);
    space = as_space_new(&(struct as_space_options){.debug_path = roots});
    sample_map(space, sample("stripped"), bias);
    struct as_line line;
    assert_true(as_space_line(space, visible, &line));
    assert_non_null(strstr(line.file, "sample.c"));
    assert_string_equal(as_space_name(space, visible), "visible");
    as_space_free(space);
    /* A debug file of another program under that name must not be taken. */
    unlink(path);
    assert_int_equal(symlink(sample("static"), path), 0);
    space = as_space_new(&(struct as_space_options){.debug_path = roots});
    sample_map(space, sample("stripped"), bias);
    assert_false(as_space_line(space, visible, &line));
    as_space_free(space);
    free(roots);
}

static void test_no_debug(void **state)
{
    struct as_space *space = as_space_new(&(struct as_space_options){.no_debug = true});
    sample_map(space, sample("v5"), bias);
    uint64_t visible = resolve(space, "visible");
    struct as_line line;
    struct as_inline_frame frames[4];
    assert_false(as_space_line(space, visible + 8, &line));
    assert_int_equal(as_space_inline(space, visible + 8, frames, 4), 1);
    assert_string_equal(frames[0].function, "visible");
    assert_null(frames[0].call.file);
    as_space_free(space);
}

static void test_inline_limit(void **state)
{
    struct as_space *space = as_space_new(NULL);
    sample_map(space, sample("v5"), bias);
    struct as_inline_frame frames[8];
    struct as_location location;
    uint64_t at = resolve(space, "hidden");
    as_space_find(space, at, &location);
    while (as_space_inline(space, at, frames, 8) < 3 || strcmp(frames[0].function, "innermost") != 0)
        assert_true(++at < location.function_start + location.function_size);
    assert_string_equal(frames[1].function, "middle");
    assert_string_equal(frames[2].function, "hidden");
    assert_true(frames[0].call.line > 0 && frames[1].call.line > frames[0].call.line);
    assert_null(frames[2].call.file);
    assert_int_equal(as_space_inline(space, at, frames, 2), 2);
    assert_string_equal(frames[1].function, "middle"); /* cut off, not renamed */
    assert_int_equal(as_space_inline(space, at, frames, 0), 0);
    as_space_free(space);
}

/* A file that cannot be read costs names, and the report says why. */
static void expect_problem(const char *path, const char *part)
{
    struct as_space *space = as_space_new(NULL);
    struct as_location location;
    struct as_space_quality quality;
    as_space_map(space, 0x400000, 0x500000, 0x1000, path);
    as_space_find(space, 0x400123, &location);
    assert_string_equal(location.module, path);
    assert_int_equal(location.module_offset, 0x1123);
    assert_null(location.function);
    as_space_quality(space, &quality);
    assert_int_equal(quality.modules, 1);
    assert_int_equal(quality.unreadable, 1);
    assert_non_null(quality.first_problem);
    if (strstr(quality.first_problem, part) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", quality.first_problem, part);
    assert_null(as_space_build_id(space, 0x400123));
    as_space_free(space);
}

static void test_unreadable(void **state)
{
    char path[256];
    expect_problem("/nonexistent/x", strerror(ENOENT));
    expect_problem(dir, "regular");
    expect_problem("/dev/zero", "regular");
    snprintf(path, sizeof path, "%s/pipe", dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    expect_problem(path, "regular"); /* opening it would block */
    expect_problem(spill("text", "hello\n", 6), "not an ELF file");
    expect_problem(spill("empty", "", 0), "not an ELF file");
}

/* A program with one number of its ELF header changed. */
static void expect_wrong_header(size_t at, uint64_t value, size_t bytes, const char *part)
{
    size_t size;
    char *program = slurp(sample("labels"), &size);
    memcpy(program + at, &value, bytes);
    expect_problem(spill("wrong", program, size), part);
    free(program);
}

static void test_wrong_headers(void **state)
{
    static const char tables[] = "corrupt or truncated (its ELF tables lie outside of the file)";
    size_t size;
    free(slurp(sample("labels"), &size));
    expect_wrong_header(1, 'e', 1, "not an ELF file");
    expect_wrong_header(EI_CLASS, ELFCLASS32, 1, "not a 64-bit little-endian ELF file");
    expect_wrong_header(EI_DATA, ELFDATA2MSB, 1, "not a 64-bit little-endian ELF file");
    expect_wrong_header(offsetof(Elf64_Ehdr, e_shoff), size, 8, tables);
    expect_wrong_header(offsetof(Elf64_Ehdr, e_shoff), UINT64_MAX, 8, tables);
    expect_wrong_header(offsetof(Elf64_Ehdr, e_shnum), 0xfeff, 2, tables);
    expect_wrong_header(offsetof(Elf64_Ehdr, e_shentsize), 63, 2, tables);
    expect_wrong_header(offsetof(Elf64_Ehdr, e_phoff), size - 8, 8, tables);
    expect_wrong_header(offsetof(Elf64_Ehdr, e_phentsize), 57, 2, tables);
    expect_wrong_header(offsetof(Elf64_Ehdr, e_phnum), 4097, 2, tables);
    expect_wrong_header(offsetof(Elf64_Ehdr, e_type), ET_REL, 2, "neither a program nor a shared library");
}

/* Where there are many sections, section 0 says how many. */
static void test_many_sections(void **state)
{
    size_t size;
    char *program = slurp(sample("labels"), &size);
    Elf64_Ehdr *head = (Elf64_Ehdr *)program;
    Elf64_Shdr *first = (Elf64_Shdr *)(program + head->e_shoff);
    first->sh_size = head->e_shnum;
    head->e_shnum = 0;
    struct as_space *space = as_space_new(NULL);
    const char *path = spill("many", program, size);
    sample_map(space, path, bias);
    assert_true(as_space_resolve(space, "visible") > bias);
    as_space_free(space);
    first->sh_size = 1 << 21;
    expect_problem(spill("many", program, size), "its ELF tables lie outside");
    free(program);
}

/* The file changed between being mapped and being read: no names instead of wrong ones. */
static void test_replaced(void **state)
{
    size_t size, other_size;
    char *bytes = slurp(sample("v5"), &size), *other = slurp(sample("static"), &other_size);
    const char *path = spill("program", bytes, size);
    struct as_space *space = as_space_new(NULL);
    sample_map(space, path, bias);
    spill("program", other, other_size);
    assert_int_equal(as_space_resolve(space, "visible"), 0);
    struct as_space_quality quality;
    as_space_quality(space, &quality);
    assert_int_equal(quality.modules, 0); /* nobody looked up an address yet */
    assert_non_null(strstr(as_space_name(space, bias + 0x1000), "program+0x"));
    as_space_quality(space, &quality);
    assert_int_equal(quality.unreadable, 1);
    assert_non_null(strstr(quality.first_problem, "changed"));
    sample_map(space, path, 0); /* mapped again, it is another module */
    uint64_t visible = resolve(space, "visible");
    assert_string_equal(as_space_name(space, visible), "visible");
    spill("program", bytes, 100); /* truncated after its symbols were read: names stay, lines do not crash */
    assert_string_equal(as_space_name(space, visible), "visible");
    struct as_line line;
    assert_false(as_space_line(space, visible, &line));
    as_space_free(space);
    free(bytes);
    free(other);
}

/* Looks at a damaged file from all sides. */
static void exercise(const char *path)
{
    struct as_space *space = as_space_new(NULL);
    as_space_map(space, bias, bias + 0x6000, 0, path);
    for (uint64_t at = bias; at < bias + 0x6000; at += 61) {
        struct as_location location;
        struct as_line line;
        struct as_inline_frame frames[8];
        as_space_find(space, at, &location);
        assert_string_equal(location.module, path);
        as_space_line(space, at, &line);
        as_space_inline(space, at, frames, 8);
    }
    as_space_resolve(space, "main");
    as_space_resolve(space, "no::such(int)");
    struct as_space_quality quality;
    as_space_quality(space, &quality);
    assert_int_equal(quality.modules, 1);
    as_space_free(space);
}

static void test_truncated(void **state)
{
    size_t size;
    char *bytes = slurp(sample("v5"), &size);
    for (size_t length = 0; length < size; length += 1 + length / 40)
        exercise(spill("cut", bytes, length));
    free(bytes);
}

static void test_damaged(void **state)
{
    static const char *const kinds[] = {"v5", "v4", "packed", "linked.debug"};
    uint32_t seed = 11;
    for (size_t kind = 0; kind < 4; kind++) {
        size_t size;
        char *bytes = slurp(sample(kinds[kind]), &size), *copy = as_alloc(size);
        for (int round = 0; round < 60; round++) {
            memcpy(copy, bytes, size);
            for (int i = 0; i < 30; i++) {
                seed = seed * 1664525 + 1013904223;
                /* Half of the damage hits the headers and the tables at the end. */
                size_t at = i % 2 == 0 ? seed % size : i % 4 == 1 ? size - 1 - seed % 3000 : seed % 1024;
                copy[at] = (char)(seed >> 24);
            }
            memcpy(copy, bytes, 20); /* still an ELF file */
            exercise(spill("damaged", copy, size));
        }
        free(bytes);
        free(copy);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mappings),      cmocka_unit_test(test_mappings_random),
        cmocka_unit_test(test_names),         cmocka_unit_test(test_cxx_names),
        cmocka_unit_test(test_loader_order),  cmocka_unit_test(test_fixed),
        cmocka_unit_test(test_stripped),      cmocka_unit_test(test_stubs),
        cmocka_unit_test(test_build_id),      cmocka_unit_test(test_no_debug),
        cmocka_unit_test(test_inline_limit),  cmocka_unit_test(test_unreadable),
        cmocka_unit_test(test_replaced),      cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_damaged),       cmocka_unit_test(test_entries),
        cmocka_unit_test(test_variables),     cmocka_unit_test(test_wrong_headers),
        cmocka_unit_test(test_many_sections),
    };
    if (argc != 2 || mkdtemp(dir) == NULL)
        return 2;
    samples = argv[1];
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    return system(command) != 0 || failed != 0;
}
