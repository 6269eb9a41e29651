package accounting

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"trtmc-ranking-proxy/conformance/qualify/aiperf"
	"trtmc-ranking-proxy/conformance/qualify/gate"
	"trtmc-ranking-proxy/conformance/qualify/parity"
)

const digest = "sha256:0a"

// run is an honest run of four requests and a warm-up over two cases; each test spoils it in one way.
type run struct {
	exported []aiperf.Exchange
	records  []Record
	expected Expected
}

func honest() *run {
	r := &run{expected: Expected{Load: aiperf.Load{Concurrency: 2, Requests: 4, Warmup: 1}, BundleDigest: digest}}
	for i := range 2 {
		r.expected.Cases = append(r.expected.Cases, Case{
			Request: parity.Request{Query: fmt.Sprintf("q%d", i), Passages: []string{"a", "b", fmt.Sprint(i)}},
			Native:  parity.Answer{Kind: parity.OK, Status: 200, Scores: []float32{1.1, 3.3, 2.2 + float32(i)}, Order: []int{1, 2, 0}},
		})
	}
	for i := range 5 {
		r.add(i, i == 0)
	}
	return r
}

func (r *run) add(i int, warmup bool) {
	c := &r.expected.Cases[i%2]
	id, start := fmt.Sprintf("id-%d", i), time.UnixMilli(int64(1000+100*i))
	r.exported = append(r.exported, aiperf.Exchange{
		ID: id, Warmup: warmup, Query: c.Request.Query, Passages: c.Request.Passages, Start: start, End: start.Add(50 * time.Millisecond),
		Latency: 40 * time.Millisecond, Status: 200, Body: body(&c.Native),
	})
	var record Record
	record.ID, record.Status, record.Outcome, record.Task.BundleDigest = id, 200, "ok", digest
	record.Timing.Handler, record.Timing.IPC, record.Timing.Queue, record.Timing.Call = 30_000, 25_000, 5_000, 20_000
	key := textsKey(c.Request.Query, c.Request.Passages)
	record.Observation.QuerySHA256, record.Observation.PassagesSHA256 = key[:64], key[64:]
	record.Observation.Scores, record.Observation.Order = slices.Clone(c.Native.Scores), slices.Clone(c.Native.Order)
	r.records = append(r.records, record)
}

func body(a *parity.Answer) []byte {
	var rankings []map[string]any
	for _, i := range a.Order {
		rankings = append(rankings, map[string]any{"index": i, "logit": a.Scores[i]})
	}
	data, _ := json.Marshal(map[string]any{"rankings": rankings})
	return data
}

func TestAnHonestRunPasses(t *testing.T) {
	r := honest()
	a := Join(r.exported, r.records, &r.expected)
	if failed := gate.Failed(a.Gates()); len(failed) > 0 || a.Compared != 5 || a.Warmup != 1 || len(a.Requests) != 5 {
		t.Errorf("%v: %+v", failed, a)
	}
	if f := NewFigures(r.expected.Load.Name(), a.Requests); f.Requests != 4 || f.Client.P50 != 40 || f.Call.P50 != 20 || f.PassagesPerS == 0 {
		t.Errorf("figures %+v", f)
	}
}

func TestEveryCheatIsCaught(t *testing.T) {
	f := func(name, failing, finding string, spoil func(*run)) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			r := honest()
			spoil(r)
			a := Join(r.exported, r.records, &r.expected)
			var names []string
			for _, g := range gate.Failed(a.Gates()) {
				names = append(names, g.Name)
			}
			if !strings.Contains(strings.Join(names, "; "), failing) {
				t.Errorf("the gate %q passed; failed: %v", failing, names)
			}
			found, _ := json.Marshal(a)
			if !strings.Contains(string(found), finding) {
				t.Errorf("no finding %q in %s", finding, found)
			}
		})
	}
	second := func(change func(*aiperf.Exchange, *Record)) func(*run) {
		return func(r *run) { change(&r.exported[2], &r.records[2]) }
	}
	f("a record dropped", "unmatched ids", "id-2", func(r *run) { r.records = slices.Delete(r.records, 2, 3) })
	f("a record dropped and another doubled", "unmatched ids", "recorded twice", func(r *run) { r.records[2] = r.records[1] })
	f("an export dropped", "unmatched ids", "id-3", func(r *run) { r.exported = slices.Delete(r.exported, 3, 4) })
	f("an export dropped and another doubled", "unmatched ids", "exported twice", func(r *run) { r.exported[3] = r.exported[4] })
	f("both sides dropped", "requests measured", "", func(r *run) { r.exported, r.records = r.exported[:4], r.records[:4] })
	f("another id", "unmatched ids", "id-other", func(r *run) { r.records[1].ID = "id-other" })
	f("a request too many", "records", "id-extra", func(r *run) { r.records = append(r.records, Record{ID: "id-extra"}) })
	f("warm-up measured", "warm-up requests", "", func(r *run) { r.exported[0].Warmup = false })
	f("measured called warm-up", "requests measured", "", func(r *run) { r.exported[1].Warmup = true })
	f("two scores swapped", "answers that differ", "client: passage 0", second(func(e *aiperf.Exchange, r *Record) {
		e.Body = body(&parity.Answer{Scores: []float32{3.3, 1.1, 2.2}, Order: []int{0, 2, 1}})
	}))
	f("a bit changed", "answers that differ", "client: passage 2", second(func(e *aiperf.Exchange, r *Record) {
		e.Body = body(&parity.Answer{Scores: []float32{1.1, 3.3, math.Nextafter32(2.2, 3)}, Order: []int{1, 2, 0}})
	}))
	f("a bit changed in the record", "answers that differ", "record: passage 2", second(func(_ *aiperf.Exchange, r *Record) {
		r.Observation.Scores[2] = math.Nextafter32(2.2, 3)
	}))
	f("the order changed", "answers that differ", "client: the order", second(func(e *aiperf.Exchange, _ *Record) {
		e.Body = body(&parity.Answer{Scores: []float32{1.1, 3.3, 2.2}, Order: []int{1, 0, 2}})
	}))
	f("a passage left out of the answer", "answers that differ", "2 rankings for 3", second(func(e *aiperf.Exchange, _ *Record) {
		e.Body = body(&parity.Answer{Scores: []float32{1.1, 3.3, 2.2}, Order: []int{1, 2}})
	}))
	f("the answer of another case", "answers that differ", "client: passage 2", second(func(e *aiperf.Exchange, _ *Record) {
		e.Body = body(&parity.Answer{Scores: []float32{1.1, 3.3, 3.2}, Order: []int{1, 2, 0}})
	}))
	f("other texts", "answers that differ", "not the pinned", second(func(e *aiperf.Exchange, _ *Record) { e.Query = "easier" }))
	f("other texts at the proxy", "answers that differ", "not those the proxy", second(func(_ *aiperf.Exchange, r *Record) {
		r.Observation.PassagesSHA256 = strings.Repeat("0", 64)
	}))
	f("another bundle", "answers that differ", "scored by the bundle", second(func(_ *aiperf.Exchange, r *Record) { r.Task.BundleDigest = "sha256:0b" }))
	f("a failure", "failed requests", "server_busy", second(func(e *aiperf.Exchange, r *Record) {
		e.Status, e.Failure, r.Status, r.Outcome = 429, "429", 429, "server_busy"
	}))
	f("a failure on one side", "failed requests", "client_closed", second(func(_ *aiperf.Exchange, r *Record) { r.Status, r.Outcome = 499, "client_closed" }))
	f("a failure left out of the count", "answers equal to the Task's", "", second(func(e *aiperf.Exchange, _ *Record) { e.Status = 500 }))
	f("a Task time that cannot be", "clocks out of order", "not each within", second(func(_ *aiperf.Exchange, r *Record) { r.Timing.Call = 31_000 }))
	f("a client faster than the server", "clocks out of order", "not each within", second(func(e *aiperf.Exchange, _ *Record) { e.Latency = time.Millisecond }))
}
