/* All of Assay as a function, beside a test's own main. */
int run_assay(int argc, char **argv);

#define main run_assay
#include "../../../src/cmd/main.c"
