/* A modelled sampling unit as a source of profiles: the program runs in the model, the unit's samples become perf
 * records, and the import makes a profile of them as of any recording (import.h). So report, annotate and export show
 * what they would show for the real unit. See record.h.
 */
#ifndef AS_RECORD_UNIT_H
#define AS_RECORD_UNIT_H

#include "base/map.h"
#include "model/guest_memory.h"
#include "perfdata/perf_writer.h"
#include "pmu/pmu_stream.h"
#include "pmu/pmu_truth.h"
#include "record/modelled.h"
#include "record/record_internal.h"

#define AS_RECORD_UNIT_PREFIX "pmu:"

struct as_unit_sample {
    struct as_pmu_sample sample; /* without its branches: */
    size_t first_branch;
};

/* Code that the program made, as it was when a sample saw it: unit_made.c. */
struct as_unit_sight {
    uint32_t image;
    uint64_t address, time;
    const struct as_jit_piece *piece;
};
struct as_unit_made {
    const struct as_engine *engine;
    AS_VEC(struct as_unit_sight) sights; /* by image, address and time, once they are sorted */
    AS_VEC(struct as_unit_sight) turns;  /* by time: sights of another piece than the one before */
    bool sorted;
    struct as_map pieces; /* by instruction: a pointer, and 1 for code that is not made or has no name */
};

struct as_unit_run {
    struct as_pmu pmu;
    struct as_pmu_request request;
    struct as_pmu_stream *stream; /* the fan-out frees it */
    struct as_pmu_truth *truth;   /* likewise; NULL: no event has one */
    struct as_guest_memory *memory;
    AS_VEC(struct as_unit_sample) samples;
    AS_VEC(struct as_pmu_branch) branches;
};

/* Reads the options. */
bool as_unit_plan(struct as_unit_run *run, const struct as_record_options *options, struct as_error *err) AS_MUST_CHECK;
void as_unit_free(struct as_unit_run *run);

/* Writes the samples as a perf recording: unit_recording.c. Returns false if it could not be written. `made` gets the code that
 * the program made, which the recording can only tell by its address. */
bool as_unit_write(const struct as_unit_run *run, const struct as_modelled *modelled, const char *command,
                   struct as_unit_made *made, FILE *out, struct as_error *err) AS_MUST_CHECK;

/* A sample at `time` has an address that belongs to an instruction. */
void as_unit_made_add(struct as_unit_made *made, uint32_t insn, uint64_t address, uint64_t time);
/* as_perf_made.find, with the number of an image as the process. Addresses that no sample has, as those of recorded branches,
 * are named by what samples saw around them shortly before, or by what was there last. */
bool as_unit_made_find(void *made, uint32_t image, uint64_t address, uint64_t time, struct as_jit_piece *piece);
void as_unit_made_free(struct as_unit_made *made);

/* The number of the image that a sample is of. */
uint32_t as_unit_image(const struct as_modelled *modelled, const struct as_pmu_sample *sample);
/* Writes mappings of data that samples lie in: unit_memory.c. */
void as_unit_write_memory(const struct as_unit_run *run, const struct as_modelled *modelled,
                          struct as_perf_writer *writer);

/* How far the samples are from what happened: unit_errors.c. Call watch before the run, to observe what happens, and
 * add_errors after it, to add the series' errors by instruction, block and function. */
bool as_unit_watch(struct as_unit_run *run, struct as_modelled *modelled, struct as_error *err) AS_MUST_CHECK;
void as_unit_add_errors(const struct as_unit_run *run, const struct as_modelled *modelled,
                        struct as_store_writer *writer);

/* Encodes one sample as its unit would: unit_encode.c. */
uint64_t as_unit_data_source(const struct as_pmu_sample *sample); /* PERF_SAMPLE_DATA_SRC */
enum { AS_UNIT_RAW_MAX = 4 + 8 * 8 };
/* Writes the registers of IBS as the kernel does; returns the number of bytes. */
size_t as_unit_ibs_op(const struct as_pmu_sample *sample, bool counts_ops, uint8_t raw[AS_UNIT_RAW_MAX]);
size_t as_unit_tea(const struct as_pmu_sample *sample, uint8_t raw[AS_UNIT_RAW_MAX]);
size_t as_unit_ibs_fetch(const struct as_pmu_sample *sample, bool random, uint8_t raw[AS_UNIT_RAW_MAX]);
void as_unit_spe(const struct as_pmu_sample *sample, struct as_str *packets); /* adds a record */

#endif
