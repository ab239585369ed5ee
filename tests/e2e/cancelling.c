/* SPDX-License-Identifier: Apache-2.0
 *
 * A library that cancels threads.
 */
#include <pthread.h>

int cancelling(pthread_t thread);

int cancelling(pthread_t thread)
{
	return pthread_cancel(thread);
}
