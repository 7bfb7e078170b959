/* Streams: words written by hand, reported as block executions. Every sequence is consumed whole, in two pieces cut at
 * every place, and word by word, with all accesses and with those alone that vary; the executions must always be the
 * same. */
#include "stream_fixture.h"
#include "unit.h"

enum { SIGUSR1_NUMBER = 10, SIGSEGV_NUMBER = 11, SIGTERM_NUMBER = 15, X86_SIGRETURN = 15, RISCV_SIGRETURN = 139 };
/* ---- whole executions, as they go in most of a run ---- */

static void calls(void)
{
    bed_run_block(&bed, CALLS);
    bed_store(&bed, 0, 0x7000, 8);
    bed_store(&bed, 1, 0x6ff8, 8);
}

/* Where measuring ends, the last execution led to a block that is not measured. */
static void test_cut(void **state)
{
    bed_expect_cut(&bed, 0, 0);
    bed_mix(&bed, 0x5000);
    bed_expect_cut(&bed, 0, 0); /* nobody knows yet where it leads */
    bed_run_block(&bed, BACK);
    bed_expect_cut(&bed, MIX, BACK);
    for (int i = 0; i < 5; i++) {
        bed_mix(&bed, 0x5000);
        bed_run_block(&bed, BACK);
    }
    bed_expect_cut(&bed, MIX, BACK);
    bed_mix(&bed, 0x5008);
    bed_expect_cut(&bed, BACK, MIX);
    bed_run_block(&bed, SYSCALL);
    bed_expect_cut(&bed, MIX, SYSCALL);
    bed_syscall(&bed, 1);
    bed_expect_cut(&bed, 0, 0);
}

static void test_branches(void **state)
{
    bed_mix(&bed, 0x5000);
    bed_run_block(&bed, BACK);
    bed_mix(&bed, 0x5008);
    calls();
    bed_run_block(&bed, CALLED);
    bed_load(&bed, 1, 0x6ff8, 8);
    bed_run_block(&bed, LOOP);
    bed_run_block(&bed, LOOP);
    bed_run_block(&bed, BEHIND);
    bed_load(&bed, 3, 0x7000, 8);
    expect("1000[0,3) t >1018\n"
           "1018[0,2) t >1000\n"
           "1000[0,3) >1008\n"
           "1008[0,2) t >2000\n"
           "2000[0,2) t >1200\n"
           "1200[0,2) t >1200\n"
           "1200[0,2) >1205\n"
           "1205[0,4) t >0\n");
}

static void test_words_belong_to_their_block(void **state)
{
    bed_mix(&bed, 0x5000);
    bed_run_block(&bed, BACK);
    bed_mix(&bed, 0x5008);
    calls();
    for (size_t split = 0; split <= bed.words.len; split++)
        bed_expect(&bed,
                   "1000[0,3) t >1018 =3\n"
                   "1018[0,2) t >1000\n"
                   "1000[0,3) >1008 =3\n"
                   "1008[0,2) t >0 =2\n",
                   &(struct bed_run){.split = split, .finish = true, .count_words = true});
}

/* Many executions of the same blocks: after the first of each, the short way is taken. */
static void test_repeated(void **state)
{
    struct as_str want = {0};
    for (int i = 0; i < 20; i++) {
        bed_mix(&bed, 0x5000);
        bed_run_block(&bed, BACK);
        as_str_add(&want, "1000[0,3) t >1018\n1018[0,2) t >1000\n");
    }
    bed_mix(&bed, 0x5000);
    as_str_add(&want, "1000[0,3) >0\n");
    expect(as_str_get(&want));
    assert_true(bed.summed > bed.words.len * 30); /* nearly all of them, in each of the ways to cut the words */
    assert_true(bed.looks > bed.words.len);       /* each saw where the thread was to come: look_ahead (stream_bed.c) */
    as_str_free(&want);
}

static void test_last_block_waits(void **state)
{
    bed_run_block(&bed, BACK);
    bed_mix(&bed, 0x5000);
    bed_expect_always(&bed, "1018[0,2) t >1000\n", NO_FINISH);
}

static void test_empty(void **state)
{
    expect("");
}

static void test_system_calls(void **state)
{
    bed_run_block(&bed, SYSCALL);
    bed_syscall(&bed, 1);
    bed_event(&bed, AS_WIRE_SYSCALL_RETURN, 1, (const uint64_t[]){(uint64_t)-4});
    bed_run_block(&bed, BACK);
    bed_event(&bed, AS_WIRE_THREAD_END, 0, NULL);
    expect("3200[0,2) >0\n"
           "syscall 1\n"
           "return 1 -4\n"
           "1018[0,2) t >0\n");
}

/* ---- rep ---- */

static void test_rep(void **state)
{
    bed_rep_iteration(&bed, REP, 1);
    bed_rep_iteration(&bed, REP_AGAIN, 0);
    bed_rep_iteration(&bed, REP_AGAIN, 0);
    bed_run_block(&bed, REP_AGAIN); /* QEMU looks at the counter once more */
    bed_run_block(&bed, LEAVES);
    bed_load(&bed, 0, 0x7000, 8);
    expect("1030[0,2) >1031\n"
           "1031[0,1) c >1031\n"
           "1031[0,1) c >1031\n"
           "1033[0,1) t >0\n");
    assert_true(bed.looks > bed.words.len);
}

/* Iterations that have the same accesses come many at a time; one that has others, or none, does not belong to them. */
static void test_rep_of_many(void **state)
{
    struct as_str want = {0};
    bed_rep_iteration(&bed, REP, 1);
    as_str_add(&want, "1030[0,2) >1031\n");
    for (int i = 0; i < 20; i++) {
        bed_rep_iteration(&bed, REP_AGAIN, 0);
        as_str_add(&want, "1031[0,1) c >1031\n");
    }
    bed_run_block(&bed, REP_AGAIN);
    bed_load(&bed, 0, 0x5000, 1); /* an access less, as none has */
    as_str_add(&want, "1031[0,1) c >1031\n");
    bed_rep_iteration(&bed, REP_AGAIN, 0);
    as_str_add(&want, "1031[0,1) c >1031\n");
    bed_run_block(&bed, REP_AGAIN);
    bed_run_block(&bed, LEAVES);
    bed_load(&bed, 0, 0x7000, 8);
    as_str_add(&want, "1033[0,1) t >0\n");
    expect(as_str_get(&want));
    assert_true(bed.together > bed.words.len * 10); /* most of them, in most ways to cut the words */
    as_str_free(&want);
}

/* More than fit into one piece. */
static void test_rep_of_very_many(void **state)
{
    enum { ITERATIONS = 3 * AS_WORDS_MOST };
    struct as_str want = {0};
    bed_rep_iteration(&bed, REP, 1);
    as_str_add(&want, "1030[0,2) >1031\n");
    for (int i = 0; i < ITERATIONS; i++) {
        bed_rep_iteration(&bed, REP_AGAIN, 0);
        as_str_add(&want, "1031[0,1) c >1031\n");
    }
    bed_run_block(&bed, REP_AGAIN);
    bed_run_block(&bed, LEAVES);
    for (int blocks_only = 0; blocks_only < 2; blocks_only++)
        bed_expect(&bed, as_str_get(&want), &(struct bed_run){.split = 1000, .blocks_only = blocks_only});
    assert_true(bed.together > 2 * (ITERATIONS - 10));
    as_str_free(&want);
}

static void test_rep_of_nothing(void **state)
{
    bed_run_block(&bed, REP);
    bed_run_block(&bed, LEAVES);
    bed_load(&bed, 0, 0x7000, 8);
    expect("1030[0,2) >1033\n1033[0,1) t >0\n");
}

/* The same rep instruction, executed again: not a continuation. */
static void test_rep_twice(void **state)
{
    bed_rep_iteration(&bed, REP, 1);
    bed_run_block(&bed, REP_AGAIN);
    bed_run_block(&bed, LEAVES);
    bed_load(&bed, 0, 0x7000, 8);
    bed_rep_iteration(&bed, REP_AGAIN, 0);
    bed_rep_iteration(&bed, REP_AGAIN, 0);
    bed_run_block(&bed, REP_AGAIN);
    bed_run_block(&bed, LEAVES);
    bed_load(&bed, 0, 0x7000, 8);
    expect("1030[0,2) >1031\n"
           "1033[0,1) t >1031\n"
           "1031[0,1) >1031\n"
           "1031[0,1) c >1031\n"
           "1033[0,1) t >0\n");
}

enum { QEMU_RESTARTS = -512, QEMU_RETURNED = -513 };

static void return_by(uint32_t number, int64_t result)
{
    bed_syscall(&bed, number);
    bed_event(&bed, AS_WIRE_SYSCALL_RETURN, number, (const uint64_t[]){(uint64_t)result});
}
#define SIGRETURN_TOLD "syscall 15\nsigreturn\nreturn 15 -513\n"

/* A handler up to its sigreturn, and with it. */
static void handler_body(void)
{
    bed_run_block(&bed, HANDLER);
    bed_load(&bed, 0, 0x7000, 4);
    bed_load(&bed, 1, 0x7000, 8);
    bed_run_block(&bed, RESTORER);
}
#define HANDLER_BODY_TOLD "3000[0,2) t >3100\n3100[0,2) >0\n"

static void handler(void)
{
    handler_body();
    return_by(X86_SIGRETURN, QEMU_RETURNED);
}
#define HANDLER_TOLD HANDLER_BODY_TOLD SIGRETURN_TOLD

static void test_rep_interrupted(void **state)
{
    bed_rep_iteration(&bed, REP, 1);
    bed_signal(&bed, SIGUSR1_NUMBER, false, REP_AGAIN);
    handler();
    bed_rep_iteration(&bed, REP_AGAIN, 0);
    bed_run_block(&bed, REP_AGAIN);
    bed_run_block(&bed, LEAVES);
    bed_load(&bed, 0, 0x7000, 8);
    expect("1030[0,2) >1031\n"
           "signal 10 1031\n" HANDLER_TOLD "1031[0,1) c >1031\n"
           "1033[0,1) t >0\n");
}

/* The handler has a rep instruction of its own, and is interrupted in it. */
static void test_rep_interrupted_twice(void **state)
{
    bed_rep_iteration(&bed, REP, 1);
    bed_signal(&bed, SIGUSR1_NUMBER, false, REP_AGAIN);
    bed_run_block(&bed, HANDLER);
    bed_load(&bed, 0, 0x7000, 4);
    bed_load(&bed, 1, 0x7000, 8);
    bed_rep_iteration(&bed, REP_AGAIN, 0); /* by a jump: a new execution of the same instruction */
    bed_signal(&bed, SIGUSR1_NUMBER, false, REP_AGAIN);
    handler();
    bed_rep_iteration(&bed, REP_AGAIN, 0);
    bed_run_block(&bed, REP_AGAIN);
    bed_run_block(&bed, LEAVES);
    bed_load(&bed, 0, 0x7000, 8);
    bed_run_block(&bed, RESTORER);
    return_by(X86_SIGRETURN, QEMU_RETURNED);
    bed_rep_iteration(&bed, REP_AGAIN, 0);
    expect("1030[0,2) >1031\n"
           "signal 10 1031\n"
           "3000[0,2) t >1031\n"
           "1031[0,1) >1031\n"
           "signal 10 1031\n" HANDLER_TOLD "1031[0,1) c >1031\n"
           "1033[0,1) t >3100\n"
           "3100[0,2) >0\n" SIGRETURN_TOLD "1031[0,1) c >0\n");
}

/* Two signals at once: the second handler interrupts the first before its first instruction. */
static void test_rep_interrupted_by_two(void **state)
{
    bed_rep_iteration(&bed, REP, 1);
    bed_signal(&bed, SIGUSR1_NUMBER, false, HANDLER);
    handler();
    bed_signal(&bed, SIGUSR1_NUMBER, false, REP_AGAIN);
    handler();
    bed_rep_iteration(&bed, REP_AGAIN, 0);
    expect("1030[0,2) >3000\n"
           "signal 10 3000\n" HANDLER_TOLD "signal 10 1031\n" HANDLER_TOLD "1031[0,1) c >0\n");
}

/* A signal is delivered as soon as the handler of the one before has returned: the rep instruction does not get ahead. */
static void test_rep_interrupted_again_at_once(void **state)
{
    bed_rep_iteration(&bed, REP, 1);
    for (int i = 0; i < 2; i++) {
        bed_signal(&bed, SIGUSR1_NUMBER, false, REP_AGAIN);
        handler();
    }
    bed_rep_iteration(&bed, REP_AGAIN, 0);
    expect("1030[0,2) >1031\n"
           "signal 10 1031\n" HANDLER_TOLD "signal 10 1031\n" HANDLER_TOLD "1031[0,1) c >0\n");
}

/* A signal that the handler blocks comes just before its sigreturn: QEMU executes that call again. */
static void test_sigreturn_begins_again(void **state)
{
    bed_rep_iteration(&bed, REP, 1);
    bed_signal(&bed, SIGUSR1_NUMBER, false, REP_AGAIN);
    handler_body();
    return_by(X86_SIGRETURN, QEMU_RESTARTS);
    bed_run_block(&bed, RESTORED);
    return_by(X86_SIGRETURN, QEMU_RETURNED);
    bed_rep_iteration(&bed, REP_AGAIN, 0);
    expect("1030[0,2) >1031\n"
           "signal 10 1031\n" HANDLER_BODY_TOLD "syscall 15\n"
           "return 15 -512\n"
           "3107[0,1) >0\n" SIGRETURN_TOLD "1031[0,1) c >0\n");
}

/* … one that it does not block: a second handler runs before the first has returned. */
static void test_sigreturn_interrupted(void **state)
{
    bed_rep_iteration(&bed, REP, 1);
    bed_signal(&bed, SIGUSR1_NUMBER, false, REP_AGAIN);
    handler_body();
    return_by(X86_SIGRETURN, QEMU_RESTARTS);
    bed_signal(&bed, SIGUSR1_NUMBER, false, RESTORED);
    handler();
    bed_run_block(&bed, RESTORED);
    return_by(X86_SIGRETURN, QEMU_RETURNED);
    bed_rep_iteration(&bed, REP_AGAIN, 0);
    expect("1030[0,2) >1031\n"
           "signal 10 1031\n" HANDLER_BODY_TOLD "syscall 15\n"
           "return 15 -512\n"
           "signal 10 3107\n" HANDLER_TOLD "3107[0,1) >0\n" SIGRETURN_TOLD "1031[0,1) c >0\n");
}

/* The store of a later iteration faults: the iteration is repeated after the handler, and goes on with the same
 * instruction. */
static void test_rep_faults_later(void **state)
{
    bed_rep_iteration(&bed, REP, 1);
    bed_run_block(&bed, REP_AGAIN);
    bed_load(&bed, 0, 0x5001, 1);
    bed_signal(&bed, SIGSEGV_NUMBER, true, REP_AGAIN);
    handler();
    bed_rep_iteration(&bed, REP_AGAIN, 0);
    bed_run_block(&bed, REP_AGAIN);
    bed_run_block(&bed, LEAVES);
    bed_load(&bed, 0, 0x7000, 8);
    expect("1030[0,2) >1031\n"
           "signal 11 1031\n" HANDLER_TOLD "1031[0,1) c >1031\n"
           "1033[0,1) t >0\n");
}

/* The first iteration faults: the instruction has not begun. */
static void test_rep_faults_at_once(void **state)
{
    bed_run_block(&bed, REP);
    bed_load(&bed, 1, 0x5000, 1);
    bed_signal(&bed, SIGSEGV_NUMBER, true, REP_AGAIN);
    handler();
    bed_rep_iteration(&bed, REP_AGAIN, 0);
    bed_rep_iteration(&bed, REP_AGAIN, 0);
    expect("1030[0,1) >1031\n"
           "signal 11 1031\n" HANDLER_TOLD "1031[0,1) >1031\n"
           "1031[0,1) c >0\n");
}

/* A handler that leaves by longjmp: what it interrupted never goes on. */
static void test_rep_abandoned(void **state)
{
    bed_rep_iteration(&bed, REP, 1);
    bed_signal(&bed, SIGUSR1_NUMBER, false, REP_AGAIN);
    bed_run_block(&bed, HANDLER);
    bed_load(&bed, 0, 0x7000, 4);
    bed_load(&bed, 1, 0x7000, 8);
    bed_rep_iteration(&bed, REP_AGAIN, 0);
    bed_rep_iteration(&bed, REP_AGAIN, 0);
    expect("1030[0,2) >1031\n"
           "signal 10 1031\n"
           "3000[0,2) t >1031\n"
           "1031[0,1) >1031\n"
           "1031[0,1) c >0\n");
}

/* ---- signals and deaths ---- */

static void test_fault_in_the_middle(void **state)
{
    bed_run_block(&bed, MIX);
    bed_load(&bed, 0, 0x5000, 8);
    bed_signal(&bed, SIGSEGV_NUMBER, true, MIX_REST);
    handler();
    bed_run_block(&bed, MIX_REST);
    bed_load(&bed, 0, 0x5000, 8);
    bed_store(&bed, 0, 0x5000, 8);
    bed_run_block(&bed, BACK);
    expect("1000[0,1) >1003\n"
           "signal 11 1003\n" HANDLER_TOLD "1003[0,2) t >1018\n"
           "1018[0,2) t >0\n");
}

/* A read-modify-write whose load was reported and whose store faults. */
static void test_fault_between_load_and_store(void **state)
{
    bed_run_block(&bed, MIX);
    bed_load(&bed, 0, 0x5000, 8);
    bed_load(&bed, 1, 0x6000, 8);
    bed_signal(&bed, SIGSEGV_NUMBER, true, MIX_REST);
    handler();
    expect("1000[0,1) >1003\nsignal 11 1003\n" HANDLER_TOLD);
}

static void test_fault_at_the_start(void **state)
{
    bed_run_block(&bed, BACK);
    bed_run_block(&bed, MIX);
    bed_signal(&bed, SIGSEGV_NUMBER, true, MIX);
    handler();
    bed_mix(&bed, 0x5000);
    bed_run_block(&bed, CALLS);
    bed_store(&bed, 0, 0x7000, 8);
    bed_store(&bed, 1, 0x6ff8, 8);
    expect("1018[0,2) t >1000\n"
           "signal 11 1000\n" HANDLER_TOLD "1000[0,3) >1008\n"
           "1008[0,2) t >0\n");
}

/* A jump to where no code is: the block before it is complete. */
static void test_fault_at_the_target(void **state)
{
    bed_run_block(&bed, LEAVES);
    bed_load(&bed, 0, 0x7000, 8);
    bed_signal(&bed, SIGSEGV_NUMBER, true, 0x666000);
    expect("1033[0,1) t >666000\nsignal 11 666000\n");
}

static void test_asynchronous(void **state)
{
    bed_mix(&bed, 0x5000);
    bed_signal(&bed, SIGUSR1_NUMBER, false, BACK);
    handler();
    bed_run_block(&bed, BACK);
    bed_mix(&bed, 0x5000);
    bed_signal(&bed, SIGUSR1_NUMBER, false, CALLS);
    expect("1000[0,3) t >1018\n"
           "signal 10 1018\n" HANDLER_TOLD "1018[0,2) t >1000\n"
           "1000[0,3) >1008\n"
           "signal 10 1008\n");
}

/* A loop of one block: where it goes on is also where it began. */
static void test_asynchronous_in_a_loop(void **state)
{
    bed_run_block(&bed, LOOP);
    bed_run_block(&bed, LOOP);
    bed_signal(&bed, SIGUSR1_NUMBER, false, LOOP);
    handler();
    bed_run_block(&bed, LOOP);
    bed_run_block(&bed, BEHIND);
    bed_load(&bed, 3, 0x7000, 8);
    expect("1200[0,2) t >1200\n"
           "1200[0,2) t >1200\n"
           "signal 10 1200\n" HANDLER_TOLD "1200[0,2) >1205\n"
           "1205[0,4) t >0\n");
}

static void frame(uint64_t place)
{
    bed_store(&bed, 0, place, 2);
    bed_store(&bed, 0, place + 2, 2);
    bed_store(&bed, 0, place + 4, 2);
    bed_store(&bed, 0, place + 8, 8);
    bed_load(&bed, 0, 0x4000802028, 4);
}

/* QEMU saves the FP registers in a signal's frame and reports that as the block's accesses: they are not. */
static void test_signal_frame_is_not_accessed(void **state)
{
    bed_rep_iteration(&bed, REP_AGAIN, 0);
    frame(0x7ffa40);
    frame(0x7fefc0); /* two signals at once */
    bed_signal(&bed, SIGUSR1_NUMBER, false, REP_AGAIN);
    for (size_t split = 0; split <= bed.words.len; split++)
        bed_expect(&bed, "1031[0,1) >1031 =2\nsignal 10 1031\n",
                   &(struct bed_run){.split = split, .finish = true, .count_words = true});
}

/* The same words without a signal, or elsewhere, are what they seem to be. */
static void test_no_signal_frame(void **state)
{
    const struct bed_run run = {.finish = true, .count_words = true};
    bed_rep_iteration(&bed, REP_AGAIN, 0);
    frame(0x7ffa40);
    bed_expect(&bed, "1031[0,1) >0 =7\n", &run);
    as_vec_clear(&bed.words);
    bed_rep_iteration(&bed, REP_AGAIN, 0);
    frame(0x7ffa48);
    bed_signal(&bed, SIGUSR1_NUMBER, false, REP_AGAIN);
    bed_expect(&bed, "1031[0,1) >1031 =7\nsignal 10 1031\n", &run);
}

static void test_signal_after_a_system_call(void **state)
{
    bed_run_block(&bed, SYSCALL);
    bed_syscall(&bed, 1);
    bed_signal(&bed, SIGUSR1_NUMBER, false, 0x3203);
    handler();
    bed_run_block(&bed, BACK);
    expect("3200[0,2) >0\n"
           "syscall 1\n"
           "signal 10 3203\n" HANDLER_TOLD "1018[0,2) t >0\n");
}

static void test_self_modified(void **state)
{
    bed_run_block(&bed, SELF);
    bed_run_block(&bed, SELF_STORE);
    bed_store(&bed, 0, 0x1103, 1);
    bed_run_block(&bed, SELF_REST);
    bed_load(&bed, 1, 0x7000, 8);
    bed_run_block(&bed, BACK);
    expect("1100[0,1) >1101\n"
           "1101[0,1) >1103\n"
           "1103[0,2) t >1018\n"
           "1018[0,2) t >0\n");
}

/* The same in a block that completed before: the short way must not be taken. */
static void test_self_modified_later(void **state)
{
    for (int i = 0; i < 2; i++) {
        bed_run_block(&bed, SELF);
        bed_store(&bed, 1, 0x5000, 1);
        bed_load(&bed, 3, 0x7000, 8);
        bed_run_block(&bed, BACK);
        bed_mix(&bed, 0x5000);
    }
    bed_run_block(&bed, SELF);
    bed_run_block(&bed, SELF_STORE);
    bed_store(&bed, 0, 0x1103, 1);
    expect("1100[0,4) t >1018\n1018[0,2) t >1000\n1000[0,3) t >1100\n"
           "1100[0,4) t >1018\n1018[0,2) t >1000\n1000[0,3) t >1100\n"
           "1100[0,1) >1101\n1101[0,1) >0\n");
}

/* QEMU goes on in the middle, where the block's end does not lead: only what is before it completed. */
static void test_begun_again(void **state)
{
    bed_run_block(&bed, MIX);
    bed_load(&bed, 0, 0x5000, 8);
    bed_run_block(&bed, MIX_REST);
    bed_load(&bed, 0, 0x5000, 8);
    bed_store(&bed, 0, 0x5000, 8);
    bed_run_block(&bed, BACK);
    expect("1000[0,1) >1003\n1003[0,2) t >1018\n1018[0,2) t >0\n");
}

/* The block that ends in a return did complete: what follows is no second try but another block at that place. */
static void test_return_into_the_block(void **state)
{
    bed_run_block(&bed, SELF);
    bed_store(&bed, 1, 0x5000, 1);
    bed_load(&bed, 3, 0x7000, 8);
    bed_run_block(&bed, SELF_REST);
    bed_load(&bed, 1, 0x7000, 8);
    expect("1100[0,4) t >1103\n1103[0,2) t >0\n");
}

static void test_death_with_a_place(void **state)
{
    bed_run_block(&bed, BACK);
    bed_run_block(&bed, MIX);
    bed_load(&bed, 0, 0x5000, 8);
    bed_death(&bed, SIGSEGV_NUMBER, MIX_REST);
    expect("1018[0,2) t >1000\n1000[0,1) >1003\n");
}

static void test_death_without_a_place(void **state)
{
    bed_run_block(&bed, MIX);
    bed_load(&bed, 0, 0x5000, 8);
    bed_death(&bed, SIGSEGV_NUMBER, 0);
    bed_expect_always(&bed, "1000[0,1) >0\n", RECORDED_ONLY);
    bed_expect_always(&bed, "1000[0,3) >0\n", BLOCKS_ONLY);
}

/* Killed from outside between two blocks: where the thread stands is where it would have gone on. */
static void test_death_from_outside(void **state)
{
    bed_run_block(&bed, LOOP);
    bed_run_block(&bed, LOOP);
    bed_death(&bed, SIGTERM_NUMBER, LOOP);
    expect("1200[0,2) t >1200\n1200[0,2) t >1200\n");
}

/* Killed without a word, in the middle of a block. */
static void test_end_without_a_word(void **state)
{
    bed_run_block(&bed, MIX);
    bed_load(&bed, 0, 0x5000, 8);
    bed_expect_always(&bed, "1000[0,1) >0\n", RECORDED_ONLY);
    bed_load(&bed, 1, 0x5000, 8); /* read, not yet written */
    bed_expect_always(&bed, "1000[0,1) >0\n", RECORDED_ONLY);
    bed_store(&bed, 1, 0x5000, 8);
    bed_expect_always(&bed, "1000[0,3) >0\n", RECORDED_ONLY);
}

/* QEMU goes on although an access is missing: it does not report that one, and the instruction completed. */
static void test_silent_instruction(void **state)
{
    for (int i = 0; i < 3; i++) {
        bed_run_block(&bed, MIX);
        bed_load(&bed, 1, 0x5000, 8);
        bed_store(&bed, 1, 0x5000, 8);
        bed_run_block(&bed, BACK);
    }
    char *seen = bed_tell(&bed, &(struct bed_run){.split = 0});
    assert_string_equal(seen, "1000[0,3) t >1018\n1018[0,2) t >1000\n1000[0,3) t >1018\n1018[0,2) t >1000\n"
                              "1000[0,3) t >1018\n");
    free(seen);
    assert_int_equal(bed.disagreements, 1);
    assert_true(as_code_table_block(&bed.code, MIX)->flags & AS_BLOCK_DISAGREES);
    assert_false(as_code_table_block(&bed.code, BACK)->flags & AS_BLOCK_DISAGREES);
}

static void test_agreeing_blocks_are_checked(void **state)
{
    bed_mix(&bed, 0x5000);
    bed_run_block(&bed, BACK);
    char *seen = bed_tell(&bed, &(struct bed_run){.split = 0, .finish = true});
    free(seen);
    assert_int_equal(bed.disagreements, 0);
    assert_int_equal(as_code_table_block(&bed.code, MIX)->flags, AS_BLOCK_CHECKED);
}

static void test_riscv_sigreturn(void **state)
{
    enum { RV_LOOP = 0x4000 };
    bed.image = 2;
    bed_block(&bed, RV_LOOP, "13 05 f5 ff, 73 00 00 00"); /* addi a0, a0, -1; ecall */
    bed_run_block(&bed, RV_LOOP);
    return_by(X86_SIGRETURN, 0);
    bed_run_block(&bed, RV_LOOP);
    return_by(RISCV_SIGRETURN, QEMU_RETURNED);
    expect("4000[0,2) >0\nsyscall 15\nreturn 15 0\n"
           "4000[0,2) >0\nsyscall 139\nsigreturn\nreturn 139 -513\n");
}

static uint64_t time_after(uint64_t last, uint64_t stamp)
{
    return as_wire_time_of(last, stamp << AS_WIRE_STAMP_SHIFT | MIX);
}

/* A thread reports the whole time before a stamp that is further ahead than half of what the bits can hold. */
static void test_stamps(void **state)
{
    enum { LAST = 0x5000010 };
    assert_int_equal(time_after(LAST, 0x10), LAST);
    assert_int_equal(time_after(LAST, 0x11), LAST + 1);
    assert_int_equal(time_after(LAST, 0x10 + AS_WIRE_STAMP_MASK / 2), LAST + AS_WIRE_STAMP_MASK / 2);
    assert_int_equal(time_after(0x5fffff0, 1), 0x6000001); /* the bits have come round */
    assert_int_equal(time_after(LAST, 0), LAST);           /* none, not nearly a whole round later */
    assert_int_equal(time_after(LAST, 0xf), LAST);
}

/* A sink that takes two blocks of an offer, as a model would. */
struct taker {
    uint32_t offers, blocks;
    uint64_t times[8]; /* of the blocks at hand when they were offered */
};

static void count_block(void *context, struct as_thread *thread, const struct as_block_exec *exec)
{
    ((struct taker *)context)->blocks++;
}

static void take_two(void *context, struct as_thread *thread, struct as_words_ahead *ahead)
{
    struct taker *taker = context;
    taker->times[taker->offers++ % 8] = ahead->time;
    for (int i = 0; i < 2; i++) {
        size_t at = ahead->at;
        while (at < ahead->n && ahead->words[at] & AS_WIRE_ACCESS_MASK)
            at++;
        if (at == ahead->n)
            return;
        ahead->instructions += as_block_pages_get(ahead->blocks, ahead->number)->n;
        ahead->number = (uint32_t)ahead->words[at];
        ahead->time = as_wire_time_of(ahead->time, ahead->words[at]);
        ahead->at = at + 1;
    }
}

/* Five times MIX and BACK, whose stamps are half a round apart: the bits alone do not say when the last one was. */
static void add_stamped_loop(uint64_t first, uint64_t step)
{
    bed_event(&bed, AS_WIRE_TIME, 0, &first);
    for (int i = 0; i < 5; i++) {
        bed_mix(&bed, 0x5000);
        bed_run_block(&bed, BACK);
    }
    for (size_t i = 2; i < bed.words.len; i++)
        if (!(bed.words.data[i] & AS_WIRE_ACCESS_MASK)) {
            bed.words.data[i] |= (first & AS_WIRE_STAMP_MASK) << AS_WIRE_STAMP_SHIFT;
            first += step;
        }
}

static void test_take_with_stamps(void **state)
{
    enum { FIRST = 0x7000123, STEP = (int)(AS_WIRE_STAMP_MASK / 2) };
    static const struct as_sink sink = {.block = count_block, .take = take_two};
    struct taker taker = {0};
    struct as_region_run regions;
    struct as_stream stream = {.code = &bed.code, .regions = &regions, .sink = &sink, .context = &taker};
    size_t done;
    add_stamped_loop(FIRST, STEP);
    as_region_run_init(&regions, &bed.regions);
    stream.thread = (struct as_thread){.number = 1, .image = as_code_table_find_image(&bed.code, bed.image)};
    assert_int_equal(as_stream_consume(&stream, bed.words.data, bed.words.len, &done), AS_STREAM_OK);
    assert_int_equal(done, bed.words.len);
    assert_int_equal(stream.causal.time, FIRST + 9 * (uint64_t)STEP);
    assert_int_equal(stream.block_id, BACK);
    assert_int_equal(taker.blocks, 0);
    assert_true(taker.offers >= 5);
    assert_int_equal(taker.times[0], FIRST + (uint64_t)STEP); /* the next block has begun */
    assert_int_equal(stream.executed, 5 * 3 + 4 * 2);
    as_stream_free(&stream);
    as_region_run_free(&regions);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_cut),
        TEST(test_stamps),
        TEST(test_take_with_stamps),
        TEST(test_branches),
        TEST(test_words_belong_to_their_block),
        TEST(test_repeated),
        TEST(test_last_block_waits),
        TEST(test_empty),
        TEST(test_system_calls),
        TEST(test_rep),
        TEST(test_rep_of_many),
        TEST(test_rep_of_very_many),
        TEST(test_rep_of_nothing),
        TEST(test_rep_twice),
        TEST(test_rep_interrupted),
        TEST(test_rep_interrupted_twice),
        TEST(test_rep_interrupted_by_two),
        TEST(test_rep_interrupted_again_at_once),
        TEST(test_sigreturn_begins_again),
        TEST(test_sigreturn_interrupted),
        TEST(test_rep_faults_later),
        TEST(test_rep_faults_at_once),
        TEST(test_rep_abandoned),
        TEST(test_fault_in_the_middle),
        TEST(test_fault_between_load_and_store),
        TEST(test_fault_at_the_start),
        TEST(test_fault_at_the_target),
        TEST(test_asynchronous),
        TEST(test_asynchronous_in_a_loop),
        TEST(test_signal_frame_is_not_accessed),
        TEST(test_no_signal_frame),
        TEST(test_signal_after_a_system_call),
        TEST(test_self_modified),
        TEST(test_self_modified_later),
        TEST(test_begun_again),
        TEST(test_return_into_the_block),
        TEST(test_death_with_a_place),
        TEST(test_death_without_a_place),
        TEST(test_death_from_outside),
        TEST(test_end_without_a_word),
        TEST(test_silent_instruction),
        TEST(test_agreeing_blocks_are_checked),
        TEST(test_riscv_sigreturn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
