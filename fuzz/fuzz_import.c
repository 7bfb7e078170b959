/* Arbitrary bytes as a recording that becomes a profile: what assay import does, raw data of IBS and AUX data of SPE
 * included, all but putting the profile in its place. */
#include "import/import.h"

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
    struct as_perf_spaces_options how = {.no_debug = true};
    struct as_import import = {
        .info = as_perf_reader_info(reader), .writer = writer, .spaces = as_perf_spaces_new(&how), .unwinds = true};
    as_import_code_open(&import.code, writer, import.spaces);
    as_import_data_open(&import);
    bool ran = as_perf_reader_run(reader, &as_import_sink, &import, &err);
    as_import_finish(&import);
    as_import_write(&import, reader, "fuzz");
    if (as_store_writer_failed(writer) || (!ran && err.message[0] == '\0'))
        abort(); /* whatever the recording, a profile can be written */
    as_store_writer_abort(writer);
    as_import_free(&import);
    as_perf_spaces_free(import.spaces);
    as_perf_reader_close(reader);
    return 0;
}
