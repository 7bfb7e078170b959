/* Watchpoints on a played kernel: what one does that is older, refuses, has no room, or forgets an event. Everything but
 * watch.c itself is played; a descriptor is one of /dev/null. */
#include "unit.h"

#include "watch/watch_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
    int refuse[4];  /* what the next calls of open say; 0: a descriptor */
    unsigned opens; /* so many calls */
    pid_t asked;    /* the thread of the last one */
    bool dead, no_enable, no_modify;
    unsigned enabled, modified, disabled;
    uint64_t count;
} played;

static struct as_watch_thread *known; /* the only thread */

int as_watch_event_open(const struct as_watch *watch, pid_t tid, const struct as_watch_request *request)
{
    int error = played.opens < 4 ? played.refuse[played.opens] : 0;
    played.opens++;
    played.asked = tid;
    return error ? -error : open("/dev/null", O_RDONLY | O_CLOEXEC);
}

bool as_watch_event_modify(const struct as_watch *watch, int fd, const struct as_watch_request *request)
{
    played.modified++;
    errno = EINVAL;
    return !played.no_modify;
}

bool as_watch_event_enable(int fd)
{
    played.enabled++;
    errno = ENOSPC;
    return !played.no_enable;
}

void as_watch_event_disable(int fd)
{
    played.disabled++;
}

uint64_t as_watch_event_count(int fd)
{
    return played.count;
}

bool as_watch_event_alive(int fd)
{
    return !played.dead;
}

bool as_watch_signal_install(struct as_watch *watch, struct as_error *err)
{
    return true;
}

void as_cause_prepare(void)
{
}

struct as_watch_thread *as_watch_find(struct as_watch *watch, pid_t tid)
{
    return known && known->tid == tid ? known : NULL;
}

enum as_watch_result as_watch_find_or_add(struct as_watch *watch, pid_t tid, struct as_watch_thread **thread)
{
    known = *thread = &watch->threads[0];
    known->tid = tid;
    return AS_WATCH_OK;
}

static uint64_t word;

static struct as_watch *begin(void)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_watch *watch = as_watch_new(&(struct as_watch_options){.max_threads = 1}, &err);
    assert_non_null(watch);
    return watch;
}

static void end(struct as_watch *watch)
{
    for (int i = 0; i < AS_WATCH_SLOTS; i++)
        if (watch->threads[0].slots[i].fd >= 0)
            close(watch->threads[0].slots[i].fd);
    munmap(watch, sizeof *watch + watch->max_threads * sizeof *watch->threads);
    known = NULL;
}

static struct as_watch_request store_to(void *address)
{
    return (struct as_watch_request){.address = (uintptr_t)address, .length = 8, .access = AS_WATCH_STORE};
}

static enum as_watch_result arm(struct as_watch *watch, struct as_watch_ref *ref)
{
    struct as_watch_request request = store_to(&word);
    return as_watch_arm(watch, getpid(), &request, ref);
}

/* Kernels before 5.13 know no SIGTRAP of events: a signal to the thread by its descriptor does then. */
static void old_kernels_send_another_signal(void **state)
{
    memset(&played, 0, sizeof played);
    struct as_watch *watch = begin();
    assert_true(watch->sigtrap);
    assert_int_equal(as_watch_signal(watch), SIGTRAP);
    assert_int_equal(played.opens, 1);
    assert_int_equal(played.asked, 0);
    end(watch);
    memset(&played, 0, sizeof played);
    played.refuse[0] = EINVAL;
    watch = begin();
    assert_false(watch->sigtrap);
    assert_int_equal(as_watch_signal(watch), SIGRTMAX - 1);
    assert_int_equal(played.opens, 2);
    assert_int_equal(played.asked, (pid_t)syscall(SYS_gettid));
    end(watch);
}

static void refusals_name_their_reason(void **state)
{
    static const struct {
        int first, second;
        const char *says;
    } refusals[] = {{ENOSPC, 0, "in use by another program"},
                    {EACCES, 0, "perf_event_paranoid"},
                    {EPERM, 0, "perf_event_paranoid"},
                    {EMFILE, 0, "ulimit -n"},
                    {ENFILE, 0, "ulimit -n"},
                    {ENODEV, 0, "does not offer watchpoints: No such device"},
                    {EINVAL, ENOSPC, "in use by another"},
                    {EINVAL, EINVAL, "does not offer watchpoints: Invalid argument"}};
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        struct as_error err = AS_ERROR_INIT;
        memset(&played, 0, sizeof played);
        played.refuse[0] = refusals[i].first;
        played.refuse[1] = refusals[i].second;
        assert_null(as_watch_new(&(struct as_watch_options){.max_threads = 1}, &err));
        if (!strstr(err.message, refusals[i].says))
            fail_msg("'%s' does not say '%s'", err.message, refusals[i].says);
    }
}

/* An armed slot is modified as long as its event lives; hits of before belong to nobody. */
static void slots_are_used_again(void **state)
{
    memset(&played, 0, sizeof played);
    struct as_watch *watch = begin();
    struct as_watch_slot *slot = &watch->threads[0].slots[0];
    struct as_watch_request request = store_to(&word);
    struct as_watch_ref ref, former;
    assert_int_equal(as_watch_free_slots(watch, getpid()), AS_WATCH_SLOTS);
    assert_int_equal(arm(watch, &ref), AS_WATCH_OK);
    assert_int_equal(as_watch_free_slots(watch, getpid()), AS_WATCH_SLOTS - 1);
    assert_int_equal(played.opens, 2);
    assert_int_equal(played.enabled, 1);
    assert_int_equal(slot->seen, 0);
    played.count = 7;
    former = ref;
    assert_int_equal(as_watch_move(watch, &ref, &request), AS_WATCH_OK);
    assert_int_equal(as_watch_move(watch, &former, &request), AS_WATCH_STALE);
    assert_int_equal(played.opens, 2);
    assert_int_equal(played.modified, 1);
    assert_int_equal(slot->seen, 7);
    played.dead = true;
    assert_int_equal(as_watch_move(watch, &ref, &request), AS_WATCH_OK);
    assert_int_equal(played.opens, 3);
    assert_int_equal(played.enabled, 2);
    assert_int_equal(slot->seen, 0);
    assert_int_equal(as_watch_disarm(watch, &ref), AS_WATCH_OK);
    assert_int_equal(as_watch_disarm(watch, &ref), AS_WATCH_STALE);
    assert_int_equal(played.disabled, 3);
    struct as_watch_counts counts;
    as_watch_counts(watch, &counts);
    assert_int_equal(counts.armed, 1);
    assert_int_equal(counts.moved, 2);
    assert_int_equal(counts.disarmed, 1);
    assert_int_equal(counts.reopened, 0);
    end(watch);
}

/* What cannot be modified is opened anew; where that fails, too, the slot is free again and the reason is kept. */
static void refused_changes_free_the_slot(void **state)
{
    memset(&played, 0, sizeof played);
    struct as_watch *watch = begin();
    struct as_watch_request request = store_to(&word);
    struct as_watch_ref ref;
    struct as_watch_counts counts;
    assert_int_equal(arm(watch, &ref), AS_WATCH_OK);
    played.no_modify = true;
    assert_int_equal(as_watch_move(watch, &ref, &request), AS_WATCH_OK);
    assert_int_equal(played.opens, 3);
    played.no_enable = true;
    assert_int_equal(as_watch_move(watch, &ref, &request), AS_WATCH_TAKEN);
    assert_int_equal(as_watch_errno(watch), ENOSPC);
    as_watch_counts(watch, &counts);
    assert_int_equal(counts.moved, 1);
    assert_int_equal(counts.reopened, 2);
    assert_int_equal(as_watch_free_slots(watch, getpid()), AS_WATCH_SLOTS);
    assert_int_equal(as_watch_disarm(watch, &ref), AS_WATCH_STALE);
    memset(&played, 0, sizeof played);
    played.refuse[0] = ESRCH;
    played.refuse[1] = EBUSY;
    played.dead = true;
    assert_int_equal(arm(watch, &ref), AS_WATCH_GONE);
    assert_int_equal(watch->threads[0].slots[0].fd, -1);
    assert_int_equal(arm(watch, &ref), AS_WATCH_REFUSED);
    assert_int_equal(as_watch_errno(watch), EBUSY);
    assert_int_equal(arm(watch, &ref), AS_WATCH_OK);
    as_watch_counts(watch, &counts);
    assert_int_equal(counts.armed, 2);
    end(watch);
}

static void slots_run_out(void **state)
{
    memset(&played, 0, sizeof played);
    struct as_watch *watch = begin();
    struct as_watch_ref ref;
    for (int i = 0; i < AS_WATCH_SLOTS; i++) {
        assert_int_equal(arm(watch, &ref), AS_WATCH_OK);
        assert_int_equal(ref.slot, i);
    }
    assert_int_equal(arm(watch, &ref), AS_WATCH_FULL);
    atomic_fetch_or(&watch->threads[0].slots[2].state, SLOT_BUSY);
    assert_int_equal(arm(watch, &ref), AS_WATCH_BUSY);
    assert_int_equal(as_watch_free_slots(watch, getpid()), 0);
    assert_int_equal(as_watch_free_slots(watch, getpid() + 1), AS_WATCH_SLOTS);
    end(watch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(old_kernels_send_another_signal), cmocka_unit_test(refusals_name_their_reason),
        cmocka_unit_test(slots_are_used_again), cmocka_unit_test(refused_changes_free_the_slot),
        cmocka_unit_test(slots_run_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
