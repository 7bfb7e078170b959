/* The result of a point, on its way from the copy that measured it to the original: see points_run.h.
 *
 * A copy has read the same code in the same order, so instructions have the same numbers in both. A run of its own may have read
 * code in another order, so each row has the instruction's place, too. Nodes of call trees that the copy has made are new to
 * the original, or have another number there: they are sent with their parents first. */
#include "base/map.h"
#include "record/points_run.h"

#include <stdio.h>
#include <unistd.h>

struct sent_node {
    uint32_t tree, node;
    struct as_call_node call;
};

struct counts {
    uint64_t rows, pics, nodes, paths, leaders;
};

/* ---- in the copy ---- */

static uint32_t count_threads(const struct as_modelled *modelled)
{
    uint32_t n = 0;
    while (as_model_process(modelled->model, n + 1))
        n++;
    return n;
}

static uint64_t put_rows(const struct as_modelled *modelled, const as_sampled_numbers *again, FILE *out)
{
    const struct as_engine *engine = as_model_engine(modelled->model);
    uint32_t threads = count_threads(modelled);
    uint64_t n = 0;
    for (uint32_t id = 0; id < as_engine_count_insns(engine); id++) {
        const struct as_insn *insn = as_engine_insn(engine, id);
        struct as_point_row row = {.id = id, .again = as_sampled_at(again, id)};
        for (uint32_t number = 0; number <= threads; number++) {
            const struct as_oracle_row *own =
                as_oracle_thread_row(modelled->oracle, number ? number : AS_NO_THREAD, id);
            for (int state = 0; own && state < AS_STATE_COUNT; state++)
                row.cost.units[state] += (double)own->units[state];
            row.cost.executions += own ? (double)own->executions : 0;
        }
        if (row.cost.executions == 0 && as_sampled_units(&row.cost) == 0)
            continue;
        row.image = as_engine_insn_image(engine, id);
        row.address = insn ? insn->address : 0;
        fwrite(&row, sizeof row, 1, out);
        n++;
    }
    return n;
}

static uint64_t put_nodes(const struct as_modelled *modelled, const as_point_nodes *known, FILE *out)
{
    const struct as_call_tracker *calls = as_model_calls(modelled->model);
    uint64_t n = 0;
    for (uint32_t tree = 0; tree < as_call_tracker_count_images(calls); tree++) {
        const struct as_call_tree *nodes = as_call_tracker_tree(calls, tree);
        size_t first = tree < known->len ? known->data[tree] : 1;
        for (size_t node = first; node < as_call_tree_count(nodes); node++, n++) {
            struct sent_node sent = {
                .tree = tree, .node = (uint32_t)node, .call = *as_call_tree_node(nodes, (uint32_t)node)};
            fwrite(&sent, sizeof sent, 1, out);
        }
    }
    return n;
}

static uint64_t put_paths(const struct as_modelled *modelled, FILE *out)
{
    struct as_pics paths = as_oracle_path_pics(modelled->oracle);
    static const struct as_path_key unknown;
    size_t n_keys;
    const struct as_path_key *keys = as_model_paths(modelled->model, &n_keys);
    for (size_t i = 0; i < paths.len; i++) {
        bool is_known = paths.data[i].id > 0 && paths.data[i].id <= n_keys;
        fwrite(is_known ? &keys[paths.data[i].id - 1] : &unknown, sizeof *keys, 1, out);
        fwrite(&paths.data[i], sizeof *paths.data, 1, out);
    }
    size_t n = paths.len;
    as_pics_free(&paths);
    return n;
}

bool as_point_result_write(const struct as_modelled *modelled, const as_sampled_numbers *again,
                           const as_point_nodes *known, uint32_t region, int fd)
{
    struct counts counts = {0};
    size_t n_leaders;
    FILE *out = fdopen(dup(fd), "w");
    if (!out)
        return false;
    const uint64_t *leaders = as_model_leaders(modelled->model, &n_leaders);
    struct as_pics pics = as_oracle_pics(modelled->oracle);
    fwrite(&counts, sizeof counts, 1, out);
    fwrite(as_model_region(modelled->model, region), sizeof(struct as_counters), 1, out);
    counts.rows = put_rows(modelled, again, out);
    counts.pics = pics.len ? fwrite(pics.data, sizeof *pics.data, pics.len, out) : 0;
    counts.nodes = put_nodes(modelled, known, out);
    counts.paths = put_paths(modelled, out);
    counts.leaders = n_leaders ? fwrite(leaders, sizeof *leaders, n_leaders, out) : 0;
    rewind(out);
    fwrite(&counts, sizeof counts, 1, out);
    as_pics_free(&pics);
    bool sound = !ferror(out);
    return fclose(out) == 0 && sound;
}

/* ---- in the original ---- */

/* The numbers that the copy's nodes have here, by tree. */
typedef AS_VEC(struct own_nodes {
    size_t first;
    AS_VEC(uint32_t) here;
}) translation;

static uint32_t translate(const translation *to, uint32_t tree, uint32_t node)
{
    const struct own_nodes *own = tree < to->len ? &to->data[tree] : NULL;
    return own && node >= own->first && node - own->first < own->here.len ? own->here.data[node - own->first] : node;
}

static bool get_nodes(FILE *in, uint64_t n, const struct as_modelled *modelled, const as_point_nodes *known,
                      translation *to)
{
    for (uint64_t i = 0; i < n; i++) {
        struct sent_node sent;
        if (fread(&sent, sizeof sent, 1, in) != 1 ||
            sent.tree >= as_call_tracker_count_images(as_model_calls(modelled->model)))
            return false;
        while (to->len <= sent.tree) {
            size_t first = to->len < known->len ? known->data[to->len] : 1;
            *as_vec_push(to) = (struct own_nodes){.first = first};
        }
        sent.call.parent = translate(to, sent.tree, sent.call.parent);
        *as_vec_push(&to->data[sent.tree].here) = as_model_adopt_call(modelled->model, sent.tree, &sent.call);
    }
    return true;
}

static bool get_paths(FILE *in, uint64_t n, const struct as_modelled *modelled, const translation *to,
                      struct as_pics *paths)
{
    for (uint64_t i = 0; i < n; i++) {
        struct as_path_key key;
        struct as_pics_entry entry;
        if (fread(&key, sizeof key, 1, in) != 1 || fread(&entry, sizeof entry, 1, in) != 1)
            return false;
        key.node = translate(to, key.tree, key.node);
        entry.id = entry.id ? as_model_adopt_path(modelled->model, &key) : 0;
        as_pics_push(paths, &entry);
    }
    return true;
}

/* The number that an instruction has here. False: there is none at that place. */
static bool number_here(const struct as_engine *engine, struct as_point_row *row)
{
    const struct as_insn *own = as_engine_insn(engine, row->id);
    if (!own || own->address != row->address || as_engine_insn_image(engine, row->id) != row->image)
        own = as_engine_insn_at(engine, row->image, row->address);
    if (own)
        row->id = own->id;
    return own != NULL;
}

/* `ids`: numbers there to numbers here, each + 1. */
static bool get_rows(FILE *in, uint64_t n, const struct as_engine *engine, struct as_point_result *result,
                     struct as_map *ids)
{
    for (uint64_t i = 0; i < n; i++) {
        struct as_point_row *row = as_vec_push(&result->rows);
        if (fread(row, sizeof *row, 1, in) != 1)
            return false;
        uint32_t there = row->id;
        if (!number_here(engine, row))
            return false;
        *as_map_put(ids, (uint64_t)there + 1) = row->id;
    }
    return true;
}

/* Every instruction that has a component has a row. */
static bool get_pics(FILE *in, uint64_t n, const struct as_map *ids, struct as_pics *pics)
{
    for (uint64_t i = 0; i < n; i++) {
        struct as_pics_entry entry;
        if (fread(&entry, sizeof entry, 1, in) != 1)
            return false;
        const uint64_t *here = as_map_get(ids, (uint64_t)entry.id + 1);
        if (!here)
            return false;
        entry.id = (uint32_t)*here;
        as_pics_push(pics, &entry);
    }
    return true;
}

static bool get_leaders(FILE *in, uint64_t n, const struct as_modelled *modelled)
{
    for (uint64_t i = 0; i < n; i++) {
        uint64_t leader;
        if (fread(&leader, sizeof leader, 1, in) != 1)
            return false;
        as_model_adopt_leader(modelled->model, leader);
    }
    return true;
}

bool as_point_result_read(struct as_point_result *result, const struct as_modelled *modelled,
                          const as_point_nodes *known, int fd)
{
    translation to = {0};
    struct as_map ids = {0};
    struct counts counts;
    FILE *in = fdopen(dup(fd), "r");
    if (!in)
        return false;
    rewind(in);
    bool ok = fread(&counts, sizeof counts, 1, in) == 1 &&
              fread(&result->counters, sizeof result->counters, 1, in) == 1 &&
              get_rows(in, counts.rows, as_model_engine(modelled->model), result, &ids) &&
              get_pics(in, counts.pics, &ids, &result->pics) && get_nodes(in, counts.nodes, modelled, known, &to) &&
              get_paths(in, counts.paths, modelled, &to, &result->paths) && get_leaders(in, counts.leaders, modelled);
    fclose(in);
    as_map_free(&ids);
    for (size_t i = 0; i < to.len; i++)
        as_vec_free(&to.data[i].here);
    as_vec_free(&to);
    return ok;
}

void as_point_result_free(struct as_point_result *result)
{
    as_vec_free(&result->rows);
    as_pics_free(&result->pics);
    as_pics_free(&result->paths);
}
