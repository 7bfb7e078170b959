/* The options of `assay blocks`, and what its parts share: a run in the engine (cmd_blocks.c), a recording
 * (blocks_recording.c), a profile (blocks_profile.c), a run in the model with all ways of sampling (blocks_methods.c). */
#ifndef AS_CMD_BLOCKS_OPTIONS_H
#define AS_CMD_BLOCKS_OPTIONS_H

#include "cmd/blocks_show.h"
#include "cmd/output.h"
#include "cmd/run_options.h"

struct as_blocks_options {
    struct as_run_options run;
    bool json, csv, never;
    const char *output, *module, *function;
    uint64_t blocks, functions, loops, traces;
    int for_; /* enum as_blocks_for */
    /* recordings */
    int method; /* at most 0: by what the recording has; else enum as_method + 1 */
    bool balance, drop_oldest, trust_paths;
    const char *event, *symfs, *debug_path;
    /* ways of sampling */
    bool methods;
    const char *core, *pmu;
    struct as_strlist set;
    uint64_t period, skid, seed;
};

/* Writes what the options ask for; returns the exit status. */
int as_blocks_write(const struct as_blocks_options *options, struct as_blocks_shown *shown, struct as_output *output);

int as_blocks_profile(const struct as_blocks_options *options, const char *path);
int as_blocks_recording(const struct as_blocks_options *options, const char *path);
int as_blocks_methods(const struct as_blocks_options *options, char **argv);

#endif
