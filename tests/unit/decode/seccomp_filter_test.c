/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel itself tells what is right: a child sets the filter and makes the call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <linux/audit.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "decode/seccomp_filter.h"

#ifdef __x86_64__
#define ARCH AUDIT_ARCH_X86_64
#else
#define ARCH AUDIT_ARCH_AARCH64
#endif
#define NUMBER	SYS_setpriority /* fails by itself with such arguments */
#define REFUSED 120
#define LONGEST 24
#define ROUNDS	400

static uint64_t seed = 1;

static uint32_t draw(uint32_t n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(seed >> 33) % n;
}

/* Instructions of all kinds; what is compared has a chance to be equal. */
static struct sock_filter draw_instruction(size_t left)
{
	static const uint16_t codes[] = {
		BPF_LD | BPF_W | BPF_ABS,
		BPF_LD | BPF_W | BPF_LEN,
		BPF_LD | BPF_IMM,
		BPF_LD | BPF_MEM,
		BPF_LDX | BPF_IMM,
		BPF_LDX | BPF_MEM,
		BPF_LDX | BPF_W | BPF_LEN,
		BPF_ST,
		BPF_STX,
		BPF_ALU | BPF_ADD | BPF_K,
		BPF_ALU | BPF_ADD | BPF_X,
		BPF_ALU | BPF_SUB | BPF_K,
		BPF_ALU | BPF_SUB | BPF_X,
		BPF_ALU | BPF_MUL | BPF_K,
		BPF_ALU | BPF_MUL | BPF_X,
		BPF_ALU | BPF_DIV | BPF_K,
		BPF_ALU | BPF_DIV | BPF_X,
		BPF_ALU | BPF_AND | BPF_K,
		BPF_ALU | BPF_AND | BPF_X,
		BPF_ALU | BPF_OR | BPF_K,
		BPF_ALU | BPF_OR | BPF_X,
		BPF_ALU | BPF_XOR | BPF_K,
		BPF_ALU | BPF_XOR | BPF_X,
		BPF_ALU | BPF_LSH | BPF_K,
		BPF_ALU | BPF_LSH | BPF_X,
		BPF_ALU | BPF_RSH | BPF_K,
		BPF_ALU | BPF_RSH | BPF_X,
		BPF_ALU | BPF_NEG,
		BPF_MISC | BPF_TAX,
		BPF_MISC | BPF_TXA,
		BPF_JMP | BPF_JA,
		BPF_JMP | BPF_JEQ | BPF_K,
		BPF_JMP | BPF_JEQ | BPF_X,
		BPF_JMP | BPF_JGT | BPF_K,
		BPF_JMP | BPF_JGT | BPF_X,
		BPF_JMP | BPF_JGE | BPF_K,
		BPF_JMP | BPF_JGE | BPF_X,
		BPF_JMP | BPF_JSET | BPF_K,
		BPF_JMP | BPF_JSET | BPF_X,
	};
	struct sock_filter i = { .code = codes[draw(sizeof(codes) / sizeof(codes[0]))] };

	i.k = draw(40);
	if (i.code == (BPF_LD | BPF_W | BPF_ABS))
		i.k = (draw(14) * 4 + 16) % 64; /* not where it is made from */
	else if (BPF_CLASS(i.code) == BPF_JMP && BPF_OP(i.code) == BPF_JA)
		i.k = draw((uint32_t)left);
	else if (BPF_MODE(i.code) == BPF_MEM || BPF_CLASS(i.code) == BPF_ST ||
		 BPF_CLASS(i.code) == BPF_STX)
		i.k = draw(2);
	i.jt = (uint8_t)draw((uint32_t)left);
	i.jf = (uint8_t)draw((uint32_t)left);
	return i;
}

/* Lets all but the one call; of that one it tells a number below REFUSED. */
static size_t draw_filter(struct sock_filter *to)
{
	size_t n = 0, middle = 3 + draw(LONGEST);

	to[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0);
	to[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NUMBER, 1, 0);
	to[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	to[n++] = (struct sock_filter)BPF_STMT(BPF_ST, 0); /* or it may not be loaded */
	to[n++] = (struct sock_filter)BPF_STMT(BPF_ST, 1);
	for (size_t i = 0; i < middle; i++)
		to[n++] = draw_instruction(middle - i);
	to[n++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 63);
	to[n++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_OR | BPF_K,
					       SECCOMP_RET_ERRNO | 32);
	to[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_A, 0);
	return n;
}

/* The call's errno, REFUSED: the kernel does not take the filter, -1: it was killed. */
static int by_kernel(const struct sock_filter *code, size_t n, const uint64_t *args)
{
	struct sock_fprog program = { (unsigned short)n, (struct sock_filter *)code };
	pid_t child = fork();
	int status;

	if (!child) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
		    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
			_exit(REFUSED);
		syscall(NUMBER, args[0], args[1], args[2], args[3], args[4], args[5]);
		_exit(errno);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void random_filters_do_what_the_kernel_says(void **state)
{
	static const struct sock_filter all =
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	unsigned n_taken = 0;

	(void)state;
	if (by_kernel(&all, 1, (const uint64_t[6]){ 99 }) == REFUSED)
		skip(); /* an emulator that has none */
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct sock_filter code[LONGEST + 12];
		struct seccomp_data call = { .nr = NUMBER, .arch = ARCH };
		uint64_t args[6];
		uint32_t ret;
		size_t n = draw_filter(code);
		int right;

		for (unsigned i = 0; i < 6; i++)
			args[i] = call.args[i] =
				(uint64_t)draw(40) << 32 | (i ? draw(40) : 99);
		right = by_kernel(code, n, args);
		if (right == REFUSED)
			continue;
		assert_true(seccomp_filter_run(code, n, &call, &ret));
		if (right < 0) { /* by a division */
			assert_int_equal(ret, 0);
			continue;
		}
		n_taken++;
		assert_int_equal(ret & SECCOMP_RET_ACTION_FULL, SECCOMP_RET_ERRNO);
		assert_int_equal(ret & SECCOMP_RET_DATA, right);
	}
	assert_true(n_taken > ROUNDS / 2);
}

static void what_the_kernel_refuses_is_no_filter(void **state)
{
	static const struct sock_filter all[][2] = {
		{ BPF_STMT(BPF_LD | BPF_IMM, 1), BPF_STMT(BPF_MISC | BPF_TAX, 0) },
		{ BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 64), BPF_STMT(BPF_RET | BPF_K, 0) },
		{ BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 2), BPF_STMT(BPF_RET | BPF_K, 0) },
		{ BPF_STMT(BPF_LD | BPF_W | BPF_IND, 0), BPF_STMT(BPF_RET | BPF_K, 0) },
		{ BPF_STMT(BPF_LD | BPF_MEM, 16), BPF_STMT(BPF_RET | BPF_K, 0) },
		{ BPF_STMT(BPF_ST, 16), BPF_STMT(BPF_RET | BPF_K, 0) },
		{ BPF_STMT(BPF_JMP | BPF_JA, 1), BPF_STMT(BPF_RET | BPF_K, 0) },
		{ BPF_STMT(BPF_JMP | BPF_JA, UINT32_MAX), BPF_STMT(BPF_RET | BPF_K, 0) },
		{ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 9, 9),
		  BPF_STMT(BPF_RET | BPF_K, 0) },
	};
	struct seccomp_data call = { .nr = NUMBER, .arch = ARCH };
	uint32_t ret;

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		assert_false(seccomp_filter_run(all[i], 2, &call, &ret));
	assert_false(seccomp_filter_run(all[0], 0, &call, &ret));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_filters_do_what_the_kernel_says),
		cmocka_unit_test(what_the_kernel_refuses_is_no_filter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
