/* Main memory as times. Each bank keeps its latest rows with the time at which each was opened, so that a read from
 * an earlier cycle than the one before it finds the row that was open then. */
#include "core/dram.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

enum { BUS_SHIFT = 8 };

static uint32_t cycles_of(double ns, double frequency)
{
    return (uint32_t)(ns * frequency / 1e9 + 0.5);
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void as_dram_init(struct as_dram *dram, const struct as_machine *machine)
{
    double transfer = machine->memory.line / machine->dram.bandwidth * machine->frequency;
    *dram = (struct as_dram){
        .cas = cycles_of(machine->dram.cas_ns, machine->frequency),
        .rcd = cycles_of(machine->dram.rcd_ns, machine->frequency),
        .rp = cycles_of(machine->dram.rp_ns, machine->frequency),
        .overhead = cycles_of(machine->dram.overhead_ns, machine->frequency),
        .row_shift = (uint32_t)__builtin_ctz(machine->dram.row_bytes / machine->memory.line),
        .bank_shift = (uint32_t)__builtin_ctz(machine->dram.banks),
        .bank_mask = machine->dram.banks - 1,
        .banks = as_alloc_array(machine->dram.banks, sizeof *dram->banks),
        .bus.length = later((uint64_t)(transfer * (1 << BUS_SHIFT) + 0.5), 1),
    };
    as_slots_init(&dram->queue, machine->dram.queue);
}

void as_dram_free(struct as_dram *dram)
{
    free(dram->banks);
    as_slots_free(&dram->queue);
}

/* Neighbouring rows lie in different banks; higher bits are folded in so that arrays that are a power of two apart do
 * not all meet in one bank. */
static struct as_dram_row *bank_of(struct as_dram *dram, uint64_t row)
{
    uint64_t bank = row ^ row >> dram->bank_shift ^ row >> 2 * dram->bank_shift;
    return dram->banks[bank & dram->bank_mask];
}

/* A new row behind row `at` of its bank; the oldest is forgotten. */
static struct as_dram_row *insert_row(struct as_dram *dram, struct as_dram_row *bank, int at)
{
    struct as_dram_row *place = &dram->past; /* older than all that are remembered */
    if (at >= 0) {
        memmove(bank, bank + 1, (size_t)at * sizeof *bank);
        place = &bank[at];
    }
    return place;
}

/* … with its times: word by word, because the host cannot read at once as a whole what was written in parts. */
static struct as_dram_row *open_row(struct as_dram *dram, struct as_dram_row *bank, int at, uint64_t row, uint64_t open,
                                    uint64_t column)
{
    struct as_dram_row *place = insert_row(dram, bank, at);
    place->row = row + 1;
    place->open = open;
    place->column = column;
    place->busy = 0;
    return place;
}

/* The row's entry with the time of its first column access, for a read at `cycle`. A row that opens at a later cycle
 * than `cycle` is left alone where there is time for another one before it. */
static struct as_dram_row *find_row(struct as_dram *dram, struct as_dram_row *bank, uint64_t cycle, uint64_t row)
{
    int at = AS_DRAM_ROWS - 1;
    while (at >= 0 && bank[at].open > cycle)
        at--;
    for (;; at++) {
        if (at >= 0 && bank[at].row == row + 1) {
            dram->row_hits++;
            return &bank[at];
        }
        bool closed = at >= 0 && !bank[at].row;
        uint64_t open = at >= 0 ? later(cycle, bank[at].busy) : cycle;
        uint64_t column = open + (closed ? 0 : dram->rp) + dram->rcd;
        uint64_t end = column + dram->cas + (dram->bus.length >> BUS_SHIFT);
        if (at == AS_DRAM_ROWS - 1 || end <= bank[at + 1].open)
            return open_row(dram, bank, at, row, open, column);
    }
}

uint64_t as_dram_read(struct as_dram *dram, uint64_t cycle, uint64_t line)
{
    dram->reads++;
    cycle = as_slots_admit(&dram->queue, cycle);
    uint64_t row = line >> dram->row_shift;
    struct as_dram_row *open = find_row(dram, bank_of(dram, row), cycle, row);
    uint64_t data = (later(cycle, open->column) + dram->cas) << BUS_SHIFT;
    data = as_bus_reserve(&dram->bus, data);
    uint64_t end = (data + dram->bus.length + (1 << BUS_SHIFT) - 1) >> BUS_SHIFT;
    open->busy = later(open->busy, end);
    as_slots_hold(&dram->queue, cycle, (data >> BUS_SHIFT) - dram->cas);
    return end + dram->overhead;
}

void as_dram_write(struct as_dram *dram, uint64_t cycle)
{
    dram->writes++;
    cycle = as_slots_admit(&dram->queue, cycle);
    uint64_t data = as_bus_reserve_about(&dram->bus, cycle << BUS_SHIFT);
    as_slots_hold(&dram->queue, cycle, data >> BUS_SHIFT);
}

uint64_t as_dram_latency(const struct as_dram *dram)
{
    return dram->rp + dram->rcd + dram->cas + (dram->bus.length >> BUS_SHIFT) + dram->overhead;
}

void as_dram_warm(struct as_dram *dram, uint64_t line)
{
    uint64_t row = line >> dram->row_shift;
    dram->warm_reads++;
    struct as_dram_row *bank = bank_of(dram, row), latest = bank[AS_DRAM_ROWS - 1];
    if (latest.row == row + 1)
        return;
    latest.row = row + 1; /* at the time of the one before it: it is open already */
    *insert_row(dram, bank, AS_DRAM_ROWS - 1) = latest;
}

void as_dram_copy_rows(struct as_dram *to, const struct as_dram *from)
{
    for (size_t bank = 0; bank <= from->bank_mask; bank++) {
        memset(to->banks[bank], 0, sizeof to->banks[bank]);
        to->banks[bank][AS_DRAM_ROWS - 1].row = from->banks[bank][AS_DRAM_ROWS - 1].row;
    }
}
