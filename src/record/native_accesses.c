/* Data accesses of a native recording. See record_native.h.
 *
 * A sample whose address the processor or the kernel (page faults) recorded needs nothing more. For any other sample,
 * the code is followed from the interrupted instruction over a random number of accesses (native/reconstruct.h); the
 * sample stands for the access reached.
 *
 * If the path or the address depends on a value that was loaded in between, the sample waits at a stop: an instruction
 * at which the registers are sufficient. A breakpoint is armed there (native/code_watch.h), and its hit gives one
 * access of that stop. There are few breakpoints and many such samples, so samples are grouped by stop. At the end, the
 * time of a stop is divided equally among the accesses that were found for it. If a stop is never reached again, its
 * samples have no address.
 *
 * After a hit at a branch the path may soon be unknown again: in a loop that tests what it loads, that is one iteration
 * later. One of the accesses of that iteration is then chosen at random, each with the same chance.
 */
#include "base/clock.h"
#include "base/map.h"
#include "base/random.h"
#include "import/import_add.h"
#include "native/code_watch.h"
#include "native/process_maps.h"
#include "native/reconstruct.h"
#include "record/record_native.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <math.h>

enum { SKIP = 16, HOPS = 4, TIMES = 8, TRIES = 3, KERNEL = AS_RECONSTRUCT_REASONS, REASONS };
#define NO_STOP SIZE_MAX
#define MAPS_SECONDS 0.1 /* least time between two reads of /proc/PID/maps */

/* An instruction at which samples of a thread wait. */
struct stop {
    uint32_t event, pid, tid;
    uint64_t ip;
    enum as_reconstruct_reason reason;
    uint64_t units, samples;
    uint16_t left;          /* accesses to pass from there on, for the latest sample */
    uint16_t tries;         /* number of watchpoints armed for it */
    AS_VEC(uint32_t) found; /* numbers of accesses in the import */
};

struct as_native_accesses {
    struct as_import *import;
    struct as_code *code;
    struct as_code_watch *watch;
    uint64_t random;
    AS_VEC(struct stop) stops;
    size_t next_stop;           /* the stop to try next */
    struct as_map stop_numbers; /* hash of a stop, to number + 1 */
    struct as_map revisits;     /* thread, to how many watchpoints are armed at stops of earlier samples */
    uint64_t none[REASONS];     /* numbers of samples */
    uint32_t maps_pid;          /* the process whose maps were read last, and when */
    double maps_time;
    struct as_map nameless; /* hash of process and start of mappings that have no name in /proc either */
};

struct as_native_accesses *as_native_accesses_new(struct as_import *import, uint64_t seed)
{
    struct as_native_accesses *accesses = as_alloc(sizeof *accesses);
    accesses->import = import;
    accesses->code = as_code_new(true);
    accesses->watch = as_code_watch_new(NULL);
    accesses->random = seed;
    return accesses;
}

void as_native_accesses_free(struct as_native_accesses *accesses)
{
    if (!accesses)
        return;
    for (size_t i = 0; i < accesses->stops.len; i++)
        as_vec_free(&accesses->stops.data[i].found);
    as_vec_free(&accesses->stops);
    as_map_free(&accesses->stop_numbers);
    as_map_free(&accesses->revisits);
    as_map_free(&accesses->nameless);
    as_code_watch_free(accesses->watch);
    as_code_free(accesses->code);
    free(accesses);
}

void as_native_accesses_process(struct as_native_accesses *accesses, const struct as_perf_process *process)
{
    struct as_error err = AS_ERROR_INIT;
    (void)as_code_process(accesses->code, process, &err); /* never fails */
}

static unsigned draw(struct as_native_accesses *accesses, unsigned below)
{
    return (unsigned)as_random_below(&accesses->random, below);
}

/* ---- what was found ---- */

struct lookup {
    struct as_perf_spaces *spaces;
    uint64_t address;
};

/* Adds the mapping that contains the address, and the heap. Other mappings stay as recorded: /proc shows neighbours as
 * one. */
static void use_map(void *context, struct as_perf_process *map)
{
    const struct lookup *lookup = context;
    struct as_error err = AS_ERROR_INIT;
    struct as_perf_data known;
    as_perf_spaces_data(lookup->spaces, map->pid, lookup->address, &known);
    if (strcmp(map->name, "[heap]") == 0 || (!known.region_end && lookup->address - map->start < map->length))
        (void)as_perf_spaces_process(lookup->spaces, map, &err); /* never fails */
}

/* The kernel does not report what mremap moves, nor at first that a mapping is the heap. /proc shows both, as long as
 * the process exists. */
static void know_region(struct as_native_accesses *accesses, uint32_t pid, uint64_t address)
{
    struct as_perf_data data;
    double now = as_clock_seconds();
    as_perf_spaces_data(as_import_spaces(accesses->import), pid, address, &data);
    bool anonymous = strcmp(data.file.module, "[anon]") == 0;
    uint64_t words[] = {pid, data.region_start}, key = as_hash_bytes(words, sizeof words);
    if ((data.region_end && !anonymous) || (anonymous && as_map_get(&accesses->nameless, key)) ||
        (accesses->maps_pid == pid && now - accesses->maps_time < MAPS_SECONDS))
        return;
    struct lookup lookup = {as_import_spaces(accesses->import), address};
    accesses->maps_pid = pid;
    accesses->maps_time = now;
    as_process_maps((pid_t)pid, true, use_map, &lookup);
    if (anonymous)
        as_map_put(&accesses->nameless, key);
}

/* Adds what a sample or a hit accesses; `numbers` gets the import's numbers. */
static void add_found(struct as_native_accesses *accesses, const struct as_reconstruction *found,
                      struct as_import_touch *touch, uint32_t numbers[AS_INSN_MAX_MEM])
{
    uint64_t units = touch->units;
    touch->mode = AS_PERF_USER;
    touch->ip = found->ip;
    for (unsigned i = 0; i < found->n; i++) {
        touch->address = found->accesses[i].address;
        touch->size = found->accesses[i].size;
        touch->kind = found->accesses[i].access & (AS_STORE_LOAD | AS_STORE_STORE);
        touch->units = units * (i + 1) / found->n - units * i / found->n;
        know_region(accesses, touch->pid, touch->address);
        numbers[i] = as_import_add_touch(accesses->import, touch);
    }
}

static uint64_t stack_pointer(const struct as_perf_sample *sample)
{
    enum { RSP = 4 };
    struct as_machine_state state;
    return as_sample_registers(sample, &state) ? state.value[RSP] : 0;
}

/* ---- waiting ---- */

static size_t stop_of(struct as_native_accesses *accesses, const struct as_perf_sample *sample,
                      const struct as_reconstruction *found)
{
    uint64_t words[] = {(uint64_t)sample->event->index << 32 | sample->tid, sample->pid, found->ip};
    for (uint64_t key = as_hash_bytes(words, sizeof words);; key++) {
        uint64_t *number = as_map_put(&accesses->stop_numbers, key);
        if (*number == 0) {
            *as_vec_push(&accesses->stops) = (struct stop){.event = sample->event->index,
                                                           .pid = sample->pid,
                                                           .tid = sample->tid,
                                                           .ip = found->ip,
                                                           .reason = found->reason};
            *number = accesses->stops.len;
        }
        const struct stop *known = &accesses->stops.data[*number - 1];
        if (known->event == sample->event->index && known->pid == sample->pid && known->tid == sample->tid &&
            known->ip == found->ip)
            return (size_t)(*number - 1);
    }
}

/* The purpose of a watchpoint, in the 64 bits that it carries. */
struct errand {
    uint32_t stop;
    uint16_t left;
    uint8_t hops;
    bool revisit; /* the stop is not the latest sample's */
};

static uint64_t tag_of(struct errand errand)
{
    return (uint64_t)errand.stop << 32 | (uint64_t)errand.left << 16 | (uint64_t)errand.hops << 8 | errand.revisit;
}

static struct errand errand_of(uint64_t tag)
{
    return (struct errand){(uint32_t)(tag >> 32), (uint16_t)(tag >> 16), (uint8_t)(tag >> 8), tag & 1};
}

/* Some time has passed since the sample: the loop may have ended, and the program may reach the stop again at its
 * first iteration. So a random one of the next executions is used. What cannot be armed now may be armed for a later
 * sample. */
static bool arm(struct as_native_accesses *accesses, uint32_t tid, uint64_t ip, struct errand errand, bool urgent)
{
    struct as_code_watch_order order = {.tid = tid,
                                        .ip = ip,
                                        .tag = tag_of(errand),
                                        .nth = errand.hops ? 1 : 1 + draw(accesses, TIMES),
                                        .urgent = urgent};
    return as_code_watch_arm(accesses->watch, &order);
}

static bool is_unmet(const struct stop *stop)
{
    return stop->found.len == 0 && stop->tries < TRIES;
}

/* Returns a stop of the thread that was not reached yet, so that each gets its turn however few samples wait there;
 * else `wanted` (NO_STOP: none). Code that ran at the start never comes again, and a stop there holds its register until it
 * expires. So only one register of a thread is for stops of earlier samples: the other one is for what it executes now. */
static size_t pick_stop(struct as_native_accesses *accesses, uint32_t tid, size_t wanted)
{
    enum { LOOK = 64 };
    if (wanted != NO_STOP && is_unmet(&accesses->stops.data[wanted]))
        return wanted;
    if (*as_map_put(&accesses->revisits, tid))
        return wanted;
    for (size_t i = 0; i < LOOK && i < accesses->stops.len; i++) {
        size_t number = accesses->next_stop++ % accesses->stops.len;
        if (accesses->stops.data[number].tid == tid && is_unmet(&accesses->stops.data[number]))
            return number;
    }
    return wanted;
}

static void arm_stop(struct as_native_accesses *accesses, uint32_t tid, size_t wanted)
{
    size_t number = pick_stop(accesses, tid, wanted);
    if (number == NO_STOP)
        return;
    struct stop *stop = &accesses->stops.data[number];
    struct errand errand = {.stop = (uint32_t)number, .left = stop->left, .revisit = number != wanted};
    bool armed = arm(accesses, tid, stop->ip, errand, is_unmet(stop));
    stop->tries += armed;
    *as_map_put(&accesses->revisits, tid) += armed && errand.revisit;
}

static void wait_for(struct as_native_accesses *accesses, const struct as_perf_sample *sample,
                     const struct as_reconstruction *found)
{
    size_t number = stop_of(accesses, sample, found);
    struct stop *stop = &accesses->stops.data[number];
    stop->units += sample->period;
    stop->samples++;
    stop->left = (uint16_t)found->left;
    arm_stop(accesses, sample->tid, number);
}

/* The access that a hit stands for. Returns false if there is none, or if it waits at another stop, which is
 * arranged. */
static bool access_of_hit(struct as_native_accesses *accesses, const struct as_perf_sample *sample,
                          struct errand errand, struct as_reconstruction *found)
{
    as_reconstruct(accesses->code, sample, errand.left, found);
    if (found->how == AS_RECONSTRUCT_NONE && found->reason == AS_RECONSTRUCT_BRANCH && found->skipped)
        as_reconstruct(accesses->code, sample, draw(accesses, found->skipped), found);
    if (found->how != AS_RECONSTRUCT_NONE)
        return true;
    struct errand next = {.stop = errand.stop, .left = (uint16_t)found->left, .hops = (uint8_t)(errand.hops + 1)};
    if (found->watch && next.hops < HOPS)
        (void)arm(accesses, sample->tid, found->ip, next, true);
    return false;
}

static void take_hit(void *context, uint64_t tag, const struct as_perf_sample *sample)
{
    struct as_native_accesses *accesses = context;
    struct errand errand = errand_of(tag);
    struct as_reconstruction found;
    uint32_t numbers[AS_INSN_MAX_MEM];
    uint32_t tid = accesses->stops.data[errand.stop].tid;
    *as_map_put(&accesses->revisits, tid) -= errand.revisit;
    if (!sample || !access_of_hit(accesses, sample, errand, &found)) {
        arm_stop(accesses, tid, NO_STOP); /* if no watchpoint of the thread is armed */
        return;
    }
    struct stop *stop = &accesses->stops.data[errand.stop];
    struct as_import_touch touch = {.event = stop->event,
                                    .pid = stop->pid,
                                    .tid = stop->tid,
                                    .stack_pointer = stack_pointer(sample),
                                    .how = AS_STORE_HOW_WATCHED};
    add_found(accesses, &found, &touch, numbers);
    for (unsigned i = 0; i < found.n; i++)
        *as_vec_push(&stop->found) = numbers[i];
    arm_stop(accesses, tid, NO_STOP);
}

/* ---- samples ---- */

/* Whether the recorded address is loaded or stored: taken from the instruction if the sample does not tell. A page
 * fault is at the first byte that is missing, which may be inside the access or, for a string instruction, after its
 * first element. */
static void know_access(struct as_native_accesses *accesses, const struct as_perf_sample *sample)
{
    struct as_reconstruction found;
    know_region(accesses, sample->pid, sample->addr);
    if (sample->has & PERF_SAMPLE_DATA_SRC)
        return;
    as_reconstruct(accesses->code, sample, 0, &found);
    for (unsigned i = 0; found.how == AS_RECONSTRUCT_EXACT && i < found.n; i++) {
        if (sample->addr - found.accesses[i].address >= found.accesses[i].size)
            continue;
        as_import_expect_access(accesses->import, found.accesses[i].access & (AS_STORE_LOAD | AS_STORE_STORE),
                                found.accesses[i].size);
    }
}

void as_native_accesses_sample(struct as_native_accesses *accesses, const struct as_perf_sample *sample)
{
    struct as_reconstruction found;
    uint32_t numbers[AS_INSN_MAX_MEM];
    as_code_watch_poll(accesses->watch, take_hit, accesses);
    as_import_expect_access(accesses->import, 0, 0);
    if (sample->has & PERF_SAMPLE_ADDR && sample->addr) {
        know_access(accesses, sample);
        return; /* the import uses the recorded address */
    }
    as_reconstruct(accesses->code, sample, draw(accesses, SKIP), &found);
    if (found.how == AS_RECONSTRUCT_NONE && found.watch) {
        wait_for(accesses, sample, &found);
        return;
    }
    if (found.how == AS_RECONSTRUCT_NONE) {
        accesses->none[sample->mode == AS_PERF_KERNEL ? (int)KERNEL : (int)found.reason]++;
        return;
    }
    uint8_t how = found.how == AS_RECONSTRUCT_EXACT ? AS_STORE_HOW_EXACT : AS_STORE_HOW_NEXT;
    struct as_import_touch touch = {.event = sample->event->index,
                                    .pid = sample->pid,
                                    .tid = sample->tid,
                                    .stack_pointer = stack_pointer(sample),
                                    .how = how,
                                    .units = sample->period,
                                    .samples = 1};
    as_import_count_found(accesses->import, how, 1);
    add_found(accesses, &found, &touch, numbers);
}

/* ---- the end ---- */

static uint64_t part(uint64_t whole, size_t number, size_t n)
{
    return whole / n + (number < whole % n);
}

static void settle(struct as_native_accesses *accesses, const struct stop *stop)
{
    size_t n = stop->found.len;
    if (n == 0) {
        accesses->none[stop->reason] += stop->samples;
        return;
    }
    as_import_count_found(accesses->import, AS_STORE_HOW_WATCHED, stop->samples);
    for (size_t i = 0; i < n; i++)
        as_import_add_to_access(accesses->import, stop->found.data[i], part(stop->units, i, n),
                                part(stop->samples, i, n));
}

void as_native_accesses_finish(struct as_native_accesses *accesses, const struct as_notices *notices)
{
    const char *note = as_code_watch_counts(accesses->watch)->note;
    as_code_watch_poll(accesses->watch, take_hit, accesses);
    for (size_t i = 0; i < accesses->stops.len; i++)
        settle(accesses, &accesses->stops.data[i]);
    if (note[0])
        as_notice(notices, AS_LOG_NOTE,
                  "the kernel refused execution watchpoints: %s; more samples than usual have no data address", note);
}

static void add_watch_quality(const struct as_code_watch_counts *counts, struct as_store_writer *writer)
{
    if (counts->armed) {
        as_store_add_quality(writer, "watch_armed", (double)counts->armed,
                             "execution watchpoints armed to find data addresses");
        as_store_add_quality(writer, "watch_hit", (double)counts->hit, "… that the program reached");
        as_store_add_quality(writer, "watch_expired", (double)counts->expired, "… that it did not reach in time");
    }
    if (counts->refused)
        as_store_add_quality(writer, "watch_refused", (double)counts->refused, counts->note);
}

void as_native_accesses_quality(const struct as_native_accesses *accesses, struct as_store_writer *writer)
{
    static const struct {
        const char *key, *text;
    } rows[REASONS] = {
        [AS_RECONSTRUCT_NO_REGISTERS] = {"data_none_registers", "… because no registers were saved"},
        [AS_RECONSTRUCT_NO_CODE] = {"data_none_code", "… because the code could not be read"},
        [AS_RECONSTRUCT_BRANCH] = {"data_none_branch", "… because the path to the access depends on loaded values"},
        [AS_RECONSTRUCT_ADDRESS] = {"data_none_address",
                                    "… because the address depends on a value that is not in a known register "
                                    "(thread-local, loaded, from a vector register)"},
        [AS_RECONSTRUCT_FAR] = {"data_none_far", "… because there is no access nearby"},
        [KERNEL] = {"data_none_kernel", "… because they are in the kernel"},
    };
    uint64_t all = 0;
    for (int i = 0; i < REASONS; i++)
        all += accesses->none[i];
    if (all)
        as_store_add_quality(writer, "data_none", (double)all, "samples without a data address");
    for (int i = 0; i < REASONS; i++)
        if (accesses->none[i] && rows[i].key)
            as_store_add_quality(writer, rows[i].key, (double)accesses->none[i], rows[i].text);
    add_watch_quality(as_code_watch_counts(accesses->watch), writer);
}
