/* See thread_entry.h. */
#include "symbol/thread_entry.h"

#include <stddef.h>
#include <string.h>

bool as_is_thread_entry(const char *name)
{
    static const char *const names[] = {"clone",
                                        "__clone",
                                        "clone3",
                                        "__clone3",
                                        "start_thread",
                                        "_start",
                                        "__libc_start_main",
                                        "__libc_start_call_main",
                                        "__libc_start_main_impl",
                                        "__libc_start_main@@GLIBC_2.34",
                                        "thread_start",
                                        "exit",
                                        "_exit",
                                        "_Exit",
                                        "__run_exit_handlers",
                                        "_dl_start",
                                        "_dl_start_user",
                                        "_dl_sysdep_start",
                                        "_dl_runtime_resolve_xsavec",
                                        "__thread_start"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return name[0] == '[' || strstr(name, "+0x") != NULL;
}
