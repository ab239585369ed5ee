/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Floating-point loops: five bodies that attract each other, all in main.
 *
 *	usage: fp [STEPS]	(3,000,000)
 */
#include <math.h>
#include <stdio.h>

#include "workload.h"

#define BODIES 5

struct body {
	double position[3], velocity[3], mass;
};

static inline void attract(struct body *a, struct body *b)
{
	double distance[3], square = 0.01;

	for (int k = 0; k < 3; k++) {
		distance[k] = a->position[k] - b->position[k];
		square += distance[k] * distance[k];
	}

	double force = 0.001 / (square * sqrt(square));

	for (int k = 0; k < 3; k++) {
		a->velocity[k] -= distance[k] * b->mass * force;
		b->velocity[k] += distance[k] * a->mass * force;
	}
}

static inline void step(struct body *bodies)
{
	for (int i = 0; i < BODIES; i++)
		for (int j = i + 1; j < BODIES; j++)
			attract(&bodies[i], &bodies[j]);
	for (int i = 0; i < BODIES; i++)
		for (int k = 0; k < 3; k++)
			bodies[i].position[k] += 0.001 * bodies[i].velocity[k];
}

int main(int argc, char **argv)
{
	struct body bodies[BODIES];
	long steps = workload_arg(argc, argv, 1, 3000000);

	for (int i = 0; i < BODIES; i++) {
		for (int k = 0; k < 3; k++) {
			bodies[i].position[k] = i * 1.3 + k;
			bodies[i].velocity[k] = 0.01 * (i - k);
		}
		bodies[i].mass = 1.0 / (i + 1);
	}
	for (long s = 0; s < steps; s++)
		step(bodies);
	printf("%.9f\n", bodies[0].position[0]);
	return 0;
}
