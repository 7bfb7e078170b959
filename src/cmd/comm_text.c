/* What assay comm prints for people. */
#include "base/ratio.h"
#include "base/show.h"
#include "cmd/comm_show.h"
#include "comm/comm_error.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MOST_COLUMNS = 16, MOST_SHADES = 64, FRAMES = 6, FEW_HITS = 20 };

const char *as_comm_cell_text(uint64_t count, char text[24])
{
    static const char units[] = " kMGTPE";
    double value = (double)count;
    size_t unit = 0;
    for (; value >= 1000 && unit + 2 < sizeof units; unit++)
        value /= 1000;
    if (!count)
        return ".";
    if (unit == 0)
        snprintf(text, 24, "%" PRIu64, count);
    else
        snprintf(text, 24, value < 10 ? "%.1f%c" : "%.0f%c", value, units[unit]);
    return text;
}

/* Where estimates are nanoseconds, people see milliseconds. */
static uint64_t amount(const struct as_comm_shown *shown, uint64_t count)
{
    return shown->result->is_time ? (count + 500000) / 1000000 : count;
}

static const char *unit(const struct as_comm_shown *shown)
{
    return shown->result->is_time ? "ms" : "transfers";
}

static void print_numbers(FILE *out, const struct as_comm_shown *shown, const struct as_pair_matrix *matrix,
                          const uint32_t *order, int part)
{
    const struct as_comm_thread *threads = shown->result->threads;
    fprintf(out, "  %8s", "thread");
    for (size_t k = 0; k < matrix->n; k++)
        fprintf(out, " %5" PRIu32, threads[order[k]].number);
    fprintf(out, "\n");
    for (size_t i = 0; i < matrix->n; i++) {
        fprintf(out, "  %8" PRIu32, threads[order[i]].number);
        for (size_t k = 0; k < matrix->n; k++) {
            char text[24];
            uint64_t count = as_pair_part(as_pair_matrix_pair(matrix, order[i], order[k]), part);
            fprintf(out, " %5s", i == k ? "" : as_comm_cell_text(amount(shown, count), text));
        }
        fprintf(out, "\n");
    }
}

/* Too many threads for numbers: a character for each cell, by its share of the largest of all communication. */
static void print_shades(FILE *out, const struct as_pair_matrix *matrix, const uint32_t *order, int part)
{
    static const char shades[] = " .:-=+*#%@";
    uint64_t most = 1;
    size_t n = matrix->n < MOST_SHADES ? matrix->n : MOST_SHADES;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            uint64_t count = as_pair_sum(as_pair_matrix_pair(matrix, order[i], order[k]));
            most = count > most ? count : most;
        }
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "  |");
        for (size_t k = 0; k < n; k++) {
            uint64_t count = as_pair_part(as_pair_matrix_pair(matrix, order[i], order[k]), part);
            size_t shade = count ? 1 + (size_t)(as_ratio(count, most) * 8.999) : 0;
            fputc(shades[shade], out);
        }
        fprintf(out, "|\n");
    }
    if (matrix->n > n)
        fprintf(out, "  … and %zu threads more; --json has them all\n", matrix->n - n);
}

static void print_matrix(FILE *out, const struct as_comm_shown *shown, const struct as_pair_matrix *matrix,
                         const uint32_t *order, int part)
{
    static const char *const titles[] = {"All communication", "True sharing", "False sharing"};
    struct as_pair_cell total = as_pair_matrix_total(matrix);
    if (part && (!total.true_ || !total.false_))
        return; /* the same as all, or nothing */
    fprintf(out, "\n%s, in %s:\n", titles[part],
            shown->result->is_time ? "milliseconds of the threads' time" : "transfers of lines");
    if (matrix->n <= MOST_COLUMNS)
        print_numbers(out, shown, matrix, order, part);
    else
        print_shades(out, matrix, order, part);
}

static void print_matrices(FILE *out, const struct as_comm_shown *shown, const struct as_pair_matrix *matrix)
{
    uint32_t *order = as_alloc_array(matrix->n + 1, sizeof *order);
    if (matrix->n <= MOST_COLUMNS)
        for (uint32_t i = 0; i < matrix->n; i++)
            order[i] = i;
    else
        as_pattern_order(matrix, order);
    for (int part = 0; part < 3; part++)
        print_matrix(out, shown, matrix, order, part);
    free(order);
}

/* ---- the head ---- */

static void print_threads(FILE *out, const struct as_comm_shown *shown)
{
    const struct as_comm_thread *threads = shown->result->threads;
    size_t n = shown->result->n_threads;
    for (size_t i = 0; i < n && i < MOST_COLUMNS; i++) {
        const char *name = as_comm_thread_name(shown->result, &threads[i]);
        int rank = as_comm_mpi_rank(shown->mpi, threads[i].pid);
        fprintf(out, "  thread %-4" PRIu32 " core %-4" PRIu32 " ", threads[i].number, threads[i].core);
        if (rank >= 0)
            fprintf(out, "rank %-4d ", rank);
        fprintf(out, "%s\n", *name ? AS_SHOW(name) : "");
    }
    if (n > MOST_COLUMNS)
        fprintf(out, "  … and %zu threads more\n", n - MOST_COLUMNS);
    uint64_t unseen = shown->native && shown->native->threads > n ? shown->native->threads - n : 0;
    if (unseen)
        fprintf(out, "  %s thread%s%s had no sample: too short a time, or waiting\n", AS_COUNT(unseen),
                unseen == 1 ? "" : "s", n ? " more" : "");
}

static void print_estimate(FILE *out, const struct as_comm_shown *shown)
{
    const struct as_pair_matrix *estimate = shown->result->estimate, *exact = shown->result->exact;
    struct as_detect_counts counts = shown->result->detect;
    struct as_pair_cell total;
    if (!estimate)
        return;
    total = as_pair_matrix_total(estimate);
    fprintf(out, "Estimated from %s samples: %s %s, %.1f %% of them false sharing",
            AS_COUNT(counts.load_samples + counts.store_samples), AS_COUNT(amount(shown, as_pair_sum(total))),
            shown->result->is_time ? "ms of accesses to what another thread wrote" : unit(shown),
            100 * as_ratio(total.false_, as_pair_sum(total)));
    if (exact) {
        struct as_comm_error error = as_comm_error(estimate, exact);
        fprintf(out, " (%+.1f %% of the exact volume, %+.1f points of false sharing; by cell %.1f %% on average)",
                100 * error.total, 100 * error.false_share, 100 * error.mean);
    }
    uint64_t hits = counts.found + counts.trapped;
    fprintf(out, "\n  from %s hits: %s by look-up, %s by %s watched lines%s\n", AS_COUNT(hits), AS_COUNT(counts.found),
            AS_COUNT(counts.trapped), AS_COUNT(counts.armed),
            hits >= FEW_HITS ? ""
            : shown->native  ? "; too few to rely on, a longer run or a greater --rate finds more"
                             : "; too few to rely on, a smaller --period finds more");
}

/* What was spent for it, on the machine. */
static void print_cost(FILE *out, const struct as_comm_shown *shown)
{
    const struct as_comm_native_info *info = shown->native;
    if (!info)
        return;
    fprintf(out, "  %s of %s samples have no address\n", AS_COUNT(info->cost.without), AS_COUNT(info->cost.samples));
    fprintf(out, "Spent: %s samples, %s watchpoints, %s traps: about %.1f ms and up to %.1f ms of the program's time",
            AS_COUNT(info->cost.samples), AS_COUNT(info->cost.armings), AS_COUNT(info->cost.traps),
            1e3 * info->sampling, 1e3 * info->cost.watching);
    if (info->processor > 0)
        fprintf(out, ", %.1f %%", 100 * (info->sampling + info->cost.watching) / info->processor);
    fprintf(out, "%s\n", info->cost.postponed ? "; --budget kept more of them away" : "");
}

static void print_exact(FILE *out, const struct as_comm_shown *shown)
{
    struct as_coherent_counts counts = {0};
    if (!shown->result->exact)
        return;
    counts = as_comm_run_coherent(shown->run);
    fprintf(out, "Exact, without time: %s transfers of lines in %s accesses, %.1f %% of them false sharing\n",
            AS_COUNT(counts.transfers), AS_COUNT(counts.accesses), 100 * as_ratio(counts.false_, counts.transfers));
    fprintf(out, "  %s bytes wanted, %s bytes moved; %s invalidations without a transfer\n", AS_COUNT(counts.bytes),
            AS_COUNT(counts.transfers * AS_COHERENT_LINE), AS_COUNT(counts.invalidations));
    if (shown->options->machine.sockets > 1)
        fprintf(out, "  %s transfers between nodes, %.1f %%\n", AS_COUNT(counts.remote),
                100 * as_ratio(counts.remote, counts.transfers));
    if (counts.transfers)
        fprintf(out, "  a count of last writers alone gives %s, %.2f times as many\n", AS_COUNT(counts.last_writer),
                as_ratio(counts.last_writer, counts.transfers));
}

static void print_pattern(FILE *out, const struct as_comm_shown *shown)
{
    const struct as_comm_thread *threads = shown->result->threads;
    struct as_pattern_found found = as_comm_pattern(shown->result);
    fprintf(out, "Pattern: %s", as_pattern_name(found.pattern));
    if (found.pattern == AS_PATTERN_MASTER)
        fprintf(out, ": %.0f %% of it is with thread %" PRIu32, 100 * found.share, threads[found.master].number);
    else if (found.pattern == AS_PATTERN_PAIRS || found.pattern == AS_PATTERN_GROUPS)
        fprintf(out, ": %zu of them have %.0f %% of it", found.groups, 100 * found.share);
    else if (found.pattern == AS_PATTERN_START)
        fprintf(out, ": so few transfers come from starting and ending threads");
    else if (found.pattern == AS_PATTERN_NEIGHBOUR)
        fprintf(out, ": %.0f %% of it is with the thread before or behind", 100 * found.share);
    fprintf(out, "\n");
}

/* ---- rows ---- */

/* "1-4, 9". */
static void print_set(FILE *out, uint64_t threads, const struct as_comm_thread *all, size_t n)
{
    const char *comma = "";
    for (unsigned i = 0; i < 63 && i < n; i++) {
        unsigned last = i;
        if (!(threads >> i & 1))
            continue;
        while (last + 1 < 63 && last + 1 < n && threads >> (last + 1) & 1)
            last++;
        if (last > i)
            fprintf(out, "%s%" PRIu32 "-%" PRIu32, comma, all[i].number, all[last].number);
        else
            fprintf(out, "%s%" PRIu32, comma, all[i].number);
        comma = ", ";
        i = last;
    }
    if (threads >> 63)
        fprintf(out, "%sothers", comma);
}

/* Where one of the objects is memory of which more could be known. */
static void print_heap_unknown(FILE *out, const struct as_comm_shown *shown)
{
    const struct as_comm_rows *rows = shown->rows;
    bool any = false;
    for (size_t i = 0; i < rows->objects.len && i < shown->top; i++)
        any |= rows->objects.data[i].what.kind == AS_GUEST_HEAP || rows->objects.data[i].what.kind == AS_GUEST_MAPPING;
    if (any && shown->heap_unknown)
        fprintf(out, "  Heap objects are not known: %s.\n", AS_SHOW(shown->heap_unknown));
}

static void print_objects(FILE *out, const struct as_comm_shown *shown)
{
    const struct as_comm_rows *rows = shown->rows;
    fprintf(out, "\nObjects:\n  %12s %12s %12s %8s  object\n", unit(shown), "true", "false", "lines");
    for (size_t i = 0; i < rows->objects.len && i < shown->top; i++) {
        const struct as_comm_object *object = &rows->objects.data[i];
        fprintf(out, "  %12s %12s %12s %8s  %s", AS_COUNT(amount(shown, object->true_ + object->false_)),
                AS_COUNT(amount(shown, object->true_)), AS_COUNT(amount(shown, object->false_)),
                AS_COUNT(object->lines), AS_SHOW(object->what.name));
        if (object->what.end > object->what.start)
            fprintf(out, ", %s bytes%s%s", AS_COUNT(object->what.end - object->what.start),
                    *object->what.module ? " of " : "", AS_SHOW(object->what.module));
        if (object->in_lock)
            fprintf(out, "; %.0f %% of the false inside one %s", 100 * as_ratio(object->in_lock, object->false_),
                    object->lock);
        fprintf(out, "\n");
    }
    print_heap_unknown(out, shown);
}

static void print_side(FILE *out, const struct as_comm_shown *shown, const char *label,
                       const struct as_contact *contact, const struct as_contact_side *side, uint64_t set)
{
    const struct as_comm_thread *threads = shown->result->threads;
    char *code = as_comm_code_text(shown->result, side->process, side->insn);
    char *place =
        as_comm_address_text(as_comm_space(shown->result, side->process, side->insn), contact->line + side->offset);
    fprintf(out, "      %s bytes %2u-%-2u  %s  by %s  threads ", label, side->offset, side->offset + side->size - 1,
            AS_SHOW(place), AS_SHOW(code));
    print_set(out, set, threads, shown->result->n_threads);
    fprintf(out, "\n");
    free(code);
    free(place);
}

/* The sides are those of the contact that was seen most: other bytes of the line, and other code, may have more. */
static void print_rest(FILE *out, const struct as_comm_shown *shown, const struct as_comm_line *line,
                       const struct as_contact *contact)
{
    const struct as_comm_thread *threads = shown->result->threads;
    uint64_t all = line->true_ + line->false_;
    if (contact->count >= all)
        return;
    fprintf(out, "      these are %s of its %s %s; all of them: from threads ", AS_COUNT(amount(shown, contact->count)),
            AS_COUNT(amount(shown, all)), unit(shown));
    print_set(out, line->from_threads, threads, shown->result->n_threads);
    fprintf(out, " to threads ");
    print_set(out, line->to_threads, threads, shown->result->n_threads);
    fprintf(out, "\n");
}

/* ", byte 64 of a block of 4,096 at 0x…" */
static void print_block(FILE *out, const struct as_comm_shown *shown, const struct as_comm_line *line,
                        const struct as_contact *contact)
{
    uint64_t address = line->address + contact->to.offset;
    const struct as_guest_block *block = as_comm_block(shown->result, line->process, address);
    if (block && shown->rows->objects.data[line->object].what.kind == AS_GUEST_BLOCKS)
        fprintf(out, ", byte %s of %s at 0x%" PRIx64, AS_COUNT(address - block->start),
                AS_COUNT(block->end - block->start), block->start);
}

static void print_lines(FILE *out, const struct as_comm_shown *shown)
{
    const struct as_contacts *contacts = shown->result->contacts;
    fprintf(out, "\nLines:\n  %12s %12s %12s  line\n", unit(shown), "true", "false");
    for (size_t i = 0; i < shown->rows->lines.len && i < shown->top; i++) {
        const struct as_comm_line *line = &shown->rows->lines.data[i];
        const struct as_contact *contact = &contacts->list.data[line->contact];
        fprintf(out, "  %12s %12s %12s  0x%" PRIx64 "  %s", AS_COUNT(amount(shown, line->true_ + line->false_)),
                AS_COUNT(amount(shown, line->true_)), AS_COUNT(amount(shown, line->false_)), line->address,
                AS_SHOW(shown->rows->objects.data[line->object].what.name));
        print_block(out, shown, line, contact);
        fputc('\n', out);
        print_side(out, shown, "from", contact, &contact->from, contact->from_threads);
        print_side(out, shown, "to  ", contact, &contact->to, contact->to_threads);
        print_rest(out, shown, line, contact);
        if (line->lock)
            fprintf(out, "      inside one %s: threads contend for the lock; padding does not help\n", line->lock);
    }
}

void as_comm_path_text(const struct as_comm_shown *shown, uint32_t path, FILE *out)
{
    const char *functions[FRAMES + 1];
    size_t n = as_comm_frames(shown->result, path, functions, FRAMES + 1);
    for (size_t i = 1; i < n && i < FRAMES; i++)
        fprintf(out, " < %s", AS_SHOW(functions[i]));
    fputs(n > FRAMES ? " < …" : "", out);
}

static void print_pairs(FILE *out, const struct as_comm_shown *shown)
{
    fprintf(out, "\nPairs of code, which wrote before and which came behind:\n  %12s %12s %12s  code\n", unit(shown),
            "true", "false");
    for (size_t i = 0; i < shown->rows->pairs.len && i < shown->top; i++) {
        const struct as_comm_pair *pair = &shown->rows->pairs.data[i];
        char *from = as_comm_code_text(shown->result, pair->from.process, pair->from.insn);
        char *to = as_comm_code_text(shown->result, pair->to.process, pair->to.insn);
        fprintf(out, "  %12s %12s %12s  %s", AS_COUNT(amount(shown, pair->true_ + pair->false_)),
                AS_COUNT(amount(shown, pair->true_)), AS_COUNT(amount(shown, pair->false_)), AS_SHOW(from));
        as_comm_path_text(shown, pair->from.path, out);
        fprintf(out, "\n  %38s  -> %s", "", AS_SHOW(to));
        as_comm_path_text(shown, pair->to.path, out);
        fprintf(out, "\n  %38s  on %s", "", AS_SHOW(shown->rows->objects.data[pair->object].what.name));
        if (pair->remote)
            fprintf(out, "; %.1f %% between nodes", 100 * as_ratio(pair->remote, pair->true_ + pair->false_));
        fputc('\n', out);
        free(from);
        free(to);
    }
}

static void print_advice(FILE *out, const struct as_comm_shown *shown)
{
    const struct as_comm_rows *rows = shown->rows;
    if (rows->advice.len)
        fprintf(out, "\nAdvice:\n");
    for (size_t i = 0; i < rows->advice.len; i++) {
        const struct as_comm_advice *advice = &rows->advice.data[i];
        fprintf(out, "  %s and %s share the line 0x%" PRIx64 " (%s %s):\n    %s\n", AS_SHOW(advice->from),
                AS_SHOW(advice->to), advice->line, AS_COUNT(amount(shown, advice->count)), unit(shown),
                AS_SHOW(advice->text));
    }
}

static bool has_pairs(const struct as_comm_shown *shown)
{
    return shown->result->n_threads >= 2;
}

void as_comm_summary(const struct as_comm_shown *shown, FILE *out)
{
    size_t n = shown->result->n_threads;
    const char *which = n ? "" : shown->run ? " that accessed memory" : " with samples";
    fprintf(out, "%zu thread%s%s, ", n, n == 1 ? "" : "s", which);
    if (shown->part)
        fprintf(out, "%s\n", shown->part);
    else if (shown->run)
        fprintf(out, "%s instructions\n", AS_COUNT(as_comm_run_instructions(shown->run)));
    else
        fprintf(out, "%.2f seconds on this machine\n", shown->seconds);
    print_threads(out, shown);
    if (!n && shown->run)
        return;
    if (!has_pairs(shown)) {
        fprintf(out, "%s",
                shown->native && shown->native->threads > 1
                    ? "Too few samples: no two threads have any. --rate takes more.\n"
                    : "One thread alone: there is nobody to communicate with.\n");
        return;
    }
    print_exact(out, shown);
    print_estimate(out, shown);
    print_cost(out, shown);
    print_pattern(out, shown);
}

static void print_threads_talk(const struct as_comm_shown *shown, FILE *out)
{
    const struct as_pair_matrix *exact = shown->result->exact;
    const struct as_pair_matrix *matrix = exact ? exact : shown->result->estimate;
    as_comm_summary(shown, out);
    if (!has_pairs(shown) || !as_pair_sum(as_pair_matrix_total(matrix)))
        return;
    print_matrices(out, shown, matrix);
    print_objects(out, shown);
    print_lines(out, shown);
    print_pairs(out, shown);
    as_comm_nodes_text(shown, out);
    print_advice(out, shown);
}

void as_comm_text(const struct as_comm_shown *shown, FILE *out)
{
    print_threads_talk(shown, out);
    if (shown->mpi)
        as_comm_mpi_text(shown, out);
}
