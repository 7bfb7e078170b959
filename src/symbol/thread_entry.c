/* See thread_entry.h. */
#include "symbol/thread_entry.h"

#include <stddef.h>
#include <string.h>

/* Code without a name, "libc.so.6+0x1234" or "[libc.so.6]", of the C library and the dynamic linker. */
static bool is_nameless_entry(const char *name)
{
    static const char *const modules[] = {"libc.", "libc-", "ld-", "ld.", "libpthread", "unknown", "ld64."};
    bool whole = *name == '[';
    if (!whole && !strstr(name, "+0x"))
        return false;
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        if (strncmp(name + whole, modules[i], strlen(modules[i])) == 0)
            return true;
    return false;
}

static bool is_among(const char *name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

bool as_is_thread_end(const char *name)
{
    static const char *const names[] = {"__nptl_deallocate_tsd",
                                        "__nptl_free_tcb",
                                        "__call_tls_dtors",
                                        "__libc_thread_freeres",
                                        "__libc_arena_thread_freeres",
                                        "__malloc_arena_thread_freeres",
                                        "__rpc_thread_destroy",
                                        "advise_stack_range"};
    return is_among(name, names, sizeof names / sizeof *names);
}

bool as_is_thread_entry(const char *name)
{
    static const char *const names[] = {"clone", "__clone", "clone3", "__clone3", "start_thread", "_start",
                                        "__libc_start_main", "__libc_start_call_main", "__libc_start_main_impl",
                                        "__libc_start_main@@GLIBC_2.34", "thread_start", "exit", "_exit", "_Exit",
                                        "__run_exit_handlers", "_dl_start", "_dl_start_user", "_dl_sysdep_start",
                                        "_dl_runtime_resolve_xsavec", "__thread_start",
                                        /* What start_thread calls before the thread's own function. */
                                        "__ctype_init", "__sigsetjmp", "_setjmp", "__sigjmp_save"};
    return is_among(name, names, sizeof names / sizeof *names) || as_is_thread_end(name) || is_nameless_entry(name);
}
