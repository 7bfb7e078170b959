/* Programs that behave like the applications of the paper that block_kernels.c names:
 *
 *   network ROUNDS    like mcf: shortest paths by relaxing arcs; loads that miss, branches that data decide
 *   events ROUNDS     like omnetpp: a heap of events, small handlers through pointers, allocation
 *   transform ROUNDS  like xalancbmk: a tree of nodes is matched against patterns and written out; recursion, strings
 *   cms ROUNDS        like FullCMS: chains of ten small methods in floating point, a flat profile without hot spots
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline))

static uint32_t seed = 1;
static uint32_t draw(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed;
}

/* ---- network ---- */

enum { NODES = 1 << 14, ARCS = 1 << 16 };
struct arc {
    uint32_t tail, head;
    int32_t cost, flow;
};
static struct arc *arcs;
static int32_t potential[NODES];

static APART int relax(struct arc *arc)
{
    int32_t reduced = arc->cost + potential[arc->tail] - potential[arc->head];
    if (reduced >= 0)
        return 0;
    if (arc->flow > 3) {
        arc->cost += 2;
        arc->flow = 0;
        return 0;
    }
    potential[arc->head] += reduced;
    arc->flow++;
    return 1;
}

static long network(long rounds)
{
    long changed = 0;
    arcs = malloc(ARCS * sizeof *arcs);
    for (int i = 0; i < ARCS; i++)
        arcs[i] = (struct arc){draw() % NODES, draw() % NODES, (int32_t)(draw() % 200) - 20, 0};
    while (rounds--)
        for (int i = 0; i < ARCS; i++)
            changed += relax(&arcs[(uint32_t)i * 40503u % ARCS]);
    return changed;
}

/* ---- events ---- */

struct event {
    uint64_t time;
    void (*handle)(struct event *event);
    int station, hops;
};
enum { STATIONS = 32, MOST_EVENTS = 4096 };
static struct event *heap[MOST_EVENTS];
static int n_events;
static long delivered, dropped, queue[STATIONS];

static APART void schedule(struct event *event)
{
    int at = n_events++;
    for (; at && heap[(at - 1) / 2]->time > event->time; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = event;
}

static APART struct event *next_event(void)
{
    struct event *first = heap[0], *last = heap[--n_events];
    int at = 0, child;
    while ((child = 2 * at + 1) < n_events) {
        if (child + 1 < n_events && heap[child + 1]->time < heap[child]->time)
            child++;
        if (heap[child]->time >= last->time)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return first;
}

static void on_arrival(struct event *event);
static APART struct event *make_event(uint64_t time, void (*handle)(struct event *), int station, int hops)
{
    struct event *event = malloc(sizeof *event);
    *event = (struct event){time, handle, station, hops};
    return event;
}
static void on_service(struct event *event)
{
    queue[event->station]--;
    if (event->hops > 6) {
        delivered++;
        return;
    }
    schedule(make_event(event->time + 1 + draw() % 30, on_arrival, (int)(draw() % STATIONS), event->hops + 1));
}
static void on_timeout(struct event *event)
{
    if (queue[event->station] > 40)
        dropped++;
}
static void on_arrival(struct event *event)
{
    if (queue[event->station]++ > 60) {
        queue[event->station]--;
        dropped++;
        return;
    }
    schedule(make_event(event->time + 5 + draw() % 10, on_service, event->station, event->hops));
    if (draw() % 8 == 0)
        schedule(make_event(event->time + 50, on_timeout, event->station, 0));
}

static long events(long rounds)
{
    for (int i = 0; i < 500; i++)
        schedule(make_event(draw() % 100, on_arrival, (int)(draw() % STATIONS), 0));
    while (rounds-- && n_events) {
        struct event *event = next_event();
        event->handle(event);
        if (event->handle == on_service && event->hops > 6 && n_events < MOST_EVENTS - 8)
            schedule(make_event(event->time + 1, on_arrival, (int)(draw() % STATIONS), 0));
        free(event);
    }
    return delivered - dropped;
}

/* ---- transform ---- */

enum kind { ELEMENT, ATTRIBUTE, TEXT, COMMENT };
struct tree {
    enum kind kind;
    char name[12], text[20];
    struct tree *child, *next;
};
struct rule {
    const char *name;
    int min_depth;
    void (*apply)(const struct tree *, int);
};
static char output[4096];
static size_t written;
static long total;

static APART void put(const char *text)
{
    size_t n = strlen(text);
    if (written + n >= sizeof output) {
        total += (long)written;
        written = 0;
    }
    memcpy(output + written, text, n);
    written += n;
}
static APART void put_escaped(const char *text)
{
    char one[2] = "";
    for (; *text; text++) {
        switch (*text) {
        case '<':
            put("&lt;");
            break;
        case '&':
            put("&amp;");
            break;
        case '"':
            put("&quot;");
            break;
        default:
            one[0] = *text;
            put(one);
        }
    }
}
static void visit(const struct tree *tree, int depth);
static void children(const struct tree *tree, int depth)
{
    for (const struct tree *at = tree->child; at; at = at->next)
        visit(at, depth + 1);
}
static void apply_item(const struct tree *tree, int depth)
{
    put("<li>");
    children(tree, depth);
    put("</li>");
}
static void apply_table(const struct tree *tree, int depth)
{
    put("<table>");
    children(tree, depth);
    put("</table>");
}
static void apply_skip(const struct tree *tree, int depth)
{
    total += depth;
}
static const struct rule rules[] = {
    {"head", 0, apply_skip}, {"table", 2, apply_table}, {"item", 0, apply_item}, {"row", 1, apply_item}};
static APART const struct rule *match(const struct tree *tree, int depth)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (depth >= rules[i].min_depth && strcmp(rules[i].name, tree->name) == 0)
            return &rules[i];
    return NULL;
}
static void visit(const struct tree *tree, int depth)
{
    const struct rule *rule;
    switch (tree->kind) {
    case ELEMENT:
        if ((rule = match(tree, depth)))
            rule->apply(tree, depth);
        else
            children(tree, depth);
        break;
    case ATTRIBUTE:
        put(" ");
        put(tree->name);
        break;
    case TEXT:
        put_escaped(tree->text);
        break;
    case COMMENT:
        break;
    }
}
static struct tree *grow(int depth)
{
    static const char *const names[] = {"item", "row", "para", "table", "list", "head", "cell", "note"};
    static const char *const texts[] = {"plain words here", "a < b & c", "\"quoted\"", "more of it"};
    struct tree *tree = calloc(1, sizeof *tree);
    tree->kind = depth == 0 ? (draw() % 4 ? TEXT : draw() % 2 ? COMMENT : ATTRIBUTE) : ELEMENT;
    strcpy(tree->name, names[draw() % 8]);
    strcpy(tree->text, texts[draw() % 4]);
    for (int i = depth ? 2 + (int)(draw() % 3) : 0; i > 0; i--) {
        struct tree *child = grow(depth - 1);
        child->next = tree->child;
        tree->child = child;
    }
    return tree;
}
static long transform(long rounds)
{
    struct tree *tree = grow(6);
    strcpy(tree->name, "para");
    while (rounds--)
        visit(tree, 0);
    return total;
}

/* ---- cms ---- */

/* Sixty-four small methods in chains that data choose: no function is hot. Each does its turn and hands on to the next
 * of ten, as the paper says of FullCMS that it is like its call chain. */
enum { DEEP = 10 };
typedef double method(double x, uint64_t path, int deep);
static double field[64];
static method *const methods[64];
#define METHOD(a, b)                                                                                                   \
    static APART double method_##a##b(double x, uint64_t path, int deep)                                               \
    {                                                                                                                  \
        double y = x * field[8 * a + b] + 0.5;                                                                         \
        if (y > 1 + a)                                                                                                 \
            y -= 1 + b;                                                                                                \
        else if (y < -b)                                                                                               \
            y = -y * 0.5;                                                                                              \
        field[8 * a + b] = y < 4 ? field[8 * a + b] * 0.999 + 0.001 : 0.5;                                             \
        return deep ? methods[path % 64](y, path >> 6, deep - 1) + 0.001 : y;                                          \
    }
#define METHODS(a)                                                                                                     \
    METHOD(a, 0) METHOD(a, 1) METHOD(a, 2) METHOD(a, 3) METHOD(a, 4) METHOD(a, 5) METHOD(a, 6) METHOD(a, 7)
METHODS(0)
METHODS(1)
METHODS(2)
METHODS(3)
METHODS(4)
METHODS(5)
METHODS(6)
METHODS(7)
#define NAMES(a)                                                                                                       \
    method_##a##0, method_##a##1, method_##a##2, method_##a##3, method_##a##4, method_##a##5, method_##a##6,           \
        method_##a##7
static method *const methods[64] = {NAMES(0), NAMES(1), NAMES(2), NAMES(3), NAMES(4), NAMES(5), NAMES(6), NAMES(7)};

static long cms(long rounds)
{
    double x = 0.3, sum = 0;
    for (int i = 0; i < 64; i++)
        field[i] = 0.3 + (double)(draw() % 100) / 100;
    while (rounds--) {
        uint64_t path = (uint64_t)draw() << 32 | draw();
        x = methods[path % 64](x, path >> 6, DEEP - 1);
        sum += x;
    }
    return (long)sum;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        long (*run)(long), rounds;
    } apps[] = {
        {"network", network, 20}, {"events", events, 200000}, {"transform", transform, 60}, {"cms", cms, 100000}};
    for (size_t i = 0; argc > 1 && i < sizeof apps / sizeof *apps; i++)
        if (strcmp(argv[1], apps[i].name) == 0) {
            printf("%s %ld\n", argv[1], apps[i].run(argc > 2 ? atol(argv[2]) : apps[i].rounds));
            return 0;
        }
    fprintf(stderr, "usage: block_apps network|events|transform|cms [ROUNDS]\n");
    return 2;
}
