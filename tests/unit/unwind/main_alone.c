/* SPDX-License-Identifier: Apache-2.0
 *
 * main_alone: a program whose main is in a section of its own, in front of all other
 * code, as compilers have it: what the C library puts into it comes last.
 */
__attribute__((section(".text.startup"))) int main(void)
{
	return 0;
}
