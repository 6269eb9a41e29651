package supervise

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

type logBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *logBuffer) has(text string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Contains(b.String(), text)
}

type supervised struct {
	*Task
	t      *testing.T
	starts atomic.Int64
	log    logBuffer
}

// start supervises a shell script.
func start(t *testing.T, script string) *supervised {
	t.Helper()
	s := &supervised{t: t}
	task, err := Start(Options{
		Command: []string{"sh", "-c", script}, Log: zerolog.New(&s.log), Started: func() { s.starts.Add(1) },
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Task = task
	return s
}

func (s *supervised) eventually(what string, holds func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if holds() {
			return
		}
	}
	s.t.Fatalf("%s: not within 20 s", what)
}

func exists(path string) func() bool {
	return func() bool { _, err := os.Stat(path); return err == nil }
}

func TestWhatEndsIsStartedAgain(t *testing.T) {
	s := start(t, "exit 3")
	s.eventually("starts", func() bool { return s.starts.Load() >= 3 })
	s.Stop(time.Minute)
	if !s.log.has("exit status 3") || !s.log.has(`"pause_ms":100`) || !s.log.has(`"pause_ms":200`) {
		t.Fatalf("log: %s", s.log.String())
	}
	before := s.starts.Load()
	time.Sleep(2 * firstPause)
	if s.starts.Load() != before {
		t.Fatal("started after the stop")
	}
}

func TestStopLetsItFinish(t *testing.T) {
	started, finished := filepath.Join(t.TempDir(), "started"), filepath.Join(t.TempDir(), "finished")
	s := start(t, "trap 'sleep 0.2; touch "+finished+"; exit' TERM; touch "+started+"; while :; do sleep 0.05; done")
	s.eventually("the start", exists(started))
	s.Stop(time.Minute)
	if !exists(finished)() {
		t.Fatal("ended before it had finished")
	}
}

func TestStopKillsWhatHangs(t *testing.T) {
	started := filepath.Join(t.TempDir(), "started")
	s := start(t, "trap '' TERM; touch "+started+"; while :; do sleep 0.05; done")
	s.eventually("the start", exists(started))
	s.Stop(100 * time.Millisecond)
	if !s.log.has("does not end") || s.starts.Load() != 1 {
		t.Fatalf("%d starts; log: %s", s.starts.Load(), s.log.String())
	}
}

func TestNoSuchProgram(t *testing.T) {
	if _, err := Start(Options{Command: []string{"/no/such/program"}}); err == nil {
		t.Fatal("started")
	}
}
