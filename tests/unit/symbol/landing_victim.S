/* Functions whose tables of landing pads are written by hand. landing_short: its calls as uleb128, one that lands and one that does
 * not. landing_wide: with types that are caught, and calls as words of 4 bytes. landing_far: it lands in another piece of code, whose
 * address stands in the table. landing_long: all in 8 bytes. landing_none has no table, and the one of landing_cut is longer than its section. */
        .intel_syntax noprefix
        .section .note.GNU-stack, "", @progbits
        .text
        .globl landing_short, landing_short_call, landing_short_end, landing_short_pad
        .globl landing_wide, landing_wide_call, landing_wide_end, landing_wide_pad
        .globl landing_long, landing_long_call, landing_long_end, landing_long_pad
        .globl landing_far, landing_far_call, landing_far_end, landing_far_pad, landing_person
        .type landing_person, @function
landing_person:
        ret
        .macro function name table
        .type \name, @function
\name:  .cfi_startproc
        .cfi_personality 0x1b, landing_person
        .cfi_lsda 0x1b, \table
        nop
\name\()_call:
        call landing_person
\name\()_end:
        call landing_person
        ret
\name\()_pad:
        ret
        .cfi_endproc
        .size \name, . - \name
        .endm
        function landing_short, 1f
        function landing_wide, 2f
        .type landing_long, @function
landing_long:
        .cfi_startproc
        .cfi_personality 0x1c, landing_person
        .cfi_lsda 0x1c, 7f
landing_long_call:
        call landing_person
landing_long_end:
        ret
landing_long_pad:
        ret
        .cfi_endproc
        .size landing_long, . - landing_long
        .type landing_none, @function
landing_none:
        .cfi_startproc
        ret
        .cfi_endproc
        .size landing_none, . - landing_none
        .type landing_far, @function
landing_far:
        .cfi_startproc
        .cfi_personality 0x1b, landing_person
        .cfi_lsda 0x1b, 3f
landing_far_call:
        call landing_person
landing_far_end:
        ret
        .cfi_endproc
        .size landing_far, . - landing_far
landing_pieces:
        nop
        nop
        nop
landing_far_pad:
        ret
        function landing_cut, 4f

        .section .gcc_except_table, "a", @progbits
1:      .byte 0xff, 0xff, 0x01                  # pads from the function's start, no types, uleb128
        .uleb128 6f - 5f
5:      .uleb128 landing_short_call - landing_short
        .uleb128 landing_short_end - landing_short_call
        .uleb128 landing_short_pad - landing_short
        .uleb128 0
        .uleb128 landing_short_end - landing_short
        .uleb128 5
        .uleb128 0                              # lands nowhere
        .uleb128 0
6:
2:      .byte 0xff, 0x9b                        # types, of which only the place is read
        .uleb128 300
        .byte 0x03                              # udata4
        .uleb128 6f - 5f
5:      .long landing_wide_call - landing_wide
        .long landing_wide_end - landing_wide_call
        .long landing_wide_pad - landing_wide
        .uleb128 200                            # what is done there: two bytes
        .long landing_wide_end - landing_wide
        .long 5
        .long landing_wide_pad - landing_wide
        .uleb128 0
6:
3:      .byte 0x1b                              # pads from an address that is relative to this place
        .long landing_pieces - .
        .byte 0xff, 0x01
        .uleb128 6f - 5f
5:      .uleb128 landing_far_call - landing_far
        .uleb128 landing_far_end - landing_far_call
        .uleb128 landing_far_pad - landing_pieces
        .uleb128 0
6:
7:      .byte 0xff, 0xff, 0x04                  # udata8
        .uleb128 6f - 5f
5:      .quad landing_long_call - landing_long
        .quad landing_long_end - landing_long_call
        .quad landing_long_pad - landing_long
        .uleb128 0
6:
4:      .byte 0xff, 0xff, 0x01
        .uleb128 100000
