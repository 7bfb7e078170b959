/* assay-mpi.so: stands before the MPI library of a program and counts what its ranks send to each other, by rank of
 * MPI_COMM_WORLD. See mpi_wire.h for where.
 *
 * It is built without an MPI, for any of them. Handles (communicators, types) are numbers of 32 bits in MPICH and its relatives
 * and pointers in Open MPI: here they are registers that are passed on as they came. What the program's library has to say about
 * them (sizes of types, ranks of groups) is asked of that library by its PMPI names.
 *
 * A message counts where it is sent, once, when the call has succeeded. Collective operations have no messages that MPI knows of;
 * what counts is the data that they move by their meaning: MPI_Bcast from the root to each other rank, MPI_Alltoall from each to each.
 * MPI_Allreduce counts as a reduction to rank 0 of its communicator and a broadcast from there.
 *
 * Not seen: Fortran's names, calls by PMPI names, partitioned communication, intercommunicators' collective operations.
 */
#include "agent/mpi_wire.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

typedef uintptr_t handle;

enum { KEPT = 64, REQUESTS = 256, MPICH_WORLD = 0x44000000 };

/* A communicator or a window: who its ranks are in the world. */
struct members {
    handle key;
    int n, own; /* own: this process's rank in it; -1: it is the other side of an intercommunicator */
    int *world;
};

static struct as_mpi_wire *wire;
static struct as_mpi_row *row;
static int own_rank = -1;
static bool wide; /* handles are pointers */
static handle world;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct members kept[KEPT];
static unsigned next_kept;

/* ---- the library behind ---- */

static void *find(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    char standard[64];
    if (!found) {
        snprintf(standard, sizeof standard, "P%s", name);
        found = dlsym(RTLD_NEXT, standard);
    }
    if (!found) {
        fprintf(stderr, "assay-mpi.so: the program calls %s, which no library has\n", name);
        abort();
    }
    return found;
}

/* A function of the library by its second name, under which nobody counts. */
#define BEHIND(name, parameters)                                                                                       \
    ({                                                                                                                 \
        static void *_Atomic asked;                                                                                    \
        if (!asked)                                                                                                    \
            asked = find("P" #name);                                                                                   \
        (int(*) parameters) asked;                                                                                     \
    })
#define ASK(name, what, answer) BEHIND(name, (handle, void *))(what, answer)
#define FREE(name, what) BEHIND(name, (void *))(what)

static handle clean(handle any)
{
    return wide ? any : (uint32_t)any;
}

static handle read_handle(const void *from)
{
    handle value = 0;
    memcpy(&value, from, wide ? sizeof value : sizeof(uint32_t));
    return value;
}

/* ---- joining ---- */

static struct as_mpi_wire *map_wire(const char *path)
{
    struct stat info;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    bool right = fstat(fd, &info) == 0 && info.st_size == (off_t)sizeof(struct as_mpi_wire);
    void *mapped =
        right ? mmap(NULL, sizeof(struct as_mpi_wire), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    close(fd);
    return mapped != MAP_FAILED && ((struct as_mpi_wire *)mapped)->magic == AS_MPI_MAGIC ? mapped : NULL;
}

/* MPI has been initialised. */
static void join(void)
{
    const char *path = getenv(AS_MPI_VARIABLE);
    void *open_mpi = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world");
    int size = 0;
    if (!path || row || strncmp(path, "/proc/", 6) != 0 || !(wire = map_wire(path)))
        return;
    wide = open_mpi != NULL;
    world = wide ? (handle)open_mpi : MPICH_WORLD;
    if (ASK(MPI_Comm_rank, world, &own_rank) || ASK(MPI_Comm_size, world, &size) || own_rank < 0 ||
        own_rank >= AS_MPI_RANKS)
        return;
    row = &wire->row[own_rank];
    row->size = (uint32_t)size;
    row->pid = (uint32_t)getpid();
}

/* ---- who is who ---- */

static void learn_ranks(struct members *members, handle group)
{
    handle all = 0;
    int *ranks = malloc((size_t)members->n * sizeof *ranks);
    for (int i = 0; ranks && i < members->n; i++)
        ranks[i] = i;
    if (ranks && ASK(MPI_Comm_group, world, &all) == 0) {
        BEHIND(MPI_Group_translate_ranks, (handle, int, const int *, handle, int *))
        (group, members->n, ranks, all, members->world);
        FREE(MPI_Group_free, &all);
    }
    free(ranks);
}

static void learn(struct members *members, handle key, bool window)
{
    handle group = 0;
    int inter = 0;
    members->key = key;
    members->own = -1;
    members->n = 0;
    if (window) {
        ASK(MPI_Win_get_group, key, &group);
    } else if (ASK(MPI_Comm_test_inter, key, &inter) == 0 && inter) {
        ASK(MPI_Comm_remote_group, key, &group);
    } else {
        ASK(MPI_Comm_group, key, &group);
        ASK(MPI_Comm_rank, key, &members->own);
    }
    ASK(MPI_Group_size, group, &members->n);
    members->world = realloc(members->world, (size_t)(members->n > 0 ? members->n : 1) * sizeof *members->world);
    if (members->world)
        learn_ranks(members, group);
    else
        members->n = 0;
    FREE(MPI_Group_free, &group);
}

/* The lock is held. */
static const struct members *members_of(handle key, bool window)
{
    key = clean(key);
    for (unsigned i = 0; i < KEPT; i++)
        if (kept[i].key == key && kept[i].world)
            return &kept[i];
    struct members *mine = &kept[next_kept++ % KEPT];
    learn(mine, key, window);
    return mine;
}

static void forget(handle key)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < KEPT; i++)
        if (kept[i].key == key)
            kept[i].key = 0;
    pthread_mutex_unlock(&lock);
}

/* ---- counting ---- */

static uint64_t bytes_of(int64_t count, handle type)
{
    int size = 0;
    return count > 0 && ASK(MPI_Type_size, type, &size) == 0 && size > 0 ? (uint64_t)count * (uint64_t)size : 0;
}

static void count_message(struct as_mpi_row *from, int to, uint64_t bytes)
{
    if (to < 0 || to >= AS_MPI_RANKS) {
        atomic_fetch_add(&wire->elsewhere, 1);
        return;
    }
    atomic_fetch_add(&from->to[to].bytes, bytes);
    atomic_fetch_add(&from->to[to].messages, 1);
}

static void sent(handle comm, int to, int64_t count, handle type)
{
    if (!row || to < 0) /* MPI_PROC_NULL */
        return;
    pthread_mutex_lock(&lock);
    const struct members *members = members_of(comm, false);
    count_message(row, to < members->n ? members->world[to] : -1, bytes_of(count, type));
    pthread_mutex_unlock(&lock);
}

/* One side does both parts. `gets`: the data comes from there. */
static void moved(handle window, int other, int64_t count, handle type, bool gets)
{
    if (!row || other < 0)
        return;
    pthread_mutex_lock(&lock);
    const struct members *members = members_of(window, true);
    int there = other < members->n ? members->world[other] : -1;
    bool known = there >= 0 && there < AS_MPI_RANKS;
    count_message(gets && known ? &wire->row[there] : row, gets && known ? own_rank : there, bytes_of(count, type));
    pthread_mutex_unlock(&lock);
}

static void contribute(const struct members *members, int to, uint64_t bytes)
{
    int there = to >= 0 && to < members->n ? members->world[to] : -1;
    if (to == members->own)
        return;
    if (there < 0 || there >= AS_MPI_RANKS) {
        atomic_fetch_add(&wire->elsewhere, 1);
        return;
    }
    atomic_fetch_add(&row->to[there].collective, bytes);
    atomic_fetch_add(&row->to[there].contributions, 1);
}

enum shape { ROOT_TO_ALL, ALL_TO_ROOT, ALL_TO_ALL, TO_NEXT };

/* `counts`: for each rank one, in place of `count`. */
static void took_part(handle comm, enum shape shape, int root, int64_t count, const int *counts, handle type)
{
    if (!row)
        return;
    pthread_mutex_lock(&lock);
    const struct members *members = members_of(comm, false);
    int own = members->own, first = 0, end = 0; /* to these */
    if (own >= 0 && (shape == ALL_TO_ALL || (shape == ROOT_TO_ALL && own == root)))
        end = members->n;
    else if (own >= 0 && shape == ALL_TO_ROOT && own != root)
        end = (first = root) + 1;
    else if (own >= 0 && shape == TO_NEXT && own + 1 < members->n)
        end = (first = own + 1) + 1;
    for (int i = first; i < end && i < members->n; i++)
        contribute(members, i, bytes_of(counts ? counts[i] : count, type));
    pthread_mutex_unlock(&lock);
}

/* Open MPI's and MPICH's MPI_IN_PLACE: the count and type of what is received then hold for both. */
static bool in_place(const void *buffer)
{
    return buffer == (const void *)1 || buffer == (const void *)-1;
}

/* ---- persistent requests ---- */

struct persistent {
    handle request, comm, type; /* request 0: free */
    int to, count;
};

static struct persistent persistents[REQUESTS];

static void keep_request(const void *request, handle comm, int to, int count, handle type)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < REQUESTS; i++)
        if (!persistents[i].request) {
            persistents[i] = (struct persistent){read_handle(request), comm, type, to, count};
            break;
        }
    pthread_mutex_unlock(&lock);
}

/* Returns a copy; its request is 0 if it is none that sends. */
static struct persistent find_request(const void *request, bool drops)
{
    struct persistent found = {0};
    handle key = read_handle(request);
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; key && i < REQUESTS && !found.request; i++)
        if (persistents[i].request == key) {
            found = persistents[i];
            persistents[i].request = drops ? 0 : key;
        }
    pthread_mutex_unlock(&lock);
    return found;
}

static void started(const void *request)
{
    struct persistent what = find_request(request, false);
    if (what.request)
        sent(what.comm, what.to, what.count, what.type);
}

/* ---- the functions ---- */

/* What a program calls: the library's function, then `note`. */
#define BEFORE(name, parameters, arguments, note)                                                                      \
    EXPORT int name parameters;                                                                                        \
    EXPORT int name parameters                                                                                         \
    {                                                                                                                  \
        static void *_Atomic next;                                                                                     \
        if (!next)                                                                                                     \
            next = find(#name);                                                                                        \
        int result = ((int(*) parameters)next)arguments;                                                               \
        if (result == 0) {                                                                                             \
            note;                                                                                                      \
        }                                                                                                              \
        return result;                                                                                                 \
    }

BEFORE(MPI_Init, (int *argc, char ***argv), (argc, argv), join())
BEFORE(MPI_Init_thread, (int *argc, char ***argv, int wanted, int *got), (argc, argv, wanted, got), join())

#define SEND(name)                                                                                                     \
    BEFORE(name, (const void *data, int count, handle type, int to, int tag, handle comm),                             \
           (data, count, type, to, tag, comm), sent(comm, to, count, type))
#define ISEND(name)                                                                                                    \
    BEFORE(name, (const void *data, int count, handle type, int to, int tag, handle comm, void *request),              \
           (data, count, type, to, tag, comm, request), sent(comm, to, count, type))
#define SEND_INIT(name)                                                                                                \
    BEFORE(name, (const void *data, int count, handle type, int to, int tag, handle comm, void *request),              \
           (data, count, type, to, tag, comm, request), keep_request(request, comm, to, count, type))
SEND(MPI_Send)
SEND(MPI_Ssend)
SEND(MPI_Bsend)
SEND(MPI_Rsend)
ISEND(MPI_Isend)
ISEND(MPI_Issend)
ISEND(MPI_Ibsend)
ISEND(MPI_Irsend)
SEND_INIT(MPI_Send_init)
SEND_INIT(MPI_Ssend_init)
SEND_INIT(MPI_Bsend_init)
SEND_INIT(MPI_Rsend_init)

BEFORE(MPI_Sendrecv,
       (const void *data, int count, handle type, int to, int tag, void *into, int most, handle as, int from, int with,
        handle comm, void *status),
       (data, count, type, to, tag, into, most, as, from, with, comm, status), sent(comm, to, count, type))
BEFORE(MPI_Sendrecv_replace,
       (void *data, int count, handle type, int to, int tag, int from, int with, handle comm, void *status),
       (data, count, type, to, tag, from, with, comm, status), sent(comm, to, count, type))
BEFORE(MPI_Start, (void *request), (request), started(request))
BEFORE(MPI_Startall, (int n, void *requests), (n, requests), {
    for (int i = 0; i < n; i++)
        started((char *)requests + (size_t)i * (wide ? sizeof(handle) : sizeof(uint32_t)));
})

#define REMOTE(name, gets)                                                                                             \
    BEFORE(name,                                                                                                       \
           (const void *data, int count, handle type, int other, intptr_t at, int there, handle as, handle window),    \
           (data, count, type, other, at, there, as, window), moved(window, other, count, type, gets))
REMOTE(MPI_Put, false)
REMOTE(MPI_Get, true)
BEFORE(MPI_Accumulate,
       (const void *data, int count, handle type, int other, intptr_t at, int there, handle as, handle op,
        handle window),
       (data, count, type, other, at, there, as, op, window), moved(window, other, count, type, false))

/* Each with and without a request behind its arguments. */
#define UNPACK(...) __VA_ARGS__
#define COLLECTIVE(name, at_once, parameters, arguments, note)                                                         \
    BEFORE(name, (UNPACK parameters), (UNPACK arguments), note)                                                        \
    BEFORE(at_once, (UNPACK parameters, void *request), (UNPACK arguments, request), note)

COLLECTIVE(MPI_Bcast, MPI_Ibcast, (void *data, int count, handle type, int root, handle comm),
           (data, count, type, root, comm), took_part(comm, ROOT_TO_ALL, root, count, NULL, type))
COLLECTIVE(MPI_Reduce, MPI_Ireduce,
           (const void *data, void *into, int count, handle type, handle op, int root, handle comm),
           (data, into, count, type, op, root, comm), took_part(comm, ALL_TO_ROOT, root, count, NULL, type))
COLLECTIVE(MPI_Allreduce, MPI_Iallreduce,
           (const void *data, void *into, int count, handle type, handle op, handle comm),
           (data, into, count, type, op, comm), {
               took_part(comm, ALL_TO_ROOT, 0, count, NULL, type);
               took_part(comm, ROOT_TO_ALL, 0, count, NULL, type);
           })
COLLECTIVE(MPI_Scan, MPI_Iscan, (const void *data, void *into, int count, handle type, handle op, handle comm),
           (data, into, count, type, op, comm), took_part(comm, TO_NEXT, 0, count, NULL, type))
COLLECTIVE(MPI_Reduce_scatter, MPI_Ireduce_scatter,
           (const void *data, void *into, const int *counts, handle type, handle op, handle comm),
           (data, into, counts, type, op, comm), took_part(comm, ALL_TO_ALL, 0, 0, counts, type))
COLLECTIVE(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block,
           (const void *data, void *into, int count, handle type, handle op, handle comm),
           (data, into, count, type, op, comm), took_part(comm, ALL_TO_ALL, 0, count, NULL, type))
COLLECTIVE(MPI_Gather, MPI_Igather,
           (const void *data, int count, handle type, void *into, int each, handle as, int root, handle comm),
           (data, count, type, into, each, as, root, comm), took_part(comm, ALL_TO_ROOT, root, count, NULL, type))
COLLECTIVE(MPI_Gatherv, MPI_Igatherv,
           (const void *data, int count, handle type, void *into, const int *counts, const int *places, handle as,
            int root, handle comm),
           (data, count, type, into, counts, places, as, root, comm),
           took_part(comm, ALL_TO_ROOT, root, count, NULL, type))
COLLECTIVE(MPI_Scatter, MPI_Iscatter,
           (const void *data, int count, handle type, void *into, int most, handle as, int root, handle comm),
           (data, count, type, into, most, as, root, comm), took_part(comm, ROOT_TO_ALL, root, count, NULL, type))
COLLECTIVE(MPI_Scatterv, MPI_Iscatterv,
           (const void *data, const int *counts, const int *places, handle type, void *into, int most, handle as,
            int root, handle comm),
           (data, counts, places, type, into, most, as, root, comm),
           took_part(comm, ROOT_TO_ALL, root, 0, counts, type))
COLLECTIVE(MPI_Allgather, MPI_Iallgather,
           (const void *data, int count, handle type, void *into, int each, handle as, handle comm),
           (data, count, type, into, each, as, comm),
           took_part(comm, ALL_TO_ALL, 0, in_place(data) ? each : count, NULL, in_place(data) ? as : type))
COLLECTIVE(MPI_Alltoall, MPI_Ialltoall,
           (const void *data, int count, handle type, void *into, int each, handle as, handle comm),
           (data, count, type, into, each, as, comm),
           took_part(comm, ALL_TO_ALL, 0, in_place(data) ? each : count, NULL, in_place(data) ? as : type))
COLLECTIVE(MPI_Alltoallv, MPI_Ialltoallv,
           (const void *data, const int *counts, const int *places, handle type, void *into, const int *each,
            const int *to, handle as, handle comm),
           (data, counts, places, type, into, each, to, as, comm),
           took_part(comm, ALL_TO_ALL, 0, 0, in_place(data) ? each : counts, in_place(data) ? as : type))

/* The rank's own part lies at another index in `each`: it is sent to all alike. */
static int64_t own_part(handle comm, const int *each)
{
    pthread_mutex_lock(&lock);
    int own = members_of(comm, false)->own;
    pthread_mutex_unlock(&lock);
    return own >= 0 ? each[own] : 0;
}

COLLECTIVE(MPI_Allgatherv, MPI_Iallgatherv,
           (const void *data, int count, handle type, void *into, const int *each, const int *places, handle as,
            handle comm),
           (data, count, type, into, each, places, as, comm), {
               bool same = in_place(data);
               took_part(comm, ALL_TO_ALL, 0, same && row ? own_part(comm, each) : count, NULL, same ? as : type);
           })

/* Handles that end: the library clears them, so they are read before, and their numbers can come again. */
#define FREES(name, drop)                                                                                              \
    EXPORT int name(void *what);                                                                                       \
    EXPORT int name(void *what)                                                                                        \
    {                                                                                                                  \
        static void *_Atomic next;                                                                                     \
        if (!next)                                                                                                     \
            next = find(#name);                                                                                        \
        drop;                                                                                                          \
        return ((int (*)(void *))next)(what);                                                                          \
    }

FREES(MPI_Comm_free, forget(read_handle(what)))
FREES(MPI_Win_free, forget(read_handle(what)))
FREES(MPI_Request_free, find_request(what, true))
