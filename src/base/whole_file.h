/* Files that are small enough to be read as a whole. */
#ifndef AS_BASE_WHOLE_FILE_H
#define AS_BASE_WHOLE_FILE_H

#include <stddef.h>

/* The bytes of the file at `path`, and a NUL behind them; the caller frees. Reads at most `most` bytes and one more: if
 * *size is larger than `most`, the file is. NULL: it cannot be read, errno has the reason. */
char *as_whole_file(const char *path, size_t most, size_t *size) __attribute__((warn_unused_result));

#endif
