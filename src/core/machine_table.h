/* The keys of a machine file: one row a field, and text to and from each. Private to the machine sources. */
#ifndef AS_CORE_MACHINE_TABLE_H
#define AS_CORE_MACHINE_TABLE_H

#include "core/machine.h"

enum as_field_kind {
    AS_FIELD_COUNT, /* a whole number, decimal or hexadecimal */
    AS_FIELD_BYTES, /* likewise, a decimal one with K, M or G behind it if need be */
    AS_FIELD_LOG2,  /* a power of two in the file, its logarithm in the machine; min and max are logarithms */
    AS_FIELD_YESNO,
    AS_FIELD_HERTZ, /* 3.2GHz */
    AS_FIELD_NS,    /* 14ns */
    AS_FIELD_RATE,  /* 25.6GB/s */
    AS_FIELD_TEXT,
    AS_FIELD_CHOICE, /* one of a few words; their number, from 0, in the machine */
};

enum as_field_flag {
    AS_FIELD_REQUIRED = 1 << 0,
    AS_FIELD_POWER2 = 1 << 1, /* 0 passes too where min allows it */
    AS_FIELD_TABLES = 1 << 2, /* a list: one value for each of predictor.tage_tables, or one for all */
};

struct as_field {
    const char *key;
    enum as_field_kind kind;
    uint32_t flags;   /* enum as_field_flag */
    size_t offset;    /* in struct as_machine */
    double min, max;  /* in the machine's own unit; texts: max is the size of the buffer */
    double otherwise; /* the default of one that is not required */
    const char *meaning;
    const char *words; /* of a choice, separated by spaces; otherwise NULL */
};

extern const struct as_field as_fields[];
extern const size_t as_fields_count;

/* NULL where no key has this name. */
const struct as_field *as_field_find(const char *key);
/* The key that was probably meant, or NULL. */
const struct as_field *as_field_guess(const char *key);
/* "1 to 4096", "a power of two from 1 to 64K", "yes or no" … */
const char *as_field_allowed(const struct as_field *field, char *text, size_t size);

/* "; did you mean 64K?" where the unit is written in other letters; else "". */
const char *as_field_hint(const struct as_field *field, const char *value, char *text, size_t size);

/* Sets the field from its text; false where the text is not one of the allowed values. */
bool as_field_parse(const struct as_field *field, struct as_machine *machine, const char *text);
void as_field_default(const struct as_field *field, struct as_machine *machine);
bool as_field_in_range(const struct as_field *field, const struct as_machine *machine);
/* The text that as_field_parse turns into the same value. */
const char *as_field_text(const struct as_field *field, const struct as_machine *machine, char *text, size_t size);

#endif
