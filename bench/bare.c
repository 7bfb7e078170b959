/* The model without observers, for the bench: what the core alone costs.
 *
 *   bare MACHINE REGION [--observer SPEC] PROGRAM [ARGS…]
 *
 * Runs a region of the program (as assay compare --region) in the model of a machine (the path of its file), with nobody
 * watching or with one observer (as assay compare --observer), and prints what `assay compare --json` calls the same. The
 * program's own output goes nowhere. Must lie beside assay-engine.so (bench/run sees to that).
 */
#include "model/model.h"
#include "observe/observer_load.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const struct as_error *err)
{
    fprintf(stderr, "bare: %s\n", err->message);
    return 125;
}

static FILE *open_file(void *context, const char *path)
{
    return fopen(path, "we");
}

static bool add_observer(const char *spec, struct as_model *model, struct as_fanout *fanout, struct as_error *err)
{
    static struct as_loaded_observer loaded;
    void *self;
    as_model_set_files(model, open_file, NULL);
    if (!as_observer_load(spec, as_model_run_info(model), &loaded, err) || !as_observer_create(&loaded, &self, 1, err))
        return false;
    as_fanout_add(fanout, loaded.ops, self, loaded.foreign);
    return true;
}

int main(int argc, char **argv)
{
    static struct as_machine machine;
    struct as_error err = AS_ERROR_INIT;
    struct as_engine_options options = AS_ENGINE_OPTIONS_DEFAULT;
    struct as_fanout_options alone = AS_FANOUT_DEFAULTS;
    struct as_model_result result;
    struct as_regions regions = {0};
    if (argc < 4) {
        fprintf(stderr, "usage: bare MACHINE REGION [--observer SPEC] PROGRAM [ARGS…]\n");
        return 2;
    }
    if (!as_machine_load(argv[1], &machine, &err))
        return fail(&err);
    if (!as_regions_parse(&regions, argv[2], &err) || !as_regions_check(&regions, &err))
        return fail(&err);
    options.regions = &regions;
    const char *observer = argc > 5 && strcmp(argv[3], "--observer") == 0 ? argv[4] : NULL;
    options.argv = argv + (observer ? 5 : 3);
    options.discard_stdout = true;
    alone.batch = AS_MODEL_BATCH;
    alone.inline_ = !observer;
    struct as_model *model = as_model_new(&machine);
    as_model_set_memo(model, &(struct as_memo_options){.bytes = AS_MODEL_MEMO_BYTES});
    struct as_fanout *fanout = as_fanout_new(&alone);
    bool ok = (!observer || add_observer(observer, model, fanout, &err)) &&
              as_model_run(model, &options, fanout, &result, &err);
    if (ok)
        as_fanout_report(fanout, stderr);
    if (ok)
        printf("{\"instructions\": %" PRIu64 ", \"cycles\": %" PRIu64 ", \"seconds\": %.6f, \"mips\": %.6f}\n",
               result.instructions, result.cycles, result.engine.seconds,
               (double)result.instructions / result.engine.seconds / 1e6);
    as_fanout_free(fanout);
    as_model_free(model);
    as_regions_free(&regions);
    return ok ? 0 : fail(&err);
}
