/* A program that does nothing: for tests of what is said and done around one. */
int main(void)
{
    return 0;
}
