/* A function that calls itself by way of another, through pointers in memory that lie in many lines: behind the head their loads pass
 * a sieve where the return addresses that calls store do not. */
enum { N = 4096, ROUNDS = 60 };

struct op {
    void (*run)(struct op *);
    long data[7];
};
static struct op leaves[N], trunk_op;
static volatile long sum;

static __attribute__((noinline)) void go(struct op *ops, long n)
{
    for (long i = 0; i < n; i++)
        ops[i * 61 % n].run(&ops[i]);
    sum++;
}

static __attribute__((noinline)) void leaf(struct op *op)
{
    for (long i = 0; i < 20; i++)
        sum += op->data[i % 7];
}

static __attribute__((noinline)) void trunk(struct op *op)
{
    for (long i = 0; i < ROUNDS; i++)
        go(leaves, N);
    sum += op->data[0];
}

int main(void)
{
    for (long i = 0; i < N; i++)
        leaves[i].run = leaf;
    trunk_op.run = trunk;
    for (long i = 0; i < 1000000; i++) /* the head, and more */
        sum += i;
    go(&trunk_op, 1);
    return 0;
}
