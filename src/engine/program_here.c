/* Whether a program is one of this machine's (program.h). Apart from program.c, which the plugin has too. */
#include "assay/insn.h"
#include "engine/program.h"

#include <string.h>
#include <sys/utsname.h>

bool as_program_is_foreign(const char *name, const char *search_path, struct as_error *err)
{
    struct utsname machine = {0};
    struct as_program program;
    bool known = uname(&machine) == 0 && as_program_find(name, search_path, &program, NULL);
    bool foreign = known && strcmp(as_arch_name(program.arch), machine.machine) != 0;
    if (foreign)
        as_error_set_status(err, AS_EXIT_CANNOT_RUN, "%s is for %s, and this machine is %s: --source=model runs it",
                            name, as_arch_name(program.arch), machine.machine);
    return foreign;
}
