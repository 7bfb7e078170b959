/* The threads of a modelled run as rows of a profile: a thread that executed several programs has a row for each name that it
 * had. Code belongs to an image, so what a thread did in an image is what it did under that name. */
#ifndef AS_RECORD_THREADS_H
#define AS_RECORD_THREADS_H

#include "base/vec.h"

#include <stdint.h>

struct as_record_thread {
    uint32_t number; /* AS_NO_THREAD: all threads without rows of their own */
    uint32_t image;  /* of AS_NO_THREAD 0: any */
    uint32_t row;    /* in the profile; images of one name share it */
};

/* By number and image, AS_NO_THREAD last, if there is any. */
struct as_record_threads {
    AS_VEC(struct as_record_thread) list;
};

/* Sorts the rows; they are in the order in which they were added otherwise. */
void as_record_threads_sort(struct as_record_threads *threads);
/* The row in the profile of a thread while it ran an image. Where there is none, another of the thread, or AS_NO_THREAD's;
 * AS_STORE_NONE: there is none of these either. */
uint32_t as_record_thread_of(const struct as_record_threads *threads, uint32_t number, uint32_t image);

#endif
