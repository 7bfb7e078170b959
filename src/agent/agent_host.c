/* See agent_host.h. */
#include "agent/agent_host.h"

#include "base/alloc.h"
#include "base/install.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#ifndef AS_AGENT_DIR
#define AS_AGENT_DIR "lib/assay"
#endif

struct as_agent {
    int memory;
    int library; /* open where its path cannot be preloaded; -1: its path can */
    struct as_agent_wire *wire;
    char **environment;
    char *own[2]; /* of its entries */
    AS_VEC(struct as_agent_thread) threads;
    uint64_t head;         /* the next position to read */
    uint64_t dropped;      /* events of more threads than we keep */
    size_t now, most;      /* threads that run */
    struct as_map running; /* pid << 32 | tid to thread + 1 */
    pthread_t reader;
    bool reading;
    atomic_bool stopping;
};

/* ---- setting up ---- */

static bool find_library(char path[PATH_MAX], struct as_error *err)
{
    return as_install_find("assay-agent.so", "", AS_AGENT_DIR, path) ||
           as_error_set(
               err, "assay-agent.so was not found beside 'assay' nor in %s of its prefix; build or install it again",
               AS_AGENT_DIR);
}

static bool make_memory(struct as_agent *agent, struct as_error *err)
{
    agent->memory = memfd_create("assay-agent", MFD_CLOEXEC);
    bool sized = agent->memory >= 0 && ftruncate(agent->memory, (off_t)sizeof *agent->wire) == 0;
    int why = errno;
    void *mapped =
        sized ? mmap(NULL, sizeof *agent->wire, PROT_READ | PROT_WRITE, MAP_SHARED, agent->memory, 0) : MAP_FAILED;
    if (mapped == MAP_FAILED)
        return as_error_set(err, "no shared memory for the agent: %s", strerror(sized ? errno : why));
    agent->wire = mapped;
    agent->wire->magic = AS_AGENT_MAGIC;
    agent->wire->version = AS_AGENT_VERSION;
    for (uint64_t i = 0; i < AS_AGENT_RING; i++)
        atomic_init(&agent->wire->ring[i].sequence, i);
    return true;
}

static bool is_variable(const char *entry, const char *name)
{
    size_t length = strlen(name);
    return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

/* The dynamic linker splits LD_PRELOAD at blanks and colons: a library with one in its path goes by our descriptor. */
static char *preload_path(struct as_agent *agent, const char *library, struct as_error *err)
{
    if (!strpbrk(library, " :"))
        return as_strdup(library);
    agent->library = open(library, O_RDONLY | O_CLOEXEC);
    if (agent->library >= 0)
        return as_format("/proc/%d/fd/%d", getpid(), agent->library);
    as_error_set(err, "%s: cannot be read: %s", library, strerror(errno));
    return NULL;
}

/* Ours with two entries replaced, which the caller owns. */
static char **environment_with(char *preload, char *variable)
{
    extern char **environ;
    size_t n = 0, kept = 0;
    while (environ && environ[n])
        n++;
    char **environment = as_alloc_array(n + 3, sizeof *environment);
    environment[kept++] = preload;
    environment[kept++] = variable;
    for (size_t i = 0; i < n; i++)
        if (!is_variable(environ[i], "LD_PRELOAD") && !is_variable(environ[i], AS_AGENT_VARIABLE))
            environment[kept++] = environ[i];
    return environment;
}

/* What is preloaded already stays behind the agent. */
static char *preload_entry(const char *path)
{
    const char *before = getenv("LD_PRELOAD");
    return before && *before ? as_format("LD_PRELOAD=%s:%s", path, before) : as_format("LD_PRELOAD=%s", path);
}

static bool make_environment(struct as_agent *agent, const char *library, unsigned depth, struct as_error *err)
{
    char *path = preload_path(agent, library, err);
    if (!path)
        return false;
    agent->own[0] = preload_entry(path);
    agent->own[1] = as_format(AS_AGENT_VARIABLE "=/proc/%d/fd/%d %u", getpid(), agent->memory, depth);
    agent->environment = environment_with(agent->own[0], agent->own[1]);
    free(path);
    return true;
}

char **as_agent_model_environment(struct as_error *err)
{
    char path[PATH_MAX];
    if (!find_library(path, err))
        return NULL;
    if (strpbrk(path, " :,")) {
        as_error_set(err, "%s: a library with a blank, colon or comma in its path cannot be loaded into the model",
                     path);
        return NULL;
    }
    return environment_with(preload_entry(path), as_strdup(AS_AGENT_VARIABLE "=" AS_AGENT_MODEL));
}

void as_agent_model_environment_free(char **environment)
{
    if (!environment)
        return;
    free(environment[0]);
    free(environment[1]);
    free(environment);
}

/* ---- the ring ---- */

static void take(struct as_agent *agent, const struct as_agent_slot *slot)
{
    if (slot->event != AS_AGENT_THREAD_START && slot->event != AS_AGENT_THREAD_END)
        return;
    if (agent->threads.len >= AS_AGENT_MAX_THREADS) {
        agent->dropped++;
        return;
    }
    uint64_t *number = as_map_put(&agent->running, (uint64_t)slot->pid << 32 | slot->tid);
    if (slot->event == AS_AGENT_THREAD_START || *number == 0) {
        *as_vec_push(&agent->threads) = (struct as_agent_thread){.pid = slot->pid, .tid = slot->tid};
        *number = agent->threads.len;
    }
    struct as_agent_thread *thread = &agent->threads.data[*number - 1];
    memcpy(thread->name, slot->name, sizeof slot->name);
    if (slot->event == AS_AGENT_THREAD_START) {
        thread->start = slot->time;
        agent->now++;
    } else {
        thread->end = slot->time;
        agent->now -= agent->now > 0;
    }
    agent->most = agent->now > agent->most ? agent->now : agent->most;
}

/* A position that was taken and never published (its thread was killed there) is passed over at the end. */
static void drain(struct as_agent *agent, bool last)
{
    struct as_agent_wire *wire = agent->wire;
    for (uint64_t n = 0, at = agent->head; n < AS_AGENT_RING; n++, at++) {
        struct as_agent_slot *slot = &wire->ring[at & (AS_AGENT_RING - 1)];
        /* acquires the slot's other members from as_agent_tell */
        bool published = atomic_load_explicit(&slot->sequence, memory_order_acquire) == at + 1;
        if (!published && (!last || at >= atomic_load(&wire->tail)))
            return;
        if (published) {
            struct as_agent_slot copy = {.event = slot->event, .pid = slot->pid, .tid = slot->tid, .time = slot->time};
            memcpy(copy.name, slot->name, sizeof copy.name);
            take(agent, &copy);
        }
        atomic_store_explicit(&slot->sequence, at + AS_AGENT_RING, memory_order_release); /* the slot, to take_slot */
        agent->head = at + 1;
    }
}

static void *read_ring(void *argument)
{
    struct as_agent *agent = argument;
    while (!agent->stopping) {
        drain(agent, false);
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    drain(agent, true);
    return NULL;
}

/* ---- asking ---- */

struct as_agent *as_agent_open(const char *library, unsigned depth, struct as_error *err)
{
    char found[PATH_MAX];
    struct as_agent *agent = as_alloc(sizeof *agent);
    agent->memory = agent->library = -1;
    if ((library || find_library(found, err)) && make_memory(agent, err) &&
        make_environment(agent, library ? library : found, depth, err)) {
        int error = pthread_create(&agent->reader, NULL, read_ring, agent);
        agent->reading = error == 0;
        if (!error || as_error_set(err, "no thread for the agent: %s", strerror(error)))
            return agent;
    }
    as_agent_close(agent);
    return NULL;
}

bool as_agent_want_blocks(struct as_agent *agent, struct as_error *err)
{
    return ftruncate(agent->memory, (off_t)AS_AGENT_WITH_BLOCKS) == 0 ||
           as_error_set(err, "no shared memory for the agent's blocks: %s", strerror(errno));
}

char *const *as_agent_environment(const struct as_agent *agent)
{
    return agent->environment;
}

void as_agent_stop(struct as_agent *agent)
{
    agent->stopping = true;
    if (agent->reading)
        pthread_join(agent->reader, NULL);
    agent->reading = false;
}

const struct as_agent_wire *as_agent_wire(const struct as_agent *agent)
{
    return agent->wire;
}

const struct as_agent_image *as_agent_image(const struct as_agent *agent, uint32_t number)
{
    const struct as_agent_wire *wire = agent->wire;
    if (number >= AS_AGENT_IMAGES || number >= wire->images || !wire->image[number].pid)
        return NULL;
    return &wire->image[number];
}

static uint64_t at_most(uint64_t value, uint64_t most)
{
    return value < most ? value : most;
}

bool as_agent_read_site(const struct as_agent_image *image, uint32_t number, struct as_agent_seen_site *seen)
{
    bool other = number >= AS_AGENT_SITES; /* nobody fills in what it is */
    const struct as_agent_site *site = &image->site[number < AS_AGENT_ALL_SITES ? number : 0];
    bool ready = site->ready; /* before what it says is written: from fill (agent_sites.c) */
    uint32_t call = other ? number - AS_AGENT_SITES : site->call, frames = other ? 0 : site->frames;
    if (call >= AS_AGENT_CALLS || (!other && (!ready || frames == 0 || frames > AS_AGENT_DEPTH)))
        return false;
    *seen = (struct as_agent_seen_site){.call = call, .frames = frames};
    seen->freed = site->freed; /* before the counts, that only grow: from subtract (agent_live.c) */
    uint64_t freed_bytes = site->freed_bytes;
    seen->count = site->count;
    seen->bytes = site->bytes;
    seen->freed = at_most(seen->freed, seen->count);
    seen->live = seen->count - seen->freed;
    seen->live_bytes = seen->bytes - at_most(freed_bytes, seen->bytes);
    seen->peak = site->peak;
    seen->peak_bytes = site->peak_bytes;
    memcpy(seen->stack, site->stack, frames * sizeof *seen->stack);
    return seen->count > 0;
}

bool as_agent_read_file(const struct as_agent_image *image, uint32_t number, struct as_agent_seen_file *seen)
{
    const struct as_agent_file *file = &image->file[number < AS_AGENT_FILES ? number : 0];
    if (number >= AS_AGENT_FILES || number >= image->files)
        return false;
    uint64_t start = file->start; /* before the rest, which note_file (agent_sites.c) wrote before it */
    *seen = (struct as_agent_seen_file){.start = start, .end = file->end};
    memcpy(seen->path, file->path[0] ? file->path : image->program, sizeof seen->path);
    seen->path[sizeof seen->path - 1] = '\0';
    return seen->start && seen->end > seen->start && seen->path[0] == '/';
}

/* ---- blocks ---- */

static bool check_block(const struct as_agent_block *slot, struct as_agent_seen_block *seen)
{
    *seen = (struct as_agent_seen_block){.start = slot->start,
                                         .bytes = slot->what / AS_AGENT_BLOCK_SITE,
                                         .sequence = slot->sequence,
                                         .site = (uint32_t)(slot->what % AS_AGENT_BLOCK_SITE)};
    return seen->start && seen->bytes && seen->sequence && seen->site < AS_AGENT_ALL_SITES &&
           seen->start + seen->bytes > seen->start;
}

/* By reading, not by mapping: a look at a page that nobody wrote would make one. */
void as_agent_each_block(const struct as_agent *agent, uint32_t number,
                         void (*each)(void *context, const struct as_agent_seen_block *block), void *context)
{
    enum { PIECE = 4096 };
    static const off_t slot_bytes = sizeof(struct as_agent_block);
    struct as_agent_block *piece = as_alloc_array(PIECE, sizeof *piece);
    struct as_agent_seen_block seen;
    off_t first = (off_t)(sizeof *agent->wire + number * AS_AGENT_TABLE), end = first + (off_t)AS_AGENT_TABLE;
    for (off_t at = first; at < end;) {
        off_t used = lseek(agent->memory, at, SEEK_DATA);
        if (used < 0 || used >= end)
            break;
        at = used - (used - first) % slot_bytes;
        size_t room = (size_t)(end - at) < PIECE * sizeof *piece ? (size_t)(end - at) : PIECE * sizeof *piece;
        ssize_t got = pread(agent->memory, piece, room, at);
        if (got < slot_bytes)
            break;
        for (ssize_t i = 0; i < got / slot_bytes; i++)
            if (check_block(&piece[i], &seen))
                each(context, &seen);
        at += got / slot_bytes * slot_bytes;
    }
    free(piece);
}

/* ---- threads ---- */

const struct as_agent_thread *as_agent_threads(const struct as_agent *agent, size_t *n)
{
    *n = agent->threads.len;
    return agent->threads.data;
}

size_t as_agent_most_at_once(const struct as_agent *agent)
{
    return agent->most;
}

uint64_t as_agent_dropped(const struct as_agent *agent)
{
    return atomic_load(&agent->wire->dropped) + agent->dropped;
}

void as_agent_close(struct as_agent *agent)
{
    if (!agent)
        return;
    as_agent_stop(agent);
    if (agent->wire)
        munmap(agent->wire, sizeof *agent->wire);
    if (agent->memory >= 0)
        close(agent->memory);
    if (agent->library >= 0)
        close(agent->library);
    as_vec_free(&agent->threads);
    as_map_free(&agent->running);
    free(agent->environment);
    free(agent->own[0]);
    free(agent->own[1]);
    free(agent);
}
