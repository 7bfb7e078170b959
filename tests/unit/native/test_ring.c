/* The kernel's buffers, made by hand: records that wrap around the end, AUX data, buffers that are refused; a breakpoint's
 * one hit with what the thread had then; and the caches of a made-up machine. */
#include "native/breakpoint.h"
#include "native/host_caches.h"
#include "native/ring.h"

#include "machine_tree.h"
#include "perf_here.h"
#include "unit.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { SIZE = 64 };

static struct perf_event_mmap_page page;
static uint8_t data[SIZE], aux[SIZE];

static struct as_ring made_ring(uint64_t head, uint64_t tail)
{
    page = (struct perf_event_mmap_page){.data_head = head, .data_tail = tail, .aux_head = head, .aux_tail = tail};
    for (unsigned i = 0; i < SIZE; i++) {
        data[i] = (uint8_t)i;
        aux[i] = (uint8_t)(i + 100);
    }
    return (struct as_ring){.page = &page, .data = data, .size = SIZE, .aux = aux, .aux_size = SIZE};
}

/* Bytes are taken in order, around the end; their room is the kernel's again. */
static void takes_around_the_end(void **state)
{
    uint8_t bytes[SIZE + 1];
    struct as_ring ring = made_ring(10 * SIZE + 20, 10 * SIZE - 8);
    assert_int_equal(as_ring_pending(&ring), 28);
    memset(bytes, 0xee, sizeof bytes);
    as_ring_take(&ring, bytes, 28);
    for (unsigned i = 0; i < 28; i++)
        assert_int_equal(bytes[i], (SIZE - 8 + i) % SIZE);
    assert_int_equal(bytes[28], 0xee);
    assert_int_equal(page.data_tail, 10 * SIZE + 20);
    assert_int_equal(as_ring_pending(&ring), 0);
}

static void takes_within(void **state)
{
    uint8_t bytes[SIZE];
    struct as_ring ring = made_ring(SIZE + 40, SIZE + 10);
    as_ring_take(&ring, bytes, 30);
    for (unsigned i = 0; i < 30; i++)
        assert_int_equal(bytes[i], 10 + i);
    ring = made_ring(2 * SIZE, SIZE);
    assert_int_equal(as_ring_pending(&ring), SIZE);
    ring = made_ring(2 * SIZE + 1, SIZE); /* more than there can be: somebody wrote there */
    assert_int_equal(as_ring_pending(&ring), 0);
}

/* AUX data comes in pieces that do not wrap. */
static void takes_aux(void **state)
{
    const uint8_t *bytes;
    uint64_t offset;
    struct as_ring ring = made_ring(3 * SIZE + 20, 3 * SIZE - 8);
    assert_int_equal(as_ring_aux(&ring, &bytes, &offset), 8);
    assert_int_equal(offset, 3 * SIZE - 8);
    assert_ptr_equal(bytes, aux + SIZE - 8);
    as_ring_aux_done(&ring, 8);
    assert_int_equal(as_ring_aux(&ring, &bytes, &offset), 20);
    assert_int_equal(offset, 3 * SIZE);
    assert_ptr_equal(bytes, aux);
    as_ring_aux_done(&ring, 20);
    assert_int_equal(as_ring_aux(&ring, &bytes, &offset), 0);
    ring.aux = NULL;
    assert_int_equal(as_ring_aux(&ring, &bytes, &offset), 0);
}

static size_t mapped_size(size_t size)
{
    struct as_ring ring;
    int fd = memfd_create("ring", MFD_CLOEXEC);
    assert_int_equal(ftruncate(fd, 1 << 20), 0);
    assert_true(as_ring_map(&ring, fd, size, size));
    size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
    assert_ptr_equal(ring.data, (uint8_t *)ring.page + page_size);
    assert_int_equal(ring.mapped, page_size + ring.size);
    assert_int_equal(ring.fd, fd);
    ring.data[ring.size - 1] = 1;
    as_ring_unmap(&ring);
    assert_null(ring.page);
    as_ring_unmap(&ring); /* once more does nothing */
    close(fd);
    return ring.size;
}

/* A power of two of pages, as the kernel wants it; a descriptor that cannot be mapped is refused at once. */
static void maps(void **state)
{
    size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
    struct as_ring ring;
    assert_int_equal(mapped_size(1), page_size);
    assert_int_equal(mapped_size(page_size), page_size);
    assert_int_equal(mapped_size(page_size - 1), page_size);
    assert_int_equal(mapped_size(page_size + 1), 2 * page_size);
    assert_int_equal(mapped_size(2 * page_size), 2 * page_size);
    assert_int_equal(mapped_size(2 * page_size + 1), 4 * page_size);
    assert_int_equal(mapped_size(5 * page_size), 8 * page_size);
    assert_int_equal(mapped_size(100 * page_size), 128 * page_size);
    errno = 0;
    assert_false(as_ring_map(&ring, -1, 8 * page_size, page_size));
    assert_int_equal(errno, EBADF);
    assert_null(ring.page);
}

/* However much is asked for, it is 4 GiB. */
static void maps_no_more(void **state)
{
    struct as_ring ring;
    int fd = memfd_create("ring", MFD_CLOEXEC);
    assert_true(as_ring_map(&ring, fd, SIZE_MAX, SIZE_MAX));
    assert_true(ring.size == (size_t)1 << 32);
    as_ring_unmap(&ring);
    assert_true(as_ring_map(&ring, fd, ((size_t)1 << 31) + 1, 1));
    assert_true(ring.size == (size_t)1 << 32);
    as_ring_unmap(&ring);
    close(fd);
}

static size_t own_memory(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu", &pages), 1);
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Where there is no room for as much, half of it, and half of that, but not less than will do. */
static void maps_less(void **state)
{
    enum { MIB = 1 << 20 };
    struct rlimit before, limit;
    struct as_ring ring;
    if (UNIT_SANITIZED)
        unit_skip("the address sanitizer has more memory than any limit");
    int fd = memfd_create("ring", MFD_CLOEXEC);
    assert_int_equal(ftruncate(fd, MIB), 0);
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    limit = (struct rlimit){own_memory() + 24 * MIB, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
    bool half = as_ring_map(&ring, fd, 64 * MIB, MIB), beside = half && as_ring_map_aux(&ring, 32 * MIB, MIB);
    size_t size = ring.size, aux_size = beside ? ring.aux_size : 0, told = beside ? ring.page->aux_size : 0;
    bool no_aux = half && as_ring_map_aux(&(struct as_ring){.fd = fd, .page = ring.page}, 32 * MIB, 16 * MIB);
    if (half)
        as_ring_unmap(&ring);
    errno = 0;
    bool least = as_ring_map(&ring, fd, 64 * MIB, 32 * MIB);
    int error = errno;
    setrlimit(RLIMIT_AS, &before);
    assert_true(half && beside);
    assert_int_equal(size, 16 * MIB);
    assert_in_range(aux_size, MIB, 4 * MIB);
    assert_int_equal(told, aux_size);
    assert_false(no_aux);
    assert_false(least);
    assert_int_equal(error, ENOMEM);
    close(fd);
}

/* The AUX buffer lies behind the other one, and the page says so. */
static void maps_aux(void **state)
{
    size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
    struct as_ring ring;
    int fd = memfd_create("ring", MFD_CLOEXEC);
    assert_int_equal(ftruncate(fd, 1 << 20), 0);
    assert_true(as_ring_map(&ring, fd, page_size, page_size));
    assert_true(as_ring_map_aux(&ring, 3 * page_size, page_size));
    assert_int_equal(ring.aux_size, 4 * page_size);
    assert_int_equal(ring.page->aux_offset, 2 * page_size);
    assert_int_equal(ring.page->aux_size, 4 * page_size);
    char byte = 'x';
    assert_int_equal(pwrite(fd, &byte, 1, (off_t)(2 * page_size + 5)), 1);
    assert_int_equal(ring.aux[5], 'x');
    as_ring_unmap(&ring);
    assert_null(ring.aux);
    assert_true(as_ring_map(&ring, fd, page_size, page_size));
    assert_true(as_ring_map_aux(&ring, page_size, page_size)); /* no less will do */
    as_ring_unmap(&ring);
    close(fd);
}

/* ---- breakpoints ---- */

#ifdef __x86_64__
static volatile uint32_t word;
static struct as_breakpoint_hit hit;

__attribute__((noinline)) static void store(uint64_t marked)
{
    __asm__ volatile("mov %1, %%r13\n movl $7, %0" : "=m"(word) : "r"(marked) : "r13");
}

/* Which time of several; it has the thread's registers and stack at that moment, and does not hit again. */
static void hits_once(void **state)
{
    enum { R13_OF_REGISTERS = 17 }; /* in the order of perf's numbers, without ds, es, fs, gs */
    const char *refusal = unit_no_watchpoints();
    if (refusal)
        unit_skip("no watchpoints: %s", refusal);
    struct as_breakpoint_order order = {.tid = (uint32_t)gettid(),
                                        .type = HW_BREAKPOINT_W,
                                        .address = (uintptr_t)&word,
                                        .length = sizeof word,
                                        .nth = 3,
                                        .chain = true};
    struct as_ring ring;
    assert_true(as_breakpoint_open(&ring, &order));
    for (uint64_t i = 1; i <= 2; i++)
        store(1000 + i);
    assert_false(as_breakpoint_take(&ring, true, &hit));
    for (uint64_t i = 3; i <= 8; i++)
        store(1000 + i);
    assert_true(as_breakpoint_take(&ring, true, &hit));
    assert_int_equal(hit.sample.tid, gettid());
    assert_int_equal(hit.sample.pid, getpid());
    assert_in_range(hit.sample.ip, (uintptr_t)store, (uintptr_t)store + 256);
    assert_int_equal(hit.sample.user_regs.count, 20);
    assert_int_equal(hit.values[R13_OF_REGISTERS], 1003);
    assert_true(hit.sample.n_chain >= 2);
    assert_int_equal(hit.sample.stack_size, 64);
    assert_int_equal(hit.sample.stack_valid, 64);
    assert_int_equal(hit.hits, 1);
    assert_false(as_breakpoint_take(&ring, true, &hit));
    assert_true(as_breakpoint_seconds(&ring) > 0);
    as_breakpoint_close(&ring);
    order.length = 3; /* no such */
    assert_false(as_breakpoint_open(&ring, &order));
    assert_int_equal(errno, EINVAL);
}
#endif

/* What the kernel says, for people: each reason its own. */
static void says_why(void **state)
{
    static const int errors[] = {ENOSPC, EPERM, EACCES, EMFILE, ENOENT, ESRCH};
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(as_breakpoint_refusal(errors[i]), as_breakpoint_refusal(errors[j]));
    assert_non_null(strstr(as_breakpoint_refusal(ENOSPC), "in use by another program"));
    assert_non_null(strstr(as_breakpoint_refusal(EPERM), "locked memory"));
    assert_non_null(strstr(as_breakpoint_refusal(EACCES), "permission"));
    assert_non_null(strstr(as_breakpoint_refusal(EMFILE), "file descriptors"));
    assert_string_equal(as_breakpoint_refusal(EOPNOTSUPP), as_breakpoint_refusal(ENOENT));
    assert_non_null(strstr(as_breakpoint_refusal(ENOENT), "no debug registers"));
    assert_string_equal(as_breakpoint_refusal(ESRCH), strerror(ESRCH));
}

/* ---- caches ---- */

static void put_cache(int index, const char *type, const char *level, const char *size, const char *ways)
{
    const char *const names[] = {"type", "level", "size", "ways_of_associativity"};
    const char *const texts[] = {type, level, size, ways};
    char path[128];
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "/devices/system/cpu/cpu0/cache/index%d/%s", index, names[i]);
        if (texts[i])
            machine_put(path, texts[i]);
    }
}

/* Data and unified caches, in their order; what is not known is left out, or 0. */
static void reads_caches(void **state)
{
    struct as_host_cache caches[AS_HOST_CACHES];
    assert_int_equal(as_host_caches_read(machine_root, caches), 0);
    put_cache(0, "Data", "1", "48K", "12");
    put_cache(1, "Instruction", "1", "32K", "8");
    put_cache(2, "Unified", "2", "2M", "16");
    put_cache(3, "Unified", "3", "1G", NULL);
    put_cache(4, "Unified", NULL, "5M", "1");
    put_cache(5, "Unified", "4", NULL, "1");
    put_cache(6, "Unified", "0", "5M", "1");
    put_cache(7, "Unified", "5", "0", "1");
    put_cache(8, "Unified", "6", "512", "3");
    put_cache(10, "Unified", "7", "1K", "1"); /* behind a gap */
    assert_int_equal(as_host_caches_read(machine_root, caches), 4);
    static const struct as_host_cache known[] = {{1, 12, 48 << 10}, {2, 16, 2 << 20}, {3, 0, 1 << 30}, {6, 3, 512}};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(caches[i].level, known[i].level);
        assert_int_equal(caches[i].ways, known[i].ways);
        assert_int_equal(caches[i].bytes, known[i].bytes);
    }
}

/* No more than there is room for. */
static void reads_no_more_caches(void **state)
{
    struct as_host_cache caches[AS_HOST_CACHES + 1] = {0};
    for (int i = 0; i < AS_HOST_CACHES + 2; i++)
        put_cache(i, "Data", "1", "48K", "12");
    assert_int_equal(as_host_caches_read(machine_root, caches), AS_HOST_CACHES);
    assert_int_equal(caches[AS_HOST_CACHES].level, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_around_the_end),
        cmocka_unit_test(takes_within),
        cmocka_unit_test(takes_aux),
        cmocka_unit_test(maps),
        cmocka_unit_test(maps_no_more),
        cmocka_unit_test(maps_less),
        cmocka_unit_test(maps_aux),
#ifdef __x86_64__
        cmocka_unit_test(hits_once),
#endif
        cmocka_unit_test(says_why),
        cmocka_unit_test_setup_teardown(reads_caches, machine_set_up, machine_tear_down),
        cmocka_unit_test_setup_teardown(reads_no_more_caches, machine_set_up, machine_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
