package qualify

import (
	"context"
	"fmt"
	"time"

	"trtmc-ranking-proxy/conformance/qualify/accounting"
	"trtmc-ranking-proxy/conformance/qualify/agreement"
	"trtmc-ranking-proxy/conformance/qualify/evidence"
	"trtmc-ranking-proxy/conformance/qualify/parity"
	"trtmc-ranking-proxy/ipc"
)

// validate measures the served scores against the reference's. Without a reference there is nothing to pass.
func (r *run) validate(ctx context.Context, conn *ipc.Conn) error {
	if r.reference == nil {
		r.say("  family correctness: no reference scores, which is a gap")
		return nil
	}
	measured, err := once(r.state, "agreement", func() (*agreement.Measured, error) {
		served := make([][]float32, len(r.reference.Queries))
		progress := r.count("  family correctness", len(served))
		for i, q := range r.reference.Queries {
			request := parity.Request{Name: fmt.Sprintf("reference query %d", i), Query: q.Text, Passages: q.Passages, Truncate: ipc.TruncateEnd}
			answer, err := parity.Native(ctx, conn, fmt.Sprintf("reference-%d", i), &request)
			if err != nil {
				return nil, err
			}
			if answer.Kind != parity.OK {
				return nil, fmt.Errorf("%s was refused: %s", request.Name, answer.Kind)
			}
			served[i] = answer.Scores
			progress(i + 1)
		}
		measured, err := agreement.Measure(r.reference.Scores, served, r.result.Criteria.ScoreError)
		if err != nil {
			return nil, fmt.Errorf("family correctness: %w", err)
		}
		return measured, judge(r.result.Criteria.Gates(measured))
	})
	if err != nil {
		return err
	}
	r.result.Agreement = measured
	r.result.Gates = append(r.result.Gates, r.result.Criteria.Gates(measured)...)
	r.say("  pairwise %.4f, tau %.4f, rho %.4f, correlation %.4f; largest error %.3f", measured.PairwiseOrderingAgreement.Mean,
		measured.KendallTau.Mean, measured.SpearmanRho.Mean, measured.ScoreCorrelation, measured.LargestError)
	return nil
}

// compared is what is kept of the comparison of native and HTTP answers.
type compared struct {
	Parity  evidence.Parity
	Answers evidence.Answers // of the dataset
}

// compare asks the dataset, requests at the limits, and requests that must be refused, both ways.
func (r *run) compare(ctx context.Context, url string, conn *ipc.Conn) error {
	requests := r.datasetRequests()
	found, err := once(r.state, "parity", func() (*compared, error) {
		all := append(requests, parity.Edges(conn.Welcome())...)
		all = append(all, parity.Rejected(conn.Welcome(), r.Double)...)
		c, err := r.compareAll(ctx, url, conn, all, len(requests))
		if err != nil {
			return nil, err
		}
		return c, judge(c.Parity.Gates(), c.Parity.Different)
	})
	if err != nil {
		return err
	}
	r.result.Parity = found.Parity
	r.result.Gates = append(r.result.Gates, found.Parity.Gates()...)
	for i := range requests {
		r.cases = append(r.cases, accounting.Case{Request: requests[i], Native: parity.Scored(found.Answers.Scores[i])})
	}
	r.say("  native and HTTP: %d scored and %d refused alike", found.Parity.Scored, found.Parity.Rejected)
	return nil
}

func (r *run) datasetRequests() []parity.Request {
	var requests []parity.Request
	for i, c := range r.texts.Cases {
		requests = append(requests, parity.Request{Name: fmt.Sprintf("case %d", i), Query: c.Query, Passages: c.Passages, Truncate: ipc.TruncateEnd})
	}
	return requests
}

// compareAll asks all requests, of which the first are the dataset's: those must be scored, since every later answer is held against them.
func (r *run) compareAll(ctx context.Context, url string, conn *ipc.Conn, all []parity.Request, ofDataset int) (*compared, error) {
	c := &compared{Parity: evidence.Parity{Different: []accounting.Finding{}}}
	progress := r.count("  native against HTTP", len(all))
	for i := range all {
		native, err := parity.Native(ctx, conn, fmt.Sprintf("native-%d", i), &all[i])
		if err != nil {
			return nil, err
		}
		overHTTP, err := parity.OverHTTP(ctx, url, conn.Welcome().Model, fmt.Sprintf("http-%d", i), &all[i])
		if err != nil {
			return nil, err
		}
		if difference := parity.Difference(native, overHTTP); difference != "" {
			c.Parity.Different = append(c.Parity.Different, accounting.Finding{ID: all[i].Name, Problem: difference})
		}
		if native.Kind == parity.OK {
			c.Parity.Scored++
		} else {
			c.Parity.Rejected++
		}
		if i < ofDataset {
			if native.Kind != parity.OK {
				return nil, fmt.Errorf("%s of the dataset was refused: %s", all[i].Name, native.Kind)
			}
			c.Answers.Scores = append(c.Answers.Scores, native.Scores)
		}
		progress(i + 1)
	}
	return c, nil
}

// progressEvery is the pause between lines of progress.
const progressEvery = 10 * time.Second

// count returns a function that says how far a step is, now and then.
func (r *run) count(what string, of int) func(done int) {
	began, last := time.Now(), time.Now()
	return func(done int) {
		if now := time.Now(); now.Sub(last) >= progressEvery && done < of {
			last = now
			r.say("%s: %d of %d, %.0f s", what, done, of, now.Sub(began).Seconds())
		}
	}
}
