/* Data accesses of a recording: the object that an address belongs to, and the number of accesses. See import.h.
 *
 * An object is a variable of a module, or a section of the module if no symbol covers the address; a mapped file; the
 * heap; a stack; or a mapping without a name. Each such mapping is an object of its own, because a large allocation is
 * one.
 */
#include "base/saturate.h"
#include "base/search.h"
#include "import/import_internal.h"

#include <inttypes.h>

enum {
    MOST_REGIONS = 4096, /* most mappings without a name; all further ones are one object */
    RED_ZONE = 256,      /* bytes below the stack pointer that a function may use */
    /* Bytes above the stack pointer that may still be the main thread's stack, which grows without a record. */
    STACK_MOST = 64 << 20,
};

void as_import_data_open(struct as_import *import)
{
    import->data.object_keys = as_strings_new();
}

void as_import_data_free(struct as_import_data *data)
{
    if (data->object_keys)
        as_strings_free(data->object_keys);
    as_map_free(&data->numbers);
    as_vec_free(&data->accesses);
}

/* ---- objects ---- */

static uint32_t object_of(struct as_import *import, const struct as_store_object *object)
{
    char *key = as_format("%" PRIu32 " %" PRIx64 " %s", object->module, object->address, object->name);
    size_t before = as_strings_count(import->data.object_keys);
    uint32_t number = as_strings_intern(import->data.object_keys, key);
    free(key);
    if (number == before)
        as_store_add_object(import->writer, object);
    return number;
}

static uint32_t named_region(struct as_import *import, const char *name)
{
    return object_of(import, &(struct as_store_object){.module = AS_STORE_NONE, .name = name});
}

/* Whether the address is in the stack pointer's mapping and not below the pointer. The main thread's stack may have
 * outgrown its mapping. */
static bool on_stack(struct as_import *import, const struct as_import_touch *touch, const struct as_perf_data *data)
{
    struct as_perf_data stack;
    if (!touch->stack_pointer || touch->address + RED_ZONE < touch->stack_pointer)
        return false;
    bool known = data->region_end > 0;
    if (touch->pid == touch->tid && (!known || strcmp(data->file.module, "[stack]") == 0))
        return touch->address - touch->stack_pointer + RED_ZONE < STACK_MOST;
    as_perf_spaces_data(import->spaces, touch->pid, touch->stack_pointer, &stack);
    return known && stack.region_end > 0 && data->region_start == stack.region_start &&
           data->region_end == stack.region_end && strcmp(data->file.module, "[anon]") == 0;
}

static uint32_t module_object(struct as_import *import, const struct as_import_touch *touch,
                              const struct as_perf_data *data)
{
    uint32_t module = as_import_code_module(&import->code, &data->file, touch->address);
    uint64_t base = import->code.modules.data[module].base;
    bool variable = data->variable != NULL;
    return object_of(import, &(struct as_store_object){.module = module,
                                                       .name = variable ? data->variable : data->file.module_name,
                                                       .address = variable ? base + data->start : 0,
                                                       .size = variable ? data->size : 0});
}

static uint32_t find_object(struct as_import *import, const struct as_import_touch *touch)
{
    struct as_perf_data data;
    as_perf_spaces_data(import->spaces, touch->pid, touch->address, &data);
    if (data.variable || data.file.match != AS_PERF_NO_FILE)
        return module_object(import, touch, &data);
    if (on_stack(import, touch, &data))
        return named_region(import, touch->pid == touch->tid ? "[stack]" : "[stack of thread]");
    if (strcmp(data.file.module, "[unknown]") == 0)
        return AS_STORE_NONE;
    if (strcmp(data.file.module, "[anon]") != 0 || import->data.regions >= MOST_REGIONS)
        return named_region(import, data.file.module);
    size_t before = as_strings_count(import->data.object_keys);
    struct as_store_object region = {.module = AS_STORE_NONE,
                                     .name = "[anon]",
                                     .address = data.region_start,
                                     .size = data.region_end - data.region_start};
    uint32_t number = object_of(import, &region);
    import->data.regions += number == before;
    return number;
}

/* ---- accesses ---- */

static bool same_access(const struct as_import_access *a, const struct as_import_access *b)
{
    return a->event == b->event && a->thread == b->thread && a->instruction == b->instruction &&
           a->object == b->object && a->address == b->address && a->size == b->size && a->kind == b->kind &&
           a->how == b->how && a->events == b->events;
}

static struct as_import_access *access_of(struct as_import_data *data, const struct as_import_access *access)
{
    uint64_t words[] = {(uint64_t)access->event << 32 | access->thread,
                        (uint64_t)access->instruction << 32 | access->object, access->address,
                        (uint64_t)access->size << 16 | (uint64_t)(access->kind << 8 | access->how), access->events};
    for (uint64_t key = as_hash_bytes(words, sizeof words);; key++) {
        uint64_t *number = as_map_put(&data->numbers, key);
        if (*number == 0) {
            *as_vec_push(&data->accesses) = *access;
            *number = data->accesses.len;
        }
        struct as_import_access *known = &data->accesses.data[*number - 1];
        if (same_access(known, access))
            return known;
    }
}

uint32_t as_import_add_touch(struct as_import *import, const struct as_import_touch *touch)
{
    struct as_import_frame frame = {.pid = touch->pid, .mode = touch->mode, .address = touch->ip};
    struct as_import_location location;
    as_import_code_find(&import->code, &frame, &location);
    struct as_import_access access = {.event = touch->event,
                                      .thread =
                                          as_import_thread(import, touch->pid, touch->tid,
                                                           as_perf_spaces_comm(import->spaces, touch->pid, touch->tid)),
                                      .instruction = as_import_code_instruction(&import->code, &frame, &location),
                                      .object = find_object(import, touch),
                                      .address = touch->address,
                                      .size = touch->size,
                                      .kind = touch->kind,
                                      .how = touch->how,
                                      .events = touch->events};
    struct as_import_access *sum = access_of(&import->data, &access);
    as_add_to(&sum->units, touch->units);
    as_add_to(&sum->weight, touch->weight);
    as_add_to(&sum->samples, touch->samples);
    return (uint32_t)(sum - import->data.accesses.data);
}

void as_import_add_to_access(struct as_import *import, uint32_t number, uint64_t units, uint64_t samples)
{
    struct as_import_access *access = &import->data.accesses.data[number];
    as_add_to(&access->units, units);
    as_add_to(&access->samples, samples);
}

void as_import_expect_access(struct as_import *import, uint8_t kind, uint32_t size)
{
    import->data.kind = kind;
    import->data.size = size;
}

void as_import_count_found(struct as_import *import, uint8_t how, uint64_t samples)
{
    import->data.how[how] += samples;
}

void as_import_sample_address(struct as_import *import, const struct as_perf_sample *sample,
                              const struct as_import_facts *facts)
{
    if (!facts->tells_address || sample->n_frames > 0)
        return;
    import->data.without += facts->address == 0;
    import->data.how[AS_STORE_HOW_HARDWARE] += facts->address != 0;
    if (facts->address == 0)
        return;
    as_import_add_touch(import, &(struct as_import_touch){.event = sample->event->index,
                                                          .pid = sample->pid,
                                                          .tid = sample->tid,
                                                          .mode = sample->mode,
                                                          .ip = sample->ip,
                                                          .address = facts->address,
                                                          .size = facts->size ? facts->size : import->data.size,
                                                          .kind = facts->kind ? facts->kind : import->data.kind,
                                                          .how = AS_STORE_HOW_HARDWARE,
                                                          .events = facts->events,
                                                          .units = sample->period,
                                                          .weight = facts->weight,
                                                          .samples = 1});
}

/* ---- writing ---- */

static int by_event(const void *a, const void *b)
{
    const struct as_import_access *x = a, *y = b;
    if (x->event != y->event)
        return x->event < y->event ? -1 : 1;
    if (x->instruction != y->instruction)
        return x->instruction < y->instruction ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->address > y->address) - (x->address < y->address);
}

void as_import_sort_accesses(struct as_import *import)
{
    struct as_import_data *data = &import->data;
    as_map_free(&data->numbers);
    if (data->accesses.len)
        qsort(data->accesses.data, data->accesses.len, sizeof *data->accesses.data, by_event);
}

/* The first access of an event. */
static size_t first_of(const struct as_import_data *data, uint32_t event)
{
    return as_search(0, data->accesses.len, i, data->accesses.data[i].event < event);
}

static void write_access(const struct as_import *import, const struct as_import_access *access, uint32_t series,
                         uint64_t units)
{
    as_store_add_access(import->writer, &(struct as_store_access){.series = series,
                                                                  .thread = access->thread,
                                                                  .instruction = access->instruction,
                                                                  .address = access->address,
                                                                  .size = access->size,
                                                                  .kind = access->kind,
                                                                  .how = access->how,
                                                                  .object = access->object,
                                                                  .units = units,
                                                                  .samples = access->samples});
    if (!access->events)
        return;
    struct as_store_access_component component = {.series = series,
                                                  .thread = access->thread,
                                                  .instruction = access->instruction,
                                                  .address = access->address,
                                                  .kind = access->kind,
                                                  .object = access->object,
                                                  .events = access->events,
                                                  .units = units,
                                                  .samples = access->samples};
    as_store_add_access_component(import->writer, &component);
}

void as_import_write_accesses(const struct as_import *import, uint32_t event, uint32_t series, bool weights)
{
    const struct as_import_data *data = &import->data;
    for (size_t i = first_of(data, event); i < data->accesses.len && data->accesses.data[i].event == event; i++)
        write_access(import, &data->accesses.data[i], series,
                     weights ? data->accesses.data[i].weight : data->accesses.data[i].units);
}

void as_import_write_data_quality(const struct as_import *import)
{
    static const struct {
        const char *key, *text;
    } rows[AS_STORE_HOW_COUNT] = {
        [AS_STORE_HOW_HARDWARE] = {"data_hardware", "samples whose data address was recorded with them"},
        [AS_STORE_HOW_EXACT] = {"data_exact",
                                "samples at an instruction that accesses memory: its address was computed "
                                "from the registers"},
        [AS_STORE_HOW_NEXT] = {"data_next", "samples whose access comes some instructions later: computed likewise"},
        [AS_STORE_HOW_WATCHED] = {"data_watched", "samples whose address depends on loaded values: taken from a later "
                                                  "execution of the instruction, by an execution watchpoint"},
    };
    const struct as_import_data *data = &import->data;
    for (size_t i = 0; i < AS_STORE_HOW_COUNT; i++)
        if (data->how[i])
            as_store_add_quality(import->writer, rows[i].key, (double)data->how[i], rows[i].text);
    if (data->without && !import->options.addresses && data->how[AS_STORE_HOW_HARDWARE])
        as_store_add_quality(import->writer, "data_none", (double)data->without,
                             "samples without a data address, of events that record it");
}
