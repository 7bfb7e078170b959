/* assay points sweep: the error of simulation points by how they are chosen. See points_sweep.c. */
#ifndef AS_CMD_POINTS_SWEEP_H
#define AS_CMD_POINTS_SWEEP_H

#include "cmd/points.h"

/* After vectors were taken and points were chosen: runs the program in the model and prints text, CSV or JSON. */
bool as_points_sweep(struct as_points_session *session, FILE *out, struct as_error *err) AS_MUST_CHECK;

#endif
