/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of functions.c, which have a function of the same name each. */
int work(int n);
double slow(int ms); /* returns how long it took */
int helper_here(int n);
int helper_more(int n);
