package telemetry

import (
	"maps"
	"slices"

	"trtmc-ranking-proxy/ipc"
)

// figure is a counter or gauge that a Task may send by name in a pong.
type figure struct {
	as   string  // exposed name behind ranking_task_; empty: the same
	per  float64 // what it is divided by for that
	help string
}

// counters and gauges that the Tasks of native/ send. The set is closed: a name that is not here makes no series.
var (
	counters = map[string]figure{
		// of every Task: its ipc server
		"connections_total":         {help: "Connections accepted by the Task."},
		"connections_refused_total": {help: "Connections refused by the Task."},
		"accept_errors_total":       {help: "Connections the Task could not accept, for lack of descriptors or memory."},
		"protocol_errors_total":     {help: "Connections the Task closed because of a protocol error."},
		"slow_readers_total":        {help: "Connections the Task closed because answers were not read."},
		"ranks_total":               {help: "Ranks read by the Task."},
		"rank_errors_total":         {help: "Ranks the Task answered with an error."},
		"answers_unsent_total":      {help: "Answers of the Task whose connection had gone."},

		// openvino
		"requests_total":        {help: "Ranks answered."},
		"pairs_total":           {help: "Pairs scored."},
		"tokens_total":          {help: "Tokens scored, padding excluded."},
		"padding_tokens_total":  {help: "Padding computed."},
		"batches_total":         {help: "Batches run."},
		"truncated_pairs_total": {help: "Pairs that were cut to the token limit."},
		"too_long_total":        {help: "Ranks refused for a pair over the token limit."},
		"rejected_busy_total":   {help: "Ranks refused because the queue was full."},
		"deadline_total":        {help: "Ranks whose deadline passed in the Task."},
		"cancelled_total":       {help: "Ranks cancelled in the Task."},
		"unavailable_total":     {help: "Ranks refused while draining or for lack of memory."},
		"failed_total":          {help: "Ranks that failed in the Task."},
		"rejected_total":        {help: "Ranks refused for any other rule of the Task."},

		// null
		"task_calls_total": {help: "Task calls made."},
		"task_pairs_total": {help: "Pairs scored by Task calls."},

		// trtmc
		"ranks_scored_total":      {help: "Ranks scored."},
		"ranks_invalid_total":     {help: "Ranks that broke a rule of the Task."},
		"ranks_too_long_total":    {help: "Ranks refused for a pair over the token limit."},
		"ranks_rejected_total":    {help: "Ranks refused by the model's own code."},
		"ranks_busy_total":        {help: "Ranks refused because the queue was full or the model held by another."},
		"ranks_unavailable_total": {help: "Ranks refused while draining or for lack of memory."},
		"ranks_late_total":        {help: "Ranks whose deadline passed in the Task."},
		"ranks_cancelled_total":   {help: "Ranks cancelled in the Task."},
		"ranks_failed_total":      {help: "Ranks that failed in the Task."},
		"runs_total":              {help: "Runs of the model."},
		"runs_failed_total":       {help: "Runs of the model that failed."},
		"run_pairs_total":         {help: "Pairs given to runs of the model."},
		"run_us_total":            {as: "run_seconds_total", per: 1e6, help: "Time spent in runs of the model."},
	}
	gauges = map[string]figure{
		"resident_bytes": {help: "Resident memory of the Task."},
		"threads":        {help: "Operating system threads of the Task."},
		"open_fds":       {help: "Open file descriptors of the Task."},
		"replicas":       {help: "Copies of the model that run side by side."},
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
func named(kind string, figures map[string]figure, of func(*ipc.Pong) map[string]uint64) (out []family) {
	for _, key := range slices.Sorted(maps.Keys(figures)) {
		f := figures[key]
		name, per := taskPrefix+key, 1.0
		if f.as != "" {
			name, per = taskPrefix+f.as, f.per
		}
		help[name] = f.help
		out = append(out, family{name, kind, func(_ *Task, p *ipc.Pong) (float64, bool) {
			if p == nil {
				return 0, false
			}
			value, sent := of(p)[key]
			return float64(value) / per, sent
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
