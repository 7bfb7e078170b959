/* The commands: one declaration each, beside one line in the table of main.c. */
#ifndef AS_CMD_COMMANDS_H
#define AS_CMD_COMMANDS_H

#include "cmd/cli.h"

extern const struct as_command as_command_annotate;
extern const struct as_command as_command_blocks;
extern const struct as_command as_command_doctor;
extern const struct as_command as_command_comm;
extern const struct as_command as_command_compare;
extern const struct as_command as_command_record;
extern const struct as_command as_command_report;
extern const struct as_command as_command_reuse;
extern const struct as_command as_command_export;
extern const struct as_command as_command_import;
extern const struct as_command as_command_merge;
extern const struct as_command as_command_jobs;
extern const struct as_command as_command_points;
extern const struct as_command as_command_remedy;
extern const struct as_command as_command_script;
extern const struct as_command as_command_stat;
extern const struct as_command as_command_trust;
extern const struct as_command as_command_whatif;

#endif
