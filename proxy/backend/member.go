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
	outstanding atomic.Int64              // bytes of text in ranks in flight, which stands for their tokens
	failed      atomic.Pointer[time.Time] // when it last failed a rank; nil: never

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

var errNoConnection = errors.New("no connection")

// redialPause keeps a crowd of requests from dialing a Task that is down more than twenty times a second.
const redialPause = 50 * time.Millisecond

func newMember(address string, o Options, onWelcome func(*ipc.Welcome)) *member {
	m := &member{address: address, Options: o, onWelcome: onWelcome, figures: o.Metrics.Task(address)}
	m.Log = o.Log.With().Str("task_socket", address).Logger()
	m.health.Store(&health{state: down, why: "the Task has not been reached yet"})
	return m
}

// failurePause is the time in which a Task that has failed a rank is passed over: one that fails at once would look like the least loaded.
const failurePause = time.Second

// standing is the state of a Task, or slow if it has just failed.
func (m *member) standing() state {
	state := m.health.Load().state
	if failed := m.failed.Load(); state == ready && failed != nil && time.Since(*failed) < failurePause {
		return slow
	}
	return state
}

// before orders members, the better first.
func (m *member) before(other *member) bool {
	if mine, theirs := m.standing(), other.standing(); mine != theirs {
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
	m.learn(conn, err)
	return scores, conn.Welcome(), err
}

// learn takes from the outcome of a rank what it says of the Task, so that the next rank need not find out for itself.
func (m *member) learn(conn *ipc.Conn, err error) {
	switch {
	case err == nil:
	case errors.Is(err, ipc.ErrClosed):
		m.note(conn, connectionEnded)
	case failure(err):
		now := time.Now()
		m.failed.Store(&now)
	}
}

// failure tells whether the Task has failed, for no fault of the request's.
func failure(err error) bool {
	return answered(err, ipc.CodeBackendFailed, ipc.CodeBackendUnavailable) != nil
}

func textBytes(rank *ipc.Rank) (n int64) {
	for _, passage := range rank.Passages {
		n += pairBytes(rank.Query, passage)
	}
	return n
}

func pairBytes(query, passage string) int64 { return int64(len(query) + len(passage)) }

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
		d.err = fmt.Errorf("%w: %v", errNoConnection, err) // err not wrapped: the end of this ctx is not that of a request's
		d.retry = time.Now().Add(redialPause)
		m.note(m.conn.Load(), health{down, "the Task cannot be reached"})
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
