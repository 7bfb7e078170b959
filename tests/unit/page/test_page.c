/* The page as the program writes it: hostile text stays inside the document, in both encodings; the template keeps its
 * promises; what cannot be written is said. */
#include "unit.h"

#include "page/page.h"
#include "page/page_template.h"

#include <zlib.h>

static const char open_plain[] = "<script type=\"application/json\" id=\"assay-data\">";
static const char open_deflated[] =
    "<script type=\"application/json\" id=\"assay-data\" data-encoding=\"deflate-base64\">";

static const char hostile[] = "</script><script>alert(1)</script><!-- \" ' & \xff\xfe \n\x01 </SCRIPT >";
static const char hostile_json[] = "\"\\u003c/script>\\u003cscript>alert(1)\\u003c/script>\\u003c!-- \\\" ' & "
                                   "\xef\xbf\xbd\xef\xbf\xbd \\n\\u0001 \\u003c/SCRIPT >\"";

static void write_hostile(struct as_json *json, void *data)
{
    as_json_array(json, NULL);
    as_json_string(json, NULL, hostile);
    as_json_end(json);
}

/* The page as a string; the caller frees. */
static char *page_of(enum as_page_encoding encoding, void (*document)(struct as_json *json, void *data), void *data)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct as_error err = AS_ERROR_INIT;
    assert_true(as_page_write(out, encoding, document, data, &err));
    fclose(out);
    return text;
}

static size_t occurrences(const char *text, const char *wanted)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, wanted)); at++)
        n++;
    return n;
}

/* What stands in the data element; what is around it must be the template to the byte. */
static char *document_of(const char *page, const char *opening)
{
    const char *marker = strstr(as_page_template, AS_PAGE_MARKER);
    size_t before = (size_t)(marker - as_page_template);
    assert_memory_equal(page, as_page_template, before);
    assert_memory_equal(page + before, opening, strlen(opening));
    const char *start = page + before + strlen(opening);
    const char *end = strstr(start, "</script>");
    assert_non_null(end);
    assert_string_equal(end + strlen("</script>"), marker + strlen(AS_PAGE_MARKER));
    return strndup(start, (size_t)(end - start));
}

static int letter_value(char letter)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = strchr(letters, letter);
    assert_non_null(found);
    return (int)(found - letters);
}

static char *unpacked(const char *base64)
{
    size_t length = strlen(base64), used = 0;
    assert_int_equal(length % 4, 0);
    assert_true(strcspn(base64, "=") + 2 >= length); /* it is filled up at its end alone */
    unsigned char *packed = calloc(1, length + 1);
    for (size_t i = 0; i < length; i += 4) {
        uint32_t group = 0;
        for (size_t k = 0; k < 4; k++)
            group = group << 6 | (base64[i + k] == '=' ? 0 : (uint32_t)letter_value(base64[i + k]));
        for (int k = 0; k < 3 && base64[i + (size_t)k + 1] != '='; k++)
            packed[used++] = (unsigned char)(group >> (16 - 8 * k));
    }
    uLongf size = 16 << 20;
    char *text = calloc(1, size + 1);
    assert_int_equal(uncompress((Bytef *)text, &size, packed, used), Z_OK);
    free(packed);
    return text;
}

static void keeps_its_template(void **state)
{
    assert_int_equal(strlen(as_page_template), as_page_template_size);
    assert_int_equal(occurrences(as_page_template, AS_PAGE_MARKER), 1);
    assert_int_equal(occurrences(as_page_template, "default-src 'none'"), 1);
    assert_int_equal(occurrences(as_page_template, "unsafe-inline"), 0);
    assert_int_equal(occurrences(as_page_template, "innerHTML"), 0);
    assert_int_equal(occurrences(as_page_template, "</script>"), 1);
    /* The one address is the name of SVG's elements, which nobody fetches. */
    assert_int_equal(occurrences(as_page_template, "://"), occurrences(as_page_template, "http://www.w3.org/2000/svg"));
    assert_true(as_page_template_size < 300 * 1024);
}

static void hides_markup_in_plain_json(void **state)
{
    char *page = page_of(AS_PAGE_PLAIN, write_hostile, NULL);
    char *document = document_of(page, open_plain);
    char expected[sizeof hostile_json + 8];
    snprintf(expected, sizeof expected, "[%s]\n", hostile_json);
    assert_string_equal(document, expected);
    assert_null(strchr(document, '<'));
    free(document);
    free(page);
}

static void write_brackets(struct as_json *json, void *data)
{
    as_json_string(json, NULL, data);
}

/* The text reaches the page in pieces; wherever a piece ends, each bracket becomes six letters and nothing else is lost. */
static void hides_markup_at_every_seam(void **state)
{
    enum { PAIRS = 10000 };
    for (size_t before = 0; before < 2; before++) {
        char *text = calloc(1, before + 2 * PAIRS + 1), *wanted = calloc(1, before + 7 * PAIRS + 4);
        memset(text, '.', before);
        size_t length = (size_t)sprintf(wanted, "\"%s", text);
        for (size_t i = 0; i < PAIRS; i++) {
            memcpy(text + before + 2 * i, "<x", 2);
            memcpy(wanted + length + 7 * i, "\\u003cx", 7);
        }
        strcpy(wanted + length + 7 * PAIRS, "\"\n");
        char *page = page_of(AS_PAGE_PLAIN, write_brackets, text);
        char *document = document_of(page, open_plain);
        assert_true(strcmp(document, wanted) == 0);
        free(document);
        free(page);
        free(wanted);
        free(text);
    }
}

static void packs_the_same_document(void **state)
{
    char *page = page_of(AS_PAGE_DEFLATED, write_hostile, NULL);
    char *document = document_of(page, open_deflated);
    char *text = unpacked(document);
    assert_non_null(strstr(text, "</script><script>alert(1)</script>"));
    assert_null(strstr(page, "alert(1)"));
    free(text);
    free(document);
    free(page);
}

struct numbers {
    unsigned n;
};

static void write_numbers(struct as_json *json, void *data)
{
    const struct numbers *numbers = data;
    as_json_array(json, NULL);
    for (unsigned i = 0; i < numbers->n; i++)
        as_json_u64(json, NULL, i * UINT64_C(2654435761));
    as_json_end(json);
}

/* Every remainder of base64's groups, and documents larger than all buffers. */
static void packs_any_length(void **state)
{
    static const unsigned sizes[] = {0, 1, 2, 3, 4, 5, 6, 7, 100, 300000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct numbers numbers = {sizes[i]};
        char *plain = page_of(AS_PAGE_PLAIN, write_numbers, &numbers);
        char *packed = page_of(AS_PAGE_DEFLATED, write_numbers, &numbers);
        char *document = document_of(plain, open_plain), *base64 = document_of(packed, open_deflated);
        char *text = unpacked(base64);
        assert_string_equal(text, document);
        free(text);
        free(base64);
        free(document);
        free(packed);
        free(plain);
    }
}

static void write_long(struct as_json *json, void *data)
{
    as_page_string(json, NULL, data);
}

static void cuts_long_strings(void **state)
{
    enum { LENGTH = 1 << 20 };
    char *name = malloc(LENGTH + 1);
    memset(name, 'T', LENGTH);
    name[LENGTH] = '\0';
    char *page = page_of(AS_PAGE_PLAIN, write_long, name);
    char *document = document_of(page, open_plain);
    assert_int_equal(strlen(document), AS_PAGE_STRING_MAX + strlen("\"…\"\n"));
    free(document);
    free(page);

    name[AS_PAGE_STRING_MAX] = '\0'; /* the longest that is kept */
    page = page_of(AS_PAGE_PLAIN, write_long, name);
    document = document_of(page, open_plain);
    assert_int_equal(strlen(document), AS_PAGE_STRING_MAX + 3);
    assert_null(strstr(document, "…"));
    free(document);
    free(page);
    free(name);
}

/* Characters of two, three and four bytes that begin up to five bytes before the limit: what is left ends with a whole one. */
static void cuts_between_characters(void **state)
{
    static const char *const characters[] = {"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
    for (size_t k = 0; k < sizeof characters / sizeof characters[0]; k++)
        for (size_t back = 1; back <= 5; back++) {
            char name[AS_PAGE_STRING_MAX + 10];
            size_t length = strlen(characters[k]), start = AS_PAGE_STRING_MAX - back;
            memset(name, 'w', sizeof name); /* with all bits but those that others have */
            memcpy(name + start, characters[k], length);
            name[sizeof name - 1] = '\0';
            char *page = page_of(AS_PAGE_PLAIN, write_long, name);
            char *document = document_of(page, open_plain);
            assert_null(strstr(document, "\xef\xbf\xbd"));
            /* A character that reaches the limit goes, and all letters before it stay. */
            size_t kept = length < back ? AS_PAGE_STRING_MAX : start;
            assert_int_equal(strlen(document), kept + strlen("\"…\"\n"));
            assert_int_equal(occurrences(document, characters[k]), length < back);
            free(document);
            free(page);
        }
}

static void says_what_cannot_be_written(void **state)
{
    for (int encoding = AS_PAGE_PLAIN; encoding <= AS_PAGE_DEFLATED; encoding++) {
        FILE *full = fopen("/dev/full", "w");
        assert_non_null(full);
        struct as_error err = AS_ERROR_INIT;
        assert_false(as_page_write(full, (enum as_page_encoding)encoding, write_hostile, NULL, &err));
        assert_string_equal(err.message, "cannot write the page: No space left on device");
        fclose(full);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_its_template),         cmocka_unit_test(hides_markup_in_plain_json),
        cmocka_unit_test(hides_markup_at_every_seam), cmocka_unit_test(packs_the_same_document),
        cmocka_unit_test(packs_any_length),           cmocka_unit_test(cuts_long_strings),
        cmocka_unit_test(cuts_between_characters),    cmocka_unit_test(says_what_cannot_be_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
