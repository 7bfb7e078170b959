/* Demangling by libiberty: it is the code behind c++filt and addr2line, needs no C++ runtime (__cxa_demangle would),
 * knows Rust, and hands out its result in pieces to a callback. That last point is what makes it safe here: a mangled
 * name of a few hundred bytes can stand for gigabytes (a type that doubles with each substitution), and leaving the
 * callback by longjmp ends that. cp-demangle.c allocates nothing on this path; rust-demangle.c may lose a small buffer
 * when a hostile name is cut off inside a punycode identifier.
 */
#include "symbol/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

enum {
    MAX_RAW = 8192,    /* longer names stay as they are: libiberty's stack grows with them */
    MAX_SEEN = 65536,  /* bytes of output after which a name is given up */
    MAX_CALLS = 65536, /* pieces, which may be empty */
};

struct sink {
    char *out;
    size_t len, size, seen, calls;
    jmp_buf enough;
};

static void add(struct sink *sink, const char *text, size_t length)
{
    size_t room = sink->size - 1 - sink->len;
    if (length > room)
        length = room;
    if (length == 0) /* text may be NULL then */
        return;
    memcpy(sink->out + sink->len, text, length);
    sink->len += length;
    sink->out[sink->len] = '\0';
}

static void take(const char *text, size_t length, void *opaque)
{
    struct sink *sink = opaque;
    sink->seen += length;
    if (sink->seen > MAX_SEEN || ++sink->calls > MAX_CALLS)
        longjmp(sink->enough, 1);
    add(sink, text, length);
}

/* A mangled name without suffix into the sink. False: not one, or hopeless. */
static bool demangle(const char *name, struct sink *sink)
{
    if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R' && name[1] != 'G'))
        return false;
    int options = DMGL_PARAMS | DMGL_ANSI;
    if (setjmp(sink->enough) != 0)
        return sink->len > 0;
    if (rust_demangle_callback(name, options, take, sink) != 0)
        return true;
    sink->len = sink->seen = 0;
    sink->out[0] = '\0';
    if (cplus_demangle_v3_callback(name, options, take, sink) != 0)
        return true;
    sink->len = 0;
    sink->out[0] = '\0';
    return false;
}

/* Shows that something is missing, on a character boundary of UTF-8. */
static void mark_cut(char *out, size_t size)
{
    static const char mark[] = "…";
    if (size < sizeof mark)
        return;
    size_t at = size - sizeof mark;
    while (at > 0 && ((unsigned char)out[at] & 0xc0) == 0x80)
        at--;
    memcpy(out + at, mark, sizeof mark);
}

static void clean(char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
}

bool as_demangle(const char *raw, char *out, size_t size)
{
    struct sink sink = {.out = out, .size = size};
    char name[MAX_RAW];
    size_t length = strnlen(raw, MAX_RAW);
    const char *version = memchr(raw, '@', length);
    const char *suffix = version != NULL && strcmp(version, "@plt") == 0 ? version : NULL;
    size_t base = version != NULL && version != raw ? (size_t)(version - raw) : length;
    bool done = false;
    out[0] = '\0';
    if (base < MAX_RAW) {
        memcpy(name, raw, base);
        name[base] = '\0';
        done = demangle(name, &sink);
    }
    if (!done)
        add(&sink, raw, base);
    if (suffix != NULL)
        add(&sink, suffix, strlen(suffix));
    if (sink.seen >= size || (!done && base >= size))
        mark_cut(out, size);
    clean(out);
    return done;
}
