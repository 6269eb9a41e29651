package main

import "math"

// autoscaler follows the rule of Kubernetes' HorizontalPodAutoscaler: pods := ceil(pods * metric / target), left alone within a tenth of the
// target, up at once (to at most double), down only to the highest wish of the last minutes.
type autoscaler struct {
	target    float64                                // of the metric
	metric    func(pods []*pod, now float64) float64 // mean over the pods
	least     int
	interval  float64 // between looks
	downAfter float64

	wishes     []wish
	podSeconds float64
}

type wish struct {
	at   float64
	pods int
}

// requestsInFlight is the mean of ranking_proxy_requests_in_flight.
func requestsInFlight(pods []*pod, now float64) float64 {
	sum := 0
	for _, p := range pods {
		sum += p.inFlight(now)
	}
	return float64(sum) / float64(len(pods))
}

// busyShare is the mean processor use of the Tasks: a Task with work uses all it has.
func busyShare(pods []*pod, now float64) float64 {
	busy := 0
	for _, p := range pods {
		if p.free > now {
			busy++
		}
	}
	return float64(busy) / float64(len(pods))
}

func (a *autoscaler) look(p *Parameters, now float64, pods []*pod) []*pod {
	if a.wishes == nil {
		a.wishes = []wish{{now, len(pods)}} // as the real one, it does not shrink before it has looked for a while
	}
	a.podSeconds += float64(len(pods)) * a.interval
	wanted := a.wanted(now, pods)
	for len(pods) < wanted {
		pods = append(pods, &pod{dead: now + p.Pod.StartSeconds})
	}
	return pods[:wanted] // what the last ones hold is finished by their drain, and counted already
}

func (a *autoscaler) wanted(now float64, pods []*pod) int {
	wanted := len(pods)
	if ratio := a.metric(pods, now) / a.target; math.Abs(ratio-1) > 0.1 {
		wanted = int(math.Ceil(float64(len(pods)) * ratio))
	}
	wanted = max(a.least, min(wanted, 2*len(pods)))
	a.wishes = append(a.wishes, wish{now, wanted})
	for a.wishes[0].at < now-a.downAfter {
		a.wishes = a.wishes[1:]
	}
	if wanted >= len(pods) {
		return wanted
	}
	for _, w := range a.wishes {
		wanted = max(wanted, w.pods)
	}
	return min(wanted, len(pods))
}
