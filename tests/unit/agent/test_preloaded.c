/* The agent as the dynamic linker brings it into programs: what agent_victim calls comes out by call, count and bytes, and the calls still do what
 * they should. argv: the agent, agent_victim, the same that is linked with C++'s operators, new_user.so, own_malloc. */
#include "agent_bed.h"

#include "unit.h"

#include <stdio.h>
#include <sys/wait.h>

static const char *library, *victim, *linked, *new_user, *own_malloc;
static struct as_agent *host;

static void run(const char *program, const char *what)
{
    struct as_error err = AS_ERROR_INIT;
    host = as_agent_open(library, 8, &err);
    assert_non_null(host);
    char *const argv[] = {(char *)program, (char *)what, (char *)new_user, NULL};
    pid_t pid = fork();
    if (pid == 0) {
        execve(program, argv, as_agent_environment(host));
        _exit(2);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    as_agent_stop(host);
    assert_non_null(as_agent_image(host, 0));
}

static int tear_down(void **state)
{
    as_agent_close(host);
    return 0;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* Whether an address lies in a file of the program. */
static bool lies_in(uint64_t address, const char *path)
{
    struct as_agent_seen_file file;
    for (uint32_t i = 0; i < AS_AGENT_FILES; i++)
        if (as_agent_read_file(as_agent_image(host, 0), i, &file) && address >= file.start && address < file.end)
            return ends_with(file.path, strrchr(path, '/'));
    return false;
}

/* All sites of a call whose caller is in the file. */
static void expect_sites(const char *path, enum as_agent_call call, uint64_t count, uint64_t bytes, uint64_t live,
                         uint64_t live_bytes)
{
    struct as_agent_seen_site sum = {0}, site;
    for (uint32_t i = 0; i < AS_AGENT_ALL_SITES; i++) {
        if (!as_agent_read_site(as_agent_image(host, 0), i, &site) || site.call != call || !site.frames ||
            !lies_in(site.stack[0], path))
            continue;
        sum.count += site.count;
        sum.bytes += site.bytes;
        sum.freed += site.freed;
        sum.live += site.live;
        sum.live_bytes += site.live_bytes;
    }
    assert_int_equal(sum.count, count);
    assert_int_equal(sum.bytes, bytes);
    if (call == AS_AGENT_MMAP) /* nobody looks at what becomes of them */
        return;
    assert_int_equal(sum.live, live);
    assert_int_equal(sum.live_bytes, live_bytes);
    assert_int_equal(sum.freed, count - live);
}

static void heap(void **state)
{
    run(victim, "heap");
    expect_sites(victim, AS_AGENT_MALLOC, 4, 340, 2, 200);
    expect_sites(victim, AS_AGENT_CALLOC, 2, 140, 2, 140);
    expect_sites(victim, AS_AGENT_REALLOC, 3, 160, 1, 80);
    expect_sites(victim, AS_AGENT_ALIGNED, 3, 1261, 2, 261);
    expect_sites(victim, AS_AGENT_MMAP, 2, 12288, 0, 0);
    const struct as_agent_image *image = as_agent_image(host, 0);
    assert_int_equal(image->munmaps, 1);
    assert_int_equal(image->other, 0);
    assert_true(ends_with(image->program, "/agent_victim"));
}

static void threads(void **state)
{
    size_t n;
    run(victim, "threads");
    const struct as_agent_thread *seen = as_agent_threads(host, &n);
    assert_int_equal(n, 3);
    for (size_t i = 0; i < n; i++)
        assert_true(seen[i].start > 0 && seen[i].end >= seen[i].start && (i == 0 || seen[i].start >= seen[i - 1].end));
    assert_int_equal(as_agent_most_at_once(host), 1);
    assert_int_equal(as_agent_dropped(host), 0);
}

/* `times` calls of use_new; nothing is left but a block of 400 bytes and an aligned one of 4096 of each. */
static void expect_new(uint64_t times)
{
    expect_sites(new_user, AS_AGENT_MALLOC, 4 * times, 1000 * times, times, 400 * times);
    expect_sites(new_user, AS_AGENT_ALIGNED, 4 * times, 10240 * times, times, 4096 * times);
}

/* The callers of the library's function are in the program: its file is known, too. */
static void expect_callers(const char *program)
{
    struct as_agent_seen_site site;
    uint32_t sites = 0;
    for (uint32_t i = 0; i < AS_AGENT_ALL_SITES; i++)
        if (as_agent_read_site(as_agent_image(host, 0), i, &site) && site.frames && lies_in(site.stack[0], new_user)) {
            assert_true(site.frames >= 2 && lies_in(site.stack[1], program));
            sites++;
        }
    assert_in_range(sites, 8, 16);
}

static void operators_of_a_linked_library(void **state)
{
    run(linked, "linked");
    expect_new(1);
    expect_callers(linked);
}

static void operators_that_are_loaded_later(void **state)
{
    run(victim, "new");
    expect_new(2);
    expect_callers(victim);
}

/* A path that finds no room is cut, and a library's is left out: neither is a path of something else. */
static void a_long_path(void **state)
{
    enum { NAME = 250 };
    char top[] = "/tmp/assay-preloaded.XXXXXX", name[NAME + 1], program[sizeof top + NAME + 20],
         command[2 * sizeof program + 100];
    struct as_agent_seen_file file;
    assert_non_null(mkdtemp(top));
    memset(name, 'd', NAME);
    name[NAME] = '\0';
    snprintf(program, sizeof program, "%s/%s/agent_victim", top, name);
    snprintf(command, sizeof command, "mkdir %s/%s && cp %s %s/%s", top, name, victim, top, name);
    assert_int_equal(system(command), 0);
    run(program, "heap");
    const struct as_agent_image *image = as_agent_image(host, 0);
    assert_int_equal(strlen(image->program), AS_AGENT_PATH - 1);
    assert_int_equal(strncmp(image->program, program, AS_AGENT_PATH - 1), 0);
    for (uint32_t i = 0; i < AS_AGENT_FILES; i++)
        assert_true(!as_agent_read_file(image, i, &file) || strlen(file.path) > 1);
    snprintf(command, sizeof command, "rm -rf %s", top);
    assert_int_equal(system(command), 0);
}

static void a_malloc_of_its_own(void **state)
{
    run(own_malloc, "");
    assert_int_equal(as_agent_image(host, 0)->other, 1);
    expect_sites(own_malloc, AS_AGENT_MALLOC, 0, 0, 0, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(heap, tear_down),
        cmocka_unit_test_teardown(threads, tear_down),
        cmocka_unit_test_teardown(operators_of_a_linked_library, tear_down),
        cmocka_unit_test_teardown(operators_that_are_loaded_later, tear_down),
        cmocka_unit_test_teardown(a_long_path, tear_down),
        cmocka_unit_test_teardown(a_malloc_of_its_own, tear_down),
    };
    if (argc != 6)
        return 1;
    const char **const paths[] = {&library, &victim, &linked, &new_user, &own_malloc};
    for (int i = 0; i < 5; i++) /* the linker would search for a name without a slash */
        if (!(*paths[i] = realpath(argv[i + 1], NULL)))
            return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (int i = 0; i < 5; i++)
        free((char *)*paths[i]);
    return failed;
}
