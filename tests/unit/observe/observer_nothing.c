/* A shared object that is no observer. */
extern const int something_else;
const int something_else = 1;
