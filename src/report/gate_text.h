/* Writers of a gate's result (view/gate.h): a line for a terminal, Markdown for a comment on a change, JUnit XML for the
 * test page of a CI server, JSON. */
#ifndef AS_REPORT_GATE_TEXT_H
#define AS_REPORT_GATE_TEXT_H

#include "base/json.h"
#include "view/gate.h"

#include <stdio.h>

void as_gate_text(const struct as_gate_result *result, const struct as_diff *diff, FILE *out);
/* Writes the verdict and the rows that changed most. */
void as_gate_markdown(const struct as_gate_result *result, const struct as_diff *diff, FILE *out);
void as_gate_junit(const struct as_gate_result *result, const struct as_diff *diff, FILE *out);
/* … of profiles that could not be read, or count different things. */
void as_gate_refuse_markdown(const char *why, FILE *out);
void as_gate_refuse_junit(const char *why, FILE *out);
void as_gate_json(const struct as_gate_result *result, const struct as_diff *diff, struct as_json *json);

#endif
