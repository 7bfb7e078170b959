/* The reader of `perf script` text between its files: perf_script.c the lines and samples, perf_script_frames.c what
 * follows the event and the frames, perf_script_plain.c the columns of lines without an event. */
#ifndef AS_PERFDATA_PERF_SCRIPT_INSIDE_H
#define AS_PERFDATA_PERF_SCRIPT_INSIDE_H

#include "perfdata/perf_script_words.h"
#include "perfdata/perf_session.h"

struct script {
    struct as_perf_reader *reader;
    bool open, chained; /* a sample is open; frames follow it */
    bool plain;         /* the open sample has neither an event nor a time … */
    uint64_t n_plain;   /* … like so many before it */
    bool bare;          /* the text is addresses with symbols … */
    bool begun, gap;    /* … as far as it has begun; an empty line came last */
    bool mixed;         /* … but not only that */
    bool lone;          /* the open sample's first frame is a number without a symbol: no frame if others follow */
    bool eventless;     /* the open sample has no event of its own, but … */
    unsigned columns;   /* … these columns … */
    unsigned first;     /* … and the first such sample had those; 0: none yet */
    bool uneven, unclear;
    bool junk;         /* the last line with something in it is neither a sample's nor a frame */
    const char *event; /* of a plain sample; NULL: none */
    struct as_perf_sample sample;
    AS_VEC(struct as_perf_frame) frames;
    AS_VEC(struct as_perf_branch) branches;
};

static inline const char *keep_word(struct as_perf_reader *reader, struct word word)
{
    return as_perf_keep(reader, word.start, word.length);
}

/* Adds the frame "ip symbol+0xoff (module)" to the open sample. Returns false if it is none. Modifies `line`. */
bool as_script_add_frame(struct script *script, char *line);
/* Reads what follows the event: addresses, the data source, the frame of the sample, branches. Modifies `text`. */
void as_script_read_rest(struct script *script, char *text);

#endif
