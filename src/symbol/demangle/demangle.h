/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names as people wrote them: C++ (Itanium ABI), Rust legacy and Rust v0.
 *
 * Rust names come without the hashes. Pure functions; any thread.
 */
#ifndef RINGTAIL_SYMBOL_DEMANGLE_DEMANGLE_H
#define RINGTAIL_SYMBOL_DEMANGLE_DEMANGLE_H

#include <stddef.h>

/* A longer name, or a longer result, is left as it is: substitutions can make 2^n bytes of n. */
#define DEMANGLE_MAX 65536

/*
 * As it is shown: of C++ functions with parameters, of templates the return type, and " [clone
 * .cold]" and kin, as c++filt and perf have it. Returns the text for free(), or NULL if @name is
 * not mangled, or is but not validly.
 */
char *demangle_text(const char *name);

/* The same, but of C++ functions the qualified name alone. */
char *demangle_name(const char *name);

/* Of a C++ function all but the clone; only C++, clone and all. As demangle_text() otherwise. */
char *demangle_signature(const char *name);
char *demangle_cxx_text(const char *name);

/* From what demangle_text() made to what demangle_name() would; NULL: no parameters, or memory. */
char *demangle_reduce(const char *text);

/* Only C++ ("_Z…"), only Rust legacy ("_ZN…17h<hash>E"), only Rust v0 ("_R…"). Same results. */
char *demangle_cxx(const char *name);
char *demangle_rust_legacy(const char *name);
char *demangle_rust_v0(const char *name);

#endif
