/* See qemu_cpuid.h.
 *
 * The program is a static ELF file in memory: there is nothing to install or to clean up, and it starts in the few
 * milliseconds that QEMU itself takes.
 */
#include "engine/qemu_cpuid.h"

#include "engine/find_qemu.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BASE = 0x400000 };

static const uint8_t code[] = {
    0x48, 0x83, 0xec, 0x40,                         /*     sub $64, %rsp            what is printed */
    0x49, 0x89, 0xe0,                               /*     mov %rsp, %r8 */
    0x48, 0x8d, 0x35, 0x46, 0x00, 0x00, 0x00,       /*     lea leaves(%rip), %rsi */
    0x41, 0xb9, 0x04, 0x00, 0x00, 0x00,             /*     mov $4, %r9d */
    0x8b, 0x06,                                     /* 1:  mov (%rsi), %eax         the leaf */
    0x8b, 0x4e, 0x04,                               /*     mov 4(%rsi), %ecx        … and the part of it */
    0x0f, 0xa2,                                     /*     cpuid */
    0x41, 0x89, 0x00,                               /*     mov %eax, (%r8) */
    0x41, 0x89, 0x58, 0x04,                         /*     mov %ebx, 4(%r8) */
    0x41, 0x89, 0x48, 0x08,                         /*     mov %ecx, 8(%r8) */
    0x41, 0x89, 0x50, 0x0c,                         /*     mov %edx, 12(%r8) */
    0x49, 0x83, 0xc0, 0x10,                         /*     add $16, %r8 */
    0x48, 0x83, 0xc6, 0x08,                         /*     add $8, %rsi */
    0x41, 0xff, 0xc9,                               /*     dec %r9d */
    0x75, 0xdd,                                     /*     jnz 1b */
    0xb8, 0x01, 0x00, 0x00, 0x00,                   /*     mov $1, %eax             write(1, words, 64) */
    0x89, 0xc7,                                     /*     mov %eax, %edi */
    0x48, 0x89, 0xe6,                               /*     mov %rsp, %rsi */
    0xba, 0x40, 0x00, 0x00, 0x00,                   /*     mov $64, %edx */
    0x0f, 0x05,                                     /*     syscall */
    0xb8, 0x3c, 0x00, 0x00, 0x00,                   /*     mov $60, %eax            exit(0) */
    0x31, 0xff,                                     /*     xor %edi, %edi */
    0x0f, 0x05,                                     /*     syscall */
    0x0f, 0x1f, 0x00,                               /*     nopl (%rax) */
    0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, /* leaves: enum as_cpuid_leaf */
    0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, /**/
    0x07, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, /**/
    0x01, 0x00, 0x00, 0x80, 0x00, 0x00, 0x00, 0x00, /**/
};

struct image {
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    uint8_t code[sizeof code];
};

static struct image make_image(void)
{
    struct image image = {
        .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                   .e_type = ET_EXEC,
                   .e_machine = EM_X86_64,
                   .e_version = EV_CURRENT,
                   .e_entry = BASE + offsetof(struct image, code),
                   .e_phoff = offsetof(struct image, segment),
                   .e_ehsize = sizeof(Elf64_Ehdr),
                   .e_phentsize = sizeof(Elf64_Phdr),
                   .e_phnum = 1},
        .segment = {.p_type = PT_LOAD,
                    .p_flags = PF_R | PF_X,
                    .p_vaddr = BASE,
                    .p_paddr = BASE,
                    .p_filesz = sizeof image,
                    .p_memsz = sizeof image,
                    .p_align = 4096}};
    memcpy(image.code, code, sizeof code);
    return image;
}

bool as_qemu_cpuid(const char *qemu, struct as_cpuid *cpuid)
{
    struct image image = make_image();
    char path[32], answer[sizeof *cpuid + 1];
    int fd = memfd_create("assay-cpuid", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    bool ok = fd >= 0 && write(fd, &image, sizeof image) == (ssize_t)sizeof image &&
              as_qemu_ask(qemu, path, fd, answer, sizeof answer) == sizeof *cpuid;
    if (ok)
        memcpy(cpuid, answer, sizeof *cpuid);
    if (fd >= 0)
        close(fd);
    return ok;
}
