package main

import (
	"math"
	"strings"
	"testing"
)

func parameters(t *testing.T) *Parameters {
	t.Helper()
	p, err := readParameters("parameters.json")
	if err != nil {
		t.Fatal(err)
	}
	p.Fleet.Pods, p.Fleet.Seconds = 50, 2000
	p.Traffic.BurstShare = 0
	return p
}

// One server, Poisson arrivals and constant service have a known mean wait: half of what exponential service would give.
func TestAgainstQueueingTheory(t *testing.T) {
	p := parameters(t)
	p.Fleet.Pods, p.Fleet.Seconds = 1, 200_000
	p.Traffic.PassagesSigma, p.Traffic.TokensSigma = 0, 0
	service := newTraffic(p, 1).meanSeconds()
	f := func(load float64) {
		t.Helper()
		sum, o := 0.0, simulate(p, load, policy{queueSeconds: math.Inf(1)})
		for _, latency := range o.latencies {
			sum += latency
		}
		got, want := sum/float64(len(o.latencies)), service*(1+load/(2*(1-load)))
		if math.Abs(got-want) > .05*want {
			t.Fatalf("load %g: mean latency %g, theory says %g", load, got, want)
		}
	}
	f(.3)
	f(.7)
}

func TestEveryRequestHasOneOutcome(t *testing.T) {
	p := parameters(t)
	f := func(load float64, with policy) *outcome {
		t.Helper()
		o := simulate(p, load, with)
		if o.requests == 0 || o.refused+len(o.latencies) != o.requests {
			t.Fatalf("%d requests, %d refused, %d answered", o.requests, o.refused, len(o.latencies))
		}
		return o
	}
	if o := f(.5, policy{queueSeconds: math.Inf(1)}); o.refused != 0 {
		t.Fatalf("%d refused without a bound", o.refused)
	}
	bounded := f(1.5, policy{queueSeconds: 1})
	if bounded.refused == 0 || bounded.percentile(1) > 1+p.seconds(p.Traffic.MaxPassages*p.Traffic.MaxTokens) {
		t.Fatalf("%d refused, longest %g", bounded.refused, bounded.percentile(1))
	}
	if o := f(.5, policy{queueSeconds: 2, lose: true}); o.lost == 0 {
		t.Fatal("the loss of pods has lost nothing")
	}
}

func TestTheMeanRateIsTheOneAskedForWithBursts(t *testing.T) {
	p := parameters(t)
	f := func(share, factor float64) {
		t.Helper()
		p.Traffic.BurstShare, p.Traffic.BurstFactor = share, factor
		arrivals := newTraffic(p, .5)
		n := 0
		for at := 0.0; at < 2000; at, _ = arrivals.next() {
			n++
		}
		if got, want := float64(n)/2000, arrivals.mean; math.Abs(got-want) > .05*want {
			t.Fatalf("%g of the time at %g times: %g requests/s, not %g", share, factor, got, want)
		}
	}
	f(0, 1)
	f(.1, 2)
	f(.2, 4)
}

func TestTheAutoscalerFindsItsTarget(t *testing.T) {
	p := parameters(t)
	o := simulate(p, 1, policy{queueSeconds: 2, retries: 1, autoscale: &autoscaler{
		target: .5, metric: busyShare, least: 1, interval: 15, downAfter: 300,
	}})
	if mean := o.podSeconds / p.Fleet.Seconds; mean < 80 || mean > 130 { // 50 pods' worth of work at half use, and some for unevenness
		t.Fatalf("%g pods", mean)
	}
}

func TestTheSameParametersGiveTheSameReport(t *testing.T) {
	p := parameters(t)
	p.Fleet.Pods, p.Fleet.Seconds = 5, 50
	var first, second strings.Builder
	report(&first, p)
	report(&second, p)
	if first.String() != second.String() || !strings.Contains(first.String(), "| 70 % |") {
		t.Fatal(first.String(), second.String())
	}
}

// A pod that starts is sent nothing, one that has died only until that is noticed.
func TestRequestsGoToReadyPods(t *testing.T) {
	f := func(p pod, now float64, want bool) {
		t.Helper()
		if got := p.routed(now); got != want {
			t.Errorf("%+v at %g: %v", p, now, got)
		}
	}
	f(pod{}, 0, true)
	f(pod{dead: 20}, 19, false)
	f(pod{dead: 20}, 20, true)
	f(pod{dead: 30, gone: 13}, 12, true)
	f(pod{dead: 30, gone: 13}, 13, false)
	f(pod{dead: 30, gone: 13}, 30, true)
}
