/* Values of a machine file: text to and from the fields of the table, and names that were mistyped.
 *
 * Whole numbers are decimal digits, or hexadecimal ones behind 0x; other numbers are decimal with a unit, which is part of the value: a
 * frequency without one would be read wrongly by someone sooner or later.
 */
#include "core/machine_table.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct unit {
    enum as_field_kind kind;
    const char *name;
    double factor;
};

/* In the order in which as_field_text tries them. */
static const struct unit units[] = {
    {AS_FIELD_BYTES, "G", 0x1p30}, {AS_FIELD_BYTES, "GB", 0x1p30}, {AS_FIELD_BYTES, "GiB", 0x1p30},
    {AS_FIELD_BYTES, "M", 0x1p20}, {AS_FIELD_BYTES, "MB", 0x1p20}, {AS_FIELD_BYTES, "MiB", 0x1p20},
    {AS_FIELD_BYTES, "K", 0x1p10}, {AS_FIELD_BYTES, "KB", 0x1p10}, {AS_FIELD_BYTES, "KiB", 0x1p10},
    {AS_FIELD_BYTES, "", 1},       {AS_FIELD_BYTES, "B", 1},       {AS_FIELD_HERTZ, "GHz", 1e9},
    {AS_FIELD_HERTZ, "MHz", 1e6},  {AS_FIELD_HERTZ, "kHz", 1e3},   {AS_FIELD_HERTZ, "Hz", 1},
    {AS_FIELD_RATE, "GB/s", 1e9},  {AS_FIELD_RATE, "MB/s", 1e6},   {AS_FIELD_RATE, "KB/s", 1e3},
    {AS_FIELD_RATE, "B/s", 1},     {AS_FIELD_NS, "ns", 1},         {AS_FIELD_COUNT, "", 1},
    {AS_FIELD_LOG2, "", 1},        {AS_FIELD_LOG2, "K", 0x1p10},   {AS_FIELD_LOG2, "M", 0x1p20},
};
static const size_t units_count = sizeof units / sizeof *units;

static bool is_real(enum as_field_kind kind)
{
    return kind == AS_FIELD_HERTZ || kind == AS_FIELD_NS || kind == AS_FIELD_RATE;
}

static bool is_power_of_two(double value)
{
    uint64_t whole = value < 0x1p63 ? (uint64_t)value : 0;
    return value >= 1 && value < 0x1p63 && (whole & (whole - 1)) == 0;
}

static uint32_t log2_of(double power)
{
    return (uint32_t)(63 - __builtin_clzll((uint64_t)power));
}

/* Where the number at the start of `text` ends, NULL where there is none: digits, and for the real kinds a fraction. */
static const char *number_end(const char *text, bool fraction)
{
    const char *at = text;
    while (isdigit((unsigned char)*at))
        at++;
    if (at == text || at - text > 20)
        return NULL;
    if (fraction && at[0] == '.' && isdigit((unsigned char)at[1]))
        for (at++; isdigit((unsigned char)*at);)
            at++;
    return at - text <= 40 ? at : NULL;
}

/* Behind 0x there is no unit: B would be a digit. */
static bool parse_hex(const char *text, double *value)
{
    size_t digits = strspn(text + 2, "0123456789abcdefABCDEF");
    if (digits == 0 || digits > 16 || text[2 + digits])
        return false;
    *value = (double)strtoull(text, NULL, 16);
    return true;
}

static const struct unit *find_unit(enum as_field_kind kind, const char *name,
                                    int (*compare)(const char *, const char *))
{
    for (size_t i = 0; i < units_count; i++)
        if (units[i].kind == kind && compare(units[i].name, name) == 0)
            return &units[i];
    return NULL;
}

/* A number with its unit, all of `text`. The digits are copied because strtod would read on into "1e9" or "0x1". */
static bool parse_number(enum as_field_kind kind, const char *text, double *value)
{
    const char *end = number_end(text, is_real(kind));
    char digits[48];
    if (!is_real(kind) && text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        return parse_hex(text, value);
    if (!end)
        return false;
    memcpy(digits, text, (size_t)(end - text));
    digits[end - text] = '\0';
    end += strspn(end, " \t");
    const struct unit *unit = find_unit(kind, end, strcmp);
    *value = unit ? strtod(digits, NULL) * unit->factor : 0;
    return unit != NULL;
}

/* Whether a value, in the machine's own terms, is in the field's range and of its shape. */
static bool fits(const struct as_field *field, double value)
{
    if (!(value >= field->min && value <= field->max))
        return false;
    return !(field->flags & AS_FIELD_POWER2) || value == 0 || is_power_of_two(value);
}

static bool store(const struct as_field *field, void *to, double value)
{
    if (field->kind == AS_FIELD_LOG2) {
        if (!is_power_of_two(value))
            return false;
        value = log2_of(value);
    }
    if (!fits(field, value))
        return false;
    if (is_real(field->kind))
        *(double *)to = value;
    else
        *(uint32_t *)to = (uint32_t)value;
    return true;
}

static bool parse_yesno(bool *to, const char *text)
{
    *to = strcmp(text, "yes") == 0;
    return *to || strcmp(text, "no") == 0;
}

/* The number of a word in a list of them, or of the list's end. */
static uint32_t find_word(const char *words, const char *text)
{
    uint32_t number = 0;
    size_t length = strlen(text);
    for (; *words; number++, words += strspn(words, " ")) {
        size_t n = strcspn(words, " ");
        if (n == length && memcmp(words, text, n) == 0)
            return number;
        words += n;
    }
    return number;
}

static void choice_text(const struct as_field *field, uint32_t number, char *text, size_t size)
{
    const char *word = field->words;
    for (; number > 0 && *word; number--)
        word += strcspn(word, " ") + (word[strcspn(word, " ")] == ' ');
    snprintf(text, size, "%.*s", (int)strcspn(word, " "), word);
}

/* '#' would begin a comment when the text is read back. */
static bool parse_text(const struct as_field *field, char *to, const char *text)
{
    size_t length = strlen(text);
    if (length >= (size_t)field->max || strpbrk(text, "#\n\r"))
        return false;
    memset(to, 0, (size_t)field->max);
    memcpy(to, text, length);
    return true;
}

/* One value stands for all tables; otherwise those that are not given are 0, which as_machine_validate finds. */
static bool parse_list(const struct as_field *field, uint32_t *to, const char *text)
{
    char word[64];
    uint32_t values[AS_TAGE_TABLES_MAX] = {0};
    size_t count = 0;
    for (text += strspn(text, " \t"); *text; text += strspn(text, " \t")) {
        size_t length = strcspn(text, " \t");
        double value;
        if (length >= sizeof word || count == AS_TAGE_TABLES_MAX)
            return false;
        memcpy(word, text, length);
        word[length] = '\0';
        if (!parse_number(field->kind, word, &value) || !store(field, &values[count++], value))
            return false;
        text += length;
    }
    for (size_t i = 0; i < AS_TAGE_TABLES_MAX; i++)
        to[i] = count == 1 ? values[0] : values[i];
    return count > 0;
}

bool as_field_parse(const struct as_field *field, struct as_machine *machine, const char *text)
{
    void *to = (char *)machine + field->offset;
    double value;
    if (field->kind == AS_FIELD_TEXT)
        return parse_text(field, to, text);
    if (field->kind == AS_FIELD_YESNO)
        return parse_yesno(to, text);
    if (field->kind == AS_FIELD_CHOICE) {
        *(uint32_t *)to = find_word(field->words, text);
        return *(uint32_t *)to <= field->max;
    }
    if (field->flags & AS_FIELD_TABLES)
        return parse_list(field, to, text);
    return parse_number(field->kind, text, &value) && store(field, to, value);
}

void as_field_default(const struct as_field *field, struct as_machine *machine)
{
    void *to = (char *)machine + field->offset;
    if (field->kind == AS_FIELD_YESNO)
        *(bool *)to = field->otherwise != 0;
    else if (is_real(field->kind))
        *(double *)to = field->otherwise;
    else if (field->kind != AS_FIELD_TEXT)
        *(uint32_t *)to = (uint32_t)field->otherwise;
}

static double value_of(const struct as_field *field, const struct as_machine *machine, size_t index)
{
    const char *from = (const char *)machine + field->offset;
    return is_real(field->kind) ? *(const double *)from : ((const uint32_t *)from)[index];
}

bool as_field_in_range(const struct as_field *field, const struct as_machine *machine)
{
    if (field->kind == AS_FIELD_TEXT)
        return memchr((const char *)machine + field->offset, '\0', (size_t)field->max) != NULL;
    if (field->kind == AS_FIELD_YESNO)
        return true;
    size_t count = field->flags & AS_FIELD_TABLES ? machine->predictor.tage_tables : 1;
    for (size_t i = 0; i < count && i < AS_TAGE_TABLES_MAX; i++)
        if (!fits(field, value_of(field, machine, i)))
            return false;
    return true;
}

static void whole_text(enum as_field_kind kind, double value, char *text, size_t size)
{
    const struct unit *unit = &units[units_count - 1]; /* no suffix */
    if (kind == AS_FIELD_LOG2)
        value = (double)(1ull << ((uint32_t)value & 63));
    for (size_t i = units_count; kind == AS_FIELD_BYTES && value > 0 && i-- > 0;)
        if (units[i].kind == kind && strlen(units[i].name) < 2 && (uint64_t)value % (uint64_t)units[i].factor == 0)
            unit = &units[i];
    if (kind != AS_FIELD_BYTES || value == 0 || unit->kind != kind)
        snprintf(text, size, "%.0f", value);
    else
        snprintf(text, size, "%.0f%s", value / unit->factor, strcmp(unit->name, "B") == 0 ? "" : unit->name);
}

/* The fewest digits that read back as the same number, in the largest unit that is not above it. */
static void real_text(enum as_field_kind kind, double value, char *text, size_t size)
{
    double back;
    for (size_t i = 0; i < units_count; i++) {
        if (units[i].kind != kind || (value < units[i].factor && units[i].factor > 1))
            continue;
        for (int digits = 0; digits <= 18; digits++) {
            snprintf(text, size, "%.*f%s", digits, value / units[i].factor, units[i].name);
            if (parse_number(kind, text, &back) && back == value)
                return;
        }
    }
}

static void list_text(const struct as_field *field, const struct as_machine *machine, char *text, size_t size)
{
    const uint32_t *values = (const uint32_t *)((const char *)machine + field->offset);
    size_t used = 0, count = machine->predictor.tage_tables;
    bool alike = true;
    for (size_t i = 1; i < AS_TAGE_TABLES_MAX; i++)
        alike = alike && values[i] == values[0];
    if (alike || count == 0)
        count = 1;
    for (size_t i = 0; i < count && i < AS_TAGE_TABLES_MAX && used + 32 < size; i++) {
        char word[32];
        whole_text(field->kind, values[i], word, sizeof word);
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " " : "", word);
    }
}

const char *as_field_text(const struct as_field *field, const struct as_machine *machine, char *text, size_t size)
{
    const char *from = (const char *)machine + field->offset;
    text[0] = '\0';
    if (field->kind == AS_FIELD_TEXT)
        snprintf(text, size, "%.*s", (int)field->max - 1, from);
    else if (field->kind == AS_FIELD_YESNO)
        snprintf(text, size, "%s", *(const bool *)from ? "yes" : "no");
    else if (field->kind == AS_FIELD_CHOICE)
        choice_text(field, *(const uint32_t *)(const void *)from, text, size);
    else if (field->flags & AS_FIELD_TABLES)
        list_text(field, machine, text, size);
    else if (is_real(field->kind))
        real_text(field->kind, value_of(field, machine, 0), text, size);
    else
        whole_text(field->kind, value_of(field, machine, 0), text, size);
    return text;
}

static const char *limit_text(const struct as_field *field, double value, char *text, size_t size)
{
    if (is_real(field->kind))
        real_text(field->kind, value, text, size);
    else
        whole_text(field->kind, value, text, size);
    return text;
}

const char *as_field_allowed(const struct as_field *field, char *text, size_t size)
{
    bool power = field->kind == AS_FIELD_LOG2 || field->flags & AS_FIELD_POWER2;
    char low[64], high[64];
    if (field->kind == AS_FIELD_TEXT)
        snprintf(text, size, "one line of less than %.0f bytes", field->max);
    else if (field->kind == AS_FIELD_YESNO)
        snprintf(text, size, "yes or no");
    else if (field->kind == AS_FIELD_CHOICE)
        snprintf(text, size, "one of %s", field->words);
    else
        snprintf(text, size, "%s%s %s to %s%s",
                 field->flags & AS_FIELD_TABLES ? "one for all tables or one each: " : "",
                 power                  ? "a power of two from"
                 : is_real(field->kind) ? "from"
                                        : "a whole number from",
                 limit_text(field, field->min, low, sizeof low), limit_text(field, field->max, high, sizeof high),
                 power && field->kind != AS_FIELD_LOG2 && field->min == 0 ? " (0: none)" : "");
    return text;
}

const char *as_field_hint(const struct as_field *field, const char *value, char *text, size_t size)
{
    const char *end = number_end(value, is_real(field->kind)), *name = end ? end + strspn(end, " \t") : "";
    const struct unit *unit =
        end && !find_unit(field->kind, name, strcmp) ? find_unit(field->kind, name, strcasecmp) : NULL;
    if (unit)
        snprintf(text, size, "; did you mean %.*s%s?", (int)(end - value), value, unit->name);
    else
        *text = 0;
    return text;
}

const struct as_field *as_field_find(const char *key)
{
    for (size_t i = 0; i < as_fields_count; i++)
        if (strcmp(as_fields[i].key, key) == 0)
            return &as_fields[i];
    return NULL;
}

/* Edit distance over two rows of the usual table. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t rows[2][64], m = strlen(a), n = strlen(b);
    if (m >= 64 || n >= 64)
        return SIZE_MAX;
    for (size_t j = 0; j <= n; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= m; i++) {
        size_t *row = rows[i % 2], *above = rows[(i - 1) % 2];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t change = above[j - 1] + (a[i - 1] != b[j - 1]);
            size_t other = 1 + (above[j] < row[j - 1] ? above[j] : row[j - 1]);
            row[j] = change < other ? change : other;
        }
    }
    return rows[m % 2][n];
}

/* Many a key is asked for without its section ("rob"), so the part behind the last dot counts as well. */
const struct as_field *as_field_guess(const char *key)
{
    const struct as_field *best = NULL;
    size_t least = strlen(key) / 4 + 2;
    for (size_t i = 0; i < as_fields_count; i++) {
        const char *full = as_fields[i].key, *dot = strrchr(full, '.');
        size_t distance = edit_distance(key, full);
        if (dot && strcmp(dot + 1, key) == 0)
            distance = 0;
        if (distance < least) {
            least = distance;
            best = &as_fields[i];
        }
    }
    return best;
}
