package ipc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"trtmc-ranking-proxy/ipc"
	"trtmc-ranking-proxy/ipc/ipctest"
)

// patience bounds what a broken implementation would wait for for ever. No test measures time with it.
const patience = time.Minute

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

func dial(t *testing.T, task *ipctest.Task) *ipc.Conn {
	t.Helper()
	c, err := ipc.Dial(within(t), task.Address, "test 1.0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func rankOf(id, query string, passages ...string) *ipc.Rank {
	return &ipc.Rank{ID: id, Query: query, Passages: passages, Truncate: ipc.TruncateNone}
}

// checkScores fails unless s is what ipctest computes for r.
func checkScores(t *testing.T, r *ipc.Rank, s *ipc.Scores) {
	t.Helper()
	if s.ID != r.ID || len(s.Scores) != len(r.Passages) {
		t.Errorf("%s: got id %s with %d scores", r.ID, s.ID, len(s.Scores))
		return
	}
	for i, p := range r.Passages {
		if s.Scores[i] != ipctest.Score(r.Query, p) {
			t.Errorf("%s: passage %d has the score %v", r.ID, i, s.Scores[i])
		}
	}
}

func await(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("waited in vain for %s", what)
	}
}

func TestRankAndPing(t *testing.T) {
	task := ipctest.Start(t, ipctest.Options{})
	c := dial(t, task)
	if w := c.Welcome(); *w != ipctest.DefaultWelcome() {
		t.Errorf("welcome %+v", w)
	}
	r := rankOf("r-1", "red fish", "one red fish", "blue", "")
	s, err := c.Rank(within(t), r)
	if err != nil {
		t.Fatal(err)
	}
	checkScores(t, r, s)
	pong, err := c.Ping(within(t))
	if err != nil || !pong.Ready {
		t.Errorf("pong %+v, %v", pong, err)
	}
	if c.Err() != nil {
		t.Errorf("a living connection has the error %v", c.Err())
	}
}

func TestAbstractSocket(t *testing.T) {
	name := fmt.Sprintf("@ipctest-%d-%d", os.Getpid(), rand.Uint64())
	c := dial(t, ipctest.Start(t, ipctest.Options{Address: name}))
	if _, err := c.Ping(within(t)); err != nil {
		t.Fatal(err)
	}
}

func TestDialFails(t *testing.T) {
	f := func(what, address, want string) {
		t.Helper()
		c, err := ipc.Dial(within(t), address, "test 1.0")
		if err == nil {
			c.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", what, err, want)
		}
	}
	dir := t.TempDir()
	f("no socket", filepath.Join(dir, "none"), "no such file")
	f("empty", "", "socket name of 0 bytes")
	f("no name", "@", "socket name of 0 bytes")
	f("too long", "/"+strings.Repeat("x", 107), "socket name of 108 bytes")
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f("a regular file", file, "connection refused")

	greeting := func(what, want string, greet func(*ipctest.Session, *ipc.Hello)) {
		t.Helper()
		f(what, ipctest.Start(t, ipctest.Options{Greet: greet}).Address, want)
	}
	greeting("refusal", "unsupported_version: no", func(s *ipctest.Session, _ *ipc.Hello) {
		s.Send(0, &ipc.Error{Code: ipc.CodeUnsupportedVersion, Message: "no"})
	})
	greeting("another version", "unsupported_version: the Task speaks version 2", func(s *ipctest.Session, _ *ipc.Hello) {
		w := ipctest.DefaultWelcome()
		w.Protocol = 2
		s.Send(0, &w)
	})
	greeting("not welcome", "unexpected: goaway instead of welcome", func(s *ipctest.Session, _ *ipc.Hello) {
		s.Send(0, &ipc.Goaway{Reason: "shutdown"})
	})
	greeting("not ipc", "protocol error", func(s *ipctest.Session, _ *ipc.Hello) {
		s.SendBytes([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
	})
	greeting("end", "EOF", func(s *ipctest.Session, _ *ipc.Hello) { s.Close() })
}

func TestDialIsBoundedByContext(t *testing.T) {
	task := ipctest.Start(t, ipctest.Options{Greet: func(*ipctest.Session, *ipc.Hello) {}})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for task.Connections.Load() == 0 {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	if _, err := ipc.Dial(ctx, task.Address, "test 1.0"); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
}

func TestRefusalsArriveWhole(t *testing.T) {
	n := func(v uint32) *uint32 { return &v }
	f := func(sent, want ipc.Error) {
		t.Helper()
		c := dial(t, ipctest.Start(t, ipctest.Options{Rank: ipctest.Refuse(sent)}))
		_, err := c.Rank(within(t), rankOf("r1", "q", "p"))
		var got *ipc.Error
		if !errors.As(err, &got) {
			t.Fatalf("got %v", err)
		}
		want.ID = "r1"
		if fmt.Sprintf("%+v", flat(got)) != fmt.Sprintf("%+v", flat(&want)) {
			t.Errorf("got %+v, want %+v", flat(got), flat(&want))
		}
		if _, err := c.Ping(within(t)); err != nil {
			t.Errorf("the connection did not survive: %v", err)
		}
	}
	tooLong := ipc.Error{Code: ipc.CodeInputTooLong, Message: "too long", Passage: n(0), Tokens: n(600), MaxTokens: n(512), Offending: n(2)}
	f(tooLong, tooLong)
	busy := ipc.Error{Code: ipc.CodeServerBusy, Message: "full", RetryAfterMS: n(1500)}
	f(busy, busy)
	f(ipc.Error{Code: "later_idea", Message: "why"}, ipc.Error{Code: ipc.CodeBackendFailed, Message: "later_idea: why"})
}

// flat shows the pointed-to numbers of an error.
func flat(e *ipc.Error) []any {
	all := []any{e.ID, e.Code, e.Message}
	for _, p := range []*uint32{e.Passage, e.Tokens, e.MaxTokens, e.Offending, e.RetryAfterMS} {
		if p == nil {
			all = append(all, nil)
		} else {
			all = append(all, *p)
		}
	}
	return all
}

// Every caller gets the scores of its own passages, whatever the order of answers.
func TestAnswersOutOfOrder(t *testing.T) {
	const n = 200
	var mu sync.Mutex
	var held []*ipctest.Request
	task := ipctest.Start(t, ipctest.Options{Rank: func(r *ipctest.Request) {
		mu.Lock()
		defer mu.Unlock()
		if held = append(held, r); len(held) < n {
			return
		}
		rand.Shuffle(n, func(i, j int) { held[i], held[j] = held[j], held[i] })
		for _, r := range held {
			r.Reply(r.Scores())
		}
	}})
	c := dial(t, task)
	var callers sync.WaitGroup
	for i := range n {
		callers.Go(func() {
			r := rankOf(fmt.Sprint("r", i), fmt.Sprint("word", i), fmt.Sprint("word", i), strings.Repeat("x ", i), "other")
			s, err := c.Rank(within(t), r)
			if err != nil {
				t.Error(err)
				return
			}
			checkScores(t, r, s)
		})
	}
	callers.Wait()
}

func TestRankBreaksProtocol(t *testing.T) {
	task := ipctest.Start(t, ipctest.Options{})
	c := dial(t, task)
	var fault *ipc.ProtocolError
	if _, err := c.Rank(within(t), rankOf("bad id", "q", "p")); !errors.As(err, &fault) || fault.Class != ipc.ClassBadID {
		t.Errorf("got %v", err)
	}
	if _, err := c.Rank(within(t), rankOf("r1", "q", "p")); err != nil {
		t.Errorf("the connection did not survive: %v", err)
	}
	if n := task.Ranks.Load(); n != 1 {
		t.Errorf("%d ranks were sent", n)
	}
}

// One wrong answer ends the connection: its rank fails with a clear error, the others as unanswered.
func TestUnusableAnswers(t *testing.T) {
	f := func(what string, wrong ipctest.Handler, want ipc.Class) {
		t.Run(what, func(t *testing.T) {
			arrived := make(chan struct{})
			task := ipctest.Start(t, ipctest.Options{Rank: func(r *ipctest.Request) {
				if r.ID == "bystander" {
					close(arrived)
					return
				}
				wrong(r)
			}})
			c := dial(t, task)
			bystander := make(chan error, 1)
			go func() {
				_, err := c.Rank(within(t), rankOf("bystander", "q", "p"))
				bystander <- err
			}()
			await(t, "the bystander's rank", arrived)

			_, err := c.Rank(within(t), rankOf("r1", "q", "p", "p2"))
			var e *ipc.Error
			if !errors.As(err, &e) || e.Code != ipc.CodeBackendFailed {
				t.Errorf("got %v, want backend_failed", err)
			}
			err = <-bystander
			var closed *ipc.ClosedError
			if !errors.As(err, &closed) || !closed.Sent || !errors.Is(err, ipc.ErrClosed) {
				t.Errorf("the bystander got %v", err)
			}
			await(t, "the end of the connection", c.Done())
			var fault *ipc.ProtocolError
			if !errors.As(c.Err(), &fault) || fault.Class != want {
				t.Errorf("the connection ended with %v, want %s", c.Err(), want)
			}
		})
	}
	f("one score too few", ipctest.Short, ipc.ClassCountMismatch)
	f("another rank's id", ipctest.Foreign, ipc.ClassIDMismatch)
	f("not a number", ipctest.NaN, ipc.ClassNotFinite)
	f("pong", func(r *ipctest.Request) { r.Reply(&ipc.Pong{}) }, ipc.ClassUnexpected)
	f("another rank's refusal", func(r *ipctest.Request) {
		r.Reply(&ipc.Error{ID: "r2", Code: ipc.CodeServerBusy})
	}, ipc.ClassIDMismatch)
}

// Whatever the Task does to the connection, a waiting rank learns that it was sent and not answered.
func TestConnectionEnds(t *testing.T) {
	f := func(what string, end ipctest.Handler, want string) {
		t.Run(what, func(t *testing.T) {
			c := dial(t, ipctest.Start(t, ipctest.Options{Rank: end}))
			_, err := c.Rank(within(t), rankOf("r1", "q", "p"))
			var closed *ipc.ClosedError
			if !errors.As(err, &closed) || !closed.Sent || !errors.Is(err, ipc.ErrClosed) || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
			var answer *ipc.Error
			if errors.As(err, &answer) {
				t.Errorf("%v passes for the Task's answer", err)
			}
			_, err = c.Rank(within(t), rankOf("r2", "q", "p"))
			if !errors.As(err, &closed) || closed.Sent {
				t.Errorf("a later rank got %v", err)
			}
		})
	}
	send := func(exchange uint64, m ipc.Message) ipctest.Handler {
		return func(r *ipctest.Request) { r.Session.Send(exchange, m) }
	}
	f("disconnect", ipctest.Disconnect, "")
	f("half-close", func(r *ipctest.Request) { r.Session.CloseWrite() }, "EOF")
	f("unknown exchange", ipctest.Misaddressed, "unknown_exchange")
	f("error of the connection", send(0, &ipc.Error{Code: ipc.CodeProtocolError, Message: "no"}), "protocol_error: no")
	f("second welcome", func(r *ipctest.Request) {
		w := ipctest.DefaultWelcome()
		r.Session.Send(0, &w)
	}, "unexpected: welcome")
	f("frame too large", func(r *ipctest.Request) { r.Session.SendBytes([]byte("\xff\xff\xff\xff############")) }, "frame_too_large")
	f("rank from the Task", func(r *ipctest.Request) { r.Session.Send(7, r.Rank) }, "wrong_direction")
}

func TestSecondAnswerEndsConnection(t *testing.T) {
	c := dial(t, ipctest.Start(t, ipctest.Options{Rank: ipctest.Twice}))
	r := rankOf("r1", "q", "p")
	s, err := c.Rank(within(t), r)
	if err != nil {
		t.Fatal(err)
	}
	checkScores(t, r, s)
	await(t, "the end of the connection", c.Done())
	var fault *ipc.ProtocolError
	if !errors.As(c.Err(), &fault) || fault.Class != ipc.ClassUnknownExchange {
		t.Errorf("the connection ended with %v", c.Err())
	}
}

// The Task dies at every byte of its answer.
func TestAnswerCutAtEveryByte(t *testing.T) {
	r := rankOf("r1", "q", "p", "p2")
	whole, err := ipc.AppendFrame(nil, 1, (&ipctest.Request{Rank: r}).Scores())
	if err != nil {
		t.Fatal(err)
	}
	task := ipctest.Start(t, ipctest.Options{})
	for n := range whole {
		task.SetRank(ipctest.Cut(n))
		c := dial(t, task)
		_, err := c.Rank(within(t), r)
		var closed *ipc.ClosedError
		if !errors.As(err, &closed) || !closed.Sent {
			t.Errorf("cut at %d: %v", n, err)
		}
		var fault *ipc.ProtocolError
		if cut := errors.As(c.Err(), &fault) && fault.Class == ipc.ClassTruncated; cut != (n > 0) && !isReset(c.Err()) {
			t.Errorf("cut at %d: the connection ended with %v", n, c.Err())
		}
		c.Close()
	}
}

// isReset: closing a socket with unread bytes resets it instead of ending the stream.
func isReset(err error) bool { return err != io.EOF && strings.Contains(err.Error(), "reset") }

// Bytes may come in any pieces.
func TestAnswerInPieces(t *testing.T) {
	task := ipctest.Start(t, ipctest.Options{Rank: func(r *ipctest.Request) {
		frame, err := ipc.AppendFrame(nil, r.Exchange, r.Scores())
		if err != nil {
			panic(err)
		}
		for i := range frame {
			r.Session.SendBytes(frame[i : i+1])
		}
	}})
	c := dial(t, task)
	for i := range 3 {
		r := rankOf(fmt.Sprint("r", i), "q", "p", "q")
		s, err := c.Rank(within(t), r)
		if err != nil {
			t.Fatal(err)
		}
		checkScores(t, r, s)
	}
}

func TestGoaway(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	task := ipctest.Start(t, ipctest.Options{Rank: func(r *ipctest.Request) {
		close(arrived)
		ipctest.When(release, ipctest.Answer)(r)
	}})
	c := dial(t, task)
	r := rankOf("r1", "q", "p")
	answered := make(chan error, 1)
	go func() {
		s, err := c.Rank(within(t), r)
		if err == nil {
			checkScores(t, r, s)
		}
		answered <- err
	}()
	await(t, "the rank", arrived)
	task.Goaway()
	task.Goaway() // twice is no fault
	await(t, "goaway", c.Draining())

	_, err := c.Rank(within(t), rankOf("r2", "q", "p"))
	var closed *ipc.ClosedError
	if !errors.As(err, &closed) || closed.Sent || !errors.Is(err, ipc.ErrDraining) {
		t.Errorf("a new rank got %v", err)
	}
	if _, err := c.Ping(within(t)); err != nil {
		t.Errorf("ping while draining: %v", err)
	}
	close(release)
	if err := <-answered; err != nil {
		t.Errorf("the rank in flight got %v", err)
	}
	task.Disconnect()
	await(t, "the end of the connection", c.Done())
	if c.Err() != io.EOF {
		t.Errorf("the connection ended with %v", c.Err())
	}
}

func TestClose(t *testing.T) {
	arrived := make(chan struct{})
	left := make(chan struct{})
	task := ipctest.Start(t, ipctest.Options{Rank: func(r *ipctest.Request) {
		close(arrived)
		<-r.Context().Done()
		close(left)
	}})
	c := dial(t, task)
	failed := make(chan error, 1)
	go func() {
		_, err := c.Rank(within(t), rankOf("r1", "q", "p"))
		failed <- err
	}()
	await(t, "the rank", arrived)
	c.Close()
	if stacks := goroutines(); strings.Contains(stacks, "ipc.(*Conn).readLoop") || strings.Contains(stacks, "ipc.(*Conn).writeLoop") {
		t.Errorf("left behind by Close:\n%s", stacks)
	}
	c.Close()
	if err := <-failed; !errors.Is(err, ipc.ErrClosed) {
		t.Errorf("got %v", err)
	}
	await(t, "the Task's notice", left)
	if !errors.Is(c.Err(), ipc.ErrClosed) {
		t.Errorf("the connection ended with %v", c.Err())
	}
}

func goroutines() string {
	stacks := make([]byte, 1<<20)
	return string(stacks[:runtime.Stack(stacks, true)])
}

// Callers write for themselves until the socket is full; what it has not taken, and whoever comes then, is the writer's.
func TestATaskThatReadsLate(t *testing.T) {
	task := ipctest.Start(t, ipctest.Options{})
	c := dial(t, task)
	if _, err := c.Ping(within(t)); err != nil {
		t.Fatal(err)
	}
	task.Freeze()
	var callers sync.WaitGroup
	for i := range 64 {
		callers.Go(func() {
			r := rankOf(fmt.Sprint("r-", i), "red fish", strings.Repeat("one red fish ", 1000+i), "blue")
			s, err := c.Rank(within(t), r)
			if err != nil {
				t.Error(err)
				return
			}
			checkScores(t, r, s)
		})
	}
	brief, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.Rank(brief, rankOf("brief", "q", "p")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a Task that does not read held a caller: %v", err)
	}
	task.Thaw()
	callers.Wait()
}
