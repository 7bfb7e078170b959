/* See points_time.h. */
#include "record/points_time.h"
#include "record/points_again.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- costs ---- */

static uint64_t place_of(uint32_t image, uint64_t address)
{
    return ((uint64_t)image << 48) + address;
}

static void add_place(struct as_code_costs *costs, struct as_place_cost cost)
{
    *as_vec_push(&costs->list) = cost;
    *as_map_put(&costs->places, cost.place) = costs->list.len;
}

void as_code_costs_add(struct as_code_costs *costs, uint32_t image, uint64_t address, double cycles)
{
    add_place(costs, (struct as_place_cost){place_of(image, address), cycles});
}

void as_code_costs_free(struct as_code_costs *costs)
{
    as_vec_free(&costs->list);
    as_map_free(&costs->places);
    as_vec_free(&costs->blocks);
}

static double sum_of(const struct as_code_costs *costs, const struct as_block *block, uint32_t first, uint32_t end)
{
    double sum = 0;
    for (uint32_t i = first; i < end; i++) {
        const uint64_t *index = as_map_get(&costs->places, place_of(block->image, block->insns[i]->address));
        sum += index ? costs->list.data[*index - 1].cycles : costs->otherwise;
    }
    return sum;
}

double as_code_cost(void *context, const struct as_block *block, uint32_t first, uint32_t end)
{
    struct as_code_costs *costs = context;
    if (first > 0 || end < block->n)
        return sum_of(costs, block, first, end);
    while (costs->blocks.len <= block->index)
        *as_vec_push(&costs->blocks) = -1;
    double *whole = &costs->blocks.data[block->index];
    if (*whole < 0)
        *whole = sum_of(costs, block, 0, block->n);
    return *whole;
}

static bool send_costs(const struct as_code_costs *costs, int fd)
{
    FILE *out = fdopen(dup(fd), "w");
    if (!out)
        return false;
    size_t sent = fwrite(&costs->otherwise, sizeof costs->otherwise, 1, out);
    sent += costs->list.len ? fwrite(costs->list.data, sizeof *costs->list.data, costs->list.len, out) : 0;
    return fclose(out) == 0 && sent == costs->list.len + 1;
}

static bool receive_costs(struct as_code_costs *costs, int fd)
{
    struct as_place_cost cost;
    FILE *in = fdopen(dup(fd), "r");
    if (!in)
        return false;
    rewind(in);
    bool ok = fread(&costs->otherwise, sizeof costs->otherwise, 1, in) == 1;
    while (ok && fread(&cost, sizeof cost, 1, in) == 1)
        add_place(costs, cost);
    fclose(in);
    return ok;
}

/* ---- in the process ---- */

/* Runs to the program's end: the region that is planned lies behind it. */
static bool time_run(struct as_point_again *again, struct as_error *err)
{
    struct as_code_costs costs = {0};
    struct as_modelled *modelled = again->modelled;
    char begin;
    if (recv(again->begin, &begin, 1, 0) != 1 || !receive_costs(&costs, again->costs))
        return as_error_set(err, "the costs of instructions did not arrive");
    as_model_set_sieve(modelled->model); /* by which time goes on in what only warms */
    as_model_set_pace(modelled->model, as_code_cost, &costs);
    if (!as_again_run(again, err))
        return false;
    double elapsed_each = as_model_idle_factor(modelled->model);
    return write(again->fd, &elapsed_each, sizeof elapsed_each) == sizeof elapsed_each ||
           as_error_set(err, "%s", strerror(errno));
}

/* ---- in the original ---- */

bool as_points_time_start(struct as_points_time *time, struct as_point_again *again, struct as_error *err)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return as_error_set(err, "elapsed time: %s", strerror(errno));
    time->begin = ends[0];
    time->costs = memfd_create("assay-costs", MFD_CLOEXEC);
    time->result = memfd_create("assay-time", MFD_CLOEXEC);
    again->start = UINT64_MAX / 4;
    again->begin = ends[1];
    again->costs = time->costs;
    again->fd = time->result;
    bool ok = time->costs >= 0 && time->result >= 0;
    pid_t pid = ok ? as_again_fork(again, time_run) : -1;
    time->pid = pid > 0 ? pid : 0;
    if (!time->pid)
        as_error_set(err, "elapsed time: %s", strerror(errno));
    close(ends[1]);
    return time->pid != 0;
}

bool as_points_time_finish(struct as_points_time *time, const struct as_code_costs *costs, double *elapsed_each,
                           struct as_error *err)
{
    static const char begin = 1;
    int status = -1;
    bool ok = send_costs(costs, time->costs) && send(time->begin, &begin, 1, MSG_NOSIGNAL) == 1 &&
              waitpid(time->pid, &status, 0) == time->pid;
    if (status != -1)
        time->pid = 0;
    ok = ok && status == 0 && pread(time->result, elapsed_each, sizeof *elapsed_each, 0) == sizeof *elapsed_each;
    return ok || as_error_set(err, "the run for the elapsed time of the threads ended with status %d", status);
}

void as_points_time_end(struct as_points_time *time)
{
    const int files[] = {time->begin, time->costs, time->result};
    if (time->pid) {
        kill(time->pid, SIGKILL);
        waitpid(time->pid, NULL, 0);
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i] > 0)
            close(files[i]);
    *time = (struct as_points_time){0};
}
