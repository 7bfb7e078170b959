/* Names out of a symbol table: any bytes up to a zero. The result is bounded, terminated, printable, and there in time
 * (libFuzzer's own limit). */
#include "symbol/demangle.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char name[AS_NAME_MAX], small[8];
    char *raw = malloc(size + 1);
    if (raw == NULL)
        return 0;
    memcpy(raw, data, size);
    raw[size] = '\0';
    as_demangle(raw, name, sizeof name);
    as_demangle(raw, small, sizeof small);
    size_t length = strnlen(name, sizeof name);
    if (length == sizeof name || strnlen(small, sizeof small) == sizeof small)
        abort();
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)name[i] < 0x20 || name[i] == 0x7f)
            abort();
    free(raw);
    return 0;
}
