/* See twin.h. The log is a memfd of records: a head, then the words of one lane. Both sides see how much was written and
 * taken; a side that has to wait looks again after a moment, because records come at once or hundreds of them are there. */
#include "engine/twin.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOMENT = 100, READY_MOMENT = 20 }; /* microseconds */
#define MOST_AHEAD (UINT64_C(1) << 30)    /* bytes of the log that the copy has not taken yet */
#define FORGET_AFTER (UINT64_C(16) << 20) /* bytes: what was taken is given back in pieces of this size */

struct head {
    uint32_t lane, words;
};

struct both {
    _Atomic uint64_t written; /* bytes: write_log releases the log before it to as_twin_pull */
    _Atomic uint64_t taken;   /* bytes: as_twin_pull tells wait_for_copy */
    _Atomic uint32_t ready;   /* the copy has copied the rings, which may change now: take_rings to as_reader_twin */
    _Atomic uint32_t ended;   /* the original writes nothing more: behind `written`, which as_twin_pull reads again */
    _Atomic uint32_t gone;    /* the original's own: the log is full */
};

struct as_twin {
    int log;
    struct both *both; /* shared memory */
    bool is_copy;
    pid_t copy;
    uint64_t forgotten;
    uint64_t sent[AS_WIRE_LANES]; /* words that the copy has, by lane */
    void (*at_end)(void *context);
    void *context;
};

/* ---- the original ---- */

static void write_log(struct as_twin *twin, const void *data, size_t size)
{
    uint64_t at = atomic_load(&twin->both->written);
    for (size_t done = 0; done < size;) {
        ssize_t n = pwrite(twin->log, (const char *)data + done, size - done, (off_t)(at + done));
        if (n <= 0 && errno != EINTR) { /* no memory: the copy notices that its log is short */
            atomic_store(&twin->both->gone, 1);
            return;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    atomic_store(&twin->both->written, at + size);
}

/* How many words each lane has. Threads first: a block is announced before it is executed. `published` is all 0: a lane that is claimed
 * meanwhile stays so. `state` acquires is_code from as_lane_claim (plugin/lane.c); lanes become free on this thread alone. */
static void look_at_lanes(const struct as_reader *reader, uint64_t published[AS_WIRE_LANES])
{
    uint32_t used = atomic_load(&reader->wire->lanes_used);
    for (int code = 0; code < 2; code++)
        for (uint32_t i = 0; i < used; i++) {
            const struct as_wire_lane *lane = &reader->wire->lanes[i];
            uint32_t state = atomic_load(&lane->state);
            if ((state == AS_WIRE_LIVE || state == AS_WIRE_ENDED) && lane->is_code == (uint32_t)code)
                published[i] = atomic_load(&lane->published);
        }
}

static bool is_dead(pid_t copy)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)copy, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
}

static void wait_for_copy(const struct as_twin *twin)
{
    while (atomic_load(&twin->both->written) - atomic_load(&twin->both->taken) > MOST_AHEAD &&
           !atomic_load(&twin->both->gone) && !is_dead(twin->copy))
        usleep(MOMENT);
}

void as_twin_send(struct as_reader *reader, uint32_t lane, uint64_t consumed)
{
    struct as_twin *twin = reader->twin;
    uint64_t from = twin->sent[lane];
    if (twin->is_copy || consumed <= from || atomic_load(&twin->both->gone))
        return;
    static struct {
        struct head head;
        uint64_t words[AS_WIRE_LONG * AS_WIRE_RING];
    } record;
    record.head = (struct head){.lane = lane, .words = (uint32_t)(consumed - from)};
    const uint64_t *ring = as_wire_ring(reader->wire, lane);
    for (uint32_t i = 0; i < record.head.words; i++)
        record.words[i] = ring[(from + i) % as_wire_ring_words(lane)];
    write_log(twin, &record, sizeof record.head + record.head.words * sizeof *record.words);
    twin->sent[lane] = consumed;
    wait_for_copy(twin);
}

/* The stretch ends among words that are being read: the copy gets all that are there. */
static void send_all(struct as_reader *reader)
{
    uint64_t published[AS_WIRE_LANES] = {0};
    uint32_t used = atomic_load(&reader->wire->lanes_used);
    look_at_lanes(reader, published);
    for (uint32_t i = 0; i < used; i++)
        as_twin_send(reader, i, published[i]);
}

void as_twin_free(struct as_reader *reader)
{
    struct as_twin *twin = reader->twin;
    if (!twin)
        return;
    if (!twin->is_copy)
        send_all(reader);
    atomic_store(&twin->both->ended, 1);
    close(twin->log);
    munmap(twin->both, sizeof *twin->both);
    free(twin);
    reader->twin = NULL;
}

/* ---- the copy ---- */

bool as_twin_is_copy(const struct as_reader *reader)
{
    return reader->twin && reader->twin->is_copy;
}

/* Puts a private copy in the place of the shared memory: what is in its rings now stays there. */
static bool take_rings(struct as_reader *reader)
{
    struct as_wire_header *wire = reader->wire;
    uint32_t used = atomic_load(&wire->lanes_used);
    size_t size = as_wire_size(used);
    void *copy = malloc(size);
    if (!copy)
        return false;
    memcpy(copy, wire, size);
    if (mmap(wire, AS_WIRE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
             0) == MAP_FAILED)
        return false;
    memcpy(wire, copy, size);
    free(copy);
    for (uint32_t i = 0; i < used; i++) {
        atomic_store(&wire->lanes[i].published, reader->twin->sent[i]);
        if (!wire->lanes[i].is_code && !reader->streams[i])
            atomic_store(&wire->lanes[i].state,
                         AS_WIRE_FREE); /* a thread that starts now: as_twin_pull ends the copy */
    }
    return true;
}

static void read_log(struct as_twin *twin, uint64_t at, void *data, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = pread(twin->log, (char *)data + done, size - done, (off_t)(at + done));
        if (n <= 0 && errno != EINTR)
            _exit(AS_EXIT_FAILURE);
        done += n > 0 ? (size_t)n : 0;
    }
}

static void forget(struct as_twin *twin, uint64_t taken)
{
    if (taken - twin->forgotten < FORGET_AFTER)
        return;
    fallocate(twin->log, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)twin->forgotten,
              (off_t)(taken - twin->forgotten));
    twin->forgotten = taken;
}

bool as_twin_pull(struct as_reader *reader, bool wait)
{
    struct as_twin *twin = reader->twin;
    uint64_t at = atomic_load(&twin->both->taken);
    while (atomic_load(&twin->both->written) == at) {
        if (!wait)
            return false;
        if (atomic_load(&twin->both->ended) && atomic_load(&twin->both->written) == at)
            twin->at_end(twin->context); /* everything that came has been read, or the caller would not wait */
        usleep(MOMENT);
    }
    struct head head;
    read_log(twin, at, &head, sizeof head);
    struct as_wire_lane *lane = &reader->wire->lanes[head.lane];
    uint64_t end = atomic_load(&lane->published), *ring = as_wire_ring(reader->wire, head.lane);
    if (!lane->is_code && !reader->streams[head.lane]) /* a thread has started */
        _exit(AS_EXIT_USAGE);
    size_t length = as_wire_ring_words(head.lane);
    if (end - atomic_load(&lane->consumed) + head.words > length)
        return false;
    size_t first = length - end % length;
    first = first < head.words ? first : head.words;
    read_log(twin, at + sizeof head, ring + end % length, first * sizeof *ring);
    read_log(twin, at + sizeof head + first * sizeof *ring, ring, (head.words - first) * sizeof *ring);
    atomic_store(&lane->published, end + head.words);
    at += sizeof head + head.words * sizeof *ring;
    atomic_store(&twin->both->taken, at);
    forget(twin, at);
    return true;
}

/* ---- both ---- */

static struct as_twin *make_twin(struct as_reader *reader, struct as_error *err)
{
    struct as_twin *twin = as_alloc(sizeof *twin);
    twin->both = mmap(NULL, sizeof *twin->both, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    twin->log = memfd_create("assay-region", MFD_CLOEXEC);
    if (twin->log < 0 || twin->both == MAP_FAILED) {
        as_error_set(err, "no memory for the log of a region: %s", strerror(errno));
        if (twin->log >= 0)
            close(twin->log);
        free(twin);
        return NULL;
    }
    look_at_lanes(reader, twin->sent);
    return twin;
}

static void become_copy(struct as_reader *reader, pid_t original)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    reader->twin->is_copy = true;
    as_meeting_place_forsake(&reader->pace.place);
    if (getppid() != original || !take_rings(reader))
        _exit(AS_EXIT_FAILURE);
    atomic_store(&reader->twin->both->ready, 1);
}

pid_t as_reader_twin(struct as_reader *reader, void (*at_end)(void *context), void *context, struct as_error *err)
{
    as_twin_free(reader);
    reader->twin = make_twin(reader, err);
    if (!reader->twin)
        return -1;
    reader->twin->at_end = at_end;
    reader->twin->context = context;
    pid_t original = getpid(), copy = fork();
    if (copy == 0) {
        become_copy(reader, original);
        return 0;
    }
    if (copy < 0) {
        as_error_set(err, "cannot fork: %s", strerror(errno));
        as_twin_free(reader);
        return -1;
    }
    reader->twin->copy = copy;
    while (!atomic_load(&reader->twin->both->ready) && !is_dead(copy))
        usleep(READY_MOMENT);
    return copy;
}

void as_reader_treat_as(struct as_reader *reader, enum as_mode mode)
{
    reader->regions.stretch.mode = mode;
    if (reader->sink->stretch)
        reader->sink->stretch(reader->context, &reader->regions.stretch);
}
