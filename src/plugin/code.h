/* Reports code to the reader: processes, modules, translated blocks; and forwards QEMU's messages. */
#ifndef AS_PLUGIN_CODE_H
#define AS_PLUGIN_CODE_H

#include "plugin/qemu_plugin_api.h"

#include <stdint.h>

void as_code_setup(void);
void as_code_lock_for_fork(void);
void as_code_unlock_after_fork(void);
void as_code_start_process(uint32_t parent); /* claims the code lane and announces the process; also after a fork */
uint32_t as_code_report_block(const struct qemu_plugin_tb *tb, size_t n, bool recorded); /* returns the block's id */
void as_code_report_execute(const char *path, bool followed);
void as_code_maps_changed(void); /* the program mapped or unmapped something */
void as_code_capture_stderr(void);

#endif
