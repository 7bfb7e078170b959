/* The columns of a line without an event, of which perf script -F may have left out any:
 *
 *     comm pid/tid [cpu] seconds.fraction: period ip symbol (module)
 *
 * The time, the processor and ids with a slash have a form of their own. Behind them one number is the address of code, and
 * two are the period and the address. In other lines a number before the address is the thread or the period, which
 * perf's layout tells apart; where somebody has changed it, a number that could be either is unclear.
 */
#include "perfdata/perf_script_plain.h"

enum { IDS_WIDTH = 5, PERIOD_WIDTH = 10, MOST_THREADS = 1 << 22 /* Linux has no greater number */ };

static size_t blanks_before(const char *line, const char *at)
{
    size_t count = 0;
    while (at > line && (at[-1] == ' ' || at[-1] == '\t')) {
        at--;
        count++;
    }
    return count;
}

enum as_script_layout as_script_layout_before(const char *line, const char *address)
{
    return blanks_before(line, address) > 1 ? AS_SCRIPT_KEPT : AS_SCRIPT_LOST;
}

enum as_script_layout as_script_layout_of(const char *line)
{
    bool padded = line[0] == ' ' || line[0] == '\t' || strstr(line, "  ") || strchr(line, '\t');
    return padded ? AS_SCRIPT_UNKNOWN : AS_SCRIPT_LOST;
}

enum as_script_number as_script_number(const char *line, struct word word, enum as_script_layout layout)
{
    if (!is_number(word))
        return AS_SCRIPT_UNCLEAR;
    size_t blanks = blanks_before(line, word.start), first = word.start - blanks == line ? 0 : 1;
    size_t width = word.length + blanks - first;
    if (strtoull(word.start, NULL, 10) > MOST_THREADS || width >= PERIOD_WIDTH)
        return AS_SCRIPT_PERIOD;
    if (layout == AS_SCRIPT_KEPT && width < IDS_WIDTH)
        return AS_SCRIPT_NAME;
    return layout == AS_SCRIPT_LOST && word.length > IDS_WIDTH ? AS_SCRIPT_UNCLEAR : AS_SCRIPT_IDS;
}

static bool has_digit(struct word word)
{
    return strcspn(word.start, "0123456789") < word.length;
}

bool as_script_is_code(struct word word)
{
    enum { SHORT = 4 };
    return is_hex(word) && word.length > SHORT && has_digit(word);
}

/* "[period] ip symbol" behind a column that is certain. A lone number is the period if frames follow. */
static bool read_behind(const struct word *words, size_t count, size_t at, struct as_script_plain *plain)
{
    if (at == count)
        return true;
    bool two = at + 1 < count && is_hex(words[at]) && as_script_is_code(words[at + 1]);
    if (two) {
        plain->unclear = !is_number(words[at]);
        plain->period = at;
    }
    plain->ip = at + two;
    return is_hex(words[at]) && has_digit(words[at]);
}

/* The first run of numbers that ends in an address or with the line. */
static size_t find_numbers(const struct word *words, size_t count, size_t *end)
{
    for (size_t first = 0; first<count; first = *end> first ? *end : first + 1) {
        for (*end = first; *end < count && (is_number(words[*end]) || as_script_is_code(words[*end]));)
            ++*end;
        if (*end > first && (*end == count || as_script_is_code(words[*end - 1])))
            return first;
    }
    return *end = count;
}

static bool read_loose(const char *line, const struct word *words, size_t count, struct as_script_plain *plain)
{
    enum { IP_WIDTH = 16 };
    size_t end, first = find_numbers(words, count, &end), last = end - 1;
    plain->name = count;
    if (first == count)
        return count > 0;
    bool wide = blanks_before(line, words[last].start) + words[last].length >= IP_WIDTH;
    if (as_script_is_code(words[last]) && (end < count || !is_number(words[last]) || last > first || wide))
        plain->ip = plain->name = end = last;
    enum as_script_layout layout =
        plain->ip == AS_SCRIPT_NONE ? AS_SCRIPT_UNKNOWN : as_script_layout_before(line, words[last].start);
    enum as_script_number kind = end > first ? as_script_number(line, words[end - 1], layout) : AS_SCRIPT_NAME;
    if (kind == AS_SCRIPT_PERIOD) {
        plain->period = plain->name = --end;
        kind = end > first ? as_script_number(line, words[end - 1], layout) : AS_SCRIPT_NAME;
    }
    plain->unclear = kind == AS_SCRIPT_UNCLEAR || (kind == AS_SCRIPT_PERIOD && plain->period != AS_SCRIPT_NONE);
    if (kind == AS_SCRIPT_IDS)
        plain->ids = plain->name = end - 1;
    return true;
}

static bool leads_to_number(const struct word *words, size_t count, size_t at)
{
    return at == count || is_hex(words[at]);
}

bool as_script_plain(const char *line, const struct word *words, size_t count, struct as_script_plain *plain)
{
    uint64_t time;
    uint32_t a, b;
    *plain = (struct as_script_plain){.ids = AS_SCRIPT_NONE,
                                      .cpu = AS_SCRIPT_NONE,
                                      .time = AS_SCRIPT_NONE,
                                      .period = AS_SCRIPT_NONE,
                                      .ip = AS_SCRIPT_NONE};
    for (size_t i = 0; i < count && plain->time == AS_SCRIPT_NONE; i++)
        if (is_time(words[i], &time))
            plain->time = i;
    bool timed = plain->time != AS_SCRIPT_NONE;
    for (size_t i = 0; i < count && plain->cpu == AS_SCRIPT_NONE; i++)
        if (is_cpu(words[i], &a) && (timed ? i + 1 == plain->time : leads_to_number(words, count, i + 1)))
            plain->cpu = i;
    size_t anchor = plain->cpu != AS_SCRIPT_NONE ? plain->cpu : plain->time;
    if (anchor != AS_SCRIPT_NONE) {
        if (anchor > 0 && is_ids(words[anchor - 1], &a, &b))
            plain->ids = anchor - 1;
        plain->name = plain->ids != AS_SCRIPT_NONE ? plain->ids : anchor;
        return read_behind(words, count, (timed ? plain->time : plain->cpu) + 1, plain);
    }
    for (size_t i = 0; i < count; i++)
        if (!is_number(words[i]) && is_ids(words[i], &a, &b) && leads_to_number(words, count, i + 1)) {
            plain->ids = plain->name = i;
            return read_behind(words, count, i + 1, plain);
        }
    return read_loose(line, words, count, plain);
}
