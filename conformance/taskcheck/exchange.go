package taskcheck

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"trtmc-ranking-proxy/ipc"
)

// collect reads one fitting answer for each open rank, in any order, and then silence.
func collect(s *session, open map[uint64]*ipc.Rank) error {
	for len(open) > 0 {
		got, err := s.next()
		if err != nil {
			return fmt.Errorf("%d ranks without an answer: %w", len(open), err)
		}
		r, ok := open[got.exchange]
		if !ok {
			return fmt.Errorf("%s, which is not open", describe(got))
		}
		if err := fits(got, got.exchange, r); err != nil {
			return err
		}
		delete(open, got.exchange)
	}
	return s.silent()
}

// flood opens n ranks of mixed size.
func flood(s *session, n int) (map[uint64]*ipc.Rank, error) {
	open := map[uint64]*ipc.Rank{}
	for exchange := uint64(1); exchange <= uint64(n); exchange++ {
		open[exchange] = rank(fmt.Sprint("flood", exchange), many(1+int(exchange)%6, 5*int(exchange%9))...)
		if err := s.send(exchange, open[exchange]); err != nil {
			return nil, err
		}
	}
	return open, nil
}

var oneAnswerEach = onSession(func(s *session, _ *ipc.Welcome) error {
	open, err := flood(s, 64)
	if err != nil {
		return err
	}
	return collect(s, open)
})

var pingWhileRanking = onSession(func(s *session, _ *ipc.Welcome) error {
	open, err := flood(s, 16)
	if err != nil {
		return err
	}
	if err := s.send(100, &ipc.Ping{}); err != nil {
		return err
	}
	for ponged := false; !ponged; {
		got, err := s.next()
		if err != nil {
			return fmt.Errorf("no pong: %w", err)
		}
		if _, ponged = got.message.(*ipc.Pong); ponged && got.exchange != 100 {
			return fmt.Errorf("%s instead of exchange 100", describe(got))
		}
		if !ponged {
			delete(open, got.exchange)
		}
	}
	return collect(s, open)
})

// buckets are the counts of PROTOCOL.md, section 9, with +Inf.
var buckets = map[string]int{"batch_pairs": 9, "batch_tokens": 10, "call_us": 15}

var pongIsPlausible = onSession(func(s *session, _ *ipc.Welcome) error {
	if _, err := scored(s, 1, rank("before", "p")); err != nil {
		return err
	}
	if err := s.send(2, &ipc.Ping{}); err != nil {
		return err
	}
	got, err := s.next()
	if err != nil {
		return err
	}
	pong, ok := got.message.(*ipc.Pong)
	if !ok || !pong.Ready {
		return fmt.Errorf("%s, want a pong that is ready", describe(got))
	}
	for name, counts := range pong.Histograms {
		if want := buckets[name]; want != 0 && len(counts) != want {
			return fmt.Errorf("histogram %s has %d counts, want %d", name, len(counts), want)
		}
		if !slices.IsSorted(counts) {
			return fmt.Errorf("histogram %s is not cumulative: %v", name, counts)
		}
	}
	return nil
})

var cancelIsAnswered = onSession(func(s *session, _ *ipc.Welcome) error {
	open, err := flood(s, 24)
	if err != nil {
		return err
	}
	for exchange := range open {
		if err := s.send(exchange, &ipc.Cancel{}); err != nil {
			return err
		}
	}
	return collect(s, open)
})

var cancelOfNothing = onSession(func(s *session, _ *ipc.Welcome) error {
	if _, err := scored(s, 1, rank("done", "p")); err != nil {
		return err
	}
	if err := errors.Join(s.send(1, &ipc.Cancel{}), s.send(77, &ipc.Cancel{})); err != nil {
		return err
	}
	_, err := scored(s, 2, rank("next", "p"))
	return err
})

// deadlineIsAnswered puts ranks of a millisecond behind others: each is answered, in time or with deadline_exceeded.
var deadlineIsAnswered = onSession(func(s *session, _ *ipc.Welcome) error {
	open, err := flood(s, 8)
	if err != nil {
		return err
	}
	for exchange := uint64(9); exchange <= 16; exchange++ {
		late := rank(fmt.Sprint("late", exchange), many(6, 30)...)
		late.DeadlineMS = 1
		open[exchange] = late
		if err := s.send(exchange, late); err != nil {
			return err
		}
	}
	return collect(s, open)
})

func connectionsAreApart(socket string) error {
	one, _, err := greeted(socket)
	if err != nil {
		return err
	}
	defer one.close()
	two, _, err := greeted(socket)
	if err != nil {
		return err
	}
	defer two.close()
	first, second := rank("one", "p"), rank("two", "r", "s")
	if err := errors.Join(one.send(1, first), two.send(1, second), one.send(1_000_000, &ipc.Cancel{})); err != nil {
		return err
	}
	return errors.Join(collect(one, map[uint64]*ipc.Rank{1: first}), collect(two, map[uint64]*ipc.Rank{1: second}))
}

var timesArePlausible = onSession(func(s *session, _ *ipc.Welcome) error {
	start := time.Now()
	scores, err := scored(s, 1, rank("timed", many(8, 30)...))
	if err != nil {
		return err
	}
	waited := uint64(time.Since(start).Microseconds())
	if parts := scores.QueueUS + scores.PublicTaskCallWallUS; parts > waited {
		return fmt.Errorf("queue and call make %d us, the client waited %d us", parts, waited)
	}
	if scores.TokenizeUS > scores.QueueUS {
		return fmt.Errorf("tokenize_us %d is more than queue_us %d, whose part it is", scores.TokenizeUS, scores.QueueUS)
	}
	return nil
})

var tokensAddUp = onSession(func(s *session, w *ipc.Welcome) error {
	scores, err := scored(s, 1, rank("counted", "short", strings.Repeat("longer ", 20)))
	if err != nil {
		return err
	}
	switch {
	case scores.HasTokens != (w.MaxTokens > 0):
		return fmt.Errorf("max_tokens is %d, pair_tokens present: %t", w.MaxTokens, scores.HasTokens)
	case scores.HasTokens && (scores.PairTokens[0] == 0 || scores.PairTokens[0] >= scores.PairTokens[1]):
		return fmt.Errorf("pair_tokens %v for a short and a longer passage", scores.PairTokens)
	}
	return nil
})

var limitIsExact = onSession(func(s *session, w *ipc.Welcome) error {
	if w.MaxTokens == 0 {
		return notApplicable("this Task does not count tokens")
	}
	long := rank("long", "p", strings.Repeat("otter ", int(w.MaxTokens)+1))
	scores, err := scored(s, 1, long)
	if err != nil {
		return err
	}
	if scores.PairTokens[1] != w.MaxTokens || scores.Truncated != 1 {
		return fmt.Errorf("END: %d tokens, %d truncated, want %d and 1", scores.PairTokens[1], scores.Truncated, w.MaxTokens)
	}
	long.Truncate = ipc.TruncateNone
	if err := s.send(2, long); err != nil {
		return err
	}
	got, err := s.next()
	if err != nil {
		return err
	}
	return namesTheLimit(got, w.MaxTokens)
})

func namesTheLimit(got *reply, limit uint32) error {
	refusal, ok := got.message.(*ipc.Error)
	if !ok || refusal.Code != ipc.CodeInputTooLong {
		return fmt.Errorf("NONE: %s instead of input_too_long", describe(got))
	}
	is := func(n *uint32, want uint32) bool { return n != nil && *n == want }
	if !is(refusal.Passage, 1) || !is(refusal.MaxTokens, limit) || !is(refusal.Offending, 1) || refusal.Tokens == nil || *refusal.Tokens <= limit {
		return fmt.Errorf("NONE: passage, tokens, max_tokens or offending of the error are not those of passage 1 over %d", limit)
	}
	return nil
}
