/* A recording of perf as samples of blocks: reads it once, in memory that follows the code and not the recording.
 *
 * Files must be the ones that were recorded: by build-id, or where the recording has none by inode, as for `assay import`.
 * What is in another file is refused, module by module, with the reason.
 */
#ifndef AS_BLOCKS_RECORDING_H
#define AS_BLOCKS_RECORDING_H

#include "blocks/counted.h"
#include "blocks/samples.h"
#include "perfdata/perf_spaces.h"

struct as_recording_options {
    struct as_perf_spaces_options spaces;
    const char *event; /* its name, or a part of it; of several, and for NULL, the one with most samples */
    bool drop_oldest;
};

struct as_recording_refused {
    const char *path, *why;
    uint64_t samples; /* addresses of samples, ends of branches and runs, each different one once */
};
typedef AS_VEC(struct as_recording_refused) as_recording_refusals;

struct as_recording {
    struct as_samples *samples;
    struct as_cfg *cfg;         /* built */
    char event[128], unit[128]; /* unit: of its periods, as a profile of the recording has it */
    enum as_counted counted;
    uint64_t period; /* 0: by frequency */
    unsigned precise;
    bool round_period; /* a multiple of 1000, or of a power of two from 1024 on: loops can run in step with it */
    uint64_t kernel;   /* samples that were left out: not of user code */
    uint64_t others;   /* … of other events */
    uint64_t lost;     /* … that perf lost */
    as_recording_refusals refused;
    struct as_strings *strings;
    bool text;         /* of perf script, which does not say where code lies in files */
    char problem[256]; /* of the file: it ends early, say; "" */
};

bool as_recording_read(struct as_recording *recording, const char *path, const struct as_recording_options *options,
                       struct as_error *err) AS_MUST_CHECK;
void as_recording_free(struct as_recording *recording);

#endif
