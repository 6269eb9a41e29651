package load

import (
	"errors"
	"math/rand/v2"
	"time"
)

// Arrivals give the intended start of request i from the beginning of the run, never earlier than that of request i-1. At is called with i
// counting up from 0.
type Arrivals interface {
	At(i int) time.Duration
}

// Constant arrivals come at equal distances.
type Constant struct{ Rate float64 }

// At is i divided by the rate.
func (c Constant) At(i int) time.Duration {
	return time.Duration(float64(i) / c.Rate * float64(time.Second))
}

// Poisson arrivals have exponential distances.
type Poisson struct {
	rate float64
	r    *rand.Rand
	at   float64
}

// NewPoisson makes arrivals of the rate (requests a second); the same seed gives the same times.
func NewPoisson(rate float64, seed uint64) *Poisson {
	return &Poisson{rate: rate, r: rand.New(rand.NewPCG(seed, 0))}
}

// At is the sum of i exponential distances.
func (p *Poisson) At(i int) time.Duration {
	if i > 0 {
		p.at += p.r.ExpFloat64() / p.rate
	}
	return time.Duration(p.at * float64(time.Second))
}

// Replay arrivals are those of the workload, over and over.
type Replay struct {
	requests []Request
	round    time.Duration
	speed    float64
}

// NewReplay makes arrivals from the times in requests; speed 2 sends them twice as fast.
func NewReplay(requests []Request, speed float64) (*Replay, error) {
	last := requests[len(requests)-1].At
	if last == 0 || speed <= 0 {
		return nil, errors.New("a replay needs a workload with arrival times and a positive speed")
	}
	// One mean distance separates the last arrival of a round from the first of the next.
	return &Replay{requests: requests, round: last + last/time.Duration(len(requests)), speed: speed}, nil
}

// At is the time of request i in its round.
func (r *Replay) At(i int) time.Duration {
	n := len(r.requests)
	at := time.Duration(i/n)*r.round + r.requests[i%n].At
	return time.Duration(float64(at) / r.speed)
}
