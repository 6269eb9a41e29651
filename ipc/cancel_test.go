package ipc_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"trtmc-ranking-proxy/ipc"
	"trtmc-ranking-proxy/ipc/ipctest"
)

func pause() { time.Sleep(time.Millisecond) }

// until waits for a state of the other side that nothing announces.
func until(t *testing.T, what string, reached func() bool) {
	t.Helper()
	for start := time.Now(); !reached(); pause() {
		if time.Since(start) > patience {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// cancelled runs n ranks that the Task holds, gives them all up once they have arrived, and checks what each returned.
func cancelled(t *testing.T, c *ipc.Conn, task *ipctest.Task, n int) {
	t.Helper()
	ctx, cancel := context.WithCancel(within(t))
	before := task.Ranks.Load()
	var callers sync.WaitGroup
	for i := range n {
		callers.Go(func() {
			if _, err := c.Rank(ctx, rankOf(fmt.Sprint("r", i), "q", "p")); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		})
	}
	until(t, "the ranks", func() bool { return task.Ranks.Load() == before+int64(n) })
	cancel()
	callers.Wait()
}

func TestCancelReachesTheTask(t *testing.T) {
	withdrawn := make(chan struct{})
	task := ipctest.Start(t, ipctest.Options{Rank: func(r *ipctest.Request) {
		<-r.Context().Done()
		close(withdrawn)
		ipctest.Answer(r)
	}})
	c := dial(t, task)
	cancelled(t, c, task, 1)
	await(t, "the cancel", withdrawn)
	if n := task.Cancels.Load(); n != 1 {
		t.Errorf("%d cancels arrived", n)
	}
	if _, err := c.Ping(within(t)); err != nil {
		t.Errorf("the connection did not survive: %v", err)
	}
}

func TestContextEndedBefore(t *testing.T) {
	task := ipctest.Start(t, ipctest.Options{})
	c := dial(t, task)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := c.Rank(ctx, rankOf("r1", "q", "p")); err != context.Canceled {
		t.Errorf("got %v", err)
	}
	if _, err := c.Ping(within(t)); err != nil {
		t.Fatal(err)
	}
	if n := task.Ranks.Load(); n != 0 {
		t.Errorf("%d ranks were sent", n)
	}
}

// Late answers are dropped, and paid off: far more than the bound of owed answers may come over a connection's life.
func TestLateAnswers(t *testing.T) {
	var answers atomic.Int64
	task := ipctest.Start(t, ipctest.Options{Rank: func(r *ipctest.Request) {
		ipctest.Late(r)
		answers.Add(1)
	}})
	c := dial(t, task)
	const rounds, n = 3, 1500
	for round := range rounds {
		cancelled(t, c, task, n)
		until(t, "the late answers", func() bool { return answers.Load() == int64(round+1)*n })
		if _, err := c.Ping(within(t)); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
}

// A caller may use the memory of its strings again as soon as Rank has returned, although the answer is still owed.
func TestCallersMemoryIsNotKept(t *testing.T) {
	release := make(chan struct{})
	task := ipctest.Start(t, ipctest.Options{Rank: func(r *ipctest.Request) {
		<-release
		r.Reply(r.Scores())
	}})
	c := dial(t, task)
	id := []byte("first")
	ctx, cancel := context.WithCancel(within(t))
	returned := make(chan error, 1)
	go func() {
		_, err := c.Rank(ctx, rankOf(unsafe.String(&id[0], len(id)), "q", "p"))
		returned <- err
	}()
	until(t, "the rank", func() bool { return task.Ranks.Load() == 1 })
	cancel()
	if err := <-returned; err != context.Canceled {
		t.Fatal(err)
	}
	copy(id, "other")
	close(release)
	r := rankOf("r2", "q", "p")
	s, err := c.Rank(within(t), r) // both answers cross here, in any order
	if err != nil {
		t.Fatal(err)
	}
	checkScores(t, r, s)
	if _, err := c.Ping(within(t)); err != nil {
		t.Error(err)
	}
}

// A Task that never answers what was cancelled is given up before it costs memory without bound.
func TestCancelledAndNeverAnswered(t *testing.T) {
	task := ipctest.Start(t, ipctest.Options{Rank: ipctest.Silent})
	c := dial(t, task)
	for range 2 {
		cancelled(t, c, task, 2048)
	}
	if _, err := c.Ping(within(t)); err != nil {
		t.Fatalf("ended within the bound: %v", err)
	}
	cancelled(t, c, task, 1)
	await(t, "the end of the connection", c.Done())
	var fault *ipc.ProtocolError
	if !errors.As(c.Err(), &fault) || fault.Class != ipc.ClassUnanswered {
		t.Errorf("the connection ended with %v", c.Err())
	}
}

// Whichever of answer and cancel comes first: a caller gets its own scores or its context's error, and the connection lives.
func TestCancelAnswerRaces(t *testing.T) {
	task := ipctest.Start(t, ipctest.Options{Rank: func(r *ipctest.Request) {
		ipctest.After(time.Duration(rand.IntN(300))*time.Microsecond, ipctest.Answer)(r)
	}})
	c := dial(t, task)
	var callers sync.WaitGroup
	var scored atomic.Int64
	for i := range 16 {
		callers.Go(func() {
			for j := range 100 {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rand.IntN(1000))*time.Microsecond)
				r := rankOf(fmt.Sprintf("r%d-%d", i, j), fmt.Sprint("w", j), fmt.Sprint("w", j), fmt.Sprint("x w", i))
				s, err := c.Rank(ctx, r)
				switch {
				case err == nil:
					scored.Add(1)
					checkScores(t, r, s)
				case !errors.Is(err, context.DeadlineExceeded):
					t.Errorf("%s: %v", r.ID, err)
				}
				cancel()
			}
		})
	}
	callers.Wait()
	if _, err := c.Ping(within(t)); err != nil {
		t.Errorf("the connection did not survive: %v", err)
	}
	t.Logf("%d of 1600 were scored in time", scored.Load())
}

func TestHungOnPing(t *testing.T) {
	task := ipctest.Start(t, ipctest.Options{Ping: func() ipc.Message { return nil }})
	c := dial(t, task)
	ctx, cancel := context.WithCancel(within(t))
	go func() {
		for task.Pings.Load() == 0 {
			pause()
		}
		cancel()
	}()
	if _, err := c.Ping(ctx); err != context.Canceled {
		t.Errorf("got %v", err)
	}
	r := rankOf("r1", "q", "p")
	s, err := c.Rank(within(t), r)
	if err != nil {
		t.Fatal(err)
	}
	checkScores(t, r, s)
	if n := task.Cancels.Load(); n != 0 {
		t.Errorf("%d cancels of a ping arrived", n)
	}
}

func TestPingRefused(t *testing.T) {
	task := ipctest.Start(t, ipctest.Options{Ping: func() ipc.Message {
		return &ipc.Error{Code: ipc.CodeBackendFailed, Message: "scheduler gone"}
	}})
	var e *ipc.Error
	if _, err := dial(t, task).Ping(within(t)); !errors.As(err, &e) || e.Message != "scheduler gone" {
		t.Errorf("got %v", err)
	}
}

// A Task that stops reading holds no caller beyond its context and costs no memory for what it does not take; once it reads again, the
// connection goes on.
func TestTaskStopsReading(t *testing.T) {
	task := ipctest.Start(t, ipctest.Options{})
	c := dial(t, task)
	task.Freeze()
	large := strings.Repeat("x", 1<<20)
	before := heap()
	for i := range 200 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		if _, err := c.Rank(ctx, rankOf(fmt.Sprint("r", i), "q", large)); err != context.DeadlineExceeded {
			t.Fatalf("rank %d: %v", i, err)
		}
		cancel()
	}
	if grown := heap() - before; grown > 16<<20 {
		t.Errorf("200 MiB offered to a Task that reads nothing hold %d MiB", grown>>20)
	}
	task.Thaw()
	r := rankOf("last", "q", "p")
	s, err := c.Rank(within(t), r)
	if err != nil {
		t.Fatal(err)
	}
	checkScores(t, r, s)
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Closing while the writer is stuck in the socket must not wait for the Task.
func TestCloseWhileTaskStopsReading(t *testing.T) {
	task := ipctest.Start(t, ipctest.Options{})
	c := dial(t, task)
	task.Freeze()
	failed := make(chan error, 8)
	for i := range cap(failed) {
		go func() {
			_, err := c.Rank(within(t), rankOf(fmt.Sprint("r", i), "q", strings.Repeat("x", 1<<20)))
			failed <- err
		}()
	}
	closed := make(chan struct{})
	go func() {
		c.Close()
		close(closed)
	}()
	await(t, "Close", closed)
	for range cap(failed) {
		if err := <-failed; !errors.Is(err, ipc.ErrClosed) {
			t.Errorf("got %v", err)
		}
	}
}

func TestNothingLeaks(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 20 {
		task := ipctest.Start(t, ipctest.Options{})
		c, err := ipc.Dial(within(t), task.Address, "test 1.0")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Ping(within(t)); err != nil {
			t.Fatal(err)
		}
		c.Close()
		task.Stop()
	}
	until(t, "the goroutines", func() bool { return runtime.NumGoroutine() <= before })
}
