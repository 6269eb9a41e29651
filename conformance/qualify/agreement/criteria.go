// Package agreement measures how well served scores agree with recorded reference scores, by the criteria of the family that owns the checkpoint.
package agreement

import (
	"fmt"

	"trtmc-ranking-proxy/conformance/qualify/gate"
)

// Criteria are the gates of a family, as the inventory states them. What a family leaves out is taken from TaskDefaults, but for ScoreError.
type Criteria struct {
	PairwiseOrderingAgreement *float64    `yaml:"pairwise_ordering_agreement" json:"pairwise_ordering_agreement"` // 0..1, least
	KendallTau                *float64    `yaml:"kendall_tau" json:"kendall_tau"`                                 // -1..1, least
	SpearmanRho               *float64    `yaml:"spearman_rho" json:"spearman_rho"`                               // -1..1, least
	ScoreCorrelation          *float64    `yaml:"score_correlation" json:"score_correlation"`                     // Pearson, -1..1, least
	ScoreError                *ScoreError `yaml:"score_error" json:"score_error,omitempty"`
	Benchmark                 string      `yaml:"benchmark" json:"benchmark,omitempty"` // the family's benchmark case in words
}

// ScoreError demands that a share of the scores is close to the reference.
type ScoreError struct {
	AtMost float64 `yaml:"at_most" json:"at_most"` // |score - reference|
	Share  float64 `yaml:"share" json:"share"`     // of all scores, least
	Scale  Scale   `yaml:"scale" json:"scale"`
}

// Scale is what a score error is measured on.
type Scale string

const (
	AsServed    Scale = "score"       // the Task's own scores
	Probability Scale = "probability" // the logistic function of a logit, 0..1
)

// TaskDefaults are the criteria of the ranking Task where a family sets none.
func TaskDefaults() Criteria {
	f := func(v float64) *float64 { return &v }
	return Criteria{PairwiseOrderingAgreement: f(0.9), KendallTau: f(0.8), SpearmanRho: f(0.85), ScoreCorrelation: f(0.95)}
}

// orDefaults never loosens: it fills in only what is missing.
func (c Criteria) orDefaults() Criteria {
	d := TaskDefaults()
	for _, pair := range []struct{ own, fallback **float64 }{
		{&c.PairwiseOrderingAgreement, &d.PairwiseOrderingAgreement}, {&c.KendallTau, &d.KendallTau},
		{&c.SpearmanRho, &d.SpearmanRho}, {&c.ScoreCorrelation, &d.ScoreCorrelation},
	} {
		if *pair.own == nil {
			*pair.own = *pair.fallback
		}
	}
	return c
}

// Step names these gates.
const Step = "family correctness"

// Gates judges a measurement.
func (c Criteria) Gates(m *Measured) []gate.Gate {
	c = c.orDefaults()
	gates := []gate.Gate{
		gate.AtLeast(Step, "pairwise_ordering_agreement", *c.PairwiseOrderingAgreement, m.PairwiseOrderingAgreement.Mean),
		gate.AtLeast(Step, "kendall_tau", *c.KendallTau, m.KendallTau.Mean),
		gate.AtLeast(Step, "spearman_rho", *c.SpearmanRho, m.SpearmanRho.Mean),
		gate.AtLeast(Step, "score_correlation", *c.ScoreCorrelation, m.ScoreCorrelation),
	}
	if c.ScoreError != nil {
		name := fmt.Sprintf("share of score errors within %g (%s)", c.ScoreError.AtMost, c.ScoreError.Scale)
		gates = append(gates, gate.AtLeast(Step, name, c.ScoreError.Share, m.ShareWithinError))
	}
	return gates
}
