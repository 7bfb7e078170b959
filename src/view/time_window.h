/* A part of a run by time: `--time=1s..2s`. Only series whose samples were kept one by one have it. */
#ifndef AS_VIEW_TIME_WINDOW_H
#define AS_VIEW_TIME_WINDOW_H

#include "view/view.h"

struct as_time_window {
    uint64_t from, until; /* nanoseconds since the start; until UINT64_MAX: to the end */
};

/* Reads "1s..2s", "500ms..", "..2", "1.5..2.25": numbers with s (the default), ms, us, ns or min. */
bool as_time_window_read(const char *text, struct as_time_window *window, struct as_error *err) AS_MUST_CHECK;

/* Leaves in the store only what was sampled then. The series must have times, and samples in the range; `last`, if not
 * NULL, gets the time of its last sample. */
bool as_time_window_keep(struct as_store *store, uint32_t series, const char *text, struct as_time_window *window,
                         uint64_t *last, struct as_error *err) AS_MUST_CHECK;

/* Leaves in the view's store only what options.time chooses, and estimates its error anew. The series is chosen
 * already, the summary not yet read. */
bool as_time_window_choose(struct as_view *view, struct as_error *err) AS_MUST_CHECK;
/* Changes the summary to that of the part. */
bool as_time_window_describe(struct as_view *view, struct as_error *err) AS_MUST_CHECK;

/* Sets the error for an option that needs the times of samples, which the series does not have. Returns false. */
bool as_time_window_refuse(struct as_store *store, uint32_t number, const char *option, struct as_error *err);

#endif
