/* See html.h. */
#include "base/html.h"

void as_html_text(FILE *out, const char *text)
{
    for (; text && *text; text++)
        if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '>')
            fputs("&gt;", out);
        else if (*text == '&')
            fputs("&amp;", out);
        else if (*text == '"')
            fputs("&quot;", out);
        else
            fputc((unsigned char)*text < ' ' ? '?' : *text, out);
}
