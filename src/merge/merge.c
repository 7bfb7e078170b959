/* See merge.h. */
#include "merge/merge_internal.h"

#include <sys/stat.h>

static const char *name_of(const struct as_merge_input *input)
{
    return input->name ? input->name : input->path;
}

const char *as_merge_name(const struct as_merge *merge, size_t input)
{
    return name_of(&merge->inputs[input]);
}

const char *as_merge_keep(struct as_merge *merge, const char *text)
{
    return text ? as_strings_get(merge->strings, as_strings_intern(merge->strings, text)) : NULL;
}

/* ---- the files ---- */

struct file {
    uint64_t device, number;
    size_t input;
};

static int compare_files(const void *a, const void *b)
{
    const struct file *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->input < y->input ? -1 : 1;
}

static bool is_same(const struct file *a, const struct file *b)
{
    return a->device == b->device && a->number == b->number;
}

/* Refuses an input that is given twice, because its time would count twice, and an input that the output would replace.
 * A missing file is reported when it is opened. */
static bool check_files(const struct as_merge_input *inputs, size_t n_inputs, const char *output, struct as_error *err)
{
    struct stat info;
    struct file *files = as_alloc_array(n_inputs + 1, sizeof *files), out = {0};
    size_t n = 0;
    bool ok = true, exists = stat(output, &info) == 0;
    if (exists)
        out = (struct file){info.st_dev, info.st_ino, 0};
    for (size_t i = 0; i < n_inputs && ok; i++) {
        if (stat(inputs[i].path, &info) != 0)
            continue;
        files[n++] = (struct file){info.st_dev, info.st_ino, i};
        if (exists && is_same(&files[n - 1], &out))
            ok = as_error_set_status(err, AS_EXIT_USAGE, "%s is an input: give the output another name",
                                     name_of(&inputs[i]));
    }
    qsort(files, n, sizeof *files, compare_files);
    for (size_t i = 1; i < n && ok; i++)
        if (is_same(&files[i - 1], &files[i]))
            ok = as_error_set_status(err, AS_EXIT_USAGE,
                                     "%s is given twice: its time would count twice; use --weights for that",
                                     name_of(&inputs[files[i].input]));
    free(files);
    return ok;
}

/* Opens one input after the other. */
static bool each_input(struct as_merge *merge, bool (*use)(struct as_merge *, struct as_store *, struct as_error *),
                       struct as_error *err)
{
    bool ok = true;
    for (merge->at = 0; merge->at < merge->n && ok; merge->at++) {
        struct as_store *store = as_store_open(merge->inputs[merge->at].path, err);
        ok = store && use(merge, store, err);
        as_store_close(store);
    }
    return ok;
}

/* ---- the merge ---- */

static bool find_denominator(struct as_merge *merge, struct as_error *err)
{
    merge->denominator = 1;
    for (size_t i = 0; i < merge->n; i++)
        if (!as_lcm(merge->denominator, merge->inputs[i].weight.whole, &merge->denominator))
            return as_error_set(err, "the weights have no common denominator of 63 bits: give fewer digits");
    return true;
}

/* Another process may have changed an input since the first pass, so it can have series that are not in the output. */
static bool merge_rows(struct as_merge *merge, struct as_store *store, struct as_error *err)
{
    size_t n, threads = merge->threads.len, states = merge->states.len;
    bool same = true;
    const struct as_store_series *series = as_store_series(store, &n);
    uint32_t *numbers = as_merge_series_numbers(merge, store);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < merge->series.len; k++)
            if (numbers[i] != AS_STORE_NONE && merge->series.data[k].number == numbers[i])
                same &= merge->series.data[k].row.scale % series[i].scale == 0;
    free(numbers);
    if (!same || !as_merge_rows(merge, store, err))
        return same ? false
                    : as_error_set(err, "%s changed while it was being merged: try again",
                                   as_merge_name(merge, merge->at));
    if (merge->threads.len != threads || merge->states.len != states)
        return as_error_set(err, "%s changed while it was being merged: try again", as_merge_name(merge, merge->at));
    return true;
}

static bool write_all(struct as_merge *merge, struct as_error *err)
{
    as_merge_write_about(merge);
    bool ok = each_input(merge, merge_rows, err);
    as_merge_push_end(merge);
    for (size_t i = 0; i < merge->stacks.len; i++)
        as_store_add_stack(merge->writer, &merge->stacks.data[i]);
    return ok && as_merge_write_estimates(merge, err);
}

static void free_merge(struct as_merge *merge)
{
    for (int i = 0; i < AS_TABLE_COUNT; i++)
        as_identities_free(&merge->identities[i]);
    for (int i = 0; i < AS_TABLE_COUNT; i++)
        free(merge->buffers[i].rows);
    void *arrays[] = {merge->meta.data,
                      merge->machine.data,
                      merge->environment.data,
                      merge->arguments.data,
                      merge->counters.data,
                      merge->quality.data,
                      merge->runs.data,
                      merge->recordings.data,
                      merge->threads.data,
                      merge->series.data,
                      merge->events.data,
                      merge->states.data,
                      merge->bases.data,
                      merge->stacks.data,
                      merge->estimates.data,
                      merge->object_addresses.data,
                      merge->functions_of.data,
                      merge->blocks_of.data,
                      merge->sums};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    as_str_free(&merge->inputs_text);
    as_vec_free(&merge->names);
    as_strings_free(merge->strings);
}

bool as_merge_into(const struct as_merge_input *inputs, size_t n, struct as_store_writer *writer,
                   const struct as_merge_options *options, struct as_error *err)
{
    struct as_merge merge = {.inputs = inputs,
                             .n = n,
                             .options = options,
                             .writer = writer,
                             .strings = as_strings_new(),
                             .main_module = AS_STORE_NONE};
    bool ok = find_denominator(&merge, err) && each_input(&merge, as_merge_about, err) &&
              as_merge_series_end(&merge, err) && write_all(&merge, err);
    free_merge(&merge);
    return ok;
}

bool as_merge(const struct as_merge_input *inputs, size_t n, const char *output, const struct as_merge_options *options,
              struct as_error *err)
{
    struct as_store_writer *writer = check_files(inputs, n, output, err) ? as_store_writer_open(output, err) : NULL;
    if (!writer)
        return false;
    bool ok = as_merge_into(inputs, n, writer, options, err);
    if (ok || as_store_writer_failed(writer)) /* commit reports what is wrong with the file */
        return as_store_writer_commit(writer, err);
    as_store_writer_abort(writer);
    return false;
}
