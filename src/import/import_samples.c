/* Adds up the samples of a recording. See import.h. */
#include "base/saturate.h"
#include "import/import_internal.h"

#include <linux/perf_event.h>
#include <time.h>

struct as_import_sum *as_import_sum_of(struct as_import_sums *sums, uint32_t first, uint32_t second)
{
    uint64_t *index = as_map_put(&sums->index, (uint64_t)first << 32 | second);
    if (*index == 0) {
        *as_vec_push(&sums->items) = (struct as_import_sum){.first = first, .second = second};
        *index = sums->items.len;
    }
    return &sums->items.data[*index - 1];
}

static void free_sums(struct as_import_sums *sums)
{
    as_map_free(&sums->index);
    as_vec_free(&sums->items);
}

static void free_table(struct as_import_table *table)
{
    free_sums(&table->times);
    free_sums(&table->components);
    free_sums(&table->path_times);
    as_vec_free(&table->moments);
}

struct as_import *as_import_open(const struct as_import_options *options)
{
    struct as_import *import = as_alloc(sizeof *import);
    import->options = *options;
    import->info = options->info;
    import->writer = options->writer;
    import->spaces = as_perf_spaces_new(&options->spaces);
    as_import_code_open(&import->code, import->writer, import->spaces);
    as_import_data_open(import);
    return import;
}

struct as_perf_spaces *as_import_spaces(const struct as_import *import)
{
    return import->spaces;
}

void as_import_free(struct as_import *import)
{
    if (!import)
        return;
    for (size_t i = 0; i < import->threads.len; i++)
        free(import->threads.data[i].name);
    free(import->command);
    as_vec_free(&import->threads);
    as_vec_free(&import->series);
    as_vec_free(&import->measures);
    as_vec_free(&import->paths);
    as_vec_free(&import->masks);
    as_map_free(&import->thread_numbers);
    as_map_free(&import->path_numbers);
    as_map_free(&import->mask_numbers);
    free_sums(&import->cells);
    free_sums(&import->path_cells);
    free_table(&import->by_event);
    free_table(&import->by_measure);
    free_sums(&import->branches.pairs);
    free_sums(&import->branches.taken);
    as_import_data_free(&import->data);
    as_import_spe_free(import);
    as_import_waiting_free(import);
    as_stack_walker_free(import->walker);
    as_import_code_free(&import->code);
    as_perf_spaces_free(import->spaces);
    free(import);
}

static void add(struct as_import_sum *sum, uint64_t units, uint64_t samples)
{
    as_add_to(&sum->units, units);
    as_add_to(&sum->samples, samples);
}

/* ---- threads ---- */

static uint32_t add_thread(struct as_import *import, uint64_t *number, const struct as_import_thread *thread)
{
    *as_vec_push(&import->threads) = *thread;
    *number = import->threads.len;
    return (uint32_t)(*number - 1);
}

/* Samples that came before the first name of a thread count for that name. */
uint32_t as_import_thread(struct as_import *import, uint32_t pid, uint32_t tid, const char *name)
{
    uint64_t *number = as_map_put(&import->thread_numbers, (uint64_t)pid << 32 | tid);
    if (*number == 0)
        return add_thread(import, number,
                          &(struct as_import_thread){
                              .pid = pid, .tid = tid, .before = AS_STORE_NONE, .name = name ? as_strdup(name) : NULL});
    uint32_t last = (uint32_t)(*number - 1);
    if (!name)
        return last;
    if (!import->threads.data[last].name)
        import->threads.data[last].name = as_strdup(name);
    for (uint32_t i = last; i != AS_STORE_NONE; i = import->threads.data[i].before)
        if (strcmp(import->threads.data[i].name, name) == 0)
            return i;
    return add_thread(import, number,
                      &(struct as_import_thread){.pid = pid, .tid = tid, .before = last, .name = as_strdup(name)});
}

/* The thread under the name that it has at the time of the sample. */
static uint32_t thread_of(struct as_import *import, const struct as_perf_sample *sample)
{
    const char *name = sample->comm ? sample->comm : as_perf_spaces_comm(import->spaces, sample->pid, sample->tid);
    uint32_t number = as_import_thread(import, sample->pid, sample->tid, name);
    import->threads.data[number].samples++;
    return number;
}

/* ---- call paths ---- */

/* Code without a function is represented by its module. */
static uint32_t path_of(struct as_import *import, const struct as_store_path *path, uint32_t module)
{
    uint32_t other = path->function == AS_STORE_NONE ? module : AS_STORE_NONE;
    uint64_t words[] = {(uint64_t)path->parent << 32 | path->function, path->call_address, other};
    for (uint64_t key = as_hash_bytes(words, sizeof words);; key++) {
        uint64_t *number = as_map_put(&import->path_numbers, key);
        if (*number == 0) {
            *as_vec_push(&import->paths) = (struct as_import_path){*path, other};
            *number = import->paths.len;
        }
        const struct as_import_path *known = &import->paths.data[*number - 1];
        if (known->path.parent == path->parent && known->path.function == path->function &&
            known->path.call_address == path->call_address && known->module == other)
            return (uint32_t)(*number - 1);
    }
}

/* The frames of a sample, innermost first: the sampled address, then the calls that led to it. */
typedef AS_VEC(struct as_import_frame) as_import_frames;

static void frames_of_text(const struct as_perf_sample *sample, as_import_frames *frames)
{
    for (size_t i = 0, inlined = 0; i < sample->n_frames; i++) {
        if (sample->frames[i].inlined) {
            inlined++;
            continue;
        }
        *as_vec_push(frames) = (struct as_import_frame){.pid = sample->pid,
                                                        .mode = sample->mode,
                                                        .address = sample->frames[i].ip,
                                                        .text = &sample->frames[i],
                                                        .n_inlined = inlined};
        inlined = 0;
    }
}

/* The chain begins with the sampled address itself. All others are return addresses, so one less is inside the call.
 * The exception is a change of mode, where the program was interrupted. */
static void frames_of_chain(const struct as_perf_sample *sample, as_import_frames *frames)
{
    size_t at = 0;
    uint64_t address;
    enum as_perf_mode mode = sample->mode, before = sample->mode;
    *as_vec_push(frames) = (struct as_import_frame){.pid = sample->pid, .mode = sample->mode, .address = sample->ip};
    for (bool first = true; as_perf_chain_next(sample, &at, &address, &mode); first = false) {
        bool called = mode == before;
        before = mode;
        if (!first && address > 0)
            *as_vec_push(frames) = (struct as_import_frame){
                .pid = sample->pid, .mode = mode, .address = address - called, .called = called};
    }
}

/* The instruction that a caller is at; NONE: unknown. Text does not tell which one the call is, but what is inlined there. */
static uint32_t call_site_of(struct as_import *import, const struct as_import_frame *frame,
                             struct as_import_location *location)
{
    if (frame->called)
        return as_import_code_call(&import->code, frame, location);
    return frame->n_inlined ? as_import_code_instruction(&import->code, frame, location) : AS_STORE_NONE;
}

/* Goes from the outermost frame to the innermost, whose location is known already. Chains of programs without frame
 * pointers contain addresses where nothing is mapped; those are skipped. */
static uint32_t walk_path(struct as_import *import, const as_import_frames *frames,
                          const struct as_import_location *leaf)
{
    uint32_t path = AS_STORE_NONE, call_site = AS_STORE_NONE;
    uint64_t call_address = 0;
    for (size_t i = frames->len; i-- > 0;) {
        struct as_import_location location = *leaf;
        if (i > 0)
            as_import_code_find(&import->code, &frames->data[i], &location);
        if (i > 0 && location.unmapped) {
            import->stray_frames++;
            continue;
        }
        if (path == AS_STORE_NONE)
            import->made_root = location.recorded.generated || as_import_is_made(location.recorded.module);
        struct as_store_path node = {.parent = path,
                                     .function = location.function,
                                     .call_site = call_site,
                                     .address = location.function == AS_STORE_NONE ? location.address : location.entry,
                                     .call_address = call_address};
        path = path_of(import, &node, location.module);
        call_site = call_site_of(import, &frames->data[i], &location);
        call_address = location.address;
    }
    return path;
}

/* ---- samples ---- */

static void count_match(struct as_import *import, enum as_perf_match match)
{
    if (match == AS_PERF_MATCHED || match == AS_PERF_TRUSTED)
        import->matched++;
    else if (match == AS_PERF_NO_FILE)
        import->other++;
    else
        import->unmatched++;
}

static uint32_t mask_of(struct as_import *import, uint64_t mask)
{
    uint64_t *number = as_map_put(&import->mask_numbers, mask);
    if (*number == 0) {
        *as_vec_push(&import->masks) = mask;
        *number = import->masks.len;
    }
    return (uint32_t)(*number - 1);
}

static uint32_t measure_of(struct as_import *import, uint32_t event, enum as_import_kind kind)
{
    uint32_t *number = &import->series.data[event].measures[kind];
    if (*number == 0) {
        *as_vec_push(&import->measures) = (struct as_import_measure){.event = event, .kind = kind};
        *number = (uint32_t)import->measures.len;
    }
    return *number - 1;
}

/* Where a sample is counted. */
struct target {
    uint32_t cell, on_path, mask; /* on_path may be NONE */
    uint32_t path, processor;
    uint64_t time; /* AS_PERF_NO_TIME: not known */
};

static void add_at(struct as_import_table *table, const struct target *at, uint32_t number, uint64_t units)
{
    struct as_import_sum *time = as_import_sum_of(&table->times, at->cell, number);
    add(time, units, 1);
    uint32_t which = as_import_sum_number(&table->times, time);
    add(as_import_sum_of(&table->components, which, at->mask), units, 1);
    if (at->on_path != AS_STORE_NONE)
        add(as_import_sum_of(&table->path_times, at->on_path, number), units, 1);
    if (at->time != AS_PERF_NO_TIME)
        *as_vec_push(&table->moments) = (struct as_import_moment){.time = at->time,
                                                                  .units = units,
                                                                  .number = number,
                                                                  .cell = at->cell,
                                                                  .path = at->path,
                                                                  .processor = at->processor,
                                                                  .mask = at->mask};
}

static void add_time(struct as_import *import, const struct as_perf_sample *sample, const struct as_import_facts *facts,
                     uint32_t path, uint32_t instruction)
{
    uint32_t event = sample->event->index;
    struct as_import_series *series = &import->series.data[event];
    struct target at = {.on_path = AS_STORE_NONE,
                        .mask = mask_of(import, facts->events),
                        .path = path,
                        .processor = sample->cpu,
                        .time = sample->time};
    at.cell =
        as_import_sum_number(&import->cells, as_import_sum_of(&import->cells, instruction, thread_of(import, sample)));
    if (path != AS_STORE_NONE)
        at.on_path = as_import_sum_number(&import->path_cells, as_import_sum_of(&import->path_cells, path, at.cell));
    series->samples++;
    series->timed += at.time != AS_PERF_NO_TIME;
    /* That some samples are stores does not say what the others waited for: it makes no cycle stacks by itself. */
    series->components |= (facts->events & ~as_import_bit(AS_BIT_STORE, true)) != 0;
    as_add_to(&series->units, sample->period);
    series->squares += (double)sample->period * (double)sample->period;
    add_at(&import->by_event, &at, event, sample->period);
    for (size_t i = 0; i < facts->n_values; i++) {
        uint32_t measure = measure_of(import, event, facts->values[i].kind);
        import->measures.data[measure].samples++;
        add_at(&import->by_measure, &at, measure, facts->values[i].value);
    }
}

static void count_chain(struct as_import *import, uint32_t path, const struct as_import_location *location)
{
    import->chains++;
    if (import->paths.data[path].path.parent != AS_STORE_NONE) {
        import->ways[import->way]++;
        import->made_roots += import->made_root;
        return;
    }
    import->lone_chains++;
    import->lone_generated += location->recorded.generated;
}

bool as_import_add_sample(struct as_import *import, const struct as_perf_sample *sample,
                          const struct as_import_facts *facts)
{
    struct as_import_location location;
    as_import_frames frames = {0};
    if (as_store_writer_failed(import->writer))
        return false; /* commit reports why */
    if (as_import_must_wait(import, sample)) {
        as_import_wait(import, sample, facts);
        return true;
    }
    bool timed =
        sample->has & PERF_SAMPLE_TIME && (sample->event->clock == CLOCK_MONOTONIC || import->options.spaces.made.find);
    as_perf_spaces_set_time(import->spaces, timed ? sample->time : 0);
    if (sample->n_frames > 0)
        frames_of_text(sample, &frames);
    if (frames.len == 0)
        frames_of_chain(sample, &frames);
    as_import_code_find(&import->code, &frames.data[0], &location);
    uint32_t instruction = as_import_code_instruction(&import->code, &frames.data[0], &location);
    uint32_t path = sample->has & PERF_SAMPLE_CALLCHAIN ? walk_path(import, &frames, &location) : AS_STORE_NONE;
    if (path != AS_STORE_NONE && sample->mode == AS_PERF_USER)
        count_chain(import, path, &location);
    add_time(import, sample, facts, path, instruction);
    as_import_sample_address(import, sample, facts);
    as_import_sample_branches(import, sample, facts);
    count_match(import, location.match);
    import->guessed += location.recorded.guessed;
    as_vec_free(&frames);
    return true;
}

/* A profile stores 63 bits, and a report adds up a series: its sum must fit, whatever a damaged recording says. Returns
 * the sample, or `copy` with as much of its period as there is room for. */
static const struct as_perf_sample *keep_in_range(struct as_import *import, const struct as_perf_sample *sample,
                                                  struct as_perf_sample *copy)
{
    uint64_t room = INT64_MAX - import->series.data[sample->event->index].units;
    if (sample->period <= room)
        return sample;
    *copy = *sample;
    copy->period = room;
    import->huge_periods++;
    return copy;
}

static bool use_sample(void *context, const struct as_perf_sample *given, struct as_error *err)
{
    struct as_import *import = context;
    struct as_perf_sample walked, within;
    const struct as_perf_sample *recorded = keep_in_range(import, given, &within);
    struct as_import_facts facts;
    const struct as_perf_sample *sample = as_import_walk(import, recorded, &walked) ? &walked : recorded;
    as_import_count_cut(import, recorded);
    as_import_facts_of(sample, &import->series.data[sample->event->index].tagging, &import->raw, &facts);
    return as_import_add_sample(import, sample, &facts);
}

/* ---- calls from outside the sink ---- */

uint32_t as_import_add_own(struct as_import *import, const struct as_import_own *own)
{
    *as_vec_push(&import->series) = (struct as_import_series){.own = own};
    return (uint32_t)(import->series.len - 1);
}

void as_import_add_calls(struct as_import *import, uint32_t series, uint32_t pid, uint32_t thread,
                         const uint64_t *returns, size_t n, uint64_t units, uint64_t count)
{
    as_import_frames frames = {0};
    struct as_import_location location;
    for (size_t i = 0; i < n; i++)
        if (returns[i] > 0)
            *as_vec_push(&frames) =
                (struct as_import_frame){.pid = pid, .mode = AS_PERF_USER, .address = returns[i] - 1, .called = true};
    if (frames.len == 0)
        return;
    as_import_code_find(&import->code, &frames.data[0], &location);
    uint32_t path = walk_path(import, &frames, &location);
    uint32_t instruction = as_import_code_call(&import->code, &frames.data[0], &location);
    if (instruction == AS_STORE_NONE)
        instruction = as_import_code_instruction(&import->code, &frames.data[0], &location);
    uint32_t cell = as_import_sum_number(&import->cells, as_import_sum_of(&import->cells, instruction, thread));
    uint32_t on_path = as_import_sum_number(&import->path_cells, as_import_sum_of(&import->path_cells, path, cell));
    add(as_import_sum_of(&import->by_event.times, cell, series), units, count);
    add(as_import_sum_of(&import->by_event.path_times, on_path, series), units, count);
    as_add_to(&import->series.data[series].units, units);
    as_add_to(&import->series.data[series].samples, count);
    as_vec_free(&frames);
}

static bool use_event(void *context, const struct as_perf_event *event, struct as_error *err)
{
    struct as_import *import = context;
    while (import->series.len <= event->index)
        *as_vec_push(&import->series) = (struct as_import_series){0};
    import->series.data[event->index].tagging = as_import_unit_of(event, import->info);
    for (uint32_t i = 0; import->series.len > 1 && i < import->series.len; i++)
        if (import->series.data[i].tagging.unit == AS_IMPORT_TEA) /* its bits would be taken for those of others */
            import->series.data[i].tagging.unit = AS_IMPORT_TIP;
    as_import_spe_event(import, event);
    if (import->options.unwind && event->sample_type & PERF_SAMPLE_STACK_USER)
        as_import_walk_stacks(import);
    return true;
}

static bool use_build_id(void *context, const char *path, enum as_perf_mode mode, const struct as_perf_build_id *id,
                         struct as_error *err)
{
    return as_perf_spaces_build_id(((struct as_import *)context)->spaces, path, mode, id, err);
}

/* The program that perf started is the first that its child executes; until then the child is called perf-exec. A
 * process that perf was attached to has another name already. */
static void find_command(struct as_import *import, const struct as_perf_process *process)
{
    bool first = !import->met_names;
    import->met_names = true;
    if (!process->exec && process->name && strncmp(process->name, "perf", 4) == 0 && !import->command_pid)
        import->command_pid = process->pid;
    else if (process->exec && process->name && !import->command && (first || process->pid == import->command_pid))
        import->command = as_strdup(process->name);
}

static bool use_process(void *context, const struct as_perf_process *process, struct as_error *err)
{
    struct as_import *import = context;
    as_import_spe_process(import, process);
    if (process->kind == AS_PERF_EXIT && process->pid == process->tid)
        as_import_release(import, process->pid);
    if (process->kind == AS_PERF_COMM && process->exec)
        as_import_release(import, process->pid);
    if (process->kind == AS_PERF_COMM)
        find_command(import, process);
    return as_perf_spaces_process(import->spaces, process, err) &&
           (!import->walker || as_stack_walker_process(import->walker, process, err));
}

static bool use_ksymbol(void *context, const struct as_perf_ksymbol *symbol, struct as_error *err)
{
    return as_perf_spaces_ksymbol(((struct as_import *)context)->spaces, symbol, err);
}

static bool use_switch(void *context, const struct as_perf_switch *change, struct as_error *err)
{
    as_import_spe_switch(context, change);
    return true;
}

static bool use_aux(void *context, const struct as_perf_aux *aux, struct as_error *err)
{
    return as_import_spe_aux(context, aux);
}

void as_import_finish(struct as_import *import)
{
    as_import_spe_finish(import);
    as_import_release(import, AS_IMPORT_ALL);
}

static size_t count_processes(const struct as_import *import)
{
    struct as_map processes = {0};
    for (size_t i = 0; i < import->threads.len; i++)
        as_map_put(&processes, import->threads.data[i].pid);
    size_t n = processes.len;
    as_map_free(&processes);
    return n;
}

uint64_t as_import_samples_of(const struct as_import *import, uint32_t pid)
{
    uint64_t samples = 0;
    for (size_t i = 0; i < import->threads.len; i++)
        samples += import->threads.data[i].pid == pid ? import->threads.data[i].samples : 0;
    return samples;
}

struct as_import_counts as_import_count(const struct as_import *import)
{
    struct as_import_counts counts = {.threads = import->thread_numbers.len - import->named_alone,
                                      .processes = count_processes(import)};
    for (size_t i = 0; i < import->series.len; i++) {
        const struct as_import_series *series = &import->series.data[i];
        if (series->own)
            continue;
        counts.samples += series->samples;
        counts.units += counts.events++ == 0 ? series->units : 0;
        counts.events_with_samples += series->samples > 0;
    }
    return counts;
}

const struct as_perf_sink as_import_sink = {
    .event = use_event,
    .build_id = use_build_id,
    .process = use_process,
    .ksymbol = use_ksymbol,
    .sample = use_sample,
    .context_switch = use_switch,
    .aux = use_aux,
};
