/* What is not started but was there already, a process or the whole machine: its name. See record_native.h. */
#include "base/path.h"
#include "base/str.h"
#include "record/record_native.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *read_link(uint64_t pid, const char *name)
{
    char path[64], target[PATH_MAX];
    snprintf(path, sizeof path, "/proc/%" PRIu64 "/%s", pid, name);
    ssize_t size = readlink(path, target, sizeof target - 1);
    return size > 0 ? as_strndup(target, (size_t)size) : NULL;
}

/* Reads up to `size` bytes of a file of /proc/PID. -1: there is no such file. */
static ssize_t read_of(uint64_t pid, const char *name, char *text, size_t size)
{
    char path[64];
    size_t done = 0;
    snprintf(path, sizeof path, "/proc/%" PRIu64 "/%s", pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    for (ssize_t n; done < size && (n = read(fd, text + done, size - done)) > 0;)
        done += (size_t)n;
    close(fd);
    return (ssize_t)done;
}

/* A kernel thread has no command line; its name is used. */
char **as_native_command_line(uint64_t pid, struct as_error *err)
{
    enum { MOST = 1 << 20 };
    char *text = as_alloc(MOST + 1);
    ssize_t got = read_of(pid, "cmdline", text, MOST);
    size_t size = got > 0 ? (size_t)got : 0, words = 0;
    if (got < 0) {
        free(text);
        as_error_set(err, "there is no process %" PRIu64, pid);
        return NULL;
    }
    if (size == 0 && read_of(pid, "comm", text, MOST) > 0)
        size = strcspn(text, "\n");
    if (size == 0 || text[size - 1])
        text[size++] = '\0';
    for (size_t at = 0; at < size; at += strlen(text + at) + 1)
        words++;
    char **argv = as_alloc_array(words + 1, sizeof *argv);
    for (size_t at = 0, i = 0; i < words; at += strlen(text + at) + 1)
        argv[i++] = text + at;
    return argv;
}

/* The length without the spaces behind it: a program that writes a title over its arguments may pad it. */
static size_t trimmed(const char *word)
{
    size_t length = strlen(word);
    while (length && word[length - 1] == ' ')
        length--;
    return length;
}

/* Adds the words to a title, without those that would make it long. */
static void add_words(struct as_str *title, char *const *words)
{
    enum { MOST = 80 };
    for (size_t i = 0; words[i]; i++) {
        size_t length = trimmed(words[i]);
        if (i > 0 && title->len + length > MOST) {
            as_str_add(title, " …");
            return;
        }
        const char *word = i ? words[i] : as_path_base(words[i]);
        as_str_addf(title, "%s%.*s", i ? " " : "", (int)trimmed(word), word);
    }
}

void as_native_add_system(const struct as_record *record)
{
    struct as_str title = {0};
    as_str_add(&title, "system-wide");
    if (record->options->argv && record->options->argv[0]) {
        as_str_add(&title, " during ");
        add_words(&title, record->options->argv);
    }
    as_store_add_meta(record->writer, AS_META_TITLE, as_str_get(&title));
    as_str_free(&title);
}

void as_native_add_process(const struct as_record *record)
{
    uint64_t pid = record->options->pid;
    char *program = read_link(pid, "exe"), *directory = read_link(pid, "cwd");
    as_store_add_meta(record->writer, AS_META_PROGRAM, program ? program : record->argv[0]);
    as_store_add_meta(record->writer, AS_META_DIRECTORY, directory);
    as_store_add_meta_u64(record->writer, "process", pid);
    struct as_str title = {0};
    add_words(&title, record->argv);
    as_str_addf(&title, " (process %" PRIu64 ")", pid);
    as_store_add_meta(record->writer, AS_META_TITLE, as_str_get(&title));
    as_str_free(&title);
    free(program);
    free(directory);
}
