/* Functions that only one of two builds inlines. Their time is in the rows of their callers there, so both would seem to have
 * changed. What is inlined of such a function is counted to it on both sides; where both builds inline a function, or
 * neither does, nothing changes. See diff.h.
 *
 *   pass 1   how much of each function's time is inlined code, by side; a function is marked if the parts differ much
 *   pass 2   an instruction goes to the innermost marked function that it was inlined from
 *
 * Names are those of the debug information; clones that a compiler names (step.constprop.0) count as their function. */
#include "view/diff_internal.h"

#include "base/alloc.h"
#include "base/map.h"

#include <math.h>
#include <stdlib.h>

/* Samples may fall to either side of a call that is inlined at some places only. */
static const double far_apart = 0.5;
/* Less than a unit of time: what is left of a row that lost all of its instructions. */
static const double nothing = 1e-7;

struct side {
    struct as_diff *diff;
    int number;
    const struct as_view *view;
    const struct as_store_inline *inlines;
    size_t n_inlines;
    struct as_map inlined, functions; /* inlined call or function, and module: row + 1 */
    struct as_store_rows rows;        /* by instruction */
};

/* Returns the row, NONE if there is none. Rows have the numbers of their keys; a new key has none. */
static uint32_t row_named(const struct side *side, uint32_t module, const char *name)
{
    char *key = as_diff_function_key(side->view, module, name);
    uint32_t number = as_strings_intern(side->diff->keys, key);
    free(key);
    return number < side->diff->rows.len ? number : AS_STORE_NONE;
}

static uint32_t look_up(const struct side *side, struct as_map *known, uint32_t number, uint32_t module,
                        const char *name)
{
    uint64_t *place = as_map_put(known, (uint64_t)number << 32 | module);
    if (!*place)
        *place = (uint64_t)row_named(side, module, name) + 1;
    return (uint32_t)(*place - 1);
}

static uint32_t own_row(struct side *side, const struct as_store_row *insn)
{
    return look_up(side, &side->functions, insn->function, insn->module, as_view_function(side->view, insn->function));
}

static uint32_t row_of_call(struct side *side, const struct as_store_row *insn, uint32_t call)
{
    const char *name = side->inlines[call].function;
    return name ? look_up(side, &side->inlined, call, insn->module, name) : AS_STORE_NONE;
}

static uint32_t innermost_call(const struct side *side, const struct as_store_row *insn)
{
    return insn->id < side->view->n_locations ? side->view->location[insn->id].inlined : AS_STORE_NONE;
}

static bool is_counted(struct side *side, const struct as_store_row *insn, uint32_t until, uint32_t row)
{
    for (uint32_t call = innermost_call(side, insn); call != until; call = side->inlines[call].parent)
        if (row_of_call(side, insn, call) == row)
            return true;
    return false;
}

/* Adds the time of an instruction to all functions that it was inlined from; once, if they are recursive. */
static void add_inlined(struct side *side, const struct as_store_row *insn, double *inlined)
{
    uint32_t call = innermost_call(side, insn), own = own_row(side, insn);
    for (; call < side->n_inlines; call = side->inlines[call].parent) {
        uint32_t row = row_of_call(side, insn, call);
        if (row != AS_STORE_NONE && row != own && !is_counted(side, insn, call, row))
            inlined[row] += as_view_cycles(side->view, insn->units);
    }
}

static double part_inlined(const struct as_diff_row *row, int side, double inlined)
{
    double all = row->cycles[side] + inlined;
    return all > 0 ? inlined / all : NAN;
}

static bool mark(struct as_diff *diff, double *const inlined[AS_DIFF_SIDES])
{
    bool any = false;
    for (size_t i = 0; i < diff->rows.len; i++) {
        struct as_diff_row *row = &diff->rows.data[i];
        double before = part_inlined(row, AS_DIFF_BEFORE, inlined[AS_DIFF_BEFORE][i]);
        double after = part_inlined(row, AS_DIFF_AFTER, inlined[AS_DIFF_AFTER][i]);
        if (!(fabs(after - before) >= far_apart))
            continue;
        row->inlined = after > before ? AS_DIFF_AFTER : AS_DIFF_BEFORE;
        diff->inlined++;
        any = true;
    }
    return any;
}

static void take(double *from, double *to, double amount)
{
    *to += amount;
    *from -= amount;
    if (*from < nothing)
        *from = 0;
}

static void move(struct side *side, const struct as_store_row *insn, uint32_t from_row, uint32_t to_row)
{
    struct as_diff_row *from = &side->diff->rows.data[from_row], *to = &side->diff->rows.data[to_row];
    int number = side->number;
    take(&from->cycles[number], &to->cycles[number], as_view_cycles(side->view, insn->units));
    take(&from->samples[number], &to->samples[number], (double)insn->samples);
    take(&from->executions[number], &to->executions[number], (double)insn->executions);
    for (size_t i = 0; i < insn->n_parts; i++) {
        char text[AS_COMPONENT_MAX];
        const char *name = as_view_component(side->view, insn->parts[i].key, text);
        take(&as_diff_part_of(side->diff, from, name)->cycles[number],
             &as_diff_part_of(side->diff, to, name)->cycles[number], as_view_cycles(side->view, insn->parts[i].units));
    }
}

static void move_to_marked(struct side *side, const struct as_store_row *insn)
{
    uint32_t call = innermost_call(side, insn), own = own_row(side, insn);
    for (; call < side->n_inlines && own != AS_STORE_NONE; call = side->inlines[call].parent) {
        uint32_t row = row_of_call(side, insn, call);
        if (row == AS_STORE_NONE || row == own || side->diff->rows.data[row].inlined == AS_DIFF_SIDES)
            continue;
        move(side, insn, own, row);
        return;
    }
}

static bool open_side(struct side *side, struct as_diff *diff, int number, struct as_error *err)
{
    *side = (struct side){.diff = diff, .number = number, .view = diff->views[number]};
    side->inlines = as_store_inlines(side->view->store, &side->n_inlines);
    return as_view_rows(side->view, AS_STORE_BY_INSTRUCTION, &side->rows, err);
}

static void close_side(struct side *side)
{
    as_store_rows_free(&side->rows);
    as_map_free(&side->inlined);
    as_map_free(&side->functions);
}

static void count_inlined(struct side sides[AS_DIFF_SIDES], struct as_diff *diff)
{
    double *inlined[AS_DIFF_SIDES];
    for (int k = 0; k < AS_DIFF_SIDES; k++) {
        inlined[k] = as_alloc_array(diff->rows.len + 1, sizeof **inlined);
        for (size_t i = 0; i < sides[k].rows.n; i++)
            add_inlined(&sides[k], &sides[k].rows.rows[i], inlined[k]);
    }
    bool any = mark(diff, inlined);
    for (int k = 0; k < AS_DIFF_SIDES; k++) {
        for (size_t i = 0; any && i < sides[k].rows.n; i++)
            move_to_marked(&sides[k], &sides[k].rows.rows[i]);
        free(inlined[k]);
    }
}

bool as_diff_count_inlined(struct as_diff *diff, struct as_error *err)
{
    struct side sides[AS_DIFF_SIDES] = {0};
    size_t before, after;
    as_store_inlines(diff->views[AS_DIFF_BEFORE]->store, &before);
    as_store_inlines(diff->views[AS_DIFF_AFTER]->store, &after);
    if (diff->level != AS_STORE_BY_FUNCTION || before + after == 0)
        return true;
    bool ok = open_side(&sides[AS_DIFF_BEFORE], diff, AS_DIFF_BEFORE, err) &&
              open_side(&sides[AS_DIFF_AFTER], diff, AS_DIFF_AFTER, err);
    if (ok)
        count_inlined(sides, diff);
    close_side(&sides[AS_DIFF_BEFORE]);
    close_side(&sides[AS_DIFF_AFTER]);
    return ok;
}
