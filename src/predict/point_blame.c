/* See point_blame.h. The Oracle's sums only grow: an interval has what they grew by. */
#include "predict/point_blame.h"

#include "base/map.h"

struct as_point_blame {
    struct as_modelled *modelled;
    struct as_time_spent spent;
    AS_VEC(uint32_t) function_of; /* by instruction */
    AS_VEC(double) seen;          /* units so far, by instruction */
    AS_VEC(double) executed;      /* the same of executions */
    const struct as_collect *collect;
    const struct as_vectors *vectors;
    struct as_interval_apart apart; /* the interval that executed the most else than in the run of the vectors */
};

static uint32_t function_of(struct as_point_blame *blame, uint32_t id)
{
    struct as_location location;
    while (blame->function_of.len <= id) {
        bool known = as_model_locate(blame->modelled->model, (uint32_t)blame->function_of.len, &location);
        const char *name = known && location.function ? location.function : "(code without a name)";
        *as_vec_push(&blame->function_of) = as_time_spent_function(&blame->spent, name);
        *as_vec_push(&blame->seen) = 0;
        *as_vec_push(&blame->executed) = 0;
    }
    return blame->function_of.data[id];
}

struct charged {
    double units, executions;
};

static struct charged charged_to(const struct as_point_blame *blame, uint32_t id)
{
    struct charged sum = {0};
    for (uint32_t number = 0; number == 0 || as_model_process(blame->modelled->model, number); number++) {
        uint32_t thread = number ? number : AS_NO_THREAD;
        const struct as_oracle_row *row = as_oracle_thread_row(blame->modelled->oracle, thread, id);
        sum.units += row ? (double)as_oracle_row_units(row) : 0;
        sum.executions += row ? (double)row->executions : 0;
    }
    return sum;
}

/* Counts what an instruction executed in the interval, by lines of code. */
static void take_executions(struct as_point_blame *blame, uint32_t id, double executions, struct as_map *lines)
{
    double more = executions - blame->executed.data[id];
    if (more <= 0)
        return;
    const struct as_engine *engine = as_model_engine(blame->modelled->model);
    uint64_t address = as_engine_insn(engine, id)->address;
    *as_map_put(lines, as_code_line(as_engine_insn_image(engine, id), address)) += (uint64_t)more;
    blame->executed.data[id] = executions;
}

/* Holds an interval against its vector. */
static void compare(struct as_point_blame *blame, uint32_t interval, const struct as_map *lines)
{
    struct as_map first = {0};
    if (interval >= blame->vectors->list.len)
        return;
    as_collect_lines(blame->collect, blame->vectors, interval, &first);
    double part = as_map_apart(&first, lines);
    if (part > blame->apart.part)
        blame->apart = (struct as_interval_apart){interval, part};
    as_map_free(&first);
}

static void on_measured(void *context, uint32_t region)
{
    struct as_point_blame *blame = context;
    size_t n = as_engine_count_insns(as_model_engine(blame->modelled->model));
    struct as_map lines = {0};
    for (uint32_t id = 0; id < n; id++) {
        struct charged now = charged_to(blame, id);
        uint32_t function = function_of(blame, id);
        as_time_spent_add(&blame->spent, function, (now.units - blame->seen.data[id]) / AS_CYCLE_UNITS);
        blame->seen.data[id] = now.units;
        take_executions(blame, id, now.executions, &lines);
    }
    compare(blame, region, &lines);
    as_map_free(&lines);
    as_time_spent_end(&blame->spent, region);
}

void as_point_blame_end(struct as_point_blame *blame, size_t intervals)
{
    if (blame->spent.ends.len < intervals)
        on_measured(blame, (uint32_t)intervals - 1);
}

struct as_interval_apart as_point_blame_apart(const struct as_point_blame *blame)
{
    return blame->apart;
}

struct as_point_blame *as_point_blame_new(struct as_modelled *modelled, const struct as_collect *collect,
                                          const struct as_vectors *vectors)
{
    struct as_point_blame *blame = as_alloc(sizeof *blame);
    blame->collect = collect;
    blame->vectors = vectors;
    blame->modelled = modelled;
    as_time_spent_init(&blame->spent);
    as_model_set_measured(modelled->model, on_measured, blame);
    return blame;
}

void as_point_blame_free(struct as_point_blame *blame)
{
    if (!blame)
        return;
    as_time_spent_free(&blame->spent);
    as_vec_free(&blame->function_of);
    as_vec_free(&blame->seen);
    as_vec_free(&blame->executed);
    free(blame);
}

struct as_blamed as_point_blame_find(const struct as_point_blame *blame, const struct as_choice *choice, uint32_t phase,
                                     const struct as_vectors *vectors)
{
    return as_time_spent_blame(&blame->spent, choice, phase, vectors);
}
