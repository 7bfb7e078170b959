/* Finds the instruction that caused a watchpoint's trap.
 *
 * x86 traps after the access: the saved instruction pointer is behind the instruction, whose length is not known. Every
 * length that decodes to an instruction ending there is a candidate. The memory operands decide: with the saved
 * registers, one of them must touch the watched bytes. If several candidates still fit (an instruction with and without
 * its prefix), sequences of instructions are decoded from many starts further back. Such sequences fall into step with
 * the real one within a few instructions, so the candidate on which most of them end is chosen. A known start of an
 * instruction (of the function, say) settles it.
 *
 * A call's push traps at the callee: the call is found through the return address on the stack. A repeated string
 * instruction can trap in its middle, at its own address. The load of a return or of an indirect jump cannot be found,
 * because its address is not recorded anywhere.
 *
 * Nothing here allocates, locks or writes to static memory: it runs in signal handlers. as_cause_prepare() must have
 * been called once before.
 */
#ifndef AS_WATCH_CAUSE_H
#define AS_WATCH_CAUSE_H

#include "watch/operand.h"

enum as_cause_how {
    AS_CAUSE_NONE,      /* no instruction found */
    AS_CAUSE_VERIFIED,  /* with the saved registers, its operand touches the watched bytes */
    AS_CAUSE_PLAUSIBLE, /* it accesses memory, but overwrote the registers of its address (mov (%rax),%rax) */
};

struct as_cause {
    uint8_t how;      /* enum as_cause_how */
    uint8_t access;   /* what it did to the watched bytes: AS_ACCESS_LOAD, AS_ACCESS_STORE or both; 0: not known */
    uint16_t size;    /* of the access; 0: not known */
    bool ambiguous;   /* another candidate fitted too; the votes decided */
    uint64_t ip;      /* address of the instruction; 0 if none was found */
    uint64_t address; /* of the access; 0: not known */
    uint8_t length;   /* of the instruction */
};

/* Reads up to `size` bytes of code at `address` and returns how many it could read. Called for code and for the word on
 * the stack. Must be safe in every context in which as_cause_find is called. */
typedef size_t as_cause_read(void *context, uint64_t address, void *bytes, size_t size);

struct as_cause_query {
    enum as_arch arch;
    struct as_machine_state state; /* at the trap */
    uint64_t address;              /* of the watched bytes */
    uint32_t length;
    uint64_t known_start; /* an address at or before the cause at which an instruction starts; 0: not known */
    uint8_t known_length; /* of the instruction before `ip`, from an earlier trap there; it is verified. 0: not known */
    as_cause_read *read;
    void *context;
};

void as_cause_prepare(void);
void as_cause_find(const struct as_cause_query *query, struct as_cause *cause);

#endif
