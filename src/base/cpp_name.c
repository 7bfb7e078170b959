/* See cpp_name.h. One pass over the demangled name keeps its last word outside template arguments, up to the parameters:
 * what comes before a space is the type of the result. */
#include "base/cpp_name.h"

#include <string.h>

#define ANONYMOUS "(anonymous namespace)"
#define OPERATOR "operator"

/* Operators are named by what ends the name of anything else. */
static size_t operator_length(const char *at)
{
    size_t length = strlen(OPERATOR);
    if (strncmp(at, OPERATOR, length) != 0 || !strchr("()[]<>=+-*/%^&|~!, ", at[length]) || !at[length])
        return 0;
    length += strncmp(at + length, "()", 2) == 0 ? 2 : strcspn(at + length, "(");
    return length;
}

bool as_cpp_name_shorten(const char *full, char *base)
{
    size_t n = 0, depth = 0;
    for (const char *at = full; *at && n < AS_CPP_NAME_MAX - 1; at++) {
        size_t whole = strncmp(at, ANONYMOUS, strlen(ANONYMOUS)) == 0 ? strlen(ANONYMOUS) : operator_length(at);
        if (whole && depth == 0 && n + whole < AS_CPP_NAME_MAX) {
            memcpy(base + n, at, whole);
            n += whole;
            at += whole - 1;
            continue;
        }
        if (*at == '(' && depth == 0)
            break;
        if (*at == ' ' && depth == 0)
            n = 0;
        else if (*at != '<' && *at != '>' && depth == 0)
            base[n++] = *at;
        depth += *at == '<';
        depth -= *at == '>' && depth > 0;
    }
    base[n] = '\0';
    return n < AS_CPP_NAME_MAX - 1;
}

bool as_cpp_name_is(const char *full, const char *name)
{
    char base[AS_CPP_NAME_MAX];
    size_t length = strlen(name);
    if (!length || !as_cpp_name_shorten(full, base))
        return false;
    size_t all = strlen(base);
    return all >= length && strcmp(base + all - length, name) == 0 &&
           (all == length || (all >= length + 2 && strncmp(base + all - length - 2, "::", 2) == 0));
}

/* Whether the word between `from` and `to` is a kind of clone. */
static bool is_clone_kind(const char *from, const char *to)
{
    static const char *const kinds[] = {"constprop", "isra", "part", "cold", "lto_priv", "localalias"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if ((size_t)(to - from) == strlen(kinds[i]) && strncmp(from, kinds[i], strlen(kinds[i])) == 0)
            return true;
    return false;
}

/* The length without one suffix ".kind" or ".kind.NUMBER" of a name of `length`; the same length if it has none. */
static size_t without_suffix(const char *name, size_t length)
{
    size_t end = length;
    while (end && name[end - 1] >= '0' && name[end - 1] <= '9')
        end--;
    end = end && end < length && name[end - 1] == '.' ? end - 1 : length;
    size_t dot = end;
    while (dot && name[dot - 1] != '.')
        dot--;
    return dot > 1 && is_clone_kind(name + dot, name + end) ? dot - 1 : length;
}

size_t as_clone_length(const char *name)
{
    const char *marked = strstr(name, " [clone .");
    size_t length = marked && marked > name ? (size_t)(marked - name) : strlen(name), shorter;
    while ((shorter = without_suffix(name, length)) < length)
        length = shorter;
    return length;
}
