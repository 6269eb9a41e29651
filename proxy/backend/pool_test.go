package backend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"trtmc-ranking-proxy/ipc"
	"trtmc-ranking-proxy/ipc/ipctest"
	"trtmc-ranking-proxy/proxy/telemetry"
)

func startPool(t testing.TB, change func(*Options), sockets ...string) *Pool {
	o := Options{
		Sockets: sockets, Client: "test", PingInterval: 10 * time.Millisecond, PingTimeout: 10 * time.Second,
		MuteTimeout: time.Hour, StallTimeout: 10 * time.Second, Log: zerolog.New(io.Discard), Metrics: telemetry.New("test"),
	}
	if change != nil {
		change(&o)
	}
	p := Start(o)
	t.Cleanup(p.Close)
	return p
}

func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("%s: not within 10 s", what)
}

func (p *Pool) isReady() bool {
	ready, _ := p.Ready()
	return ready
}

func rank(p *Pool, id string) (*ipc.Scores, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	scores, _, err := p.Rank(ctx, &ipc.Rank{ID: id, Query: "green tea", Passages: []string{"tea"}, Truncate: ipc.TruncateNone})
	return scores, err
}

func mustRank(t testing.TB, p *Pool, id string) {
	t.Helper()
	scores, err := rank(p, id)
	if err != nil {
		t.Fatalf("%s: %v", id, err)
	}
	if scores.ID != id || scores.Scores[0] != ipctest.Score("green tea", "tea") {
		t.Fatalf("%s: got %+v", id, scores)
	}
}

func TestATaskThatComesLater(t *testing.T) {
	probe := ipctest.Start(t, ipctest.Options{})
	probe.Stop()
	p := startPool(t, nil, probe.Address)
	if _, err := rank(p, "r"); err == nil {
		t.Fatal("ranked without a Task")
	}
	if p.isReady() || p.Identity() != nil {
		t.Fatal("ready without a Task")
	}
	ipctest.Start(t, ipctest.Options{Address: probe.Address})
	eventually(t, "readiness", p.isReady)
	mustRank(t, p, "r")
	if p.Identity().Model != "test-model" {
		t.Fatalf("identity %+v", p.Identity())
	}
}

// The keeper is made slow, so that it is the request itself that meets the dead connection and dials.
func TestTheFirstRequestAfterARestartSucceeds(t *testing.T) {
	task := ipctest.Start(t, ipctest.Options{})
	p := startPool(t, func(o *Options) { o.PingInterval = time.Hour }, task.Address)
	mustRank(t, p, "before")
	task.Stop()
	welcome := ipctest.DefaultWelcome()
	welcome.Model = "another-model"
	ipctest.Start(t, ipctest.Options{Address: task.Address, Welcome: welcome})
	time.Sleep(2 * redialPause) // beyond what the keeper's own failed attempt may stand
	mustRank(t, p, "after")
	if got := p.Identity().Model; got != "another-model" {
		t.Fatalf("identity is still %q", got)
	}
}

func TestARankIsSentAgainOnceWhenItsConnectionDies(t *testing.T) {
	var once sync.Once
	task := ipctest.Start(t, ipctest.Options{Rank: func(r *ipctest.Request) {
		first := false
		once.Do(func() { first = true })
		if first {
			ipctest.Disconnect(r)
			return
		}
		ipctest.Answer(r)
	}})
	p := startPool(t, nil, task.Address)
	mustRank(t, p, "r")
	if got := task.Ranks.Load(); got != 2 {
		t.Fatalf("the rank was sent %d times", got)
	}
	if got := p.all()[0].Metrics.Reconnects.Get(); got != 1 {
		t.Fatalf("%d reconnects", got)
	}
	task.SetRank(ipctest.Disconnect)
	if _, err := rank(p, "r2"); !errors.Is(err, ipc.ErrClosed) {
		t.Fatalf("got %v", err)
	}
	if got := task.Ranks.Load(); got != 4 {
		t.Fatalf("the rank was sent %d times", got-2)
	}
}

func TestGoaway(t *testing.T) {
	release := make(chan struct{})
	old := ipctest.Start(t, ipctest.Options{Rank: ipctest.When(release, ipctest.Answer)})
	p := startPool(t, nil, old.Address)
	answered := make(chan error, 1)
	go func() { _, err := rank(p, "in-flight"); answered <- err }()
	eventually(t, "the rank", func() bool { return old.Ranks.Load() == 1 })
	connections := old.Connections.Load()
	old.Goaway()
	eventually(t, "a new connection", func() bool { return old.Connections.Load() > connections })
	close(release)
	if err := <-answered; err != nil {
		t.Fatalf("what was accepted before goaway: %v", err)
	}
	mustRank(t, p, "new")
}

func TestReadinessFollowsThePongs(t *testing.T) {
	task := ipctest.Start(t, ipctest.Options{})
	p := startPool(t, nil, task.Address)
	f := func(pong ipc.Message, ready bool) {
		t.Helper()
		task.SetPing(func() ipc.Message { return pong })
		eventually(t, fmt.Sprintf("ready %v after %+v", ready, pong), func() bool { return p.isReady() == ready })
		_, err := rank(p, "r")
		if (err == nil) != ready {
			t.Fatalf("ready %v, but the rank's error is %v", ready, err)
		}
	}
	f(&ipc.Pong{Ready: true}, true)
	f(&ipc.Pong{Ready: false}, false)
	f(&ipc.Pong{Ready: true, OldestCallMS: 9_999}, true)
	f(&ipc.Pong{Ready: true, OldestCallMS: 10_001}, false)
	f(&ipc.Pong{Ready: true}, true)
}

// On a busy machine a pong comes late; that turns readiness off, but it is no reason to turn requests away.
func TestALatePongRefusesNothing(t *testing.T) {
	task := ipctest.Start(t, ipctest.Options{})
	p := startPool(t, func(o *Options) { o.PingTimeout = 20 * time.Millisecond }, task.Address)
	eventually(t, "readiness", p.isReady)
	task.SetPing(func() ipc.Message { return nil })
	eventually(t, "unreadiness", func() bool { return !p.isReady() })
	mustRank(t, p, "r")
	task.SetPing(nil)
	eventually(t, "readiness", p.isReady)
}

func TestAFrozenTask(t *testing.T) {
	task := ipctest.Start(t, ipctest.Options{})
	p := startPool(t, func(o *Options) { o.PingTimeout, o.MuteTimeout = 20*time.Millisecond, 60*time.Millisecond }, task.Address)
	eventually(t, "readiness", p.isReady)
	task.Freeze()
	eventually(t, "the end of patience", func() bool { return p.all()[0].health.Load().state == down })
	if _, err := rank(p, "r"); err == nil {
		t.Fatal("ranked by a frozen Task")
	}
	task.Thaw()
	eventually(t, "readiness", p.isReady)
	mustRank(t, p, "r")
}

// A Task that is stopped for good must not hold its requests until their own deadlines.
func TestATaskMuteForTheStallTimeoutIsGivenUp(t *testing.T) {
	task := ipctest.Start(t, ipctest.Options{Rank: ipctest.Silent})
	p := startPool(t, func(o *Options) { o.PingTimeout, o.StallTimeout = 20*time.Millisecond, 60*time.Millisecond }, task.Address)
	eventually(t, "readiness", p.isReady)
	answered := make(chan error, 1)
	go func() { _, err := rank(p, "r"); answered <- err }()
	eventually(t, "the rank", func() bool { return task.Ranks.Load() == 1 })
	task.Freeze()
	if err := <-answered; err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v", err)
	}
}

func TestDeadlines(t *testing.T) {
	task := ipctest.Start(t, ipctest.Options{Rank: ipctest.Silent})
	p := startPool(t, nil, task.Address)
	f := func(timeout time.Duration) {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		_, _, err := p.Rank(ctx, &ipc.Rank{ID: "r", Query: "q", Passages: []string{"a"}, Truncate: ipc.TruncateNone})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("%v: got %v", timeout, err)
		}
	}
	f(-time.Second)
	f(time.Microsecond)
	f(20 * time.Millisecond)
	eventually(t, "the cancel", func() bool { return task.Cancels.Load() >= 1 })
}

func TestTheLeastLoadedReadyTaskIsAsked(t *testing.T) {
	release := make(chan struct{})
	busy := ipctest.Start(t, ipctest.Options{Rank: ipctest.When(release, ipctest.Answer)})
	free := ipctest.Start(t, ipctest.Options{})
	p := startPool(t, nil, busy.Address, free.Address)
	for _, m := range p.all() {
		eventually(t, m.address, func() bool { return m.health.Load().state == ready })
	}
	answered := make(chan error, 1)
	go func() { _, err := rank(p, "long"); answered <- err }()
	eventually(t, "the long rank", func() bool { return busy.Ranks.Load() == 1 })
	for i := range 10 {
		mustRank(t, p, fmt.Sprint("short-", i))
	}
	if got := free.Ranks.Load(); got != 10 {
		t.Fatalf("the free Task got %d of 10", got)
	}
	close(release)
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
	free.Stop()
	eventually(t, "the loss", func() bool { return p.all()[1].health.Load().state == down })
	mustRank(t, p, "last")
	if !p.isReady() {
		t.Fatal("not ready although one Task is")
	}
}

func TestManyAtOnceWhileTheTaskRestarts(t *testing.T) {
	task := ipctest.Start(t, ipctest.Options{})
	p := startPool(t, nil, task.Address)
	var clients sync.WaitGroup
	for i := range 8 {
		clients.Go(func() {
			for j := range 100 {
				id := fmt.Sprintf("r-%d-%d", i, j)
				if scores, err := rank(p, id); err == nil && scores.ID != id {
					t.Errorf("%s got the answer of %s", id, scores.ID)
				}
			}
		})
	}
	for range 5 {
		time.Sleep(5 * time.Millisecond)
		task.Disconnect()
	}
	clients.Wait()
	eventually(t, "a rank after it all", func() bool { _, err := rank(p, "after"); return err == nil })
}
