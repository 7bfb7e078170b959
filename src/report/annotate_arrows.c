/* Arrows of jumps: each has a lane over the rows that it crosses, short ones next to the code. See annotate.h. An arrow
 * that finds no free lane is left out, because the disassembly names its target anyway. */
#include "base/alloc.h"
#include "base/search.h"
#include "report/annotate.h"

#include <stdlib.h>

enum { MAX_JUMPS = 4096 };

struct jump {
    uint32_t from, to; /* instructions */
    uint32_t lane;
};

struct as_arrows {
    AS_VEC(struct jump) jumps; /* jumps that have a lane */
    unsigned lanes;
};

static uint32_t top(const struct jump *jump)
{
    return jump->from < jump->to ? jump->from : jump->to;
}

static uint32_t bottom(const struct jump *jump)
{
    return jump->from < jump->to ? jump->to : jump->from;
}

static int shortest_first(const void *a, const void *b)
{
    const struct jump *x = a, *y = b;
    uint32_t left = bottom(x) - top(x), right = bottom(y) - top(y);
    if (left != right)
        return left < right ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

/* Overlapping jumps to the same target share a lane. */
static bool lane_is_free(const struct as_arrows *arrows, const struct jump *jump, uint32_t lane)
{
    for (size_t i = 0; i < arrows->jumps.len; i++) {
        const struct jump *other = &arrows->jumps.data[i];
        if (other->lane == lane && other->to != jump->to && top(other) <= bottom(jump) && top(jump) <= bottom(other))
            return false;
    }
    return true;
}

static void give_lane(struct as_arrows *arrows, struct jump *jump)
{
    for (jump->lane = 0; jump->lane < AS_ARROW_LANES; jump->lane++)
        if (lane_is_free(arrows, jump, jump->lane)) {
            *as_vec_push(&arrows->jumps) = *jump;
            arrows->lanes = jump->lane + 1 > arrows->lanes ? jump->lane + 1 : arrows->lanes;
            return;
        }
}

static bool find(const struct as_note_insn *insns, size_t n, uint64_t address, uint32_t *index)
{
    size_t at = as_search(0, n, i, insns[i].address < address);
    *index = (uint32_t)at;
    return at < n && insns[at].address == address;
}

struct as_arrows *as_arrows_new(const struct as_note_insn *insns, size_t n)
{
    AS_VEC(struct jump) found = {0};
    struct as_arrows *arrows = as_alloc(sizeof *arrows);
    for (size_t i = 0; i < n; i++) {
        struct jump jump = {.from = (uint32_t)i};
        if (insns[i].jumps && insns[i].target && find(insns, n, insns[i].target, &jump.to))
            *as_vec_push(&found) = jump;
    }
    if (found.len)
        qsort(found.data, found.len, sizeof *found.data, shortest_first);
    for (size_t i = 0; i < found.len && i < MAX_JUMPS; i++)
        give_lane(arrows, &found.data[i]);
    as_vec_free(&found);
    return arrows;
}

void as_arrows_free(struct as_arrows *arrows)
{
    if (arrows)
        as_vec_free(&arrows->jumps);
    free(arrows);
}

unsigned as_arrows_width(const struct as_arrows *arrows)
{
    return arrows->lanes ? arrows->lanes + 2 : 0;
}

/* The lines of a cell: they leave it up, down, left, right. */
enum { UP = 1, DOWN = 2, LEFT = 4, RIGHT = 8 };

static void put_cell(FILE *out, const struct as_term *term, unsigned lines)
{
    static const char *const drawn[16] = {" ", "╵", "╷", "│", "─", "┘", "┐", "┤",
                                          "─", "└", "┌", "├", "─", "┴", "┬", "┼"};
    static const char plain[] = " '.|-'.+-'.+-+++";
    if (term->utf8)
        fputs(drawn[lines], out);
    else
        fputc(plain[lines], out);
}

struct gutter {
    unsigned cells[AS_ARROW_LANES];
    bool target, source;
};

/* Lane 0 is next to the code, on the right. */
static void add_jump(struct gutter *gutter, const struct jump *jump, size_t index, bool between)
{
    uint32_t first = top(jump), last = bottom(jump);
    bool at_end = !between && (index == jump->from || index == jump->to);
    if (between ? index <= first || index > last : index < first || index > last)
        return;
    unsigned *cell = &gutter->cells[jump->lane];
    if (!at_end) {
        *cell |= UP | DOWN;
        return;
    }
    *cell |= RIGHT | (first == last ? 0 : index == first ? DOWN : UP);
    for (uint32_t lane = 0; lane < jump->lane; lane++)
        gutter->cells[lane] |= LEFT | RIGHT;
    gutter->target |= index == jump->to;
    gutter->source |= index == jump->from;
}

void as_arrows_put(const struct as_arrows *arrows, FILE *out, const struct as_term *term, size_t index, bool between)
{
    struct gutter gutter = {.target = false};
    if (!arrows->lanes)
        return;
    for (size_t i = 0; i < arrows->jumps.len; i++)
        add_jump(&gutter, &arrows->jumps.data[i], index, between);
    as_term_dim(out, term, true);
    for (unsigned lane = arrows->lanes; lane-- > 0;)
        put_cell(out, term, gutter.cells[lane]);
    const char *head = term->utf8 ? "▶" : ">", *tail = term->utf8 ? "─" : "-";
    fputs(gutter.target ? head : gutter.source ? tail : " ", out);
    as_term_dim(out, term, false);
    fputc(' ', out);
}
