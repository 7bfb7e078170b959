/* The options that every verb that runs a program in the engine shares. */
#ifndef AS_CMD_RUN_OPTIONS_H
#define AS_CMD_RUN_OPTIONS_H

#include "cmd/cli.h"
#include "core/memo.h"
#include "engine/engine.h"

struct as_run_options {
    const char *qemu, *from, *to;
    uint64_t window, skip, max;
    bool no_follow;
    int memo;                  /* enum as_run_memo; verbs that run programs in the model alone */
    uint64_t memo_size;        /* MiB */
    struct as_regions regions; /* what the options above ask for: as_run_options_settle */
};
#define AS_RUN_OPTIONS_DEFAULT                                                                                         \
    {                                                                                                                  \
        .window = 100000, .memo_size = AS_MEMO_BYTES >> 20                                                             \
    }

enum as_run_memo { AS_RUN_MEMO_ON, AS_RUN_MEMO_OFF, AS_RUN_MEMO_CHECK };
extern const char *const as_run_memo_choices[];

/* Entries for an option table; `member` is the struct as_run_options in the command's options struct. */
#define AS_RUN_OPTIONS(struct_type, run_member)                                                                        \
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
         .help = "Start when execution first reaches this function (NAME or MODULE:NAME)."},                           \
        {.name = "to",                                                                                                 \
         .type = AS_OPTION_STRING,                                                                                     \
         .offset = offsetof(struct_type, run_member.to),                                                               \
         .value = "SYMBOL",                                                                                            \
         .help = "Stop when execution then reaches this function, and end the program there."},                        \
        {.name = "window",                                                                                             \
         .type = AS_OPTION_U64,                                                                                        \
         .offset = offsetof(struct_type, run_member.window),                                                           \
         .value = "N",                                                                                                 \
         .help = "Let no thread run ahead of its process's slowest running thread by more than N instructions "        \
                 "(default 100k; 0: no limit)."},                                                                      \
        {.name = "no-follow",                                                                                          \
         .type = AS_OPTION_FLAG,                                                                                       \
         .offset = offsetof(struct_type, run_member.no_follow),                                                        \
         .help = "Do not trace programs that the program executes; they run natively. Forked children are always "     \
                 "traced."},                                                                                           \
    {                                                                                                                  \
        .name = "qemu", .type = AS_OPTION_STRING, .offset = offsetof(struct_type, run_member.qemu), .value = "FILE",   \
        .help = "The QEMU user-mode emulator to use (default: qemu-x86_64 or qemu-riscv64 on PATH)."                   \
    }

/* More of them, for verbs that run programs in the model. */
#define AS_MEMO_OPTIONS(struct_type, run_member)                                                                       \
    {.name = "memo",                                                                                                   \
     .type = AS_OPTION_CHOICE,                                                                                         \
     .offset = offsetof(struct_type, run_member.memo),                                                                 \
     .value = "on|off|check",                                                                                          \
     .choices = as_run_memo_choices,                                                                                   \
     .help = "Remember what the modelled pipeline did with each block (default on): faster, and the same results to "  \
             "the cycle. check: run it all the same, and stop with an error if anything differs."},                    \
    {                                                                                                                  \
        .name = "memo-size", .type = AS_OPTION_U64, .offset = offsetof(struct_type, run_member.memo_size),             \
        .value = "MIB", .min = 4, .max = 1 << 20, .help = "Use at most this much memory for that (default 512)."       \
    }

/* After parsing: makes the list of regions. The command frees the options in any case. */
bool as_run_options_settle(struct as_run_options *options, struct as_error *err) AS_MUST_CHECK;
void as_run_options_free(struct as_run_options *options);

struct as_memo_options as_run_memo_options(const struct as_run_options *options);
/* `options` must live as long as the engine. */
struct as_engine_options as_run_engine_options(const struct as_run_options *options, char **argv);
/* The part of the program that was asked for, in words; the caller frees. NULL: all of it. */
char *as_run_options_text(const struct as_run_options *run);

/* After a run: notes how it ended where that was not by itself. Returns the exit status of the command. */
int as_run_end_report(const struct as_run_end *end);
/* The same for a run in the engine, with notes about untraced programs, processes left and regions never reached. */
int as_run_report(const struct as_engine_result *result, const struct as_run_options *options);

#endif
