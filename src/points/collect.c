/* See collect.h. Executions come as tallies, told at the end of each interval, and one by one where a block was cut or
 * varies. Both add to one array by block; the blocks that an interval touched are listed, so that closing it costs no
 * more than what it has executed. */
#include "points/collect.h"

#include <inttypes.h>

struct own_block {
    uint32_t number;       /* in the vectors; 0: none yet */
    uint64_t instructions; /* in the open interval */
};

/* The blocks of all threads, or of one, by their index. */
struct book {
    uint32_t thread;
    AS_VEC(struct own_block) blocks;
    AS_VEC(uint32_t) touched; /* indices of blocks with instructions in the open interval */
};

struct as_collect {
    bool by_thread;
    AS_VEC(struct book *) books; /* by thread - 1; the first is all there is without by_thread */
    AS_VEC(struct as_collect_block) known;
    struct as_vectors vectors;
    /* By loop: instructions of an interval at least, those of the open one, executions of the place so far, and those with
     * which the intervals behind the first one start. */
    uint64_t least, executed, passes;
    AS_VEC(uint64_t) starts;
    bool begun; /* the first stretch is announced before anything is executed */
};

struct as_collect *as_collect_new(bool by_thread)
{
    struct as_collect *collect = as_alloc(sizeof *collect);
    collect->by_thread = by_thread;
    return collect;
}

void as_collect_free(struct as_collect *collect)
{
    if (!collect)
        return;
    for (size_t i = 0; i < collect->books.len; i++) {
        as_vec_free(&collect->books.data[i]->blocks);
        as_vec_free(&collect->books.data[i]->touched);
        free(collect->books.data[i]);
    }
    as_vec_free(&collect->books);
    as_vec_free(&collect->known);
    as_vec_free(&collect->starts);
    as_vectors_free(&collect->vectors);
    free(collect);
}

void as_collect_region(struct as_regions *regions, uint64_t interval)
{
    struct as_region *region = as_regions_add(regions);
    region->max = interval;
    region->repeat = true;
    region->text = as_format("intervals of %" PRIu64 " instructions", interval);
}

bool as_collect_by_loop(struct as_collect *collect, struct as_regions *regions, const char *place, uint64_t least,
                        struct as_error *err)
{
    char *text = as_format("%s..", place);
    bool ok = as_regions_parse(regions, text, err);
    free(text);
    if (!ok)
        return false;
    struct as_region *region = &regions->list.data[regions->list.len - 1];
    if (region->start.kind != AS_POINT_LANDMARK || region->start.number)
        return as_error_set_status(err, AS_EXIT_USAGE, "--loop=%s: not a function, an address or a marker", place);
    region->stop = region->start;
    region->start = (struct as_point){0};
    region->repeat = true;
    collect->least = least;
    return true;
}

uint64_t as_collect_pass(const struct as_collect *collect, size_t interval)
{
    return interval && interval <= collect->starts.len ? collect->starts.data[interval - 1] : 0;
}

static struct book *book_of(struct as_collect *collect, const struct as_thread *thread)
{
    size_t at = collect->by_thread ? thread->number - 1 : 0;
    while (collect->books.len <= at) {
        struct book *book = as_alloc(sizeof *book);
        *as_vec_push(&collect->books) = book;
        book->thread = collect->by_thread ? (uint32_t)collect->books.len : 0;
    }
    return collect->books.data[at];
}

static void note(struct as_collect *collect, struct book *book, const struct as_block *block, uint64_t instructions)
{
    while (book->blocks.len <= block->index)
        *as_vec_push(&book->blocks) = (struct own_block){0};
    struct own_block *own = &book->blocks.data[block->index];
    if (own->number == 0) {
        *as_vec_push(&collect->known) = (struct as_collect_block){.block = block, .thread = book->thread};
        own->number = (uint32_t)collect->known.len;
    }
    if (own->instructions == 0 && instructions > 0)
        *as_vec_push(&book->touched) = block->index;
    own->instructions += instructions;
    collect->executed += instructions;
}

static void on_block(void *context, struct as_thread *thread, const struct as_block_exec *exec)
{
    note(context, book_of(context, thread), exec->block, as_block_exec_count(exec));
}

static void on_tally(void *context, struct as_thread *thread, const struct as_block *block, const struct as_tally *told)
{
    note(context, book_of(context, thread), block, told->runs * block->n);
}

static void close_interval(struct as_collect *collect)
{
    for (size_t i = 0; i < collect->books.len; i++) {
        struct book *book = collect->books.data[i];
        for (size_t at = 0; at < book->touched.len; at++) {
            struct own_block *own = &book->blocks.data[book->touched.data[at]];
            as_vectors_add(&collect->vectors, own->number, own->instructions);
            own->instructions = 0;
        }
        as_vec_clear(&book->touched);
    }
    as_vectors_end(&collect->vectors);
    collect->executed = 0;
}

static void on_stretch(void *context, const struct as_stretch *stretch)
{
    struct as_collect *collect = context;
    collect->passes += collect->begun;
    if (collect->begun && collect->executed > 0 && collect->executed >= collect->least) {
        close_interval(collect);
        *as_vec_push(&collect->starts) = collect->passes;
    }
    collect->begun = true;
}

const struct as_sink as_collect_sink = {
    .block = on_block,
    .tally = on_tally,
    .stretch = on_stretch,
};

const struct as_sink as_collect_warm_sink = {
    .block = on_block,
    .stretch = on_stretch,
    .unmeasured = true,
};

const struct as_vectors *as_collect_finish(struct as_collect *collect)
{
    close_interval(collect);
    return &collect->vectors;
}

const struct as_collect_block *as_collect_blocks(const struct as_collect *collect, size_t *n)
{
    *n = collect->known.len;
    return collect->known.data;
}

void as_collect_lines(const struct as_collect *collect, const struct as_vectors *vectors, uint32_t interval,
                      struct as_map *lines)
{
    const struct as_vector *vector = &vectors->list.data[interval];
    for (size_t at = vector->first; at < vector->end; at++) {
        const struct as_vector_entry *entry = &vectors->entries.data[at];
        const struct as_block *block = collect->known.data[entry->block - 1].block;
        for (uint32_t i = 0; i < block->n; i++) /* what was cut off at the interval's ends is a block at most */
            *as_map_put(lines, as_code_line(block->image, block->insns[i]->address)) +=
                entry->count / block->n + (i < entry->count % block->n);
    }
}
