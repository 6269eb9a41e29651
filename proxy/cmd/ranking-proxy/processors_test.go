package main

import (
	"runtime"
	"testing"
)

func TestHalfOfTheProcessorsUnlessTold(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	f := func(variable string, there, want int) {
		t.Helper()
		t.Setenv("GOMAXPROCS", variable)
		runtime.GOMAXPROCS(there)
		if useProcessors(); runtime.GOMAXPROCS(0) != want {
			t.Errorf("GOMAXPROCS=%s of %d: uses %d", variable, there, runtime.GOMAXPROCS(0))
		}
	}
	f("", 1, 1)
	f("", 2, 1)
	f("", 3, 2)
	f("", 8, 4)
	f("3", 3, 3)
}
