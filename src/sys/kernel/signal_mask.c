// SPDX-License-Identifier: Apache-2.0
#include "sys/kernel/signal_mask.h"

void signal_mask_block(sigset_t *ret_before)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
	sigset_t set;

	sigfillset(&set);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigdelset(&set, faults[i]);
	pthread_sigmask(SIG_SETMASK, &set, ret_before);
}
