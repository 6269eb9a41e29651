// Package ours starts this project's programs, ranking-task and ranking-proxy, to be measured.
package ours

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"trtmc-ranking-proxy/bench/load"
	"trtmc-ranking-proxy/bench/measure"
	"trtmc-ranking-proxy/conformance/stack"
)

// Variant is one Task to serve.
type Variant struct {
	Name      string
	TaskArgs  []string // of ranking-task
	ProxyArgs []string // of ranking-proxy
}

// ParseVariant reads NAME=ARGUMENTS, the arguments of ranking-task parted by blanks.
func ParseVariant(text string) (Variant, error) {
	name, args, found := strings.Cut(text, "=")
	if !found || name == "" || len(strings.Fields(args)) == 0 {
		return Variant{}, fmt.Errorf("task %q: want NAME=ARGUMENTS, such as null=--task null", text)
	}
	return Variant{Name: name, TaskArgs: strings.Fields(args)}, nil
}

// Defaults are the null Task, the default model in int8 and, where they have been made, in f32 and the TRTMC double.
func Defaults() []string {
	var all []string
	for _, d := range []struct{ needs, variant string }{
		{"", "null=--task null"},
		{"", "int8=--task openvino " + anyQueue + " --model native/models/minilm-l6-rerank"},
		{f32Model, "f32=--task openvino " + anyQueue + " --model " + f32Model},
		{doubleBundle, "trtmc=--task trtmc --runtime-root " + doubleRuntime + " --bundle " + doubleBundle},
	} {
		if _, err := os.Stat(d.needs); d.needs == "" || err == nil {
			all = append(all, d.variant)
		}
	}
	return all
}

// Models are the defaults that compute real scores, to be compared with peers.
func Models() []string {
	return slices.DeleteFunc(Defaults(), func(d string) bool { return !strings.Contains(d, "--task openvino") })
}

// Where the build puts what is not in the tree: the default model in f32, TRTMC's double and a bundle for it.
const (
	f32Model      = "build/models/minilm-l6-rerank-f32"
	doubleRuntime = "build/native/tests/trtmc_double/runtime"
	doubleBundle  = "build/bench/double.bundle"
)

// anyQueue lets a closed loop of any depth wait, as peers do.
const anyQueue = "--queue-seconds 0"

// Lossy tells whether the variant's scores may differ from the f32 reference.
func (v Variant) Lossy() bool { return strings.Contains(v.Name, "int8") }

// modelName is served by every variant, so that all get the same requests.
const modelName = "minilm-l6-rerank"

// Running is a started variant.
type Running struct {
	measure.Server
	Variant Variant
	stack   *stack.Stack
}

// startTimeout bounds loading and warming up.
const startTimeout = 2 * time.Minute

// Start starts Task and proxy with their logs in dir/NAME and waits until they are ready.
func (v Variant) Start(ctx context.Context, dir string) (*Running, error) {
	s, err := stack.New(stack.Config{
		Dir:       filepath.Join(dir, v.Name),
		TaskArgs:  v.TaskArgs,
		ProxyArgs: append([]string{"--served-model-name", modelName, "--log-sample", "0", "--max-connections", "8192"}, v.ProxyArgs...),
	})
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", v.Name, err)
	}
	endpoint, err := load.NewEndpoint(s.URL, "nim", "", modelName)
	if err != nil {
		return nil, err
	}
	if err := startBoth(ctx, s); err != nil {
		s.Stop()
		return nil, fmt.Errorf("start %s: %w; logs are in %s", v.Name, err, s.Config.Dir)
	}
	return &Running{Server: measure.Server{Name: v.Name, Endpoint: endpoint, PIDs: []int{s.Task.PID(), s.Proxy.PID()}}, Variant: v, stack: s}, nil
}

func startBoth(ctx context.Context, s *stack.Stack) error {
	if err := s.StartTask(); err != nil {
		return err
	}
	if err := s.StartProxy(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	go func() {
		select {
		case <-s.Task.Exited():
			cancel()
		case <-ctx.Done():
		}
	}()
	err := s.WaitReady(ctx)
	select {
	case <-s.Task.Exited():
		return fmt.Errorf("the Task ended with %d: %s", s.Task.ExitCode(), s.Task.Log())
	default:
		return err
	}
}

// Socket is the path of the Task's.
func (r *Running) Socket() string { return r.stack.Socket }

// Stop ends both programs.
func (r *Running) Stop() { r.stack.Stop() }
