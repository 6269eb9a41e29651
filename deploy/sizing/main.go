// Command sizing simulates a fleet of pods under uneven traffic and prints, as Markdown, what it says about queue bounds, autoscaling
// thresholds and the loss of pods. What one pod can do is read from a file of measurements.
//
//	go run ./deploy/sizing deploy/sizing/parameters.json
//
// The same file gives the same tables: the randomness is seeded.
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: sizing PARAMETERS.json")
		os.Exit(2)
	}
	p, err := readParameters(os.Args[1])
	if err != nil {
		fmt.Fprintf(os.Stderr, "sizing: %v\n", err)
		os.Exit(1)
	}
	report(os.Stdout, p)
}

// Parameters of a simulation. Times are in seconds.
type Parameters struct {
	Measured struct {
		Date, Command, Machine string
	}
	Pod struct {
		TokensPerSecond float64 // sustained, padding not counted
		OverheadSeconds float64 // of a request besides its tokens
		NoticeSeconds   float64 // from the death of a pod until no more requests are routed to it
		StartSeconds    float64 // from the autoscaler's wish to the first answer
	}
	Traffic struct {
		PassagesMedian, PassagesSigma float64 // log-normal
		TokensMedian, TokensSigma     float64 // of a pair, log-normal
		MaxPassages, MaxTokens        float64
		BurstFactor                   float64 // rate within a burst over the mean rate
		BurstShare                    float64 // of the time
		BurstSeconds                  float64
	}
	Fleet struct {
		Pods             int
		Seconds          float64
		ObjectiveSeconds float64 // an answer later than this is not good
		LostShare        float64 // of the pods, at a third of the time, back after StartSeconds
		Seed             uint64
	}
}

func readParameters(path string) (*Parameters, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	p := &Parameters{}
	if err := json.Unmarshal(text, p); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f, t := p.Fleet, p.Traffic
	if p.Pod.TokensPerSecond <= 0 || f.Pods < 1 || f.Seconds <= 0 || t.BurstShare < 0 || t.BurstShare*t.BurstFactor > 1 || t.BurstSeconds <= 0 {
		return nil, fmt.Errorf("%s: pods, seconds and tokens a second must be positive, and bursts hold at most all requests", path)
	}
	return p, nil
}
