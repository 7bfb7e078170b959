/* .pmu files: `key = value` lines into struct as_pmu and back, and where the files are. */
#include "base/alloc.h"
#include "base/keyfile.h"
#include "base/named_file.h"
#include "pmu/pmu_table.h"

#include <stdlib.h>
#include <string.h>

#ifndef AS_PMU_DIR
#define AS_PMU_DIR "share/assay/pmus"
#endif

enum { SHOWN = 60 };
static const struct as_named_files pmu_files = {
    .what = "PMU", .suffix = ".pmu", .beside = "pmus", .installed = AS_PMU_DIR};

/* ---- reading ---- */

struct parse {
    struct as_pmu *pmu;
    uint32_t *lines; /* where each key was given; 0: nowhere */
};

static bool assign(void *context, uint32_t line, const char *key, const char *value, struct as_error *err)
{
    struct parse *parse = context;
    const struct as_pmu_field *field = as_pmu_field_find(key);
    char allowed[160];
    if (!field)
        return as_error_set(err, "unknown key '%.*s'; 'assay trust --keys' lists those that there are", SHOWN, key);
    uint32_t *given = &parse->lines[field - as_pmu_fields];
    if (*given)
        return as_error_set(err, "'%s' was already given in line %u", key, *given);
    *given = line;
    if (as_pmu_field_parse(field, parse->pmu, value))
        return true;
    return as_error_set(err, "%s = %.*s: not allowed; %s (%s)", key, SHOWN, value,
                        as_pmu_field_allowed(field, allowed, sizeof allowed), field->meaning);
}

/* A unit says all that its kind has and nothing else: a shadow in a file of an IBS would be a misunderstanding. */
static bool check_keys(const struct parse *parse, const char *origin, struct as_error *err)
{
    const char *kind = as_pmu_kind_names[parse->pmu->kind];
    char allowed[160];
    for (size_t i = 0; i < as_pmu_fields_count; i++) {
        const struct as_pmu_field *field = &as_pmu_fields[i];
        bool has = as_pmu_field_of(field, parse->pmu->kind);
        if (!field->kinds || has == (parse->lines[i] != 0))
            continue;
        if (has)
            return as_error_set(err, "%s: no value for %s (%s; %s)", origin, field->key, field->meaning,
                                as_pmu_field_allowed(field, allowed, sizeof allowed));
        return as_error_set(err, "%s:%u: a unit of kind %s has no %s", origin, parse->lines[i], kind, field->key);
    }
    return true;
}

static bool check(const struct as_pmu *pmu, const char *origin, struct as_error *err)
{
    if (pmu->kernel_locked > pmu->kernel_body)
        return as_error_set(err, "%s: kernel.locked is %u, more than the %u instructions of kernel.body", origin,
                            pmu->kernel_locked, pmu->kernel_body);
    if (pmu->buffer_bytes && (uint64_t)pmu->buffer_records * pmu->record_bytes > pmu->buffer_bytes)
        return as_error_set(err, "%s: buffer_records are %u of %u bytes, more than the %u of buffer_bytes", origin,
                            pmu->buffer_records, pmu->record_bytes, pmu->buffer_bytes);
    if (!pmu->lbr && (pmu->lbr_cycles || pmu->lbr_mispredicts || pmu->lbr_call_stack))
        return as_error_set(err, "%s: lbr is 0, so lbr_mispredicts, lbr_cycles and lbr_call_stack must be no", origin);
    return true;
}

bool as_pmu_parse(const char *text, size_t size, const char *origin, struct as_pmu *pmu, struct as_error *err)
{
    struct parse parse = {.pmu = pmu};
    struct as_keyfile file = {.origin = origin, .what = "a PMU file", .assign = assign, .context = &parse};
    memset(pmu, 0, sizeof *pmu);
    parse.lines = as_alloc_array(as_pmu_fields_count, sizeof *parse.lines);
    bool ok = as_keyfile_parse(&file, text, size, err);
    if (ok && !parse.lines[as_pmu_field_find("kind") - as_pmu_fields])
        ok = as_error_set(err, "%s: no value for kind (the mechanism; pebs, ibs, spe, tip or tea)", origin);
    ok = ok && check_keys(&parse, origin, err) && check(pmu, origin, err);
    free(parse.lines);
    return ok;
}

static bool set_one(struct as_pmu *pmu, const char *assignment, struct as_error *err)
{
    const char *equals = strchr(assignment, '=');
    char key[64], allowed[160];
    if (!equals || (size_t)(equals - assignment) >= sizeof key)
        return as_error_set_status(err, AS_EXIT_USAGE, "'%.*s' is not of the form KEY=VALUE", SHOWN, assignment);
    snprintf(key, sizeof key, "%.*s", (int)(equals - assignment), assignment);
    const struct as_pmu_field *field = as_pmu_field_find(key);
    if (!field || strcmp(key, "kind") == 0)
        return as_error_set_status(err, AS_EXIT_USAGE,
                                   "no PMU has a key '%s' that can be set; 'assay trust --keys' "
                                   "lists them",
                                   key);
    if (field->kinds && !as_pmu_field_of(field, pmu->kind))
        return as_error_set_status(err, AS_EXIT_USAGE, "%s: a unit of kind %s has no %s", pmu->name,
                                   as_pmu_kind_names[pmu->kind], key);
    if (!as_pmu_field_parse(field, pmu, equals + 1))
        return as_error_set_status(err, AS_EXIT_USAGE, "%s: not allowed; %s (%s)", assignment,
                                   as_pmu_field_allowed(field, allowed, sizeof allowed), field->meaning);
    return true;
}

bool as_pmu_set(struct as_pmu *pmu, const char *const *assignments, size_t n, struct as_error *err)
{
    struct as_pmu changed = *pmu;
    struct as_error reason = AS_ERROR_INIT;
    for (size_t i = 0; i < n; i++)
        if (!set_one(&changed, assignments[i], err))
            return false;
    if (!check(&changed, pmu->name, &reason))
        return as_error_set_status(err, AS_EXIT_USAGE, "%s", reason.message);
    *pmu = changed;
    return true;
}

void as_pmu_print(const struct as_pmu *pmu, FILE *out)
{
    char text[1024];
    for (size_t i = 0; i < as_pmu_fields_count; i++) {
        const struct as_pmu_field *field = &as_pmu_fields[i];
        if (field->kinds && !as_pmu_field_of(field, pmu->kind))
            continue;
        if (*as_pmu_field_text(field, pmu, text, sizeof text))
            fprintf(out, "%s = %s\n", field->key, text);
    }
}

void as_pmu_keys(void (*found)(void *context, const char *key, const char *meaning, const char *allowed), void *context)
{
    char allowed[160];
    for (size_t i = 0; i < as_pmu_fields_count; i++)
        found(context, as_pmu_fields[i].key, as_pmu_fields[i].meaning,
              as_pmu_field_allowed(&as_pmu_fields[i], allowed, sizeof allowed));
}

/* ---- finding ---- */

void as_pmu_list(void (*found)(void *context, const char *name), void *context)
{
    as_named_files_list(&pmu_files, found, context);
}

void as_pmu_names(struct as_str *list)
{
    as_named_files_add(&pmu_files, list);
}

bool as_pmu_load(const char *name_or_path, struct as_pmu *pmu, struct as_error *err)
{
    char path[PATH_MAX];
    size_t size;
    if (!as_named_files_find(&pmu_files, name_or_path, path, err))
        return false;
    char *text = as_keyfile_read(path, &size, err);
    bool ok = text && as_pmu_parse(text, size, path, pmu, err);
    free(text);
    if (!ok)
        return false;
    snprintf(pmu->path, sizeof pmu->path, "%s", path);
    if (!pmu->name[0])
        as_named_files_name(&pmu_files, path, pmu->name, sizeof pmu->name);
    return true;
}
