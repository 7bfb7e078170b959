/* Writes the seeds of the fuzz targets into a directory: perf_seeds DIRECTORY. For fuzz/corpus/perfdata and
 * fuzz/corpus/import; tests/cli/import_hardware.sh imports some. */
#include "perf_hardware.h"

#include "unit.h"

#include <stdio.h>

static void save(const char *directory, const char *name, const void *bytes, size_t size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

static const char script[] =
    "# hostname : somewhere\n"
    "my prog  100/101 [003] 12.345678:     250000 cycles:pp: \n"
    "\t          401234 main+0x4 (/bin/prog)\n"
    "\t          401300 a::b(int, char)+0x10 (/bin/prog (deleted))\n"
    "\n"
    "prog  100 [003] 12.345679:     1 loads:     7fff0010     68100142 |OP LOAD|LVL L1 hit|SNP None"
    "|TLB L1 hit|LCK No|BLK  N/A            77           401234 f (/bin/prog)\n"
    "\n"
    "prog 100 1.5: cycles:  401234 f+0x1 (/bin/prog)  0x1/0x2/P/-/-/3  0x4/0x5/M/X/A/0\n";

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        struct wrapping how;
        bool aux;
    } seeds[] = {
        {"file", {0}, true},
        {"file-big-endian", {.big = true}, true},
        {"file-bare", {.no_features = true}, false},
        {"pipe", {.pipe = true}, true},
        {"pipe-big-endian", {.big = true, .pipe = true}, true},
        {"pipe-packed", {.pipe = true, .packed = 300}, false},
        {"pipe-packed2", {.pipe = true, .packed = 70, .packed2 = true}, false},
    };
    if (argc != 2)
        return 2;
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        bool big = seeds[i].how.big;
        struct build records = seeds[i].aux ? every_record_and_aux(big) : every_record(big);
        struct as_str file = wrap(&seeds[i].how, every_attr, 2, &records);
        save(argv[1], seeds[i].name, file.data, file.len);
        as_str_free(&file);
        as_str_free(&records.bytes);
    }
    static const struct wrapping plain = {0}, pipe_big = {.pipe = true, .big = true};
    const struct {
        const char *name;
        struct as_str file;
    } hardware[] = {{"ibs", ibs_file(&plain)}, {"spe", spe_file(&plain, 0)}, {"spe-pipe", spe_file(&pipe_big, 11)}};
    for (size_t i = 0; i < sizeof hardware / sizeof *hardware; i++) {
        struct as_str file = hardware[i].file;
        save(argv[1], hardware[i].name, file.data, file.len);
        as_str_free(&file);
    }
    save(argv[1], "script", script, sizeof script - 1);
    return 0;
}
