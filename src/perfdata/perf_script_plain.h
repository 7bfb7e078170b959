/* The columns of a line of `perf script` that names no event. See perf_script_plain.c. For perf_script.c alone. */
#ifndef AS_PERFDATA_PERF_SCRIPT_PLAIN_H
#define AS_PERFDATA_PERF_SCRIPT_PLAIN_H

#include "perfdata/perf_script_words.h"

#define AS_SCRIPT_NONE SIZE_MAX

/* Indexes of words; NONE: there is no such column. */
struct as_script_plain {
    size_t name; /* number of words of the thread's name */
    size_t ids, cpu, time, period, ip;
    bool unclear; /* a number could be a thread, a period or an address of data */
};

/* What perf's layout says of a number: perf pads threads to 5 or 7 columns, and periods to 10. */
enum as_script_number { AS_SCRIPT_NAME, AS_SCRIPT_IDS, AS_SCRIPT_PERIOD, AS_SCRIPT_UNCLEAR };
/* Whether there is perf's layout: perf writes at least two spaces before an address. */
enum as_script_layout { AS_SCRIPT_UNKNOWN, AS_SCRIPT_KEPT, AS_SCRIPT_LOST };

enum as_script_layout as_script_layout_before(const char *line, const char *address);
/* The same of a line without an address: perf pads a thread's name to 16 columns, and Linux knows 15 characters of it. */
enum as_script_layout as_script_layout_of(const char *line);
enum as_script_number as_script_number(const char *line, struct word word, enum as_script_layout layout);
/* Whether a word can only be the address of code, not a thread's number. */
bool as_script_is_code(struct word word);
/* Returns false if the line cannot be a sample's. */
bool as_script_plain(const char *line, const struct word *words, size_t count, struct as_script_plain *plain);

#endif
