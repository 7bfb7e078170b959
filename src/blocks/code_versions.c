/* See code_versions.h. */
#include "blocks/code_versions.h"

void as_code_versions_open(struct as_code_versions *versions)
{
    *versions = (struct as_code_versions){.paths = as_strings_new()};
}

static uint64_t key_of(uint32_t image, uint32_t path)
{
    return (uint64_t)image << 32 | path;
}

void as_code_versions_add(struct as_code_versions *versions, uint32_t image, const char *path, uint64_t address,
                          const uint8_t *bytes, size_t n)
{
    uint32_t number = as_strings_intern(versions->paths, path);
    uint64_t *place = as_map_put(&versions->by_key, key_of(image, number));
    if (!*place) {
        *as_vec_push(&versions->all) = (struct as_code_version){.path = number};
        *place = versions->all.len;
    }
    /* Code that changes within an image is another matter: exact.c says so. */
    (void)as_executed_bytes_add(&versions->all.data[*place - 1].bytes, address, bytes, n);
}

/* Joins one with the first version of its path that it agrees with. */
static void join(struct as_code_versions *versions, size_t at, const size_t *firsts, size_t n)
{
    struct as_code_version *one = &versions->all.data[at];
    for (size_t i = 0; i < n; i++) {
        struct as_code_version *first = &versions->all.data[firsts[i]];
        if (first->path != one->path || !as_executed_bytes_agree(&one->bytes, &first->bytes))
            continue;
        as_executed_bytes_join(&first->bytes, &one->bytes);
        as_executed_bytes_free(&one->bytes);
        one->merged = true;
        one->with = firsts[i];
        return;
    }
}

static bool is_file(const struct as_code_version *version, const char *path)
{
    struct as_elf *elf = as_elf_open(path, NULL);
    bool same = elf && as_executed_bytes_are_in(&version->bytes, elf, &(uint64_t){0});
    as_elf_close(elf);
    return same;
}

/* The version of a path that the file has gets 0, or the first if none is that; the others are numbered in order. */
static void number_path(struct as_code_versions *versions, uint32_t path, const size_t *firsts, size_t n)
{
    size_t several = 0, own = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        const struct as_code_version *version = &versions->all.data[firsts[i]];
        if (version->path != path)
            continue;
        own = several++ ? own : firsts[i];
    }
    for (size_t i = 0; several > 1 && i < n; i++) {
        const struct as_code_version *version = &versions->all.data[firsts[i]];
        if (version->path == path && is_file(version, as_strings_get(versions->paths, path))) {
            own = firsts[i];
            break;
        }
    }
    uint32_t next = 2;
    for (size_t i = 0; i < n; i++)
        if (versions->all.data[firsts[i]].path == path)
            versions->all.data[firsts[i]].number = firsts[i] == own ? 0 : next++;
}

void as_code_versions_settle(struct as_code_versions *versions)
{
    AS_VEC(size_t) firsts = {0};
    for (size_t i = 0; i < versions->all.len; i++) {
        join(versions, i, firsts.data, firsts.len);
        if (!versions->all.data[i].merged)
            *as_vec_push(&firsts) = i;
    }
    for (uint32_t path = 0; path < as_strings_count(versions->paths); path++)
        number_path(versions, path, firsts.data, firsts.len);
    as_vec_free(&firsts);
}

uint32_t as_code_versions_number(const struct as_code_versions *versions, uint32_t image, const char *path)
{
    uint32_t number = as_strings_intern(versions->paths, path);
    const uint64_t *place = as_map_get(&versions->by_key, key_of(image, number));
    if (!place)
        return 0;
    const struct as_code_version *version = &versions->all.data[*place - 1];
    return version->merged ? versions->all.data[version->with].number : version->number;
}

void as_code_versions_close(struct as_code_versions *versions)
{
    for (size_t i = 0; i < versions->all.len; i++)
        as_executed_bytes_free(&versions->all.data[i].bytes);
    as_vec_free(&versions->all);
    as_map_free(&versions->by_key);
    as_strings_free(versions->paths);
}
