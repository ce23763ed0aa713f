/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What C++ calls a function, from its symbol: by the C++ library's own demangler
 * (abi::__cxa_demangle of the Itanium C++ ABI), where this machine has that library.
 */
#ifndef OPPROBE_DEMANGLE_H
#define OPPROBE_DEMANGLE_H

/*
 * "ns::scale(float*, int)" of "_ZN2ns5scaleEPfi", allocated; a copy of @symbol where it is none of
 * C++'s, or where that cannot be told. NULL if out of memory.
 */
char *demangle(const char *symbol);

#endif
