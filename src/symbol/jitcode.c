/* See jitcode.h. Pieces are kept in the order of their addresses; `reach` is how far those before go, so that a look-up
 * walks back over no more than it must. */
#include "symbol/jitcode.h"

#include "base/error.h"
#include "base/search.h"
#include "base/vec.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 28, MOST_NAME = 4096 };

struct source {
    char *path, *bytes;
    size_t size;
};

struct covering {
    size_t piece;
    uint32_t order;
};

struct as_jit {
    AS_VEC(struct source *) sources;
    AS_VEC(struct as_jit_piece) pieces;
    AS_VEC(uint64_t) reach;           /* by piece: the farthest end up to it */
    AS_VEC(struct covering) covering; /* during a look-up */
    bool sorted;
    bool guess; /* see as_jit_is_guess */
};

struct as_jit *as_jit_new(void)
{
    return as_alloc(sizeof(struct as_jit));
}

void as_jit_free(struct as_jit *jit)
{
    for (size_t i = 0; jit && i < jit->sources.len; i++) {
        free(jit->sources.data[i]->path);
        free(jit->sources.data[i]->bytes);
        free(jit->sources.data[i]);
    }
    if (!jit)
        return;
    as_vec_free(&jit->sources);
    as_vec_free(&jit->pieces);
    as_vec_free(&jit->reach);
    as_vec_free(&jit->covering);
    free(jit);
}

static void add(struct as_jit *jit, struct as_jit_piece piece)
{
    if (piece.size == 0 || piece.size > UINT64_MAX - piece.start)
        return;
    piece.order = (uint32_t)jit->pieces.len;
    *as_vec_push(&jit->pieces) = piece;
    jit->sorted = false;
}

/* ---- /tmp/perf-PID.map ---- */

static void read_line(struct as_jit *jit, char *line)
{
    char *end;
    uint64_t start = strtoull(line, &end, 16);
    if (end == line || *end != ' ')
        return;
    char *rest = end;
    uint64_t size = strtoull(rest, &end, 16);
    if (end == rest || *end != ' ')
        return;
    end += strspn(end, " ");
    if (*end)
        add(jit, (struct as_jit_piece){.start = start, .size = size, .name = end});
}

/* The last line may still be being written. */
static void read_lines(struct as_jit *jit, char *text)
{
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        as_error_clean(line); /* control characters would reach a terminal */
        if ((size_t)(end - line) < MOST_NAME)
            read_line(jit, line);
    }
}

/* ---- jitdump ---- */

/* As in perf's jitdump-specification.txt; of this machine's byte order. */
enum { DUMP_MAGIC = 0x4a695444, LOAD = 0, MOVE = 1 };
struct dump_header {
    uint32_t magic, version, size, machine, pad, pid;
    uint64_t time, flags;
};
struct dump_record {
    uint32_t id, size;
    uint64_t time;
};
struct dump_load {
    struct dump_record head;
    uint32_t pid, tid;
    uint64_t vma, address, size, index;
};
struct dump_move {
    struct dump_record head;
    uint32_t pid, tid;
    uint64_t vma, from, to, size, index;
};

static void read_load(struct as_jit *jit, char *bytes, size_t size)
{
    struct dump_load load;
    if (size <= sizeof load)
        return;
    memcpy(&load, bytes, sizeof load);
    char *name = bytes + sizeof load, *end = memchr(name, '\0', size - sizeof load);
    size_t left = end ? size - (size_t)(end + 1 - bytes) : 0;
    if (!end || end - name >= MOST_NAME)
        return;
    as_error_clean(name);
    add(jit, (struct as_jit_piece){.start = load.address,
                                   .size = load.size,
                                   .time = load.head.time,
                                   .name = name,
                                   .bytes = load.size <= left ? (const uint8_t *)end + 1 : NULL});
}

/* The newest piece that begins where the moved one did goes on elsewhere. */
static void read_move(struct as_jit *jit, const char *bytes, size_t size)
{
    struct dump_move move;
    if (size < sizeof move)
        return;
    memcpy(&move, bytes, sizeof move);
    for (size_t i = jit->pieces.len; i-- > 0;)
        if (jit->pieces.data[i].start == move.from) {
            struct as_jit_piece piece = jit->pieces.data[i];
            piece.start = move.to;
            piece.time = move.head.time;
            add(jit, piece);
            return;
        }
}

static void read_dump(struct as_jit *jit, char *bytes, size_t size)
{
    struct dump_header header;
    struct dump_record record;
    if (size < sizeof header)
        return;
    memcpy(&header, bytes, sizeof header);
    for (size_t at = header.size; at <= size && size - at >= sizeof record; at += record.size) {
        memcpy(&record, bytes + at, sizeof record);
        if (record.size < sizeof record || record.size > size - at)
            return;
        if (record.id == LOAD)
            read_load(jit, bytes + at, record.size);
        else if (record.id == MOVE)
            read_move(jit, bytes + at, record.size);
    }
}

/* ---- files ---- */

static bool is_usable(int fd, int64_t since, size_t *size)
{
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size <= 0 || info.st_size > MOST_BYTES)
        return false;
    *size = (size_t)info.st_size;
    return (info.st_uid == 0 || info.st_uid == geteuid()) && info.st_mtim.tv_sec >= since;
}

/* The bytes of a file and a zero; the caller frees. NULL: it cannot be used, or has no more than `known` bytes. */
static char *read_file(const char *path, int64_t since, size_t known, size_t *size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
    char *bytes = NULL;
    if (fd >= 0 && is_usable(fd, since, size) && *size > known) {
        bytes = as_alloc(*size + 1);
        ssize_t got = pread(fd, bytes, *size, 0);
        *size = got > 0 ? (size_t)got : 0;
        bytes[*size] = '\0';
    }
    if (fd >= 0)
        close(fd);
    return bytes;
}

static struct source *source_of(struct as_jit *jit, const char *path)
{
    for (size_t i = 0; i < jit->sources.len; i++)
        if (strcmp(jit->sources.data[i]->path, path) == 0)
            return jit->sources.data[i];
    struct source *source = as_alloc(sizeof *source);
    source->path = as_strdup(path);
    return *as_vec_push(&jit->sources) = source;
}

/* Pieces point into the bytes of their file: all of them go before it is read again. */
static void read_all(struct as_jit *jit)
{
    as_vec_clear(&jit->pieces);
    for (size_t i = 0; i < jit->sources.len; i++) {
        struct source *source = jit->sources.data[i];
        uint32_t magic = 0;
        memcpy(&magic, source->bytes ? source->bytes : "", source->size >= sizeof magic ? sizeof magic : 0);
        if (magic == DUMP_MAGIC)
            read_dump(jit, source->bytes, source->size);
        else if (source->bytes)
            read_lines(jit, source->bytes);
    }
}

bool as_jit_read(struct as_jit *jit, const char *path, int64_t since)
{
    struct source *source = source_of(jit, path);
    size_t size = 0;
    char *bytes = read_file(path, since, source->size, &size);
    if (!bytes)
        return source->bytes != NULL;
    free(source->bytes);
    source->bytes = bytes;
    source->size = size;
    read_all(jit);
    return true;
}

/* ---- look-up ---- */

static int compare(const void *a, const void *b)
{
    const struct as_jit_piece *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static void sort(struct as_jit *jit)
{
    uint64_t reach = 0;
    if (jit->sorted)
        return;
    jit->sorted = true;
    if (jit->pieces.len)
        qsort(jit->pieces.data, jit->pieces.len, sizeof *jit->pieces.data, compare);
    as_vec_clear(&jit->reach);
    for (size_t i = 0; i < jit->pieces.len; i++) {
        uint64_t end = jit->pieces.data[i].start + jit->pieces.data[i].size;
        reach = end > reach ? end : reach;
        *as_vec_push(&jit->reach) = reach;
    }
}

static bool has_bytes(const struct as_jit_piece *piece, uint64_t address, const struct as_jit_insn *insn)
{
    uint64_t offset = address - piece->start;
    return insn && insn->n && piece->bytes && piece->size - offset >= insn->n &&
           memcmp(piece->bytes + offset, insn->bytes, insn->n) == 0;
}

/* Whether the first instruction of a piece is known to have been executed before. `i` is its place in the list. */
static bool has_begun(const struct as_jit *jit, size_t i, const struct as_jit_insn *insn)
{
    uint32_t before = 0; /* pieces that begin at one place are in the order of the file */
    if (!insn || !insn->versions)
        return false;
    while (i > before && jit->pieces.data[i - before - 1].start == jit->pieces.data[i].start)
        before++;
    return insn->versions(insn->context, jit->pieces.data[i].start) > before;
}

/* Whether a piece is a better answer than the one found so far: with the right bytes, then the last one that was there in
 * time. `index`: how many pieces at the address came before it. */
static bool is_better(const struct as_jit *jit, size_t piece, bool fits, bool found_fits,
                      const struct as_jit_insn *insn, uint32_t index)
{
    if (fits != found_fits)
        return fits;
    return !insn || insn->version == AS_JIT_LAST || index <= insn->version || has_begun(jit, piece, insn);
}

static int compare_orders(const void *a, const void *b)
{
    const struct covering *x = a, *y = b;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Lists the pieces that cover an address and were there in time, in the order of the file. */
static void find_covering(struct as_jit *jit, uint64_t address, const struct as_jit_insn *insn)
{
    sort(jit);
    size_t end = as_search(0, jit->pieces.len, i, jit->pieces.data[i].start <= address), first = end;
    while (first > 0 && jit->reach.data[first - 1] > address)
        first--;
    as_vec_clear(&jit->covering);
    for (size_t i = first; i < end; i++) {
        const struct as_jit_piece *piece = &jit->pieces.data[i];
        if (address - piece->start < piece->size && !(insn && insn->time && piece->time > insn->time))
            *as_vec_push(&jit->covering) = (struct covering){.piece = i, .order = piece->order};
    }
    if (jit->covering.len)
        qsort(jit->covering.data, jit->covering.len, sizeof *jit->covering.data, compare_orders);
}

/* Whether two pieces are the same code at the same place. */
static bool is_copy(const struct as_jit_piece *a, const struct as_jit_piece *b)
{
    return a->start == b->start && a->size == b->size && a->bytes && b->bytes &&
           memcmp(a->bytes, b->bytes, a->size) == 0;
}

/* Times choose if all pieces have one; so do bytes and what was executed before, as far as they are known, unless the pieces
 * are the same. */
static bool is_guess(const struct as_jit *jit, const struct as_jit_piece *found, const struct as_jit_insn *insn)
{
    bool timed = insn && insn->time, known = insn && (insn->n || insn->versions || insn->version != AS_JIT_LAST);
    for (size_t i = 0; i < jit->covering.len; i++) {
        const struct as_jit_piece *other = &jit->pieces.data[jit->covering.data[i].piece];
        if (strcmp(other->name, found->name) != 0 && !(timed && other->time && found->time) &&
            (!known || is_copy(other, found)))
            return true;
    }
    return false;
}

bool as_jit_is_guess(const struct as_jit *jit)
{
    return jit->guess;
}

const struct as_jit_piece *as_jit_find(struct as_jit *jit, uint64_t address, const struct as_jit_insn *insn)
{
    const struct as_jit_piece *found = NULL;
    bool found_fits = false;
    find_covering(jit, address, insn);
    for (uint32_t i = 0; i < jit->covering.len; i++) {
        size_t at = jit->covering.data[i].piece;
        const struct as_jit_piece *piece = &jit->pieces.data[at];
        bool fits = has_bytes(piece, address, insn);
        if (!found || is_better(jit, at, fits, found_fits, insn, i)) {
            found = piece;
            found_fits = fits;
        }
    }
    jit->guess = found && is_guess(jit, found, insn);
    return found;
}
