/* Starts the agent: finds the shared memory and claims an image in it; and writes to the ring. See agent.h. */
#include "agent/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct as_agent_wire *wire;
static struct as_agent_image *image;
static volatile uint32_t *alive; /* 1 here, 0 in a forked child: the kernel wipes that page */
static unsigned depth;
static bool in_model;

struct as_agent_image *as_agent_here(void)
{
    return alive && *alive ? image : NULL;
}

unsigned as_agent_depth(void)
{
    return depth;
}

bool as_agent_in_model(void)
{
    return in_model;
}

static void *map_part(int fd, size_t offset, size_t size)
{
    size_t before = offset % (size_t)sysconf(_SC_PAGESIZE);
    void *mapped =
        mmap(NULL, before + size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, (off_t)(offset - before));
    return mapped == MAP_FAILED ? NULL : (char *)mapped + before;
}

static bool make_alive(void)
{
    long page = sysconf(_SC_PAGESIZE);
    void *mapped = mmap(NULL, (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED || madvise(mapped, (size_t)page, MADV_WIPEONFORK) != 0)
        return false;
    *(uint32_t *)mapped = 1;
    alive = mapped;
    return true;
}

/* Behind the images, where Assay made the file that long. */
static void take_blocks(int fd, off_t size, struct as_agent_image *mine, uint32_t number)
{
    bool wanted = size == (off_t)AS_AGENT_WITH_BLOCKS;
    void *mapped = wanted ? map_part(fd, sizeof *wire + number * AS_AGENT_TABLE, AS_AGENT_TABLE) : NULL;
    as_agent_blocks_use(mapped);
    atomic_store(&mine->remembers, mapped != NULL);
}

static bool take_image(int fd, off_t file_size)
{
    uint32_t number = atomic_fetch_add(&wire->images, 1);
    if (number >= AS_AGENT_IMAGES)
        return false;
    struct as_agent_image *mine =
        map_part(fd, offsetof(struct as_agent_wire, image) + number * sizeof *mine, sizeof *mine);
    if (!mine)
        return false;
    ssize_t size = readlink("/proc/self/exe", mine->program, sizeof mine->program - 1);
    mine->program[size > 0 ? size : 0] = '\0';
    atomic_store(&mine->pid, (uint32_t)getpid()); /* releases program to as_agent_image (agent_host.c) */
    atomic_store(&mine->tracks, as_agent_live_open());
    take_blocks(fd, file_size, mine, number);
    image = mine;
    return true;
}

/* Maps only the ring and one image, because the program may have a limit of address space. */
static bool map_wire(const char *path)
{
    struct stat info;
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool right = fstat(fd, &info) == 0 && info.st_size >= (off_t)sizeof *wire;
    wire = right ? map_part(fd, 0, offsetof(struct as_agent_wire, image)) : NULL;
    bool ok =
        wire && wire->magic == AS_AGENT_MAGIC && wire->version == AS_AGENT_VERSION && take_image(fd, info.st_size);
    close(fd);
    return ok;
}

bool as_agent_start(const char *where)
{
    char path[64];
    if (strcmp(where, AS_AGENT_MODEL) == 0) {
        as_agent_thread_begin();
        return in_model = true;
    }
    if (sscanf(where, "%63s %u", path, &depth) != 2 || strncmp(path, "/proc/", 6) != 0)
        return false;
    depth = depth < 1 ? 1 : depth > AS_AGENT_DEPTH ? AS_AGENT_DEPTH : depth;
    as_agent_thread_begin();
    return map_wire(path) && make_alive();
}

/* The first of all constructors, so that allocations of the libraries' constructors are counted. */
__attribute__((constructor(101))) static void start(void)
{
    int saved = errno;
    const char *where = getenv(AS_AGENT_VARIABLE);
    if (where)
        (void)!as_agent_start(where);
    errno = saved;
}

/* ---- the ring ---- */

static struct as_agent_slot *take_slot(uint64_t *position)
{
    uint64_t at = atomic_load_explicit(&wire->tail, memory_order_relaxed);
    for (;;) {
        struct as_agent_slot *slot = &wire->ring[at & (AS_AGENT_RING - 1)];
        /* acquires the slot from drain (agent_host.c) */
        uint64_t sequence = atomic_load_explicit(&slot->sequence, memory_order_acquire);
        if (sequence == at) {
            if (atomic_compare_exchange_weak(&wire->tail, &at, at + 1)) {
                *position = at;
                return slot;
            }
        } else if ((int64_t)(sequence - at) < 0) {
            return NULL; /* not read yet: full */
        } else {
            at = atomic_load_explicit(&wire->tail, memory_order_relaxed);
        }
    }
}

void as_agent_tell(enum as_agent_event event)
{
    uint64_t position;
    int saved = errno;
    struct timespec now;
    if (!as_agent_here())
        return;
    struct as_agent_slot *slot = take_slot(&position);
    if (!slot) {
        atomic_fetch_add(&wire->dropped, 1);
        return;
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
    slot->event = event;
    slot->pid = (uint32_t)getpid();
    slot->tid = (uint32_t)syscall(SYS_gettid);
    slot->time = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    prctl(PR_GET_NAME, slot->name, 0, 0, 0);
    atomic_store_explicit(&slot->sequence, position + 1, memory_order_release); /* the slot, to drain (agent_host.c) */
    errno = saved;
}
