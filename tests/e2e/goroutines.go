// SPDX-License-Identifier: Apache-2.0

// A Go program: statically linked, with a scheduler, signals and stacks of its own.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

func burn(n int) int {
	sum := 0
	for i := 0; i < n; i++ {
		sum += i * i
	}
	return sum
}

func main() {
	var all sync.WaitGroup
	sums := make([]int, 100)

	for i := range sums {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			sums[i] = burn(i * 10000)
			time.Sleep(time.Millisecond)
		}(i)
	}
	all.Wait()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	syscall.Kill(os.Getpid(), syscall.SIGUSR1)
	fmt.Println(sums[99], <-signals)
	out, err := exec.Command("sh", "-c", "echo from a child; exit 3").Output()
	fmt.Printf("%s%v\n", out, err)
	os.Exit(4)
}
