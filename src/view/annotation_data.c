/* Names for data at fixed addresses, which x86-64 code counts from the instruction's own: "mov rdx, qword ptr
 * [0x404028]" reads `table`. See annotation.h. */
#include "base/alloc.h"
#include "symbol/elffile.h"
#include "symbol/space.h"
#include "view/annotation.h"
#include "view/module_check.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096 };

/* Finds "[0x…]" in the text. An address behind a segment ("fs:[0x28]") is not one of the program's data. */
static bool find_address(struct as_note_insn *insn, uint64_t *address)
{
    const char *open = strstr(insn->text, "[0x");
    char *end;
    if (!open || (open > insn->text && open[-1] == ':'))
        return false;
    *address = strtoull(open + 1, &end, 16);
    insn->data_at = (uint32_t)(open + 1 - insn->text);
    insn->data_length = (uint32_t)(end - open - 1);
    return *end == ']';
}

/* All segments: variables are not in the executable ones. */
static struct as_space *open_space(const struct as_store *store, const struct as_store_module *module)
{
    const char *file = as_module_file(store, module);
    struct as_elf *elf = file ? as_elf_open(file, NULL) : NULL;
    struct as_space *space = elf ? as_space_new(NULL) : NULL;
    for (size_t i = 0; elf && i < elf->segments.len; i++) {
        const struct as_elf_segment *segment = &elf->segments.data[i];
        uint64_t start = module->base + segment->address, before = start % PAGE;
        if (segment->memory_size && before <= segment->offset)
            as_space_map(space, start - before, start + segment->memory_size, segment->offset - before, file);
    }
    as_elf_close(elf);
    return space;
}

/* "counters[3].hits" where the type is known, else "counters+0x18". The caller frees; NULL: unknown. */
static char *name_of(struct as_space *space, uint64_t address)
{
    struct as_variable variable;
    if (!as_space_variable(space, address, &variable))
        return NULL;
    char *member = variable.is_object ? as_space_member(space, address) : NULL, *name;
    if (member)
        name = as_format("%.100s%.60s", variable.name, member);
    else if (address == variable.start)
        name = as_format("%.100s", variable.name);
    else
        name = as_format("%.100s+0x%" PRIx64, variable.name, address - variable.start);
    free(member);
    return name;
}

void as_annotation_name_data(struct as_annotation *annotation)
{
    const struct as_view *view = annotation->view;
    uint32_t number = annotation->what.module;
    const struct as_store_module *module = number < view->n_modules ? &view->module[number] : NULL;
    struct as_space *space = NULL;
    if (!module || !module->path || module->path[0] != '/' || annotation->module_note)
        return;
    for (size_t i = 0; i < annotation->insns.len; i++) {
        struct as_note_insn *insn = &annotation->insns.data[i];
        uint64_t address;
        if (!find_address(insn, &address))
            continue;
        if (!space && !(space = open_space(view->store, module)))
            return;
        insn->data = name_of(space, address);
    }
    as_space_free(space);
}
