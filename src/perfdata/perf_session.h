/* The internals of a reader, shared by its source files. perf_reader.c cuts a record from the input (or perf_inflate.c
 * from the data that it unpacks), handles perf's own records and queues the kernel's. perf_order.c returns those in the
 * order of time, and perf_record.c and perf_sample.c decode them for the sink. */
#ifndef AS_PERFDATA_PERF_SESSION_H
#define AS_PERFDATA_PERF_SESSION_H

#include "base/bytes.h"
#include "base/map.h"
#include "base/vec.h"
#include "perfdata/perf_inflate.h"
#include "perfdata/perf_input.h"
#include "perfdata/perf_order.h"
#include "perfdata/perfdata.h"

/* Records that perf itself writes (tools/lib/perf/include/perf/event.h); the kernel's are in linux/perf_event.h. */
enum as_perf_user_record {
    AS_PERF_RECORD_ATTR = 64,
    AS_PERF_RECORD_EVENT_TYPE,
    AS_PERF_RECORD_TRACING_DATA,
    AS_PERF_RECORD_BUILD_ID,
    AS_PERF_RECORD_FINISHED_ROUND,
    AS_PERF_RECORD_ID_INDEX,
    AS_PERF_RECORD_AUXTRACE_INFO,
    AS_PERF_RECORD_AUXTRACE,
    AS_PERF_RECORD_AUXTRACE_ERROR,
    AS_PERF_RECORD_THREAD_MAP,
    AS_PERF_RECORD_CPU_MAP,
    AS_PERF_RECORD_STAT_CONFIG,
    AS_PERF_RECORD_STAT,
    AS_PERF_RECORD_STAT_ROUND,
    AS_PERF_RECORD_EVENT_UPDATE,
    AS_PERF_RECORD_TIME_CONV,
    AS_PERF_RECORD_FEATURE,
    AS_PERF_RECORD_COMPRESSED,
    AS_PERF_RECORD_FINISHED_INIT,
    AS_PERF_RECORD_COMPRESSED2,
    AS_PERF_RECORD_BPF_METADATA,
};

enum as_perf_feature {
    AS_PERF_FEATURE_BUILD_ID = 2,
    AS_PERF_FEATURE_HOSTNAME,
    AS_PERF_FEATURE_OSRELEASE,
    AS_PERF_FEATURE_VERSION,
    AS_PERF_FEATURE_ARCH,
    AS_PERF_FEATURE_NRCPUS,
    AS_PERF_FEATURE_CPUDESC,
    AS_PERF_FEATURE_CPUID,
    AS_PERF_FEATURE_TOTAL_MEM,
    AS_PERF_FEATURE_CMDLINE,
    AS_PERF_FEATURE_EVENT_DESC,
    AS_PERF_FEATURE_PMU_MAPPINGS = 16,
    AS_PERF_FEATURE_SAMPLE_TIME = 21,
    AS_PERF_FEATURES = 256,
};

enum { AS_PERF_HEADER_SIZE = 8, AS_PERF_RECORD_MAX = UINT16_MAX };

struct as_perf_header {
    uint32_t type;
    uint16_t misc, size;
};

/* Room for a sample's arrays in the host's byte order: a record of 64 KiB has no more words. */
enum { AS_PERF_WORDS_MAX = AS_PERF_RECORD_MAX / 8 + 1 };

struct as_perf_scratch {
    uint64_t chain[AS_PERF_WORDS_MAX], user_regs[64], intr_regs[64], counters[AS_PERF_WORDS_MAX];
    struct as_perf_branch branches[AS_PERF_WORDS_MAX / 3];
    struct as_perf_read_value values[AS_PERF_WORDS_MAX];
};

struct as_perf_reader {
    struct as_perf_input input;
    struct as_perf_info info;
    struct as_perf_summary summary;
    AS_VEC(struct as_perf_event *) events;
    size_t announced;     /* number of events announced to the sink */
    struct as_map ids;    /* of an event → its index */
    struct as_map counts; /* id of a member of a sampled group → its last count */
    AS_VEC(struct as_perf_pmu) pmus;
    struct as_strings *strings;
    struct as_perf_order order;
    struct as_perf_inflate inflate;
    struct as_perf_scratch *scratch;
    uint64_t queue_limit;
    uint64_t delivered; /* time of the newest record passed to the sink */

    const struct as_perf_sink *sink;
    void *context;
    struct as_error *err;
    bool stopped; /* the sink returned false */
};

#define AS_PERF_CALL(reader, member, ...)                                                                              \
    do {                                                                                                               \
        if (!(reader)->stopped && (reader)->sink->member != NULL &&                                                    \
            !(reader)->sink->member((reader)->context, __VA_ARGS__, (reader)->err))                                    \
            (reader)->stopped = true;                                                                                  \
    } while (0)

static inline bool as_perf_swap(const struct as_perf_reader *reader)
{
    return reader->info.swapped;
}

const char *as_perf_keep(struct as_perf_reader *reader, const char *text, size_t most);

/* Records the first problem in the stream of records. */
void as_perf_problem(struct as_perf_reader *reader, const char *format, ...) AS_PRINTF(2, 3);

/* perf_attr.c */
bool as_perf_attr_add(struct as_perf_reader *reader, const uint8_t *bytes, size_t size, size_t *used);
void as_perf_attr_ids(struct as_perf_reader *reader, uint32_t event, struct as_bytes *ids);
void as_perf_attr_name(struct as_perf_reader *reader, uint64_t id, const char *name, size_t most);
void as_perf_attr_announce(struct as_perf_reader *reader);
/* Returns the event of a kernel's record; NULL: unknown. `record` includes its header. */
struct as_perf_event *as_perf_attr_of(struct as_perf_reader *reader, const struct as_perf_header *header,
                                      const uint8_t *record);

/* perf_feature.c */
void as_perf_feature_read(struct as_perf_reader *reader, unsigned feature, const uint8_t *bytes, size_t size);
void as_perf_feature_all(struct as_perf_reader *reader, uint64_t at);
void as_perf_feature_build_id(struct as_perf_reader *reader, const struct as_perf_header *header,
                              struct as_bytes *cursor);

/* perf_record.c: the kernel's records, in order */
struct as_perf_header as_perf_header_of(const uint8_t *bytes, bool swap);
uint64_t as_perf_record_time(struct as_perf_reader *reader, const struct as_perf_header *header, const uint8_t *record);
void as_perf_record_deliver(struct as_perf_reader *reader, const uint8_t *record);

/* perf_sample.c */
bool as_perf_sample_decode(struct as_perf_event *event, const struct as_perf_header *header, const uint8_t *record,
                           bool swap, struct as_perf_scratch *scratch, struct as_perf_sample *sample);

/* perf_script.c */
bool as_perf_script_run(struct as_perf_reader *reader, struct as_error *err) AS_MUST_CHECK;

#endif
