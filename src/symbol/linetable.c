/* The header of a line table (directories and files) and its program, a small state machine that emits rows. Rows of
 * the same address replace one another, a row reaches to the next one of its sequence. Everything is read through a
 * cursor that cannot leave the unit.
 */
#include "symbol/linetable.h"

#include "base/bytes.h"
#include "base/search.h"
#include "symbol/demangle.h"
#include "symbol/symtab.h"

#include <dwarf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILES = 1 << 20, MAX_PATH_SHOWN = PATH_MAX };

struct reader {
    const struct as_debug_image *image;
    struct as_bytes bytes; /* bad: ran past the end, or found nonsense */
    unsigned version, offset_size;
};

static uint64_t take(struct reader *r, size_t size)
{
    return as_bytes_number(&r->bytes, size);
}

static uint64_t take_uleb(struct reader *r)
{
    return as_bytes_uleb(&r->bytes);
}

/* A string in the unit itself. */
static const char *take_string(struct reader *r)
{
    const char *text = as_bytes_string(&r->bytes);
    return text ? text : "";
}

static const char *string_at(const struct as_debug_image *image, enum as_debug_section section, uint64_t offset)
{
    if (image->sections[section].data == NULL || offset >= image->sections[section].size)
        return "";
    return (const char *)image->sections[section].data + offset; /* ends in the zeros behind the section at last */
}

/* Skips or reads one field of a DWARF 5 entry. `text` and `number` get it where it is one. */
static void take_form(struct reader *r, uint64_t form, const char **text, uint64_t *number)
{
    switch (form) {
    case DW_FORM_string:
        *text = take_string(r);
        break;
    case DW_FORM_line_strp:
        *text = string_at(r->image, AS_DEBUG_LINE_STR, take(r, r->offset_size));
        break;
    case DW_FORM_strp:
        *text = string_at(r->image, AS_DEBUG_STR, take(r, r->offset_size));
        break;
    case DW_FORM_udata:
        *number = take_uleb(r);
        break;
    case DW_FORM_data1:
        *number = take(r, 1);
        break;
    case DW_FORM_data2:
        *number = take(r, 2);
        break;
    case DW_FORM_data4:
        *number = take(r, 4);
        break;
    case DW_FORM_data8:
        *number = take(r, 8);
        break;
    case DW_FORM_data16: /* an MD5 sum */
        take(r, 8);
        take(r, 8);
        break;
    default:
        r->bytes.bad = true;
    }
}

struct format {
    size_t count;
    uint64_t type[8], form[8];
};

static void take_format(struct reader *r, struct format *format)
{
    format->count = take(r, 1);
    if (format->count > 8)
        r->bytes.bad = true;
    for (size_t i = 0; i < format->count && !r->bytes.bad; i++) {
        format->type[i] = take_uleb(r);
        format->form[i] = take_uleb(r);
    }
}

static struct as_line_file take_entry(struct reader *r, const struct format *format)
{
    struct as_line_file file = {.name = ""};
    for (size_t i = 0; i < format->count; i++) {
        const char *text = NULL;
        uint64_t number = 0;
        take_form(r, format->form[i], &text, &number);
        if (format->type[i] == DW_LNCT_path && text != NULL)
            file.name = text;
        else if (format->type[i] == DW_LNCT_directory_index)
            file.dir = number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
    }
    return file;
}

/* The number of entries that follow; each takes at least a byte, or the table is nonsense. */
static uint64_t take_count(struct reader *r, const struct format *format)
{
    uint64_t count = take_uleb(r);
    if (count > as_bytes_left(&r->bytes) || count > MAX_FILES || (count > 0 && format->count == 0))
        r->bytes.bad = true;
    return r->bytes.bad ? 0 : count;
}

static void read_names_5(struct as_line_table *table, struct reader *r)
{
    struct format format;
    take_format(r, &format);
    for (uint64_t n = take_count(r, &format); n > 0 && !r->bytes.bad; n--)
        *as_vec_push(&table->dirs) = take_entry(r, &format).name;
    take_format(r, &format);
    for (uint64_t n = take_count(r, &format); n > 0 && !r->bytes.bad; n--)
        *as_vec_push(&table->files) = take_entry(r, &format);
}

static struct as_line_file take_file_4(struct reader *r, const char *name)
{
    uint64_t dir = take_uleb(r);
    take_uleb(r); /* time */
    take_uleb(r); /* length */
    return (struct as_line_file){.name = name, .dir = dir < UINT32_MAX ? (uint32_t)dir : UINT32_MAX};
}

/* Before DWARF 5 directory 0 is the compilation's, and files count from 1. */
static void read_names_4(struct as_line_table *table, struct reader *r)
{
    const char *name;
    *as_vec_push(&table->dirs) = "";
    while (!r->bytes.bad && *(name = take_string(r)) != '\0')
        *as_vec_push(&table->dirs) = name;
    *as_vec_push(&table->files) = (struct as_line_file){.name = ""};
    while (!r->bytes.bad && table->files.len < MAX_FILES && *(name = take_string(r)) != '\0')
        *as_vec_push(&table->files) = take_file_4(r, name);
}

/* ---- the program ---- */

struct program {
    uint8_t min_length, max_ops, opcode_base, line_range;
    int8_t line_base;
    const uint8_t *lengths; /* of the standard opcodes, from opcode 1 */
};

struct row {
    uint64_t address, op_index, file, line, column, discriminator;
};

struct machine {
    struct as_line_table *table;
    const struct as_symtab *code;
    const struct program *program;
    struct row now, last; /* last: the row that waits for its end */
    bool open;            /* last is valid */
};

static void advance(struct machine *m, uint64_t operations)
{
    uint64_t ops = m->now.op_index + operations;
    m->now.address += m->program->min_length * (ops / m->program->max_ops);
    m->now.op_index = ops % m->program->max_ops;
}

/* Ends the waiting row at the current address; it is kept where it covers anything of the program's code. */
static void close_row(struct machine *m)
{
    uint64_t length = m->now.address - m->last.address;
    if (!m->open || m->now.address <= m->last.address || length > UINT32_MAX || m->last.line > INT32_MAX ||
        m->last.file > UINT32_MAX || !as_symtab_is_code(m->code, m->last.address))
        return;
    *as_vec_push(&m->table->runs) =
        (struct as_line_run){.start = m->last.address,
                             .length = (uint32_t)length,
                             .file = (uint32_t)m->last.file,
                             .line = (uint32_t)m->last.line,
                             .column = m->last.column <= UINT16_MAX ? (uint16_t)m->last.column : 0,
                             .discriminator = (uint32_t)m->last.discriminator};
}

static void emit(struct machine *m)
{
    close_row(m);
    m->last = m->now;
    m->now.discriminator = 0;
    m->open = true;
}

static void reset(struct machine *m)
{
    m->now = (struct row){.file = 1, .line = 1};
    m->open = false;
}

static void extended(struct machine *m, struct reader *r)
{
    uint64_t length = take_uleb(r);
    if (length == 0 || length > as_bytes_left(&r->bytes)) {
        r->bytes.bad = true;
        return;
    }
    struct reader op = *r;
    op.bytes.end = op.bytes.at + length;
    r->bytes.at = op.bytes.end;
    switch (take(&op, 1)) {
    case DW_LNE_end_sequence:
        close_row(m);
        reset(m);
        break;
    case DW_LNE_set_address:
        m->now.address = take(&op, length - 1 < 8 ? length - 1 : 8);
        m->now.op_index = 0;
        break;
    case DW_LNE_define_file:
        if (m->table->files.len < MAX_FILES) {
            const char *name = take_string(&op);
            *as_vec_push(&m->table->files) = take_file_4(&op, name);
        }
        break;
    case DW_LNE_set_discriminator:
        m->now.discriminator = take_uleb(&op);
        break;
    default: /* what vendors add */
        break;
    }
}

static void standard(struct machine *m, struct reader *r, uint8_t opcode)
{
    switch (opcode) {
    case DW_LNS_copy:
        emit(m);
        break;
    case DW_LNS_advance_pc:
        advance(m, take_uleb(r));
        break;
    case DW_LNS_advance_line:
        m->now.line += (uint64_t)as_bytes_sleb(&r->bytes);
        break;
    case DW_LNS_set_file:
        m->now.file = take_uleb(r);
        break;
    case DW_LNS_set_column:
        m->now.column = take_uleb(r);
        break;
    case DW_LNS_const_add_pc:
        advance(m, (255 - m->program->opcode_base) / m->program->line_range);
        break;
    case DW_LNS_fixed_advance_pc:
        m->now.address += take(r, 2);
        m->now.op_index = 0;
        break;
    default: /* flags without an operand, or unknown ones with as many as the header declares */
        for (uint8_t i = 0; i < m->program->lengths[opcode - 1]; i++)
            take_uleb(r);
    }
}

static void run(struct machine *m, struct reader *r)
{
    reset(m);
    while (r->bytes.at < r->bytes.end && !r->bytes.bad) {
        uint8_t opcode = (uint8_t)take(r, 1);
        if (opcode >= m->program->opcode_base) {
            uint8_t adjusted = (uint8_t)(opcode - m->program->opcode_base);
            m->now.line += (uint64_t)(int64_t)(m->program->line_base + adjusted % m->program->line_range);
            advance(m, adjusted / m->program->line_range);
            emit(m);
        } else if (opcode == 0) {
            extended(m, r);
        } else {
            standard(m, r, opcode);
        }
    }
}

/* ---- the unit ---- */

/* Sets the reader to the unit at `offset`, behind its length. */
static bool open_unit(struct reader *r, const struct as_debug_image *image, uint64_t offset)
{
    size_t size = image->sections[AS_DEBUG_LINE].size;
    if (image->sections[AS_DEBUG_LINE].data == NULL || offset >= size)
        return false;
    *r = (struct reader){.image = image,
                         .bytes = as_bytes(image->sections[AS_DEBUG_LINE].data + offset, size - offset, false),
                         .offset_size = 4};
    uint64_t length = take(r, 4);
    if (length == 0xffffffff) {
        length = take(r, 8);
        r->offset_size = 8;
    }
    if (r->bytes.bad || length > as_bytes_left(&r->bytes))
        return false;
    r->bytes.end = r->bytes.at + length;
    return true;
}

uint64_t as_line_table_size(const struct as_debug_image *image, uint64_t offset)
{
    struct reader r;
    return open_unit(&r, image, offset) ? as_bytes_left(&r.bytes) : 0;
}

static bool read_header(struct as_line_table *table, struct reader *r, struct program *program)
{
    table->version = r->version = (unsigned)take(r, 2);
    if (r->version < 2 || r->version > 5)
        return false;
    if (r->version >= 5 && (take(r, 1) != 8 || take(r, 1) != 0)) /* address size, segment selector size */
        return false;
    uint64_t header_length = take(r, r->offset_size);
    if (r->bytes.bad || header_length > as_bytes_left(&r->bytes))
        return false;
    const uint8_t *start = r->bytes.at + header_length;
    program->min_length = (uint8_t)take(r, 1);
    program->max_ops = r->version >= 4 ? (uint8_t)take(r, 1) : 1;
    take(r, 1); /* default_is_stmt: every row counts */
    program->line_base = (int8_t)take(r, 1);
    program->line_range = (uint8_t)take(r, 1);
    program->opcode_base = (uint8_t)take(r, 1);
    program->lengths = r->bytes.at;
    if (program->max_ops == 0 || program->line_range == 0 || program->opcode_base == 0 ||
        program->opcode_base - 1 > r->bytes.end - r->bytes.at)
        return false;
    r->bytes.at += program->opcode_base - 1;
    struct reader names = *r;
    names.bytes.end = start >= names.bytes.at ? start : names.bytes.at;
    if (r->version >= 5)
        read_names_5(table, &names);
    else
        read_names_4(table, &names);
    r->bytes.at = start;
    return !r->bytes.bad && start >= program->lengths;
}

static int by_start(const void *x, const void *y)
{
    const struct as_line_run *a = x, *b = y;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->length < b->length ? 1 : a->length > b->length ? -1 : 0; /* the innermost last */
}

bool as_line_table_read(struct as_line_table *table, const struct as_debug_image *image, uint64_t offset,
                        const char *compilation_dir, const struct as_symtab *code)
{
    struct reader r;
    struct program program;
    memset(table, 0, sizeof *table);
    table->compilation_dir = compilation_dir != NULL ? compilation_dir : "";
    if (!open_unit(&r, image, offset) || !read_header(table, &r, &program))
        return false;
    struct machine machine = {.table = table, .code = code, .program = &program};
    run(&machine, &r);
    if (table->runs.len > 0)
        qsort(table->runs.data, table->runs.len, sizeof *table->runs.data, by_start);
    return !r.bytes.bad;
}

void as_line_table_free(struct as_line_table *table)
{
    as_vec_free(&table->runs);
    as_vec_free(&table->files);
    as_vec_free(&table->dirs);
}

const struct as_line_run *as_line_table_find(const struct as_line_table *table, uint64_t address)
{
    size_t at = as_search(0, table->runs.len, i, table->runs.data[i].start <= address);
    if (at == 0)
        return NULL;
    const struct as_line_run *found = &table->runs.data[at - 1];
    return address - found->start < found->length ? found : NULL;
}

/* Joins the parts that are not empty; a part that begins with a slash makes those before it void. */
static void join(const char *const *parts, size_t count, char *path, size_t size)
{
    size_t first = 0, len = 0;
    for (size_t i = 0; i < count; i++)
        if (parts[i][0] == '/')
            first = i;
    for (size_t i = first; i < count && len < size; i++) {
        int n = snprintf(path + len, size - len, "%s%.*s", len > 0 && path[len - 1] != '/' ? "/" : "", (int)(size - 1),
                         parts[i]);
        if (parts[i][0] != '\0')
            len += (size_t)n;
    }
    for (char *c = path; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
}

const char *as_line_table_file(struct as_line_table *table, uint64_t file, struct as_strings *strings)
{
    if (file >= table->files.len)
        return NULL;
    struct as_line_file *f = &table->files.data[file];
    if (f->path == NULL && f->name[0] != '\0') {
        char path[MAX_PATH_SHOWN] = "";
        /* From DWARF 5 on, directory 0 is the compilation's, and the others are relative to it. */
        bool listed = table->version >= 5 && table->dirs.len > 0;
        const char *top = listed ? table->dirs.data[0] : table->compilation_dir;
        const char *dir = f->dir < table->dirs.len ? table->dirs.data[f->dir] : "";
        const char *parts[] = {listed && f->dir == 0 ? "" : top, dir, f->name};
        join(parts, 3, path, sizeof path);
        f->path = as_strings_get(strings, as_strings_intern(strings, path));
    }
    return f->path;
}
