/* The options shared by all verbs that run a program in the engine. */
#ifndef AS_CMD_RUN_OPTIONS_H
#define AS_CMD_RUN_OPTIONS_H

#include "cmd/cli.h"
#include "core/memo.h"
#include "engine/engine.h"

#include <math.h>

struct as_run_options {
    const char *qemu, *from, *to, *warm, *region_file, *switch_signal;
    uint64_t window, skip, max;
    double delay; /* seconds; NAN: not given */
    struct as_strlist region;
    bool no_follow, count_rest;
    const char *environment; /* names of variables that the program gets; NULL: all. Only for verbs with the option */
    char **variables;        /* these; NULL: Assay's own: as_run_options_settle */
    int memo;                /* enum as_run_memo; only for verbs that run programs in the model */
    uint64_t memo_size;      /* MiB */
    uint64_t quantum;        /* cycles; for the same verbs */
    bool deterministic;
    struct as_regions regions; /* the regions that follow from the options above: as_run_options_settle */
};
#define AS_RUN_OPTIONS_DEFAULT                                                                                         \
    {                                                                                                                  \
        .window = 100000, .delay = NAN, .memo_size = AS_MEMO_BYTES >> 20, .quantum = 10000                             \
    }

enum as_run_memo { AS_RUN_MEMO_ON, AS_RUN_MEMO_OFF, AS_RUN_MEMO_CHECK };
extern const char *const as_run_memo_choices[];

/* Entries for an option table; `run_member` is the struct as_run_options in the command's options struct. AS_RUN_OPTIONS are all
 * of them. A verb without a model has no cycles and nothing to warm: AS_RUN_UNTIMED_OPTIONS, or AS_RUN_PLACES and
 * AS_RUN_WAYS. */
#define AS_RUN_TIMED_HELP                                                                                              \
    "A part of the run to measure, as in assay-regions(5): an instruction count, a function, an address, a marker, a " \
    "cycle, 'signal' or 'delay:SECONDS' on each side, and warm=N, weight=W and so on after it. May be given several "  \
    "times."
#define AS_RUN_UNTIMED_HELP                                                                                            \
    "A part of the run to measure, as in assay-regions(5): an instruction count, a function, an address, a marker, "   \
    "'signal' or 'delay:SECONDS' on each side, and max=N or repeat after it. May be given several times."
#define AS_RUN_PLACES(struct_type, run_member) AS_RUN_PLACES_OF(struct_type, run_member, AS_RUN_UNTIMED_HELP)
#define AS_RUN_PLACES_OF(struct_type, run_member, region_help)                                                         \
    {.name = "skip",                                                                                                   \
     .type = AS_OPTION_U64,                                                                                            \
     .offset = offsetof(struct_type, run_member.skip),                                                                 \
     .value = "N",                                                                                                     \
     .help = "Leave out the first N instructions (after --from, if given)."},                                          \
        {.name = "max",                                                                                                \
         .type = AS_OPTION_U64,                                                                                        \
         .offset = offsetof(struct_type, run_member.max),                                                              \
         .value = "N",                                                                                                 \
         .min = 1,                                                                                                     \
         .help = "Stop after N instructions and end the program there."},                                              \
        {.name = "from",                                                                                               \
         .type = AS_OPTION_STRING,                                                                                     \
         .offset = offsetof(struct_type, run_member.from),                                                             \
         .value = "SYMBOL",                                                                                            \
         .help = "Start when execution first reaches this function (NAME or MODULE:NAME; of C++ also without its "     \
                 "namespace)."},                                                                                       \
        {.name = "to",                                                                                                 \
         .type = AS_OPTION_STRING,                                                                                     \
         .offset = offsetof(struct_type, run_member.to),                                                               \
         .value = "SYMBOL",                                                                                            \
         .help = "Stop when execution then reaches this function, and end the program there."},                        \
        {.name = "region",                                                                                             \
         .type = AS_OPTION_LIST,                                                                                       \
         .offset = offsetof(struct_type, run_member.region),                                                           \
         .value = "START..STOP[,...]",                                                                                 \
         .help = region_help},                                                                                         \
    {                                                                                                                  \
        .name = "regions", .type = AS_OPTION_STRING, .offset = offsetof(struct_type, run_member.region_file),          \
        .value = "FILE", .help = "Take the regions from a file."                                                       \
    }
#define AS_RUN_WARM(struct_type, run_member)                                                                           \
    {                                                                                                                  \
        .name = "warm", .type = AS_OPTION_STRING, .offset = offsetof(struct_type, run_member.warm), .value = "N",      \
        .help = "Warm caches, TLBs and predictors of the model with the N instructions before the region, or with "    \
                "'all' of them."                                                                                       \
    }
#define AS_RUN_TRACING(struct_type, run_member)                                                                        \
    {.name = "window",                                                                                                 \
     .type = AS_OPTION_U64,                                                                                            \
     .offset = offsetof(struct_type, run_member.window),                                                               \
     .value = "N",                                                                                                     \
     .help = "Let no thread run ahead of its process's slowest running thread by more than N instructions "            \
             "(default 100k; 0: no limit)."},                                                                          \
        {.name = "no-follow",                                                                                          \
         .type = AS_OPTION_FLAG,                                                                                       \
         .offset = offsetof(struct_type, run_member.no_follow),                                                        \
         .help = "Do not trace programs that the program executes; they run natively. Forked children are always "     \
                 "traced."},                                                                                           \
    {                                                                                                                  \
        .name = "qemu", .type = AS_OPTION_STRING, .offset = offsetof(struct_type, run_member.qemu), .value = "FILE",   \
        .help = "The QEMU user-mode emulator to use (default: qemu-x86_64 or qemu-riscv64 on PATH)."                   \
    }
#define AS_RUN_WAYS(struct_type, run_member)                                                                           \
    {.name = "delay",                                                                                                  \
     .type = AS_OPTION_DOUBLE,                                                                                         \
     .offset = offsetof(struct_type, run_member.delay),                                                                \
     .value = "SECONDS",                                                                                               \
     .help = "Start this many seconds after the program."},                                                            \
        {.name = "switch-signal",                                                                                      \
         .type = AS_OPTION_STRING,                                                                                     \
         .offset = offsetof(struct_type, run_member.switch_signal),                                                    \
         .value = "SIGNAL",                                                                                            \
         .help = "Start when Assay is sent this signal (USR2, say), stop at the next one, and so on."},                \
        AS_RUN_TRACING(struct_type, run_member)
#define AS_RUN_OPTIONS(struct_type, run_member)                                                                        \
    AS_RUN_PLACES_OF(struct_type, run_member, AS_RUN_TIMED_HELP), AS_RUN_WARM(struct_type, run_member),                \
        AS_RUN_WAYS(struct_type, run_member)
#define AS_RUN_UNTIMED_OPTIONS(struct_type, run_member)                                                                \
    AS_RUN_PLACES(struct_type, run_member), AS_RUN_WAYS(struct_type, run_member)

/* More entries, for verbs that run programs in the model. */
/* For verbs whose counts are compared with those of other runs. */
#define AS_ENVIRONMENT_OPTION(struct_type, run_member)                                                                 \
    {                                                                                                                  \
        .name = "environment", .type = AS_OPTION_STRING, .offset = offsetof(struct_type, run_member.environment),      \
        .value = "NAMES",                                                                                              \
        .help = "Give the program only these variables, separated by commas ('none': none of them), and start its "    \
                "stack at the same address whatever their sizes and the length of its path are: counts then do not "   \
                "depend on who runs it, and where, unless the program itself looks."                                   \
    }

#define AS_MEMO_OPTIONS(struct_type, run_member)                                                                       \
    {.name = "memo",                                                                                                   \
     .type = AS_OPTION_CHOICE,                                                                                         \
     .offset = offsetof(struct_type, run_member.memo),                                                                 \
     .value = "on|off|check",                                                                                          \
     .choices = as_run_memo_choices,                                                                                   \
     .help = "Remember what the modelled pipeline did with each block (default on): faster, and the same results to "  \
             "the cycle. check: run the pipeline anyway, and stop with an error if anything differs."},                \
        {.name = "quantum",                                                                                            \
         .type = AS_OPTION_U64,                                                                                        \
         .offset = offsetof(struct_type, run_member.quantum),                                                          \
         .value = "CYCLES",                                                                                            \
         .max = 100000000,                                                                                             \
         .help = "Let the simulated times of threads differ by no more than this (default 10k; 0: no limit but "       \
                 "--window)."},                                                                                        \
        {.name = "deterministic",                                                                                      \
         .type = AS_OPTION_FLAG,                                                                                       \
         .offset = offsetof(struct_type, run_member.deterministic),                                                    \
         .help = "Let threads execute one at a time, in a fixed order: a threaded program then gives the same "        \
                 "result in every run, to the cycle. They meet less often at locks than they would."},                 \
    {                                                                                                                  \
        .name = "memo-size", .type = AS_OPTION_U64, .offset = offsetof(struct_type, run_member.memo_size),             \
        .value = "MIB", .min = 3, .max = 1 << 20, .help = "The most memory that --memo may use, in MiB (default 512)." \
    }

/* Call this after parsing: makes the list of regions. The command frees the options in any case. */
bool as_run_options_settle(struct as_run_options *options, struct as_error *err) AS_MUST_CHECK;
/* The same for commands without a model: also refuses points that are cycles, warming, modes and, unless `weights`,
 * weights. */
bool as_run_options_settle_untimed(struct as_run_options *options, bool weights, struct as_error *err) AS_MUST_CHECK;
/* Call this after settling, for a command that counts all regions alike. */
bool as_run_refuse_weights(const struct as_run_options *options, struct as_error *err) AS_MUST_CHECK;
void as_run_options_free(struct as_run_options *options);

struct as_memo_options as_run_memo_options(const struct as_run_options *options);
/* `options` must live as long as the engine. */
struct as_engine_options as_run_engine_options(const struct as_run_options *options, char **argv);
/* The requested part of the program, in words; the caller frees. NULL: all of it. */
char *as_run_options_text(const struct as_run_options *run);

/* Call this after a run: prints a note if the program did not end by itself. Returns the exit status of the command. */
int as_run_end_report(const struct as_run_end *end);
/* The same for a run in the engine, with notes about untraced programs, remaining processes and regions never
 * reached. */
int as_run_report(const struct as_engine_result *result, const struct as_run_options *options);

/* The name of an option of these that was given; NULL: none was. For verbs that have them in the model alone. */
const char *as_run_options_given(const struct as_run_options *options);

/* The value of an option for warming: a number of instructions, or "all". */
bool as_run_read_warm(const char *option, const char *text, uint64_t *warm, struct as_error *err) AS_MUST_CHECK;

#endif
