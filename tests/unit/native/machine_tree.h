/* A made-up machine for tests: a directory that stands for /, with the files of /proc and /sys that are put into it. */
#ifndef AS_TESTS_MACHINE_TREE_H
#define AS_TESTS_MACHINE_TREE_H

extern char machine_root[64]; /* "" before the first set-up */

/* As set-up and tear-down of a test. */
int machine_set_up(void **state);
int machine_tear_down(void **state);

/* Writes a file: of the machine ("/proc/cpuinfo"), or of its event sources ("cpu/type"). */
void machine_put(const char *path, const char *text);

#endif
