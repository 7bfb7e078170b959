/* The table of all keys of a .pmu file. doc/format/pmu.md describes them; a test compares the two. A unit states every
 * number that its kind has, so that nothing is assumed silently. */
#include "pmu/pmu_table.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const char *const as_pmu_kind_names[] = {[AS_PMU_PEBS] = "pebs", [AS_PMU_IBS] = "ibs", [AS_PMU_SPE] = "spe",
                                         [AS_PMU_TIP] = "tip",   [AS_PMU_TEA] = "tea", NULL};
static const char *const stage_names[] = {[AS_PMU_STAGE_COMMIT] = "commit", [AS_PMU_STAGE_DISPATCH] = "dispatch", NULL};
static const char *const slot_names[] = {[AS_PMU_SLOT_FIRST] = "first", [AS_PMU_SLOT_ANY] = "any", NULL};

enum {
    PEBS = 1 << AS_PMU_PEBS,
    IBS = 1 << AS_PMU_IBS,
    SPE = 1 << AS_PMU_SPE,
    TIP = 1 << AS_PMU_TIP | 1 << AS_PMU_TEA,
    ALL = (1 << AS_PMU_KINDS) - 1,
};

#define AT(member) offsetof(struct as_pmu, member)
#define TEXT(key, member, meaning)                                                                                     \
    {                                                                                                                  \
        key, AS_PMU_TEXT, 0, AT(member), 0, sizeof((struct as_pmu *)0)->member, NULL, meaning                          \
    }
#define COUNT(key, kinds, member, min, max, meaning)                                                                   \
    {                                                                                                                  \
        key, AS_PMU_COUNT, kinds, AT(member), min, max, NULL, meaning                                                  \
    }
#define YESNO(key, kinds, member, meaning)                                                                             \
    {                                                                                                                  \
        key, AS_PMU_YESNO, kinds, AT(member), 0, 1, NULL, meaning                                                      \
    }
#define CHOICE(key, kinds, member, choices, meaning)                                                                   \
    {                                                                                                                  \
        key, AS_PMU_CHOICE, kinds, AT(member), 0, 0, choices, meaning                                                  \
    }
#define SHADOW(name, index, what)                                                                                      \
    COUNT("shadow." name, PEBS, shadow[index], 0, 100000, "cycles from an overflow until the unit is armed: " what)

const struct as_pmu_field as_pmu_fields[] = {
    TEXT("name", name, "the unit's name; the file's own where absent"),
    TEXT("description", description, "one line for people"),
    TEXT("source", source, "where the numbers come from"),
    TEXT("cpu_id", cpu_id, "the processor, as perf names it in a recording; its kernel reads samples accordingly"),
    CHOICE("kind", ALL, kind, as_pmu_kind_names, "the mechanism"),

    COUNT("counters", PEBS, counters, 1, 16, "programmable counters that can sample"),
    COUNT("fixed", PEBS, fixed, 0, 3, "fixed counters that can sample: of instructions, cycles, reference cycles"),
    YESNO("pdir", PEBS, pdir, "instructions can be sampled without a shadow (precise distribution)"),
    YESNO("latency", PEBS, latency, "loads can be sampled by latency, with their data source"),
    SHADOW("instructions", AS_SHADOW_INSTRUCTIONS, "instructions"),
    SHADOW("loads", AS_SHADOW_LOADS, "loads, locked loads, hits"),
    SHADOW("stores", AS_SHADOW_STORES, "stores"),
    SHADOW("branches", AS_SHADOW_BRANCHES, "branches"),
    SHADOW("l1_miss", AS_SHADOW_L1_MISS, "loads that missed the L1"),
    SHADOW("l2_miss", AS_SHADOW_L2_MISS, "loads that missed the L2"),
    SHADOW("l3_miss", AS_SHADOW_L3_MISS, "loads that missed the last level"),
    COUNT("multiplex", PEBS, multiplex, 1, 1000000,
          "microseconds that a set of events keeps the counters where there are more events than counters"),

    COUNT("random_bits", IBS, random_bits, 0, 16, "random bits that the operation counter starts with"),
    COUNT("fetch_random_bits", IBS, fetch_random_bits, 0, 16, "random bits that the fetch counter starts with"),
    YESNO("counts_ops", IBS, counts_ops, "the operation counter can count operations, not cycles alone"),
    YESNO("off_by_one", IBS, off_by_one, "a sample has the address of the instruction behind the tagged one"),
    CHOICE("slot", IBS, slot, slot_names, "the operation of a dispatch group that is tagged"),
    COUNT("interrupt", IBS, interrupt, 0, 1000000,
          "cycles at least from the tagged operation's retirement until the handler runs"),
    COUNT("interrupt_jitter", IBS, jitter, 0, 1000000, "cycles up to which it may be more"),

    COUNT("jitter_bits", SPE, jitter_bits, 0, 16, "random bits that are added to each interval"),
    COUNT("least_interval", SPE, least_interval, 1, 1000000, "operations that an interval must have"),
    COUNT("target_window", SPE, target_window, 0, 16,
          "instructions behind a branch target whose samples the target gets (0: none)"),

    CHOICE("stage", TIP, stage, stage_names, "where a sampled instruction is chosen"),

    COUNT("lbr", PEBS | IBS, lbr, 0, 64, "branches in the branch record (0: there is none)"),
    YESNO("lbr_mispredicts", PEBS | IBS, lbr_mispredicts, "branch records say whether they were mispredicted"),
    YESNO("lbr_cycles", PEBS | IBS, lbr_cycles, "branch records say the cycles since the one before"),
    YESNO("lbr_call_stack", PEBS | IBS, lbr_call_stack, "returns can take their call out of the branch record"),

    COUNT("record_bytes", ALL, record_bytes, 8, 4096, "bytes that a sample has in the buffer"),
    COUNT("buffer_records", ALL, buffer_records, 1, 1 << 20, "samples in the buffer that raise the interrupt"),
    COUNT("buffer_bytes", ALL, buffer_bytes, 0, 1 << 30, "memory of each thread for samples"),
    COUNT("cost.assist", ALL, assist, 0, 1000000, "cycles in which the processor writes a sample"),
    COUNT("cost.interrupt", ALL, interrupt_cost, 0, 10000000, "cycles of an interrupt with its handler"),
    COUNT("cost.copy", ALL, copy, 0, 1000000, "cycles in which the kernel copies a sample to the user's buffer"),
    COUNT("cost.signal", ALL, signal, 0, 10000000, "cycles of a signal to the program, and of the return from it"),
    COUNT("cost.ioctl", ALL, ioctl, 0, 10000000, "cycles in which a handler stops and restarts the event"),
    COUNT("handler_loads", ALL, handler_loads, 0, 1000000, "loads of that, which the event counts if it counts loads"),

    COUNT("kernel.entry", ALL, kernel_entry, 0, 10000, "instructions from a system call to its body"),
    COUNT("kernel.body", ALL, kernel_body, 0, 10000, "instructions of its body"),
    COUNT("kernel.locked", ALL, kernel_locked, 0, 100, "of which are locked adds, the last of the body"),
    COUNT("kernel.exit", ALL, kernel_exit, 0, 10000, "instructions from the body back to the program"),
};

const size_t as_pmu_fields_count = sizeof as_pmu_fields / sizeof *as_pmu_fields;

const struct as_pmu_field *as_pmu_field_find(const char *key)
{
    for (size_t i = 0; i < as_pmu_fields_count; i++)
        if (strcmp(as_pmu_fields[i].key, key) == 0)
            return &as_pmu_fields[i];
    return NULL;
}

bool as_pmu_field_of(const struct as_pmu_field *field, uint32_t kind)
{
    return field->kinds >> kind & 1;
}

const char *as_pmu_field_allowed(const struct as_pmu_field *field, char *text, size_t size)
{
    struct as_str words = {0};
    if (field->kind == AS_PMU_TEXT)
        snprintf(text, size, "one line of less than %u bytes", field->max);
    else if (field->kind == AS_PMU_YESNO)
        snprintf(text, size, "yes or no");
    else if (field->kind == AS_PMU_COUNT)
        snprintf(text, size, "a whole number from %u to %u", field->min, field->max);
    else {
        for (size_t i = 0; field->choices[i]; i++)
            as_str_add_word(&words, true, field->choices[i]);
        snprintf(text, size, "one of %s", as_str_get(&words));
        as_str_free(&words);
    }
    return text;
}

static bool parse_count(const struct as_pmu_field *field, uint32_t *to, const char *text)
{
    char *end;
    if (!isdigit((unsigned char)*text) || strlen(text) > 9)
        return false;
    unsigned long value = strtoul(text, &end, 10);
    *to = (uint32_t)value;
    return *end == '\0' && value >= field->min && value <= field->max;
}

static bool parse_choice(const struct as_pmu_field *field, uint32_t *to, const char *text)
{
    for (*to = 0; field->choices[*to]; ++*to)
        if (strcmp(field->choices[*to], text) == 0)
            return true;
    return false;
}

static bool parse_text(const struct as_pmu_field *field, char *to, const char *text)
{
    size_t length = strlen(text);
    if (length >= field->max || strchr(text, '#'))
        return false;
    memset(to, 0, field->max);
    memcpy(to, text, length);
    return true;
}

bool as_pmu_field_parse(const struct as_pmu_field *field, struct as_pmu *pmu, const char *text)
{
    void *to = (char *)pmu + field->offset;
    switch (field->kind) {
    case AS_PMU_TEXT:
        return parse_text(field, to, text);
    case AS_PMU_COUNT:
        return parse_count(field, to, text);
    case AS_PMU_CHOICE:
        return parse_choice(field, to, text);
    case AS_PMU_YESNO:
        *(bool *)to = strcmp(text, "yes") == 0;
        return *(bool *)to || strcmp(text, "no") == 0;
    }
    return false;
}

const char *as_pmu_field_text(const struct as_pmu_field *field, const struct as_pmu *pmu, char *text, size_t size)
{
    const void *from = (const char *)pmu + field->offset;
    if (field->kind == AS_PMU_TEXT)
        snprintf(text, size, "%s", (const char *)from);
    else if (field->kind == AS_PMU_YESNO)
        snprintf(text, size, "%s", *(const bool *)from ? "yes" : "no");
    else if (field->kind == AS_PMU_CHOICE)
        snprintf(text, size, "%s", field->choices[*(const uint32_t *)from]);
    else
        snprintf(text, size, "%u", *(const uint32_t *)from);
    return text;
}
