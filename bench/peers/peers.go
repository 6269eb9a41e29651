// Package peers starts other ranking servers on the same weights and checks their scores before anything is timed.
package peers

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"

	"trtmc-ranking-proxy/bench/load"
	"trtmc-ranking-proxy/bench/measure"
	"trtmc-ranking-proxy/conformance/stack"
)

// Peer is another ranking server with its best documented settings for a CPU.
type Peer struct {
	Name    string
	Lossy   bool // quantized: scores may differ from the f32 reference
	Package string
	Dialect string
	Path    string // of the ranking call, if not the dialect's own
	program func(Places, string) []string
}

// Places are the directories a peer is started from.
type Places struct {
	Sources string // bench/peers
	Built   string // what setup.sh made
	Model   string // the original model directory
}

// All are the known peers.
var All = []Peer{
	{
		Name: "lane-torch", Package: "sentence-transformers", Dialect: "nim",
		program: func(p Places, port string) []string { return p.lane("torch", p.Model, port) },
	},
	{
		Name: "lane-onnx-f32", Package: "onnxruntime", Dialect: "nim",
		program: func(p Places, port string) []string {
			return p.lane("onnx", filepath.Join(p.Built, "onnx", "model.onnx"), port)
		},
	},
	{
		Name: "lane-onnx-int8", Lossy: true, Package: "onnxruntime", Dialect: "nim",
		program: func(p Places, port string) []string {
			return p.lane("onnx", filepath.Join(p.Built, "onnx", "model-int8.onnx"), port)
		},
	},
	{
		Name: "infinity-torch", Package: "infinity_emb", Dialect: "jina", Path: "/rerank",
		program: func(p Places, port string) []string {
			return []string{
				filepath.Join(p.Built, "venv", "infinity", "bin", "infinity_emb"), "v2", "--model-id", p.Model, "--served-model-name", "minilm-l6-rerank",
				"--engine", "torch", "--device", "cpu", "--dtype", "float32", "--batch-size", "32", "--no-bettertransformer",
				"--host", "127.0.0.1", "--port", port, "--log-level", "warning",
			}
		},
	},
	{
		Name: "tei-f32", Package: teiProgram, Dialect: "tei",
		program: func(p Places, port string) []string { return p.tei("tei-f32", port) },
	},
	{
		Name: "tei-int8", Lossy: true, Package: teiProgram, Dialect: "tei",
		program: func(p Places, port string) []string { return p.tei("tei-int8", port) },
	},
}

const teiProgram = "text-embeddings-router"

func (p Places) lane(engine, model string, port string) []string {
	return []string{
		filepath.Join(p.Built, "venv", "lanes", "bin", "python"), filepath.Join(p.Sources, "servers", "lane.py"),
		"--engine", engine, "--model", model, "--port", port,
	}
}

// tei lifts the limits that would reject the workloads: texts a call and texts in flight.
func (p Places) tei(dir string, port string) []string {
	return []string{
		teiProgram, "--model-id", filepath.Join(p.Built, dir), "--port", port,
		"--max-client-batch-size", "1024", "--max-concurrent-requests", "16384", "--auto-truncate",
	}
}

// Unavailable says why the peer cannot run here, or is empty.
func (p Peer) Unavailable(places Places) string {
	program := p.program(places, "0")[0]
	if _, err := exec.LookPath(program); err != nil {
		if program == teiProgram {
			return teiProgram + " is not on the PATH"
		}
		return "not set up: run bench/peers/setup.sh"
	}
	return ""
}

// Version is the pinned version of the peer's package, or what the program says.
func (p Peer) Version(places Places) string {
	if p.Package == teiProgram {
		out, err := exec.Command(teiProgram, "--version").Output()
		if err != nil {
			return "unknown"
		}
		return versionPattern.FindString(string(out))
	}
	pin := regexp.MustCompile(`(?mi)^` + p.Package + `==(\S+)$`)
	for _, file := range []string{"requirements-lanes.txt", "requirements-infinity.txt"} {
		text, err := os.ReadFile(filepath.Join(places.Sources, file))
		if match := pin.FindSubmatch(text); err == nil && match != nil {
			return p.Package + " " + string(match[1])
		}
	}
	return "unknown"
}

var versionPattern = regexp.MustCompile(`\d+(\.\d+)+`)

// Running is a started peer.
type Running struct {
	measure.Server
	process *stack.Process
}

// environment keeps the peers from looking for models or reporting usage on the network.
var environment = []string{"HF_HUB_OFFLINE=1", "DO_NOT_TRACK=1", "INFINITY_ANONYMOUS_USAGE_STATS=0"}

// Start starts the peer with its log in dir and waits until it ranks.
func (p Peer) Start(ctx context.Context, places Places, dir string) (*Running, error) {
	address, err := stack.FreeAddress()
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	endpoint, err := load.NewEndpoint("http://"+address, p.Dialect, p.Path, "minilm-l6-rerank")
	if err != nil {
		return nil, err
	}
	endpoint.Raw = p.Dialect != "nim"
	process, err := stack.StartProcess(dir, p.Name, "env", append(environment, p.program(places, port)...)...)
	if err != nil {
		return nil, err
	}
	running := &Running{Server: measure.Server{Name: p.Name, Endpoint: endpoint, PIDs: []int{process.PID()}}, process: process}
	if err := measure.WaitReady(ctx, running.Server, process.Exited()); err != nil {
		running.Stop()
		return nil, fmt.Errorf("start %s: %w; its log:\n%s", p.Name, err, process.Log())
	}
	return running, nil
}

// Stop ends the peer.
func (r *Running) Stop() { r.process.Stop(10 * time.Second) }
