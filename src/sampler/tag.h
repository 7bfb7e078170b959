/* Tagging: an instruction is marked on its way into the pipeline and followed to its commit. What IBS, SPE and RIS do.
 *
 * The next one that passes the stage after the sampled cycle gets the tag. On a wrong path it never commits: the tag is
 * lost when it is squashed, and the sample with it.
 */
#ifndef AS_SAMPLER_TAG_H
#define AS_SAMPLER_TAG_H

#include "sampler/sampler.h"

struct as_tag {
    const struct as_pipe *pipe; /* NULL: on a wrong path, or nothing came any more */
    uint64_t end;               /* the cycle in which it commits or is squashed */
};

/* At dispatch, and at fetch. Only AS_SAMPLE_TAKEN fills `tag`. */
enum as_verdict as_tag_dispatch(const struct as_query *query, struct as_tag *tag);
enum as_verdict as_tag_fetch(const struct as_query *query, struct as_tag *tag);

/* The sample of a sampler that has one tag: one that falls due while an instruction has it is dropped. */
enum as_verdict as_tag_take(const struct as_query *query,
                            enum as_verdict (*tag)(const struct as_query *query, struct as_tag *tag),
                            struct as_attribution *sample);

#endif
