/* See region_run.h. A run always has a current region, which is open or comes next. `begin` is the count at which that
 * region begins, if it is known; together with the count of executed instructions it gives the mode up to the next
 * border. */
#include "region/region_run.h"

static const struct as_region whole = AS_REGION_DEFAULT;

static size_t count_regions(const struct as_region_run *run)
{
    return run->regions && run->regions->list.len ? run->regions->list.len : 1;
}

static const struct as_region *region_at(const struct as_region_run *run, uint32_t index)
{
    return run->regions && run->regions->list.len ? &run->regions->list.data[index] : &whole;
}

static bool is_open(const struct as_region_run *run)
{
    return run->stretch.region != AS_REGION_NONE;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* A length of a region, or of what comes before it, among the threads that there are. */
static uint64_t shared(const struct as_region_run *run, const struct as_region *region, uint64_t length)
{
    uint64_t times = run->threads < AS_REGION_THREADS ? run->threads : AS_REGION_THREADS;
    return region->heads && times > 1 && length < UINT64_MAX / AS_REGION_THREADS ? times * length : length;
}

/* What settles before a region. Threads that meet fall out of step where their time begins to be that of a pipeline, and take several
 * turns to find it again. */
static uint64_t settling(const struct as_region_run *run, const struct as_region *region)
{
    enum { MORE = 5 };
    return shared(run, region, region->heads && run->threads > 1 ? MORE * region->settle : region->settle);
}

/* Returns the mode before a region, and for how many instructions it lasts. */
static enum as_mode mode_before(const struct as_region_run *run, const struct as_region *region, uint64_t *left)
{
    *left = UINT64_MAX;
    if (run->begin == UINT64_MAX)
        return region->start.kind == AS_POINT_CYCLE ? AS_MODE_SETTLE
               : region->warm == AS_REGION_ALL      ? AS_MODE_WARM
                                                    : AS_MODE_COUNT;
    uint64_t settle_at = less(run->begin, settling(run, region)), warm_at = less(settle_at, region->warm);
    *left = (run->count < warm_at ? warm_at : run->count < settle_at ? settle_at : run->begin) - run->count;
    return run->count < warm_at ? AS_MODE_COUNT : run->count < settle_at ? AS_MODE_WARM : AS_MODE_SETTLE;
}

/* Returns how many instructions an open region still has to go. */
static uint64_t left_inside(const struct as_region_run *run, const struct as_region *region)
{
    uint64_t end = sum(run->begin, shared(run, region, region->max));
    if (region->stop.kind == AS_POINT_INSTRUCTION)
        end = earlier(end, later(region->stop.number, run->begin));
    return end == UINT64_MAX ? UINT64_MAX : less(end, run->count);
}

static void await(struct as_region_run *run, const struct as_point *point)
{
    run->awaits = point->kind == AS_POINT_INSTRUCTION ? AS_POINT_NONE : point->kind;
}

static void close_stretch(struct as_region_run *run)
{
    uint64_t executed = run->count - run->began;
    if (is_open(run))
        run->outcomes[run->stretch.region].instructions += executed;
    run->began = run->count;
}

static void begin_stretch(struct as_region_run *run, enum as_mode mode, uint32_t region)
{
    bool changes = run->stretch.mode != mode || run->stretch.region != region;
    close_stretch(run);
    run->stretch = (struct as_stretch){.mode = mode, .region = region};
    if (changes && run->on_change)
        run->on_change(run->context);
}

static void open_region(struct as_region_run *run)
{
    const struct as_region *region = region_at(run, run->at);
    bool follows_itself = run->stretch.region == run->at;
    run->outcomes[run->at].times++;
    run->left = left_inside(run, region);
    await(run, &region->stop);
    begin_stretch(run, region->mode, run->at);
    if (follows_itself && run->on_change)
        run->on_change(run->context);
}

/* Waits for the current region, or opens it. */
static void approach(struct as_region_run *run)
{
    const struct as_region *region = region_at(run, run->at);
    if (run->begin <= run->count) {
        open_region(run);
        return;
    }
    enum as_mode mode = mode_before(run, region, &run->left);
    run->awaits = AS_POINT_NONE;
    if (run->begin == UINT64_MAX)
        await(run, &region->start);
    begin_stretch(run, mode, AS_REGION_NONE);
}

/* Whether the start point of the current region has passed and cannot come again. */
static bool is_missed(const struct as_region_run *run, const struct as_region *region)
{
    const struct as_point *start = &region->start;
    if (start->kind == AS_POINT_INSTRUCTION && !region->repeat && !region->heads)
        return sum(start->number, region->offset) < run->count;
    return start->kind == AS_POINT_LANDMARK && start->number && run->passed[start->landmark] >= start->number;
}

/* Whether the rest of the program is counted. */
static bool goes_on(const struct as_region_run *run)
{
    return run->regions && run->regions->to_the_end;
}

/* Time 0 is where the program begins: nobody tells of it. */
static bool starts_with_program(const struct as_point *start)
{
    return (start->kind == AS_POINT_CYCLE || start->kind == AS_POINT_DELAY) && start->number == 0;
}

/* Makes the next region the current one. Its start may be known by count. */
static void turn_to(struct as_region_run *run)
{
    while (run->at < count_regions(run) && is_missed(run, region_at(run, run->at)))
        run->outcomes[run->at++].missed = true;
    if (run->at == count_regions(run)) {
        run->over = !goes_on(run);
        run->at--;
        run->begin = run->left = UINT64_MAX;
        run->awaits = AS_POINT_NONE;
        begin_stretch(run, AS_MODE_COUNT, AS_REGION_NONE);
        return;
    }
    const struct as_region *region = region_at(run, run->at);
    run->begin = UINT64_MAX;
    if (region->start.kind == AS_POINT_INSTRUCTION || region->start.kind == AS_POINT_NONE)
        run->begin = sum(region->start.number, region->offset);
    else if (run->count == 0 && starts_with_program(&region->start))
        run->begin = region->offset;
    if ((region->repeat || region->heads) && run->begin < run->count) /* the next begins where the last one ended */
        run->begin = run->count;
    approach(run);
}

static void close_region(struct as_region_run *run)
{
    run->outcomes[run->at].stopped = true;
    if (!region_at(run, run->at)->repeat)
        run->at++;
    turn_to(run);
}

void as_region_run_init(struct as_region_run *run, const struct as_regions *regions)
{
    *run = (struct as_region_run){.regions = regions, .stretch.region = AS_REGION_NONE};
    run->passed = as_alloc_array(regions ? regions->landmarks.len + 1 : 1, sizeof *run->passed);
    run->outcomes = as_alloc_array(count_regions(run), sizeof *run->outcomes);
    turn_to(run);
}

void as_region_run_free(struct as_region_run *run)
{
    free(run->passed);
    free(run->outcomes);
    *run = (struct as_region_run){0};
}

/* Whether the border that has come by count waits for the head of a loop, for no longer than a part of the region. One that has
 * waited is crossed where the run is now. */
static bool waits_for_head(struct as_region_run *run)
{
    enum { PART = 2 };
    const struct as_region *region = region_at(run, run->at);
    bool sought = run->seeks;
    run->seeks = false;
    if (!region->heads || run->count == 0 || (!is_open(run) && run->begin > run->count))
        return false;
    if (!sought && run->threads > 1 && region->max / PART > 0) {
        run->seeks = true;
        run->left = region->max / PART;
        return true;
    }
    if (!is_open(run))
        run->begin = run->count;
    return false;
}

void as_region_run_head(struct as_region_run *run)
{
    if (!run->seeks || run->over)
        return;
    run->left = 0;
    as_region_run_cross(run);
}

void as_region_run_cross(struct as_region_run *run)
{
    while (run->left == 0 && !run->over) {
        if (waits_for_head(run))
            return;
        if (is_open(run))
            close_region(run);
        else
            approach(run);
    }
}

bool as_region_run_ends_next(const struct as_region_run *run)
{
    return is_open(run) && run->at + 1 == count_regions(run) && !region_at(run, run->at)->repeat && !goes_on(run);
}

/* Called when the start point of the current region has come. */
static void start(struct as_region_run *run)
{
    run->begin = sum(run->count, region_at(run, run->at)->offset);
    approach(run);
}

/* Called when a point has come: an open region may stop there, and the next one may start there. */
static void reach(struct as_region_run *run, bool (*is_it)(const struct as_point *point, uint64_t a, uint64_t b),
                  uint64_t a, uint64_t b)
{
    if (is_open(run) && is_it(&region_at(run, run->at)->stop, a, b))
        close_region(run);
    else if (is_open(run))
        return;
    if (!run->over && !is_open(run) && run->begin == UINT64_MAX && is_it(&region_at(run, run->at)->start, a, b))
        start(run);
}

static bool is_passed(const struct as_point *point, uint64_t landmark, uint64_t times)
{
    return point->kind == AS_POINT_LANDMARK && point->landmark == landmark &&
           (point->number == 0 || point->number == times);
}

bool as_region_run_heeds(const struct as_region_run *run, uint32_t landmark)
{
    const struct as_region *region = region_at(run, run->at);
    return run->awaits == AS_POINT_LANDMARK && !run->over &&
           is_passed(is_open(run) ? &region->stop : &region->start, landmark, run->passed[landmark] + 1);
}

void as_region_run_pass(struct as_region_run *run, uint32_t landmark)
{
    if (as_region_run_heeds(run, landmark))
        reach(run, is_passed, landmark, run->passed[landmark] + 1);
    run->passed[landmark]++;
}

/* One signal does one thing: a region that it stops does not start again with the same signal. */
void as_region_run_signal(struct as_region_run *run)
{
    const struct as_region *region = region_at(run, run->at);
    if (run->awaits != AS_POINT_SIGNAL || run->over)
        return;
    if (is_open(run) && region->stop.kind == AS_POINT_SIGNAL)
        close_region(run);
    else if (!is_open(run))
        start(run);
}

static bool is_time(const struct as_point *point, uint64_t kind, uint64_t now)
{
    return point->kind == kind && point->number <= now;
}

uint64_t as_region_run_due(const struct as_region_run *run)
{
    const struct as_region *region = region_at(run, run->at);
    const struct as_point *point = is_open(run) ? &region->stop : &region->start;
    return run->awaits == AS_POINT_DELAY && point->kind == AS_POINT_DELAY && !run->over ? point->number : UINT64_MAX;
}

bool as_region_run_is_due(const struct as_region_run *run, uint64_t nanoseconds)
{
    return as_region_run_due(run) <= nanoseconds;
}

void as_region_run_time(struct as_region_run *run, uint64_t nanoseconds)
{
    reach(run, is_time, AS_POINT_DELAY, nanoseconds);
}

void as_region_run_clock(struct as_region_run *run, uint64_t cycle)
{
    reach(run, is_time, AS_POINT_CYCLE, cycle);
}

struct as_region_outcome as_region_run_outcome(const struct as_region_run *run, uint32_t region)
{
    struct as_region_outcome outcome = run->outcomes[region];
    if (run->stretch.region == region)
        outcome.instructions += run->count - run->began;
    return outcome;
}

bool as_region_run_reached(const struct as_region_run *run)
{
    for (uint32_t i = 0; i < count_regions(run); i++)
        if (as_region_run_outcome(run, i).instructions)
            return true;
    return false;
}

uint64_t as_region_run_passes_left(const struct as_region_run *run)
{
    const struct as_point *start = &region_at(run, run->at)->start;
    return start->kind == AS_POINT_LANDMARK && start->number ? less(start->number - 1, run->passed[start->landmark])
                                                             : 0;
}

uint64_t as_region_run_lead(const struct as_region_run *run)
{
    const struct as_region *region = region_at(run, run->at);
    return less(less(region->offset, region->settle), region->warm);
}

uint64_t as_region_run_to_end(const struct as_region_run *run)
{
    return run->begin == UINT64_MAX || run->over ? UINT64_MAX : left_inside(run, region_at(run, run->at));
}

/* Whether a region has a place by itself: behind the one before it, and from some count on. */
static bool lies_by_count(const struct as_region *region)
{
    return region->start.kind == AS_POINT_INSTRUCTION && region->stop.kind == AS_POINT_NONE && region->heads &&
           !region->repeat && region->max != AS_REGION_ALL;
}

bool as_region_run_foresee(const struct as_region_run *run, uint64_t count, struct as_region_prospect *prospect)
{
    uint64_t begin = run->begin;
    for (uint32_t at = run->at; at < count_regions(run) && !run->regions->undecided; at++) {
        const struct as_region *region = region_at(run, at);
        if (!lies_by_count(region) || begin == UINT64_MAX)
            return false;
        uint64_t end = sum(begin, region->max), warm_at = less(less(begin, region->settle), region->warm);
        if (count < end) {
            *prospect = (struct as_region_prospect){.counted = less(warm_at, count), .to_end = end - count};
            return true;
        }
        if (at + 1 < count_regions(run))
            begin = later(sum(region_at(run, at + 1)->start.number, region_at(run, at + 1)->offset), end);
    }
    return false;
}
