/* Holds our decoders against objdump, instruction by instruction.
 *
 *   objdump -dwz FILE | decode_compare x86_64|riscv64 DIFFERENCES
 *
 * objdump's listing gives addresses, bytes and text. The bytes are put together again and decoded by us at each address
 * that objdump lists; what objdump's text says about length, branch kind and memory is compared with our record, on
 * RISC-V the whole text, too. A difference has a kind, such as "memory bndmov yes/no" (mnemonic, objdump's/ours).
 * DIFFERENCES lists the kinds that are explained: lines of "ARCH PATTERN | explanation", shell patterns over the kind.
 *
 * Prints one line a kind, and last "compared N differences D unexplained U". Exit status 1 where U is not 0.
 */
#include "assay/insn.h"

#include <ctype.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_KINDS = 2000, KIND_SIZE = 120, LINE_SIZE = 4096 };

/* One line of the listing. */
struct listed {
    uint64_t address;
    uint8_t length;
    size_t offset; /* of its bytes in the text put together */
    char text[200];
};

struct kind {
    char name[KIND_SIZE];
    uint64_t count;
    uint64_t address; /* of the first one */
    char ours[160], theirs[200];
};

static enum as_arch arch;
static struct listed *lines;
static size_t line_count, line_room;
static uint8_t *text_bytes;
static size_t byte_count, byte_room;
static struct kind kinds[MAX_KINDS];
static size_t kind_count;
static uint64_t differences;

static void *grow(void *old, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return old;
    *room = *room ? *room * 2 : 1 << 16;
    void *grown = realloc(old, *room * size);
    if (!grown) {
        fprintf(stderr, "decode_compare: out of memory\n");
        exit(2);
    }
    return grown;
}

/* Reading the listing */

static const char *put_bytes(const char *at, struct listed *line)
{
    /* x86: "48 89 e5", one byte a group; RISC-V: "fd010113" or "1141", a whole instruction as a number. */
    while (isxdigit((unsigned char)at[0])) {
        char *end;
        uint64_t value = strtoull(at, &end, 16);
        size_t count = (size_t)(end - at) / 2;
        for (size_t i = 0; i < count; i++) {
            text_bytes = grow(text_bytes, byte_count, &byte_room, 1);
            text_bytes[byte_count++] = (uint8_t)(value >> 8 * i);
            line->length++;
        }
        at = end;
        while (*at == ' ')
            at++;
    }
    return at;
}

/* "  401000:\t55                   \tpush   %rbp"; other lines are headings. */
static void read_line(const char *at)
{
    char *end;
    while (*at == ' ')
        at++;
    struct listed line = {.address = strtoull(at, &end, 16), .offset = byte_count};
    if (end == at || end[0] != ':' || end[1] != '\t')
        return;
    at = put_bytes(end + 2, &line);
    if (*at == '\t')
        at++;
    snprintf(line.text, sizeof line.text, "%s", at);
    line.text[strcspn(line.text, "\n")] = '\0';
    lines = grow(lines, line_count, &line_room, sizeof *lines);
    lines[line_count++] = line;
}

/* What objdump's text says */

/* Takes off comments, symbols and blanks: "call 401126 <main>" becomes "call 401126". */
static void tidy(char *text)
{
    char *cut = strpbrk(text, "#<");
    if (cut)
        *cut = '\0';
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        text[--length] = '\0';
    for (char *at = text; *at; at++)
        if (*at == '\t')
            *at = ' ';
}

static bool is_one_of(const char *word, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(word, *list) == 0)
            return true;
    return false;
}

/* The mnemonic after prefixes; *operands is what follows it. */
static void split(const char *text, char *mnemonic, size_t size, const char **operands)
{
    static const char *const prefixes[] = {"lock", "rep",      "repz",     "repnz", "data16", "addr32", "cs",
                                           "ds",   "es",       "ss",       "fs",    "gs",     "bnd",    "notrack",
                                           "rex",  "xacquire", "xrelease", "{vex}", "{evex}", "{load}", NULL};
    for (;;) {
        size_t length = strcspn(text, " ");
        snprintf(mnemonic, size, "%.*s", (int)length, text);
        *operands = text + length + strspn(text + length, " ");
        bool prefix = arch == AS_ARCH_X86_64 && (is_one_of(mnemonic, prefixes) || strncmp(mnemonic, "rex.", 4) == 0);
        if (!prefix || **operands == '\0')
            return;
        text = *operands;
    }
}

/* Drops the size suffix that AT&T mnemonics of control transfers may have. */
static bool is_mnemonic(const char *mnemonic, const char *name)
{
    size_t length = strlen(name);
    return strncmp(mnemonic, name, length) == 0 &&
           (mnemonic[length] == '\0' || (strchr("wlq", mnemonic[length]) && mnemonic[length + 1] == '\0'));
}

static const char *x86_branch(const char *mnemonic, const char *operands)
{
    bool indirect = operands[0] == '*';
    if (is_mnemonic(mnemonic, "jmp") || is_mnemonic(mnemonic, "ljmp"))
        return indirect ? "jump_indirect" : "jump";
    if (is_mnemonic(mnemonic, "call") || is_mnemonic(mnemonic, "lcall"))
        return indirect ? "call_indirect" : "call";
    if (is_mnemonic(mnemonic, "ret") || is_mnemonic(mnemonic, "lret"))
        return "return";
    if (mnemonic[0] == 'j' || strncmp(mnemonic, "loop", 4) == 0 || strcmp(mnemonic, "xbegin") == 0)
        return "branch";
    return "-";
}

static const char *riscv_link_kind(const char *operands, const char *call, const char *jump)
{
    bool link = strncmp(operands, "ra,", 3) == 0 || strncmp(operands, "t0,", 3) == 0;
    return link || !strchr(operands, ',') ? call : jump;
}

static const char *riscv_branch(const char *mnemonic, const char *operands)
{
    static const char *const conditional[] = {"beq",  "bne",  "blt",  "bge",  "bltu", "bgeu", "beqz",
                                              "bnez", "blez", "bgez", "bltz", "bgtz", NULL};
    if (is_one_of(mnemonic, conditional))
        return "branch";
    if (strcmp(mnemonic, "j") == 0)
        return "jump";
    if (strcmp(mnemonic, "jal") == 0)
        return riscv_link_kind(operands, "call", "jump");
    if (strcmp(mnemonic, "jalr") == 0)
        return riscv_link_kind(operands, "call_indirect", "jump_indirect");
    if (strcmp(mnemonic, "ret") == 0)
        return "return";
    if (strcmp(mnemonic, "jr") == 0)
        return strstr(operands, "t0") || strstr(operands, "ra") ? "return" : "jump_indirect";
    return "-";
}

/* Memory that AT&T syntax does not show. */
static bool x86_is_implicit(const char *mnemonic)
{
    static const char *const names[] = {"push",  "pop",   "call",  "lcall", "ret",  "lret",
                                        "leave", "enter", "pushf", "popf",  "iret", NULL};
    static const char *const exact[] = {"maskmovdqu", "vmaskmovdqu", "maskmovq", "clzero", NULL};
    for (const char *const *name = names; *name; name++)
        if (is_mnemonic(mnemonic, *name))
            return true;
    return is_one_of(mnemonic, exact);
}

/* An operand in parentheses (not %st(1), nor the port in dx), one with a segment, or a bare number, which is an
 * absolute address. */
static bool x86_shows_memory(const char *mnemonic, const char *operands)
{
    for (const char *at = operands; *at; at++) {
        bool st = at >= operands + 3 && strncmp(at - 3, "%st", 3) == 0, port = strncmp(at, "(%dx)", 5) == 0;
        if (*at == '(' && !st && !port)
            return true;
        if (*at == ':')
            return true;
        bool starts = at == operands || at[-1] == ',';
        if (starts && at[0] == '0' && at[1] == 'x')
            return strcmp(x86_branch(mnemonic, operands), "-") == 0;
    }
    return false;
}

static bool x86_has_memory(const char *mnemonic, const char *operands)
{
    if (x86_is_implicit(mnemonic))
        return true;
    if (strncmp(mnemonic, "lea", 3) == 0 || strncmp(mnemonic, "nop", 3) == 0)
        return false;
    return x86_shows_memory(mnemonic, operands);
}

static bool riscv_has_memory(const char *mnemonic, const char *operands)
{
    return strchr(operands, '(') && mnemonic[0] != 'j';
}

/* A plain move's destination is its last operand: whether it stores, from the text alone. -1 where that is not said. */
static int x86_move_stores(const char *mnemonic, const char *operands)
{
    size_t length = strlen(operands);
    bool move = (strncmp(mnemonic, "mov", 3) == 0 || strncmp(mnemonic, "vmov", 4) == 0) && length > 0;
    if (!move || !x86_shows_memory(mnemonic, operands) || strchr(operands, '{') || strstr(operands, "%es:("))
        return -1;
    const char *last = operands;
    int depth = 0;
    for (const char *at = operands; *at; at++) {
        depth += *at == '(';
        depth -= *at == ')';
        if (*at == ',' && depth == 0)
            last = at + 1;
    }
    return *last != '%' || strchr(last, ':') || strchr(last, '(');
}

/* Comparing */

static void differ(const char *name, const struct listed *line, const struct as_insn *insn)
{
    size_t i = 0;
    differences++;
    while (i < kind_count && strcmp(kinds[i].name, name) != 0)
        i++;
    if (i == MAX_KINDS)
        return;
    if (i == kind_count) {
        kind_count++;
        snprintf(kinds[i].name, KIND_SIZE, "%s", name);
        kinds[i].address = line->address;
        snprintf(kinds[i].theirs, sizeof kinds[i].theirs, "%s", line->text);
        as_insn_text(insn, kinds[i].ours, sizeof kinds[i].ours);
    }
    kinds[i].count++;
}

static const char *yes(bool value)
{
    return value ? "yes" : "no";
}

/* objdump writes "add a0,a0,1" for addi: the number at the end tells. */
static bool riscv_lacks_i(const char *mnemonic, const char *theirs)
{
    static const char *const names[] = {"add",  "addw", "and",  "or",    "xor",   "sll",   "srl",  "sra",
                                        "sllw", "srlw", "sraw", "csrrw", "csrrs", "csrrc", "csrw", "csrs",
                                        "csrc", "ror",  "rorw", "bclr",  "bext",  "binv",  "bset", NULL};
    const char *last = strrchr(theirs, ',');
    if (!is_one_of(mnemonic, names) || !last)
        return false;
    last += last[1] == '-' ? 2 : 1;
    return isdigit((unsigned char)*last);
}

/* Both texts in one form: no blanks behind commas, no 0x, the i put back. */
static void normalise(const char *mnemonic, const char *text, char *out, size_t size)
{
    size_t used = 0;
    const char *rest = text + strcspn(text, " ");
    used += (size_t)snprintf(out, size, "%s%s", mnemonic, riscv_lacks_i(mnemonic, text) ? "i" : "");
    /* addw becomes addiw. */
    size_t length = strlen(out);
    if (length > 2 && out[length - 2] == 'w' && out[length - 1] == 'i' && out[0] != 'c')
        memcpy(out + length - 2, "iw", 2);
    for (; *rest && used + 1 < size; rest++) {
        if (*rest == ' ' && rest[-1] == ',')
            continue;
        if (rest[0] == '0' && rest[1] == 'x') {
            rest++;
            continue;
        }
        out[used++] = *rest;
    }
    out[used] = '\0';
}

static void compare_text(const struct listed *line, const struct as_insn *insn, const char *mnemonic)
{
    char ours[160], name[KIND_SIZE], our_mnemonic[40], left[200], right[200];
    const char *operands;
    as_insn_text(insn, ours, sizeof ours);
    split(ours, our_mnemonic, sizeof our_mnemonic, &operands);
    normalise(mnemonic, line->text, left, sizeof left);
    normalise(our_mnemonic, ours, right, sizeof right);
    if (strcmp(left, right) == 0)
        return;
    snprintf(name, sizeof name, "text %s/%s", mnemonic, our_mnemonic);
    differ(name, line, insn);
}

static void compare_access(const struct listed *line, const struct as_insn *insn, const char *mnemonic,
                           const char *operands)
{
    char name[KIND_SIZE];
    int stores = x86_move_stores(mnemonic, operands);
    if (stores < 0)
        return;
    bool ours = (insn->flags & AS_INSN_STORE) != 0, both = (insn->flags & AS_INSN_LOAD) && ours;
    if (ours == (stores != 0) && !both)
        return;
    snprintf(name, sizeof name, "store %s %s/%s", mnemonic, yes(stores), yes(ours));
    differ(name, line, insn);
}

static void compare_operands(const struct listed *line, const struct as_insn *insn, const char *mnemonic,
                             const char *operands)
{
    char name[KIND_SIZE];
    bool x86 = arch == AS_ARCH_X86_64;
    const char *branch = x86 ? x86_branch(mnemonic, operands) : riscv_branch(mnemonic, operands);
    const char *ours = as_insn_is_control(insn) ? as_class_name(insn->class_) : "-";
    if (strcmp(branch, ours) != 0) {
        snprintf(name, sizeof name, "branch %s %s/%s", mnemonic, branch, ours);
        differ(name, line, insn);
    }
    bool memory = x86 ? x86_has_memory(mnemonic, operands) : riscv_has_memory(mnemonic, operands);
    if (memory != (insn->n_mem > 0)) {
        snprintf(name, sizeof name, "memory %s %s/%s", mnemonic, yes(memory), yes(insn->n_mem > 0));
        differ(name, line, insn);
    }
    if (x86)
        compare_access(line, insn, mnemonic, operands);
    else
        compare_text(line, insn, mnemonic);
}

static bool is_bad(const char *text)
{
    return strstr(text, "(bad)") || strncmp(text, ".2byte", 6) == 0 || strncmp(text, ".4byte", 6) == 0 ||
           strncmp(text, ".byte", 5) == 0;
}

/* What to call an instruction that only objdump knows: what is wrong with it, where its text says that. */
static const char *oddity(const char *text, const char *mnemonic)
{
    if (strstr(text, "lock "))
        return "lock";
    if (strstr(text, "rex"))
        return "rex";
    return strstr(text, ",unknown") ? "rounding" : mnemonic;
}

static void compare(struct listed *line)
{
    char name[KIND_SIZE], mnemonic[40];
    const char *operands;
    struct as_insn insn;
    tidy(line->text);
    bool known = as_insn_decode(arch, line->address, text_bytes + line->offset, byte_count - line->offset, &insn);
    split(line->text, mnemonic, sizeof mnemonic, &operands);
    if (is_bad(line->text) || !known) {
        if (is_bad(line->text) == known) {
            const char *what = oddity(line->text, mnemonic);
            snprintf(name, sizeof name, "known %s %s/%s", known ? as_class_name(insn.class_) : what, yes(!known),
                     yes(known));
            differ(name, line, &insn);
        }
        return;
    }
    if (insn.length != line->length) {
        snprintf(name, sizeof name, "length %s %u/%u", mnemonic, line->length, insn.length);
        differ(name, line, &insn);
        return;
    }
    compare_operands(line, &insn, mnemonic, operands);
}

/* Reporting */

static const char *explanation(const char *path, const char *name, char *line)
{
    char *pattern = line, *bar;
    FILE *file = fopen(path, "r");
    const char *found = NULL;
    const char *wanted = as_arch_name(arch);
    while (file && !found && fgets(line, LINE_SIZE, file)) {
        size_t length = strlen(wanted);
        if (strncmp(line, wanted, length) != 0 || !(bar = strstr(line, " | ")))
            continue;
        *bar = '\0';
        bar[3 + strcspn(bar + 3, "\n")] = '\0';
        pattern = line + length + strspn(line + length, " ");
        if (fnmatch(pattern, name, 0) == 0)
            found = bar + 3;
    }
    if (file)
        fclose(file);
    return found;
}

static uint64_t report(const char *path)
{
    static char line[LINE_SIZE];
    uint64_t unexplained = 0;
    for (size_t i = 0; i < kind_count; i++) {
        const struct kind *kind = &kinds[i];
        const char *why = explanation(path, kind->name, line);
        printf("%" PRIu64 "\t%s\t%s\t%" PRIx64 ": objdump `%s`, ours `%s`\n", kind->count, kind->name,
               why ? why : "UNEXPLAINED", kind->address, kind->theirs, kind->ours);
        unexplained += why ? 0 : kind->count;
    }
    return unexplained;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: objdump -dwz FILE | decode_compare x86_64|riscv64 DIFFERENCES\n");
        return 2;
    }
    arch = strcmp(argv[1], "riscv64") == 0 ? AS_ARCH_RISCV64 : AS_ARCH_X86_64;
    char line[LINE_SIZE];
    while (fgets(line, sizeof line, stdin))
        read_line(line);
    for (size_t i = 0; i < line_count; i++)
        compare(&lines[i]);
    uint64_t unexplained = report(argv[2]);
    printf("compared %zu differences %" PRIu64 " unexplained %" PRIu64 "\n", line_count, differences, unexplained);
    free(lines);
    free(text_bytes);
    return unexplained != 0 || line_count == 0;
}
