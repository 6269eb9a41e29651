// Package aiperf runs the published AIPerf, as anybody would, against the ranking endpoint, and reads what it exports.
package aiperf

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Load is one run: a closed loop of Concurrency, or requests at a constant Rate. Warm-up requests come first and are marked in the export.
type Load struct {
	Concurrency int     `json:"concurrency,omitempty"`
	Rate        float64 `json:"rate_per_s,omitempty"`
	Requests    int     `json:"requests"`
	Warmup      int     `json:"warmup_requests"`
}

// Name is short and stable, for directories and tables.
func (l Load) Name() string {
	if l.Rate > 0 {
		return fmt.Sprintf("constant rate %.3g/s", l.Rate)
	}
	return fmt.Sprintf("closed loop, %d in flight", l.Concurrency)
}

// Program is an installed AIPerf.
type Program struct {
	Path      string // of the executable
	Tokenizer string // directory made by WriteTokenizer
}

// Version asks the program for its version.
func (p *Program) Version(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, p.Path, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("ask AIPerf for its version: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Args are the arguments of a run against the server at url. inputs is a file of WriteInputs.
func (p *Program) Args(l Load, url, model, inputs, artifacts string) []string {
	args := []string{
		"profile", "--model", model, "--url", url, "--endpoint-type", "nim-rankings", "--tokenizer", p.Tokenizer,
		"--input-file", inputs, "--custom-dataset-type", "inputs_json",
		"--request-count", strconv.Itoa(l.Requests), "--warmup-request-count", strconv.Itoa(l.Warmup),
		"--random-seed", "42", "--export-level", "raw", "--artifact-dir", artifacts,
		"--no-gpu-telemetry", "--no-server-metrics", "--ui-type", "none",
	}
	if l.Rate > 0 {
		return append(args, "--request-rate", strconv.FormatFloat(l.Rate, 'g', -1, 64), "--request-rate-mode", "constant")
	}
	return append(args, "--concurrency", strconv.Itoa(l.Concurrency))
}

// Run runs AIPerf to its end. What it prints goes to aiperf.log in artifacts.
func (p *Program) Run(ctx context.Context, args []string, artifacts string) error {
	if err := os.MkdirAll(artifacts, 0o755); err != nil {
		return fmt.Errorf("make directory for AIPerf: %w", err)
	}
	log, err := os.Create(filepath.Join(artifacts, "aiperf.log"))
	if err != nil {
		return fmt.Errorf("make log for AIPerf: %w", err)
	}
	defer log.Close()
	command := exec.CommandContext(ctx, p.Path, args...)
	command.Stdout, command.Stderr = log, log
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) } // it has worker processes to stop
	command.WaitDelay = 20 * time.Second
	if err := command.Run(); err != nil {
		return fmt.Errorf("AIPerf: %w; it said:\n%s", err, tail(log.Name()))
	}
	return nil
}

// tail is the end of a log.
func tail(path string) string {
	const most = 2000
	data, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(data[max(0, len(data)-most):])
}

// WriteTokenizer makes the directory that --tokenizer takes without asking a hub: the model's own tokenizer.json and what names its class.
func WriteTokenizer(dir string, tokenizer []byte) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make tokenizer directory: %w", err)
	}
	const class = `{"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "[UNK]"}` + "\n"
	for name, content := range map[string][]byte{"tokenizer.json": tokenizer, "tokenizer_config.json": []byte(class)} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return fmt.Errorf("write tokenizer: %w", err)
		}
	}
	return nil
}

// WriteInputs writes request bodies, sent verbatim and in order, from the first again when all are used.
func WriteInputs(path string, bodies []json.RawMessage) error {
	type session struct {
		ID       string            `json:"session_id"`
		Payloads []json.RawMessage `json:"payloads"`
	}
	sessions := make([]session, len(bodies))
	for i, body := range bodies {
		sessions[i] = session{fmt.Sprintf("case-%d", i), []json.RawMessage{body}}
	}
	data, err := json.Marshal(map[string]any{"data": sessions})
	if err != nil {
		return fmt.Errorf("encode inputs: %w", err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return fmt.Errorf("write inputs: %w", err)
	}
	return nil
}
