/* Shared by the parts of a sampled run: sampled.c (plan, strata), sampled_result.c (the estimate), sampled_threads.c
 * (its threads), points_run.c (simulation points instead of strata). */
#ifndef AS_RECORD_SAMPLED_INTERNAL_H
#define AS_RECORD_SAMPLED_INTERNAL_H

#include "record/sampled.h"
#include "record/sampled_counts.h"

/* The measurements of an instruction, summed over threads. Each iteration of a rep instruction counts as an execution here and
 * in a stratum's counts: one that copies 64 KiB takes a thousand times as long as one that copies 64 bytes. */
struct as_sampled_cost {
    double units[AS_STATE_COUNT], executions;
};
typedef AS_VEC(struct as_sampled_cost) as_sampled_costs; /* by id */
typedef AS_VEC(double) as_sampled_numbers;               /* by id */

/* A stratum that is being measured, or waits to be added to the estimate. */
struct as_stratum {
    bool full;                  /* measured in full: the head */
    as_sampled_costs costs;     /* of its regions */
    as_sampled_numbers counts;  /* exact executions in the whole stratum … */
    as_sampled_numbers again;   /* … of these, further iterations of rep instructions */
    struct as_pics pics, paths; /* of its regions */
    struct as_group_sums {
        as_sampled_numbers units, executions;
        as_sampled_numbers paths; /* units by path */
        double reads;             /* of DRAM */
    } groups[AS_SAMPLED_GROUPS];
    struct as_counters counters;
    uint64_t instructions; /* in the whole stratum */
    uint64_t iterations;   /* further ones, in the whole stratum … */
    uint64_t timed;        /* … and in its regions */
    uint32_t regions;
    uint64_t reads; /* of DRAM, in the whole stratum */
    /* Of simulation points, which stand for the whole run: those that have the instruction. Costs, pics and counters have the points'
     * weights then. */
    as_sampled_numbers points;
    struct as_stratum_parts parts;
};

/* A part of a stack, as a number that can be scaled. */
struct as_sampled_part {
    uint32_t id, events;
    double units, count;
};
typedef AS_VEC(struct as_sampled_part) as_sampled_parts;

struct as_warming;
struct as_points_run;

struct as_sampled {
    struct as_sampled_options options;
    struct as_warming *warming;   /* NULL: the length of warming was given */
    struct as_points_run *points; /* NULL: systematic samples */
    AS_VEC(double) training;      /* as_model_training of regions since its length was last changed … */
    bool trained_longer;          /* … and it has been made longer before */
    struct as_regions regions;
    const struct as_modelled *modelled;
    /* Exact counts of the open stratum: whole blocks, and instructions of blocks that were cut. */
    AS_VEC(uint64_t) runs;
    AS_VEC(const struct as_block *) blocks;
    as_sampled_numbers cut;
    as_sampled_numbers again; /* further iterations */
    uint64_t executed;
    struct as_sampled_counts thread_counts; /* of the whole run */
    /* Blocks that were executed since the last region, in what settles or is measured: those whose costs have changed. */
    enum as_mode mode;
    AS_VEC(bool) timed;
    AS_VEC(const struct as_block *) timed_blocks;
    as_sampled_numbers timed_again; /* further iterations in what is measured */
    /* The Oracle's state at the end of the last region, and of the last stratum. */
    as_sampled_costs seen;
    struct as_pics seen_pics, seen_paths;
    as_sampled_numbers seen_path_units; /* by path, at the end of the last region */
    struct as_stratum open, waiting;
    bool waits; /* there is a waiting one */
    uint32_t last_region;
    uint64_t seen_reads;                       /* of DRAM, at the end of the last stratum */
    struct as_map seen_parts, seen_path_parts; /* components with events by instruction and by path, likewise */
    /* The estimate. */
    as_sampled_costs costs;
    as_sampled_parts parts, path_parts;
    as_sampled_numbers counts, counts_again;
    as_sampled_numbers replicates[AS_SAMPLED_GROUPS];
    struct as_replicate_parts replicate_parts;
    as_sampled_numbers head;                    /* units in the head */
    as_sampled_numbers path_head, path_regions; /* by path: units in the head, and in regions, multiplied … */
    as_sampled_numbers path_replicates[AS_SAMPLED_GROUPS]; /* … and without a group, for what these stand for */
    as_sampled_numbers extended;                           /* units of regions, multiplied like paths */
    as_sampled_numbers guessed;                            /* time in strata of which no region has the instruction */
    struct as_counters counters;
    double unseen_reads; /* of DRAM, that the estimate has too few or too many of, beyond chance */
    struct as_sampled_summary summary;
    /* The estimate as rows of threads. */
    AS_VEC(struct as_sampled_thread {
        uint32_t number;
        AS_VEC(struct as_sampled_row {
            uint32_t id;
            double weight; /* the thread's part of the instruction's time, next to those of other threads */
            struct as_oracle_row row;
        })
        rows; /* by id */
        struct as_pics pics;
    })
    threads;
    size_t n; /* ids */
    struct as_pics paths;
};

static inline double as_sampled_at(const as_sampled_numbers *numbers, size_t id)
{
    return id < numbers->len ? numbers->data[id] : 0;
}

/* How often an instruction was executed in all of the run, whatever its iterations. */
static inline double as_sampled_instructions(const struct as_sampled *sampled, size_t id)
{
    return as_sampled_at(&sampled->counts, id) - as_sampled_at(&sampled->counts_again, id);
}

static inline double as_sampled_units(const struct as_sampled_cost *cost)
{
    double sum = 0;
    for (int state = 0; state < AS_STATE_COUNT; state++)
        sum += cost->units[state];
    return sum;
}

enum {
    AS_STRATUM_REGIONS = 500, /* regions of a stratum */
    AS_STRATUM_POINTS = 5, /* simulation points that make an instruction's cost known, however often it was executed */
};

/* Instructions that fill the pipeline before a region of this length. */
uint64_t as_sampled_settle(uint64_t length);
/* Tries several lengths of warming in the head, and sets that of all regions. After as_sampled.modelled was set. */
struct as_warming *as_warming_new(struct as_sampled *sampled);
void as_warming_free(struct as_warming *warming); /* NULL is fine */
/* Replaces the largest and the smallest values, a tenth each, by those that are next to them. Sorts. */
void as_sampled_clip(double *values, size_t n);
/* Determines how long predictors are trained before a region: when the run begins, and after each region. */
void as_sampled_begin_training(struct as_sampled *sampled);
void as_sampled_adapt_training(struct as_sampled *sampled);

void as_sampled_numbers_add(as_sampled_numbers *numbers, size_t id, double more);
/* Adds counters of a part of the run, for so many times as much. */
void as_sampled_add_counters(struct as_counters *to, const struct as_counters *from, double factor);
/* Adds a stratum to the estimate. */
void as_stratum_fold(struct as_sampled *sampled, const struct as_stratum *stratum);
/* The same of the simulation points, whose paths are there already. */
void as_stratum_fold_points(struct as_sampled *sampled, const struct as_stratum *stratum);
void as_stratum_free(struct as_stratum *stratum);
/* Divides the estimate between the threads. */
void as_sampled_make_threads(struct as_sampled *sampled);
/* Converts the estimate to rows. */
void as_sampled_make_rows(struct as_sampled *sampled);

#endif
