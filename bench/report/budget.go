package report

// Budget is where the mean time of a request went, from the stages that our proxy puts into Server-Timing: handler holds parse, ipc (the round
// trip to the Task) and render; ipc holds queue (admission to first batch start) and model (the Task call); queue holds tokenize, if the Task tells.
// Means are used because they add up. Results without these stages are left out.
func Budget(results []Result) *Table {
	t := &Table{Header: []string{
		"server", "workload", "load", "client ms", "HTTP and network", "parse", "check, sort", "ipc: socket and frames", "queue", "tokenize", "Task call", "render",
	}}
	for i := range results {
		r := &results[i]
		stage := func(name string) float64 { return r.Stages[name].Mean }
		if stage("handler") == 0 {
			continue
		}
		t.Add(r.Server, r.Workload, r.Load(), r.Latency.Mean,
			r.Latency.Mean-stage("handler"), stage("parse"), stage("handler")-stage("parse")-stage("ipc")-stage("render"),
			stage("ipc")-stage("queue")-stage("model"), stage("queue")-stage("tokenize"), orDash(stage("tokenize")), stage("model"), stage("render"))
	}
	return t
}
