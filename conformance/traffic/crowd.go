// Package traffic is a crowd of clients who know the right answer to every question they ask: they check every score, and keep what
// became of every request id, for the account that is settled with the server's records afterwards.
package traffic

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// Crowd asks Source's questions with Clients at once, each as fast as it is answered.
type Crowd struct {
	URL       string // of the proxy, without a path
	Model     string
	Source    Source
	Clients   int
	Seed      uint64
	Tolerance float64       // between a score and the expected one; 0: the same float32
	Leave     float64       // share of the requests whose client leaves before the answer
	Pause     time.Duration // after an answer that is not 200
	Fresh     bool          // a connection for each request
}

// Run asks until ctx ends; requests under way then are still answered.
func (c *Crowd) Run(ctx context.Context, t *Tally) {
	transport := &http.Transport{MaxIdleConnsPerHost: c.Clients, DisableKeepAlives: c.Fresh}
	defer transport.CloseIdleConnections()
	var clients sync.WaitGroup
	for i := range c.Clients {
		clients.Go(func() {
			random := rand.New(rand.NewPCG(c.Seed, uint64(i)))
			for n := 0; ctx.Err() == nil; n++ {
				id := fmt.Sprintf("s%d-c%d-%d", c.Seed, i, n)
				if c.ask(transport, t, id, random) != http.StatusOK {
					time.Sleep(c.Pause)
				}
			}
		})
	}
	clients.Wait()
}

const rankingPath = "/v1/ranking"

// answerTime is longer than any answer takes; a request without one by then is counted as unanswered.
const answerTime = 3 * time.Minute

// ask sends one request and returns the status of its answer, 0 if there was none.
func (c *Crowd) ask(transport http.RoundTripper, t *Tally, id string, random *rand.Rand) int {
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	if random.Float64() < c.Leave {
		time.AfterFunc(time.Duration(random.IntN(10))*time.Millisecond, cancel)
	}
	q := c.Source(random)
	status, err := c.exchange(ctx, transport, id, q)
	if ctx.Err() != nil {
		status = Left
	}
	t.note(id, status, err)
	return status
}

// exchange returns status Unanswered where no whole answer came, and an error where one came that is wrong.
func (c *Crowd) exchange(ctx context.Context, transport http.RoundTripper, id string, q *Question) (int, error) {
	body, err := q.body(c.Model)
	if err != nil {
		return 0, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL+rankingPath, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Request-ID", id)
	response, err := transport.RoundTrip(request)
	if err != nil {
		return Unanswered, nil
	}
	defer response.Body.Close()
	read, err := io.ReadAll(response.Body)
	if err != nil {
		return Unanswered, nil
	}
	return response.StatusCode, check(q, id, response, read, c.Tolerance)
}
