/* See sample_filter.h. */
#include "plugin/sample_filter.h"

#include "plugin/access_word.h"

#include <string.h>

enum { PAGE_SHIFT = 12, MARKS = 1 << 16, RECENT = 1024, LINE_SHIFT = 6 };

/* When sampled granules were last reported, by `made`: the accesses of the thread. Not used if there are several threads. */
static struct {
    uint64_t granule, at;
} recent[RECENT];
static uint64_t made;
static _Atomic bool threaded;

/* Pages whose memory may have a name of its own, by the low bits of their numbers. */
static _Atomic uint64_t marks[MARKS / 64];

static inline bool is_marked(uint64_t address)
{
    uint64_t page = address >> PAGE_SHIFT;
    return atomic_load_explicit(&marks[page / 64 % (MARKS / 64)], memory_order_relaxed) >> page % 64 & 1;
}

static void mark(uint64_t start, uint64_t bytes)
{
    uint64_t first = start >> PAGE_SHIFT, n = ((start + bytes - 1) >> PAGE_SHIFT) - first + 1;
    for (uint64_t i = 0; bytes && i < n && i < MARKS; i++)
        atomic_fetch_or(&marks[(first + i) / 64 % (MARKS / 64)], UINT64_C(1) << (first + i) % 64);
    memset(recent, 0, sizeof recent); /* other memory is there now */
}

/* Whether the word goes on with the operand of the one before. */
static inline bool goes_on(uint64_t word, uint64_t before)
{
    const uint64_t same = AS_WIRE_ACCESS_MASK | AS_WIRE_INDEX_MASK << AS_WIRE_INDEX_SHIFT;
    const unsigned unused = 64 - AS_WIRE_ADDRESS_BITS;
    return ((word ^ before) & same) == 0 &&
           (word - before) << unused == UINT64_C(1) << (before >> AS_WIRE_SIZE_SHIFT & 7) << unused;
}

/* Whether the granule was reported a moment ago; it is from now on. Never while all granules are in the sample. */
static bool is_recent(uint64_t granule, uint64_t threshold)
{
    uint64_t i = granule % RECENT;
    if (atomic_load_explicit(&threaded, memory_order_relaxed))
        return false;
    if (recent[i].granule == granule && threshold != UINT64_MAX && made - recent[i].at < AS_WIRE_SAMPLE_RECENT)
        return true;
    recent[i].granule = granule;
    recent[i].at = made;
    return false;
}

struct place {
    uint64_t address, granule;
    bool crosses; /* into the next granule */
};

static inline struct place place_of(qemu_plugin_meminfo_t info, uint64_t given, uint32_t shift)
{
    uint64_t address = given & ((UINT64_C(1) << AS_WIRE_ADDRESS_BITS) - 1), in_granule = (UINT64_C(1) << shift) - 1;
    uint64_t size = UINT64_C(1) << (info >> AS_ACCESS_WORD_SIZE_AT & 7);
    return (struct place){address, address >> shift, (address & in_granule) + size > in_granule + 1};
}

static inline uint64_t threshold_now(void)
{
    return atomic_load_explicit(&as_plugin.wire->sample_threshold, memory_order_relaxed);
}

/* What nearly all accesses are asked: in few instructions. */
static inline bool is_left_out(const struct place *place)
{
    return place->granule * AS_WIRE_SAMPLE_STEP > threshold_now() && !is_marked(place->address);
}

static __attribute__((noinline)) void report(struct as_wire_lane *lane, uint64_t word, uint64_t granule)
{
    if (!is_recent(granule, threshold_now()))
        as_lane_stream(lane, word);
}

static inline void on_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t given, const void *userdata,
                             uint32_t shift)
{
    struct place place = place_of(info, given, shift);
    made++;
    if (__builtin_expect(place.crosses, 0))
        as_lane_stream(as_lane_of[vcpu], as_access_word(info, given, userdata));
    else if (!is_left_out(&place))
        report(as_lane_of[vcpu], as_access_word(info, given, userdata), place.granule);
}

static void on_access_to_line(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t given, void *userdata)
{
    on_access(vcpu, info, given, userdata, LINE_SHIFT);
}

static void on_access_to_granule(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t given, void *userdata)
{
    on_access(vcpu, info, given, userdata, as_plugin.wire->sample_shift);
}

void as_sample_reported(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t given, void *userdata)
{
    made++;
    as_lane_stream(as_lane_of[vcpu], as_access_word(info, given, userdata));
}

#define LEFT_OUT (UINT64_C(1) << AS_WIRE_ADDRESS_BITS) /* a bit of a word that is not used */

/* The word lies in two granules, or goes on with what ended at a border: then what lies before it is reported, too. */
static __attribute__((noinline)) void push_both(struct as_wire_lane *lane, uint64_t word, uint64_t before)
{
    if (before & LEFT_OUT && goes_on(word, before & ~LEFT_OUT))
        as_lane_stream(lane, before & ~LEFT_OUT);
    as_lane_stream(lane, word);
}

static void on_piece(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t given, void *userdata)
{
    struct as_wire_lane *lane = as_lane_of[vcpu];
    struct place place = place_of(info, given, as_plugin.wire->sample_shift);
    uint64_t word = as_access_word(info, given, userdata), before = lane->before;
    made++;
    bool at_border = place.granule << as_plugin.wire->sample_shift == place.address, reported = true;
    if (__builtin_expect(place.crosses || (at_border && goes_on(word, before & ~LEFT_OUT)), 0))
        push_both(lane, word, before);
    else if (is_left_out(&place) || is_recent(place.granule, threshold_now()))
        reported = false;
    else
        as_lane_stream(lane, word);
    lane->before = word | (reported ? 0 : LEFT_OUT);
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
    if (may_split(as_plugin.arch, bytes, size))
        return on_piece;
    return as_plugin.wire->sample_shift == LINE_SHIFT ? on_access_to_line : on_access_to_granule;
}

void as_sample_note_thread(void)
{
    atomic_store(&threaded, true);
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
