/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Demangling: C++ (Itanium ABI), Rust legacy and Rust v0 names as in the source.
 *
 * Rust names come without their hashes. Pure functions; any thread. All results are for free().
 */
#ifndef RINGTAIL_SYMBOL_DEMANGLE_DEMANGLE_H
#define RINGTAIL_SYMBOL_DEMANGLE_DEMANGLE_H

#include <stddef.h>

/*
 * Longer names, and names with longer results, stay mangled: substitutions can make 2^n bytes of n.
 */
#define DEMANGLE_MAX 65536

/*
 * Returns a name as c++filt and perf show it: C++ functions with parameters, templates with their
 * return type, and suffixes such as " [clone .cold]". NULL: @name is not mangled, or not validly.
 */
char *demangle_text(const char *name);

/* As demangle_text(), but only the qualified name of C++ functions. */
char *demangle_name(const char *name);

/* As demangle_text(), but C++ functions without the clone suffix. */
char *demangle_signature(const char *name);
/* As demangle_text(), for C++ names only. */
char *demangle_cxx_text(const char *name);

/*
 * Turns a result of demangle_text() into that of demangle_name(). NULL: it has no parameters, or
 * memory is short.
 */
char *demangle_reduce(const char *text);

/* Demangle only C++ ("_Z…"), Rust legacy ("_ZN…17h<hash>E") or Rust v0 ("_R…"). Results as above.
 */
char *demangle_cxx(const char *name);
char *demangle_rust_legacy(const char *name);
char *demangle_rust_v0(const char *name);

#endif
