/* Recordings with raw data of AMD IBS and with trace data of Arm SPE, put together from the manuals: bytes with known
 * contents, not of such a processor. */
#ifndef AS_TESTS_PERF_HARDWARE_H
#define AS_TESTS_PERF_HARDWARE_H

#include "perf_build.h"

/* Samples of ibs_op and of ibs_fetch; test_import_hardware.c says what is in them. */
extern const struct attr ibs_attrs[2];
struct build ibs_records(bool big);
struct as_str ibs_file(const struct wrapping *how); /* the whole, of a processor without errata */

/* Trace data of arm_spe_0, of a Neoverse N1, with what else perf records beside it. */
extern const struct attr spe_attrs[2];
struct build spe_records(bool big, size_t piece); /* trace data in pieces of so many bytes; 0: whole */
/* The parts: what the kernel records beside the trace, and one of the buffers. Nanoseconds are 2000 and 16 / 2^3 a
 * tick. */
enum { SPE_TICKS_ZERO = 2000, SPE_TICKS_MULTIPLIER = 16, SPE_TICKS_SHIFT = 3 };
void put_spe_processes(struct build *build);
void put_spe_truncated(struct build *build);
void put_spe_trace(struct build *trace);
struct as_str spe_file(const struct wrapping *how, size_t piece);
/* Records of threads 301, whose buffer it is, and 302, by a context packet, which no other record names; and of both, which is 301. */
struct as_str spe_unknown_threads_file(void);

/* One load for each event bit of SPE, at 0x401000 and every fourth byte behind; and one for each bit of IbsOpData4. */
enum { SPE_EVENT_BITS = 32, IBS_DATA4_BITS = 4 };
struct as_str spe_bits_file(void);
/* One fetch for each size of pages (4 KiB, 2 MiB, 1 GiB; of a processor with errata one step less), likewise. */
enum { IBS_PAGES = 3 };
struct as_str ibs_pages_file(const char *cpu_id);
struct as_str ibs_bits_file(void);
/* One load for each number of a data source. */
enum { SPE_SOURCES = 16 };
struct as_str spe_sources_file(const char *cpu_id);

#endif
