package accounting

import "trtmc-ranking-proxy/conformance/qualify/gate"

// Step names these gates.
const Step = "AIPerf and its accounts"

// Gates judges a run: everything planned was sent, matched, answered and equal.
func (a *Account) Gates() []gate.Gate {
	name := func(what string) string { return what + " (" + a.Load.Name() + ")" }
	return []gate.Gate{
		gate.Exactly(Step, name("requests measured"), a.Load.Requests, a.Profiled),
		gate.Exactly(Step, name("warm-up requests"), a.Load.Warmup, a.Warmup),
		gate.Exactly(Step, name("records"), a.Load.Requests+a.Load.Warmup, a.Recorded),
		gate.None(Step, name("unmatched ids"), len(a.Unmatched)),
		gate.None(Step, name("failed requests"), len(a.Failures)),
		gate.None(Step, name("answers that differ from the Task's"), len(a.Different)),
		gate.Exactly(Step, name("answers equal to the Task's"), a.Load.Requests+a.Load.Warmup, a.Compared),
		gate.None(Step, name("clocks out of order"), len(a.Disorder)),
	}
}
