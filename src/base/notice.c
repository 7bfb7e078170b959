/* See notice.h. */
#include "base/notice.h"

#include "base/str.h"

#include <stdarg.h>

void as_notice(const struct as_notices *to, enum as_log_level level, const char *format, ...)
{
    struct as_str text = {0};
    va_list args;
    if (!to || !to->say)
        return;
    va_start(args, format);
    as_str_vaddf(&text, format, args);
    va_end(args);
    to->say(to->context, level, as_str_get(&text));
    as_str_free(&text);
}

static void say_to_log(void *context, enum as_log_level level, const char *text)
{
    as_log(level, "%s", text);
}

const struct as_notices as_notices_to_log = {.say = say_to_log};
