/* Landing pads and functions that the unwinder knows, of this very program: those of landing_victim.S, by their labels. */
#include "unit.h"

#include "symbol/landing.h"
#include "symbol/symtab.h"

#include <elf.h>

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char landing_short[], landing_short_call[], landing_short_end[], landing_short_pad[], landing_wide_call[],
    landing_wide_end[], landing_wide_pad[], landing_long[], landing_long_call[], landing_long_end[], landing_long_pad[],
    landing_far_call[], landing_far_end[], landing_far_pad[];

/* The address in the file. */
static uint64_t at(const char *label)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)__ehdr_start;
    return (uint64_t)(uintptr_t)label - (header->e_type == ET_DYN ? (uint64_t)(uintptr_t)__ehdr_start : 0);
}

static size_t count_pads(const as_landing_pads *pads, uint64_t start, uint64_t end, uint64_t pad)
{
    size_t n = 0;
    for (size_t i = 0; i < pads->len; i++)
        n += pads->data[i].start == start && pads->data[i].end == end && pads->data[i].pad == pad;
    return n;
}

static size_t count_calls(const as_landing_pads *pads, uint64_t start, uint64_t end)
{
    size_t n = 0;
    for (size_t i = 0; i < pads->len; i++)
        n += pads->data[i].start >= start && pads->data[i].start < end;
    return n;
}

static void pads_of_this_program(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_elf *elf = as_elf_open("/proc/self/exe", &err);
    assert_non_null(elf);
    as_landing_pads pads = as_landing_pads_of(elf);
    uint64_t first = at(landing_short_call), last = at(landing_far_pad) + 64;
    assert_int_equal(count_pads(&pads, first, at(landing_short_end), at(landing_short_pad)), 1);
    assert_int_equal(count_pads(&pads, at(landing_wide_call), at(landing_wide_end), at(landing_wide_pad)), 1);
    assert_int_equal(count_pads(&pads, at(landing_wide_end), at(landing_wide_end) + 5, at(landing_wide_pad)), 1);
    assert_int_equal(count_pads(&pads, at(landing_far_call), at(landing_far_end), at(landing_far_pad)), 1);
    assert_int_equal(count_pads(&pads, at(landing_long_call), at(landing_long_end), at(landing_long_pad)), 1);
    assert_int_equal(count_calls(&pads, first, last), 5); /* and no others: a call that lands nowhere, a cut table */
    as_vec_free(&pads);
    as_elf_close(elf);
}

/* Six functions, each once, with its size. */
static void functions_of_this_program(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_elf *elf = as_elf_open("/proc/self/exe", &err);
    struct as_symtab table = {0};
    assert_non_null(elf);
    as_symtab_set_code(&table, elf);
    as_symtab_add_unwind(&table, elf);
    size_t shorts = 0, longs = 0, all = 0;
    for (size_t i = 0; i < table.symbols.len; i++) {
        const struct as_symbol *symbol = &table.symbols.data[i];
        all += symbol->address >= at(landing_short) && symbol->address < at(landing_far_pad) + 2;
        shorts += symbol->address == at(landing_short) && symbol->size == at(landing_short_pad) + 1 - at(landing_short);
        longs += symbol->address == at(landing_long) && symbol->size == at(landing_long_pad) + 1 - at(landing_long);
    }
    assert_int_equal(shorts, 1);
    assert_int_equal(longs, 1);
    assert_int_equal(all, 6);
    as_symtab_free(&table);
    as_elf_close(elf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pads_of_this_program),
                                       cmocka_unit_test(functions_of_this_program)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
