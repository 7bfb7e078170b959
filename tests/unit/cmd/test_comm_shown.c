/* What assay comm prints, as text, JSON, CSV, picture and page, against tests/golden/comm_shown.txt. All of the result is made by hand:
 * a run in the model on two nodes, one on this machine, ranks of MPI, one thread alone, and many threads. */
#include "unit.h"

#include "cmd/comm_show.h"
#include "unit_golden.h"

enum { THREADS = 3, MANY = 70 };

/* ---- in place of a run (comm_run.c) ---- */

uint32_t as_comm_node(const struct as_comm_options *options, uint32_t core)
{
    return options->machine.sockets > 1 ? core % options->machine.sockets : 0;
}

struct as_coherent_counts as_comm_run_coherent(const struct as_comm_run *run)
{
    return (struct as_coherent_counts){.accesses = 123456,
                                       .transfers = 1500,
                                       .false_ = 300,
                                       .remote = 600,
                                       .bytes = 12001,
                                       .invalidations = 77,
                                       .last_writer = 3000};
}

struct as_modelled_cost as_comm_run_cost(const struct as_comm_run *run)
{
    return (struct as_modelled_cost){.stood = 4321};
}

uint64_t as_comm_run_late(const struct as_comm_run *run)
{
    return 5;
}

size_t as_comm_run_memory(const struct as_comm_run *run)
{
    return 65536;
}

uint64_t as_comm_run_instructions(const struct as_comm_run *run)
{
    return 2000000;
}

/* ---- names ---- */

static struct as_space *nowhere;

static struct as_space *space_of(void *context, uint32_t process, uint64_t insn)
{
    return process == 9 ? NULL : nowhere;
}

static uint64_t address_of(void *context, uint64_t insn)
{
    return 0x400000 + insn;
}

static void locate(void *context, uint64_t insn, struct as_location *location)
{
    *location = (struct as_location){.module = "/bin/prog",
                                     .module_name = "prog",
                                     .function = insn < 0x100 ? "produce<int>" : "consume",
                                     .function_start = insn < 0x100 ? 0x400000 : 0x400100};
}

/* Path n has n frames. */
static size_t frames(void *context, uint32_t path, uint64_t *functions, size_t n, struct as_space **space)
{
    *space = nowhere;
    for (uint32_t i = 0; i < path && i < n; i++)
        functions[i] = 0x400000 + i;
    return path;
}

static const char *frame_name(void *context, uint32_t path, size_t frame)
{
    static const char *const names[] = {"inner", "step", "solve", "loop", "work", "start", "main", "_start"};
    return names[frame % 8];
}

/* ---- what was found ---- */

static const struct as_comm_thread threads[] = {
    {.number = 1, .process = 1, .core = 0, .pid = 100, .tid = 100, .start = "main"},
    {.number = 2, .process = 1, .core = 1, .pid = 100, .tid = 101, .start = "worker_of_xésar"},
    {.number = 5, .process = 2, .core = 2, .pid = 200, .tid = 200, .start = "worker_of_x\u00e9sar"},
};

struct bed {
    struct as_pair_matrix exact, estimate;
    struct as_contacts contacts;
    struct as_comm_rows rows;
    struct as_comm_result result;
    struct as_comm_options options;
};

static void fill_matrices(struct bed *bed)
{
    as_pair_matrix_grow(&bed->exact, THREADS);
    as_pair_matrix_grow(&bed->estimate, THREADS);
    as_pair_matrix_add(&bed->exact, 0, 1, false, 1000);
    as_pair_matrix_add(&bed->exact, 1, 0, false, 150);
    as_pair_matrix_add(&bed->exact, 0, 1, true, 300);
    as_pair_matrix_add(&bed->exact, 2, 1, false, 50);
    as_pair_matrix_add(&bed->estimate, 0, 1, false, 1234567);
    as_pair_matrix_add(&bed->estimate, 1, 2, true, 98765432);
}

/* One by lines of a variable of the program, one within a block of the heap, one inside a lock. */
static void fill_contacts(struct bed *bed)
{
    const struct as_contact all[] = {{.line = 0x10040,
                                      .process = 1,
                                      .from = {.insn = 0x10, .process = 1, .path = 2, .offset = 0, .size = 8},
                                      .to = {.insn = 0x110, .process = 1, .path = 8, .offset = 56, .size = 8},
                                      .is_false = true,
                                      .count = 300,
                                      .remote = 30},
                                     {.line = 0x7f0000,
                                      .process = 1,
                                      .from = {.insn = 0x20, .process = 1, .path = 0, .offset = 4, .size = 4},
                                      .to = {.insn = 0x120, .process = 9, .path = 1, .offset = 4, .size = 1},
                                      .count = 1200,
                                      .remote = 600}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        as_contacts_add(&bed->contacts, &all[i], 0, (uint32_t)(1 + i));
}

static void fill_rows(struct bed *bed)
{
    struct as_comm_rows *rows = &bed->rows;
    *as_vec_push(&rows->objects) =
        (struct as_comm_object){.what = {.kind = AS_GUEST_HEAP, .process = 1, .name = "heap", .module = ""},
                                .true_ = 1200,
                                .lines = 2,
                                .remote = 600};
    *as_vec_push(&rows->objects) = (struct as_comm_object){.what = {.kind = AS_GUEST_GLOBAL,
                                                                    .process = 1,
                                                                    .name = "counters<&>",
                                                                    .module = "prog",
                                                                    .start = 0x10000,
                                                                    .end = 0x11000},
                                                           .true_ = 1,
                                                           .false_ = 300,
                                                           .lines = 1,
                                                           .in_lock = 75,
                                                           .lock = "pthread_mutex_t"};
    *as_vec_push(&rows->lines) = (struct as_comm_line){.address = 0x7f0000,
                                                       .process = 1,
                                                       .object = 0,
                                                       .true_ = 1200,
                                                       .from_threads = 1,
                                                       .to_threads = 4,
                                                       .contact = 1};
    *as_vec_push(&rows->lines) = (struct as_comm_line){.address = 0x10040,
                                                       .process = 1,
                                                       .object = 1,
                                                       .true_ = 1,
                                                       .false_ = 300,
                                                       .from_threads = 7,
                                                       .to_threads = 5 | UINT64_C(1) << 63,
                                                       .lock = "pthread_mutex_t"};
    *as_vec_push(&rows->pairs) = (struct as_comm_pair){
        .from = {0x20, 1, 0}, .to = {0x120, 1, 1}, .true_ = 1200, .remote = 600, .object = 0, .object_count = 1200};
    *as_vec_push(&rows->pairs) =
        (struct as_comm_pair){.from = {0x10, 1, 2}, .to = {0x110, 1, 8}, .true_ = 1, .false_ = 300, .object = 1};
    *as_vec_push(&rows->far) =
        (struct as_comm_far){.code = {0x120, 1, 0}, .transfers = 1200, .remote = 600, .wanted = 2400, .object = 0};
    *as_vec_push(&rows->advice) = (struct as_comm_advice){.line = 0x10040,
                                                          .count = 300000001,
                                                          .from = "counters[0].hits",
                                                          .to = "counters[7].hits",
                                                          .text = "align <each> element to a line"};
}

static void open_bed(struct bed *bed)
{
    *bed = (struct bed){.options = {.machine = {.sockets = 2, .sampling = AS_SAMPLING_EVENTS},
                                    .detect = {.registers = 4, .buckets = 127}}};
    fill_matrices(bed);
    fill_contacts(bed);
    fill_rows(bed);
    bed->result = (struct as_comm_result){
        .source = "model",
        .threads = threads,
        .n_threads = THREADS,
        .estimate = &bed->estimate,
        .exact = &bed->exact,
        .contacts = &bed->contacts,
        .detect = {.load_samples = 1001,
                   .store_samples = 502,
                   .published = 503,
                   .found = 12,
                   .turns = 3,
                   .armed = 444,
                   .trapped = 8,
                   .unseen = 2},
        .names = {
            .space = space_of, .address = address_of, .frames = frames, .locate = locate, .frame_name = frame_name}};
}

static void close_bed(struct bed *bed)
{
    as_pair_matrix_free(&bed->exact);
    as_pair_matrix_free(&bed->estimate);
    as_contacts_free(&bed->contacts);
    as_vec_free(&bed->rows.objects);
    as_vec_free(&bed->rows.lines);
    as_vec_free(&bed->rows.pairs);
    as_vec_free(&bed->rows.far);
    as_vec_free(&bed->rows.advice);
}

static char *words[] = {"./prog", "<x>", NULL};

static struct as_comm_shown make_shown(const struct bed *bed)
{
    return (struct as_comm_shown){.argv = words,
                                  .options = &bed->options,
                                  .result = &bed->result,
                                  .run = (const struct as_comm_run *)bed,
                                  .seconds = 1.5,
                                  .rows = &bed->rows,
                                  .top = 10};
}

static void show_all(const struct as_comm_shown *shown, const char *what, FILE *out)
{
    unit_golden_section(out, "%s: text", what);
    as_comm_text(shown, out);
    unit_golden_section(out, "%s: JSON", what);
    assert_true(as_comm_json(shown, out));
    unit_golden_section(out, "%s: CSV", what);
    as_comm_csv(shown, out);
    unit_golden_section(out, "%s: page", what);
    as_comm_html(shown, out);
}

static void show_native(struct bed *bed, FILE *out)
{
    const struct as_comm_native_info info = {.seconds = 1.5,
                                             .processor = 3,
                                             .sampling = 0.016,
                                             .lost = 4,
                                             .threads = 5,
                                             .cost = {.samples = 1510,
                                                      .without = 7,
                                                      .armings = 444,
                                                      .traps = 9,
                                                      .causes = 8,
                                                      .refused = 1,
                                                      .postponed = 3,
                                                      .watching = 0.01}};
    struct as_comm_shown shown = make_shown(bed);
    bed->result.source = "timer";
    bed->result.is_time = true;
    bed->result.exact = NULL;
    shown.options = NULL, shown.run = NULL, shown.native = &info;
    shown.heap_unknown = "the agent was not loaded";
    shown.part = "the first second";
    shown.top = 1;
    show_all(&shown, "on this machine", out);
    shown.part = NULL;
    bed->result.detect.found = 2;
    bed->result.n_threads = 1;
    unit_golden_section(out, "one of five threads has samples");
    as_comm_text(&shown, out);
}

static void show_ranks(struct bed *bed, FILE *out)
{
    int32_t pids[] = {100, 200, 0};
    struct as_mpi_sum sums[9] = {[1] = {1000, 10, 0, 0}, [3] = {0, 0, 512, 4}, [5] = {7, 1, 8, 1}};
    struct as_mpi_messages mpi = {.ranks = 3, .pids = pids, .sums = sums, .elsewhere = 6};
    struct as_comm_shown shown = make_shown(bed);
    shown.mpi = &mpi;
    show_all(&shown, "ranks", out);
    mpi.ranks = 0;
    unit_golden_section(out, "no ranks");
    as_comm_text(&shown, out);
}

/* Whose blocks are known: the one that the line's word is in. */
static void show_blocks(struct bed *bed, FILE *out)
{
    const struct as_guest_site site = {.process = 1};
    struct as_comm_shown shown = make_shown(bed);
    struct as_guest_memory *memory = as_guest_memory_new();
    as_guest_memory_add(memory, &site, 0x7f0000 - 64, 64); /* its neighbour */
    as_guest_memory_add(memory, &site, 0x7f0000, 48);
    as_guest_memory_add(memory, &site, 0x10000, 4096); /* where no block is looked for */
    bed->result.memory = memory;
    bed->rows.objects.data[0].what.kind = AS_GUEST_BLOCKS;
    unit_golden_section(out, "blocks: JSON");
    assert_true(as_comm_json(&shown, out));
    bed->rows.objects.data[0].what.kind = AS_GUEST_HEAP;
    bed->result.memory = NULL;
    as_guest_memory_free(memory);
}

static void test_documents(void **state)
{
    FILE *out = unit_golden_begin();
    struct bed bed;
    open_bed(&bed);
    struct as_comm_shown shown = make_shown(&bed);
    show_all(&shown, "two nodes", out);
    bed.options.machine.sockets = 1;
    show_ranks(&bed, out);
    bed.options.machine.sampling = AS_SAMPLING_OPERATIONS;
    bed.result.estimate = NULL;
    show_all(&shown, "exact alone", out);
    bed.result.estimate = &bed.estimate;
    show_blocks(&bed, out);
    show_native(&bed, out);
    close_bed(&bed);
    unit_golden_check(out, "comm_shown.txt");
}

/* Too many threads for numbers: shades, each of the threads with its neighbour. */
static void test_many_threads(void **state)
{
    static struct as_comm_thread many[MANY];
    FILE *out = unit_golden_begin();
    struct bed bed;
    open_bed(&bed);
    as_pair_matrix_free(&bed.exact);
    bed.exact = (struct as_pair_matrix){0};
    as_pair_matrix_grow(&bed.exact, MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        many[i] = (struct as_comm_thread){.number = i + 1, .process = 1, .core = i, .pid = 100, .tid = 100 + (int)i};
        as_pair_matrix_add(&bed.exact, i, (i + 1) % MANY, i % 2, 100 * i);
    }
    bed.result.threads = many, bed.result.n_threads = MANY, bed.result.estimate = NULL;
    struct as_comm_shown shown = make_shown(&bed);
    shown.top = 0;
    as_comm_text(&shown, out);
    unit_golden_check(out, "comm_many.txt");
    bed.result.n_threads = 1;
    close_bed(&bed);
}

static void test_cells(void **state)
{
    static const struct {
        uint64_t count;
        const char *text;
    } cases[] = {{0, "."},           {1, "1"},       {999, "999"},      {1000, "1.0k"},
                 {9949, "9.9k"},     {10000, "10k"}, {12345678, "12M"}, {UINT64_C(1000000000), "1.0G"},
                 {UINT64_MAX, "18E"}};
    char text[24];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(as_comm_cell_text(cases[i].count, text), cases[i].text);
}

static int set_up(void **state)
{
    nowhere = as_space_new(NULL);
    return nowhere ? 0 : -1;
}

static int tear_down(void **state)
{
    as_space_free(nowhere);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_documents), cmocka_unit_test(test_many_threads),
                                       cmocka_unit_test(test_cells)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
