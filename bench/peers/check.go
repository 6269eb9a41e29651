package peers

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"trtmc-ranking-proxy/bench/load"
	"trtmc-ranking-proxy/bench/workloads"
)

//go:embed reference-logits.json
var referenceFile []byte

// reference holds the logits of the first requests of a workload, from transformers in f32 (servers/reference.py).
type reference struct {
	Workload string      `json:"workload"`
	Digest   string      `json:"digest"`
	Logits   [][]float64 `json:"logits"`
}

// Difference is how far a server's scores are from the reference and from themselves.
type Difference struct {
	FromReference float64 // largest difference of a logit
	FromAlone     float64 // largest difference of a pair scored alone and in its request
}

// exactBound is the largest difference from the reference that f32 arithmetic in another order explains.
const exactBound = 1e-3

// Verdict names the difference: exact, lossy for a server that is meant to be, wrong otherwise.
func (d Difference) Verdict(lossy bool) string {
	switch {
	case d.FromReference <= exactBound:
		return "exact"
	case lossy:
		return "lossy"
	default:
		return "wrong"
	}
}

// Check compares a server's raw scores with the reference.
func Check(e load.Endpoint) (Difference, error) {
	var d Difference
	var references []reference
	if err := json.Unmarshal(referenceFile, &references); err != nil {
		return d, fmt.Errorf("read reference logits: %w", err)
	}
	for _, r := range references {
		w, err := workloads.Load(r.Workload)
		if err != nil {
			return d, err
		}
		if w.Digest != r.Digest {
			return d, fmt.Errorf("the reference logits are of another %s: run servers/reference.py", r.Workload)
		}
		w.Requests = w.Requests[:len(r.Logits)]
		if err := d.add(e, w, r.Logits); err != nil {
			return d, err
		}
	}
	return d, nil
}

const checkTimeout = 2 * time.Minute

func (d *Difference) add(e load.Endpoint, w *workloads.Workload, want [][]float64) error {
	together, err := scores(e, w)
	if err != nil {
		return err
	}
	alone, err := scores(e, firstPairs(w))
	if err != nil {
		return err
	}
	for i := range want {
		for j, logit := range want[i] {
			d.FromReference = max(d.FromReference, math.Abs(together[i][j]-logit))
		}
		d.FromAlone = max(d.FromAlone, math.Abs(together[i][0]-alone[i][0]))
	}
	return nil
}

// firstPairs has the first passage of every request only.
func firstPairs(w *workloads.Workload) *workloads.Workload {
	first := &workloads.Workload{Name: w.Name}
	for _, r := range w.Requests {
		r.Passages = r.Passages[:1]
		first.Requests = append(first.Requests, r)
	}
	return first
}

func scores(e load.Endpoint, w *workloads.Workload) ([][]float64, error) {
	requests, err := e.Prepare(w)
	if err != nil {
		return nil, err
	}
	all := make([][]float64, len(requests))
	for i, r := range requests {
		if all[i], err = e.Scores(r, checkTimeout); err != nil {
			return nil, fmt.Errorf("request %d of %s: %w", i, w.Name, err)
		}
	}
	return all, nil
}
