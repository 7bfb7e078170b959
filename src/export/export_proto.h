/* Writes protocol buffers: varints, fields, nested messages; and a file that is compressed with gzip as it is written.
 * The wire format: protobuf.dev, "Encoding". */
#ifndef AS_EXPORT_PROTO_H
#define AS_EXPORT_PROTO_H

#include "base/error.h"
#include "base/str.h"

#include <stdint.h>
#include <stdio.h>
#include <zlib.h>

void as_proto_varint(struct as_str *out, uint64_t value);
void as_proto_u64(struct as_str *out, uint32_t field, uint64_t value); /* 0 is omitted, because it is the default */
void as_proto_bytes(struct as_str *out, uint32_t field, const void *bytes, size_t size);
void as_proto_message(struct as_str *out, uint32_t field, struct as_str *message); /* empties `message` */

struct as_proto_file {
    FILE *out;
    bool packed;
    z_stream stream;
};

bool as_proto_file_open(struct as_proto_file *file, FILE *out, bool packed, struct as_error *err) AS_MUST_CHECK;
void as_proto_file_write(struct as_proto_file *file,
                         struct as_str *bytes); /* empties `bytes`; the caller checks `out` */
void as_proto_file_close(struct as_proto_file *file);

#endif
