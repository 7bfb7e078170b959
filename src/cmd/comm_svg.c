/* The matrices of assay comm as heat maps, in one SVG picture: all, true and false sharing, the exact ones above, the
 * estimated ones below; threads in an order that puts those together that communicate. */
#include "base/html.h"
#include "base/ratio.h"
#include "base/show.h"
#include "cmd/comm_show.h"
#include "comm/pattern.h"

#include <inttypes.h>

enum { SIDE = 300, GAP = 50, LEFT = 70, TOP = 60, MOST_LABELS = 40, MOST_NUMBERS = 8 };

struct chart {
    FILE *out;
    const struct as_comm_shown *shown;
    const uint32_t *order;
    double x, y;
};

static uint64_t part_of(struct as_pair_cell cell, int part)
{
    return part == 0 ? as_pair_sum(cell) : part == 1 ? cell.true_ : cell.false_;
}

static uint64_t largest(const struct as_pair_matrix *matrix, int part)
{
    uint64_t most = 0;
    for (size_t i = 0; i < matrix->n; i++)
        for (size_t k = 0; k < i; k++) {
            uint64_t count = part_of(as_pair_matrix_pair(matrix, i, k), part);
            most = count > most ? count : most;
        }
    return most;
}

/* A cell without communication is the background's. */
static void put_cell(const struct chart *chart, const struct as_pair_matrix *matrix, size_t row, size_t column,
                     int part, uint64_t most)
{
    const struct as_comm_thread *threads = chart->shown->result->threads;
    uint32_t a = chart->order[row], b = chart->order[column];
    uint64_t count = part_of(as_pair_matrix_pair(matrix, a, b), part);
    double side = (double)SIDE / (double)matrix->n;
    if (!count)
        return;
    int light = (int)(235 - 205 * as_ratio(count, most));
    fprintf(chart->out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"rgb(%d,%d,255)\"><title>",
            chart->x + side * (double)column, chart->y + side * (double)row, side, side, light, light);
    fprintf(chart->out, "threads %" PRIu32 " and %" PRIu32 ": %" PRIu64 "</title></rect>\n", threads[a].number,
            threads[b].number, count);
    if (matrix->n <= MOST_NUMBERS)
        fprintf(chart->out,
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" font-size=\"9\" fill=\"%s\">%s</text>\n",
                chart->x + side * ((double)column + 0.5), chart->y + side * ((double)row + 0.5) + 3,
                light < 130 ? "#fff" : "#1a2029", AS_COUNT(count));
}

static void put_labels(const struct chart *chart, const struct as_pair_matrix *matrix)
{
    const struct as_comm_thread *threads = chart->shown->result->threads;
    double side = (double)SIDE / (double)matrix->n;
    for (size_t i = 0; i < matrix->n && matrix->n <= MOST_LABELS; i++) {
        const struct as_comm_thread *thread = &threads[chart->order[i]];
        fprintf(chart->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\" font-size=\"8\">%" PRIu32 " ",
                chart->x - 3, chart->y + side * ((double)i + 0.5) + 3, thread->number);
        as_html_text(chart->out, as_comm_thread_name(chart->shown->result, thread));
        fprintf(chart->out,
                "</text>\n<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" font-size=\"8\">%" PRIu32 "</text>\n",
                chart->x + side * ((double)i + 0.5), chart->y + SIDE + 11, thread->number);
    }
}

static void put_nothing(const struct chart *chart, bool estimated)
{
    fprintf(chart->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" font-size=\"11\" fill=\"#666\">%s</text>\n",
            chart->x + SIDE / 2.0, chart->y + SIDE / 2.0,
            estimated ? "none met by a sample: try a shorter period" : "none");
}

static void put_matrix(const struct chart *chart, const struct as_pair_matrix *matrix, const char *title, int part)
{
    static const char *const parts[] = {"all", "true sharing", "false sharing"};
    uint64_t most = largest(matrix, part);
    if (!most)
        put_nothing(chart, matrix == chart->shown->result->estimate);
    fprintf(chart->out, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"12\">%s, %s</text>\n", chart->x, chart->y - 6, title,
            parts[part]);
    fprintf(chart->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#999\"/>\n",
            chart->x, chart->y, SIDE, SIDE);
    put_labels(chart, matrix);
    for (size_t i = 0; i < matrix->n; i++)
        for (size_t k = 0; k < matrix->n; k++)
            put_cell(chart, matrix, i, k, part, most);
}

static void put_row(struct chart *chart, const struct as_pair_matrix *matrix, const char *title)
{
    if (!matrix)
        return;
    for (int part = 0; part < 3; part++) {
        chart->x = LEFT + part * (SIDE + GAP + LEFT / 2);
        put_matrix(chart, matrix, title, part);
    }
    chart->y += SIDE + GAP;
}

void as_comm_svg(const struct as_comm_shown *shown, FILE *out)
{
    const struct as_pair_matrix *exact = shown->result->exact, *estimate = shown->result->estimate;
    const struct as_pair_matrix *first = exact ? exact : estimate;
    uint32_t *order = as_alloc_array(first->n + 1, sizeof *order);
    struct chart chart = {.out = out, .shown = shown, .order = order, .y = TOP};
    int width = LEFT + 3 * (SIDE + GAP + LEFT / 2),
        height = TOP + ((exact != NULL) + (estimate != NULL)) * (SIDE + GAP);
    as_pattern_order(first, order);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n<text x=\"%d\" y=\"26\" font-size=\"16\">",
            width, height, LEFT);
    as_html_text(out, shown->argv[0]);
    fprintf(out, ": %s, in %s</text>\n", as_pattern_name(as_pattern_find(first).pattern),
            shown->result->is_time ? "nanoseconds of the threads' time" : "transfers of lines");
    put_row(&chart, exact, "Exact");
    put_row(&chart, estimate, "Estimated");
    fprintf(out, "</svg>\n");
    free(order);
}
