/* See export_proto.h. */
#include "export/export_proto.h"

enum { WIRE_VARINT = 0, WIRE_BYTES = 2, GZIP = 16 }; /* GZIP: added to zlib's window size, asks for gzip's header */

void as_proto_varint(struct as_str *out, uint64_t value)
{
    uint8_t bytes[10];
    size_t n = 0;
    do {
        bytes[n++] = (uint8_t)(value & 0x7f) | (value > 0x7f ? 0x80 : 0);
        value >>= 7;
    } while (value);
    as_str_add_bytes(out, bytes, n);
}

void as_proto_u64(struct as_str *out, uint32_t field, uint64_t value)
{
    if (!value)
        return;
    as_proto_varint(out, (uint64_t)field << 3 | WIRE_VARINT);
    as_proto_varint(out, value);
}

void as_proto_bytes(struct as_str *out, uint32_t field, const void *bytes, size_t size)
{
    as_proto_varint(out, (uint64_t)field << 3 | WIRE_BYTES);
    as_proto_varint(out, size);
    as_str_add_bytes(out, bytes, size);
}

void as_proto_message(struct as_str *out, uint32_t field, struct as_str *message)
{
    as_proto_bytes(out, field, as_str_get(message), message->len);
    as_str_clear(message);
}

bool as_proto_file_open(struct as_proto_file *file, FILE *out, bool packed, struct as_error *err)
{
    *file = (struct as_proto_file){.out = out, .packed = packed};
    if (packed &&
        deflateInit2(&file->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + GZIP, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return as_error_set(err, "zlib cannot start: out of memory");
    return true;
}

static void deflate_all(struct as_proto_file *file, int flush)
{
    uint8_t buffer[1 << 14];
    do {
        file->stream.next_out = buffer;
        file->stream.avail_out = sizeof buffer;
        deflate(&file->stream, flush); /* cannot fail: the state is valid and there is room */
        fwrite(buffer, 1, sizeof buffer - file->stream.avail_out, file->out);
    } while (file->stream.avail_out == 0);
}

void as_proto_file_write(struct as_proto_file *file, struct as_str *bytes)
{
    enum { PIECE = 1 << 16 }; /* at a time, because zlib's sizes have 32 bits */
    const uint8_t *at = (const uint8_t *)as_str_get(bytes);
    size_t left = bytes->len;
    if (!file->packed)
        fwrite(at, 1, left, file->out);
    while (file->packed && left > 0) {
        uInt size = left > PIECE ? PIECE : (uInt)left;
        file->stream.next_in = (uint8_t *)at;
        file->stream.avail_in = size;
        deflate_all(file, Z_NO_FLUSH);
        at += size;
        left -= size;
    }
    as_str_clear(bytes);
}

void as_proto_file_close(struct as_proto_file *file)
{
    if (!file->packed)
        return;
    deflate_all(file, Z_FINISH);
    deflateEnd(&file->stream);
}
