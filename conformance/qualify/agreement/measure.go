package agreement

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat" // Pearson's correlation and means
)

// Measured is the agreement over a reference. The measures of order are taken within each query's passages, where an order means
// something, and averaged over the queries; correlation and errors are over all pairs.
type Measured struct {
	Queries                   int     `json:"queries"`
	Pairs                     int     `json:"pairs"`
	PairwiseOrderingAgreement Summary `json:"pairwise_ordering_agreement"`
	KendallTau                Summary `json:"kendall_tau"`
	SpearmanRho               Summary `json:"spearman_rho"`
	ScoreCorrelation          float64 `json:"score_correlation"`
	ShareWithinError          float64 `json:"share_within_error"` // by Criteria.ScoreError; 0 without one
	MeanError                 float64 `json:"mean_error"`         // |score - reference| as served
	LargestError              float64 `json:"largest_error"`
	BestPassageAgrees         float64 `json:"best_passage_agrees"` // share of queries with the same passage first; reported, no gate
}

// Summary is over queries.
type Summary struct {
	Mean  float64 `json:"mean"`
	Least float64 `json:"least"`
}

// Measure compares the scores of each query's passages with the reference's. Both must have the same shape, and at least two passages a query.
func Measure(reference, served [][]float32, within *ScoreError) (*Measured, error) {
	if len(reference) == 0 || len(reference) != len(served) {
		return nil, fmt.Errorf("%d queries served, %d in the reference", len(served), len(reference))
	}
	m := &Measured{Queries: len(reference)}
	var pairwise, tau, rho, first, want, got []float64
	for i := range reference {
		r, s := widened(reference[i]), widened(served[i])
		if len(r) != len(s) || len(r) < 2 {
			return nil, fmt.Errorf("query %d: %d scores served, %d in the reference, want the same and two at least", i, len(s), len(r))
		}
		p, k := orderAgreement(r, s)
		pairwise, tau = append(pairwise, p), append(tau, k)
		rho = append(rho, stat.Correlation(ranks(r), ranks(s), nil))
		first = append(first, boolean(best(r) == best(s)))
		want, got = append(want, r...), append(got, s...)
	}
	m.Pairs = len(want)
	m.PairwiseOrderingAgreement, m.KendallTau, m.SpearmanRho = summary(pairwise), summary(tau), summary(rho)
	m.BestPassageAgrees, m.ScoreCorrelation = stat.Mean(first, nil), stat.Correlation(want, got, nil)
	m.MeanError, m.LargestError = errorsOf(want, got)
	if within != nil {
		m.ShareWithinError = shareWithin(want, got, within)
	}
	if math.IsNaN(m.ScoreCorrelation + m.SpearmanRho.Mean + m.LargestError) {
		return nil, errors.New("scores that are constant or not finite have no agreement")
	}
	return m, nil
}

// orderAgreement looks at the passage pairs that the reference orders: the share ordered alike, and Kendall's tau, which is that share less the
// share ordered the other way. A tie served agrees with no order. (gonum's Kendall counts ties as agreement, so that constant scores were perfect.)
func orderAgreement(reference, served []float64) (pairwise, tau float64) {
	ordered, alike, opposite := 0.0, 0.0, 0.0
	for i := range reference {
		for j := range i {
			want, got := cmp.Compare(reference[i], reference[j]), cmp.Compare(served[i], served[j])
			switch {
			case want == 0:
				continue
			case got == want:
				alike++
			case got == -want:
				opposite++
			}
			ordered++
		}
	}
	return alike / ordered, (alike - opposite) / ordered
}

// ranks are 1 for the lowest; equal values share the mean of their ranks, as Spearman's rho wants.
func ranks(values []float64) []float64 {
	ranks := make([]float64, len(values))
	for i, v := range values {
		below, equal := 0, 0
		for _, other := range values {
			switch cmp.Compare(other, v) {
			case -1:
				below++
			case 0:
				equal++
			}
		}
		ranks[i] = float64(below) + float64(equal+1)/2
	}
	return ranks
}

func errorsOf(reference, served []float64) (mean, largest float64) {
	for i := range reference {
		e := math.Abs(served[i] - reference[i])
		mean, largest = mean+e/float64(len(reference)), math.Max(largest, e)
	}
	return mean, largest
}

func shareWithin(reference, served []float64, bound *ScoreError) float64 {
	within := 0
	for i := range reference {
		r, s := reference[i], served[i]
		if bound.Scale == Probability {
			r, s = logistic(r), logistic(s)
		}
		if math.Abs(s-r) <= bound.AtMost {
			within++
		}
	}
	return float64(within) / float64(len(reference))
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// best is the index of the highest value, the first of equals.
func best(values []float64) int { return slices.Index(values, slices.Max(values)) }

func summary(values []float64) Summary { return Summary{stat.Mean(values, nil), slices.Min(values)} }

func boolean(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func widened(scores []float32) []float64 {
	wide := make([]float64, len(scores))
	for i, s := range scores {
		wide[i] = float64(s)
	}
	return wide
}
