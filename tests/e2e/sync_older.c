/* SPDX-License-Identifier: Apache-2.0
 *
 * sync_older - a program that was built for the conditions of glibc before 2.3.2, which
 * are pointers: those of today wake nobody who waits for one.  For each line one thread
 * waits until another signals.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "waiter.h"

#define LIMIT_S 60 /* whoever is not woken waits for ever */

__asm__(".symver pthread_cond_wait, pthread_cond_wait@GLIBC_2.2.5");
__asm__(".symver pthread_cond_signal, pthread_cond_signal@GLIBC_2.2.5");

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int is_set;

static void *wait_for_condition(void *arg)
{
	pthread_mutex_lock(&mutex);
	say_who();
	while (!is_set)
		pthread_cond_wait(&condition, &mutex);
	pthread_mutex_unlock(&mutex);
	return arg;
}

static void wake_one(void)
{
	pthread_t thread;

	is_set = 0;
	waiter_tid = 0;
	pthread_create(&thread, NULL, wait_for_condition, NULL);
	until_waiter_sleeps();
	sleep_ms(50); /* whoever looks for calls that have been looked up has done so */
	pthread_mutex_lock(&mutex);
	is_set = 1;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
	pthread_join(thread, NULL);
}

int main(void)
{
	char line[64];

	setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
	printf("ready\n");
	while (fgets(line, sizeof(line), stdin)) {
		alarm(LIMIT_S);
		wake_one();
		alarm(0);
		printf("done\n");
	}
	return 0;
}
