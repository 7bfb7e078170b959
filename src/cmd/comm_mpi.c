/* The ranks of an MPI program in assay comm: who sent how much to whom, and beside it the cache lines that their processes handed
 * to each other. */
#include "base/json.h"
#include "base/show.h"
#include "cmd/comm_show.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MOST_COLUMNS = 16 };

int as_comm_mpi_rank(const struct as_mpi_messages *mpi, int32_t pid)
{
    for (size_t rank = 0; mpi && rank < mpi->ranks; rank++)
        if (mpi->pids[rank] && mpi->pids[rank] == pid)
            return (int)rank;
    return -1;
}

/* Transfers between processes, by rank; threads of others go to the last row. */
static void fold_ranks(const struct as_comm_shown *shown, const struct as_pair_matrix *matrix,
                       struct as_pair_matrix *folded)
{
    const struct as_mpi_messages *mpi = shown->mpi;
    uint32_t *ranks = as_alloc_array(shown->result->n_threads + 1, sizeof *ranks);
    for (size_t i = 0; i < shown->result->n_threads; i++) {
        int rank = as_comm_mpi_rank(mpi, shown->result->threads[i].pid);
        ranks[i] = rank < 0 ? (uint32_t)mpi->ranks : (uint32_t)rank;
    }
    as_pair_matrix_fold(matrix, ranks, mpi->ranks + 1, folded);
    free(ranks);
}

static const struct as_pair_matrix *lines_of(const struct as_comm_shown *shown)
{
    return shown->result->exact ? shown->result->exact : shown->result->estimate;
}

static const struct as_mpi_sum *sum_of(const struct as_mpi_messages *mpi, size_t from, size_t to)
{
    return &mpi->sums[from * mpi->ranks + to];
}

static struct as_mpi_sum total_of(const struct as_mpi_messages *mpi)
{
    struct as_mpi_sum total = {0};
    for (size_t i = 0; i < mpi->ranks * mpi->ranks; i++) {
        total.bytes += mpi->sums[i].bytes;
        total.messages += mpi->sums[i].messages;
        total.collective += mpi->sums[i].collective;
        total.contributions += mpi->sums[i].contributions;
    }
    return total;
}

void as_comm_mpi_matrix(const struct as_mpi_messages *mpi, struct as_pair_matrix *matrix)
{
    as_pair_matrix_grow(matrix, mpi->ranks);
    for (size_t from = 0; from < mpi->ranks; from++)
        for (size_t to = 0; to < mpi->ranks; to++) {
            as_pair_matrix_add(matrix, from, to, false, sum_of(mpi, from, to)->bytes);
            as_pair_matrix_add(matrix, from, to, true, sum_of(mpi, from, to)->collective);
        }
}

/* ---- text ---- */

static uint64_t sent(const struct as_comm_shown *shown, const struct as_pair_matrix *lines, size_t from, size_t to)
{
    const struct as_mpi_sum *sum = sum_of(shown->mpi, from, to);
    return lines ? as_pair_sum(as_pair_matrix_pair(lines, from, to)) : sum->bytes + sum->collective;
}

static void print_rows(FILE *out, const struct as_comm_shown *shown, const struct as_pair_matrix *lines)
{
    size_t n = shown->mpi->ranks < MOST_COLUMNS ? shown->mpi->ranks : MOST_COLUMNS;
    fprintf(out, "  %8s", lines ? "rank" : "from\\to");
    for (size_t to = 0; to < n; to++)
        fprintf(out, " %5zu", to);
    fprintf(out, "\n");
    for (size_t from = 0; from < n; from++) {
        fprintf(out, "  %8zu", from);
        for (size_t to = 0; to < n; to++) {
            char text[24];
            uint64_t count = sent(shown, lines, from, to);
            fprintf(out, " %5s", from == to && !count ? "" : as_comm_cell_text(count, text));
        }
        fprintf(out, "\n");
    }
    if (shown->mpi->ranks > n)
        fprintf(out, "  … and %zu ranks more; --json has them all\n", shown->mpi->ranks - n);
}

void as_comm_mpi_text(const struct as_comm_shown *shown, FILE *out)
{
    const struct as_mpi_messages *mpi = shown->mpi;
    struct as_mpi_sum total = total_of(mpi);
    struct as_pair_matrix folded = {0};
    if (!mpi->ranks) {
        fprintf(out, "\nMPI: no process initialised it, or its library is linked statically.\n");
        return;
    }
    fprintf(out, "\nMPI: %zu rank%s; %s bytes in %s messages, %s bytes of collective operations\n", mpi->ranks,
            mpi->ranks == 1 ? "" : "s", AS_COUNT(total.bytes), AS_COUNT(total.messages), AS_COUNT(total.collective));
    if (mpi->elsewhere)
        fprintf(out, "  … and %s messages of ranks that are not told apart\n", AS_COUNT(mpi->elsewhere));
    fprintf(out, "\nBytes that ranks sent to each other:\n");
    print_rows(out, shown, NULL);
    if (!lines_of(shown))
        return;
    fold_ranks(shown, lines_of(shown), &folded);
    fprintf(out, "\nCache lines between the ranks' processes, in %s:\n",
            shown->result->is_time ? "nanoseconds of the threads' time" : "transfers");
    print_rows(out, shown, &folded);
    as_pair_matrix_free(&folded);
}

/* ---- JSON and CSV ---- */

static void json_matrix(struct as_json *json, const char *name, const struct as_mpi_messages *mpi, size_t member)
{
    as_json_array(json, name);
    for (size_t from = 0; from < mpi->ranks; from++) {
        as_json_array(json, NULL);
        for (size_t to = 0; to < mpi->ranks; to++)
            as_json_u64(json, NULL, *(const uint64_t *)((const char *)sum_of(mpi, from, to) + member));
        as_json_end(json);
    }
    as_json_end(json);
}

static void json_lines(struct as_json *json, const struct as_comm_shown *shown)
{
    struct as_pair_matrix folded = {0};
    if (!lines_of(shown))
        return;
    fold_ranks(shown, lines_of(shown), &folded);
    as_json_array(json, "lines");
    for (size_t a = 0; a < shown->mpi->ranks; a++) {
        as_json_array(json, NULL);
        for (size_t b = 0; b < shown->mpi->ranks; b++)
            as_json_u64(json, NULL, a == b ? 0 : as_pair_sum(as_pair_matrix_pair(&folded, a, b)));
        as_json_end(json);
    }
    as_json_end(json);
    as_pair_matrix_free(&folded);
}

void as_comm_mpi_json(struct as_json *json, const struct as_comm_shown *shown)
{
    const struct as_mpi_messages *mpi = shown->mpi;
    struct as_mpi_sum total = total_of(mpi);
    as_json_object(json, "mpi");
    as_json_u64(json, "ranks", mpi->ranks);
    as_json_array(json, "pids");
    for (size_t i = 0; i < mpi->ranks; i++)
        as_json_i64(json, NULL, mpi->pids[i]);
    as_json_end(json);
    as_json_u64(json, "total_bytes", total.bytes);
    as_json_u64(json, "total_messages", total.messages);
    as_json_u64(json, "total_collective_bytes", total.collective);
    as_json_u64(json, "elsewhere", mpi->elsewhere);
    json_matrix(json, "bytes", mpi, offsetof(struct as_mpi_sum, bytes));
    json_matrix(json, "messages", mpi, offsetof(struct as_mpi_sum, messages));
    json_matrix(json, "collective_bytes", mpi, offsetof(struct as_mpi_sum, collective));
    json_lines(json, shown);
    as_json_end(json);
}

void as_comm_mpi_csv(const struct as_comm_shown *shown, FILE *out)
{
    struct as_pair_matrix folded = {0};
    if (lines_of(shown))
        fold_ranks(shown, lines_of(shown), &folded);
    fprintf(out, "from,to,messages,bytes,collective_bytes,lines\n");
    for (size_t from = 0; from < shown->mpi->ranks; from++)
        for (size_t to = 0; to < shown->mpi->ranks; to++) {
            const struct as_mpi_sum *sum = sum_of(shown->mpi, from, to);
            uint64_t lines = from == to || !folded.n ? 0 : as_pair_sum(as_pair_matrix_pair(&folded, from, to));
            if (sum->messages || sum->collective || lines)
                fprintf(out, "%zu,%zu,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", from, to, sum->messages,
                        sum->bytes, sum->collective, lines);
        }
    as_pair_matrix_free(&folded);
}
