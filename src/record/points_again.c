/* See points_again.h. */
#include "record/points_again.h"
#include "record/outlet.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static void plan_one(const struct as_point_again *again, struct as_regions *regions)
{
    struct as_region *region = as_regions_add(regions);
    region->start = (struct as_point){.kind = AS_POINT_INSTRUCTION, .number = again->start};
    region->max = again->length;
    region->warm = AS_REGION_ALL;
    region->settle = again->settle;
    region->text = as_format("%" PRIu64 "..+%" PRIu64, again->start, again->length);
    regions->open_ended = true;
}

bool as_again_run(struct as_point_again *again, struct as_error *err)
{
    struct as_modelled *modelled = again->modelled;
    struct as_regions regions = {0};
    plan_one(again, &regions);
    again->engine.regions = &regions;
    again->engine.border = NULL;
    modelled->meter = NULL;
    if (!as_modelled_run(modelled, again->engine, err))
        return false;
    const struct as_run_end *end = &modelled->result.engine.end;
    return !(end->interrupted || end->asked) || as_error_set(err, "interrupted");
}

static bool measure(struct as_point_again *again, struct as_error *err)
{
    static const as_point_nodes none_known;
    struct as_modelled *modelled = again->modelled;
    if (!as_again_run(again, err))
        return false;
    if (modelled->result.instructions == 0)
        return true; /* the program ended before the point */
    return as_oracle_check(modelled->oracle, err) &&
           as_point_result_write(modelled, again->iterations, &none_known, 0, again->fd);
}

pid_t as_again_fork(struct as_point_again *again, as_again_work *work)
{
    struct as_error err = AS_ERROR_INIT;
    pid_t original = getpid(), pid = fork();
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != original)
        _exit(AS_EXIT_FAILURE);
    as_input_reopen(again->input);
    as_outlet_replace(STDOUT_FILENO); /* the run that counts shows what the program writes */
    as_outlet_replace(STDERR_FILENO);
    if (work(again, &err))
        _exit(AS_EXIT_OK);
    bool told = write(again->fd, err.message, strlen(err.message)) > 0;
    _exit(told ? AS_EXIT_FAILURE : AS_EXIT_FAILURE + 1);
}

pid_t as_point_again(struct as_point_again *again)
{
    return as_again_fork(again, measure);
}
