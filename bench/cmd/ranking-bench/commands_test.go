package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"trtmc-ranking-proxy/bench/load"
	"trtmc-ranking-proxy/bench/nullserver"
	"trtmc-ranking-proxy/bench/report"
)

func startNull(t *testing.T) (address string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = nullserver.Serve(l) }()
	t.Cleanup(func() { l.Close(); <-ended })
	return "unix:" + path
}

func readRun(t *testing.T, path string) *report.Run {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	run, err := report.ReadRun(f)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func TestRunWritesItsResult(t *testing.T) {
	out := filepath.Join(t.TempDir(), "result.json")
	err := runCommand(context.Background(), []string{
		"--url", startNull(t), "--workload", "W6", "--class", "short", "--arrivals", "constant", "--rate", "200", "--concurrency", "50",
		"--warm-up", "100ms", "--window", "500ms", "--objective", "20s", "--progress", "always", "--json", out,
	})
	if err != nil {
		t.Fatal(err)
	}
	r := &readRun(t, out).Results[0]
	if r.Counts[load.OK] != 100 || r.Loop != report.Open || r.Arrivals != "constant" || r.GoodputPerS != 200 || r.Classes["short"].N != 100 {
		t.Errorf("got %+v", *r)
	}
}

func TestSearchReportsWhatItTried(t *testing.T) {
	err := searchCommand(context.Background(), []string{
		"--url", startNull(t) + "-gone", "--objective", "10s", "--from", "1000000", "--warm-up", "0s", "--window", "1ms", "--progress", "never",
	})
	if err == nil || !strings.Contains(err.Error(), "not sustained even at") {
		t.Errorf("a server that is not there: %v", err)
	}
}

func TestCommandsRefuse(t *testing.T) {
	f := func(run func(context.Context, []string) error, want string, args ...string) {
		t.Helper()
		if err := run(context.Background(), args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %q", args, err, want)
		}
	}
	f(runCommand, "wire format", "--format", "grpc")
	f(runCommand, "workload", "--workload", "W9")
	f(runCommand, "--progress", "--progress", "sometimes")
	f(runCommand, "class", "--class", "huge")
	f(searchCommand, "--objective")
	f(stackCommand, "NAME=ARGUMENTS", "--task", "null", "--out", t.TempDir())
	f(nullCommand, "listen", "--listen", "127.0.0.1:99999")
}
