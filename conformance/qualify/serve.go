package qualify

import (
	"context"
	"fmt"
	"os"
	"time"

	"trtmc-ranking-proxy/conformance/stack"
	"trtmc-ranking-proxy/ipc"
)

// startTimeout bounds loading and warming up, which are in no figure.
const startTimeout = 5 * time.Minute

// proxyArgs are the proxy's settings but for socket, address and records; the defaults are what is qualified.
var proxyArgs = []string{"--log-sample", "0"}

// serve starts Task and proxy, calls use and stops them. Logs are kept in dir; the socket stands elsewhere, since its path must be short.
func (r *run) serve(ctx context.Context, records string, use func(*stack.Stack) error) error {
	dir, err := os.MkdirTemp("", "qualify")
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	defer os.RemoveAll(dir)
	args := proxyArgs
	if records != "" {
		args = append([]string{"--records", records}, proxyArgs...)
	}
	s, err := stack.New(stack.Config{Dir: dir, TaskArgs: r.taskArgs, ProxyArgs: args})
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	defer s.Stop() // a second time does nothing
	if err := start(ctx, s); err != nil {
		return fmt.Errorf("serve %s: %w", r.Entry.Name, err)
	}
	if err := use(s); err != nil {
		return err
	}
	s.Stop() // the proxy's last records are written now
	return nil
}

func start(ctx context.Context, s *stack.Stack) error {
	if err := s.StartTask(); err != nil {
		return err
	}
	if err := s.StartProxy(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("not ready within %s", startTimeout))
	defer cancel()
	go func() {
		select {
		case <-s.Task.Exited():
			cancel()
		case <-ctx.Done():
		}
	}()
	if err := s.WaitReady(ctx); err != nil {
		return fmt.Errorf("%w; the Task's log:\n%s\nthe proxy's:\n%s", err, s.Task.Log(), s.Proxy.Log())
	}
	return nil
}

func dial(ctx context.Context, s *stack.Stack) (*ipc.Conn, error) {
	return ipc.Dial(ctx, s.Socket, "ranking-qualify/1")
}
