/* Turns the code of a recording into that of a profile. See import.h.
 *
 * Instructions get their numbers when a sample first refers to them, but their source lines only after the last sample:
 * reading debug information takes seconds and many megabytes, and the recorder must stay quick and small while the
 * program runs. It is read for one file after the other.
 */
#include "import/import_internal.h"

#include "base/path.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_OPEN = 64, MOST_INLINES = 32 };

void as_import_code_open(struct as_import_code *code, struct as_store_writer *writer, struct as_perf_spaces *spaces)
{
    *code = (struct as_import_code){.writer = writer,
                                    .spaces = spaces,
                                    .module_keys = as_strings_new(),
                                    .file_keys = as_strings_new(),
                                    .inline_keys = as_strings_new(),
                                    .names = as_strings_new()};
}

void as_import_code_free(struct as_import_code *code)
{
    for (size_t i = 0; i < code->modules.len; i++) {
        as_map_free(&code->modules.data[i].instructions);
        as_map_free(&code->modules.data[i].functions);
        as_map_free(&code->modules.data[i].calls);
        if (code->modules.data[i].fd >= 0)
            close(code->modules.data[i].fd);
    }
    as_vec_free(&code->modules);
    for (size_t i = 0; i < code->instructions.len; i++)
        free(code->instructions.data[i].text);
    as_vec_free(&code->instructions);
    as_strings_free(code->module_keys);
    as_strings_free(code->file_keys);
    as_strings_free(code->inline_keys);
    as_strings_free(code->names);
}

/* ---- modules ---- */

/* Who needs the code later finds the file, too. */
static void note_place(struct as_import_code *code, const struct as_perf_location *recorded)
{
    char *key = as_format(AS_META_FOUND "%s", recorded->module), *file = realpath(recorded->disk_path, NULL);
    if (file)
        as_store_add_meta(code->writer, key, file);
    free(key);
    free(file);
}

static void add_module(struct as_import_code *code, const struct as_perf_location *recorded, uint64_t address)
{
    struct as_store_module module = {
        .path = recorded->module, .build_id = recorded->build_id, .base = address - recorded->module_offset};
    struct stat info;
    bool matched = recorded->match == AS_PERF_MATCHED && recorded->disk_path;
    if (matched && stat(recorded->disk_path, &info) == 0) {
        module.file_size = (uint64_t)info.st_size;
        module.file_time = (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec;
    }
    as_store_add_module(code->writer, &module);
    if (matched && strcmp(recorded->disk_path, recorded->module) != 0)
        note_place(code, recorded);
    uint32_t name = as_strings_intern(code->names, recorded->disk_path ? recorded->disk_path : recorded->module);
    *as_vec_push(&code->modules) = (struct as_import_module){
        .base = module.base, .matched = matched, .path = as_strings_get(code->names, name), .fd = -1};
}

/* A file that was replaced during the recording has another build-id, and becomes another module. */
uint32_t as_import_code_module(struct as_import_code *code, const struct as_perf_location *recorded, uint64_t address)
{
    char *key = as_format("%s\n%s", recorded->build_id ? recorded->build_id : "", recorded->module);
    uint32_t number = as_strings_intern(code->module_keys, key);
    free(key);
    if (number == code->modules.len)
        add_module(code, recorded, address);
    return number;
}

/* ---- functions ---- */

static const char *short_name(const struct as_perf_location *recorded)
{
    return recorded->module_name ? recorded->module_name : recorded->module;
}

/* If a file is missing, its functions cannot be told apart: all of its code becomes one function with the module's
 * name, so that callers in it are not lost. Code outside all modules has no function. */
static uint32_t whole_module(struct as_import_code *code, uint32_t module, const struct as_perf_location *recorded)
{
    enum { NOWHERE = 1 }; /* an offset at which no function of a file starts */
    if (strcmp(recorded->module, "[unknown]") == 0)
        return AS_STORE_NONE;
    uint64_t *number = as_map_put(&code->modules.data[module].functions, NOWHERE);
    if (*number == 0) {
        const char *name = as_path_base(short_name(recorded));
        char *made = name[0] == '[' ? as_strdup(name) : as_format("[%s]", name);
        struct as_store_function function = {
            .name = made, .module = module, .file = AS_STORE_NONE, .address = code->modules.data[module].base};
        *number = (uint64_t)as_store_add_function(code->writer, &function) + 1;
        free(made);
    }
    return (uint32_t)(*number - 1);
}

static uint32_t function_of(struct as_import_code *code, uint32_t module, const struct as_perf_location *recorded)
{
    bool named = recorded->function != NULL;
    if (!named && recorded->function_start == 0)
        return whole_module(code, module, recorded);
    /* Text may name a function without its start address. */
    uint64_t key = recorded->function_start != UINT64_MAX
                       ? recorded->function_start
                       : UINT64_MAX - as_strings_intern(code->names, recorded->function);
    if (named && (recorded->generated || recorded->renamed))
        key ^= as_hash_bytes(recorded->function, strlen(recorded->function));
    uint64_t *number = as_map_put(&code->modules.data[module].functions, key);
    if (*number == 0) {
        /* Code without symbols is named by its module and offset, as in the model. */
        char *made = named ? NULL : as_format("%s+0x%" PRIx64, short_name(recorded), recorded->function_start);
        struct as_store_function function = {
            .name = named ? recorded->function : made,
            .linkage_name = recorded->raw_function,
            .module = module,
            .file = AS_STORE_NONE,
            .address =
                recorded->function_start == UINT64_MAX ? 0 : code->modules.data[module].base + recorded->function_start,
            .size = recorded->function_size};
        *number = (uint64_t)as_store_add_function(code->writer, &function) + 1;
        free(made);
    }
    return (uint32_t)(*number - 1);
}

/* The kernel has the name that it has in a recording's file. */
static const char *module_of_text(const struct as_perf_frame *text)
{
    if (!text->module)
        return "[unknown]";
    bool kernel =
        strncmp(text->module, "[kernel.kallsyms]", 17) == 0 || strncmp(text->module, "[guest.kernel.kallsyms", 22) == 0;
    return kernel ? "[kernel]" : text->module;
}

/* Converts what `perf script` printed to a location. */
static void read_frame(const struct as_import_frame *frame, struct as_perf_location *recorded)
{
    const struct as_perf_frame *text = frame->text;
    *recorded = (struct as_perf_location){.module = module_of_text(text),
                                          .function = text->symbol,
                                          .raw_function = text->symbol,
                                          .module_offset = frame->address,
                                          .function_start = UINT64_MAX,
                                          .match = AS_PERF_NO_FILE,
                                          .renamed = true};
    if (text->in_module <= frame->address)
        recorded->module_offset = text->in_module;
}

/* The offset in a module whose place is known from other frames, and where the function begins, as far as the text tells. */
static void place_frame(const struct as_import_frame *frame, uint64_t base, struct as_perf_location *recorded)
{
    const struct as_perf_frame *text = frame->text;
    if (text->in_module > frame->address)
        recorded->module_offset = frame->address - base;
    if (!text->symbol)
        recorded->function_start = 0;
    else if (text->offset <= recorded->module_offset)
        recorded->function_start = recorded->module_offset - text->offset;
}

void as_import_code_find(struct as_import_code *code, const struct as_import_frame *frame,
                         struct as_import_location *location)
{
    struct as_perf_location recorded;
    if (frame->text)
        read_frame(frame, &recorded);
    else
        as_perf_spaces_find(code->spaces, frame->pid, frame->mode, frame->address, &recorded);
    uint32_t module = as_import_code_module(code, &recorded, frame->address);
    uint64_t base = code->modules.data[module].base;
    if (frame->text)
        place_frame(frame, base, &recorded);
    *location = (struct as_import_location){.module = module,
                                            .function = function_of(code, module, &recorded),
                                            .address = base + recorded.module_offset,
                                            .offset = recorded.module_offset,
                                            .match = recorded.match,
                                            .unmapped = !recorded.function && strcmp(recorded.module, "[unknown]") == 0,
                                            .file_offset = recorded.file_offset,
                                            .recorded = recorded};
    if (location->function != AS_STORE_NONE && recorded.function_start != UINT64_MAX)
        location->entry = base + recorded.function_start;
}

/* ---- lines ---- */

static uint32_t file_of(struct as_import_code *code, const char *path)
{
    if (!path)
        return AS_STORE_NONE;
    size_t before = as_strings_count(code->file_keys);
    uint32_t number = as_strings_intern(code->file_keys, path);
    if (number == before)
        as_store_add_file(code->writer, path);
    return number;
}

static uint32_t add_inline(struct as_import_code *code, uint32_t parent, const char *function,
                           const struct as_line *call)
{
    struct as_store_inline inlined = {.parent = parent,
                                      .function = function,
                                      .file = call ? file_of(code, call->file) : AS_STORE_NONE,
                                      .line = call && call->line > 0 ? (uint32_t)call->line : 0};
    char *key = as_format("%" PRIu32 " %" PRIu32 " %" PRIu32 " %s", parent, inlined.file, inlined.line,
                          function ? function : "");
    size_t before = as_strings_count(code->inline_keys);
    uint32_t number = as_strings_intern(code->inline_keys, key);
    free(key);
    if (number == before)
        as_store_add_inline(code->writer, &inlined);
    return number;
}

/* Frames come innermost first, parents are added before their children. */
static uint32_t inlines_of_text(struct as_import_code *code, const struct as_import_frame *frame)
{
    uint32_t inlined = AS_STORE_NONE;
    for (size_t i = 1; frame->text && i <= frame->n_inlined; i++)
        inlined = add_inline(code, inlined, frame->text[-(ptrdiff_t)i].symbol, NULL);
    return inlined;
}

static void find_line(struct as_import_code *code, struct as_import_insn *insn)
{
    struct as_inline_frame frames[MOST_INLINES];
    struct as_line line = {0};
    if (!insn->recorded.file)
        return;
    if (as_perf_spaces_line(code->spaces, &insn->recorded, &line) || insn->file == AS_STORE_NONE) {
        insn->file = file_of(code, line.file);
        insn->line = line.line > 0 ? (uint32_t)line.line : 0;
    }
    size_t n = as_perf_spaces_inline(code->spaces, &insn->recorded, frames, MOST_INLINES);
    for (size_t i = n > 0 ? n - 1 : 0; i-- > 0;)
        insn->inlined = add_inline(code, insn->inlined, frames[i].function, &frames[i].call);
}

/* ---- instructions ---- */

/* Only a few files are kept open: a recording may name thousands. */
static int file_of_module(struct as_import_code *code, struct as_import_module *module)
{
    if (module->fd >= 0)
        return module->fd;
    while (code->n_open >= MOST_OPEN) {
        struct as_import_module *victim = &code->modules.data[code->next_close++ % code->modules.len];
        if (victim->fd >= 0) {
            close(victim->fd);
            victim->fd = -1;
            code->n_open--;
        }
    }
    module->fd = open(module->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    code->n_open += module->fd >= 0;
    return module->fd;
}

/* Returns the architecture of the file's code; false if there is no decoder for it. Unlike the recording, the file
 * always states it. */
static bool arch_of_file(int fd, enum as_arch *arch)
{
    Elf64_Ehdr header;
    if (pread(fd, &header, sizeof header, 0) != sizeof header || header.e_ident[EI_CLASS] != ELFCLASS64)
        return false;
    *arch = header.e_machine == EM_X86_64 ? AS_ARCH_X86_64 : AS_ARCH_RISCV64;
    return header.e_machine == EM_X86_64 || header.e_machine == EM_RISCV;
}

struct decoded {
    struct as_insn insn;
    char text[256];
    bool known;
};

static void decode(struct as_import_code *code, const struct as_import_location *location, struct decoded *result)
{
    uint8_t bytes[AS_INSN_MAX_BYTES];
    struct as_import_module *module = &code->modules.data[location->module];
    enum as_arch arch;
    *result = (struct decoded){0};
    if (location->match != AS_PERF_MATCHED || !module->matched || location->file_offset > INT64_MAX)
        return;
    int fd = file_of_module(code, module);
    ssize_t size =
        fd >= 0 && arch_of_file(fd, &arch) ? pread(fd, bytes, sizeof bytes, (off_t)location->file_offset) : -1;
    if (size <= 0 || !as_insn_decode(arch, location->address, bytes, (size_t)size, &result->insn))
        return;
    as_insn_text(&result->insn, result->text, sizeof result->text);
    result->known = true;
    code->decoded++;
}

static uint32_t add_instruction(struct as_import_code *code, const struct as_import_frame *frame,
                                const struct as_import_location *location)
{
    struct decoded decoded;
    struct as_import_insn *insn = as_vec_push(&code->instructions);
    *insn = (struct as_import_insn){.address = location->address,
                                    .module = location->module,
                                    .function = location->function,
                                    .recorded = location->recorded,
                                    .file = AS_STORE_NONE,
                                    .inlined = inlines_of_text(code, frame)};
    /* perf printed the lines of the innermost inlined function first. */
    const struct as_perf_frame *printed = frame->text ? frame->text - frame->n_inlined : NULL;
    if (printed && printed->file) {
        insn->file = file_of(code, printed->file);
        insn->line = printed->line;
    }
    decode(code, location, &decoded);
    if (decoded.known) {
        insn->target = decoded.insn.target;
        insn->text = as_strdup(decoded.text);
        insn->class_ = as_class_name((enum as_class)decoded.insn.class_);
        memcpy(insn->bytes, decoded.insn.bytes, decoded.insn.length);
        insn->n_bytes = decoded.insn.length;
    }
    return (uint32_t)(code->instructions.len - 1);
}

uint32_t as_import_code_instruction(struct as_import_code *code, const struct as_import_frame *frame,
                                    const struct as_import_location *location)
{
    uint64_t key = location->offset;
    if (location->recorded.generated || location->recorded.renamed) /* of each function that was there */
        key ^= (uint64_t)(location->function + 1) << 48;
    const uint64_t *known = as_map_get(&code->modules.data[location->module].instructions, key);
    if (known)
        return (uint32_t)*known;
    uint32_t number = add_instruction(code, frame, location);
    *as_map_put(&code->modules.data[location->module].instructions, key) = number;
    return number;
}

/* ---- calls ---- */

static void step_back(struct as_import_location *location, uint64_t bytes)
{
    location->address -= bytes;
    location->offset -= bytes;
    location->file_offset -= bytes;
}

/* Finds the call whose last byte is at `location`. Instructions cannot be decoded backwards, so all lengths that a call
 * can have are tried, the most frequent ones first. */
static bool find_call(struct as_import_code *code, const struct as_import_location *location,
                      struct as_import_location *call)
{
    static const uint8_t lengths[] = {5, 4, 2, 3, 6, 7};
    struct decoded decoded;
    for (size_t i = 0; i < sizeof lengths; i++) {
        *call = *location;
        if (location->file_offset < lengths[i] || location->offset < lengths[i])
            continue;
        step_back(call, lengths[i] - 1u);
        decode(code, call, &decoded);
        if (decoded.known && decoded.insn.length == lengths[i] && as_insn_is_call(&decoded.insn))
            return true;
    }
    return false;
}

uint32_t as_import_code_call(struct as_import_code *code, const struct as_import_frame *frame,
                             struct as_import_location *location)
{
    enum { NO_CALL = 1, CALL = 2 };
    struct as_import_location call;
    const uint64_t *known = as_map_get(&code->modules.data[location->module].calls, location->offset);
    if (!known) {
        uint64_t answer = NO_CALL;
        if (find_call(code, location, &call))
            answer = CALL + (location->offset - call.offset);
        *as_map_put(&code->modules.data[location->module].calls, location->offset) = answer;
        known = as_map_get(&code->modules.data[location->module].calls, location->offset);
    }
    if (*known == NO_CALL)
        return AS_STORE_NONE;
    uint64_t back = *known - CALL;
    step_back(location, back);
    struct as_import_frame at = *frame;
    at.address -= back;
    return as_import_code_instruction(code, &at, location);
}

/* ---- the end ---- */

static void write_instruction(const struct as_import_code *code, const struct as_import_insn *insn)
{
    as_store_add_instruction(code->writer, &(struct as_store_insn){.location = {.address = insn->address,
                                                                                .module = insn->module,
                                                                                .function = insn->function,
                                                                                .block = AS_STORE_NONE,
                                                                                .file = insn->file,
                                                                                .line = insn->line,
                                                                                .inlined = insn->inlined},
                                                                   .target = insn->target,
                                                                   .text = insn->text,
                                                                   .class_ = insn->class_,
                                                                   .bytes = insn->bytes,
                                                                   .n_bytes = insn->n_bytes});
}

/* Sorts the numbers of instructions by module: those of module m are order[start[m]] … order[start[m + 1] - 1]. */
static void order_by_module(const struct as_import_code *code, uint32_t *order, size_t *start)
{
    for (size_t i = 0; i < code->instructions.len; i++)
        start[code->instructions.data[i].module + 1]++;
    for (size_t m = 1; m <= code->modules.len; m++)
        start[m] += start[m - 1];
    size_t *next = as_alloc_array(code->modules.len + 1, sizeof *next);
    memcpy(next, start, code->modules.len * sizeof *next);
    for (size_t i = 0; i < code->instructions.len; i++)
        order[next[code->instructions.data[i].module]++] = (uint32_t)i;
    free(next);
}

void as_import_code_write(struct as_import_code *code)
{
    uint32_t *order = as_alloc_array(code->instructions.len + 1, sizeof *order);
    size_t *start = as_alloc_array(code->modules.len + 2, sizeof *start);
    order_by_module(code, order, start);
    for (size_t m = 0; m < code->modules.len; m++) {
        for (size_t i = start[m]; i < start[m + 1]; i++)
            find_line(code, &code->instructions.data[order[i]]);
        if (start[m] < start[m + 1])
            as_perf_spaces_done_with(code->spaces, &code->instructions.data[order[start[m]]].recorded);
    }
    for (size_t i = 0; i < code->instructions.len; i++)
        write_instruction(code, &code->instructions.data[i]);
    free(order);
    free(start);
}
