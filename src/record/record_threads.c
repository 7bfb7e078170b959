/* See record_threads.h. */
#include "record/record_threads.h"

#include "observe/thread_limit.h"
#include "store/store.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    const struct as_record_thread *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->image < y->image ? -1 : x->image > y->image;
}

void as_record_threads_sort(struct as_record_threads *threads)
{
    if (threads->list.len)
        qsort(threads->list.data, threads->list.len, sizeof *threads->list.data, compare);
}

uint32_t as_record_thread_of(const struct as_record_threads *threads, uint32_t number, uint32_t image)
{
    uint32_t found = AS_STORE_NONE;
    for (uint32_t i = 0; i < threads->list.len; i++) {
        const struct as_record_thread *thread = &threads->list.data[i];
        if (thread->number == number && thread->image == image)
            return thread->row;
        if (thread->number == number || (thread->number == AS_NO_THREAD && found == AS_STORE_NONE))
            found = thread->row;
    }
    return found;
}
