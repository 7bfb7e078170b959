/* Every function that nm tells, looked up by address and by name. Arguments: nm, then pairs of options ("-D", or "-B"
 * for none) and ELF files; "libc" stands for the C library that this test runs with. */
#include "sample_tools.h"
#include "unit.h"

#include <limits.h>
#include <link.h>
#include <stdio.h>

static int n_args;
static char **args;

static int find_libc(struct dl_phdr_info *info, size_t size, void *context)
{
    const char *slash = strrchr(info->dlpi_name, '/');
    if (slash == NULL || strncmp(slash, "/libc.so", 8) != 0)
        return 0;
    snprintf(context, PATH_MAX, "%s", info->dlpi_name);
    return 1;
}

static const char *real_path(const char *file)
{
    static char path[PATH_MAX];
    if (strcmp(file, "libc") != 0)
        return file;
    assert_int_equal(dl_iterate_phdr(find_libc, path), 1);
    return path;
}

static bool is_private(const char *name)
{
    return strncmp(name, ".L", 2) == 0 || strncmp(name, "$x", 2) == 0 || strncmp(name, "$d", 2) == 0;
}

/* Looks up a symbol by its address: the function found starts there and has one of its names, or it is an alias that
 * lies inside a function with a size (a label). */
static bool found_by_address(struct as_space *space, uint64_t bias, const struct sample_symbols *symbols,
                             const struct sample_symbol *symbol, size_t *labels)
{
    struct as_location location;
    as_space_find(space, bias + symbol->address, &location);
    if (location.function == NULL)
        return false;
    char *raw = strdup(location.raw_function), *version = strchr(raw, '@');
    if (version != NULL)
        *version = '\0';
    bool named = strcmp(raw, symbol->name) == 0 || sample_is_alias(symbols, raw, symbol->name);
    free(raw);
    if (location.function_start == bias + symbol->address)
        return named;
    bool label = symbol->size == 0 && symbol->type == 't' && location.function_start < bias + symbol->address;
    *labels += label;
    return label;
}

static bool found_by_name(struct as_space *space, uint64_t bias, const struct sample_symbols *symbols,
                          const struct sample_symbol *symbol)
{
    uint64_t address = as_space_resolve(space, symbol->name) - bias;
    if (address == symbol->address)
        return true;
    for (size_t i = 0; i < symbols->len; i++) /* several may have the name: versions, static functions */
        if (symbols->data[i].address == address && strcmp(symbols->data[i].name, symbol->name) == 0)
            return true;
    return false;
}

static void check(const char *nm, const char *options, const char *file)
{
    const uint64_t bias = 0x7f0000000000;
    struct sample_symbols symbols = {0};
    struct sample_section data = sample_section(file, ".data");
    struct as_space *space = as_space_new(NULL);
    size_t count = 0, labels = 0, failed = 0, step;
    sample_map(space, file, bias);
    sample_nm(&symbols, nm, options, file);
    step = symbols.len / 500 + 1; /* resolving is linear: not all of them by name */
    for (size_t i = 0; i < symbols.len; i++) {
        const struct sample_symbol *symbol = &symbols.data[i];
        if (is_private(symbol->name) || symbol->address - data.address < data.size) /* weak data looks like weak code */
            continue;
        count++;
        bool ok = found_by_address(space, bias, &symbols, symbol, &labels) &&
                  (i % step != 0 || found_by_name(space, bias, &symbols, symbol));
        if (!ok && failed++ < 10)
            print_message("0x%llx %s: not found (we say %s)\n", (unsigned long long)symbol->address, symbol->name,
                          as_space_name(space, bias + symbol->address));
    }
    print_message("%s: %zu symbols, %zu of them labels inside functions, %zu wrong\n", file, count, labels, failed);
    assert_true(count > 10);
    assert_int_equal(failed, 0);
    as_space_free(space);
    sample_symbols_free(&symbols);
}

static void test_all(void **state)
{
    for (int i = 2; i + 1 < n_args; i += 2) {
        char options[64];
        snprintf(options, sizeof options, "-S --defined-only %s", args[i]);
        check(args[1], options, real_path(args[i + 1]));
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};
    n_args = argc;
    args = argv;
    return argc < 4 ? 2 : cmocka_run_group_tests(tests, NULL, NULL);
}
