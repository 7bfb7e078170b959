/* Whether a command line of perf asked for all processes. See import_internal.h. */
#include "import/import_internal.h"

/* Words are separated by single spaces; nothing is quoted. */
static size_t word_length(const char *word)
{
    return strcspn(word, " ");
}

static bool is_word(const char *word, const char *name)
{
    return strlen(name) == word_length(word) && strncmp(word, name, strlen(name)) == 0;
}

/* Short options of perf record that take a value, in the same word or the next one. */
static const char with_value[] = "cCDeFGjkKmoprtu";

/* Looks at the letters of "-ag". *skip: the next word is a value. */
static bool letters_ask(const char *word, bool *skip)
{
    for (size_t i = 1; i < word_length(word); i++) {
        if (word[i] == 'a' || word[i] == 'C')
            return true;
        if (strchr(with_value, word[i])) {
            *skip = i + 1 == word_length(word);
            return false;
        }
    }
    return false;
}

static bool long_takes_value(const char *word)
{
    static const char *const names[] = {"--event",      "--filter",   "--pid",     "--tid",   "--realtime",
                                        "--output",     "--freq",     "--count",   "--delay", "--mmap-pages",
                                        "--call-graph", "--cgroup",   "--clockid", "--uid",   "--branch-filter",
                                        "--max-size",   "--affinity", "--control", "--aio"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is_word(word, names[i]))
            return true;
    return false;
}

bool as_import_is_wide_command(const char *command)
{
    const char *word = command;
    while (*word && !is_word(word, "record"))
        word += word_length(word) + (word[word_length(word)] != '\0');
    bool skip = true; /* "record" itself */
    for (; *word; word += word_length(word) + (word[word_length(word)] != '\0')) {
        bool value = skip;
        skip = false;
        if (value)
            continue;
        if (*word != '-' || is_word(word, "--")) /* the recorded program begins */
            return false;
        if (is_word(word, "--all-cpus") || strncmp(word, "--cpu", 5) == 0)
            return true;
        if (word[1] == '-')
            skip = long_takes_value(word);
        else if (letters_ask(word, &skip))
            return true;
    }
    return false;
}
