/* A step of a particle simulation, as it is written first, and as `assay reuse` says it should be.
 *
 * usage: particles COUNT STEPS
 *
 * Each particle has 128 bytes, of which a step reads and writes 32: its position and velocity in x and y. With -DFIXED these are in
 * an array of their own (structure splitting), and the rest in another. Prints a checksum, which is the same for both. */
#include <stdio.h>
#include <stdlib.h>

struct hot {
    double x, y, vx, vy;
};

struct cold {
    double mass, charge, history[8];
    long id, flags;
};

#ifdef FIXED
struct particles {
    struct hot *hot;
    struct cold *cold;
};
#define HOT(set, i) ((set)->hot[i])
#define COLD(set, i) ((set)->cold[i])
#else
struct particle {
    struct hot hot;
    struct cold cold;
};
struct particles {
    struct particle *all;
};
#define HOT(set, i) ((set)->all[i].hot)
#define COLD(set, i) ((set)->all[i].cold)
#endif

static void *allocate(size_t n, size_t size)
{
    void *memory = aligned_alloc(128, (n * size + 127) / 128 * 128);
    if (!memory)
        exit(1);
    return memory;
}

static struct particles make(long n)
{
    struct particles set;
#ifdef FIXED
    set.hot = allocate((size_t)n, sizeof *set.hot);
    set.cold = allocate((size_t)n, sizeof *set.cold);
#else
    set.all = allocate((size_t)n, sizeof *set.all);
#endif
    for (long i = 0; i < n; i++) {
        HOT(&set, i) = (struct hot){.x = (double)i, .y = 1, .vx = 0.5, .vy = (double)(i % 7)};
        COLD(&set, i) = (struct cold){.mass = 1, .charge = (double)(i % 3), .id = i};
    }
    return set;
}

__attribute__((noipa)) static void step(struct particles *set, long n, double dt)
{
    for (long i = 0; i < n; i++) {
        struct hot *p = &HOT(set, i);
        p->x += p->vx * dt;
        p->y += p->vy * dt;
        if (p->x > 1e6 || p->x < 0)
            p->vx = -p->vx;
        if (p->y > 1e6 || p->y < 0)
            p->vy = -p->vy;
    }
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 0, steps = argc > 2 ? atol(argv[2]) : 0;
    if (n < 1 || n > 100000000 || steps < 0) {
        fprintf(stderr, "usage: particles COUNT STEPS\n");
        return 2;
    }
    struct particles set = make(n);
    for (long i = 0; i < steps; i++)
        step(&set, n, 0.01);
    double sum = 0;
    for (long i = 0; i < n; i++)
        sum += HOT(&set, i).x + HOT(&set, i).y + COLD(&set, i).mass;
    printf("%.6f\n", sum);
    return 0;
}
