//go:build e2e

package e2e

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"trtmc-ranking-proxy/ipc"
)

var (
	memoryRequests = flag.Int("memory-requests", 1500, "requests of TestTaskMemoryStaysFlat; with 10000 it takes several minutes")
	memoryPassages = flag.Int("memory-passages", 12, "most passages of such a request")
)

// Requests of every shape leave nothing behind in the Task: it stays below a bound, and flat once every shape of batch has been met.
func TestTaskMemoryStaysFlat(t *testing.T) {
	const (
		bound  = 500 << 20 // resident bytes
		growth = 16 << 20  // in the second half: 20 KiB a request at the default number
	)
	conn := dialTask(t, start(t, defaultModel(t), nil).Socket)
	var after [4]uint64 // each quarter
	for quarter := range after {
		rankShapes(t, conn, *memoryRequests/len(after), uint64(quarter))
		after[quarter] = residentBytes(t, conn)
		t.Logf("after %d of %d requests: %d MiB", (quarter+1)**memoryRequests/len(after), *memoryRequests, after[quarter]>>20)
	}
	if peak := slices.Max(after[:]); peak > bound {
		t.Errorf("%d MiB are more than %d", peak>>20, bound>>20)
	}
	if after[3] > after[1]+growth {
		t.Errorf("%d MiB after half of the requests, %d at the end", after[1]>>20, after[3]>>20)
	}
}

func dialTask(t *testing.T, socket string) *ipc.Conn {
	t.Helper()
	conn, err := ipc.Dial(t.Context(), socket, "e2e/1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func residentBytes(t *testing.T, conn *ipc.Conn) uint64 {
	t.Helper()
	pong, err := conn.Ping(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return pong.Gauges["resident_bytes"]
}

// rankShapes sends so many requests of random shapes, four at a time.
func rankShapes(t *testing.T, conn *ipc.Conn, requests int, seed uint64) {
	t.Helper()
	const inFlight = 4
	var wg sync.WaitGroup
	for worker := range inFlight {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(worker)))
			for i := worker; i < requests; i += inFlight {
				request := randomShape(random, fmt.Sprintf("shape-%d-%d", seed, i))
				if _, err := conn.Rank(t.Context(), request); err != nil {
					t.Errorf("%s: %v", request.ID, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// randomShape has 1 to memoryPassages passages, mostly short; one in a hundred passages is over the token limit.
func randomShape(random *rand.Rand, id string) *ipc.Rank {
	text := func(words int) string { return strings.Repeat("apple ", words) + fmt.Sprint(random.Uint32()) }
	r := &ipc.Rank{ID: id, Query: text(1 + random.IntN(6)), Truncate: ipc.TruncateEnd}
	if random.IntN(2) == 0 {
		r.Truncate = ipc.TruncateStart
	}
	for range 1 + random.IntN(*memoryPassages) {
		words := 1 + random.IntN(24)
		if random.IntN(100) == 0 {
			words = 600
		}
		r.Passages = append(r.Passages, text(words))
	}
	return r
}
