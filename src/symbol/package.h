/* The Debian package that a file came with, for hints where its debug information is. */
#ifndef AS_SYMBOL_PACKAGE_H
#define AS_SYMBOL_PACKAGE_H

#define AS_PACKAGE_LISTS "/var/lib/dpkg/info" /* where dpkg keeps the lists of installed files */

/* The name of the package, without its architecture; the caller frees. NULL: not known, or not Debian. */
char *as_package_of(const char *lists, const char *path);
/* The package with its debug information, "libfoo1-dbgsym"; the caller frees. */
char *as_package_debug(const char *package);

#endif
