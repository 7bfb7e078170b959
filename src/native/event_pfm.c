/* Event names of libpfm4, which has the vendors' tables. It knows the processor that it runs on and refuses names of
 * other PMUs ("skl::INST_RETIRED"). */
#include "native/event.h"

#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>
#include <pthread.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int ready;

static void initialise(void)
{
    ready = pfm_initialize();
}

bool as_native_event_from_pfm(const char *text, struct as_native_event *event, struct as_error *err)
{
    pthread_once(&once, initialise);
    if (ready != PFM_SUCCESS)
        return as_error_set(err, "no event \"%s\" (libpfm4: %s)", text, pfm_strerror(ready));
    struct perf_event_attr attr = {.size = sizeof attr};
    pfm_perf_encode_arg_t argument = {.attr = &attr, .size = sizeof argument};
    int result = pfm_get_os_event_encoding(text, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &argument);
    if (result != PFM_SUCCESS)
        return as_error_set(err, "no event \"%s\" on this machine (libpfm4: %s)", text, pfm_strerror(result));
    attr.exclude_kernel = attr.exclude_hv = attr.exclude_user = 0;
    event->attr = attr;
    event->unit = AS_NATIVE_UNIT_COUNTER;
    strcpy(event->pmu, "cpu");
    return true;
}
