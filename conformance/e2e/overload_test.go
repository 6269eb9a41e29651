//go:build e2e

package e2e

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
)

// reply is what one request of an overload came to.
type reply struct {
	status int
	took   time.Duration
}

// offer sends requests at fixed moments, however long the answers take, and returns what came of them.
func offer(t *testing.T, url string, requests int, every time.Duration) []reply {
	t.Helper()
	replies := make([]reply, requests)
	var wg sync.WaitGroup
	start := time.Now()
	for i := range replies {
		time.Sleep(time.Until(start.Add(time.Duration(i) * every)))
		wg.Go(func() {
			sent := time.Now()
			status, _, err := tryRank(t.Context(), url, body(nullModel, fmt.Sprint(i), []string{"p"}, "END"))
			if err != nil {
				t.Error(err)
			}
			replies[i] = reply{status, time.Since(sent)}
		})
	}
	wg.Wait()
	return replies
}

// At three times what the Task can do, it goes on doing nearly all it can, and who cannot be served hears so at once. The figures are printed;
// what is asserted leaves room for a busy machine.
func TestOverload(t *testing.T) {
	const call, queue, seconds = 20 * time.Millisecond, 10, 8
	s := start(t, nullTask("--null-delay-ms", fmt.Sprint(call.Milliseconds()), "--null-queue", fmt.Sprint(queue)), nil)
	replies := offer(t, s.URL, 3*seconds*int(time.Second/call), call/3)
	took := make(map[int][]time.Duration)
	for _, r := range replies {
		took[r.status] = append(took[r.status], r.took)
	}
	for status, all := range took {
		slices.Sort(all)
		t.Logf("%d: %d requests, p50 %v, p99 %v", status, len(all), all[len(all)/2], all[len(all)*99/100])
	}
	possible := seconds * int(time.Second/call)
	t.Logf("goodput %.0f %% of what the Task can do; a full queue is %v", 100*float64(len(took[200]))/float64(possible), (queue+1)*call)
	if len(took[200])+len(took[429]) != len(replies) {
		t.Error("a request met another fate than 200 or 429")
	}
	if len(took[200]) < possible/2 {
		t.Errorf("%d requests served of the %d that the Task can do", len(took[200]), possible)
	}
	if len(took[429]) == 0 || took[429][len(took[429])/2] > took[200][len(took[200])/2] {
		t.Error("a refusal takes longer than an answer")
	}
}
