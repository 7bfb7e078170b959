/* The Oracle's state, and what its two ways share: records one by one (oracle.c), and blocks whose times are known
 * (oracle_edges.c). Private to oracle*.c. */
#ifndef AS_OBSERVE_ORACLE_STREAM_H
#define AS_OBSERVE_ORACLE_STREAM_H

#include "assay/edge.h"
#include "base/vec.h"
#include "observe/oracle.h"
#include "observe/oracle_table.h"

/* The members of a commit group: a rep instruction once, however many iterations. */
struct as_oracle_group {
    uint32_t n, ids[AS_GROUP_MAX], paths[AS_GROUP_MAX], events[AS_GROUP_MAX];
};

/* The commit group that an edge ends with, as far as it lies behind the edge: perhaps all of a block, then the first
 * records of another. */
struct as_oracle_sequel {
    const struct as_edge *whole, *next; /* whole: NULL where there is none */
    uint32_t whole_path, next_path;
    uint64_t times; /* that it came, whose cycles are not charged yet */
};
enum { AS_ORACLE_SEQUELS = 4 };

/* How often a thread went along an edge. Its instructions and its path are charged when that is no longer counted. */
struct as_oracle_tally {
    const struct as_edge *edge; /* NULL: never */
    uint64_t runs;              /* not charged to instructions yet */
    uint64_t path_runs;         /* … to the path: the last so many had … */
    uint32_t path;              /* … this one */
    uint32_t oldest;            /* sequel, to be replaced next */
    struct as_oracle_sequel sequels[AS_ORACLE_SEQUELS];
};

struct as_oracle_stream {
    struct as_oracle_thread thread;
    struct as_oracle_table rows;
    struct as_pipe last;            /* the record before the batch; all 0 where there is none */
    struct as_oracle_group carried; /* the group that it belongs to; its own cycle is not charged yet */
    uint64_t continuing;            /* records that are not executions of their own */
    bool disordered;
    uint64_t crowded;                       /* a cycle in which more committed than can; 0: none */
    AS_VEC(struct as_oracle_tally) tallies; /* by edge */
    AS_VEC(uint32_t) tallied;               /* edges that have one: few, where regions are short */
    uint32_t open;                          /* number of the edge + 1 whose last group is the carried one; 0: none */
    const struct as_edge *whole;            /* the block behind it, all of which is of that group too; NULL: none */
    uint32_t whole_path;
};

struct as_oracle {
    struct as_oracle_table paths, merged;    /* the rows of threads that have none of their own any more */
    AS_VEC(struct as_oracle_stream) streams; /* by thread number */
    AS_VEC(struct as_oracle_thread) threads;
    struct as_thread_limit limit;
    struct as_stall_lengths unexplained;
    uint64_t shares[AS_GROUP_MAX + 1]; /* of a cycle, by the size of the group */
    uint32_t kept, shown;              /* events */
    uint32_t most;                     /* that can commit in a cycle */
    bool finished;
    bool noting;                               /* as_oracle_note_parts */
    struct as_oracle_rows all_rows, all_paths; /* once it is finished */
};

/* Charges units to a row, and to its component. */
static inline void as_oracle_charge_row(struct as_oracle_table *table, uint32_t id, enum as_state state,
                                        uint32_t events, uint64_t units)
{
    struct as_oracle_row *row = &as_oracle_page_at(table, id)->rows[id % AS_PAGE_ROWS];
    row->units[state] += units;
    if (events == 0)
        row->base += units;
    else
        as_oracle_part_add(table, id, events, units, 0);
}

/* `times` more records of a row: how often it was executed, and met its events. */
static inline void as_oracle_count_record(struct as_oracle_table *table, uint32_t id, uint32_t events, bool continues,
                                          uint64_t times)
{
    struct as_oracle_page *page = as_oracle_page_at(table, id);
    page->rows[id % AS_PAGE_ROWS].executions += continues ? 0 : times;
    page->continued[id % AS_PAGE_ROWS] += continues ? times : 0;
    if (events)
        as_oracle_part_add(table, id, events, 0, times);
}

struct as_oracle_stream *as_oracle_stream_of(struct as_oracle *oracle, uint32_t number);
/* Another record is of the group. */
void as_oracle_join(struct as_oracle *oracle, struct as_oracle_stream *stream, struct as_oracle_group *group,
                    const struct as_pipe *pipe);
/* Charges the cycle in which they commit, `times` times, and forgets the group. */
void as_oracle_settle(struct as_oracle *oracle, struct as_oracle_stream *stream, struct as_oracle_group *group,
                      uint64_t times);
/* Records that follow one another. */
void as_oracle_add_records(struct as_oracle *oracle, struct as_oracle_stream *stream, const struct as_pipe *pipes,
                           size_t n);
/* The thread is over. */
void as_oracle_end_stream(struct as_oracle *oracle, struct as_oracle_stream *stream);

/* ---- oracle_edges.c ---- */

void as_oracle_edges(void *self, const struct as_edge_batch *batch);
/* Puts the group of the open edge into `carried`. */
void as_oracle_carry(struct as_oracle *oracle, struct as_oracle_stream *stream);
/* Charges what the thread's edges were counted for. */
void as_oracle_charge_edges(struct as_oracle *oracle, struct as_oracle_stream *stream);
void as_oracle_forget(void *self);

#endif
