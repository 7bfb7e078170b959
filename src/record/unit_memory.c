/* Mappings of data in the recording of a modelled unit, as `perf record --data` has them: what the program asked the kernel
 * for, and the pages of samples that lie elsewhere: in data of files, whose variables are found by the file, or on the stack
 * that the first thread has from the kernel. The engine knows neither's extent. See record_unit.h.
 */
#include "record/record_unit.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

struct range {
    uint32_t image;
    uint64_t start, end;
    bool is_stack; /* a call or a return accesses it */
};

struct memory {
    const struct as_unit_run *run;
    const struct as_modelled *modelled;
    struct as_perf_writer *writer;
    AS_VEC(struct range) regions, pages;
};

uint32_t as_unit_image(const struct as_modelled *modelled, const struct as_pmu_sample *sample)
{
    size_t n;
    const struct as_path_key *keys = as_model_paths(modelled->model, &n);
    if (sample->insn != AS_PMU_NO_INSN)
        return as_engine_insn_image(as_model_engine(modelled->model), sample->insn);
    return sample->path && sample->path <= n
               ? as_call_tracker_image(as_model_calls(modelled->model), keys[sample->path - 1].tree)->number
               : 1;
}

static void write_range(struct memory *memory, const struct range *range, const char *name)
{
    struct as_perf_process map = {.kind = AS_PERF_MAP,
                                  .pid = range->image,
                                  .tid = range->image,
                                  .start = range->start,
                                  .length = range->end - range->start,
                                  .name = name,
                                  .prot = PROT_READ | PROT_WRITE,
                                  .flags = MAP_PRIVATE};
    as_perf_writer_process(memory->writer, &map);
}

static void write_regions(struct memory *memory)
{
    size_t n;
    const struct as_guest_region *regions = as_guest_memory_regions(memory->run->memory, &n);
    for (size_t i = 0; i < n; i++) {
        const struct as_image *image = as_guest_memory_image(memory->run->memory, regions[i].process);
        if (!image || regions[i].end <= regions[i].start)
            continue;
        struct range *range = as_vec_push(&memory->regions);
        *range = (struct range){image->number, regions[i].start, regions[i].end, false};
        write_range(memory, range, regions[i].shared ? regions[i].shared : regions[i].is_heap ? "[heap]" : "//anon");
    }
}

static bool in_region(const struct memory *memory, const struct range *page)
{
    for (size_t i = memory->regions.len; i-- > 0;) {
        const struct range *region = &memory->regions.data[i];
        if (region->image == page->image && page->start < region->end && page->end > region->start)
            return true;
    }
    return false;
}

static int by_place(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    if (x->image != y->image)
        return x->image < y->image ? -1 : 1;
    return (x->start > y->start) - (x->start < y->start);
}

static bool uses_stack(const struct as_pmu_sample *sample)
{
    return sample->class_ == AS_CLASS_CALL || sample->class_ == AS_CLASS_CALL_INDIRECT ||
           sample->class_ == AS_CLASS_RETURN;
}

static void gather_pages(struct memory *memory)
{
    const struct as_unit_run *run = memory->run;
    for (size_t i = 0; i < run->samples.len; i++) {
        const struct as_pmu_sample *sample = &run->samples.data[i].sample;
        uint64_t start = sample->address & ~(uint64_t)(PAGE - 1);
        if (sample->address && !sample->kernel && start <= UINT64_MAX - PAGE)
            *as_vec_push(&memory->pages) =
                (struct range){as_unit_image(memory->modelled, sample), start, start + PAGE, uses_stack(sample)};
    }
    if (memory->pages.len)
        qsort(memory->pages.data, memory->pages.len, sizeof *memory->pages.data, by_place);
}

/* Neighbours are one mapping. */
static void write_pages(struct memory *memory)
{
    struct range range = {0};
    for (size_t i = 0; i < memory->pages.len; i++) {
        const struct range *page = &memory->pages.data[i];
        if (page->image == range.image && page->start < range.end) {
            range.is_stack |= page->is_stack;
            continue;
        }
        if (in_region(memory, page))
            continue;
        if (page->image != range.image || page->start != range.end) {
            if (range.image)
                write_range(memory, &range, range.is_stack ? "[stack]" : "//anon");
            range = *page;
        }
        range.end = page->end;
        range.is_stack |= page->is_stack;
    }
    if (range.image)
        write_range(memory, &range, range.is_stack ? "[stack]" : "//anon");
}

void as_unit_write_memory(const struct as_unit_run *run, const struct as_modelled *modelled,
                          struct as_perf_writer *writer)
{
    struct memory memory = {.run = run, .modelled = modelled, .writer = writer};
    write_regions(&memory);
    gather_pages(&memory);
    write_pages(&memory);
    as_vec_free(&memory.regions);
    as_vec_free(&memory.pages);
}
