// SPDX-License-Identifier: Apache-2.0
// JIT-compiled code: naive Fibonacci numbers, a tree map, and three threads that
// contend for a monitor.  usage: J [N]  (38)
import java.util.Map;
import java.util.TreeMap;

public class J {
	private static final Object lock = new Object();
	private static long count;

	static int fib(int n) {
		return n < 2 ? n : fib(n - 1) + fib(n - 2);
	}

	static long words(int n) {
		Map<String, Long> sums = new TreeMap<>();
		long total = 0;

		for (int i = 0; i < n; i++)
			sums.merge("k" + (i * 7919 % 1000), (long) i, Long::sum);
		for (long v : sums.values())
			total += v;
		return total;
	}

	static void contend(int n) {
		for (int i = 0; i < n; i++) {
			synchronized (lock) {
				count++;
			}
		}
	}

	public static void main(String[] args) throws InterruptedException {
		int n = args.length > 0 ? Integer.parseInt(args[0]) : 38;
		Thread[] threads = new Thread[3];

		System.out.println(fib(n) + " " + words(n * 30000));
		for (int i = 0; i < threads.length; i++) {
			threads[i] = new Thread(() -> contend(2000000));
			threads[i].start();
		}
		for (Thread t : threads)
			t.join();
		System.out.println(count);
	}
}
