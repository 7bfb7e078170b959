/* What assay comm shows of several nodes: how many lines went between them, and which code got lines from another one. There is no
 * time in these runs, so bandwidth is bytes by executed instructions. */
#include "base/ratio.h"
#include "base/show.h"
#include "cmd/comm_show.h"

#include <inttypes.h>
#include <stdlib.h>

bool as_comm_has_nodes(const struct as_comm_shown *shown)
{
    return shown->options && shown->options->machine.sockets > 1 && !shown->options->no_exact;
}

void as_comm_nodes_fold(const struct as_comm_shown *shown, const struct as_pair_matrix *matrix,
                        struct as_pair_matrix *folded)
{
    size_t n = shown->result->n_threads;
    uint32_t *to = as_alloc_array(n + 1, sizeof *to);
    for (size_t i = 0; i < n; i++)
        to[i] = as_comm_node(shown->options, shown->result->threads[i].core);
    as_pair_matrix_fold(matrix, to, shown->options->machine.sockets, folded);
    free(to);
}

static uint64_t bytes_of(uint64_t lines)
{
    return lines * AS_COHERENT_LINE;
}

/* Bytes by 1,000 instructions of the program. */
static double bandwidth(const struct as_comm_shown *shown, uint64_t lines)
{
    return 1000 * as_ratio(bytes_of(lines), as_comm_run_instructions(shown->run));
}

/* ---- text ---- */

static void print_matrix(const struct as_comm_shown *shown, FILE *out)
{
    struct as_pair_matrix folded = {0};
    char text[24];
    as_comm_nodes_fold(shown, shown->result->exact, &folded);
    fprintf(out, "\nBetween nodes, in transfers of lines:\n  %8s", "node");
    for (size_t i = 0; i < folded.n; i++)
        fprintf(out, " %5zu", i);
    for (size_t i = 0; i < folded.n; i++) {
        fprintf(out, "\n  %8zu", i);
        for (size_t k = 0; k < folded.n; k++) {
            uint64_t count = as_pair_sum(as_pair_matrix_pair(&folded, i, k));
            fprintf(out, " %5s", i == k ? "" : as_comm_cell_text(count, text));
        }
    }
    fputc('\n', out);
    as_pair_matrix_free(&folded);
}

static void print_code(const struct as_comm_shown *shown, const struct as_comm_far *far, FILE *out)
{
    char *code = as_comm_code_text(shown->result, far->code.process, far->code.insn);
    fprintf(out, "  %12s %8.1f %14s %14s %10.2f  %s\n", AS_COUNT(far->remote),
            100 * as_ratio(far->remote, far->transfers), AS_COUNT(bytes_of(far->remote)), AS_COUNT(far->wanted),
            bandwidth(shown, far->remote), AS_SHOW(code));
    fprintf(out, "  %62s  on %s\n", "", AS_SHOW(shown->rows->objects.data[far->object].what.name));
    free(code);
}

void as_comm_nodes_text(const struct as_comm_shown *shown, FILE *out)
{
    if (!as_comm_has_nodes(shown))
        return;
    print_matrix(shown, out);
    if (!shown->rows->far.len)
        return;
    fprintf(
        out,
        "\nCode that got lines from another node: lines, their part of all that it got, bytes moved, bytes that it\n"
        "wanted of them, bytes moved by 1,000 instructions of the program:\n  %12s %8s %14s %14s %10s  code\n",
        "lines", "%", "bytes", "wanted", "by 1,000");
    for (size_t i = 0; i < shown->rows->far.len && i < shown->top; i++)
        print_code(shown, &shown->rows->far.data[i], out);
}

/* ---- JSON ---- */

void as_comm_nodes_json(struct as_json *json, const struct as_comm_shown *shown)
{
    if (!as_comm_has_nodes(shown))
        return;
    as_json_array(json, "remote_code");
    for (size_t i = 0; i < shown->rows->far.len && i < shown->top; i++) {
        const struct as_comm_far *far = &shown->rows->far.data[i];
        as_json_object(json, NULL);
        as_json_u64(json, "total", far->transfers);
        as_json_u64(json, "remote", far->remote);
        as_json_u64(json, "bytes", bytes_of(far->remote));
        as_json_u64(json, "wanted_bytes", far->wanted);
        as_json_double(json, "bytes_by_1000_instructions", bandwidth(shown, far->remote));
        as_json_string(json, "object", shown->rows->objects.data[far->object].what.name);
        as_comm_json_code(json, "code", shown, &far->code);
        as_json_end(json);
    }
    as_json_end(json);
}
