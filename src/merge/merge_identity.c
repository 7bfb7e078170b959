/* Keys that are equal if two things in two profiles are the same: bytes, made from columns.
 *
 * A key contains no NUL: a number is written seven bits a byte, each with the highest bit set, and a text is preceded
 * by its length. So different values give different keys.
 */
#include "merge/merge_internal.h"

enum { END = 1, NOTHING = 2 };

void as_key_add_u64(struct as_str *key, uint64_t value)
{
    char bytes[12];
    size_t n = 0;
    for (; value; value >>= 7)
        bytes[n++] = (char)(0x80 | (value & 0x7f));
    bytes[n++] = END;
    as_str_add_bytes(key, bytes, n);
}

void as_key_add_text(struct as_str *key, const char *text)
{
    if (!text) {
        as_str_add_bytes(key, &(char){NOTHING}, 1);
        return;
    }
    as_key_add_u64(key, strlen(text));
    as_str_add(key, text);
}

static void add_bytes(struct as_str *key, const void *where)
{
    const uint8_t *bytes;
    size_t size;
    memcpy(&bytes, where, sizeof bytes);
    memcpy(&size, (const char *)where + sizeof bytes, sizeof size);
    as_key_add_u64(key, size);
    for (size_t i = 0; i < size; i++)
        as_key_add_u64(key, bytes[i]);
}

void as_key_add(struct as_str *key, const struct as_store_column *column, const void *row)
{
    const void *where = (const char *)row + column->offset;
    switch (column->type) {
    case AS_COLUMN_REF:
    case AS_COLUMN_U32:
    case AS_COLUMN_I32:
        as_key_add_u64(key, *(const uint32_t *)where);
        break;
    case AS_COLUMN_BOOL:
        as_key_add_u64(key, *(const bool *)where);
        break;
    case AS_COLUMN_TEXT:
        as_key_add_text(key, *(const char *const *)where);
        break;
    case AS_COLUMN_BYTES:
        add_bytes(key, where);
        break;
    case AS_COLUMN_ROW:
    case AS_COLUMN_ORDER:
        break;
    default:
        as_key_add_u64(key, *(const uint64_t *)where);
        break;
    }
}

static uint32_t intern(struct as_identities *identities, const char *key, bool *is_new)
{
    size_t before = as_strings_count(identities->keys);
    uint32_t number = as_strings_intern(identities->keys, key);
    *is_new = number == before;
    if (*is_new)
        *as_vec_push(&identities->met) = 0;
    return number;
}

uint32_t as_identities_find(struct as_identities *identities, struct as_str *key, bool *is_new)
{
    uint32_t number = intern(identities, as_str_get(key), is_new);
    if (identities->met.data[number] == identities->reading) {
        uint64_t twin = ++*as_map_put(&identities->twins, number);
        as_str_add(key, "#");
        as_key_add_u64(key, twin);
        number = intern(identities, as_str_get(key), is_new);
    }
    identities->met.data[number] = identities->reading;
    return number;
}

void as_identities_begin(struct as_identities *identities)
{
    if (!identities->keys)
        identities->keys = as_strings_new();
    as_map_free(&identities->twins);
    identities->twins = (struct as_map){0};
    identities->reading++;
}

void as_identities_free(struct as_identities *identities)
{
    as_strings_free(identities->keys);
    as_vec_free(&identities->met);
    as_map_free(&identities->twins);
}
