package run

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"

	"trtmc-ranking-proxy/conformance/assert"
	"trtmc-ranking-proxy/conformance/client"
	"trtmc-ranking-proxy/conformance/suite"
)

// step sends all calls of a step, then checks each answer, and keeps the exchanges for later comparison.
func (c *Config) step(ctx context.Context, s *suite.Step, checker *assert.Checker) (problems []string) {
	exchanges, errs := c.sendAll(ctx, s)
	checker.Earlier[s.Name] = exchanges
	for call, x := range exchanges {
		found := c.check(s, checker, x, errs[call], call)
		if s.Calls() > 1 {
			found = prefixed(fmt.Sprintf("call %d: ", call), found)
		}
		problems = append(problems, found...)
	}
	return problems
}

func (c *Config) check(s *suite.Step, checker *assert.Checker, x *assert.Exchange, err error, call int) []string {
	if err != nil {
		return []string{err.Error()}
	}
	found := checker.Check(&s.Expect, x, call)
	if s.Ours != nil && c.Profile == suite.ProfileOurs {
		found = append(found, checker.Check(s.Ours, x, call)...)
	}
	return found
}

func (c *Config) sendAll(ctx context.Context, s *suite.Step) ([]*assert.Exchange, []error) {
	ctx, cancel := context.WithCancel(ctx)
	crowd := c.startCrowd(ctx, s.Crowd)
	exchanges, errs := make([]*assert.Exchange, s.Calls()), make([]error, s.Calls())
	var next atomic.Int64
	var workers sync.WaitGroup
	for range max(s.Concurrent, 1) {
		workers.Go(func() {
			for call := int(next.Add(1)) - 1; call < len(exchanges); call = int(next.Add(1)) - 1 {
				exchanges[call], errs[call] = c.send(ctx, s, call)
			}
		})
	}
	workers.Wait()
	cancel()
	crowd.Wait()
	return exchanges, errs
}

// startCrowd keeps n other rankings of mixed size in flight until ctx ends. What becomes of them is not its concern.
func (c *Config) startCrowd(ctx context.Context, n int) *sync.WaitGroup {
	var crowd sync.WaitGroup
	for member := range n {
		rank := &suite.Rank{
			Query:    suite.Text{Rule: &suite.Rule{Words: 5 + member, Seed: 700, Vary: true}},
			Passages: []suite.Text{{Rule: &suite.Rule{Words: 6 + 12*(member%8), Count: 1 + member%7, Seed: 701, Vary: true}}},
			Truncate: "END",
		}
		crowd.Go(func() {
			for call := member; ctx.Err() == nil; call += n {
				if ranked, err := c.rankCall(rank, ranking(rank, call), call); err == nil {
					_, _ = c.Target.Do(ctx, ranked)
				}
			}
		})
	}
	return &crowd
}

func (c *Config) send(ctx context.Context, s *suite.Step, number int) (*assert.Exchange, error) {
	if s.Raw != nil {
		return c.sendRaw(ctx, s.Raw, number)
	}
	x := new(assert.Exchange)
	call, err := c.call(s, x, number)
	if err != nil {
		return x, err
	}
	call.Header = http.Header{}
	for name, v := range s.Headers {
		call.Header[http.CanonicalHeaderKey(name)] = []string{c.fill(v)}
	}
	if x.ID = call.Header.Get("X-Request-ID"); x.ID == "" && s.Expect.EchoID {
		x.ID = "conformance-" + uuid.NewString()
		call.Header.Set("X-Request-ID", x.ID)
	}
	x.Answer, err = c.Target.Do(ctx, call)
	return x, err
}

func (c *Config) call(s *suite.Step, x *assert.Exchange, number int) (*client.Call, error) {
	if s.Request != nil {
		return c.literalCall(s.Request, number)
	}
	x.Sent = ranking(s.Rank, number)
	return c.rankCall(s.Rank, x.Sent, number)
}

func (c *Config) sendRaw(ctx context.Context, r *suite.Raw, number int) (*assert.Exchange, error) {
	x := &assert.Exchange{Talk: new(client.Conversation)}
	chunks, err := c.rawChunks(r, number)
	if err != nil {
		return x, err
	}
	if r.Abandon {
		return x, c.Target.Abandon(ctx, chunks)
	}
	talk, err := c.Target.Raw(ctx, chunks, r.CloseWrite)
	if talk != nil {
		x.Talk = talk
		if len(talk.Answers) > 0 {
			x.Answer = talk.Answers[0]
		}
	}
	return x, err
}
