/* See remedy.h. Here is the assembly; objects are object_text.c's. A line is cut into labels, a mnemonic and operands. Nops
 * go before the event: behind a branch they would only be executed where it is not taken. */
#include "trust/remedy.h"

#include "base/whole_file.h"
#include "trust/object_file.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const as_remedy_event_names[] = {
    [AS_REMEDY_LOADS] = "loads", [AS_REMEDY_STORES] = "stores", [AS_REMEDY_BRANCHES] = "branches", NULL};

enum { MNEMONIC = 24, OPERANDS = 4, OPERAND = 160 };

struct line {
    char mnemonic[MNEMONIC];
    char operands[OPERANDS][OPERAND];
    size_t n;
};

/* ---- lines ---- */

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("_.$@", c));
}

/* Behind labels and prefixes ("lock", "rep"), up to a comment. */
static const char *skip_labels(const char *at, const char *end)
{
    for (;;) {
        while (at < end && isspace((unsigned char)*at))
            at++;
        const char *name = at;
        while (at < end && is_name(*at))
            at++;
        if (at == name || at == end || *at != ':')
            return name;
        at++;
    }
}

static size_t comment_at(const char *line, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (line[i] == '#' || line[i] == '\n' || (line[i] == '/' && i + 1 < length && line[i + 1] == '/'))
            return i;
    return length;
}

/* Operands are separated by commas outside of brackets. */
static void cut_operands(struct line *line, const char *at, const char *end)
{
    int depth = 0;
    size_t used = 0;
    for (; at < end && line->n < OPERANDS; at++) {
        depth += (*at == '(') - (*at == ')');
        if (*at == ',' && depth == 0) {
            line->n++;
            used = 0;
        } else if (used + 1 < OPERAND && (used > 0 || !isspace((unsigned char)*at)))
            line->operands[line->n][used++] = *at;
    }
    if (line->n < OPERANDS && used > 0)
        line->n++;
}

static bool is_prefix(const char *word)
{
    static const char *const prefixes[] = {"lock", "rep", "repz", "repnz", "repe", "repne", "notrack", "bnd"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strcmp(prefixes[i], word) == 0)
            return true;
    return false;
}

static bool cut(const char *text, struct line *line)
{
    const char *end = text + comment_at(text, strlen(text)), *at = skip_labels(text, end);
    *line = (struct line){0};
    for (;;) {
        size_t length = 0;
        while (at < end && is_name(*at) && length + 1 < MNEMONIC)
            line->mnemonic[length++] = (char)tolower((unsigned char)*at++);
        line->mnemonic[length] = '\0';
        while (at < end && isspace((unsigned char)*at))
            at++;
        if (length == 0 || line->mnemonic[0] == '.' || (at < end && *at == '=')) /* "x = 5" is a symbol */
            return false;
        if (!is_prefix(line->mnemonic) || at == end)
            break;
    }
    cut_operands(line, at, end);
    return true;
}

/* ---- x86-64 ---- */

static bool starts(const struct line *line, const char *const *words)
{
    for (; *words; words++)
        if (strncmp(line->mnemonic, *words, strlen(*words)) == 0)
            return true;
    return false;
}

static bool is_one_of(const struct line *line, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(line->mnemonic, *words) == 0)
            return true;
    return false;
}

/* An operand of AT&T syntax that is neither a register nor a constant. */
static bool is_memory(const char *operand)
{
    return operand[0] && operand[0] != '$' && (operand[0] != '%' || strchr(operand, ':'));
}

static bool x86_branch(const struct line *line)
{
    static const char *const words[] = {"call", "ret", "loop", NULL};
    return line->mnemonic[0] == 'j' || starts(line, words);
}

static size_t memory_operands(const struct line *line)
{
    size_t n = 0;
    for (size_t i = 0; i < line->n; i++)
        n += is_memory(line->operands[i]);
    return n;
}

/* A string instruction has no operands or two in memory: movsd and cmpsd may be of floating-point numbers, movslq a conversion. */
static bool x86_string(const struct line *line, const char *word)
{
    return strncmp(line->mnemonic, word, strlen(word)) == 0 && (line->n == 0 || memory_operands(line) == 2);
}

/* Instructions whose last operand is written without being read. */
static bool x86_only_writes(const struct line *line)
{
    static const char *const words[] = {"mov",    "vmov",   "set",  "stos",     "ins",    "fst",    "fist",
                                        "fnst",   "fbst",   "fsav", "fnsave",   "fxsave", "xsave",  "stmxcsr",
                                        "vstmx",  "pextr",  "extr", "vextract", "vpextr", "vcvtps", "vmaskmov",
                                        "vpmask", "vpscat", "vsca", NULL};
    return starts(line, words);
}

/* Instructions that name memory and do not read it, or read it though they do not name it. */
static bool x86_load(const struct line *line)
{
    static const char *const never[] = {"lea", "prefetch", "clflush", "clwb", "nop", "loop", NULL};
    static const char *const always[] = {"pop", "ret", "leave", "lods", "scas", "outs", "xlat", NULL};
    if (x86_string(line, "movs") || x86_string(line, "cmps"))
        return true;
    if (starts(line, always) && strncmp(line->mnemonic, "popcnt", 6) != 0)
        return true;
    if ((line->mnemonic[0] == 'j' || strncmp(line->mnemonic, "call", 4) == 0) && line->n > 0)
        return line->operands[0][0] == '*' && is_memory(line->operands[0] + 1);
    if (starts(line, never) || line->n == 0)
        return false;
    return memory_operands(line) > (x86_only_writes(line) && is_memory(line->operands[line->n - 1]));
}

/* Instructions that name memory last and do not write it. */
static bool x86_only_reads(const struct line *line)
{
    static const char *const words[] = {"lea",  "prefetch", "clflush", "clwb",    "nop",  "j",    "loop", "cmp",
                                        "test", "div",      "idiv",    "mul",     "imul", "ucom", "comi", "lods",
                                        "scas", "outs",     "ldmxcsr", "vldmxcs", "xrst", NULL};
    static const char *const tests[] = {"bt", "btw", "btl", "btq", NULL};
    bool exchange = strncmp(line->mnemonic, "cmpxchg", 7) == 0, x87 = line->mnemonic[0] == 'f';
    return (starts(line, words) && !exchange) || is_one_of(line, tests) || (x87 && !x86_only_writes(line));
}

static bool x86_store(const struct line *line)
{
    static const char *const always[] = {"push", "call", "stos", "enter", NULL};
    static const char *const input[] = {"insb", "insw", "insl", NULL};
    if (starts(line, always) || x86_string(line, "movs") || (line->n == 0 && is_one_of(line, input)))
        return true;
    if (strncmp(line->mnemonic, "xchg", 4) == 0)
        return memory_operands(line) > 0;
    return line->n > 0 && !x86_only_reads(line) && is_memory(line->operands[line->n - 1]);
}

/* ---- RISC-V ---- */

static bool any_of(const struct line *line, const char *const *words)
{
    for (; *words; words++) {
        size_t length = strlen(*words);
        if (strncmp(line->mnemonic, *words, length) == 0 &&
            (line->mnemonic[length] == '\0' || line->mnemonic[length] == '.'))
            return true;
    }
    return false;
}

static bool rv_load(const struct line *line)
{
    static const char *const words[] = {"lb",    "lh",     "lw",     "ld",     "lbu",     "lhu",     "lwu",
                                        "flw",   "fld",    "flh",    "lr",     "amoadd",  "amoswap", "amoand",
                                        "amoor", "amoxor", "amomin", "amomax", "amominu", "amomaxu", NULL};
    return any_of(line, words);
}

static bool rv_store(const struct line *line)
{
    static const char *const words[] = {"sb",     "sh",     "sw",     "sd",      "fsw",     "fsd",
                                        "fsh",    "sc",     "amoadd", "amoswap", "amoand",  "amoor",
                                        "amoxor", "amomin", "amomax", "amominu", "amomaxu", NULL};
    return any_of(line, words);
}

static bool rv_branch(const struct line *line)
{
    static const char *const words[] = {"beq",  "bne",  "blt",  "bge",  "bltu", "bgeu", "beqz", "bnez",
                                        "blez", "bgez", "bltz", "bgtz", "bgt",  "ble",  "bgtu", "bleu",
                                        "j",    "jal",  "jalr", "jr",   "ret",  "call", "tail", NULL};
    return any_of(line, words);
}

bool as_remedy_is_event(enum as_arch arch, enum as_remedy_event event, const char *text)
{
    typedef bool is_kind(const struct line *line);
    static is_kind *const kinds[AS_ARCH_COUNT][AS_REMEDY_EVENTS] = {
        [AS_ARCH_X86_64] = {x86_load, x86_store, x86_branch}, [AS_ARCH_RISCV64] = {rv_load, rv_store, rv_branch}};
    struct line line;
    return cut(text, &line) && kinds[arch][event](&line);
}

/* ---- files ---- */

enum { LARGEST = 64 << 20 };

char *as_remedy_read(const char *path, size_t *size, struct as_error *err)
{
    char *bytes = as_whole_file(path, LARGEST, size);
    if (bytes && *size <= LARGEST)
        return bytes;
    if (bytes)
        as_error_set(err, "%s: more than 64 MiB", path);
    else
        as_error_set(err, "%s: cannot be read: %s", path, strerror(errno));
    free(bytes);
    return NULL;
}

/* ---- places ---- */

bool as_remedy_is_place(const struct as_remedy_options *options, uint64_t place)
{
    for (size_t i = 0; i < options->n_places; i++)
        if (options->places[i] == place)
            return true;
    return false;
}

/* The function as it was, with what comes to it in lines that begin with "+". */
void as_remedy_count(const struct as_remedy_options *options, struct as_remedy_result *result, bool event,
                     const char *place, const char *text)
{
    result->instructions++;
    result->events += event;
    if (!result->shown)
        return;
    if (event)
        as_str_addf(result->shown, "+          %u nops\n", options->nops);
    while (isspace((unsigned char)*text))
        text++;
    as_str_addf(result->shown, "  %8s %.*s\n", place, (int)strcspn(text, "\n"), text);
}

/* ---- functions ---- */

/* A label at the start of a line: its name. Local labels of compilers begin with .L, those of people may be numbers. */
static bool label_of(const char *line, char *name, size_t size)
{
    size_t length = 0;
    while (is_name(line[length]))
        length++;
    if (length == 0 || length >= size || line[length] != ':' || line[0] == '.' || isdigit((unsigned char)line[0]))
        return false;
    snprintf(name, size, "%.*s", (int)length, line);
    return true;
}

/* Compilers end a function with its size, and begin another with its label. */
static bool ends_function(const char *line)
{
    line += strspn(line, " \t");
    return strncmp(line, ".size", 5) == 0 || strncmp(line, ".cfi_endproc", 12) == 0;
}

/* Labels before the instruction stay before the nops: a jump to it goes through them. */
static void add_nops(const struct as_remedy_options *options, const char *line, size_t *done, struct as_str *out)
{
    const char *insn = skip_labels(line, line + strlen(line));
    size_t labels = (size_t)(insn - line);
    if (options->nops == 0)
        return;
    if (memchr(line, ':', labels)) {
        as_str_add_bytes(out, line, labels);
        as_str_add(out, "\n");
        *done = labels;
    }
    as_str_addf(out, "\t.rept %u\n\tnop\n\t.endr\n%s", options->nops, *done ? "\t" : "");
}

static void add_line(const struct as_remedy_options *options, const char *line, size_t length, uint64_t number,
                     struct as_str *out, struct as_remedy_result *result)
{
    char copy[1024], place[24];
    struct line parts;
    size_t done = 0;
    snprintf(copy, sizeof copy, "%.*s", (int)length, line);
    if (number && cut(copy, &parts)) {
        bool event = options->n_places > 0 ? as_remedy_is_place(options, number)
                                           : as_remedy_is_event(options->arch, options->event, copy);
        snprintf(place, sizeof place, "%" PRIu64, number);
        as_remedy_count(options, result, event, place, copy);
        if (event)
            add_nops(options, copy, &done, out);
    }
    as_str_add_bytes(out, line + done, length - done);
}

bool as_remedy_no_function(const struct as_remedy_options *options, struct as_error *err)
{
    if (!options->function)
        return as_error_set(err, "there is no function in it");
    return as_error_set(err, "there is no function '%s' in it", options->function);
}

/* Operands of Intel syntax come in another order: every rule here would be wrong. The directive may stand behind a label or
 * another statement of its line. */
static bool is_intel(const char *line, size_t length)
{
    static const char word[] = ".intel_syntax";
    const char *end = line + comment_at(line, length);
    for (const char *at = line; at < end; at++) {
        at = skip_labels(at, end);
        if ((size_t)(end - at) >= sizeof word - 1 && strncmp(at, word, sizeof word - 1) == 0)
            return true;
        while (at < end && *at != ';')
            at++;
    }
    return false;
}

/* `number` of a line outside of the function is 0. */
static bool apply_text(const struct as_remedy_options *options, const char *text, struct as_str *out,
                       struct as_remedy_result *result, struct as_error *err)
{
    bool inside = false;
    char name[256];
    uint64_t number = 0;
    for (const char *at = text; *at;) {
        const char *end = strchr(at, '\n');
        size_t length = end ? (size_t)(end - at) + 1 : strlen(at);
        number++;
        if (options->arch == AS_ARCH_X86_64 && is_intel(at, length))
            return as_error_set(err,
                                "it is in Intel syntax from line %" PRIu64
                                " on; compile without -masm=intel, or give the object file",
                                number);
        if (label_of(at, name, sizeof name)) {
            inside = !options->function || strcmp(name, options->function) == 0;
            result->functions += inside;
        }
        add_line(options, at, length, inside ? number : 0, out, result);
        if (ends_function(at))
            inside = false;
        at += length;
    }
    if (result->functions == 0)
        return as_remedy_no_function(options, err);
    return true;
}

bool as_remedy_apply(const struct as_remedy_options *options, const char *bytes, size_t size, struct as_str *out,
                     struct as_remedy_result *result, struct as_error *err)
{
    *result = (struct as_remedy_result){.shown = result->shown};
    bool object = as_object_is_elf(bytes, size);
    if (object && options->arch != AS_ARCH_X86_64 && as_object_is_x86(bytes, size))
        return as_error_set_status(err, AS_EXIT_USAGE, "it is an object of x86-64, and --arch says another");
    if (!object && memchr(bytes, '\0', size))
        return as_error_set(err, "neither assembly nor an object");
    if (object ? !as_remedy_apply_object(options, (const uint8_t *)bytes, size, out, result, err)
               : !apply_text(options, bytes, out, result, err))
        return false;
    if (options->n_places > 0 && result->events < options->n_places)
        return as_error_set(err, "%zu --at positions are not at the start of an instruction",
                            options->n_places - (size_t)result->events);
    return true;
}
