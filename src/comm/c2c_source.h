/* What the data source of a sample counts as in the terms of perf c2c. */
#ifndef AS_COMM_C2C_SOURCE_H
#define AS_COMM_C2C_SOURCE_H

#include "comm/c2c.h"

/* Adds one record to `counts`. False: the sample has no address, or is neither a load nor a store: it belongs to no line. */
bool as_c2c_decode(uint64_t data_src, uint64_t address, struct as_c2c_counts *counts);

#endif
