package main

import (
	"math"
	"math/rand/v2"
)

// traffic draws the arrivals of the whole fleet: Poisson, at a rate that bursts lift, with sizes that have a long tail.
type traffic struct {
	*Parameters
	random *rand.Rand
	mean   float64 // requests a second
	now    float64
}

// newTraffic makes traffic that asks for load times what the fleet can do.
func newTraffic(p *Parameters, load float64) *traffic {
	t := &traffic{Parameters: p, random: rand.New(rand.NewPCG(p.Fleet.Seed, 1))}
	t.mean = load * float64(p.Fleet.Pods) / t.meanSeconds()
	return t
}

// meanSeconds is the time one pod needs for the mean request.
func (t *traffic) meanSeconds() float64 {
	random := rand.New(rand.NewPCG(t.Fleet.Seed, 2))
	const samples = 200_000
	sum := 0.0
	for range samples {
		sum += t.seconds(t.tokens(random))
	}
	return sum / samples
}

func (p *Parameters) seconds(tokens float64) float64 {
	return p.Pod.OverheadSeconds + tokens/p.Pod.TokensPerSecond
}

// tokens of one request.
func (p *Parameters) tokens(random *rand.Rand) float64 {
	draw := func(median, sigma, most float64) float64 {
		return math.Min(most, math.Max(1, median*math.Exp(sigma*random.NormFloat64())))
	}
	t := p.Traffic
	return math.Round(draw(t.PassagesMedian, t.PassagesSigma, t.MaxPassages)) * draw(t.TokensMedian, t.TokensSigma, t.MaxTokens)
}

// rate is that of the moment. Bursts come at equal distances, the first after half of one; what they add, the calm between them lacks.
func (t *traffic) rate() float64 {
	share, factor := t.Traffic.BurstShare, t.Traffic.BurstFactor
	if phase := math.Mod(t.now*share/t.Traffic.BurstSeconds+.5, 1); phase < share {
		return t.mean * factor
	}
	return t.mean * (1 - share*factor) / (1 - share)
}

// next is the time and size of the next request.
func (t *traffic) next() (at, tokens float64) {
	t.now += t.random.ExpFloat64() / t.rate()
	return t.now, t.tokens(t.random)
}
