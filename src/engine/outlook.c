/* See outlook.h. What is counted here has to be what finish_block (stream.c) counts. */
#include "engine/outlook.h"

#include "engine/block_end.h"
#include "engine/stream_rules.h"

static void begin(struct as_outlook *outlook, const struct as_stream *stream, uint64_t position)
{
    *outlook = (struct as_outlook){.thread = stream->thread.number,
                                   .position = position,
                                   .count = stream->regions->count,
                                   .inside = stream->block != NULL,
                                   .block = stream->block_id,
                                   .continues = stream->continues,
                                   .rep_address = stream->rep_address};
}

static const struct as_block *at_hand(const struct as_outlook *outlook, const struct as_stream *stream)
{
    return as_code_table_block(stream->code, outlook->block);
}

static void end_block(struct as_outlook *outlook, const struct as_block *block)
{
    outlook->count += block->n - outlook->continues;
    outlook->rep_address = block->flags & AS_BLOCK_REP_LAST ? block->insns[block->n - 1]->address : 0;
    outlook->inside = false;
}

static bool pass_block(struct as_outlook *outlook, const struct as_stream *stream, uint32_t number)
{
    const struct as_block *next = as_code_table_block(stream->code, number);
    const struct as_block *block = outlook->inside ? at_hand(outlook, stream) : NULL;
    if (!next || (block && !as_block_is_followed_by(block, next)))
        return false;
    if (block)
        end_block(outlook, block);
    outlook->continues = next->flags & AS_BLOCK_REP_FIRST && outlook->rep_address == next->address;
    outlook->inside = true;
    outlook->block = number;
    return true;
}

static bool pass_event(struct as_outlook *outlook, const struct as_stream *stream, uint64_t word)
{
    switch ((enum as_wire_event)(word >> AS_WIRE_EVENT_SHIFT)) {
    case AS_WIRE_SYSCALL:
        if (outlook->inside)
            end_block(outlook, at_hand(outlook, stream));
        return true;
    case AS_WIRE_SYSCALL_RETURN: /* behind a handler a rep instruction may go on */
        return !outlook->inside && !as_is_sigreturn(stream->thread.image->arch, (uint32_t)word);
    case AS_WIRE_MAPPING:
    case AS_WIRE_THREAD_NAME:
        return !outlook->inside;
    case AS_WIRE_REGISTERS_AT:
    case AS_WIRE_TIME:
        return true;
    default:
        return false;
    }
}

bool as_outlook_look(struct as_outlook *outlook, const struct as_stream *stream, const struct as_outlook_words *words)
{
    if (stream->in_sigreturn && words->read < words->written)
        return false;
    if (outlook->thread != stream->thread.number || outlook->position < words->read)
        begin(outlook, stream, words->read);
    while (outlook->position < words->written) {
        uint64_t word = words->ring[outlook->position % words->length], event = word >> AS_WIRE_EVENT_SHIFT;
        if (word & AS_WIRE_ACCESS_MASK) {
            outlook->position++;
            continue;
        }
        if (event >= AS_WIRE_EVENTS || words->written - outlook->position <= as_wire_event_words[event])
            return false;
        if (!(event == AS_WIRE_BLOCK ? pass_block(outlook, stream, (uint32_t)word) : pass_event(outlook, stream, word)))
            return false;
        outlook->position += 1 + (uint64_t)as_wire_event_words[event];
    }
    return true;
}
