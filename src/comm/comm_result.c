/* See comm_result.h: names for what contacts are made of. */
#include "comm/comm_result.h"
#include "base/path.h"
#include "symbol/thread_entry.h"

#include <inttypes.h>
#include <string.h>

struct as_space *as_comm_space(const struct as_comm_result *result, uint32_t process, uint64_t insn)
{
    return result->names.space(result->names.context, process, insn);
}

bool as_comm_locate(const struct as_comm_result *result, uint32_t process, uint64_t insn,
                    struct as_comm_location *location)
{
    struct as_space *space = as_comm_space(result, process, insn);
    *location = (struct as_comm_location){0};
    if (!space)
        return false;
    location->address = result->names.address(result->names.context, insn);
    if (result->names.locate)
        result->names.locate(result->names.context, insn, &location->location);
    else
        as_space_find(space, location->address, &location->location);
    if (!as_space_line(space, location->address, &location->line))
        location->line = (struct as_line){0};
    return true;
}

char *as_comm_code_text(const struct as_comm_result *result, uint32_t process, uint64_t insn)
{
    struct as_comm_location found;
    if (!as_comm_locate(result, process, insn, &found))
        return as_strdup("[unknown]");
    const struct as_location *location = &found.location;
    const char *name = location->function ? location->function : location->module_name;
    uint64_t offset = location->function ? found.address - location->function_start : location->module_offset;
    if (found.line.file && found.line.line)
        return as_format("%s+0x%" PRIx64 " at %s:%d", name, offset, as_path_base(found.line.file), found.line.line);
    return as_format("%s+0x%" PRIx64, name, offset);
}

size_t as_comm_frames(const struct as_comm_result *result, uint32_t path, const char **names, size_t n)
{
    struct as_space *space = NULL;
    uint64_t *functions = as_alloc_array(n + 1, sizeof *functions);
    size_t count = result->names.frames(result->names.context, path, functions, n, &space);
    for (size_t i = 0; i < count && i < n; i++)
        names[i] = result->names.frame_name ? result->names.frame_name(result->names.context, path, i)
                                            : as_space_name(space, functions[i]);
    free(functions);
    return count;
}

/* Whether it is the thread that its process began with. In the model, threads are numbered as they start. */
static bool is_first(const struct as_comm_result *result, const struct as_comm_thread *thread)
{
    if (thread->pid)
        return thread->pid == thread->tid;
    for (size_t i = 0; i < result->n_threads; i++)
        if (result->threads[i].process == thread->process && result->threads[i].number < thread->number)
            return false;
    return true;
}

struct as_pattern_found as_comm_pattern(const struct as_comm_result *result)
{
    const struct as_pair_matrix *matrix = result->exact ? result->exact : result->estimate;
    size_t started = 0;
    for (size_t i = 0; i < result->n_threads; i++)
        started += !is_first(result, &result->threads[i]);
    return result->is_time ? as_pattern_find(matrix)
                           : as_pattern_of_run(matrix, as_pair_sum(as_pair_matrix_total(matrix)), started);
}

/* The function that the thread of a path began with; NULL: the path does not tell. */
static const char *start_of(const struct as_comm_result *result, uint32_t path)
{
    enum { DEPTH = 64 };
    const char *frames[DEPTH];
    size_t n = as_comm_frames(result, path, frames, DEPTH);
    for (size_t i = n < DEPTH ? n : 0; i-- > 0;)
        if (!as_is_thread_entry(frames[i]))
            return frames[i];
        else if (as_is_thread_end(frames[i]))
            return NULL;
    return NULL;
}

const char *as_comm_thread_name(const struct as_comm_result *result, const struct as_comm_thread *thread)
{
    if (is_first(result, thread))
        return "main";
    if (thread->start)
        return thread->start;
    for (size_t i = 0; !result->names.cut && i < AS_COMM_PATHS && thread->paths[i]; i++) {
        const char *start = start_of(result, thread->paths[i]);
        if (start)
            return start;
    }
    return thread->comm;
}

const struct as_guest_block *as_comm_block(const struct as_comm_result *result, uint32_t process, uint64_t address)
{
    struct as_guest_memory *memory = result->memory ? result->memory : result->blocks;
    return memory ? as_guest_memory_block_at(memory, process, address) : NULL;
}

char *as_comm_address_text(struct as_space *space, uint64_t address)
{
    struct as_variable variable;
    if (!space || !as_space_variable(space, address, &variable))
        return as_format("0x%" PRIx64, address);
    char *member = as_space_member(space, address);
    char *text =
        member ? as_format("%s%s", variable.name, member)
               : as_format(address > variable.start ? "%s+0x%" PRIx64 : "%s", variable.name, address - variable.start);
    free(member);
    return text;
}
