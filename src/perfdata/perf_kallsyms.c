/* See perf_kallsyms.h. */
#include "perfdata/perf_kallsyms.h"

#include "base/search.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_SYMBOLS = 1 << 22, PAGE = 4096 };

/* ---- the build-id ---- */

static void read_build_id(const uint8_t *notes, size_t size, struct as_perf_build_id *id)
{
    for (size_t at = 0; size - at >= sizeof(Elf64_Nhdr);) {
        Elf64_Nhdr note;
        memcpy(&note, notes + at, sizeof note);
        at += sizeof note;
        size_t name = ((size_t)note.n_namesz + 3) & ~(size_t)3, body = ((size_t)note.n_descsz + 3) & ~(size_t)3;
        if (name > size - at || body > size - at - name)
            return;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(notes + at, "GNU", 4) == 0 &&
            note.n_descsz <= AS_PERF_BUILD_ID_MAX) {
            id->size = (uint8_t)note.n_descsz;
            memcpy(id->bytes, notes + at + name, note.n_descsz);
            return;
        }
        at += name + body;
    }
}

static struct as_perf_build_id load_build_id(const char *path)
{
    struct as_perf_build_id id = {0};
    uint8_t notes[PAGE];
    FILE *file = fopen(path, "re");
    size_t size = file ? fread(notes, 1, sizeof notes, file) : 0;
    read_build_id(notes, size, &id);
    if (file)
        fclose(file);
    return id;
}

/* ---- the symbols ---- */

/* A line as "ffffffff81000000 T _text": parsed by hand, as there are over a hundred thousand of them. */
struct line {
    uint64_t address;
    const char *name;
    size_t length; /* of the name */
    char type;
};

static bool parse_line(const char *text, struct line *line)
{
    size_t digits = strspn(text, "0123456789abcdefABCDEF");
    if (digits == 0 || text[digits] != ' ')
        return false;
    line->address = strtoull(text, NULL, 16);
    const char *type = text + digits + strspn(text + digits, " \t");
    if (*type == '\0' || *type == '\n')
        return false;
    line->type = *type;
    line->name = type + 1 + strspn(type + 1, " \t");
    line->length = strcspn(line->name, " \t\n");
    return line->length > 0 && line->address != 0;
}

static bool is_named(const struct line *line, const char *name)
{
    return line->length == strlen(name) && memcmp(line->name, name, line->length) == 0;
}

static void add_name(struct as_perf_kallsyms *table, const struct line *line)
{
    size_t need = table->names.len + line->length + 1;
    as_vec_reserve((void **)&table->names.data, &table->names.cap, need, 1);
    memcpy(table->names.data + table->names.len, line->name, line->length);
    table->names.data[need - 1] = '\0';
    table->names.len = need;
}

static void add_symbol(struct as_perf_kallsyms *table, const char *text)
{
    struct line line;
    if (!parse_line(text, &line))
        return;
    table->text = is_named(&line, "_text") ? line.address : table->text;
    table->stext = is_named(&line, "_stext") ? line.address : table->stext;
    if (!strchr("tTwW", line.type) || table->symbols.len >= MOST_SYMBOLS)
        return;
    struct as_perf_kallsym symbol = {
        .start = line.address, .name = (uint32_t)table->names.len, .order = (uint32_t)table->symbols.len};
    *as_vec_push(&table->symbols) = symbol;
    add_name(table, &line);
}

/* Of several names for one address perf 6.1 shows the last; the same is done here, so that results can be compared. */
static int compare_symbols(const void *a, const void *b)
{
    const struct as_perf_kallsym *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->order > y->order ? -1 : x->order < y->order;
}

/* A function extends to the next one; the last one to the end of its page. */
static void finish(struct as_perf_kallsyms *table)
{
    struct as_perf_kallsym *all = table->symbols.data;
    size_t n = 0;
    qsort(all, table->symbols.len, sizeof *all, compare_symbols);
    for (size_t i = 0; i < table->symbols.len; i++)
        if (n == 0 || all[i].start != all[n - 1].start)
            all[n++] = all[i];
    table->symbols.len = n;
    for (size_t i = 0; i < n; i++)
        all[i].end = i + 1 < n ? all[i + 1].start : (all[i].start | (PAGE - 1)) + 1;
}

bool as_perf_kallsyms_load(struct as_perf_kallsyms *table, const char *kallsyms, const char *notes)
{
    char line[1024];
    *table = (struct as_perf_kallsyms){0};
    FILE *file = fopen(kallsyms, "re");
    while (file && fgets(line, sizeof line, file))
        add_symbol(table, line);
    if (file)
        fclose(file);
    if (table->symbols.len == 0) {
        as_perf_kallsyms_free(table);
        return false;
    }
    finish(table);
    table->build_id = load_build_id(notes);
    return true;
}

void as_perf_kallsyms_free(struct as_perf_kallsyms *table)
{
    as_vec_free(&table->symbols);
    as_vec_free(&table->names);
    *table = (struct as_perf_kallsyms){0};
}

/* ---- look-up ---- */

static bool same_kernel(const struct as_perf_build_id *id, const struct as_perf_kernel *recorded, const char *release,
                        bool trust)
{
    if (recorded->build_id.size > 0)
        return recorded->build_id.size == id->size && memcmp(recorded->build_id.bytes, id->bytes, id->size) == 0;
    return recorded->release ? strcmp(recorded->release, release) == 0 : trust;
}

bool as_perf_kallsyms_could_fit(const char *notes, const struct as_perf_kernel *recorded, const char *release,
                                bool trust)
{
    struct as_perf_build_id id = load_build_id(notes);
    return same_kernel(&id, recorded, release, trust);
}

bool as_perf_kallsyms_fits(const struct as_perf_kallsyms *table, const struct as_perf_kernel *recorded,
                           const char *release, bool trust)
{
    uint64_t reference = recorded->reference;
    bool placed = reference ? reference == table->text || reference == table->stext : trust;
    return placed && same_kernel(&table->build_id, recorded, release, trust);
}

const char *as_perf_kallsyms_name(const struct as_perf_kallsyms *table, const struct as_perf_kallsym *symbol)
{
    return table->names.data + symbol->name;
}

const struct as_perf_kallsym *as_perf_kallsyms_find(const struct as_perf_kallsyms *table, uint64_t address)
{
    size_t at = as_search(0, table->symbols.len, i, table->symbols.data[i].start <= address);
    const struct as_perf_kallsym *symbol = at > 0 ? &table->symbols.data[at - 1] : NULL;
    return symbol && address < symbol->end ? symbol : NULL;
}
