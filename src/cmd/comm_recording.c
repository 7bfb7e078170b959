/* See comm_recording.h. */
#include "cmd/comm_recording.h"

#include "base/csv.h"
#include "base/json.h"
#include "base/ratio.h"
#include "base/show.h"

#include <inttypes.h>
#include <string.h>

bool as_comm_is_recording(const char *path)
{
    char magic[8] = "";
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    size_t n = fread(magic, 1, sizeof magic, file);
    fclose(file);
    return n == sizeof magic && (memcmp(magic, "PERFILE2", n) == 0 || memcmp(magic, "2ELIFREP", n) == 0);
}

/* ---- text ---- */

static void print_counts(const struct as_c2c *c2c, FILE *out)
{
    const struct as_c2c_counts *counts = &c2c->counts;
    fprintf(out, "%s samples of accesses: %s loads, %s stores, %s of them locked\n", AS_COUNT(counts->records),
            AS_COUNT(counts->loads), AS_COUNT(counts->stores), AS_COUNT(counts->locks));
    fprintf(out, "  loads    L1 %s, fill buffer %s, L2 %s, LLC %s, memory %s here and %s of another node\n",
            AS_COUNT(counts->load_l1), AS_COUNT(counts->load_fill_buffer), AS_COUNT(counts->load_l2),
            AS_COUNT(counts->load_llc), AS_COUNT(counts->local_dram), AS_COUNT(counts->remote_dram));
    fprintf(out, "  HITM     %s: %s of a core of this socket, %s of another one\n", AS_COUNT(as_c2c_hitm(counts)),
            AS_COUNT(counts->local_hitm), AS_COUNT(counts->remote_hitm));
    if (counts->local_peer + counts->remote_peer)
        fprintf(
            out,
            "  peers    %s loads from another core's cache, modified or not: %s of this socket, %s of another one\n",
            AS_COUNT(counts->local_peer + counts->remote_peer), AS_COUNT(counts->local_peer),
            AS_COUNT(counts->remote_peer));
    fprintf(out, "  stores   L1 hit %s, L1 miss %s, not said %s\n", AS_COUNT(counts->store_l1_hit),
            AS_COUNT(counts->store_l1_miss), AS_COUNT(counts->store_no_level));
    if (counts->store_no_level && c2c->modelled)
        fprintf(out,
                "           (a modelled store reaches the caches after its sample; 'assay record' and 'report --waits' "
                "show what stores waited for)\n");
    if (counts->no_map + counts->unparsed + counts->load_no_address + counts->store_no_address)
        fprintf(out,
                "  left out %s of addresses where nothing is known to be mapped, %s without an address, %s neither "
                "load nor store\n",
                AS_COUNT(counts->no_map), AS_COUNT(counts->load_no_address + counts->store_no_address),
                AS_COUNT(counts->unparsed));
}

static void print_access(const struct as_c2c_access *access, FILE *out)
{
    fprintf(out, "    %6s %8s %8s %8s %8s   0x%02" PRIx32 "  %s of %s, %zu thread%s",
            AS_COUNT(as_c2c_moved(&access->counts)), AS_COUNT(access->counts.local_hitm),
            AS_COUNT(access->counts.remote_hitm), AS_COUNT(access->counts.loads), AS_COUNT(access->counts.stores),
            access->offset, AS_SHOW(access->code), AS_SHOW(access->module), access->threads.len,
            access->threads.len == 1 ? "" : "s");
    if (access->cpus.len) /* a profile does not have them */
        fprintf(out, ", %zu processor%s", access->cpus.len, access->cpus.len == 1 ? "" : "s");
    if (access->weighed)
        fprintf(out, ", %.0f cycles", as_ratio(access->latency, access->weighed));
    fprintf(out, "\n");
}

static void print_line(const struct as_c2c_line *line, FILE *out)
{
    enum { MOST = 16 };
    const struct as_c2c_counts *counts = &line->counts;
    fprintf(out, "  %8s %8s %8s %8s %8s   0x%" PRIx64 "  %s\n", AS_COUNT(as_c2c_moved(counts)),
            AS_COUNT(counts->local_hitm), AS_COUNT(counts->remote_hitm), AS_COUNT(counts->loads),
            AS_COUNT(counts->stores), line->address, AS_SHOW(line->object));
    for (size_t i = 0; i < line->accesses.len && i < MOST; i++)
        print_access(&line->accesses.data[i], out);
    if (line->accesses.len > MOST)
        fprintf(out, "    … and %zu more; --json has them all\n", line->accesses.len - MOST);
}

void as_comm_recording_text(const struct as_c2c *c2c, uint64_t top, FILE *out)
{
    print_counts(c2c, out);
    if (!as_c2c_moved(&c2c->counts)) {
        fprintf(out, "No load is recorded that hit a line which another core had modified: these samples show no "
                     "communication.\n");
        if (!c2c->counts.stores)
            return;
    }
    fprintf(out, "\nLines, with the offsets of accesses and who made them:\n  %8s %8s %8s %8s %8s   line\n",
            as_c2c_moved(&c2c->counts) == as_c2c_hitm(&c2c->counts) ? "HITM" : "moved", "local", "remote", "loads",
            "stores");
    for (size_t i = 0; i < c2c->lines.len && i < top; i++)
        print_line(&c2c->lines.data[i], out);
}

/* ---- JSON and CSV ---- */

static void json_counts(struct as_json *json, const struct as_c2c_counts *counts)
{
    uint64_t value;
    const char *name;
    as_json_u64(json, "hitm", as_c2c_hitm(counts));
    for (size_t i = 0; (name = as_c2c_count(counts, i, &value)); i++)
        as_json_u64(json, name, value);
}

static void json_numbers(struct as_json *json, const char *name, const uint32_t *numbers, size_t n)
{
    as_json_array(json, name);
    for (size_t i = 0; i < n; i++)
        as_json_u64(json, NULL, numbers[i]);
    as_json_end(json);
}

static void json_access(struct as_json *json, const struct as_c2c_access *access)
{
    as_json_object(json, NULL);
    as_json_u64(json, "offset", access->offset);
    as_json_string(json, "code", access->code);
    as_json_string(json, "module", access->module);
    as_json_address(json, "address", access->ip);
    json_numbers(json, "threads", access->threads.data, access->threads.len);
    json_numbers(json, "cpus", access->cpus.data, access->cpus.len);
    if (access->weighed)
        as_json_double(json, "latency", as_ratio(access->latency, access->weighed));
    json_counts(json, &access->counts);
    as_json_end(json);
}

bool as_comm_recording_json(const struct as_c2c *c2c, const char *path, uint64_t top, FILE *out)
{
    struct as_json *json = as_json_new(out);
    as_json_object(json, NULL);
    as_json_string(json, "source", "recording");
    as_json_string(json, "file", path);
    if (c2c->partial)
        as_json_string(json, "partial", c2c->partial);
    as_json_u64(json, "samples_without_source", c2c->without_source);
    as_json_object(json, "counts");
    json_counts(json, &c2c->counts);
    as_json_end(json);
    as_json_array(json, "lines");
    for (size_t i = 0; i < c2c->lines.len && i < top; i++) {
        const struct as_c2c_line *line = &c2c->lines.data[i];
        as_json_object(json, NULL);
        as_json_address(json, "address", line->address);
        as_json_u64(json, "pid", line->pid);
        as_json_string(json, "object", line->object);
        json_counts(json, &line->counts);
        as_json_array(json, "accesses");
        for (size_t k = 0; k < line->accesses.len; k++)
            json_access(json, &line->accesses.data[k]);
        as_json_end(json);
        as_json_end(json);
    }
    as_json_end(json);
    as_json_end(json);
    return as_json_finish(json);
}

void as_comm_recording_csv(const struct as_c2c *c2c, FILE *out)
{
    fprintf(out, "line,object,hitm,local_hitm,remote_hitm,loads,stores,records\n");
    for (size_t i = 0; i < c2c->lines.len; i++) {
        const struct as_c2c_line *line = &c2c->lines.data[i];
        struct as_str object = {0};
        as_csv_add_text(&object, line->object, 0);
        fprintf(out, "0x%" PRIx64 ",%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
                line->address, as_str_get(&object), as_c2c_hitm(&line->counts), line->counts.local_hitm,
                line->counts.remote_hitm, line->counts.loads, line->counts.stores, line->counts.records);
        as_str_free(&object);
    }
}
