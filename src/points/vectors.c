/* See vectors.h. */
#include "points/vectors.h"

#include "base/text_lines.h"

#include <inttypes.h>
#include <string.h>

enum { LONGEST = 1 << 28 }; /* bytes of a line, which has every block of an interval */

void as_vectors_free(struct as_vectors *vectors)
{
    as_vec_free(&vectors->entries);
    as_vec_free(&vectors->list);
    vectors->blocks = 0;
}

static size_t first_of_open(const struct as_vectors *vectors)
{
    return vectors->list.len ? vectors->list.data[vectors->list.len - 1].end : 0;
}

void as_vectors_add(struct as_vectors *vectors, uint32_t block, uint64_t count)
{
    while (count > 0) { /* an interval can be longer than an entry can tell */
        uint32_t part = count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
        *as_vec_push(&vectors->entries) = (struct as_vector_entry){.block = block, .count = part};
        count -= part;
    }
    vectors->blocks = block > vectors->blocks ? block : vectors->blocks;
}

static int compare_entries(const void *a, const void *b)
{
    const struct as_vector_entry *x = a, *y = b;
    return (x->block > y->block) - (x->block < y->block);
}

static bool is_sorted(const struct as_vector_entry *entries, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (entries[i - 1].block >= entries[i].block)
            return false;
    return true;
}

/* Joins neighbours of one block as far as a count can tell the sum. Returns how many entries are left. */
static size_t join(struct as_vector_entry *entries, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (kept && entries[kept - 1].block == entries[i].block &&
            entries[i].count <= UINT32_MAX - entries[kept - 1].count)
            entries[kept - 1].count += entries[i].count;
        else
            entries[kept++] = entries[i];
    return kept;
}

void as_vectors_end(struct as_vectors *vectors)
{
    size_t first = first_of_open(vectors), n = vectors->entries.len - first;
    struct as_vector_entry *entries = vectors->entries.data + first;
    struct as_vector vector = {.first = first};
    if (n == 0)
        return;
    if (!is_sorted(entries, n))
        qsort(entries, n, sizeof *entries, compare_entries);
    n = join(entries, n);
    vectors->entries.len = vector.end = first + n;
    for (size_t i = 0; i < n; i++)
        vector.instructions += entries[i].count;
    *as_vec_push(&vectors->list) = vector;
}

uint64_t as_vectors_instructions(const struct as_vectors *vectors)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < vectors->list.len; i++)
        sum += vectors->list.data[i].instructions;
    return sum;
}

uint32_t as_vectors_blocks(const struct as_vectors *vectors)
{
    uint8_t *seen = as_alloc_array((size_t)vectors->blocks / 8 + 1, sizeof *seen);
    uint32_t blocks = 0;
    for (size_t i = 0; i < vectors->entries.len; i++) {
        uint32_t block = vectors->entries.data[i].block;
        blocks += !(seen[block / 8] >> block % 8 & 1);
        seen[block / 8] |= (uint8_t)(1 << block % 8);
    }
    free(seen);
    return blocks;
}

/* ---- text ---- */

bool as_vectors_write(const struct as_vectors *vectors, FILE *out)
{
    for (size_t i = 0; i < vectors->list.len; i++) {
        const struct as_vector *vector = &vectors->list.data[i];
        putc('T', out);
        for (size_t at = vector->first; at < vector->end; at++)
            fprintf(out, ":%" PRIu32 ":%" PRIu32 " ", vectors->entries.data[at].block, vectors->entries.data[at].count);
        putc('\n', out);
    }
    return !ferror(out);
}

/* Numbers above these are no block's, and no interval's: such a file is not what it seems. An entry counts to 2^32, so an interval costs
 * little more memory than its line is long. */
enum { MOST_BLOCKS = 1 << 28 };
static const uint64_t most_executed = UINT64_C(1) << 40;

/* A decimal number at *text, which moves behind it. */
static bool read_number(const char **text, uint64_t *number)
{
    const char *digit = *text;
    *number = 0;
    for (; *digit >= '0' && *digit <= '9'; digit++) {
        if (*number > (UINT64_MAX >> 1) / 10)
            return false;
        *number = *number * 10 + (uint64_t)(*digit - '0');
    }
    bool any = digit != *text;
    *text = digit;
    return any;
}

/* SimPoint's tools write counts as whole numbers; some write them with a fraction, which says nothing here. */
static void skip_fraction(const char **text)
{
    if (**text == '.')
        for (++*text; **text >= '0' && **text <= '9';)
            ++*text;
}

static bool read_entries(struct as_vectors *vectors, const char *text)
{
    uint64_t block, count, sum = 0;
    for (;;) {
        while (*text == ' ' || *text == '\t' || *text == '\r' || *text == '\n')
            text++;
        if (*text == '\0')
            return true;
        if (*text++ != ':' || !read_number(&text, &block) || block == 0 || block > MOST_BLOCKS || *text++ != ':' ||
            !read_number(&text, &count) || count > most_executed || (sum += count) > most_executed)
            return false;
        skip_fraction(&text);
        as_vectors_add(vectors, (uint32_t)block, count);
    }
}

/* Behind the mark that some editors put in front of UTF-8. */
static const char *behind_mark(const char *text)
{
    static const char mark[] = "\xef\xbb\xbf";
    return strncmp(text, mark, sizeof mark - 1) == 0 ? text + sizeof mark - 1 : text;
}

static bool read_line(struct as_vectors *vectors, const char *text, const char *name, size_t line, struct as_error *err)
{
    if (text[0] != 'T')
        return true;
    if (!read_entries(vectors, text + 1))
        return as_error_set(err, "%s:%zu: not a frequency vector; each interval is a line like 'T:1:20 :2:35'", name,
                            line);
    size_t before = vectors->list.len;
    as_vectors_end(vectors);
    return vectors->list.len > before || as_error_set(err, "%s:%zu: an interval without any instruction", name, line);
}

bool as_vectors_read(struct as_vectors *vectors, FILE *in, const char *name, struct as_error *err)
{
    struct as_lines lines = {.in = in, .name = name, .most = LONGEST};
    bool ok = true;
    for (const char *text; ok && (text = as_lines_next(&lines));)
        ok = read_line(vectors, lines.number == 1 ? behind_mark(text) : text, name, lines.number, err);
    ok = as_lines_end(&lines, ok, err);
    if (ok && vectors->list.len == 0)
        ok = as_error_set(
            err, "%s: no interval in it; a file of frequency vectors has a line that begins with T for each", name);
    return ok;
}
