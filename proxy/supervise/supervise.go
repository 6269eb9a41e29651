// Package supervise starts the Task beside the proxy and starts it again whenever it ends, for those who have no supervisor. The Task is
// in a process group of its own, so that Ctrl-C reaches the proxy alone, which drains before it ends the Task; and it never outlives
// the proxy, however that ends.
package supervise

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"github.com/rs/zerolog"
)

// Options of a Task to run. All are required.
type Options struct {
	Command []string // program and arguments
	Log     zerolog.Logger
	Started func() // called at each start
}

// Pauses before a start. The pause doubles with each end that follows soon upon its start.
const (
	firstPause = 100 * time.Millisecond
	maxPause   = 5 * time.Second
	soon       = 10 * time.Second
)

// Task is a supervised process.
type Task struct {
	Options
	program string
	stop    chan struct{} // closed: end the process and start no other
	kill    chan struct{} // closed: at once
	ended   chan struct{}
}

// Start begins to supervise in the background. Only a program that is not there is an error; one that ends is started for ever, as
// what it lacks may come.
func Start(o Options) (*Task, error) {
	program, err := exec.LookPath(o.Command[0])
	if err != nil {
		return nil, fmt.Errorf("cannot start the Task: %w", err)
	}
	t := &Task{Options: o, program: program, stop: make(chan struct{}), kill: make(chan struct{}), ended: make(chan struct{})}
	go t.supervise()
	return t, nil
}

// Stop sends SIGTERM, after grace SIGKILL, and returns when the process has ended.
func (t *Task) Stop(grace time.Duration) {
	close(t.stop)
	select {
	case <-t.ended:
	case <-time.After(grace):
		t.Log.Warn().Dur("after_ms", grace).Msg("the Task does not end; killing it")
		close(t.kill)
		<-t.ended
	}
}

func (t *Task) supervise() {
	// The kernel sends Pdeathsig when the thread that started the process ends, so that thread must last.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(t.ended)
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		start := time.Now()
		err := t.run()
		if t.stopping() {
			return
		}
		if time.Since(start) > soon {
			pause = firstPause
		}
		t.Log.Error().AnErr("ended", err).Dur("ran_ms", time.Since(start)).Dur("pause_ms", pause).Msg("the Task has ended; starting it again")
		select {
		case <-time.After(pause):
		case <-t.stop:
			return
		}
	}
}

// run starts the process and returns when it has ended.
func (t *Task) run() error {
	c := exec.Command(t.program, t.Command[1:]...)
	c.Stdout, c.Stderr = os.Stderr, os.Stderr // its log beside ours; our standard output is for people
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := c.Start(); err != nil {
		return err
	}
	t.Started()
	t.Log.Info().Int("pid", c.Process.Pid).Msg("the Task has been started")
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-t.stop:
		c.Process.Signal(syscall.SIGTERM)
	}
	select {
	case err := <-ended:
		return err
	case <-t.kill:
		c.Process.Kill()
		return <-ended
	}
}

func (t *Task) stopping() bool {
	select {
	case <-t.stop:
		return true
	default:
		return false
	}
}
