/* Event names of libpfm4, which has the vendors' tables. It knows the processor that it runs on and refuses names of
 * other PMUs ("skl::INST_RETIRED").
 *
 * It is loaded when a name is first asked for: its tables have 40,000 relocations, which cost every command 2 MiB and, beside
 * a program that is sampled by the timer, are of no use. */
#include "native/event.h"

#include <dlfcn.h>
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>
#include <pthread.h>
#include <string.h>

struct library {
    __typeof__(pfm_initialize) *initialize;
    __typeof__(pfm_strerror) *strerror;
    __typeof__(pfm_get_os_event_encoding) *encode;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct library library; /* encode NULL: it is not there */
static int ready;

static void initialise(void)
{
    void *handle = dlopen("libpfm.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return;
    library.initialize = (__typeof__(library.initialize))dlsym(handle, "pfm_initialize");
    library.strerror = (__typeof__(library.strerror))dlsym(handle, "pfm_strerror");
    library.encode = (__typeof__(library.encode))dlsym(handle, "pfm_get_os_event_encoding");
    if (!library.initialize || !library.strerror)
        library.encode = NULL;
    ready = library.encode ? library.initialize() : PFM_SUCCESS;
}

bool as_native_event_from_pfm(const char *text, struct as_native_event *event, struct as_error *err)
{
    pthread_once(&once, initialise);
    if (!library.encode)
        return as_error_set(err, "no event \"%s\": libpfm.so.4 (package libpfm4), which knows names, is not installed",
                            text);
    if (ready != PFM_SUCCESS)
        return as_error_set(err, "no event \"%s\" (libpfm4: %s)", text, library.strerror(ready));
    struct perf_event_attr attr = {.size = sizeof attr};
    pfm_perf_encode_arg_t argument = {.attr = &attr, .size = sizeof argument};
    int result = library.encode(text, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &argument);
    if (result != PFM_SUCCESS)
        return as_error_set(err, "no event \"%s\" on this machine (libpfm4: %s)", text, library.strerror(result));
    attr.exclude_kernel = attr.exclude_hv = attr.exclude_user = 0;
    event->attr = attr;
    event->unit = AS_NATIVE_UNIT_COUNTER;
    strcpy(event->pmu, "cpu");
    return true;
}
