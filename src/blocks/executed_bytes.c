/* See executed_bytes.h. */
#include "blocks/executed_bytes.h"

#include <unistd.h>

static struct as_executed_piece *piece_of(struct as_executed_bytes *code, uint64_t address)
{
    uint64_t *place = as_map_put(&code->by_address, address / AS_EXECUTED_BYTES_PIECE);
    if (!*place) {
        *as_vec_push(&code->pieces) =
            (struct as_executed_piece){.address = address / AS_EXECUTED_BYTES_PIECE * AS_EXECUTED_BYTES_PIECE};
        *place = code->pieces.len;
    }
    return &code->pieces.data[*place - 1];
}

bool as_executed_bytes_add(struct as_executed_bytes *code, uint64_t address, const uint8_t *bytes, size_t n)
{
    bool same = true;
    for (size_t i = 0; i < n; i++) {
        struct as_executed_piece *piece = piece_of(code, address + i);
        uint64_t at = (address + i) % AS_EXECUTED_BYTES_PIECE, bit = (uint64_t)1 << at;
        if (piece->known & bit) {
            same = same && piece->bytes[at] == bytes[i];
            continue;
        }
        piece->known |= bit;
        piece->bytes[at] = bytes[i];
    }
    return same;
}

static bool pieces_agree(const struct as_executed_piece *a, const struct as_executed_piece *b)
{
    uint64_t both = a->known & b->known;
    for (uint32_t i = 0; i < AS_EXECUTED_BYTES_PIECE; i++)
        if (both >> i & 1 && a->bytes[i] != b->bytes[i])
            return false;
    return true;
}

bool as_executed_bytes_agree(const struct as_executed_bytes *a, const struct as_executed_bytes *b)
{
    for (size_t i = 0; i < a->pieces.len; i++) {
        const struct as_executed_piece *piece = &a->pieces.data[i];
        const uint64_t *place = as_map_get(&b->by_address, piece->address / AS_EXECUTED_BYTES_PIECE);
        if (place && !pieces_agree(piece, &b->pieces.data[*place - 1]))
            return false;
    }
    return true;
}

void as_executed_bytes_join(struct as_executed_bytes *to, const struct as_executed_bytes *from)
{
    for (size_t i = 0; i < from->pieces.len; i++) {
        const struct as_executed_piece *piece = &from->pieces.data[i];
        struct as_executed_piece *other = piece_of(to, piece->address);
        for (uint32_t k = 0; k < AS_EXECUTED_BYTES_PIECE; k++)
            if (piece->known >> k & 1)
                other->bytes[k] = piece->bytes[k];
        other->known |= piece->known;
    }
}

/* The first byte of the piece that the segment has otherwise; AS_EXECUTED_BYTES_PIECE: none. */
static uint64_t differs(const struct as_executed_piece *piece, const struct as_elf *elf,
                        const struct as_elf_segment *segment)
{
    uint64_t end = piece->address + AS_EXECUTED_BYTES_PIECE, segment_end = segment->address + segment->file_size;
    uint64_t from = piece->address > segment->address ? piece->address : segment->address;
    uint64_t to = end < segment_end ? end : segment_end;
    uint8_t bytes[AS_EXECUTED_BYTES_PIECE];
    if (!segment->executable || from >= to)
        return AS_EXECUTED_BYTES_PIECE;
    ssize_t n = pread(elf->fd, bytes, to - from, (off_t)(segment->offset + (from - segment->address)));
    for (ssize_t i = 0; i < n; i++) {
        uint64_t at = from - piece->address + (uint64_t)i;
        if (piece->known >> at & 1 && piece->bytes[at] != bytes[i])
            return at;
    }
    return AS_EXECUTED_BYTES_PIECE;
}

bool as_executed_bytes_are_in(const struct as_executed_bytes *code, const struct as_elf *elf, uint64_t *address)
{
    uint64_t lowest = UINT64_MAX;
    for (size_t i = 0; i < code->pieces.len; i++)
        for (size_t k = 0; k < elf->segments.len; k++) {
            const struct as_executed_piece *piece = &code->pieces.data[i];
            uint64_t at = differs(piece, elf, &elf->segments.data[k]);
            if (at < AS_EXECUTED_BYTES_PIECE && piece->address + at < lowest)
                lowest = piece->address + at;
        }
    if (lowest != UINT64_MAX)
        *address = lowest;
    return lowest == UINT64_MAX;
}

void as_executed_bytes_free(struct as_executed_bytes *code)
{
    as_map_free(&code->by_address);
    as_vec_free(&code->pieces);
    *code = (struct as_executed_bytes){0};
}
