package measure

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"trtmc-ranking-proxy/bench/load"
	"trtmc-ranking-proxy/bench/workloads"
)

func TestMemoryCountsChildren(t *testing.T) {
	alone := RSSMB(os.Getpid())
	if alone < 1 {
		t.Fatalf("this test has %g MB", alone)
	}
	// A shell whose child is another process: the shell's figure must hold both.
	shell := exec.Command("sh", "-c", "sleep 60 & wait")
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = shell.Process.Kill(); _ = shell.Wait() }()
	var below []int
	for deadline := time.Now().Add(30 * time.Second); len(below) == 0 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		below = children(shell.Process.Pid)
	}
	if len(below) != 1 {
		t.Fatalf("the shell has %d children", len(below))
	}
	defer func() { _ = exec.Command("kill", "-9", strconv.Itoa(below[0])).Run() }()
	if RSSMB(shell.Process.Pid) <= ownRSS(shell.Process.Pid) {
		t.Error("the child's memory is not counted")
	}
	if RSSMB(-1) != 0 {
		t.Error("a process that is not there has memory")
	}
}

func TestArrivalsOfALoad(t *testing.T) {
	plain := []load.Request{{}, {}}
	recorded := []load.Request{{}, {At: time.Second}}
	f := func(l Load, requests []load.Request, ok bool) {
		t.Helper()
		if a, err := l.arrivals(requests); (err == nil) != ok || ok && (a == nil) != (l.Arrivals == "") {
			t.Errorf("%+v: %v, %v", l, a, err)
		}
	}
	f(Closed(3), plain, true)
	f(OpenPoisson(10), plain, true)
	f(Load{Arrivals: "constant", Rate: 10}, plain, true)
	f(Load{Arrivals: "constant"}, plain, false)
	f(Load{Arrivals: "fractal", Rate: 10}, plain, false)
	f(Load{Arrivals: "replay", Speed: 1}, recorded, true)
	f(Load{Arrivals: "replay", Speed: 1}, plain, false)
	f(Load{Arrivals: "replay"}, recorded, false)
}

func TestWaitReadyEndsWithTheServer(t *testing.T) {
	e, err := load.NewEndpoint("unix:"+t.TempDir()+"/none", "nim", "", "m")
	if err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	close(exited)
	if err := WaitReady(context.Background(), Server{Name: "gone", Endpoint: e}, exited); err == nil {
		t.Error("a server that exited is ready")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := WaitReady(ctx, Server{Name: "gone", Endpoint: e}, nil); err == nil {
		t.Error("a server that is not there is ready")
	}
}

func TestOneRefusesAnEmptyWindow(t *testing.T) {
	w, err := workloads.Load("W3")
	if err != nil {
		t.Fatal(err)
	}
	e, err := load.NewEndpoint("http://127.0.0.1:1", "nim", "", "m")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := One(context.Background(), Server{Endpoint: e}, w, Closed(1), Settings{Timeout: time.Second}); err == nil {
		t.Error("a window of no time was accepted")
	}
}
