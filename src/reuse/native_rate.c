/* See native_rate.h. */
#include "reuse/native_rate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More than a processor can do; less than any program does that is worth measuring. A shorter time is mostly noise of the
 * trap. */
static const double MOST = 16, LEAST = 1e-4, SHORTEST = 500;
static const double SLOWER = 0.7, FASTER = 5; /* warm caches, against those behind a stop */
static const double MUCH_SLOWER = 3, LONG_TRAPS = 4, FAR_TRAPS = 2, MOST_FASTER = 4;
static const double LEAST_HIT = 100, MOST_HIT = 1e5, LEAST_TURN = 0.2; /* the last in what counting takes */
enum { ENOUGH = 3 };
/* How far off rates were on programs whose accesses are known (doc/design/reuse.md): with warm caches, and behind stops alone. */
static const double OFF_WARM = 2, OFF_COLD = 8;

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double as_rate_median(double *values, size_t n)
{
    if (n)
        qsort(values, n, sizeof *values, compare);
    return n ? values[n / 2] : 0;
}

static double median(const double *values, uint64_t count)
{
    double sorted[AS_RATE_TRAPS];
    memcpy(sorted, values, sizeof sorted);
    return as_rate_median(sorted, count < AS_RATE_TRAPS ? (size_t)count : AS_RATE_TRAPS);
}

double as_rate_trap(const struct as_native_rate *rate)
{
    return median(rate->traps, rate->trapped);
}

double as_rate_add_trap(struct as_native_rate *rate, double nanoseconds)
{
    rate->traps[rate->trapped++ % AS_RATE_TRAPS] = nanoseconds;
    return fmin(nanoseconds, as_rate_trap(rate));
}

static double work_out(const struct as_native_rate *rate, double accesses, double nanoseconds, double stops)
{
    double time = nanoseconds - stops * as_rate_trap(rate);
    if (!rate->trapped || time < SHORTEST || accesses > MOST * time || accesses < LEAST * time)
        return 0;
    return accesses / time;
}

double as_rate_add(struct as_native_rate *rate, double accesses, double nanoseconds, double stops)
{
    double found = work_out(rate, accesses, nanoseconds, stops);
    if (found > 0)
        rate->rates[rate->measured++ % AS_RATE_TRAPS] = found;
    return found;
}

void as_rate_add_rough(struct as_native_rate *rate, double accesses, double nanoseconds, double stops)
{
    double found = work_out(rate, accesses, nanoseconds, stops);
    if (found > 0)
        rate->rough[rate->roughly++ % AS_RATE_TRAPS] = found;
}

double as_rate_add_warm(struct as_native_rate *rate, double cold, double accesses, double nanoseconds, double stops)
{
    double found = work_out(rate, accesses, nanoseconds, stops);
    if (found <= 0 || found < SLOWER * cold || found > FASTER * cold)
        return 0;
    rate->warm[rate->warmed++ % AS_RATE_TRAPS] = found;
    return found;
}

static void add_later(struct as_native_rate *rate, double found, uint64_t site)
{
    rate->sites[rate->gained % AS_RATE_TRAPS] = site;
    rate->later[rate->gained++ % AS_RATE_TRAPS] = found;
}

bool as_rate_add_gain(struct as_native_rate *rate, double behind, double later, double accesses, uint64_t site)
{
    bool fits = later > 0 && behind > SLOWER * later && behind < FASTER * later;
    if (fits)
        add_later(rate, accesses / later, site);
    return fits;
}

bool as_rate_add_turn(struct as_native_rate *rate, double accesses, double one, double two, uint64_t site)
{
    if (two - one < LEAST_HIT || two - one > MOST_HIT)
        return false;
    rate->hits[rate->hit++ % AS_RATE_TRAPS] = two - one;
    double hit = median(rate->hits, rate->hit), turn = one - hit;
    if (turn < LEAST_TURN * hit || accesses > MOST * turn || accesses < LEAST * turn)
        return false;
    add_later(rate, accesses / turn, site);
    return true;
}

bool as_rate_fits(const struct as_native_rate *rate, double accesses, double nanoseconds, double stops)
{
    double usual = as_rate_usual(rate), trap = as_rate_trap(rate);
    return usual > 0 && nanoseconds < MUCH_SLOWER * (accesses / usual + stops * trap);
}

double as_rate_if_long(const struct as_native_rate *rate, double accesses, double nanoseconds, double stops)
{
    bool is_long = nanoseconds > (1 + LONG_TRAPS) * stops * as_rate_trap(rate);
    return is_long ? work_out(rate, accesses, nanoseconds, stops) : 0;
}

void as_rate_add_long(struct as_native_rate *rate, double found)
{
    rate->warm[rate->warmed++ % AS_RATE_TRAPS] = found;
}

/* Both the expected time and what is left without the traps are uncertain: by as much again, and by half a trap for each stop. */
double as_rate_likely(const struct as_native_rate *rate, double expected, const struct as_rate_way *way)
{
    double trap = as_rate_trap(rate), time = way->accesses / expected;
    double more = way->nanoseconds - way->stops * trap - time;
    double weight = time * time / (time * time + way->stops * trap * trap / 4);
    double likely = more > FAR_TRAPS * trap ? time + more : time + weight * more;
    return way->accesses / fmax(likely, time / MOST_FASTER);
}

static double upper_of(const struct as_native_rate *rate, size_t n, uint64_t site)
{
    double found[AS_RATE_TRAPS];
    size_t alike = 0;
    for (size_t i = 0; i < n; i++)
        if (rate->sites[i] == site)
            found[alike++] = rate->later[i];
    qsort(found, alike, sizeof *found, compare);
    return found[alike * 3 / 4];
}

double as_rate_gain(const struct as_native_rate *rate)
{
    size_t n = rate->gained < AS_RATE_TRAPS ? (size_t)rate->gained : AS_RATE_TRAPS;
    double sum = 0, usual = as_rate_usual(rate);
    for (size_t i = 0; i < n; i++)
        sum += upper_of(rate, n, rate->sites[i]);
    return n >= ENOUGH && usual > 0 ? sum / (double)n / usual : 1;
}

double as_rate_usual(const struct as_native_rate *rate)
{
    if (rate->warmed >= ENOUGH)
        return median(rate->warm, rate->warmed);
    if (!rate->measured && rate->gained >= ENOUGH)
        return median(rate->later, rate->gained);
    if (rate->measured || rate->roughly < ENOUGH)
        return median(rate->rates, rate->measured);
    return median(rate->rough, rate->roughly);
}

/* The rates that as_rate_usual and as_rate_gain together come from. */
static const double *basis_of(const struct as_native_rate *rate, uint64_t *count)
{
    bool later = rate->gained >= ENOUGH, warm = rate->warmed >= ENOUGH;
    *count = later ? rate->gained : warm ? rate->warmed : rate->measured ? rate->measured : rate->roughly;
    return later ? rate->later : warm ? rate->warm : rate->measured ? rate->rates : rate->rough;
}

uint64_t as_rate_count(const struct as_native_rate *rate)
{
    uint64_t count;
    basis_of(rate, &count);
    return count;
}

bool as_rate_is_known(const struct as_native_rate *rate)
{
    return as_rate_count(rate) >= ENOUGH;
}

/* Without the outer tenths, of few rates all of them: parts of a program differ. */
static struct as_rate_range spread(const struct as_native_rate *rate)
{
    uint64_t count;
    double sorted[AS_RATE_TRAPS];
    memcpy(sorted, basis_of(rate, &count), sizeof sorted);
    size_t n = count < AS_RATE_TRAPS ? (size_t)count : AS_RATE_TRAPS;
    qsort(sorted, n, sizeof *sorted, compare);
    return (struct as_rate_range){sorted[n / 10], sorted[n - 1 - n / 10]};
}

struct as_rate_range as_rate_range(const struct as_native_rate *rate)
{
    double usual = as_rate_usual(rate), gain = as_rate_gain(rate);
    if (usual <= 0 || !as_rate_is_known(rate))
        return (struct as_rate_range){AS_RATE_SLOWEST, MOST};
    double more = rate->gained >= ENOUGH ? OFF_WARM : OFF_COLD;
    struct as_rate_range seen = spread(rate);
    return (struct as_rate_range){fmin(seen.low, usual * gain / OFF_WARM),
                                  fmin(MOST, fmax(seen.high, usual * gain * more))};
}
