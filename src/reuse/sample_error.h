/* How far off the miss ratios of a sample of the lines may be, from the sample itself.
 *
 * Three things make them wrong. Which lines are in the sample is chance, and where a few hot ones decide, that matters: lines are dealt
 * to parts by a hash of their own, and parts that differ by more or fewer misses than their number of lines accounts for show by how
 * much. And a distance is only known by the few sampled lines in between, whose number is spread around its mean: where many
 * distances are a little shorter than a cache is large, more of them seem longer than the other way round. That spread, applied once
 * more to what was measured, shows by how much. It takes each distance by itself; but where the same lines lie in between again and again,
 * all distances are too long or too short together, so the error is at least what the curve changes within that spread. At last, how many
 * lines the program has is only known by how many are sampled. The hash deals neighbours more evenly than chance would, so that error is
 * taken from the sample, too: by how much sixteen equal pieces of the range of hashes differ in the number of their lines. */
#ifndef AS_REUSE_SAMPLE_ERROR_H
#define AS_REUSE_SAMPLE_ERROR_H

#include "reuse/distances.h"

enum { AS_SAMPLE_PARTS = 16 };

struct as_sample_parts {
    struct as_distances hits[AS_SAMPLE_PARTS]; /* touches that some cache has, by distance */
    uint64_t lines[AS_SAMPLE_PARTS],
        missed[AS_SAMPLE_PARTS];      /* missed: touches that no cache has, the first ones included */
    uint64_t pieces[AS_SAMPLE_PARTS]; /* lines that are in the sample, by their hash */
};

uint32_t as_sample_part(uint64_t key);
/* A line of the sample, by the hash that chose it: one of 1 << scale lines is sampled. */
void as_sample_parts_line(struct as_sample_parts *parts, uint64_t hash, uint32_t scale);
void as_sample_parts_merge(struct as_sample_parts *into, const struct as_sample_parts *from);
/* Of the misses of a cache of so many lines: twice the standard error, and the bias. One of 1 << scale lines is sampled. */
double as_sample_error(const struct as_sample_parts *parts, uint64_t lines, uint32_t scale);

#endif
