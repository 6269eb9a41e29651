package main

import (
	"os"
	"runtime"
)

// useProcessors leaves half of the processors to the Task, unless GOMAXPROCS says otherwise. With as many as there are, the runtime wakes a
// thread on another processor for every change of goroutine, and a lone request waits for it; what that costs is in bench/README.md.
func useProcessors() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS((runtime.GOMAXPROCS(0) + 1) / 2)
	}
}
