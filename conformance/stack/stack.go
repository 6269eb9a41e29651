package stack

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// Config says what to start. Empty programs are taken from the environment, then from build/.
type Config struct {
	Dir          string // for socket and logs; made if missing
	TaskProgram  string // RANKING_TASK_PROGRAM, else build/native/ranking-task
	ProxyProgram string // RANKING_PROXY_PROGRAM, else build/bin/ranking-proxy
	TaskArgs     []string
	ProxyArgs    []string
}

// Stack is a Task and a proxy before it.
type Stack struct {
	Config Config
	Socket string
	URL    string // of the proxy, without a path
	Task   *Process
	Proxy  *Process
}

// stopGrace is longer than the drain of either program.
const stopGrace = 20 * time.Second

// Start starts both programs and waits until the proxy is ready, or ctx ends.
func Start(ctx context.Context, c Config) (*Stack, error) {
	s, err := New(c)
	if err != nil {
		return nil, err
	}
	if err := s.StartTask(); err != nil {
		return nil, err
	}
	if err := s.StartProxy(); err != nil {
		s.Stop()
		return nil, err
	}
	if err := s.WaitReady(ctx); err != nil {
		s.Stop()
		return nil, fmt.Errorf("%w\ntask log:\n%s\nproxy log:\n%s", err, s.Task.Log(), s.Proxy.Log())
	}
	return s, nil
}

// New chooses the socket and the port and starts nothing.
func New(c Config) (*Stack, error) {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make directory for the stack: %w", err)
	}
	c.TaskProgram = choose(c.TaskProgram, "RANKING_TASK_PROGRAM", "build/native/ranking-task")
	c.ProxyProgram = choose(c.ProxyProgram, "RANKING_PROXY_PROGRAM", "build/bin/ranking-proxy")
	address, err := FreeAddress()
	if err != nil {
		return nil, err
	}
	return &Stack{Config: c, Socket: filepath.Join(c.Dir, "task.sock"), URL: "http://" + address}, nil
}

// StartTask starts the Task, again after it has ended.
func (s *Stack) StartTask() (err error) {
	args := append([]string{"--socket", s.Socket}, s.Config.TaskArgs...)
	s.Task, err = StartProcess(s.Config.Dir, "task", s.Config.TaskProgram, args...)
	return err
}

// StartProxy starts the proxy, again after it has ended.
func (s *Stack) StartProxy() (err error) {
	args := append([]string{"--listen", s.URL[len("http://"):], "--task-socket", s.Socket}, s.Config.ProxyArgs...)
	s.Proxy, err = StartProcess(s.Config.Dir, "proxy", s.Config.ProxyProgram, args...)
	return err
}

// WaitReady waits until /v1/health/ready answers 200.
func (s *Stack) WaitReady(ctx context.Context) error {
	return s.WaitStatus(ctx, "/v1/health/ready", http.StatusOK)
}

// WaitStatus waits until a GET of path answers with status.
func (s *Stack) WaitStatus(ctx context.Context, path string, status int) error {
	last := "no answer"
	for {
		if code, err := s.get(ctx, path); err != nil {
			last = err.Error()
		} else if last = http.StatusText(code); code == status {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %d on %s: %w (last: %s)", status, path, ctx.Err(), last)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Stop ends both programs, the proxy first.
func (s *Stack) Stop() {
	for _, p := range []*Process{s.Proxy, s.Task} {
		if p != nil {
			p.Stop(stopGrace)
		}
	}
}

func (s *Stack) get(ctx context.Context, path string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, nil)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	resp.Body.Close()
	return resp.StatusCode, nil
}

func choose(given, env, built string) string {
	if given != "" {
		return given
	}
	if v := os.Getenv(env); v != "" {
		return v
	}
	return filepath.Join(Root(), built)
}

// Root is the project's top directory: the first above the working directory that holds go.mod.
func Root() string {
	dir, err := os.Getwd()
	if err != nil {
		return "."
	}
	for d := dir; d != filepath.Dir(d); d = filepath.Dir(d) {
		if _, err := os.Stat(filepath.Join(d, "go.mod")); err == nil {
			return d
		}
	}
	return dir
}

// FreeAddress is an address of this machine that no one listens on.
func FreeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().String(), nil
}
