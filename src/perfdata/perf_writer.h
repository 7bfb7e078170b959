/* Writes recordings in perf's pipe mode: the reader's records the other way round. What is written can be read by the
 * reader, by `assay import` and by perf itself.
 *
 * Calls: new, event for each event, begin, then processes, samples and trace data in any order; end. Numbers are written
 * in the byte order of the machine, as perf does.
 */
#ifndef AS_PERFDATA_PERF_WRITER_H
#define AS_PERFDATA_PERF_WRITER_H

#include "perfdata/perfdata.h"

#include <stdio.h>

struct as_perf_writer;
struct as_perf_writer *as_perf_writer_new(FILE *out);

/* Fields that are used: name, pmu, type, config, period, precise, sample_type (with PERF_SAMPLE_IDENTIFIER),
 * branch_type. Strings must live until begin. Returns the event's index, by which samples refer to it. */
uint32_t as_perf_writer_event(struct as_perf_writer *writer, const struct as_perf_event *event);
/* Of `info`: arch, cpu, cpu_id and command; each may be NULL. */
void as_perf_writer_begin(struct as_perf_writer *writer, const struct as_perf_info *info);

void as_perf_writer_process(struct as_perf_writer *writer, const struct as_perf_process *process); /* MAP, COMM */
/* The fields that the event's sample_type names, of those up to DATA_SRC; `event` is not looked at. */
void as_perf_writer_sample(struct as_perf_writer *writer, uint32_t event, const struct as_perf_sample *sample);
/* Trace data of SPE, all of it. */
void as_perf_writer_spe(struct as_perf_writer *writer, const void *bytes, size_t size);

/* Frees the writer. False: the file could not be written. */
bool as_perf_writer_end(struct as_perf_writer *writer) AS_MUST_CHECK;

#endif
