/* See sample_filter.h. */
#include "plugin/sample_filter.h"

#include "plugin/access_word.h"

#include <string.h>

enum { PAGE_SHIFT = 12, PAGES = 1 << 16, LINE_SHIFT = 6, HASH_TOP = 56, ALL = 0xff };

/* Pages whose memory may have a name of its own, by the low bits of their numbers. */
static _Atomic uint64_t marks[PAGES / 64];

/* What nearly all accesses are asked, so it takes few instructions: by the same bits of its page's number, the greatest top byte of the
 * hash that a granule may have to be reported. It may be too great for a while, as it follows the threshold. */
static uint8_t limits[PAGES] = {[0 ... PAGES - 1] = ALL};
static _Atomic uint64_t limited_to = UINT64_MAX; /* the threshold that it follows */

/* The granules of the last two reported accesses, or NONE. Of several threads, which only look, nothing is remembered. */
#define NONE UINT64_MAX
static uint64_t recent[2] = {NONE, NONE};
static _Atomic bool threaded;

/* Whatever is reported in another way comes behind them. */
static inline void forget_recent(void)
{
    if (recent[0] != NONE)
        recent[0] = recent[1] = NONE;
}

static inline bool is_marked(uint64_t address)
{
    uint64_t page = address >> PAGE_SHIFT;
    return atomic_load_explicit(&marks[page / 64 % (PAGES / 64)], memory_order_relaxed) >> page % 64 & 1;
}

static void mark(uint64_t start, uint64_t bytes)
{
    uint64_t first = start >> PAGE_SHIFT, n = ((start + bytes - 1) >> PAGE_SHIFT) - first + 1;
    for (uint64_t i = 0; bytes && i < n && i < PAGES; i++) {
        atomic_fetch_or(&marks[(first + i) / 64 % (PAGES / 64)], UINT64_C(1) << (first + i) % 64);
        __atomic_store_n(&limits[(first + i) % PAGES], ALL,
                         __ATOMIC_SEQ_CST); /* behind the mark: see follow_threshold */
    }
    forget_recent(); /* other memory is there now */
}

/* Of a page that is marked meanwhile either this sees the mark, or `mark` stores its limit later. */
static __attribute__((noinline)) void follow_threshold(uint64_t threshold)
{
    atomic_store(&limited_to, threshold);
    for (uint32_t i = 0; i < PAGES; i += 64) {
        memset(limits + i, (int)(threshold >> HASH_TOP), 64);
        for (uint64_t left = (atomic_thread_fence(memory_order_seq_cst), atomic_load(&marks[i / 64])); left;
             left &= left - 1)
            __atomic_store_n(&limits[i + (uint32_t)__builtin_ctzll(left)], ALL, __ATOMIC_SEQ_CST);
    }
}

/* Whether the word goes on with the operand of the one before. */
static inline bool goes_on(uint64_t word, uint64_t before)
{
    const uint64_t same = AS_WIRE_ACCESS_MASK | AS_WIRE_INDEX_MASK << AS_WIRE_INDEX_SHIFT;
    const unsigned unused = 64 - AS_WIRE_ADDRESS_BITS;
    return ((word ^ before) & same) == 0 &&
           (word - before) << unused == UINT64_C(1) << (before >> AS_WIRE_SIZE_SHIFT & 7) << unused;
}

/* Whether the access is certainly to a granule that is not reported. */
static inline bool is_left_out(uint64_t address, uint32_t shift)
{
    return (address >> shift) * AS_WIRE_SAMPLE_STEP >> HASH_TOP > limits[(address >> PAGE_SHIFT) % PAGES];
}

static bool is_sampled(uint64_t address, uint64_t granule)
{
    uint64_t threshold = atomic_load_explicit(&as_plugin.wire->sample_threshold, memory_order_relaxed);
    if (threshold != atomic_load_explicit(&limited_to, memory_order_relaxed))
        follow_threshold(threshold);
    return granule * AS_WIRE_SAMPLE_STEP <= threshold || is_marked(address);
}

static void remember(uint64_t granule)
{
    recent[1] = recent[0];
    recent[0] = granule;
}

/* Never while all granules are in the sample. */
static inline bool is_remembered(void)
{
    return atomic_load_explicit(&limited_to, memory_order_relaxed) != UINT64_MAX &&
           !atomic_load_explicit(&threaded, memory_order_relaxed);
}

static inline uint64_t in_granule(uint64_t address, uint32_t shift)
{
    return address & ((UINT64_C(1) << shift) - 1);
}

static inline bool crosses(qemu_plugin_meminfo_t info, uint64_t address, uint32_t shift)
{
    return in_granule(address, shift) + (UINT64_C(1) << (info >> AS_ACCESS_WORD_SIZE_AT & 7)) > UINT64_C(1) << shift;
}

static inline bool passes(uint64_t given, uint32_t shift)
{
    uint64_t address = given & ((UINT64_C(1) << AS_WIRE_ADDRESS_BITS) - 1), granule = address >> shift;
    if (granule == recent[0] || granule == recent[1] || !is_sampled(address, granule))
        return false;
    if (is_remembered())
        remember(granule);
    return true;
}

static __attribute__((noinline)) void report(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address,
                                             const void *userdata, uint32_t shift)
{
    bool both = crosses(info, address, shift);
    if (both)
        forget_recent();
    if (both || passes(address, shift))
        as_lane_stream(as_lane_of[vcpu], as_access_word(info, address, userdata));
}

static void on_access_to_line(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *userdata)
{
    if (!is_left_out(address, LINE_SHIFT) || crosses(info, address, LINE_SHIFT))
        report(vcpu, info, address, userdata, LINE_SHIFT);
}

static void on_access_to_granule(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *userdata)
{
    uint32_t shift = as_plugin.wire->sample_shift;
    if (!is_left_out(address, shift) || crosses(info, address, shift))
        report(vcpu, info, address, userdata, shift);
}

void as_sample_reported(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *userdata)
{
    forget_recent();
    as_lane_stream(as_lane_of[vcpu], as_access_word(info, address, userdata));
}

#define LEFT_OUT (UINT64_C(1) << AS_WIRE_ADDRESS_BITS) /* a bit of a word that is not used */

/* The word lies in two granules, or goes on with what ended at a border: then what lies before it is reported, too. */
static __attribute__((noinline)) void push_both(struct as_wire_lane *lane, uint64_t word, uint64_t before)
{
    forget_recent();
    if (before & LEFT_OUT && goes_on(word, before & ~LEFT_OUT))
        as_lane_stream(lane, before & ~LEFT_OUT);
    as_lane_stream(lane, word);
}

static __attribute__((noinline)) void report_piece(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address,
                                                   const void *userdata, uint32_t shift)
{
    struct as_wire_lane *lane = as_lane_of[vcpu];
    uint64_t word = as_access_word(info, address, userdata), before = lane->before;
    bool begins = !in_granule(address, shift), reported = true;
    if (crosses(info, address, shift) || (begins && goes_on(word, before & ~LEFT_OUT)))
        push_both(lane, word, before);
    else if (passes(address, shift))
        as_lane_stream(lane, word);
    else
        reported = false;
    lane->before = word | (reported ? 0 : LEFT_OUT);
}

/* Only pieces at the border of a granule can be parts of an operand that lies in two. */
static inline bool is_within(qemu_plugin_meminfo_t info, uint64_t address, uint32_t shift)
{
    return in_granule(address, shift) && !crosses(info, address + 1, shift);
}

static void on_piece_of_line(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *userdata)
{
    if (!is_left_out(address, LINE_SHIFT) || !is_within(info, address, LINE_SHIFT))
        report_piece(vcpu, info, address, userdata, LINE_SHIFT);
}

static void on_piece_of_granule(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *userdata)
{
    uint32_t shift = as_plugin.wire->sample_shift;
    if (!is_left_out(address, shift) || !is_within(info, address, shift))
        report_piece(vcpu, info, address, userdata, shift);
}

/* Opcodes behind 0f that are of integers: conditional moves, jumps and settings, bit tests, multiplications, exchanges, extensions. */
static bool is_of_integers(uint8_t opcode)
{
    enum { STATE = 0xae }; /* saves and restores vectors */
    return (opcode >= 0x40 && opcode < 0x50) || (opcode >= 0x80 && opcode < 0xc2 && opcode != STATE);
}

/* Whether QEMU may make an access of the instruction in pieces. */
static bool may_split(enum as_arch arch, const uint8_t *bytes, size_t size)
{
    size_t at = 0;
    if (arch != AS_ARCH_X86_64)
        return false;
    while (at < size && (bytes[at] == 0x66 || bytes[at] == 0xf2 || bytes[at] == 0xf3 || bytes[at] == 0xf0 ||
                         bytes[at] == 0x2e || bytes[at] == 0x36 || bytes[at] == 0x3e || bytes[at] == 0x26 ||
                         bytes[at] == 0x64 || bytes[at] == 0x65 || bytes[at] == 0x67 || bytes[at] >> 4 == 4))
        at++;
    if (at + 1 >= size)
        return false;
    uint8_t first = bytes[at];
    return (first == 0x0f && !is_of_integers(bytes[at + 1])) || first == 0xc4 || first == 0xc5 || first == 0x62 ||
           (first >= 0xd8 && first <= 0xdf);
}

qemu_mem_cb as_sample_callback(const uint8_t *bytes, size_t size)
{
    bool lines = as_plugin.wire->sample_shift == LINE_SHIFT;
    if (may_split(as_plugin.arch, bytes, size))
        return lines ? on_piece_of_line : on_piece_of_granule;
    return lines ? on_access_to_line : on_access_to_granule;
}

void as_sample_note_thread(void)
{
    atomic_store(&threaded, true);
    forget_recent();
}

/* Values of Linux, which both architectures have alike: MAP_FIXED, MADV_DONTNEED. */
enum { FIXED = 0x10, NOT_NEEDED = 4 };

static const struct {
    int64_t map, unmap, remap, program_break, advise;
} calls_of[AS_ARCH_COUNT] = {
    [AS_ARCH_X86_64] = {.map = 9, .unmap = 11, .remap = 25, .program_break = 12, .advise = 28},
    [AS_ARCH_RISCV64] = {.map = 222, .unmap = 215, .remap = 216, .program_break = 214, .advise = 233},
};

void as_sample_note_syscall(int64_t number, const uint64_t args[AS_WIRE_SYSCALL_ARGS], int64_t result)
{
    static _Atomic uint64_t program_break;
    if (result < 0 && result > -4096)
        return;
    if (number == calls_of[as_plugin.arch].program_break) {
        uint64_t before = atomic_exchange(&program_break, (uint64_t)result);
        if ((uint64_t)result < before)
            mark((uint64_t)result, before - (uint64_t)result);
    } else if (number == calls_of[as_plugin.arch].unmap ||
               (number == calls_of[as_plugin.arch].advise && args[2] == NOT_NEEDED)) {
        mark(args[0], args[1]);
    } else if (number == calls_of[as_plugin.arch].map && args[3] & FIXED) {
        mark((uint64_t)result, args[1]);
    } else if (number == calls_of[as_plugin.arch].remap) {
        mark(args[0], args[1]);
        mark((uint64_t)result, args[2]);
    }
}
