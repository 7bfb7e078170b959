/* Uses C++'s operators new and delete, in all their forms, under the names that they have in object files: 4 blocks of 100, 200, 300 and 400
 * bytes, and 4 aligned ones of 1024 to 4096, each of which goes back but those of 400 and 4096. */
#ifndef AS_TESTS_NEW_USER_H
#define AS_TESTS_NEW_USER_H

__attribute__((visibility("default"))) void use_new(void);

#endif
