/* What the symbol tests share: mapping an ELF file into a space, and reading the output of other tools. */
#ifndef AS_TESTS_SAMPLE_TOOLS_H
#define AS_TESTS_SAMPLE_TOOLS_H

#include "symbol/space.h"

#include <stdint.h>

/* Maps the segments of an ELF file at `bias`, as a loader would. */
void sample_map(struct as_space *space, const char *path, uint64_t bias);

struct sample_section {
    uint64_t address, size;
};
/* The section with this name; size 0 where there is none. */
struct sample_section sample_section(const char *path, const char *name);

/* Runs a command and calls `line` with each line of its output (without the newline). Returns its exit status. */
int sample_run(const char *command, void (*line)(void *context, char *text), void *context);

/* The symbols that `nm` tells: code only. */
struct sample_symbol {
    uint64_t address, size;
    char type;
    char *name; /* without version */
    bool versioned, hidden_version;
};
struct sample_symbols {
    struct sample_symbol *data;
    size_t len, cap;
};
void sample_nm(struct sample_symbols *symbols, const char *nm, const char *options, const char *path);
void sample_symbols_free(struct sample_symbols *symbols);
/* Whether the two are names of one address. */
bool sample_is_alias(const struct sample_symbols *symbols, const char *a, const char *b);

#endif
