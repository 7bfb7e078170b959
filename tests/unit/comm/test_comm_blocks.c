/* Blocks that the agent saw in processes, as they are given to a run on the machine. Agent and run are the test's own. */
#include "unit.h"

#include "agent/agent_host.h"
#include "comm/comm_blocks.h"

#include <stdio.h>

enum { FIRST = 0, OTHER = 1, AGAIN = 2, FORGETFUL = 3, IMAGES = 4 };

static struct as_agent_image *images;
static bool stopped;
static struct given {
    uint32_t pid, call;
    uint64_t start, bytes, frames[AS_GUEST_FRAMES];
} given[16];
static size_t n_given;
static char told[256];

struct as_agent *as_agent_open(const char *library, uint32_t depth, struct as_error *err)
{
    assert_int_equal(depth, AS_GUEST_FRAMES);
    return (struct as_agent *)images;
}

bool as_agent_want_blocks(struct as_agent *agent, struct as_error *err)
{
    return true;
}

char *const *as_agent_environment(const struct as_agent *agent)
{
    static char *const environment[] = {"LD_PRELOAD=agent", NULL};
    return environment;
}

void as_agent_stop(struct as_agent *agent)
{
    stopped = true;
}

void as_agent_close(struct as_agent *agent)
{
}

const struct as_agent_image *as_agent_image(const struct as_agent *agent, uint32_t number)
{
    return number < IMAGES && images[number].pid ? &images[number] : NULL;
}

/* Of site 1: two frames; site 2: more than are kept; site 3 is damaged. */
bool as_agent_read_site(const struct as_agent_image *image, uint32_t number, struct as_agent_seen_site *seen)
{
    *seen = (struct as_agent_seen_site){.call = number + 1, .frames = number == 1 ? 2 : AS_AGENT_DEPTH};
    for (uint32_t i = 0; i < seen->frames; i++)
        seen->stack[i] = 0x1000 * number + i;
    return number != 3;
}

/* In the order of the table, which is none. */
void as_agent_each_block(const struct as_agent *agent, uint32_t number,
                         void (*each)(void *context, const struct as_agent_seen_block *block), void *context)
{
    const struct as_agent_seen_block blocks[] = {{.start = 0x300, .bytes = 30, .sequence = 3, .site = 2},
                                                 {.start = 0x100, .bytes = 10, .sequence = 1, .site = 1},
                                                 {.start = 0x400, .bytes = 40, .sequence = 4, .site = 3},
                                                 {.start = 0x200, .bytes = 20, .sequence = 2, .site = 1}};
    assert_true(stopped);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        each(context, &blocks[i]);
}

void as_comm_native_block(struct as_comm_native *native, uint32_t pid, const struct as_guest_site *site, uint64_t start,
                          uint64_t bytes)
{
    struct given *one = &given[n_given++];
    *one = (struct given){.pid = pid, .call = site->call, .start = start, .bytes = bytes};
    for (size_t i = 0; i < AS_GUEST_FRAMES; i++)
        one->frames[i] = site->frames[i];
}

static void tell(void *context, enum as_log_level level, const char *text)
{
    snprintf(told, sizeof told, "%s", text);
}

static const struct as_notices notices = {.say = tell};

static int set_up(void **state)
{
    images = calloc(IMAGES, sizeof *images);
    n_given = 0;
    stopped = false;
    told[0] = '\0';
    return images ? 0 : -1;
}

static int tear_down(void **state)
{
    free(images);
    return 0;
}

static struct as_comm_blocks read_all(void)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_comm_blocks blocks = {0};
    assert_null(as_comm_blocks_environment(&blocks));
    assert_true(as_comm_blocks_open(&blocks, &err));
    assert_string_equal(as_comm_blocks_environment(&blocks)[0], "LD_PRELOAD=agent");
    as_comm_blocks_read(&blocks, NULL, &notices);
    return blocks;
}

/* Of a process that executed another program, that program's blocks alone; the oldest first, with the places that allocated them. */
static void blocks_of_processes(void **state)
{
    const uint32_t pids[] = {[FIRST] = 100, [OTHER] = 200, [AGAIN] = 100, [FORGETFUL] = 300};
    for (size_t i = 0; i < IMAGES; i++) {
        images[i].pid = pids[i];
        images[i].remembers = i != FORGETFUL;
        images[i].taken = 1000;
        images[i].unplaced = i == OTHER ? 7 : 0;
    }
    struct as_comm_blocks blocks = read_all();
    assert_int_equal(n_given, 6);
    for (size_t i = 0; i < n_given; i++) {
        uint64_t number = i % 3 + 1;
        assert_int_equal(given[i].pid, i < 3 ? 200 : 100);
        assert_int_equal(given[i].start, 0x100 * number);
        assert_int_equal(given[i].bytes, 10 * number);
        assert_int_equal(given[i].call, number == 3 ? 3 : 2);
        for (uint64_t k = 0; k < AS_GUEST_FRAMES; k++)
            assert_int_equal(given[i].frames[k], number == 3 ? 0x2000 + k : k < 2 ? 0x1000 + k : 0);
    }
    assert_string_equal(told, "7 of 2,000 blocks found no room in the agent's table: not all heap objects are known");
    assert_null(blocks.note);
    as_comm_blocks_close(&blocks);
}

/* Why nothing is known. */
static void no_blocks(void **state)
{
    images[FIRST].pid = 100;
    images[FIRST].remembers = true;
    for (int other = 0; other <= 1; other++) {
        images[FIRST].other = other;
        struct as_comm_blocks blocks = read_all();
        assert_non_null(strstr(blocks.note, other ? "its own malloc" : "saw no allocation"));
        as_comm_blocks_close(&blocks);
    }
    assert_string_equal(told, "");
    struct as_comm_blocks none = {0};
    stopped = false;
    as_comm_blocks_read(&none, NULL, &notices);
    assert_true(!none.note && !stopped);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(blocks_of_processes, set_up, tear_down),
                                       cmocka_unit_test_setup_teardown(no_blocks, set_up, tear_down)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
