package parity

import (
	"fmt"
	"slices"
	"strings"

	"trtmc-ranking-proxy/ipc"
)

// Edges are rankings at the limits of what this Task takes, which must be scored alike.
func Edges(w *ipc.Welcome) []Request {
	const query = "which boat carries hay to the island"
	ferry, market := "A flat ferry takes hay and sheep across at high water.", "The market sells cheese on Fridays."
	all := []Request{
		{"one passage", query, []string{ferry}, ipc.TruncateNone},
		{"equal passages", query, []string{ferry, market, ferry, market, ferry}, ipc.TruncateNone},
		{"any script", "où est le 渡し船 🚣", []string{"Паром ходит утром.", "ναῦς ἐπὶ πόντον", "渡し船は朝に出る。", "e\u0301tat \u2028 \u00a0 ok"}, ipc.TruncateNone},
		{"every passage allowed", query, numbered(market, min(int(w.MaxPassages), mostPassages)), ipc.TruncateEnd},
	}
	if w.MaxTokens > 0 {
		all = append(all, Request{"cut at the end", query, []string{tooLong(w), ferry, tooLong(w) + market}, ipc.TruncateEnd})
	}
	return all
}

// Rejected are rankings that no Task takes. Those of the double's faults show every code; any other model would score their words.
func Rejected(w *ipc.Welcome, double bool) []Request {
	const query, passage = "which boat carries hay", "A flat ferry takes hay across."
	all := []Request{
		{"no passages", query, nil, ipc.TruncateNone},
		{"a passage too many", query, numbered(passage, int(w.MaxPassages)+1), ipc.TruncateEnd},
	}
	if w.MaxTokens > 0 {
		all = append(all,
			Request{"a passage too long", query, []string{passage, tooLong(w)}, ipc.TruncateNone},
			Request{"a query too long", tooLong(w), []string{passage}, ipc.TruncateNone})
	}
	if double {
		for _, fault := range doubleFaults {
			all = append(all, Request{"fault " + fault, query, []string{passage, "double:" + fault}, ipc.TruncateNone})
		}
	}
	return all
}

// doubleFaults are of native/tests/trtmc_double/README.md: every status and every answer that breaks the rules.
var doubleFaults = []string{
	"status=1", "status=2", "status=3", "status=4", "status=5", "status=6", "status=7", "status=8",
	"silent=1", "view=6", "count=1", "count=-1", "nan", "inf", "kind=2", "nothing", "binary",
}

// mostPassages is the proxy's own cap by default.
const mostPassages = 512

func numbered(text string, n int) []string {
	all := slices.Repeat([]string{text}, n)
	for i := range all {
		all[i] = fmt.Sprintf("%s %d", text, i)
	}
	return all
}

// tooLong has more words, and so more tokens, than a pair may have.
func tooLong(w *ipc.Welcome) string { return strings.Repeat("water ", int(w.MaxTokens)+1) }
