/* See store_header.h. */
#include "store/store_header.h"

#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static uint32_t big_endian(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* The page count is valid only if the "version valid for" number equals the change counter. */
static uint64_t expected_size(const uint8_t *bytes)
{
    uint64_t page = (uint64_t)bytes[16] << 8 | bytes[17];
    bool valid = memcmp(bytes + 24, bytes + 92, 4) == 0;
    return valid ? (page == 1 ? 65536 : page) * big_endian(bytes + 28) : 0;
}

bool as_store_header_read(int fd, struct as_store_header *header)
{
    uint8_t bytes[AS_STORE_HEADER_SIZE] = {0};
    *header = (struct as_store_header){0};
    ssize_t n;
    do
        n = pread(fd, bytes, sizeof bytes, 0);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return false;
    header->is_perf_data = memcmp(bytes, "PERFILE2", 8) == 0;
    header->is_database = memcmp(bytes, "SQLite format 3", 16) == 0;
    header->is_profile = header->is_database && big_endian(bytes + 68) == AS_STORE_APPLICATION_ID;
    header->write_ahead = bytes[18] == 2 || bytes[19] == 2;
    header->version = big_endian(bytes + 60);
    header->size = expected_size(bytes);
    return true;
}

bool as_store_is_profile(const char *path)
{
    struct as_store_header header;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    bool is = fd >= 0 && as_store_header_read(fd, &header) && header.is_profile;
    if (fd >= 0)
        close(fd);
    return is;
}
