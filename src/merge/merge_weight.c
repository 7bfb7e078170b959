/* Weights as fractions, and arithmetic with them that notices when 64 bits are not enough. */
#include "merge/merge_internal.h"

#include <string.h>

uint64_t as_gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

bool as_lcm(uint64_t a, uint64_t b, uint64_t *result)
{
    return !__builtin_mul_overflow(a / as_gcd(a, b), b, result) && *result <= INT64_MAX;
}

/* Reads digits and, after a point, digits of a fraction; leaves *text after them. */
static bool read_decimal(const char **text, uint64_t *number, uint64_t *scale)
{
    const char *at = *text;
    size_t digits = 0;
    bool behind = false;
    *number = 0;
    *scale = 1;
    for (; (*at >= '0' && *at <= '9') || (*at == '.' && !behind); at++) {
        if (*at == '.') {
            behind = true;
            continue;
        }
        if (++digits > 18)
            return false;
        *number = *number * 10 + (uint64_t)(*at - '0');
        *scale *= behind ? 10 : 1;
    }
    *text = at;
    return digits > 0;
}

bool as_weight_read(const char *text, struct as_weight *weight)
{
    uint64_t part, whole, below = 1, over = 1;
    if (!read_decimal(&text, &part, &whole))
        return false;
    if (*text == '/') {
        text++;
        if (!read_decimal(&text, &below, &over) || over != 1 || whole != 1)
            return false;
        whole = below;
    }
    if (*text != '\0' || part == 0 || whole == 0)
        return false;
    uint64_t common = as_gcd(part, whole);
    *weight = (struct as_weight){part / common, whole / common};
    return true;
}

bool as_weight_product(struct as_weight a, struct as_weight b, struct as_weight *result)
{
    uint64_t first = as_gcd(a.part, b.whole), second = as_gcd(b.part, a.whole);
    return !__builtin_mul_overflow(a.part / first, b.part / second, &result->part) &&
           !__builtin_mul_overflow(a.whole / second, b.whole / first, &result->whole);
}

bool as_weight_times(struct as_weight weight, uint64_t value, uint64_t *carry, uint64_t *result)
{
    unsigned __int128 all = (unsigned __int128)value * weight.part + *carry, out = all / weight.whole;
    *carry = (uint64_t)(all % weight.whole);
    *result = (uint64_t)out;
    return out <= INT64_MAX;
}
