/* Copies of a run: what the original reads arrives in the copy, word by word and in order, whatever the two rings' ends do. The copy
 * checks that itself and ends with a status; the test is the original. */
#include "engine/twin.h"

#include "reader_fixture.h"

#include "base/error.h"

enum { GOOD = 33, WRONG_WORD, WRONG_SUM, WRONG_START, WRONG_ROOM };
enum { RING = AS_WIRE_LONG * AS_WIRE_RING, BEGIN = RING - 777, CODE_BEGIN = 55 };

static uint64_t word_of(uint32_t lane, uint64_t position)
{
    return ((uint64_t)lane << 40 | position) * 0x9e3779b97f4a7c15;
}

/* The writer of a lane writes so many words. */
static void writes(uint32_t lane, uint64_t n)
{
    struct as_wire_lane *own = &child.wire->lanes[lane];
    uint64_t at = atomic_load(&own->published), end = at + n, *ring = as_wire_ring(child.wire, lane);
    for (; at < end; at++)
        ring[at % as_wire_ring_words(lane)] = word_of(lane, at);
    atomic_store(&own->published, end);
}

/* A thread in the first lane, whose ring is about to begin anew, and the code of its process in the second. */
static void begin(void)
{
    add_thread(1, 1);
    atomic_store(&child.wire->lanes_used, 4);
    child.wire->lanes[1].is_code = 1;
    atomic_store(&child.wire->lanes[1].state, AS_WIRE_LIVE);
    for (uint32_t i = 0; i < 2; i++) {
        atomic_store(&child.wire->lanes[i].published, i ? CODE_BEGIN : BEGIN);
        atomic_store(&child.wire->lanes[i].consumed, i ? CODE_BEGIN : BEGIN);
    }
    atomic_store(&child.wire->lanes[2].state, AS_WIRE_LIVE); /* a thread that is starting */
    atomic_store(&child.wire->lanes[3].published, 99);       /* nobody's */
}

/* ---- the copy ---- */

static struct {
    uint64_t read[2], want[2];
} copy;

/* Everything that is there is read. */
static void read_all(void)
{
    for (uint32_t i = 0; i < 2; i++) {
        struct as_wire_lane *lane = &child.wire->lanes[i];
        uint64_t end = atomic_load(&lane->published);
        for (; copy.read[i] < end; copy.read[i]++)
            if (as_wire_ring(child.wire, i)[copy.read[i] % as_wire_ring_words(i)] != word_of(i, copy.read[i]))
                _exit(WRONG_WORD);
        atomic_store(&lane->consumed, end);
    }
}

static void check_sums(void *context)
{
    read_all();
    _exit(copy.read[0] == copy.want[0] && copy.read[1] == copy.want[1] && context == &copy ? GOOD : WRONG_SUM);
}

/* Takes words until there is no more room for the next ones, reads them all, and goes on. */
static void be_copy(int ready)
{
    const struct as_wire_lane *lanes = child.wire->lanes;
    if (!as_twin_is_copy(&reader) || as_twin_pull(&reader, false) || atomic_load(&lanes[0].published) != BEGIN ||
        atomic_load(&lanes[1].published) != CODE_BEGIN || atomic_load(&lanes[3].published) != 0 ||
        atomic_load(&lanes[2].state) != AS_WIRE_FREE || atomic_load(&lanes[0].state) != AS_WIRE_LIVE ||
        atomic_load(&lanes[1].state) != AS_WIRE_LIVE)
        _exit(WRONG_START);
    close(ready); /* the original may write */
    copy.read[0] = BEGIN;
    copy.read[1] = CODE_BEGIN;
    for (;;) {
        while (as_twin_pull(&reader, true))
            if (atomic_load(&lanes[0].published) - atomic_load(&lanes[0].consumed) > RING)
                _exit(WRONG_ROOM);
        if (atomic_load(&lanes[0].published) == atomic_load(&lanes[0].consumed))
            _exit(WRONG_ROOM); /* there was room */
        read_all();
    }
}

/* Returns the copy, which has begun; in the copy it does not return. */
static pid_t make_copy(void)
{
    int ends[2];
    struct as_error err = {0};
    char none;
    assert_int_equal(pipe(ends), 0);
    pid_t made = as_reader_twin(&reader, check_sums, &copy, &err);
    if (made == 0) {
        close(ends[0]);
        be_copy(ends[1]);
    }
    assert_true(made > 0);
    assert_false(as_twin_is_copy(&reader));
    close(ends[1]);
    assert_int_equal(read(ends[0], &none, 1), 0);
    close(ends[0]);
    return made;
}

static int status_of(pid_t made)
{
    int status;
    assert_int_equal(waitpid(made, &status, 0), made);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---- the original ---- */

/* More than is kept of the log, in pieces of all sizes; some words are only written, and not read, when the copy's part ends. */
static void every_word_arrives(void **state)
{
    static const uint64_t pieces[] = {1, 776, 1, RING, 3, RING - 1, 2, RING / 2 + 1, 4097, RING};
    enum { ROUNDS = 5, REST = 500 };
    size_t descriptors = unit_count_descriptors();
    begin();
    copy.want[0] = BEGIN + REST;
    copy.want[1] = CODE_BEGIN;
    for (size_t i = 0; i < ROUNDS * sizeof pieces / sizeof *pieces; i++) {
        copy.want[0] += pieces[i % (sizeof pieces / sizeof *pieces)];
        copy.want[1] += 700;
    }
    pid_t made = make_copy();
    for (size_t i = 0; i < ROUNDS * sizeof pieces / sizeof *pieces; i++) {
        writes(0, pieces[i % (sizeof pieces / sizeof *pieces)]);
        writes(1, 700);
        for (uint32_t lane = 0; lane < 2; lane++) {
            uint64_t end = atomic_load(&child.wire->lanes[lane].published);
            as_twin_send(&reader, lane, end);
            as_twin_send(&reader, lane, end); /* again, which is nothing */
            as_twin_send(&reader, lane, end - 1);
        }
    }
    writes(0, REST);
    as_twin_free(&reader);
    assert_null(reader.twin);
    assert_int_equal(status_of(made), GOOD);
    assert_int_equal(unit_count_descriptors(), descriptors);
    as_twin_free(&reader);
}

/* Nothing comes at all. */
static void an_end_at_once(void **state)
{
    begin();
    copy.want[0] = BEGIN;
    copy.want[1] = CODE_BEGIN;
    pid_t made = make_copy();
    as_twin_free(&reader);
    assert_int_equal(status_of(made), GOOD);
}

/* The copy ends when another thread has started: it could not follow. */
static void another_thread_starts(void **state)
{
    begin();
    pid_t made = make_copy();
    writes(2, 5);
    as_twin_send(&reader, 2, 5);
    assert_int_equal(status_of(made), AS_EXIT_USAGE);
    as_twin_free(&reader);
}

/* A second copy: the first one gets nothing more. */
static void one_copy_at_a_time(void **state)
{
    begin();
    copy.want[0] = BEGIN + 10;
    copy.want[1] = CODE_BEGIN;
    pid_t first = make_copy();
    writes(0, 10);
    as_twin_send(&reader, 0, BEGIN + 10);
    as_twin_free(&reader);
    assert_int_equal(status_of(first), GOOD);
    atomic_store(&child.wire->lanes[0].published, BEGIN);
    copy.want[0] = BEGIN;
    pid_t second = make_copy(), third = make_copy();
    assert_int_equal(status_of(second), GOOD);
    as_twin_free(&reader);
    assert_int_equal(status_of(third), GOOD);
}

static enum as_mode told;

static void on_stretch(void *context, const struct as_stretch *stretch)
{
    told = stretch->mode;
}

static void another_mode(void **state)
{
    as_reader_treat_as(&reader, AS_MODE_WARM); /* nobody is told */
    reader_sink.stretch = on_stretch;
    as_reader_treat_as(&reader, AS_MODE_SETTLE);
    assert_int_equal(told, AS_MODE_SETTLE);
    assert_int_equal(reader.regions.stretch.mode, AS_MODE_SETTLE);
    assert_false(as_twin_is_copy(&reader));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_reader, tear_down_reader)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_word_arrives), TEST(an_end_at_once), TEST(another_thread_starts),
        TEST(one_copy_at_a_time), TEST(another_mode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
