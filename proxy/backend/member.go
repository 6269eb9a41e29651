package backend

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"trtmc-ranking-proxy/ipc"
	"trtmc-ranking-proxy/proxy/telemetry"
)

// member is one Task socket.
type member struct {
	address string
	Options
	onWelcome func(*ipc.Welcome)
	stop      context.CancelFunc // ends keep
	figures   *telemetry.Task

	conn        atomic.Pointer[ipc.Conn]
	health      atomic.Pointer[health]
	outstanding atomic.Int64 // bytes of text in ranks in flight, which stands for their tokens

	mu      sync.Mutex // guards dialing, and writing conn and health together
	dialing *dialing
}

// health is what is known of a Task.
type health struct {
	state state
	why   string // it is not ready
}

type state uint8

const (
	down state = iota // gets no ranks
	slow              // is not ready, but gets ranks: on a busy machine a pong may be late and the scores come all the same
	ready
)

// dialing is one attempt to connect, shared by all who need the connection. A failed one stands until retry.
type dialing struct {
	done  chan struct{}
	conn  *ipc.Conn
	err   error
	retry time.Time
}

// redialPause keeps a crowd of requests from dialing a Task that is down more than twenty times a second.
const redialPause = 50 * time.Millisecond

func newMember(address string, o Options, onWelcome func(*ipc.Welcome)) *member {
	m := &member{address: address, Options: o, onWelcome: onWelcome, figures: o.Metrics.Task(address)}
	m.Log = o.Log.With().Str("task_socket", address).Logger()
	m.health.Store(&health{state: down, why: "the Task has not been reached yet"})
	return m
}

// before orders members by preference.
func (m *member) before(other *member) bool {
	if mine, theirs := m.health.Load().state, other.health.Load().state; mine != theirs {
		return mine > theirs
	}
	return m.outstanding.Load() < other.outstanding.Load()
}

func (m *member) rank(ctx context.Context, rank *ipc.Rank) (*ipc.Scores, *ipc.Welcome, error) {
	conn, err := m.connection(ctx)
	if err != nil {
		return nil, nil, err
	}
	if health := m.health.Load(); health.state == down {
		return nil, nil, errors.New(health.why)
	}
	weight := textBytes(rank)
	m.outstanding.Add(weight)
	defer m.outstanding.Add(-weight)
	scores, err := conn.Rank(ctx, rank)
	return scores, conn.Welcome(), err
}

func textBytes(rank *ipc.Rank) int64 {
	n := len(rank.Query) * len(rank.Passages) // the query is part of every pair
	for _, passage := range rank.Passages {
		n += len(passage)
	}
	return int64(n)
}

// connection returns the live connection, or dials. It fails within the ping timeout, and at once after a recent failure.
func (m *member) connection(ctx context.Context) (*ipc.Conn, error) {
	if conn := m.conn.Load(); conn != nil && usable(conn) {
		return conn, nil
	}
	d := m.dial()
	select {
	case <-d.done:
		return d.conn, d.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func usable(conn *ipc.Conn) bool {
	select {
	case <-conn.Done():
		return false
	case <-conn.Draining():
		return false
	default:
		return true
	}
}

// dial joins the attempt under way, or the recent one, or starts one.
func (m *member) dial() *dialing {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dialing != nil && m.dialing.stands() {
		return m.dialing
	}
	d := &dialing{done: make(chan struct{})}
	m.dialing = d
	go m.finish(d)
	return d
}

// stands tells whether the attempt is under way, has a usable connection, or failed too recently to repeat it.
func (d *dialing) stands() bool {
	select {
	case <-d.done:
	default:
		return true
	}
	if d.err != nil {
		return time.Now().Before(d.retry)
	}
	return usable(d.conn)
}

func (m *member) finish(d *dialing) {
	defer close(d.done)
	ctx, cancel := context.WithTimeout(context.Background(), m.PingTimeout)
	defer cancel()
	var err error
	d.conn, err = ipc.Dial(ctx, m.address, m.Client)
	if err != nil {
		d.err = fmt.Errorf("no connection: %v", err) // not wrapped: the end of this ctx is not that of a request's
		d.retry = time.Now().Add(redialPause)
		return
	}
	m.welcome(d.conn)
}

// welcome takes a new connection into use. A Task listens only when it is warm, so it is ready until a ping says otherwise.
func (m *member) welcome(conn *ipc.Conn) {
	task := conn.Welcome()
	m.onWelcome(task)
	m.figures.Met(task)
	m.mu.Lock()
	again := m.conn.Swap(conn) != nil
	m.health.Store(&health{state: ready})
	m.figures.Up(true)
	m.mu.Unlock()
	if again {
		m.Metrics.Reconnects.Inc()
	}
	m.Log.Info().Str("server", task.Server).Str("model", task.Model).Str("backend", task.Backend).
		Str("precision", task.Precision).Msg("connected to the Task")
}
