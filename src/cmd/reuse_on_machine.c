/* See reuse_on_machine.h. */
#include "cmd/reuse_on_machine.h"

#include "base/log.h"
#include "cmd/output.h"
#include "cmd/reuse_html.h"
#include "cmd/run_options.h"
#include "engine/program.h"

#include <stdlib.h>
#include <string.h>

enum { MUCH = 4 };
enum { SHIFT = 3 }; /* a debug register watches eight bytes */

static bool print(const struct as_reuse_machine_request *request, const struct as_reuse_shown *shown, FILE *out)
{
    switch (request->format) {
    case AS_REUSE_JSON:
        return as_reuse_show_json(shown, out);
    case AS_REUSE_CSV:
        as_reuse_show_csv(shown, out);
        return true;
    case AS_REUSE_HTML:
        as_reuse_show_html(shown, out);
        return true;
    default:
        as_reuse_show_text(shown, out);
        return true;
    }
}

static void warn_about(const struct as_reuse_native_info *info)
{
    if (info->refused)
        as_log_warn("the kernel refused %llu watchpoints (%s): long distances are missing",
                    (unsigned long long)info->refused, strerror(info->refusal));
    if (info->how == AS_LENS_ASSUMED)
        as_log_warn("no rate of accesses could be measured; long distances, and the number of accesses, assume one a "
                    "nanosecond");
    else if (as_reuse_native_off(info) > MUCH)
        as_log_warn(
            "how fast the program is with warm caches could not be measured: it made %llu to %llu accesses, and "
            "distances that are timed may be off as much",
            (unsigned long long)info->least, (unsigned long long)info->most);
}

static int show(const struct as_reuse_machine_request *request, const struct as_reuse_native *native, char **argv,
                struct as_output *output)
{
    struct as_error err = AS_ERROR_INIT;
    const struct as_reuse_native_info *info = as_reuse_native_info(native);
    struct as_reuse_options analysis = {.shape = {.shift = SHIFT}};
    struct as_reuse_estimate *estimate = as_reuse_estimate_new(as_reuse_native_watch(native), info->accesses, NULL);
    struct as_reuse_shown shown = {.argv = argv,
                                   .threads = info->threads,
                                   .seconds = info->seconds,
                                   .exit_status = info->end.exit_status,
                                   .options = &analysis,
                                   .names = as_reuse_native_names(native),
                                   .native = info,
                                   .estimate = estimate,
                                   .shared = request->native.watch.mode == AS_WATCH_CACHE,
                                   .watched_bytes = 1 << SHIFT,
                                   .top = request->top};
    shown.n_host = as_host_caches_read("/sys", shown.host);
    warn_about(info);
    bool written = print(request, &shown, output->file);
    as_reuse_estimate_free(estimate);
    if (!written && !output->path)
        return as_cli_stdout_failed();
    return as_output_finish(output, &err) ? AS_EXIT_OK : as_cli_fail(request->command, &err);
}

int as_reuse_on_machine(struct as_reuse_machine_request *request, char **argv)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_output output = {0};
    char text[32], *attached[] = {text, NULL};
    snprintf(text, sizeof text, "pid %llu", (unsigned long long)request->native.pid);
    request->native.notices = as_notices_to_log;
    request->native.stdout_to_stderr = request->format != AS_REUSE_TEXT && !request->output;
    struct as_reuse_native *native = as_reuse_native_new(&request->native);
    int status = AS_EXIT_FAILURE;
    bool foreign = !request->native.pid && as_program_is_foreign(argv[0], getenv("PATH"), &err);
    if (!foreign && as_output_open(&output, request->output, &err) && as_reuse_native_run(native, argv, &err)) {
        int failed = show(request, native, request->native.pid ? attached : argv, &output);
        status = failed ? failed : as_run_end_report(&as_reuse_native_info(native)->end);
    } else {
        status = as_cli_fail(request->command, &err);
        as_output_drop(&output);
    }
    as_reuse_native_free(native);
    return status;
}
