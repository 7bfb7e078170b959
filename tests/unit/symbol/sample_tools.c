/* See sample_tools.h. */
#include "sample_tools.h"

#include "base/vec.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void must_read(int fd, void *to, size_t size, uint64_t offset)
{
    if (pread(fd, to, size, (off_t)offset) != (ssize_t)size)
        abort();
}

static int must_open(const char *path, Elf64_Ehdr *ehdr)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        perror(path);
        abort();
    }
    must_read(fd, ehdr, sizeof *ehdr, 0);
    return fd;
}

void sample_map(struct as_space *space, const char *path, uint64_t bias)
{
    Elf64_Ehdr ehdr;
    int fd = must_open(path, &ehdr);
    for (int i = 0; i < ehdr.e_phnum; i++) {
        Elf64_Phdr p;
        must_read(fd, &p, sizeof p, ehdr.e_phoff + (uint64_t)i * sizeof p);
        uint64_t page = ~(uint64_t)4095;
        if (p.p_type == PT_LOAD)
            as_space_map(space, bias + (p.p_vaddr & page), bias + ((p.p_vaddr + p.p_filesz + 4095) & page),
                         p.p_offset & page, path);
    }
    close(fd);
}

struct sample_section sample_section(const char *path, const char *name)
{
    Elf64_Ehdr ehdr;
    Elf64_Shdr names, shdr;
    struct sample_section found = {0};
    int fd = must_open(path, &ehdr);
    must_read(fd, &names, sizeof names, ehdr.e_shoff + (uint64_t)ehdr.e_shstrndx * sizeof names);
    for (int i = 0; i < ehdr.e_shnum; i++) {
        char text[64] = "";
        must_read(fd, &shdr, sizeof shdr, ehdr.e_shoff + (uint64_t)i * sizeof shdr);
        if (pread(fd, text, sizeof text - 1, (off_t)(names.sh_offset + shdr.sh_name)) > 0 && strcmp(text, name) == 0)
            found = (struct sample_section){.address = shdr.sh_addr, .size = shdr.sh_size};
    }
    close(fd);
    return found;
}

int sample_run(const char *command, void (*line)(void *context, char *text), void *context)
{
    FILE *pipe = popen(command, "re");
    char *text = NULL;
    size_t cap = 0;
    if (pipe == NULL)
        return -1;
    for (ssize_t n; (n = getline(&text, &cap, pipe)) > 0;) {
        if (text[n - 1] == '\n')
            text[n - 1] = '\0';
        line(context, text);
    }
    free(text);
    return pclose(pipe);
}

/* "address [size] type name" */
static void take_symbol(void *context, char *text)
{
    struct sample_symbols *symbols = context;
    struct sample_symbol symbol = {0};
    char *at = text;
    symbol.address = strtoull(at, &at, 16);
    if (at == text || *at != ' ')
        return;
    char *size_end;
    uint64_t size = strtoull(at + 1, &size_end, 16);
    if (size_end - (at + 1) == 16) {
        symbol.size = size;
        at = size_end;
    }
    symbol.type = at[1];
    if (strchr("TtWwi", symbol.type) == NULL || at[2] != ' ')
        return;
    char *version = strchr(at + 3, '@');
    symbol.versioned = version != NULL;
    symbol.hidden_version = version != NULL && version[1] != '@';
    if (version != NULL)
        *version = '\0';
    symbol.name = as_strdup(at + 3);
    *as_vec_push(symbols) = symbol;
}

void sample_nm(struct sample_symbols *symbols, const char *nm, const char *options, const char *path)
{
    char *command = as_format("%s %s '%s' 2>/dev/null", nm, options, path);
    sample_run(command, take_symbol, symbols);
    free(command);
}

void sample_symbols_free(struct sample_symbols *symbols)
{
    for (size_t i = 0; i < symbols->len; i++)
        free(symbols->data[i].name);
    as_vec_free(symbols);
}

bool sample_is_alias(const struct sample_symbols *symbols, const char *a, const char *b)
{
    for (size_t i = 0; i < symbols->len; i++) {
        if (strcmp(symbols->data[i].name, a) != 0)
            continue;
        for (size_t k = 0; k < symbols->len; k++)
            if (symbols->data[k].address == symbols->data[i].address && strcmp(symbols->data[k].name, b) == 0)
                return true;
    }
    return false;
}
