/* Names for stacks. A *location* is a position in one real function: an instruction, or a function without further
 * detail. A location has one line for each function there, inlined ones first, innermost to outermost. Each line is a
 * *frame* (name, file, module) with a line number. */
#ifndef AS_EXPORT_FRAMES_H
#define AS_EXPORT_FRAMES_H

#include "base/map.h"
#include "export/export_view.h"

enum {
    AS_EXPORT_DEPTH = 512,  /* most locations of a stack that are written: the innermost */
    AS_EXPORT_INLINES = 64, /* most lines of a location: the innermost, and the real function */
};

struct as_export_frame {
    const char *name, *linkage_name, *file; /* file: NULL if unknown */
    uint32_t line;                          /* where it is defined; 0: unknown */
    uint32_t module;
    uint32_t name_number; /* equal for equal names */
};

struct as_export_line {
    uint32_t frame, line;
};

struct as_export_location {
    uint64_t address;
    uint32_t module, function, instruction; /* any may be AS_STORE_NONE */
    uint32_t first, n;                      /* lines */
};

struct as_export_frames {
    const struct as_export_view *view;
    struct as_strings *names; /* the names of all frames */
    AS_VEC(struct as_export_frame) frames;
    AS_VEC(struct as_export_line) lines;
    AS_VEC(struct as_export_location) locations;
    struct as_map by_instruction, by_entry; /* to location + 1; by_entry: hash of function and address */
    struct as_map by_function, by_inline;   /* to frame + 1 */
};

void as_export_frames_open(struct as_export_frames *frames, const struct as_export_view *view);
void as_export_frames_free(struct as_export_frames *frames);

/* Returns the frame of a real function or, if `function` is NONE, of a module's code outside functions. */
uint32_t as_export_function_frame(struct as_export_frames *frames, uint32_t function, uint32_t module);

/* Returns the number of a location, which is created on first use. */
uint32_t as_export_location_at(struct as_export_frames *frames, uint32_t instruction);
/* The location in the calling function at which `path` is called. `path` must have a parent. */
uint32_t as_export_location_of_call(struct as_export_frames *frames, uint32_t path);

/* Writes the locations of a cell's stack, innermost first. Returns how many there are, from 1 to AS_EXPORT_DEPTH; a
 * deeper stack loses its outer frames. */
size_t as_export_stack(struct as_export_frames *frames, const struct as_export_cell *cell, uint32_t *locations);

/* "/bin/demo" becomes "demo"; "[unknown]" without a module. */
const char *as_export_module_name(const struct as_export_view *view, uint32_t module);
/* The name of a thread for people: "main", "thread 3". */
void as_export_thread_name(const struct as_export_view *view, uint32_t thread, char *text, size_t size);

#endif
