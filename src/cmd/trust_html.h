/* `assay trust --html`: the verdicts, with pictures and tables of the experiments, as one file. */
#ifndef AS_CMD_TRUST_HTML_H
#define AS_CMD_TRUST_HTML_H

#include "cmd/trust_shown.h"

void as_trust_print_html(const struct as_trust_shown *shown, FILE *out);

#endif
