/* The program of blocks_samples.sh and blocks_fit.sh: loops and calls whose counts blocks_recording.py makes recordings of. */
__attribute__((noinline)) int leaf(int x)
{
    return x & 4 ? x * 3 : x + 1;
}
__attribute__((noinline)) int middle(int x)
{
    int sum = 0;
    for (int i = 0; i < 7; i++)
        sum += x % 3 ? leaf(x + i) : i;
    return sum;
}
int main(void)
{
    int sum = 0;
    for (int i = 0; i < 3000; i++)
        sum += i % 5 ? middle(i) : leaf(i);
    return sum == 42;
}
