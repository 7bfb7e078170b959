/* What every unit test needs: cmocka behind the headers that it wants first. */
#ifndef AS_TESTS_UNIT_H
#define AS_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Whether sanitizers watch. What repeats the same code with other numbers is then done once: it is about numbers. */
#if defined(__SANITIZE_ADDRESS__)
enum { UNIT_SANITIZED = 1 };
#else
enum { UNIT_SANITIZED = 0 };
#endif

/* To cmocka what is not a number is equal to all numbers. */
static inline void unit_assert_near(double a, double b, double epsilon, const char *file, int line)
{
    double apart = a > b ? a - b : b - a;
    if (a == b || apart <= epsilon)
        return;
    print_error("%g is not %g, give or take %g\n", a, b, epsilon);
    _fail(file, line);
}
#undef assert_float_equal
#define assert_float_equal(a, b, epsilon) unit_assert_near((a), (b), (epsilon), __FILE__, __LINE__)

/* Skips the test; scripts/test shows the reason. */
#define unit_skip(...)                                                                                                 \
    do {                                                                                                               \
        print_message(__VA_ARGS__);                                                                                    \
        print_message("\n");                                                                                           \
        skip();                                                                                                        \
    } while (0)

/* How many descriptors are open: as many as before when what was opened has been closed. */
static inline size_t unit_count_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    size_t n = 0;
    assert_non_null(folder);
    while (readdir(folder))
        n++;
    closedir(folder);
    return n;
}

/* Runs `action(argument)` in a child with stderr going to `text` (always NUL-terminated) and returns its wait status:
 * for what ends the process or writes to descriptor 2. */
static inline int unit_run_child(void (*action)(void *), void *argument, char *text, size_t size)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        action(argument);
        _exit(0);
    }
    close(ends[1]);
    size_t used = 0;
    for (ssize_t n; used < size - 1 && (n = read(ends[0], text + used, size - 1 - used)) > 0;)
        used += (size_t)n;
    text[used] = '\0';
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

#endif
