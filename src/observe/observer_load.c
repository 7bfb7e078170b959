/* See observer_load.h. Everything about the shared object is checked before its code is called; that code runs under
 * the guard. Loading itself runs the object's constructors, as with any plugin: only load what you would run. */
#include "observe/observer_load.h"

#include "base/alloc.h"
#include "base/str.h"
#include "observe/bundled.h"
#include "observe/guard.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char symbol[] = "assay_observer";

/* A name without a folder or an ending is more likely that of a bundled one. */
static void set_unknown(const char *name, struct as_error *err)
{
    struct as_str names = {0};
    for (size_t i = 0; as_bundled_at(i); i++)
        as_str_add_word(&names, true, as_bundled_at(i)->name);
    as_error_set_status(err, AS_EXIT_USAGE, "--observer=%s: neither a shared object nor one of %s", name,
                        as_str_get(&names));
    as_str_free(&names);
}

/* Returns the file's absolute path (dlopen searches elsewhere for plain names) and the argument after it. */
static char *split(const char *spec, const char **argument, struct as_error *err)
{
    const char *comma = access(spec, F_OK) == 0 ? NULL : strchr(spec, ',');
    char *file = comma ? as_strndup(spec, (size_t)(comma - spec)) : as_strdup(spec);
    char *path = realpath(file, NULL);
    struct stat status;
    *argument = comma ? comma + 1 : "";
    if (!path && !strpbrk(file, "/.")) {
        set_unknown(file, err);
    } else if (!path) {
        as_error_set(err, "cannot load the observer %s: %s", file, strerror(errno));
    } else if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        as_error_set(err, "cannot load the observer %s: not a file", file);
        free(path);
        path = NULL;
    }
    free(file);
    return path;
}

static bool check(const struct as_observer *ops, const char *path, struct as_error *err)
{
    if (!ops)
        return as_error_set(err, "%s is not an observer: it does not export '%s'", path, symbol);
    if (ops->version != AS_OBSERVER_VERSION)
        return as_error_set(err, "%s was built for version %u of assay/observer.h, this is version %u: build it again",
                            path, ops->version, AS_OBSERVER_VERSION);
    if (ops->record_size != sizeof(struct as_pipe))
        return as_error_set(err, "%s was built for records of %u bytes, this Assay's have %zu: build it again", path,
                            ops->record_size, sizeof(struct as_pipe));
    if (!ops->name || !ops->create || (!ops->batch && !ops->accesses))
        return as_error_set(err, "%s is not an observer: its '%s' lacks %s", path, symbol,
                            !ops->name     ? "a name"
                            : !ops->create ? "a create function"
                                           : "a batch function");
    if (ops->workers > 1 && !ops->merge)
        return as_error_set(err, "%s is not an observer: its '%s' supports workers but lacks a merge function", path,
                            symbol);
    return true;
}

struct creation {
    const struct as_observer *ops;
    const struct as_run_info *run;
    const char *argument;
    void *self;
};

static void create(void *argument)
{
    struct creation *creation = argument;
    creation->self = creation->ops->create(creation->run, creation->argument);
}

static bool create_one(const struct as_loaded_observer *loaded, void **self, struct as_error *err)
{
    struct creation creation = {.ops = loaded->ops, .run = loaded->run, .argument = loaded->argument};
    const char *crash = NULL;
    if (loaded->foreign)
        crash = as_guard_call(create, &creation);
    else
        create(&creation);
    if (crash)
        return as_error_set(err, "the observer '%s' (%s) crashed when it was created (%s)", loaded->ops->name,
                            loaded->path, crash);
    *self = creation.self;
    if (!*self && !loaded->foreign)
        return as_error_set_status(err, AS_EXIT_USAGE, "the observer '%s' takes %s, not '%s'", loaded->ops->name,
                                   as_bundled_argument(loaded->ops), loaded->argument);
    if (!*self)
        return as_error_set(err, "the observer '%s' (%s) cannot work%s%s", loaded->ops->name, loaded->path,
                            *loaded->argument ? " with the argument " : "", loaded->argument);
    return true;
}

bool as_observer_create(const struct as_loaded_observer *loaded, void **selves, size_t n, struct as_error *err)
{
    size_t made = 0;
    while (made < n && create_one(loaded, &selves[made], err))
        made++;
    for (size_t i = 0; made < n && i < made && loaded->ops->free; i++)
        loaded->ops->free(selves[i]);
    return made == n;
}

static bool open_shared_object(struct as_loaded_observer *loaded, struct as_error *err)
{
    loaded->foreign = true;
    loaded->handle = dlopen(loaded->path, RTLD_NOW | RTLD_LOCAL);
    if (!loaded->handle)
        return as_error_set(err, "cannot load the observer %s", dlerror());
    loaded->ops = dlsym(loaded->handle, symbol);
    return check(loaded->ops, loaded->path, err);
}

/* A bundled observer, if `spec` names one. */
static bool find_bundled(const char *spec, struct as_loaded_observer *loaded)
{
    size_t length = strcspn(spec, ",");
    char *name = as_strndup(spec, length);
    loaded->ops = as_bundled_find(name);
    loaded->path = name;
    if (!loaded->ops)
        return false;
    loaded->argument = as_strdup(spec[length] ? spec + length + 1 : "");
    return true;
}

bool as_observer_load(const char *spec, const struct as_run_info *run, struct as_loaded_observer *loaded,
                      struct as_error *err)
{
    const char *argument;
    *loaded = (struct as_loaded_observer){.run = run};
    if (find_bundled(spec, loaded))
        return true;
    free(loaded->path);
    loaded->path = split(spec, &argument, err);
    loaded->argument = loaded->path ? as_strdup(argument) : NULL;
    bool opened = loaded->path && open_shared_object(loaded, err);
    if (!opened)
        as_observer_unload(loaded);
    return opened;
}

void as_observer_unload(struct as_loaded_observer *loaded)
{
    if (loaded->handle)
        dlclose(loaded->handle);
    free(loaded->path);
    free(loaded->argument);
    *loaded = (struct as_loaded_observer){0};
}
