/* Threads that share lines in a way that is known: four programs in one, after the ones that ComDetective was tried with.
 *
 *   write   each iteration writes one word: with probability FRACTION that of all threads, otherwise the thread's own,
 *           which has a line for itself. OPERATION: plain, store (atomic), add, cas (compare and swap).
 *   false   each iteration adds, atomically: with probability FRACTION to the thread's word of a line of eight (false
 *           sharing), otherwise to one word of all (true sharing).
 *   read    the first thread writes a word of all in each iteration; the others read it with probability FRACTION and
 *           write it otherwise.
 *   pairs   like write, but each pair of threads has a word of its own; FRACTION is a list, for one pair after the other.
 *
 * Usage: sharing write|false|read|pairs [-t THREADS] [-n ITERATIONS] [-f FRACTION[,FRACTION…]] [-o OPERATION]
 * (default 4, 100000, 0.5, store). Each iteration makes one access; the random numbers stay in registers. It prints how
 * many of the accesses were shared.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_THREADS = 1024, LINE = 64, WORDS = LINE / 8, MAX_FRACTIONS = 64 };

struct word {
    _Alignas(LINE) _Atomic uint64_t value;
};

static struct word all, own[MAX_THREADS], of_pair[MAX_THREADS / 2];
struct false_line {
    _Alignas(LINE) _Atomic uint64_t words[WORDS];
};
static struct false_line beside[MAX_THREADS / WORDS];

static uint64_t thread_count = 4, iterations = 100000;
static double fractions[MAX_FRACTIONS] = {0.5};
static size_t n_fractions = 1;
static const char *operation = "store";
static uint64_t shared_accesses[MAX_THREADS * WORDS]; /* one line apart */
static pthread_barrier_t barrier;

struct worker {
    uint64_t number, limit; /* a random number below it: shared */
};

static inline uint64_t next_random(uint64_t x)
{
    x ^= x << 13;
    x ^= x >> 7;
    return x ^ x << 17;
}

/* The loop of one operation: an access to one of two words in each iteration. */
#define LOOP(access)                                                                                                   \
    for (uint64_t i = 0, end = iterations; i < end; i++) {                                                             \
        random = next_random(random);                                                                                  \
        uint64_t is_shared = random < limit;                                                                           \
        _Atomic uint64_t *word = is_shared ? one : other;                                                              \
        shared += is_shared;                                                                                           \
        access;                                                                                                        \
    }

static uint64_t write_words(_Atomic uint64_t *one, _Atomic uint64_t *other, uint64_t limit, uint64_t random)
{
    uint64_t shared = 0, expected;
    if (strcmp(operation, "plain") == 0)
        LOOP(*(volatile uint64_t *)word = random)
    else if (strcmp(operation, "add") == 0)
        LOOP(atomic_fetch_add_explicit(word, random, memory_order_relaxed))
    else if (strcmp(operation, "cas") == 0)
        LOOP(expected = random; atomic_compare_exchange_strong(word, &expected, random))
    else
        LOOP(atomic_store_explicit(word, random, memory_order_relaxed))
    return shared;
}

static uint64_t add_words(_Atomic uint64_t *one, _Atomic uint64_t *other, uint64_t limit, uint64_t random)
{
    uint64_t shared = 0;
    LOOP(atomic_fetch_add_explicit(word, random, memory_order_relaxed))
    return shared;
}

static uint64_t read_word(_Atomic uint64_t *one, uint64_t limit, uint64_t random)
{
    uint64_t reads = 0;
    for (uint64_t i = 0, end = iterations; i < end; i++) {
        random = next_random(random);
        if (random < limit) {
            (void)*(volatile uint64_t *)one;
            reads++;
        } else {
            atomic_store_explicit(one, random, memory_order_relaxed);
        }
    }
    return reads;
}

static const char *kind;
static struct word arrived;

/* Few threads wait by looking, so that none begins before all are awake; many would only be in each other's way. */
static void wait_for_all(void)
{
    enum { MOST_LOOKING = 64 };
    if (thread_count > MOST_LOOKING) {
        pthread_barrier_wait(&barrier);
        return;
    }
    atomic_fetch_add(&arrived.value, 1);
    while (atomic_load_explicit(&arrived.value, memory_order_acquire) < thread_count)
        ;
}

static void *work(void *argument)
{
    const struct worker *worker = argument;
    uint64_t n = worker->number, random = UINT64_C(0x9e3779b97f4a7c15) * (n + 1), shared;
    wait_for_all();
    if (strcmp(kind, "false") == 0)
        shared = add_words(&beside[n / WORDS].words[n % WORDS], &all.value, worker->limit, random);
    else if (strcmp(kind, "read") == 0)
        shared = read_word(&all.value, n ? worker->limit : 0, random);
    else if (strcmp(kind, "pairs") == 0)
        shared = write_words(&of_pair[n / 2].value, &own[n].value, worker->limit, random);
    else
        shared = write_words(&all.value, &own[n].value, worker->limit, random);
    shared_accesses[n * WORDS] = shared;
    return NULL;
}

static int usage(void)
{
    fprintf(stderr, "usage: sharing write|false|read|pairs [-t THREADS] [-n ITERATIONS] [-f FRACTION,...] [-o "
                    "plain|store|add|cas]\n");
    return 2;
}

static int parse_fractions(char *text)
{
    n_fractions = 0;
    for (char *part = strtok(text, ","); part && n_fractions < MAX_FRACTIONS; part = strtok(NULL, ","))
        fractions[n_fractions++] = strtod(part, NULL);
    return n_fractions > 0;
}

static int is_one_of(const char *word, const char *const *words)
{
    while (*words && strcmp(word, *words) != 0)
        words++;
    return *words != NULL;
}

static int parse(int argc, char **argv)
{
    if (argc < 2)
        return 0;
    kind = argv[1];
    if (!is_one_of(kind, (const char *[]){"write", "false", "read", "pairs", NULL}))
        return 0;
    for (int option; (option = getopt(argc - 1, argv + 1, "t:n:f:o:")) != -1;) {
        if (option == 't')
            thread_count = strtoull(optarg, NULL, 10);
        else if (option == 'n')
            iterations = strtoull(optarg, NULL, 10);
        else if (option == 'o')
            operation = optarg;
        else if (option != 'f' || !parse_fractions(optarg))
            return 0;
    }
    return thread_count > 0 && thread_count <= MAX_THREADS &&
           is_one_of(operation, (const char *[]){"plain", "store", "add", "cas", NULL});
}

/* Of 64 random bits; 1 is all of them. */
static uint64_t limit_of(double fraction)
{
    return fraction >= 1 ? UINT64_MAX : fraction <= 0 ? 0 : (uint64_t)(fraction * 0x1p64);
}

int main(int argc, char **argv)
{
    static pthread_t threads[MAX_THREADS];
    static struct worker workers[MAX_THREADS];
    uint64_t shared = 0;
    if (!parse(argc, argv))
        return usage();
    pthread_barrier_init(&barrier, NULL, (unsigned)thread_count);
    for (uint64_t i = 0; i < thread_count; i++) {
        size_t which = strcmp(kind, "pairs") == 0 ? i / 2 : 0;
        workers[i] = (struct worker){.number = i, .limit = limit_of(fractions[which % n_fractions])};
        if (pthread_create(&threads[i], NULL, work, &workers[i]) != 0)
            return 1;
    }
    for (uint64_t i = 0; i < thread_count; i++) {
        pthread_join(threads[i], NULL);
        shared += shared_accesses[i * WORDS];
    }
    printf("%llu of %llu accesses were shared\n", (unsigned long long)shared,
           (unsigned long long)(thread_count * iterations));
    return 0;
}
