/* The text of `perf script`: a line for each sample, then a line for each frame, then an empty line:
 *
 *     comm  pid/tid [cpu] seconds.fraction:  period event:  [addr] [data source] [weight]  FRAME  [branches]
 *     FRAME: ip symbol+0xoff (module), with -F +dsoff (module+0xoff)
 *
 * All columns are optional (perf script -F). A thread's name may contain spaces and digits, so a line is
 * parsed from the event backwards: the time, the processor and the ids are recognised by their form, and the rest is
 * the name.
 *
 * Lines without an event are read by perf_script_plain.c. All of them must have the same columns. Their periods are not
 * used: nobody knows the unit.
 *
 * Without an event and a time (-F comm,tid,ip,sym) any line of prose could be a sample's. Such a plain line is one if it
 * has an address behind the thread, or if frames follow it; text with times or events has none, and text of which more lines
 * are skipped than read is not perf's.
 *
 * Addresses with symbols and nothing else (-F ip,sym) are frames if they are indented by a tab. Without one, and without any other or
 * empty line between them, each is a sample. In groups, they could be samples or frames, and are refused.
 *
 * perf indents frames by a tab. Copies of its text have spaces instead, or no indentation, so without a tab a frame is
 * recognised by its form too. -F +srcline adds a line with the source position under each frame.
 */
#include "base/str.h"
#include "perfdata/perf_script_inside.h"
#include "perfdata/perf_script_plain.h"

#include <linux/perf_event.h>
#include <stdio.h>

enum {
    SHORT_LINE = 4096,
    WORDS_MAX = 64,    /* before the event */
    EVENTS_MAX = 1024, /* more names than that are not events */
};

static struct as_perf_event *event_named(struct as_perf_reader *reader, const char *name)
{
    for (size_t i = 0; i < reader->events.len; i++)
        if (reader->events.data[i]->name == name) /* interned */
            return reader->events.data[i];
    if (reader->events.len >= EVENTS_MAX)
        return NULL;
    struct as_perf_event *event = as_alloc(sizeof *event);
    *event = (struct as_perf_event){.index = (uint32_t)reader->events.len, .name = name, .clock = -1};
    *as_vec_push(&reader->events) = event;
    as_perf_attr_announce(reader);
    return event;
}

/* The words before the event, by meaning. */
struct columns {
    struct word words[WORDS_MAX];
    size_t count;
    size_t behind; /* index after the last word that identifies the sample: time, processor or ids */
    size_t name;   /* number of words of the thread's name */
};

static void find_columns(struct script *script, struct columns *columns)
{
    struct as_perf_sample *sample = &script->sample;
    size_t at = columns->count;
    columns->name = at;
    for (size_t i = 0; i < columns->count; i++)
        if (is_time(columns->words[i], &sample->time)) {
            sample->has |= PERF_SAMPLE_TIME;
            columns->behind = i + 1;
            at = i;
            break;
        }
    for (size_t i = at; i-- > 0;)
        if (is_cpu(columns->words[i], &sample->cpu)) {
            sample->has |= PERF_SAMPLE_CPU;
            columns->behind = columns->behind > i + 1 ? columns->behind : i + 1;
            at = i;
            break;
        }
    bool anchored = columns->behind > 0;
    for (size_t i = anchored ? at : 0; anchored ? i-- > 0 : i < at; i += anchored ? 0 : 1)
        if (is_ids(columns->words[i], &sample->pid, &sample->tid) && (i > 0 || anchored)) {
            sample->has |= PERF_SAMPLE_TID;
            columns->behind = columns->behind > i + 1 ? columns->behind : i + 1;
            columns->name = i;
            return;
        }
    columns->name = at < columns->count ? at : 0;
}

/* The column after which the event is searched for: a thread's name can look like any column, but least like a time. */
enum anchor { IDS, CPU, TIME };

static enum anchor find_anchor(const char *line)
{
    enum anchor anchor = IDS;
    uint64_t time;
    uint32_t cpu;
    for (unsigned i = 0; i < WORDS_MAX; i++) {
        struct word word = next_word(&line);
        if (word.length == 0)
            break;
        if (is_time(word, &time))
            return TIME;
        if (is_cpu(word, &cpu))
            anchor = CPU;
    }
    return anchor;
}

static bool is_anchor(struct word word, enum anchor anchor, bool first)
{
    uint64_t time;
    uint32_t a, b;
    if (anchor == TIME)
        return is_time(word, &time);
    return anchor == CPU ? is_cpu(word, &a) : !first && is_ids(word, &a, &b);
}

static bool ends_in_colon(struct word word)
{
    return word.length > 1 && word.start[word.length - 1] == ':';
}

/* Splits "words event: rest": the event is the first word after the anchor that ends in a colon. Returns false if there
 * is none, with the words of the line, and without any for records that are not samples. */
static bool split_line(const char *line, struct columns *columns, const char **event, const char **rest)
{
    enum anchor anchor = find_anchor(line);
    bool behind = false;
    for (const char *at = line; columns->count < WORDS_MAX;) {
        struct word word = next_word(&at);
        bool other = strncmp(word.start, "PERF_RECORD_", 12) == 0;
        columns->count = other ? 0 : columns->count;
        if (word.length == 0 || other)
            return false;
        if (behind && ends_in_colon(word)) {
            *event = word.start;
            *rest = at;
            return true;
        }
        behind |= is_anchor(word, anchor, columns->count == 0);
        columns->words[columns->count++] = word;
    }
    return false;
}

static void read_comm(struct script *script, const struct columns *columns)
{
    if (columns->name == 0)
        return;
    const struct word *last = &columns->words[columns->name - 1];
    struct word comm = {columns->words[0].start, 0};
    comm.length = (size_t)(last->start + last->length - comm.start);
    script->sample.comm = keep_word(script->reader, comm);
}

enum { HAS_ANY = 1, HAS_IDS = 2, HAS_CPU = 4, HAS_TIME = 8, HAS_PERIOD = 16 };

/* The columns of the line without an event, as far as they are in the sample. */
static void take_plain(struct script *script, struct columns *columns, const struct as_script_plain *plain)
{
    struct as_perf_sample *sample = &script->sample;
    script->eventless = true;
    script->columns = HAS_ANY;
    if (plain->time != AS_SCRIPT_NONE && is_time(columns->words[plain->time], &sample->time)) {
        sample->has |= PERF_SAMPLE_TIME;
        script->columns |= HAS_TIME;
    }
    if (plain->cpu != AS_SCRIPT_NONE && is_cpu(columns->words[plain->cpu], &sample->cpu)) {
        sample->has |= PERF_SAMPLE_CPU;
        script->columns |= HAS_CPU;
    }
    if (plain->ids != AS_SCRIPT_NONE && is_ids(columns->words[plain->ids], &sample->pid, &sample->tid)) {
        sample->has |= PERF_SAMPLE_TID;
        script->columns |= HAS_IDS;
    }
    if (plain->period != AS_SCRIPT_NONE)
        script->columns |= HAS_PERIOD;
    columns->name = plain->name;
    read_comm(script, columns);
}

/* A line without an event. It is a sample's if it has a time and something else, an address, or frames below it.
 * (Addresses alone could be samples as well as frames.) */
static bool read_eventless(struct script *script, struct columns *columns, char *line)
{
    struct as_script_plain plain;
    size_t count = columns->count;
    if (count == 0 || count == WORDS_MAX || !as_script_plain(line, columns->words, count, &plain))
        return false;
    bool timed = plain.time != AS_SCRIPT_NONE;
    if (plain.ip == 0 || (timed && count < 2))
        return false;
    if ((!timed || plain.ip != AS_SCRIPT_NONE) && script->reader->summary.samples > script->n_plain)
        return false;
    take_plain(script, columns, &plain);
    script->unclear |= plain.unclear;
    script->plain = !timed || plain.ip != AS_SCRIPT_NONE;
    if (!script->plain)
        script->sample.event = event_named(script->reader, as_perf_keep(script->reader, "samples", strlen("samples")));
    script->lone = plain.ip != AS_SCRIPT_NONE && plain.ip + 1 == count;
    return plain.ip == AS_SCRIPT_NONE || as_script_add_frame(script, line + (columns->words[plain.ip].start - line));
}

/* "comm event: ip symbol", "period event: ip symbol": the event follows nothing that is certain, but an address or
 * frames follow it. */
static bool read_loose_event(struct script *script, struct columns *columns, char *line)
{
    size_t at = 0, count = columns->count;
    while (at < count &&
           !(ends_in_colon(columns->words[at]) && (at + 1 == count || as_script_is_code(columns->words[at + 1]))))
        at++;
    uint64_t time;
    if (at == count || is_time(columns->words[at], &time) || script->reader->summary.samples > script->n_plain)
        return false;
    struct word event = columns->words[at], ip = at + 1 < count ? columns->words[at + 1] : (struct word){0};
    columns->name = at;
    if (at > 0 && is_number(columns->words[at - 1])) {
        struct word number = columns->words[at - 1];
        enum as_script_number kind =
            as_script_number(line, number, ip.start ? as_script_layout_before(line, ip.start) : AS_SCRIPT_UNKNOWN);
        script->unclear |= kind == AS_SCRIPT_UNCLEAR;
        columns->name -= kind != AS_SCRIPT_NAME;
        if (kind == AS_SCRIPT_IDS && is_ids(number, &script->sample.pid, &script->sample.tid))
            script->sample.has |= PERF_SAMPLE_TID;
        if (kind == AS_SCRIPT_PERIOD) {
            script->sample.period = strtoull(number.start, NULL, 10);
            script->sample.has |= PERF_SAMPLE_PERIOD;
        }
    }
    read_comm(script, columns);
    script->event = as_perf_keep(script->reader, event.start, event.length - 1);
    script->plain = true;
    return !ip.start || as_script_add_frame(script, line + (ip.start - line));
}

/* "comm number event:": perf's layout says whether the number is the thread or the period. */
static void judge_number(struct script *script, struct columns *columns, const char *line, const char *rest)
{
    struct as_perf_sample *sample = &script->sample;
    if (sample->has != PERF_SAMPLE_TID || !is_number(columns->words[columns->name]))
        return;
    struct word number = columns->words[columns->name], address = next_word(&rest);
    enum as_script_layout layout =
        address.length > 0 ? as_script_layout_before(line, address.start) : as_script_layout_of(line);
    enum as_script_number kind = as_script_number(line, number, layout);
    script->unclear |= kind == AS_SCRIPT_UNCLEAR;
    if (kind != AS_SCRIPT_PERIOD)
        return;
    sample->pid = sample->tid = UINT32_MAX;
    sample->period = strtoull(number.start, NULL, 10);
    sample->has = PERF_SAMPLE_PERIOD;
}

static bool read_header_line(struct script *script, char *line)
{
    struct columns columns = {0};
    const char *event, *rest;
    if (!split_line(line, &columns, &event, &rest))
        return read_loose_event(script, &columns, line) || read_eventless(script, &columns, line);
    find_columns(script, &columns);
    size_t first = columns.behind;
    if (first < columns.count && is_number(columns.words[first])) {
        script->sample.period = strtoull(columns.words[first].start, NULL, 10);
        script->sample.has |= PERF_SAMPLE_PERIOD;
        first++;
    }
    judge_number(script, &columns, line, rest);
    const char *name = first < columns.count ? columns.words[first].start : event;
    struct word whole = {name, (size_t)(rest - 1 - name)};
    script->sample.event = event_named(script->reader, keep_word(script->reader, whole));
    read_comm(script, &columns);
    as_script_read_rest(script, line + (rest - line));
    return script->sample.event != NULL;
}

/* ---- samples ---- */

static void skip_line(struct script *script)
{
    script->reader->summary.skipped_lines++;
    script->junk = true;
}

/* A plain line becomes a sample if there is an address. */
static bool adopt_plain(struct script *script)
{
    const char *name = script->event ? script->event : as_perf_keep(script->reader, "samples", strlen("samples"));
    if (script->frames.len > 0)
        script->sample.event = event_named(script->reader, name);
    script->n_plain += script->sample.event != NULL;
    return script->sample.event != NULL;
}

/* Above frames there is no address: the number is the period, or what the event's address is of. */
static void drop_lone(struct script *script)
{
    struct as_perf_frame *frames = script->frames.data;
    memmove(frames, frames + 1, --script->frames.len * sizeof *frames);
    script->columns |= HAS_PERIOD;
}

static void finish_sample(struct script *script)
{
    struct as_perf_reader *reader = script->reader;
    struct as_perf_sample *sample = &script->sample;
    if (!script->open)
        return;
    script->open = false;
    if (script->lone && script->chained)
        drop_lone(script);
    if (script->plain && !adopt_plain(script)) {
        skip_line(script);
        return;
    }
    if (script->eventless && script->first == 0)
        script->first = script->columns;
    script->uneven |= script->eventless && script->columns != script->first;
    sample->frames = script->frames.data;
    sample->n_frames = script->frames.len;
    sample->branches = script->branches.data;
    sample->n_branches = script->branches.len;
    if (!(sample->has & PERF_SAMPLE_IP) && sample->n_frames > 0) {
        sample->ip = sample->frames[0].ip;
        sample->has |= PERF_SAMPLE_IP;
    }
    if (script->chained)
        sample->has |= PERF_SAMPLE_CALLCHAIN;
    sample->mode = sample->ip >> 63 ? AS_PERF_KERNEL : AS_PERF_USER;
    reader->summary.samples++;
    reader->summary.records[PERF_RECORD_SAMPLE]++;
    sample->event->samples++;
    sample->event->total_period += sample->period;
    sample->event->without_period += !(sample->has & PERF_SAMPLE_PERIOD);
    if (sample->has & PERF_SAMPLE_TIME) {
        struct as_perf_summary *summary = &reader->summary;
        if (summary->first_time == AS_PERF_NO_TIME || sample->time < summary->first_time)
            summary->first_time = sample->time;
        if (summary->last_time == AS_PERF_NO_TIME || sample->time > summary->last_time)
            summary->last_time = sample->time;
    }
    AS_PERF_CALL(reader, sample, sample);
}

static void start_sample(struct script *script)
{
    script->sample = (struct as_perf_sample){.pid = UINT32_MAX,
                                             .tid = UINT32_MAX,
                                             .cpu = UINT32_MAX,
                                             .time = AS_PERF_NO_TIME,
                                             .period = 1,
                                             .branch_index = -1};
    as_vec_clear(&script->frames);
    as_vec_clear(&script->branches);
    script->chained = script->plain = script->lone = script->eventless = false;
    script->event = NULL;
}

/* "# hostname : name" and the like, which --header prints. */
static void read_comment(struct as_perf_reader *reader, const char *line)
{
    const struct {
        const char *key;
        const char **to;
    } keys[] = {
        {"# hostname : ", &reader->info.host},        {"# os release : ", &reader->info.os_release},
        {"# perf version : ", &reader->info.version}, {"# arch : ", &reader->info.arch},
        {"# cpudesc : ", &reader->info.cpu},          {"# cpuid : ", &reader->info.cpu_id},
        {"# cmdline : ", &reader->info.command},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strncmp(line, keys[i].key, strlen(keys[i].key)) == 0)
            *keys[i].to = as_perf_keep(reader, line + strlen(keys[i].key), strlen(line));
}

/* Whether a line after a sample is a frame of it: it begins with an address, and is not another sample of a thread
 * whose name looks like one. */
static bool is_frame(const char *line)
{
    if (line[0] == '\t')
        return true;
    const char *at = line, *event, *rest;
    struct columns columns = {0};
    uint32_t pid, tid;
    if (!is_hex(next_word(&at)) || find_anchor(line) != IDS)
        return false;
    struct word second = next_word(&at);
    if (as_script_is_code(second) ||
        ((is_number(second) || ends_in_colon(second)) && as_script_is_code(next_word(&at))))
        return false; /* "tid ip symbol", "tid period ip symbol", "period event: ip symbol" */
    return !is_ids(second, &pid, &tid) || !split_line(line, &columns, &event, &rest);
}

/* "  file.c:12" under a frame; if the line is unknown perf prints the module or the symbol with an offset. Somebody may
 * have removed the indentation; a sample's line has more than one word. */
static bool take_source_line(struct script *script, const char *line)
{
    const char *at = line;
    struct word word = next_word(&at);
    struct word behind = next_word(&at);
    bool indented = line[0] == ' ' || line[0] == '\t';
    if (!indented && strcspn(word.start, ":+[?") >= word.length)
        return false;
    if (word.length == 0 || (behind.length > 0 && (behind.start[0] != '(' || !indented)))
        return false;
    struct as_perf_frame *frame = &script->frames.data[script->frames.len - 1];
    const char *colon = memrchr(word.start, ':', word.length);
    uint64_t number = colon ? strtoull(colon + 1, NULL, 10) : 0;
    if (colon > word.start && number > 0 && number <= UINT32_MAX && !frame->file) {
        frame->file = as_perf_keep(script->reader, word.start, (size_t)(colon - word.start));
        frame->line = (uint32_t)number;
    }
    return true;
}

/* Returns false if the line does not belong to the sample. */
static bool take_under_sample(struct script *script, char *line)
{
    if (is_frame(line) && as_script_add_frame(script, line)) {
        script->chained = true;
        return true;
    }
    if (script->frames.len > 0 && take_source_line(script, line))
        return true;
    if (line[0] != '\t')
        return false;
    skip_line(script);
    return true;
}

static bool has_digit(struct word word)
{
    for (size_t i = 0; i < word.length; i++)
        if (word.start[i] >= '0' && word.start[i] <= '9')
            return true;
    return false;
}

/* "401136 main": an address and a name, and nothing that makes a sample's line of them. */
static bool is_bare(const char *line)
{
    enum { SHORT = 4 }; /* digits of an address; shorter words may be numbers or names */
    const char *at = line, *event, *rest;
    struct word address = next_word(&at), name = next_word(&at), third = next_word(&at);
    struct columns columns = {0};
    uint64_t time;
    if (line[0] == '\t' || address.length < SHORT || !is_hex(address) || !has_digit(address) || name.length == 0 ||
        is_number(name) || (ends_in_colon(name) && (third.length == 0 || as_script_is_code(third))) ||
        (name.length >= SHORT && is_hex(name)) || split_line(line, &columns, &event, &rest))
        return false;
    for (size_t i = 0; i < columns.count; i++)
        if (is_time(columns.words[i], &time))
            return false;
    return columns.count > 0;
}

/* Takes a line of a text of addresses alone. Returns false if the text is not one. */
static bool take_bare(struct script *script, char *line)
{
    const char *at = line;
    if (!script->begun)
        script->bare = is_bare(line);
    script->begun = true;
    if (!script->bare)
        return false;
    bool bare = line[0] != '\t' && is_hex(next_word(&at)) && next_word(&at).length > 0;
    script->mixed |= script->gap || !bare;
    start_sample(script);
    script->open = script->plain = bare && as_script_add_frame(script, line);
    finish_sample(script);
    return true;
}

static void take_line(struct script *script, char *line)
{
    size_t length = strlen(line);
    while (length > 0 && (line[length - 1] == ' ' || line[length - 1] == '\r'))
        line[--length] = '\0';
    if (length == 0) {
        finish_sample(script);
        script->gap = script->begun;
        return;
    }
    if (line[0] == '#') {
        read_comment(script->reader, line);
        return;
    }
    script->junk = false;
    if (take_bare(script, line) || (script->open && take_under_sample(script, line)))
        return;
    finish_sample(script);
    start_sample(script);
    if (line[0] == '\t' && as_script_add_frame(script, line)) /* -F ip,sym: frames alone */
        script->open = script->plain = script->chained = script->reader->summary.samples == script->n_plain;
    else
        script->open = read_header_line(script, line);
    script->junk = false; /* whatever became of the sample before */
    if (!script->open)
        skip_line(script);
    script->junk &= strstr(line, "PERF_RECORD_") == NULL; /* perf prints other records if it is asked to */
}

/* Reads the next line without its end, if it has one (`whole`); a line that exceeds the input's buffer is cut. */
static bool next_line(struct as_perf_input *input, struct as_str *line, bool *whole)
{
    size_t size, most = SHORT_LINE;
    const uint8_t *bytes = as_perf_input_peek(input, most, &size), *end = NULL;
    if (bytes != NULL && (end = memchr(bytes, '\n', size)) == NULL && size == most) {
        bytes = as_perf_input_peek(input, AS_PERF_INPUT_MAX, &size);
        end = memchr(bytes, '\n', size);
    }
    if (bytes == NULL)
        return false;
    size_t length = end != NULL ? (size_t)(end - bytes) : size;
    as_str_clear(line);
    as_str_add_bytes(line, bytes, length);
    as_str_add(line, "");
    as_perf_input_skip(input, length + (end != NULL));
    *whole = end != NULL;
    return true;
}

bool as_perf_script_run(struct as_perf_reader *reader, struct as_error *err)
{
    struct script script = {.reader = reader};
    struct as_str line = {0};
    bool whole = true;
    while (!reader->stopped && next_line(&reader->input, &line, &whole))
        if (line.data != NULL)
            take_line(&script, line.data);
    script.eventless &= whole; /* a line that breaks off may lack columns */
    if (!reader->stopped)
        finish_sample(&script);
    if (!reader->stopped && (!whole || script.junk))
        as_perf_problem(reader, whole ? "the text ends in lines that are neither samples nor frames"
                                      : "the text ends in the middle of a line");
    as_str_free(&line);
    as_vec_free(&script.frames);
    as_vec_free(&script.branches);
    if (script.mixed)
        return as_error_set(err, "the text has addresses alone, with other or empty lines between them: they could be "
                                 "samples or the frames of stacks; print their threads, too (perf script -F "
                                 "comm,tid,ip,sym)");
    if (script.unclear || script.uneven)
        return as_error_set(err,
                            "the text has %s: print the thread, the time and the event, too (perf script -F "
                            "comm,tid,time,period,event,ip,sym,dso)",
                            script.unclear ? "numbers that could be threads, periods or addresses"
                                           : "samples without an event, of which not all have the same columns");
    if (reader->summary.samples == 0 ||
        (reader->summary.samples == script.n_plain && reader->summary.skipped_lines > script.n_plain))
        return as_error_set(err,
                            "this is neither a perf.data file nor the text of perf script: %s a sample, with the "
                            "thread and the time, the event or the address of code (perf script -F "
                            "comm,tid,time,event,ip,sym,dso)",
                            reader->summary.samples == 0 ? "no line of it is" : "most lines of it are not");
    return true;
}
