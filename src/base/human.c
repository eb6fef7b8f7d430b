// SPDX-License-Identifier: Apache-2.0
#include "base/human.h"

#include <stddef.h>
#include <stdio.h>

const char *human_count(uint64_t n, char out[HUMAN_COUNT_SIZE])
{
	char plain[21];
	int len = snprintf(plain, sizeof(plain), "%llu", (unsigned long long)n);
	char *p = out;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*p++ = ',';
		*p++ = plain[i];
	}
	*p = '\0';
	return out;
}

const char *human_size(uint64_t bytes, char out[HUMAN_SIZE_SIZE])
{
	static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
	double value = (double)bytes;
	size_t unit = 0;

	while (value >= 1024 && unit < 4) {
		value /= 1024;
		unit++;
	}
	snprintf(out, HUMAN_SIZE_SIZE, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
	return out;
}
