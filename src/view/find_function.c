/* See find_function.h. */
#include "view/find_function.h"

#include "base/alloc.h"
#include "base/cpp_name.h"
#include "base/similar.h"
#include "base/str.h"
#include "base/vec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LISTED = 4, NAME_SHOWN = 80, LONGEST_INSN = 15 };

typedef AS_VEC(uint32_t) numbers;

/* Whether `name` matches with or without parameters, or as reports show it. */
static bool is_name(const char *full, const char *name)
{
    size_t length = strlen(name);
    return full && (strcmp(AS_SHOW(full), name) == 0 ||
                    (strncmp(full, name, length) == 0 && (full[length] == '\0' || full[length] == '(')));
}

static bool is_named(const struct as_store_function *function, const char *name)
{
    return (function->linkage_name && strcmp(function->linkage_name, name) == 0) || is_name(function->name, name);
}

static bool module_is(const struct as_view *view, uint32_t module, const char *name, size_t length)
{
    const char *path = module < view->n_modules ? view->module[module].path : NULL,
               *last = as_view_module(view, module);
    return path && ((strlen(path) == length && strncmp(path, name, length) == 0) ||
                    (strlen(last) == length && strncmp(last, name, length) == 0));
}

static bool is_part(const struct as_view *view, uint32_t function)
{
    const char *name = view->function[function].name;
    return name && as_clone_length(name) < strlen(name);
}

/* A function and parts that the compiler split from it have the same name without parameters: "worker(int)" and
 * "worker(int) [clone .cold]". The name then means the function. */
static void prefer_whole(const struct as_view *view, numbers *found)
{
    size_t whole = 0;
    for (size_t i = 0; i < found->len; i++)
        if (!is_part(view, found->data[i]))
            found->data[whole++] = found->data[i];
    found->len = whole ? whole : found->len;
}

static void find_named(const struct as_view *view, const char *name, const char *module, size_t module_length,
                       numbers *found)
{
    for (uint32_t i = 0; i < view->n_functions; i++)
        if (is_named(&view->function[i], name) &&
            (!module || module_is(view, view->function[i].module, module, module_length)))
            *as_vec_push(found) = i;
    prefer_whole(view, found);
}

static bool read_address(const char *text, uint64_t *address)
{
    char *end;
    if (strncmp(text, "0x", 2) != 0)
        return false;
    *address = strtoull(text, &end, 16);
    return end > text + 2 && !*end;
}

/* Finds a function by a run-time address or, failing that, by an address of its file, as objdump shows it. */
static void find_at(const struct as_view *view, const char *text, const char *module, size_t module_length,
                    numbers *found)
{
    uint64_t address;
    if (!read_address(text, &address))
        return;
    for (int in_file = 0; in_file < 2 && !found->len; in_file++)
        for (uint32_t i = 0; i < view->n_functions; i++) {
            const struct as_store_function *function = &view->function[i];
            uint64_t base = in_file && function->module < view->n_modules ? view->module[function->module].base : 0;
            if (address - (function->address - base) < (function->size ? function->size : 1) &&
                (!module || module_is(view, function->module, module, module_length)))
                *as_vec_push(found) = i;
        }
}

/* Without namespaces, classes and template arguments. */
static void find_short(const struct as_view *view, const char *symbol, numbers *found)
{
    for (uint32_t i = 0; i < view->n_functions; i++)
        if (view->function[i].name && as_cpp_name_is(view->function[i].name, symbol))
            *as_vec_push(found) = i;
    prefer_whole(view, found);
}

/* Clones and parts that a compiler made of the function: "step.constprop.0", "step.cold". */
static void find_clones(const struct as_view *view, const char *symbol, numbers *found)
{
    for (uint32_t i = 0; i < view->n_functions; i++) {
        const char *name = view->function[i].name;
        size_t length = name ? as_clone_length(name) : 0;
        if (length && length < strlen(name) && length == strlen(symbol) && strncmp(name, symbol, length) == 0)
            *as_vec_push(found) = i;
    }
}

static void find_all(const struct as_view *view, const char *symbol, numbers *found)
{
    find_named(view, symbol, NULL, 0, found);
    if (!found->len)
        find_at(view, symbol, NULL, 0, found);
    for (const char *colon = strchr(symbol, ':'); colon && !found->len; colon = strchr(colon + 1, ':')) {
        size_t length = (size_t)(colon - symbol);
        find_named(view, colon + 1, symbol, length, found);
        if (!found->len)
            find_at(view, colon + 1, symbol, length, found);
    }
    if (!found->len)
        find_clones(view, symbol, found);
    if (!found->len)
        find_short(view, symbol, found);
}

/* Returns the instruction at an address outside functions, found like a function; NONE: there is none. */
static uint32_t find_outside_at(const struct as_view *view, const char *text, const char *module, size_t module_length)
{
    uint64_t address, nearest = LONGEST_INSN;
    uint32_t found = AS_STORE_NONE;
    if (!read_address(text, &address))
        return found;
    for (int in_file = 0; in_file < 2 && found == AS_STORE_NONE; in_file++)
        for (uint32_t i = 0; i < view->n_locations; i++) {
            const struct as_store_location *location = &view->location[i];
            uint64_t base = in_file && location->module < view->n_modules ? view->module[location->module].base : 0;
            uint64_t distance = address - (location->address - base);
            if (location->function != AS_STORE_NONE || distance >= nearest ||
                (module && !module_is(view, location->module, module, module_length)))
                continue;
            nearest = distance;
            found = i;
        }
    return found;
}

static uint32_t find_outside(const struct as_view *view, const char *symbol)
{
    uint32_t found = find_outside_at(view, symbol, NULL, 0);
    for (const char *colon = strchr(symbol, ':'); colon && found == AS_STORE_NONE; colon = strchr(colon + 1, ':'))
        found = find_outside_at(view, colon + 1, symbol, (size_t)(colon - symbol));
    return found;
}

/* ---- messages if there is no match, or several ---- */

/* Those with the most time first. */
static bool sort_by_time(const struct as_view *view, numbers *found, struct as_error *err)
{
    struct as_store_query query = AS_STORE_QUERY_INIT;
    struct as_store_rows rows;
    numbers sorted = {0};
    query.series = view->series;
    query.level = AS_STORE_BY_FUNCTION;
    if (!as_store_query(view->store, &query, &rows, err))
        return false;
    for (size_t i = 0; i <= rows.n; i++) /* behind the rows: functions without time */
        for (size_t k = 0; k < found->len; k++)
            if (found->data[k] != AS_STORE_NONE && (i == rows.n || rows.rows[i].id == found->data[k])) {
                *as_vec_push(&sorted) = found->data[k];
                found->data[k] = AS_STORE_NONE;
            }
    as_store_rows_free(&rows);
    as_vec_free(found);
    *found = sorted;
    return true;
}

static bool say_several(const struct as_view *view, const char *symbol, const numbers *found, struct as_error *err)
{
    struct as_str text = {0};
    for (size_t i = 0; i < found->len && i < LISTED; i++) {
        const struct as_store_function *function = &view->function[found->data[i]];
        as_str_addf(&text, "%s%.*s at 0x%" PRIx64 " (%.40s)", i ? ", " : "", NAME_SHOWN, AS_SHOW(function->name),
                    function->address, AS_SHOW(as_view_module(view, function->module)));
    }
    if (found->len > LISTED)
        as_str_addf(&text, " and %zu more", found->len - LISTED);
    as_error_set_status(err, AS_EXIT_USAGE, "'%.200s' is ambiguous: %s; give MODULE:NAME or the address", symbol,
                        as_str_get(&text));
    as_str_free(&text);
    return false;
}

static bool comes_from(const struct as_store_inline *inlines, size_t n, uint32_t at, const bool *meant)
{
    for (; at < n; at = inlines[at].parent)
        if (meant[at])
            return true;
    return false;
}

/* Finds the functions that an inlined function was inlined into. */
static void find_hosts(const struct as_view *view, const char *symbol, numbers *hosts)
{
    size_t n;
    const struct as_store_inline *inlines = as_store_inlines(view->store, &n);
    bool *known = as_alloc_array(view->n_functions + 1, sizeof *known), *meant = as_alloc_array(n + 1, sizeof *meant);
    for (size_t i = 0; i < n; i++)
        meant[i] = inlines[i].function && /* debug information may omit parameters */
                   (is_name(inlines[i].function, symbol) || is_name(symbol, inlines[i].function));
    for (size_t i = 0; i < view->n_locations; i++) {
        uint32_t function = view->location[i].function;
        if (function >= view->n_functions || known[function] ||
            !comes_from(inlines, n, view->location[i].inlined, meant))
            continue;
        known[function] = true;
        *as_vec_push(hosts) = function;
    }
    free(known);
    free(meant);
}

static bool say_inlined(const struct as_view *view, const char *symbol, const numbers *hosts, struct as_error *err)
{
    struct as_str text = {0};
    for (size_t i = 0; i < hosts->len && i < LISTED; i++)
        as_str_addf(&text, "%s%.*s", i ? ", " : "", NAME_SHOWN, AS_SHOW(view->function[hosts->data[i]].name));
    if (hosts->len > LISTED)
        as_str_addf(&text, " and %zu more", hosts->len - LISTED);
    as_error_set_status(err, AS_EXIT_USAGE,
                        "'%.200s' is not a separate function: it was inlined into %s; 'assay report --by line' shows "
                        "its lines",
                        symbol, as_str_get(&text));
    as_str_free(&text);
    return false;
}

static bool say_none(const struct as_view *view, const char *symbol, struct as_error *err)
{
    struct as_similar similar = {.typed = symbol};
    for (size_t i = 0; i < view->n_functions; i++)
        if (view->function[i].name)
            as_similar_add(&similar, view->function[i].name);
    char *near = as_similar_take(&similar);
    as_error_set_status(err, AS_EXIT_USAGE, "no function '%.200s' in the profile%s", symbol, near);
    free(near);
    return false;
}

bool as_function_find(const struct as_view *view, const char *symbol, struct as_function_found *found,
                      struct as_error *err)
{
    numbers functions = {0}, hosts = {0};
    *found = (struct as_function_found){.function = AS_STORE_NONE, .instruction = AS_STORE_NONE};
    find_all(view, symbol, &functions);
    if (functions.len == 1)
        found->function = functions.data[0];
    else if (!functions.len)
        found->instruction = find_outside(view, symbol);
    bool ok = found->function != AS_STORE_NONE || found->instruction != AS_STORE_NONE;
    if (!ok && !functions.len)
        find_hosts(view, symbol, &hosts);
    if (!ok && functions.len && sort_by_time(view, &functions, err))
        say_several(view, symbol, &functions, err);
    else if (!ok && functions.len)
        ok = false;
    else if (!ok && hosts.len)
        say_inlined(view, symbol, &hosts, err);
    else if (!ok)
        say_none(view, symbol, err);
    as_vec_free(&functions);
    as_vec_free(&hosts);
    return ok;
}
