/* Builds recordings byte by byte, in either byte order, and reads them back as text: one line for each thing that the
 * sink gets. The same records in another wrapping must give the same text. */
#ifndef AS_TESTS_PERF_BUILD_H
#define AS_TESTS_PERF_BUILD_H

#include "base/str.h"
#include "perfdata/perfdata.h"

struct build {
    struct as_str bytes;
    bool big;
};

void put_u8(struct build *build, uint8_t value);
void put_u16(struct build *build, uint16_t value);
void put_u32(struct build *build, uint32_t value);
void put_u64(struct build *build, uint64_t value);
void put_text(struct build *build, const char *text, size_t padded); /* with zeros up to `padded` bytes */

/* A record: its header now, its size when it ends. */
size_t record_begin(struct build *build, uint32_t type, uint16_t misc);
void record_end(struct build *build, size_t at);

struct attr {
    uint32_t type, size; /* size 0: 136 */
    uint64_t config, period, sample_type, read_format, flags, branch_type, regs_user, regs_intr;
    unsigned precise;
    uint64_t ids[4];
    size_t n_ids;
    const char *name; /* in the feature section or an EVENT_UPDATE; NULL: none */
};
enum { FLAG_FREQ = 1 << 10, FLAG_SAMPLE_ID_ALL = 1 << 18 };

struct wrapping {
    bool big, pipe, packed2;
    unsigned packed; /* 0: as they are; n: in zstd pieces of n bytes */
    bool no_features;
    const char *cpu_id; /* NULL: "AuthenticAMD,25,1,1" */
};

/* A whole file with these records in it. */
struct as_str wrap(const struct wrapping *how, const struct attr *attrs, size_t n_attrs, const struct build *records);

/* What a sink gets, as text. `ok` tells what the run returned; NULL: it must be true. */
struct as_str read_as_text(const void *bytes, size_t size, bool *ok, struct as_perf_summary *summary,
                           struct as_perf_info *info);

/* One of every record, and a sample of every field: for wrappings, truncation and seeds. */
extern const struct attr every_attr[2];
struct build every_record(bool big);
struct build every_record_and_aux(bool big); /* trace data cannot be packed */

#endif
