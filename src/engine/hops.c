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

enum as_hop_kind as_hops_kind(const struct as_block *block)
{
    bool call = block->last_class == AS_CLASS_CALL || block->last_class == AS_CLASS_CALL_INDIRECT;
    return call ? AS_HOP_CALL : block->last_class == AS_CLASS_RETURN ? AS_HOP_RETURN : AS_HOP_JUMP;
}

/* Whether the last hop is a jump: there are never two in a row. */
static bool ends_in_jump(const struct as_stream *stream)
{
    return stream->hops.len && stream->hops.data[stream->hops.len - 1].jump;
}

static void add_call(struct as_stream *stream, struct as_hop hop)
{
    const struct as_block_gist *gists = stream->code->gists.data;
    if (gists[hop.next].address == gists[hop.id].end || stream->hops.len >= MOST)
        tell_at_once(stream, hop); /* the former only reads the instruction pointer */
    else
        *as_vec_push(&stream->hops) = hop;
}

static void add_return(struct as_stream *stream, struct as_hop hop)
{
    const struct as_block_gist *gists = stream->code->gists.data;
    size_t calls = stream->hops.len - ends_in_jump(stream);
    if (calls && gists[stream->hops.data[calls - 1].id].end == gists[hop.next].address)
        stream->hops.len = calls - 1;
    else
        tell_at_once(stream, hop);
}

static void add_jump(struct as_stream *stream, struct as_hop hop)
{
    const struct as_block_gist *from = &stream->code->gists.data[hop.id], *to = &stream->code->gists.data[hop.next];
    if (from->function_size == 0 || to->address - from->function < from->function_size)
        return;
    hop.jump = true;
    if (!to->entry)
        tell_at_once(stream, hop);
    else if (ends_in_jump(stream))
        stream->hops.data[stream->hops.len - 1] = hop;
    else
        *as_vec_push(&stream->hops) = hop;
}

void as_hops_add(struct as_stream *stream, enum as_hop_kind kind, uint32_t id, uint32_t next)
{
    struct as_hop hop = {.id = id, .next = next};
    if (kind == AS_HOP_CALL)
        add_call(stream, hop);
    else if (kind == AS_HOP_RETURN)
        add_return(stream, hop);
    else
        add_jump(stream, hop);
}
