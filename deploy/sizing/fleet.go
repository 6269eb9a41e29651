package main

import (
	"math/rand/v2"
	"slices"
)

// pod serves its requests one after the other, which is what a Task's queue comes to when every core works on the oldest request first.
type pod struct {
	free float64   // when all it has accepted is done
	done []float64 // when each accepted request is done, in order
	dead float64   // refuses everything until then
	gone float64   // of a dead one, when the Service has noticed
}

// routed tells whether a Service sends requests here: to ready pods, and to dead ones until it has noticed.
func (p *pod) routed(now float64) bool { return now >= p.dead || now < p.gone }

func (p *pod) inFlight(now float64) int {
	for len(p.done) > 0 && p.done[0] <= now {
		p.done = p.done[1:]
	}
	return len(p.done)
}

// policy is what an operator chooses.
type policy struct {
	queueSeconds float64 // bound of a pod's queue; as in the Task, one with nothing else to do takes a request of any size
	retries      int     // of a client, each on another pod
	lose         bool    // some pods die on the way
	autoscale    *autoscaler
}

// outcome of a simulation.
type outcome struct {
	requests, refused, lost, good int
	latencies                     []float64
	podSeconds                    float64
	most                          int // pods at a time
}

func (o *outcome) percentile(q float64) float64 {
	if len(o.latencies) == 0 {
		return 0
	}
	return o.latencies[min(len(o.latencies)-1, int(q*float64(len(o.latencies))))]
}

type fleet struct {
	*Parameters
	policy
	pods   []*pod
	random *rand.Rand
	outcome
}

// simulate runs traffic of this load, relative to what p.Fleet.Pods can do, over a fleet.
func simulate(p *Parameters, load float64, with policy) *outcome {
	f := &fleet{Parameters: p, policy: with, random: rand.New(rand.NewPCG(p.Fleet.Seed, 3))}
	for range p.Fleet.Pods {
		f.pods = append(f.pods, &pod{})
	}
	arrivals := newTraffic(p, load)
	loss, lookAt := p.Fleet.Seconds/3, 0.0
	for {
		now, tokens := arrivals.next()
		if now > p.Fleet.Seconds {
			break
		}
		if f.lose && now > loss {
			f.losePods(now)
		}
		for f.autoscale != nil && lookAt <= now {
			f.pods = f.autoscale.look(p, lookAt, f.pods)
			lookAt += f.autoscale.interval
		}
		f.arrive(now, tokens)
		f.most = max(f.most, len(f.pods))
	}
	slices.Sort(f.latencies)
	f.podSeconds = float64(p.Fleet.Pods) * p.Fleet.Seconds
	if f.autoscale != nil {
		f.podSeconds = f.autoscale.podSeconds
	}
	return &f.outcome
}

// arrive routes to a pod at random, as a Service does; a client that is refused may try others.
func (f *fleet) arrive(now, tokens float64) {
	f.requests++
	for range 1 + f.retries {
		p := f.route(now)
		need := f.seconds(tokens)
		if waiting := p.free - now; now < p.dead || waiting > 0 && waiting+need > f.queueSeconds {
			continue
		}
		p.inFlight(now) // forgets what is done
		p.free = max(p.free, now) + need
		p.done = append(p.done, p.free)
		latency := p.free - now
		f.latencies = append(f.latencies, latency)
		if latency <= f.Fleet.ObjectiveSeconds {
			f.good++
		}
		return
	}
	f.refused++
}

// route picks one at random; of the first pods, some are always routed.
func (f *fleet) route(now float64) *pod {
	for {
		if p := f.pods[f.random.IntN(len(f.pods))]; p.routed(now) {
			return p
		}
	}
}

// losePods kills a share of the pods with what they hold; each is back, empty, after the start time.
func (f *fleet) losePods(now float64) {
	f.lose = false
	for _, p := range f.pods[:int(f.Fleet.LostShare*float64(len(f.pods)))] {
		f.lost += p.inFlight(now)
		*p = pod{dead: now + f.Pod.StartSeconds, gone: now + f.Pod.NoticeSeconds}
	}
}
