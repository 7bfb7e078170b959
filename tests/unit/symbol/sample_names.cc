// C++ to look up names in: namespaces, templates, operators, lambdas, constructors, exceptions.
#include <cstdio>
#include <map>
#include <string>

namespace outer
{
template <class T> struct box {
    T value;
    explicit box(T v) : value(v)
    {
    }
    __attribute__((noinline)) T operator+(const box &other) const
    {
        return value + other.value;
    }
};

namespace
{
__attribute__((noinline)) int anonymous(int x)
{
    return x * 3;
}
} // namespace

__attribute__((noinline)) int overloaded(int x)
{
    return anonymous(x) + 1;
}
__attribute__((noinline)) int overloaded(double x)
{
    if (x < 0)
        throw std::string("negative");
    return (int)x;
}
} // namespace outer

int main(int argc, char **argv)
{
    std::map<std::string, int> counts;
    auto count = [&](const char *text) __attribute__((noinline)) { return ++counts[text]; };
    int sum = 0;
    for (int i = 0; i < argc; i++)
        sum += count(argv[i]);
    try {
        sum += outer::overloaded(argc) + outer::overloaded(argc - 2.0);
    } catch (const std::string &what) {
        sum += (int)what.size();
    }
    std::printf("%d\n", sum + (outer::box<int>(1) + outer::box<int>(2)));
    return 0;
}
