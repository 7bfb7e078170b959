/* Which instruction caused a watchpoint's trap.
 *
 * x86 traps after the access: the saved instruction pointer is behind the instruction, whose length is not known. Every
 * length that decodes to an instruction which ends there is a candidate. The memory operands decide: with the saved
 * registers one of them must touch the watched bytes. Where several still fit (an instruction with and without its
 * prefix), sequences of instructions are decoded from many starts further back: such sequences fall into step with the
 * real one within a few instructions, so the candidate on which most of them end is taken; a known start of an
 * instruction (of the function, say) settles it.
 *
 * A call's push traps at the callee: the call is found through the return address on the stack. A repeated string
 * instruction can trap in its middle, at itself. What cannot be found: a return's or an indirect jump's load, because
 * where it came from is not recorded.
 *
 * Nothing here allocates, locks or writes to static memory: it runs in signal handlers. as_cause_prepare() must have
 * been called once before.
 */
#ifndef AS_WATCH_CAUSE_H
#define AS_WATCH_CAUSE_H

#include "watch/operand.h"

enum as_cause_how {
    AS_CAUSE_NONE,      /* no instruction found */
    AS_CAUSE_VERIFIED,  /* its operand touches the watched bytes, by the registers */
    AS_CAUSE_PLAUSIBLE, /* it accesses memory, but overwrote the registers of its address (mov (%rax),%rax) */
};

struct as_cause {
    uint8_t how;      /* enum as_cause_how */
    uint8_t access;   /* AS_ACCESS_LOAD, AS_ACCESS_STORE or both: what it did to the watched bytes; 0 unknown */
    uint16_t size;    /* of the access; 0 unknown */
    bool ambiguous;   /* another candidate fitted too; the most votes decided */
    uint64_t ip;      /* the instruction; 0 where none was found */
    uint64_t address; /* of the access; 0 unknown */
    uint8_t length;   /* of the instruction */
};

/* Reads at most `size` bytes of code at `address`, returns how many it could from the start. Called for code and for
 * the word on the stack. Must be safe where as_cause_find is called. */
typedef size_t as_cause_read(void *context, uint64_t address, void *bytes, size_t size);

struct as_cause_query {
    enum as_arch arch;
    struct as_machine_state state; /* at the trap */
    uint64_t address;              /* watched */
    uint32_t length;
    uint64_t known_start; /* an address at or before the cause where an instruction starts; 0: none known */
    uint8_t known_length; /* of the instruction before `ip`, from an earlier trap there; checked again. 0: none */
    as_cause_read *read;
    void *context;
};

void as_cause_prepare(void);
void as_cause_find(const struct as_cause_query *query, struct as_cause *cause);

#endif
