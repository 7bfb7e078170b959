/* Code for test_autofdo.c, which never calls it: lines and discriminators as Clang packs them, written by hand. */
#define BLOCK "cmpl $1, %eax; je 9f; 9:\n" /* ends a block, the next one begins behind it */

__attribute__((naked)) void autofdo_victim(void);
__attribute__((naked)) void autofdo_tail(void);

#line 1000
void autofdo_victim(void)
{
    __asm__ volatile(".loc 1 1001 0 discriminator 390\n" BLOCK     /* number 3 */
                     ".loc 1 1002 0 discriminator 9\n" BLOCK       /* number 0, 2 copies */
                     ".loc 1 1002 0 discriminator 9\n" BLOCK       /* ... the second of them */
                     ".loc 1 1003 0 discriminator 50392\n" BLOCK   /* number 300, in the long form, and none else */
                     ".loc 1 1004 0 discriminator 4220938\n" BLOCK /* number 5, 40 copies in the long form */
                     ".loc 1 1005 0 discriminator 9\n nop\n nop\n" /* 2 copies in one block */
                     ".loc 1 1006 0 discriminator 17\n" BLOCK      /* 4 copies in it and in that of the line before */
                     ".loc 1 1006 0 discriminator 0\n" BLOCK       /* what is left of those, not unrolled */
                     "8: .loc 1 1007 0 discriminator 9\n"
                     "cmpl $1, %eax; je 8b\n" /* a loop, of which one copy is behind it */
                     ".loc 1 1007 0 discriminator 9\n" BLOCK ".loc 1 1008 0\n jmp autofdo_tail\n");
}

#line 2000
void autofdo_tail(void)
{
    __asm__ volatile(".loc 1 2003 0\n nop\n");
}
