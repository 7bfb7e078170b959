/* The matrices of assay comm as heat maps, in one SVG picture: all, true and false sharing, the exact ones above, the
 * estimated ones below, each row with one scale of colours; threads in an order that puts those together that communicate. */
#include "base/html.h"
#include "base/ratio.h"
#include "base/show.h"
#include "cmd/comm_show.h"

#include <inttypes.h>
#include <string.h>

enum { SIDE = 300, GAP = 80, LEFT = 70, TOP = 60, MOST_LABELS = 40, MOST_NUMBERS = 8, STEPS = 10, NAME = 13 };

struct chart {
    FILE *out;
    const struct as_comm_shown *shown;
    const uint32_t *order;
    const char *const *parts; /* of a row's three pictures */
    bool ranks;               /* rows are ranks of MPI, not threads */
    double x, y;
};

static const char *const sharing_parts[] = {"all", "true sharing", "false sharing"};
static const char *const mpi_parts[] = {"all", "messages", "collective operations"};

static uint32_t number_of(const struct chart *chart, uint32_t at)
{
    return chart->ranks ? at : chart->shown->result->threads[at].number;
}

static uint64_t largest(const struct as_pair_matrix *matrix, int part)
{
    uint64_t most = 0;
    for (size_t i = 0; i < matrix->n; i++)
        for (size_t k = 0; k < i; k++) {
            uint64_t count = as_pair_part(as_pair_matrix_pair(matrix, i, k), part);
            most = count > most ? count : most;
        }
    return most;
}

static int light_of(double share)
{
    return (int)(235 - 205 * share);
}

/* A cell without communication is the background's. */
static void put_cell(const struct chart *chart, const struct as_pair_matrix *matrix, size_t row, size_t column,
                     int part, uint64_t most)
{
    uint32_t a = chart->order[row], b = chart->order[column];
    uint64_t count = as_pair_part(as_pair_matrix_pair(matrix, a, b), part);
    double side = (double)SIDE / (double)matrix->n;
    if (!count)
        return;
    int light = light_of(as_ratio(count, most));
    fprintf(chart->out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"rgb(%d,%d,255)\"><title>",
            chart->x + side * (double)column, chart->y + side * (double)row, side, side, light, light);
    fprintf(chart->out, "%s %" PRIu32 " and %" PRIu32 ": %" PRIu64 "</title></rect>\n",
            chart->ranks ? "ranks" : "threads", number_of(chart, a), number_of(chart, b), count);
    if (matrix->n <= MOST_NUMBERS)
        fprintf(chart->out,
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" font-size=\"9\" fill=\"%s\">%s</text>\n",
                chart->x + side * ((double)column + 0.5), chart->y + side * ((double)row + 0.5) + 3,
                light < 130 ? "#fff" : "#1a2029", AS_COUNT(count));
}

/* There is room for the beginning of a thread's name; the pointer shows all of it. A character of several bytes is not cut. */
static void put_name(const struct chart *chart, const char *name)
{
    char beginning[NAME + 1];
    size_t length = strlen(name);
    if (length <= NAME) {
        as_html_text(chart->out, name);
        return;
    }
    for (length = NAME - 1; length > 0 && (name[length] & 0xc0) == 0x80;)
        length--;
    memcpy(beginning, name, length);
    beginning[length] = '\0';
    as_html_text(chart->out, beginning);
    fputs("…<title>", chart->out);
    as_html_text(chart->out, name);
    fputs("</title>", chart->out);
}

static void put_labels(const struct chart *chart, const struct as_pair_matrix *matrix)
{
    double side = (double)SIDE / (double)matrix->n;
    for (size_t i = 0; i < matrix->n && matrix->n <= MOST_LABELS; i++) {
        uint32_t at = chart->order[i], number = number_of(chart, at);
        fprintf(chart->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\" font-size=\"8\">%" PRIu32 " ",
                chart->x - 3, chart->y + side * ((double)i + 0.5) + 3, number);
        if (!chart->ranks)
            put_name(chart, as_comm_thread_name(chart->shown->result, &chart->shown->result->threads[at]));
        fprintf(chart->out,
                "</text>\n<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" font-size=\"8\">%" PRIu32 "</text>\n",
                chart->x + side * ((double)i + 0.5), chart->y + SIDE + 11, number);
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
    uint64_t most = largest(matrix, 0); /* one scale for a row: a pale picture has little */
    if (!largest(matrix, part))
        put_nothing(chart, matrix == chart->shown->result->estimate);
    fprintf(chart->out, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"12\">%s, %s</text>\n", chart->x, chart->y - 6, title,
            chart->parts[part]);
    fprintf(chart->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#999\"/>\n",
            chart->x, chart->y, SIDE, SIDE);
    put_labels(chart, matrix);
    for (size_t i = 0; i < matrix->n; i++)
        for (size_t k = 0; k < matrix->n; k++)
            put_cell(chart, matrix, i, k, part, most);
}

/* The scale of a row: from nothing to its largest pair. */
static void put_scale(const struct chart *chart, uint64_t most)
{
    double width = (double)SIDE / 2 / STEPS, y = chart->y + SIDE + 20;
    for (int i = 0; most && i < STEPS; i++) {
        int light = light_of((i + 1.0) / STEPS);
        fprintf(chart->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"10\" fill=\"rgb(%d,%d,255)\"/>\n",
                LEFT + width * i, y, width + 0.5, light, light);
    }
    if (most)
        fprintf(chart->out,
                "<text x=\"%.1f\" y=\"%.1f\" font-size=\"9\">darkest: %s, the largest pair of the three</text>\n",
                LEFT + SIDE / 2.0 + 8, y + 9, AS_COUNT(most));
}

static void put_row(struct chart *chart, const struct as_pair_matrix *matrix, const char *title)
{
    if (!matrix)
        return;
    for (int part = 0; part < 3; part++) {
        chart->x = LEFT + part * (SIDE + GAP + LEFT / 2);
        put_matrix(chart, matrix, title, part);
    }
    put_scale(chart, largest(matrix, 0));
    chart->y += SIDE + GAP;
}

static void put_ranks(struct chart *chart)
{
    const struct as_mpi_messages *mpi = chart->shown->mpi;
    struct as_pair_matrix matrix = {0};
    if (!mpi || !mpi->ranks)
        return;
    uint32_t *order = as_alloc_array(mpi->ranks, sizeof *order);
    for (uint32_t i = 0; i < mpi->ranks; i++)
        order[i] = i;
    as_comm_mpi_matrix(mpi, &matrix);
    chart->order = order;
    chart->parts = mpi_parts;
    chart->ranks = true;
    put_row(chart, &matrix, "MPI, bytes between ranks");
    as_pair_matrix_free(&matrix);
    free(order);
}

void as_comm_svg(const struct as_comm_shown *shown, FILE *out)
{
    const struct as_pair_matrix *exact = shown->result->exact, *estimate = shown->result->estimate;
    const struct as_pair_matrix *first = exact ? exact : estimate;
    uint32_t *order = as_alloc_array(first->n + 1, sizeof *order);
    struct chart chart = {.out = out, .shown = shown, .order = order, .parts = sharing_parts, .y = TOP};
    int width = LEFT + 3 * (SIDE + GAP + LEFT / 2),
        height = TOP + ((exact != NULL) + (estimate != NULL) + (shown->mpi && shown->mpi->ranks)) * (SIDE + GAP);
    as_pattern_order(first, order);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
            "font-family=\"sans-serif\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n<text x=\"%d\" y=\"26\" font-size=\"16\">",
            width, height, width, height, LEFT);
    as_html_text(out, shown->argv[0]);
    fprintf(out, ": %s, in %s%s%s</text>\n", as_pattern_name(as_comm_pattern(shown->result).pattern),
            shown->result->is_time ? "nanoseconds of the threads' time" : "transfers of lines", shown->part ? "; " : "",
            shown->part ? shown->part : "");
    put_row(&chart, exact, "Exact");
    put_row(&chart, estimate, "Estimated");
    put_ranks(&chart);
    fprintf(out, "</svg>\n");
    free(order);
}
