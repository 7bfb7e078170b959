/* Finds QEMU, our plugin and a guest's libraries. `assay doctor` shows the result. */
#ifndef AS_ENGINE_FIND_QEMU_H
#define AS_ENGINE_FIND_QEMU_H

#include "assay/insn.h"
#include "base/error.h"

#include <limits.h>

struct as_qemu {
    char path[PATH_MAX];
    int major, minor;
};

enum { AS_QEMU_OLDEST = 6, AS_QEMU_NEWEST = 8 }; /* major versions whose plugin interface (version 1) is ours */

/* `given` NULL: qemu-ARCH or qemu-ARCH-static on PATH. Runs it to learn its version, or has, or another of
 * its build. */
bool as_qemu_find(enum as_arch arch, const char *given, struct as_qemu *qemu, struct as_error *err) AS_MUST_CHECK;

/* Runs QEMU with one argument and returns how many bytes it printed, at most `size` - 1, which are in `text` with a zero
 * behind them. It inherits the descriptor `kept`; -1: none. Not for programs that must end by themselves. */
size_t as_qemu_ask(const char *path, const char *argument, int kept, char *text, size_t size);

/* Whether this QEMU was built with support for plugins. Runs it. */
bool as_qemu_takes_plugins(const char *path);

/* assay-engine.so: beside the running program (the build tree), or in ../lib… of an installation. */
bool as_qemu_find_plugin(char path[PATH_MAX], struct as_error *err) AS_MUST_CHECK;

/* Where dynamic programs of an architecture find their loader and libraries; "" for the machine's own or none. */
const char *as_qemu_sysroot(enum as_arch arch);

#endif
