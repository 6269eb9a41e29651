package taskcheck

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"trtmc-ranking-proxy/conformance"
	"trtmc-ranking-proxy/conformance/report"
	"trtmc-ranking-proxy/ipc"
	"trtmc-ranking-proxy/ipc/ipctest"
)

func TestMain(m *testing.M) {
	answerBound, quiet = 2*time.Second, 30*time.Millisecond
	os.Exit(m.Run())
}

// Each broken Task must fail the named cases, which the same Task passes before it is broken.
func TestBrokenTasksAreCaught(t *testing.T) {
	f := func(name string, broken ipctest.Options, cases ...string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			right := ipctest.Start(t, ipctest.Options{})
			wrong := ipctest.Start(t, broken)
			for _, c := range named(t, cases) {
				if result := c.run(right.Address); result.Status != report.Passed {
					t.Errorf("%s fails on a Task that works: %v", c.name, result.Problems)
				}
				if result := c.run(wrong.Address); result.Status != report.Failed {
					t.Errorf("%s does not catch it", c.name)
				}
			}
		})
	}
	changed := func(change func(*ipc.Scores)) ipctest.Options {
		return ipctest.Options{Rank: func(r *ipctest.Request) {
			s := r.Scores()
			change(s)
			r.Reply(s)
		}}
	}
	f("two answers", ipctest.Options{Rank: func(r *ipctest.Request) { ipctest.Answer(r); ipctest.Answer(r) }},
		"one-answer-each", "frames-joined", "connections-are-apart", "rank-shortest")
	f("no answer", ipctest.Options{Rank: func(*ipctest.Request) {}}, "one-answer-each", "rank-shortest", "deadline-is-answered")
	f("a pong is not sent", ipctest.Options{Ping: func() ipc.Message { return nil }}, "ping-while-ranking", "ping-worked-example")
	f("never ready", ipctest.Options{Ping: func() ipc.Message { return &ipc.Pong{} }}, "pong-is-plausible")
	f("histogram that falls", ipctest.Options{Ping: func() ipc.Message {
		return &ipc.Pong{Ready: true, Histograms: map[string][]uint64{"batch_pairs": {1, 2, 3, 4, 5, 6, 7, 9, 8}}}
	}}, "pong-is-plausible")
	f("histogram with a bucket too few", ipctest.Options{Ping: func() ipc.Message {
		return &ipc.Pong{Ready: true, Histograms: map[string][]uint64{"batch_pairs": {1, 2, 3, 4, 5, 6, 7, 8}}}
	}}, "pong-is-plausible")
	f("another id", changed(func(s *ipc.Scores) { s.ID = "other" }), "ids-come-back", "rank-id-128-bytes")
	f("a score too few", changed(func(s *ipc.Scores) { s.Scores = s.Scores[1:]; s.HasTokens = false }), "frames-joined", "rank-16-passages")
	f("scores of company", changed(func(s *ipc.Scores) {
		for i := range s.Scores {
			s.Scores[i] += float32(len(s.Scores))
		}
	}), "same-texts-same-scores")
	f("time that was not spent", changed(func(s *ipc.Scores) { s.PublicTaskCallWallUS = 1e9 }), "times-are-plausible")
	f("tokenizing outside the queue", changed(func(s *ipc.Scores) { s.TokenizeUS = s.QueueUS + 1 }), "times-are-plausible")
	f("tokens invented", changed(func(s *ipc.Scores) { s.PairTokens = make([]uint32, len(s.Scores)) }), "tokens-add-up")
	f("no identity", ipctest.Options{Greet: func(s *ipctest.Session, _ *ipc.Hello) {
		w := ipctest.DefaultWelcome()
		w.Model = ""
		s.Send(0, &w)
	}}, "welcome-is-complete")
}

// ipctest welcomes every version unless told otherwise, so here the honest Task is the one that is told.
func TestWelcomeOfEveryVersionIsCaught(t *testing.T) {
	right := ipctest.Start(t, ipctest.Options{Greet: func(s *ipctest.Session, hello *ipc.Hello) {
		if hello.Protocol != ipc.ProtocolVersion {
			s.Send(0, &ipc.Error{Code: ipc.CodeUnsupportedVersion, Message: "version 1 only"})
			s.Close()
			return
		}
		w := ipctest.DefaultWelcome()
		s.Send(0, &w)
	}})
	wrong := ipctest.Start(t, ipctest.Options{})
	for _, c := range named(t, []string{"other-version-is-refused", "hello-other-version"}) {
		if result := c.run(right.Address); result.Status != report.Passed {
			t.Errorf("%s fails on a Task that refuses: %v", c.name, result.Problems)
		}
		if result := c.run(wrong.Address); result.Status != report.Failed {
			t.Errorf("%s does not catch it", c.name)
		}
	}
}

func TestTheRunEndsWithTheTask(t *testing.T) {
	task := ipctest.Start(t, ipctest.Options{})
	ran := 0
	_, err := Check(t.Context(), task.Address, conformance.Vectors(), nil, func(string) {
		if ran++; ran == 2 {
			task.Stop()
		}
	})
	if err == nil || !strings.Contains(err.Error(), "the Task is gone since") || ran != 2 {
		t.Fatalf("after %d cases: %v", ran, err)
	}
}

func named(t *testing.T, names []string) (cases []check) {
	t.Helper()
	all, err := allCases(conformance.Vectors())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if slices.Contains(names, c.name) {
			cases = append(cases, c)
		}
	}
	if len(cases) != len(names) {
		t.Fatalf("not every case of %s exists", strings.Join(names, ", "))
	}
	return cases
}

func TestNamesAreUnique(t *testing.T) {
	names, err := Names(conformance.Vectors())
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	for i := 1; i < len(names); i++ {
		if names[i] == names[i-1] {
			t.Errorf("two cases are named %s", names[i])
		}
	}
	if len(names) < 200 {
		t.Fatalf("only %d cases", len(names))
	}
}
