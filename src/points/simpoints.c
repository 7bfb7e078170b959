/* See simpoints.h. The runs of k-means for one k differ only in where they begin, so threads take one each; which result
 * wins does not depend on which thread is done first. */
#include "points/simpoints.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

/* ---- scores ---- */

/* Spherical groups with one variance: n times the mean log-likelihood, less half the parameters times log n. */
double as_bic(const struct as_cloud *cloud, const struct as_groups_found *found)
{
    static const double least = 1e-30, two_pi = 6.283185307179586; /* points on their centres have no variance */
    double n = (double)cloud->n, dims = cloud->dims, total = 0, entropy = 0;
    for (uint32_t j = 0; j < found->k; j++)
        total += found->weight[j];
    double variance = found->inertia / (total * dims);
    for (uint32_t j = 0; j < found->k; j++)
        if (found->weight[j] > 0)
            entropy += found->weight[j] / total * log(found->weight[j] / total);
    double likelihood = n * (entropy - dims * (log(two_pi * (variance > least ? variance : least)) + 1) / 2);
    double parameters = (found->k - 1) + found->k * dims + 1;
    return likelihood - parameters / 2 * log(n);
}

/* ---- runs of k-means, on threads ---- */

struct job {
    uint32_t k;
    uint64_t seed;
    struct as_groups_found found;
    double bic;
};

struct work {
    const struct as_cloud *cloud;
    struct job *jobs;
    size_t n;
    atomic_size_t next;
};

static void run_job(const struct as_cloud *cloud, struct job *job)
{
    double *centres = as_alloc_array(job->k, cloud->stride * sizeof *centres);
    as_kmeans_seed(cloud, job->k, job->seed, centres);
    as_kmeans_run(cloud, job->k, centres, &job->found);
    job->bic = as_bic(cloud, &job->found);
    free(centres);
}

static void *take_jobs(void *context)
{
    struct work *work = context;
    for (size_t i; (i = atomic_fetch_add(&work->next, 1)) < work->n;)
        run_job(work->cloud, &work->jobs[i]);
    return NULL;
}

static void run_jobs(struct work *work, uint32_t threads)
{
    enum { MOST = 64 };
    pthread_t others[MOST];
    uint32_t wanted = threads ? threads : (uint32_t)sysconf(_SC_NPROCESSORS_ONLN), started = 0;
    while (started + 1 < wanted && started + 1 < work->n && started < MOST &&
           pthread_create(&others[started], NULL, take_jobs, work) == 0)
        started++;
    take_jobs(work);
    for (uint32_t i = 0; i < started; i++)
        pthread_join(others[i], NULL);
}

/* ---- the search ---- */

/* The best run of a k. */
struct known {
    struct as_tried tried;
    struct as_groups_found found;
};

struct as_chooser {
    struct as_cloud cloud;
    double *weights;
    uint32_t tries, threads;
    uint64_t seed;
    AS_VEC(struct known) known;
};

struct search {
    struct as_chooser *chooser;
    const struct as_choose_options *options;
    struct as_choice *choice;
};

static const struct known *known_of(const struct as_chooser *chooser, uint32_t k)
{
    for (size_t i = 0; i < chooser->known.len; i++)
        if (chooser->known.data[i].tried.k == k)
            return &chooser->known.data[i];
    return NULL;
}

static bool was_tried(const struct search *search, uint32_t k)
{
    for (size_t i = 0; i < search->choice->tried.len; i++)
        if (search->choice->tried.data[i].k == k)
            return true;
    return false;
}

/* Keeps the best run of a k: the first of those with the best score. */
static void keep_best(struct as_chooser *chooser, struct job *jobs, size_t n)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        best = jobs[i].bic > jobs[best].bic ? i : best;
    *as_vec_push(&chooser->known) =
        (struct known){.tried = {.k = jobs[best].k, .bic = jobs[best].bic, .inertia = jobs[best].found.inertia},
                       .found = jobs[best].found};
    for (size_t i = 0; i < n; i++)
        if (i != best)
            as_groups_found_free(&jobs[i].found);
}

/* Groups into each k of a list for which that was not done yet, all of them at once. */
static void learn(struct as_chooser *chooser, const uint32_t *ks, size_t n)
{
    struct job *jobs = as_alloc_array(n * chooser->tries, sizeof *jobs);
    size_t used = 0;
    for (size_t i = 0; i < n; i++)
        if (!known_of(chooser, ks[i]) && (i == 0 || ks[i] != ks[i - 1]))
            for (uint32_t j = 0; j < chooser->tries; j++)
                jobs[used++] = (struct job){.k = ks[i], .seed = chooser->seed + j};
    struct work work = {.cloud = &chooser->cloud, .jobs = jobs, .n = used};
    run_jobs(&work, chooser->threads);
    for (size_t at = 0; at < used; at += chooser->tries)
        keep_best(chooser, jobs + at, chooser->tries);
    free(jobs);
}

/* Tries each k of a list that was not tried in this search. */
static void try_all(struct search *search, const uint32_t *ks, size_t n)
{
    learn(search->chooser, ks, n);
    for (size_t i = 0; i < n; i++)
        if (!was_tried(search, ks[i]))
            *as_vec_push(&search->choice->tried) = known_of(search->chooser, ks[i])->tried;
}

/* The least score that is good enough, of those that are known. */
static double least_score(const struct search *search)
{
    double best = -INFINITY, worst = INFINITY, threshold = search->options->threshold;
    for (size_t i = 0; i < search->choice->tried.len; i++) {
        double bic = search->choice->tried.data[i].bic;
        best = bic > best ? bic : best;
        worst = bic < worst ? bic : worst;
    }
    return search->options->rule == AS_BIC_RANGE ? worst + threshold * (best - worst)
                                                 : best - (1 - threshold) * fabs(best);
}

static double score_of(const struct search *search, uint32_t k)
{
    for (size_t i = 0; i < search->choice->tried.len; i++)
        if (search->choice->tried.data[i].k == k)
            return search->choice->tried.data[i].bic;
    return -INFINITY;
}

/* Scores grow with k as a rule, so the fewest groups that are good enough are found by halving. */
static void search_k(struct search *search, uint32_t most)
{
    uint32_t low = 1, high = most, ks[] = {1, (1 + most) / 2, most};
    try_all(search, ks, sizeof ks / sizeof *ks);
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        try_all(search, &middle, 1);
        if (score_of(search, middle) < least_score(search))
            low = middle;
        else
            high = middle;
    }
}

static size_t fewest_good(const struct search *search)
{
    double least = least_score(search);
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < search->choice->tried.len; i++)
        if (search->choice->tried.data[i].bic >= least &&
            (best == SIZE_MAX || search->choice->tried.data[i].k < search->choice->tried.data[best].k))
            best = i;
    return best == SIZE_MAX ? 0 : best;
}

/* ---- points ---- */

static int compare_points(const void *a, const void *b)
{
    const struct as_chosen_point *x = a, *y = b;
    return (x->interval > y->interval) - (x->interval < y->interval);
}

/* The point of each group that is nearest to its centre; of several the first. */
static void represent(const struct search *search, const struct as_groups_found *found)
{
    struct as_choice *choice = search->choice;
    size_t *nearest = as_alloc_array(found->k, sizeof *nearest);
    for (size_t i = 0; i < search->chooser->cloud.n; i++) {
        uint32_t group = found->group[i];
        double far = sqrt(as_cloud_distance2(search->chooser->cloud.at + i * search->chooser->cloud.stride,
                                             found->centres + (size_t)group * search->chooser->cloud.stride,
                                             search->chooser->cloud.stride));
        *as_vec_push(&choice->distances) = far;
        if (nearest[group] == 0 || far < choice->distances.data[nearest[group] - 1])
            nearest[group] = i + 1;
    }
    for (uint32_t j = 0; j < found->k; j++)
        if (nearest[j])
            *as_vec_push(&choice->points) =
                (struct as_chosen_point){.interval = (uint32_t)nearest[j] - 1, .group = j, .weight = found->weight[j]};
    free(nearest);
    qsort(choice->points.data, choice->points.len, sizeof *choice->points.data, compare_points);
}

static void fill(struct search *search, const struct as_groups_found *found)
{
    struct as_choice *choice = search->choice;
    represent(search, found);
    uint32_t *number = as_alloc_array(found->k, sizeof *number);
    for (uint32_t i = 0; i < choice->points.len; i++) {
        number[choice->points.data[i].group] = i;
        choice->points.data[i].group = i;
    }
    for (size_t i = 0; i < search->chooser->cloud.n; i++)
        *as_vec_push(&choice->groups) = number[found->group[i]];
    choice->k = (uint32_t)choice->points.len;
    free(number);
}

struct as_chooser *as_chooser_new(const struct as_vectors *vectors, const struct as_choose_options *options)
{
    struct as_chooser *chooser = as_alloc(sizeof *chooser);
    chooser->weights = as_vectors_project(vectors, options->dims, options->seed, &chooser->cloud);
    chooser->tries = options->tries;
    chooser->threads = options->threads;
    chooser->seed = options->seed;
    return chooser;
}

void as_chooser_free(struct as_chooser *chooser)
{
    for (size_t i = 0; i < chooser->known.len; i++)
        as_groups_found_free(&chooser->known.data[i].found);
    as_vec_free(&chooser->known);
    free(chooser->weights);
    free(chooser);
}

void as_chooser_choose(struct as_chooser *chooser, const struct as_choose_options *options, struct as_choice *choice)
{
    struct search search = {.chooser = chooser, .options = options, .choice = choice};
    size_t n = chooser->cloud.n;
    *choice = (struct as_choice){0};
    search_k(&search, options->max_k < n ? options->max_k : (uint32_t)n);
    const struct as_tried *best = &choice->tried.data[fewest_good(&search)];
    choice->bic = best->bic;
    fill(&search, &known_of(chooser, best->k)->found);
}

void as_choose(const struct as_vectors *vectors, const struct as_choose_options *options, struct as_choice *choice)
{
    struct as_chooser *chooser = as_chooser_new(vectors, options);
    as_chooser_choose(chooser, options, choice);
    as_chooser_free(chooser);
}

void as_choice_free(struct as_choice *choice)
{
    as_vec_free(&choice->tried);
    as_vec_free(&choice->points);
    as_vec_free(&choice->groups);
    as_vec_free(&choice->distances);
}
