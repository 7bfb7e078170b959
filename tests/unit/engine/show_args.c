/* Prints its arguments, each in brackets: the interpreter that test_program.c gives to its scripts. */
#include <stdio.h>

int main(int argc, char **argv)
{
    for (int i = 0; i < argc; i++)
        printf("[%s]", argv[i]);
    return 0;
}
