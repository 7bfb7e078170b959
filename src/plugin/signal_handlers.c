/* See signal_handlers.h. */
#include "plugin/signal_handlers.h"

#include "plugin/follow.h"
#include "plugin/lane.h"

#include <signal.h>

/* Where the program's signal handlers begin. Handlers that are replaced stay in the list: a look at the signal frame
 * tells a delivery from a call. */
enum { MAX_HANDLERS = 256 };
static _Atomic uint64_t handlers[MAX_HANDLERS];

bool as_handlers_has(uint64_t address)
{
    for (size_t i = 0; i < MAX_HANDLERS && atomic_load(&handlers[i]); i++)
        if (atomic_load(&handlers[i]) == address)
            return true;
    return false;
}

void as_handlers_note(uint64_t action)
{
    uint64_t handler, none = 0;
    if (!action || !as_guest_read(action, &handler, sizeof handler) || handler <= 1 || as_handlers_has(handler))
        return;
    for (size_t i = 0; i < MAX_HANDLERS; i++, none = 0)
        if (atomic_compare_exchange_strong(&handlers[i], &none, handler))
            return;
}

/* What the first process does with SIGINT; `action` is in its memory. */
void as_handlers_note_interrupt(uint64_t action)
{
    uint64_t handler;
    if (as_plugin.process == 1 && action && as_guest_read(action, &handler, sizeof handler))
        atomic_store(&as_plugin.wire->minds_interrupt, handler != (uint64_t)(uintptr_t)SIG_IGN);
}

/* … when it begins, or executes another program: before QEMU has handlers of its own. */
void as_handlers_inherit_interrupt(void)
{
    struct sigaction action;
    if (as_plugin.process == 1 && sigaction(SIGINT, NULL, &action) == 0)
        atomic_store(&as_plugin.wire->minds_interrupt, action.sa_handler != SIG_IGN);
}
