/* Profiles made by hand for the tests of views and reports. Each number is different from the others, so that a column
 * in another's place is seen; all expected values of the tests follow from the tables here and in view_bed.c.
 *
 * "shop.db": 1000 cycles in the series "golden", which counts quarters of cycles.
 *
 *   function          units: thread 1, 2     calls, as paths with their own units
 *   main    (shop)        1000               main 1000
 *   sell    (shop)        1600   400           sell 1100            of which 300 in sell > sell
 *   count   (lib)          500   260             count 350, sell > sell > count 150
 *   none    (shop)         240                 (signal) sell 200
 *                                            count 260, sell 400 (thread 2); 0x2000 240
 *
 *   component          Base  ST-L1  ST-LLC  ST-L1+ST-LLC  FL-MB
 *   units              2250    400     260          1000     90
 *
 * Series "tea" has ten samples with data addresses and branches; "bytes" counts calls of an allocator; "clock" has one
 * sample of 700 nanoseconds, 1.5 s after the start and on processor 2, and neither paths nor components.
 *
 * "old.db": the same program before a change, with the series "golden" alone: main 1000, sell 2400 (Base 400, ST-L1
 * 2000), give 600, each of which is one instruction, in one thread. */
#ifndef AS_TESTS_VIEW_BED_H
#define AS_TESTS_VIEW_BED_H

#include "store_bed.h"
#include "view/diff.h"
#include "view/view.h"

#include <stdio.h>

/* Makes an empty directory the working directory; it is removed at exit. */
void view_bed_enter(void);
/* For groups of tests: such a directory with shop.db and old.db in it. */
int view_bed_set_up(void **state);

void view_bed_shop(const char *path);
void view_bed_old(const char *path);
void view_bed_file(const char *path, const char *text);

/* A view of a profile that must open. The caller frees it with as_view_free. */
struct as_view view_bed_open(const char *path, const char *series);
struct as_view view_bed_open_with(const struct as_view_options *options);
/* The row of a name, which must be there. */
const struct as_diff_row *view_bed_diff_row(const struct as_diff *diff, const char *name);
/* One filter word. */
#define VIEW_BED_WORDS(...)                                                                                            \
    ((struct as_words){(const char *const[]){__VA_ARGS__}, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)})

#endif
