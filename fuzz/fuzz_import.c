/* Arbitrary bytes as a recording that becomes a profile: what assay import does, raw data of IBS and AUX data of SPE
 * included, all but putting the profile in its place. */
#include "import/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *place(void)
{
    static char path[64];
    if (!path[0])
        snprintf(path, sizeof path, "/tmp/assay-fuzz-import-%d.db", (int)getpid());
    return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_perf_reader *reader = as_perf_reader_memory(data, size, NULL, &err);
    if (!reader)
        return 0;
    struct as_store_writer *writer = as_store_writer_open(place(), &err);
    if (!writer)
        abort();
    struct as_import *import = as_import_open(&(struct as_import_options){
        .info = as_perf_reader_info(reader), .writer = writer, .spaces.no_debug = true, .unwind = true});
    bool ran = as_perf_reader_run(reader, &as_import_sink, import, &err);
    as_import_finish(import);
    as_import_describe(import, reader, "fuzz");
    as_import_write(import, reader);
    if (as_store_writer_failed(writer) || (!ran && err.message[0] == '\0'))
        abort(); /* whatever the recording, a profile can be written */
    as_store_writer_abort(writer);
    as_import_free(import);
    as_perf_reader_close(reader);
    return 0;
}
