/* Waits for lines of other cores: text, JSON, CSV. See report_kinds.h. */
#include "base/alloc.h"
#include "base/saturate.h"
#include "report/report_csv.h"
#include "report/report_json.h"
#include "report/report_kinds.h"
#include "report/report_text.h"
#include "view/waits.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MOST_COLUMNS = 16 }; /* threads of a matrix in text */

struct shown {
    struct as_waits waits;
    size_t limit; /* rows to show of each list; 0: all */
};

static void free_waits(void *state)
{
    struct shown *shown = state;
    as_waits_free(&shown->waits);
    free(shown);
}

static void *make_waits(const struct as_report_request *request, struct as_error *err)
{
    struct shown *shown = as_alloc(sizeof *shown);
    shown->limit = request->limit;
    if (as_waits_make(&shown->waits, request->view, err))
        return shown;
    free_waits(shown);
    return NULL;
}

static uint64_t cycles_of(const struct as_waits *waits, uint64_t units)
{
    return (uint64_t)(as_view_cycles(waits->view, units) + 0.5);
}

static uint32_t number_of(const struct as_waits *waits, size_t place)
{
    return waits->view->thread[waits->threads[place]].number;
}

/* ---- by pair of threads ---- */

/* How often a thread waited for another: lines that came, and lines whose other copies had to go. */
static uint64_t transfers_of(const struct as_waits *waits, const struct as_store_wait *wait)
{
    return wait->transfers;
}

enum sharing { FALSE_SHARING, TRUE_SHARING, BOTH_SHARINGS };
typedef uint64_t amount_of(const struct as_waits *waits, const struct as_store_wait *wait);

/* The place of a thread of the profile in the matrices; n_threads: it took no part. */
static size_t place_of(const struct as_waits *waits, uint32_t thread)
{
    size_t place = 0;
    while (place < waits->n_threads && waits->threads[place] != thread)
        place++;
    return place;
}

/* A matrix, by rows: of the thread that waited, for each of the others. The caller frees it. */
static uint64_t *add_up(const struct as_waits *waits, enum sharing sharing, amount_of *amount)
{
    size_t n = waits->n_threads;
    uint64_t *cells = as_alloc_array(n * n + 1, sizeof *cells);
    for (size_t i = 0; i < waits->n; i++) {
        const struct as_store_wait *wait = &waits->all[i];
        size_t thread = place_of(waits, wait->thread), other = place_of(waits, wait->other);
        if (thread < n && other < n && (sharing == BOTH_SHARINGS || (wait->sharing != 0) == (sharing == TRUE_SHARING)))
            as_add_to(&cells[thread * n + other], amount(waits, wait));
    }
    return cells;
}

/* ---- text ---- */

static void put_cells(const struct as_waits *waits, const char *title, const uint64_t *cells, FILE *out)
{
    size_t n = waits->n_threads;
    fprintf(out, "\n%s:\n  %8s", title, "thread");
    for (size_t k = 0; k < n; k++)
        fprintf(out, " %11" PRIu32, number_of(waits, k));
    fputc('\n', out);
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "  %8" PRIu32, number_of(waits, i));
        for (size_t k = 0; k < n; k++)
            fprintf(out, " %11s", i == k ? "" : cells[i * n + k] ? AS_COUNT(cells[i * n + k]) : ".");
        fputc('\n', out);
    }
}

static void put_matrices(const struct as_waits *waits, FILE *out)
{
    size_t n = waits->n_threads;
    if (n > MOST_COLUMNS) {
        fprintf(out, "\n%zu threads waited for each other; --json and --html have the matrix\n", n);
        return;
    }
    uint64_t *cycles = as_alloc_array(n * n + 1, sizeof *cycles);
    for (size_t i = 0; i < n * n; i++)
        cycles[i] = cycles_of(waits, as_pair_sum(as_waits_cell(waits, i / n, i % n)));
    put_cells(waits, "Cycles that a thread (row) waited for lines of another (column)", cycles, out);
    uint64_t *bytes = add_up(waits, BOTH_SHARINGS, as_waits_bytes);
    put_cells(waits, "Bytes of the lines that a thread (row) got from another (column)", bytes, out);
    free(bytes);
    free(cycles);
}

static void put_numbers(const struct as_waits *waits, const struct as_waits_row *row, FILE *out,
                        const struct as_term *term)
{
    double share = as_ratio(row->units, waits->units);
    as_term_heat(out, term, share);
    fprintf(out, "%7.2f %%  ", 100 * share);
    as_term_plain(out, term);
    fprintf(out, "%13s  %11s  %6.1f %%  ", AS_COUNT(cycles_of(waits, row->units)), AS_COUNT(row->transfers),
            100 * as_ratio(row->false_units, row->units));
}

/* Behind the name of a row: that threads waited for a lock there, or how much of it. */
static void put_lock(const struct as_waits_row *row, FILE *out)
{
    if (!row->lock_units)
        return;
    if (row->lock_units == row->units)
        fprintf(out, "  (%s)", row->lock);
    else
        fprintf(out, "  (%.1f %% %s)", 100 * as_ratio(row->lock_units, row->units), row->lock);
}

static void put_row(const struct as_waits *waits, enum as_waits_level level, const struct as_waits_row *row, FILE *out,
                    const struct as_term *term)
{
    char name[AS_ROW_NAME_MAX], other[AS_ROW_NAME_MAX];
    const struct as_store_wait *top = row->top;
    put_numbers(waits, row, out, term);
    if (level == AS_WAITS_BY_OBJECT)
        fputs(as_view_object_name(waits->objects, waits->n_objects, top->object, name), out);
    else if (level == AS_WAITS_BY_LINE)
        fprintf(out, "0x%" PRIx64 "  %s by %s", top->line, as_waits_place_name(waits, top, name),
                as_waits_code_name(waits, top->instruction, other));
    else
        fprintf(out, "%s  <-  %s  on %s", as_waits_code_name(waits, top->instruction, name),
                as_waits_code_name(waits, top->culprit, other),
                AS_SHOW(as_view_object_name(waits->objects, waits->n_objects, top->object, (char[AS_SHOW_MAX]){0})));
    put_lock(row, out);
    fputc('\n', out);
}

static void put_level(const struct shown *shown, enum as_waits_level level, const char *title, FILE *out,
                      const struct as_term *term)
{
    const struct as_waits *waits = &shown->waits;
    size_t all = waits->n_rows[level], n = as_report_shown(all, shown->limit);
    as_term_bold(out, term, true);
    fprintf(out, "\n  share         cycles    transfers     false  %s\n", title);
    as_term_bold(out, term, false);
    for (size_t i = 0; i < n; i++)
        put_row(waits, level, &waits->rows[level][i], out, term);
    if (n < all)
        fprintf(out, "           and %s more; --limit 0 shows all\n", AS_COUNT(all - n));
}

static void put_text(const void *state, FILE *out, const struct as_term *term)
{
    const struct shown *shown = state;
    const struct as_waits *waits = &shown->waits;
    as_summary_text(&waits->view->summary, out, term);
    if (as_filters_text(waits->view, out, false))
        fputc('\n', out);
    fprintf(
        out,
        "Accesses waited %s cycles for lines that another core had, in %s transfers that moved %s bytes; %.1f %% of it "
        "false sharing, %.1f %% for locks\n",
        AS_COUNT(cycles_of(waits, waits->units)), AS_COUNT(waits->transfers), AS_COUNT(waits->bytes),
        100 * as_ratio(waits->false_units, waits->units), 100 * as_ratio(waits->lock_units, waits->units));
    fprintf(out,
            "Pattern: %s. Waits of one core can overlap. What they cost is in its cycles: ST-CO of loads and "
            "atomics, DR-SQ+ST-CO where stores fill the store queue, ORDER of atomics and fences behind such stores\n",
            as_pattern_name(waits->pattern.pattern));
    put_matrices(waits, out);
    put_level(shown, AS_WAITS_BY_OBJECT, "object", out, term);
    put_level(shown, AS_WAITS_BY_LINE, "line, and what waited most for it", out, term);
    put_level(shown, AS_WAITS_BY_PAIR, "code that waited  <-  code that made it wait", out, term);
}

/* ---- JSON ---- */

static void json_code(const struct as_view *view, uint32_t instruction, const char *name, struct as_json *json)
{
    if (instruction >= view->n_locations) {
        as_json_null(json, name);
        return;
    }
    const struct as_store_location *location = &view->location[instruction];
    as_json_object(json, name);
    as_json_string(json, "module", location->module < view->n_modules ? view->module[location->module].path : NULL);
    as_source_json(view, json, location->function, location->file, location->line);
    as_json_address(json, "address", location->address);
    as_json_end(json);
}

static void json_row(const struct as_waits *waits, enum as_waits_level level, const struct as_waits_row *row,
                     struct as_json *json)
{
    char name[AS_SHOW_MAX];
    const struct as_store_wait *top = row->top;
    as_json_object(json, NULL);
    as_json_double(json, "cycles", as_view_cycles(waits->view, row->units));
    as_json_double(json, "false_cycles", as_view_cycles(waits->view, row->false_units));
    as_json_double(json, "lock_cycles", as_view_cycles(waits->view, row->lock_units));
    as_json_string(json, "lock", row->lock);
    as_json_u64(json, "transfers", row->transfers);
    as_json_u64(json, "bytes", row->bytes);
    as_json_string(json, "object", as_view_object_name(waits->objects, waits->n_objects, top->object, name));
    if (level == AS_WAITS_BY_LINE) {
        as_json_address(json, "line", top->line);
        as_json_string(json, "place", as_waits_place_name(waits, top, name));
    }
    if (level != AS_WAITS_BY_OBJECT) {
        json_code(waits->view, top->instruction, "waited", json);
        json_code(waits->view, top->culprit, "culprit", json);
    }
    as_json_end(json);
}

static void json_level(const struct shown *shown, enum as_waits_level level, const char *name, struct as_json *json)
{
    const struct as_waits *waits = &shown->waits;
    as_json_array(json, name);
    for (size_t i = 0; i < as_report_shown(waits->n_rows[level], shown->limit); i++)
        json_row(waits, level, &waits->rows[level][i], json);
    as_json_end(json);
}

static void json_matrix(const struct as_waits *waits, const char *name, bool is_false, struct as_json *json)
{
    as_json_array(json, name);
    for (size_t i = 0; i < waits->n_threads; i++) {
        as_json_array(json, NULL);
        for (size_t k = 0; k < waits->n_threads; k++) {
            struct as_pair_cell cell = as_waits_cell(waits, i, k);
            as_json_double(json, NULL, as_view_cycles(waits->view, is_false ? cell.false_ : cell.true_));
        }
        as_json_end(json);
    }
    as_json_end(json);
}

static void json_cells(const struct as_waits *waits, const char *name, enum sharing sharing, amount_of *amount,
                       struct as_json *json)
{
    size_t n = waits->n_threads;
    uint64_t *cells = add_up(waits, sharing, amount);
    as_json_array(json, name);
    for (size_t i = 0; i < n; i++) {
        as_json_array(json, NULL);
        for (size_t k = 0; k < n; k++)
            as_json_u64(json, NULL, cells[i * n + k]);
        as_json_end(json);
    }
    as_json_end(json);
    free(cells);
}

/* Transfers in which a line moved; in the others it was there, and only others' copies had to go. */
static uint64_t count_moves(const struct as_waits *waits)
{
    uint64_t moves = 0;
    for (size_t i = 0; i < waits->n; i++)
        moves += waits->all[i].kind == AS_STORE_WAIT_UPGRADE ? 0 : waits->all[i].transfers;
    return moves;
}

static bool put_json(const void *state, struct as_json *json, struct as_error *err)
{
    const struct shown *shown = state;
    const struct as_waits *waits = &shown->waits;
    as_summary_json(&waits->view->summary, json, "summary");
    as_json_string(json, "by", "wait");
    as_filters_json(waits->view, json);
    as_json_double(json, "cycles", as_view_cycles(waits->view, waits->units));
    as_json_double(json, "false_cycles", as_view_cycles(waits->view, waits->false_units));
    as_json_double(json, "lock_cycles", as_view_cycles(waits->view, waits->lock_units));
    as_json_u64(json, "transfers", waits->transfers);
    as_json_u64(json, "lines_moved", count_moves(waits));
    as_json_u64(json, "bytes", waits->bytes);
    as_json_string(json, "pattern", as_pattern_name(waits->pattern.pattern));
    as_json_array(json, "threads");
    for (size_t i = 0; i < waits->n_threads; i++)
        as_json_u64(json, NULL, number_of(waits, i));
    as_json_end(json);
    json_matrix(waits, "matrix_true", false, json);
    json_matrix(waits, "matrix_false", true, json);
    json_cells(waits, "transfers_true", TRUE_SHARING, transfers_of, json);
    json_cells(waits, "transfers_false", FALSE_SHARING, transfers_of, json);
    json_cells(waits, "bytes_true", TRUE_SHARING, as_waits_bytes, json);
    json_cells(waits, "bytes_false", FALSE_SHARING, as_waits_bytes, json);
    json_level(shown, AS_WAITS_BY_OBJECT, "objects", json);
    json_level(shown, AS_WAITS_BY_LINE, "lines", json);
    json_level(shown, AS_WAITS_BY_PAIR, "code_pairs", json);
    return true;
}

/* ---- CSV ---- */

static void csv_code(const struct as_view *view, uint32_t instruction, FILE *out)
{
    if (instruction >= view->n_locations) {
        fputs(",,", out);
        return;
    }
    const struct as_store_location *location = &view->location[instruction];
    as_csv_field(out, as_view_function(view, location->function));
    fprintf(out, ",0x%" PRIx64 ",", location->address);
}

/* All rows of the profile: what is added up elsewhere. */
static bool put_csv(const void *state, FILE *out, struct as_error *err)
{
    static const char *const kinds[] = {"read", "write", "upgrade"};
    const struct as_waits *waits = &((const struct shown *)state)->waits;
    const struct as_view *view = waits->view;
    char name[AS_SHOW_MAX];
    fputs("thread,other_thread,function,address,other_function,other_address,line,place,kind,sharing,cycles,"
          "transfers,bytes,lock\r\n",
          out);
    for (size_t i = 0; i < waits->n; i++) {
        const struct as_store_wait *wait = &waits->all[i];
        fprintf(out, "%" PRIu32 ",%" PRIu32 ",", view->thread[wait->thread].number, view->thread[wait->other].number);
        csv_code(view, wait->instruction, out);
        csv_code(view, wait->culprit, out);
        fprintf(out, "0x%" PRIx64 ",", wait->line);
        as_csv_field(out, as_waits_place_name(waits, wait, name));
        fprintf(out, ",%s,%s,%.17g,%" PRIu64 ",%" PRIu64 ",", kinds[wait->kind], wait->sharing ? "true" : "false",
                as_view_cycles(view, wait->units), wait->transfers, as_waits_bytes(waits, wait));
        as_csv_field(out, as_waits_lock(waits, wait));
        fputs("\r\n", out);
    }
    return true;
}

const struct as_report_kind as_report_waits = {.option = "--waits",
                                               .name = "waits for lines",
                                               .filters = {.threads = true, .places = true},
                                               .levels = AS_REPORT_LEVEL(AS_REPORT_BY_FUNCTION), /* no level */
                                               .make = make_waits,
                                               .free = free_waits,
                                               .text = put_text,
                                               .json = put_json,
                                               .csv = put_csv};
