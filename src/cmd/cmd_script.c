/* assay script: prints the record stream as text, for reading and for tests. */
#include "base/json.h"
#include "base/log.h"
#include "base/split.h"
#include "base/str.h"
#include "cmd/commands.h"
#include "cmd/output.h"
#include "cmd/run_options.h"
#include "cmd/shared_options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct script_options {
    struct as_run_options run;
    bool json;
    const char *output, *symbol, *classes;
    uint64_t thread;
};

static const struct as_option options_table[] = {
    AS_JSON_OPTION(
        struct script_options, json,
        "Print one JSON document with an array of records; the program's own standard output then goes to standard "
        "error."),
    AS_OUTPUT_OPTION(struct script_options, output,
                     "Write to FILE; the program's standard output and error are left alone."),
    {.name = "thread",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct script_options, thread),
     .value = "N",
     .min = 1,
     .help = "Only the records of thread N (threads are numbered from 1 in order of appearance)."},
    {.name = "symbol",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct script_options, symbol),
     .value = "NAME",
     .help = "Only the instructions of the function NAME."},
    {.name = "class",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct script_options, classes),
     .value = "LIST",
     .help = "Only instructions of these classes, separated by commas (load, store, branch, call, …: the names that "
             "'assay stat' shows)."},
    AS_RUN_UNTIMED_OPTIONS(struct script_options, run),
    {.name = NULL},
};

struct script {
    const struct script_options *options;
    uint32_t class_mask; /* 0: all */
    uint64_t matched;    /* number of instructions printed */
    struct as_output output;
    FILE *out;            /* output.file */
    struct as_json *json; /* NULL: text */
};

static const char *kind_name(uint8_t kind)
{
    switch (kind) {
    case AS_ACCESS_LOAD:
        return "load";
    case AS_ACCESS_STORE:
        return "store";
    case AS_ACCESS_PREFETCH:
        return "prefetch";
    case AS_ACCESS_FLUSH:
        return "flush";
    default:
        return "atomic";
    }
}

static bool wants_thread(const struct script *script, const struct as_thread *thread)
{
    return !script->options->thread || script->options->thread == thread->number;
}

static bool wants_insn(const struct script *script, const struct as_insn *insn, const struct as_location *location)
{
    const char *symbol = script->options->symbol;
    if (script->class_mask && !(script->class_mask >> insn->class_ & 1))
        return false;
    return !symbol || (location->function && strcmp(symbol, location->function) == 0) ||
           (location->raw_function && strcmp(symbol, location->raw_function) == 0);
}

struct executed {
    const struct as_thread *thread;
    const struct as_block_exec *exec;
    const struct as_insn *insn;
    uint32_t index;
    struct as_location location;
    const struct as_access *accesses;
    size_t n_accesses;
};

/* Whether to print where control went: for the last instruction of the execution, if it is a control transfer. */
static bool has_outcome(const struct executed *done)
{
    return done->index == done->exec->end - 1 && as_insn_is_control(done->insn) && done->exec->next;
}

static void print_insn_text(const struct script *script, const struct executed *done)
{
    char text[160], place[320];
    const struct as_location *location = &done->location;
    bool goes_on = done->exec->continues && done->index == done->exec->first;
    if (location->function)
        snprintf(place, sizeof place, "%.200s+0x%" PRIx64, location->function,
                 done->insn->address - location->function_start);
    else
        snprintf(place, sizeof place, "%.200s+0x%" PRIx64, location->module_name, location->module_offset);
    fprintf(script->out, "%u %016" PRIx64 " %-28s %s%s", done->thread->number, done->insn->address, place,
            goes_on ? "… " : "", as_insn_text(done->insn, text, sizeof text));
    for (size_t i = 0; i < done->n_accesses; i++)
        fprintf(script->out, "  %s 0x%" PRIx64 " %u", kind_name(done->accesses[i].kind), done->accesses[i].address,
                done->accesses[i].size);
    if (has_outcome(done))
        fprintf(script->out, "  -> 0x%" PRIx64 "%s", done->exec->next, done->exec->taken ? "" : " not taken");
    fputc('\n', script->out);
}

static void print_insn_json(const struct script *script, const struct executed *done)
{
    char text[160];
    struct as_json *json = script->json;
    as_json_object(json, NULL);
    as_json_string(json, "record", "instruction");
    as_json_u64(json, "thread", done->thread->number);
    as_json_address(json, "address", done->insn->address);
    as_json_string(json, "module", done->location.module);
    as_json_string(json, "function", done->location.function);
    as_json_string(json, "class", as_class_name((enum as_class)done->insn->class_));
    as_json_string(json, "text", as_insn_text(done->insn, text, sizeof text));
    if (done->exec->continues && done->index == done->exec->first)
        as_json_bool(json, "continues", true);
    if (done->n_accesses)
        as_json_array(json, "accesses");
    for (size_t i = 0; i < done->n_accesses; i++) {
        as_json_object(json, NULL);
        as_json_string(json, "kind", kind_name(done->accesses[i].kind));
        as_json_address(json, "address", done->accesses[i].address);
        as_json_u64(json, "size", done->accesses[i].size);
        as_json_end(json);
    }
    if (done->n_accesses)
        as_json_end(json);
    if (has_outcome(done)) {
        as_json_address(json, "next", done->exec->next);
        as_json_bool(json, "taken", done->exec->taken);
    }
    as_json_end(json);
}

static void on_block(void *context, struct as_thread *thread, const struct as_block_exec *exec)
{
    struct script *script = context;
    enum { MOST = 4096 };
    static struct as_access accesses[MOST];
    struct as_accesses all = as_accesses_of(exec);
    struct as_access next;
    bool has_next = as_accesses_next(&all, &next);
    if (!wants_thread(script, thread))
        return;
    for (uint32_t i = exec->first; i < exec->end; i++) {
        struct executed done = {.thread = thread, .exec = exec, .insn = exec->block->insns[i], .index = i};
        for (; has_next && next.index == i; has_next = as_accesses_next(&all, &next))
            if (done.n_accesses < MOST)
                accesses[done.n_accesses++] = next;
        done.accesses = accesses;
        as_space_find(thread->image->space, done.insn->address, &done.location);
        if (!wants_insn(script, done.insn, &done.location))
            continue;
        script->matched++;
        if (script->json)
            print_insn_json(script, &done);
        else
            print_insn_text(script, &done);
    }
}

/* Whether to print records other than instructions: not if the user asked for certain instructions only. */
static bool wants_event(const struct script *script, const struct as_thread *thread)
{
    return wants_thread(script, thread) && !script->class_mask && !script->options->symbol;
}

/* Begins a JSON record, or a line of text, of an event. */
static void begin_event(const struct script *script, const struct as_thread *thread, const char *name)
{
    if (!script->json) {
        fprintf(script->out, "%u %s", thread->number, name);
        return;
    }
    as_json_object(script->json, NULL);
    as_json_string(script->json, "record", name);
    as_json_u64(script->json, "thread", thread->number);
}

static void add_number(const struct script *script, const char *name, uint64_t value)
{
    if (script->json)
        as_json_u64(script->json, name, value);
    else
        fprintf(script->out, " %s %" PRIu64, name, value);
}

static void add_address(const struct script *script, const char *name, uint64_t value)
{
    if (script->json)
        as_json_address(script->json, name, value);
    else
        fprintf(script->out, " %s 0x%" PRIx64, name, value);
}

static void end_event(const struct script *script)
{
    if (script->json)
        as_json_end(script->json);
    else
        fputc('\n', script->out);
}

static void on_thread_start(void *context, struct as_thread *thread)
{
    const struct script *script = context;
    if (!wants_event(script, thread))
        return;
    begin_event(script, thread, "start");
    add_number(script, "process", thread->process);
    if (thread->parent)
        add_number(script, "forked_by", thread->parent);
    end_event(script);
}

static void on_thread_end(void *context, struct as_thread *thread)
{
    const struct script *script = context;
    if (!wants_event(script, thread))
        return;
    begin_event(script, thread, "end");
    end_event(script);
}

static void on_syscall(void *context, struct as_thread *thread, uint32_t number, const uint64_t args[6])
{
    static const char *const names[] = {"a1", "a2", "a3", "a4", "a5", "a6"};
    const struct script *script = context;
    if (!wants_event(script, thread))
        return;
    begin_event(script, thread, "syscall");
    add_number(script, "number", number);
    for (size_t i = 0; i < 6; i++)
        add_address(script, names[i], args[i]);
    end_event(script);
}

static void on_syscall_return(void *context, struct as_thread *thread, uint32_t number, int64_t result)
{
    const struct script *script = context;
    if (!wants_event(script, thread))
        return;
    begin_event(script, thread, "return");
    add_number(script, "number", number);
    add_address(script, "result", (uint64_t)result);
    end_event(script);
}

static void on_signal(void *context, struct as_thread *thread, uint32_t number, uint64_t interrupted)
{
    const struct script *script = context;
    if (!wants_event(script, thread))
        return;
    begin_event(script, thread, "signal");
    add_number(script, "number", number);
    add_address(script, "interrupted", interrupted);
    end_event(script);
}

static const struct as_sink sink = {
    .thread_start = on_thread_start,
    .thread_end = on_thread_end,
    .block = on_block,
    .syscall = on_syscall,
    .syscall_return = on_syscall_return,
    .signal = on_signal,
};

static bool parse_classes(const char *list, uint32_t *mask, struct as_error *err)
{
    char **names = as_split(list ? list : "", ",", NULL);
    bool ok = true;
    for (char **name = names; *name && ok; name++) {
        enum as_class class_;
        ok = as_class_from_name(*name, &class_) || as_error_set(err, "unknown class '%s'", *name);
        *mask |= ok ? 1u << class_ : 0;
    }
    as_split_free(names);
    return ok;
}

static int finish_output(struct script *script)
{
    struct as_error err = AS_ERROR_INIT;
    if (script->json) {
        as_json_end(script->json);
        as_json_end(script->json);
        if (!as_json_finish(script->json) && !script->output.path)
            return as_cli_stdout_failed();
    }
    return as_output_finish(&script->output, &err) ? AS_EXIT_OK : as_cli_fail(&as_command_script, &err);
}

static int run_program(struct script *script, char **argv)
{
    const struct script_options *options = script->options;
    struct as_error err = AS_ERROR_INIT;
    struct as_engine_result result;
    struct as_engine *engine = NULL;
    struct as_engine_options engine_options = as_run_engine_options(&options->run, argv);
    engine_options.stdout_to_stderr = options->json && !options->output;
    if (!as_output_open(&script->output, options->output, &err) || !(engine = as_engine_start(&engine_options, &err))) {
        as_output_drop(&script->output);
        return as_cli_fail(&as_command_script, &err);
    }
    script->out = script->output.file;
    if (options->json) {
        script->json = as_json_new(script->out);
        as_json_object(script->json, NULL);
        as_json_array(script->json, "records");
    }
    bool ok = as_engine_run(engine, &sink, script, &result, &err);
    int failed = finish_output(script);
    int status = ok ? as_run_report(&result, &options->run) : as_cli_fail(&as_command_script, &err);
    if (options->symbol && ok && script->matched == 0)
        as_log_warn("no instruction of '%s' was executed", options->symbol);
    as_engine_free(engine);
    return failed ? failed : status;
}

static int run_script(int argc, char **argv)
{
    struct script_options options = {.run = AS_RUN_OPTIONS_DEFAULT};
    struct script script = {.options = &options};
    struct as_error err = AS_ERROR_INIT;
    int rest;
    enum as_parse parsed = as_cli_parse(&as_command_script, argc, argv, &options, &rest);
    if (parsed != AS_PARSE_OK)
        return parsed == AS_PARSE_HELP ? AS_EXIT_OK : AS_EXIT_USAGE;
    options.output = as_output_name(options.output);
    if (rest >= argc)
        return as_cli_usage(&as_command_script, "no program given");
    if (!parse_classes(options.classes, &script.class_mask, &err))
        return as_cli_usage(&as_command_script, "%s", err.message);
    int status = as_run_options_settle_untimed(&options.run, false, &err) ? run_program(&script, argv + rest)
                                                                          : as_cli_fail(&as_command_script, &err);
    as_run_options_free(&options.run);
    return status;
}

const struct as_command as_command_script = {
    .name = "script",
    .summary = "Everything a program executed, record by record",
    .usage = "[options] [--] PROGRAM [ARGS…]",
    .description =
        "Runs the program in QEMU's user mode and prints one line for each executed instruction: thread, address, "
        "place, disassembly, its data accesses (kind, address, bytes) and, for a control transfer, where it went; and "
        "lines for thread starts and ends, system calls and signals. An instruction with a rep prefix has one line "
        "for each iteration; those after the first are marked with '…'. This is a lot of text: use --from, --max and "
        "the filters.",
    .options = options_table,
    .examples = "assay script --from main --max 50 -- ./prog\n"
                "assay script --symbol hot --class load,store -o accesses.txt -- ./prog\n",
    .run = run_script,
};
