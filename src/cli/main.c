// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

int main(void)
{
	puts("ringtail 0.1.0");
	return 0;
}
