/* See record_part.h. */
#include "record/record_part.h"

#include "base/ratio.h"

#include <math.h>
#include <stdlib.h>

void as_record_add_part(const struct as_record *record, const struct as_record_run *run)
{
    static const double much_repeated = 0.1;
    const struct as_engine_result *engine = &run->result.engine;
    uint64_t instructions = run->row.instructions;
    char *part = as_modelled_part(engine, instructions, &run->start);
    char *remark = as_modelled_start_up(engine, instructions, &run->start), *start_up = NULL;
    if (remark)
        start_up = as_format("part of %s%s", remark,
                             part           ? "; --budget or --sampled estimate the whole program instead"
                             : run->sampled ? "; what is left is measured in full then, or as far as --max says"
                                            : "");
    if (part) {
        as_store_add_meta(record->writer, AS_META_PART, part);
        as_store_add_meta(record->writer, "region", record->options->region);
    }
    if (start_up)
        as_store_add_quality(record->writer, "start_up", as_ratio(run->start.instructions, instructions), start_up);
    if (run->start.repeated >= much_repeated)
        as_store_add_quality(
            record->writer, "repeated", run->start.repeated,
            "part of the time is in repeated string instructions (rep stosb, rep movsb), of which this "
            "core executes an element a cycle; processors move 32 bytes (back.string_bytes). glibc "
            "does without them with GLIBC_TUNABLES=glibc.cpu.x86_rep_stosb_threshold=0x7fffffff:"
            "glibc.cpu.x86_rep_movsb_threshold=0x7fffffff");
    if (run->start.guessed > 0)
        as_store_add_quality(record->writer, "guessed_names", run->start.guessed,
                             "part of the time is in code that the program made where it had made the same code under "
                             "another name, and nothing tells which of them ran: it has the name of the first");
    if (part && run->result.end.stopped)
        as_store_add_quality(record->writer, "rest", NAN,
                             "Assay ended the program there, so the length of the whole run is not known; --count-rest "
                             "lets it run on, only counted");
    free(part);
    free(start_up);
    free(remark);
}
