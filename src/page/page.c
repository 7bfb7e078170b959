/* The document's text passes through a stream that makes it safe inside HTML: JSON in which '<' is \u003c, so that it
 * cannot contain "</script>", or deflated and in base64. Errors are kept until the end. */
#include "page/page.h"

#include "page/page_template.h"

#include <errno.h>
#include <string.h>
#define ZLIB_CONST /* its input stays as it is */
#include <zlib.h>

struct sink {
    FILE *out;
    bool deflated, failed;
    z_stream zlib;
    unsigned char carry[3]; /* bytes that wait until there are three */
    size_t carried;
};

static void put(struct sink *sink, const void *bytes, size_t length)
{
    if (fwrite(bytes, 1, length, sink->out) != length)
        sink->failed = true;
}

/* In JSON only strings contain '<', so each can be replaced. */
static void put_escaped(struct sink *sink, const char *text, size_t length)
{
    while (length > 0) {
        const char *found = memchr(text, '<', length);
        size_t plain = found ? (size_t)(found - text) : length;
        put(sink, text, plain);
        if (found)
            put(sink, "\\u003c", 6);
        text += plain + (found != NULL);
        length -= plain + (found != NULL);
    }
}

/* Four letters for up to three bytes. */
static void put_group(struct sink *sink)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *in = sink->carry;
    char four[4] = {
        letters[in[0] >> 2],
        letters[(in[0] & 3) << 4 | in[1] >> 4],
        sink->carried > 1 ? letters[(in[1] & 15) << 2 | in[2] >> 6] : '=',
        sink->carried > 2 ? letters[in[2] & 63] : '=',
    };
    put(sink, four, sizeof four);
    memset(sink->carry, 0, sizeof sink->carry);
    sink->carried = 0;
}

static void put_base64(struct sink *sink, const unsigned char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        sink->carry[sink->carried++] = bytes[i];
        if (sink->carried == sizeof sink->carry)
            put_group(sink);
    }
}

static void put_deflated(struct sink *sink, const char *text, size_t length, int flush)
{
    unsigned char packed[16384];
    sink->zlib.next_in = (const Bytef *)text;
    sink->zlib.avail_in = (uInt)length;
    do {
        sink->zlib.next_out = packed;
        sink->zlib.avail_out = sizeof packed;
        (void)deflate(&sink->zlib, flush); /* fails only for a stream that was not set up */
        put_base64(sink, packed, sizeof packed - sink->zlib.avail_out);
    } while (sink->zlib.avail_out == 0);
}

static ssize_t sink_write(void *cookie, const char *text, size_t length)
{
    struct sink *sink = cookie;
    if (sink->deflated)
        put_deflated(sink, text, length, Z_NO_FLUSH); /* a stream's buffer: less than zlib can count */
    else
        put_escaped(sink, text, length);
    return (ssize_t)length; /* a failure is reported once, at the end */
}

static bool sink_begin(struct sink *sink)
{
    fprintf(sink->out, "<script type=\"application/json\" id=\"assay-data\"%s>",
            sink->deflated ? " data-encoding=\"deflate-base64\"" : "");
    return !sink->deflated || deflateInit(&sink->zlib, Z_BEST_COMPRESSION) == Z_OK;
}

static void sink_end(struct sink *sink)
{
    if (sink->deflated) {
        put_deflated(sink, "", 0, Z_FINISH);
        if (sink->carried > 0)
            put_group(sink);
        deflateEnd(&sink->zlib);
    }
    fputs("</script>", sink->out);
}

static bool write_document(struct sink *sink, void (*document)(struct as_json *json, void *data), void *data)
{
    FILE *stream = fopencookie(sink, "w", (cookie_io_functions_t){.write = sink_write});
    if (!stream)
        return false;
    struct as_json *json = as_json_new(stream);
    as_json_compact(json);
    document(json, data);
    bool ok = as_json_finish(json);
    return fclose(stream) == 0 && ok;
}

bool as_page_write(FILE *out, enum as_page_encoding encoding, void (*document)(struct as_json *json, void *data),
                   void *data, struct as_error *err)
{
    const char *marker = strstr(as_page_template, AS_PAGE_MARKER);
    if (!marker)
        return as_error_set(err, "the page template of this build has no place for a profile");
    const char *rest = marker + strlen(AS_PAGE_MARKER);
    struct sink sink = {.out = out, .deflated = encoding == AS_PAGE_DEFLATED};
    errno = 0;
    put(&sink, as_page_template, (size_t)(marker - as_page_template));
    if (!sink_begin(&sink))
        return as_error_set(err, "cannot write the page: out of memory");
    bool ok = write_document(&sink, document, data);
    sink_end(&sink);
    put(&sink, rest, strlen(rest));
    if (ok && !sink.failed && fflush(out) == 0 && !ferror(out))
        return true;
    return as_error_set(err, "cannot write the page: %s", errno ? strerror(errno) : "the output failed");
}

void as_page_string(struct as_json *json, const char *name, const char *value)
{
    char cut[AS_PAGE_STRING_MAX + sizeof "…"];
    if (!value || strnlen(value, AS_PAGE_STRING_MAX + 1) <= AS_PAGE_STRING_MAX) {
        as_json_string(json, name, value);
        return;
    }
    memcpy(cut, value, AS_PAGE_STRING_MAX);
    size_t length = AS_PAGE_STRING_MAX;
    while (length > 0 && (cut[length - 1] & 0xc0) == 0x80) /* not inside a UTF-8 character */
        length--;
    if (length > 0 && (cut[length - 1] & 0x80))
        length--;
    strcpy(cut + length, "…");
    as_json_string(json, name, cut);
}
