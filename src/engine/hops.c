/* See hops.h. */
#include "engine/hops.h"

#include "engine/stream.h"

enum { MOST = 65536 }; /* calls that wait: deeper recursion is reported in parts */

static const struct as_block *block_of(const struct as_stream *stream, uint32_t id)
{
    return as_code_table_block(stream->code, id);
}

static void tell(struct as_stream *stream, const struct as_hop *hop)
{
    const struct as_block *block = block_of(stream, hop->id);
    struct as_block_exec exec = {
        .block = block, .end = block->n, .taken = true, .next = stream->code->gists.data[hop->next].address};
    stream->sink->passed(stream->context, &stream->thread, &exec);
}

void as_hops_tell(struct as_stream *stream)
{
    for (size_t i = 0; i < stream->hops.len; i++)
        tell(stream, &stream->hops.data[i]);
    as_vec_clear(&stream->hops);
}

static void tell_at_once(struct as_stream *stream, struct as_hop hop)
{
    as_hops_tell(stream);
    tell(stream, &hop);
}

static bool is_call(const struct as_block *block)
{
    return block->last_class == AS_CLASS_CALL || block->last_class == AS_CLASS_CALL_INDIRECT;
}

/* Whether the last hop is a jump: there are never two in a row. */
static bool ends_in_jump(const struct as_stream *stream)
{
    return stream->hops.len && !is_call(block_of(stream, stream->hops.data[stream->hops.len - 1].id));
}

static void add_call(struct as_stream *stream, struct as_hop hop, const struct as_block *block, uint64_t to)
{
    if (to == block->end || stream->hops.len >= MOST) /* the former only reads the instruction pointer */
        tell_at_once(stream, hop);
    else
        *as_vec_push(&stream->hops) = hop;
}

static void add_return(struct as_stream *stream, struct as_hop hop, uint64_t to)
{
    size_t calls = stream->hops.len - ends_in_jump(stream);
    if (calls && block_of(stream, stream->hops.data[calls - 1].id)->end == to)
        stream->hops.len = calls - 1;
    else
        tell_at_once(stream, hop);
}

static void add_jump(struct as_stream *stream, struct as_hop hop)
{
    const struct as_block_gist *from = &stream->code->gists.data[hop.id], *to = &stream->code->gists.data[hop.next];
    if (from->function_size == 0 || to->address - from->function < from->function_size)
        return;
    if (!to->entry)
        tell_at_once(stream, hop);
    else if (ends_in_jump(stream))
        stream->hops.data[stream->hops.len - 1] = hop;
    else
        *as_vec_push(&stream->hops) = hop;
}

void as_hops_add(struct as_stream *stream, uint32_t id, uint32_t next)
{
    const struct as_block *block = block_of(stream, id);
    struct as_hop hop = {.id = id, .next = next};
    uint64_t to = stream->code->gists.data[next].address;
    if (is_call(block))
        add_call(stream, hop, block, to);
    else if (block->last_class == AS_CLASS_RETURN)
        add_return(stream, hop, to);
    else
        add_jump(stream, hop);
}
