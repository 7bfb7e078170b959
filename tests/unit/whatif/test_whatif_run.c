/* Whole sessions of experiments with a program whose answers are known (whatif_victim.S): what is promised, what comes of it, what
 * is tried without being asked for, and what is refused.
 *
 * usage: test_whatif_run VICTIM MACHINE PLUGIN */
#include "base/alloc.h"
#include "base/str.h"
#include "engine/find_qemu.h"
#include "observe/events.h"
#include "whatif/whatif.h"

#include "unit.h"

#include <math.h>

static char **arguments, *plugin;
static struct as_str heard; /* notices, a line each */

static void hear(void *context, enum as_log_level level, const char *text)
{
    as_str_addf(&heard, "%s\n", text);
}

static struct as_whatif_request request_for(bool threads)
{
    static char *none[1], *alone[2], *both[3];
    alone[0] = both[0] = arguments[1];
    both[1] = "threads";
    struct as_whatif_request request = {.core = arguments[2], .rank = AS_WHATIF_USUAL};
    request.engine.argv = threads ? both : alone;
    request.engine.environment = none;
    request.engine.plugin = plugin;
    request.engine.deterministic = threads;
    request.engine.quantum = 10000;
    request.notices = (struct as_notices){hear, NULL};
    as_str_free(&heard);
    return request;
}

static bool run(struct as_whatif *whatif, struct as_error *err)
{
    return as_whatif_prepare(whatif, err) && as_whatif_run_as_is(whatif, err) && as_whatif_try(whatif, err);
}

/* The caller frees it with as_whatif_free. */
static struct as_whatif session(const struct as_whatif_request *request)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_whatif whatif = {.request = request};
    if (!run(&whatif, &err))
        fail_msg("%s", err.message);
    return whatif;
}

static void check_refused(const struct as_whatif_request *request, const char *why)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_whatif whatif = {.request = request};
    assert_false(run(&whatif, &err));
    if (!strstr(err.message, why))
        fail_msg("'%s' is not about '%s'", err.message, why);
    as_whatif_free(&whatif);
}

static const char *branches[] = {"FL-MB", "FL-MB@turn", "ST-TLB@divide"};
static const char *slower[] = {"front.redirect=30"};
static const char *removed[] = {"divide", "_start+0x0", "turn+0x0"};

/* Time with an event in an instruction of the run as it is, the largest of all. */
static double largest_promise(const struct as_whatif *whatif)
{
    uint64_t largest = 0;
    for (size_t e = 0; e < AS_EVENT_COUNT; e++) {
        uint64_t units = 0;
        if (as_events[e].roots || !(as_events[e].bit & AS_CORE_IDEAL))
            continue;
        for (size_t i = 0; i < whatif->golden.len; i++) {
            units = i && whatif->golden.data[i].id == whatif->golden.data[i - 1].id ? units : 0;
            units += whatif->golden.data[i].events & as_events[e].bit ? whatif->golden.data[i].units : 0;
            largest = units > largest ? units : largest;
        }
    }
    return (double)largest / (double)AS_CYCLE_UNITS;
}

/* Half of 1,000 branches on a random bit are mispredicted, and no branch elsewhere; the predictor learns the others within a few turns. */
static void check_branches(const struct as_whatif *whatif)
{
    const struct as_experiment *all = &whatif->experiments.data[0], *here = &whatif->experiments.data[1];
    assert_in_range(here->met, 420, 580);            /* five standard deviations */
    assert_true(!here->about_one && !here->skipped); /* it names a function */
    assert_in_range(all->met, here->met, here->met + 100);
    assert_true(!all->about_one && !all->skipped);
    assert_true(all->promised >= here->promised && here->promised > 0);
    assert_true(all->result.elapsed <= here->result.elapsed && here->result.elapsed < whatif->as_is.result.elapsed);
    const struct as_experiment *never = &whatif->experiments.data[2];
    assert_true(never->skipped && !never->met);
    assert_float_equal(never->promised, 0, 0);
    assert_float_equal(as_experiment_speedup(whatif, never), 1, 0);
}

static void what_is_asked_for(void **state)
{
    struct as_whatif_request request = request_for(false);
    request.ideal = (struct as_strlist){branches, 3};
    request.change = (struct as_strlist){slower, 1};
    request.together = true;
    struct as_whatif whatif = session(&request);
    assert_int_equal(whatif.experiments.len, 5); /* nothing else is tried */
    check_branches(&whatif);
    const struct as_experiment *slow = &whatif.experiments.data[3], *together = &whatif.experiments.data[4];
    assert_true(isnan(slow->promised) && !slow->skipped);
    assert_true(slow->result.elapsed > whatif.as_is.result.elapsed);
    /* Without mispredicted branches it is all the same how long a redirection takes. */
    assert_int_equal(together->n, 4);
    assert_true(isnan(together->promised));
    assert_int_equal(together->result.cycles, whatif.experiments.data[0].result.cycles);
    for (size_t i = 0; i < whatif.experiments.len; i++)
        if (!whatif.experiments.data[i].skipped)
            assert_int_equal(whatif.experiments.data[i].result.instructions, whatif.as_is.result.instructions);
    assert_string_equal(as_str_get(&heard), "run 1 of 5: without FL-MB\n"
                                            "run 2 of 5: without FL-MB@turn\n"
                                            "run 3 of 5: without ST-TLB@divide\n"
                                            "run 4 of 5: without front.redirect=30\n"
                                            "run 5 of 5: without FL-MB …\n");
    as_whatif_free(&whatif);
}

/* What the program writes would be there once for each run. */
static void output_is_discarded(void **state)
{
    struct as_whatif_request request = request_for(false);
    request.remove = (struct as_strlist){removed, 1};
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stdout);
    int before = dup(STDOUT_FILENO);
    assert_true(before >= 0 && dup2(fileno(file), STDOUT_FILENO) >= 0);
    struct as_whatif whatif = {.request = &request};
    struct as_error err = AS_ERROR_INIT;
    bool ok = run(&whatif, &err);
    fflush(stdout);
    assert_true(dup2(before, STDOUT_FILENO) >= 0);
    assert_true(ok);
    assert_int_equal(lseek(fileno(file), 0, SEEK_END), 0);
    close(before);
    fclose(file);
    as_whatif_free(&whatif);
}

/* Changes of the machine for all runs are in the run as it is, and in each experiment. */
static void machines_of_all_runs(void **state)
{
    struct as_whatif_request request = request_for(false);
    request.change = (struct as_strlist){slower, 1};
    struct as_whatif whatif = session(&request);
    uint64_t fast = whatif.as_is.result.elapsed, slow = whatif.experiments.data[0].result.elapsed;
    as_whatif_free(&whatif);
    request = request_for(false);
    request.set = (struct as_strlist){slower, 1};
    request.remove = (struct as_strlist){removed + 1, 1}; /* the first instruction alone */
    whatif = session(&request);
    assert_int_equal(whatif.as_is.result.elapsed, slow);
    assert_true(fast < slow && whatif.experiments.data[0].result.elapsed > (fast + slow) / 2);
    as_whatif_free(&whatif);
}

/* All events that could be removed are told apart, not only those of TEA: each turn has a division, which waits for its unit. */
static void check_divisions(const struct as_whatif *whatif)
{
    uint64_t met = 0;
    for (size_t i = 0; i < whatif->golden.len; i++)
        met += whatif->golden.data[i].events & AS_EVENT_DIVIDE ? whatif->golden.data[i].count : 0;
    assert_int_equal(met, 1000);
}

/* Each of the 1,000 divisions with the three instructions before it; its ret stays, as every branch does. */
static void what_is_removed(void **state)
{
    struct as_whatif_request request = request_for(false);
    request.remove = (struct as_strlist){removed, 3};
    struct as_whatif whatif = session(&request);
    assert_int_equal(whatif.experiments.len, 3);
    const struct as_experiment *divide = &whatif.experiments.data[0], *first = &whatif.experiments.data[1];
    assert_int_equal(divide->met, 4000);
    assert_false(divide->about_one);
    assert_true(divide->promised > 1000); /* a cycle each is the least */
    assert_int_equal(first->met, 1);
    assert_true(first->about_one);
    assert_int_equal(first->insn, whatif.golden.data[0].id);
    check_divisions(&whatif);
    const struct as_experiment *turn = &whatif.experiments.data[2];
    uint64_t executed = 0;
    for (size_t i = 0; i < whatif.golden.len; i++)
        executed += whatif.golden.data[i].id == turn->insn ? whatif.golden.data[i].count : 0;
    assert_true(turn->about_one && turn->insn != first->insn);
    assert_true(turn->met > 100 && turn->met == executed);
    as_whatif_free(&whatif);
}

/* Time with an event in one instruction. */
static double time_of(const struct as_whatif *whatif, uint32_t id, uint32_t event)
{
    uint64_t units = 0;
    for (size_t i = 0; i < whatif->golden.len; i++)
        if (whatif->golden.data[i].id == id && whatif->golden.data[i].events & event)
            units += whatif->golden.data[i].units;
    return (double)units / (double)AS_CYCLE_UNITS;
}

/* Instructions and events that more time goes to than that. */
static size_t count_above(const struct as_whatif *whatif, double promised)
{
    size_t n = 0;
    for (size_t i = 0; i < whatif->golden.len; i++)
        for (size_t e = 0; e < AS_EVENT_COUNT; e++)
            n += (!i || whatif->golden.data[i].id != whatif->golden.data[i - 1].id) && !as_events[e].roots &&
                 as_events[e].bit & AS_CORE_IDEAL &&
                 time_of(whatif, whatif->golden.data[i].id, as_events[e].bit) > promised + 1e-9;
    return n;
}

static void check_ranked(const struct as_whatif *whatif, size_t from)
{
    double largest = 0;
    for (size_t i = from; i < whatif->experiments.len; i++) {
        const struct as_experiment *experiment = &whatif->experiments.data[i];
        assert_int_equal(experiment->n, 1);
        assert_true(experiment->about_one && experiment->met > 0 && experiment->promised > 0);
        assert_float_equal(experiment->promised, time_of(whatif, experiment->insn, experiment->causes[0]->events),
                           1e-9);
        assert_true(i == from || experiment[-1].result.elapsed <= experiment->result.elapsed);
        assert_true(count_above(whatif, experiment->promised) < whatif->experiments.len - from);
        largest = experiment->promised > largest ? experiment->promised : largest;
    }
    assert_float_equal(largest, largest_promise(whatif), 1e-6);
}

/* What is tried unasked has a name that can be asked for, and comes to the same then. */
static void ask_again(const struct as_whatif *before)
{
    const char *texts[8];
    struct as_whatif_request request = request_for(false);
    for (size_t i = 0; i < before->experiments.len; i++)
        texts[i] = before->experiments.data[i].causes[0]->text;
    request.ideal = (struct as_strlist){texts, before->experiments.len};
    struct as_whatif whatif = session(&request);
    assert_int_equal(whatif.experiments.len, before->experiments.len);
    for (size_t i = 0; i < whatif.experiments.len; i++) {
        const struct as_experiment *again = &whatif.experiments.data[i], *first = &before->experiments.data[i];
        assert_int_equal(again->met, first->met);
        assert_float_equal(again->promised, first->promised, 0);
        assert_int_equal(again->about_one, first->about_one);
        assert_int_equal(again->insn, first->insn);
        assert_int_equal(again->result.elapsed, first->result.elapsed);
        assert_string_equal(first->causes[0]->place.text, strchr(texts[i], '@') + 1);
    }
    as_whatif_free(&whatif);
}

static void what_is_tried_unasked(void **state)
{
    struct as_whatif_request request = request_for(false);
    struct as_whatif whatif = session(&request);
    assert_int_equal(whatif.experiments.len, 5);
    check_ranked(&whatif, 0);
    ask_again(&whatif);
    as_whatif_free(&whatif);

    request = request_for(false);
    request.remove = (struct as_strlist){removed + 1, 1}; /* brings nothing, and still comes first */
    request.rank = 7;                                     /* more than the first instruction has events */
    whatif = session(&request);
    assert_int_equal(whatif.experiments.len, 8);
    assert_string_equal(whatif.experiments.data[0].causes[0]->text, "_start+0x0");
    check_ranked(&whatif, 1);
    as_whatif_free(&whatif);
}

static const struct as_experiment *find(const struct as_whatif *whatif, const char *text)
{
    for (size_t i = 0; i < whatif->experiments.len; i++)
        if (strcmp(whatif->experiments.data[i].causes[0]->text, text) == 0)
            return &whatif->experiments.data[i];
    return NULL;
}

/* A variable is found by the first of its addresses that moved, and by none behind the last. */
static void check_found(const struct as_whatif *whatif, const struct as_apart *pair)
{
    struct as_moved part = whatif->moved;
    struct as_apart found;
    part.addresses.len = 0;
    while (part.addresses.len < whatif->moved.addresses.len &&
           whatif->moved.addresses.data[part.addresses.len].address - pair->start >= pair->size)
        part.addresses.len++;
    assert_true(part.addresses.len < whatif->moved.addresses.len);
    assert_false(as_apart_find(&part, whatif->as_is.model, "pair", 0, &found));
    part.addresses.len++;
    assert_true(as_apart_find(&part, whatif->as_is.model, "pair", 0, &found));
    assert_true(found.start == pair->start && found.size == pair->size && found.part == pair->part);
}

static void lines_of_their_own(void **state)
{
    struct as_whatif_request request = request_for(true);
    struct as_whatif whatif = session(&request);
    assert_int_equal(whatif.experiments.len, 6); /* … and of variables the worst one */
    const struct as_experiment *worst = find(&whatif, "parts of pair on lines of their own");
    assert_non_null(worst);
    assert_int_equal(worst->causes[0]->apart.size, 16);
    assert_int_equal(worst->causes[0]->apart.part, 8);
    check_found(&whatif, &worst->causes[0]->apart);
    assert_true(isnan(worst->promised) && worst->result.elapsed < whatif.as_is.result.elapsed);
    assert_non_null(strstr(as_str_get(&heard), "the program has several threads"));
    assert_non_null(strstr(as_str_get(&heard), "run 6 of 6: with parts of pair on lines of their own"));
    as_whatif_free(&whatif);

    static const char *names[] = {"whole", "few", "pair"};
    request = request_for(true);
    request.separate = (struct as_strlist){names, 3};
    request.together = true;
    whatif = session(&request);
    assert_int_equal(whatif.experiments.len, 4);
    const struct as_experiment *of = whatif.experiments.data;
    const struct as_apart *few = &of[1].causes[0]->apart, *pair = &of[2].causes[0]->apart;
    assert_int_equal(pair->start, few->start + 64);
    assert_true(few->to + few->size <= pair->to); /* all of them together do not meet again */
    /* What is used most brings most. */
    assert_true(of[2].result.elapsed < whatif.as_is.result.elapsed);
    assert_true(of[2].result.elapsed < of[1].result.elapsed && of[3].result.elapsed < of[0].result.elapsed);
    as_whatif_free(&whatif);
}

/* As typed, and as they are named. The program allocates nothing, which is said before anything is tried. */
static void blocks_of_their_own(void **state)
{
    static const char *rules[] = {"heap:make", "heap:make/24"}, *wrong[] = {"heap:make/0"};
    struct as_error err = AS_ERROR_INIT;
    struct as_whatif_request request = request_for(false);
    request.separate = (struct as_strlist){rules, 2};
    request.together = true;
    struct as_whatif whatif = {.request = &request,
                               .environment = as_alloc_array(3, sizeof(char *))}; /* without the agent */
    assert_false(run(&whatif, &err));
    assert_non_null(strstr(err.message, "no block that 'make' allocates is known"));
    assert_int_equal(whatif.experiments.len, 3);
    const struct as_cause *whole = whatif.experiments.data[0].causes[0], *parts = whatif.experiments.data[1].causes[0];
    assert_string_equal(whole->text, "blocks that make allocates on lines of their own");
    assert_string_equal(parts->text, "parts of 24 bytes of what make allocates on lines of their own");
    assert_string_equal(parts->separate, "heap:make/24");
    assert_true(whole->heap.part == 0 && parts->heap.part == 24);
    assert_int_equal(whatif.experiments.data[2].n, 2);
    assert_int_equal(whatif.heap.rules.len, 2);
    as_whatif_free(&whatif);
    request = request_for(false);
    request.separate = (struct as_strlist){wrong, 1};
    check_refused(&request, "is not heap:FUNCTION");
}

static void what_is_refused(void **state)
{
    static const char *lonely[] = {"lonely"}, *near[] = {"FL-MB@div"}, *far[] = {"FL-MB@di"}, *none[] = {"libc.so.6:"},
                      *impossible[] = {"back.rob=0"}, *shorter[] = {"FL-MB@tur"}, *longer[] = {"FL-MB@turnss"};
    struct as_whatif_request request = request_for(true);
    request.separate = (struct as_strlist){lonely, 1};
    check_refused(&request, "no line of a variable 'lonely' went from core to core");
    request = request_for(false);
    request.ideal = (struct as_strlist){near, 1};
    check_refused(&request, "did you mean 'divide'?");
    request.ideal = (struct as_strlist){shorter, 1}; /* of two that are near, the nearer one */
    check_refused(&request, "did you mean 'turn'?");
    request.ideal = (struct as_strlist){longer, 1};
    check_refused(&request, "did you mean 'turns'?");
    request.ideal = (struct as_strlist){far, 1};
    check_refused(&request, "lists functions that did"); /* four letters are too many */
    request = request_for(false);
    request.remove = (struct as_strlist){none, 1};
    check_refused(&request, "is not a place");
    request = request_for(false);
    request.change = (struct as_strlist){impossible, 1};
    check_refused(&request, "back.rob=0");
    struct as_regions regions = {0};
    struct as_error err = AS_ERROR_INIT;
    assert_true(as_regions_parse(&regions, "1000000000..end", &err) && as_regions_check(&regions, &err));
    request = request_for(false);
    request.engine.regions = &regions; /* the program ends before that */
    check_refused(&request, "nothing was measured");
    as_regions_free(&regions);
}

static int needs(void **state)
{
    struct as_qemu qemu;
    struct as_error err = AS_ERROR_INIT;
    return as_qemu_find(AS_ARCH_X86_64, NULL, &qemu, &err) ? 0 : -1;
}

int main(int argc, char **argv)
{
    arguments = argv;
    plugin = argc == 4 ? realpath(argv[3], NULL) : NULL;
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_asked_for),    cmocka_unit_test(what_is_removed),
                                       cmocka_unit_test(machines_of_all_runs), cmocka_unit_test(blocks_of_their_own),
                                       cmocka_unit_test(output_is_discarded),  cmocka_unit_test(what_is_tried_unasked),
                                       cmocka_unit_test(lines_of_their_own),   cmocka_unit_test(what_is_refused)};
    int failed = plugin ? cmocka_run_group_tests(tests, needs, NULL) : 2;
    as_str_free(&heard);
    free(plugin);
    return failed;
}
