package main

import (
	"fmt"
	"io"
	"math"
)

// report prints the tables of SIZING.md.
func report(w io.Writer, p *Parameters) {
	t := newTraffic(p, 1)
	fmt.Fprintf(w, "%d pods, %g s; a pod scores %.0f tokens/s; the mean request takes %.0f ms of a pod, so that the fleet can do %.0f requests/s. "+
		"Unless said otherwise a pod's queue is bounded at %g s of work, and the client that is refused tries another pod once.\n\n",
		p.Fleet.Pods, p.Fleet.Seconds, p.Pod.TokensPerSecond, 1000*t.meanSeconds(), t.mean, p.Fleet.ObjectiveSeconds)
	loads(w, p)
	bounds(w, p)
	losses(w, p)
	thresholds(w, p)
}

func row(w io.Writer, p *Parameters, name string, o *outcome) {
	share := func(n int) float64 { return 100 * float64(n) / float64(o.requests) }
	fmt.Fprintf(w, "| %s | %.0f | %.0f | %.0f | %.2f | %.2f | %.2f |\n", name, 1000*o.percentile(.5), 1000*o.percentile(.99),
		1000*o.percentile(.999), share(o.refused), share(o.lost), share(o.good))
}

func head(w io.Writer, p *Parameters, title, first string) {
	fmt.Fprintf(w, "### %s\n\n| %s | p50 ms | p99 ms | p99.9 ms | refused %% | lost %% | within %g s %% |\n| --- | --- | --- | --- | --- | --- | --- |\n",
		title, first, p.Fleet.ObjectiveSeconds)
}

func loads(w io.Writer, p *Parameters) {
	head(w, p, "Load, with one retry", "load")
	for _, load := range []float64{.3, .5, .6, .7, .8, .9, 1.1} {
		row(w, p, fmt.Sprintf("%.0f %%", 100*load), simulate(p, load, policy{queueSeconds: p.Fleet.ObjectiveSeconds, retries: 1}))
	}
	fmt.Fprintln(w)
}

func bounds(w io.Writer, p *Parameters) {
	head(w, p, "Queue bound, at a load of 70 %", "queue, retries")
	for _, retries := range []int{0, 1} {
		for _, queue := range []float64{.25, .5, 1, 2, 4, math.Inf(1)} {
			name := fmt.Sprintf("%g s = %.0f tokens, %d", queue, queue*p.Pod.TokensPerSecond, retries)
			row(w, p, name, simulate(p, .7, policy{queueSeconds: queue, retries: retries}))
		}
	}
	fmt.Fprintln(w)
}

func losses(w io.Writer, p *Parameters) {
	head(w, p, fmt.Sprintf("Loss of %.0f %% of the pods for %g s", 100*p.Fleet.LostShare, p.Pod.StartSeconds), "load, retries")
	for _, load := range []float64{.5, .7} {
		for retries := range 3 {
			row(w, p, fmt.Sprintf("%.0f %%, %d", 100*load, retries), simulate(p, load, policy{queueSeconds: p.Fleet.ObjectiveSeconds, retries: retries, lose: true}))
		}
	}
	fmt.Fprintln(w)
}

func thresholds(w io.Writer, p *Parameters) {
	fmt.Fprintf(w, "### Autoscaling, from %d pods at a load of 70 %% of those, with one retry\n\n", p.Fleet.Pods)
	fmt.Fprintf(w, "| target | mean pods | most | p50 ms | p99 ms | refused %% | within %g s %% |\n| --- | --- | --- | --- | --- | --- | --- |\n", p.Fleet.ObjectiveSeconds)
	f := func(name string, metric func([]*pod, float64) float64, target float64) {
		o := simulate(p, .7, policy{queueSeconds: p.Fleet.ObjectiveSeconds, retries: 1, autoscale: &autoscaler{
			target: target, metric: metric, least: p.Fleet.Pods / 20, interval: 15, downAfter: 300,
		}})
		fmt.Fprintf(w, "| %s | %.0f | %d | %.0f | %.0f | %.2f | %.2f |\n", name, o.podSeconds/p.Fleet.Seconds, o.most, 1000*o.percentile(.5),
			1000*o.percentile(.99), 100*float64(o.refused)/float64(o.requests), 100*float64(o.good)/float64(o.requests))
	}
	for _, target := range []float64{.5, 1, 2, 3, 4, 5, 8} {
		f(fmt.Sprintf("%g requests in flight", target), requestsInFlight, target)
	}
	for _, target := range []float64{.4, .5, .6, .7, .8} {
		f(fmt.Sprintf("processor %.0f %%", 100*target), busyShare, target)
	}
}
