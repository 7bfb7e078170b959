/* The part of QEMU's TCG plugin interface, version 1, that the engine uses. Debian does not package QEMU's header; the
 * declarations follow the interface as documented ("QEMU TCG Plugins"). */
#ifndef AS_PLUGIN_QEMU_PLUGIN_API_H
#define AS_PLUGIN_QEMU_PLUGIN_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QEMU_PLUGIN_EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

typedef struct {
    const char *target_name;
    struct {
        int min, cur;
    } version;
    bool system_emulation;
    union {
        struct {
            int smp_vcpus, max_vcpus;
        } system;
    };
} qemu_info_t;

enum { QEMU_PLUGIN_CB_NO_REGS = 0 };
enum { QEMU_PLUGIN_MEM_RW = 3 };

typedef void (*qemu_vcpu_cb)(qemu_plugin_id_t id, unsigned vcpu);
typedef void (*qemu_exec_cb)(unsigned vcpu, void *userdata);
typedef void (*qemu_mem_cb)(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *userdata);
typedef void (*qemu_tb_trans_cb)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*qemu_syscall_cb)(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2,
                                uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8);
typedef void (*qemu_syscall_ret_cb)(qemu_plugin_id_t id, unsigned vcpu, int64_t number, int64_t result);
typedef void (*qemu_atexit_cb)(qemu_plugin_id_t id, void *userdata);

typedef void (*qemu_simple_cb)(qemu_plugin_id_t id);
/* Takes all callbacks back and has everything translated anew, when the vcpu that calls this is between two blocks;
 * calls `cb` then. */
void qemu_plugin_reset(qemu_plugin_id_t id, qemu_simple_cb cb);

/* Not part of the API, but QEMU 7 and 8 export them: a CPU by its index (NULL: none), and what QEMU calls when a CPU
 * leaves a block, so that functions of QEMU's own report no accesses. */
void *qemu_get_cpu(int index) __attribute__((weak));
void qemu_plugin_disable_mem_helpers(void *cpu) __attribute__((weak));
/* … the flags by which a CPU's code is looked up, and what makes it leave its translated code at the next block. */
uint32_t curr_cflags(void *cpu) __attribute__((weak));
void cpu_exit(void *cpu) __attribute__((weak));
/* The path of the program; the caller frees it. Only where code is translated or executed; older ones lack it. */
char *qemu_plugin_path_to_binary(void) __attribute__((weak));
void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id, qemu_vcpu_cb cb);
void qemu_plugin_register_vcpu_exit_cb(qemu_plugin_id_t id, qemu_vcpu_cb cb);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_tb_trans_cb cb);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, qemu_exec_cb cb, int flags, void *userdata);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_mem_cb cb, int flags, int rw, void *userdata);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id, qemu_syscall_cb cb);
void qemu_plugin_register_vcpu_syscall_ret_cb(qemu_plugin_id_t id, qemu_syscall_ret_cb cb);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_atexit_cb cb, void *userdata);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn);
unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv);
QEMU_PLUGIN_EXPORT extern int qemu_plugin_version;

#endif
