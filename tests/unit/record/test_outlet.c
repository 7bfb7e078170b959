/* Output that goes nowhere stays of its kind; whoever wrote before can write on, as much as he likes. */
#include "record/outlet.h"

#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>

enum { MUCH = 1 << 20 }; /* more than a pipe or a terminal holds */

static mode_t kind_of(int fd)
{
    struct stat info;
    assert_int_equal(fstat(fd, &info), 0);
    return info.st_mode & S_IFMT;
}

static void write_much(int fd)
{
    static const char text[4096];
    for (size_t done = 0; done < MUCH;) {
        ssize_t n = write(fd, text, sizeof text);
        assert_true(n > 0);
        done += (size_t)n;
    }
}

static void of_a_file(void **state)
{
    FILE *file = tmpfile();
    struct stat info;
    assert_non_null(file);
    int fd = dup(fileno(file));
    assert_int_equal(write(fd, "before", 6), 6);
    as_outlet_replace(fd);
    assert_int_equal(kind_of(fd), S_IFREG);
    assert_int_equal(lseek(fd, 0, SEEK_END), 0); /* an empty one */
    write_much(fd);
    assert_int_equal(fstat(fileno(file), &info), 0);
    assert_int_equal(info.st_size, 6);
    close(fd);
    fclose(file);
}

/* Nobody reads the one that it was. */
static void of_pipes(void **state)
{
    int ends[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(i ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : pipe(ends), 0);
        as_outlet_replace(ends[1]);
        assert_int_equal(kind_of(ends[1]), S_IFIFO);
        assert_int_equal(fcntl(ends[1], F_GETFD) & FD_CLOEXEC, 0);
        write_much(ends[1]);
        assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
        char byte;
        assert_true(read(ends[0], &byte, 1) <= 0);
        close(ends[0]);
        close(ends[1]);
    }
}

static void of_a_terminal(void **state)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        unit_skip("no terminals here");
    int fd = open(ptsname(master), O_RDWR | O_NOCTTY);
    assert_true(fd >= 0);
    as_outlet_replace(fd);
    assert_true(isatty(fd));
    write_much(fd);
    assert_int_equal(fcntl(master, F_SETFL, O_NONBLOCK), 0);
    char byte;
    assert_true(read(master, &byte, 1) <= 0);
    close(fd);
    close(master);
}

static void of_others(void **state)
{
    struct stat null, now;
    int fd = open("/dev/zero", O_RDWR);
    assert_true(fd >= 0);
    as_outlet_replace(fd);
    assert_int_equal(stat("/dev/null", &null), 0);
    assert_int_equal(fstat(fd, &now), 0);
    assert_int_equal(now.st_rdev, null.st_rdev);
    close(fd);
    as_outlet_replace(fd); /* nothing is open there, and nothing will be */
    assert_int_equal(fcntl(fd, F_GETFD), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_a_file), cmocka_unit_test(of_pipes),
                                       cmocka_unit_test(of_a_terminal), cmocka_unit_test(of_others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
