/* Unwinds copies of stacks with libdw. See stack_walk.h. There is one Dwfl for each process, with its mapped modules;
 * the sample that the callbacks read changes from call to call. */
#include "native/stack_walk.h"

#include "base/map.h"
#include "base/vec.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DWARF_REGISTERS = 17, SP = 7, PERF_SP = 7, PERF_IP = 8 };

/* Limits for a process and for all together: a recording may name more than any program has. */
enum { MAX_MODULES = 1 << 14, MAX_ALL_MODULES = 1 << 20 };

/* An address further from the stack pointer is not on the stack. */
#define MOST_STACK (UINT64_C(1) << 28)

struct module {
    uint64_t start, end, offset;
    const char *path;
};

struct process {
    AS_VEC(struct module) modules;
    size_t reported; /* how many of them libdw knows */
    Dwfl *dwfl;
    bool attached, hopeless;
    struct as_stack_walker *walker;
};

struct as_stack_walker {
    struct as_stack_walker_options options;
    struct as_map processes; /* pid → struct process * */
    size_t modules;          /* of all of them */
    struct as_strings *paths;
    /* The current sample: */
    const struct as_perf_sample *sample;
    uint64_t registers[DWARF_REGISTERS];
    uint64_t *frames;
    size_t n, max;
    bool more;   /* there was another frame */
    bool ended;  /* libdw came to a frame that has no caller, or whose caller it could not read */
    bool failed; /* since the last frame, a word that is not in the copy was read */
    bool beyond; /* … which is behind its end */
};

struct as_stack_walker *as_stack_walker_new(const struct as_stack_walker_options *options)
{
    struct as_stack_walker *walker = as_alloc(sizeof *walker);
    if (options)
        walker->options = *options;
    walker->paths = as_strings_new();
    return walker;
}

static void free_process(struct process *process)
{
    if (process->dwfl)
        dwfl_end(process->dwfl);
    process->walker->modules -= process->modules.len;
    as_vec_free(&process->modules);
    free(process);
}

void as_stack_walker_free(struct as_stack_walker *walker)
{
    if (!walker)
        return;
    for (size_t i = 0; i < walker->processes.cap; i++)
        if (walker->processes.slots[i].used)
            free_process((struct process *)(uintptr_t)walker->processes.slots[i].value);
    as_map_free(&walker->processes);
    as_strings_free(walker->paths);
    free(walker);
}

/* ---- mappings ---- */

static struct process *process_of(struct as_stack_walker *walker, uint32_t pid, bool make)
{
    uint64_t *found = make ? as_map_put(&walker->processes, pid) : as_map_get(&walker->processes, pid);
    if (found && !*found) {
        struct process *process = as_alloc(sizeof *process);
        process->walker = walker;
        *found = (uintptr_t)process;
    }
    return found ? (struct process *)(uintptr_t)*found : NULL;
}

static void forget(struct as_stack_walker *walker, uint32_t pid)
{
    struct process *process = process_of(walker, pid, false);
    if (process)
        free_process(process);
    as_map_remove(&walker->processes, pid);
}

static void copy_process(struct as_stack_walker *walker, uint32_t from, uint32_t to)
{
    forget(walker, to);
    struct process *child = process_of(walker, to, true), *parent = process_of(walker, from, false);
    if (!parent || walker->modules + parent->modules.len > MAX_ALL_MODULES)
        return;
    for (size_t i = 0; i < parent->modules.len; i++)
        *as_vec_push(&child->modules) = parent->modules.data[i];
    walker->modules += parent->modules.len;
}

static bool is_known(const struct process *process, const struct module *module)
{
    for (size_t i = 0; i < process->modules.len; i++) {
        const struct module *old = &process->modules.data[i];
        if (old->start == module->start && old->end == module->end && old->offset == module->offset &&
            old->path == module->path)
            return true;
    }
    return false;
}

/* A mapping replaces what it overlaps; libdw must then start again, unless the mapping was there before. */
static void add_module(struct process *process, const struct module *module)
{
    if (process->modules.len >= MAX_MODULES || process->walker->modules >= MAX_ALL_MODULES || is_known(process, module))
        return;
    for (size_t i = process->modules.len; i-- > 0;) {
        const struct module *old = &process->modules.data[i];
        if (old->start >= module->end || module->start >= old->end)
            continue;
        process->modules.data[i] = process->modules.data[--process->modules.len];
        process->walker->modules--;
        if (process->dwfl)
            dwfl_end(process->dwfl);
        process->dwfl = NULL;
        process->attached = false;
        process->reported = 0;
    }
    *as_vec_push(&process->modules) = *module;
    process->walker->modules++;
    process->hopeless = false;
}

bool as_stack_walker_process(void *context, const struct as_perf_process *event, struct as_error *err)
{
    struct as_stack_walker *walker = context;
    if ((event->kind == AS_PERF_COMM && event->exec) || (event->kind == AS_PERF_EXIT && event->pid == event->tid))
        forget(walker, event->pid);
    if (event->kind == AS_PERF_FORK && event->pid != event->parent_pid)
        copy_process(walker, event->parent_pid, event->pid);
    if (event->kind != AS_PERF_MAP || event->data || event->mode == AS_PERF_KERNEL || !event->name ||
        event->name[0] != '/' || event->name[1] == '/')
        return true;
    struct module module = {.start = event->start, .end = event->start + event->length, .offset = event->offset};
    module.path = as_strings_get(walker->paths, as_strings_intern(walker->paths, event->name));
    add_module(process_of(walker, event->pid, true), &module);
    return true;
}

/* ---- libdw ---- */

/* Unwind tables are in the mapped file itself, so no debug files are searched. */
static int no_debug_file(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, const char *file,
                         const char *link, GElf_Word crc, char **found)
{
    return -1;
}

static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_build_id_find_elf,
                                         .find_debuginfo = no_debug_file,
                                         .section_address = dwfl_offline_section_address};

/* Run-time address minus the file's own, to which libdw adds those of its segments (of perf's pieces of generated code the first is
 * not at 0). From the segment that contains the mapped offset. */
static bool bias_of(int fd, const struct module *module, uint64_t *bias)
{
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    GElf_Ehdr head;
    size_t n = 0;
    bool found = false;
    if (!elf || !gelf_getehdr(elf, &head) || head.e_machine != EM_X86_64 || elf_getphdrnum(elf, &n) != 0)
        n = 0;
    for (size_t i = 0; i < n && i < 512 && !found; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD)
            continue;
        uint64_t page = header.p_offset & ~UINT64_C(4095);
        found = module->offset >= page && module->offset < header.p_offset + header.p_filesz;
        *bias = module->start - module->offset + header.p_offset - header.p_vaddr;
    }
    elf_end(elf);
    return found;
}

static void report(struct process *process, const struct module *module, uint32_t pid)
{
    const struct as_stack_walker_options *options = &process->walker->options;
    uint64_t bias;
    if (options->usable && !options->usable(options->context, pid, module->start))
        return;
    int fd = open(module->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return;
    if (!bias_of(fd, module, &bias) || !dwfl_report_elf(process->dwfl, module->path, module->path, fd, bias, true))
        close(fd); /* otherwise libdw owns it */
}

static pid_t next_thread(Dwfl *dwfl, void *argument, void **thread)
{
    struct as_stack_walker *walker = argument;
    if (*thread)
        return 0;
    *thread = argument;
    return (pid_t)walker->sample->tid;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *argument, void **thread)
{
    *thread = argument;
    return true;
}

static bool read_word(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *word, void *argument)
{
    struct as_stack_walker *walker = argument;
    uint64_t start = walker->registers[SP], valid = walker->sample->stack_valid;
    if (address < start || address - start > valid || valid - (address - start) < sizeof *word) {
        walker->failed = true;
        walker->beyond |= address >= start && address - start < MOST_STACK;
        return false;
    }
    memcpy(word, walker->sample->stack + (address - start), sizeof *word);
    return true;
}

static bool set_registers(Dwfl_Thread *thread, void *argument)
{
    const struct as_stack_walker *walker = argument;
    return dwfl_thread_state_registers(thread, 0, DWARF_REGISTERS, walker->registers);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {.next_thread = next_thread,
                                                       .get_thread = get_thread,
                                                       .memory_read = read_word,
                                                       .set_initial_registers = set_registers};

/* Updates libdw with the current mappings. */
static bool ready(struct process *process, pid_t pid)
{
    if (process->hopeless)
        return false;
    if (!process->dwfl && !(process->dwfl = dwfl_begin(&callbacks)))
        return false;
    if (process->reported < process->modules.len) {
        dwfl_report_begin_add(process->dwfl);
        for (; process->reported < process->modules.len; process->reported++)
            report(process, &process->modules.data[process->reported], (uint32_t)pid);
        dwfl_report_end(process->dwfl, NULL, NULL);
    }
    if (!process->attached)
        process->attached = dwfl_attach_state(process->dwfl, NULL, pid, &thread_callbacks, process->walker);
    process->hopeless = !process->attached; /* until the mappings change */
    return process->attached;
}

static int take_frame(Dwfl_Frame *frame, void *argument)
{
    struct as_stack_walker *walker = argument;
    Dwarf_Addr pc;
    walker->beyond = walker->failed = false;
    if (!dwfl_frame_pc(frame, &pc, NULL) || !pc)
        return DWARF_CB_ABORT;
    walker->more = walker->n >= walker->max;
    if (walker->more)
        return DWARF_CB_ABORT;
    walker->frames[walker->n++] = pc;
    return DWARF_CB_OK;
}

/* DWARF's order of the registers, by perf's. */
static bool take_registers(struct as_stack_walker *walker)
{
    static const uint8_t order[DWARF_REGISTERS] = {0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, PERF_IP};
    const struct as_perf_regs *regs = &walker->sample->user_regs;
    for (int i = 0; i < DWARF_REGISTERS; i++) {
        size_t at = (size_t)__builtin_popcountll(regs->mask & ((UINT64_C(1) << order[i]) - 1));
        bool there = regs->mask >> order[i] & 1 && at < regs->count;
        if (!there && (order[i] == PERF_IP || order[i] == PERF_SP))
            return false;
        walker->registers[i] = there ? regs->values[at] : 0;
    }
    return true;
}

size_t as_stack_walker_walk(struct as_stack_walker *walker, const struct as_perf_sample *sample, uint64_t *frames,
                            size_t max)
{
    struct process *process = process_of(walker, sample->pid, false);
    walker->sample = sample;
    walker->frames = frames;
    walker->n = 0;
    walker->more = walker->beyond = walker->failed = walker->ended = false;
    walker->max = max < AS_WALK_MAX ? max : AS_WALK_MAX;
    if (!max || sample->user_regs.abi != PERF_SAMPLE_REGS_ABI_64 || !sample->stack || !take_registers(walker))
        return 0;
    if (process && ready(process, (pid_t)sample->pid))
        walker->ended = dwfl_getthread_frames(process->dwfl, (pid_t)sample->tid, take_frame, walker) == 0;
    if (!walker->n)
        frames[walker->n++] = walker->registers[DWARF_REGISTERS - 1];
    return walker->n;
}

/* A copy that is not full ends at the end of the stack. */
enum as_walk_end as_stack_walker_end(const struct as_stack_walker *walker)
{
    if (walker->more)
        return AS_WALK_AT_MAX;
    bool full =
        walker->sample && walker->sample->stack_size > 0 && walker->sample->stack_valid == walker->sample->stack_size;
    if (walker->beyond && full)
        return AS_WALK_BEYOND_COPY;
    return walker->ended && !walker->failed ? AS_WALK_ENDED : AS_WALK_LOST;
}
