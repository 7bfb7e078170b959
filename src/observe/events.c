/* See events.h. */
#include "observe/events.h"

#include "base/split.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MISSES = AS_EVENT_ST_L1 | AS_EVENT_DR_L1 };

const struct as_event_info as_events[AS_EVENT_COUNT] = {
    {AS_EVENT_DR_L1, "DR-L1", "instruction cache miss", AS_EXPLAINS_DRAINED, 0},
    {AS_EVENT_DR_TLB, "DR-TLB", "instruction TLB miss", AS_EXPLAINS_DRAINED, 0},
    {AS_EVENT_DR_SQ, "DR-SQ", "store that waited at dispatch for a full store queue", AS_EXPLAINS_DRAINED, 0},
    {AS_EVENT_FL_MB, "FL-MB", "mispredicted branch", AS_EXPLAINS_FLUSHED, 0},
    {AS_EVENT_FL_EX, "FL-EX", "exception, or flush at commit", AS_EXPLAINS_FLUSHED, 0},
    {AS_EVENT_FL_MO, "FL-MO", "memory-order violation", AS_EXPLAINS_FLUSHED, 0},
    {AS_EVENT_ST_L1, "ST-L1", "data cache miss", AS_EXPLAINS_STALLED, 0},
    {AS_EVENT_ST_TLB, "ST-TLB", "data TLB miss", AS_EXPLAINS_STALLED, 0},
    {AS_EVENT_ST_LLC, "ST-LLC", "last-level cache miss", AS_EXPLAINS_STALLED, AS_EVENT_ST_L1},
    {AS_EVENT_L2_HIT, "L2-HIT", "first-level miss that hit the L2", AS_EXPLAINS_STALLED, MISSES},
    {AS_EVENT_LLC_HIT, "LLC-HIT", "first-level miss that hit the last-level cache", AS_EXPLAINS_STALLED, MISSES},
    {AS_EVENT_PREFETCHED, "PREFETCHED", "first use of a line that a prefetch asked for", AS_EXPLAINS_STALLED, 0},
    {AS_EVENT_FORWARDED, "FORWARDED", "load served by the store queue", AS_EXPLAINS_STALLED, 0},
    {AS_EVENT_BANK, "BANK", "cache access delayed by a bank conflict", AS_EXPLAINS_STALLED, 0},
    {AS_EVENT_DIVIDE, "DIVIDE", "division or square root, in a unit that is not pipelined", AS_EXPLAINS_STALLED, 0},
    {AS_EVENT_COHERENCE, "ST-CO", "wait for another core's copy of a line", AS_EXPLAINS_STALLED, 0},
    {AS_EVENT_ORDER, "ORDER", "atomic, fence, or load that waits for older stores to drain", AS_EXPLAINS_STALLED, 0},
};

static const struct {
    const char *name;
    uint32_t events;
} sets[] = {{"tea", AS_EVENTS_TEA},
            {"ibs", AS_EVENTS_IBS},
            {"spe", AS_EVENTS_SPE},
            {"ris", AS_EVENTS_RIS},
            {"threads", AS_EVENTS_THREADS},
            {"all", AS_EVENTS_ALL},
            {"none", 0}};

const char *as_explains_name(enum as_explains explains)
{
    static const char *const names[] = {"drained", "flushed", "stalled"};
    return names[explains];
}

const struct as_event_info *as_event_find(const char *name)
{
    for (int i = 0; i < AS_EVENT_COUNT; i++)
        if (strcasecmp(as_events[i].name, name) == 0)
            return &as_events[i];
    return NULL;
}

static bool find_set(const char *name, uint32_t *events)
{
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (strcasecmp(sets[i].name, name) == 0) {
            *events = sets[i].events;
            return true;
        }
    return false;
}

void as_events_list(uint32_t events, struct as_str *list)
{
    for (int i = 0; i < AS_EVENT_COUNT; i++)
        as_str_add_word(list, as_events[i].bit & events, as_events[i].name);
}

void as_event_sets_name(struct as_str *list)
{
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        as_str_add_word(list, true, sets[i].name);
}

static bool unknown(const char *word, struct as_error *err)
{
    struct as_str known = {0}, known_sets = {0};
    as_events_list(AS_EVENTS_ALL, &known);
    as_event_sets_name(&known_sets);
    as_error_set_status(err, AS_EXIT_USAGE, "unknown event '%.100s'; the events are %s, and the sets %s", word,
                        as_str_get(&known), as_str_get(&known_sets));
    as_str_free(&known);
    as_str_free(&known_sets);
    return false;
}

/* Applies one word of the list. */
static bool apply(const char *word, uint32_t possible, uint32_t *events, struct as_error *err)
{
    bool out = *word == '-';
    const char *name = *word == '-' || *word == '+' ? word + 1 : word;
    uint32_t named;
    if (!find_set(name, &named)) {
        const struct as_event_info *event = as_event_find(name);
        if (!event)
            return unknown(name, err);
        if (!out && !(event->bit & possible))
            return as_error_set_status(err, AS_EXIT_USAGE, "this machine cannot raise the event %s (%s)", event->name,
                                       event->description);
        named = event->bit;
    }
    *events = out ? *events & ~named : *events | (named & possible);
    return true;
}

bool as_events_parse(const char *text, uint32_t usual, uint32_t possible, uint32_t *events, struct as_error *err)
{
    char **words = as_split(text, ",", NULL);
    bool ok = words[0] || as_error_set_status(err, AS_EXIT_USAGE, "the list of events is empty");
    *events = words[0] && (*words[0] == '+' || *words[0] == '-') ? usual & possible : 0;
    for (char **word = words; *word && ok; word++)
        ok = apply(*word, possible, events, err);
    as_split_free(words);
    return ok && as_events_check(*events, err);
}

bool as_events_check(uint32_t events, struct as_error *err)
{
    for (int i = 0; i < AS_EVENT_COUNT; i++) {
        const struct as_event_info *event = &as_events[i];
        uint32_t missing = event->roots & ~events;
        char roots[AS_EVENTS_NAME_MAX];
        if (events & event->bit && missing)
            return as_error_set_status(err, AS_EXIT_USAGE,
                                       "the event %s (%s) needs %s in the set too: without it, time without %s can be "
                                       "a hit or a miss, and the stacks cannot be read",
                                       event->name, event->description, as_events_name(missing, roots, sizeof roots),
                                       event->name);
    }
    return true;
}

const char *as_events_name(uint32_t events, char *buffer, size_t size)
{
    size_t at = 0;
    buffer[0] = '\0';
    for (int i = 0; i < AS_EVENT_COUNT; i++) {
        size_t length = strlen(as_events[i].name) + (at > 0);
        if (!(events & as_events[i].bit) || at + length >= size)
            continue;
        if (at > 0)
            buffer[at++] = '+';
        strcpy(buffer + at, as_events[i].name);
        at = strlen(buffer);
    }
    if (at == 0 && size > strlen("Base"))
        strcpy(buffer, "Base");
    return buffer;
}

uint32_t as_events_leaves(uint32_t events)
{
    uint32_t implied = 0;
    for (int i = 0; i < AS_EVENT_COUNT; i++)
        if (events & as_events[i].bit)
            implied |= as_events[i].roots;
    return events & ~implied;
}
