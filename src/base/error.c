/* Error messages. This file uses nothing but libc and utf8.c, because the QEMU plugin links it too. */
#include "base/error.h"

#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* What a terminal might obey, C1 controls as well, and bytes that are not text become "?". */
void as_error_clean(char *text)
{
    for (size_t length; *text; text += length) {
        length = as_utf8_length(text);
        bool shown = length && !as_utf8_is_control(text, length);
        length = length ? length : 1;
        if (!shown)
            memset(text, '?', length);
    }
}

/* A truncated message may end inside a UTF-8 sequence, which is dropped. */
static void drop_torn_tail(char *text, size_t length)
{
    size_t start = length;
    while (start > 0 && length - start < 3 && ((unsigned char)text[start - 1] & 0xc0) == 0x80)
        start--;
    if (start == 0 || (unsigned char)text[start - 1] < 0xc0)
        return;
    unsigned char lead = (unsigned char)text[start - 1];
    size_t need = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    if (length - start < need)
        text[start - 1] = '\0';
}

/* Formats into a separate buffer first, because the old message is often one of the arguments. */
static void set_message(struct as_error *err, int status, const char *format, va_list args)
{
    char message[sizeof err->message];
    int length = vsnprintf(message, sizeof message, format, args);
    if (length < 0)
        message[0] = '\0';
    else if ((size_t)length >= sizeof message)
        drop_torn_tail(message, sizeof message - 1);
    as_error_clean(message);
    err->status = status;
    memcpy(err->message, message, sizeof message);
}

bool as_error_set(struct as_error *err, const char *format, ...)
{
    if (!err)
        return false;
    va_list args;
    va_start(args, format);
    set_message(err, AS_EXIT_FAILURE, format, args);
    va_end(args);
    return false;
}

bool as_error_set_status(struct as_error *err, int status, const char *format, ...)
{
    if (!err)
        return false;
    va_list args;
    va_start(args, format);
    set_message(err, status, format, args);
    va_end(args);
    return false;
}
