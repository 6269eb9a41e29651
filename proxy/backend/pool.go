// Package backend reaches the ranking Task: it keeps a connection to each Task socket, knows whether a Task would answer, and
// passes ranks on. It never queues: when no Task can take a rank, the rank fails at once.
package backend

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"trtmc-ranking-proxy/ipc"
	"trtmc-ranking-proxy/proxy/telemetry"
)

// Options of a Pool. All are required.
type Options struct {
	Sockets      []string      // addresses of Tasks that serve the same model, and patterns of such
	Client       string        // name and version, for the Task's log
	PingInterval time.Duration // pause between pings
	PingTimeout  time.Duration // a ping or a hello unanswered for so long means not ready
	MuteTimeout  time.Duration // pings unanswered for so long mean that no rank is sent; until then the Task may be only slow
	StallTimeout time.Duration // a Task call of this age means not ready; pings unanswered for so long end the connection

	SplitPassages int // the least in a part of a request that is split across Tasks; 0: none is

	Log     zerolog.Logger
	Metrics *telemetry.Metrics
}

// Pool is one or more Tasks, each behind its own socket. It is safe for concurrent use.
type Pool struct {
	options         Options
	fixed, patterns []string // of Options.Sockets
	members         atomic.Pointer[[]*member]
	identity        atomic.Pointer[ipc.Welcome]

	stop    context.CancelFunc
	running sync.WaitGroup
}

// Start begins to connect, in the background: a Pool may be started before its Tasks are there.
func Start(o Options) *Pool {
	ctx, stop := context.WithCancel(context.Background())
	p := &Pool{options: o, stop: stop}
	var members []*member
	for _, address := range o.Sockets {
		if IsPattern(address) {
			p.patterns = append(p.patterns, address)
			continue
		}
		p.fixed = append(p.fixed, address)
		members = append(members, p.startMember(ctx, address))
	}
	p.members.Store(&members)
	if len(p.patterns) > 0 {
		p.rescan(ctx)
		p.running.Go(func() { p.follow(ctx) })
	}
	return p
}

func (p *Pool) startMember(ctx context.Context, address string) *member {
	m := newMember(address, p.options, func(w *ipc.Welcome) { p.identity.Store(w) })
	ctx, m.stop = context.WithCancel(ctx)
	p.running.Go(func() { m.keep(ctx) })
	return m
}

func (p *Pool) all() []*member { return *p.members.Load() }

// Close ends the connections; ranks in flight fail.
func (p *Pool) Close() {
	p.stop()
	p.running.Wait()
}

// Identity is the welcome of the Task that connected last; nil before the first.
func (p *Pool) Identity() *ipc.Welcome { return p.identity.Load() }

// Ready tells whether some Task is warm and answers, and if none is, why.
func (p *Pool) Ready() (ok bool, why string) {
	why = noSocket.Error()
	for _, m := range p.all() {
		health := m.health.Load()
		if health.state == ready {
			return true, ""
		}
		why = health.why
	}
	return false, why
}

// Rank has a Task score the rank, or several Tasks parts of it if it is large; it sets DeadlineMS from ctx.
func (p *Pool) Rank(ctx context.Context, rank *ipc.Rank) (*ipc.Scores, *ipc.Welcome, error) {
	parts := p.split(rank)
	if len(parts) < 2 {
		return p.send(ctx, rank, p.pick())
	}
	p.options.Metrics.RequestsSplit.Inc()
	return p.rankParts(ctx, rank, parts)
}

// send asks m. A rank that meets a dead connection, or none, is sent once more, to whichever Task is best then: scoring has no effect beyond
// its answer, so a second send is harmless even if the first had begun. So is one that a Task has turned away, because it drains or has no
// memory, if another is ready.
func (p *Pool) send(ctx context.Context, rank *ipc.Rank, m *member) (scores *ipc.Scores, task *ipc.Welcome, err error) {
	for range 2 {
		if m == nil {
			return nil, nil, noSocket
		}
		setDeadline(ctx, rank)
		if scores, task, err = m.rank(ctx, rank); err == nil || ctx.Err() != nil {
			break
		}
		next := p.pick()
		if !lost(err) && (!turnedAway(err) || next == m || next.standing() != ready) {
			break
		}
		m = next
	}
	return scores, task, err
}

func lost(err error) bool { return errors.Is(err, ipc.ErrClosed) || errors.Is(err, errNoConnection) }

func turnedAway(err error) bool { return answered(err, ipc.CodeBackendUnavailable) != nil }

// answered is the Task's answer if it is an error of one of the codes, else nil.
func answered(err error, codes ...ipc.Code) *ipc.Error {
	var answer *ipc.Error
	if errors.As(err, &answer) && slices.Contains(codes, answer.Code) {
		return answer
	}
	return nil
}

// setDeadline turns the deadline of ctx into the time left, as no clock is shared with the Task.
func setDeadline(ctx context.Context, rank *ipc.Rank) {
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline).Milliseconds()
		rank.DeadlineMS = uint32(min(max(left, 1), math.MaxInt32))
	}
}

// noSocket is the state of a Pool whose patterns match nothing.
var noSocket = errors.New("there is no socket of a Task")

// pick is the ready member with the least work outstanding; without a ready one the least loaded, which may have come back; nil
// without any member.
func (p *Pool) pick() (best *member) {
	for _, m := range p.all() {
		if best == nil || m.before(best) {
			best = m
		}
	}
	return best
}
