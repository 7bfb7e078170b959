/* What assay compare prints of a run, as text and JSON, against tests/golden/compare_shown.txt: records of a made-up pipeline, which the
 * real Oracle and samplers saw. */
#include "unit.h"

#include "cmd/compare_pics.h"
#include "cmd/regions_shown.h"
#include "pipe_gen.h"
#include "record/modelled.h"
#include "unit_golden.h"

enum { STATICS = 40, RECORDS = 20000, FOLDED = 1234, IMAGES = 2 };

static struct as_insn insns[STATICS];
static const struct as_run_info *run_info;
static bool has_memo;

/* ---- in place of a model (model.h) and its engine ---- */

const struct as_engine *as_model_engine(const struct as_model *model)
{
    return NULL;
}

const struct as_run_info *as_model_run_info(const struct as_model *model)
{
    return run_info;
}

const struct as_call_tracker *as_model_calls(const struct as_model *model)
{
    return NULL;
}

bool as_model_count_memo(const struct as_model *model, struct as_memo_counters *counters)
{
    *counters = (struct as_memo_counters){.blocks = 1000,
                                          .known_blocks = 750,
                                          .instructions = 5000,
                                          .known_instructions = 4000,
                                          .made_nodes = 11,
                                          .made_edges = 22,
                                          .bytes = 33,
                                          .restored = 44,
                                          .drops = 55};
    return has_memo;
}

size_t as_call_tracker_count_images(const struct as_call_tracker *tracker)
{
    return IMAGES;
}

const struct as_call_tree *as_call_tracker_tree(const struct as_call_tracker *tracker, size_t index)
{
    return NULL;
}

static uint64_t folded;

uint64_t as_call_tree_folded(const struct as_call_tree *tree)
{
    return folded / IMAGES;
}

const struct as_insn *as_engine_insn(const struct as_engine *engine, uint32_t id)
{
    assert_true(id < STATICS);
    return &insns[id];
}

/* The last ones are of a program that the first became. */
uint32_t as_engine_insn_image(const struct as_engine *engine, uint32_t id)
{
    return id < STATICS - 5 ? 1 : 2;
}

static struct as_image images[IMAGES] = {{.number = 1}, {.number = 2}};

const struct as_image *as_engine_image(const struct as_engine *engine, uint32_t number)
{
    return number <= IMAGES ? &images[number - 1] : NULL;
}

const char *as_engine_clock_note(const struct as_engine_result *result)
{
    return result->threads > 1 ? "threads ran by the clock" : NULL;
}

/* Ten instructions a function; the third function has no name. */
static const char *const functions[] = {"first", "second", NULL, "fourth"};

bool as_model_locate(const struct as_model *model, uint32_t id, struct as_location *location)
{
    *location = (struct as_location){.module = "/usr/bin/prog",
                                     .module_name = "prog",
                                     .module_offset = insns[id].address - 0x400000,
                                     .function = functions[id / 10],
                                     .raw_function = functions[id / 10],
                                     .function_start = functions[id / 10] ? insns[id - id % 10].address : 0};
    return true;
}

bool as_space_line(struct as_space *space, uint64_t address, struct as_line *line)
{
    *line = (struct as_line){.file = "prog.c", .line = address % 3 ? (int)(address & 0xff) : 0};
    return address % 5;
}

uint64_t as_space_resolve(struct as_space *space, const char *name)
{
    return strcmp(name, "idle") == 0 || strcmp(name, "prog:idle") == 0 ? 0x1234 : 0;
}

const char *as_groups_function(const struct as_groups *groups, uint32_t function)
{
    static const char *const names[] = {"first (prog)", "second (prog)", "prog+0x80 (prog)", "fourth (prog)"};
    return names[function];
}

void as_regions_json(struct as_json *json, const struct as_regions_shown *shown)
{
}

void as_regions_print(FILE *out, const struct as_regions_shown *shown)
{
    fputs("(regions)\n", out);
}

struct as_modelled_start as_modelled_start_of(const struct as_model *model, const struct as_oracle *oracle)
{
    return (struct as_modelled_start){.instructions = 5000, .linker = "ld.so"};
}

static bool is_part;

char *as_modelled_part(const struct as_engine_result *engine, uint64_t instructions,
                       const struct as_modelled_start *start)
{
    return is_part ? strdup("the first part") : NULL;
}

char *as_modelled_start_up(const struct as_engine_result *engine, uint64_t instructions,
                           const struct as_modelled_start *start)
{
    return is_part ? strdup("the instructions are in ld.so") : NULL;
}

/* ---- a run ---- */

static void make_insns(void)
{
    for (uint32_t i = 0; i < STATICS; i++)
        insns[i] = (struct as_insn){.id = i,
                                    .address = 0x400000 + 8 * (uint64_t)i,
                                    .length = 1,
                                    .bytes = {0x90},
                                    .arch = AS_ARCH_X86_64,
                                    .flags = i % 3 == 0   ? AS_INSN_LOAD
                                             : i % 3 == 1 ? AS_INSN_STORE
                                                          : 0};
}

static const struct as_insn *insn_of(void *context, uint32_t id)
{
    return &insns[id];
}

struct bed {
    struct as_run_info run;
    struct as_oracle *oracle;
    struct as_sampling *samplings[2];
    uint32_t blocks[STATICS], functions[STATICS];
    struct as_compare compare;
    struct as_machine machine;
    char *argv[3];
};

enum { CHOSEN = 4 };
static const char *const names[CHOSEN] = {"nci", "tip", "tea", "ibs"};

static void watch(struct bed *bed, struct pipe_gen *gen, const struct as_pipe *pipes)
{
    struct as_error err = AS_ERROR_INIT;
    static const uint64_t periods[] = {53, 499};
    const struct as_sampler *chosen[CHOSEN];
    for (size_t i = 0; i < CHOSEN; i++)
        assert_non_null(chosen[i] = as_sampler_find(names[i]));
    bed->oracle = as_oracle_new(&bed->run, &err);
    as_oracle_set_events(bed->oracle, UINT16_MAX, 0xff);
    pipe_gen_feed(gen, &as_oracle_observer, bed->oracle, 0, pipes, RECORDS, 1000);
    as_oracle_observer.finish(bed->oracle, NULL);
    for (size_t i = 0; i < 2; i++) {
        bed->samplings[i] =
            as_sampling_new(&bed->run, &(struct as_schedule){.period = periods[i], .random = i}, chosen, CHOSEN, &err);
        assert_non_null(bed->samplings[i]);
        pipe_gen_feed(gen, &as_sampling_observer, bed->samplings[i], 0, pipes, RECORDS, 1000);
        as_sampling_observer.finish(bed->samplings[i], NULL);
    }
}

static void set_up(struct bed *bed)
{
    static struct as_pipe pipes[RECORDS];
    struct pipe_gen gen = {.random = 5, .width = 4, .fuse = true, .statics = STATICS, .paths = 3, .trouble = 20};
    *bed = (struct bed){.argv = {"/usr/bin/prog", "-x"}};
    make_insns();
    pipe_gen_fill(&gen, pipes, RECORDS);
    bed->run = pipe_gen_run(&gen);
    bed->run.insn = insn_of;
    run_info = &bed->run;
    watch(bed, &gen, pipes);
    for (uint32_t i = 0; i < STATICS; i++) {
        bed->blocks[i] = i / 4;
        bed->functions[i] = i / 10;
    }
    struct as_compare *compare = &bed->compare;
    snprintf(bed->machine.name, sizeof bed->machine.name, "toy");
    bed->machine.frequency = 3.5;
    *compare = (struct as_compare){.argv = bed->argv,
                                   .machine = &bed->machine,
                                   .oracle = bed->oracle,
                                   .samplings = bed->samplings,
                                   .n_samplings = 2,
                                   .top = 5,
                                   .events = 0xff};
    as_oracle_profile(bed->oracle, &compare->truth);
    compare->groups.blocks = (struct as_grouping){bed->blocks, STATICS, STATICS / 4};
    compare->groups.functions = (struct as_grouping){bed->functions, STATICS, STATICS / 10};
    compare->groups.function_of = bed->functions;
    compare->levels =
        (struct as_levels){{NULL, &compare->groups.blocks, &compare->groups.functions, &as_grouping_program}};
    compare->golden = as_oracle_pics(bed->oracle);
    compare->shown = compare->golden;
    compare->shown_events = UINT16_MAX;
    compare->shown_total = compare->truth.total;
    compare->result = (struct as_model_result){.instructions = RECORDS,
                                               .cycles = 31234,
                                               .elapsed = 40000,
                                               .kernel_cycles = 99,
                                               .measuring = 0.25,
                                               .engine = {.seconds = 1.5, .threads = 1}};
    for (size_t i = 0; i < as_counter_count; i++)
        memset((char *)&compare->result.counters + i, (int)i + 1, 1);
}

static void clean_up(struct bed *bed)
{
    as_pics_free(&bed->compare.golden);
    as_profile_free(&bed->compare.truth);
    as_oracle_free(bed->oracle);
    for (size_t i = 0; i < 2; i++)
        as_sampling_free(bed->samplings[i]);
}

static void write_both(FILE *out, const char *title, const struct as_compare *const *compares, size_t n)
{
    unit_golden_section(out, "%s", title);
    as_compare_text(compares, n, out);
    struct as_json *json = as_json_new(out);
    as_compare_json(compares, n, json);
    assert_true(as_json_finish(json));
}

static void test_shown(void **state)
{
    struct bed bed;
    set_up(&bed);
    struct as_compare other = bed.compare;
    struct as_machine machine = {.name = "other", .frequency = 2};
    const struct as_compare *compares[] = {&bed.compare, &other};
    FILE *out = unit_golden_begin();
    write_both(out, "a run", compares, 1);
    other.machine = &machine;
    other.result.cycles = 62468;
    bed.compare.result.engine.threads = 2;
    bed.compare.result.engine.end = (struct as_run_end){.signal = 11, .exit_status = 139};
    bed.compare.top = 0;
    folded = FOLDED;
    is_part = has_memo = true;
    write_both(out, "two machines, a run that was cut and ended by a signal", compares, 2);
    unit_golden_check(out, "compare_shown.txt");
    clean_up(&bed);
}

/* ---- the instructions of a place ---- */

static void show_listing(FILE *out, const struct as_compare *compare)
{
    as_listing_text(compare, out, compare->colour);
    struct as_json *json = as_json_new(out);
    as_json_object(json, NULL);
    as_listing_json(compare, json);
    as_json_end(json);
    assert_true(as_json_finish(json));
}

static void show_place(FILE *out, struct bed *bed, const char *text, bool whole)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_place place;
    struct as_listing listing = {0};
    struct as_compare compare = bed->compare;
    assert_true(as_place_parse(text, &place, &err));
    if (as_listing_find(&compare, &place, &listing, &err)) {
        compare.listing = &listing;
        compare.place = text;
        if (whole)
            write_both(out, text, &(const struct as_compare *){&compare}, 1);
        else {
            unit_golden_section(out, "%s", text);
            show_listing(out, &compare);
        }
    } else {
        unit_golden_section(out, "%s", text);
        fprintf(out, "%s (status %d)\n", err.message, err.status);
    }
    free(listing.ids);
    as_place_free(&place);
}

static void test_places(void **state)
{
    static const char *const places[] = {"first",     "second+0x10", "0x400028",        "0x28",      "prog:fourth",
                                         "prog+0xa8", "idle",        "idle+4",          "prog:idle", "0x999",
                                         "frist",     "fourht",      "nothing like it", "secon"};
    struct bed bed;
    set_up(&bed);
    bed.compare.n_samplings = 1;
    FILE *out = unit_golden_begin();
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        show_place(out, &bed, places[i], false);
    bed.compare.colour = true;
    bed.compare.pics_of = "tea";
    bed.compare.shown = as_sampling_pics(bed.samplings[0], 2);
    bed.compare.shown_total = as_pics_total(&bed.compare.shown);
    show_place(out, &bed, "first", true);
    as_pics_free(&bed.compare.shown);
    unit_golden_check(out, "compare_places.txt");
    clean_up(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shown), cmocka_unit_test(test_places)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
