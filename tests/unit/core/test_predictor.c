/* The branch predictor on streams whose outcome is known: what can be learned is learned, what cannot is not, and sizes
 * mean what they say. Rates are taken over the last part of a run, when the tables are trained. */
#include "unit.h"

#include "core/branch_history.h"
#include "core/indirect.h"
#include "core/routes.h"
#include "predictor_bed.h"

static const char *const alone = "predictor.fast_entries=0"; /* the BTB without a first level before it */

/* Mispredictions in the last quarter of `count` runs of outcome(i) at one address, as a fraction. */
static double wrong_share(struct as_predictor *predictor, uint32_t count, bool (*outcome)(uint32_t i, uint32_t with),
                          uint32_t with)
{
    uint32_t wrong = 0, from = count / 4 * 3;
    for (uint32_t i = 0; i < count; i++) {
        bool missed = bed_branch(predictor, 0x4000, outcome(i, with));
        wrong += i >= from && missed;
    }
    return (double)wrong / (count - from);
}

static double wrong_share_on(const char *machine, const char *change, uint32_t count,
                             bool (*outcome)(uint32_t i, uint32_t with), uint32_t with)
{
    struct as_predictor *predictor = bed_predictor(machine, change);
    double share = wrong_share(predictor, count, outcome, with);
    as_predictor_free(predictor);
    return share;
}

static bool always(uint32_t i, uint32_t taken)
{
    (void)i;
    return taken;
}

static bool alternating(uint32_t i, uint32_t unused)
{
    (void)unused;
    return i & 1;
}

/* Taken in all iterations but the last of each `trips`. */
static bool loop(uint32_t i, uint32_t trips)
{
    return i % trips != trips - 1;
}

/* A fixed sequence of coin tosses, repeated. */
static bool periodic(uint32_t i, uint32_t period)
{
    return as_random_hash((uint64_t)period << 32 | i % period) & 1;
}

static bool random_bit(uint32_t i, uint32_t unused)
{
    return as_random_hash(i) & 1;
}

static void test_constant_branches(void **state)
{
    (void)state;
    for (uint32_t taken = 0; taken < 2; taken++) {
        struct as_predictor *predictor = bed_predictor("boom-tip", NULL);
        uint32_t wrong = 0;
        for (uint32_t i = 0; i < 10000; i++)
            wrong += bed_branch(predictor, 0x1000 + i % 100 * 20, taken);
        /* Counters start weakly not taken: each of the 100 taken branches may be wrong once or twice. */
        assert_true(wrong <= (taken ? 200 : 0));
        as_predictor_free(predictor);
    }
    assert_true(wrong_share_on("boom-tip", NULL, 1000, always, 1) == 0);
}

static void test_patterns(void **state)
{
    (void)state;
    assert_true(wrong_share_on("boom-tip", NULL, 4000, alternating, 0) == 0);
    for (uint32_t period = 2; period <= 60; period += 7)
        assert_true(wrong_share_on("boom-tip", NULL, 200 * period, periodic, period) < 0.01);
}

/* The exit of a loop is known from the history of its trips: a history of 64 sees loops of up to 65 trips. One
 * of 640 sees longer ones. What lies beyond costs the one misprediction of each exit. */
static void test_loops(void **state)
{
    (void)state;
    static const uint32_t learned[] = {2, 3, 5, 8, 13, 24, 40, 60, 65};
    for (size_t i = 0; i < sizeof learned / sizeof *learned; i++)
        assert_true(wrong_share_on("boom-tip", NULL, 400 * learned[i], loop, learned[i]) < 0.002);
    double beyond = wrong_share_on("boom-tip", NULL, 400 * 200, loop, 200);
    assert_true(beyond > 0.9 / 200 && beyond < 1.3 / 200);
    assert_true(wrong_share_on("golden-cove-like", NULL, 1600 * 200, loop, 200) < 0.1 / 200);
}

static void test_random(void **state)
{
    (void)state;
    double share = wrong_share_on("boom-tip", NULL, 100000, random_bit, 0);
    assert_true(share > 0.45 && share < 0.55);
}

/* Two random branches and a third that is their exclusive or: only the history tells. */
static void test_correlation(void **state)
{
    (void)state;
    struct as_predictor *predictor = bed_predictor("boom-tip", NULL);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < 20000; i++) {
        bool a = random_bit(3 * i, 0), b = random_bit(3 * i + 1, 0);
        bed_branch(predictor, 0x1000, a);
        bed_branch(predictor, 0x1010, b);
        bool missed = bed_branch(predictor, 0x1020, a != b);
        wrong += i >= 10000 && missed;
    }
    assert_true(wrong < 100);
    as_predictor_free(predictor);
}

static void test_no_tables(void **state)
{
    (void)state;
    const char *change = "predictor.tage_tables=0,predictor.tage_entries=16,predictor.tage_tag_bits=8";
    assert_true(wrong_share_on("boom-tip", change, 1000, always, 0) == 0);
    assert_true(wrong_share_on("boom-tip", change, 1000, always, 1) == 0);
    assert_true(wrong_share_on("boom-tip", change, 1000, loop, 10) == 0.1); /* each exit */
    assert_true(wrong_share_on("boom-tip", change, 1000, alternating, 0) >= 0.5);
}

static struct as_prediction jump(struct as_predictor *predictor, enum as_class class_, uint64_t address, uint64_t next)
{
    bool direct = class_ == AS_CLASS_JUMP || class_ == AS_CLASS_CALL;
    struct as_insn insn = bed_insn(class_, address, direct ? next : 0);
    return as_predictor_predict(predictor, &insn, true, next);
}

/* `depth` nested calls and their returns: mispredicted returns. */
static uint32_t nested(struct as_predictor *predictor, uint32_t depth)
{
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < depth; i++)
        assert_false(
            jump(predictor, i & 1 ? AS_CLASS_CALL : AS_CLASS_CALL_INDIRECT, 0x1000 + i * 64, 0x9000 + i).btb_miss &&
            (i & 1) == 0);
    for (uint32_t i = depth; i-- > 0;) {
        struct as_prediction prediction = jump(predictor, AS_CLASS_RETURN, 0x20000 + i * 64, 0x1000 + i * 64 + 4);
        assert_int_equal(prediction.mispredicted, prediction.target != 0x1000 + i * 64 + 4);
        wrong += prediction.mispredicted;
    }
    return wrong;
}

static void test_return_stack(void **state)
{
    (void)state;
    struct as_predictor *predictor = bed_predictor("boom-tip", NULL); /* 32 deep */
    for (uint32_t depth = 0; depth <= 32; depth++)
        assert_int_equal(nested(predictor, depth), 0);
    assert_int_equal(nested(predictor, 33), 1);
    assert_int_equal(nested(predictor, 40), 8);
    assert_int_equal(nested(predictor, 32), 0);
    as_predictor_free(predictor);
    predictor = bed_predictor("boom-tip", "predictor.ras_entries=1");
    assert_int_equal(nested(predictor, 1), 0);
    assert_int_equal(nested(predictor, 3), 2);
    as_predictor_free(predictor);
}

/* A call to the instruction behind it reads the program counter and leaves no return address. */
static void test_call_of_next(void **state)
{
    (void)state;
    struct as_predictor *predictor = bed_predictor("boom-tip", NULL);
    jump(predictor, AS_CLASS_CALL, 0x1000, 0x5000);
    jump(predictor, AS_CLASS_CALL, 0x5000, 0x5004);
    assert_false(jump(predictor, AS_CLASS_RETURN, 0x5020, 0x1004).mispredicted);
    as_predictor_free(predictor);
}

/* Targets in turn: mispredictions in the last quarter. */
static uint32_t indirect(const char *machine, uint32_t targets, uint32_t count)
{
    struct as_predictor *predictor = bed_predictor(machine, NULL);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool missed = jump(predictor, AS_CLASS_JUMP_INDIRECT, 0x3000, 0x8000 + i % targets * 0x100).mispredicted;
        wrong += (i == 0 && !missed) ? count : 0; /* nobody knows the first one */
        wrong += i >= count / 4 * 3 && missed;
    }
    as_predictor_free(predictor);
    return wrong;
}

static void test_indirect(void **state)
{
    (void)state;
    assert_int_equal(indirect("boom-tip", 1, 400), 0);
    assert_int_equal(indirect("boom-tip", 2, 400), 100); /* the BTB's last target is always the other one */
    assert_int_equal(indirect("golden-cove-like", 1, 400), 0);
    assert_int_equal(indirect("golden-cove-like", 2, 4000), 0);
    assert_int_equal(indirect("zen4-like", 7, 4000), 0);
    assert_true(indirect("zen4-like", 40, 40000) < 200);
}

/* An interpreter: which of six handlers comes next is decided by a branch before. */
static void test_indirect_follows_branches(void **state)
{
    (void)state;
    struct as_predictor *predictor = bed_predictor("zen4-like", NULL);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < 20000; i++) {
        bool which = random_bit(i, 0);
        bed_branch(predictor, 0x1000, which);
        bool missed = jump(predictor, AS_CLASS_CALL_INDIRECT, 0x1040, which ? 0x7000 : 0x7800).mispredicted;
        jump(predictor, AS_CLASS_RETURN, 0x7040, 0x1044);
        wrong += i >= 15000 && missed;
    }
    assert_true(wrong < 50);
    as_predictor_free(predictor);
}

static uint64_t predict_target(struct as_indirect *indirect, uint64_t address, uint64_t base, uint64_t target)
{
    struct as_indirect_lookup lookup;
    as_indirect_predict(indirect, address, base, &lookup);
    as_indirect_update(indirect, &lookup, target);
    return lookup.target;
}

/* The first address from here on whose entries lie at place 3 of tables of 16, as long as there is no history. */
static uint64_t at_place(uint64_t address)
{
    while ((as_history_key(address) & 15) != 3)
        address += 4;
    return address;
}

/* A jump takes that place in a single table, and its entry is right once more where the base says `base`. Is another jump known
 * when it comes a second time? */
static bool finds_room(uint64_t base)
{
    struct as_machine machine;
    struct as_error err = AS_ERROR_INIT;
    assert_true(as_machine_load("zen4-like", &machine, &err));
    machine.predictor.indirect_tables = 1;
    machine.predictor.indirect_entries = 4;
    struct as_indirect *indirect = as_indirect_new(&machine);
    uint64_t one = at_place(0x1000), other = at_place(0x2000);
    predict_target(indirect, one, 0x500, 0x700); /* a wrong base: the jump gets an entry */
    assert_int_equal(predict_target(indirect, one, base, 0x700), 0x700);
    predict_target(indirect, other, 0x500, 0x800);
    bool known = predict_target(indirect, other, 0x500, 0x800) == 0x800;
    as_indirect_free(indirect);
    return known;
}

/* An entry that only says what the base says, too, makes room for another; one that knows better stays. */
static void test_useful_targets(void **state)
{
    (void)state;
    assert_true(finds_room(0x700));
    assert_false(finds_room(0x500));
}

/* Direct jumps at `count` adjacent places, in turn: how many of the second round were not in the BTB. */
static uint32_t second_round(struct as_predictor *predictor, uint32_t count, uint32_t *fast)
{
    uint32_t missed = 0;
    *fast = 0;
    for (uint32_t i = 0; i < 2 * count; i++) {
        struct as_prediction prediction = jump(predictor, AS_CLASS_JUMP, 0x10000 + i % count * 2, 0x40000);
        assert_false(prediction.mispredicted);
        assert_true(prediction.taken && prediction.target == 0x40000);
        assert_false(prediction.btb_miss && prediction.fast);
        missed += i >= count && prediction.btb_miss;
        *fast += i >= count && prediction.fast;
        if (i < count)
            assert_true(prediction.btb_miss);
    }
    return missed;
}

static void test_btb_capacity(void **state)
{
    (void)state;
    static const struct {
        uint32_t count, missed;
    } cases[] = {{1, 0}, {16, 0}, {64, 0}, {128, 128}};
    uint32_t fast;
    for (size_t i = 0; i < 4; i++) {
        struct as_predictor *predictor =
            bed_predictor("boom-tip", "predictor.btb_entries=64,predictor.btb_ways=4,predictor.fast_entries=0");
        assert_int_equal(second_round(predictor, cases[i].count, &fast), cases[i].missed);
        assert_int_equal(fast, 0);
        as_predictor_free(predictor);
    }
}

static void test_first_level_btb(void **state)
{
    (void)state;
    uint32_t fast;
    struct as_predictor *predictor = bed_predictor("boom-tip", "predictor.fast_entries=16,predictor.fast_ways=16");
    assert_int_equal(second_round(predictor, 16, &fast), 0);
    assert_int_equal(fast, 16);
    as_predictor_free(predictor);
    predictor = bed_predictor("boom-tip", "predictor.fast_entries=16,predictor.fast_ways=2");
    assert_int_equal(second_round(predictor, 64, &fast), 0);
    assert_int_equal(fast, 0);
    as_predictor_free(predictor);
}

/* A taken branch whose direction is right but whose target is new is late, not wrong; one that is wrong is not late. */
static void test_btb_miss_of_branches(void **state)
{
    (void)state;
    struct as_predictor *predictor = bed_predictor("boom-tip", alone);
    struct as_insn insn = bed_insn(AS_CLASS_BRANCH, 0x1000, 0x2000);
    struct as_prediction first = as_predictor_predict(predictor, &insn, true, 0x2000);
    assert_true(first.mispredicted && !first.btb_miss && !first.taken);
    assert_int_equal(first.target, 0x1004);
    as_predictor_predict(predictor, &insn, true, 0x2000);
    as_predictor_predict(predictor, &insn, true, 0x2000);
    /* The same bimodal counter (16384 of them), another place in the BTB. */
    struct as_insn other = bed_insn(AS_CLASS_BRANCH, 0x1000 + 2 * 16384, 0x2000 + 2 * 16384);
    struct as_prediction late = as_predictor_predict(predictor, &other, true, other.target);
    assert_true(late.taken && !late.mispredicted && late.btb_miss);
    assert_int_equal(late.target, other.target);
    assert_false(as_predictor_predict(predictor, &other, true, other.target).btb_miss);
    as_predictor_free(predictor);
}

static void test_not_control(void **state)
{
    (void)state;
    struct as_predictor *predictor = bed_predictor("boom-tip", NULL);
    struct as_insn insn = bed_insn(AS_CLASS_INT, 0x1000, 0);
    struct as_prediction prediction = as_predictor_predict(predictor, &insn, false, 0x1004);
    assert_false(prediction.taken || prediction.mispredicted || prediction.btb_miss);
    assert_int_equal(prediction.target, 0x1004);
    assert_int_equal(as_predictor_peek(predictor, &insn), 0x1004);
    as_predictor_free(predictor);
}

/* One in 64. */
static bool seldom(uint32_t i)
{
    for (uint32_t j = 0; j < 6; j++)
        if (!random_bit(6 * i + j, 0))
            return false;
    return true;
}

/* A mix of everything. Returns a hash of all predictions; `peek` looks at the predictor in between. */
static uint64_t mix(struct as_predictor *predictor, uint32_t count, bool peek, double *wrong)
{
    uint64_t hash = 1469598103934665603u;
    uint32_t missed = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t which = i % 37;
        uint64_t address = 0x10000 + which * 36;
        enum as_class class_ = which == 5    ? AS_CLASS_CALL
                               : which == 30 ? AS_CLASS_RETURN
                               : which == 11 ? AS_CLASS_JUMP_INDIRECT
                               : which == 20 ? AS_CLASS_JUMP
                                             : AS_CLASS_BRANCH;
        bool taken = class_ != AS_CLASS_BRANCH || (which % 3 == 0   ? i / 37 % (which + 2) != 0
                                                   : which % 3 == 1 ? seldom(i)
                                                                    : (i / 37 >> which % 4 & 1) != 0);
        uint64_t next = class_ == AS_CLASS_RETURN          ? 0x10000 + 5 * 36 + 4
                        : class_ == AS_CLASS_JUMP_INDIRECT ? 0x30000 + i / 37 % 3 * 64
                                                           : address + 128;
        struct as_insn insn = bed_insn(class_, address, class_ == AS_CLASS_JUMP_INDIRECT ? 0 : address + 128);
        struct as_prediction prediction = as_predictor_predict(predictor, &insn, taken, taken ? next : address + 4);
        if (peek)
            as_predictor_peek(predictor, &insn);
        missed += prediction.mispredicted;
        hash = (hash ^ prediction.target ^ (uint64_t)prediction.mispredicted << 60 ^
                (uint64_t)prediction.btb_miss << 61 ^ (uint64_t)prediction.fast << 62) *
               1099511628211u;
    }
    *wrong = (double)missed / count;
    return hash;
}

static void test_deterministic(void **state)
{
    (void)state;
    static const char *const names[] = {"boom-tip", "golden-cove-like"};
    for (int i = 0; i < 2; i++) {
        struct as_predictor *one = bed_predictor(names[i], NULL), *two = bed_predictor(names[i], NULL);
        double wrong;
        assert_true(mix(one, 200000, false, &wrong) == mix(two, 200000, true, &wrong));
        as_predictor_free(one);
        as_predictor_free(two);
    }
}

/* A third of the branches is taken by chance, one time in 64, and cannot be known: 11/37 of all, 1/64 of them, 0.46 %.
 * The rest are loops and patterns that repeat after 1 to 36 rounds of the 33 branches, with the chance ones as noise in
 * their histories. Counters alone are wrong in 19 %; histories of 64 must save at least half of that, those of 640
 * more. */
static void test_mix(void **state)
{
    (void)state;
    static const struct {
        const char *name, *change;
        double least, most;
    } cases[] = {
        {"boom-tip", "predictor.tage_tables=0,predictor.tage_entries=16,predictor.tage_tag_bits=8", 0.15, 0.22},
        {"boom-tip", NULL, 0.004, 0.09},
        {"boom-tea", NULL, 0.004, 0.09},
        {"golden-cove-like", NULL, 0.004, 0.065},
        {"zen4-like", NULL, 0.004, 0.065},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_predictor *predictor = bed_predictor(cases[i].name, cases[i].change);
        double wrong;
        mix(predictor, 300000, false, &wrong);
        mix(predictor, 300000, false, &wrong);
        assert_true(wrong > cases[i].least && wrong < cases[i].most);
        as_predictor_free(predictor);
    }
}

/* Wrong paths ask without leaving a trace. */
static void test_peek(void **state)
{
    (void)state;
    struct as_predictor *predictor = bed_predictor("zen4-like", NULL);
    struct as_insn branch = bed_insn(AS_CLASS_BRANCH, 0x4000, 0x4040), call = bed_insn(AS_CLASS_CALL, 0x5000, 0x6000),
                   far = bed_insn(AS_CLASS_JUMP_INDIRECT, 0x7000, 0), back = bed_insn(AS_CLASS_RETURN, 0x6010, 0);
    assert_int_equal(as_predictor_peek(predictor, &branch), 0x4004);
    assert_int_equal(as_predictor_peek(predictor, &call), 0x6000);
    assert_int_equal(as_predictor_peek(predictor, &far), 0);
    assert_int_equal(as_predictor_peek(predictor, &back), 0);
    for (int i = 0; i < 20; i++)
        bed_branch(predictor, 0x4000, true);
    as_predictor_predict(predictor, &call, true, 0x6000);
    as_predictor_predict(predictor, &far, true, 0x8888);
    assert_int_equal(as_predictor_peek(predictor, &branch), 0x4040);
    assert_int_equal(as_predictor_peek(predictor, &far), 0x8888);
    for (int i = 0; i < 3; i++)
        assert_int_equal(as_predictor_peek(predictor, &back), 0x5004);
    as_predictor_free(predictor);
}

/* 28 KB of TAGE in both papers' machines: 2 x 2048 x (7 + 6) + 2 x 4096 x (8 + 6) + 2 x 2048 x (9 + 6) bits. */
static void test_storage(void **state)
{
    (void)state;
    static const char *const names[] = {"boom-tip", "boom-tea"};
    for (int i = 0; i < 2; i++) {
        struct as_predictor *predictor = bed_predictor(names[i], NULL);
        struct as_predictor_storage part = as_predictor_storage(predictor);
        assert_int_equal(part.tage, 28 * 1024);
        assert_int_equal(part.base, 16384 * 2 / 8);
        assert_int_equal(part.ras, 32 * 48 / 8);
        assert_int_equal(part.indirect, 0);
        assert_int_equal(as_predictor_bytes(predictor), part.tage + part.base + part.btb + part.fast + part.ras);
        as_predictor_free(predictor);
    }
    struct as_predictor *predictor = bed_predictor("zen4-like", NULL);
    assert_int_equal(as_predictor_storage(predictor).indirect, 4 * 512 * (10 + 48 + 3) / 8);
    as_predictor_free(predictor);
}

static uint32_t fold_of(const uint8_t *past, uint32_t length, uint32_t width)
{
    uint32_t fold = 0;
    for (uint32_t i = 0; i < length; i++)
        fold ^= (uint32_t)past[i] << i % width;
    return fold;
}

enum { FOLDED = 12 };
static const uint32_t folded[FOLDED] = {1, 2, 3, 7, 11, 12, 13, 64, 333, 640, 999, 1000};

static struct as_branch_history *new_history(void)
{
    struct as_branch_history *history = aligned_alloc(16, (sizeof *history + 15) / 16 * 16);
    memset(history, 0, sizeof *history);
    for (uint32_t i = 0; i < FOLDED; i++)
        as_history_add(history, i, folded[i], 4 + i, 16 - i);
    return history;
}

static void assert_folds(const struct as_branch_history *history, const uint8_t *past)
{
    for (uint32_t i = 0; i < FOLDED; i++) {
        uint32_t index = 4 + i, tag = 16 - i - (16 - i == index), again = tag - 1 - (tag - 1 == index);
        uint32_t group = i / AS_HISTORY_LANES, lane = i % AS_HISTORY_LANES;
        assert_int_equal(history->index.value[group][lane], fold_of(past, folded[i], index));
        assert_int_equal(history->tag.value[group][lane], fold_of(past, folded[i], tag));
        assert_int_equal(history->again.value[group][lane], fold_of(past, folded[i], again));
    }
}

/* The folds against the definition, over random outcomes and all widths: bit i of the history at bit i % width. No two
 * of a table have the same width. Outcomes come one by one, and several at once. */
static void test_folds(void **state)
{
    (void)state;
    struct as_branch_history *history = new_history(), *many = new_history();
    uint8_t past[1000] = {0};
    uint32_t waiting = 0, n_waiting = 0;
    for (uint32_t n = 0; n < 20000; n++) {
        memmove(past + 1, past, sizeof past - 1);
        past[0] = random_bit(n, 0);
        as_history_push(history, past[0]);
        waiting = waiting << 1 | past[0];
        if (++n_waiting + 1 == many->narrowest || n % 97 == 0) {
            as_history_push_many(many, waiting, n_waiting);
            n_waiting = 0;
        }
        if (n % 97 == 0) {
            assert_folds(history, past);
            assert_folds(many, past);
        }
    }
    free(history);
    free(many);
}

static void test_lengths(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(as_history_length(i, 6, 2, 64), 2u << i);
    assert_int_equal(as_history_length(0, 1, 5, 9), 5);
    for (uint32_t i = 1; i < 16; i++) {
        assert_true(as_history_length(i, 16, 1, 1000) > as_history_length(i - 1, 16, 1, 1000));
        assert_true(as_history_length(i, 16, 3, 3) == 3);
    }
    assert_int_equal(as_history_length(15, 16, 1, 1000), 1000);
}

/* ---- routes ---- */

enum { ROUTES = 24, ROUNDS = 4000 };

/* Branches and jumps of one route each. What stands in it goes the same way always, but for the last. */
static void make_routes(struct as_route *routes, struct as_insn *insns, uint64_t *random)
{
    for (uint32_t i = 0; i < ROUTES; i++) {
        uint32_t n = 1 + (uint32_t)as_random_below(random, AS_ROUTE_STEPS);
        routes[i] = (struct as_route){0};
        for (uint32_t k = 0; k < n; k++) {
            uint64_t address = 0x10000 + i * 0x1234 + k * 20;
            struct as_insn *insn = &insns[i * AS_ROUTE_STEPS + k];
            *insn = bed_insn(as_random_below(random, 4) ? AS_CLASS_BRANCH : AS_CLASS_JUMP, address, address + 0x100);
            as_route_add(&routes[i], insn);
            struct as_route_step *step = &routes[i].steps[k];
            step->taken = insn->class_ == AS_CLASS_JUMP || as_random_below(random, 2);
            step->next = step->taken ? insn->target : address + 4;
        }
        assert_int_equal(routes[i].plain, n);
    }
}

static void lead(struct as_route *route, bool taken)
{
    struct as_route_step *last = &route->steps[route->n - 1];
    last->taken = taken || last->insn->class_ == AS_CLASS_JUMP;
    last->next = last->taken ? last->insn->target : last->insn->address + 4;
}

/* One goes along routes that it knows, the other is asked about each transfer. Returns whether the first knew it. */
static bool go_along(struct as_predictor *routed, struct as_predictor *asked, const struct as_route *route)
{
    struct as_route_look look;
    uint32_t fast = 0, missed = 0;
    bool known = as_predictor_pass(routed, route, route->n, &fast, &missed, &look);
    for (uint32_t i = 0; i < route->n; i++) {
        const struct as_route_step *step = &route->steps[i];
        struct as_prediction is, was = as_predictor_predict(asked, step->insn, step->taken, step->next);
        is = (struct as_prediction){.fast = fast >> i & 1, .btb_miss = missed >> i & 1};
        if (!known)
            is = as_predictor_predict(routed, step->insn, step->taken, step->next);
        assert_int_equal(is.mispredicted, was.mispredicted);
        assert_int_equal(is.fast, was.fast);
        assert_int_equal(is.btb_miss, was.btb_miss);
    }
    if (!known)
        as_predictor_note(routed, route, route->n, &look);
    return known;
}

/* Rounds of the same routes, in which now and then something else happens: known routes change nothing. */
static void compare_routes(const char *machine, const char *change, bool finds)
{
    static struct as_insn insns[ROUTES * AS_ROUTE_STEPS];
    static struct as_route routes[ROUTES];
    uint64_t random = 5;
    struct as_predictor *routed = bed_predictor(machine, change), *asked = bed_predictor(machine, change);
    uint32_t known = 0;
    make_routes(routes, insns, &random);
    for (uint32_t round = 0; round < ROUNDS; round++)
        for (uint32_t i = 0; i < ROUTES; i++) {
            lead(&routes[i], round % 3 == i % 3);
            if (round > ROUNDS / 2 && as_random_below(&random, 4000) == 0)
                lead(&routes[i], as_random_below(&random, 2));
            known += go_along(routed, asked, &routes[i]);
            struct as_insn other = bed_insn(AS_CLASS_BRANCH, 0x10000 + as_random_below(&random, 0x10000), 0x9000);
            if (round % 50 == 49)
                assert_int_equal(as_predictor_peek(routed, &other), as_predictor_peek(asked, &other));
        }
    assert_true(finds ? known > ROUNDS * ROUTES / 2 : known < ROUNDS * ROUTES / 2);
    as_predictor_free(routed);
    as_predictor_free(asked);
}

static void test_routes(void **state)
{
    (void)state;
    compare_routes("zen4-like", NULL, true);
    compare_routes("boom-tip", NULL, true);
    compare_routes("boom-tip", "predictor.indirect_tables=0", true);
    const char *none = "predictor.tage_tables=0,predictor.tage_entries=16,predictor.tage_tag_bits=8";
    compare_routes("boom-tip", none, false); /* nothing is remembered without a history */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constant_branches),
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_loops),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_correlation),
        cmocka_unit_test(test_no_tables),
        cmocka_unit_test(test_return_stack),
        cmocka_unit_test(test_call_of_next),
        cmocka_unit_test(test_indirect),
        cmocka_unit_test(test_indirect_follows_branches),
        cmocka_unit_test(test_useful_targets),
        cmocka_unit_test(test_btb_capacity),
        cmocka_unit_test(test_first_level_btb),
        cmocka_unit_test(test_btb_miss_of_branches),
        cmocka_unit_test(test_not_control),
        cmocka_unit_test(test_deterministic),
        cmocka_unit_test(test_mix),
        cmocka_unit_test(test_peek),
        cmocka_unit_test(test_storage),
        cmocka_unit_test(test_folds),
        cmocka_unit_test(test_routes),
        cmocka_unit_test(test_lengths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
