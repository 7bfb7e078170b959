/* The search for separate debug files. A candidate must be of the same machine and have the same build-id, or, where
 * there is none to compare, the checksum that .gnu_debuglink gives. The names come from the file and are not trusted: a
 * link with a directory in it is ignored, anything but a regular file too (as_elf_open).
 */
#include "symbol/debugfile.h"

#include "base/bytes.h"
#include "symbol/debugserver.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_LINK = 4096 }; /* bytes of a link section */

/* The CRC-32 of a whole file (the polynomial of Ethernet, reflected), as .gnu_debuglink has it. */
static bool file_crc(const struct as_elf *elf, uint32_t *result)
{
    uint32_t table[256], crc = ~(uint32_t)0;
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320 : 0);
    }
    uint8_t buffer[16384];
    ssize_t n;
    for (uint64_t at = 0; (n = pread(elf->fd, buffer, sizeof buffer, (off_t)at)) != 0; at += n > 0 ? (uint64_t)n : 0) {
        if (n < 0 && errno != EINTR)
            return false;
        for (ssize_t i = 0; i < n; i++)
            crc = crc >> 8 ^ table[(crc ^ buffer[i]) & 0xff];
    }
    *result = ~crc;
    return true;
}

static bool same_build_id(const struct as_build_id *a, const struct as_build_id *b)
{
    return a->len > 0 && a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

/* What a debug file must be to count. */
struct wanted {
    uint16_t machine;
    struct as_build_id id;
    bool has_crc;
    uint32_t crc;
};

static struct as_elf *try_file(const char *path, const struct wanted *wanted)
{
    struct as_error ignored = AS_ERROR_INIT;
    struct as_elf *elf = as_elf_open(path, &ignored);
    if (elf == NULL)
        return NULL;
    struct as_build_id id;
    as_elf_build_id(elf, &id);
    uint32_t crc;
    bool right = elf->machine == wanted->machine;
    if (right && id.len > 0 && wanted->id.len > 0)
        right = same_build_id(&id, &wanted->id);
    else if (right)
        right = wanted->has_crc && file_crc(elf, &crc) && crc == wanted->crc;
    if (right)
        return elf;
    as_elf_close(elf);
    return NULL;
}

static struct as_elf *try_build_id(const char *roots, const struct wanted *wanted, char *found)
{
    char hex[2 * AS_BUILD_ID_MAX + 1];
    if (wanted->id.len < 3)
        return NULL;
    as_bytes_hex(wanted->id.bytes, wanted->id.len, hex);
    for (const char *root = roots, *end; *root != '\0'; root = *end == ':' ? end + 1 : end) {
        end = strchrnul(root, ':');
        int n = snprintf(found, PATH_MAX, "%.*s/.build-id/%.2s/%s.debug", (int)(end - root), root, hex, hex + 2);
        struct as_elf *elf = n < PATH_MAX ? try_file(found, wanted) : NULL;
        if (elf != NULL)
            return elf;
    }
    return NULL;
}

/* The places for a file called `name` that belongs to one in the directory `dir`. */
static struct as_elf *try_name(const char *dir, const char *name, const char *roots, const struct wanted *wanted,
                               char *found)
{
    static const char *const beside[] = {"%s/%s", "%s/.debug/%s"};
    struct as_elf *elf = NULL;
    for (size_t i = 0; i < 2 && elf == NULL; i++) {
        int n = snprintf(found, PATH_MAX, i == 0 ? beside[0] : beside[1], dir, name);
        elf = n < PATH_MAX ? try_file(found, wanted) : NULL;
    }
    for (const char *root = roots, *end; *root != '\0' && elf == NULL; root = *end == ':' ? end + 1 : end) {
        end = strchrnul(root, ':');
        int n = snprintf(found, PATH_MAX, "%.*s%s/%s", (int)(end - root), root, dir, name);
        elf = n < PATH_MAX ? try_file(found, wanted) : NULL;
    }
    return elf;
}

/* The directory of a file, without symbolic links; false where it has none. */
static bool directory_of(const char *path, char *dir)
{
    if (realpath(path, dir) == NULL)
        return false;
    *strrchr(dir, '/') = '\0';
    return true;
}

static struct as_elf *try_link(const struct as_elf *elf, const char *path, const char *roots, struct wanted *wanted,
                               char *found)
{
    size_t size;
    char *link = (char *)as_elf_read(elf, as_elf_section(elf, ".gnu_debuglink"), MAX_LINK, &size);
    struct as_elf *result = NULL;
    char dir[PATH_MAX];
    size_t at = link != NULL ? (strlen(link) + 4) & ~(size_t)3 : 0; /* the checksum, aligned behind the zero */
    if (link != NULL && link[0] != '\0' && strchr(link, '/') == NULL && as_inside(at, 4, size) &&
        directory_of(path, dir)) {
        memcpy(&wanted->crc, link + at, 4);
        wanted->has_crc = true;
        result = try_name(dir, link, roots, wanted, found);
    }
    free(link);
    return result;
}

struct as_elf *as_debug_file_open(const struct as_elf *elf, const char *path, const char *roots, char *found)
{
    struct wanted wanted = {.machine = elf->machine};
    as_elf_build_id(elf, &wanted.id);
    struct as_elf *debug = try_build_id(roots, &wanted, found);
    if (debug == NULL)
        debug = try_link(elf, path, roots, &wanted, found);
    if (debug == NULL && as_debug_roots_ask_servers(roots) &&
        as_debug_server_find(&wanted.id, AS_DEBUG_WANTS_DEBUGINFO, found))
        debug = try_file(found, &wanted);
    return debug;
}

struct as_elf *as_debug_file_open_alt(const struct as_elf *debug, const char *path, const char *roots)
{
    size_t size;
    char *link = (char *)as_elf_read(debug, as_elf_section(debug, ".gnu_debugaltlink"), MAX_LINK, &size), dir[PATH_MAX];
    size_t name = link != NULL ? strlen(link) + 1 : 0;
    struct wanted wanted = {.machine = debug->machine};
    struct as_elf *alt = NULL;
    if (link != NULL && name < size && size - name <= AS_BUILD_ID_MAX) {
        wanted.id.len = size - name;
        memcpy(wanted.id.bytes, link + name, wanted.id.len);
        char found[PATH_MAX];
        alt = try_build_id(roots, &wanted, found);
        if (alt == NULL && link[0] == '/')
            alt = try_file(link, &wanted);
        else if (alt == NULL && directory_of(path, dir) && snprintf(found, PATH_MAX, "%s/%s", dir, link) < PATH_MAX)
            alt = try_file(found, &wanted);
    }
    free(link);
    return alt;
}
