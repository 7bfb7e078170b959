/* Main memory: banks with an open row each, one data bus, and a controller with a queue.
 *
 * A read of the open row takes CAS, of a bank with no row open RCD + CAS, of a bank with another row open RP + RCD +
 * CAS; then the line goes over the bus, which takes line / bandwidth; the controller's overhead comes on top. Rows stay
 * open until another one is needed. A read whose row is open goes ahead of those that wait for another row of the bank,
 * and delays none of them. Writes are buffered and drained in batches in real controllers: here they take a queue entry
 * and their time on the bus, but open no rows.
 *
 * Not modelled: refresh, limits on activations (tRAS, tFAW), turn-around of the bus, channels (all banks share one bus
 * of the whole bandwidth), power states.
 */
#ifndef AS_CORE_DRAM_H
#define AS_CORE_DRAM_H

#include "core/machine.h"
#include "core/slots.h"

/* What a bank remembers of when it had which row open. */
enum { AS_DRAM_ROWS = 8 };

struct as_dram_row {
    uint64_t row;    /* + 1; 0: none */
    uint64_t open;   /* from when on it belongs to this row: precharge or activation begins */
    uint64_t column; /* first column access */
    uint64_t busy;   /* end of its last transfer */
};

struct as_dram {
    uint32_t cas, rcd, rp, overhead; /* cycles */
    uint32_t row_shift, bank_shift, bank_mask;
    struct as_dram_row (*banks)[AS_DRAM_ROWS]; /* each: ascending, the latest last */
    struct as_dram_row past;                   /* for a read from before all of them */
    struct as_bus bus;                         /* in 1/256 cycles */
    struct as_slots queue;
    uint64_t reads, writes, row_hits;
    uint64_t warm_reads; /* without time */
};

void as_dram_init(struct as_dram *dram, const struct as_machine *machine);
void as_dram_free(struct as_dram *dram);

/* The request for a line reaches the controller at `cycle`; returns when the whole line is back. */
uint64_t as_dram_read(struct as_dram *dram, uint64_t cycle, uint64_t line);
/* Nobody waits for a write. */
void as_dram_write(struct as_dram *dram, uint64_t cycle);
/* Of a read that nothing delays, from a bank with another row open. */
uint64_t as_dram_latency(const struct as_dram *dram);
/* A read without time: its row is the open one of its bank. */
void as_dram_warm(struct as_dram *dram, uint64_t line);
/* Which rows are open in another memory of the same kind. */
void as_dram_copy_rows(struct as_dram *to, const struct as_dram *from);

#endif
