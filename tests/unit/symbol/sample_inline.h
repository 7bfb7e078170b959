/* A function from another file, for sample.c. */
static inline __attribute__((always_inline)) int from_header(int x)
{
    int y = x * 17;
    if (y > 1000)
        y -= 77;
    return y;
}
