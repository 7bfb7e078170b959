/* See observer_load.h. Everything about the shared object is checked before its code is called; that code runs under
 * the guard. Loading itself runs the object's constructors, as with any plugin: only load what you would run. */
#include "observe/observer_load.h"

#include "base/alloc.h"
#include "observe/guard.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char symbol[] = "assay_observer";

/* The file's absolute path (dlopen looks for plain names elsewhere) and the argument behind it. */
static char *split(const char *spec, const char **argument, struct as_error *err)
{
    const char *comma = access(spec, F_OK) == 0 ? NULL : strchr(spec, ',');
    char *file = comma ? as_strndup(spec, (size_t)(comma - spec)) : as_strdup(spec);
    char *path = realpath(file, NULL);
    struct stat status;
    *argument = comma ? comma + 1 : "";
    if (!path) {
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
        return as_error_set(err, "%s is no observer: it does not export '%s'", path, symbol);
    if (ops->version != AS_OBSERVER_VERSION)
        return as_error_set(err, "%s was built for version %u of assay/observer.h, this is version %u: build it again",
                            path, ops->version, AS_OBSERVER_VERSION);
    if (ops->record_size != sizeof(struct as_pipe))
        return as_error_set(err, "%s was built for records of %u bytes, this Assay's have %zu: build it again", path,
                            ops->record_size, sizeof(struct as_pipe));
    if (!ops->name || !ops->create || (!ops->batch && !ops->accesses))
        return as_error_set(err, "%s is no observer: its '%s' lacks %s", path, symbol,
                            !ops->name     ? "a name"
                            : !ops->create ? "a create function"
                                           : "a batch function");
    if (ops->workers > 1 && !ops->merge)
        return as_error_set(err, "%s is no observer: its '%s' works as several but lacks a merge function", path,
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

static bool open_at(const char *path, const char *argument, const struct as_run_info *run,
                    struct as_loaded_observer *loaded, struct as_error *err)
{
    loaded->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!loaded->handle)
        return as_error_set(err, "cannot load the observer %s", dlerror());
    loaded->ops = dlsym(loaded->handle, symbol);
    if (!check(loaded->ops, path, err))
        return false;
    struct creation creation = {.ops = loaded->ops, .run = run, .argument = argument};
    const char *crash = as_guard_call(create, &creation);
    if (crash) {
        loaded->handle = NULL; /* stays: see as_observer_unload */
        return as_error_set(err, "the observer '%s' (%s) crashed when it was created (%s)", loaded->ops->name, path,
                            crash);
    }
    loaded->self = creation.self;
    if (!loaded->self)
        return as_error_set(err, "the observer '%s' (%s) cannot work%s%s", loaded->ops->name, path,
                            *argument ? " with the argument " : "", argument);
    return true;
}

bool as_observer_load(const char *spec, const struct as_run_info *run, struct as_loaded_observer *loaded,
                      struct as_error *err)
{
    const char *argument;
    *loaded = (struct as_loaded_observer){0};
    char *path = split(spec, &argument, err);
    if (!path)
        return false;
    bool opened = open_at(path, argument, run, loaded, err);
    if (!opened)
        as_observer_unload(loaded);
    free(path);
    return opened;
}

void as_observer_unload(struct as_loaded_observer *loaded)
{
    if (loaded->handle)
        dlclose(loaded->handle);
    *loaded = (struct as_loaded_observer){0};
}
