/* Arbitrary bytes as a recording: the reader finds out what it is. Everything that a sink gets is looked at, every
 * address resolved, and raw and AUX data go through their decoders. */
#include "perfdata/ibs_raw.h"
#include "perfdata/mem_source.h"
#include "perfdata/perf_spaces.h"
#include "perfdata/spe_packets.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sum;

static void touch(const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        sum += ((const uint8_t *)bytes)[i];
}

static bool on_record(void *context, const struct as_spe_record *record)
{
    struct as_str text = {0};
    as_spe_events_text(record->events, &text);
    as_spe_type_text(record, &text);
    sum += text.len + strlen(as_spe_source_name(record->source));
    as_str_free(&text);
    return true;
}

static void look_at_raw(const uint8_t *raw, size_t size)
{
    struct as_ibs_op op;
    struct as_ibs_fetch fetch;
    if (as_ibs_op_decode(raw, size, (struct as_ibs_cpu){25, 1}, &op))
        sum += strlen(as_ibs_source_name(op.source));
    if (as_ibs_fetch_decode(raw, size, (struct as_ibs_cpu){0}, &fetch))
        sum += fetch.latency;
}

static void look_at_words(const struct as_perf_sample *sample)
{
    struct as_str text = {0};
    as_mem_source_text(sample->data_src, &text);
    as_transaction_text(sample->transaction, &text);
    for (size_t i = 0; i < sample->n_branches; i++) {
        as_str_clear(&text);
        as_branch_text(&sample->branches[i], &text);
        sum += strlen(as_branch_type_name(&sample->branches[i]));
    }
    sum += text.len;
    as_str_free(&text);
}

static bool on_event(void *context, const struct as_perf_event *event, struct as_error *err)
{
    if (event->name == NULL)
        abort();
    return true;
}

static bool on_sample(void *context, const struct as_perf_sample *sample, struct as_error *err)
{
    struct as_perf_spaces *spaces = context;
    struct as_perf_location location;
    as_perf_spaces_find(spaces, sample->pid, sample->mode, sample->ip, &location);
    if (location.module == NULL || location.module_name == NULL || sample->event->name == NULL)
        abort();
    sum += strlen(as_perf_spaces_name(spaces, sample->pid, sample->mode, sample->addr));
    struct as_perf_data data;
    as_perf_spaces_data(spaces, sample->pid, sample->addr, &data);
    sum += strlen(data.file.module) + (data.variable != NULL ? strlen(data.variable) : 0);
    size_t at = 0;
    uint64_t ip, value;
    enum as_perf_mode mode = sample->mode;
    while (as_perf_chain_next(sample, &at, &ip, &mode))
        as_perf_spaces_find(spaces, sample->pid, mode, ip, &location);
    for (unsigned i = 0; i < 64; i++)
        sum += as_perf_reg(&sample->user_regs, i, &value) + as_perf_reg(&sample->intr_regs, i, &value);
    touch(sample->raw, sample->raw_size);
    touch(sample->stack, sample->stack_size);
    touch(sample->aux, sample->aux_size);
    touch(sample->values, sample->n_values * sizeof *sample->values);
    if (sample->branch_counters != NULL)
        touch(sample->branch_counters, sample->n_branches * 8);
    for (size_t i = 0; i < sample->n_frames; i++)
        sum += sample->frames[i].symbol != NULL ? strlen(sample->frames[i].symbol) : 0;
    look_at_raw(sample->raw, sample->raw_size);
    look_at_words(sample);
    return true;
}

static bool on_aux(void *context, const struct as_perf_aux *aux, struct as_error *err)
{
    struct as_spe_decoder decoder = {.sink = on_record};
    return as_spe_feed(&decoder, aux->data, aux->size, aux->offset);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct as_perf_sink sink = {.event = on_event,
                                             .build_id = as_perf_spaces_build_id,
                                             .process = as_perf_spaces_process,
                                             .ksymbol = as_perf_spaces_ksymbol,
                                             .sample = on_sample,
                                             .aux = on_aux};
    struct as_error err = AS_ERROR_INIT;
    struct as_perf_spaces *spaces = as_perf_spaces_new(&(struct as_perf_spaces_options){.no_debug = true});
    struct as_perf_reader *reader = as_perf_reader_memory(data, size, NULL, &err);
    bool ok = reader != NULL && as_perf_reader_run(reader, &sink, spaces, &err);
    if (!ok && (err.message[0] == '\0' || strchr(err.message, '\n') != NULL))
        abort();
    as_perf_reader_close(reader);
    as_perf_spaces_free(spaces);
    /* Trace data in two pieces, cut where the first byte says. */
    struct as_spe_decoder decoder = {.sink = on_record};
    size_t cut = size > 0 ? data[0] % (size + 1) : 0;
    as_spe_feed(&decoder, data, cut, 0);
    as_spe_feed(&decoder, data + cut, size - cut, cut);
    look_at_raw(data, size);
    return 0;
}
