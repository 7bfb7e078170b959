/* Messages in the process's code lane. One lock orders them, because translation, mapping changes and QEMU's own
 * messages can come from any thread. A block is announced before QEMU can execute it, so the reader always finds it.
 *
 * The file of an address is read from /proc/self/maps when code is first translated there, and again after the program
 * has mapped or unmapped anything. That covers the loader, dlopen and dlclose without interpreting them.
 */
#include "plugin/code.h"

#include "plugin/cpu_state.h"
#include "plugin/lane.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct module_range {
    uint64_t start, end, offset; /* guest addresses */
    uint64_t path_hash;
    uint32_t checked; /* the generation of mappings in which this was last seen to be true */
};

static pthread_mutex_t code_lock = PTHREAD_MUTEX_INITIALIZER;
static struct module_range *ranges;
static size_t n_ranges, cap_ranges;
static _Atomic uint32_t maps_generation;
static uint64_t message[AS_WIRE_MESSAGE_MAX];

static void send_message(enum as_wire_message kind, size_t words)
{
    as_lane_push(as_plugin.code, (uint64_t)kind << AS_WIRE_EVENT_SHIFT | words);
    for (size_t i = 0; i < words; i++)
        as_lane_push(as_plugin.code, message[i]);
    as_lane_publish(as_plugin.code);
}

/* Copies text behind the first `words` words of the message, cut to what fits; returns the new number of words. */
static size_t append_text(size_t words, const char *text)
{
    size_t room = (AS_WIRE_MESSAGE_MAX - words - 1) * sizeof(uint64_t), length = strlen(text);
    length = length < room ? length : room;
    size_t text_words = length / sizeof(uint64_t) + 1;
    memset(&message[words], 0, text_words * sizeof(uint64_t));
    memcpy(&message[words], text, length);
    return words + text_words;
}

void as_code_lock_for_fork(void)
{
    pthread_mutex_lock(&code_lock);
}

void as_code_unlock_after_fork(void)
{
    pthread_mutex_unlock(&code_lock);
}

void as_code_start_process(uint32_t parent)
{
    as_plugin.code = as_lane_claim(true);
    message[0] = as_plugin.process;
    message[1] = parent;
    message[2] = as_plugin.image;
    message[3] = (uint64_t)as_plugin.pid;
    message[4] = as_plugin.arch;
    send_message(AS_WIRE_PROCESS, 5);
}

void as_code_maps_changed(void)
{
    atomic_fetch_add(&maps_generation, 1);
}

static struct module_range *find_range(uint64_t address)
{
    static size_t last;
    if (last < n_ranges && address - ranges[last].start < ranges[last].end - ranges[last].start)
        return &ranges[last];
    for (size_t i = n_ranges; i-- > 0;)
        if (address - ranges[i].start < ranges[i].end - ranges[i].start) {
            last = i;
            return &ranges[i];
        }
    return NULL;
}

static void add_range(const struct module_range *range)
{
    if (n_ranges == cap_ranges) {
        cap_ranges = cap_ranges ? 2 * cap_ranges : 64;
        ranges = realloc(ranges, cap_ranges * sizeof *ranges);
        if (!ranges)
            as_plugin_die("out of memory in the QEMU plugin");
    }
    ranges[n_ranges++] = *range;
}

static uint64_t hash_text(const char *text)
{
    uint64_t hash = 14695981039346656037u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 1099511628211u;
    return hash;
}

/* The kernel writes \012 for a newline in a file's name, and nothing else for a backslash. */
static void restore_newlines(char *path)
{
    static const char escaped[] = "\\012";
    if (!strstr(path, escaped) || access(path, F_OK) == 0)
        return;
    for (char *at = path; (at = strstr(at, escaped)); at++) {
        *at = '\n';
        memmove(at + 1, at + 4, strlen(at + 4) + 1);
    }
}

struct mapping {
    struct module_range range;
    bool found;
    char path[4096 + 64]; /* "" for anonymous memory */
    /* Of memory without a file: the jitdump that the process has mapped. "": none, or it is known. */
    char dump[4096 + 64];
};

/* The process whose jitdump was reported. */
static pid_t dump_of;

/* A runtime maps its jitdump so that profilers learn where it is. A forked child has its parent's mapped, too. */
static bool is_dump(const char *path)
{
    char name[32];
    const char *slash = strrchr(path, '/');
    snprintf(name, sizeof name, "/jit-%d.dump", (int)as_plugin.pid);
    return slash && strcmp(slash, name) == 0;
}

static bool has_file(const char *path)
{
    static const char memory[] = "/memfd:";
    return path[0] == '/' && strncmp(path, memory, sizeof memory - 1) != 0;
}

static void take_mapping(struct mapping *mapping, uint64_t host, char *line)
{
    unsigned long start, end, offset;
    int path_at = 0;
    if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %n", &start, &end, &offset, &path_at) < 3)
        return;
    line[strcspn(line, "\n")] = 0;
    const char *path = path_at ? line + path_at : "";
    if (host >= start && host < end) {
        mapping->range = (struct module_range){.start = start, .end = end, .offset = offset};
        snprintf(mapping->path, sizeof mapping->path, "%s", path);
        mapping->found = true;
    } else if (dump_of != as_plugin.pid && is_dump(path)) {
        snprintf(mapping->dump, sizeof mapping->dump, "%s", path);
    }
}

/* The mapping of /proc/self/maps that covers a host address. */
static void find_mapping(uint64_t host, struct mapping *mapping)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char *line = NULL;
    size_t capacity = 0;
    while (maps && getline(&line, &capacity, maps) > 0) {
        take_mapping(mapping, host, line);
        if (mapping->found && (has_file(mapping->path) || mapping->dump[0] || dump_of == as_plugin.pid))
            break;
    }
    restore_newlines(mapping->path);
    restore_newlines(mapping->dump);
    free(line);
    if (maps)
        fclose(maps);
}

static void report_dump(const char *path)
{
    dump_of = as_plugin.pid;
    message[0] = as_plugin.image;
    send_message(AS_WIRE_DUMP, append_text(1, path));
}

static void wait_until_read(const struct as_wire_lane *lane)
{
    while (atomic_load(&lane->consumed) != atomic_load(&lane->published) && !atomic_load(&as_plugin.wire->detached)) {
        if (atomic_load(&as_plugin.wire->reader_waits))
            as_lane_publish(as_plugin.code);
        usleep(20);
    }
}

static void report_module(uint64_t address, struct module_range *known)
{
    uint32_t generation = atomic_load(&maps_generation);
    struct mapping mapping = {0};
    find_mapping(address + as_plugin.guest_base, &mapping);
    if (!mapping.found)
        return;
    struct module_range range = mapping.range;
    range.start -= as_plugin.guest_base;
    range.end -= as_plugin.guest_base;
    range.path_hash = hash_text(mapping.path);
    range.checked = generation;
    bool same = known && known->start == range.start && known->end == range.end && known->offset == range.offset &&
                known->path_hash == range.path_hash;
    if (known)
        *known = range;
    else
        add_range(&range);
    if (!has_file(mapping.path) && mapping.dump[0])
        report_dump(mapping.dump);
    if (same)
        return;
    message[0] = as_plugin.image;
    message[1] = range.start;
    message[2] = range.end;
    message[3] = range.offset;
    send_message(AS_WIRE_MODULE, append_text(4, mapping.path));
    if (as_plugin.wire->gated) /* the landmarks in it must be known before its code is translated */
        wait_until_read(as_plugin.code);
}

static void learn_guest_base(const struct qemu_plugin_insn *insn)
{
    const void *host = qemu_plugin_insn_haddr(insn);
    if (as_plugin.guest_base_known || !host)
        return;
    as_plugin.guest_base = (uint64_t)(uintptr_t)host - qemu_plugin_insn_vaddr(insn);
    as_plugin.guest_base_known = true;
}

static size_t append_insn(size_t words, const struct qemu_plugin_insn *insn)
{
    uint8_t packed[2 * sizeof(uint64_t)] = {0};
    size_t length = qemu_plugin_insn_size(insn);
    if (length > sizeof packed - 1)
        length = sizeof packed - 1;
    memcpy(packed, qemu_plugin_insn_data(insn), length);
    packed[sizeof packed - 1] = (uint8_t)length;
    memcpy(&message[words], packed, sizeof packed);
    return words + 2;
}

/* Once for each image. A forked child has its parent's. */
static void report_program(void)
{
    static bool reported;
    if (reported || !qemu_plugin_path_to_binary)
        return;
    char *path = qemu_plugin_path_to_binary();
    reported = true;
    message[0] = as_plugin.image;
    if (path)
        send_message(AS_WIRE_PROGRAM, append_text(1, path));
    free(path);
}

uint32_t as_code_report_block(const struct qemu_plugin_tb *tb, size_t n, bool recorded)
{
    const struct qemu_plugin_insn *first = qemu_plugin_tb_get_insn(tb, 0);
    uint64_t address = qemu_plugin_insn_vaddr(first);
    uint32_t id = atomic_fetch_add(&as_plugin.wire->next_block, 1);
    pthread_mutex_lock(&code_lock);
    learn_guest_base(first);
    report_program();
    struct module_range *known = find_range(address);
    if (!known || known->checked != atomic_load(&maps_generation))
        report_module(address, known);
    message[0] = as_plugin.image | (recorded ? 0 : AS_WIRE_CODE_BARE);
    message[1] = id;
    message[2] = n;
    message[3] = address;
    size_t words = 4;
    for (size_t i = 0; i < n; i++)
        words = append_insn(words, qemu_plugin_tb_get_insn(tb, i));
    send_message(AS_WIRE_CODE, words);
    pthread_mutex_unlock(&code_lock);
    return id;
}

void as_code_report_execute(const char *path, bool followed)
{
    pthread_mutex_lock(&code_lock);
    message[0] = followed;
    send_message(AS_WIRE_EXECUTE, append_text(1, path));
    pthread_mutex_unlock(&code_lock);
}

/* QEMU announces in words that it is about to kill the program; the place of the thread then shows what completed. */
static void report_death(const char *line)
{
    static const char announcement[] = "uncaught target signal ";
    const char *number = strstr(line, announcement);
    struct as_wire_lane *lane = as_lane_mine();
    if (!number || !lane)
        return;
    uint64_t signal = strtoul(number + sizeof announcement - 1, NULL, 10) & 0x7f;
    as_lane_push(lane, (uint64_t)AS_WIRE_DEATH << AS_WIRE_EVENT_SHIFT | signal);
    as_lane_push(lane, as_cpu_death_place(lane->cpu));
    as_lane_publish(lane);
}

/* QEMU's messages (an uncaught signal, say) belong to us, not to the program's standard error. */
static ssize_t write_note(void *cookie, const char *text, size_t size)
{
    char line[1024];
    size_t length = size < sizeof line - 1 ? size : sizeof line - 1;
    memcpy(line, text, length);
    line[length] = 0;
    report_death(line);
    if (pthread_mutex_trylock(&code_lock) == 0) { /* it can come from a dying thread that holds the lock */
        send_message(AS_WIRE_NOTE, append_text(0, line));
        pthread_mutex_unlock(&code_lock);
    }
    return (ssize_t)size;
}

void as_code_capture_stderr(void)
{
    FILE *notes = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_note});
    if (!notes)
        return;
    setvbuf(notes, NULL, _IOLBF, 1024);
    stderr = notes;
}
