package backend

import (
	"context"
	"errors"
	"sync"

	"trtmc-ranking-proxy/ipc"
)

// part is a run of a request's passages, and what came of it.
type part struct {
	rank   ipc.Rank
	first  uint32 // index of its first passage in the whole request
	member *member

	scores *ipc.Scores
	task   *ipc.Welcome
	err    error
}

func newPart(whole *ipc.Rank, from, to int, m *member) part {
	rank := *whole
	rank.Passages = whole.Passages[from:to]
	return part{rank: rank, first: uint32(from), member: m}
}

// rankParts has each part of whole scored by its Task and puts the answers together. The first part to fail ends the others, but for a pair that is
// too long: how many such there are only all parts can tell.
func (p *Pool) rankParts(request context.Context, whole *ipc.Rank, parts []part) (*ipc.Scores, *ipc.Welcome, error) {
	ctx, fail := context.WithCancelCause(request)
	defer fail(nil)
	var asked sync.WaitGroup
	for i := range parts {
		asked.Go(func() {
			part := &parts[i]
			part.scores, part.task, part.err = p.send(ctx, &part.rank, part.member)
			if part.err != nil && tooLong(part.err) == nil {
				fail(part.ofWhole(part.err))
			}
		})
	}
	asked.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, nil, err
	}
	if err := mergeTooLong(parts); err != nil {
		return nil, nil, err
	}
	if mixed(parts) {
		return p.send(request, whole, p.pick())
	}
	return merge(parts), parts[0].task, nil
}

// mixed tells whether the parts were scored by Tasks that do not serve the same: one was replaced after the request had been split.
func mixed(parts []part) bool {
	for i := range parts {
		if !same(parts[i].task, parts[0].task) {
			return true
		}
	}
	return false
}

// ofWhole has an error name the passage by its place in the whole request.
func (p *part) ofWhole(err error) error {
	var answer *ipc.Error
	if !errors.As(err, &answer) || answer.Passage == nil {
		return err
	}
	moved, passage := *answer, *answer.Passage+p.first
	moved.Passage = &passage
	return &moved
}

func tooLong(err error) *ipc.Error { return answered(err, ipc.CodeInputTooLong) }

// mergeTooLong is the answer to the whole request if a part of it has a pair that is too long: the first such pair, and how many there are.
func mergeTooLong(parts []part) error {
	var first *ipc.Error
	offending := uint32(0)
	for i := range parts {
		if parts[i].err == nil {
			continue
		}
		answer := tooLong(parts[i].ofWhole(parts[i].err))
		if first == nil {
			copied := *answer
			first = &copied
		}
		if answer.Offending != nil {
			offending += *answer.Offending
		}
	}
	if first == nil {
		return nil
	}
	if offending > 0 {
		first.Offending = &offending
	}
	return first
}

// merge puts scores and tokens in the order of the passages and adds up what was counted. No clock is shared, so the times are those of one
// part: the one that took longest.
func merge(parts []part) *ipc.Scores {
	whole := *parts[0].scores
	whole.Scores, whole.PairTokens = nil, nil
	whole.Truncated, whole.PaddingTokens, whole.Batches = 0, 0, 0
	for i := range parts {
		s := parts[i].scores
		whole.Scores = append(whole.Scores, s.Scores...)
		whole.PairTokens = append(whole.PairTokens, s.PairTokens...)
		whole.HasTokens = whole.HasTokens && s.HasTokens
		whole.Truncated += s.Truncated
		whole.PaddingTokens += s.PaddingTokens
		whole.Batches += s.Batches
		if s.QueueUS+s.PublicTaskCallWallUS > whole.QueueUS+whole.PublicTaskCallWallUS {
			whole.QueueUS, whole.TokenizeUS, whole.PublicTaskCallWallUS = s.QueueUS, s.TokenizeUS, s.PublicTaskCallWallUS
		}
	}
	return &whole
}
