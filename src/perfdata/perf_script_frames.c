/* Frames in the text of `perf script`, and what a sample's line has behind the event. See perf_script.c for the form. */
#include "perfdata/perf_script_inside.h"

#include <linux/perf_event.h>

enum { FRAMES_MAX = 8192, BRANCHES_MAX = AS_PERF_WORDS_MAX / 3 };

/* The start of the module's parenthesis; NULL: the text does not end in one. */
static const char *module_start(const char *text)
{
    static const char deleted[] = " (deleted))";
    size_t length = strlen(text);
    if (length == 0 || text[length - 1] != ')')
        return NULL;
    const char *limit = text + length;
    if (length > sizeof deleted && strcmp(limit - (sizeof deleted - 1), deleted) == 0)
        limit -= sizeof deleted - 1;
    for (const char *at = limit - 1; at >= text; at--)
        if (*at == '(' && (at == text || at[-1] == ' ') && strncmp(at, "(deleted)+0x", 12) != 0)
            return at;
    return NULL;
}

/* Cuts "+0x12" off the end of a name. Returns the number; UINT64_MAX: there is none. */
static uint64_t take_offset(char *name)
{
    char *plus = NULL, *end;
    for (char *at = name; (at = strstr(at, "+0x")) != NULL; at++)
        plus = at;
    if (plus == NULL || !isxdigit((unsigned char)plus[3]))
        return UINT64_MAX;
    uint64_t offset = strtoull(plus + 3, &end, 16);
    if (*end != '\0')
        return UINT64_MAX;
    *plus = '\0';
    return offset;
}

/* "symbol+0x12 (module)", "symbol+0x12 (module+0x1012)", "symbol (inlined)", "[unknown] (module)", "symbol". Modifies
 * `text`. */
static void read_symbol(struct as_perf_reader *reader, char *text, struct as_perf_frame *frame)
{
    frame->in_module = UINT64_MAX;
    char *module = (char *)module_start(text);
    if (module != NULL) {
        text[strlen(text) - 1] = '\0';
        frame->inlined = strcmp(module + 1, "inlined") == 0;
        frame->in_module = take_offset(module + 1);
        frame->module = frame->inlined || strcmp(module + 1, "[unknown]") == 0
                            ? NULL
                            : as_perf_keep(reader, module + 1, strlen(module));
        *module = '\0';
    }
    for (size_t length = strlen(text); length > 0 && text[length - 1] == ' '; length--)
        text[length - 1] = '\0';
    frame->offset = take_offset(text);
    if (text[0] != '\0' && strcmp(text, "[unknown]") != 0)
        frame->symbol = as_perf_keep(reader, text, strlen(text));
}

bool as_script_add_frame(struct script *script, char *line)
{
    const char *at = line;
    struct word ip = next_word(&at);
    if (!is_hex(ip))
        return false;
    struct as_perf_frame frame = {.ip = strtoull(ip.start, NULL, 16)};
    while (*at == ' ')
        at++;
    read_symbol(script->reader, line + (at - line), &frame);
    if (script->frames.len < FRAMES_MAX)
        *as_vec_push(&script->frames) = frame;
    return true;
}

/* ---- behind the event ---- */

/* "0xFROM/0xTO/P/X/A/12", followed by more in newer versions. */
static bool add_branch(struct script *script, struct word word)
{
    if (word.length < 5 || strncmp(word.start, "0x", 2) != 0)
        return false;
    char *end;
    struct as_perf_branch branch = {.from = strtoull(word.start, &end, 16)};
    if (strncmp(end, "/0x", 3) != 0)
        return false;
    branch.to = strtoull(end + 1, &end, 16);
    char flags[3] = "---";
    for (unsigned i = 0; i < 3 && end[0] == '/' && end[1] != '\0' && (end[2] == '/' || i == 2); i++, end += 2)
        flags[i] = end[1];
    branch.mispredicted = flags[0] == 'M';
    branch.predicted = flags[0] == 'P';
    branch.in_transaction = flags[1] == 'X';
    branch.abort = flags[2] == 'A';
    if (end[0] == '/')
        branch.cycles = (uint16_t)strtoul(end + 1, NULL, 10);
    if (script->branches.len < BRANCHES_MAX)
        *as_vec_push(&script->branches) = branch;
    return true;
}

/* Takes the branches off the end of the text, where they are the last words. */
static void take_branches(struct script *script, char *text)
{
    char *first = strstr(text, " 0x");
    while (first != NULL) {
        const char *at = first;
        if (add_branch(script, next_word(&at)))
            break;
        first = strstr(first + 1, " 0x");
    }
    if (first == NULL)
        return;
    const char *at = first;
    next_word(&at);
    for (struct word word; (word = next_word(&at)).length > 0;)
        if (!add_branch(script, word))
            break;
    while (first > text && first[-1] == ' ')
        first--;
    *first = '\0';
    script->sample.has |= PERF_SAMPLE_BRANCH_STACK;
}

/* Skips a data source in words, after its number: "68100142 |OP LOAD|LVL L1 hit|…|BLK N/A". */
static const char *behind_data_source(const char *text)
{
    const char *at = strrchr(text, '|');
    if (at == NULL)
        return text;
    next_word(&at);
    for (const char *next = at;; at = next) {
        struct word word = next_word(&next);
        if (word.length == 0 || is_hex(word))
            return at;
    }
}

/* Reads what is between the event and the symbol: hexadecimal numbers, the last of which is the ip. */
static char *take_numbers(struct script *script, char *text)
{
    struct as_perf_sample *sample = &script->sample;
    uint64_t numbers[8], count = 0;
    const char *at = text, *bar = strstr(text, " |OP ");
    for (const char *next = at; count < 8; at = next) {
        struct word word = next_word(&next);
        if (!is_hex(word))
            break;
        numbers[count++] = strtoull(word.start, NULL, 16);
    }
    if (bar != NULL && count > 0 && at <= bar + 1) {
        sample->data_src = numbers[count - 1];
        sample->has |= PERF_SAMPLE_DATA_SRC;
        if (count > 1) {
            sample->addr = numbers[0];
            sample->has |= PERF_SAMPLE_ADDR;
        }
        return text + (behind_data_source(text) - text);
    }
    if (count > 1) {
        sample->addr = numbers[0];
        sample->has |= PERF_SAMPLE_ADDR;
    }
    if (count > 0) {
        sample->ip = numbers[count - 1];
        sample->has |= PERF_SAMPLE_IP;
    }
    return text + (at - text);
}

/* After a data source: weights in decimal, then the ip. */
static char *take_weights(struct script *script, char *text)
{
    const char *at = text, *last = text;
    struct word previous = {0};
    for (const char *next = at;; at = next) {
        struct word word = next_word(&next);
        if (!is_hex(word))
            break;
        if (previous.length > 0 && is_number(previous) && !(script->sample.has & PERF_SAMPLE_WEIGHT)) {
            script->sample.weight = strtoull(previous.start, NULL, 10);
            script->sample.has |= PERF_SAMPLE_WEIGHT;
        }
        previous = word;
        last = next;
    }
    if (previous.length == 0)
        return text;
    bool lone = *last == '\0' && is_number(previous) && previous.length < 8;
    if (lone && !(script->sample.has & PERF_SAMPLE_WEIGHT)) { /* a chain follows: the number is the weight */
        script->sample.weight = strtoull(previous.start, NULL, 10);
        script->sample.has |= PERF_SAMPLE_WEIGHT;
    } else if (!lone) {
        script->sample.ip = strtoull(previous.start, NULL, 16);
        script->sample.has |= PERF_SAMPLE_IP;
    }
    return text + (last - text);
}

void as_script_read_rest(struct script *script, char *text)
{
    take_branches(script, text);
    char *symbol = take_numbers(script, text);
    if (script->sample.has & PERF_SAMPLE_DATA_SRC)
        symbol = take_weights(script, symbol);
    while (*symbol == ' ')
        symbol++;
    if (!(script->sample.has & PERF_SAMPLE_IP))
        return;
    struct as_perf_frame frame = {.ip = script->sample.ip};
    read_symbol(script->reader, symbol, &frame);
    *as_vec_push(&script->frames) = frame;
}
