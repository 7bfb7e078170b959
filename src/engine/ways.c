/* See ways.h. What was learned of a block stays true, because an id is never used for another block; only when a block
 * turns out to access other memory than the decoder expects (as_code_table.doubts), all is learned again. */
#include "engine/ways.h"

#include "engine/access_words.h"
#include "engine/block_word.h"
#include "engine/stream_rules.h"

static void report(struct as_stream *stream, const struct as_block *block, const struct as_tally *tally)
{
    const struct as_sink *sink = stream->sink;
    if (!stream->summed || !tally->runs)
        return;
    if (sink->skipped)
        sink->skipped(stream->context, &stream->thread, block, 0, block->n, tally->runs);
    else if (sink->tally)
        sink->tally(stream->context, &stream->thread, block, tally);
}

/* Reports one way of a block apart from the other, with its target. */
static void report_way(struct as_stream *stream, uint32_t id, unsigned way)
{
    struct as_ways *ways = &stream->ways.data[id];
    struct as_tally tally = {.runs = ways->runs[way], .taken = way || !ways->falls ? ways->runs[way] : 0};
    if (ways->next[way] != AS_WAY_NONE)
        tally.next = stream->code->gists.data[ways->next[way]].address;
    ways->runs[way] = 0;
    report(stream, as_code_table_block(stream->code, id), &tally);
}

void as_ways_report(struct as_stream *stream)
{
    as_hops_tell(stream);
    for (size_t i = 0; i < stream->counted.len; i++) {
        uint32_t id = stream->counted.data[i];
        struct as_ways *ways = &stream->ways.data[id];
        ways->listed = false;
        if (ways->targets) {
            report_way(stream, id, 0);
            report_way(stream, id, 1);
            continue;
        }
        struct as_tally tally = {.runs = ways->runs[0] + ways->runs[1],
                                 .taken = ways->runs[1] + (ways->falls ? 0 : ways->runs[0])};
        ways->runs[0] = ways->runs[1] = 0;
        report(stream, as_code_table_block(stream->code, id), &tally);
    }
    as_vec_clear(&stream->counted);
}

/* The block is counted for the first time since the last report. A stretch executes few of all blocks. */
static __attribute__((noinline)) void list(struct as_stream *stream, uint32_t id)
{
    *as_vec_push(&stream->counted) = id;
    stream->ways.data[id].listed = true;
}

/* A block disagreed with the decoder: nothing that was learned may be used without another look. */
static void forget(struct as_stream *stream)
{
    as_ways_report(stream);
    for (size_t i = 0; i < stream->ways.len; i++)
        stream->ways.data[i].next[0] = stream->ways.data[i].next[1] = AS_WAY_NONE;
    stream->doubts = stream->code->doubts;
}

static void reach(struct as_stream *stream, uint32_t id)
{
    while (stream->ways.len <= id)
        *as_vec_push(&stream->ways) = (struct as_ways){.next = {AS_WAY_NONE, AS_WAY_NONE}};
}

void as_ways_add_run(struct as_stream *stream, uint32_t id)
{
    const struct as_block_gist *gist = &stream->code->gists.data[id];
    reach(stream, id);
    struct as_ways *ways = &stream->ways.data[id];
    if (!ways->listed) {
        list(stream, id);
        ways->n = gist->n;
        ways->falls = gist->outcome != AS_OUTCOME_LEAVES;
    }
    ways->runs[0]++;
    stream->summed = true;
}

/* Which way of the block leads to an address, or is to lead there from now on. */
static unsigned choose_way(const struct as_ways *ways, const struct as_block_gist *block, uint32_t next,
                           uint64_t address)
{
    if (block->outcome == AS_OUTCOME_LEAVES)
        return ways->next[0] != AS_WAY_NONE && ways->next[0] != next;
    return address != block->end;
}

/* Whether an execution of the block, with these accesses, was one of all of it. */
static bool is_whole(const struct as_stream *stream, uint32_t id, const uint64_t *words, size_t n, bool recorded)
{
    const struct as_block_gist *gist = &stream->code->gists.data[id];
    const struct as_block *block = as_code_table_block(stream->code, id);
    bool bare = gist->bare || stream->blocks_only;
    if (!gist->plain || bare == recorded)
        return false;
    return !recorded || (block->flags == AS_BLOCK_CHECKED && as_looks_complete(block, words, n));
}

/* Whether it can be counted. */
static bool is_countable(struct as_stream *stream, uint32_t id, const uint64_t *words, size_t n, bool recorded)
{
    struct as_block *block = as_code_table_block(stream->code, id);
    if (stream->code->gists.data[id].singly || !is_whole(stream, id, words, n, recorded))
        return false;
    if (recorded && stream->sink->words && !block->codes)
        block->codes = as_access_codes_new(block, words, n);
    return true;
}

/* By what an execution is known that ended as it did when it was checked: its last word. A block's own word may have a stamp. */
static inline uint16_t head_of(uint64_t word)
{
    return word & AS_WIRE_ACCESS_MASK ? as_access_head(word) : 0;
}

/* Learns that block `id`, whose accesses are words[0..n), may be followed by block `next`. */
static __attribute__((noinline)) bool learn(struct as_stream *stream, uint32_t id, const uint64_t *words, size_t n,
                                            uint64_t next, bool recorded)
{
    const struct as_block_gist *gists = stream->code->gists.data;
    if (next >= stream->code->gists.len || !as_code_table_block(stream->code, (uint32_t)next))
        return false;
    if (gists[next].second_try || !as_block_leads_to(as_code_table_block(stream->code, id), gists[next].address) ||
        !is_countable(stream, id, words, n, recorded))
        return false;
    reach(stream, id > next ? id : (uint32_t)next);
    struct as_ways *ways = &stream->ways.data[id];
    unsigned way = choose_way(ways, &gists[id], (uint32_t)next, gists[next].address);
    if (gists[id].targets && ways->next[way] != next)
        report_way(stream, id, way);
    ways->next[way] = (uint32_t)next;
    ways->n = gists[id].n;
    ways->head = recorded ? head_of(words[(ptrdiff_t)n - 1]) : 0;
    ways->falls = gists[id].outcome != AS_OUTCOME_LEAVES;
    ways->targets = gists[id].targets;
    return true;
}

/* The block that is being executed, and what was counted before it. */
struct walk {
    size_t from; /* its accesses begin here */
    uint32_t id;
    uint64_t runs, instructions; /* runs: counted only if accesses are recorded */
    uint64_t time;               /* of the last block, if they have stamps */
};

/* What the words are. */
enum form { BARE, RECORDED, STAMPED }; /* STAMPED: accesses are recorded, and blocks may have stamps */

/* In a stretch that is sieved: block `id` led to block `next`, and its transfer may change the call path. */
static bool hop(struct as_stream *stream, uint32_t id, const uint64_t *words, size_t n, uint64_t next, bool recorded)
{
    const struct as_block_gist *gists = stream->code->gists.data;
    if (!gists[id].singly || next >= stream->code->gists.len || !as_code_table_block(stream->code, (uint32_t)next) ||
        gists[next].second_try || !is_whole(stream, id, words, n, recorded) ||
        !as_block_leads_to(as_code_table_block(stream->code, id), gists[next].address))
        return false;
    reach(stream, id > next ? id : (uint32_t)next);
    as_ways_add_run(stream, id);
    struct as_ways *ways = &stream->ways.data[id];
    if (!gists[id].targets) { /* other targets of a return or an indirect transfer take the place of the last one */
        ways->next[ways->next[0] != AS_WAY_NONE && ways->next[0] != next] = (uint32_t)next;
        ways->head = recorded ? head_of(words[(ptrdiff_t)n - 1]) : 0;
        ways->hop = as_hops_kind(as_code_table_block(stream->code, id));
    }
    as_hops_add(stream, as_hops_kind(as_code_table_block(stream->code, id)), id, (uint32_t)next);
    return true;
}

/* Reports accesses that passed the sieve to the sink. */
static void pass_words(struct as_stream *stream, uint32_t id, const uint64_t *words, size_t n)
{
    struct as_block_exec exec = {.block = as_code_table_block(stream->code, id), .words = words, .n_words = n};
    exec.end = exec.block->n;
    stream->sink->passed(stream->context, &stream->thread, &exec);
}

/* Whether what passes a sieve is told, and when. */
enum sieved { NOT_SIEVED, TELLS_PASSED, TELLS_LATER };

/* Executions whose accesses are a sample: those that have any. */
struct kept {
    uint64_t words[AS_WORDS_MOST];
    size_t n, accesses;
};

/* Returns false where there is no room. */
static inline bool keep(const struct as_stream *stream, struct kept *kept, uint32_t id, const uint64_t *words, size_t n)
{
    struct as_block *block = as_code_table_block(stream->code, id);
    if (n + 1 > AS_WORDS_MOST - kept->n)
        return false;
    if (__builtin_expect(!block->codes, 0))
        block->codes = as_access_codes_new(block, NULL, 0);
    kept->words[kept->n++] = id;
    for (size_t i = 0; i < n; i++)
        kept->words[kept->n++] = words[i];
    kept->accesses += n;
    return true;
}

/* The fast path. words[walk->from - 1] is the block's own word, if accesses are recorded. */
static inline __attribute__((always_inline)) void follow(struct as_stream *stream, const uint64_t *words, size_t at,
                                                         size_t n, enum form form, enum sieved sieved,
                                                         struct kept *kept, struct walk *walk)
{
    bool recorded = form != BARE;
    struct as_ways *all = stream->ways.data;
    size_t from = walk->from;
    uint32_t id = walk->id;
    uint64_t instructions = 0, runs = 0, time = walk->time;
    for (; at < n; at++) {
        uint64_t word = words[at];
        if (recorded && word & AS_WIRE_ACCESS_MASK)
            continue;
        uint64_t next = form == STAMPED ? as_wire_number_of(word) : word;
        struct as_ways *ways = &all[id];
        unsigned way = ways->next[1] == next;
        if (__builtin_expect(ways->next[way] != next || (recorded && head_of(words[at - 1]) != ways->head), 0)) {
            if (!recorded && word & AS_WIRE_ACCESS_MASK)
                continue; /* of the few that are reported anyway; the decoder foretells what such a block accesses */
            if (sieved && hop(stream, id, words + from, at - from, next, recorded)) {
                if (sieved == TELLS_PASSED && at > from)
                    pass_words(stream, id, words + from, at - from);
                all = stream->ways.data;
                instructions += all[id].n;
                id = (uint32_t)next;
                time = form == STAMPED ? as_wire_time_of(time, word) : 0;
                from = at + 1;
                continue;
            }
            if (!learn(stream, id, words + from, at - from, next, recorded))
                break;
            all = stream->ways.data;
            ways = &all[id];
            way = ways->next[1] == next;
        }
        if (kept && at > from && !keep(stream, kept, id, words + from, at - from))
            break;
        if (sieved && ways->hop)
            as_hops_add(stream, ways->hop, id, (uint32_t)next);
        if (sieved == TELLS_PASSED && at > from)
            pass_words(stream, id, words + from, at - from);
        if (__builtin_expect(!ways->listed, 0))
            list(stream, id);
        ways->runs[way]++;
        instructions += ways->n;
        runs += recorded;
        id = (uint32_t)next;
        time = form == STAMPED ? as_wire_time_of(time, word) : 0;
        from = at + 1;
    }
    *walk = (struct walk){.from = from, .id = id, .runs = runs, .instructions = instructions, .time = time};
}

static __attribute__((noinline)) void follow_bare(struct as_stream *stream, const uint64_t *words, size_t at, size_t n,
                                                  struct walk *walk)
{
    follow(stream, words, at, n, BARE, NOT_SIEVED, NULL, walk);
}

static __attribute__((noinline)) void follow_sampled(struct as_stream *stream, const uint64_t *words, size_t at,
                                                     size_t n, struct walk *walk)
{
    struct kept kept;
    size_t from = walk->from;
    kept.n = kept.accesses = 0;
    follow(stream, words, at, n, BARE, NOT_SIEVED, &kept, walk);
    if (walk->from != from)
        stream->sink->words(stream->context, &stream->thread,
                            &(struct as_exec_words){.words = kept.words,
                                                    .n = kept.n,
                                                    .accesses = kept.accesses,
                                                    .instructions = walk->instructions,
                                                    .blocks = &stream->code->by_id});
}

static __attribute__((noinline)) void follow_sieved(struct as_stream *stream, const uint64_t *words, size_t at,
                                                    size_t n, struct walk *walk)
{
    follow(stream, words, at, n, BARE, TELLS_PASSED, NULL, walk);
}

/* … of several threads, whose accesses are all recorded. */
static __attribute__((noinline)) void follow_threads(struct as_stream *stream, const uint64_t *words, size_t at,
                                                     size_t n, struct walk *walk)
{
    follow(stream, words, at, n, STAMPED, TELLS_PASSED, NULL, walk);
}

/* The last part of a sieved stretch: the sink is told all executions at once. */
static __attribute__((noinline)) void follow_near(struct as_stream *stream, const uint64_t *words, size_t at, size_t n,
                                                  bool stamped, struct walk *walk)
{
    struct as_trail trail = {.first = walk->id, .words = words + walk->from, .blocks = &stream->code->by_id};
    size_t from = walk->from;
    if (!stream->near) /* before the first of them comes all that was only counted */
        as_ways_report(stream);
    if (stamped)
        follow(stream, words, at, n, STAMPED, TELLS_LATER, NULL, walk);
    else
        follow(stream, words, at, n, BARE, TELLS_LATER, NULL, walk);
    trail.n = walk->from - from;
    if (trail.n)
        stream->sink->trail(stream->context, &stream->thread, &trail);
}

static __attribute__((noinline)) void follow_recorded(struct as_stream *stream, const uint64_t *words, size_t at,
                                                      size_t n, struct walk *walk)
{
    follow(stream, words, at, n, RECORDED, NOT_SIEVED, NULL, walk);
}

/* Whether executions of the block's kind can be counted now: they are not reported, or sums are enough. */
static bool can_follow(struct as_stream *stream, size_t from)
{
    const struct as_sink *sink = stream->sink;
    bool told = as_stream_is_told(stream);
    if (stream->continues || stream->regions->awaits == AS_POINT_CYCLE || stream->regions->seeks ||
        (!stream->bare && from == 0))
        return false;
    if (!told && sink->passed && !stream->bare && stream->regions->threads < 2)
        return false; /* a few before a region: the sink sees each */
    if (told && stream->bare ? !sink->tally || !stream->blocks_only : told && !sink->recorded_tallies && !sink->words)
        return false;
    stream->summed = told || sink->skipped;
    return true;
}

/* Remembers what a walk executed last: the block before the one whose accesses begin at words[to], in words[from..to). */
static void note_last(struct as_stream *stream, const uint64_t *words, size_t from, size_t to, uint32_t first)
{
    size_t at = to - 1; /* the word of the block that is being executed */
    while (at > from && (words[at - 1] & AS_WIRE_ACCESS_MASK))
        at--;
    stream->left = as_code_table_block(stream->code, at > from ? (uint32_t)words[at - 1] : first);
    stream->led = stream->block->address;
}

_Bool as_ways_follow(struct as_stream *stream, const uint64_t *words, size_t *from, size_t at, size_t n)
{
    struct walk walk = {.from = *from, .id = stream->block_id, .time = stream->causal.time};
    uint64_t left = stream->regions->left, nearness = as_region_run_near(stream->regions);
    bool sieved = stream->sink->passed && !as_stream_is_told(stream);
    bool near = sieved && left <= nearness; /* from there on the sink sees all */
    if (near && !stream->sink->trail)
        return false;
    if (sieved && !near)
        left -= nearness;
    uint64_t room = left / (AS_WIRE_INDEX_MASK + 1); /* no block crosses the next border */
    bool recorded = !stream->bare, words_too = recorded && stream->sink->words && as_stream_is_told(stream);
    size_t most = words_too ? *from - 1 + AS_WORDS_MOST : SIZE_MAX;
    bool threads = recorded && sieved; /* one execution is told as soon without this */
    if (!can_follow(stream, *from) || room < 2 || (threads && n - at < 2))
        return false;
    if (stream->doubts != stream->code->doubts)
        forget(stream);
    reach(stream, stream->block_id);
    n = n < most ? n : most;
    n = n - at < room - 1 ? n : at + (size_t)(room - 1);
    if (near)
        follow_near(stream, words, at, n, recorded, &walk);
    else if (threads)
        follow_threads(stream, words, at, n, &walk);
    else if (recorded)
        follow_recorded(stream, words, at, n, &walk);
    else if (sieved)
        follow_sieved(stream, words, at, n, &walk);
    else if (stream->sink->words && as_stream_is_told(stream))
        follow_sampled(stream, words, at, n, &walk);
    else
        follow_bare(stream, words, at, n, &walk);
    if (walk.from == *from)
        return false;
    stream->near = near;
    as_region_run_count(stream->regions, walk.instructions);
    stream->executed += walk.instructions;
    uint32_t first = stream->block_id;
    stream->block_id = walk.id;
    stream->block = as_code_table_block(stream->code, walk.id);
    if (stream->sink->cut)
        note_last(stream, words, *from, walk.from, first);
    stream->bare = stream->blocks_only || stream->code->gists.data[walk.id].bare;
    stream->has_registers = false;
    stream->rep_address = 0;
    if (words_too)
        stream->sink->words(stream->context, &stream->thread,
                            &(struct as_exec_words){.words = words + *from - 1,
                                                    .n = walk.from - *from,
                                                    .accesses = walk.from - *from - walk.runs,
                                                    .instructions = walk.instructions,
                                                    .blocks = &stream->code->by_id});
    *from = walk.from;
    if (threads) { /* their time goes on before anybody asks for it */
        stream->causal.time = stream->causal.time ? walk.time : 0;
        as_ways_report(stream);
    }
    return true;
}
