/* Sampling periods are primes, so that they are not a multiple of any loop's length. */
#include "native/event.h"

#include <math.h>

static uint64_t multiply(uint64_t a, uint64_t b, uint64_t modulus)
{
    return (uint64_t)((unsigned __int128)a * b % modulus);
}

static uint64_t power(uint64_t base, uint64_t exponent, uint64_t modulus)
{
    uint64_t result = 1;
    for (base %= modulus; exponent; exponent >>= 1) {
        if (exponent & 1)
            result = multiply(result, base, modulus);
        base = multiply(base, base, modulus);
    }
    return result;
}

/* Miller-Rabin test; with the first twelve primes as witnesses it is exact for 64 bits. */
static bool is_prime(uint64_t n)
{
    static const uint64_t witnesses[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
    int twos = 0;
    for (size_t i = 0; i < sizeof witnesses / sizeof witnesses[0]; i++)
        if (n % witnesses[i] == 0)
            return n == witnesses[i];
    if (n < 2)
        return false;
    for (uint64_t d = n - 1; d % 2 == 0; d /= 2)
        twos++;
    for (size_t i = 0; i < sizeof witnesses / sizeof witnesses[0]; i++) {
        uint64_t x = power(witnesses[i], (n - 1) >> twos, n);
        bool passes = x == 1 || x == n - 1;
        for (int r = 1; r < twos && !passes; r++) {
            x = multiply(x, x, n);
            passes = x == n - 1;
        }
        if (!passes)
            return false;
    }
    return true;
}

uint64_t as_prime_near(uint64_t n)
{
    if (n <= 2)
        return 2;
    for (uint64_t distance = 0;; distance++) {
        if (is_prime(n - distance))
            return n - distance;
        if (is_prime(n + distance))
            return n + distance;
    }
}

void as_clock_periods(double rate, unsigned count, uint64_t *periods)
{
    double middle = 1e9 * count / rate;
    for (unsigned i = 0; i < count; i++) {
        double away = (double)i - (double)(count - 1) / 2;
        periods[i] = as_prime_near((uint64_t)llround(middle * (1 + away / 61)));
        while (i > 0 && periods[i] <= periods[i - 1])
            periods[i] = as_prime_near(periods[i - 1] + 2 * (periods[i - 1] - periods[i]) + 2);
    }
}
