/* What a profile does not contain of an annotated function: instructions that were never executed or sampled, which are
 * read from the function's file if it is still the one that ran; and names for jump targets. See annotation.h.
 *
 * The file is decoded from the function's start to its end. If that meets an instruction of the profile in its middle,
 * the bytes before it were not code, and the profile is used.
 */
#include "assay/insn.h"
#include "base/alloc.h"
#include "base/map.h"
#include "symbol/elffile.h"
#include "symbol/space.h"
#include "view/annotation.h"
#include "view/module_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_SIZE = 8 << 20, PAGE = 4096, MAX_INLINED = 64 };

struct as_note_code {
    struct as_space *space;
    struct as_strings *files; /* files of the profile by their numbers, then additional ones */
    uint8_t *bytes;           /* of the function */
    size_t size;
    enum as_arch arch;
    uint64_t address;
};

void as_note_code_free(struct as_note_code *code)
{
    if (!code)
        return;
    as_space_free(code->space);
    as_strings_free(code->files);
    free(code->bytes);
    free(code);
}

/* ---- reading it ---- */

static const struct as_elf_segment *segment_of(const struct as_elf *elf, uint64_t address, uint64_t size)
{
    for (size_t i = 0; i < elf->segments.len; i++) {
        const struct as_elf_segment *segment = &elf->segments.data[i];
        if (segment->executable && address >= segment->address &&
            as_inside(address - segment->address, size, segment->file_size))
            return segment;
    }
    return NULL;
}

static bool read_bytes(struct as_note_code *code, const struct as_elf *elf, uint64_t address)
{
    const struct as_elf_segment *segment = segment_of(elf, address, code->size);
    if (!segment || !as_inside(segment->offset, segment->file_size, elf->size))
        return false;
    code->bytes = as_alloc(code->size + 1);
    ssize_t n = pread(elf->fd, code->bytes, code->size, (off_t)(segment->offset + (address - segment->address)));
    return n >= 0 && (size_t)n == code->size;
}

static void map_segments(struct as_note_code *code, const struct as_elf *elf, const struct as_store_module *module,
                         const char *file)
{
    for (size_t i = 0; i < elf->segments.len; i++) {
        const struct as_elf_segment *segment = &elf->segments.data[i];
        uint64_t start = module->base + segment->address, before = start % PAGE;
        if (segment->executable && segment->memory_size && before <= segment->offset)
            as_space_map(code->space, start - before, start + segment->memory_size, segment->offset - before, file);
    }
}

static const char *open_code(struct as_annotation *annotation, const struct as_store_module *module)
{
    const struct as_store_function *function = &annotation->what;
    const char *file = as_module_file(annotation->view->store, module);
    struct as_elf *elf = file ? as_elf_open(file, NULL) : NULL;
    if (!elf)
        return "it cannot be read";
    struct as_note_code *code = as_alloc(sizeof *code);
    *code = (struct as_note_code){.size = (size_t)function->size,
                                  .address = function->address,
                                  .arch = elf->machine == EM_RISCV ? AS_ARCH_RISCV64 : AS_ARCH_X86_64};
    bool ok = (elf->machine == EM_RISCV || elf->machine == EM_X86_64) &&
              read_bytes(code, elf, function->address - module->base);
    if (ok) {
        code->space = as_space_new(NULL);
        code->files = as_strings_new();
        map_segments(code, elf, module, file);
        annotation->code = code;
    } else {
        as_note_code_free(code);
    }
    as_elf_close(elf);
    return ok ? NULL : "the function is not where it was";
}

/* ---- filling holes ---- */

/* Returns the number of a file: the profile's, or one after those. */
static uint32_t file_of(struct as_annotation *annotation, const char *path)
{
    struct as_strings *files = annotation->code->files;
    const struct as_view *view = annotation->view;
    if (!path || !*path)
        return AS_STORE_NONE;
    for (size_t i = as_strings_count(files); i < view->n_files; i++) {
        char *unique = as_format("%zu", i); /* a second file of one name keeps the numbers in step */
        if (as_strings_intern(files, view->file[i] ? view->file[i] : unique) != i)
            as_strings_intern(files, unique);
        free(unique);
    }
    return as_strings_intern(files, path);
}

const char *as_annotation_file(const struct as_annotation *annotation, uint32_t file)
{
    if (file < annotation->view->n_files || !annotation->code)
        return as_view_file(annotation->view, file);
    return file < as_strings_count(annotation->code->files) ? as_strings_get(annotation->code->files, file) : NULL;
}

static void add_chain(struct as_annotation *annotation, struct as_note_insn *note)
{
    struct as_inline_frame frames[MAX_INLINED];
    size_t n = as_space_inline(annotation->code->space, note->address, frames, MAX_INLINED);
    note->chain = (uint32_t)annotation->chains.len;
    for (size_t i = 0; i + 1 < n; i++)
        *as_vec_push(&annotation->chains) = frames[i].function ? frames[i].function : "?";
    note->n_chain = (uint32_t)annotation->chains.len - note->chain;
}

/* Decodes one instruction, up to `end`: the next known instruction, or the function's end. Returns its length. */
static size_t add_insn(struct as_annotation *annotation, uint64_t address, uint64_t end)
{
    const struct as_note_code *code = annotation->code;
    struct as_insn insn;
    struct as_line line = {0};
    char text[256];
    bool known = as_insn_decode(code->arch, address, code->bytes + (address - code->address),
                                code->size - (size_t)(address - code->address), &insn);
    bool data = address + insn.length > end;
    size_t length = data ? (size_t)(end - address) : insn.length ? insn.length : 1;
    bool has_line = as_space_line(code->space, address, &line);
    struct as_note_insn note = {
        .address = address,
        .length = (uint32_t)length,
        .target = data || !known ? 0 : insn.target,
        .jumps = !as_insn_is_call(&insn),
        .text = as_strdup(data ? "(data)" : as_insn_text(&insn, text, sizeof text)),
        .file = has_line ? file_of(annotation, line.file) : AS_STORE_NONE,
        .line = has_line && line.line > 0 ? (uint32_t)line.line : 0,
        .row = {.id = AS_STORE_NONE},
    };
    add_chain(annotation, &note);
    *as_vec_push(&annotation->insns) = note;
    return length;
}

static void fill_holes(struct as_annotation *annotation)
{
    uint64_t at = annotation->code->address, stop = at + annotation->code->size;
    size_t n = annotation->insns.len, next = 0;
    while (at < stop) {
        while (next < n && annotation->insns.data[next].address < at)
            next++;
        const struct as_note_insn *known = next < n ? &annotation->insns.data[next] : NULL;
        if (known && known->address == at && known->length)
            at += known->length;
        else if (known && known->address == at)
            next++; /* its length is unknown */
        else
            at += add_insn(annotation, at, known && known->address < stop ? known->address : stop);
    }
}

static bool has_holes(const struct as_annotation *annotation, uint64_t size)
{
    uint64_t covered = 0, end = 0;
    for (size_t i = 0; i < annotation->insns.len; i++) {
        const struct as_note_insn *insn = &annotation->insns.data[i];
        covered += insn->address >= end ? insn->length : 0;
        end = insn->address + insn->length;
    }
    return covered < size;
}

const char *as_annotation_fill(struct as_annotation *annotation)
{
    const struct as_view *view = annotation->view;
    const struct as_store_function *function = &annotation->what;
    const struct as_store_module *module = function->module < view->n_modules ? &view->module[function->module] : NULL;
    if (function->size && !has_holes(annotation, function->size))
        return NULL;
    if (!module || !module->path || module->path[0] != '/')
        return "its code is in no file";
    if (annotation->module_note)
        return annotation->module_note;
    if (!function->size || function->size > MAX_SIZE)
        return "its end is unknown";
    const char *problem = open_code(annotation, module);
    if (!problem)
        fill_holes(annotation);
    return problem;
}

/* ---- targets ---- */

/* Of two functions that cover an address, prefers the one that begins there, else the smaller. A whole .plt covers its
 * stubs. */
static bool is_closer(const struct as_store_function *function, const struct as_store_function *best, uint64_t address)
{
    bool starts = function->address == address;
    if (!best || starts != (best->address == address))
        return !best || starts;
    return !starts && function->size < best->size;
}

static const struct as_store_function *function_at(const struct as_view *view, uint64_t address)
{
    const struct as_store_function *best = NULL;
    for (size_t i = 0; i < view->n_functions; i++) {
        const struct as_store_function *function = &view->function[i];
        if (function->name && address - function->address < (function->size ? function->size : 1) &&
            is_closer(function, best, address))
            best = function;
    }
    return best;
}

static const char *plus(char text[AS_TARGET_MAX], const char *name, uint64_t offset)
{
    if (offset || !*name)
        snprintf(text, AS_TARGET_MAX, "%.100s+0x%" PRIx64, name, offset);
    else
        snprintf(text, AS_TARGET_MAX, "%.100s", name);
    return text;
}

const char *as_annotation_target(const struct as_annotation *annotation, const struct as_note_insn *insn,
                                 char text[AS_TARGET_MAX])
{
    const struct as_view *view = annotation->view;
    const struct as_store_function *here = &annotation->what, *there;
    struct as_location location = {0};
    if (!insn->target)
        return NULL;
    bool inside = here->size ? insn->target - here->address < here->size
                             : insn->target >= here->address && annotation->insns.len &&
                                   insn->target <= annotation->insns.data[annotation->insns.len - 1].address;
    if (inside && insn->target == here->address && !insn->jumps && here->name) /* a recursive call */
        return plus(text, AS_SHOW(here->name), 0);
    if (inside)
        return plus(text, "", insn->target - here->address);
    there = function_at(view, insn->target);
    if (annotation->code && (!there || there->address != insn->target))
        as_space_find(annotation->code->space, insn->target, &location);
    if (there && (!location.function ||
                  location.function_start <= there->address)) /* otherwise the file's symbols are more precise */
        return plus(text, AS_SHOW(there->name), insn->target - there->address);
    if (location.function && location.function_start)
        return plus(text, AS_SHOW(location.function), insn->target - location.function_start);
    return NULL;
}
