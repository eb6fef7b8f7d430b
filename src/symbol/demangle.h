/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names as people wrote them: C++ (Itanium ABI), Rust legacy and Rust v0.
 *
 * C++ functions come without parameters and return type, as perf shows them; Rust names without
 * the hashes. Pure functions; any thread.
 */
#ifndef RINGTAIL_SYMBOL_DEMANGLE_H
#define RINGTAIL_SYMBOL_DEMANGLE_H

#include <stddef.h>

/* A longer name, or a longer result, is left as it is: substitutions can make 2^n bytes of n. */
#define DEMANGLE_MAX 65536

/* Returns the name for free(), or NULL if @name is not mangled, or is but not validly. */
char *demangle_name(const char *name);

/* Of a C++ function, with its parameters, as c++filt says it. As demangle_name() otherwise. */
char *demangle_signature(const char *name);

/* Only C++ ("_Z…"), only Rust legacy ("_ZN…17h<hash>E"), only Rust v0 ("_R…"). Same results. */
char *demangle_cxx(const char *name);
char *demangle_rust_legacy(const char *name);
char *demangle_rust_v0(const char *name);

#endif
