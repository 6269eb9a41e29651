package run

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"syscall"
	"time"

	"trtmc-ranking-proxy/conformance/stack"
)

const (
	startBound = 2 * time.Minute  // for a server to load its model
	exitBound  = 30 * time.Second // for a server to finish what it accepted after SIGTERM
	idleBound  = 15 * time.Second // and to end where it has nothing to finish
)

// Server is the process under test, where the suite may start and stop it.
type Server struct {
	Command string // given to sh; it must not go to the background
	dir     string
	process *stack.Process
}

// NewServer keeps the server's log in a directory of its own under the system's temporary directory.
func NewServer(command string) (*Server, error) {
	dir, err := os.MkdirTemp("", "ranking-conformance-")
	if err != nil {
		return nil, fmt.Errorf("cannot make a directory for the server's log: %w", err)
	}
	return &Server{Command: command, dir: dir}, nil
}

// Start starts the server unless it runs, and waits until it ranks.
func (s *Server) Start(ctx context.Context, c *Config) (err error) {
	if s.running() {
		return nil
	}
	if s.process, err = stack.StartProcess(s.dir, "server", "sh", "-c", "exec "+s.Command); err != nil {
		return err
	}
	c.Target.Forget()
	for deadline := time.Now().Add(startBound); time.Now().Before(deadline) && s.running(); time.Sleep(50 * time.Millisecond) {
		if c.FindModel(ctx) == nil && c.ranks(ctx) {
			return nil
		}
	}
	return errors.Join(fmt.Errorf("the server did not rank within %s, see %s", startBound, s.process.LogPath), s.Stop())
}

// Stop ends the server and reports one that had to be killed.
func (s *Server) Stop() error {
	if s.running() && !s.process.Stop(exitBound) {
		return fmt.Errorf("the server did not end within %s of SIGTERM", exitBound)
	}
	return nil
}

func (s *Server) running() bool {
	if s.process == nil {
		return false
	}
	select {
	case <-s.process.Exited():
		return false
	default:
		return true
	}
}

func (s *Server) terminate() error { return s.process.Signal(syscall.SIGTERM) }

// exits waits for the process to end by itself and tells whether it did so with status 0.
func (s *Server) exits(within time.Duration) error {
	select {
	case <-s.process.Exited():
		if code := s.process.ExitCode(); code != 0 {
			return fmt.Errorf("the server ended with status %d", code)
		}
		return nil
	case <-time.After(within):
		s.process.Kill()
		return fmt.Errorf("the server had not ended %s after SIGTERM", within)
	}
}

// ranks tells whether a small ranking succeeds now.
func (c *Config) ranks(ctx context.Context) bool {
	call, err := c.rankCall(smallRank, ranking(smallRank, 0), 0)
	if err != nil {
		return false
	}
	answer, err := c.Target.Do(ctx, call)
	return err == nil && answer.Status == http.StatusOK
}
