/* Writes recordings in perf's pipe mode: the inverse of the reader. The reader, `assay import` and perf itself can read
 * the result.
 *
 * Calls: new, event for each event, begin, then processes, samples and trace data in any order; end. Numbers are
 * written in the byte order of the machine, as perf does.
 */
#ifndef AS_PERFDATA_PERF_WRITER_H
#define AS_PERFDATA_PERF_WRITER_H

#include "perfdata/perfdata.h"

#include <stdio.h>

struct as_perf_writer;
struct as_perf_writer *as_perf_writer_new(FILE *out);

/* Uses these fields: name, pmu, type, config, period, precise, sample_type (with PERF_SAMPLE_IDENTIFIER), branch_type.
 * Strings must live until begin. Returns the event's index, by which samples refer to it. */
uint32_t as_perf_writer_event(struct as_perf_writer *writer, const struct as_perf_event *event);
/* Uses these fields of `info`: arch, cpu, cpu_id and command; each may be NULL. */
void as_perf_writer_begin(struct as_perf_writer *writer, const struct as_perf_info *info);

void as_perf_writer_process(struct as_perf_writer *writer, const struct as_perf_process *process); /* MAP, COMM */
/* Writes the fields that the event's sample_type names, up to DATA_SRC; `event` of the sample is ignored. */
void as_perf_writer_sample(struct as_perf_writer *writer, uint32_t event, const struct as_perf_sample *sample);
/* Writes all trace data of SPE. */
void as_perf_writer_spe(struct as_perf_writer *writer, const void *bytes, size_t size);

/* Frees the writer. Returns false if the file could not be written. */
bool as_perf_writer_end(struct as_perf_writer *writer) AS_MUST_CHECK;

#endif
