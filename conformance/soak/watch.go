package soak

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat" // a regression that need not be ours

	"trtmc-ranking-proxy/conformance/stack"
)

// Held is what a process holds.
type Held struct {
	ResidentMB float64 `json:"resident_mb"`
	Files      int     `json:"files"`
	Threads    int     `json:"threads"`
	Goroutines int     `json:"goroutines,omitempty"`
}

// Sample is what both processes hold at one moment.
type Sample struct {
	Seconds float64 `json:"seconds"` // since the start of the run
	Proxy   Held    `json:"proxy"`
	Task    Held    `json:"task"`
}

const sampleEvery = 2 * time.Second

// watch keeps samples until ctx ends.
func (r *run) watch(ctx context.Context) {
	for {
		select {
		case <-time.After(sampleEvery):
		case <-ctx.Done():
			return
		}
		if s, err := r.sample(); err == nil { // a process that is stopped just now answers no scrape
			r.result.Samples = append(r.result.Samples, s)
		}
	}
}

func (r *run) sample() (s Sample, err error) {
	s.Seconds = time.Since(r.result.Start).Seconds()
	if s.Proxy, err = held(r.stack.Proxy); err != nil {
		return s, err
	}
	if s.Task, err = held(r.stack.Task); err != nil {
		return s, err
	}
	s.Proxy.Goroutines, err = goroutines(r.stack.URL)
	return s, err
}

func held(p *stack.Process) (h Held, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	if err != nil {
		return h, fmt.Errorf("%s: %w", p.Name, err)
	}
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.PID()))
	if err != nil {
		return h, fmt.Errorf("%s: %w", p.Name, err)
	}
	return Held{ResidentMB: float64(field(string(status), "VmRSS:")) / 1024, Files: len(files), Threads: field(string(status), "Threads:")}, nil
}

// field is the number behind a name in /proc/PID/status.
func field(status, name string) int {
	_, rest, _ := strings.Cut(status, name)
	value, _, _ := strings.Cut(strings.TrimSpace(rest), "\n")
	number, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(value), " kB"))
	return number
}

func goroutines(url string) (int, error) {
	client := http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get(url + "/metrics")
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if value, found := strings.CutPrefix(lines.Text(), "go_goroutines "); found {
			return strconv.Atoi(value)
		}
	}
	return 0, fmt.Errorf("the metrics name no goroutines")
}

// slope is the growth in MB per minute of what resident takes from the samples, but for the first fifth, in which pools fill.
func slope(samples []Sample, resident func(Sample) float64) float64 {
	var minutes, megabytes []float64
	for _, s := range samples[len(samples)/5:] {
		minutes, megabytes = append(minutes, s.Seconds/60), append(megabytes, resident(s))
	}
	if len(minutes) < 2 {
		return 0
	}
	_, slope := stat.LinearRegression(minutes, megabytes, nil, false)
	return slope
}
