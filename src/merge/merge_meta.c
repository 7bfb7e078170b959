/* Merges the texts that describe what was run: meta, machine, arguments, environment. A fact that differs between the
 * inputs is dropped, except those that add up and those of which the first is kept. */
#include "merge/merge_internal.h"

#include "base/path.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define META_INPUTS "merged_inputs"

/* ---- facts that all have in common ---- */

static void add_pair(struct as_merge *merge, struct as_merge_pair **data, size_t *len, size_t *cap, const char *key,
                     const char *value)
{
    size_t i = 0;
    while (i < *len && strcmp((*data)[i].key, key) != 0)
        i++;
    if (i == *len) {
        as_vec_reserve((void **)data, cap, *len + 1, sizeof **data);
        (*data)[(*len)++] =
            (struct as_merge_pair){.key = as_merge_keep(merge, key), .value = as_merge_keep(merge, value)};
    }
    struct as_merge_pair *pair = &(*data)[i];
    pair->met++;
    pair->differs |= strcmp(pair->value, value) != 0;
}
#define ADD_PAIR(merge, list, key, value)                                                                              \
    add_pair(merge, &(merge)->list.data, &(merge)->list.len, &(merge)->list.cap, key, value)

static const char *common(const struct as_merge *merge, const struct as_merge_pair *pair)
{
    return pair->met == merge->n && !pair->differs ? pair->value : NULL;
}

/* ---- facts with a rule of their own ---- */

static void add_number(struct as_merge *merge, struct as_merge_number *number, const struct as_store *store,
                       const char *key)
{
    struct as_weight weight = merge->inputs[merge->at].weight;
    uint64_t value;
    if (!as_store_meta_u64(store, key, &value))
        return;
    number->sum += (unsigned __int128)value * weight.part * (merge->denominator / weight.whole);
    number->met++;
}

static void add_double(struct as_merge *merge, double *sum, size_t *met, const struct as_store *store, const char *key)
{
    struct as_weight weight = merge->inputs[merge->at].weight;
    double value = as_store_meta_double(store, key);
    if (isnan(value))
        return;
    *sum += value * (double)weight.part / (double)weight.whole;
    ++*met;
}

static void write_number(struct as_merge *merge, const struct as_merge_number *number, const char *key)
{
    unsigned __int128 rounded = (number->sum + merge->denominator / 2) / merge->denominator;
    if (number->met == merge->n && rounded <= UINT64_MAX)
        as_store_add_meta_u64(merge->writer, key, (uint64_t)rounded);
}

/* Writes one line per input: weight, runs, file. For an input that is itself merged, writes the lines of its inputs. */
static bool add_input(struct as_merge *merge, const struct as_store *store, struct as_error *err)
{
    const struct as_weight own = merge->inputs[merge->at].weight;
    const char *lines = as_store_meta(store, META_INPUTS);
    size_t runs;
    as_store_runs(store, &runs);
    uint64_t merged = 1;
    if (as_store_meta_u64(store, AS_META_MERGED, &merged) && merged == 0)
        merged = 1;
    merge->n_merged += merged;
    if (!lines) {
        as_str_addf(&merge->inputs_text, "%" PRIu64 "/%" PRIu64 "\t%zu\t%s\n", own.part, own.whole, runs,
                    as_merge_name(merge, merge->at));
        return true;
    }
    for (const char *line = lines; *line;) {
        size_t length = strcspn(line, "\n"), first = strcspn(line, "\t\n");
        char text[64];
        struct as_weight weight, product;
        snprintf(text, sizeof text, "%.*s", (int)(first < 60 ? first : 60), line);
        if (!as_weight_read(text, &weight) || !as_weight_product(weight, own, &product))
            return as_error_set(err, "%s: cannot read its list of merged inputs, or its weights have too many digits",
                                as_merge_name(merge, merge->at));
        as_str_addf(&merge->inputs_text, "%" PRIu64 "/%" PRIu64 "%.*s\n", product.part, product.whole,
                    (int)(length - first), line + first);
        line += length + (line[length] == '\n');
    }
    return true;
}

static void first_of(struct as_merge *merge, const char **kept, const char *value)
{
    if (!*kept && value)
        *kept = as_merge_keep(merge, value);
}

static void add_name(struct as_merge *merge, const struct as_store *store)
{
    const char *program = as_store_meta(store, AS_META_PROGRAM), *title = as_store_meta(store, AS_META_TITLE);
    const char *name = program ? as_path_base(program) : title ? title : "an unknown program";
    for (size_t i = 0; i < merge->names.len; i++)
        if (strcmp(merge->names.data[i], name) == 0)
            return;
    *as_vec_push(&merge->names) = as_merge_keep(merge, name);
}

static void add_own(struct as_merge *merge, const struct as_store *store)
{
    const char *date = as_store_meta(store, AS_META_DATE), *status = as_store_meta(store, AS_META_STATUS);
    add_number(merge, &merge->cycles, store, AS_META_CYCLES);
    add_number(merge, &merge->instructions, store, AS_META_INSTRUCTIONS);
    add_double(merge, &merge->seconds, &merge->n_seconds, store, AS_META_SECONDS);
    add_double(merge, &merge->host_seconds, &merge->n_host_seconds, store, "host_seconds");
    if (date && (!merge->date || strcmp(date, merge->date) < 0))
        merge->date = as_merge_keep(merge, date);
    first_of(merge, &merge->partial, as_store_meta(store, AS_META_PARTIAL));
    if (!merge->status || strcmp(merge->status, "0") == 0)
        merge->status = status ? as_merge_keep(merge, status) : merge->status;
}

/* ---- what cannot be merged ---- */

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static const char *first_value(const struct as_merge *merge, const char *key)
{
    for (size_t i = 0; i < merge->meta.len; i++)
        if (strcmp(merge->meta.data[i].key, key) == 0)
            return merge->meta.data[i].value;
    return NULL;
}

static bool check_key(const struct as_merge *merge, const struct as_store *store, const char *key, const char *what,
                      struct as_error *err)
{
    const char *here = as_store_meta(store, key), *there = first_value(merge, key);
    if (same_text(here, there) || merge->options->force)
        return true;
    return as_error_set(err, "%s and %s are of different %s (%.100s, %.100s): --force merges them anyway",
                        as_merge_name(merge, 0), as_merge_name(merge, merge->at), what, there ? there : "unknown",
                        here ? here : "unknown");
}

static bool check(const struct as_merge *merge, const struct as_store *store, struct as_error *err)
{
    const char *here = as_store_meta(store, AS_META_PROGRAM), *there = first_value(merge, AS_META_PROGRAM);
    here = here ? as_path_base(here) : NULL;
    there = there ? as_path_base(there) : NULL;
    if (!same_text(here, there) && !merge->options->force)
        return as_error_set(err, "%s and %s are of different programs (%.100s, %.100s): --force merges them anyway",
                            as_merge_name(merge, 0), as_merge_name(merge, merge->at), there ? there : "unknown",
                            here ? here : "unknown");
    if (!check_key(merge, store, AS_META_ARCH, "architectures", err) ||
        !check_key(merge, store, AS_META_CORE, "cores", err))
        return false;
    if (same_text(as_store_meta(store, AS_META_MACHINE), first_value(merge, AS_META_MACHINE)) || merge->options->force)
        return true;
    return as_error_set(err, "%s and %s are of cores with different parameters: --force merges them anyway",
                        as_merge_name(merge, 0), as_merge_name(merge, merge->at));
}

/* ---- the first pass ---- */

static void add_arguments(struct as_merge *merge, const struct as_store *store)
{
    size_t n, same = 0;
    const char *const *arguments = as_store_arguments(store, &n);
    if (merge->at == 0) {
        for (size_t i = 0; i < n; i++)
            *as_vec_push(&merge->arguments) = as_merge_keep(merge, arguments[i]);
        merge->arguments_kept = n;
        return;
    }
    while (same < n && same < merge->arguments.len && strcmp(arguments[same], merge->arguments.data[same]) == 0)
        same++;
    if (same != n || same != merge->arguments.len) /* then only the program's name identifies the program */
        merge->arguments_kept = same > 0 && merge->arguments_kept > 0 ? 1 : 0;
}

bool as_merge_meta(struct as_merge *merge, struct as_store *store, struct as_error *err)
{
    size_t n;
    if (merge->at > 0 && !check(merge, store, err))
        return false;
    const struct as_store_pair *list = as_store_meta_all(store, &n);
    for (size_t i = 0; i < n; i++)
        ADD_PAIR(merge, meta, list[i].key, list[i].value);
    list = as_store_machine(store, &n);
    for (size_t i = 0; i < n; i++)
        ADD_PAIR(merge, machine, list[i].key, list[i].value);
    const char *const *variables = as_store_environment(store, &n);
    for (size_t i = 0; i < n; i++)
        ADD_PAIR(merge, environment, variables[i], "");
    add_arguments(merge, store);
    add_name(merge, store);
    add_own(merge, store);
    return add_input(merge, store, err);
}

/* ---- the output ---- */

static bool has_rule(const char *key)
{
    static const char *const keys[] = {AS_META_PROGRAM, AS_META_CYCLES, AS_META_INSTRUCTIONS, AS_META_SECONDS,
                                       "host_seconds",  AS_META_DATE,   AS_META_PARTIAL,      AS_META_STATUS,
                                       META_INPUTS,     AS_META_MERGED};
    static const char *const spreads[] = {"cycles_", "seconds_"};
    bool found = false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        found |= strcmp(key, keys[i]) == 0;
    for (size_t i = 0; i < 2; i++)
        found |= strncmp(key, spreads[i], strlen(spreads[i])) == 0;
    return found;
}

static void write_merged(struct as_merge *merge)
{
    bool weighted = false;
    for (size_t i = 0; i < merge->n; i++)
        weighted |= merge->inputs[i].weight.part != merge->inputs[i].weight.whole;
    if (merge->n_merged < 2 && !weighted)
        return;
    as_store_add_meta_u64(merge->writer, AS_META_MERGED, merge->options->parts ? 1 : merge->n_merged);
    if (!merge->options->runs)
        as_store_add_meta(merge->writer, META_INPUTS, as_str_get(&merge->inputs_text));
}

/* Different programs, merged by force, are all named. */
static void write_title(struct as_merge *merge)
{
    enum { NAMED = 3 };
    size_t n = merge->names.len, named = n > NAMED ? NAMED - 1 : n;
    struct as_str title = {0};
    if (n < 2)
        return;
    for (size_t i = 0; i < named; i++)
        as_str_addf(&title, "%s%s", i == 0 ? "" : i + 1 == n ? " and " : ", ", merge->names.data[i]);
    if (named < n)
        as_str_addf(&title, " and %zu others", n - named);
    as_store_add_meta(merge->writer, AS_META_TITLE, as_str_get(&title));
    as_str_free(&title);
}

void as_merge_write_meta(struct as_merge *merge)
{
    struct as_store_writer *writer = merge->writer;
    for (size_t i = 0; i < merge->meta.len; i++) {
        const struct as_merge_pair *pair = &merge->meta.data[i];
        bool part = strcmp(pair->key, AS_META_PART) == 0; /* parts that differ are not the whole run */
        bool named = strcmp(pair->key, AS_META_TITLE) == 0 && merge->names.len > 1;
        if (!has_rule(pair->key) && !named && !(part && merge->options->parts))
            as_store_add_meta(writer, pair->key,
                              part && !common(merge, pair) ? "a different part" : common(merge, pair));
    }
    if (merge->options->parts)
        as_store_add_meta(writer, AS_META_PART, merge->options->parts->part);
    for (size_t i = 0; i < merge->machine.len; i++)
        as_store_add_machine(writer, merge->machine.data[i].key, common(merge, &merge->machine.data[i]));
    for (size_t i = 0; i < merge->environment.len; i++)
        if (common(merge, &merge->environment.data[i]))
            as_store_add_environment(writer, merge->environment.data[i].key);
    for (size_t i = 0; i < merge->arguments_kept; i++)
        as_store_add_argument(writer, merge->arguments.data[i]);
    write_title(merge);
    as_store_add_meta(writer, AS_META_PROGRAM, first_value(merge, AS_META_PROGRAM));
    write_number(merge, &merge->cycles, AS_META_CYCLES);
    write_number(merge, &merge->instructions, AS_META_INSTRUCTIONS);
    if (merge->n_seconds == merge->n)
        as_store_add_meta_double(writer, AS_META_SECONDS, merge->seconds);
    if (merge->n_host_seconds == merge->n)
        as_store_add_meta_double(writer, "host_seconds", merge->host_seconds);
    as_store_add_meta(writer, AS_META_DATE, merge->date);
    as_store_add_meta(writer, AS_META_PARTIAL, merge->partial);
    as_store_add_meta(writer, AS_META_STATUS, merge->status);
    if (merge->options->version)
        as_store_add_meta(writer, AS_META_ASSAY, merge->options->version);
    write_merged(merge);
}
