/* What the threads of a run in the model waited for: lines that another core had (core/transfer.h), added up by both sides'
 * threads and instructions, line and kind, and written as the profile's table `waits`. */
#ifndef AS_RECORD_WAITS_H
#define AS_RECORD_WAITS_H

#include "record/record_code.h"
#include "record/record_threads.h"

struct as_record_waits;
/* Before the run: it is told of transfers, and of what memory the program asks for. */
struct as_record_waits *as_record_waits_new(struct as_model *model);
/* Behind the run, when the threads and the series are in the profile. Times are in 1/scale cycles. */
void as_record_waits_add(struct as_record_waits *waits, struct as_record_code *code,
                         const struct as_record_threads *threads, uint32_t series, uint64_t scale);
void as_record_waits_free(struct as_record_waits *waits);

#endif
