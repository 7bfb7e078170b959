/* Machine files from anyone. Whatever is read is valid, prints, and reads back the same; whatever is not leaves one
 * line. An input that begins with '@' is an assignment to a machine that ships instead. */
#include "core/machine.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct as_machine base, machine, again;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    struct as_error err = AS_ERROR_INIT;
    (void)argc, (void)argv;
    if (!as_machine_load("machines/boom-tip.machine", &base, &err))
        abort();
    memset(base.path, 0, sizeof base.path);
    return 0;
}

static void check_message(const struct as_error *err)
{
    size_t length = strnlen(err->message, sizeof err->message);
    if (length == 0 || length == sizeof err->message || strpbrk(err->message, "\n\r\x1b"))
        abort();
}

static void check_machine(void)
{
    struct as_error err = AS_ERROR_INIT;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out || !as_machine_validate(&machine, &err))
        abort();
    as_machine_print(&machine, out);
    fclose(out);
    if (!as_machine_parse(text, size, "printed", &again, &err) || memcmp(&machine, &again, sizeof machine) != 0)
        abort();
    free(text);
}

static void assign(const uint8_t *data, size_t size)
{
    struct as_error err = AS_ERROR_INIT;
    char *text = calloc(1, size + 1);
    if (!text)
        return;
    memcpy(text, data, size);
    machine = base;
    if (as_machine_set(&machine, text, &err)) {
        check_machine();
    } else {
        check_message(&err);
        if (memcmp(&machine, &base, sizeof base) != 0)
            abort();
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct as_error err = AS_ERROR_INIT;
    if (size > 0 && data[0] == '@')
        assign(data + 1, size - 1);
    else if (as_machine_parse((const char *)data, size, "input", &machine, &err))
        check_machine();
    else
        check_message(&err);
    return 0;
}
