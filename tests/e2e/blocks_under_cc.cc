// SPDX-License-Identifier: Apache-2.0
// Functions to be chosen that exceptions leave.  mark and leaf execute 4 and 3
// instructions.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#define FUNCTION(name, text)                                                             \
	__asm__(".pushsection .text\n.globl " #name "\n.type " #name ", @function\n"     \
		".p2align 4\n" #name ":\n" text "\n.size " #name ", .-" #name            \
		"\n.popsection\n")
#define ALONE __attribute__((noinline))
#define TURNS 100

FUNCTION(leaf, "nop; nop; ret");
FUNCTION(mark, "nop; nop; nop; ret");

extern "C" void leaf();
extern "C" void mark();

static volatile int n_caught;

struct Guard {
	~Guard()
	{
		mark();
	}
};

namespace under
{

// leaf in each frame, mark in each that is left by it
ALONE void thrower(int n)
{
	Guard guard;

	leaf();
	if (!n)
		throw std::runtime_error("thrown");
	thrower(n - 1);
	n_caught = -1;
}

// One that catches what is thrown in one that it calls.
ALONE void catcher(int n)
{
	try {
		thrower(n);
	} catch (const std::exception &) {
		mark();
	}
	mark();
}

// Neither catches it nor has anything to do.
ALONE void passing(int n)
{
	thrower(n);
	leaf();
}

// Throws it again.
ALONE void again(int n)
{
	try {
		passing(n);
	} catch (...) {
		mark();
		throw;
	}
}

} // namespace under

static void throw_from_handler(int)
{
	leaf();
	throw 1;
}

static volatile int *volatile nowhere;

ALONE static void interrupted()
{
	*nowhere = 1;
	leaf();
}

static void handlers()
{
	static char room[65536];
	struct sigaction a = {};
	stack_t stack = {};

	stack.ss_sp = room;
	stack.ss_size = sizeof(room);
	sigaltstack(&stack, nullptr);
	a.sa_handler = throw_from_handler;
	a.sa_flags = SA_ONSTACK | SA_NODEFER;
	sigaction(SIGSEGV, &a, nullptr);
	for (int i = 0; i < TURNS; i++) {
		try {
			interrupted();
		} catch (int) {
			mark();
		}
		leaf();
	}
}

int main(int argc, char **)
{
	if (argc > 1) {
		handlers();
		return 0;
	}
	for (int i = 0; i < TURNS; i++) {
		for (auto function :
		     { under::thrower, under::catcher, under::passing, under::again }) {
			try {
				function(i % 5);
			} catch (const std::exception &) {
				n_caught = n_caught + 1;
				leaf();
			}
			mark();
		}
	}
	std::printf("%d\n", n_caught);
}
