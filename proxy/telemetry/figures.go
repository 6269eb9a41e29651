package telemetry

import (
	"maps"
	"slices"
	"strings"

	"trtmc-ranking-proxy/ipc"
)

// counters and gauges that a Task may send by name in a pong, with their help: the closed lists of ipc/PROTOCOL.md, section 9. A name that is
// not here makes no series.
var (
	counters = map[string]string{
		"connections_total":         "Connections accepted by the Task.",
		"connections_refused_total": "Connections refused by the Task.",
		"accept_errors_total":       "Connections the Task could not accept, for lack of descriptors or memory.",
		"protocol_errors_total":     "Connections the Task closed because of a protocol error.",
		"slow_readers_total":        "Connections the Task closed because answers were not read.",

		"ranks_total":                          "Ranks that have arrived at the Task.",
		"ranks_ok_total":                       "Ranks answered with scores.",
		"ranks_invalid_request_total":          "Ranks that broke a rule of the Task.",
		"ranks_input_too_long_total":           "Ranks refused for a pair over the token limit.",
		"ranks_backend_rejected_request_total": "Ranks refused by the model's own code.",
		"ranks_server_busy_total":              "Ranks refused because the queue was full or the model held by another.",
		"ranks_backend_unavailable_total":      "Ranks refused while draining or for lack of memory.",
		"ranks_backend_failed_total":           "Ranks that failed in the Task.",
		"ranks_deadline_exceeded_total":        "Ranks whose deadline passed in the Task.",
		"ranks_cancelled_total":                "Ranks cancelled in the Task.",
		"answers_unsent_total":                 "Ranks of the Task whose connection had gone before their answer.",

		"calls_total":           "Task calls: batches, or runs of the model.",
		"calls_failed_total":    "Task calls that left a pair without a score.",
		"pairs_total":           "Pairs given to Task calls.",
		"tokens_total":          "Tokens of those pairs, padding excluded.",
		"padding_tokens_total":  "Padding computed.",
		"truncated_pairs_total": "Pairs that were cut to the token limit.",

		"cpu_us_total": "Processor time of the Task, user and system.",
	}
	gauges = map[string]string{
		"resident_bytes": "Resident memory of the Task.",
		"threads":        "Operating system threads of the Task.",
		"open_fds":       "Open file descriptors of the Task.",
		"replicas":       "Copies of the model that run side by side.",
	}
)

const taskPrefix = "ranking_task_"

// families are all metrics of a Task but its histograms, in the order of the page.
var families = slices.Concat(
	[]family{
		{"ranking_task_up", "gauge", func(t *Task, _ *ipc.Pong) (float64, bool) { return one(t.up.Load()), true }},
		ofPong("oldest_call_seconds", func(p *ipc.Pong) float64 { return float64(p.OldestCallMS) / 1e3 }),
		ofPong("queued_requests", func(p *ipc.Pong) float64 { return float64(p.QueuedRequests) }),
		ofPong("queued_pairs", func(p *ipc.Pong) float64 { return float64(p.QueuedPairs) }),
		ofPong("queued_tokens", func(p *ipc.Pong) float64 { return float64(p.QueuedTokens) }),
		ofPong("queued_tokens_max", func(p *ipc.Pong) float64 { return float64(p.QueuedTokensMax) }),
		ofPong("running_batches", func(p *ipc.Pong) float64 { return float64(p.RunningBatches) }),
		{"ranking_task_padding_ratio", "gauge", paddingRatio},
	},
	named("counter", counters, func(p *ipc.Pong) map[string]uint64 { return p.Counters }),
	named("gauge", gauges, func(p *ipc.Pong) map[string]uint64 { return p.Gauges }),
)

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// ofPong is a gauge that every pong has.
func ofPong(name string, value func(*ipc.Pong) float64) family {
	return family{taskPrefix + name, "gauge", func(_ *Task, p *ipc.Pong) (float64, bool) {
		if p == nil {
			return 0, false
		}
		return value(p), true
	}}
}

// named are the families of figures sent by name.
func named(kind string, figures map[string]string, of func(*ipc.Pong) map[string]uint64) (out []family) {
	for _, key := range slices.Sorted(maps.Keys(figures)) {
		name, unit := taskPrefix+key, 1.0
		if base, micro := strings.CutSuffix(key, "_us_total"); micro {
			name, unit = taskPrefix+base+"_seconds_total", 1e6
		}
		help[name] = figures[key]
		out = append(out, family{name, kind, func(_ *Task, p *ipc.Pong) (float64, bool) {
			if p == nil {
				return 0, false
			}
			value, sent := of(p)[key]
			return float64(value) / unit, sent
		}})
	}
	return out
}

func paddingRatio(_ *Task, p *ipc.Pong) (float64, bool) {
	if p == nil {
		return 0, false
	}
	tokens, counted := p.Counters["tokens_total"]
	padding := p.Counters["padding_tokens_total"]
	if !counted || tokens+padding == 0 {
		return 0, counted
	}
	return float64(padding) / float64(tokens+padding), true
}
