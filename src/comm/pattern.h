/* The shape of a communication matrix: what to call it, and an order of the threads that puts those together that talk to
 * each other. */
#ifndef AS_COMM_PATTERN_H
#define AS_COMM_PATTERN_H

#include "comm/pair_matrix.h"

enum as_pattern {
    AS_PATTERN_NONE,      /* nobody communicates */
    AS_PATTERN_PAIR,      /* only two threads do */
    AS_PATTERN_MASTER,    /* all with one */
    AS_PATTERN_NEIGHBOUR, /* with the next and the one before, by number */
    AS_PATTERN_PAIRS,     /* each with one other */
    AS_PATTERN_GROUPS,    /* within groups */
    AS_PATTERN_ALL,       /* everybody with everybody */
    AS_PATTERN_IRREGULAR,
    AS_PATTERN_START /* no more transfers than threads take to start and end */
};

struct as_pattern_found {
    enum as_pattern pattern;
    size_t master;  /* AS_PATTERN_MASTER: which thread */
    size_t groups;  /* AS_PATTERN_PAIRS, AS_PATTERN_GROUPS: how many */
    size_t threads; /* that communicate */
    double share;   /* of all communication that fits the pattern */
};

/* A pattern holds where at least so much of the communication fits. */
#define AS_PATTERN_SHARE 0.8

/* Starting and ending a thread moves some 30 to 60 lines with glibc: stacks, thread-local data, relocations, barriers. So few
 * say nothing about what a program shares. */
enum { AS_PATTERN_THREAD = 100 };

struct as_pattern_found as_pattern_find(const struct as_pair_matrix *matrix);
/* The same of a run with so many transfers, whose processes have started so many threads. */
struct as_pattern_found as_pattern_of_run(const struct as_pair_matrix *matrix, uint64_t transfers, size_t started);
const char *as_pattern_name(enum as_pattern pattern); /* "nearest neighbour" */
/* `order`: room for matrix->n places; order[i] is the thread that comes i-th. */
void as_pattern_order(const struct as_pair_matrix *matrix, uint32_t *order);

#endif
