package accounting

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"trtmc-ranking-proxy/conformance/qualify/aiperf"
	"trtmc-ranking-proxy/conformance/qualify/parity"
)

// Case is a pinned request with the answer the Task gave to it directly.
type Case struct {
	Request parity.Request
	Native  parity.Answer
}

// Expected is what one run is held to.
type Expected struct {
	Load         aiperf.Load
	Cases        []Case
	BundleDigest string // that every record must name
}

// Account is one run of AIPerf, fully accounted for. All lists are empty and the counts as planned if nothing was wrong.
type Account struct {
	Load      aiperf.Load `json:"load"`
	Profiled  int         `json:"profiled"`  // exported as measured
	Warmup    int         `json:"warmup"`    // exported as warm-up, measured nowhere
	Recorded  int         `json:"recorded"`  // lines of the proxy
	Matched   int         `json:"matched"`   // ids on both sides, warm-up included
	Compared  int         `json:"compared"`  // answers equal to the Task's own, warm-up included
	Unmatched []Finding   `json:"unmatched"` // on one side only, or twice on one
	Different []Finding   `json:"different"` // another request or answer than the pinned one
	Disorder  []Finding   `json:"disorder"`  // clocks that are not nested
	Failures  []Finding   `json:"failures"`  // requests that were not answered with scores
	Requests  []Request   `json:"-"`
}

// Finding is a request and what is wrong with it.
type Finding struct {
	ID      string `json:"id"`
	Problem string `json:"problem"`
}

// Join accounts for every exported exchange and every record.
func Join(exported []aiperf.Exchange, records []Record, expected *Expected) *Account {
	a := &Account{
		Load: expected.Load, Recorded: len(records),
		Unmatched: []Finding{}, Different: []Finding{}, Disorder: []Finding{}, Failures: []Finding{},
	}
	byID := a.index(records)
	cases := caseIndex(expected.Cases)
	seen := map[string]bool{}
	for i := range exported {
		e := &exported[i]
		a.count(e)
		record, found := byID[e.ID]
		switch {
		case seen[e.ID]:
			a.unmatched(e.ID, "exported twice")
		case !found:
			a.unmatched(e.ID, "exported, and not in the proxy's records")
		default:
			a.Matched++
			a.take(e, record, cases, expected)
		}
		seen[e.ID] = true
	}
	for i := range records {
		if !seen[records[i].ID] {
			a.unmatched(records[i].ID, "in the proxy's records, and not exported")
		}
	}
	return a
}

func (a *Account) index(records []Record) map[string]*Record {
	byID := make(map[string]*Record, len(records))
	for i := range records {
		if id := records[i].ID; byID[id] != nil {
			a.unmatched(id, "recorded twice")
		}
		byID[records[i].ID] = &records[i]
	}
	return byID
}

func (a *Account) count(e *aiperf.Exchange) {
	if e.Warmup {
		a.Warmup++
	} else {
		a.Profiled++
	}
}

func (a *Account) unmatched(id, problem string) {
	a.Unmatched = append(a.Unmatched, Finding{id, problem})
}

// take compares one matched request with what was pinned, and keeps its clocks.
func (a *Account) take(e *aiperf.Exchange, r *Record, cases map[string]int, expected *Expected) {
	key := textsKey(e.Query, e.Passages)
	number, pinned := cases[key]
	request := newRequest(a.Load.Name(), e, r, number)
	if !pinned || key != r.Observation.QuerySHA256+r.Observation.PassagesSHA256 {
		a.Different = append(a.Different, Finding{e.ID, "the texts sent are not the pinned ones, or not those the proxy recorded"})
		request.Case = -1
	} else if failure := failed(e, r); failure != "" {
		a.Failures = append(a.Failures, Finding{e.ID, failure})
	} else if difference := compare(e, r, &expected.Cases[number], expected.BundleDigest); difference != "" {
		a.Different = append(a.Different, Finding{e.ID, difference})
	} else {
		a.Compared++
	}
	if disorder := request.disorder(); disorder != "" {
		a.Disorder = append(a.Disorder, Finding{e.ID, disorder})
	}
	a.Requests = append(a.Requests, request)
}

func failed(e *aiperf.Exchange, r *Record) string {
	if e.Status == 200 && e.Failure == "" && r.Outcome == parity.OK && r.Status == 200 {
		return ""
	}
	return fmt.Sprintf("client: status %d %s; proxy: status %d %s %s", e.Status, e.Failure, r.Status, r.Outcome, r.Reason)
}

// compare holds the answer that the client got, and the one the proxy recorded, against the Task's own.
func compare(e *aiperf.Exchange, r *Record, c *Case, digest string) string {
	if r.Task.BundleDigest != digest {
		return fmt.Sprintf("scored by the bundle %q", r.Task.BundleDigest)
	}
	got, err := parity.ReadAnswer(e.Status, e.Body, len(c.Request.Passages))
	if err != nil {
		return err.Error()
	}
	if difference := parity.Difference(&c.Native, got); difference != "" {
		return "client: " + difference
	}
	recorded := parity.Answer{Kind: r.Outcome, Status: r.Status, Scores: r.Observation.Scores, Order: r.Observation.Order}
	if difference := parity.Difference(&c.Native, &recorded); difference != "" {
		return "record: " + difference
	}
	return ""
}

func caseIndex(cases []Case) map[string]int {
	index := make(map[string]int, len(cases))
	for i := range cases {
		index[textsKey(cases[i].Request.Query, cases[i].Request.Passages)] = i
	}
	return index
}

// textsKey identifies a request's texts as the proxy's records do: SHA-256 of the query, and of the passages' own SHA-256 in order.
func textsKey(query string, passages []string) string {
	var all []byte
	for _, p := range passages {
		sum := sha256.Sum256([]byte(p))
		all = append(all, sum[:]...)
	}
	q, p := sha256.Sum256([]byte(query)), sha256.Sum256(all)
	return hex.EncodeToString(q[:]) + hex.EncodeToString(p[:])
}
