/* Output that goes nowhere, and yet is of the kind that it was.
 *
 * A program that runs again must not print again. It must not notice either: libc writes to a terminal line by line and to a
 * file in blocks, so a program whose output is thrown away executes other code.
 */
#ifndef AS_RECORD_OUTLET_H
#define AS_RECORD_OUTLET_H

/* Replaces a descriptor of this process: a file by an empty one, a pipe and a terminal by others that a thread empties, anything else by
 * /dev/null. If that fails, the descriptor stays as it is. */
void as_outlet_replace(int fd);

#endif
