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

void as_html_begin(FILE *out, const char *style)
{
    fprintf(out,
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
            "<meta name=\"viewport\" content=\"width=device-width\">\n<style>%s</style>\n<title>",
            style);
}
