// SPDX-License-Identifier: Apache-2.0
#include "record/initial/patience.h"

#include <errno.h>

#include "base/clock_ns.h"

int patience_wait(const struct patience *p, pthread_cond_t *cond, pthread_mutex_t *lock,
		  uint64_t until)
{
	uint64_t now = now_ms();
	bool breathes = p && p->go_on && until > now + PATIENCE_BREATH_MS;
	const struct timespec next =
		timespec_of_deadline(breathes ? now + PATIENCE_BREATH_MS : until);
	bool on;

	if (!pthread_cond_timedwait(cond, lock, &next))
		return 0;
	if (!breathes)
		return -ETIMEDOUT;
	pthread_mutex_unlock(lock);
	on = p->go_on(p->arg);
	pthread_mutex_lock(lock);
	return on ? 0 : -ECANCELED;
}
