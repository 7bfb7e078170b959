/* The JSON document of assay comm. */
#include "base/json.h"
#include "base/ratio.h"
#include "cmd/comm_show.h"
#include "comm/comm_error.h"

enum { MOST_INDENTED = 64 }; /* threads: matrices of more would be megabytes of spaces */
enum part { ALL, TRUE_ONLY, FALSE_ONLY };

static uint64_t take(struct as_pair_cell cell, enum part part)
{
    return part == ALL ? as_pair_sum(cell) : part == TRUE_ONLY ? cell.true_ : cell.false_;
}

static void json_matrix(struct as_json *json, const char *name, const struct as_pair_matrix *matrix, enum part part)
{
    as_json_array(json, name);
    for (size_t i = 0; i < matrix->n; i++) {
        as_json_array(json, NULL);
        for (size_t k = 0; k < matrix->n; k++)
            as_json_u64(json, NULL, take(as_pair_matrix_pair(matrix, i, k), part));
        as_json_end(json);
    }
    as_json_end(json);
}

static void json_volume(struct as_json *json, const struct as_pair_matrix *matrix)
{
    struct as_pair_cell total = as_pair_matrix_total(matrix);
    as_json_u64(json, "total", as_pair_sum(total));
    as_json_u64(json, "true_sharing", total.true_);
    as_json_u64(json, "false_sharing", total.false_);
    json_matrix(json, "matrix", matrix, ALL);
    json_matrix(json, "matrix_true", matrix, TRUE_ONLY);
    json_matrix(json, "matrix_false", matrix, FALSE_ONLY);
}

static void json_cores(struct as_json *json, const struct as_comm_shown *shown, const struct as_pair_matrix *matrix)
{
    size_t n = shown->result->n_threads, cores = 0;
    const struct as_comm_thread *threads = shown->result->threads;
    uint32_t *to = as_alloc_array(n + 1, sizeof *to);
    struct as_pair_matrix folded = {0};
    for (size_t i = 0; i < n; i++) {
        to[i] = threads[i].core;
        cores = to[i] >= cores ? to[i] + 1 : cores;
    }
    as_pair_matrix_fold(matrix, to, cores, &folded);
    as_json_u64(json, "cores", cores);
    json_matrix(json, "matrix_by_core", &folded, ALL);
    as_pair_matrix_free(&folded);
    free(to);
    if (as_comm_has_nodes(shown)) {
        as_comm_nodes_fold(shown, matrix, &folded);
        as_json_u64(json, "nodes", shown->options->machine.sockets);
        json_matrix(json, "matrix_by_node", &folded, ALL);
        as_pair_matrix_free(&folded);
    }
}

static void json_threads(struct as_json *json, const struct as_comm_shown *shown)
{
    size_t n = shown->result->n_threads;
    const struct as_comm_thread *threads = shown->result->threads;
    as_json_u64(json, "threads", n);
    if (shown->native)
        as_json_u64(json, "threads_started", shown->native->threads);
    as_json_array(json, "by_thread");
    for (size_t i = 0; i < n; i++) {
        as_json_object(json, NULL);
        as_json_u64(json, "thread", threads[i].number);
        as_json_u64(json, "process", threads[i].process);
        as_json_i64(json, "pid", threads[i].pid);
        as_json_i64(json, "tid", threads[i].tid);
        as_json_u64(json, "core", threads[i].core);
        if (as_comm_mpi_rank(shown->mpi, threads[i].pid) >= 0)
            as_json_i64(json, "rank", as_comm_mpi_rank(shown->mpi, threads[i].pid));
        as_json_string(json, "name", as_comm_thread_name(shown->result, &threads[i]));
        as_json_end(json);
    }
    as_json_end(json);
}

static void json_pattern(struct as_json *json, const struct as_comm_result *result)
{
    const struct as_pair_matrix *matrix = result->exact ? result->exact : result->estimate;
    struct as_pattern_found found = as_comm_pattern(result);
    uint32_t *order = as_alloc_array(matrix->n + 1, sizeof *order);
    as_json_string(json, "pattern", as_pattern_name(found.pattern));
    as_json_double(json, "pattern_share", found.share);
    as_pattern_order(matrix, order);
    as_json_array(json, "order");
    for (size_t i = 0; i < matrix->n; i++)
        as_json_u64(json, NULL, order[i]);
    as_json_end(json);
    free(order);
}

/* ---- rows ---- */

static void json_counts(struct as_json *json, uint64_t true_, uint64_t false_)
{
    as_json_u64(json, "total", true_ + false_);
    as_json_u64(json, "true_sharing", true_);
    as_json_u64(json, "false_sharing", false_);
}

static void json_objects(struct as_json *json, const struct as_comm_shown *shown)
{
    as_json_array(json, "objects");
    for (size_t i = 0; i < shown->rows->objects.len && i < shown->top; i++) {
        const struct as_comm_object *object = &shown->rows->objects.data[i];
        as_json_object(json, NULL);
        as_json_string(json, "name", object->what.name);
        as_json_string(json, "kind", as_guest_kinds[object->what.kind]);
        as_json_string(json, "module", object->what.module);
        as_json_address(json, "address", object->what.start);
        as_json_u64(json, "size", object->what.end - object->what.start);
        as_json_u64(json, "lines", object->lines);
        json_counts(json, object->true_, object->false_);
        if (object->in_lock)
            as_json_u64(json, "false_in_lock", object->in_lock);
        if (as_comm_has_nodes(shown))
            as_json_u64(json, "remote", object->remote);
        as_json_end(json);
    }
    as_json_end(json);
}

static void json_path(struct as_json *json, const struct as_comm_shown *shown, uint32_t path)
{
    enum { DEPTH = 32 };
    const char *functions[DEPTH];
    size_t n = as_comm_frames(shown->result, path, functions, DEPTH);
    as_json_array(json, "path");
    for (size_t i = 0; i < n && i < DEPTH; i++)
        as_json_string(json, NULL, functions[i]);
    as_json_end(json);
}

void as_comm_json_code(struct as_json *json, const char *name, const struct as_comm_shown *shown,
                       const struct as_comm_code *code)
{
    struct as_comm_location found;
    as_json_object(json, name);
    if (as_comm_locate(shown->result, code->process, code->insn, &found)) {
        as_json_string(json, "module", found.location.module_name);
        as_json_string(json, "function", found.location.function);
        if (found.line.file) {
            as_json_string(json, "file", found.line.file);
            as_json_i64(json, "line", found.line.line);
        }
        as_json_address(json, "address", found.address);
        json_path(json, shown, code->path);
    }
    as_json_end(json);
}

static void json_side(struct as_json *json, const char *name, const struct as_comm_shown *shown,
                      const struct as_contact *contact, const struct as_contact_side *side)
{
    struct as_comm_code code = {.insn = side->insn, .process = side->process, .path = side->path};
    struct as_space *space = as_comm_space(shown->result, side->process, side->insn);
    char *text = as_comm_address_text(space, contact->line + side->offset);
    as_json_object(json, name);
    as_json_u64(json, "offset", side->offset);
    as_json_u64(json, "size", side->size);
    as_json_string(json, "place", text);
    as_comm_json_code(json, "code", shown, &code);
    as_json_end(json);
    free(text);
}

static void json_block(struct as_json *json, const struct as_comm_shown *shown, const struct as_comm_line *line,
                       const struct as_contact *contact)
{
    const struct as_guest_block *block =
        as_comm_block(shown->result, line->process, line->address + contact->to.offset);
    if (!block || shown->rows->objects.data[line->object].what.kind != AS_GUEST_BLOCKS)
        return;
    as_json_object(json, "block");
    as_json_address(json, "address", block->start);
    as_json_u64(json, "size", block->end - block->start);
    as_json_end(json);
}

static void json_lines(struct as_json *json, const struct as_comm_shown *shown)
{
    const struct as_contacts *contacts = shown->result->contacts;
    as_json_array(json, "lines");
    for (size_t i = 0; i < shown->rows->lines.len && i < shown->top; i++) {
        const struct as_comm_line *line = &shown->rows->lines.data[i];
        const struct as_contact *contact = &contacts->list.data[line->contact];
        as_json_object(json, NULL);
        as_json_address(json, "address", line->address);
        as_json_u64(json, "process", line->process);
        as_json_string(json, "object", shown->rows->objects.data[line->object].what.name);
        json_block(json, shown, line, contact);
        json_counts(json, line->true_, line->false_);
        if (line->lock)
            as_json_string(json, "inside", line->lock);
        json_side(json, "from", shown, contact, &contact->from);
        json_side(json, "to", shown, contact, &contact->to);
        as_json_end(json);
    }
    as_json_end(json);
}

static void json_pairs(struct as_json *json, const struct as_comm_shown *shown)
{
    as_json_array(json, "code_pairs");
    for (size_t i = 0; i < shown->rows->pairs.len && i < shown->top; i++) {
        const struct as_comm_pair *pair = &shown->rows->pairs.data[i];
        as_json_object(json, NULL);
        json_counts(json, pair->true_, pair->false_);
        if (as_comm_has_nodes(shown))
            as_json_u64(json, "remote", pair->remote);
        as_json_string(json, "object", shown->rows->objects.data[pair->object].what.name);
        as_comm_json_code(json, "from", shown, &pair->from);
        as_comm_json_code(json, "to", shown, &pair->to);
        as_json_end(json);
    }
    as_json_end(json);
}

static void json_advice(struct as_json *json, const struct as_comm_rows *rows)
{
    as_json_array(json, "advice");
    for (size_t i = 0; i < rows->advice.len; i++) {
        const struct as_comm_advice *advice = &rows->advice.data[i];
        as_json_object(json, NULL);
        as_json_address(json, "line", advice->line);
        as_json_u64(json, "count", advice->count);
        as_json_string(json, "from", advice->from);
        as_json_string(json, "to", advice->to);
        as_json_string(json, "text", advice->text);
        as_json_end(json);
    }
    as_json_end(json);
}

/* ---- both sides ---- */

static void json_exact(struct as_json *json, const struct as_comm_shown *shown)
{
    const struct as_pair_matrix *exact = shown->result->exact, *estimate = shown->result->estimate;
    if (!exact)
        return;
    struct as_coherent_counts counts = as_comm_run_coherent(shown->run);
    as_json_object(json, "exact");
    json_volume(json, exact);
    as_json_u64(json, "bytes", counts.bytes);
    as_json_u64(json, "line_bytes", counts.transfers * AS_COHERENT_LINE);
    if (as_comm_has_nodes(shown)) {
        as_json_u64(json, "remote", counts.remote);
        as_json_u64(json, "remote_line_bytes", counts.remote * AS_COHERENT_LINE);
    }
    as_json_u64(json, "invalidations", counts.invalidations);
    as_json_u64(json, "accesses", counts.accesses);
    as_json_u64(json, "memory_bytes", as_comm_run_memory(shown->run));
    as_json_u64(json, "last_writer", counts.last_writer);
    as_json_double(json, "last_writer_overcount", as_ratio(counts.last_writer, counts.transfers));
    if (estimate) {
        struct as_comm_error error = as_comm_error(estimate, exact);
        as_json_object(json, "error");
        as_json_double(json, "total", error.total);
        as_json_double(json, "mean_cell", error.mean);
        as_json_double(json, "largest_cell", error.largest);
        as_json_double(json, "false_share", error.false_share);
        as_json_end(json);
    }
    as_json_end(json);
}

static const char *const sampling_names[] = {
    [AS_SAMPLING_EVENTS] = "events", [AS_SAMPLING_ACCESSES] = "accesses", [AS_SAMPLING_OPERATIONS] = "operations"};

static void json_samples(struct as_json *json, const struct as_comm_shown *shown)
{
    struct as_detect_counts counts = shown->result->detect;
    as_json_object(json, "sampling");
    if (shown->run)
        as_json_string(json, "kind", sampling_names[shown->options->machine.sampling]);
    as_json_u64(json, "load_samples", counts.load_samples);
    as_json_u64(json, "store_samples", counts.store_samples);
    as_json_u64(json, "published", counts.published);
    as_json_u64(json, "found", counts.found);
    as_json_u64(json, "turns", counts.turns);
    as_json_u64(json, "watched", counts.armed);
    as_json_u64(json, "trapped", counts.trapped);
    as_json_u64(json, "unseen", counts.unseen);
    if (shown->run) {
        as_json_string(json, "method", shown->options->detect.last_stores ? "last-stores" : "board");
        as_json_u64(json, "registers", shown->options->detect.registers);
        as_json_u64(json, "buckets", shown->options->detect.buckets);
        as_json_u64(json, "instructions_stood", as_comm_run_cost(shown->run).stood);
    }
    as_json_end(json);
}

/* What a run on the machine took from the program. */
static void json_spent(struct as_json *json, const struct as_comm_native_info *info)
{
    as_json_object(json, "spent");
    as_json_u64(json, "samples", info->cost.samples);
    as_json_u64(json, "without_address", info->cost.without);
    as_json_u64(json, "lost", info->lost);
    as_json_u64(json, "watchpoints", info->cost.armings);
    as_json_u64(json, "traps", info->cost.traps);
    as_json_u64(json, "causes_found", info->cost.causes);
    as_json_u64(json, "refused", info->cost.refused);
    as_json_u64(json, "postponed", info->cost.postponed);
    as_json_double(json, "sampling_seconds", info->sampling);
    as_json_double(json, "watching_seconds", info->cost.watching);
    as_json_double(json, "processor_seconds", info->processor);
    as_json_end(json);
}

static void json_source(struct as_json *json, const struct as_comm_shown *shown)
{
    as_json_string(json, "source", shown->result->source);
    as_json_string(json, "unit", shown->result->is_time ? "nanoseconds" : "transfers");
    if (shown->run)
        as_json_u64(json, "instructions", as_comm_run_instructions(shown->run));
    if (shown->part)
        as_json_string(json, "part", shown->part);
    as_json_double(json, "seconds", shown->seconds);
    if (shown->run)
        as_json_u64(json, "late_accesses", as_comm_run_late(shown->run));
    if (shown->native)
        json_spent(json, shown->native);
}

bool as_comm_json(const struct as_comm_shown *shown, FILE *out)
{
    const struct as_pair_matrix *estimate = shown->result->estimate;
    const struct as_pair_matrix *main = estimate ? estimate : shown->result->exact;
    struct as_json *json = as_json_new(out);
    if (main->n > MOST_INDENTED)
        as_json_compact(json);
    as_json_object(json, NULL);
    as_json_array(json, "program");
    for (char **arg = shown->argv; *arg; arg++)
        as_json_string(json, NULL, *arg);
    as_json_end(json);
    json_source(json, shown);
    json_threads(json, shown);
    as_json_string(json, "volume", estimate ? "estimate" : "exact");
    json_volume(json, main);
    if (shown->run)
        json_cores(json, shown, main);
    json_pattern(json, shown->result);
    if (shown->heap_unknown)
        as_json_string(json, "heap_unknown", shown->heap_unknown);
    json_objects(json, shown);
    json_lines(json, shown);
    json_pairs(json, shown);
    as_comm_nodes_json(json, shown);
    json_advice(json, shown->rows);
    if (estimate)
        json_samples(json, shown);
    json_exact(json, shown);
    if (shown->mpi)
        as_comm_mpi_json(json, shown);
    as_json_end(json);
    return as_json_finish(json);
}

void as_comm_csv(const struct as_comm_shown *shown, FILE *out)
{
    size_t n = shown->result->n_threads;
    const struct as_comm_thread *threads = shown->result->threads;
    if (shown->mpi) {
        as_comm_mpi_csv(shown, out);
        return;
    }
    const struct as_pair_matrix none = {0}, *estimate = shown->result->estimate, *exact = shown->result->exact;
    fprintf(out, "thread_a,thread_b,total,true_sharing,false_sharing,exact_total,exact_true,exact_false\n");
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++) {
            struct as_pair_cell guess = as_pair_matrix_pair(estimate ? estimate : &none, i, k);
            struct as_pair_cell truth = as_pair_matrix_pair(exact ? exact : &none, i, k);
            if (as_pair_sum(guess) || as_pair_sum(truth))
                fprintf(out, "%u,%u,%llu,%llu,%llu,%llu,%llu,%llu\n", threads[i].number, threads[k].number,
                        (unsigned long long)as_pair_sum(guess), (unsigned long long)guess.true_,
                        (unsigned long long)guess.false_, (unsigned long long)as_pair_sum(truth),
                        (unsigned long long)truth.true_, (unsigned long long)truth.false_);
        }
}
