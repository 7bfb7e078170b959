/* See record_code.h. */
#include "record/record_code.h"

#include "base/path.h"
#include "base/str.h"
#include "count/targets.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_INLINED = 64, MAX_MODULES = 1 << 16 };

/* Returns whether a key is new, and its number in either case. */
static bool intern(struct as_strings *strings, const char *key, uint32_t *number)
{
    size_t before = as_strings_count(strings);
    *number = as_strings_intern(strings, key);
    return *number == before;
}

/* ---- modules, files, functions ---- */

/* A file is one module wherever it was mapped; other code (anonymous memory) is a module for each base. */
static char *module_key(const struct as_store_module *module)
{
    return module->path[0] == '/' ? as_format("%s %s", module->build_id ? module->build_id : "-", module->path)
                                  : as_format("%" PRIx64 " %s", module->base, module->path);
}

static uint32_t add_module(struct as_record_code *code, struct as_space *space, uint64_t address,
                           const struct as_location *location)
{
    struct as_store_module module = {.path = location->module,
                                     .build_id = as_space_build_id(space, address),
                                     .base = address - location->module_offset};
    struct stat status;
    uint32_t number = AS_STORE_NONE;
    char *key = module_key(&module);
    bool is_new = as_strings_count(code->modules) < MAX_MODULES && intern(code->modules, key, &number);
    free(key);
    if (!is_new)
        return number;
    if (module.path[0] == '/' && stat(module.path, &status) == 0) {
        module.file_size = (uint64_t)status.st_size;
        module.file_time = status.st_mtim.tv_sec * INT64_C(1000000000) + status.st_mtim.tv_nsec;
    }
    *as_vec_push(&code->bases) = module.base;
    return as_store_add_module(code->writer, &module);
}

/* The module of an address, and what to add (modulo 2^64) to get the address where the module was first mapped. */
struct module_location {
    struct as_location location;
    uint32_t module;
    uint64_t shift;
};

static struct module_location module_location_of(struct as_record_code *code, struct as_space *space, uint64_t address,
                                                 const struct as_location *location)
{
    struct module_location spot = {.location = *location};
    spot.module = add_module(code, space, address, &spot.location);
    if (spot.module != AS_STORE_NONE)
        spot.shift = code->bases.data[spot.module] - (address - spot.location.module_offset);
    return spot;
}

static struct module_location find_spot(struct as_record_code *code, struct as_space *space, uint64_t address)
{
    struct as_location location;
    as_space_find(space, address, &location);
    return module_location_of(code, space, address, &location);
}

static uint32_t add_file(struct as_record_code *code, const char *path)
{
    uint32_t number = AS_STORE_NONE;
    if (path && *path && intern(code->files, path, &number))
        as_store_add_file(code->writer, path);
    return number;
}

static uint32_t add_function(struct as_record_code *code, struct as_space *space, const struct module_location *spot)
{
    const struct as_location *location = &spot->location;
    if (!location->function_start || spot->module == AS_STORE_NONE)
        return AS_STORE_NONE;
    uint64_t address = location->function_start + spot->shift;
    uint64_t key = as_target_key(spot->module, address);
    if (location->generated) /* others may have been there before */
        key = as_hash_bytes(location->function, strlen(location->function)) ^ key;
    uint64_t *known = as_map_put(&code->functions, key);
    if (*known)
        return (uint32_t)(*known - 1);
    struct as_line line = {0};
    bool has_line = as_space_line(space, location->function_start, &line);
    struct as_store_function function = {
        .name = location->function ? location->function : as_space_name(space, location->function_start),
        .linkage_name = location->raw_function,
        .module = spot->module,
        .file = has_line ? add_file(code, line.file) : AS_STORE_NONE,
        .line = has_line && line.line > 0 ? (uint32_t)line.line : 0,
        .address = address,
        .size = location->function_size,
    };
    uint32_t number = as_store_add_function(code->writer, &function);
    *known = (uint64_t)number + 1;
    return number;
}

uint32_t as_record_code_function(struct as_record_code *code, const struct as_image *image,
                                 const struct as_call_node *call, uint64_t *address)
{
    struct as_location location;
    as_call_node_locate(as_model_engine(code->model), image, call, &location);
    struct module_location spot = module_location_of(code, image->space, call->function, &location);
    *address = call->function + spot.shift;
    return add_function(code, image->space, &spot);
}

void as_record_code_move(struct as_record_code *code, const struct as_image *image, uint64_t *address)
{
    *address += *address ? find_spot(code, image->space, *address).shift : 0;
}

struct file_at {
    const char *name;
    uint64_t start; /* a place that is mapped from the file; 0: none yet */
};

static void find_file(void *context, uint64_t start, uint64_t end, uint64_t offset, const char *path)
{
    struct file_at *file = context;
    if (!file->start && path[0] == '/' && strcmp(as_path_base(path), file->name) == 0)
        file->start = start;
}

/* Behind a file's bytes (.bss) nothing is mapped from it, so the module is found by another place of the file. */
uint32_t as_record_code_data(struct as_record_code *code, const struct as_image *image, uint64_t *address)
{
    struct as_variable variable;
    if (!as_space_variable(image->space, *address, &variable))
        return AS_STORE_NONE;
    struct file_at file = {.name = variable.module_name};
    as_space_each(image->space, find_file, &file);
    struct module_location spot = {.module = AS_STORE_NONE};
    if (file.start)
        spot = find_spot(code, image->space, file.start);
    *address += spot.shift;
    return spot.module;
}

/* ---- instructions ---- */

/* Returns the innermost inlined call at an address; its callers are added before it. */
static uint32_t add_inlines(struct as_record_code *code, struct as_space *space, uint64_t address)
{
    struct as_inline_frame frames[MAX_INLINED];
    size_t n = as_space_inline(space, address, frames, MAX_INLINED);
    uint32_t parent = AS_STORE_NONE;
    for (size_t i = n > 0 ? n - 1 : 0; i-- > 0;) {
        struct as_store_inline inlined = {.parent = parent,
                                          .function = frames[i].function,
                                          .file = add_file(code, frames[i].call.file),
                                          .line = frames[i].call.line > 0 ? (uint32_t)frames[i].call.line : 0};
        char *key = as_format("%" PRIu32 " %" PRIu32 " %" PRIu32 " %s", parent, inlined.file, inlined.line,
                              inlined.function ? inlined.function : "");
        if (intern(code->inlines, key, &parent))
            as_store_add_inline(code->writer, &inlined);
        free(key);
    }
    return parent;
}

/* The range of each block, from its instructions. */
struct extent {
    uint64_t start, end;
};

static struct extent *block_extents(const struct as_groups *groups, const struct as_engine *engine, size_t n)
{
    struct extent *extents = as_alloc_array((size_t)groups->blocks.count + 1, sizeof *extents);
    for (uint32_t id = 0; id < n; id++) {
        const struct as_insn *insn = as_engine_insn(engine, id);
        struct extent *extent = &extents[as_grouping_of(&groups->blocks, id)];
        if (!extent->end || insn->address < extent->start)
            extent->start = insn->address;
        if (insn->address + insn->length > extent->end)
            extent->end = insn->address + insn->length;
    }
    return extents;
}

static uint32_t add_block(struct as_record_code *code, uint32_t function, const struct extent *extent, uint64_t shift)
{
    uint32_t number;
    char key[80];
    struct as_store_block block = {
        .function = function, .address = extent->start + shift, .size = extent->end - extent->start};
    snprintf(key, sizeof key, "%" PRIu32 " %" PRIx64 " %" PRIx64, function, block.address, block.size);
    if (intern(code->blocks, key, &number))
        as_store_add_block(code->writer, &block);
    return number;
}

/* Handles different bytes at a known address: the code was changed, or an instruction that continues on the next page
 * was first recorded by its beginning alone. NULL: these bytes are new. */
static const uint32_t *find_variant(struct as_record_code *code, uint32_t module, const struct as_insn *insn,
                                    const char *function)
{
    uint32_t number;
    struct as_str key = {0};
    as_str_addf(&key, "%" PRIx32 " %" PRIx64 " %s ", module, insn->address, function);
    for (size_t i = 0; i < insn->length; i++)
        as_str_addf(&key, "%02x", insn->bytes[i]);
    bool is_new = intern(code->variants, as_str_get(&key), &number);
    as_str_free(&key);
    if (is_new)
        *as_vec_push(&code->variant_ids) = insn->id;
    return is_new ? NULL : &code->number_of[code->variant_ids.data[number]];
}

/* An instruction that is there already, at the same address of the same module, with the same bytes; NULL: none. */
static const uint32_t *find_same(struct as_record_code *code, uint32_t module, const struct as_insn *insn,
                                 const struct as_location *location)
{
    if (module == AS_STORE_NONE)
        return NULL;
    if (location->generated) /* the same bytes may have been part of another function before */
        return find_variant(code, module, insn, location->function);
    uint64_t *known = as_map_put(&code->instructions, as_target_key(module, insn->address));
    if (!*known) {
        *known = (uint64_t)insn->id + 1;
        return NULL;
    }
    const struct as_insn *other = as_engine_insn(as_model_engine(code->model), (uint32_t)(*known - 1));
    bool same = other->length == insn->length && memcmp(other->bytes, insn->bytes, insn->length) == 0;
    return same ? &code->number_of[*known - 1] : find_variant(code, module, insn, "");
}

static void add_instruction(struct as_record_code *code, uint32_t id, const struct extent *block)
{
    const struct as_engine *engine = as_model_engine(code->model);
    struct as_insn insn = *as_engine_insn(engine, id);
    struct as_space *space = as_engine_image(engine, as_engine_insn_image(engine, id))->space;
    struct as_location location;
    as_engine_locate(engine, id, &location);
    struct module_location spot = module_location_of(code, space, insn.address, &location);
    uint64_t mapped = insn.address;
    struct as_line line = {0};
    char text[256];
    insn.address += spot.shift;
    insn.target += insn.target ? spot.shift : 0;
    const uint32_t *same = find_same(code, spot.module, &insn, &location);
    if (same) {
        code->number_of[id] = *same;
        return;
    }
    bool has_line = as_space_line(space, mapped, &line);
    uint32_t function = add_function(code, space, &spot);
    struct as_store_insn record = {
        .location = {.address = insn.address,
                     .module = spot.module,
                     .function = function,
                     .block = block ? add_block(code, function, block, spot.shift) : AS_STORE_NONE,
                     .file = has_line ? add_file(code, line.file) : AS_STORE_NONE,
                     .line = has_line && line.line > 0 ? (uint32_t)line.line : 0,
                     .inlined = add_inlines(code, space, mapped)},
        .target = insn.target,
        .text = as_insn_text(&insn, text, sizeof text),
        .class_ = as_class_name((enum as_class)insn.class_),
        .bytes = insn.bytes,
        .n_bytes = insn.length,
    };
    code->number_of[id] = as_store_add_instruction(code->writer, &record);
}

void as_record_code_add(struct as_record_code *code, const struct as_model *model, const struct as_groups *groups,
                        struct as_store_writer *writer)
{
    const struct as_engine *engine = as_model_engine(model);
    *code = (struct as_record_code){.writer = writer,
                                    .model = model,
                                    .n = as_engine_count_insns(engine),
                                    .modules = as_strings_new(),
                                    .files = as_strings_new(),
                                    .blocks = as_strings_new(),
                                    .inlines = as_strings_new(),
                                    .variants = as_strings_new()};
    code->number_of = as_alloc_array(code->n + 1, sizeof *code->number_of);
    struct extent *extents = block_extents(groups, engine, code->n);
    for (uint32_t id = 0; id < code->n; id++) {
        uint32_t block = as_grouping_of(&groups->blocks, id);
        code->number_of[id] = AS_STORE_NONE;
        if (as_model_executed(model, id))
            add_instruction(code, id, block < groups->blocks.count ? &extents[block] : NULL);
    }
    free(extents);
}

void as_record_code_free(struct as_record_code *code)
{
    if (!code->modules)
        return;
    as_strings_free(code->modules);
    as_strings_free(code->files);
    as_strings_free(code->blocks);
    as_strings_free(code->inlines);
    as_strings_free(code->variants);
    as_vec_free(&code->variant_ids);
    as_vec_free(&code->bases);
    as_map_free(&code->functions);
    as_map_free(&code->instructions);
    free(code->number_of);
}
