/* Reuse distances of a run, exactly, from the complete stream of accesses (an observer of as_access_batch).
 *
 * Each guest thread has a view (reuse_view.h), and each socket one of the cache that its threads share. A store reaches
 * the views of the other threads of its process that hold the granule: a directory knows which do. While there is one
 * thread, its view stands for the socket's as well.
 *
 * Views work on host threads (`jobs`), each view always on the same one; the sockets' views on one of their own, behind
 * the threads' views, in the order of the stream. Results do not depend on the number of jobs.
 *
 * Thread k of a process, in order of appearance, runs on socket k mod `sockets`. Equal addresses of different processes
 * are different granules. What a process forgets (munmap, madvise, execve) is not forgotten here: who passes accesses on gives new
 * memory other addresses (model/moved_memory.h).
 *
 * Calls: new, take…, finish, then the results, free. */
#ifndef AS_REUSE_REUSE_H
#define AS_REUSE_REUSE_H

#include "assay/observer.h"
#include "reuse/reuse_view.h"

struct as_reuse_options {
    struct as_reuse_shape shape;
    uint32_t sockets; /* 1 or more */
    uint32_t jobs;    /* host threads beside the observer's own; 0: none */
    uint32_t
        nearest; /* … a sample and not all: distances below that are not told apart, because accesses may be missing */
    /* Where the granules are a sample (shape.sampled): those whose hash is below *threshold. It begins at UINT64_MAX, all of
     * them, and is halved whenever more than `most` granules are tracked, down to 1 of 1 << thinnest. */
    _Atomic uint64_t *threshold;
    uint64_t most;
    uint32_t thinnest;
};

struct as_reuse_thread {
    uint32_t number, process, socket;
    struct as_reuse_view *view;
};

struct as_reuse;
struct as_reuse *as_reuse_new(const struct as_reuse_options *options);
void as_reuse_free(struct as_reuse *reuse);
/* Before the first access: codes below n are instructions on call paths, `insns` says of which instructions (as_reuse_shape). */
void as_reuse_set_insns(struct as_reuse *reuse, const uint32_t *insns, uint32_t n);
/* Accesses that a thread made one after the other. */
void as_reuse_take(struct as_reuse *reuse, uint32_t thread, uint32_t process, const struct as_data_access *accesses,
                   size_t n);
void as_reuse_finish(struct as_reuse *reuse);
/* Of a sample, after finish: the run made so many accesses and touches in all. What the sample has more or less of them than its granules
 * should, is that of hot granules, which are few: it is put to or taken from the shortest distance (as SHARDS does). */
void as_reuse_adjust(struct as_reuse *reuse, uint64_t accesses, uint64_t touches);
/* … and a thread, by its place among them. */
void as_reuse_adjust_thread(struct as_reuse *reuse, size_t index, uint64_t accesses, uint64_t touches);
uint32_t as_reuse_scale(const struct as_reuse *reuse); /* one of 1 << scale granules is sampled */
/* The same as an observer: its self is the struct as_reuse, and its free frees it. */
extern const struct as_observer as_reuse_observer;

/* After the observer's finish. A thread's number can come again in another process: then it is another thread. */
size_t as_reuse_count_threads(const struct as_reuse *reuse);
const struct as_reuse_thread *as_reuse_get_thread(const struct as_reuse *reuse, size_t index);
/* All threads' views in one. */
struct as_reuse_view *as_reuse_all_threads(const struct as_reuse *reuse);
/* The sockets' views in one, working set included; NULL while there is one thread: see as_reuse_all_threads then. */
struct as_reuse_view *as_reuse_all_sockets(const struct as_reuse *reuse);
uint64_t as_reuse_bytes(const struct as_reuse *reuse); /* memory that its tables occupy */

/* The granule of an address: the key of views. */
static inline uint64_t as_reuse_key(uint32_t process, uint64_t address, uint32_t shift)
{
    const uint64_t bits = (UINT64_C(1) << 48) - 1;
    return (uint64_t)(process & 0xffff) << 48 | (address & bits) >> shift;
}

#endif
