/* See report_bed.h. */
#include "unit.h"

#include "report_bed.h"

void report_bed_put_text(FILE *out, const char *report, const struct as_summary *summary, const struct as_term *term)
{
    char *head = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&head, &length);
    as_summary_text(summary, file, term);
    fclose(file);
    const char *found = strstr(report, head);
    assert_non_null(found);
    fprintf(out, "%.*s(summary)\n%s", (int)(found - report), report, found + length);
    free(head);
}

void report_bed_put_json(FILE *out, const char *json)
{
    static const char *const summaries[] = {"  \"summary\": {", "  \"before\": {"};
    bool inside = false;
    for (size_t length; *json; json += length + (json[length] == '\n')) {
        length = strcspn(json, "\n");
        if (inside && strncmp(json, "  }", 3) == 0)
            inside = false;
        if (!inside)
            fprintf(out, "%.*s\n", (int)length, json);
        for (size_t i = 0; i < 2; i++)
            inside |= length == strlen(summaries[i]) && memcmp(json, summaries[i], length) == 0;
    }
}
