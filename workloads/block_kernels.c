/* Kernels that make counting blocks by sampling hard, after those of Nowak, Yasin, Mendelson and Zwaenepoel,
 * "Establishing a base of trust with performance counters for enterprise workloads" (their sources are not public; these
 * are written from the paper's description).
 *
 *   latency ROUNDS    a division in every second turn of a loop: blocks that take unequal time
 *   chain ROUNDS      a loop around ten functions, each of which calls the next and does the same work
 *   box ROUNDS        two functions over points and a box: a chain of tests and branches, blocks of a few instructions
 *   track ROUNDS      a particle in a simple detector: many small functions, chosen by where it is and what it meets
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline))

/* ---- latency ---- */

static double latency(long n)
{
    volatile double start = 1e300;
    double x = start, y = 1.0000001;
    while (n--)
        if (n % 2)
            x /= y;
        else
            x += y;
    return x;
}

/* ---- chain ---- */

static uint64_t work; /* what each function does the same of */

#define LINK(name, next)                                                                                               \
    static APART void name(void)                                                                                       \
    {                                                                                                                  \
        work = work * 3 + 1;                                                                                           \
        next();                                                                                                        \
        __asm__ volatile("");                                                                                          \
    }
static APART void link_9(void)
{
    work = work * 3 + 1;
    __asm__ volatile("");
}
LINK(link_8, link_9)
LINK(link_7, link_8)
LINK(link_6, link_7)
LINK(link_5, link_6)
LINK(link_4, link_5)
LINK(link_3, link_4)
LINK(link_2, link_3)
LINK(link_1, link_2)
LINK(link_0, link_1)

static double chain(long n)
{
    while (n--)
        link_0();
    return (double)(work % 1000);
}

/* ---- box ---- */

struct point {
    double x, y, z;
};

static uint32_t seed = 12345;
static double draw(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (double)(seed >> 8) / (1 << 24) * 2 - 1;
}

/* Which side of a box, or inside: tests one after the other, each a short block. */
static APART int box_side(const struct point *p, const struct point *half)
{
    int side = 0;
    if (p->x > half->x)
        side |= 1;
    else if (p->x < -half->x)
        side |= 2;
    if (p->y > half->y)
        side |= 4;
    else if (p->y < -half->y)
        side |= 8;
    if (p->z > half->z)
        side |= 16;
    else if (p->z < -half->z)
        side |= 32;
    return side;
}

/* How far along a direction until the box is left. */
static APART double box_exit(const struct point *p, const struct point *d, const struct point *half)
{
    double best = 1e9, t;
    if (d->x > 0 && (t = half->x - p->x) < best * d->x)
        best = t / d->x;
    else if (d->x < 0 && (t = -half->x - p->x) > best * d->x)
        best = t / d->x;
    if (d->y > 0 && (t = half->y - p->y) < best * d->y)
        best = t / d->y;
    else if (d->y < 0 && (t = -half->y - p->y) > best * d->y)
        best = t / d->y;
    if (d->z > 0 && (t = half->z - p->z) < best * d->z)
        best = t / d->z;
    else if (d->z < 0 && (t = -half->z - p->z) > best * d->z)
        best = t / d->z;
    return best;
}

static double box(long n)
{
    const struct point half = {0.7, 0.6, 0.5};
    double sum = 0;
    while (n--) {
        struct point p = {draw(), draw(), draw()}, d = {draw(), draw(), draw()};
        sum += box_side(&p, &half);
        sum += box_exit(&p, &d, &half) < 1;
    }
    return sum;
}

/* ---- track ---- */

struct particle {
    double depth, energy, angle;
    int kind, layer;
};
enum { ELECTRON, PHOTON, LAYERS = 8, MOST = 64 };

static struct particle stack[MOST];
static int waiting;
static double deposited[LAYERS];

static APART int layer_of(double depth)
{
    int layer = (int)depth;
    return layer < 0 ? 0 : layer >= LAYERS ? LAYERS - 1 : layer;
}
static APART int is_lead(int layer)
{
    return layer % 2 == 0;
}
static APART double density(int layer)
{
    return is_lead(layer) ? 3.0 : 0.4;
}
static APART void deposit(int layer, double energy)
{
    deposited[layer] += energy;
}
static APART void emit(int kind, double depth, double energy)
{
    if (waiting < MOST && energy > 0.02)
        stack[waiting++] = (struct particle){.depth = depth, .energy = energy, .kind = kind};
}
static APART void ionise(struct particle *p)
{
    double lost = 0.01 * density(p->layer);
    lost = lost > p->energy ? p->energy : lost;
    p->energy -= lost;
    deposit(p->layer, lost);
}
static APART void radiate(struct particle *p)
{
    double share = (draw() + 1) / 4;
    emit(PHOTON, p->depth, p->energy * share);
    p->energy -= p->energy * share;
}
static APART void scatter(struct particle *p)
{
    p->angle += draw() * 0.1 * density(p->layer);
    if (p->angle > 1 || p->angle < -1)
        p->angle = 0;
}
static APART void make_pair(struct particle *p)
{
    double share = (draw() + 1) / 2;
    emit(ELECTRON, p->depth, p->energy * share);
    p->kind = ELECTRON;
    p->energy *= 1 - share;
}
static APART void absorb(struct particle *p)
{
    deposit(p->layer, p->energy);
    p->energy = 0;
}
static APART void step_electron(struct particle *p)
{
    ionise(p);
    scatter(p);
    if (is_lead(p->layer) && draw() > 0.6)
        radiate(p);
}
static APART void step_photon(struct particle *p)
{
    double dice = draw() * density(p->layer);
    if (dice > 1)
        make_pair(p);
    else if (dice < -2)
        absorb(p);
}
static APART void step(struct particle *p)
{
    p->depth += 0.1 * (1 - p->angle * p->angle / 2);
    p->layer = layer_of(p->depth);
    if (p->kind == ELECTRON)
        step_electron(p);
    else
        step_photon(p);
}

static double track(long n)
{
    while (n--) {
        emit(ELECTRON, 0, 1);
        while (waiting) {
            struct particle p = stack[--waiting];
            while (p.energy > 0.01 && p.depth < LAYERS)
                step(&p);
        }
    }
    return deposited[0] + deposited[1];
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        double (*run)(long);
        long rounds;
    } kernels[] = {
        {"latency", latency, 2000000}, {"chain", chain, 200000}, {"box", box, 200000}, {"track", track, 4000}};
    for (size_t i = 0; argc > 1 && i < sizeof kernels / sizeof *kernels; i++)
        if (strcmp(argv[1], kernels[i].name) == 0) {
            printf("%s %g\n", argv[1], kernels[i].run(argc > 2 ? atol(argv[2]) : kernels[i].rounds));
            return 0;
        }
    fprintf(stderr, "usage: block_kernels latency|chain|box|track [ROUNDS]\n");
    return 2;
}
