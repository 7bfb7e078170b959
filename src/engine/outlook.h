/* Where a thread stands that waits at its gate, while what it wrote is still being read.
 *
 * The reader can be a ring of words behind a thread. Where regions lie by the count of instructions, the words say at which count the
 * thread waits long before the sink has seen them: blocks are counted as streams count them (stream.c), and nothing else is done. A word
 * whose meaning depends on more than that (a signal, a block that did not complete, code that is not known yet) ends the look: the
 * thread then waits until it has been read. Words are looked at once.
 */
#ifndef AS_ENGINE_OUTLOOK_H
#define AS_ENGINE_OUTLOOK_H

#include <stdbool.h>
#include <stdint.h>

struct as_stream;

struct as_outlook {
    uint32_t thread;      /* whose; 0: nobody's */
    uint64_t position;    /* words of its lane before it have been looked at */
    uint64_t count;       /* instructions of the run before the block at hand */
    bool inside;          /* there is a block at hand, which has not ended: */
    uint32_t block;       /* its number */
    bool continues;       /* it goes on with a rep instruction */
    uint64_t rep_address; /* the rep instruction that was executed last; 0: another one was */
};

/* What a thread has published: words of a ring, by their positions since the lane was claimed. */
struct as_outlook_words {
    const uint64_t *ring;
    uint64_t length;        /* of the ring */
    uint64_t read, written; /* up to where the stream has consumed them, and up to where they are there */
};

/* Looks at all words; no other thread runs. Returns false if they do not say where the thread is. */
bool as_outlook_look(struct as_outlook *outlook, const struct as_stream *stream, const struct as_outlook_words *words);

#endif
