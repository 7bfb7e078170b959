/* Different files that were at one path during a run, told apart by the code that ran of them.
 *
 * A script may build and run one program after another at one path. What each image (a program from its start to its
 * end) executed of a path is held against what others did: images of which no two executed different bytes at one address
 * are one version. The version that the file has when the run is over keeps the path's name; the others are numbered from 2.
 */
#ifndef AS_BLOCKS_CODE_VERSIONS_H
#define AS_BLOCKS_CODE_VERSIONS_H

#include "blocks/executed_bytes.h"

/* What an image ran of a path. */
struct as_code_version {
    uint32_t path, number;
    bool merged; /* its bytes are with an earlier one's */
    size_t with; /* … which is this */
    struct as_executed_bytes bytes;
};

struct as_code_versions {
    struct as_strings *paths;
    struct as_map by_key; /* image and path: place in the list, and 1 */
    AS_VEC(struct as_code_version) all;
};

void as_code_versions_open(struct as_code_versions *versions);
void as_code_versions_add(struct as_code_versions *versions, uint32_t image, const char *path, uint64_t address,
                          const uint8_t *bytes, size_t n);
/* After the last one. */
void as_code_versions_settle(struct as_code_versions *versions);
/* 0: the version that has the path; 2, 3 …: another. */
uint32_t as_code_versions_number(const struct as_code_versions *versions, uint32_t image, const char *path);
void as_code_versions_close(struct as_code_versions *versions);

#endif
