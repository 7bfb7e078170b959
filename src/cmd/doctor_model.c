/* Rows about the model source: QEMU for each architecture, its plugin interface, Assay's plugin, shared memory,
 * libraries for foreign dynamic programs. At the end a program is really run. */
#include "cmd/doctor_rows.h"
#include "engine/engine.h"
#include "engine/find_qemu.h"

#include <string.h>

static bool qemu_row(enum as_arch arch, const char *name, const char *label, as_doctor_rows *rows)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_qemu qemu;
    const char *remedy = "as root: apt-get install qemu-user";
    if (!as_qemu_find(arch, NULL, &qemu, &err)) {
        as_doctor_add(rows, name, label, AS_VERDICT_MISSING, remedy, "%s", err.message);
        return false;
    }
    bool plugins = as_qemu_takes_plugins(qemu.path);
    as_doctor_add(rows, name, label, plugins ? AS_VERDICT_OK : AS_VERDICT_MISSING, plugins ? NULL : remedy,
                  "%s, version %d.%d, %s", qemu.path, qemu.major, qemu.minor,
                  plugins ? "takes plugins" : "built without plugins");
    return plugins;
}

static bool plugin_row(as_doctor_rows *rows)
{
    struct as_error err = AS_ERROR_INIT;
    char path[PATH_MAX];
    bool found = as_qemu_find_plugin(path, &err);
    as_doctor_add(rows, "engine", "engine plugin", found ? AS_VERDICT_OK : AS_VERDICT_MISSING,
                  found ? NULL : "build it (ninja -C build) or install Assay again", "%s", found ? path : err.message);
    return found;
}

static bool memory_row(const struct as_probe *probe, as_doctor_rows *rows)
{
    if (probe->memory.works)
        as_doctor_add(rows, "shared_memory", "shared memory", AS_VERDICT_OK, NULL, "%d MiB (memfd) are available",
                      AS_PROBE_MEMORY >> 20);
    else
        as_doctor_add(rows, "shared_memory", "shared memory", AS_VERDICT_MISSING,
                      "raise the limits on file size and memory (ulimit -f, ulimit -v)",
                      "%d MiB (memfd) are not available: %s", AS_PROBE_MEMORY >> 20, strerror(probe->memory.error));
    return probe->memory.works;
}

static void sysroot_row(as_doctor_rows *rows)
{
    const char *sysroot = as_qemu_sysroot(AS_ARCH_RISCV64);
    if (sysroot[0])
        as_doctor_add(rows, "riscv64_libraries", "RISC-V libraries", AS_VERDICT_OK, NULL, "%s", sysroot);
    else
        as_doctor_add(rows, "riscv64_libraries", "RISC-V libraries", AS_VERDICT_LIMITED,
                      "as root: apt-get install libc6-riscv64-cross (with libstdc++6-riscv64-cross for C++)",
                      "not found: static RISC-V programs run, dynamic ones do not");
}

static void count_block(void *context, struct as_thread *thread, const struct as_block_exec *exec)
{
    *(uint64_t *)context += as_block_exec_count(exec);
}

/* The trial is a silent program that every machine has, of the machine's own architecture. */
static bool trial_row(as_doctor_rows *rows)
{
    static const struct as_sink sink = {.block = count_block};
    char *argv[] = {"/bin/true", NULL};
    struct as_engine_options options = AS_ENGINE_OPTIONS_DEFAULT;
    struct as_engine_result result = {0};
    struct as_error err = AS_ERROR_INIT;
    uint64_t instructions = 0;
    options.argv = argv;
    struct as_engine *engine = as_engine_start(&options, &err);
    bool ran = engine && as_engine_run(engine, &sink, &instructions, &result, &err);
    bool works = ran && result.end.exit_status == 0 && instructions > 0;
    as_engine_free(engine);
    if (works)
        as_doctor_add(rows, "model", "model source", AS_VERDICT_OK, NULL,
                      "%s was run, and every instruction was counted", argv[0]);
    else if (ran)
        as_doctor_add(rows, "model", "model source", AS_VERDICT_MISSING, "'assay stat -- /bin/true' may show more",
                      "%s was run, but ended with status %d", argv[0], result.end.exit_status);
    else
        as_doctor_add(rows, "model", "model source", AS_VERDICT_MISSING, "'assay stat -- /bin/true' may show more",
                      "%s could not be run: %s", argv[0], err.message);
    return works;
}

/* A machine of another architecture has no program of its own to try. */
static bool untried_row(bool usable, as_doctor_rows *rows)
{
    as_doctor_add(rows, "model", "model source", usable ? AS_VERDICT_LIMITED : AS_VERDICT_MISSING,
                  usable ? NULL : "see the rows above", "not tried: %s",
                  usable ? "no x86-64 or RISC-V program is available" : "something that it needs is missing");
    return usable;
}

bool as_doctor_model_rows(const struct as_probe *probe, as_doctor_rows *rows)
{
    bool is_x86 = strcmp(probe->architecture, as_arch_name(AS_ARCH_X86_64)) == 0;
    bool is_riscv = strcmp(probe->architecture, as_arch_name(AS_ARCH_RISCV64)) == 0;
    bool x86 = qemu_row(AS_ARCH_X86_64, "qemu_x86_64", "QEMU for x86-64", rows);
    bool riscv = qemu_row(AS_ARCH_RISCV64, "qemu_riscv64", "QEMU for RISC-V", rows);
    bool plugin = plugin_row(rows);
    bool memory = memory_row(probe, rows);
    bool qemu = is_x86 ? x86 : is_riscv ? riscv : x86 || riscv;
    sysroot_row(rows);
    return qemu && plugin && memory && (is_x86 || is_riscv) ? trial_row(rows)
                                                            : untried_row(qemu && plugin && memory, rows);
}
