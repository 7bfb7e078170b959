/* See report_kinds.h. */
#include "report/report_kinds.h"

const char *const as_report_by_names[] = {"function", "line",    "block",   "instruction", "file",   "module",
                                          "thread",   "process", "command", "cpu",         "object", NULL};

enum as_store_level as_report_level(enum as_report_by by)
{
    static const enum as_store_level levels[] = {AS_STORE_BY_FUNCTION,    AS_STORE_BY_LINE,    AS_STORE_BY_BLOCK,
                                                 AS_STORE_BY_INSTRUCTION, AS_STORE_BY_FILE,    AS_STORE_BY_MODULE,
                                                 AS_STORE_BY_THREAD,      AS_STORE_BY_PROCESS, AS_STORE_BY_COMMAND,
                                                 AS_STORE_BY_PROCESSOR,   AS_STORE_BY_PROGRAM};
    return levels[by];
}

bool as_report_kind_takes(const struct as_report_kind *kind, enum as_report_by by, bool sorted,
                          struct as_report_filters asked, struct as_error *err)
{
    const struct as_report_filters *takes = &kind->filters;
    const char *refused = asked.threads && !takes->threads ? "--thread"
                          : asked.places && !takes->places ? "--module or --symbol"
                          : asked.events && !takes->events ? "--event"
                          : asked.time && !takes->time     ? "--time"
                                                           : NULL;
    if (refused)
        return as_error_set_status(err, AS_EXIT_USAGE, "%s does not apply to %s", refused, kind->name);
    if (!(kind->levels & AS_REPORT_LEVEL(by)))
        return as_error_set_status(err, AS_EXIT_USAGE, "--by=%s does not apply to %s%s", as_report_by_names[by],
                                   kind->name, by == AS_REPORT_BY_OBJECT ? ": it is only for --data" : "");
    return !sorted || kind->sorts ||
           as_error_set_status(err, AS_EXIT_USAGE, "--sort is for rows; %s has its own order", kind->option);
}
