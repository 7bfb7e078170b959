/* RISC-V disassembly in the words of GNU objdump: aliases where it uses them, ABI register names, absolute targets.
 * Only the i of immediate forms stays (addi, csrrwi), which objdump drops in some versions.
 *
 * An operand list is a string of letters, one an operand:
 *   d s t     integer registers rd, rs1, rs2          D S T R   FP registers rd, rs1, rs2, rs3
 *   i         12-bit immediate                        h         shift amount
 *   u         20-bit upper immediate                  z         5-bit immediate of a CSR instruction
 *   l w p     offset(rs1) of a load, store, prefetch  a         (rs1)
 *   b j       target of a branch, of jal              c         CSR
 *   m         rounding mode, unless it is the default e         the same of an exact conversion
 *   f g       predecessors and successors of a fence
 */
#include "isa/rv64.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const operand_lists[AS_RV_FORMAT_COUNT] = {
    [AS_RV_NONE] = "",          [AS_RV_R] = "dst",        [AS_RV_RR] = "ds",        [AS_RV_I] = "dsi",
    [AS_RV_SHIFT] = "dsh",      [AS_RV_U] = "du",         [AS_RV_LOAD] = "dl",      [AS_RV_STORE] = "tw",
    [AS_RV_BRANCH] = "stb",     [AS_RV_JAL] = "dj",       [AS_RV_JALR] = "dl",      [AS_RV_FENCE] = "fg",
    [AS_RV_CSR] = "dcs",        [AS_RV_CSRI] = "dcz",     [AS_RV_AMO] = "dta",      [AS_RV_LR] = "da",
    [AS_RV_FR] = "DSTm",        [AS_RV_FR_EXACT] = "DST", [AS_RV_FR4] = "DSTRm",    [AS_RV_F1] = "DSm",
    [AS_RV_FCMP] = "dST",       [AS_RV_F_TO_X] = "dSm",   [AS_RV_X_TO_F] = "Dsm",   [AS_RV_F_TO_X_MOVE] = "dS",
    [AS_RV_X_TO_F_MOVE] = "Ds", [AS_RV_FLOAD] = "Dl",     [AS_RV_FSTORE] = "Tw",    [AS_RV_CBO] = "a",
    [AS_RV_PREFETCH] = "p",     [AS_RV_SFENCE] = "st",    [AS_RV_F1_WIDEN] = "DSe", [AS_RV_X_TO_F_WIDEN] = "Dse",
};

/* Fields for the masks below. */
enum {
    RD = 31u << 7,
    RS1 = 31u << 15,
    RS2 = 31u << 20,
    IMM = (int)0xfff00000,
    OP = 0x707f,
    FUNCT = (int)0xfe00707f,
};

struct alias {
    uint32_t mask, match;
    const char *name, *operands;
    bool same_sources; /* only where rs1 and rs2 are one register */
};

/* clang-format off */
#define CSR(number) ((uint32_t)(number) << 20)
#define FCSR_READ(number, name) {OP | IMM | RS1, 0x2073 | CSR(number), name, "d", false},
#define FCSR_WRITE(number, name)                                                                                       \
    {OP | IMM | RD, 0x1073 | CSR(number), name, "s", false}, {OP | IMM, 0x1073 | CSR(number), name, "ds", false},
#define FCSR_WRITE_IMM(number, name)                                                                                   \
    {OP | IMM, 0x5073 | CSR(number), name, "dz", false},
#define SIGN(match, name)                                                                                              \
    {FUNCT, match, name ".s", "DS", true}, {FUNCT, (match) | 0x02000000, name ".d", "DS", true},

static const struct alias aliases[] = {
    {(uint32_t)-1, 0x00000013, "nop", "", false},
    {OP | RS1, 0x0013, "li", "di", false},
    {OP | IMM, 0x0013, "mv", "ds", false},
    {OP | IMM, 0x001b, "sext.w", "ds", false},
    {OP | IMM, 0xfff04013, "not", "ds", false},
    {OP | IMM, 0x00103013, "seqz", "ds", false},
    {OP | IMM, 0x0ff07013, "zext.b", "ds", false},
    {FUNCT | RS1, 0x40000033, "neg", "dt", false},
    {FUNCT | RS1, 0x4000003b, "negw", "dt", false},
    {FUNCT | RS1, 0x00003033, "snez", "dt", false},
    {FUNCT | RS2, 0x00002033, "sltz", "ds", false},
    {FUNCT | RS1, 0x00002033, "sgtz", "dt", false},
    {FUNCT | RS2, 0x0800003b, "zext.w", "ds", false},
    {OP | RS2, 0x0063, "beqz", "sb", false},
    {OP | RS2, 0x1063, "bnez", "sb", false},
    {OP | RS1, 0x5063, "blez", "tb", false},
    {OP | RS2, 0x5063, "bgez", "sb", false},
    {OP | RS2, 0x4063, "bltz", "sb", false},
    {OP | RS1, 0x4063, "bgtz", "tb", false},
    {0x7f | RD, 0x006f, "j", "j", false},
    {0x7f | RD, 0x00ef, "jal", "j", false},
    {(uint32_t)-1, 0x00008067, "ret", "", false},
    {OP | RD | IMM, 0x0067, "jr", "s", false},
    {OP | RD, 0x0067, "jr", "l", false},
    {OP | RD | IMM, 0x00e7, "jalr", "s", false},
    {OP | RD, 0x00e7, "jalr", "l", false},
    {OP | IMM, 0x0067, "jalr", "ds", false},
    {OP | IMM, 0x0ff0000f, "fence", "", false},
    FCSR_READ(AS_RV_FFLAGS, "frflags") FCSR_READ(AS_RV_FRM, "frrm") FCSR_READ(AS_RV_FCSR, "frcsr")
    FCSR_READ(0xc00, "rdcycle") FCSR_READ(0xc01, "rdtime") FCSR_READ(0xc02, "rdinstret")
    FCSR_WRITE(AS_RV_FFLAGS, "fsflags") FCSR_WRITE(AS_RV_FRM, "fsrm") FCSR_WRITE(AS_RV_FCSR, "fscsr")
    FCSR_WRITE_IMM(AS_RV_FFLAGS, "fsflagsi") FCSR_WRITE_IMM(AS_RV_FRM, "fsrmi")
    {OP | RS1, 0x2073, "csrr", "dc", false},
    {OP | RD, 0x1073, "csrw", "cs", false},
    {OP | RD, 0x2073, "csrs", "cs", false},
    {OP | RD, 0x3073, "csrc", "cs", false},
    {OP | RD, 0x5073, "csrwi", "cz", false},
    {OP | RD, 0x6073, "csrsi", "cz", false},
    {OP | RD, 0x7073, "csrci", "cz", false},
    SIGN(0x20000053, "fmv") SIGN(0x20001053, "fneg") SIGN(0x20002053, "fabs")
    {(uint32_t)-1, 0x12000073, "sfence.vma", "", false},
    {0xfe007fff | RS2, 0x12000073, "sfence.vma", "s", false},
};

static const struct {
    uint16_t number;
    const char *name;
} csr_names[] = {
    {0x001, "fflags"}, {0x002, "frm"}, {0x003, "fcsr"}, {0x008, "vstart"}, {0x009, "vxsat"}, {0x00a, "vxrm"},
    {0x00f, "vcsr"}, {0x015, "seed"}, {0x100, "sstatus"}, {0x104, "sie"}, {0x105, "stvec"}, {0x106, "scounteren"},
    {0x10a, "senvcfg"}, {0x140, "sscratch"}, {0x141, "sepc"}, {0x142, "scause"}, {0x143, "stval"}, {0x144, "sip"},
    {0x180, "satp"}, {0x300, "mstatus"}, {0x301, "misa"}, {0x302, "medeleg"}, {0x303, "mideleg"}, {0x304, "mie"},
    {0x305, "mtvec"}, {0x306, "mcounteren"}, {0x30a, "menvcfg"}, {0x340, "mscratch"}, {0x341, "mepc"},
    {0x342, "mcause"}, {0x343, "mtval"}, {0x344, "mip"}, {0xc00, "cycle"}, {0xc01, "time"}, {0xc02, "instret"},
    {0xc20, "vl"}, {0xc21, "vtype"}, {0xc22, "vlenb"}, {0xf11, "mvendorid"}, {0xf12, "marchid"}, {0xf13, "mimpid"},
    {0xf14, "mhartid"},
};
/* clang-format on */

/* What is being printed, and where to. */
struct printer {
    const struct as_insn *insn;
    uint32_t word;
    char text[96];
    size_t used;
};

static void put(struct printer *printer, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct printer *printer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t room = sizeof printer->text - printer->used;
    int length = vsnprintf(printer->text + printer->used, room, format, arguments);
    va_end(arguments);
    if (length > 0)
        printer->used += (size_t)length < room ? (size_t)length : room - 1;
}

static const char *x_name(unsigned number)
{
    return as_register_name(AS_ARCH_RISCV64, (uint8_t)(AS_REG_INT0 + number));
}

static const char *f_name(unsigned number)
{
    return as_register_name(AS_ARCH_RISCV64, (uint8_t)(AS_REG_VEC0 + number));
}

static void put_csr(struct printer *printer)
{
    unsigned number = as_rv_csr(printer->word);
    for (size_t i = 0; i < sizeof csr_names / sizeof csr_names[0]; i++)
        if (csr_names[i].number == number) {
            put(printer, "%s", csr_names[i].name);
            return;
        }
    if (number > AS_RV_CYCLE && number <= AS_RV_HPMCOUNTER31)
        put(printer, "hpmcounter%u", number - AS_RV_CYCLE);
    else
        put(printer, "0x%x", number);
}

static void put_fence_set(struct printer *printer, unsigned set)
{
    put(printer, "%s%s%s%s%s", set & 8 ? "i" : "", set & 4 ? "o" : "", set & 2 ? "r" : "", set & 1 ? "w" : "",
        set ? "" : "unknown");
}

static void put_rounding(struct printer *printer)
{
    static const char *const modes[8] = {"rne", "rtz", "rdn", "rup", "rmm", "unknown", "unknown", "dyn"};
    put(printer, "%s", modes[as_rv_funct3(printer->word)]);
}

static void put_offset(struct printer *printer, int64_t offset)
{
    put(printer, "%" PRId64 "(%s)", offset, x_name(as_rv_rs1(printer->word)));
}

static void put_target(struct printer *printer, int64_t offset)
{
    put(printer, "0x%" PRIx64, printer->insn->address + (uint64_t)offset);
}

static void put_register(struct printer *printer, char letter)
{
    uint32_t word = printer->word;
    switch (letter) {
    case 'd':
        put(printer, "%s", x_name(as_rv_rd(word)));
        break;
    case 's':
        put(printer, "%s", x_name(as_rv_rs1(word)));
        break;
    case 't':
        put(printer, "%s", x_name(as_rv_rs2(word)));
        break;
    case 'D':
        put(printer, "%s", f_name(as_rv_rd(word)));
        break;
    case 'S':
        put(printer, "%s", f_name(as_rv_rs1(word)));
        break;
    case 'T':
        put(printer, "%s", f_name(as_rv_rs2(word)));
        break;
    default:
        put(printer, "%s", f_name(as_rv_rs3(word)));
        break;
    }
}

static void put_operand(struct printer *printer, char letter)
{
    uint32_t word = printer->word;
    switch (letter) {
    case 'i':
        put(printer, "%" PRId64, as_rv_imm_i(word));
        break;
    case 'h':
        put(printer, "0x%x", word >> 20 & 63);
        break;
    case 'u':
        put(printer, "0x%x", word >> 12);
        break;
    case 'z':
        put(printer, "%u", as_rv_rs1(word));
        break;
    case 'l':
        put_offset(printer, as_rv_imm_i(word));
        break;
    case 'w':
        put_offset(printer, as_rv_imm_s(word));
        break;
    case 'p':
        put_offset(printer, as_rv_imm_i(word) & ~31);
        break;
    case 'a':
        put(printer, "(%s)", x_name(as_rv_rs1(word)));
        break;
    case 'b':
        put_target(printer, as_rv_imm_b(word));
        break;
    case 'j':
        put_target(printer, as_rv_imm_j(word));
        break;
    case 'c':
        put_csr(printer);
        break;
    case 'm':
    case 'e':
        put_rounding(printer);
        break;
    case 'f':
        put_fence_set(printer, word >> 24 & 15);
        break;
    case 'g':
        put_fence_set(printer, word >> 20 & 15);
        break;
    default:
        put_register(printer, letter);
        break;
    }
}

/* The dynamic rounding mode goes without saying, and so does the first one where rounding never happens. */
static bool is_silent(const struct printer *printer, char letter)
{
    unsigned mode = as_rv_funct3(printer->word);
    return (letter == 'm' && mode == 7) || (letter == 'e' && (mode == 7 || mode == 0));
}

static void put_operands(struct printer *printer, const char *operands)
{
    const char *separator = " ";
    for (; *operands; operands++) {
        if (is_silent(printer, *operands))
            continue;
        put(printer, "%s", separator);
        put_operand(printer, *operands);
        separator = ", ";
    }
}

static const struct alias *find_alias(uint32_t word)
{
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++) {
        const struct alias *alias = &aliases[i];
        if ((word & alias->mask) == alias->match && (!alias->same_sources || as_rv_rs1(word) == as_rv_rs2(word)))
            return alias;
    }
    return NULL;
}

/* Acquire and release, for atomics. */
static const char *order_suffix(const struct as_rv_row *row, uint32_t word)
{
    static const char *const suffixes[4] = {"", ".rl", ".aq", ".aqrl"};
    bool atomic = row->format == AS_RV_AMO || row->format == AS_RV_LR;
    return atomic ? suffixes[word >> 25 & 3] : "";
}

static void put_bytes(struct printer *printer)
{
    const struct as_insn *insn = printer->insn;
    uint32_t value = 0;
    for (unsigned i = insn->length; i-- > 0;)
        value = value << 8 | insn->bytes[i];
    put(printer, ".%ubyte 0x%x", insn->length, value);
}

static void put_insn(struct printer *printer)
{
    const struct as_insn *insn = printer->insn;
    if (insn->length == 2 && insn->bytes[0] == 0 && insn->bytes[1] == 0) {
        put(printer, "unimp");
        return;
    }
    printer->word = as_rv_word(insn->bytes, insn->length);
    const struct as_rv_row *row = printer->word ? as_rv_find(printer->word) : NULL;
    const struct alias *alias = row ? find_alias(printer->word) : NULL;
    if (!row) {
        put_bytes(printer);
    } else if (alias && printer->word != AS_RV_UNIMP) {
        put(printer, "%s", alias->name);
        put_operands(printer, alias->operands);
    } else {
        put(printer, "%s%s", row->name, order_suffix(row, printer->word));
        put_operands(printer, operand_lists[row->format]);
    }
}

void as_rv64_text(const struct as_insn *insn, char *text, size_t size)
{
    struct printer printer = {.insn = insn};
    put_insn(&printer);
    snprintf(text, size, "%s", printer.text);
}
